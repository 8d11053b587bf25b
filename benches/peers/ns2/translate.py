"""A skycell `NetworkSpec` as ns-2 2.35 can run it: packets instead of cells.

A packet has the size of its frame's cells on the wire. What ns-2 has no counterpart for is refused
with `Untranslatable`, so that a comparison never silently compares two different things. Which rule
of ours is which variable of ns-2 is explained in docs/explanation/second-opinion-ns2.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skycell.scenario.network_spec import (
    EpdSpec,
    FlowSpec,
    LinkSpec,
    NetworkSpec,
    PersistentSpec,
    RetransmitDelayNone,
    StartAt,
    TailDropSpec,
    TcpSpec,
)

PS_PER_S = 10**12
CELL_OCTETS = 53
"""Octets of a cell on the wire."""

UNLIMITED_OCTETS = 2**30
"""Stands for an unlimited queue: above any queue that fits the window of 2**30 octets."""

AGENTS = {
    "vanilla": ("Agent/TCP", "Agent/TCPSink"),
    "reno": ("Agent/TCP/Reno", "Agent/TCPSink"),
    "new_reno": ("Agent/TCP/Newreno", "Agent/TCPSink"),
    "sack": ("Agent/TCP/Sack1", "Agent/TCPSink/Sack1"),
}
"""Sender and receiver classes by variant."""


class Untranslatable(ValueError):
    """The spec asks for something that ns-2 does not have."""


@dataclass(frozen=True)
class Choices:
    """What the spec does not decide.

    Attributes:
        seed: of ns-2's one random generator.
        scheduler: ns-2's event queue: Calendar (its default), Heap, List, Map or Splay.
        only_needed_headers: packets carry the headers of IP and TCP only, which makes ns-2 about
            twice as quick; scripts rarely ask for it. It does not change results.
        overhead_s: `overhead_`: each sender waits for a time uniform over [0, this) before it
            sends. It breaks the step between sources, as `frame_gap` does in skycell.
    """

    seed: int = 1
    scheduler: str = "Calendar"
    only_needed_headers: bool = False
    overhead_s: float = 0.0


def aal5_cells(payload_octets: int, tcp: TcpSpec) -> int:
    """Cells of the frame that carries a segment with so many octets of payload.

    Payload, TCP and IP headers, LLC/SNAP, the AAL5 trailer of 8 octets, padded to 48 (I.363.5).
    """
    sdu = payload_octets + 40 + (8 if tcp.llc_snap else 0)
    return -(-(sdu + 8) // 48)


def parameter_file(spec: NetworkSpec, choices: Choices, trace_file: str = "") -> str:
    """The Tcl text that network.tcl reads.

    Args:
        spec: what to run.
        choices: what the spec does not decide.
        trace_file: where every sender's packets, cwnd and ssthresh are written; "" for nowhere.

    Raises:
        Untranslatable: with the first part of the spec that ns-2 has no counterpart for.
    """
    if spec.sources:
        raise Untranslatable(f"{spec.sources[0].name}: cell sources are not translated")
    frame_octets = max(CELL_OCTETS * aal5_cells(flow.tcp.mss, flow.tcp) for flow in spec.flows)
    links = [_link(link, frame_octets) for link in spec.links]
    flows = [_flow(spec, flow, choices) for flow in spec.flows]
    return "\n".join(
        [
            f"set seed {choices.seed}",
            f"set scheduler {choices.scheduler}",
            f"set only_needed_headers {int(choices.only_needed_headers)}",
            f"set nodes {len(spec.nodes)}",
            f"set stop_s {spec.duration_ps / PS_PER_S!r}",
            f"set trace_file {{{trace_file}}}",
            "# from, to, bit/s, delay in s, queue in octets",
            f"set links {{\n{_lines(links)}\n}}",
            f"set flows {{\n{_lines(flows)}\n}}",
            "",
        ]
    )


def _lines(items: list[str]) -> str:
    return "\n".join(f"    {{{item}}}" for item in items)


def _link(link: LinkSpec, frame_octets: int) -> str:
    if link.motion is not None:
        raise Untranslatable(f"{link.name}: a link that moves or loses frames is not translated")
    bps = CELL_OCTETS * 8 * PS_PER_S / link.cell_time_ps
    limit = _limit_octets(link, frame_octets)
    return f"{link.from_} {link.to} {bps!r} {link.delay_ps / PS_PER_S!r} {limit}"


def _limit_octets(link: LinkSpec, frame_octets: int) -> int:
    """DropTail takes a packet in while the queue, this packet included, stays below the limit."""
    policy, capacity = link.port.policy, link.port.capacity_cells
    if capacity is None:
        return UNLIMITED_OCTETS
    if isinstance(policy, TailDropSpec):
        return CELL_OCTETS * capacity + 1
    if isinstance(policy, EpdSpec):
        # A frame that begins while the queue holds at most R cells is taken in whole.
        return CELL_OCTETS * policy.threshold_cells + frame_octets + 1
    raise Untranslatable(f"{link.name}: the policy {policy.kind} has no counterpart in ns-2")


def _flow(spec: NetworkSpec, flow: FlowSpec, choices: Choices) -> str:
    if len(flow.forward) != 1 or len(flow.reverse) != 1:
        raise Untranslatable(f"{flow.name}: ns-2 has no routers that join VCs")
    if not isinstance(flow.traffic, PersistentSpec):
        raise Untranslatable(f"{flow.name}: only persistent sources are translated")
    if not isinstance(flow.start, StartAt):
        raise Untranslatable(f"{flow.name}: the two simulators would draw different starts")
    if flow.loss_script.at_cwnd_octets is not None:
        raise Untranslatable(f"{flow.name}: ns-2 drops by ordinal, not by cwnd")
    path = spec.vcs[flow.forward[0]].path
    first, last = spec.links[path[0]], spec.links[path[-1]]
    sender, sink = AGENTS[flow.tcp.variant]
    return " ".join(
        [
            f"sender {sender}",
            f"sender_variables {{{_variables(sender_variables(flow.tcp, choices))}}}",
            f"sink {sink}",
            f"sink_variables {{{_variables(sink_variables(flow.tcp))}}}",
            f"source {first.from_} first_hop {first.to} destination {last.to}",
            f"start_s {flow.start.time_ps / PS_PER_S!r}",
            f"ssthresh {flow.tcp.initial_ssthresh // flow.tcp.mss}",
            f"losses {{{' '.join(map(str, flow.loss_script.transmissions))}}}",
        ]
    )


def _variables(values: Mapping[str, Any]) -> str:
    return " ".join(
        f"{name} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in values.items()
    )


def sender_variables(tcp: TcpSpec, choices: Choices) -> dict[str, Any]:
    """ns-2's variables for a sender.

    Raises:
        Untranslatable: a rule has no counterpart.
    """
    _refuse_foreign_rules(tcp)
    tick_s = tcp.tick_ps / PS_PER_S
    variables: dict[str, Any] = {
        "packetSize_": CELL_OCTETS * aal5_cells(tcp.mss, tcp),
        "window_": tcp.rwnd // tcp.mss,
        "maxcwnd_": tcp.max_cwnd // tcp.mss,
        "windowInit_": tcp.initial_cwnd // tcp.mss,
        "syn_": tcp.handshake,
        "numdupacks_": tcp.dup_ack_threshold,
        "tcpTick_": tick_s,
        "minrto_": tcp.rto_min_ticks * tick_s,
        "rtxcur_init_": tcp.rto_initial_ticks * tick_s,
        "maxrto_": tcp.rto_max_ticks * tick_s,
        "timestamps_": tcp.timestamps,
        # Reno has the rule in ns-2 only.
        "bugFix_": tcp.variant != "reno" and tcp.avoid_multiple_fast_retransmits,
        "overhead_": choices.overhead_s,
        # Limited transmit (RFC 3042): a new segment for each of the first duplicate ACKs.
        "singledup_": 0,
    }
    if tcp.variant == "vanilla":
        variables["noFastRetrans_"] = True
    if tcp.variant == "new_reno":
        variables |= {
            "newreno_changes_": int(tcp.flywheel),
            "newreno_changes1_": int(tcp.partial_ack_first_restarts_only),
            "partial_window_deflation_": int(tcp.partial_ack_window == "deflate"),
            # RFC 2582 section 5 has two variants of the rule; ours is the careful one.
            "lessCareful_": False,
        }
    return variables


def sink_variables(tcp: TcpSpec) -> dict[str, Any]:
    """ns-2's variables for a receiver."""
    # With at most three blocks an acknowledgement's frame has as many cells as a bare one's.
    variables: dict[str, Any] = {"packetSize_": CELL_OCTETS * aal5_cells(0, tcp)}
    if tcp.variant == "sack":
        variables["maxSackBlocks_"] = tcp.sack_max_blocks
    return variables


def _refuse_foreign_rules(tcp: TcpSpec) -> None:
    is_sack = tcp.variant == "sack"
    foreign = {
        "cwnd_growth other than float": tcp.cwnd_growth != "float",
        "slow_start_at_ssthresh": tcp.slow_start_at_ssthresh,
        "ssthresh_basis window": tcp.ssthresh_basis != "cwnd",
        "tick_order timers_first": tcp.tick_order != "clock_first",
        "advertised_window free_buffer": tcp.advertised_window != "constant",
        "rto_restart on_send": tcp.rto_restart == "on_send",
        "rto_max_backoff other than 64": tcp.rto_max_backoff != 64,
        "pipe_at_entry cwnd": is_sack and tcp.pipe_at_entry == "cwnd",
        "sack_retransmit_delay": not isinstance(tcp.sack_retransmit_delay, RetransmitDelayNone),
        "sack_partial_ack other than pipe - 2": is_sack and tcp.sack_partial_ack != "pipe_less_two",
        "sack_partial_ack_restarts other than every": (
            is_sack and tcp.sack_partial_ack_restarts != "every"
        ),
        "more than three SACK blocks": is_sack and tcp.sack_max_blocks > 3,
        "partial_ack_window keep": tcp.variant == "new_reno" and tcp.partial_ack_window == "keep",
        "delayed_ack": tcp.delayed_ack is not None,
        "segments below MSS (sws_avoidance off)": not tcp.sws_avoidance,
        "the octets of the timestamps option": tcp.timestamps,
        "handshake": tcp.handshake,
    }
    for rule, asked in foreign.items():
        if asked:
            raise Untranslatable(f"no counterpart in ns-2: {rule}")
