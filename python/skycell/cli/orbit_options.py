"""Options that the verbs of `skycell orbit` share, and what they are read as."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, latex_option, set_option, table_json_option
from skycell.cli.results import why_unwritable
from skycell.cli.sentences import say
from skycell.cli.settings import read_settings
from skycell.cli.times import TIME
from skycell.cli.verb import Call, Options, option

if TYPE_CHECKING:
    import polars as pl

    from skycell.orbit import Constellation, Place
    from skycell.orbit.validity import Validity

Inputs: TypeAlias = "tuple[Constellation, list[Place]]"

PLACE_HELP = "a built-in city, a place of --places, or latitude,longitude"


def time_option(name: str, default: str, what: str) -> Any:
    """An option that takes a time such as 10 min."""
    return option(name, type=TIME, default=default, show_default=True, help=what)


class TableFiles(Options):
    """Files that get the rows."""

    csv_file: Path | None = option(
        "--csv",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the rows as CSV.",
    )
    parquet: Path | None = option(
        "--parquet",
        type=NamedPath(path_type=Path, dir_okay=False),
        metavar="FILE",
        help="Write the rows as Parquet.",
    )
    force: bool = option("--force", is_flag=True, help="Replace existing files.")

    def write(self, rows: pl.DataFrame) -> list[Path]:
        """Writes rows to the files that are asked for."""
        from skycell.records.files import write_parquet
        from skycell.records.staging import Staging

        with Staging() as staging:
            if self.csv_file is not None:
                staging.write(self.csv_file, rows.write_csv().encode())
            if self.parquet is not None:
                with staging.place(self.parquet) as file:
                    write_parquet(rows, file)
        return staging.paths


class OrbitOptions(Options):
    """What all verbs that compute have."""

    places_file: Path | None = option(
        "--places",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Your own places: CSV with name, latitude_deg, longitude_deg; or a built-in list: "
        "cities-100 or cities-1000.",
    )
    settings: tuple[str, ...] = set_option(
        "Replace a value of the constellation, such as route=shortest"
    )
    as_json: bool = table_json_option()
    as_latex: bool = latex_option()


class OrbitCall(Call):
    """A call that computes something of a constellation above places."""

    constellation: str
    files: TableFiles
    common: OrbitOptions

    @property
    def figure_file(self) -> Path | None:
        """The file of a figure, if one is drawn."""
        return None

    def inputs(
        self,
        collector: ErrorCollector,
        names: Sequence[str],
        usual: Sequence[str] = (),
        with_lists: bool = False,
    ) -> Inputs | None:
        """What the verb computes from; none where that has faults, which are noted.

        Args:
            collector: takes what is wrong.
            names: of places; all of the file's where there is none.
            usual: names of places where neither the call nor a file has any.
            with_lists: whether a name may be that of a built-in list.
        """
        with collector.step():
            _refuse_targets(
                self.files.force, [self.files.csv_file, self.files.parquet, self.figure_file]
            )
        sky = collector.read(lambda: _constellation(self.constellation, self.common.settings))
        own = [] if sky is None else sky.own_places
        file = self.common.places_file
        places = collector.read(lambda: _named_places(names, own, file, usual, with_lists))
        return None if sky is None or places is None else (sky, places)


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
    names: Sequence[str],
    of_constellation: Sequence[Place],
    file: Path | None,
    usual: Sequence[str],
    with_lists: bool,
) -> list[Place]:
    """The places of some names; all of the file's, or the constellation's, where none is given."""
    from skycell.orbit import find_places, read_places

    own = [*of_constellation, *(read_places(file) if file is not None else [])]
    if names or not own:
        return find_places(names or usual, own, with_lists=with_lists)
    return own


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


def report_notes(validity: Validity) -> None:
    """Satellites that are left out and the like, on standard error."""
    for note in validity.notes:
        say(note, err=True)


def report_written(written: Sequence[Path]) -> None:
    """One line that names the files."""
    if written:
        say(f"Written to {' and '.join(map(str, written))}.")
