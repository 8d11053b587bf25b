"""What tables of a run show beside its flows: queues, contracts, policing, delays, web users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from skycell.input.quantities import CELL_BITS, PS_PER_MS, PS_PER_SECOND, show_amount
from skycell.metrics.classes import OTHER_CLASSES, cell_delay, cell_loss_ratio, cells_counted
from skycell.metrics.network import crossed_links, units_in_words
from skycell.metrics.recorded_ports import recorded_ports
from skycell.spec.values import paths_of

if TYPE_CHECKING:
    from skycell.spec.declared.network import NetworkSpec

MANY = 500
"""Flows, VCs or links above which tables and figures no longer show each."""


def is_of_many(spec: NetworkSpec) -> bool:
    """Whether a run has so many flows, VCs or links that nobody reads a line on each."""
    return max(len(spec.flows), len(spec.vcs), len(spec.links)) > MANY


class QueueRow(NamedTuple):
    """One queue of a port with a limited buffer.

    Attributes:
        name: the port's, and behind it the service class where the port has several queues.
        unit: `cells` or `packets`, in which its counts are.
        policy: the kind of its buffer policy.
        capacity: in that unit, or in octets; None where this queue holds whatever comes.
        counts_octets: whether the capacity is in octets.
        counts: the record of the queue: `arrived`, `discarded`, `queue`.
        busy: part of the run in which what it holds was under transmission, 0 to 1; None for one of
            several queues of packets, whose sizes are not known by queue.
    """

    name: str
    unit: str
    policy: str
    capacity: int | None
    counts_octets: bool
    counts: Mapping[str, Any]
    busy: float | None

    @property
    def marked(self) -> int:
        """Packets that the queue marked (ECN)."""
        ecn = self.counts.get("octets", {}).get("ecn", {})
        return int(ecn.get("marked", 0))

    @property
    def held(self) -> str:
        """The capacity with its unit where that is not the counts' own; - for no limit.

        >>> QueueRow("a>b", "packets", "tail_drop", 10**6, True, {}, 0.5).held
        '1 000 000 B'
        """
        if self.capacity is None:
            return "-"
        return show_amount(self.capacity) + (" B" if self.counts_octets else "")


class SojournRow(NamedTuple):
    """Octets in a port of packets, and how long these stayed, milliseconds; None where none left.

    A stay is from a packet's arrival to the departure of its last bit. Its percentiles are those of
    a histogram, above the exact ones by at most 1/128.

    Attributes:
        port: its name.
        part: what of it: a service class where the port has several queues, or a flow, one way;
            empty for all of it.
        mean_octets: over time; None of a flow, whose octets are not counted.
        largest_octets: the same.
    """

    port: str
    part: str
    mean_octets: float | None
    largest_octets: int | None
    mean: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    p999: float | None
    largest: float | None

    @property
    def times_ms(self) -> tuple[float | None, ...]:
        """The sojourns, in the order of `SOJOURN_HEADS`."""
        return self[4:]

    @property
    def name(self) -> str:
        """The port, and behind it what of it."""
        return f"{self.port} {self.part}".rstrip()


SOJOURN_HEADS = ("mean", "median", "90 %", "95 %", "99 %", "99.9 %", "largest")


class CellDelayRow(NamedTuple):
    """Cells of a VC or a class and their transfer delay, milliseconds; None where none arrived."""

    vc: str
    offered: int
    lost: float
    fixed: float | None
    mean: float | None
    p90: float | None
    p99: float | None
    p999: float | None
    largest: float | None
    variation: float | None

    @property
    def times_ms(self) -> tuple[float | None, ...]:
        """The delays, in the order of `CELL_DELAY_HEADS`."""
        return self[3:]


def loss_in_words(ratio: float) -> str:
    """A cell loss ratio, 0 to 1; what is lost shows also where it is next to nothing.

    >>> loss_in_words(0.0), loss_in_words(0.0251), loss_in_words(3 / 283_019)
    ('0.00%', '2.51%', '1.1e-05')
    """
    return f"{ratio:.1e}" if 0 < ratio < 1e-4 else f"{ratio:.2%}"


POLICED_HEADS = {
    "cells_offered": "offered",
    "cells_nonconforming": "not conforming",
    "cells_tagged": "tagged",
    "cells_policed": "discarded",
}
"""Counts of a policed VC, by what tables call them."""

CELL_DELAY_HEADS = ("no queues", "mean", "90 %", "99 %", "99.9 %", "largest", "variation")
"""The variation is peak to peak: the 99.9 % quantile less what a cell takes where nothing waits."""


class ResponseRow(NamedTuple):
    """How long web users waited, seconds; None where nothing was whole by the end."""

    what: str
    asked: int
    whole: int
    mean: float | None
    p50: float | None
    p90: float | None
    p95: float | None
    p99: float | None
    longest: float | None

    @property
    def times_s(self) -> tuple[float | None, ...]:
        """The times, in the order of `RESPONSE_HEADS`."""
        return self[3:]


RESPONSE_HEADS = ("mean", "median", "90 %", "95 %", "99 %", "longest")


class TransferRow(NamedTuple):
    """How long the finished transfers of a flow took, to their last octet acknowledged, seconds.

    `closing` is what their connections took to close after that, in the mean; None where none did.
    """

    flow: str
    finished: int
    mean: float
    p50: float
    p90: float
    p95: float
    p99: float
    longest: float
    closing: float | None

    @property
    def times_s(self) -> tuple[float | None, ...]:
        """The times, in the order of `TRANSFER_HEADS`."""
        return self[2:]


TRANSFER_HEADS = (*RESPONSE_HEADS, "then closing")


class SourceTotals(NamedTuple):
    """What all sources sent, what of it arrived, and the latter's rate with all headers."""

    unit: str
    sent: int
    arrived: int
    arrived_bps: float
    from_later: bool = False

    @property
    def in_words(self) -> str:
        """Both counts; of a run that is counted from later on, what arrived may be sent before.

        >>> SourceTotals("cells", 3000, 250, 1e6).in_words
        '250 of 3 000 cells arrived'
        >>> SourceTotals("cells", 3000, 3010, 1e6, from_later=True).in_words
        '3 000 cells were sent and 3 010 arrived in the time that counts'
        """
        sent, arrived = show_amount(self.sent), show_amount(self.arrived)
        if self.from_later:
            return f"{sent} {self.unit} were sent and {arrived} arrived in the time that counts"
        return f"{arrived} of {sent} {self.unit} arrived"


def source_totals(spec: NetworkSpec, records: Mapping[str, Any]) -> SourceTotals:
    """The cells, or packets, of all sources, which a run without flows has to show together."""
    seconds = records["duration_ps"] / PS_PER_SECOND
    later = spec.measure_from_ps > 0
    packets = [source for source in spec.sources if source.datagram_octets]
    if not packets:
        sent = sum(vc["cells_offered"] for vc in records["vcs"])
        arrived = sum(vc["cells_delivered"] for vc in records["vcs"])
        return SourceTotals("cells", sent, arrived, arrived * CELL_BITS / seconds, later)
    sent = arrived = bits = 0
    for source, counted in zip(spec.sources, records["sources"], strict=True):
        if source.datagram_octets:
            sent, arrived = sent + counted["frames"], arrived + counted["datagrams_delivered"]
            bits += 8 * counted["octets_delivered"]
        else:
            came = records["vcs"][source.vc]["cells_delivered"]
            sent, arrived = sent + counted["cells"], arrived + came
            bits += came * CELL_BITS
    unit = "packets" if len(packets) == len(spec.sources) else "packets and cells"
    return SourceTotals(unit, sent, arrived, bits / seconds, later)


#: Links that are told one by one, and names of a group of them.
_MOST_LINKS, _MOST_NAMES = 5, 3

#: How links lose cells, by the records' names, in words.
_LOST_HOW = {
    "drawn": "at random",
    "handover": "at handovers",
    "off_path": "off the path",
    "header": "by header errors",
    "misinserted": "misinserted",
    "check": "by a failed check",
    "no_route": "for want of a route",
    "out_of_range": "out of range",
    "hop_limit": "at the hop limit",
}


def lost_on_links(spec: NetworkSpec, records: Mapping[str, Any]) -> list[str]:
    """What each link lost, how, and of how much, a sentence each; the one that lost most first.

    The records count losses by VC. A link's are those of the VCs on whose paths it is the only one
    that can lose; what VCs lost over several such links is told of these together.
    """
    can_lose = {
        place
        for place, link in enumerate(spec.links)
        if link.loss_ppb or link.channel is not None or link.schedule is not None
    }
    lost: dict[tuple[int, ...], Counter[str]] = {}
    offered: Counter[tuple[int, ...]] = Counter()
    for vc, record in zip(spec.vcs, records["vcs"], strict=True):
        crossed = {link for path in paths_of(vc) for link in path}
        where = tuple(sorted(can_lose & crossed)) or vc.path
        lost.setdefault(where, Counter()).update(record["cells_lost"])
        offered[where] += cells_counted(record)
    found = []
    for where, how in sorted(lost.items(), key=lambda item: -item[1].total()):
        total = how.total()
        if not total:
            continue
        units = units_in_words(spec.links[link] for link in where) if where else "packets"
        names = [spec.links[link].name for link in where]
        # What a link was given, where all that it lost is known to be its own.
        is_alone = len(where) == 1 and not any(where[0] in o for o in lost if o != where)
        of = records["ports"][where[0]]["departed"] if is_alone else offered[where]
        parts = [f"{show_amount(how[key])} {words}" for key, words in _LOST_HOW.items() if how[key]]
        found.append(
            f"{_links_in_words(names)} lost {show_amount(total)} of {show_amount(of)} {units} "
            f"({loss_in_words(total / of)}): {', '.join(parts)}"
        )
    if len(found) > _MOST_LINKS:
        found[_MOST_LINKS:] = [f"{len(found) - _MOST_LINKS} other links, or groups, lost fewer"]
    return found


def _links_in_words(names: Sequence[str]) -> str:
    """Names of links as the beginning of a sentence; without any it is about a constellation.

    >>> _links_in_words(["a>b"]), _links_in_words(["a>b", "b>c", "c>d", "d>e"])
    ('Link a>b', 'Links a>b, b>c, c>d and 1 more together')
    """
    if not names:
        return "The constellation"
    if len(names) == 1:
        return f"Link {names[0]}"
    more = len(names) - _MOST_NAMES
    shown = ", ".join(names[:_MOST_NAMES])
    return f"Links {shown}{f' and {more} more' if more > 0 else ''} together"


BIT_ERROR_HEADS = {
    "headers_corrected": "corrected",
    "headers_lost": "lost by header",
    "misinserted": "misinserted",
    "payloads": "payload wrong",
    "checks_failed": "check failed",
}
"""What bit errors did to units, by key of a port's `errors` in the records."""


def bit_error_rows(records: Mapping[str, Any]) -> list[tuple[str, list[int]]]:
    """The links with bit errors: units sent, and what became of those that met errors."""
    return [
        (port["name"], [port["departed"], *(port["errors"][key] for key in BIT_ERROR_HEADS)])
        for port in records["ports"]
        if port.get("errors")
    ]


def share_of_ceiling(spec: NetworkSpec, total_bps: float, ceiling_bps: float) -> str:
    """What the flows of a run got of what they could get, with what that takes into account."""
    text = f"{total_bps / ceiling_bps:.3f} of the {ceiling_bps / 1e6:.2f} that "
    # Not what TCP could get: it gets more where a source's cells are lost, perhaps to it.
    of_cells = not any(source.datagram_octets for source in spec.sources)
    sources = "cell sources leave" if of_cells else "other sources leave"
    text += f"{sources} to TCP" if spec.sources else "TCP could get"
    links = [spec.links[index] for index in crossed_links(spec)]
    schedules = [link.schedule for link in links if link.schedule is not None]
    varied = [
        schedule.cell_times_ps
        or schedule.rates_millibps
        or schedule.interruption_ps
        or None in schedule.delays_ps
        for schedule in schedules
    ]
    if any(varied):
        text += " of the link as it varied" if len(varied) == 1 else " of the links as they varied"
    has_losses = any(link.loss_ppb or link.channel for link in links)
    has_losses |= any(any(schedule.losses_ppb) for schedule in schedules)
    return f"{text}, losses aside" if has_losses else text


def queue_rows(spec: NetworkSpec, records: Mapping[str, Any]) -> list[QueueRow]:
    """The queues of every port that limits one of them, first those to be preferred."""
    rows = []
    duration_ps = records["duration_ps"]
    for link, port in zip(recorded_ports(spec).values(), records["ports"], strict=True):
        if not link.port.is_limited:
            continue
        unit = "cells" if link.framing is None else "packets"
        every = port["queues"] or [port]
        for queue, counts in zip(link.port.queues, every, strict=True):
            name = port["name"]
            busy: float | None = port["busy_ps"] / duration_ps
            if port["queues"]:
                name += f" {counts['class'] or OTHER_CLASSES}"
                cells_ps = counts["departed"] * link.cell_time_ps
                busy = cells_ps / duration_ps if link.framing is None else None
            kind, capacity = queue.policy.kind, queue.capacity_cells
            rows.append(QueueRow(name, unit, kind, capacity, queue.counts_octets, counts, busy))
    return rows


def sojourn_rows(spec: NetworkSpec, records: Mapping[str, Any]) -> list[SojournRow]:
    """The ports of packets that have a limit or tell flows apart.

    Behind each come its classes, if it has several queues, and its flows, if it tells them.
    """
    rows = []
    flows = flow_names(spec)
    for (place, link), port in zip(recorded_ports(spec).items(), records["ports"], strict=True):
        octets = port.get("octets")
        if octets is None or not (link.port.is_limited or place in spec.records.flow_ports):
            continue
        name = port["name"]
        rows.append(SojournRow(name, "", octets["mean"], octets["max"], *_stays(octets["sojourn"])))
        for queue in port["queues"]:
            part, own = queue["class"] or OTHER_CLASSES, queue.get("octets")
            if own is None:  # of an earlier version
                continue
            rows.append(SojournRow(name, part, own["mean"], own["max"], *_stays(own["sojourn"])))
        for flow in octets.get("flows", ()):
            rows.append(SojournRow(name, flows[flow["flow"]], None, None, *_stays(flow)))
    return rows


def _stays(sojourn: Mapping[str, Any]) -> Iterator[float | None]:
    """Mean, percentiles and the largest of some stays, milliseconds; None where there are none."""
    for key in ("mean", "p50", "p90", "p95", "p99", "p999", "max"):
        yield sojourn[f"{key}_ps"] / PS_PER_MS if sojourn["packets"] else None


def flow_names(spec: NetworkSpec) -> list[str]:
    """The flows by the number that records give them: two of a connection, then the sources."""
    ways = [f"{flow.name}.{way}" for flow in spec.connections for way in ("forward", "reverse")]
    return [*ways, *(source.name for source in spec.sources)]


def contract_rows(spec: NetworkSpec, records: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The records of the VCs with a GFR contract."""
    return [
        record for record, vc in zip(records["vcs"], spec.vcs, strict=True) if vc.gfr is not None
    ]


def policed_rows(spec: NetworkSpec, records: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The records of the VCs whose cells are held to a rate where they enter the network."""
    return [record for record, vc in zip(records["vcs"], spec.vcs, strict=True) if vc.policing]


def cell_delay_rows(records: Mapping[str, Any]) -> list[CellDelayRow]:
    """The VCs whose cells' delays were measured, such as those of cell sources.

    Before them each class that has several of them; what a cell takes where nothing waits differs
    between its VCs.
    """
    several = [of_class for of_class in records["class_delays"] if len(of_class["vcs"]) > 1]
    rows = [_class_row(of_class, records["vcs"]) for of_class in several]
    for delay in records["cell_delays"]:
        vc = records["vcs"][delay["vc"]]
        keys = ("fixed_ps", "mean_ps", "p90_ps", "p99_ps", "p999_ps", "max_ps")
        times = (delay[key] / PS_PER_MS if delay["cells"] else None for key in keys)
        found = cell_delay(delay)
        variation = None if found is None else found.peak_to_peak_cdv_s() * 1e3
        row = (vc["name"], vc["cells_offered"], cell_loss_ratio(vc), *times, variation)
        rows.append(CellDelayRow(*row))
    return rows


def _class_row(delay: Mapping[str, Any], vcs: Sequence[Mapping[str, Any]]) -> CellDelayRow:
    own = [vcs[vc] for vc in delay["vcs"]]
    offered = sum(vc["cells_offered"] for vc in own)
    keys = ("mean_ps", "p90_ps", "p99_ps", "p999_ps", "max_ps", "variable_p999_ps")
    times = (delay[key] / PS_PER_MS if delay["cells"] else None for key in keys)
    return CellDelayRow(f"all {delay['class']}", offered, cell_loss_ratio(*own), None, *times)


def response_rows(records: Mapping[str, Any]) -> list[ResponseRow]:
    """Files and pages of all web users together; no rows without any."""
    web = records.get("web")
    if not web:
        return []
    rows = []
    for what, asked in (("file", web["requests"]), ("page", web["pages"])):
        times = web[f"{what}_response"]
        keys = ("mean_ps", "p50_ps", "p90_ps", "p95_ps", "p99_ps", "max_ps")
        shown = (times[key] / PS_PER_SECOND if times["count"] else None for key in keys)
        rows.append(ResponseRow(f"{what}s", asked, times["count"], *shown))
    return rows


def transfer_rows(records: Mapping[str, Any], traces: Mapping[str, Any]) -> list[TransferRow]:
    """The flows with finished transfers; before them, where they are several, all together.

    Args:
        records: of the run; those that finished before it is measured do not count.
        traces: the columns of each trace that it kept; no rows without `transfers`.

    >>> second = 10**12
    >>> trace = {"flow": [0, 0, 1], "start_ps": [0, second, 0], "end_ps": [second, 4 * second, 4]}
    >>> flows = [
    ...     {"name": "a", "closings": 2, "closing_ps": second},
    ...     {"name": "b", "closings": 0, "closing_ps": 0},
    ... ]
    >>> rows = transfer_rows({"flows": flows}, {"transfers": trace})
    >>> [(row.flow, row.finished, row.longest, row.closing) for row in rows]
    [('all flows', 3, 3.0, 0.5), ('a', 2, 3.0, 0.5), ('b', 1, 4e-12, None)]
    """
    if "transfers" not in traces:
        return []
    taken: dict[int, list[int]] = {}
    columns = (traces["transfers"][name] for name in ("flow", "start_ps", "end_ps"))
    for flow, start_ps, end_ps in zip(*columns, strict=True):
        if end_ps >= records.get("measured_from_ps", 0):
            taken.setdefault(flow, []).append(end_ps - start_ps)
    return _rows_of(records, taken)


def delivery_rows(records: Mapping[str, Any], traces: Mapping[str, Any]) -> list[TransferRow]:
    """The same of transfers that have come to the application at the destination.

    The trace `transfers` says when one began that has been acknowledged, `deliveries` when it had
    come; a flow's come in the order in which they began. No rows without both.

    >>> flows = [{"name": "a", "closings": 0, "closing_ps": 0}]
    >>> sent = {"flow": [0, 0], "start_ps": [0, 5], "end_ps": [3, 8]}
    >>> come = {"flow": [0], "end_ps": [4 * 10**12]}
    >>> rows = delivery_rows({"flows": flows}, {"transfers": sent, "deliveries": come})
    >>> [(row.flow, row.finished, row.longest) for row in rows]
    [('a', 1, 4.0)]
    >>> later = {"flows": flows, "measured_from_ps": 5 * 10**12}
    >>> delivery_rows(later, {"transfers": sent, "deliveries": come})
    []
    """
    if not {"transfers", "deliveries"} <= set(traces):
        return []
    starts: dict[int, list[int]] = {}
    for flow, start_ps in zip(*(traces["transfers"][k] for k in ("flow", "start_ps")), strict=True):
        starts.setdefault(flow, []).append(start_ps)
    taken: dict[int, list[int]] = {}
    come: Counter[int] = Counter()
    for flow, end_ps in zip(*(traces["deliveries"][k] for k in ("flow", "end_ps")), strict=True):
        number, begun = come[flow], starts.get(flow, [])
        come[flow] += 1
        if number < len(begun) and end_ps >= records.get("measured_from_ps", 0):
            taken.setdefault(flow, []).append(end_ps - begun[number])
    return _rows_of(records, taken)


def _rows_of(records: Mapping[str, Any], taken: Mapping[int, list[int]]) -> list[TransferRow]:
    flows = {number: records["flows"][number] for number in sorted(taken)}
    rows = [_transfer_row(flow["name"], taken[number], [flow]) for number, flow in flows.items()]
    if len(rows) > 1:
        every = [ps for own in taken.values() for ps in own]
        rows.insert(0, _transfer_row("all flows", every, list(flows.values())))
    return rows


def _transfer_row(
    name: str, taken_ps: Sequence[int], flows: Sequence[Mapping[str, Any]]
) -> TransferRow:
    ordered = sorted(taken_ps)
    # Nearest rank, as the records have response times.
    ranks = (-(-percent * len(ordered) // 100) for percent in (50, 90, 95, 99))
    p50, p90, p95, p99 = (ordered[rank - 1] / PS_PER_SECOND for rank in ranks)
    mean, longest = sum(ordered) / len(ordered) / PS_PER_SECOND, ordered[-1] / PS_PER_SECOND
    closing = mean_closing_s(flows)
    return TransferRow(name, len(ordered), mean, p50, p90, p95, p99, longest, closing)


def mean_closing_s(flows: Sequence[Mapping[str, Any]]) -> float | None:
    """Mean time that connections took to close once all was acknowledged; None where none did.

    So too for what a version before 0.2 wrote, which did not record it.

    >>> mean_closing_s([{"closings": 4, "closing_ps": 10**12}])
    0.25
    """
    closings: int = sum(flow.get("closings", 0) for flow in flows)
    if not closings:
        return None
    total_ps: int = sum(flow["closing_ps"] for flow in flows)
    return total_ps / closings / PS_PER_SECOND
