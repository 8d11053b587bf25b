"""Child processes that draw: started when there is something to draw, kept until the last picture.

A figure is laid out, which takes a JavaScript engine, and its SVG then printed as PNG and PDF,
which takes none. An engine needs half a second to get going and draws its first pictures at half
the speed of later ones; so there are children that lay out and children that print, each for many
figures, and they work side by side.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

from skycell.plots import theme
from skycell.plots.svg import renumbered

PNG_SCALE = 2
"""Pixels of a PNG per pixel of the drawing."""

PRINTED = ("png", "pdf")
"""Formats that are made of an SVG."""

MOST = 4
"""Children at a time, however many cores there are: two that lay out, of 250 MB each, and two that
print, of 50 MB."""


OnDrawn = Callable[[int, int], object]
"""Is told how many figures are drawn, and of how many that are ordered so far."""


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


class RenderWorkers:
    """The children of one report or command; a context manager, at whose end they are gone."""

    def __init__(self, jobs: int | None = None, on_drawn: OnDrawn | None = None) -> None:
        """Makes room for children; the first order starts the first.

        Args:
            jobs: children at a time, at most `MOST`; one a core if not given.
            on_drawn: called for each figure once it is drawn, from a thread of ours, never twice at
                a time.
        """
        from skycell.experiment.cores import default_jobs

        self._folder = tempfile.TemporaryDirectory(prefix="skycell-")
        children = min(jobs or default_jobs(), MOST)
        printing = children // 2
        self._layouts = ThreadPoolExecutor(children - printing)
        # A single child does both: each picture is laid out before it is printed.
        self._prints = ThreadPoolExecutor(printing) if printing else self._layouts
        self._own = threading.local()
        self.children: list[subprocess.Popen[str]] = []
        self._numbers = count()
        self._on_drawn = on_drawn
        self._telling = threading.Lock()
        self._ordered = self._drawn = 0

    def __enter__(self) -> RenderWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        for threads in (self._layouts, self._prints):
            threads.shutdown(wait=True, cancel_futures=True)
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
        self._ordered += 1
        order = self._submit(spec, formats)
        order.add_done_callback(self._report)
        return order

    def _report(self, order: Future[list[bytes]]) -> None:
        if self._on_drawn is None or order.cancelled():
            return
        with self._telling:
            self._drawn += 1
            self._on_drawn(self._drawn, self._ordered)

    def _submit(self, spec: str | None, formats: Sequence[str]) -> Future[list[bytes]]:
        if spec is None:
            return self._layouts.submit(self._draw, "", formats)
        if not set(formats).intersection(PRINTED):
            return self._layouts.submit(self._laid_out, spec, len(formats))
        layout = self._layouts.submit(self._laid_out, spec, 1)
        return self._prints.submit(self._printed, layout, formats)

    def _laid_out(self, spec: str, copies: int) -> list[bytes]:
        (svg,) = self._draw(spec, ["svg"])
        return [renumbered(svg.decode()).encode()] * copies

    def _printed(self, layout: Future[list[bytes]], formats: Sequence[str]) -> list[bytes]:
        (svg,) = layout.result()
        printed = [form for form in PRINTED if form in formats]
        drawn = dict(zip(printed, self._draw(svg.decode(), printed), strict=True))
        return [drawn.get(form, svg) for form in formats]

    def _draw(self, source: str, formats: Sequence[str]) -> list[bytes]:
        """Has this thread's child make files of a source."""
        child = getattr(self._own, "child", None)
        if child is None or child.process.poll() is not None:  # one that died takes none along
            child = self._own.child = _Child(
                Path(self._folder.name) / f"said-{next(self._numbers)}"
            )
            self.children.append(child.process)
        place = Path(self._folder.name) / str(next(self._numbers))
        files = {form: place.with_suffix(f".{form}") for form in formats}
        place.write_text(source, encoding="utf-8")
        child.draw(
            {
                "source": str(place),
                "scale": PNG_SCALE,
                "files": {form: str(file) for form, file in files.items()},
            }
        )
        drawn = [file.read_bytes() for file in files.values()]
        for file in (place, *files.values()):
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
            said = _words(self._said.read_text(encoding="utf-8", errors="replace"))
            raise RenderError(said or f"exit code {code}")
        fault = json.loads(answer)
        if fault is not None:
            raise RenderError(fault)


def _words(said: str) -> str:
    r"""What a process said as it died, on one line, without the addresses of a JavaScript engine.

    >>> _words("#\n# Fatal error: no memory\n#\n==== C stack trace ====\n libc.so.6(+0x891f5)\n")
    'Fatal error: no memory'
    """
    words = said.partition("==== C stack trace")[0]
    return " ".join(part for line in words.splitlines() if (part := line.strip("# ")))
