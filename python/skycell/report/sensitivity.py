"""How much each choice of a study moves its tables, as the study's folder keeps it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from skycell.plots.labels import listed
from skycell.studies.sensitivity_store import Alternative, KeptSensitivity, value_in_words
from skycell.tables.table import Table, columns, number, words

if TYPE_CHECKING:
    from skycell.studies.model import Study


def sensitivity_table(study: Study, tables: Sequence[str]) -> Table | None:
    """What each alternative that has been tried moves, in the order of the study.

    Args:
        study: the study.
        tables: IDs of the tables that the report shows; of others nothing is told, nor of
            conclusions that speak of none of them.

    Returns:
        None where none of them has been tried.
    """
    kept = KeptSensitivity.of_study(study)
    if kept is None:
        return None
    moved = [
        table
        for table in tables
        if table in kept.as_chosen
        and any(entry.effects[table].change is not None for entry in kept.alternatives)
    ]
    if not moved:
        return None
    judged = {entry.id for entry in study.conclusions if set(entry.tables).intersection(moved)}
    labels = {table.id: table.label for table in study.tables}
    heads = [f"{labels[table]}{_unit(study, table)}" for table in moved]
    rows = tuple(
        (
            words(f"{entry.key} = {value_in_words(entry.value)}"),
            *(number(entry.effects[table].change, 3) for table in moved),
            words(_decided_otherwise(entry, judged)),
        )
        for entry in kept.alternatives
    )
    times = kept.replications
    runs = f"{times} replication{'' if times == 1 else 's'} of each case, seeds from 1"
    if not any(entry.kind == "runs" for entry in study.experiments.values()):
        runs = "nothing is drawn"
    missing = [
        f"{key} = {value_in_words(value)}"
        for key, values in kept.missing(study).items()
        for value in values
    ]
    return Table(
        caption=(
            "One choice at a time is changed and everything else is as in the study: mean absolute "
            "change of our means, table by table, and the conclusions that come out differently. "
            f"Measured beforehand with skycell {kept.version}; {runs}."
            + (f" Not tried: {listed(missing)}." if missing else "")
        ),
        columns=columns("changed choice", *heads, "conclusions", numeric=heads),
        rows=rows,
    )


def _decided_otherwise(entry: Alternative, judged: Collection[str]) -> str:
    """Conclusions of those `judged` that an alternative decides otherwise than what was chosen."""
    flips = {name: held for name, held in entry.flips.items() if name in judged}
    holding, failing = (
        [name for name, held in flips.items() if held is answer] for answer in (True, False)
    )
    sentences = [
        f"{listed(names)} then {verb if len(names) == 1 else verbs}"
        for names, verb, verbs in (
            (holding, "holds", "hold"),
            (failing, "does not hold", "do not hold"),
        )
        if names
    ]
    return "; ".join(sentences) or "as chosen"


def _unit(study: Study, table: str) -> str:
    unit = study.table(table).unit_of_changes
    return f" ({unit})" if unit != "1" else ""
