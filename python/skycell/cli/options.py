"""Options that several commands have, each worded once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.levels import CONFIDENCE
from skycell.cli.verb import Options, option

if TYPE_CHECKING:
    from skycell.experiment.cluster import Scheduler
    from skycell.experiment.shard import Shard

ENGINES = ("fast", "reference")


class _Name(click.ParamType[str]):
    """A name that is not empty."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name."""
        if value == "":
            self.fail("a name is missing", param, ctx)
        return str(value)


NAME = _Name()


class _Shard(click.ParamType["Shard"]):
    """A share of some runs: `2/4`."""

    name = "I/N"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Shard:
        """The shard."""
        from skycell.experiment.shard import Shard

        try:
            return value if isinstance(value, Shard) else Shard.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class NamedPath(click.Path):
    """A path that is not empty, as that of a shell variable without a value is.

    Whether it can be read is seen where it is read, beside all else that may be wrong.
    """

    def __init__(self, **of_path: Any) -> None:
        super().__init__(readable=False, **of_path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path."""
        if value == "":
            self.fail("a name is missing", param, ctx)
        return super().convert(value, param, ctx)


class _Address(click.ParamType[str]):
    """An address of a scheduler."""

    name = "ADDRESS"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The address."""
        if "://" not in str(value):
            self.fail(f"{value!r}: must be an address such as tcp://host:8786", param, ctx)
        return str(value)


_ADDRESS = _Address()


class Where(TypedDict):
    """Where runs are made, as `Batch.make` is told it."""

    jobs: int | None
    scheduler: Scheduler | None


def json_option(what: str = "Write one JSON object.") -> Any:
    """`--json`."""
    return option("--json", is_flag=True, help=what)


LATEX = "--latex"
FORMS = "skycell.forms"
"""Key of a call's `meta`: which of `--json` and `--latex` were given."""


def _note_form(ctx: click.Context, param: click.Parameter, is_set: bool) -> bool:
    asked: set[str] = ctx.meta.setdefault(FORMS, set())
    asked.update([param.opts[0]] if is_set else [])
    if len(asked) > 1:
        raise click.UsageError("--json and --latex: only one of them is allowed", ctx)
    return is_set


def table_json_option(what: str = "Write one JSON object.") -> Any:
    """`--json` of a verb that has `--latex`, too."""
    return option("--json", is_flag=True, callback=_note_form, help=what)


def latex_option() -> Any:
    """`--latex`, which `skycell.cli.console` obeys by itself."""
    return option(
        LATEX,
        is_flag=True,
        callback=_note_form,
        help="Write the tables as LaTeX (booktabs), the rest as comments.",
    )


def out_folder_option(what: str) -> Any:
    """`--out DIR`."""
    return option("--out", type=NamedPath(path_type=Path), metavar="DIR", help=what)


def figure_option(what: str) -> Any:
    """`--plot FILE`; `what` it draws."""
    return option(
        "--plot",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help=f"Draw {what}: .svg, .png, .pdf or .html.",
    )


def force_option(what: str) -> Any:
    """`--force`; `what` it replaces."""
    return option("--force", is_flag=True, help=f"Replace {what}.")


def engine_option(what: str = "Engine that simulates; all give the same records.") -> Any:
    """`--engine`."""
    return option(
        "--engine", type=click.Choice(ENGINES), default="fast", show_default=True, help=what
    )


def jobs_option(what: str = "Runs at a time on this machine; all cores if not given.") -> Any:
    """`--jobs`."""
    return option("--jobs", type=click.IntRange(1), help=what)


def refuse_engine(engine: str) -> None:
    """Refuses an engine that this build does not have, before the runs.

    Raises:
        click.BadParameter: there is none of that name.
    """
    from skycell.experiment.tasks import refuse_unknown_engine

    try:
        refuse_unknown_engine(engine)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="'--engine'") from None


def level_option() -> Any:
    """`--level`, the confidence of intervals, 90 per cent if not given."""
    return option(
        "--level",
        type=CONFIDENCE,
        default="90",
        show_default=True,
        help="Confidence of the intervals, in per cent.",
    )


def level_option_of(what: str) -> Any:
    """`--level` of a command that takes other things than `what` too: none if not given."""
    return option(
        "--level", type=CONFIDENCE, help=f"Confidence of the intervals of {what}.  [default: 90]"
    )


def set_option(what: str) -> Any:
    """`--set KEY=VALUE`; `what` it replaces."""
    return option(
        "--set",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"{what}; may be repeated with other keys.",
    )


def store_option() -> Any:
    """`--store`."""
    return option(
        "--store",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Store of finished runs, which later calls reuse  [default: .skycell/runs.sqlite]",
    )


class RowsOptions(Options):
    """Which rows of a table are explained, by which factors."""

    factors: tuple[str, ...] = option(
        "--factor",
        type=NAME,
        multiple=True,
        help="Column whose values are levels; may be repeated. If not given, a sweep's own "
        "factors. Their order is that of tables and figures: of a pair, the first is along "
        "the axis and the second tells lines apart.",
    )
    filters: tuple[str, ...] = option(
        "--where",
        multiple=True,
        metavar="COLUMN=VALUE",
        help="Only rows with this value; may be repeated.",
    )
    block: str | None = option(
        "--block",
        type=NAME,
        metavar="COLUMN",
        help="Column by which rows share their random numbers.",
    )

    @property
    def are_chosen(self) -> bool:
        """Whether the call chooses rows or factors."""
        return bool(self.factors or self.filters or self.block)


class ManyRuns(Options):
    """Where runs are made, by which engine, and where they are kept."""

    jobs: int | None = jobs_option()
    scheduler: str | None = option(
        "--scheduler",
        type=_ADDRESS,
        help="Make the runs on the workers of this Dask scheduler, such as tcp://host:8786.",
    )
    scheduler_file: Path | None = option(
        "--scheduler-file",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="The same Dask scheduler, by the file that it has written.",
    )
    engine: str = engine_option()
    store_path: Path | None = store_option()
    shard: Shard | None = option(
        "--shard",
        type=_Shard(),
        help="Make only the I-th of N shares of the runs, without showing results; skycell "
        "store merge brings the stores of all shares together.",
    )
    fresh: bool = option("--fresh", is_flag=True, help="Also simulate what the store already has.")

    def check(self, collector: ErrorCollector) -> None:
        """Notes an engine that this build does not have, and several places for the runs."""
        with collector.step():
            refuse_engine(self.engine)
        with collector.step():
            _ = self.where

    @property
    def where(self) -> Where:
        """Where runs are to be made.

        Raises:
            click.UsageError: two options say it.
        """
        options = {
            "--jobs": self.jobs,
            "--scheduler": self.scheduler,
            "--scheduler-file": self.scheduler_file,
        }
        is_set = [name for name, value in options.items() if value is not None]
        if len(is_set) > 1:
            raise click.UsageError(f"{' and '.join(is_set)}: only one of them is allowed")
        return {"jobs": self.jobs, "scheduler": self.scheduler or self.scheduler_file}
