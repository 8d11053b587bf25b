"""The types of parameters of declared rules as people write them.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from skycell.input.parameters import FLAG, number, one_of, part, quantity, whole_number
from skycell.input.quantities import Dimension, Quantity
from skycell.scenario.values.cells import amount_held
from skycell.scenario.values.parameter_types import by_class, by_vc

Flag = Annotated[bool, FLAG]
CellCount = Annotated[Quantity, amount_held("917 cells", 0)]
CellsOfFrames = Annotated[int, whole_number(1, 1000)]
UpToEqualShare = Annotated[float, part("1 is an equal share")]
PartOfOne = Annotated[float, part("1 is the whole")]
FromZeroToOne = Annotated[float, number(low=0, high=1)]
BitErrorRatio = Annotated[
    float, number(above=0, high=0.5, what=", at which nothing is left of the bits")
]
BitErrorRatioOrNone = Annotated[float, number(low=0, high=0.5)]
ErrorDensity = Annotated[float, number(low=0.5, high=1)]
PerSecond = Annotated[float, number(above=0, high=1000, what=", per second")]
Correlation = Annotated[float, number(low=0, below=1)]
BitCount = Annotated[int, whole_number(1, 1_000_000_000, "bits")]
Interval = Annotated[
    Quantity, quantity(Dimension.TIME, above=0, high=86_400_000_000_000_000, example="10 ms")
]
StateTime = Annotated[
    Quantity,
    quantity(Dimension.TIME, low=100_000_000, high=86_400_000_000_000_000, example="40 ms"),
]
TimeOrNone = Annotated[
    Quantity, quantity(Dimension.TIME, high=86_400_000_000_000_000, example="10 ms")
]
VcLevels = Annotated[dict[str, int], by_vc(whole_number(1, 64, "level"))]
VcAllowances = Annotated[
    Quantity | Literal["MBS"],
    quantity(Dimension.CELLS, high=4_294_967_295, words=["MBS"], example="400 cells"),
]
PacketOctets = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=65_535, example="1514 B")]
OctetsBeside = Annotated[Quantity, quantity(Dimension.SIZE, high=65_535, example="44 B")]
OctetsOfUnit = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=65_535, example="48 B")]
OctetsOfUnitOnLine = Annotated[
    Quantity, quantity(Dimension.SIZE, low=1, high=65_535, example="48 B")
]
BurstOctets = Annotated[
    Quantity, quantity(Dimension.SIZE, low=1, high=1_000_000_000, example="15 kB")
]
BitRate = Annotated[
    Quantity, quantity(Dimension.BIT_RATE, low=424, high=8_000_000_000_000, example="10 Mbit/s")
]
BitRateOrNone = Annotated[
    Quantity, quantity(Dimension.BIT_RATE, low=424, high=8_000_000_000_000, example="10 Mbit/s")
]
QueueCount = Annotated[int, whole_number(0, 65_536, "0 for one of its own for each flow")]
BackoffExponent = Annotated[int, whole_number(0, 20)]
FrameSlots = Annotated[int, whole_number(1, 65_536, "slots")]
SlotCount = Annotated[int, whole_number(1, 65_536)]
SlotCountOrNone = Annotated[int, whole_number(0, 65_536)]
FrameCount = Annotated[int, whole_number(1, 4_294_967_295, "frames")]
Coupling = Annotated[int, whole_number(1, 100)]
ClassWeights = Annotated[
    dict[str, int], by_class(whole_number(1, 4_294_967_295, "cells in a round"))
]
VcWeights = Annotated[dict[str, int], by_vc(whole_number(1, 4_294_967_295, "cells in a round"))]
CellsInRound = Annotated[int, whole_number(1, 1_000_000, "cells in a round")]
TransferOctets = Annotated[
    Quantity, quantity(Dimension.SIZE, low=1, high=1_000_000_000_000_000, example="10 MB")
]
RequestOctets = Annotated[
    Quantity, quantity(Dimension.SIZE, low=1, high=1_000_000, example="128 B")
]
KilobyteOctets = Annotated[
    Quantity, quantity(Dimension.SIZE, low=1, high=1_000_000, example="1024 B")
]
Repetitions = Annotated[int, whole_number(1, 4_294_967_295)]
FileCount = Annotated[int, whole_number(1, 10_000)]
OriginCount = Annotated[int, whole_number(1, 64)]
Impairment = Annotated[float, number(low=0, high=100)]
PoissonMean = Annotated[float, number(above=0, high=500, what=" (a count)")]
CountLimit = Annotated[int, whole_number(1, 1000)]
Share = Annotated[
    float, number(above=0, high=1_000_000, what=" (in proportion to the other classes)")
]
IndexFirst = Annotated[bool, FLAG]
FileSizes = Annotated[float, number(above=0, high=1_000_000, what=" (kilobytes)")]
Mss = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=65_443, example="9180 B")]
ReceiverWindow = Annotated[
    Quantity | Literal["RTT x bandwidth"],
    quantity(
        Dimension.SIZE,
        Dimension.SEGMENTS,
        Dimension.RTT,
        Dimension.BDP,
        low=1,
        high=1_073_725_440,
        words=["RTT x bandwidth"],
        example="64 KiB",
    ),
]
InitialWindow = Annotated[
    Quantity,
    quantity(
        Dimension.SIZE,
        Dimension.SEGMENTS,
        Dimension.RTT,
        Dimension.BDP,
        low=1,
        high=1_073_725_440,
        example="64 KiB",
    ),
]
Cwnd = Annotated[
    Quantity,
    quantity(
        Dimension.SIZE,
        Dimension.SEGMENTS,
        Dimension.RTT,
        Dimension.BDP,
        low=1,
        high=1_073_725_440,
        example="64 KiB",
    ),
]
MaxCwnd = Annotated[
    Quantity | Literal["receiver window", "window field"],
    quantity(
        Dimension.SIZE,
        Dimension.SEGMENTS,
        Dimension.RTT,
        Dimension.BDP,
        low=1,
        high=1_073_725_440,
        words=["receiver window", "window field"],
        example="64 KiB",
    ),
]
Ssthresh = Annotated[
    Quantity | Literal["receiver window", "RTT x bandwidth"],
    quantity(
        Dimension.SIZE,
        Dimension.SEGMENTS,
        Dimension.RTT,
        Dimension.BDP,
        low=1,
        high=1_073_725_440,
        words=["receiver window", "RTT x bandwidth"],
        example="64 KiB",
    ),
]
SegmentCount = Annotated[int, whole_number(1, 1000)]
Tick = Annotated[
    Quantity, quantity(Dimension.TIME, low=1000, high=3_600_000_000_000_000, example="100 ms")
]
RtoMin = Annotated[
    Quantity,
    quantity(
        Dimension.TIME,
        Dimension.TICKS,
        above=0,
        high=86_400_000_000_000_000,
        what="rounded up to whole ticks",
        example="1 s",
    ),
]
RtoInitial = Annotated[
    Quantity,
    quantity(
        Dimension.TIME,
        Dimension.TICKS,
        above=0,
        high=86_400_000_000_000_000,
        what="rounded up to whole ticks",
        example="1 s",
    ),
]
RtoMax = Annotated[
    Quantity,
    quantity(
        Dimension.TIME,
        Dimension.TICKS,
        above=0,
        high=86_400_000_000_000_000,
        what="rounded up to whole ticks",
        example="1 s",
    ),
]
CubicC = Annotated[float, number(above=0, high=100, what=" (segments/s^3)")]
Backoff = Annotated[
    int,
    one_of(
        (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536),
        "a power of two from 1 to 65 536",
    ),
]
SackBlocks = Annotated[int, whole_number(1, 4)]
PeakCellRate = Annotated[
    Quantity | Literal["link rate"],
    quantity(
        Dimension.CELL_RATE,
        Dimension.BIT_RATE,
        low=1,
        high=1_000_000_000_000,
        words=["link rate"],
        what="bits of whole cells, 424 each",
        example="1000 cells/s",
    ),
]
RateUpToPeak = Annotated[
    Quantity | Literal["pcr"],
    quantity(
        Dimension.CELL_RATE,
        Dimension.BIT_RATE,
        high=1_000_000_000_000,
        words=["pcr"],
        what="bits of whole cells, 424 each",
        example="1000 cells/s",
    ),
]
CellRateOrNone = Annotated[
    Quantity,
    quantity(
        Dimension.CELL_RATE,
        Dimension.BIT_RATE,
        high=1_000_000_000_000,
        what="bits of whole cells, 424 each",
        example="1000 cells/s",
    ),
]
CellsInFlight = Annotated[
    Quantity, quantity(Dimension.CELLS, low=1, high=16_777_215, example="10000 cells")
]
CellsBetweenRm = Annotated[
    int, one_of((2, 4, 8, 16, 32, 64, 128, 256), "a power of 2 from 2 to 256")
]
LeastCellsBetweenRm = Annotated[int, whole_number(1, 255)]
Weight = Annotated[float, number(above=0)]
AtLeastOne = Annotated[float, number(low=1)]
VcIntervals = Annotated[
    Quantity,
    quantity(
        Dimension.CELL_RATE,
        Dimension.BIT_RATE,
        low=1,
        high=1_000_000_000_000,
        what="bits of whole cells, 424 each",
        example="1000 cells/s",
    ),
]

PLAIN: dict[str, Dimension | None] = {
    "Flag": None,
    "CellsOfFrames": None,
    "UpToEqualShare": None,
    "PartOfOne": None,
    "FromZeroToOne": None,
    "BitErrorRatio": None,
    "BitErrorRatioOrNone": None,
    "ErrorDensity": None,
    "PerSecond": None,
    "Correlation": None,
    "BitCount": None,
    "Interval": Dimension.TIME,
    "StateTime": Dimension.TIME,
    "TimeOrNone": Dimension.TIME,
    "PacketOctets": Dimension.SIZE,
    "OctetsBeside": Dimension.SIZE,
    "OctetsOfUnit": Dimension.SIZE,
    "OctetsOfUnitOnLine": Dimension.SIZE,
    "BurstOctets": Dimension.SIZE,
    "BitRate": Dimension.BIT_RATE,
    "BitRateOrNone": Dimension.BIT_RATE,
    "QueueCount": None,
    "BackoffExponent": None,
    "FrameSlots": None,
    "SlotCount": None,
    "SlotCountOrNone": None,
    "FrameCount": None,
    "Coupling": None,
    "CellsInRound": None,
    "TransferOctets": Dimension.SIZE,
    "RequestOctets": Dimension.SIZE,
    "KilobyteOctets": Dimension.SIZE,
    "Repetitions": None,
    "FileCount": None,
    "OriginCount": None,
    "Impairment": None,
    "PoissonMean": None,
    "CountLimit": None,
    "Share": None,
    "IndexFirst": None,
    "FileSizes": None,
    "Mss": Dimension.SIZE,
    "SegmentCount": None,
    "Tick": Dimension.TIME,
    "CubicC": None,
    "Backoff": None,
    "SackBlocks": None,
    "CellsInFlight": Dimension.CELLS,
    "CellsBetweenRm": None,
    "LeastCellsBetweenRm": None,
    "Weight": None,
    "AtLeastOne": None,
}
"""Types of which an engine reads the number, or the amount in one dimension."""
