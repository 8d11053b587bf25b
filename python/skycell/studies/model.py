"""A study as data: the form of `study.toml`.

A study is one publication, or a question of our own. It has experiments (a scenario template and
the factors that vary), tables (how values are measured, and the published ones), choices (one for
every parameter that the publication leaves unstated, or that a reader might want otherwise) and
conclusions.
"""

from collections.abc import Iterable, Mapping
from itertools import product
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from skycell.experiment.design import FactorLevel, Level
from skycell.measures.measure import Measures, renamed
from skycell.studies.effects import EFFECT_MEASURES
from skycell.studies.figures import StudyFigure, TracedFigure
from skycell.studies.measures import MEASURES
from skycell.studies.network_measures import NETWORK_MEASURES
from skycell.studies.pair_measures import PAIR_MEASURES
from skycell.studies.path_measures import PATH_MEASURES

_MEASURES: Measures[Any] = Measures(
    MEASURES, PATH_MEASURES, PAIR_MEASURES, NETWORK_MEASURES, EFFECT_MEASURES
)

UNITS: Mapping[str, str] = {name: measure.unit for name, measure in _MEASURES.items()}
"""Unit of everything that a table can measure."""

MEANINGS: Mapping[str, str] = {name: measure.meaning for name, measure in _MEASURES.items()}
"""Meaning of everything that a table can measure."""

LEAST_REPLICATIONS = {"published": 5, "own": 3}
"""Fewest replications of a study that simulates; ours has many cells to average over."""

ExperimentKind = Literal["runs", "paths", "networks"]

Grid = dict[str, tuple[Level, ...]]
"""Levels by factor; stands for all their combinations."""

EVERY = "*"
"""In the grid of a file: all levels that the experiment names for the factor."""


def read_level(text: str) -> Level:
    """A factor's level as a number where it is one.

    >>> read_level("600000"), read_level("sd"), read_level("1-3")
    (600000, 'sd', '1-3')
    """
    try:
        return int(text)
    except ValueError:
        return text


def expand(grids: Iterable[Grid]) -> list[dict[str, Level]]:
    """Every combination of the levels of each grid.

    >>> expand([{"tcp": ("reno", "sack"), "n": (5,)}])
    [{'tcp': 'reno', 'n': 5}, {'tcp': 'sack', 'n': 5}]
    """
    return [
        dict(zip(grid, levels, strict=True)) for grid in grids for levels in product(*grid.values())
    ]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Document(_Part):
    """A publication that the study rests on."""

    tag: str
    title: str
    where: str


class Choice(_Part):
    """What we take for a parameter that the publication leaves unstated.

    A template refers to it as `"{name}"`; nothing else sets the parameter.
    """

    name: str
    value: Any
    alternatives: tuple[Any, ...] = ()
    meaning: str
    reason: str


class Factor(_Part):
    """What a level of a factor does to the scenario.

    With `key`, the level is the value of that scenario key, written into `form` where there is one.
    With `levels`, each level names the keys it sets. A `label` sets nothing.
    """

    key: str | None = None
    form: str | None = None
    levels: dict[str, dict[str, Any]] | None = None
    label: bool = False

    def level(self, name: str, label: Level) -> FactorLevel:
        """A level of the factor, which has this name, with the keys that it sets.

        Raises:
            ValueError: the factor has no such level.
        """
        if self.key is not None:
            return FactorLevel.of_key(label, self.key, self.form)
        if self.levels is not None and str(label) not in self.levels:
            allowed = ", ".join(self.levels)
            raise ValueError(f"factor {name}: level {label!r}, allowed are {allowed}")
        return FactorLevel(label, self.levels[str(label)] if self.levels else {})

    @model_validator(mode="after")
    def _one_way(self) -> "Factor":
        if (self.key is not None) + (self.levels is not None) + self.label != 1:
            raise ValueError("a factor has either a key, or levels, or is a label")
        if self.form is not None and self.key is None:
            raise ValueError("a form needs a key")
        return self


class EachReplication(_Part):
    """What differs between replications besides the seed, such as the moment a run begins at.

    The replication of seed s has `form` with ((s - 1) x `step`) modulo `span`. A scenario without
    the table that holds the key has nothing to set.
    """

    key: str
    form: str
    step: Annotated[int, Field(ge=1)]
    span: Annotated[int, Field(ge=1)]

    def value(self, seed: int) -> str:
        """The value of the key in the replication of a seed, 0 or more.

        >>> moment = EachReplication(key="start", form="{} min", step=10, span=60)
        >>> [moment.value(seed) for seed in (1, 2, 6, 7)]
        ['0 min', '10 min', '50 min', '0 min']
        """
        return self.form.format((seed - 1) * self.step % self.span)


class Experiment(_Part):
    """Runs, or constellations, that differ in their factors only, and how they are measured.

    With `kind = "paths"` the template is a constellation file, nothing is simulated, and every
    number is computed once. With `kind = "networks"` it is a scenario over a constellation of which
    nothing is drawn: every number is computed once, from whole runs, which no store keeps.
    """

    title: str
    kind: ExperimentKind = "runs"
    scenario: dict[str, Any]
    factors: dict[str, Factor]
    ceiling_base: str = "link"
    ceiling_segment: str = "own"
    throughput: str = "delivered_over_duration"
    measured_from: str = "0 s"
    each_replication: EachReplication | None = None
    is_drawn: bool = False
    """Whether the seed draws a part of the network, such as a link from a model."""


class Part(_Part):
    """Values of one table: a published file and one of its columns, or cases without numbers."""

    measure: str
    factors: tuple[str, ...]
    file: str | None = None
    column: str | None = None
    upper: str | None = None
    """The column with the upper end, where the publication has ranges; `column` has the lower."""
    only: dict[str, tuple[Level, ...]] = {}
    fixed: dict[str, Level] = {}
    """What a path measure needs to know besides the row's factors; may refer to choices."""
    average_over: tuple[Grid, ...] = ()
    """The row's number is the mean over these cells, as far as they agree with its factors; or,
    for a measure of effects, it comes from the analysis of the design that they make."""
    design: tuple[str, ...] = ("tcp", "buffer_rtt_multiple", "policy")
    """Factors of the cells that a measure of effects analyses."""
    grid: tuple[Grid, ...] = ()
    """Cases without a published number."""

    @model_validator(mode="after")
    def _source(self) -> "Part":
        if (self.file is None) != (self.column is None):
            raise ValueError("a published part names both its file and its column")
        if self.upper is not None and self.column is None:
            raise ValueError("the upper end of a range needs the column of the lower end")
        if (self.file is None) == (not self.grid):
            raise ValueError("a part has either a published file or a grid of its own")
        if self.measure not in UNITS:
            now = renamed(self.measure) or f"{', '.join(UNITS)} are"
            raise ValueError(f"{self.measure} is no measure: {now}")
        if self.measure in EFFECT_MEASURES and not self.average_over:
            raise ValueError("a measure of effects needs the cells of a design")
        return self

    @property
    def unit(self) -> str:
        """Of what is measured."""
        return UNITS[self.measure]

    @property
    def cases(self) -> list[dict[str, Level]]:
        """The cases of the grid."""
        return expand(self.grid)

    @property
    def averaged_cells(self) -> list[dict[str, Level]]:
        """The cells that averages are taken over."""
        return expand(self.average_over)


class Table(_Part):
    """One published table (or figure) and what it is compared with, or a table of our own."""

    id: str
    title: str
    printed_as: str = ""
    """Where a published table stands; empty for one of our own."""
    experiment: str
    parts: tuple[Part, ...]

    @property
    def label(self) -> str:
        """What it is called: where it is printed, or its title."""
        return self.printed_as or self.title

    @property
    def unit_of_changes(self) -> str:
        """In what changes of its cells are told: the unit of the first, printed ones before."""
        parts = [part for part in self.parts if not part.average_over]
        return next((part for part in parts if part.file), parts[0]).unit


class Published(_Part):
    """Where a file of published values comes from."""

    file: str
    document: str
    printed_as: str
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    doubt: str = ""
    repeated_in: str = ""


class Disagreement(_Part):
    """A quantity whose printed copies differ."""

    item: str
    tables: tuple[str, ...]
    where: dict[str, Level] = {}
    copies: str
    judgement: str


class Numbers(_Part):
    """Numbers of tables under the name by which criteria call them.

    `tables` have rows with the same factors. Where `measure` is left out, a criterion says it.
    """

    tables: tuple[str, ...]
    measure: str = ""
    factors: tuple[str, ...] = ()
    """Those of the rows that are meant, where a table has averages over some factors as well."""
    usual: str = ""
    """Which of the study's `usual` levels hold unless a criterion says otherwise."""
    where: dict[str, Level] = {}
    """Levels in place of the usual ones."""


class Conclusion(_Part):
    """What the publication concludes, or we do, as a statement that numbers can decide.

    `skycell.studies.criteria` says what a criterion is, `skycell.studies.evidence` what evidence.
    """

    id: str
    text: str
    tables: tuple[str, ...]
    in_print: Literal["holds", "fails", "no data"] = "no data"
    names: dict[str, str] = {}
    """Expressions that the criterion and the evidence call by a name."""
    holds: str = ""
    """The criterion; empty for a statement that the records of a run do not decide."""
    evidence: str = ""


class Study(_Part):
    """One publication, or a study of our own."""

    id: str
    title: str
    origin: Literal["published", "own"] = "published"
    documents: tuple[Document, ...] = ()
    """The publication and what repeats it; for a study of our own, what it builds on."""
    replications: Annotated[int, Field(ge=1)] = 5
    choices: tuple[Choice, ...]
    experiments: dict[str, Experiment]
    tables: tuple[Table, ...]
    published: tuple[Published, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    numbers: dict[str, Numbers] = {}
    names: dict[str, str] = {}
    """Expressions that several conclusions call by a name."""
    usual: dict[str, dict[str, Level]] = {}
    """Levels of the case that most conclusions speak of, where the others say what differs."""
    conclusions: tuple[Conclusion, ...] = ()
    figures: tuple[StudyFigure, ...] = ()
    """Figures drawn otherwise than a table's values beside the published ones."""
    traced: tuple[TracedFigure, ...] = ()
    """Figures that show one of its runs over time."""

    @model_validator(mode="before")
    @classmethod
    def _every_level(cls, data: Any) -> Any:
        """Writes out the grids of tables: `"*"` stands for all levels of a factor."""
        if not isinstance(data, dict):
            return data
        for table in data.get("tables", ()):
            factors = data["experiments"][table["experiment"]].get("factors", {})
            for part in table["parts"]:
                for grid in (*part.get("grid", ()), *part.get("average_over", ())):
                    for name in [name for name, levels in grid.items() if levels == EVERY]:
                        grid[name] = [read_level(level) for level in factors[name]["levels"]]
        return data

    @model_validator(mode="after")
    def _traced_cases_are_whole(self) -> "Study":
        for figure in self.traced:
            factors = self.experiments[figure.experiment].factors
            needed = {name for name, factor in factors.items() if not factor.label}
            if figure.case.keys() != needed:
                raise ValueError(f"{figure.id} names the level of each factor, and of no other")
        return self

    @model_validator(mode="after")
    def _enough_replications(self) -> "Study":
        has_runs = any(entry.kind == "runs" for entry in self.experiments.values())
        least = LEAST_REPLICATIONS[self.origin]
        if has_runs and self.replications < least:
            raise ValueError(f"a study that simulates has at least {least} replications")
        return self

    @model_validator(mode="after")
    def _published_has_print(self) -> "Study":
        if self.is_own:
            files = [part.file for table in self.tables for part in table.parts if part.file]
            in_print = [table.printed_as for table in self.tables if table.printed_as]
            decided = [entry.id for entry in self.conclusions if entry.in_print != "no data"]
            if files or in_print or decided or self.published or self.disagreements:
                raise ValueError("a study of our own has nothing in print")
        elif not self.documents or not all(table.printed_as for table in self.tables):
            raise ValueError("a published study names its documents and where each table stands")
        return self

    @property
    def is_own(self) -> bool:
        """Whether nobody has published it: there are no values to compare with."""
        return self.origin == "own"

    def kind_of(self, table: Table) -> ExperimentKind:
        """The kind of a table's experiment."""
        return self.experiments[table.experiment].kind

    def is_computed(self, table: Table) -> bool:
        """Whether a table's numbers are computed once: nothing is drawn, and no store has them."""
        return self.kind_of(table) != "runs"

    def table(self, table_id: str) -> Table:
        """The table of this id; it must be one of the study's."""
        return next(table for table in self.tables if table.id == table_id)

    def provenance(self, file: str) -> Published:
        """Where a file of published values comes from; it must be one of the study's."""
        return next(entry for entry in self.published if entry.file == file)
