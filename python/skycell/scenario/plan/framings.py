"""Framings of the links of a network: which part of a rate carries cells."""

from __future__ import annotations

from fractions import Fraction

from skycell.input.faults import NOTHING, FaultCollector, Verbatim
from skycell.input.parameters import meaning_of
from skycell.input.quantities import Dimension, show_amount
from skycell.scenario.file.links import FRAMINGS, CongestedLink
from skycell.scenario.plan.plan import Plan, PlannedLink


def check_framings(plan: Plan, faults: FaultCollector) -> None:
    """Notes framings that a link of a plan lacks or cannot have at its rate."""
    for link in {words_of_rate(link): link for link in plan.links.values()}.values():
        _check_framing(link, faults)


def words_of_rate(link: PlannedLink) -> tuple[object, ...]:
    """What links whose rate is described by the same words have in common."""
    return (link.rate_path, id(link.rate), link.framing)


def _check_framing(link: PlannedLink, faults: FaultCollector) -> None:
    where = (*link.rate_path, "framing")
    known = " or ".join(f'"{f}"' for f in FRAMINGS)
    meaning = meaning_of(CongestedLink.model_fields["framing"])
    if link.rate.dimension is Dimension.CELL_RATE:
        if link.framing not in (None, "none"):
            faults.add(where, link.framing, '"none": cells/s is what the link carries', meaning)
        return
    if link.framing is None:
        faults.add(where, NOTHING, known, meaning)
        return
    only = FRAMINGS[link.framing][1]
    if only is not None and link.rate.amount != only:
        got = Verbatim(f'"{link.framing}" with a rate of {link.rate}')
        allowed = f"a rate of {show_amount(Fraction(only, 10**6))} Mbit/s with this framing"
        faults.add(where, got, allowed, meaning)
