"""Where a rule stands, and what its parameters may follow from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol, TypeVar

from skycell.input.faults import FaultCollector, Path
from skycell.input.parameters import Parameters
from skycell.input.quantities import Quantity
from skycell.scenario.interpreter.context import Context
from skycell.scenario.values.buffer_units import BufferUnit
from skycell.scenario.values.rule_specs import FieldSpec, SubTable
from skycell.spec.declared.network import PacketFraming

T = TypeVar("T")


class Line(Protocol):
    """How a link carries what it is given."""

    @property
    def rate(self) -> Fraction:
        """Bit/s of its cells with their headers, or of the line on which packets go."""

    @property
    def cell_time_ps(self) -> int:
        """The time that a cell takes; 0 where it carries packets."""

    @property
    def packets(self) -> PacketFraming | None:
        """What packets take of it; none where it carries cells."""


@dataclass(frozen=True)
class Buffer:
    """The buffer of a port.

    Attributes:
        capacity: in what the buffer counts; none for an unlimited one.
        unit: what it counts.
    """

    capacity: int | None
    unit: BufferUnit


@dataclass(frozen=True)
class Vcs:
    """The VCs of a network, and those that cross a port.

    Attributes:
        across: names of those that cross the port.
        mcr: of every VC of the network, thousandths of a cell a second; 0 without a contract.
        mbs: of the VCs with a contract, cells.
        knows_all_mcrs: whether each contract is of a VC that there is. Another one may be meant
            for a VC with a similar name.
    """

    across: Sequence[str]
    mcr: Mapping[str, int]
    mbs: Mapping[str, int]
    knows_all_mcrs: bool


@dataclass(frozen=True)
class Place:
    """Where a rule stands, with what there is around it.

    The type of a parameter says what the parameter follows from. If the place has no such thing,
    the declaration is wrong.

    Attributes:
        path: the rule's table in the file.
        faults: where faults of its parameters go.
        outer: the table that the rule's table is in.
        context: what a number of RTTs or segments refers to.
        link: name of the link that the port feeds.
        line: how that link carries things.
        packet: octets of the longest packet that crosses it.
        buffer: of the port.
        classes: of the port's queues, in their order; none for the default queue.
        vcs: of the network.
    """

    path: Path = ()
    faults: FaultCollector = field(default_factory=lambda: FaultCollector(""))
    outer: Parameters | None = None
    context: Context | None = None
    link: str = ""
    line: Line | None = None
    packet: int = 0
    buffer: Buffer | None = None
    classes: Sequence[str | None] = ()
    vcs: Vcs | None = None

    def inside(self, outer: Parameters, *steps: str | int) -> Place:
        """Returns the place of a table that is some steps below the table `outer` of this place."""
        return replace(self, path=(*self.path, *steps), outer=outer)

    def fault(self, field: FieldSpec | SubTable, got: object, allowed: str, *item: str) -> None:
        """Notes a fault of a parameter, or of an item of it."""
        assert field.key is not None, "a parameter that a file does not have is not at fault itself"
        self.faults.add((*self.path, field.key, *item), got, allowed)

    def amount(self, field: FieldSpec, size: Quantity) -> int | None:
        """Returns a size in what the buffer counts; none, with a fault, if the units do not fit."""
        unit = needed(self.buffer).unit
        amount = unit.amount(size)
        if amount is None:
            self.fault(field, size.text, unit.allowed)
        return amount


def needed(value: T | None) -> T:
    """Returns what a parameter follows from, after a check that its place has it."""
    assert value is not None, "a rule is declared for a place that has no such thing"
    return value
