"""Where a command's result goes: tried before the runs, written and told after them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import click

from skycell.cli.interrupts import if_interrupted
from skycell.cli.sentences import say

Kind = Literal["run", "study", "sweep", "validation"]
"""What a command makes and writes into a folder."""

#: Files by which `plot` and `report` know what a folder holds.
_KNOWN_BY: dict[Kind, tuple[str, ...]] = {
    "run": ("spec.json", "records.json"),
    "study": ("result.json",),
    "sweep": ("sweep.json",),
    "validation": ("validation.json",),
}


@dataclass
class Reported:
    """What is to be said about a result when it has been shown."""

    fault: str | None = None
    """Why it was not written, or not all of it."""


@contextmanager
def writing(out: Path, store: str | Path | None = None) -> Iterator[Reported]:
    """Turns what can go wrong with the files of a result into words: its runs are made.

    Args:
        out: their folder.
        store: where finished runs are; none if they are kept nowhere.

    Raises:
        click.BadParameter: a file has come to be there in the course of the runs.
    """
    from skycell.plots.files import WouldOverwriteError
    from skycell.plots.render_workers import DrawingFailed

    reported = Reported()
    try:
        with if_interrupted(f"the result is not written, {_kept(store)}"):
            yield reported
    except WouldOverwriteError as error:
        raise click.BadParameter(f"{error}; --force replaces it", param_hint="'--out'") from None
    except DrawingFailed as error:
        reported.fault = (
            f"Drawing failed: {error}\n"
            f"The rest was written to {shown_place(out)}; the same command with --force draws "
            f"again."
        )
    except OSError as error:
        reported.fault = (
            f"{error.filename or out}: {error.strerror or error}\n"
            "Nothing of the result was written."
        )
        if store is not None:
            reported.fault += (
                f" Finished runs are kept in {store}: the same command does not repeat them."
            )


@contextmanager
def drawing_faults(option: str = "--out") -> Iterator[None]:
    """Turns what can go wrong with figures and results into a message and an exit code.

    Args:
        option: what names the file of the figure.
    """
    from skycell.plots.export import UnknownFormatError
    from skycell.plots.figure import NothingToDrawError
    from skycell.plots.files import WouldOverwriteError
    from skycell.plots.render_workers import RenderError
    from skycell.records.reading import NotAResult

    hint = f"'{option}'"
    try:
        yield
    except (NothingToDrawError, NotAResult) as error:
        raise click.UsageError(str(error)) from None
    except UnknownFormatError as error:
        raise click.BadParameter(str(error), param_hint=hint) from None
    except WouldOverwriteError as error:
        raise click.BadParameter(f"{error}; --force replaces it", param_hint=hint) from None
    except RenderError as error:
        raise click.ClickException(f"Drawing failed: {error}") from None


def report_result(
    show: Callable[[], None],
    out: Path | None,
    fault: str | None,
    *,
    as_json: bool,
    failed: str | None = None,
    store: str | Path | None = None,
    again: str = "",
) -> None:
    """Shows a result, says where it is written, and what went wrong.

    Args:
        show: writes the result to standard output.
        out: its folder; none if it was not to be written.
        fault: why it is not there, or not all of it.
        as_json: nothing else goes to standard output.
        failed: which of its runs failed, and why.
        store: where finished runs are, as for `writing`.
        again: the command that shows a written result.

    Raises:
        click.exceptions.Exit: something went wrong; with code 1.
    """
    written = out if fault is None else None
    kept = _kept(store)
    if written is not None:
        kept = f"it is written to {shown_place(written)}"
        kept += f"; `{again}` shows it" if again else ""
    with if_interrupted(f"the result is not shown, {kept}"):
        show()
    if written is not None and not as_json:
        from skycell.cli.console import Output

        Output().say(f"Written to {shown_place(written)}.")
    wrong = [reported for reported in (fault, failed) if reported is not None]
    for reported in wrong:
        say(reported, err=True)
    if wrong:
        raise click.exceptions.Exit(1)


def _kept(store: str | Path | None) -> str:
    if store is None:
        return "nothing of the run was kept; the same command starts over"
    return f"finished runs are kept in {store}; the same command continues from there"


def shown_place(path: Path) -> str:
    """A file or folder as it was named; one that was named by dots alone by its whole path.

    >>> shown_place(Path("out/run")), shown_place(Path("/tmp/.."))
    ('out/run', '/')
    """
    return str(path.resolve() if path.name in ("", "..") else path)


def refuse_earlier_result(out: Path, kind: Kind, names: tuple[str, ...], force: bool) -> None:
    """Refuses a folder that cannot take a result, before the runs.

    Raises:
        click.BadParameter: it is a file, holds a result of another kind, or holds files of these
            names and `force` is not given.
    """
    refuse_earlier_files(out, kind, lambda: _held(out, names), force)


def refuse_unwritable(out: Path, *, is_file: bool = False) -> None:
    """Tries the place of a result out, before the runs that it is for; leaves it as it was.

    Args:
        out: a folder.
        is_file: whether it is a file instead, and its folder is what is tried.

    Raises:
        click.BadParameter: nothing can be written there.
    """
    reason = why_unwritable(out, out.parent if is_file else out)
    if reason is not None:
        raise click.BadParameter(reason, param_hint="'--out'")


def why_unwritable(out: Path, folder: Path) -> str | None:
    """Why nothing can be written to `out`, which is or lies in `folder`; none where it can."""
    from tempfile import TemporaryFile

    from skycell.records.staging import refuse_no_file

    in_the_way = _file_in_the_way(folder)
    if in_the_way is not None:
        return f"{shown_place(out)} cannot be written: {in_the_way} is a file"
    made = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
        for path in made:
            path.rmdir()
        if out != folder:
            refuse_no_file(out)
    except OSError as error:
        return f"{shown_place(out)} cannot be written: {error.strerror or error}"
    return None


def refuse_earlier_files(
    out: Path, kind: Kind, existing: Callable[[], list[str]], force: bool
) -> None:
    """Refuses a folder for a result of some kind, before it is made.

    Args:
        out: the folder.
        kind: of the result.
        existing: names of the files of an earlier one.
        force: whether they are replaced.

    Raises:
        click.BadParameter: it is a file, holds a result of another kind, or holds such files and
            `force` is not given.
    """
    in_the_way = _file_in_the_way(out)
    if in_the_way is not None:
        raise click.BadParameter(f"{in_the_way} is a file", param_hint="'--out'")
    # `force` replaces files of the same names, and those of another kind have other names.
    for other, names in _KNOWN_BY.items():
        beside = _held(out, names)
        if beside and other != kind:
            raise click.BadParameter(
                f"{shown_place(out)} holds a {other} ({', '.join(beside)}), and plot and report "
                f"would see only one of two results in a folder; --force does not replace a "
                f"{other} with a {kind}: name another folder",
                param_hint="'--out'",
            )
    earlier = existing()
    if earlier and not force:
        held = f"{shown_place(out)} holds an earlier {kind} ({', '.join(earlier)})"
        raise click.BadParameter(f"{held}; --force replaces it", param_hint="'--out'")


def _held(folder: Path, names: tuple[str, ...]) -> list[str]:
    """Those of some files that a folder has."""
    return [name for name in names if os.path.lexists(folder / name)]


def _file_in_the_way(folder: Path) -> Path | None:
    """What is no folder where a folder, or one that it lies in, would have to be."""
    # Of os.path: it says no, where Path's own would raise, of a name that is too long to exist.
    there = (p for p in (folder, *folder.parents) if os.path.exists(p))  # noqa: PTH110
    return next((p for p in there if not p.is_dir()), None)
