"""What a scenario comes to before it is run, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skycell.input.quantities import PS_PER_MS
from skycell.metrics.explained import Explained
from skycell.metrics.resolved_links import ResolvedPath
from skycell.tables.table import (
    NOTHING,
    Cell,
    Table,
    columns,
    count,
    number,
    share,
    significant,
    words,
)

#: Ways of flows that are shown hop by hop.
_MOST_PATHS = 4
STEPPED_BECAUSE = {
    "time_varying_link": "its link changes more than its delay and losses",
    "rerouted_vc": "a VC that may cross it changes its path",
    "queues_beside_switches": "a host or router with several queues",
    "losses_out_of_order": "its link loses frames, and its queues decide which is next",
    "losses_in_bursts": "its link loses frames in bursts",
    "delay_variation": "the delay of its link varies from packet to packet",
    "receivers": "packets go over its link at the rates of their receivers",
    "source_frames": "a source sends cells of frames one by one",
    "unit_delays": "delays of single cells of frames, or their stays at the port, are measured",
    "edge_discards": "frames are refused where their VC enters",
    "policer": "a policer behind it looks at cells one by one",
    "rate_control": "rates of ABR VCs are controlled cell by cell",
    "resequencer": "a VC has a resequencer, which looks at each cell",
    "clp0": "cells with CLP = 0 are counted apart, here or beside it",
    "damaged_packets": "packets go on with bit errors",
    "bit_errors": "its link, or one before it, has bit errors",
    "sky_beside_links": "links stand beside a constellation that carries packets",
    "sky_web": "users of the web send over a constellation",
    "sky_proxies": "proxies split connections over a constellation",
    "sky_contracts": "VCs over a constellation have policers, resequencers or measured cells",
    "cells_by_label": "cells over a constellation go one by one",
    "sampled_in_sky": "it is of a constellation, and its record is asked for",
    "sky_lookahead": "packets over a constellation may take no time from one node to the next",
    "fragmentation": "packets go over a link in fragments",
    "shared_uplink": "terminals share an uplink, whose slots space what they send",
    "queue_management": "its policy decides as packets leave, or it sees flows, or has a bucket",
}
"""Reasons of the fast engine in words."""


_MOST_STEPPED = 20
"""Ports that the fast engine steps that are named one by one."""


def explained_tables(found: Explained) -> Iterator[Table]:
    """The tables, in the order of reading; none of what a scenario does not have."""
    yield _links(found)
    yield _costs(found)
    if any(link.layers for link in found.links):
        yield _layers(found)
    if found.sizes:
        yield _sizes(found)
    if found.settings:
        yield _settings(found)
    for path in found.paths[:_MOST_PATHS]:
        yield _path(path)
    if found.uplinks:
        yield _uplinks(found)
    if found.stepped_ports:
        yield _stepped(found)


def _several(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _links(found: Explained) -> Table:
    rows = []
    for link in found.links:
        delay = f"{link.delay_ps / PS_PER_MS:g}"
        rows.append(
            (
                words(_several(link.names)),
                words(link.framing),
                words(link.stated or NOTHING),
                number(link.rate_bps / 1e6, 3),
                words(f"from {delay}" if link.varies else delay),
                count(link.mtu),
                number(None if link.payload_bps is None else link.payload_bps / 1e6, 3),
            )
        )
    heads = ("carries, Mbit/s", "delay, ms", "MTU, B", "TCP payload, Mbit/s")
    names = ("link", "framing", "rate", *heads)
    return Table("Links", columns(*names, numeric=heads), tuple(rows))


def _costs(found: Explained) -> Table:
    sizes = sorted({cost.octets for link in found.links for cost in link.costs})
    rows = []
    for link in found.links:
        costs = {cost.octets: cost for cost in link.costs}
        row = [words(_several(link.names))]
        for size in sizes:
            cost = costs.get(size)
            text = NOTHING
            if cost is not None:
                text = f"{cost.on_line} B, {cost.time_ps / PS_PER_MS:.4g} ms"
            row.append(words(text))
        rows.append(tuple(row))
    heads = tuple(f"{size} B" for size in sizes)
    title = "What an IP packet takes of a link"
    return Table(title, columns("link", *heads, numeric=heads), tuple(rows))


def _layers(found: Explained) -> Table:
    names = list(dict.fromkeys(name for link in found.links for name in link.layers))
    names.sort(key=lambda name: name == "TCP payload")  # last
    rows = [
        (words(_several(link.names)), *(share(link.layers.get(name)) for name in names))
        for link in found.links
        if link.layers
    ]
    title = "What each layer takes of a link that full segments fill"
    return Table(title, columns("link", *names, numeric=names), tuple(rows))


def _sizes(found: Explained) -> Table:
    ports: dict[tuple[Cell, ...], list[str]] = {}
    for size in found.sizes:
        row = (
            words(size.key),
            words(size.held),
            significant(size.packets),
            count(round(size.octets)),
            count(size.cells),
            significant(size.time_ps / PS_PER_MS),
            significant(size.rtts),
        )
        ports.setdefault(row, []).append(size.port)
    rows = [(words(_several(names)), *row) for row, names in ports.items()]
    heads = ("full packets", "octets", "cells", "ms", "RTT or BDP")
    table = columns("port", "size", "held as", *heads, numeric=heads)
    return Table("Buffers and thresholds", table, tuple(rows), keys=2)


def _settings(found: Explained) -> Table:
    rows = [
        (words(setting.key), words(setting.value), words(setting.origin), words(setting.source))
        for setting in found.settings
    ]
    table = columns("key", "value", "from", "source of a default", prose=("source of a default",))
    return Table("Settings of ports", table, tuple(rows))


def _path(path: ResolvedPath) -> Table:
    rows = [
        (
            words(hop.link),
            words(way),
            number(hop.delay_ps / PS_PER_MS, 3),
            number(hop.sending_ps / PS_PER_MS, 3),
        )
        for way, hops in (("segment", path.there), ("acknowledgement", path.back))
        for hop in hops
    ]
    delay = sum(hop.delay_ps for hop in (*path.there, *path.back))
    total = (
        words("RTT through empty ports"),
        words(f"{path.rtt_ps / PS_PER_MS:.3f} ms"),
        number(delay / PS_PER_MS, 3),
        number((path.rtt_ps - delay) / PS_PER_MS, 3),
    )
    note = (
        f"{path.bottleneck} is the slowest link: {path.bdp_octets:.0f} octets of packets fill it "
        f"for an RTT; the receiver's window is {path.window_octets} octets, "
        f"{path.window_bps / 1e6:.4g} Mbit/s in an RTT."
    )
    heads = ("propagation, ms", "sending, ms")
    return Table(
        f"Path of {_several(path.flows)}",
        columns("link", "of a full", *heads, numeric=heads),
        (*rows, total),
        notes=(note,),
        ruled=frozenset({len(rows) - 1}),
    )


def _uplinks(found: Explained) -> Table:
    rows = []
    for uplink in found.uplinks:
        lone = uplink.lone
        waits = (lone.least_ps, lone.mean_ps, lone.most_ps) if lone else (None, None, None)
        is_answered = uplink.access in ("dama", "hybrid")
        rows.append(
            (
                words(uplink.name),
                words(uplink.access),
                count(uplink.terminals),
                significant(uplink.slot_ps / PS_PER_MS),
                significant(uplink.frame_slots * uplink.slot_ps / PS_PER_MS),
                significant(uplink.response_ps / PS_PER_MS if is_answered else None),
                *(number(None if wait is None else wait / PS_PER_MS, 3) for wait in waits),
            )
        )
    heads = ("terminals", "slot", "frame", "response", "least access delay", "mean", "most")
    note = (
        "Access delay is that of a lone cell on the empty uplink, from its arrival at the terminal "
        "to the beginning of its transmission; RTTs above are without it."
    )
    table = columns("uplink to", "access", *heads, numeric=heads)
    return Table("Shared uplinks, times in ms", table, tuple(rows), keys=2, notes=(note,))


def _stepped(found: Explained) -> Table:
    ports = list(found.stepped_ports.items())
    rows = [(words(port), words(STEPPED_BECAUSE[why])) for port, why in ports[:_MOST_STEPPED]]
    if len(ports) > _MOST_STEPPED:
        rows.append((words(f"and {len(ports) - _MOST_STEPPED} more"), words("")))
    title = "Ports that the fast engine steps unit by unit"
    return Table(title, columns("port", "because", prose=("because",)), tuple(rows))
