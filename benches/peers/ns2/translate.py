"""A skycell `NetworkSpec` as ns-2 2.35 can run it: packets, also instead of cells.

A packet has its size on the line: that of its IP packet, or of its frame's cells. What ns-2 has no
counterpart for is refused with `Untranslatable`, so that a comparison never silently compares two
different things. Which rule of ours is which variable of ns-2 is explained in
docs/explanation/second-opinion-ns2.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skycell.spec.declared.network import (
    CubicSpec,
    EpdSpec,
    FifoSpec,
    FlowSpec,
    LinkSpec,
    LossScript,
    NetworkSpec,
    NewRenoSpec,
    NodeSpec,
    PacketFraming,
    PortSpec,
    QueueSpec,
    RackTlpSpec,
    RenoCongestionSpec,
    RenoRecoverySpec,
    RetransmitDelayNone,
    SackSpec,
    StandardSlowStartSpec,
    StartAt,
    TahoeSpec,
    TailDropSpec,
    TcpSpec,
    TrafficPersistent,
    VanillaSpec,
    VcSpec,
)
from skycell.spec.part import SpecPart, fields_of

PS_PER_S = 10**12
CELL_OCTETS = 53
"""Octets of a cell on the wire."""

UNLIMITED_OCTETS = 2**30
"""Stands for an unlimited queue: above any queue that fits the window of 2**30 octets."""

AGENTS = {
    "vanilla": ("Agent/TCP", "Agent/TCPSink"),
    "tahoe": ("Agent/TCP", "Agent/TCPSink"),
    "reno": ("Agent/TCP/Reno", "Agent/TCPSink"),
    "new_reno": ("Agent/TCP/Newreno", "Agent/TCPSink"),
    "sack": ("Agent/TCP/Sack1", "Agent/TCPSink/Sack1"),
}
"""Sender and receiver classes by loss recovery."""

LINUX_CUBIC = ("select_ca cubic", "set_ca_default_param cubic beta 717")
"""What makes `Agent/TCP/Linux` Linux 2.6.22's CUBIC, with a cut to 717/1024 instead of 0.8."""


TRANSLATED: dict[type[SpecPart], set[str]] = {
    NetworkSpec: {"duration_ps", "nodes", "links", "vcs", "flows"},
    NodeSpec: set(),
    LinkSpec: {"from_", "to", "cell_time_ps", "delay_ps", "port", "framing"},
    PacketFraming: {"rate_millibps"},
    PortSpec: {"queues"},
    # A port has one queue without a class at the most.
    QueueSpec: {"capacity_cells", "policy"},
    TailDropSpec: {"kind"},
    EpdSpec: {"kind", "threshold_cells"},
    VcSpec: {"path"},
    FlowSpec: {"forward", "reverse", "tcp", "traffic", "start", "loss_script"},
    TrafficPersistent: {"kind"},
    StartAt: {"kind", "time_ps"},
    LossScript: {"transmissions"},
    TcpSpec: {
        "recovery",
        "congestion",
        "slow_start",
        "mss",
        "llc_snap",
        "rwnd",
        "initial_cwnd",
        "initial_ssthresh",
        "max_cwnd",
        "tick_ps",
        "rto_min_ticks",
        "rto_initial_ticks",
        "rto_max_ticks",
    },
    VanillaSpec: {"kind"},
    TahoeSpec: {"kind", "dup_ack_threshold", "avoid_multiple_fast_retransmits"},
    RenoRecoverySpec: {"kind", "dup_ack_threshold", "avoid_multiple_fast_retransmits"},
    NewRenoSpec: {
        "kind",
        "dup_ack_threshold",
        "partial_ack_window",
        "partial_ack_restarts",
        "flywheel",
        "avoid_multiple_fast_retransmits",
    },
    SackSpec: {"kind", "dup_ack_threshold", "max_blocks", "avoid_multiple_fast_retransmits"},
    RenoCongestionSpec: {"kind"},
    CubicSpec: {"kind"},
    StandardSlowStartSpec: {"kind"},
}
"""Parts of a spec that ns-2 can be told, and the keys of each that it is told.

A part that is not here is refused, and so is a key, but for what follows and for its default, which
stands for a spec that does not have the key.
"""

WITHOUT_EFFECT: Mapping[type[SpecPart], Mapping[str, str]] = {
    NetworkSpec: {
        "version": "of the form, not of the network",
        "seed": "ns-2 has its own: `Choices.seed`",
        "records": "what skycell leaves of a run",
    },
    NodeSpec: {"name": "ns-2 counts its nodes", "kind": "every node of ns-2 forwards packets"},
    LinkSpec: {"name": "ns-2 knows its nodes"},
    VcSpec: {"name": "ns-2 knows a packet's agents"},
    FlowSpec: {"name": "ns-2 counts its agents"},
    TcpSpec: {
        "window_scaling": "allows large windows, and does nothing",
        "tick_phase": "ns-2 has no phase; comparisons take the mean over ours",
        "nagle": "a persistent source sends whole segments",
        "idle_restart": "a persistent source never idles",
    },
}
"""Keys that what is compared does not depend on, and why."""

ONLY: Mapping[type[SpecPart], Mapping[str, tuple[Any, ...]]] = {
    # Nothing of the line around the IP packet.
    PacketFraming: {
        "overhead_octets": (0,),
        "least_octets": (0,),
        "unit_octets": (1,),
        "line_octets": (1,),
    },
    # A wait before the frame on the line here, before the packet's hand-over there.
    PortSpec: {"frame_gap_ps": (0,), "scheduler": (FifoSpec(),)},
    EpdSpec: {"partial_discard": (True,)},
    VcSpec: {"class_": ("ubr",)},
    LossScript: {"at_cwnd_octets": (None,)},
    TcpSpec: {
        "tick_order": ("clock_first",),
        "rto_max_backoff": (64,),
        "rto_restart": ("on_ack",),
        "timestamps": (False,),
        "advertised_window": ("constant",),
        "delayed_ack": (None,),
        "sws_avoidance": (True,),
        "handshake": (False,),
    },
    NewRenoSpec: {
        "partial_ack_window": ("ssthresh", "deflate"),
        "partial_ack_restarts": ("every", "first"),
    },
    SackSpec: {
        "pipe_at_entry": ("cwnd_less_three",),
        "partial_ack": ("pipe_less_two",),
        "partial_ack_restarts": ("every",),
        "pipe_room": ("segment",),
        "retransmit_delay": (RetransmitDelayNone(),),
        # With at most three an acknowledgement's frame has as many cells as a bare one's.
        "max_blocks": (1, 2, 3),
    },
    RenoCongestionSpec: {"growth": ("float",), "ssthresh_basis": ("cwnd",)},
    CubicSpec: {"c": (0.4,), "fast_convergence": (True,), "ssthresh_basis": ("cwnd",)},
    StandardSlowStartSpec: {"at_ssthresh": (False,)},
}
"""The values that ns-2 has, where it has not all of a key's."""


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
            sends. It breaks the step between sources, as `frame_jitter` does in skycell.
        linux_cubic: CUBIC is that of `Agent/TCP/Linux`, which grows by the same function; its slow
            start, Reno-friendly region and recovery are others. Without it CUBIC is refused.
    """

    seed: int = 1
    scheduler: str = "Calendar"
    only_needed_headers: bool = False
    overhead_s: float = 0.0
    linux_cubic: bool = False


def aal5_cells(payload_octets: int, tcp: TcpSpec) -> int:
    """Cells of the frame that carries a segment with so many octets of payload.

    Payload, TCP and IP headers, LLC/SNAP, the AAL5 trailer of 8 octets, padded to 48 (I.363.5).
    """
    sdu = payload_octets + 40 + (8 if tcp.llc_snap else 0)
    return -(-(sdu + 8) // 48)


def carries_packets(spec: NetworkSpec) -> bool:
    """Whether its links carry packets, and not cells.

    Raises:
        Untranslatable: some do, and some do not.
    """
    kinds = {link.framing is not None for link in spec.links}
    if len(kinds) > 1:
        raise Untranslatable("the run: no counterpart in ns-2: cells beside packets")
    return kinds == {True}


def octets_on_line(spec: NetworkSpec, payload_octets: int, tcp: TcpSpec) -> int:
    """Octets on the line of the packet that carries a segment with so many octets of payload."""
    if carries_packets(spec):
        return payload_octets + 40
    return CELL_OCTETS * aal5_cells(payload_octets, tcp)


def parameter_file(spec: NetworkSpec, choices: Choices, trace_file: str = "") -> str:
    """The Tcl text that network.tcl reads.

    Args:
        spec: what to run.
        choices: what the spec does not decide.
        trace_file: where every sender's packets, cwnd and ssthresh are written; "" for nowhere.

    Raises:
        Untranslatable: with the first part of the spec that ns-2 has no counterpart for.
    """
    _refuse_foreign(spec, "the run")
    is_packets = carries_packets(spec)
    links = [_link(link, _frames_octets(spec, k)) for k, link in enumerate(spec.links)]
    flows = [_flow(spec, flow, choices) for flow in spec.flows]
    return "\n".join(
        [
            f"set seed {choices.seed}",
            f"set scheduler {choices.scheduler}",
            f"set only_needed_headers {int(choices.only_needed_headers)}",
            f"set nodes {len(spec.nodes)}",
            f"set stop_s {spec.duration_ps / PS_PER_S!r}",
            f"set trace_file {{{trace_file}}}",
            f"set is_packets {int(is_packets)}",
            "# from, to, bit/s, delay in s, queue: packets, or octets of what stands for cells",
            f"set links {{\n{_lines(links)}\n}}",
            f"set flows {{\n{_lines(flows)}\n}}",
            "",
        ]
    )


def _lines(items: list[str]) -> str:
    return "\n".join(f"    {{{item}}}" for item in items)


def _refuse_foreign(part: SpecPart, name: str) -> None:
    """Goes through all that a part of the spec says, and refuses what is not known to be the same.

    Args:
        part: a part of the spec.
        name: of the thing that it is part of, for parts without a name of their own.
    """
    name = getattr(part, "name", name)
    only = ONLY.get(type(part), {})
    ignored = {*WITHOUT_EFFECT.get(type(part), {})}
    for key, field in fields_of(type(part)).items():
        value = getattr(part, key)
        if key in ignored:
            continue
        if key in TRANSLATED[type(part)] and value in only.get(key, (value,)):
            for inner in value if isinstance(value, tuple) else (value,):
                if isinstance(inner, SpecPart):
                    if type(inner) not in TRANSLATED:
                        raise _foreign(name, field.key, inner)
                    _refuse_foreign(inner, name)
        elif value not in only.get(key, (field.default,)):
            raise _foreign(name, field.key, value)


def _foreign(name: str, key: str, value: Any) -> Untranslatable:
    """The fault for a value of a key that belongs to what is called so."""
    is_long = isinstance(value, (SpecPart, tuple))
    shown = getattr(value, "kind", "") if is_long else value
    return Untranslatable(f"{name}: no counterpart in ns-2: {f'{key} {shown}'.rstrip()}")


def _frames_octets(spec: NetworkSpec, link: int) -> set[int]:
    """Sizes of the frames that a link may carry, in octets on the wire."""
    return {
        octets_on_line(spec, payload, flow.tcp)
        for flow in spec.flows
        for vcs, payload in ((flow.forward, flow.tcp.mss), (flow.reverse, 0))
        if any(link in spec.vcs[vc].path for vc in vcs)
    }


def _link(link: LinkSpec, frames_octets: set[int]) -> str:
    if link.framing is None:
        bps = CELL_OCTETS * 8 * PS_PER_S / link.cell_time_ps
        limit = _limit_octets(link, frames_octets)
    else:
        bps = link.framing.rate_millibps / 1000
        # In packets DropTail counts the one that is being sent, as we do.
        capacity = link.port.capacity_cells
        limit = UNLIMITED_OCTETS if capacity is None else capacity
    return f"{link.from_} {link.to} {bps!r} {link.delay_ps / PS_PER_S!r} {limit}"


def _limit_octets(link: LinkSpec, frames_octets: set[int]) -> int:
    """DropTail takes a packet in while the queue, this packet included, stays below the limit."""
    policy, capacity = link.port.policy, link.port.capacity_cells
    if isinstance(policy, EpdSpec):
        if len(frames_octets) > 1:
            raise Untranslatable(f"{link.name}: no counterpart in ns-2: EPD of frames of two sizes")
        # A frame that begins while the queue holds at most R cells is taken in whole.
        return CELL_OCTETS * policy.threshold_cells + sum(frames_octets) + 1
    return UNLIMITED_OCTETS if capacity is None else CELL_OCTETS * capacity + 1


def _flow(spec: NetworkSpec, flow: FlowSpec, choices: Choices) -> str:
    if not carries_packets(spec) and (len(flow.forward) != 1 or len(flow.reverse) != 1):
        raise Untranslatable(f"{flow.name}: ns-2 has no routers that join VCs")
    assert isinstance(flow.start, StartAt)
    path, back = (
        tuple(link for vc in vcs for link in spec.vcs[vc].path)
        for vcs in (flow.forward, flow.reverse)
    )
    for links in (path, back):
        _refuse_detour(spec, links, flow.name)
    losses = flow.loss_script.transmissions
    users = (spec.vcs[vc].path for user in spec.flows for vc in (*user.forward, *user.reverse))
    if losses and sum(path[0] in user for user in users) > 1:
        raise Untranslatable(f"{flow.name}: ns-2 counts what it loses by link, which others share")
    first, last = spec.links[path[0]], spec.links[path[-1]]
    _refuse_other_cubic(flow.tcp, choices, flow.name)
    sender, sink = AGENTS[flow.tcp.recovery.kind]
    commands: tuple[str, ...] = ()
    if choices.linux_cubic:
        sender, commands = "Agent/TCP/Linux", LINUX_CUBIC
    return " ".join(
        [
            f"sender {sender}",
            f"sender_variables {{{_variables(sender_variables(spec, flow.tcp, choices))}}}",
            f"sink {sink}",
            f"sink_variables {{{_variables(sink_variables(spec, flow.tcp))}}}",
            f"source {first.from_} first_hop {first.to} destination {last.to}",
            f"start_s {flow.start.time_ps / PS_PER_S!r}",
            f"sender_commands {{{' '.join(f'{{{command}}}' for command in commands)}}}",
            f"ssthresh {flow.tcp.initial_ssthresh // flow.tcp.mss}",
            f"losses {{{' '.join(map(str, losses))}}}",
        ]
    )


def _refuse_other_cubic(tcp: TcpSpec, choices: Choices, name: str) -> None:
    """Linux's CUBIC stands for ours where that is chosen and nothing else differs."""
    is_cubic, is_chosen = isinstance(tcp.congestion, CubicSpec), choices.linux_cubic
    foreign = {
        "congestion cubic": is_cubic and not is_chosen,
        "Linux's CUBIC for another congestion control": is_chosen and not is_cubic,
        "Linux's CUBIC with another recovery than SACK's": is_chosen
        and not isinstance(tcp.recovery, SackSpec),
        "Linux's CUBIC with an ssthresh below the window": is_chosen
        and tcp.initial_ssthresh < tcp.rwnd,
    }
    for rule, asked in foreign.items():
        if asked:
            raise Untranslatable(f"{name}: no counterpart in ns-2: {rule}")


def _refuse_detour(spec: NetworkSpec, path: tuple[int, ...], name: str) -> None:
    """ns-2 finds its own routes, those of the fewest links; which of several is not ours to say."""
    links = spec.links
    links_left = _links_left(spec, links[path[-1]].to)
    for k in path:
        node = links[k].from_
        nearer = [
            other
            for other, link in enumerate(links)
            if link.from_ == node and links_left.get(link.to) == links_left[node] - 1
        ]
        if nearer != [k]:
            raise Untranslatable(f"{name}: ns-2 may take another way than over {links[k].name}")


def _links_left(spec: NetworkSpec, destination: int) -> dict[int, int]:
    """The fewest links from each node to the destination."""
    nodes_before: dict[int, list[int]] = {}
    for link in spec.links:
        nodes_before.setdefault(link.to, []).append(link.from_)
    left = {destination: 0}
    reached = [destination]
    for node in reached:
        for before in nodes_before.get(node, ()):
            if before not in left:
                left[before] = left[node] + 1
                reached.append(before)
    return left


def _variables(values: Mapping[str, Any]) -> str:
    return " ".join(
        f"{name} {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in values.items()
    )


def sender_variables(spec: NetworkSpec, tcp: TcpSpec, choices: Choices) -> dict[str, Any]:
    """ns-2's variables for a sender."""
    tick_s = tcp.tick_ps / PS_PER_S
    variables: dict[str, Any] = {
        "packetSize_": octets_on_line(spec, tcp.mss, tcp),
        "window_": tcp.rwnd // tcp.mss,
        "maxcwnd_": tcp.max_cwnd // tcp.mss,
        "windowInit_": tcp.initial_cwnd // tcp.mss,
        "syn_": tcp.handshake,
        "tcpTick_": tick_s,
        "minrto_": tcp.rto_min_ticks * tick_s,
        "rtxcur_init_": tcp.rto_initial_ticks * tick_s,
        "maxrto_": tcp.rto_max_ticks * tick_s,
        "timestamps_": tcp.timestamps,
        "overhead_": choices.overhead_s,
        # Limited transmit (RFC 3042): a new segment for each of the first duplicate ACKs.
        "singledup_": 0,
    }
    if choices.linux_cubic:
        # The look a round trip ahead needs the time that a timestamp brings back.
        variables["timestamps_"] = True
    recovery = tcp.recovery
    if isinstance(recovery, RackTlpSpec):
        raise Untranslatable("TCP: no counterpart in ns-2: recovery by time, RACK-TLP")
    if isinstance(recovery, VanillaSpec):
        variables["noFastRetrans_"] = True
    else:
        variables["numdupacks_"] = recovery.dup_ack_threshold
        variables["bugFix_"] = recovery.avoid_multiple_fast_retransmits
    if isinstance(recovery, NewRenoSpec):
        variables |= {
            "newreno_changes_": int(recovery.flywheel),
            "newreno_changes1_": int(recovery.partial_ack_restarts == "first"),
            "partial_window_deflation_": int(recovery.partial_ack_window == "deflate"),
            # RFC 2582 section 5 has two variants of the rule; ours is the careful one.
            "lessCareful_": False,
        }
    return variables


def sink_variables(spec: NetworkSpec, tcp: TcpSpec) -> dict[str, Any]:
    """ns-2's variables for a receiver."""
    variables: dict[str, Any] = {"packetSize_": octets_on_line(spec, 0, tcp)}
    if isinstance(tcp.recovery, SackSpec):
        variables["maxSackBlocks_"] = tcp.recovery.max_blocks
    return variables
