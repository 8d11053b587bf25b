"""Token buckets of a port of packets: its shaper and its policer."""

from __future__ import annotations

from typing import Any

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.quantities import rounded, show_amount, show_rate
from skycell.scenario.declared.policer import Policer
from skycell.scenario.declared.shaper import Shaper
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.resolve.lines import Line
from skycell.spec.network import PacketPolicerSpec, TokenBucketSpec

_OF_CELLS = {
    "shaper": "nothing: the link carries cells, which a scheduler of VCs spaces",
    "policer": "nothing: the link carries cells, which a table [[policer]] polices VC by VC",
}


def resolve_buckets(
    link: PlannedLink, line: Line, packet: int, faults: FaultCollector
) -> dict[str, Any]:
    """The shaper and the policer of the port that feeds a link, as fields of its spec.

    Args:
        link: the link.
        line: how it carries what it is given.
        packet: octets of the longest packet that crosses it.
        faults: where they go.
    """
    found: dict[str, Any] = {}
    for key, bucket in (("shaper", link.shaper), ("policer", link.policer)):
        if bucket is None:
            continue
        where = (*link.path, key)
        if line.packets is None:
            faults.add(where, Verbatim("a table"), _OF_CELLS[key])
            continue
        found[key] = _bucket(bucket, where, faults)
        if isinstance(bucket, Shaper):
            _check_delays(bucket, line, where, faults)
        elif bucket.burst.amount < packet:
            allowed = f"from {show_amount(packet)} B, one full packet: a longer one never conforms"
            faults.add((*where, "burst"), bucket.burst.text, allowed)
    return found


def _bucket(
    bucket: Shaper | Policer, where: Path, faults: FaultCollector
) -> TokenBucketSpec | PacketPolicerSpec:
    peak = None if bucket.peak is None else rounded(bucket.peak.amount * 1000)
    if bucket.peak is not None and bucket.peak.amount < bucket.rate.amount:
        allowed = f"from {bucket.rate}, the rate"
        faults.add((*where, "peak"), bucket.peak.text, allowed)
    values = {
        "rate_millibps": rounded(bucket.rate.amount * 1000),
        "burst_octets": int(bucket.burst.amount),
        "peak_millibps": peak,
    }
    if isinstance(bucket, Shaper):
        return TokenBucketSpec.model_validate(values)
    return PacketPolicerSpec.model_validate({**values, "excess": bucket.excess})


def _check_delays(shaper: Shaper, line: Line, where: Path, faults: FaultCollector) -> None:
    """Notes rates of a shaper above that of its line, which delay nothing."""
    for key, rate in (("rate", shaper.rate), ("peak", shaper.peak)):
        if rate is not None and rate.amount > line.rate:
            allowed = f"up to {show_rate(int(line.rate))}, the rate of the line"
            faults.add((*where, key), rate.text, allowed)
