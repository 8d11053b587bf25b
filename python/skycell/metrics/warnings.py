"""Where a network is beyond what its rules were made for, or cannot fill its links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skycell.input.quantities import counted, show_time
from skycell.metrics.resolved_links import ResolvedPath, ResolvedSize
from skycell.spec.declared.network import NetworkSpec


def warnings(
    spec: NetworkSpec, paths: Sequence[ResolvedPath], sizes: Sequence[ResolvedSize]
) -> tuple[str, ...]:
    """Returns the warnings about a network, a sentence or two each."""
    return (*_windows(paths), *_policies(spec, paths), *_buffers(paths, sizes))


def _windows(paths: Sequence[ResolvedPath]) -> Iterator[str]:
    for path in paths:
        if path.window_bps * len(path.flows) < path.payload_bps:
            together = "" if len(path.flows) == 1 else f" ({len(path.flows)} such flows)"
            yield (
                f"receiver_window of {path.flows[0]}{together} is {path.window_octets} B, and the "
                f"path holds {path.bdp_octets:.0f} B of packets: a window in an RTT of "
                f"{show_time(path.rtt_ps)} carries {path.window_bps / 1e6:.3g} Mbit/s at most."
            )


def _policies(spec: NetworkSpec, paths: Sequence[ResolvedPath]) -> Iterator[str]:
    """Policies that wait for senders to answer, beside the time that these need for it."""
    rtts = {hop.link: 0 for path in paths for hop in path.there}
    for path in paths:
        for hop in path.there:
            rtts[hop.link] = max(rtts[hop.link], path.rtt_ps)
    for link in spec.links:
        rtt_ps = rtts.get(link.name, 0)
        for queue in link.port.queues:
            policy = queue.policy
            if policy.kind in ("codel", "fq_codel") and policy.interval_ps < rtt_ps:
                yield (
                    f"{policy.kind} at {link.name} has an interval of "
                    f"{show_time(policy.interval_ps)} and flows of {show_time(rtt_ps)} across it: "
                    "RFC 8289 (section 4.3) makes it about the longest RTT, and a shorter one "
                    "discards before senders can have answered."
                )
            elif policy.kind == "dual_pi2" and policy.rtt_max_ps < rtt_ps:
                yield (
                    f"dual_pi2 at {link.name} is set for RTTs up to "
                    f"{show_time(policy.rtt_max_ps)}, and flows of {show_time(rtt_ps)} cross it "
                    "(RFC 9332, appendix A.1)."
                )


def _buffers(paths: Sequence[ResolvedPath], sizes: Sequence[ResolvedSize]) -> Iterator[str]:
    """Buffers below what loss-based senders need to keep a link busy."""
    for size in sizes:
        flows = sum(len(p.flows) for p in paths if size.port == p.bottleneck)
        if size.key == "buffer" and size.rtts is not None and flows:
            needed = flows**-0.5
            if size.rtts < needed:
                yield (
                    f"the buffer of {size.port} is {size.rtts:.3g} of its bandwidth-delay product: "
                    f"{counted(flows, 'loss-based flow')} can keep the link busy from about "
                    f"{needed:.2g} of it on (1 over the root of their number: "
                    "Appenzeller, Keslassy, McKeown, SIGCOMM 2004)."
                )
