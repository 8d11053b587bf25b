"""Tables on a terminal of any width."""

import io
import sys

import click
import pytest
from rich.table import Table

from skycell.cli.console import show_table, standard_output

HEADINGS = ("segments sent", "largest cwnd", "mean delay")
ROWS = {"flow1": ("23 697", "180 728 B", "27.50 ms"), "flow[2]": ("5", "463 872 B", "0.38 ms")}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(width: int, monkeypatch: pytest.MonkeyPatch, sentence: str = "") -> list[str]:
    """The lines of a table on a terminal."""
    for name, value in {"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "xterm"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdout", Terminal())
    table = Table(title="Flows")
    table.add_column("flow", no_wrap=True)
    for heading in HEADINGS:
        table.add_column(heading, justify="right")
    if sentence:
        table.add_column("what it means")
    for name, cells in ROWS.items():
        table.add_row(name, *cells, *([sentence] if sentence else []))
    show_table(standard_output(), table)
    assert isinstance(sys.stdout, Terminal)
    return click.unstyle(sys.stdout.getvalue()).splitlines()


@pytest.mark.parametrize("width", [10, 20, 40, 50, 60, 100])
@pytest.mark.parametrize("sentence", ["", "a sentence that is longer than most terminals are wide"])
def test_names_and_numbers_are_whole_however_narrow_the_terminal(
    width: int, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = shown(width, monkeypatch, sentence)
    assert "…" not in "".join(lines)
    for name, cells in ROWS.items():
        (row,) = [line for line in lines if name in line]
        assert all(cell in row for cell in cells)
    words = " ".join(HEADINGS).split()
    assert [word for word in words if not any(word in line for line in lines)] == []


def test_headings_are_wrapped_before_a_line_is_longer_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    widths = {width: max(map(len, shown(width, monkeypatch))) for width in (100, 50, 45, 44, 20)}
    # Whole headings take 55 columns, their longest words 45, and columns closer together 40.
    assert widths == {100: 55, 50: 45, 45: 45, 44: 40, 20: 40}
