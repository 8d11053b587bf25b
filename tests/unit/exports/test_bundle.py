"""`skycell pack` and `unpack`: what an author hands in and a reviewer makes again."""

import io
import json
import zipfile
from pathlib import Path

import pytest

from skycell.exports.bundle import Bundle, NotABundle, bundle_of, differences, read_bundle
from tests.unit.cli.calling import refused, skycell

PLAIN = """run.duration = "100 ms"
tcp = { preset = "linux" }

[topology]
kind = "dumbbell"
sources = 1
bottleneck = { rate = "10 Mbit/s", framing = "ip", delay = "5 ms", buffer = "1 BDP" }
access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = tmp_path / "mine" / "link.toml"
    file.parent.mkdir()
    file.write_text(PLAIN)
    return file


def packed(tmp_path: Path, *command: object) -> Path:
    """A bundle of a command."""
    bundle = tmp_path / "bundle.zip"
    done = skycell("pack", bundle, *command)
    assert done.exit_code == 0, done.output
    return bundle


def changed(bundle: Path, name: str, content: bytes, *, with_digest: bool) -> Path:
    """The bundle with another content of one file, whose digest may say so."""
    found = read_bundle(bundle.read_bytes())
    other = Bundle(found.command, found.version, found.python, {**found.files, name: content})
    out = bundle.with_name("changed.zip")
    out.write_bytes(other.to_bytes())
    if not with_digest:
        written = zipfile.ZipFile(bundle)
        with zipfile.ZipFile(out, "w") as archive:
            for entry in written.namelist():
                archive.writestr(entry, content if entry == name else written.read(entry))
    return out


def test_a_run_is_packed_with_all_that_it_reads_and_comes_out_again(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    examples = Path(__file__).parents[3] / "examples"
    bundle = packed(
        tmp_path,
        *("run", examples / "measured-link.toml", "--set", "run.duration=100 ms"),
        *("--trace", "cwnd"),
    )
    found = read_bundle(bundle.read_bytes())
    assert found.command[:2] == ("run", "input/measured-link.toml")
    assert {"input/measured-link.toml", "input/series/terminal.csv"} <= found.files.keys()
    assert sorted(found.result_files()) == ["cwnd.parquet", "records.json", "spec.json"]
    assert "result/report.html" in found.files
    assert "numpy==" in found.files["requirements.txt"].decode()
    again = skycell("unpack", bundle, "--verify")
    assert again.exit_code == 0, again.output
    assert again.stdout.endswith("All 3 files of data came out again.\n")


def test_the_same_command_gives_the_same_octets(scenario: Path, tmp_path: Path) -> None:
    first = packed(tmp_path, "run", scenario).read_bytes()
    second = skycell("pack", "--force", tmp_path / "bundle.zip", "run", scenario)
    assert second.exit_code == 0
    assert (tmp_path / "bundle.zip").read_bytes() == first


def test_options_of_this_machine_are_obeyed_and_not_packed(tmp_path: Path) -> None:
    sweep = tmp_path / "sweep.toml"
    factors = '[factors.sources]\nkey = "topology.sources"\nlevels = [1, 2]\n'
    sweep.write_text(f"[scenario]\n{PLAIN.replace('[topology]', '[scenario.topology]')}\n{factors}")
    store = tmp_path / "runs.sqlite"
    bundle = packed(tmp_path, "sweep", sweep, f"--store={store}", "--jobs", "1", "--fresh")
    assert store.exists()
    assert read_bundle(bundle.read_bytes()).command == ("sweep", "input/sweep.toml")


def test_a_result_that_does_not_come_out_is_named(scenario: Path, tmp_path: Path) -> None:
    bundle = packed(tmp_path, "run", scenario)
    records = json.loads(read_bundle(bundle.read_bytes()).files["result/records.json"])
    records["flows"][0]["timeouts"] += 1
    other = changed(bundle, "result/records.json", json.dumps(records).encode(), with_digest=True)
    again = skycell("unpack", other, "--verify")
    assert again.exit_code == 1
    assert again.stderr.endswith(
        "Error: 1 of the results did not come out again:\nresult/records.json has other content\n"
    )
    shown = json.loads(skycell("unpack", other, "--verify", "--json").stdout)
    assert shown["differences"] == [{"name": "records.json", "what": "has other content"}]


def test_another_version_alone_is_no_difference(tmp_path: Path) -> None:
    bundle = bundle_of(["run", "x"], {"result/records.json": b'{"version": "1", "a": 2}'}, "1")
    (tmp_path / "records.json").write_text('{"version": "2", "a": 2}')
    assert list(differences(bundle, tmp_path)) == []
    (tmp_path / "records.json").write_text('{"version": "2", "a": 3}')
    (tmp_path / "cwnd.parquet").write_bytes(b"")
    found = [(each.name, each.what) for each in differences(bundle, tmp_path)]
    assert found == [
        ("records.json", "has other content"),
        ("cwnd.parquet", "was not written before"),
    ]
    (tmp_path / "records.json").unlink()
    assert next(differences(bundle, tmp_path)).what == "is not written any more"


def test_a_damaged_bundle_is_refused(scenario: Path, tmp_path: Path) -> None:
    bundle = packed(tmp_path, "run", scenario)
    other = changed(bundle, "input/link.toml", b"run.duration = 1", with_digest=False)
    line = refused(skycell("unpack", other, "--verify"))
    assert line == (
        f"Error: {other} is no whole bundle: input/link.toml is not as it was packed: its "
        "SHA-256 is another"
    )
    cut = tmp_path / "cut.zip"
    cut.write_bytes(bundle.read_bytes()[:-40])
    assert "is no whole bundle: it is no whole zip file" in refused(skycell("unpack", cut))
    none = tmp_path / "none.zip"
    zipfile.ZipFile(none, "w").close()
    assert "has no bundle.json" in refused(skycell("unpack", none))
    assert "No such file" in refused(skycell("unpack", tmp_path / "nothing.zip"))


@pytest.mark.parametrize("name", ["../x", "/x", "a/../../x", "c:x", "a\\x"])
def test_no_file_of_a_bundle_leads_out_of_its_folder(name: str) -> None:
    content = Bundle(("run",), "1", "3", {name: b"x"}).to_bytes()
    with pytest.raises(NotABundle, match="leads out of its folder"):
        read_bundle(content)


def test_a_bundle_is_written_into_a_folder_and_not_over_files(
    scenario: Path, tmp_path: Path
) -> None:
    bundle = packed(tmp_path, "run", scenario)
    out = tmp_path / "out"
    assert skycell("unpack", bundle, "--out", out).exit_code == 0
    assert (out / "input/link.toml").read_text() == PLAIN
    assert "--force replaces" in refused(skycell("unpack", bundle, "--out", out))
    assert skycell("unpack", bundle, "--out", out, "--force").exit_code == 0


@pytest.mark.parametrize(
    ("command", "reported"),
    [
        (("fly", "x"), "Error: fly cannot be packed; COMMAND begins with one of run, sweep,"),
        (("run", "x", "--out", "y"), "Error: --out is not for a bundle"),
        (("run", "x", "--json"), "Error: --json is not for a bundle"),
        (("run", "-"), "Error: -: what is packed is a file, not standard input"),
        (("run", "nothing.toml"), "Error: nothing.toml: No such file or directory"),
    ],
)
def test_what_cannot_be_packed_is_refused(
    command: tuple[str, ...], reported: str, tmp_path: Path
) -> None:
    bundle = tmp_path / "b.zip"
    assert refused(skycell("pack", bundle, *command)).startswith(reported)
    assert not bundle.exists()
    assert "is written as .zip" in refused(skycell("pack", tmp_path / "b.tar", "run", "x"))


def test_the_manifest_lists_every_file() -> None:
    content = bundle_of(["run", "input/a.toml"], {"input/a.toml": b"a"}, "1").to_bytes()
    archive = zipfile.ZipFile(io.BytesIO(content))
    manifest = json.loads(archive.read("bundle.json"))
    assert {*manifest["files"], "bundle.json"} == set(archive.namelist())
    assert manifest["files"]["input/a.toml"] == (
        # FIPS 180-2: SHA-256 of "a".
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
    )
