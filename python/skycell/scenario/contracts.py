"""GFR contracts of VCs as a scenario file writes them: what a VC is promised."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from fractions import Fraction
from typing import Annotated

from skycell.scenario.faults import FaultCollector, Shown
from skycell.scenario.links import CELL_BITS
from skycell.scenario.parameters import Name, Parameters, meaning_of, param, quantity
from skycell.scenario.plan import Plan
from skycell.scenario.quantities import Dimension, Quantity, show_amount

#: The MCR of a VC is counted in thousandths of a cell a second.
MILLICELLS = 1000

CellRate = Annotated[
    Quantity,
    quantity(
        Dimension.CELL_RATE,
        Dimension.BIT_RATE,
        low=1,
        high=10**12,
        what="bits of whole cells, 424 each",
        example="20000 cells/s",
    ),
]


class GfrContract(Parameters):
    """What some VCs are promised by the Guaranteed Frame Rate service, each of them alike."""

    vcs: tuple[Name, ...] = param(..., "VCs with this contract")
    mcr: CellRate = param(
        ...,
        "minimum cell rate: what each of them gets when it has as much to send",
        symbol="MCR",
    )


def mcr_of(contracts: tuple[GfrContract, ...]) -> dict[str, int]:
    """MCR by name of the VC, thousandths of a cell a second, rounded down."""
    return {
        vc: int(_cells_per_second(contract.mcr) * MILLICELLS)
        for contract in contracts
        for vc in contract.vcs
    }


def check_contracts(
    contracts: tuple[GfrContract, ...],
    plan: Plan,
    rates: Mapping[str, Fraction],
    faults: FaultCollector,
) -> None:
    """Names that are no VC or stand twice, and MCRs that a link cannot carry together.

    Args:
        contracts: as the file has them.
        plan: the network.
        rates: payload rate of each link, bit/s.
        faults: where they go.
    """
    meaning = meaning_of(GfrContract.model_fields["vcs"])
    seen: set[str] = set()
    for i, contract in enumerate(contracts):
        for k, name in enumerate(contract.vcs):
            if name not in plan.vcs:
                close = get_close_matches(name, plan.vcs, n=1)
                hint = f'; did you mean "{close[0]}"?' if close else ""
                faults.add(("gfr", i, "vcs", k), name, f"a VC of the topology{hint}", meaning)
            elif name in seen:
                faults.add(("gfr", i, "vcs", k), name, "each VC once", meaning)
            seen.add(name)
    mcr = {vc: Fraction(rate, MILLICELLS) for vc, rate in mcr_of(contracts).items()}
    for link, rate in rates.items():
        crossing = [vc for vc in mcr if vc in plan.vcs and link in plan.vcs[vc].links]
        total, capacity = sum((mcr[vc] for vc in crossing), Fraction(0)), rate / CELL_BITS
        if total > capacity:
            which = crossing[0] if len(crossing) == 1 else f"{len(crossing)} VCs"
            faults.add(
                ("gfr",),
                Shown(f"{show_amount(int(total))} cells/s for {which} across {link}"),
                f"up to {show_amount(int(capacity))} cells/s, what the link carries",
                meaning_of(GfrContract.model_fields["mcr"]),
            )


def _cells_per_second(rate: Quantity) -> Fraction:
    per_cell = CELL_BITS if rate.dimension is Dimension.BIT_RATE else 1
    return rate.amount / per_cell
