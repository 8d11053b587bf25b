"""Options that the verbs of `skycell orbit` share, and what they are read as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import Command, NamedPath, set_option, table_options
from skycell.cli.results import why_unwritable
from skycell.cli.sentences import say
from skycell.cli.settings import read_settings
from skycell.cli.times import TIME

if TYPE_CHECKING:
    import polars as pl

    from skycell.orbit import Constellation, Place
    from skycell.orbit.validity import Validity

Inputs: TypeAlias = "tuple[Constellation, list[Place]]"

PLACE_HELP = "a built-in city, a place of --places, or latitude,longitude"


def common(command: Command) -> Command:
    """--places, --set and --json."""
    for option in (
        table_options(),
        set_option("Replace a value of the constellation, such as route=shortest"),
        click.option(
            "--places",
            "places_file",
            type=NamedPath(path_type=Path),
            metavar="FILE",
            help="Your own places: CSV with name, latitude_deg, longitude_deg.",
        ),
    ):
        command = option(command)
    return command


def tables(command: Command) -> Command:
    """--csv, --parquet and --force."""
    for option in (
        click.option("--force", is_flag=True, help="Replace existing files."),
        click.option(
            "--parquet",
            type=NamedPath(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Write the rows as Parquet.",
        ),
        click.option(
            "--csv",
            "csv_file",
            type=NamedPath(path_type=Path, dir_okay=False),
            metavar="FILE",
            help="Write the rows as CSV.",
        ),
    ):
        command = option(command)
    return command


def time_option(name: str, default: str, what: str) -> Callable[[Command], Command]:
    """An option that takes a time such as 10 min."""
    return click.option(name, type=TIME, default=default, show_default=True, help=what)


def validate_inputs(
    collector: ErrorCollector,
    constellation: str | None,
    settings: Sequence[str],
    names: Sequence[str],
    places_file: Path | None,
    targets: Sequence[Path | None],
    force: bool,
    usual: Sequence[str] = (),
) -> Inputs | None:
    """What a command computes from; none where that has faults, which are noted.

    Args:
        collector: takes what is wrong.
        constellation: a preset or a file; none if it could not be read.
        settings: what the command line changes of it.
        names: of places; all of the file's where there is none.
        places_file: with places of one's own.
        targets: files to write, which are tried.
        force: files that exist are replaced.
        usual: names of places where neither the call nor a file has any.
    """
    found: list[Inputs] = []
    with collector.step():
        _refuse_targets(force, targets)
    skies: list[Constellation] = []
    with collector.step():
        if constellation is not None:
            skies.append(_constellation(constellation, settings))
    with collector.step():
        own = [place for sky in skies for place in sky.own_places]
        places = _named_places(names, own, places_file, usual)
        found += [(sky, places) for sky in skies]
    return found[0] if found else None


def _constellation(name: str, settings: Sequence[str]) -> Constellation:
    """The constellation of a preset or a file, with what the command line changes."""
    from skycell.input.spelling import nearest
    from skycell.orbit import as_constellation, constellations
    from skycell.orbit.foreign import is_foreign

    if name not in constellations() and not (Path(name).is_file() or is_foreign(Path(name))):
        near = nearest(name, constellations())
        hint = f" Did you mean {near!r}?" if near else ""
        known = ", ".join(constellations())
        raise click.UsageError(
            f"{name!r} is neither a file nor a constellation.{hint} Constellations are {known}."
        )
    collector = ErrorCollector()
    values = read_settings(settings, collector.faults)
    with collector.step():
        constellation = as_constellation(name)
        if values:
            constellation = constellation.with_values(values)
    collector.refuse_if_any()
    return constellation


def _named_places(
    names: Sequence[str], of_constellation: Sequence[Place], file: Path | None, usual: Sequence[str]
) -> list[Place]:
    """The places of some names; all of the file's, or the constellation's, where none is given."""
    from skycell.orbit import find_places, read_places

    own = [*of_constellation, *(read_places(file) if file is not None else [])]
    return find_places(names or usual, own) if names or not own else own


def _refuse_targets(force: bool, files: Sequence[Path | None]) -> None:
    """Refuses files that exist or cannot be written, before anything is computed."""
    from skycell.plots.files import WouldOverwriteError, refuse_overwriting

    targets = [file for file in files if file is not None]
    twice = [file for place, file in enumerate(targets) if file in targets[:place]]
    if twice:
        raise click.UsageError(f"{twice[0]} is named for two things; each needs its own file")
    reasons = [reason for file in targets if (reason := why_unwritable(file, file.parent))]
    if reasons:
        raise click.UsageError("; ".join(reasons))
    try:
        refuse_overwriting(targets, force=force)
    except WouldOverwriteError as error:
        raise click.UsageError(f"{error}; --force replaces it") from None


def write_tables(rows: pl.DataFrame, csv_file: Path | None, parquet: Path | None) -> list[Path]:
    """Writes rows to the files that are asked for."""
    from skycell.records.files import write_parquet
    from skycell.records.staging import Staging

    with Staging() as staging:
        if csv_file is not None:
            staging.write(csv_file, rows.write_csv().encode())
        if parquet is not None:
            with staging.place(parquet) as file:
                write_parquet(rows, file)
    return staging.paths


def report_notes(validity: Validity) -> None:
    """Satellites that are left out and the like, on standard error."""
    for note in validity.notes:
        say(note, err=True)


def report_written(written: Sequence[Path]) -> None:
    """One line that names the files."""
    if written:
        say(f"Written to {' and '.join(map(str, written))}.")
