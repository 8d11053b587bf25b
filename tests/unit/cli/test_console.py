"""Tables on a terminal of any width, and as LaTeX."""

import io
import sys

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.cli.console import Output
from skycell.cli.options import FORMS, LATEX
from skycell.tables.latex import escaped
from skycell.tables.table import Cell, Table, columns, first_rows, words

HEADINGS = ("segments sent", "largest cwnd", "mean delay")
ROWS = {"flow1": ("23 697", "180 728 B", "27.50 ms"), "flow[2]": ("5", "463 872 B", "0.38 ms")}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def table(sentence: str = "") -> Table:
    last = ["what it means"] if sentence else []
    return Table(
        "Flows",
        columns("flow", *HEADINGS, *last, numeric=HEADINGS, prose=last),
        tuple(
            tuple(map(words, (name, *cells, *([sentence] if sentence else []))))
            for name, cells in ROWS.items()
        ),
    )


def shown(width: int, monkeypatch: pytest.MonkeyPatch, wanted: Table) -> list[str]:
    """The lines of a table on a terminal."""
    for name, value in {"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    Output().show(wanted)
    assert isinstance(sys.stdout, Terminal)
    return click.unstyle(sys.stdout.getvalue()).splitlines()


@pytest.mark.parametrize("width", [10, 20, 40, 50, 60, 100])
@pytest.mark.parametrize("sentence", ["", "a sentence that is longer than most terminals are wide"])
def test_names_and_numbers_are_whole_however_narrow_the_terminal(
    width: int, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(width, monkeypatch, table(sentence))
    assert "…" not in "".join(lines)
    for name, cells in ROWS.items():
        rows = [line for line in lines if name in line]
        assert all(sum(cell in row for row in rows) == 1 for cell in cells)
        assert all(sum(cell in row for cell in cells) for row in rows) or sentence
    text = "".join(lines)
    assert all(word in text for word in " ".join(HEADINGS).split())


def test_no_line_is_longer_than_a_terminal_that_holds_names_and_a_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    of_width = {width: shown(width, monkeypatch, table()) for width in (100, 50, 44, 43, 30, 20)}
    assert [width for width, lines in of_width.items() if max(map(len, lines)) > width] == []
    parts = {width: sum("flow1" in line for line in lines) for width, lines in of_width.items()}
    # Whole headings take 54 columns, their longest words 44, closer together 39: then two tables.
    assert parts == {100: 1, 50: 1, 44: 1, 43: 1, 30: 2, 20: 3}


def test_notes_and_marks_and_rows_left_out_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = tuple((Cell(name, css="bad", note=1),) for name in ("off", "too", "three"))
    noted = Table("Verdicts", columns("verdict"), rows, notes=("a doubt [sic]",))
    text = "\n".join(shown(60, monkeypatch, first_rows(noted, 2)))
    assert "off [1]" in text
    assert "[1] a doubt [sic]" in text
    assert "and 1 more" in text
    assert "three" not in text


def test_with_latex_tables_are_tables_and_sentences_comments(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    context = click.Context(click.Command("any"))
    context.meta[FORMS] = {LATEX}
    with context:
        Output().show(table("5 % of it"))
        Output().say("two\nlines")
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2:] == ["% two", "% lines"]
    body = printed[printed.index(r"    \midrule") + 1 : printed.index(r"    \bottomrule")]
    assert body == [
        rf"    {' & '.join((name, *cells))} & 5 \% of it \\" for name, cells in ROWS.items()
    ]
    assert r"  \begin{tabular}{@{}lrrrp{.3\textwidth}@{}}" in printed


@given(st.text("ab1 &%$#_{}~^\\<>|×±−–\u202f\u00a0", max_size=20))
def test_no_text_has_a_sign_that_latex_takes_for_its_own(text: str) -> None:
    found = escaped(text)
    for spelled in (r"\textbackslash{}", r"\textasciitilde{}", r"\textasciicircum{}"):
        found = found.replace(spelled, "")
    for sign in ("$<$", "$>$", "$|$", "$-$", r"$\times$", r"$\pm$", r"\,", "~"):
        found = found.replace(sign, "")
    for sign in "&%$#_{}":
        found = found.replace(f"\\{sign}", "")
    assert not set(found) & set("\\&%$#_{}^<>|×±−–\u202f\u00a0") - {"-"}
