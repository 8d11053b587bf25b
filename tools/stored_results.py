"""Writes the results that `skycell advise` answers from into the folders of their studies.

    python tools/stored_results.py queue|category [--study ID] [--store FILE] [--jobs N]

Finished runs come from the store. `tests/unit/studies/test_stored.py` says if a study has changed.
"""

from pathlib import Path

import click

from skycell.experiment.store import RunStore
from skycell.studies import reproduce
from skycell.studies.library import module_name
from skycell.studies.sources import SOURCES, Choice
from skycell.studies.stored import FILE, to_csv

STUDIES = Path(__file__).parents[1] / "python" / "skycell" / "studies"


@click.command()
@click.argument("choice", type=click.Choice(list(SOURCES)))
@click.option("--study", "wanted", help="One of its studies; all if not given.")
@click.option("--store", type=click.Path(path_type=Path), default=Path(".skycell/runs.sqlite"))
@click.option("--jobs", type=int, help="Processes at a time; one a core if not given.")
def main(choice: Choice, wanted: str | None, store: Path, jobs: int | None) -> None:
    """Writes the stored results of the sources of a choice."""
    sources = [source for source in SOURCES[choice] if wanted in (None, source.study)]
    if not sources:
        raise click.BadParameter(f"{wanted}: no study of this choice", param_hint="'--study'")
    for source in sources:
        with RunStore(store) as runs:
            found = reproduce(
                source.tables, store=runs, jobs=jobs, replications=source.replications or None
            )
        if found.failed_runs:
            raise click.ClickException(f"{len(found.failed_runs)} runs failed")
        file = STUDIES / module_name(source.study) / FILE
        text = to_csv(source, found.rows, found.version)
        file.write_text(text, encoding="utf-8")
        click.echo(f"{file}: {len(text.splitlines()) - 2} runs")


if __name__ == "__main__":
    main()
