"""What a conclusion comes to on given numbers, and how that is found out.

It is asked of the published numbers, of the means of ours, which give the verdict, and of each of
our replications alone. A published table is mostly one run a case, so the last tells how far a
verdict on such a table is one of chance: in how many of our single runs we should have concluded
the same.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

from skycell.studies.compare import Row
from skycell.studies.library import STUDY_IDS, module_name
from skycell.studies.model import Conclusion, Study
from skycell.studies.values import MissingValueError, Values


@dataclass(frozen=True)
class Finding:
    """Whether a statement holds for some numbers, and the numbers that decide it."""

    holds: bool
    evidence: str


Predicate = Callable[[Values], Finding]

_PREDICATES: dict[tuple[str, str], Predicate] = {}


def decides(study: str, conclusion: str) -> Callable[[Predicate], Predicate]:
    """Registers a function as the test of a conclusion."""

    def register(predicate: Predicate) -> Predicate:
        key = (study, conclusion)
        if key in _PREDICATES:
            raise ValueError(f"conclusion {conclusion} of {study} has two tests")
        _PREDICATES[key] = predicate
        return predicate

    return register


def predicate_of(study: str, conclusion: str) -> Predicate | None:
    """The test of a conclusion; none for a statement that the records cannot decide."""
    if study in STUDY_IDS:
        import_module(f"skycell.studies.conclusions.{module_name(study)}")
    return _PREDICATES.get((study, conclusion))


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
    or no replication has them all. It says how firm the verdict is and does not change it."""
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


def _evaluate(
    study: Study, conclusion: Conclusion, ours: _Ours, chosen: set[str]
) -> ConclusionResult:
    test = predicate_of(study.id, conclusion.id)
    if test is None:
        missing = "the records of a run do not decide this"
        return ConclusionResult(study.id, conclusion.id, conclusion.text, None, None, missing)
    holds, evidence = _decide(test, ours.means)
    without = tuple(table for table in conclusion.tables if table not in chosen)
    if evidence != _NO_NUMBERS:
        without = ()
    elif without:
        evidence = f"{_NO_NUMBERS} without {', '.join(without)}"
    published = None
    if not study.is_own:
        published, printed = _decide(test, Values.printed(conclusion.tables))
        evidence = f"published: {printed}; ours: {evidence}"
    return ConclusionResult(
        study.id,
        conclusion.id,
        conclusion.text,
        published,
        holds,
        evidence,
        _run_by_run(test, ours.replications(conclusion.tables)),
        without,
    )


_NO_NUMBERS = "no numbers"


def _decide(test: Predicate, values: Values) -> tuple[bool | None, str]:
    try:
        finding = test(values)
    except MissingValueError:
        return None, _NO_NUMBERS
    except ZeroDivisionError:
        return None, "a ratio to nothing"
    return finding.holds, finding.evidence


def _run_by_run(test: Predicate, replications: Iterable[Values]) -> RunByRun | None:
    found = [_decide(test, values)[0] for values in replications]
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
