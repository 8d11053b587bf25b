r"""Tables as LaTeX: what a document would trip over, as no LaTeX runs here."""

import re
from pathlib import Path

import pytest

from skycell import reproduce
from skycell.plots.labels import NAMES
from skycell.report.comparison import comparison_tables
from skycell.tables.latex import label_of, latex, sentence
from skycell.tables.table import Cell, Table, columns, number, words
from tests.unit.cli.calling import skycell

PLAIN = re.compile(r"\\[&%$#_{}]")
"""Signs that stand for themselves."""


def without_comments(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("%"))


def structural_faults(text: str) -> list[str]:
    """What of a text LaTeX would refuse or print otherwise than meant."""
    faults = []
    body = PLAIN.sub("", without_comments(text))
    depth = 0
    for sign in body:
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            faults.append("a brace too many is closed")
    if depth:
        faults.append(f"{depth} braces are open at the end")
    if body.count("$") % 2:
        faults.append("mathematics is open at the end")
    if found := re.findall(r"(?<!\\)[#%_^~](?!\{)", re.sub(r"\$[^$]*\$", "", body)):
        faults += [f"{sign} is special" for sign in found if sign != "~"]
    if unknown := [sign for sign in body if ord(sign) > 255]:
        faults.append(f"no font has {unknown}")
    parts = re.findall(r"\\begin\{(\w+)\}|\\end\{(\w+)\}", body)
    stack: list[str] = []
    for begun, ended in parts:
        if begun:
            stack.append(begun)
        elif not stack or stack.pop() != ended:
            faults.append(f"{ended} ends and has not begun")
    faults += [f"{name} does not end" for name in stack]
    for kinds, inside in re.findall(
        r"\\begin\{tabular\}\{@\{\}(.*?)@\{\}\}\n(.*?)\\end\{tabular\}", text, re.DOTALL
    ):
        wanted = len(re.findall(r"p\{[^}]*\}|[lr]", kinds.replace(r"\textwidth", "")))
        for line in inside.splitlines():
            if not line.strip() or line.strip().startswith(
                ("\\toprule", "\\midrule", "\\bottomrule")
            ):
                continue
            cells = PLAIN.sub("", line).count("&") + 1
            if cells != wanted or not line.endswith(r" \\"):
                faults.append(f"{cells} cells of {wanted}: {line}")
    labels = re.findall(r"\\label\{(.*)\}", text)
    if len(set(labels)) < len(labels) or len(labels) != text.count(r"\begin{table}"):
        faults.append(f"labels {labels}")
    faults += [f"label {label}" for label in labels if not re.fullmatch("tab:[a-z0-9-]+", label)]
    captions = re.findall(r"^  \\caption\{(.*)\}$", text, re.MULTILINE)
    if len(captions) != len(labels):
        faults.append(f"captions {captions}")
    faults += [f"caption {text}" for text in captions if not text.endswith((".", "?", ".)"))]
    if not text.startswith(r"% \usepackage{booktabs}") and not text.startswith("% "):
        faults.append("no comment on packages")
    return faults


@pytest.mark.parametrize(
    "call",
    [
        ("explain", "examples/satellite-buffer.toml"),
        ("run", "examples/lan.toml", "--set", "run.duration=100 ms"),
        ("orbit", "passes", "iridium-like", "paris", "--duration", "20 min"),
        ("trace", "show", "examples/series/terminal.csv"),
        ("budget", "examples/dvb-s2.toml"),
        ("reproduce", "--list"),
    ],
    ids=lambda call: call[0],
)
def test_what_a_command_writes_can_be_set(call: tuple[str, ...]) -> None:
    done = skycell(*call, "--latex")
    assert done.exit_code == 0, done.output
    assert r"\begin{tabular}" in done.stdout
    assert structural_faults(done.stdout) == []


def test_tables_of_a_reproduction_can_be_set_and_counted() -> None:
    made = reproduce("jsac98-t1")
    tables = comparison_tables(made)
    assert sum(len(table.rows) for table in tables) == len(made.rows)
    assert [structural_faults(latex(table)) for table in tables] == [[]] * len(tables)
    frame = made.frame()
    assert frame.columns == made.to_csv().splitlines()[0].split(",")
    assert frame["mean"].to_list() == [row.mean for row in made.rows]


def test_every_sign_of_names_can_be_set() -> None:
    text = "".join({*"".join(NAMES.values()), *"a_b & 50 % {x} #1 $ ~ ^ \\ | < >"})
    table = Table(text, columns(text, "n", numeric="n"), ((words(text), number(-1.5, 1)),))
    assert structural_faults(latex(table)) == []


def test_a_fault_is_found() -> None:
    table = Table("One", columns("a", "b"), ((words("x"), words("y")),))
    text = latex(table)
    assert structural_faults(text) == []
    for before, after in ((" & ", " "), (r"\caption{One.}", r"\caption{One}"), ("{@{}", "{{@{}")):
        assert structural_faults(text.replace(before, after, 1)) != []
    assert structural_faults(f"{text}\n{text}") != []


def test_labels_are_words_and_captions_sentences(tmp_path: Path) -> None:
    table = Table("Delays in ms over 5 runs of a much longer name than that", (), ())
    assert label_of(table) == "tab:delays-in-ms-over-5-runs-of-a-much"
    assert label_of(Table("–", (), ())) == "tab:table"
    assert sentence("terminal.csv: a table of steps") == "terminal.csv: a table of steps."
    spread = Table("Distribution.", columns("a"), ((Cell("1"),),))
    both = latex(Table("All", columns("a"), ((Cell("1"),),), spread=spread))
    assert r"\label{tab:all}" in both
    assert r"\label{tab:all-distribution}" in both
