"""The workbench in a real browser: sliders, faults in place, comparison, keyboard, contrast."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

playwright = pytest.importorskip("playwright.sync_api")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")

#: Nothing of a browser that looks for its maker's hosts.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SMALL = """run.duration = "10 s"
tcp = { preset = "rfc" }

[topology]
kind = "dumbbell"
sources = 2
bottleneck = { rate = "10 Mbit/s", framing = "ip", delay = "20 ms", buffer = "1 BDP" }
access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("course")
    (folder / "small.toml").write_text(SMALL)
    call = [sys.executable, "-m", "skycell", "lab", str(folder), "--no-browser"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as lab:
        assert lab.stdout is not None
        yield lab.stdout.readline().strip()
        lab.terminate()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield found
        found.close()


@pytest.fixture
def page(address: str, browser: Any) -> Iterator[Any]:
    found = browser.new_page(viewport={"width": 1300, "height": 900})
    wrong: list[str] = []
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("console", lambda text: wrong.extend([text.text] * (text.type == "error")))
    own = ("http://127.0.0.1:", "data:", "blob:")
    found.on("request", lambda asked: wrong.extend([asked.url] * (not asked.url.startswith(own))))
    found.goto(address)
    drawn(found)
    yield found
    found.close()
    assert wrong == []


def drawn(page: Any) -> str:
    page.wait_for_function("document.body.dataset.drawn", timeout=60_000)
    runs: str = page.evaluate("document.body.dataset.drawn")
    page.evaluate("delete document.body.dataset.drawn")
    return runs


def open_small(page: Any) -> None:
    page.select_option("#files", "small.toml")
    page.wait_for_function("document.querySelector('#text').value.includes('10 Mbit/s')")
    page.wait_for_function("document.querySelector('#faults').textContent.includes('can be run')")


def test_a_slider_changes_the_text_and_the_picture(page: Any) -> None:
    open_small(page)
    page.wait_for_selector("#sliders label:has-text('bottleneck.rate'):has-text('10 Mbit/s')")
    slider = page.locator("#sliders label:has-text('bottleneck.rate') input")
    slider.evaluate("it => { it.value = 0.3; it.dispatchEvent(new Event('input')) }")
    drawn(page)
    assert 'rate = "20 Mbit/s"' in page.input_value("#text")
    assert page.locator("#picture svg.marks").count() == 1
    throughput = float(page.locator("#runs tbody tr").last.locator("td").nth(2).inner_text())
    assert 15 < throughput < 20  # Mbit/s, nearly all of it


def test_faults_stand_at_their_line_and_nothing_runs(page: Any) -> None:
    open_small(page)
    page.fill("#text", SMALL.replace("10 Mbit/s", "10 Mbits"))
    page.wait_for_selector("#lines .bad")
    assert page.locator("#lines .bad").inner_text() == "7"
    assert "topology.bottleneck.rate" in page.locator("#faults").inner_text()
    page.locator("#faults button").first.press("Enter")
    at = page.evaluate("document.querySelector('#text').selectionStart")
    assert SMALL[:at].count("\n") == 6


def test_two_runs_are_compared_side_by_side(page: Any) -> None:
    open_small(page)
    page.locator("#text").press("Control+Enter")
    first = drawn(page)
    page.fill("#text", SMALL.replace("1 BDP", "4 BDP"))
    page.click("#run")
    second = drawn(page)
    assert first != second
    page.get_by_label(f"show run {first}", exact=True).check()
    assert drawn(page) == f"{second},{first}"
    legend = page.locator("#picture svg.marks").text_content()
    assert f"{first}: small" in legend
    assert f"{second}: small" in legend


def test_an_exercise_is_graded(page: Any) -> None:
    page.select_option("#exercises", "recovery")
    question = page.locator(".question").first
    question.locator("select").select_option("reno")
    question.locator("button").click()
    page.wait_for_selector(".question .wrong", timeout=60_000)
    question.locator("select").select_option("sack")
    question.locator("button").press("Enter")
    page.wait_for_selector(".question .right", timeout=60_000)


def test_everything_is_reached_by_keyboard_and_can_be_read(page: Any) -> None:
    page.locator("#files").focus()
    reached = []
    for _ in range(40):
        reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
        page.keyboard.press("Tab")
    assert {"files", "exercises", "name", "save", "text", "run"} <= set(reached)
    # WCAG 2.1: 4.5 : 1 for text of this size.
    ratios = page.evaluate(
        """() => {
          const light = colour => { const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3)
            .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
          const behind = node => { const own = getComputedStyle(node).backgroundColor;
            return own.endsWith(", 0)") && node.parentElement ? behind(node.parentElement) : own; };
          return ["h1", "#about", "#text", "#run", "#faults", "#help", ".hint", "caption", "th"]
            .map(name => document.querySelector(name)).map(node => {
              const [a, b] = [light(getComputedStyle(node).color), light(behind(node))];
              return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); });
        }"""
    )
    assert min(ratios) >= 4.5, ratios


def test_a_small_screen_shows_all_without_scrolling_sideways(page: Any) -> None:
    open_small(page)
    page.locator("#text").press("Control+Enter")
    first = drawn(page)
    page.click("#run")
    drawn(page)
    page.get_by_label(f"show run {first}", exact=True).check()
    drawn(page)
    page.set_viewport_size({"width": 400, "height": 800})
    drawn(page)
    wide = page.evaluate(
        """() => [...document.querySelectorAll("body *")]
          .filter(node => node.getBoundingClientRect().right > 400 || node.scrollWidth > 400)
          .map(node => node.id || node.tagName)"""
    )
    assert wide == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    # Each value of a run stands beside its name.
    cell = page.locator("#runs tbody tr").last.locator("td").nth(2)
    shown = cell.evaluate("node => getComputedStyle(node, '::before').content")
    assert shown == '"throughput (Mbit/s)"'
    # The text wraps, and each number stands at its line.
    text = page.locator("#text")
    assert text.evaluate("node => node.scrollWidth <= node.clientWidth")
    line = text.evaluate("node => parseFloat(getComputedStyle(node).lineHeight)")
    heights = page.locator("#lines span").evaluate_all(
        "all => all.map(node => node.getBoundingClientRect().height)"
    )
    assert heights[0] == pytest.approx(line, abs=1)
    assert heights[6] >= 2 * line - 1  # the bottleneck
    whole = text.evaluate("node => node.scrollHeight - 16")
    visible = text.evaluate("node => node.clientHeight - 16")
    assert max(sum(heights), visible) == pytest.approx(whole, abs=line)


SKY = """run.duration = "3 s"

[topology]
kind = "constellation"
constellation = "iridium-like"
stations = ["paris", "tokyo", "new_york"]
inter_satellite = { rate = "1 Mbit/s", framing = "ip", buffer = "20 packets" }
ground = { rate = "1 Mbit/s", framing = "ip", buffer = "20 packets" }

[[traffic]]
pairs = "all"
"""


def test_the_map_of_a_run_over_a_constellation_plays_and_goes_with_the_next_run(page: Any) -> None:
    page.fill("#text", SKY)
    page.locator("#text").press("Control+Enter")
    drawn(page)
    page.wait_for_selector("#maps figure.frames svg")
    slider = page.locator("#maps input[type=range]")
    texts = []
    for second in (0, 2):
        slider.evaluate(f"it => {{ it.value = {second}; it.dispatchEvent(new Event('input')) }}")
        texts.append(page.locator("#maps .shown").inner_text())
    assert [text.partition(":")[0] for text in texts] == ["0 to 1 s", "2 to 3 s"]
    page.locator("#maps button").press("Enter")
    page.wait_for_function("document.querySelector('#maps .shown').textContent.startsWith('0 to')")
    page.fill("#text", SMALL)
    page.locator("#text").press("Control+Enter")
    drawn(page)
    page.wait_for_function("!document.querySelector('#maps figure')")


def test_maps_of_two_runs_stand_side_by_side_and_show_the_same_second(page: Any) -> None:
    page.fill("#text", SKY)
    page.locator("#text").press("Control+Enter")
    first = drawn(page)
    page.fill("#text", SKY.replace("20 packets", "5 packets"))
    page.locator("#text").press("Control+Enter")
    second = drawn(page)
    page.get_by_label(f"show run {first}", exact=True).check()
    assert drawn(page) == f"{second},{first}"
    page.wait_for_function("document.querySelectorAll('#maps figure.frames svg').length >= 2")
    headings = page.locator("#maps h2").all_inner_texts()
    assert [heading.partition(":")[0] for heading in headings] == [second, first]
    boxes = [each.bounding_box() for each in page.locator("#maps .map").all()]
    assert boxes[0]["y"] == boxes[1]["y"]
    assert boxes[0]["x"] + boxes[0]["width"] <= boxes[1]["x"]
    move = "it => { it.value = 2; it.dispatchEvent(new Event('input', { bubbles: true })) }"
    page.locator("#maps input[type=range]").nth(1).evaluate(move)
    shown = page.locator("#maps .shown").all_inner_texts()
    assert [text.partition(":")[0] for text in shown] == ["2 to 3 s", "2 to 3 s"]
    page.locator("#maps button").first.press("Enter")
    page.wait_for_function(
        "[...document.querySelectorAll('#maps .shown')].every(it => it.textContent[0] !== '2')"
    )
