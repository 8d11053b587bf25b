"""Reproductions made by hand: the studies are the package's, our values are chosen here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from skycell.studies.compare import Row, verdict_of
from skycell.studies.findings import ConclusionResult
from skycell.studies.library import load_study, table_of
from skycell.studies.published import PublishedValue
from skycell.studies.reproduction import ChoiceInForce, FailedRun, Reproduction, RunCounts


def row(
    table: str,
    factors: Mapping[str, Any],
    published: float | None,
    values: Sequence[float],
    **more: Any,
) -> Row:
    """A row with the verdict that its numbers deserve; one spec for each value."""
    case = " ".join(map(str, factors.values()))
    values_of_row = {"metric": "efficiency", "unit": "1", **more}
    return Row(
        study=table_of(table).study.id,
        table=table,
        factors=factors,
        published=published,
        by_replication=tuple(values),
        verdict=verdict_of(
            PublishedValue({}, published, 0.005, is_suspect=False, likely=None),
            values_of_row["unit"],
            values,
            more.get("failures", ()),
        ),
        spec_hashes=tuple(sha256(f"{case} {seed}".encode()).hexdigest() for seed in range(2)),
        **values_of_row,
    )


def geo(policy: str, buffer_cells: int = 200_000, tcp: str = "sack") -> dict[str, Any]:
    """Factors of a row of the GEO tables."""
    return {
        "config": "geo",
        "n_sources": 5,
        "buffer_cells": buffer_cells,
        "tcp": tcp,
        "policy": policy,
    }


ROWS = (
    row("icccn97-t3", geo("ubr"), 0.86, (0.85, 0.89)),
    row("icccn97-t3", geo("epd"), 0.60, (0.66, 0.68)),
    row("icccn97-t3", geo("sd"), 0.72, (0.30, 0.34), doubt="<two> copies differ"),
    row("icccn97-t3", geo("ubr", tcp="reno"), 0.84, (0.80, 0.82), is_suspect=True),
    row("icccn97-t4", geo("ubr"), 1.00, (0.99, 1.00), metric="jain_fairness"),
    row("icccn97-t4", geo("epd"), 0.83, (), metric="jain_fairness", failures=("out of memory",)),
)

CONCLUSIONS = (
    ConclusionResult("icccn97", "3.1", "SACK is best", True, True, "6 of 6"),
    ConclusionResult("icccn97", "3.2", "Reno is worst.", True, False, "published: a; ours: b"),
    ConclusionResult("icccn97", "3.3", "policies differ little", False, None, "no numbers"),
)


def reproduction(
    rows: Sequence[Row] = ROWS,
    conclusions: Sequence[ConclusionResult] = CONCLUSIONS,
    overrides: Mapping[str, Any] | None = None,
) -> Reproduction:
    """A reproduction with these rows, of two replications each."""
    overrides = dict(overrides or {})
    studies = [load_study(name) for name in dict.fromkeys(entry.study for entry in rows)]
    return Reproduction(
        engine="reference",
        version="0.1.0",
        seed=1,
        replications={study.id: 2 for study in studies},
        tables=tuple(dict.fromkeys(entry.table for entry in rows)),
        rows=tuple(rows),
        conclusions=tuple(conclusions),
        choices=tuple(
            ChoiceInForce.of(study, choice, overrides.get(choice.name, choice.value))
            for study in studies
            for choice in study.choices
        ),
        overrides=overrides,
        runs=RunCounts(needed=12, from_store=0, simulated=11, failed=1),
        failed_runs=(FailedRun("icccn97 geo policy=epd", 2, "out of memory"),),
    )


def of_two_studies() -> Reproduction:
    """Tables of two publications."""
    other = row("ijsc-t1", {**geo("epd"), "config": "leo"}, 0.9, (0.88, 0.91))
    return replace(reproduction([*ROWS, other]))
