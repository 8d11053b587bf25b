"""One conclusion alone, decided as a reproduction decides all of a study's."""

from collections.abc import Sequence

from skycell.studies.compare import Row
from skycell.studies.findings import ConclusionResult, evaluate_all
from skycell.studies.model import Conclusion, Study


def decide(study: Study, conclusion: Conclusion, rows: Sequence[Row]) -> ConclusionResult:
    """What a conclusion of a study comes to on some rows."""
    alone = study.model_copy(update={"conclusions": (conclusion,)})
    (result,) = evaluate_all([alone], conclusion.tables, rows)
    return result
