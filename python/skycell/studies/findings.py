"""What a conclusion comes to on given numbers, and how that is found out."""

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
class ConclusionResult:
    """A conclusion, evaluated on the published numbers and on ours."""

    study: str
    id: str
    text: str
    published_holds: bool | None
    ours_holds: bool | None
    evidence: str

    def as_dict(self) -> dict[str, object]:
        """The conclusion for a program."""
        return {
            "study": self.study,
            "id": self.id,
            "text": self.text,
            "published_holds": self.published_holds,
            "ours_holds": self.ours_holds,
            "evidence": self.evidence,
        }


def evaluate(study: Study, conclusion: Conclusion, rows: Sequence[Row]) -> ConclusionResult:
    """Decides a conclusion on the published values, where there are any, and on ours."""
    test = predicate_of(study.id, conclusion.id)
    if test is None:
        missing = "the records of a run do not decide this"
        return ConclusionResult(study.id, conclusion.id, conclusion.text, None, None, missing)
    ours, measured = _decide(test, Values.ours(rows))
    if study.is_own:
        return ConclusionResult(study.id, conclusion.id, conclusion.text, None, ours, measured)
    published, printed = _decide(test, Values.printed(conclusion.tables))
    evidence = f"published: {printed}; ours: {measured}"
    return ConclusionResult(study.id, conclusion.id, conclusion.text, published, ours, evidence)


def _decide(test: Predicate, values: Values) -> tuple[bool | None, str]:
    try:
        finding = test(values)
    except MissingValueError:
        return None, "no numbers"
    return finding.holds, finding.evidence


def evaluate_all(
    studies: Iterable[Study], tables: Iterable[str], rows: Sequence[Row]
) -> list[ConclusionResult]:
    """Decides every conclusion of some studies that speaks of at least one of the tables."""
    chosen = set(tables)
    return [
        evaluate(study, conclusion, rows)
        for study in studies
        for conclusion in study.conclusions
        if chosen.intersection(conclusion.tables)
    ]
