"""Where a command's runs are kept, and `skycell store`, which looks after such a place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, json_option
from skycell.cli.results import why_unwritable
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.experiment.store import RunStore, StoredRun
    from skycell.experiment.store_check import Verification


@contextmanager
def open_store(path: Path | None) -> Iterator[RunStore]:
    """The store at a place, or at the usual one."""
    from skycell.experiment.store import DEFAULT_STORE, RunStore

    with RunStore(DEFAULT_STORE if path is None else path) as store:
        yield store


@contextmanager
def look_into_store(path: Path | None) -> Iterator[RunStore]:
    """The store at a place, or at the usual one, only looked into; where none is, none is made."""
    from skycell.experiment.store import DEFAULT_STORE, RunStore

    place = DEFAULT_STORE if path is None else path
    is_there = os.path.lexists(place)
    with RunStore(place, read_only=True) if is_there else RunStore(":memory:") as store:
        yield store


def refuse_unfit_store(
    path: Path | None, *, to_look: bool = False, option: str = "'--store'"
) -> None:
    """Tries a store out before it is needed; leaves its place as it was.

    Args:
        path: its place; the usual one if none.
        to_look: it will only be looked into.
        option: what names it.

    Raises:
        click.UsageError: it cannot be opened.
    """
    from skycell.experiment.store import DEFAULT_STORE, StoreError

    place = DEFAULT_STORE if path is None else path
    # That a folder is none, the store tells itself.
    is_checked = not to_look and not os.path.isdir(place)  # noqa: PTH112 - see `_file_in_the_way`
    reason = why_unwritable(place, place.parent) if is_checked else None
    try:
        if to_look:
            with look_into_store(path):
                pass
        elif reason is None and _holds_something(place):
            with open_store(path):
                pass
    except StoreError as error:
        reason = str(error)
    if reason is None:
        return
    if path is None:
        raise click.UsageError(reason)
    raise click.BadParameter(reason, param_hint=option)


def _holds_something(place: Path) -> bool:
    try:
        return place.is_dir() or place.stat().st_size > 0
    except OSError:
        return False


@click.group(
    epilog="\b\nExample:  skycell store verify",
    short_help="Check, merge or rescue stores of runs.",
)
def store() -> None:
    """Check a store of runs, merge several, or save what is whole of a damaged one.

    A store is the file in which `skycell sweep` and `skycell reproduce` keep finished runs.
    """


def _validate(collector: ErrorCollector, file: Path | None, **_: object) -> None:
    from skycell.experiment.store import DEFAULT_STORE

    with collector.step():
        if not os.path.lexists(file or DEFAULT_STORE):
            raise click.BadParameter(f"{file or DEFAULT_STORE} does not exist", param_hint="'FILE'")


@store.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell store verify\n"
    "  skycell store verify results/runs.sqlite --json",
    short_help="Check every run of a store.",
)
@click.argument("file", required=False, metavar="[FILE]", type=NamedPath(path_type=Path))
@json_option()
@click.pass_context
def verify(ctx: click.Context, file: Path | None, as_json: bool) -> None:
    """Check every run of the store FILE against its checksum, and the file as a whole.

    FILE is .skycell/runs.sqlite if not given. It is only read. Runs that a version before 0.2 kept
    have no checksum until a command writes into their store; of these the form is checked.

    Exits with 0 if all is well, with 2 if something is damaged.
    """
    from skycell.experiment.store import DEFAULT_STORE, RunStore
    from skycell.experiment.store_check import verify as check

    validated(_validate)
    with RunStore(file or DEFAULT_STORE, read_only=True) as opened:
        found = check(opened)
    way_out = (
        "`skycell store rescue FILE NEW` copies the runs that are whole into a new store; the "
        "others are simulated again."
    )
    _show(opened, found, "holds", way_out, as_json)
    ctx.exit(0 if found.is_whole else 2)


def _validate_rescue(
    collector: ErrorCollector, file: Path | None, into: Path | None, **_: object
) -> None:
    if file is not None:
        _validate(collector, file)
    with collector.step():
        if into is not None and os.path.lexists(into):
            raise click.BadParameter(
                f"{into} exists; name a new file, to which the runs are copied", param_hint="'NEW'"
            )
    with collector.step():
        if into is not None and (reason := why_unwritable(into, into.parent)):
            raise click.BadParameter(reason, param_hint="'NEW'")


@store.command(
    cls=Verb,
    validate=_validate_rescue,
    epilog="\b\nExample:  skycell store rescue .skycell/runs.sqlite rescued.sqlite",
    short_help="Copy the runs that are whole into a new store.",
)
@click.argument("file", metavar="FILE", type=NamedPath(path_type=Path))
@click.argument("into", metavar="NEW", type=NamedPath(path_type=Path))
@json_option()
def rescue(file: Path, into: Path, as_json: bool) -> None:
    """Copy the runs of the store FILE that are whole into the new store NEW.

    FILE stays as it is. What NEW does not have is simulated again when it is asked for.

    Exits with 0, or with 2 if the input is faulty.
    """
    from skycell.experiment.store import RunStore
    from skycell.experiment.store_check import rescue as copy

    validated(_validate_rescue)
    with RunStore(file, read_only=True, rescue=True) as opened, RunStore(into) as new:
        found = copy(opened, new)
    _show(new, found, "has got", "What is damaged was not copied.", as_json)


def _validate_get(
    collector: ErrorCollector, spec_hash: str | None, file: Path | None, **_: object
) -> None:
    _validate(collector, file)
    with collector.step():
        if spec_hash is not None and not re.fullmatch(r"[0-9a-f]{6,64}", spec_hash):
            raise click.BadParameter(
                f"{spec_hash!r}: must be the first 6 to 64 digits of a spec's hash, as runs.csv "
                "and the captions of figures have it",
                param_hint="'HASH'",
            )


@store.command(
    cls=Verb,
    validate=_validate_get,
    epilog="\b\nExamples:\n"
    "  skycell store get 3f9a12cd77aa\n"
    "  skycell store get 3f9a12cd77aa results/runs.sqlite --json",
    short_help="Show a run by the hash of its spec.",
)
@click.argument("spec_hash", metavar="HASH")
@click.argument("file", required=False, metavar="[FILE]", type=NamedPath(path_type=Path))
@json_option("Write all that is kept of the run as one JSON object.")
def get(spec_hash: str, file: Path | None, as_json: bool) -> None:
    """Show the runs whose spec has this HASH, or one that begins so, from the store FILE.

    FILE is .skycell/runs.sqlite if not given. There are several runs of one spec if several engines
    or versions have made it.

    Exits with 0, or with 2 if there is no such run or the input is faulty.
    """
    from skycell.experiment.store import DEFAULT_STORE, RunStore
    from skycell.input.faults import MOST_SHOWN

    validated(_validate_get)
    with RunStore(file or DEFAULT_STORE, read_only=True) as opened:
        runs = opened.found(spec_hash, MOST_SHOWN + 1)
    if not runs:
        raise click.BadParameter(
            f"{opened.path} has no run of a spec whose hash begins with {spec_hash}",
            param_hint="'HASH'",
        )
    if len({run.key.spec_hash for run in runs}) > 1:
        hashes = ", ".join(dict.fromkeys(run.key.spec_hash[:12] for run in runs[:MOST_SHOWN]))
        raise click.BadParameter(
            f"{spec_hash} begins the hashes of several specs: {hashes}; give more digits",
            param_hint="'HASH'",
        )
    if as_json:
        say_json([_as_dict(run) for run in runs])
        return
    for run in runs:
        say(_in_words(run))


def _as_dict(run: StoredRun) -> dict[str, Any]:
    end = {"summary": run.summary} if run.reason is None else {"reason": run.reason}
    return {**vars(run.key), "wall_s": run.wall_s, **end}


def _in_words(run: StoredRun) -> str:
    from skycell.input.quantities import PS_PER_SECOND
    from skycell.records.result import simulated

    key = run.key
    lines = [f"{key.spec_hash}, engine {key.engine}, {key.version}: took {run.wall_s:.3g} s"]
    if run.summary is None:
        lines.append(f"  failed: {run.reason}")
    else:
        seconds = run.summary["duration_ps"] / PS_PER_SECOND
        lines.append(f"  {simulated(run.summary)}")
        lines += [
            f"  {flow['name']}: {flow['octets_delivered'] * 8 / seconds / 1e6:.2f} Mbit/s, "
            f"{flow['timeouts']} timeouts"
            for flow in run.summary["flows"]
        ]
    return "\n".join(lines)


def _validate_merge(
    collector: ErrorCollector, files: tuple[Path, ...] | None, into: Path | None, **_: object
) -> None:
    for file in files or ():
        with collector.step():
            if not os.path.lexists(file):
                raise click.BadParameter(f"{file} does not exist", param_hint="'FILE...'")
            refuse_unfit_store(file, to_look=True, option="'FILE...'")
    with collector.step():
        refuse_unfit_store(into, option="'--into'")


@store.command(
    cls=Verb,
    validate=_validate_merge,
    epilog="\b\nExamples:\n"
    "  skycell store merge shard1.sqlite shard2.sqlite\n"
    "  skycell store merge shards/*.sqlite --into all.sqlite --json",
    short_help="Bring the runs of several stores together.",
)
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=NamedPath(path_type=Path))
@click.option(
    "--into",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Store that gets the runs; made if it is not there.  [default: .skycell/runs.sqlite]",
)
@json_option()
def merge(files: tuple[Path, ...], into: Path | None, as_json: bool) -> None:
    """Copy every run of the stores FILE... into one store, all of them or none.

    The commands of shards have each a store; with these merged, the same command without --shard
    shows what one call on one machine would have shown, to the octet. A run that two stores have
    with different results is a fault.

    Exits with 0, or with 2 if a store is faulty.
    """
    from contextlib import ExitStack

    from skycell.experiment.store import RunStore
    from skycell.experiment.store_merge import merge as copy
    from skycell.input.quantities import counted

    validated(_validate_merge)
    with open_store(into) as store, ExitStack() as opened:
        stores = [opened.enter_context(RunStore(file, read_only=True)) for file in files]
        found = copy(store, stores)
        runs = len(store)
    if as_json:
        data = {
            "store": store.path,
            "added": found.added,
            "had": found.had,
            "failed": found.failed,
            "finished": runs,
        }
        say_json(data)
        return
    failed = f"; {counted(found.failed, 'failed one')} to be made again" if found.failed else ""
    say(
        f"{store.path} has got {counted(found.added, 'run')} of {counted(len(files), 'store')}, "
        f"and had {found.had} of theirs already{failed}: {counted(runs, 'finished run')} in all."
    )


def _show(shown: RunStore, found: Verification, has: str, remark: str, as_json: bool) -> None:
    """What was found in a store; `remark` where something is damaged."""
    from skycell.input.faults import MOST_SHOWN
    from skycell.input.quantities import counted

    hidden = max(0, len(found.damaged) - MOST_SHOWN)
    if as_json:
        data = {
            "store": shown.path,
            "form": shown.form,
            "finished": found.finished,
            "failed": found.failed,
            "damaged": found.damaged[:MOST_SHOWN],
            "damaged_in_all": len(found.damaged),
            "unreadable": found.unreadable,
        }
        say_json(data)
        return
    runs = f"{counted(found.finished, 'finished run')}, {counted(found.failed, 'failed one')}"
    no_sums = "; without checksums, as before version 0.2" if shown.form == 1 else ""
    say(f"{shown.path} {has} {runs}{no_sums}")
    for damage in found.damaged[:MOST_SHOWN]:
        say(f"Damaged: {damage}.", err=True)
    if hidden:
        say(f"and {counted(hidden, 'more damaged run')}", err=True)
    if found.unreadable is not None:
        say(f"Not all can be read: {found.unreadable}.", err=True)
    if not found.is_whole:
        say(remark, err=True)
