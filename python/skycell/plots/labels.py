"""Words and units for what figures show."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from skycell.input.quantities import counted
from skycell.scenario.declared.policies import POLICIES
from skycell.scenario.declared.rate_algorithms import RATE_ALGORITHMS

NAMES = {
    **{kind: rule.facts["label"] for kind, rule in {**POLICIES, **RATE_ALGORITHMS}.items()},
    # policies, as the published tables spell them
    "ubr": "tail drop",
    "sd": "Selective Drop",
    "fba": "FBA",
    "wfq": "WFQ",
    # satellites
    "6x11": "6 × 11",
    "12x24": "12 × 24",
    "shell": "shell of 1 584",
    "geo_slot": "GEO",
    "round_robin": "round robin",
    "weighted_round_robin": "weighted RR",
    # TCP
    "vanilla": "vanilla",
    "tahoe": "Tahoe",
    "reno": "Reno",
    "newreno": "NewReno",
    "new_reno": "NewReno",
    "sack": "SACK",
    "bbr": "BBR",
    "bbr3": "BBRv3",
    "cubic": "CUBIC",
    "high_speed": "HighSpeed",
    "vegas": "Vegas",
    # configurations
    "lan": "LAN",
    "wan": "WAN",
    "geo": "GEO",
    "leo": "LEO",
    "meo": "MEO",
    "multi_leo": "multi-hop LEO",
    "multi-leo": "multi-hop LEO",
    # reasons of discard
    "overflow": "buffer full",
    "rest_of_frame": "rest of a frame",
    "above_threshold": "queue above threshold",
    "over_fair_share": "VC over its fair share",
    "vc_threshold": "VC crossed its own threshold",
    "drawn": "drawn at random",
    "tagged": "tagged frame",
    "delayed": "packet had waited too long",
    "pushed_out": "place given to a later packet",
    "policed": "above a policed rate",
    "filtered": "place given to a newer acknowledgement",
}
"""How a key of the data is written for people."""

FACTORS = {
    "contention_slots": "slots never reserved",
    "frame_slots": "slots of a frame",
    "request_slots": "slots for requests",
    "size_kb": "file (kB)",
    "edge_buffer_rtt": "buffer at the edge (RTT)",
    "rate_mbps": "rate (Mbit/s)",
    "rtt_ms": "round trip (ms)",
    "reserved_percent": "reserved (%)",
    "altitude_km": "altitude (km)",
    "elevation_deg": "elevation (degrees)",
    "load_percent": "load (%)",
    "loss_percent": "frames lost (%)",
    "room_packets": "room above the threshold (packets)",
    "retransmit_delay_segments": "delay of retransmissions (segments)",
    "mss_bytes": "segment (octets)",
    "config": "configuration",
    "tcp": "TCP",
    "tcp_group": "TCPs",
    "policy": "buffer policy",
    "n_sources": "N",
    "buffer_cells": "buffer (cells)",
    "feedback_delay_ms": "feedback delay (ms)",
    "added_trip_ms": "round trip beyond twice that (ms)",
    "buffer_rtt": "buffer (RTT)",
    "buffer_rtt_multiple": "buffer (RTT)",
    "component": "share of the variation",
    "mcr_allocation_percent": "link in MCRs (%)",
    "tcps_per_vc": "TCPs on each VC",
    "vc": "VC",
    "privileged_mss_bytes": "segment (octets)",
    "under_way": "cells under way",
    "n_tcps": "TCPs",
    "privileged_mcr_cells_per_s": "MCR of the privileged source (cells/s)",
    "mcr_cells_per_s": "MCR (cells/s)",
    "background_mcr_cells_per_s": "MCR of the others (cells/s)",
    "background_mss_bytes": "segment of the others (octets)",
    "n_background": "other sources",
    "vbr_period_ms": "period of VBR (ms)",
    "gr_fraction": "GR (fraction of the link)",
    "n_satellites": "satellites",
    "position_in_path": "place on the path",
    "city_row": "from",
    "city_column": "to",
    "segments_lost": "segments lost",
    "seen_every": "time between looks",
    "z_rule": "Z",
    "max_window_bytes": "receiver window (bytes)",
    "threshold_bytes": "window threshold (bytes)",
}
"""How a factor of a study is written for people."""

METRICS = {
    "lost_by_header": "Lost by their headers, of a million",
    "corrected_part": "Corrected headers",
    "round_trip": "Mean round trip",
    "window_cycle": "Time between cuts of a window",
    "window_growth": "Growth of a window in a round trip (segments)",
    "sent_packets": "Packets sent",
    "whole_part": "Cells of whole frames",
    "recovery_round_trips": "Recovery in round trips",
    "edge_fairness": "Fairness index of edge routers",
    "p999_cell_delay": "Cell delay, 99.9 %",
    "cell_delay_variation": "Cell delay variation, 99.9 %",
    "nonconforming_part": "Part not conforming",
    "nonconforming_percent": "Part not conforming",
    "discarded_part": "Part discarded",
    "discarded_percent": "Discarded",
    "overflow_percent": "Came to a full buffer",
    "handover_interval": "Time between handovers",
    "hop_delay": "Delay of a hop",
    "uplink_throughput": "Throughput of the uplink",
    "collided_part": "Slots with collisions",
    "mean_access_delay": "Mean access delay",
    "p50_access_delay": "Access delay, median",
    "p90_access_delay": "Access delay, 90 %",
    "p99_access_delay": "Access delay, 99 %",
    "mean_ping_rtt": "Mean round-trip time of pings",
    "p50_ping_rtt": "Round-trip time of pings, median",
    "p90_ping_rtt": "Round-trip time of pings, 90 %",
    "p95_ping_rtt": "Round-trip time of pings, 95 %",
    "p99_ping_rtt": "Round-trip time of pings, 99 %",
    "backlog_drift": "Growth of the backlog in a slot",
    "terminal_state": "State of a terminal",
    "controller_state": "State of the controller",
    "efficiency": "Efficiency",
    "jain_fairness": "Fairness index",
    "throughput": "Throughput",
    "smallest_throughput": "Smallest throughput",
    "mean_delay": "Mean delay",
    "mean_flow_delay": "Mean delay",
    "flow_throughput": "Throughput",
    "group_throughput": "Throughput per TCP",
    "calculated_throughput": "Calculated throughput",
    "ratio_to_expected": "Ratio to the expected throughput",
    "threshold_total": "Sum of the thresholds",
    "threshold_share": "Sum of the thresholds",
    "max_min_fairness": "Max-min fairness index",
    "timeouts_without_loss": "Timeouts where nothing was lost",
    "retransmitted_part": "Part sent again",
    "retransmitted_octets_percent": "Octets sent again",
    "needless_percent": "Segments sent again in vain",
    "guarantee_shortfall": "Guarantee shortfall",
    "excess_fairness": "Fairness of the excess",
    "guarantee_shortfall_share": "Share of the variation of the guarantee shortfall",
    "excess_fairness_share": "Share of the variation of the excess fairness",
    "source_throughput": "Throughput of a source",
    "datagram_throughput": "Throughput of datagrams",
    "vc_throughput": "Throughput of a VC",
    "vc_expected": "Expected throughput of a VC",
    "vc_excess": "Excess of a VC over its MCR",
    "vc_excess_ratio": "Excess of a VC as a multiple of its MCR",
    "mcr_total": "Sum of the MCRs",
    "excess_total": "Sum of the excesses",
    "vbr_share": "VBR's share of the link",
    "ubr_share": "UBR's share of the link",
    "timeouts_per_10mb": "Timeouts per 10 MB",
    "retransmitted_per_10mb": "Octets sent again per 10 MB",
    "tagged_share": "Fraction of the frames that are tagged",
    "frames_above_hbo": "Frames discarded above HBO or for lack of room",
    "segment_rtt": "Mean round trip",
    "packet_delay": "Mean delay of a packet",
    "cells_discarded": "Cells discarded",
    "mean_queue": "Mean queue",
    "mean_queue_worst_port": "Mean queue of the fullest port",
    "largest_queue": "Largest queue",
    "largest_queue_worst_port": "Largest queue",
    "p99_queue": "Queue, 99th percentile",
    "mean_sojourn": "Mean sojourn time",
    "p50_sojourn": "Sojourn time, median",
    "p90_sojourn": "Sojourn time, 90th percentile",
    "p95_sojourn": "Sojourn time, 95th percentile",
    "p95_sojourn_worst_port": "Sojourn time, 95th percentile",
    "p99_sojourn": "Sojourn time, 99th percentile",
    "largest_sojourn": "Largest sojourn time",
    "p50_page_response": "Page response, median",
    "p90_page_response": "Page response, 90th percentile",
    "p95_page_response": "Page response, 95th percentile",
    "p99_page_response": "Page response, 99th percentile",
    "p50_file_response": "File response, median",
    "p90_file_response": "File response, 90th percentile",
    "p95_file_response": "File response, 95th percentile",
    "p99_file_response": "File response, 99th percentile",
    "p50_transfer_time": "Transfer time, median",
    "p90_transfer_time": "Transfer time, 90th percentile",
    "p95_transfer_time": "Transfer time, 95th percentile",
    "p99_transfer_time": "Transfer time, 99th percentile",
    "p50_delivery_time": "Delivery time, median",
    "p90_delivery_time": "Delivery time, 90th percentile",
    "p95_delivery_time": "Delivery time, 95th percentile",
    "p99_delivery_time": "Delivery time, 99th percentile",
    "fast_retransmits": "Fast retransmits",
    "vc_mean_queue": "Mean occupancy",
    "source_mean_queue": "Mean occupancy",
    "offered_load": "Offered load",
    "mean_file": "Mean file",
    "file_response_median": "Response time of a file, median",
    "file_response_p95": "Response time of a file, 95th percentile",
    "page_response_median": "Response time of a page, median",
    "page_response_p95": "Response time of a page, 95th percentile",
    "efficiency_share": "Share of the variation of efficiency",
    "max_min_fairness_share": "Share of the variation of fairness",
    "efficiency_effect": "Effect on efficiency",
    "max_min_fairness_effect": "Effect on fairness",
    "efficiency_error": "Standard error of efficiency",
    "max_min_fairness_error": "Standard error of fairness",
    "satellites_on_path": "Satellites on the path",
    "path_delay": "Propagation delay",
    "shortest_delay": "Propagation delay of the shortest path",
    "delay_lost": "Greedy minus shortest delay",
    "link_delay": "Delay of the link",
    "isl_distance": "Length of a link between satellites",
    "isl_delay": "Delay of a link between satellites",
    "least_delay": "Least delay",
    "greatest_delay": "Greatest delay",
    "least_round_trip": "Least round trip",
    "greatest_round_trip": "Greatest round trip",
    "time_without_path": "Time without a path",
    "path_interval": "Time that a path stays",
}
_OF_USERS = {
    "page_load_time": "Page load time",
    "time_to_first_byte": "Time to first byte",
    "start_up_delay": "Start-up delay",
    "download_time": "Download time",
    "mouth_to_ear": "Delay from mouth to ear",
    "response_time": "Response time",
}
METRICS |= {
    f"p{percent}_{key}": f"{title}, {percent} %"
    for key, title in _OF_USERS.items()
    for percent in (50, 90, 95, 99)
}
METRICS |= {
    f"p{percent}_{key}": f"{title}, {percent} %"
    for key, title in {"call_r": "R of calls", "call_mos": "MOS of calls"}.items()
    for percent in (5, 10, 50)
}
"""Axis titles of metrics."""

EXPLAINED = {
    "efficiency": "Efficiency: sum of the throughputs as a fraction of the ceiling, no unit.",
    "jain_fairness": "Fairness index: from 1/N (one connection has all) to 1 (equal shares), "
    "no unit.",
    "max_min_fairness": "Fairness index of the throughputs as parts of their max-min fair "
    "shares: from 1/N to 1, no unit.",
    "guarantee_shortfall": "Shortfall: fraction of the guaranteed rate not received, no unit.",
    "excess_fairness": "Fairness of the excess: Jain's index of what VCs got beyond their MCRs, "
    "no unit.",
    "efficiency_effect": "Main effect: mean of a level minus the overall mean, no unit.",
    "max_min_fairness_effect": "Main effect: mean of a level minus the overall mean, no unit.",
    "ratio_to_expected": "Throughput as a fraction of what the threshold entitles to, no unit.",
}
"""What a caption says of a metric that has no unit."""


def name(value: object) -> str:
    """A value of the data as people write it: numbers with thin spaces, names from the field."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "–"}[value]
    if isinstance(value, int):
        return grouped(value)
    if isinstance(value, float):
        return grouped(int(value)) if value.is_integer() else f"{value:g}"
    known = NAMES.get(str(value).lower())
    return known or re.sub(r"(?<=\d)-(?=\d)", "–", str(value).replace("_", " "))


def place_name(key: str) -> str:
    """A place as people write it.

    >>> place_name("new_york"), place_name("52.5,13.4")
    ('New York', '52.5,13.4')
    """
    return key.replace("_", " ").title() if key.islower() else key


def grouped(number: int) -> str:
    """A whole number in groups of three digits, with narrow spaces that do not break.

    >>> grouped(200000).replace(chr(0x202F), " ")
    '200 000'
    """
    return f"{number:,}".replace(",", "\u202f")


def factor(key: str, unit: str = "") -> str:
    """The name of a factor as people write it, with what its levels are counted in.

    >>> factor("n_sources"), factor("buffer", "RTT"), factor("buffer_cells", "cells")
    ('N', 'buffer (RTT)', 'buffer (cells)')
    """
    title = FACTORS.get(key, key.replace("_", " "))
    return f"{title} ({unit})" if unit and not title.endswith(")") else title


def level(key: str, value: object) -> str:
    """A factor's level as a legend or the title of a panel names it.

    >>> level("n_sources", 5), level("tcp", "sack"), level("experiment", 2)
    ('N = 5', 'SACK', 'experiment 2')
    """
    if key in {"panel", "point"}:
        return str(value)  # levels of several factors, in words already
    if key in {"config", "tcp", "policy", "latency", "scheme", "source", "variant", "satellites"}:
        return name(value)
    if key == "buffer_cells":
        return f"{name(value)} cells"
    if key == "privileged_mss_bytes":
        return f"segments of {name(value)} octets"
    if key == "tcps_per_vc":
        return f"{name(value)} TCP{'' if value == 1 else 's'} on each VC"
    if key == "vbr_period_ms":
        return f"VBR period {name(value)} ms"
    if key == "gr_fraction":
        return f"GR {name(value)}"
    if key == "max_window_bytes":
        return f"window {name(value)} bytes"
    if key in {"experiment", "set", "case"}:
        return f"{key} {name(value)}"
    return f"{factor(key)} = {name(value)}"


def described(factors: Mapping[str, Any], units: Mapping[str, str] | None = None) -> str:
    """Factors and their levels as one line, with what these are counted in where it is given.

    >>> described({"config": "geo", "n_sources": 5, "buffer": 0.5}, {"buffer": "RTT"})
    'GEO, N = 5, buffer = 0.5 RTT'
    """
    return ", ".join(
        f"{'buffer ' if key == 'buffer_cells' else ''}{level(key, value)} "
        f"{(units or {}).get(key, '')}".rstrip()
        for key, value in factors.items()
    )


def metric(key: str, unit: str | None = None, subject: str = "") -> str:
    """The axis title of a metric, with its unit in brackets where it has one, and what it is of.

    >>> metric("throughput", "Mbit/s"), metric("timeouts:flow2")
    ('Throughput (Mbit/s)', 'Timeouts, flow2')
    >>> metric("mean_queue", "packets", "west>east")
    'Mean queue (packets), west>east'
    """
    base, _, part = key.partition(":")
    title = METRICS.get(base, base.replace("_", " ").capitalize())
    title = f"{title} ({unit})" if unit and unit not in {"1", "events"} else title
    return f"{title}, {part or subject}" if part or subject else title


def title_of(row: Mapping[str, Any], *, with_unit: bool = True) -> str:
    """The axis title of the metric of a row as in `Value.as_dict`."""
    return metric(row["metric"], row["unit"] if with_unit else None, row.get("subject", ""))


def explained_of(row: Mapping[str, Any]) -> str:
    """What a caption says of the metric of such a row."""
    return explained(row["metric"], row["unit"], row.get("subject", ""))


def lowered(title: str) -> str:
    """A title within a sentence; abbreviations stay as they are.

    >>> lowered("Mean delay (ms)"), lowered("TCP share")
    ('mean delay (ms)', 'TCP share')
    """
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def explained(key: str, unit: str | None = None, subject: str = "") -> str:
    """What a caption says of a metric: its unit, or what the number without unit means."""
    base, _, part = key.partition(":")
    text = EXPLAINED.get(base, f"{metric(base, unit)}.")
    return f"{text} For {part or subject} only." if part or subject else text


def octets_unit(largest: float) -> tuple[float, str]:
    """A unit for a count of octets, so that an axis needs few digits: divisor and name.

    >>> octets_unit(8_704_000)
    (1000000.0, 'MB')
    """
    for divisor, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if largest >= 2 * divisor:
            return divisor, unit
    return 1.0, "octets"


def sentences(*reported: str | None) -> tuple[str, ...]:
    """Those sentences of a caption that there are; an empty one is none."""
    return tuple(sentence for sentence in reported if sentence)


def replicated(counts: Iterable[int]) -> str:
    """Of how many replications some means are.

    >>> replicated([5, 5]), replicated([1]), replicated([30, 5])
    ('5 replications', '1 replication', '5 to 30 replications')
    """
    least, *more = sorted(set(counts))
    return f"{least} to {more[-1]} replications" if more else counted(least, "replication")


def listed(names: Iterable[str]) -> str:
    """Names as a phrase.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
