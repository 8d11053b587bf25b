"""The report of a study: what was run, ours beside what is published, conclusions, choices."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import counted
from skycell.input.settings import write_value
from skycell.plots.figure import Figure, Origin
from skycell.plots.labels import grouped, listed
from skycell.report.comparison import (
    comparison_figure,
    comparison_table,
    groups_of,
    scores_table,
    tally,
)
from skycell.report.page import Picture, page
from skycell.report.sensitivity import sensitivity_table
from skycell.report.study_figures import listed_figure
from skycell.studies.library import load_study
from skycell.studies.readme import WHY, explained
from skycell.studies.sensitivity_store import value_in_words
from skycell.tables.runs import failed_runs
from skycell.tables.table import Cell, Table, columns, words

if TYPE_CHECKING:
    from skycell.studies.findings import ConclusionResult
    from skycell.studies.model import Study
    from skycell.studies.reproduction import Reproduction


@dataclass(frozen=True)
class Status:
    """A word with the class of its coloured mark."""

    text: str
    css: str


def origin_of(reproduction: Reproduction, study_id: str) -> Origin:
    """What the captions of a study's figures say about its runs."""
    hashes = dict.fromkeys(
        name for row in reproduction.rows if row.study == study_id for name in row.spec_hashes
    )
    return Origin(
        engine=reproduction.engine,
        version=reproduction.version,
        spec_hashes=tuple(hashes),
        seed=reproduction.seed,
        replications=reproduction.replications[study_id],
        set_otherwise=reproduction.overrides,
    )


def study_figures(reproduction: Reproduction, study_id: str) -> list[Figure]:
    """The figures of a study: those that it lists, and published beside ours for all else.

    Where a study of our own lists figures, what they do not draw stays a table.
    """
    origin = origin_of(reproduction, study_id)
    study = load_study(study_id)
    rows = [row.as_dict() for row in reproduction.rows if row.study == study_id]
    listed_ones = [listed_figure(wanted, rows, origin) for wanted in study.figures]
    taken = {
        (table, name)
        for wanted in study.figures
        for table in wanted.tables
        for name in wanted.metrics
    }
    drawn = [
        comparison_figure(group, origin)
        for group in groups_of(reproduction, study_id)
        if (group.table.id, group.rows[0].metric) not in taken
        and not (study.is_own and study.figures)
    ]
    return [figure for figure in (*listed_ones, *drawn) if figure is not None]


@dataclass(frozen=True)
class RunOverTime:
    """The part of a page that shows one run over time: which one, and its pictures."""

    text: str
    pictures: Sequence[Picture]


def study_page(
    reproduction: Reproduction,
    study: Study,
    pictures: Sequence[Picture],
    example: RunOverTime | None,
) -> str:
    """The report of one study as one HTML page.

    Args:
        reproduction: what was reproduced; other studies in it are left out.
        study: the study.
        pictures: of its figures, which :func:`study_figures` gives.
        example: one run over time; None to do without.
    """
    return page(
        "study.html.j2",
        {
            "title": study.title[0].upper() + study.title[1:],
            "own": study.is_own,
            "version": reproduction.version,
            "verdict": verdict(reproduction, study.id),
            "identity": _identity(reproduction, study),
            "explained": explained(study.id),
            "scores": scores(reproduction, study),
            **_verdict_rule(),
            "failed": failed_runs(
                (run.case, run.seed, run.reason)
                for run in reproduction.failed_runs
                if run.case.split(" ")[0] == study.id
            ),
            "pictures": pictures,
            "example": example,
            "tables": _tables(reproduction, study),
            "conclusions_text": conclusions_text(_own_conclusions(reproduction, study.id)),
            "agreement_rule": _agreement_rule(reproduction, study),
            "numbers_rule": _numbers_rule(reproduction, study),
            "conclusions": [
                {
                    "id": entry.id,
                    "text": _sentence(entry.text),
                    "published": _status(entry.published_holds, "no numbers"),
                    "ours": _status(entry.ours_holds, "not decided"),
                    "single_runs": _single_runs(entry),
                    "evidence": _sentence(entry.evidence),
                }
                for entry in _own_conclusions(reproduction, study.id)
            ],
            "choices": _choices(reproduction, study),
            "tried": sensitivity_table(study, reproduction.tables),
            "sources": _sources(reproduction, study),
            "disagreements": _disagreements(reproduction, study),
            "again": _again(reproduction, study),
        },
    )


def verdict(reproduction: Reproduction, study_id: str) -> str:
    """What came out, in two sentences."""
    own = [s for s in reproduction.summaries if _study_of(reproduction, s.table) == study_id]
    measured = tally(own)
    if load_study(study_id).is_own:
        cases = sum(summary.own for summary in own)
        values = "value" if cases == 1 else "values"
        measured = (
            f"{grouped(cases)} {values} of our own; nothing is published to compare them with."
        )
    return f"{measured} {conclusions_text(_own_conclusions(reproduction, study_id))}"


def scores(reproduction: Reproduction, study: Study) -> Table:
    """Verdicts and errors of a study, table by table."""
    own = [s for s in reproduction.summaries if _study_of(reproduction, s.table) == study.id]
    return scores_table(own, {table.id: table.label for table in study.tables})


def conclusions_text(conclusions: Sequence[ConclusionResult]) -> str:
    """How many conclusions hold, of those that the published numbers support."""
    supported = [entry for entry in conclusions if entry.published_holds]
    decided = [entry for entry in supported if entry.ours_holds is not None]
    holding = sum(bool(entry.ours_holds) for entry in decided)
    if not conclusions:
        return "No conclusion is about these tables."
    if not supported:
        decided = [entry for entry in conclusions if entry.ours_holds is not None]
        holding = sum(bool(entry.ours_holds) for entry in decided)
        message = _holding(holding, len(decided), "our numbers decide", "")
        return _with_agreement(message, decided)
    missing = len(supported) - len(decided)
    rest = ""
    if missing:
        rest = f" ({missing} more need{'s' if missing == 1 else ''} values that were not run)"
    message = _holding(holding, len(decided), "holds in the published numbers", f" in ours{rest}")
    return _with_agreement(message, decided)


def _holding(holding: int, of: int, what: str, where: str) -> str:
    """How many of some conclusions hold, as a sentence.

    >>> _holding(2, 3, "our numbers decide", "")
    'Of 3 conclusions that our numbers decide, 2 hold.'
    >>> _holding(0, 1, "holds in the published numbers", " in ours")
    'The one conclusion that holds in the published numbers does not hold in ours.'
    """
    if of == 1:
        return f"The one conclusion that {what} {'holds' if holding else 'does not hold'}{where}."
    verb = "holds" if holding == 1 else "hold"
    of_what = what.replace("holds ", "hold ", 1)
    return f"Of {of} conclusions that {of_what}, {holding} {verb}{where}."


def _with_agreement(message: str, decided: Sequence[ConclusionResult]) -> str:
    from skycell.studies.agreement import Agreement

    return f"{message} {Agreement.of_results(decided).sentence()}".rstrip()


def _study_of(reproduction: Reproduction, table: str) -> str:
    return next(row.study for row in reproduction.rows if row.table == table)


def _own_conclusions(reproduction: Reproduction, study_id: str) -> list[ConclusionResult]:
    return [entry for entry in reproduction.conclusions if entry.study == study_id]


def _numbers_rule(reproduction: Reproduction, study: Study) -> str:
    """What the numbers of conclusions are; empty where there are none, or none of a publication."""
    if study.is_own or not _own_conclusions(reproduction, study.id):
        return ""
    return (
        "The numbers are ours and not those of sections of the publication: the first part "
        "counts the published studies, the second the statements of one study, and letters "
        "are parts of a statement that are decided separately."
    )


def _agreement_rule(reproduction: Reproduction, study: Study) -> str:
    """What the counts of single replications are; empty where there are none."""
    if not any(map(_single_runs, _own_conclusions(reproduction, study.id))):
        return ""
    return (
        "The verdict on our values is that of the means over the replications. In how many "
        "single replications the statement holds shows how much of the verdict is chance"
        + ("." if study.is_own else ": published values are mostly those of one run per case.")
    )


def _single_runs(conclusion: ConclusionResult) -> str:
    """In how many single replications a conclusion holds; empty where that tells nothing."""
    single = conclusion.run_by_run
    return f"(holds in {single} single replications)" if single and single.of > 1 else ""


def _sentence(text: str) -> str:
    """A text with a capital first letter and a full stop."""
    text = text.strip()
    ending = "" if text.endswith((".", "!", "?")) else "."
    return text[:1].upper() + text[1:] + ending if text else text


def _status(holds: bool | None, otherwise: str) -> Status:
    if holds is None:
        return Status(otherwise, "none")
    return Status("holds", "good") if holds else Status("does not hold", "bad")


def _verdict_rule() -> dict[str, str]:
    from skycell.studies.compare import NEAR_ABSOLUTE, NEAR_RELATIVE, SLACK

    return {
        "slack": f"{SLACK:g}",
        "near_absolute": f"{NEAR_ABSOLUTE:g}",
        "near_relative": f"{NEAR_RELATIVE * 100:g} %",
    }


def _identity(reproduction: Reproduction, study: Study) -> list[tuple[str, str]]:
    tables = [
        table.label
        for table in study.tables
        if any(row.table == table.id for row in reproduction.rows)
    ]
    first, times = reproduction.seed, reproduction.replications[study.id]
    seeds = f"seeds {first} to {first + times - 1}" if times > 1 else f"seed {first}"
    hashes = origin_of(reproduction, study.id).spec_hashes
    first_role = "Builds on" if study.is_own else "Source"
    identity = [
        *(
            (
                "Also" if document is not study.documents[0] else first_role,
                f"{document.title} ({document.where})",
            )
            for document in study.documents
        ),
        ("Tables", listed(tables)),
        ("Runs", f"{grouped(len(hashes))}; {counted(times, 'replication')} of each case, {seeds}"),
        ("Engine", f"{reproduction.engine}, skycell {reproduction.version}"),
    ]
    if reproduction.overrides:
        changed = [f"{key} = {write_value(value)}" for key, value in reproduction.overrides.items()]
        identity.append(("Changed", listed(changed)))
    return identity


def _tables(reproduction: Reproduction, study: Study) -> list[dict[str, Any]]:
    groups = groups_of(reproduction, study.id)
    why = explained(study.id).get(WHY, "")
    parts: list[dict[str, Any]] = []
    seen = None
    for group in groups:
        several = sum(other.table.id == group.table.id for other in groups) > 1
        is_new = group.table.id != seen
        seen = group.table.id
        title = group.table.title[0].upper() + group.table.title[1:]
        parts.append(
            {
                "title": title if is_new else None,
                "table": comparison_table(group, several=several, why=why),
            }
        )
    return parts


def _choices(reproduction: Reproduction, study: Study) -> Table:
    rows = []
    for choice in reproduction.choices:
        if choice.study != study.id:
            continue
        others = ", ".join(value_in_words(other) for other in choice.alternatives)
        small = f"or {others}" if others else ""
        if choice.value != choice.chosen:
            small = f"set for these runs; the study says {value_in_words(choice.chosen)}"
        rows.append(
            (
                Cell(choice.meaning, small=choice.name),
                Cell(value_in_words(choice.value), small=small),
                words(_sentence(choice.reason)),
            )
        )
    whose = (
        "Each parameter that a reader might want to change has"
        if study.is_own
        else "Each parameter that the publication does not state has"
    )
    return Table(
        caption=f"{whose} one value in the whole study. Below the value: what else it might be.",
        columns=columns("parameter", "value", "reason"),
        rows=tuple(rows),
        sortable=False,
    )


def _sources(reproduction: Reproduction, study: Study) -> Table:
    shown = {row.table for row in reproduction.rows}
    files = dict.fromkeys(
        part.file
        for table in study.tables
        if table.id in shown
        for part in table.parts
        if part.file is not None
    )
    rows = []
    for file in files:
        entry = study.provenance(file)
        doubt = _sentence(entry.doubt) or "none"
        rows.append(tuple(map(words, (file, entry.document, entry.printed_as, doubt))))
    return Table(
        caption="Files of published values, and doubts about their print.",
        columns=columns("file", "document", "place", "doubts"),
        rows=tuple(rows),
        sortable=False,
    )


def _disagreements(reproduction: Reproduction, study: Study) -> Table | None:
    shown = {row.table for row in reproduction.rows}
    own = [entry for entry in study.disagreements if shown.intersection(entry.tables)]
    if not own:
        return None
    return Table(
        caption="Quantities whose printed copies differ.",
        columns=columns("quantity", "copies", "our judgement"),
        rows=tuple(tuple(map(words, (e.item, e.copies, _sentence(e.judgement)))) for e in own),
        sortable=False,
    )


def _again(reproduction: Reproduction, study: Study) -> dict[str, Any]:
    tables = [t for t in reproduction.tables if _study_of(reproduction, t) == study.id]
    times = reproduction.replications[study.id]
    shell = [
        f"skycell reproduce {' '.join(tables)}",
        f"--engine {reproduction.engine}",
        f"--seed {reproduction.seed}",
        f"--replications {times}",
        *(
            f"--set {shlex.quote(f'{key}={write_value(value)}')}"
            for key, value in reproduction.overrides.items()
        ),
    ]
    arguments = [
        repr(tables),
        f"engine={reproduction.engine!r}",
        f"seed={reproduction.seed}",
        f"replications={times}",
    ]
    if reproduction.overrides:
        arguments.append(f"overrides={dict(reproduction.overrides)!r}")
    specs = _specs(reproduction, study)
    return {
        "text": (
            f"With skycell {reproduction.version} these commands give the same numbers, digit for "
            "digit; a run is a function of its spec, which includes the seed."
        ),
        "shell": " \\\n    ".join(shell),
        "python": (
            "import skycell\n\n"
            "reproduction = skycell.reproduce(\n    " + ",\n    ".join(arguments) + ",\n)"
        ),
        "count": grouped(len(origin_of(reproduction, study.id).spec_hashes)),
        "specs": specs,
    }


def _specs(reproduction: Reproduction, study: Study) -> Table:
    """The hash of every run, by the first value that rests on it."""
    from skycell.plots.labels import described

    seen: set[str] = set()
    rows = []
    for row in reproduction.rows:
        fresh = [name for name in row.spec_hashes if name not in seen]
        if row.study == study.id and fresh:
            seen.update(fresh)
            rows.append((words(described(row.factors)), words(" ".join(h[:16] for h in fresh))))
    return Table(
        caption="First 16 digits of the SHA-256 of each run's spec, in the order of the seeds.",
        columns=columns("case", "specs"),
        rows=tuple(rows),
        sortable=False,
    )
