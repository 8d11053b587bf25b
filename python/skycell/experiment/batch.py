"""A batch of runs against a store: what it has is not made again, what ends is kept at once."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from time import sleep
from typing import Any, TypedDict

from skycell.experiment.claims import PATIENCE_S, Claims, Taken
from skycell.experiment.cluster import ClusterPool, Scheduler
from skycell.experiment.pool import Outcome, Pool, run_tasks
from skycell.experiment.processes import ProcessPool
from skycell.experiment.store import RunKey, RunStore
from skycell.experiment.tasks import Task, Text, Work, refuse_unknown_engine, simulate
from skycell.input.quantities import PS_PER_SECOND
from skycell.scenario import NetworkSpec
from skycell.spec.columns import columns_of
from skycell.spec.text import SpecText
from skycell.version import version as own_version


@dataclass(frozen=True)
class PlannedRun:
    """A run that an experiment needs.

    Attributes:
        name: what a failure is reported of.
        seed: of the run.
        spec_hash: of its spec, the seed included.
        duration_ps: simulated time.
        text: the canonical text of its spec, which its other replications share.
    """

    name: str
    seed: int
    spec_hash: str
    duration_ps: int
    text: Text
    #: File of the columns of the spec's sky, if it has one.
    columns: Path | None = None

    @classmethod
    def replications(cls, name: str, spec: NetworkSpec, seeds: Iterable[int]) -> "list[PlannedRun]":
        """Runs of one spec that differ in their seeds."""
        text, seeds = SpecText(spec.canonical_json(), spec.seed), list(seeds)
        columns = columns_of(spec)
        return [
            cls(name, seed, spec_hash, spec.duration_ps, text, columns)
            for seed, spec_hash in zip(seeds, text.hashes(seeds), strict=True)
        ]

    @classmethod
    def drawn(
        cls, name: str, spec: NetworkSpec, resolve: Callable[[int], NetworkSpec]
    ) -> "PlannedRun":
        """A run whose network its seed draws; it is resolved anew when its turn comes."""
        return cls(name, spec.seed, spec.hash(), spec.duration_ps, _DrawnText(resolve))

    def task(self, engine: str) -> Task:
        """What a worker needs to make it; of its name only the hash, which no other has."""
        text = self.text
        if isinstance(text, _DrawnText):  # to resolve takes files, which a worker may not have
            text = SpecText(text.with_seed(self.seed), self.seed)
        return Task(self.spec_hash, text, self.seed, engine, self.duration_ps, self.columns)


@dataclass(frozen=True)
class _DrawnText:
    """The texts of runs whose networks are drawn by their seeds."""

    resolve: Callable[[int], NetworkSpec]

    def with_seed(self, seed: int) -> str:
        """The text of the run with this seed."""
        return self.resolve(seed).canonical_json()


@dataclass(frozen=True)
class RunEnd:
    """How a run ended: a summary, or the reason why there is none."""

    summary: Mapping[str, Any] | None
    reason: str | None


@dataclass(frozen=True)
class Progress:
    """How far a batch is."""

    runs_done: int
    runs_to_do: int
    simulated_s: float
    """Simulated seconds, runs under way included."""
    simulated_s_to_do: float
    runs_waited_for: int = 0
    """Runs that other processes have begun."""


OnProgress = Callable[[Progress], None]


class MakeOptions(TypedDict, total=False):
    """How runs are made: parameters of `Batch.make`, for who hands them on."""

    jobs: int | None
    scheduler: Scheduler | None
    on_progress: OnProgress | None
    fresh: bool
    work: Work


_LOOK_EVERY_S = 0.2
"""Wall time between two looks at runs that other processes have taken."""


@dataclass(frozen=True)
class FailedBatchRun:
    """A run without a result, and why."""

    name: str
    seed: int
    reason: str


@dataclass(frozen=True)
class Made:
    """How the runs of a batch were come by."""

    from_store: int
    """Runs that the store had, or got from another process meanwhile."""
    simulated: int
    failed: tuple[FailedBatchRun, ...]


class MissingRunsError(LookupError):
    """Runs that were to be taken from the store are not there."""

    def __init__(self, missing: int, needed: int) -> None:
        self.missing, self.needed = missing, needed
        super().__init__(f"{missing} of {needed} runs are not in the store")


class Batch:
    """Makes runs with one engine and keeps them in one store; a context manager."""

    def __init__(
        self, store: RunStore | None = None, engine: str = "fast", version: str | None = None
    ) -> None:
        """Opens a store in memory where none is given.

        Args:
            store: where finished runs are kept and looked up.
            engine: name of the engine.
            version: part of a stored run's key; this build's if not given.
        """
        self._store = RunStore(":memory:") if store is None else store
        self._is_own = store is None
        self.engine = engine
        self.version = own_version() if version is None else version

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_own:
            self._store.close()

    def key(self, spec_hash: str) -> RunKey:
        """Under what the store keeps the run of a spec."""
        return RunKey(spec_hash, self.engine, self.version)

    def missing(self, runs: Sequence[PlannedRun]) -> list[PlannedRun]:
        """The runs that the store does not have."""
        return [run for run in runs if not self._store.is_finished(self.key(run.spec_hash))]

    def refuse_missing(self, runs: Sequence[PlannedRun]) -> None:
        """Raises `MissingRunsError` unless the store has all of some runs."""
        missing = len(self.missing(runs))
        if missing:
            raise MissingRunsError(missing, len(runs))

    def end(self, spec_hash: str) -> RunEnd:
        """How the run of a spec ended, as the store has it."""
        stored = self._store.get(self.key(spec_hash))
        return RunEnd(None, "not run") if stored is None else RunEnd(stored.summary, stored.reason)

    def make(
        self,
        runs: Sequence[PlannedRun],
        *,
        jobs: int | None = None,
        scheduler: Scheduler | None = None,
        on_progress: OnProgress | None = None,
        fresh: bool = False,
        work: Work = simulate,
        patience_s: float = PATIENCE_S,
    ) -> Made:
        """Makes the runs that the store does not have, or waits for other processes that do.

        Args:
            runs: of different specs.
            jobs: processes of this machine at a time; all cores if not given.
            scheduler: of a Dask cluster that makes them instead.
            on_progress: called as runs go on and end.
            fresh: make also what the store has, and what another process has taken.
            work: makes one run; the engine's unless a test says otherwise.
            patience_s: with another process that has taken a run and gives no sign of life.

        Raises:
            ValueError: this build does not have the engine, or both `jobs` and `scheduler` are
                given; told before any run.
            StoreError: there are runs to make, and the store was opened to look only; so too.
            ScenarioFaults: the cluster cannot be used; so too, or where a worker joins that cannot.
            PoolLostError: the scheduler is gone; finished runs are in the store.
            KeyboardInterrupt: Ctrl-C was pressed; finished runs are in the store.
        """
        if jobs is not None and scheduler is not None:
            raise ValueError(
                "jobs are of this machine and scheduler is elsewhere: give one of both"
            )
        refuse_unknown_engine(self.engine)
        to_do = list(runs) if fresh else self.missing(runs)
        if to_do:
            self._store.refuse_if_read_only()
        by_hash = {run.spec_hash: run for run in to_do}
        to_do_s = sum(run.duration_ps for run in to_do) / PS_PER_SECOND
        failed: dict[str, FailedBatchRun] = {}
        simulated: set[str] = set()
        theirs: set[str] = set()
        done: set[str] = set()
        done_ps = 0
        claims = Claims(self._store, patience_s=patience_s)

        def report(under_way: Mapping[str, int]) -> None:
            if to_do:  # else the store is only looked into
                claims.keep()
            if on_progress is not None:
                simulated_s = (done_ps + sum(under_way.values())) / PS_PER_SECOND
                waited_for = len(theirs - done)
                on_progress(Progress(len(done), len(to_do), simulated_s, to_do_s, waited_for))

        def count(run: PlannedRun) -> None:
            nonlocal done_ps
            if run.spec_hash not in done:
                done.add(run.spec_hash)
                done_ps += run.duration_ps

        def note(outcomes: Sequence[Outcome]) -> None:
            # May come twice for a run, if an interrupt came into the first time.
            self._store.put(
                (self.key(end.task.name), end.summary_json, end.reason, end.wall_s)
                for end in outcomes
            )
            for end in outcomes:
                run = by_hash[end.task.name]
                if end.reason is None:
                    simulated.add(run.spec_hash)
                else:
                    failed[run.spec_hash] = FailedBatchRun(run.name, run.seed, end.reason)
                count(run)
            report({})

        def tasks(wanted: Sequence[PlannedRun], left: list[PlannedRun]) -> Iterator[Task]:
            """Those that this process is to make; what another has is `left`."""
            for run in wanted:
                reason = self._reason(run) if run.spec_hash in theirs else None
                if reason is not None:
                    failed[run.spec_hash] = FailedBatchRun(run.name, run.seed, reason)
                    count(run)
                    report({})
                    continue
                taken = Taken.BY_US if fresh else claims.take(self.key(run.spec_hash))
                if taken is Taken.BY_US:
                    theirs.discard(run.spec_hash)
                    yield run.task(self.engine)
                elif taken is Taken.BY_ANOTHER:
                    theirs.add(run.spec_hash)
                    left.append(run)
                else:
                    count(run)
                    report({})

        try:
            report({})
            wanted = to_do
            while wanted:
                left: list[PlannedRun] = []
                ours = tasks(wanted, left)
                first = next(ours, None)
                if first is not None:
                    all_ours = chain([first], ours)
                    with _pool(jobs, scheduler, work) as pool:
                        run_tasks(all_ours, len(wanted), pool, note, on_under_way=report)
                elif left:
                    sleep(_LOOK_EVERY_S)
                    report({})
                wanted = left
        finally:
            if to_do:
                claims.release()
        had = len(runs) - len(simulated) - len(failed)
        return Made(had, len(simulated), tuple(failed.values()))

    def _reason(self, run: PlannedRun) -> str | None:
        """Why a run failed in another process; none if it did not, or is still under way."""
        stored = self._store.get(self.key(run.spec_hash))
        return None if stored is None else stored.reason


def _pool(jobs: int | None, scheduler: Scheduler | None, work: Work) -> Pool:
    return ProcessPool(jobs, work) if scheduler is None else ClusterPool(scheduler, work)
