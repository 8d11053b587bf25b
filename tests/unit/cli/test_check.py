import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result

from tests.unit.cli.calling import skycell

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


def check(*arguments: str, stdin: str | bytes | None = None) -> Result:
    return skycell("check", *arguments, stdin=stdin)


@pytest.fixture
def faulty(tmp_path: Path) -> str:
    file = tmp_path / "faulty.toml"
    file.write_text('preset = "icccn97-geo"\n[tcp]\nmss = "9180"\nrecovery = "westwood"\n')
    return str(file)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_fine(example: Path) -> None:
    reported = check(str(example))
    assert (reported.exit_code, reported.stderr) == (0, "")
    assert reported.stdout.startswith(f"{example}: fine; ")


def test_a_note_stands_below_its_file_and_in_json_and_is_no_fault() -> None:
    dropping, sparing = (str(ROOT / "examples" / name) for name in ("ubr-wan.toml", "lan.toml"))
    reported = check(dropping, sparing)
    assert (reported.exit_code, reported.stderr) == (0, "")
    first, note, last = reported.stdout.splitlines()
    assert first.startswith(f"{dropping}: fine; ")
    assert note.startswith("  Note: tail_drop at switch port switch1>switch2 drops cells")
    assert last.startswith(f"{sparing}: fine; ")
    files = json.loads(check("--json", dropping, sparing).stdout)["files"]
    assert [file["notes"] for file in files] == [[note.removeprefix("  Note: ")], []]
    ran = skycell("run", dropping, "--set", "run.duration=10 ms").stdout.splitlines()
    assert note.strip() in ran
    as_json = json.loads(skycell("run", dropping, "--json", "--set", "run.duration=10 ms").stdout)
    assert as_json["notes"] == files[0]["notes"]


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 5


def test_json_is_all_that_standard_output_holds(faulty: str) -> None:
    reported = check("--json", str(EXAMPLES[0]), faulty)
    assert reported.exit_code == 2
    assert reported.stderr == ""
    fine, other = json.loads(reported.stdout)["files"]
    assert len(fine["spec_hash"]) == 64
    assert fine["faults"] == []
    assert other["spec_hash"] is None
    assert other["faults"][0] == {
        "file": faulty,
        "path": "tcp.mss",
        "line": 3,
        "column": 7,
        "got": '"9180"',
        "allowed": 'a size from 1 B to 65 443 B, such as "9180 B" (B, kB to TB, KiB to TiB); '
        "the unit is missing",
        "meaning": "MSS: largest TCP payload of a segment",
    }


def test_a_scenario_comes_from_standard_input_and_faults_say_so() -> None:
    reported = check("-", stdin='preset = "icccn97-lan"\nrun = { duration = "20 ms" }\n')
    assert (reported.exit_code, reported.stderr) == (0, "")
    assert reported.stdout.startswith("<stdin>: fine; 5 flows, spec ")
    reported = check("--json", "-", stdin=b"\xef\xbb\xbftitle = '\xe4'")
    (entry,) = json.loads(reported.stdout)["files"]
    assert (entry["file"], entry["faults"][0]["file"]) == ("<stdin>", "<stdin>")
    assert entry["faults"][0]["got"] == "the octet 0xe4"


def test_a_text_that_may_have_no_end_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skycell.input.text._MOST_OCTETS", 2**20)
    endless = b"#" * 2**20 + b"\n"
    (tmp_path / "long.toml").write_bytes(endless)
    reported = check(str(tmp_path / "long.toml"), "-", stdin=endless)
    assert reported.stderr == "".join(
        f"{name}\n  got      more than 1 MiB\n  allowed  UTF-8 text of up to 1 MiB\n"
        for name in (tmp_path / "long.toml", "<stdin>")
    ) + ("2 faults; nothing was run.\n")


def test_standard_input_that_is_closed_is_told() -> None:
    script = "exec 0<&-; exec " + shlex.join([sys.executable, "-m", "skycell", "check", "-"])
    reported = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
    assert reported.returncode == 2
    assert reported.stderr.startswith("<stdin>\n  got      Bad file descriptor\n")


def test_json_has_the_accounts_of_the_files_that_drive_links(tmp_path: Path) -> None:
    ping = "".join(
        f"[{at}.04] 64 bytes from a: icmp_seq={at + 1} ttl=9 time=40 ms\n" for at in range(30)
    )
    (tmp_path / "ping.txt").write_text(f"{ping}wrong line\n")
    (tmp_path / "one.tle").write_text(
        "HUBBLE\n"
        "1 20580U 90037B   24001.00000000  .00000000  00000-0  00000+0 0  999\n"
        "2 20580  53.0000   0.0000 0001000   0.0000   0.0000 15.00000000    1\n"
    )
    (tmp_path / "sky.toml").write_text(
        '[pattern]\nkind = "elements"\nfile = "one.tle"\n[ground]\nmask = "0 deg"\n'
        '[earth]\nepoch = "2024-01-01T00:00:00Z"\n'
    )
    link = '{{ from = "{}", to = "{}", rate = "1 Mbit/s", framing = "ip", schedule = {{ {} }} }}'
    series = 'series = "ping.txt"'
    sky = 'constellation = "sky.toml", from = "0,-100", to = "1,-99"'
    links = f"{link.format('a', 'r', series)}, {link.format('r', 'b', sky)}"
    file = tmp_path / "a.toml"
    file.write_text(
        'run.duration = "1 s"\ntcp.preset = "linux"\n[topology]\nkind = "graph"\n'
        'hosts = ["a", "b"]\nrouters = ["r"]\n'
        f"link = [{links}]\n"
        'flow = [{ name = "f", source = "a", destination = "b" }]\n'
    )
    found = check("--json", str(file))
    assert found.exit_code == 0, found.output
    (shown,) = json.loads(found.stdout)["files"]
    of_elements, of_ping = shown["accounts"]
    assert of_elements["read"] == {"satellites": 1}
    assert of_ping["left_aside"][0]["names"] == ["wrong line"]
    traced = json.loads(skycell("trace", "show", tmp_path / "ping.txt", "--json").stdout)
    assert of_ping == {**traced["account"], "file": "ping.txt"}
    assert any("wrong line" in note for note in shown["notes"])
