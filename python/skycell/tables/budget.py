"""Budgets of links as tables: the layers of each, and what is lost to errors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skycell.metrics.budget import LinkBudget
from skycell.tables.table import (
    NOTHING,
    Cell,
    Table,
    columns,
    number,
    share,
    words,
)
from skycell.tables.table import loss as loss_cell


def budget_tables(found: Sequence[LinkBudget]) -> Iterator[Table]:
    """The tables, link by link; then the losses of those with errors."""
    for one in found:
        yield _layers(one)
    if any(one.errors for one in found):
        yield _losses(found)


def _named(one: LinkBudget) -> str:
    more = len(one.names) - 1
    return f"{one.names[0]} and {more} more" if more else one.names[0]


def _layers(one: LinkBudget) -> Table:
    rows = [
        (words(layer.name), number(layer.bps / 1e3, 2), share(layer.share)) for layer in one.layers
    ]
    total = (words("carrier"), number(one.carrier_bps / 1e3, 2), share(1.0))
    notes = []
    if one.symbol_rate is not None:
        text = f"{one.symbol_rate / 1e6:g} Mbaud"
        if one.bandwidth_hz is not None:
            text += f", which occupy {one.bandwidth_hz / 1e6:g} MHz"
        notes.append(f"{text}.")
    if one.varies:
        notes.append("The link varies in the run: this is the budget of the rate in the file.")
    return Table(
        f"Carrier of {_named(one)}: {one.stated}",
        columns("layer", "kbit/s", "share", numeric=("kbit/s", "share")),
        (*rows, total),
        notes=tuple(notes),
        ruled=frozenset({len(rows) - 1}),
    )


def _losses(found: Sequence[LinkBudget]) -> Table:
    rows = [
        (
            words(_named(one)),
            words(one.errors.kind),
            _db(one.errors.ratio_db),
            _db(one.errors.margin_db),
            _part(one.errors.ber),
            _part(one.errors.cell_loss),
            _part(one.errors.frame_loss),
            _part(one.errors.ack_loss),
        )
        for one in found
        if one.errors is not None
    ]
    heads = (
        "Eb/N0 or Es/N0, dB",
        "margin, dB",
        "wrong bits",
        "cells lost by header",
        "segments lost",
        "ACKs lost",
    )
    return Table(
        "What errors cost: full segments, and acknowledgements of 40 octets",
        columns("link", "errors", *heads, numeric=heads),
        tuple(rows),
    )


def _db(value: float | None) -> Cell:
    return number(value, 2)


def _part(value: float | None) -> Cell:
    return words(NOTHING) if value is None else loss_cell(value)
