"""What a conclusion comes to on given numbers, and how that is found out.

It is asked of the published numbers, of the means of ours, which give the verdict, and of each of
our replications alone. A published table is mostly one run a case, so the last tells how far a
verdict on such a table is one of chance: in how many of our single runs we should have concluded
the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skycell.studies.cells import MissingValueError
from skycell.studies.compare import Row
from skycell.studies.criteria import Reckoning
from skycell.studies.evidence import write_evidence
from skycell.studies.model import Conclusion, Study
from skycell.studies.values import Values


@dataclass(frozen=True)
class RunByRun:
    """In how many single replications a statement holds, asked of each as of a table of its own.

    Every criterion can be asked so: where one compares with an interval, its error comes from the
    interactions of a design with one run a cell, as in print, and never from the replications.

    >>> print(RunByRun(3, 5))
    3 of 5
    """

    holding: int
    """Replications in which it holds, 0 or more."""
    of: int
    """Replications that have all of its numbers, 1 or more."""

    def __str__(self) -> str:
        return f"{self.holding} of {self.of}"


@dataclass(frozen=True)
class ConclusionResult:
    """A conclusion, evaluated on the published numbers and on ours."""

    study: str
    id: str
    text: str
    published_holds: bool | None
    ours_holds: bool | None
    """Whether it holds for the means of our replications: the verdict."""
    evidence: str
    run_by_run: RunByRun | None = None
    """In how many single replications it holds; none where the numbers are computed without a draw
    or no replication has them all. It leaves the verdict as it is."""
    without: tuple[str, ...] = ()
    """Tables that were not reproduced, for want of which it is not decided."""

    def as_dict(self) -> dict[str, object]:
        """The conclusion for a program."""
        single = self.run_by_run
        return {
            "study": self.study,
            "id": self.id,
            "text": self.text,
            "published_holds": self.published_holds,
            "ours_holds": self.ours_holds,
            "evidence": self.evidence,
            "replications_holding": single.holding if single else None,
            "replications": single.of if single else None,
        }


class _Ours:
    """Our numbers as conclusions are asked of them: the means, and each replication for itself."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.means = Values.ours(rows)
        self._drawn: dict[str, int] = {}
        for row in rows:
            made = 0 if row.is_computed else len(row.by_replication)
            self._drawn[row.table] = max(made, self._drawn.get(row.table, 0))
        most = max(self._drawn.values(), default=0)
        self._replications = [Values.of_replication(rows, place) for place in range(most)]

    def replications(self, tables: Iterable[str]) -> Sequence[Values]:
        """Each replication that one of some tables has; none if all of them are computed."""
        drawn = max((self._drawn.get(table, 0) for table in tables), default=0)
        return self._replications[:drawn]


def decide(study: Study, conclusion: Conclusion, values: Values) -> tuple[bool | None, str]:
    """Whether a conclusion of a study holds for some numbers, and the numbers that decide it.

    It is not decided, and the text says why, where the records of a run do not decide it, where a
    number is missing or something is related to nothing.

    Raises:
        CriterionError: its criterion or its evidence is faulty.
    """
    if not conclusion.holds:
        return None, "the records of a run do not decide this"
    reckoning = Reckoning(study, conclusion.names, conclusion.tables, values)
    try:
        holds = bool(reckoning.value(conclusion.holds).number)
        return holds, write_evidence(conclusion.evidence, conclusion.holds, reckoning)
    except MissingValueError:
        return None, _NO_NUMBERS
    except ZeroDivisionError:
        return None, "a ratio to nothing"


_NO_NUMBERS = "no numbers"


def _evaluate(
    study: Study, conclusion: Conclusion, ours: _Ours, chosen: set[str]
) -> ConclusionResult:
    holds, evidence = decide(study, conclusion, ours.means)
    without = tuple(table for table in conclusion.tables if table not in chosen)
    if evidence != _NO_NUMBERS:
        without = ()
    elif without:
        evidence = f"{_NO_NUMBERS} without {', '.join(without)}"
    published = None
    if not study.is_own and conclusion.holds:
        published, printed = decide(study, conclusion, Values.printed(conclusion.tables))
        evidence = f"published: {printed}; ours: {evidence}"
    return ConclusionResult(
        study.id,
        conclusion.id,
        conclusion.text,
        published,
        holds,
        evidence,
        _run_by_run(study, conclusion, ours.replications(conclusion.tables)),
        without,
    )


def _run_by_run(
    study: Study, conclusion: Conclusion, replications: Iterable[Values]
) -> RunByRun | None:
    found = [decide(study, conclusion, values)[0] for values in replications]
    decided = [holds for holds in found if holds is not None]
    return RunByRun(sum(decided), len(decided)) if decided else None


def evaluate_all(
    studies: Iterable[Study], tables: Iterable[str], rows: Sequence[Row]
) -> list[ConclusionResult]:
    """Decides every conclusion of some studies that speaks of at least one of the tables."""
    chosen = set(tables)
    ours = _Ours(rows)
    return [
        _evaluate(study, conclusion, ours, chosen)
        for study in studies
        for conclusion in study.conclusions
        if chosen.intersection(conclusion.tables)
    ]
