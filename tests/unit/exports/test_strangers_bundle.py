"""A bundle of somebody who means harm: it gets no further than a bundle that `pack` writes."""

import io
import struct
import subprocess
import sys
import warnings
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest

from skycell.cli.bundled import OPTIONS, NotAllowedError, allowed_command, read_command
from skycell.cli.main import main
from skycell.exports.bundle import Bundle, NotABundle, bundle_of, differences, read_bundle
from skycell.input.faults import ScenarioFaults
from skycell.input.text import files_within, read_text
from skycell.scenario import load
from tests.unit.cli.calling import refused, skycell

SCENARIO = """run.duration = "10 ms"
tcp.preset = "linux"
[topology]
kind = "dumbbell"
sources = 1
bottleneck = { rate = "10 Mbit/s", framing = "ip", delay = "5 ms", buffer = "1 BDP" }
access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }
"""
SWEEP = '[factors.sources]\nkey = "topology.sources"\nlevels = [1, 2]\n'


def written(tmp_path: Path, *command: str, **files: str) -> Path:
    """A sound bundle with any command; its scenario is `input/a.toml`."""
    content = {"input/a.toml": SCENARIO, "result/records.json": "{}", **files}
    bundle = tmp_path / "b.zip"
    octets = {name: text.encode() for name, text in content.items()}
    bundle.write_bytes(bundle_of(command, octets, "1").to_bytes())
    return bundle


@pytest.fixture
def carried_out(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that would be carried out; none is."""
    found: list[list[str]] = []

    def note(words: list[str], **_: Any) -> subprocess.CompletedProcess[bytes]:
        found.append(words)
        return subprocess.CompletedProcess(words, 3)

    monkeypatch.setattr(subprocess, "run", note)
    return found


def test_every_option_of_a_verb_that_is_packed_is_classified() -> None:
    for verb, options in OPTIONS.items():
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        known = {name for p in command.params if isinstance(p, click.Option) for name in p.opts}
        assert known == options.keys(), verb


def test_no_option_that_is_packed_takes_a_place_or_an_address() -> None:
    # A new option of these types has to be classified with thought.
    for verb, options in OPTIONS.items():
        command = main.get_command(click.Context(main), verb)
        assert command is not None
        for param in command.params:
            if isinstance(param.type, click.Path) and isinstance(param, click.Option):
                assert options[param.opts[0]] != "packed", (verb, param.opts)
        assert {options.get(name) for name in ("--scheduler", "--store")} <= {None, "local"}


@pytest.mark.parametrize(
    "command",
    [
        ("sweep", "input/a.toml", "--scheduler", "tcp://127.0.0.1:1"),
        ("sweep", "--scheduler=tcp://127.0.0.1:1", "input/a.toml"),
        ("sweep", "input/a.toml", "--scheduler-file", "input/a.toml"),
        ("sweep", "input/a.toml", "--store", "x.sqlite"),
        ("reproduce", "icccn97-t3", "--store=x.sqlite"),
        ("reproduce", "../x"),
        ("reproduce", "--", "--list"),
        ("run", "input/a.toml", "--out", "x"),
        ("run", "input/a.toml", "--force"),
        ("run", "input/a.toml", "--help"),
        ("run", "input/a.toml", "--no-such-option"),
        ("run", "input/a.toml", "input/a.toml"),
        ("run", "/etc/passwd"),
        ("run", "input/../../a.toml"),
        ("run", "input/none.toml"),
        ("run", "result/records.json"),
        ("run", "-"),
        ("run",),
        ("lab",),
        ("store", "check", "input/a.toml"),
        ("--version",),
        (),
    ],
)
def test_a_command_that_asks_for_more_is_not_carried_out(
    command: tuple[str, ...], tmp_path: Path, carried_out: list[list[str]]
) -> None:
    bundle = written(tmp_path, *command)
    line = refused(skycell("unpack", bundle, "--verify"))
    assert line.startswith(f"Error: {bundle}: its command is not carried out: ")
    assert carried_out == []
    # What it holds can be looked at.
    assert skycell("unpack", bundle).exit_code == 0


def test_what_is_carried_out_is_said_first_and_is_made_of_what_is_allowed(
    tmp_path: Path, carried_out: list[list[str]]
) -> None:
    command = ("sweep", "--x", "sources", "--replications=2", "input/a.toml")
    bundle = written(tmp_path, *command)
    done = skycell("unpack", bundle, "--verify")
    assert done.exit_code == 1
    own = "sweep input/a.toml --x=sources --replications=2"
    first, last = done.stderr.splitlines()
    assert own in first
    assert "ended with 3" in last
    (words,) = carried_out
    assert words[1:4] == ["-P", "-m", "skycell.cli.confined"]
    assert words[4:8] == own.split()
    out, store = words[8:]
    assert out.startswith("--out=/")
    assert store.startswith("--store=/")


@pytest.mark.parametrize(
    ("replaced", "key"),
    [
        (('delay = "5 ms"', 'schedule.series = "{}"'), "topology.bottleneck.schedule.series"),
        (('delay = "5 ms"', 'schedule.model = "{}"'), "topology.bottleneck.schedule.model"),
        (
            ('delay = "5 ms"', 'schedule = { constellation = "{}", from = "Rome", to = "Oslo" }'),
            "topology.bottleneck.schedule.constellation",
        ),
        (
            ('delay = "5 ms"', 'delay = "5 ms", loss = { kind = "error_trace", errors = "{}" }'),
            "topology.bottleneck.loss.errors",
        ),
        (
            ("[topology]", '[[source]]\nname = "s"\nkind = "trace"\nfile = "{}"\n[topology]'),
            "source[0].file",
        ),
    ],
)
@pytest.mark.parametrize("place", ["whole", "above", "link"])
def test_files_that_a_scenario_names_are_read_in_its_folder_alone(
    replaced: tuple[str, str], key: str, place: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden:x\n")
    folder = tmp_path / "folder" / "input"
    folder.mkdir(parents=True)
    (folder / "link").symlink_to(secret)
    name = {"whole": str(secret), "above": "../../secret.txt", "link": "link"}[place]
    text = SCENARIO.replace(replaced[0], replaced[1].replace("{}", name))
    (folder / "a.toml").write_text(text)
    with files_within(folder.parent), pytest.raises(ScenarioFaults) as found:
        load(folder / "a.toml")
    faults = {fault.path: fault for fault in found.value.faults}
    assert key in faults, found.value
    assert "outside of the folder" in faults[key].allowed
    assert "hidden" not in str(found.value)


def test_files_of_the_folder_are_read_also_by_a_name_that_goes_up(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b.txt").write_text("b")
    with files_within(tmp_path):
        assert read_text(tmp_path / "a" / ".." / "b.txt") == "b"
        with pytest.raises(PermissionError, match="outside of the folder"):
            read_text(tmp_path.parent / "none.txt")
    assert read_text(tmp_path / "b.txt") == "b"


@pytest.mark.parametrize(
    ("command", "file"),
    [
        (("run", "input/a.toml", "--set=topology.bottleneck.schedule.series={}"), SCENARIO),
        (("sweep", "input/a.toml"), 'scenario = "{}"\n' + SWEEP),
        (("reproduce", "icccn97-t3", "--set=topology.bottleneck.schedule.series={}"), SCENARIO),
    ],
)
def test_a_bundle_is_carried_out_with_its_own_files_alone(
    command: tuple[str, ...], file: str, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("time_s,delay_ms\n0,hidden\n")
    words = [word.replace("{}", str(secret)) for word in command]
    bundle = written(tmp_path, *words, **{"input/a.toml": file.replace("{}", str(secret))})
    process = subprocess.run(
        [sys.executable, "-m", "skycell", "unpack", str(bundle), "--verify"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 1
    assert "ended with 2; nothing is compared" in process.stderr
    assert "hidden" not in process.stderr


def test_what_pack_would_not_make_again_is_not_packed(tmp_path: Path) -> None:
    series = tmp_path / "delays.csv"
    series.write_text("time,delay\n0 s,5 ms\n1 s,6 ms\n")
    (tmp_path / "near").mkdir()
    near = tmp_path / "near" / "a.toml"
    for name, code in (("../delays.csv", 0), (str(series), 2)):
        near.write_text(SCENARIO.replace('delay = "5 ms"', f'schedule.series = "{name}"'))
        done = skycell("pack", "--force", tmp_path / "b.zip", "run", near)
        assert done.exit_code == code, done.output
    assert "topology.bottleneck.schedule.series" in done.stderr
    assert read_bundle((tmp_path / "b.zip").read_bytes()).command == ("run", "input/near/a.toml")


Entries = Sequence[tuple[zipfile.ZipInfo | str, bytes]]


def zipped(entries: Entries, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    content = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(content, "w", method) as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, octets in entries:
            archive.writestr(name, octets)
    return content.getvalue()


MANIFEST = b'{"format": 1, "command": [], "version": "1", "python": "3", "files": {}}'


def link(name: str) -> zipfile.ZipInfo:
    found = zipfile.ZipInfo(name)
    found.external_attr = 0o120777 << 16
    return found


def resized(content: bytes, declared: int) -> bytes:
    """The archive, whose last entry says in both of its headers that it is of another size."""
    octets = bytearray(content)
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", octets, octets.rindex(mark) + at, declared)
    return bytes(octets)


def cut_short(content: bytes) -> bytes:
    """The archive without octets that its directory counts: entries begin before the file does."""
    return content[77:]


BOMB = zipped([("bundle.json", MANIFEST), ("input/a", bytes(1 << 20))])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no whole zip file"),
        (cut_short(zipped([("bundle.json", MANIFEST)])), "no whole zip file"),
        (zipped([("input/a", b"x"), ("bundle.json", MANIFEST)]), "has no bundle.json"),
        (zipped([("bundle.json", b"[" * 200_000)]), "has no bundle.json"),
        (zipped([("bundle.json", b"9" * 6_000)]), "has no bundle.json"),
        (zipped([("bundle.json", b"[]")]), "has no bundle.json"),
        (zipped([("bundle.json", bytes(1 << 24) + b"x")]), "more than 16 MiB"),
        (zipped([("bundle.json", MANIFEST.replace(b"[]", b'"run"'))]), "has no bundle.json"),
        (zipped([("bundle.json", MANIFEST.replace(b"[]", b"[1]"))]), "has no bundle.json"),
        (zipped([("bundle.json", MANIFEST.replace(b"[]", rb'["\u0000"]'))]), "has no bundle.json"),
        (zipped([("bundle.json", MANIFEST.replace(b"[]", rb'["\ud800"]'))]), "has no bundle.json"),
        (
            zipped([("bundle.json", MANIFEST.replace(b"[]", b'["%s"]' % (b"x" * 200_000)))]),
            "more than 100000 letters",
        ),
        (zipped([("bundle.json", MANIFEST), ("input/a", b""), ("input/a", b"")]), "in it twice"),
        (zipped([("bundle.json", MANIFEST), ("input/a", b""), ("input/A", b"")]), "in it twice"),
        (zipped([("bundle.json", MANIFEST), ("input/a", b""), ("input/a/b", b"")]), "in a file"),
        (zipped([("bundle.json", MANIFEST), (link("input/a"), b"/etc")]), "is a link"),
        (zipped([("bundle.json", MANIFEST), ("skycell/__main__.py", b"")]), "lies neither in"),
        (zipped([("bundle.json", MANIFEST), ("numpy.py", b"")]), "lies neither in"),
        (zipped([("bundle.json", MANIFEST), (".skycell/runs.sqlite", b"")]), "lies neither in"),
        (zipped([("bundle.json", MANIFEST), ("input/", b"")]), "no name of a file"),
        (zipped([("bundle.json", MANIFEST), ("input", b"")]), "no name of a file"),
        (zipped([("bundle.json", MANIFEST), ("input/./a", b"")]), "no name of a file"),
        (zipped([("bundle.json", MANIFEST), ("input/\x1b[2J", b"")]), r"\\u001b"),
        (zipped([("bundle.json", MANIFEST), ("input/" + "a" * 300, b"")]), "more than 200 octets"),
        (zipped([("bundle.json", MANIFEST), ("input/../../a", b"")]), "leads out"),
        (zipped([("bundle.json", MANIFEST)], zipfile.ZIP_BZIP2), "packed in a way"),
        (resized(BOMB, 2**31), "more than 1 GiB"),
        (resized(BOMB, 10), "no whole zip file|longer or shorter"),
        (resized(BOMB, 1 << 21), "no whole zip file|longer or shorter"),
        (zipped([("bundle.json", MANIFEST), ("input/a", b"")]), "in its manifest"),
        (
            zipped([("bundle.json", MANIFEST)] + [(f"input/{n}", b"") for n in range(10_000)]),
            "more than 10000 files",
        ),
    ],
)
def test_what_is_no_whole_bundle_is_refused(content: bytes, reason: str, tmp_path: Path) -> None:
    with pytest.raises(NotABundle, match=reason):
        read_bundle(content)
    file = tmp_path / "b.zip"
    file.write_bytes(content)
    line = refused(skycell("unpack", file, "--verify"))
    assert line.startswith(f"Error: {file} is no whole bundle: ")
    assert line.isprintable()


def test_entries_that_lie_one_over_the_other_are_refused() -> None:
    # Each entry of the directory begins at the same octets: a small file that unpacks to much.
    content = bytearray(zipped([("bundle.json", MANIFEST)] + [(f"input/{n}", b"") for n in "abc"]))
    directory = content.index(b"PK\x01\x02")
    for _ in range(4):
        struct.pack_into("<I", content, directory + 20, 1000)
        directory = content.find(b"PK\x01\x02", directory + 4)
    with pytest.raises(NotABundle, match="one over the other"):
        read_bundle(bytes(content))


def test_signs_that_steer_a_terminal_are_shown_as_escapes(tmp_path: Path) -> None:
    bundle = tmp_path / "b.zip"
    octets = {"input/a.toml": b"", "result/records.json": b"{}"}
    command = ("run", "input/a\x1b]0;x\x07\u202e.toml")
    bundle.write_bytes(Bundle(command, "1\x1b[2J", "3\r", octets).to_bytes())
    for option in ((), ("--verify",), ("--json",)):
        done = skycell("unpack", bundle, *option)
        shown = (done.stdout + done.stderr).replace("\n", "")
        assert shown.isprintable(), option
        assert "\\u001b" in shown


def test_data_of_a_stranger_are_compared_without_being_believed(tmp_path: Path) -> None:
    pl.DataFrame({"time_ps": [1, 2]}).write_parquet(tmp_path / "cwnd.parquet")
    (tmp_path / "records.json").write_text("{}")
    many = io.BytesIO()
    pl.DataFrame({"time_ps": [7]}).select(pl.repeat(7, 5_000_000).alias("time_ps")).write_parquet(
        many
    )
    for parquet in (b"PAR1", many.getvalue(), (tmp_path / "cwnd.parquet").read_bytes()[:-9]):
        files = {"result/cwnd.parquet": parquet, "result/records.json": b"[" * 100_000}
        found = list(differences(bundle_of(["run", "x"], files, "1"), tmp_path))
        assert {each.name for each in found} == {"cwnd.parquet", "records.json"}
        assert {each.what for each in found} == {"has other content"}


def test_a_command_is_read_as_the_command_line_reads_it() -> None:
    command = read_command(["run", "--set", "a=b", "--set=c=-d", "x", "--trace", "cwnd"])
    assert command.words("packed") == ["run", "x", "--set=a=b", "--set=c=-d", "--trace=cwnd"]
    with pytest.raises(NotAllowedError):
        allowed_command(command.words("packed"), ["input/x"])
    again = read_command(command.words("packed"))
    assert again == command
