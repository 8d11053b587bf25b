"""Child processes that draw: started when there is something to draw, kept until the last picture.

A child takes half a second to get its JavaScript engine going and draws its first pictures at half
the speed of later ones, so one child draws many; several draw different figures side by side.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from skycell.plots import theme
from skycell.plots.svg import renumbered

PNG_SCALE = 2
"""Pixels of a PNG per pixel of the drawing."""

MOST = 4
"""Children at a time, however many cores there are; each takes some 250 MB."""


class RenderError(RuntimeError):
    """Drawing has failed; the message is what the child process said."""


class DrawingFailed(RenderError):
    """Figures that could not be drawn.

    Attributes:
        reasons: what the child process said, by the figure's name.
    """

    def __init__(self, reasons: Mapping[str, str]) -> None:
        self.reasons = dict(reasons)
        super().__init__("\n".join(f"figure {name}: {said}" for name, said in reasons.items()))


class Painters:
    """The children of one report or command; a context manager, at whose end they are gone."""

    def __init__(self, jobs: int | None = None) -> None:
        """Makes room for children; the first order starts the first.

        Args:
            jobs: children at a time, at most `MOST`; one a core if not given.
        """
        from skycell.experiment.pool import default_jobs

        self._folder = tempfile.TemporaryDirectory(prefix="skycell-")
        self._threads = ThreadPoolExecutor(min(jobs or default_jobs(), MOST))
        self._own = threading.local()
        self.children: list[subprocess.Popen[str]] = []
        self._numbers = count()

    def __enter__(self) -> Painters:
        return self

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
        for child in self.children:
            # Nothing is under way: what was ordered is drawn, or its order was taken back.
            child.kill()
            child.communicate()
        self._folder.cleanup()

    def order(self, spec: str | None, formats: Sequence[str]) -> Future[list[bytes]]:
        """Has one figure drawn, in several formats with one layout.

        Args:
            spec: Vega-Lite as JSON.
            formats: of ``svg``, ``png`` and ``pdf``; ``js`` needs no spec and gives the script that
                draws Vega-Lite in a page.

        Returns:
            The bytes of each format in their order, once drawn; or `RenderError`.
        """
        return self._threads.submit(self._draw, spec, tuple(formats))

    def _draw(self, spec: str | None, formats: Sequence[str]) -> list[bytes]:
        child = getattr(self._own, "child", None)
        if child is None or child.process.poll() is not None:  # one that died takes none along
            child = self._own.child = _Child(
                Path(self._folder.name) / f"said-{next(self._numbers)}"
            )
            self.children.append(child.process)
        number = next(self._numbers)
        files = [Path(self._folder.name) / f"{number}.{form}" for form in formats]
        child.draw(
            {
                "spec": spec,
                "scale": PNG_SCALE,
                "files": [[form, str(file)] for form, file in zip(formats, files, strict=True)],
            }
        )
        drawn = []
        for form, file in zip(formats, files, strict=True):
            if form == "svg":
                drawn.append(renumbered(file.read_text(encoding="utf-8")).encode())
            else:
                drawn.append(file.read_bytes())
            file.unlink()
        return drawn


class _Child:
    """One child process; only one thread speaks with it."""

    def __init__(self, said: Path) -> None:
        self._said = said
        with said.open("wb") as errors:
            # The file itself, not `-m`: the child then imports nothing but vl-convert.
            self.process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("_render.py"))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
            )
        self._fonts = str(theme.FONT_DIRECTORY)

    def draw(self, order: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps({"fonts": self._fonts, **order}) + "\n")
            self.process.stdin.flush()
            answer = self.process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = self.process.wait()
            said = self._said.read_text(encoding="utf-8", errors="replace").strip()
            raise RenderError(said or f"exit code {code}")
        fault = json.loads(answer)
        if fault is not None:
            raise RenderError(fault)
