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
from skycell.cli.verb import Call, Verb, argument, option

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
)
def store() -> None:
    """Check a store of runs, merge several, or save what is whole of a damaged one.

    A store is the file in which `skycell sweep` and `skycell reproduce` keep finished runs.
    """


def _refuse_missing(file: Path | None, name: str = "'FILE'") -> None:
    """Refuses a store that is not there; of none, the usual one.

    Raises:
        click.BadParameter: there is no such file.
    """
    from skycell.experiment.store import DEFAULT_STORE

    if not os.path.lexists(file or DEFAULT_STORE):
        raise click.BadParameter(f"{file or DEFAULT_STORE} does not exist", param_hint=name)


class Verify(Call):
    """Check every run of the store FILE against its checksum, and the file as a whole.

    FILE is .skycell/runs.sqlite if not given. It is only read. Runs that a version before 0.2 kept
    have no checksum until a command writes into their store; of these the form is checked.

    Exits with 0 if all is well, with 2 if something is damaged.
    """

    file: Path | None = argument(required=False, metavar="[FILE]", type=NamedPath(path_type=Path))
    as_json: bool = json_option()

    def check(self, collector: ErrorCollector) -> None:
        with collector.step():
            _refuse_missing(self.file)

    def run(self, _: None) -> None:
        from skycell.experiment.store import DEFAULT_STORE, RunStore
        from skycell.experiment.store_check import verify as check

        with RunStore(self.file or DEFAULT_STORE, read_only=True) as opened:
            found = check(opened)
        way_out = (
            "`skycell store rescue FILE NEW` copies the runs that are whole into a new store; the "
            "others are simulated again."
        )
        _show(opened, found, "holds", way_out, self.as_json)
        raise click.exceptions.Exit(0 if found.is_whole else 2)


store.add_command(
    Verb(
        Verify,
        "skycell store verify",
        "skycell store verify results/runs.sqlite --json",
        short_help="Check every run of a store.",
    )
)


class Rescue(Call):
    """Copy the runs of the store FILE that are whole into the new store NEW.

    FILE stays as it is. What NEW does not have is simulated again when it is asked for.

    Exits with 0, or with 2 if the input is faulty.
    """

    file: Path = argument(metavar="FILE", type=NamedPath(path_type=Path))
    into: Path = argument(metavar="NEW", type=NamedPath(path_type=Path))
    as_json: bool = json_option()

    def check(self, collector: ErrorCollector) -> None:
        with collector.step():
            _refuse_missing(self.file)
        with collector.step():
            if os.path.lexists(self.into):
                raise click.BadParameter(
                    f"{self.into} exists; name a new file, to which the runs are copied",
                    param_hint="'NEW'",
                )
        with collector.step():
            if reason := why_unwritable(self.into, self.into.parent):
                raise click.BadParameter(reason, param_hint="'NEW'")

    def run(self, _: None) -> None:
        from skycell.experiment.store import RunStore
        from skycell.experiment.store_check import rescue as copy

        with RunStore(self.file, read_only=True, rescue=True) as opened, RunStore(self.into) as new:
            found = copy(opened, new)
        _show(new, found, "has got", "What is damaged was not copied.", self.as_json)


store.add_command(
    Verb(
        Rescue,
        "skycell store rescue .skycell/runs.sqlite rescued.sqlite",
        short_help="Copy the runs that are whole into a new store.",
    )
)


class Get(Call):
    """Show the runs whose spec has this HASH, or one that begins so, from the store FILE.

    FILE is .skycell/runs.sqlite if not given. There are several runs of one spec if several engines
    or versions have made it.

    Exits with 0, or with 2 if there is no such run or the input is faulty.
    """

    spec_hash: str = argument(metavar="HASH")
    file: Path | None = argument(required=False, metavar="[FILE]", type=NamedPath(path_type=Path))
    as_json: bool = json_option("Write all that is kept of the run as one JSON object.")

    def check(self, collector: ErrorCollector) -> None:
        with collector.step():
            _refuse_missing(self.file)
        with collector.step():
            if not re.fullmatch(r"[0-9a-f]{6,64}", self.spec_hash):
                raise click.BadParameter(
                    f"{self.spec_hash!r}: must be the first 6 to 64 digits of a spec's hash, as "
                    "runs.csv and the captions of figures have it",
                    param_hint="'HASH'",
                )

    def run(self, _: None) -> None:
        from skycell.experiment.store import DEFAULT_STORE, RunStore
        from skycell.input.faults import MOST_SHOWN

        with RunStore(self.file or DEFAULT_STORE, read_only=True) as opened:
            runs = opened.found(self.spec_hash, MOST_SHOWN + 1)
        if not runs:
            raise click.BadParameter(
                f"{opened.path} has no run of a spec whose hash begins with {self.spec_hash}",
                param_hint="'HASH'",
            )
        if len({run.key.spec_hash for run in runs}) > 1:
            hashes = ", ".join(dict.fromkeys(run.key.spec_hash[:12] for run in runs[:MOST_SHOWN]))
            raise click.BadParameter(
                f"{self.spec_hash} begins the hashes of several specs: {hashes}; give more digits",
                param_hint="'HASH'",
            )
        if self.as_json:
            say_json([_as_dict(run) for run in runs])
            return
        for run in runs:
            say(_in_words(run))


store.add_command(
    Verb(
        Get,
        "skycell store get 3f9a12cd77aa",
        "skycell store get 3f9a12cd77aa results/runs.sqlite --json",
        short_help="Show a run by the hash of its spec.",
    )
)


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


class Merge(Call):
    """Copy every run of the stores FILE... into one store, all of them or none.

    The commands of shards have each a store; with these merged, the same command without --shard
    shows what one call on one machine would have shown, to the octet. A run that two stores have
    with different results is a fault.

    Exits with 0, or with 2 if a store is faulty.
    """

    files: tuple[Path, ...] = argument(
        metavar="FILE...", nargs=-1, required=True, type=NamedPath(path_type=Path)
    )
    into: Path | None = option(
        "--into",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="Store that gets the runs; made if it is not there.  [default: .skycell/runs.sqlite]",
    )
    as_json: bool = json_option()

    def check(self, collector: ErrorCollector) -> None:
        with collector.step():
            for file in self.files:
                with collector.step():
                    _refuse_missing(file, "'FILE...'")
                    refuse_unfit_store(file, to_look=True, option="'FILE...'")
        with collector.step():
            refuse_unfit_store(self.into, option="'--into'")

    def run(self, _: None) -> None:
        from contextlib import ExitStack

        from skycell.experiment.store import RunStore
        from skycell.experiment.store_merge import merge as copy
        from skycell.input.quantities import counted

        with open_store(self.into) as store, ExitStack() as opened:
            stores = [opened.enter_context(RunStore(file, read_only=True)) for file in self.files]
            found = copy(store, stores)
            runs = len(store)
        if self.as_json:
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
            f"{store.path} has got {counted(found.added, 'run')} of "
            f"{counted(len(self.files), 'store')}, and had {found.had} of theirs already{failed}: "
            f"{counted(runs, 'finished run')} in all."
        )


store.add_command(
    Verb(
        Merge,
        "skycell store merge shard1.sqlite shard2.sqlite",
        "skycell store merge shards/*.sqlite --into all.sqlite --json",
        short_help="Bring the runs of several stores together.",
    )
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
