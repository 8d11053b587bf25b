"""Measures of the privileged source of Bonaventure's study and of the background beside it."""

from __future__ import annotations

from skycell.input.quantities import PS_PER_MS
from skycell.measures.flows import MBIT
from skycell.measures.measure import Measures
from skycell.studies.flow_measures import mean_of
from skycell.studies.measured_run import Measured

PRIVILEGED: Measures[Measured] = Measures()

FLOW = 0
"""The privileged source is the first flow; the others are the background."""

_TRANSFER = 10**7
"""Octets of a transfer, to which the paper's counts are related."""


def flows_of(source: str, flows: int) -> range:
    """Returns the flows that `privileged`, `background` or `each` stands for.

    >>> flows_of("background", 10)
    range(1, 10)
    """
    return {
        "privileged": range(FLOW, FLOW + 1),
        "background": range(FLOW + 1, flows),
        "each": range(flows),
    }[source]


def _source_flows(run: Measured) -> range:
    return flows_of(str(run.factors["source"]), len(run.flows))


@PRIVILEGED.declare("Mbit/s", "mean throughput of the row's sources", better="larger")
def source_throughput(run: Measured) -> float:
    """Of the row's `source`."""
    rates = run.rates_bps()
    return mean_of([rates[flow] for flow in _source_flows(run)]) / MBIT


@PRIVILEGED.declare(
    "ms", "mean one-way delay of the segments of the row's sources", better="smaller"
)
def packet_delay(run: Measured) -> float:
    """Each flow counts alike."""
    flows = _source_flows(run)
    return mean_of([float(run.flows[flow]["delay_mean_ps"]) for flow in flows]) / PS_PER_MS


@PRIVILEGED.declare("cells", "mean queue of a VC of the row's sources", better="smaller")
def source_mean_queue(run: Measured) -> float:
    """At the port that samples VCs; each VC counts alike.

    Raises:
        KeyError: no port samples a VC of the sources.
    """
    queues = {queue["vc"]: queue["mean"] for port in run.ports for queue in port["vc_queues"]}
    vcs = [run.facts.first_vcs[flow] for flow in _source_flows(run)]
    return mean_of([float(queues[vc]) for vc in vcs])


@PRIVILEGED.declare("ms", "mean round trip of the privileged source's segments", better="smaller")
def segment_rtt(run: Measured) -> float:
    """From the moment a segment is handed to the port until all of it has arrived, and back.

    The way back is by propagation alone: acknowledgements of two cells meet no queue.
    """
    delay_ms = float(run.flows[FLOW]["delay_mean_ps"]) / PS_PER_MS
    return delay_ms + run.facts.rtt_s / 2 * 1e3


@PRIVILEGED.declare(
    "1", "frames of the privileged source that went on tagged, as a part of all", better="smaller"
)
def tagged_share(run: Measured) -> float:
    """Control segments are frames as well."""
    vc = run.facts.first_vcs[FLOW]
    (frames,) = (entry for entry in run.summary["gfr_vcs"] if entry["vc"] == vc)
    return float(frames["frames_tagged"]) / float(frames["frames_offered"])


@PRIVILEGED.declare(
    "events",
    "retransmission timeouts of the privileged source for each 10 MB",
    better="smaller",
)
def timeouts_per_10mb(run: Measured) -> float | None:
    """None if the source delivered nothing."""
    return _per_10mb(run, "timeouts")


@PRIVILEGED.declare(
    "kB", "octets that the privileged source sent again for each 10 MB", better="smaller"
)
def retransmitted_per_10mb(run: Measured) -> float | None:
    """None if the source delivered nothing."""
    return _per_10mb(run, "octets_retransmitted", 1000)


def _per_10mb(run: Measured, count: str, unit: int = 1) -> float | None:
    flow = run.flows[FLOW]
    if flow["octets_delivered"] == 0:
        return None
    return float(flow[count]) / unit * _TRANSFER / float(flow["octets_delivered"])


@PRIVILEGED.declare("events", "frames discarded above HBO or for want of room", better="smaller")
def frames_above_hbo(run: Measured) -> float:
    """At all ports with a limited buffer."""
    lost = [port["frames_discarded"] for port in run.ports]
    return float(sum(frames["above_threshold"] + frames["overflow"] for frames in lost))
