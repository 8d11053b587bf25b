"""GFR contracts of VCs: whether a network can hold them, and their parameters in integers."""

from __future__ import annotations

from fractions import Fraction

from skycell.input.faults import Verbatim
from skycell.input.quantities import (
    CELL_BITS,
    DAY_PS,
    PS_PER_SECOND,
    Dimension,
    rounded,
    show_amount,
    show_time,
)
from skycell.scenario.file.gfr import MOST_BURST, GfrContract
from skycell.scenario.resolve.context import context
from skycell.scenario.resolve.lines import lines
from skycell.scenario.resolve.longest import frame_cells
from skycell.scenario.resolve.resolution import Resolution, each_once, part, places
from skycell.scenario.values.cells import MILLICELLS, cells_per_second
from skycell.spec.declared.network import GcraSpec, GfrSpec

#: Steps of the windows of a run, each of them looked at.
_MOST_STEPS = 10_000_000


@part
def mcrs(net: Resolution) -> dict[str, int]:
    """Returns the MCR by name of the VC, thousandths of a cell a second, rounded down."""
    return {
        vc: int(cells_per_second(contract.mcr) * MILLICELLS)
        for contract in net.file.gfr
        for vc in contract.vcs
    }


@part
def mbs(net: Resolution) -> dict[str, int]:
    """Returns the MBS by name of the VC, cells."""
    return {
        vc: min(_mbs(contract, frame_cells(net)), MOST_BURST)  # a longer one is a fault
        for contract in net.file.gfr
        for vc in contract.vcs
    }


def _mfs(contract: GfrContract, frame_cells: int) -> int:
    return int(contract.mfs.amount) if contract.mfs else frame_cells


def _mbs(contract: GfrContract, frame_cells: int) -> int:
    in_frames = contract.mbs.dimension is Dimension.FRAMES
    return int(contract.mbs.amount * (_mfs(contract, frame_cells) if in_frames else 1))


@part
def contracts(net: Resolution) -> dict[str, GfrSpec]:
    """Returns the contract of each VC that has one, by its name."""
    each_once(net, places("gfr", "vcs", net.file.gfr), "VC", net.plan.instead_of_vc)
    found = {}
    for i, contract in enumerate(net.file.gfr):
        for vc in contract.vcs:
            if vc in net.plan.vcs:
                links = net.plan.vcs[vc].links
                found[vc] = _contract(net, i, contract, lines(net)[links[0]].rate / CELL_BITS)
                if len(links) == 1:
                    got = Verbatim(f"{vc}, over one link")
                    allowed = "VCs that cross a switch, which checks frames against a contract"
                    net.faults.add(("gfr", i, "vcs"), got, allowed)
    return found


@part
def peak_policers(net: Resolution) -> dict[str, GcraSpec]:
    """Returns GCRA(1/PCR, CDVT) of each VC whose contract polices its peak rate, by its name."""
    specs = contracts(net)
    return {
        vc: GcraSpec(
            increment_ps=specs[vc].pcr_interval_ps,
            limit_ps=int(contract.cdvt.amount),
            action=contract.pcr_policing,
        )
        for contract in net.file.gfr
        if contract.pcr_policing != "none"
        for vc in contract.vcs
        if vc in specs
    }


def _contract(net: Resolution, i: int, contract: GfrContract, link_rate: Fraction) -> GfrSpec:
    """Returns the spec of a contract on a first link of `link_rate` cells/s."""

    def fault(key: str, got: object, allowed: str) -> None:
        net.faults.add(("gfr", i, key), got, allowed)

    duration_ps = context(net).duration_ps
    mcr = cells_per_second(contract.mcr)
    pcr = cells_per_second(contract.pcr) if contract.pcr else max(link_rate, mcr)
    mfs = _mfs(contract, frame_cells(net))
    mbs = _mbs(contract, frame_cells(net))
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
        fault("window_step", contract.window_step.text, f"at least {least} in a run of this length")
    mcr_interval = _interval_ps(mcr)
    pcr_interval = min(_interval_ps(pcr), mcr_interval)
    # BT = (MBS - 1) (1/MCR - 1/PCR), and the tolerance of the way (TM 4.1; Bonaventure, 2).
    tolerance = max(mbs - 1, 0) * (mcr_interval - pcr_interval) + int(contract.cdvt.amount)
    if mbs > MOST_BURST:
        got = Verbatim(f'"{contract.mbs}", which is {show_amount(mbs)} cells')
        fault("mbs", got, f"up to {show_amount(MOST_BURST)} cells")
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
