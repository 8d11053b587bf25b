"""Agreement across replications: how many single ones say what the verdicts say."""

from collections.abc import Iterable
from dataclasses import dataclass

from skycell.studies.findings import ConclusionResult, RunByRun


@dataclass(frozen=True)
class Agreement:
    """Counts of verdicts by what single replications say.

    A verdict with which every single replication agrees does not hang on the draw. One with which
    some disagree would have come out otherwise had a single run been made, as most were in print.
    """

    holds_in_all: int = 0
    """Conclusions that hold for the means and in every single replication."""
    holds_in_some: int = 0
    """Those that hold for the means, but not in every single replication."""
    fails_in_some: int = 0
    """Those that do not hold for the means, but hold in at least one single replication."""
    fails_in_all: int = 0
    """Those that hold neither for the means nor in any single replication."""

    @classmethod
    def of(cls, verdicts: Iterable[tuple[bool | None, RunByRun | None]]) -> "Agreement":
        """Counts verdicts; those that are not decided, or by one replication alone, tell nothing.

        >>> Agreement.of([(True, RunByRun(5, 5)), (False, RunByRun(2, 5)), (True, RunByRun(1, 1))])
        Agreement(holds_in_all=1, holds_in_some=0, fails_in_some=1, fails_in_all=0)
        """
        decided = [
            (holds, single)
            for holds, single in verdicts
            if holds is not None and single is not None and single.of > 1
        ]
        holding = [single for holds, single in decided if holds]
        failing = [single for holds, single in decided if not holds]
        in_all = sum(single.holding == single.of for single in holding)
        in_none = sum(single.holding == 0 for single in failing)
        return cls(in_all, len(holding) - in_all, len(failing) - in_none, in_none)

    @classmethod
    def of_results(cls, results: Iterable[ConclusionResult]) -> "Agreement":
        """Counts the verdicts of some evaluated conclusions."""
        return cls.of((entry.ours_holds, entry.run_by_run) for entry in results)

    def sentence(self) -> str:
        """The counts for people; empty where there is nothing to tell.

        >>> Agreement(6, 3, 2, 3).sentence()
        'Every single replication agrees on 6 of 9 that hold and on 3 of 5 that do not.'
        >>> Agreement(holds_in_some=1).sentence()
        'Not every single replication agrees.'
        """
        holding = self.holds_in_all + self.holds_in_some
        failing = self.fails_in_some + self.fails_in_all
        if holding + failing == 1:
            agrees = self.holds_in_all + self.fails_in_all == 1
            return f"{'Every' if agrees else 'Not every'} single replication agrees."
        parts = [f"on {self.holds_in_all} of {holding} that hold"] if holding else []
        parts += [f"on {self.fails_in_all} of {failing} that do not"] if failing else []
        return f"Every single replication agrees {' and '.join(parts)}." if parts else ""
