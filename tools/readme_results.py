"""Writes how much of each study reproduces into the pages that tell it.

    skycell reproduce all --out out/all
    python tools/readme_results.py out/all/result.json

docs/results.md has every table, README.md a line a study, and a study's README its own verdict.
Each part stands between two marks that its page keeps.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skycell.studies.agreement import Agreement
from skycell.studies.findings import RunByRun
from skycell.studies.library import PUBLISHED_IDS, load_study, module_name

ROOT = Path(__file__).parents[1]
STUDIES = "python/skycell/studies"
BEGIN = "<!-- results: written by tools/readme_results.py; begin -->"
END = "<!-- results: end -->"

Rows = Sequence[Mapping[str, Any]]


def main(arguments: list[str]) -> int:
    """Writes every page from the file that is named."""
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    result = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    for name, text in pages(result):
        page = ROOT / name
        page.write_text(replaced(page.read_text(encoding="utf-8"), text), encoding="utf-8")
    return 0


def pages(result: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Each page that tells results, by its path from the top of the tree, and what it tells."""
    yield "docs/results.md", tables(result)
    yield "README.md", overview(result)
    for study in PUBLISHED_IDS:
        values, conclusions = verdict(result, study)
        yield (
            f"{STUDIES}/{module_name(study)}/README.md",
            f"Values in print: {values}. Conclusions that hold: {conclusions}.",
        )


def replaced(page: str, text: str) -> str:
    """The page with other text between the marks.

    Raises:
        ValueError: the page has no such marks.
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError("the page has no marks for the results")
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def overview(result: Mapping[str, Any]) -> str:
    """A line a study: what it is about, and how it comes out."""
    lines = ["| study | values in print | conclusions |", "|---|---|--:|"]
    for study in map(load_study, PUBLISHED_IDS):
        values, conclusions = verdict(result, study.id)
        link = f"[{study.id}]({STUDIES}/{module_name(study.id)}/README.md)"
        lines.append(f"| {link}: {study.title} | {values} | {conclusions} |")
    return "\n".join(lines)


def verdict(result: Mapping[str, Any], study_id: str) -> tuple[str, str]:
    """How a study's printed values compare, and how many of its conclusions hold.

    All conclusions count that ours decide, but for those that their own print refutes.
    """
    ids = {table.id for table in load_study(study_id).tables}
    rows = _compared([row for row in result["rows"] if row["table"] in ids])
    inside, near, off = _verdicts(rows)
    values = f"{inside} inside, {near} near, {off} off" if inside + near + off else "none"
    stated = [
        bool(entry["ours_holds"])
        for entry in result["conclusions"]
        if entry["study"] == study_id
        and entry["published_holds"] is not False
        and entry["ours_holds"] is not None
    ]
    return values, f"{sum(stated)} of {len(stated)}"


def tables(result: Mapping[str, Any]) -> str:
    """The table of all tables, the conclusions, and what was run."""
    lines = [
        "| study and table | values | inside | near | off | mean error | not counted |",
        "|---|--:|--:|--:|--:|--:|---|",
    ]
    for study in map(load_study, PUBLISHED_IDS):
        for table in study.tables:
            rows = [row for row in result["rows"] if row["table"] == table.id]
            if rows:
                lines.append(f"| {table.printed_as}: {table.title} | {_counts(rows)} |")
    asked = _asked(result["conclusions"])
    held = sum(bool(entry["ours_holds"]) for entry in asked)
    replications = " or ".join(str(n) for n in sorted(set(result["replications"].values())))
    version = result["version"].partition("+")[0]
    reported = f"Of {len(asked)} numbered conclusions that hold in print, {held} hold in ours. "
    reported += Agreement.of((entry["ours_holds"], _single(entry)) for entry in asked).sentence()
    run = f"{replications} replications of each case, first seed {result['seed']}"
    lines += ["", f"{reported.rstrip()} skycell {version}, {run}."]
    return "\n".join(lines)


def _counts(rows: Rows) -> str:
    compared = _compared(rows)
    inside, near, off = _verdicts(compared)
    errors = [
        abs(row["mean"] - row["published"])
        for row in compared
        if row["mean"] is not None and row["published"] is not None
    ]
    counts = f"{inside + near + off} | {inside} | {near} | {off}" if errors else "| | |"
    return f"{counts} | {_error(errors, {row['unit'] for row in compared})} | {_left_out(rows)}"


def _compared(rows: Rows) -> Rows:
    """The rows that count: no averages over others, and no doubtful print."""
    return [row for row in rows if not row["average"] and not row["suspect"]]


def _verdicts(rows: Rows) -> tuple[int, int, int]:
    """How many values are inside, near and off."""
    verdicts = [row["verdict"] for row in rows]
    return verdicts.count("inside"), verdicts.count("near"), verdicts.count("off")


def _error(errors: Sequence[float], units: set[str]) -> str:
    """The mean of the errors with its unit; nothing for a table of several units."""
    if not errors or len(units) > 1:
        return ""
    mean, unit = sum(errors) / len(errors), units.pop()
    return f"{mean:.3f}" if unit == "1" else f"{mean:.1f} {unit}"


def _left_out(rows: Rows) -> str:
    """What a table prints that the counts leave out, and what it does not print."""
    groups: Iterable[tuple[str, Rows]] = (
        ("doubtful", [row for row in rows if row["suspect"] and not row["average"]]),
        ("averages", [row for row in rows if row["average"]]),
        ("without a number in print", [row for row in rows if row["verdict"] == "unpublished"]),
        ("failed", [row for row in rows if row["verdict"] == "failed"]),
    )
    return ", ".join(f"{len(group)} {word}" for word, group in groups if group)


def _asked(conclusions: Rows) -> Rows:
    """The conclusions that hold in print and that ours decide."""
    return [
        entry
        for entry in conclusions
        if entry["published_holds"] and entry["ours_holds"] is not None
    ]


def _single(entry: Mapping[str, Any]) -> RunByRun | None:
    """In how many single replications a conclusion holds."""
    asked = entry["replications"]
    return RunByRun(entry["replications_holding"], asked) if asked else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
