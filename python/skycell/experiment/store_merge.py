"""Several stores made one, as if one call had made all of their runs."""

from collections.abc import Sequence
from dataclasses import dataclass

from skycell.experiment.store import FINISHED, RunKey, RunStore
from skycell.input.faults import Fault, ScenarioFaults


@dataclass(frozen=True)
class Merged:
    """What a merge did.

    Attributes:
        added: finished runs that the store did not have.
        had: finished runs that it had already, or got from an earlier one of the stores.
        failed: runs of the stores without a result.
    """

    added: int
    had: int
    failed: int


def merge(into: RunStore, stores: Sequence[RunStore]) -> Merged:
    """Copies every run of some stores into another: all of them or, if it fails, none.

    A finished run takes the place of a failed one; else what is there already stays.

    Raises:
        ScenarioFaults: runs have two results; a fault for each.
        StoreError: a store is damaged, or `into` was opened to look only.
    """
    conflicts: list[Fault] = []
    added = had = failed = 0
    with into.all_or_nothing():
        for store in stores:
            for key, row in store.whole_rows():
                own = into.row(key)
                if row[3] != FINISHED:
                    failed += 1
                    if own is None:
                        into.insert_copy(row)
                elif own is None or own[3] != FINISHED:
                    added += 1
                    into.insert_copy(row)
                elif own[5] == row[5]:
                    had += 1
                else:
                    into.get(key)  # tells where it is damaged
                    conflicts.append(_conflict(key, store.path, into.path))
        if conflicts:
            raise ScenarioFaults(conflicts)
    return Merged(added, had, failed)


def _conflict(key: RunKey, place: str, into: str) -> Fault:
    return Fault(
        place,
        f"run {key.spec_hash[:12]}",
        f"another result than that of {into}, or of a store that was merged before",
        "one result of each run",
        f"engine {key.engine}, {key.version}: a run follows from these and its spec; "
        "`skycell store verify` says whether a store is whole",
    )
