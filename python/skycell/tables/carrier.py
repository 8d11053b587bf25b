"""Link budgets of carriers as tables: the rows of each hop, and the carrier over a year."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skycell.link import AvailabilityCurve, CarrierBudget, Row
from skycell.tables.table import NOTHING, Table, columns, number, words

_WAYS = {"up": "From the earth to the satellite", "down": "From the satellite to the earth"}


def carrier_tables(budget: CarrierBudget) -> Iterator[Table]:
    """The tables of a budget: hop by hop, then the whole."""
    for hop in budget.hops:
        yield _rows(_WAYS[hop.name], hop.rows)
    year = "" if budget.availability is None else f", for {budget.availability:g} % of a year"
    yield _rows(f"{budget.title}{year}", budget.rows)


def _rows(title: str, rows: Sequence[Row]) -> Table:
    cells = []
    for row in rows:
        value = words(row.value) if isinstance(row.value, str) else number(row.value, 2)
        cells.append(
            (words(row.symbol), words(row.name), value, words(row.unit), words(row.source))
        )
    heads = columns(
        "symbol", "quantity", "value", "unit", "source", numeric=("value",), prose=("source",)
    )
    return Table(title, heads, tuple(cells), keys=2, sortable=False)


def availability_table(curve: AvailabilityCurve) -> Table:
    """The carrier at some parts of a year, and the mean of its rate."""
    hops = list(curve.points[0].attenuation_db)
    is_coded = curve.mean_ip_bps is not None
    ratio = "Es/N0, dB" if is_coded else "Eb/N0, dB"
    weather = [f"attenuation {hop}, dB" for hop in hops]
    heads = ["availability, %", *weather, ratio]
    heads += ["MODCOD", "IP, Mbit/s"] if is_coded else []
    rows = []
    for point in curve.points:
        cells = [words(f"{point.availability:.6g}")]
        cells += [number(point.attenuation_db[hop], 2) for hop in hops]
        cells.append(number(point.ratio_db, 2))
        if point.ip_bps is not None:
            cells += [words(point.modcod or NOTHING), number(point.ip_bps / 1e6, 2)]
        rows.append(tuple(cells))
    notes = []
    if curve.mean_ip_bps is not None:
        notes.append(
            f"Mean over the year: {curve.mean_ip_bps / 1e6:.2f} Mbit/s. Better weather than that "
            f"of {curve.least_availability:g} % counts as that, and the "
            f"{100 - curve.greatest_availability:.3g} % of worst weather as an outage."
        )
    numeric = tuple(head for head in heads if head != "MODCOD")
    return Table(
        f"{curve.title} over a year", columns(*heads, numeric=numeric), tuple(rows), tuple(notes)
    )
