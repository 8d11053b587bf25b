"""Reports and their figures as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from skycell.plots.files import refuse_overwriting, write_all
from skycell.plots.render_workers import DrawingFailed
from skycell.records.staging import Staging

if TYPE_CHECKING:
    from skycell.experiment.result import SweepResult
    from skycell.plots.figure import Figure
    from skycell.plots.render_workers import OnDrawn, RenderWorkers
    from skycell.records.result import RunResult
    from skycell.studies.reproduction import Reproduction
    from skycell.validation import Validation

PICTURE_FORMATS = ("svg", "pdf", "png")
"""Formats in which every figure of a study's report is also written."""


def write_study_report(
    reproduction: Reproduction,
    out_dir: Path,
    force: bool = False,
    *,
    example: bool = True,
    jobs: int | None = None,
    beside: Mapping[Path, bytes] | None = None,
    on_drawn: OnDrawn | None = None,
) -> list[Path]:
    """Writes the report of each study of a reproduction, and its figures.

    A single study goes to ``report.html`` and ``figures/`` in the folder. Several go to a folder of
    their own each, beside an ``index.html`` that leads to them.

    Args:
        reproduction: what `skycell.reproduce` gave.
        out_dir: folder to write to; made where it is missing.
        force: whether files that exist are replaced.
        example: whether one run of each study is simulated again to show it over time.
        jobs: processes that draw, at most 4; one a core if not given.
        beside: other files of the result, which are written with the report or not at all.
        on_drawn: is told how many figures are drawn, and of how many that are ordered so far.

    Returns:
        The files, each study's report before its figures, the index before all, and the others.

    Raises:
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
        OSError: a file cannot be written; then none was written.
        DrawingFailed: figures could not be drawn; all else is written, and reports say so.
    """
    from skycell.experiment.run import run_spec
    from skycell.plots.render_workers import RenderWorkers
    from skycell.report.example import planned_example
    from skycell.report.study import RunOverTime, study_figures, study_page

    studies = reproduction.studies
    folders = {study.id: out_dir if len(studies) == 1 else out_dir / study.id for study in studies}
    reports = {study.id: folders[study.id] / "report.html" for study in studies}
    index = [out_dir / "index.html"] if len(studies) > 1 else []
    beside = beside or {}
    refuse_overwriting([*index, *reports.values(), *beside], force=force)
    failed: dict[str, str] = {}
    with (
        Staging() as staging,
        RenderWorkers(jobs, on_drawn) as render_workers,
        ThreadPoolExecutor(1) as engine,
    ):
        planned = {study.id: planned_example(reproduction, study) for study in studies if example}
        # The engine hands over arrays of numpy. Loaded by its thread, numpy would be half there for
        # a while, and Altair, which looks for it in `sys.modules`, would use that half.
        import_module("numpy")
        # The engine has a thread of its own while figures are put together and drawn.
        runs = {
            name: [engine.submit(run_spec, spec, reproduction.engine) for spec in entry.specs]
            for name, entry in planned.items()
            if entry is not None
        }
        shown: dict[str, list[_Shown]] = {}
        for study in studies:
            figures = study_figures(reproduction, study.id)
            shown[study.id] = [_Shown(figures, folders[study.id] / "figures", render_workers)]
        texts: dict[str, str] = {}
        for study in studies:
            entry = planned.get(study.id)
            if entry is not None:
                found = entry.example([run.result() for run in runs.pop(study.id)])
                texts[study.id] = found.text
                first = shown[study.id][0].count
                folder = folders[study.id] / "figures"
                shown[study.id].append(_Shown(found.figures, folder, render_workers, first))
        refuse_overwriting(
            [file for parts in shown.values() for part in parts for file in part.files],
            force=force,
        )
        for path in index:
            staging.write(path, _index_page(reproduction).encode())
        for study in studies:
            own, *over_time = shown[study.id]
            run = [RunOverTime(texts[study.id], part.in_page.pictures()) for part in over_time]
            text = study_page(reproduction, study, own.in_page.pictures(), run[0] if run else None)
            staging.write(reports[study.id], text.encode())
            for part in shown.pop(study.id):
                for path, content in part.drawing.contents().items():
                    staging.write(path, content)
                failed |= part.in_page.failed | part.drawing.failed
        for path, content in beside.items():
            staging.write(path, content)
    if failed:
        raise DrawingFailed(failed)
    return staging.paths


class _Shown:
    """Figures that are drawn for a page, and into files of their own."""

    def __init__(
        self, figures: Sequence[Figure], folder: Path, render_workers: RenderWorkers, first: int = 0
    ) -> None:
        from skycell.plots.export import Drawing
        from skycell.report.page import PageFigures

        self.count = len(figures)
        self.files = _picture_files(figures, folder)
        self.in_page = PageFigures(figures, render_workers, first)
        self.drawing = Drawing(self.files, render_workers)


def write_run_report(
    result: RunResult, out: Path, force: bool = False, *, on_drawn: OnDrawn | None = None
) -> Path:
    """Writes the report of one run: its flows, ports, ledger, and figures of the traces it kept.

    Args:
        result: the run.
        out: the HTML file; its folder is made where it is missing.
        force: whether a file that exists is replaced.
        on_drawn: is told how many figures are drawn, and of how many.

    Raises:
        WouldOverwriteError: the file exists and ``force`` is not given.
        DrawingFailed: figures could not be drawn; the report is written, and says so.
    """
    from skycell.plots.render_workers import RenderWorkers
    from skycell.plots.run import figures_of_run
    from skycell.report.page import PageFigures
    from skycell.report.run import run_page

    refuse_overwriting([out], force=force)
    with RenderWorkers(on_drawn=on_drawn) as render_workers:
        in_page = PageFigures(figures_of_run(result), render_workers)
        text = run_page(result, in_page.pictures())
    (path,) = write_all({out: text.encode()}, force=force)
    if in_page.failed:
        raise DrawingFailed(in_page.failed)
    return path


def write_sweep_report(
    result: SweepResult,
    out: Path,
    force: bool = False,
    *,
    level: float = 0.9,
    figures: Path | None = None,
    beside: Mapping[Path, bytes] | None = None,
    on_drawn: OnDrawn | None = None,
) -> list[Path]:
    """Writes the report of a sweep: findings, figures and tables of each response.

    Args:
        result: what `skycell.sweep` gave.
        out: the HTML file; its folder is made where it is missing.
        force: whether files that exist are replaced.
        level: confidence of the intervals.
        figures: folder for the figures as files of their own; none are written if not given.
        beside: other files of the result, which are written with the report or not at all.
        on_drawn: is told how many figures are drawn, and of how many that are ordered so far.

    Returns:
        The report, the figures, and the others.

    Raises:
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
        OSError: a file cannot be written; then none was written.
        DrawingFailed: figures could not be drawn; all else is written, and the report says so.
    """
    from skycell.plots.export import Drawing
    from skycell.plots.render_workers import RenderWorkers
    from skycell.report.page import PageFigures
    from skycell.report.sweep import sweep_figures, sweep_page

    beside = beside or {}
    refuse_overwriting([out, *beside], force=force)
    analyses, refused, of_response = sweep_figures(result, level)
    every = [figure for own in of_response.values() for figure in own]
    files = _picture_files(every, figures) if figures is not None else {}
    refuse_overwriting(files, force=force)
    with RenderWorkers(on_drawn=on_drawn) as render_workers:
        in_page, drawing = PageFigures(every, render_workers), Drawing(files, render_workers)
        text = sweep_page(result, analyses, refused, of_response, in_page.pictures())
        contents = {out: text.encode(), **drawing.contents(), **beside}
    written = write_all(contents, force=force)
    if in_page.failed | drawing.failed:
        raise DrawingFailed(in_page.failed | drawing.failed)
    return written


def write_validation_report(
    result: Validation, out: Path, force: bool = False, *, beside: Mapping[Path, bytes]
) -> list[Path]:
    """Writes the report of a validation: each recorded number beside ours.

    Args:
        result: what `skycell.validation.validate_linux` gave.
        out: the HTML file; its folder is made where it is missing.
        force: whether files that exist are replaced.
        beside: other files of the result, which are written with the report or not at all.

    Returns:
        The files.

    Raises:
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
        OSError: a file cannot be written; then none was written.
    """
    from skycell.report.validation import validation_page

    return write_all({out: validation_page(result).encode(), **beside}, force=force)


def _picture_files(figures: Sequence[Figure], folder: Path) -> Mapping[Path, Figure]:
    return {
        folder / f"{figure.name}.{form}": figure for figure in figures for form in PICTURE_FORMATS
    }


def _index_page(reproduction: Reproduction) -> str:
    from skycell.report.page import page
    from skycell.report.study import scores, verdict

    return page(
        "index.html.j2",
        {
            "title": "Studies, run again",
            "version": reproduction.version,
            "identity": [("Engine", f"{reproduction.engine}, skycell {reproduction.version}")],
            "studies": [
                {
                    "link": f"{study.id}/report.html",
                    "title": study.title[0].upper() + study.title[1:],
                    "verdict": verdict(reproduction, study.id),
                    "scores": scores(reproduction, study),
                }
                for study in reproduction.studies
            ],
        },
    )
