"""What `--shard` shows: a share of the runs that was made, and what to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from skycell.cli.sentences import say, say_json

if TYPE_CHECKING:
    from skycell.experiment.batch import Made
    from skycell.experiment.shard import Shard


def refuse_results(shard: Shard | None, **options: Any) -> None:
    """Refuses options that are about results, of which a share has none.

    Args:
        shard: as it was given; all goes without one.
        **options: values by the name of the option.

    Raises:
        click.UsageError: one was given.
    """
    names = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if shard is not None and names:
        raise click.UsageError(
            f"--shard makes runs and no results: {', '.join(names)} can be given once the stores "
            "of all shards are merged"
        )


def report_shard(made: Made, shard: Shard, store: str, as_json: bool) -> None:
    """Says what became of a share of the runs.

    Raises:
        click.exceptions.Exit: a run failed; with code 1.
    """
    from skycell.input.quantities import counted

    runs = made.from_store + made.simulated + len(made.failed)
    failed = [vars(run) for run in made.failed]
    if as_json:
        data = {
            "shard": shard.number,
            "of": shard.of,
            "runs": runs,
            "simulated": made.simulated,
            "from_store": made.from_store,
            "failed": failed,
            "store": store,
        }
        say_json(data)
    else:
        say(
            f"Shard {shard}: {counted(runs, 'run')}, {made.simulated} simulated, "
            f"{made.from_store} from the store; kept in {store}."
        )
        say(
            "Once all shards are made, `skycell store merge` brings their stores together, and the "
            "same command without --shard shows the results."
        )
    if made.failed:
        first = made.failed[0]
        say(
            f"{len(made.failed)} of {runs} runs failed, the first: {first.name}, "
            f"seed {first.seed}: {first.reason}",
            err=True,
        )
        raise click.exceptions.Exit(1)
