"""Pages with their pictures drawn, as the functions that write reports make them."""

from collections.abc import Sequence

from skycell.plots.figure import Figure
from skycell.plots.render_workers import RenderWorkers
from skycell.plots.run import figures_of_run
from skycell.records.result import RunResult
from skycell.report.page import PageFigures, Picture
from skycell.report.run import run_page


def pictures(figures: Sequence[Figure]) -> list[Picture]:
    """Figures as they stand in a page."""
    with RenderWorkers() as render_workers:
        return PageFigures(figures, render_workers).pictures()


def page_of_run(result: RunResult) -> str:
    """The report of a run."""
    return run_page(result, pictures(figures_of_run(result)))
