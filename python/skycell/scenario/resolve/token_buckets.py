"""Token buckets of a port of packets: its shaper and its policer."""

from __future__ import annotations

from typing import Any

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.quantities import show_amount, show_rate
from skycell.scenario.declared.policer import POLICER
from skycell.scenario.declared.shaper import SHAPER, Shaper
from skycell.scenario.interpreter.place import Place
from skycell.scenario.interpreter.rules import resolve
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.lines import Line, lines
from skycell.scenario.resolve.longest import longest_packets
from skycell.scenario.resolve.resolution import Resolution

_OF_CELLS = {
    "shaper": "nothing: the link carries cells; a scheduler of VCs spaces them",
    "policer": "nothing: the link carries cells, which a table [[policer]] polices VC by VC",
}


def token_buckets(net: Resolution, link: PlannedLink) -> dict[str, Any]:
    """Returns the shaper and the policer of the port that feeds a link, as fields of its spec."""
    line, packet, faults = lines(net)[link.name], longest_packets(net)[link.name], net.faults
    found: dict[str, Any] = {}
    for key, bucket in (("shaper", link.port.shaper), ("policer", link.port.policer)):
        if bucket is None:
            continue
        where = (*link.path, key)
        if line.packets is None:
            faults.add(where, Verbatim("a table"), _OF_CELLS[key])
            continue
        if bucket.peak is not None and bucket.peak.amount < bucket.rate.amount:
            faults.add((*where, "peak"), bucket.peak.text, f"from {bucket.rate}, the rate")
        place = Place(where, faults)
        if isinstance(bucket, Shaper):
            found[key] = resolve(SHAPER, bucket, place)
            _check_delays(bucket, line, where, faults)
            continue
        found[key] = resolve(POLICER, bucket, place)
        if bucket.burst.amount < packet:
            allowed = (
                f"from {show_amount(packet)} B, one full packet: a longer packet never conforms"
            )
            faults.add((*where, "burst"), bucket.burst.text, allowed)
    return found


def _check_delays(shaper: Shaper, line: Line, where: Path, faults: FaultCollector) -> None:
    """Notes rates of a shaper above that of its line, which delay nothing."""
    for key, rate in (("rate", shaper.rate), ("peak", shaper.peak)):
        if rate is not None and rate.amount > line.rate:
            allowed = f"up to {show_rate(int(line.rate))}, the rate of the line"
            faults.add((*where, key), rate.text, allowed)
