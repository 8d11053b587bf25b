"""Figures of a study as data: which numbers of which table go where."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

Level = str | int | float


class Reserved(BaseModel):
    """The line of what an MCR reserves for users: what segments of a size get of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mss: int
    timestamps: bool = False
    llc_snap: bool = False


class StudyFigure(BaseModel):
    """One figure of a study.

    `curves` draws a metric over a factor with numbers, a line for each series. `trade_off` draws a
    point for each series, at one metric across and another up; a third, or a factor, gives its
    colour. Its metrics may come from several tables.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    kind: Literal["curves", "trade_off"]
    tables: tuple[str, ...]
    printed_as: str = ""
    """Which published figure it draws anew; empty for one of our own."""
    metric: str
    """Up the vertical axis."""
    x: str
    """Along the horizontal axis: a factor of `curves`, a metric of `trade_off`."""
    series: str
    """Factor whose levels are lines, or points."""
    points: tuple[str, ...] = ()
    """Further factors that tell the points of `trade_off` apart."""
    colour: str = ""
    """Metric that colours the points of `trade_off`."""
    group: str = ""
    """Factor that colours the points of `trade_off`, which then have no names, instead of one."""
    column: str = ""
    """Factor of the panels from left to right."""
    row: str = ""
    """Factor of the panels of `trade_off` from top to bottom."""
    only: tuple[dict[str, tuple[Level, ...]], ...] = ()
    """Rows that are drawn: those that agree with one of these; all where there is none."""
    reserved: Reserved | None = None
    """Draws what the MCR along the axis reserves."""
    proportional: bool = False
    """Draws, for each series, the line through the origin with the same sum."""
    x_step: float = 1.0
    """The axis of `curves` shows the factor times this, as MCRs in place of the numbers of VCs."""
    x_name: str = ""
    """What the axis then is, such as `mcr_cells_per_s`; the factor itself if not given."""
    own_axes: bool = False
    """Whether each panel of `curves` has a vertical axis of its own."""

    @model_validator(mode="after")
    def _fits_its_kind(self) -> "StudyFigure":
        if (self.kind == "trade_off") != (bool(self.colour) != bool(self.group)):
            raise ValueError(
                "a trade-off names the metric or the factor of its colours, curves name none"
            )
        if self.kind == "curves" and self.points:
            raise ValueError("the lines of curves are those of one factor")
        if self.kind == "trade_off" and (self.reserved or self.proportional):
            raise ValueError("lines of reference belong to curves")
        if self.kind == "curves" and self.row:
            raise ValueError("curves have panels from left to right only")
        return self

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that it draws."""
        across = (self.x, self.colour) if self.kind == "trade_off" else ()
        return (self.metric, *(name for name in across if name))

    def has(self, row: Mapping[str, Any]) -> bool:
        """Whether a row, as in `Reproduction.as_dict`, is drawn."""
        factors = row["factors"]
        return (
            row["table"] in self.tables
            and row["metric"] in self.metrics
            and any(
                all(factors.get(name) in levels for name, levels in grid.items())
                for grid in self.only or ({},)
            )
        )


class TracedFigure(BaseModel):
    """A figure that shows one run of a study over time.

    The run is the first replication of one case, simulated again with its trace kept, as long as
    the figure lasts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    title: str
    printed_as: str = ""
    """Which published figure it draws anew."""
    kind: Literal["cwnd", "rate", "share"]
    """What is drawn, as `skycell plot` calls it."""
    experiment: str
    case: dict[str, Level]
    """The level of each factor of the experiment."""
    flow: str = ""
    """Whose window or rate; none for the shares of a link."""
    from_s: float
    """Where it begins, seconds of simulated time."""
    to_s: float
    """Where it ends."""
    reserved_mcr: float = 0.0
    """MCR whose part for users is a dashed line, cells/s; 0 for none."""
    reserved: Reserved | None = None
    """With what segments that part is reckoned."""

    @model_validator(mode="after")
    def _lasts(self) -> "TracedFigure":
        if not 0 <= self.from_s < self.to_s:
            raise ValueError("a figure begins at 0 s or later and ends after that")
        if bool(self.flow) == (self.kind == "share"):
            raise ValueError("windows and rates are those of a flow, shares of a link of none")
        if bool(self.reserved_mcr) != (self.reserved is not None):
            raise ValueError("reserved_mcr and reserved, or neither")
        return self
