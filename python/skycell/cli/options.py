"""Options that several commands have, each worded once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

import click

from skycell.cli.levels import CONFIDENCE

if TYPE_CHECKING:
    from skycell.experiment.cluster import Scheduler
    from skycell.experiment.shard import Shard

Command = TypeVar("Command", bound=Callable[..., Any])
Option = Callable[[Command], Command]

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


def where_of(jobs: int | None, scheduler: str | None, scheduler_file: Path | None) -> Where:
    """Where the options say that runs are to be made.

    Raises:
        click.UsageError: two of them say it.
    """
    options = {"--jobs": jobs, "--scheduler": scheduler, "--scheduler-file": scheduler_file}
    is_set = [name for name, value in options.items() if value is not None]
    if len(is_set) > 1:
        raise click.UsageError(f"{' and '.join(is_set)}: only one of them is allowed")
    return {"jobs": jobs, "scheduler": scheduler or scheduler_file}


def json_option(what: str = "Write one JSON object.") -> Option[Any]:
    """`--json`, as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help=what)


LATEX = "--latex"
FORMS = "skycell.forms"
"""Key of a call's `meta`: which of `--json` and `--latex` were given."""


def table_options(what: str = "Write one JSON object.") -> Option[Any]:
    """`--json`, as `as_json`, and `--latex`, which `skycell.cli.console` obeys by itself."""

    def note(ctx: click.Context, param: click.Parameter, is_set: bool) -> bool:
        asked: set[str] = ctx.meta.setdefault(FORMS, set())
        asked.update([param.opts[0]] if is_set else [])
        if len(asked) > 1:
            raise click.UsageError("--json and --latex: only one of them is allowed", ctx)
        return is_set

    def add(command: Command) -> Command:
        for name, parameter, meaning in (
            (LATEX, "as_latex", "Write the tables as LaTeX (booktabs), the rest as comments."),
            ("--json", "as_json", what),
        ):
            command = click.option(
                name,
                parameter,
                is_flag=True,
                expose_value=name != LATEX,
                callback=note,
                help=meaning,
            )(command)
        return command

    return add


def out_folder_option(what: str) -> Option[Any]:
    """`--out DIR`."""
    return click.option("--out", type=NamedPath(path_type=Path), metavar="DIR", help=what)


def force_option(what: str) -> Option[Any]:
    """`--force`; `what` it replaces."""
    return click.option("--force", is_flag=True, help=f"Replace {what}.")


def engine_option(what: str = "Engine that simulates; all give the same records.") -> Option[Any]:
    """`--engine`."""
    return click.option(
        "--engine", type=click.Choice(ENGINES), default="fast", show_default=True, help=what
    )


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


def level_option(command: Command) -> Command:
    """Adds `--level`, the confidence of intervals, 90 per cent if not given."""
    return click.option(
        "--level",
        type=CONFIDENCE,
        default="90",
        show_default=True,
        help="Confidence of the intervals, in per cent.",
    )(command)


def level_option_of(what: str) -> Option[Any]:
    """`--level` of a command that takes other things than `what` too: none if not given."""
    return click.option(
        "--level", type=CONFIDENCE, help=f"Confidence of the intervals of {what}.  [default: 90]"
    )


def rows_options(command: Command) -> Command:
    """Adds `--factor`, `--where` and `--block`, as `factors`, `filters` and `block`."""
    for option in (
        click.option(
            "--block",
            type=NAME,
            metavar="COLUMN",
            help="Column by which rows share their random numbers.",
        ),
        click.option(
            "--where",
            "filters",
            multiple=True,
            metavar="COLUMN=VALUE",
            help="Only rows with this value; may be repeated.",
        ),
        click.option(
            "--factor",
            "factors",
            type=NAME,
            multiple=True,
            help="Column whose values are levels; may be repeated. If not given, a sweep's own "
            "factors. Their order is that of tables and figures: of a pair, the first is along "
            "the axis and the second tells lines apart.",
        ),
    ):
        command = option(command)
    return command


def set_option(what: str) -> Option[Any]:
    """`--set KEY=VALUE`, as `settings`; `what` it replaces."""
    return click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="KEY=VALUE",
        help=f"{what}; may be repeated with other keys.",
    )


def store_option(command: Command) -> Command:
    """Adds `--store`, as `store_path`."""
    return click.option(
        "--store",
        "store_path",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Store of finished runs, which later calls reuse  [default: .skycell/runs.sqlite]",
    )(command)


def many_runs_options(command: Command) -> Command:
    """Adds what says where runs are made, by which engine, and where they are kept.

    As `jobs`, `scheduler`, `scheduler_file`, `engine`, `store_path`, `shard` and `fresh`; see
    `where_of`.
    """
    for option in (
        click.option("--fresh", is_flag=True, help="Also simulate what the store already has."),
        click.option(
            "--shard",
            type=_Shard(),
            help="Make only the I-th of N shares of the runs, without showing results; skycell "
            "store merge brings the stores of all shares together.",
        ),
        store_option,
        engine_option(),
        click.option(
            "--scheduler-file",
            type=NamedPath(path_type=Path),
            metavar="FILE",
            help="The same Dask scheduler, by the file that it has written.",
        ),
        click.option(
            "--scheduler",
            type=_ADDRESS,
            help="Make the runs on the workers of this Dask scheduler, such as tcp://host:8786.",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1),
            help="Runs at a time on this machine; all cores if not given.",
        ),
    ):
        command = option(command)
    return command
