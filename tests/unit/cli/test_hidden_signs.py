"""No output of a command steers a terminal or hides what it says, whoever has chosen its names."""

import ast
import json
import unicodedata
from pathlib import Path

import pytest

from skycell.input.printable import printable
from skycell.plots.figure import spec_text
from tests.structure.tree import ROOT
from tests.unit.cli.calling import skycell

HIDDEN = "\x1b[2J\x7f\x9b2J\u202eesrever\u2066\u200b\ud800\U000e0001"
"""Controls of 7 and of 8 bits, marks of direction, a space without width, half a sign, a tag."""
NAME = HIDDEN.replace("\ud800", "")
IN_TOML = "".join(f"\\U{ord(sign):08X}" for sign in NAME)


def is_shown(text: str) -> bool:
    return all(
        sign.isprintable() or sign == "\n" or unicodedata.category(sign) == "Zs" for sign in text
    )


def test_every_sign_that_hides_is_an_escape_of_json() -> None:
    shown = printable(HIDDEN)
    assert is_shown(shown)
    assert json.loads(f'"{shown}"') == HIDDEN
    assert json.loads(printable(json.dumps({HIDDEN: 1}, ensure_ascii=False))) == {HIDDEN: 1}


def test_only_the_modules_for_it_write_to_an_output() -> None:
    own = {
        "sentences.py",
        "progress.py",
        "at_work.py",
        "interrupts.py",
        "__main__.py",
        "_render.py",
    }
    found = []
    for path in sorted((ROOT / "python" / "skycell").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="print")):
                    found.append(path)
                case ast.Call(func=ast.Attribute(value=ast.Name(id="click"), attr="echo")):
                    found.append(path)
                case _:
                    pass
    assert [path for path in found if path.name not in own] == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a measurement, a scenario that is driven by it, and a faulty scenario."""
    folder = tmp_path / NAME
    folder.mkdir()
    (folder / f"{NAME}.csv").write_text(
        f"time_s,rtt_ms,{NAME}\n" + "".join(f"{at},{20 + at % 3},x\n" for at in range(30)),
        encoding="utf-8",
    )
    (folder / f"{NAME}.toml").write_text(
        'run.duration = "2 s"\ntcp.preset = "linux"\n[topology]\nkind = "dumbbell"\nsources = 1\n'
        'access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }\n'
        'bottleneck = { rate = "10 Mbit/s", framing = "ip", buffer = "1 BDP", schedule = '
        f'{{ series = "{IN_TOML}.csv" }} }}\n',
        encoding="utf-8",
    )
    (folder / "faulty.toml").write_text(f'[tcp]\n"{IN_TOML}" = 1\n', encoding="utf-8")
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ["check", "{name}.toml", "faulty.toml"],
        ["check", "{name}.toml", "--json"],
        ["check", "faulty.toml", "--json"],
        ["explain", "{name}.toml"],
        ["explain", "{name}.toml", "--json"],
        ["trace", "show", "{name}.csv"],
        ["trace", "show", "{name}.csv", "--json"],
        ["trace", "show", "{name}.csv", "--csv", "{name}-out.csv"],
        ["trace", "fit", "{name}.csv", "--slot", "2 s", "--out", "{name}-model.toml"],
        ["trace", "show", "{name}.nowhere"],
        ["run", "{name}.toml", "--out", "{name}-result"],
        ["orbit", "path", "{name}.toml", "tokyo", "london"],
        ["new", "atm-wan", "--out", "{name}-new.toml"],
    ],
)
def test_names_of_files_are_shown_with_escapes(folder: Path, words: list[str]) -> None:
    def named(word: str) -> str:
        is_file = "{name}" in word or word.endswith(".toml")
        return str(folder / word.format(name=NAME)) if is_file else word

    done = skycell(*map(named, words))
    assert isinstance(done.exception, SystemExit | None), done.exception
    assert is_shown(done.output)
    if "--json" in words:
        data = json.loads(done.stdout)
        assert NAME in data.get("files", [data])[0]["file"]


def test_a_page_shows_names_with_escapes(tmp_path: Path) -> None:
    file, out = tmp_path / "sweep.toml", tmp_path / NAME
    file.write_text(
        f"""title = "{IN_TOML}"
[scenario]
run.duration = "50 ms"
tcp.preset = "linux"
[scenario.topology]
kind = "dumbbell"
sources = 1
access = {{ rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }}
bottleneck = {{ rate = "10 Mbit/s", framing = "ip", delay = "5 ms", buffer = "1 BDP" }}
[factors.n]
key = "topology.sources"
levels = [1, 2]
"""
    )
    done = skycell("sweep", file, "--jobs", 1, "--store", tmp_path / "a.sqlite", "--out", out)
    assert done.exit_code == 0, done.output
    assert is_shown(done.output)
    pages = list(out.rglob("*.html"))
    assert pages
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert is_shown(text)
        assert printable(NAME) in text


def test_a_figure_shows_names_with_escapes() -> None:
    text = spec_text({"text": HIDDEN, "field": "two\nlines \\u202e"})
    assert json.loads(text) == {"text": printable(HIDDEN), "field": "two\nlines \\u202e"}
