"""Writes the results that `skycell advise` answers from into the folder of their study.

    python tools/stored_results.py queue|category [--store FILE] [--jobs N]

Finished runs come from the store. `tests/unit/studies/test_stored.py` says if a study has changed.
"""

from pathlib import Path

import click

from skycell.experiment.store import RunStore
from skycell.studies import reproduce
from skycell.studies.library import module_name
from skycell.studies.stored import FILE, SOURCES, Choice, to_csv

STUDIES = Path(__file__).parents[1] / "python" / "skycell" / "studies"


@click.command()
@click.argument("choice", type=click.Choice(list(SOURCES)))
@click.option("--store", type=click.Path(path_type=Path), default=Path(".skycell/runs.sqlite"))
@click.option("--jobs", type=int, help="Processes at a time; one a core if not given.")
def main(choice: Choice, store: Path, jobs: int | None) -> None:
    """Writes the stored results of a source."""
    source = SOURCES[choice]
    with RunStore(store) as runs:
        found = reproduce(
            source.tables, store=runs, jobs=jobs, replications=source.replications or None
        )
    if found.failed_runs:
        raise click.ClickException(f"{len(found.failed_runs)} runs failed")
    file = STUDIES / module_name(source.study) / FILE
    file.write_text(to_csv(choice, found.rows, found.version), encoding="utf-8")
    click.echo(f"{file}: {len(found.rows)} rows of tables")


if __name__ == "__main__":
    main()
