"""Reports and their figures as files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from skycell.plots.files import refuse_overwriting, write_all

if TYPE_CHECKING:
    from skycell.plots.figure import Figure
    from skycell.records.result import RunResult
    from skycell.studies.reproduction import Reproduction
    from skycell.sweeps.result import SweepResult

PICTURE_FORMATS = ("svg", "pdf", "png")
"""Formats in which every figure of a study's report is also written."""


def write_study_report(
    reproduction: Reproduction, out_dir: Path, force: bool = False, *, example: bool = True
) -> list[Path]:
    """Writes the report of each study of a reproduction, and its figures.

    A single study goes to ``report.html`` and ``figures/`` in the folder. Several go to a folder of
    their own each, beside an ``index.html`` that leads to them.

    Args:
        reproduction: what `skycell.reproduce` gave.
        out_dir: folder to write to; made where it is missing.
        force: whether files that exist are replaced.
        example: whether one run of each study is simulated again to show it over time.

    Returns:
        The files, each study's report before its figures.

    Raises:
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
    """
    from skycell.plots.export import Drawing
    from skycell.report.example import example_run
    from skycell.report.study import study_figures, study_page

    studies = reproduction.studies
    folders = {study.id: out_dir if len(studies) == 1 else out_dir / study.id for study in studies}
    reports = [folders[study.id] / "report.html" for study in studies]
    index = [out_dir / "index.html"] if len(studies) > 1 else []
    refuse_overwriting([*index, *reports], force=force)
    written: list[Path] = []
    # Files are drawn beside the pages, which have pictures of their own to wait for.
    with ThreadPoolExecutor(1) as beside:
        ordered: list[tuple[Path, Drawing, Future[list[bytes]]]] = []
        for study, report in zip(studies, reports, strict=True):
            shown = example_run(reproduction, study) if example else None
            figures = study_figures(reproduction, study.id)
            files = _picture_files(
                [*figures, *(shown.figures if shown else ())], folders[study.id] / "figures"
            )
            refuse_overwriting(files, force=force)
            drawing = Drawing(files)
            ordered.append((report, drawing, beside.submit(drawing.draw)))
            text = study_page(reproduction, study, figures, shown)
            write_all({report: text.encode()}, force=force)
        for report, drawing, drawn in ordered:
            pictures = write_all(drawing.contents(drawn.result()), force=force)
            written += [report, *pictures]
    if index:
        text = _index_page(reproduction)
        written = [*write_all({index[0]: text.encode()}, force=force), *written]
    return written


def write_run_report(result: RunResult, out: Path, force: bool = False) -> Path:
    """Writes the report of one run: its flows, ports, ledger, and figures of the traces it kept.

    Args:
        result: the run.
        out: the HTML file; its folder is made where it is missing.
        force: whether a file that exists is replaced.

    Raises:
        WouldOverwriteError: the file exists and ``force`` is not given.
    """
    from skycell.report.run import run_page

    refuse_overwriting([out], force=force)
    (path,) = write_all({out: run_page(result).encode()}, force=force)
    return path


def write_sweep_report(
    result: SweepResult,
    out: Path,
    force: bool = False,
    *,
    level: float = 0.9,
    figures: Path | None = None,
) -> list[Path]:
    """Writes the report of a sweep: findings, figures and tables of each response.

    Args:
        result: what `skycell.sweep` gave.
        out: the HTML file; its folder is made where it is missing.
        force: whether files that exist are replaced.
        level: confidence of the intervals.
        figures: folder for the figures as files of their own; none are written if not given.

    Returns:
        The report, and the figures.

    Raises:
        WouldOverwriteError: a file exists and ``force`` is not given; then none was written.
    """
    from skycell.plots.export import save
    from skycell.report.sweep import sweep_figures, sweep_page

    refuse_overwriting([out], force=force)
    analyses, refused, drawn = sweep_figures(result, level)
    every = [figure for own in drawn.values() for figure in own]
    files = _picture_files(every, figures) if figures is not None else {}
    refuse_overwriting(files, force=force)
    text = sweep_page(result, analyses, refused, drawn)
    return [*write_all({out: text.encode()}, force=force), *save(files, force=force)]


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
