"""The terms of delays over constellations as rows of a table, in milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from skycell.input.quantities import PS_PER_MS


class TermRow(NamedTuple):
    """The mean terms of one flow's delay, milliseconds; None where nothing arrived.

    `bound` is the largest delay that buffers allow, None where the bound does not apply;
    `media_access`, a part of `queueing`, the mean access delay of an uplink that terminals share,
    None where the path has none.
    """

    flow: str
    satellites: str
    transmission: float
    access: float
    up: float
    between: float
    down: float
    switching: float
    queueing: float | None
    total: float | None
    largest: float | None
    bound: float | None
    media_access: float | None

    @property
    def numbers(self) -> tuple[float | None, ...]:
        """The times, in the order of `TERM_HEADS`."""
        return self[2:-1]


TERM_HEADS = ("t_t", "access", "t_up", "t_i", "t_down", "t_s", "t_q", "D", "max D", "bound")


def term_row(terms: Mapping[str, Any]) -> TermRow:
    """One entry of `delay_terms` as a row."""
    least, most = terms["satellites"]["least"], terms["satellites"]["most"]
    total, bound = terms["total_ps"], terms["bound"]
    media = terms.get("media_access_ps")
    return TermRow(
        terms["flow"],
        f"{least}" if least == most else f"{least} to {most}",
        terms["transmission_ps"] / PS_PER_MS,
        terms["access_ps"] / PS_PER_MS,
        terms["up_ps"]["mean"] / PS_PER_MS,
        terms["between_ps"]["mean"] / PS_PER_MS,
        terms["down_ps"]["mean"] / PS_PER_MS,
        terms["switching_ps"]["mean"] / PS_PER_MS,
        None if total is None else terms["queueing_ps"] / PS_PER_MS,
        None if total is None else total["mean"] / PS_PER_MS,
        None if total is None else total["most"] / PS_PER_MS,
        None if bound is None else bound["total_ps"] / PS_PER_MS,
        None if media is None else media["mean"] / PS_PER_MS,
    )
