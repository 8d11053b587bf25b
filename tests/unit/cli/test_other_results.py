"""A folder of `--out` that holds the result of another command."""

from pathlib import Path

import pytest

from tests.unit.cli.calling import refused, skycell

SCENARIO = """
preset = "icccn97-lan"
run.duration = "100 ms"
"""
SWEEP = """
[scenario]
preset = "icccn97-lan"
run.duration = "100 ms"

[factors.tcp]
key = "tcp.recovery"
levels = ["reno", "sack"]
"""
#: How each kind of result is made, and the files by which it is known.
CALLS: dict[str, tuple[str, ...]] = {
    "run": ("run", "scenario.toml"),
    "sweep": ("sweep", "sweep.toml", "--jobs", "1"),
    "study": ("reproduce", "atmf960518-one", "--replications", "1", "--jobs", "1"),
}
FILES = {"run": "spec.json, records.json", "sweep": "sweep.json", "study": "result.json"}
PAIRS = [(held, made) for held in CALLS for made in CALLS if held != made]


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a folder of its own with the files of the calls."""
    monkeypatch.chdir(tmp_path)
    Path("scenario.toml").write_text(SCENARIO, encoding="utf-8")
    Path("sweep.toml").write_text(SWEEP, encoding="utf-8")


def hold(kind: str, folder: Path) -> None:
    """Puts files into a folder by which a result of a kind is known."""
    folder.mkdir()
    for name in FILES[kind].split(", "):
        (folder / name).write_text("{}", encoding="utf-8")


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize(("held", "made"), PAIRS)
def test_a_folder_with_another_result_is_refused_before_anything_is_run(
    held: str, made: str, force: tuple[str, ...]
) -> None:
    out = Path("out")
    hold(held, out)
    before = sorted(Path().iterdir())
    reported = refused(skycell(*CALLS[made], "--out", out, *force))
    assert reported == (
        f"Error: Invalid value for '--out': out holds a {held} ({FILES[held]}), and plot and "
        "report would see only one of two results in a folder; --force does not replace a "
        f"{held} with a {made}: name another folder"
    )
    assert sorted(Path().iterdir()) == before
    assert {path.read_text() for path in out.iterdir()} == {"{}"}


@pytest.mark.parametrize(
    ("made", "other"), [("run", "sweep"), ("sweep", "study"), ("study", "run")]
)
def test_a_result_is_known_by_the_files_that_its_command_writes(made: str, other: str) -> None:
    assert skycell(*CALLS[made], "--out", "out").exit_code == 0
    assert set(FILES[made].split(", ")) <= {path.name for path in Path("out").iterdir()}
    assert f"out holds a {made} (" in refused(skycell(*CALLS[other], "--out", "out"))


def test_a_folder_with_something_else_takes_a_result() -> None:
    Path("out").mkdir()
    Path("out/notes.json").write_text("{}", encoding="utf-8")
    assert skycell(*CALLS["run"], "--out", "out").exit_code == 0
