"""Figures as files: every format, offline, whole or not at all."""

import base64
import json
import os
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from skycell.plots import render_workers as module
from skycell.plots import theme
from skycell.plots.export import format_of, save
from skycell.plots.figure import Figure
from skycell.plots.files import WouldOverwriteError, write_all
from skycell.plots.page import in_script
from skycell.plots.panels import TimeRange
from skycell.plots.render_workers import DrawingFailed, RenderError, RenderWorkers, _Child
from skycell.plots.svg import inline
from skycell.plots.window import cwnd_over_time
from tests.unit.plots.browser import browse, outside_references
from tests.unit.plots.spoiling import spoil
from tests.unit.plots.traces import FLOWS, ORIGIN, SECOND, cwnd


@pytest.fixture
def children_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children as commands have them: other tests share theirs."""
    monkeypatch.setattr(module, "_Child", _Child)


@pytest.fixture(scope="module")
def figure() -> Figure:
    return cwnd_over_time(cwnd(flows=2), FLOWS, TimeRange(0, 5 * SECOND), ORIGIN)


@pytest.fixture(scope="module")
def files(figure: Figure, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same figure in every format."""
    folder = tmp_path_factory.mktemp("figures")
    paths = {form: folder / f"window.{form}" for form in ("svg", "pdf", "png", "html")}
    assert save(dict.fromkeys(paths.values(), figure)) == list(paths.values())
    return paths


@pytest.mark.parametrize(
    ("form", "magic"),
    [
        ("svg", b"<svg "),
        ("pdf", b"%PDF-1."),
        ("png", b"\x89PNG\r\n\x1a\n"),
        ("html", b"<!doctype html>"),
    ],
)
def test_each_format_begins_as_its_readers_expect(
    files: dict[str, Path], form: str, magic: bytes
) -> None:
    assert files[form].read_bytes().startswith(magic)


def test_the_pdf_carries_the_packages_font(files: dict[str, Path]) -> None:
    fonts = re.findall(rb"/FontName /[A-Z]{6}\+([\w-]+)", files["pdf"].read_bytes())
    assert set(fonts) == {b"SkycellSans-Regular", b"SkycellSans-SemiBold"}


def test_the_svg_carries_the_font_and_the_caption(files: dict[str, Path]) -> None:
    svg = files["svg"].read_text(encoding="utf-8")
    font = (theme.FONT_DIRECTORY / theme.FONT_FILES[400]).read_bytes()
    assert base64.b64encode(font).decode() in svg
    assert "Congestion window and slow-start threshold" in svg
    assert "scenario" in svg


@pytest.mark.parametrize("form", ["svg", "html"])
def test_nothing_in_the_file_refers_to_another_place(files: dict[str, Path], form: str) -> None:
    assert outside_references(files[form].read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "page",
    [
        '<script src="https://cdn.example.org/vega.js"></script>',
        '<link rel="stylesheet" href="//fonts.example.org/a.css">',
        '<p style="background: url(http://example.org/a.png)">',
        "<style>@import 'https://example.org/a.css';</style>",
        "<style>@font-face { src: url('https://example.org/a.woff') }</style>",
    ],
)
def test_a_reference_to_another_place_would_be_found(page: str) -> None:
    assert len(outside_references(page)) == 1


def test_the_page_draws_its_figure_in_a_browser_without_a_network(files: dict[str, Path]) -> None:
    visit = browse(files["html"])
    assert visit.requests == []
    assert visit.dom.count('class="mark-group role-frame root"') == 1
    assert ">cwnd</text>" in visit.dom


def test_a_request_that_leaves_the_machine_would_be_seen(tmp_path: Path) -> None:
    page = tmp_path / "leak.html"
    page.write_text('<img src="http://example.org/x.png">', encoding="utf-8")
    assert browse(page).requests == ["http://example.org/x.png"]


class Text(HTMLParser):
    """The text that a page shows, scripts and styles left out."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[str] = []
        self.hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden = tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self.hidden = False

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.shown.append(data)


def test_the_page_says_title_and_caption(files: dict[str, Path], figure: Figure) -> None:
    reader = Text()
    reader.feed(files["html"].read_text(encoding="utf-8"))
    text = " ".join(reader.shown)
    assert figure.title in text
    assert figure.caption_text() in text


def test_data_cannot_end_the_script_that_holds_it() -> None:
    assert "</script" not in in_script('{"name": "</script><b>"}')


def test_the_same_figure_gives_the_same_bytes(figure: Figure) -> None:
    spec = json.dumps(figure.spec())
    with RenderWorkers(jobs=4) as render_workers:  # of the two that lay out, one draws it twice
        drawn = [render_workers.order(spec, ["svg", "png"]) for _ in range(3)]
        assert drawn[0].result() == drawn[1].result() == drawn[2].result()


@pytest.fixture(scope="module")
def bare() -> str:
    """A figure as it is drawn for a page, with lines that end at the edge of their axes."""
    far = cwnd(flows=2).with_columns(ssthresh=1e12)
    figure = cwnd_over_time(far, FLOWS, TimeRange(0, 5 * SECOND), ORIGIN)
    with RenderWorkers() as render_workers:
        return render_workers.order(json.dumps(figure.bare_spec()), ["svg"]).result()[0].decode()


def test_a_long_label_is_cut_only_where_a_figure_says_so() -> None:
    name = "the discard of the longest frame in the longest queue"
    spec = {
        "config": theme.config(),
        "data": {"values": [{"name": name}]},
        "mark": "bar",
        "encoding": {"y": {"field": "name", "type": "nominal"}},
    }
    with RenderWorkers() as render_workers:
        svg = render_workers.order(json.dumps(spec), ["svg"]).result()[0].decode()
    assert f">{name}</text>" in svg


def test_an_inline_picture_takes_its_colours_from_the_page(bare: str) -> None:
    svg = inline(bare, name="a", description='say "hello"')
    assert theme.INK not in svg
    assert "var(--ink)" in svg
    assert theme.PALETTE[0] not in svg
    assert "var(--series-1)" in svg
    assert 'aria-label="say &quot;hello&quot;"' in svg


def test_ids_of_two_inline_pictures_do_not_meet(bare: str) -> None:
    ids = [
        set(re.findall(r'\bid="([^"]+)"', inline(bare, name=n, description="")))
        for n in ("one", "two")
    ]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])
    used = set(re.findall(r"url\(#([^)]+)\)", inline(bare, name="one", description="")))
    assert used <= ids[0]


NONSENSE = '{"$schema": "https://vega.github.io/schema/vega-lite/v6.json", "nonsense": 1}'


def test_a_picture_that_cannot_be_drawn_says_why_and_the_next_one_is_drawn(figure: Figure) -> None:
    with RenderWorkers(jobs=1) as render_workers:
        bad = render_workers.order(NONSENSE, ["svg"])
        good = render_workers.order(json.dumps(figure.bare_spec()), ["svg"])
        with pytest.raises(RenderError, match="nonsense"):
            bad.result()
        assert good.result()[0].startswith(b"<svg ")


@pytest.mark.usefixtures("children_that_end")
def test_a_painter_that_dies_is_told_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dying = tmp_path / "dying"
    dying.write_text("#!/bin/sh\necho no memory >&2\nexit 3\n", encoding="utf-8")
    dying.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(dying))
    with RenderWorkers(jobs=1) as render_workers, pytest.raises(RenderError, match=r"^no memory$"):
        render_workers.order(None, ["js"]).result()


@pytest.mark.usefixtures("children_that_end")
def test_a_painter_that_dies_takes_no_later_picture_along(figure: Figure) -> None:
    spec = json.dumps(figure.bare_spec())
    with RenderWorkers(jobs=1) as render_workers:
        render_workers.order(spec, ["svg"]).result()
        render_workers.children[0].kill()
        render_workers.children[0].wait()
        assert render_workers.order(spec, ["svg"]).result()[0].startswith(b"<svg ")
        assert len(render_workers.children) == 2


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="no list of a process's threads")
@pytest.mark.usefixtures("children_that_end")
def test_one_child_lays_out_and_another_prints(figure: Figure) -> None:
    spec = json.dumps(figure.spec())
    with RenderWorkers(jobs=2) as render_workers:
        drawn = [render_workers.order(spec, ["pdf", "svg", "png"]) for _ in range(2)]
        for pdf, svg, png in (order.result() for order in drawn):
            assert (pdf[:5], svg[:5], png[1:4]) == (b"%PDF-", b"<svg ", b"PNG")
        layouts, prints = (threads_of(child.pid) for child in render_workers.children)
        assert layouts > prints == 1  # a JavaScript engine has threads


def threads_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


@pytest.mark.usefixtures("children_that_end")
def test_a_single_child_does_both(figure: Figure) -> None:
    with RenderWorkers(jobs=1) as render_workers:
        drawn = [render_workers.order(json.dumps(figure.spec()), ["png"]) for _ in range(2)]
        assert [png[1:4] for order in drawn for png in order.result()] == [b"PNG", b"PNG"]
        assert len(render_workers.children) == 1


def test_a_figure_that_cannot_be_drawn_is_named_and_nothing_is_written(
    figure: Figure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(monkeypatch, "bad")
    bad = replace(figure, name="bad")
    with pytest.raises(DrawingFailed, match=r"^figure bad: .") as failed:
        save({tmp_path / "a.svg": figure, tmp_path / "b.svg": bad})
    assert list(failed.value.reasons) == ["bad"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("children_that_end")
def test_painters_are_gone_in_the_end() -> None:
    with RenderWorkers(jobs=1) as render_workers:
        (script,) = render_workers.order(None, ["js"]).result()
        assert b"vegaEmbed" in script
        pids = [child.pid for child in render_workers.children]
        assert len(pids) == 1
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_an_ending_that_is_no_format_is_refused_before_anything_is_drawn(figure: Figure) -> None:
    with pytest.raises(
        ValueError, match=r"^a.gif: a figure is written as one of .svg, .pdf, .png, .html$"
    ):
        save({Path("a.gif"): figure})
    assert format_of(Path("A.SVG")) == "svg"


def test_a_figure_does_not_replace_a_file_without_leave(figure: Figure, tmp_path: Path) -> None:
    path = tmp_path / "a.svg"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(WouldOverwriteError, match=r"a\.svg exists already; nothing was written"):
        save({tmp_path / "b.svg": figure, path: figure})
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]
    assert path.read_text(encoding="utf-8") == "mine"
    save({path: figure}, force=True)
    assert path.read_bytes().startswith(b"<svg ")


def test_a_write_that_fails_leaves_neither_half_a_file_nor_a_temporary_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.mkdir()  # a folder cannot be replaced by a file
    with pytest.raises(OSError, match=r"a\.txt"):
        write_all({path: b"x"}, force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_files_are_readable_for_others_as_the_mask_allows(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    (path,) = write_all({tmp_path / "new" / "a.txt": b"x"})
    assert path.stat().st_mode == plain.stat().st_mode
