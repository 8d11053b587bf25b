"""Whether the cells of VCs, and packets at ports, kept to bounds on their losses and delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from skycell.metrics.classes import cells_counted, lost_cells
from skycell.metrics.discards import units_counted
from skycell.metrics.recorded_ports import record_of_port
from skycell.metrics.run_rows import flow_names
from skycell.scenario.file.qos import QUANTILES, QosTargets
from skycell.spec.declared.network import NetworkSpec, VcSpec

MET, MISSED, UNDECIDED = "met", "missed", "undecided"
"""Verdicts; undecided is one on fewer cells than the bound needs."""


def qos_verdicts(
    targets: Sequence[QosTargets], spec: NetworkSpec, records: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """What each bound on a VC or a port comes to, in the order of the file.

    Args:
        targets: of the scenario.
        spec: of the run.
        records: that it left.

    Returns:
        For each VC and bound: `vc` (name), `profile` (or None), `what` (`clr`, `clr0` of cells
        with CLP = 0, `ctd_ps` or `cdv_ps`), `quantile` (None for a loss), `bound` and `measured`
        in the unit of `what` (measured is None without cells), `cells` (offered for a loss, else
        arrived) and `verdict`;
        for each port of packets, and each flow, `port` (None from end to end) and `flow` (None
        for all) in place of `vc` and `profile`, `packets` in place of `cells`; for each port of
        cells `port` in place of `profile`.
    """
    ids = {vc.name: i for i, vc in enumerate(spec.vcs)}
    delays = {delay["vc"]: delay for delay in records["cell_delays"]}
    found = []
    for target in targets:
        for name in target.vcs if target.vcs and not target.ports else ():
            vc = ids[name]
            for what, bound in target.bounds._asdict().items():
                if bound is None:
                    continue
                if what == "clr" and promises_clp0(spec.vcs[vc]):
                    row, what = _of_clp0(records["vcs"][vc], bound), "clr0"
                elif what == "clr":
                    row = _of_losses(records["vcs"][vc], bound)
                else:
                    is_rerouted = spec.vcs[vc].rerouting is not None
                    row = _of_delays(delays[vc], what, bound, target.quantile, is_rerouted)
                found.append({"vc": name, "profile": target.profile, "what": what} | row)
        for name in target.ports or ():
            of_kind = _of_port if target.vcs is None else _of_cell_port
            found += of_kind(name, target, spec, records)
        for name in target.flows if target.flows and not target.ports else ():
            source = next(source for source in records["sources"] if source["name"] == name)
            rows = _of_stays(source["delay"], "packets", target)
            found += [{"port": None, "flow": name} | row for row in rows]
    return found


def _of_cell_port(
    name: str, one: QosTargets, spec: NetworkSpec, records: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The verdicts on the stays of the cells of some VCs at a port."""
    port = next(port for port in records["ports"] if port["name"] == name)
    stays = {spec.vcs[row["vc"]].name: row for row in port["stays"]}
    return [
        {"port": name, "vc": vc} | row
        for vc in one.vcs or ()
        for row in _of_stays(stays[vc], "cells", one)
    ]


def _of_stays(stay: Mapping[str, Any], unit: str, one: QosTargets) -> list[dict[str, Any]]:
    """The verdicts on some delays, which `unit` counts; their variation is beyond the least.

    >>> one = QosTargets(flows=("voice",), ctd="6 ms", cdv="6 ms", quantile=0.95)
    >>> stay = {"packets": 2000, "min_ps": 10**9, "p95_ps": 7 * 10**9}
    >>> [(row["what"], row["verdict"]) for row in _of_stays(stay, "packets", one)]
    [('ctd_ps', 'missed'), ('cdv_ps', 'met')]
    """
    found = []
    for what, bound in one.bounds._asdict().items():
        if what == "clr" or bound is None:
            continue
        measured = None
        if stay[unit]:
            least = stay["min_ps"] if what == "cdv_ps" else 0
            measured = stay[QUANTILES[one.quantile]] - least
        row = _verdict_on_delays(stay[unit], measured, bound, one.quantile)
        row[unit] = row.pop("cells")
        found.append({"what": what} | row)
    return found


def _of_port(
    name: str, one: QosTargets, spec: NetworkSpec, records: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The verdicts on all packets of a port, or on those of each of some flows.

    >>> stay = {"packets": 2000, "min_ps": 1, "p95_ps": 7, "p99_ps": 9}
    >>> port = {"name": "a>b", "departed": 1990, "queued": 10, "discarded": {"overflow": 4},
    ...         "octets": {"sojourn": stay}}
    >>> one = QosTargets(ports=("a>b",), clr=0.001, cdv="6 ms", quantile=0.95)
    >>> rows = _of_port("a>b", one, None, {"ports": [port]})
    >>> [(row["what"], row["measured"], row["packets"], row["verdict"]) for row in rows]
    [('clr', 0.001996007984031936, 2004, 'missed'), ('cdv_ps', 6, 2000, 'met')]
    """
    port = record_of_port(spec, records, name)
    assert port is not None
    octets = port["octets"]
    stays: dict[str | None, Mapping[str, Any]] = {None: octets["sojourn"]}
    if one.flows is not None:
        numbers = {flow: i for i, flow in enumerate(flow_names(spec))}
        own = {flow["flow"]: flow for flow in octets.get("flows", ())}
        stays = {flow: own.get(numbers[flow], _NONE_STAYED) for flow in one.flows}
    found = []
    for flow, stay in stays.items():
        if one.bounds.clr is not None:
            lost = sum(port["discarded"].values())
            row = _verdict_on_losses(units_counted(port), lost, one.bounds.clr)
            row["packets"] = row.pop("cells")
            found.append({"port": name, "flow": flow, "what": "clr"} | row)
        found += [{"port": name, "flow": flow} | row for row in _of_stays(stay, "packets", one)]
    return found


_NONE_STAYED = {"packets": 0}


def promises_clp0(vc: VcSpec) -> bool:
    """Whether the contract of a VC promises losses of its cells with CLP = 0 alone: VBR.2, VBR.3.

    Source: ATM Forum Traffic Management 4.1 and ITU-T I.371: the loss ratio of these is for the
    CLP = 0 flow.
    """
    return any(bucket.clp0_only for bucket in vc.policing)


def _of_losses(vc: Mapping[str, Any], bound: float) -> dict[str, Any]:
    """The verdict on losses; none lost of n cells shows a ratio below 3 / n, with 95 % confidence.

    >>> vc = {"cells_offered": 1000, "cells_policed": 0, "cells_refused": 0,
    ...       "cells_discarded": {"overflow": 2}, "cells_lost": {"drawn": 0}}
    >>> [_of_losses(vc, bound)["verdict"] for bound in (0.001, 0.002, 0.003)]
    ['missed', 'undecided', 'met']
    """
    return _verdict_on_losses(cells_counted(vc), lost_cells(vc), bound)


def _of_clp0(vc: Mapping[str, Any], bound: float) -> dict[str, Any]:
    """The verdict on losses of cells with CLP = 0.

    Cells that the policer tags do not conform: what becomes of them is not promised, so they are
    none of those of which the loss is a part. Cells that it discards count as offered and lost.

    >>> vc = {"cells_tagged": 100, "clp0": {"cells_offered": 600, "cells_lost": 1}}
    >>> _of_clp0(vc, 0.01)["measured"]
    0.002
    """
    clp0 = vc["clp0"]
    return _verdict_on_losses(clp0["cells_offered"] - vc["cells_tagged"], clp0["cells_lost"], bound)


def _verdict_on_losses(offered: int, lost: int, bound: float) -> dict[str, Any]:
    ratio = lost / offered if offered else None
    if ratio is None or (0 < bound < 1 and ratio <= bound and offered * bound < 3):
        verdict = UNDECIDED
    else:
        verdict = MET if ratio <= bound else MISSED
    return {
        "quantile": None,
        "bound": bound,
        "measured": ratio,
        "cells": offered,
        "verdict": verdict,
    }


def _of_delays(
    delay: Mapping[str, Any], what: str, bound: int, quantile: float, is_rerouted: bool
) -> dict[str, Any]:
    cells = delay["cells"]
    measured = None
    if cells:
        measured = delay[QUANTILES[quantile]]
        if what == "cdv_ps":
            # Of a VC whose path changes, fixed_ps is of its first and last link, or 0.
            is_fixed = delay["fixed_ps"] and not is_rerouted
            measured -= delay["fixed_ps"] if is_fixed else delay["min_ps"]
    return _verdict_on_delays(cells, measured, bound, quantile)


def _verdict_on_delays(
    cells: int, measured: float | None, bound: int, quantile: float
) -> dict[str, Any]:
    # Of fewer cells than this the quantile is the largest of them.
    fewest = 1 if quantile == 1 else round(1 / (1 - quantile))
    if measured is None or (measured <= bound and cells < fewest):
        verdict = UNDECIDED
    else:
        verdict = MET if measured <= bound else MISSED
    return {
        "quantile": quantile,
        "bound": bound,
        "measured": measured,
        "cells": cells,
        "verdict": verdict,
    }
