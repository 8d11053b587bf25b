"""Sources as a scenario file writes them: constant and on/off bit rate, lists of packets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from skycell.input.faults import FaultCollector, Path
from skycell.input.parameters import (
    Name,
    NamesOfPairs,
    Parameters,
    param,
    quantity,
    when,
    whole_number,
    without,
    word,
)
from skycell.input.quantities import DAY_PS, LONGEST_RUN_PS, Dimension, Quantity
from skycell.scenario.file.traffic import Start
from skycell.scenario.links.classes import ServiceClass
from skycell.scenario.links.schedule import Text
from skycell.scenario.values.cells import CellRate, part_or_rate
from skycell.scenario.values.clp import Clp
from skycell.scenario.values.distributions import Times

_PEAK = part_or_rate(
    "above 0, at most 1 or 100 % (fraction of the cells that the slowest link on the way "
    'carries), or a rate such as "10 Mbit/s" or "20000 cells/s" (bits of whole cells, 424 '
    "each; with packet_size bits of IP packets)",
    "100 %",
    "20000 cells/s",
)
PeakRate = Annotated[Any, _PEAK]

Phase = Annotated[
    Quantity | Literal["drawn"],
    quantity(
        Dimension.TIME,
        Dimension.RTT,
        high=DAY_PS,
        words=["drawn"],
        example="150 ms",
    ),
]
#: Octets of the shortest datagram, headers of IP and UDP alone, and of the longest (RFC 791).
LEAST_PACKET, MOST_PACKET = 28, 65_535
PacketSize = Annotated[
    Quantity, quantity(Dimension.SIZE, low=LEAST_PACKET, high=MOST_PACKET, example="1500 B")
]
Period = Annotated[Quantity, quantity(Dimension.TIME, above=0, high=LONGEST_RUN_PS, example="10 s")]
Frame = Annotated[int, whole_number(1, 1366, "an AAL5 frame holds up to 65535 octets")]

Count = Annotated[int, whole_number(1, 10_000)]

_NAME = "name of the source and of its VC"
_CLASS = "service class of its VC"

# What every source has beside the rate and the pattern of its own.
_FRAME_CELLS = param(
    1,
    "cells of its AAL5 frames, 1 for cells without frames; cells of a datagram",
    source="choice: the studies speak of cells only",
    when=without("packet_size"),
)
_PACKET_SIZE = param(
    None,
    "octets of the IP packets that it sends, headers included, as UDP does: each is handed over "
    "whole, also to routers and to links of packets, and nothing is sent again",
    source="a source of cells",
)
_BESIDE = param(
    None,
    "flow on whose VCs the source sends, from the same host: each frame is sent as a whole, "
    "like a UDP datagram, and never again",
    source="its own VC",
)
_COUNT = param(
    1,
    "number of such sources, each with its own VC and draws; several sources have the name with "
    "a number from 1 on",
    source="one, called by the name alone",
)
_CLP = param(
    None,
    "which of its frames, of its packets in cells, or of its cells without frames, have CLP = 1: a "
    "part of them, drawn, or a pattern of CLP bits that repeats",
    source="none",
)
_START = param("together", "when it begins", source="the start of the run")
_ENDS = "its own hosts at both ends of the congested links"
_SOURCE = param(None, "host of the source; only in a graph", source=_ENDS)
_DESTINATION = param(None, "host where its cells end; only in a graph", source=_ENDS)


class CbrSource(Parameters):
    """A source that sends a cell at equal intervals, from its start to the end of the run."""

    kind: Literal["cbr"] = param(..., "the source")
    name: Name = param(..., _NAME)
    count: Count = _COUNT
    service: ServiceClass = param(
        "cbr", _CLASS, alias="class", source="the class for its kind", when=without("beside")
    )
    rate: PeakRate = param(..., "its cell rate, or that of its packets", symbol="PCR")
    frame: Frame = _FRAME_CELLS
    packet_size: PacketSize | None = _PACKET_SIZE
    beside: Name | None = _BESIDE
    clp: Clp | None = _CLP
    start: Start = _START
    source: Name | None = _SOURCE
    destination: Name | None = _DESTINATION


class VbrSource(Parameters):
    """A source that sends at its peak rate for a time, and is silent for a time."""

    kind: Literal["vbr"] = param(..., "the source")
    name: Name = param(..., _NAME)
    count: Count = _COUNT
    service: ServiceClass = param(
        "nrt_vbr",
        _CLASS,
        alias="class",
        source="the class for its kind without real-time bounds",
        when=without("beside"),
    )
    peak_rate: PeakRate = param(
        ..., "its cell rate, or that of its packets, while it sends", symbol="PCR"
    )
    on: Times = param(..., "length of a burst, up to 24 h")
    off: Times = param(..., "time from the end of a burst to the next, up to 24 h")
    phase: Phase = param(
        "drawn",
        "position of the source, when it begins, in its first cycle, which starts with the on "
        "time; drawn is uniform over a mean cycle",
        source="choice: sources do not wait for each other",
    )
    frame: Frame = _FRAME_CELLS
    packet_size: PacketSize | None = _PACKET_SIZE
    beside: Name | None = _BESIDE
    clp: Clp | None = _CLP
    start: Start = _START
    source: Name | None = _SOURCE
    destination: Name | None = _DESTINATION


class TraceSource(Parameters):
    """A source that sends the packets of a file, as UDP does: each at its time, with its size."""

    kind: Literal["trace"] = param(..., "the source")
    name: Name = param(..., _NAME)
    service: ServiceClass = param(
        "ubr", _CLASS, alias="class", source="no promise", when=without("beside")
    )
    file: Text = param(
        ...,
        "a table (CSV, TSV), JSON line by line or text of tcpdump with a time and the octets of an "
        "IP packet in each line, relative to the scenario's folder",
    )
    period: Period | None = param(
        None,
        "the list begins anew after this time, over and over; no less than the last time in it",
        source="it is sent once",
    )
    beside: Name | None = _BESIDE
    clp: Clp | None = _CLP
    start: Start = _START
    source: Name | None = _SOURCE
    destination: Name | None = _DESTINATION


#: Sources that send at a rate.
PacedSource = CbrSource | VbrSource
Source = Annotated[PacedSource | TraceSource, Field(discriminator="kind")]


def each_source(written: Iterable[Source], faults: FaultCollector) -> Iterator[tuple[Path, Source]]:
    """Every source that a file stands for, with the path of its table in the file.

    What is wrong with one is wrong with all that are like it: after a fault the next table's come.

    >>> source = CbrSource(kind="cbr", name="t", rate="1 cells/s", count=2)
    >>> [(path, one.name) for path, one in each_source([source], FaultCollector("doc"))]
    [(('source', 0), 't1'), (('source', 0), 't2')]
    """
    for place, source in enumerate(written):
        here: Path = ("source", place)
        count = 1 if isinstance(source, TraceSource) else source.count
        if count == 1:
            yield here, source
            continue
        known = len(faults.faults)
        for number in range(1, count + 1):
            if len(faults.faults) == known:
                yield here, source.model_copy(update={"name": f"{source.name}{number}"})


def sends_packets(source: Source) -> bool:
    """Whether a source sends IP packets rather than cells."""
    return isinstance(source, TraceSource) or source.packet_size is not None


Tolerance = Annotated[Quantity, quantity(Dimension.TIME, high=DAY_PS, example="10 us")]

Action = Annotated[str, word("count", "tag", "discard")]


class PolicerParameters(Parameters):
    """GCRA policing of some VCs, each separately, where they enter the first switch."""

    vcs: NamesOfPairs = param(..., "VCs that are policed; a cell source's VC has its name")
    pcr: CellRate = param(..., "peak cell rate", symbol="PCR")
    cdvt: Tolerance = param(
        "0 s", "cell delay variation tolerance", symbol="CDVT", source="no tolerance"
    )
    pcr_action: Action = param(
        "discard",
        "what happens to a cell above the peak rate",
        source="Traffic Management 4.0, section 4.4",
    )
    scr: CellRate | None = param(
        None, "sustainable cell rate; adds a second bucket", symbol="SCR", source="PCR alone"
    )
    mbs: Annotated[int, whole_number(1, 2**31)] | None = param(
        None,
        "maximum burst size, cells; the second bucket's tolerance is CDVT + BT with "
        "BT = (MBS - 1)(1/SCR - 1/PCR)",
        symbol="MBS",
        source="only with scr",
    )
    conformance: Annotated[str, word("vbr_1", "vbr_2", "vbr_3")] = param(
        "vbr_1",
        "which cells the second bucket counts: all (VBR.1), or those with CLP = 0 alone (VBR.2), "
        "of which those above the sustainable rate are tagged (VBR.3)",
        source="as in 97-0424",
        when=when("scr"),
    )
    scr_action: Action | None = param(
        None,
        "what happens to a cell above the sustainable rate; VBR.2 tags nothing, VBR.3 always",
        source="tag, of VBR.2 discard: Traffic Management 4.0, section 4.4",
        when=when("scr"),
    )
