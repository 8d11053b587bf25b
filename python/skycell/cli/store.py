"""The store of finished runs, as a command's option."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from skycell.experiment.store import RunStore

Command = TypeVar("Command", bound=Callable[..., Any])


def store_option(command: Command) -> Command:
    """Adds `--store` to a command, as `store_path`."""
    return click.option(
        "--store",
        "store_path",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Where finished runs are kept, and looked up by the next call  "
        "[default: .skycell/runs.sqlite]",
    )(command)


@contextmanager
def open_store(path: Path | None) -> Iterator[RunStore]:
    """The store at a place, or at the usual one."""
    from skycell.experiment.store import DEFAULT_STORE, RunStore

    with RunStore(DEFAULT_STORE if path is None else path) as store:
        yield store


def refuse_earlier_result(out: Path, names: tuple[str, ...], force: bool) -> None:
    """Refuses a folder that cannot take a result, before the runs.

    Raises:
        click.BadParameter: it is a file, or holds files of these names and `force` is not given.
    """
    in_the_way = next((p for p in (out, *out.parents) if p.exists() and not p.is_dir()), None)
    if in_the_way is not None:
        raise click.BadParameter(f"{in_the_way} is a file", param_hint="'--out'")
    earlier = [name for name in names if (out / name).exists()]
    if earlier and not force:
        listed = ", ".join(earlier)
        raise click.BadParameter(
            f"{out} holds an earlier result ({listed}); --force replaces it", param_hint="'--out'"
        )
