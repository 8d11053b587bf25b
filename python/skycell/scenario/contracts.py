"""GFR contracts of VCs as a scenario file writes them: what a VC is promised, and who tags."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Annotated, Literal

from skycell.input.faults import FaultCollector, Verbatim
from skycell.input.parameters import Names, Parameters, meaning_of, param, quantity, word
from skycell.input.quantities import (
    CELL_BITS,
    DAY_PS,
    PS_PER_SECOND,
    Dimension,
    Quantity,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.cells import CellRate, cells_per_second
from skycell.scenario.plan import Plan
from skycell.spec.network import GcraSpec, GfrSpec

#: The MCR of a VC is counted in thousandths of a cell a second.
MILLICELLS = 1000

_MFS = quantity(Dimension.CELLS, low=1, high=1366, example="200 cells")
#: Cells of a burst.
_MOST_BURST = 10**9
#: Steps of the windows of a run, each of them looked at.
_MOST_STEPS = 10_000_000
_BURST = quantity(
    Dimension.CELLS,
    Dimension.FRAMES,
    low=1,
    high=_MOST_BURST,
    what="frames of MFS",
    example="400 cells",
)
_TOLERANCE = quantity(Dimension.TIME, high=PS_PER_SECOND, example="100 us")
_WINDOW = quantity(Dimension.TIME, low=10**9, high=3600 * PS_PER_SECOND, example="1 s")


class GfrContract(Parameters):
    """What the Guaranteed Frame Rate service promises some VCs, the same for each of them."""

    vcs: Names = param(..., "VCs with this contract")
    mcr: CellRate = param(
        ...,
        "minimum cell rate: what each of them gets if it has that much to send",
        symbol="MCR",
    )
    pcr: CellRate | None = param(
        None,
        "peak cell rate: the most that each of them may send; at least mcr",
        symbol="PCR",
        source="the rate of the VC's first link",
    )
    mfs: Annotated[Quantity, _MFS] | None = param(
        None,
        "longest frame to which the guarantee applies",
        symbol="MFS",
        source="the longest frame of the scenario's flows",
    )
    mbs: Annotated[Quantity, _BURST] = param(
        "2 frames",
        "burst at PCR that is eligible; at least MFS",
        symbol="MBS",
        source="Bonaventure, A simulation study of TCP with the GFR service category",
    )
    cdvt: Annotated[Quantity, _TOLERANCE] = param(
        "0 s",
        "tolerance for delay variation on the way to the network",
        symbol="CDVT",
        source="each host reaches the network over its own link",
    )
    tagging: Annotated[
        Literal["none", "network", "adapter"], word("none", "network", "adapter")
    ] = param(
        "none",
        "who tags frames beyond the guarantee: nobody (GFR.1), the network at the first switch "
        "(GFR.2), or the end system before it sends",
        source="the DFBA papers describe no tagging",
    )
    excess: Annotated[Literal["pass", "discard"], word("pass", "discard")] = param(
        "pass",
        "what happens, at the first switch, to frames with CLP = 0 beyond the guarantee: "
        "they pass (tagged, if the network tags) or are discarded whole",
        source="Traffic Management 4.1: the network carries them as far as it has room",
    )
    nonconforming: Annotated[Literal["count", "discard"], word("count", "discard")] = param(
        "count",
        "what happens, at the first switch, to frames longer than MFS and to those whose "
        "cells differ in CLP",
        source="choice: they are seen in the records before they change a result",
    )
    pcr_policing: Annotated[
        Literal["none", "count", "tag", "discard"], word("none", "count", "tag", "discard")
    ] = param(
        "none",
        "what happens, at the first switch, to cells beyond GCRA(1/PCR, cdvt)",
        source="hosts send at the rate of their link, which is the PCR unless stated otherwise",
    )
    window: Annotated[Quantity, _WINDOW] = param(
        "1 s",
        "length of the windows over which the guarantee is checked",
        source="choice: the shortest time that people notice",
    )
    window_step: Annotated[Quantity, _WINDOW] = param(
        "100 ms",
        "time from the start of one window to the next; a window is a whole number of steps",
        source="choice: ten starts per window",
    )


def mcr_of(contracts: tuple[GfrContract, ...]) -> dict[str, int]:
    """MCR by name of the VC, thousandths of a cell a second, rounded down."""
    return {
        vc: int(cells_per_second(contract.mcr) * MILLICELLS)
        for contract in contracts
        for vc in contract.vcs
    }


def mbs_of(contracts: tuple[GfrContract, ...], frame_cells: int) -> dict[str, int]:
    """MBS by name of the VC, cells, where the scenario's longest frame has `frame_cells`."""
    return {
        vc: min(_mbs(contract, frame_cells), _MOST_BURST)  # a longer one is a fault
        for contract in contracts
        for vc in contract.vcs
    }


def _mfs(contract: GfrContract, frame_cells: int) -> int:
    return int(contract.mfs.amount) if contract.mfs else frame_cells


def _mbs(contract: GfrContract, frame_cells: int) -> int:
    in_frames = contract.mbs.dimension is Dimension.FRAMES
    return int(contract.mbs.amount * (_mfs(contract, frame_cells) if in_frames else 1))


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
                faults.add(("gfr", i, "vcs", k), name, plan.a_vc(name), meaning)
            elif name in seen:
                faults.add(("gfr", i, "vcs", k), name, "each VC once", meaning)
            seen.add(name)
    mcr = {vc: Fraction(rate, MILLICELLS) for vc, rate in mcr_of(contracts).items()}
    promised: dict[str, list[str]] = {}
    for vc in mcr:
        for link in dict.fromkeys(plan.vcs[vc].links if vc in plan.vcs else ()):
            promised.setdefault(link, []).append(vc)
    for link in (name for name in rates if name in promised):
        crossing = promised[link]
        total, capacity = sum(mcr[vc] for vc in crossing), rates[link] / CELL_BITS
        if total > capacity:
            which = crossing[0] if len(crossing) == 1 else f"{len(crossing)} VCs"
            faults.add(
                ("gfr",),
                Verbatim(f"{show_amount(int(total))} cells/s for {which} across {link}"),
                f"up to {show_amount(int(capacity))} cells/s, what the link carries",
                meaning_of(GfrContract.model_fields["mcr"]),
            )


def resolve_contracts(
    contracts: tuple[GfrContract, ...],
    plan: Plan,
    rates: Mapping[str, Fraction],
    frame_cells: int,
    duration_ps: int,
    faults: FaultCollector,
) -> dict[str, GfrSpec]:
    """The contract of each VC that has one, by its name.

    Args:
        contracts: as the file has them, checked by `check_contracts`.
        plan: the network.
        rates: payload rate of each link, bit/s.
        frame_cells: cells of the longest frame of the scenario's flows.
        duration_ps: of the run.
        faults: where parts that do not fit together go.
    """
    found = {}
    for i, contract in enumerate(contracts):
        for vc in contract.vcs:
            if vc in plan.vcs:
                link = plan.vcs[vc].links[0]
                rate = rates[link] / CELL_BITS
                spec = _contract(contract, rate, frame_cells, duration_ps, i, faults)
                if len(plan.vcs[vc].links) == 1:
                    got = Verbatim(f"{vc}, over one link")
                    meaning = meaning_of(GfrContract.model_fields["vcs"])
                    allowed = (
                        "VCs that cross a switch: that is where frames are checked against a "
                        "contract"
                    )
                    faults.add(("gfr", i, "vcs"), got, allowed, meaning)
                found[vc] = spec
    return found


def peak_policers(
    contracts: tuple[GfrContract, ...], specs: Mapping[str, GfrSpec]
) -> dict[str, GcraSpec]:
    """GCRA(1/PCR, CDVT) of each VC whose contract polices its peak rate, by its name."""
    return {
        vc: GcraSpec(
            increment_ps=specs[vc].pcr_interval_ps,
            limit_ps=int(contract.cdvt.amount),
            action=contract.pcr_policing,
        )
        for contract in contracts
        if contract.pcr_policing != "none"
        for vc in contract.vcs
        if vc in specs
    }


def _contract(
    contract: GfrContract,
    link_rate: Fraction,
    frame_cells: int,
    duration_ps: int,
    i: int,
    faults: FaultCollector,
) -> GfrSpec:
    """The spec of a contract on a first link of `link_rate` cells/s."""

    def fault(key: str, got: object, allowed: str) -> None:
        faults.add(("gfr", i, key), got, allowed, meaning_of(GfrContract.model_fields[key]))

    mcr = cells_per_second(contract.mcr)
    pcr = cells_per_second(contract.pcr) if contract.pcr else max(link_rate, mcr)
    mfs = _mfs(contract, frame_cells)
    mbs = _mbs(contract, frame_cells)
    if pcr < mcr:
        fault("pcr", contract.pcr and contract.pcr.text, f"at least mcr, {contract.mcr}")
        pcr = mcr
    if mbs < mfs:
        fault("mbs", contract.mbs.text, f"at least MFS, {mfs} cells")
    if contract.tagging == "network" and contract.excess == "discard":
        fault(
            "excess",
            contract.excess,
            "pass, where the network tags: frames are either tagged or discarded",
        )
    window, step = contract.window.amount, contract.window_step.amount
    if window % step != 0:
        fault(
            "window", contract.window.text, f"a whole number of window_step, {contract.window_step}"
        )
        window = step
    if duration_ps // step > _MOST_STEPS:
        least = show_time(-(-duration_ps // _MOST_STEPS))
        fault(
            "window_step", contract.window_step.text, f"at least {least} in a run as long as this"
        )
    mcr_interval = _interval_ps(mcr)
    pcr_interval = min(_interval_ps(pcr), mcr_interval)
    # BT = (MBS - 1) (1/MCR - 1/PCR), and the tolerance of the way (TM 4.1; Bonaventure, 2).
    tolerance = max(mbs - 1, 0) * (mcr_interval - pcr_interval) + int(contract.cdvt.amount)
    if mbs > _MOST_BURST:
        got = Verbatim(f'"{contract.mbs}", which is {show_amount(mbs)} cells')
        fault("mbs", got, f"up to {show_amount(_MOST_BURST)} cells")
    elif tolerance > DAY_PS:
        got = Verbatim(f'"{contract.mbs}", a tolerance of {show_time(tolerance)}')
        fault("mbs", got, f"a tolerance up to {show_time(DAY_PS)}")
    return GfrSpec(
        mcr_interval_ps=mcr_interval,
        pcr_interval_ps=pcr_interval,
        burst_tolerance_ps=min(tolerance, DAY_PS),
        mfs_cells=mfs,
        tagging=contract.tagging,
        excess=contract.excess,
        nonconforming=contract.nonconforming,
        window_ps=int(window),
        window_step_ps=int(step),
    )


def _interval_ps(rate: Fraction) -> int:
    """Time between cells at a rate in cells/s, in whole picoseconds, rounded half up."""
    return rounded(PS_PER_SECOND / rate)
