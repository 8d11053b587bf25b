"""What a page asks of the network: as a reader of its text and as a real browser sees it."""

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

LOADING = {"src", "href", "xlink:href", "srcset", "data", "poster", "action", "formaction"}
"""Attributes whose address a browser loads or goes to."""

ADDRESS = re.compile(r"^\s*(?:\w+:)?//|^\s*(?!data:|blob:|mailto:)\w+:", re.IGNORECASE)
CSS_ADDRESS = re.compile(r"""(?:url\(\s*|@import\s+)['"]?((?:\w+:)?//[^'")\s;]+)""")


class _References(HTMLParser):
    """Gathers the addresses outside the page that its elements and styles name."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_style = tag == "style"
        for key, value in attrs:
            if key in LOADING and tag != "a" and ADDRESS.search(value or ""):
                self.found.append(f"{tag} {key}={value}")
            self.found += CSS_ADDRESS.findall(value or "")

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.found += CSS_ADDRESS.findall(data)


def outside_references(page: str) -> list[str]:
    """Addresses outside the page that a browser would load while it shows the page.

    Links that a reader may follow (``<a href>``) are not among them.
    """
    reader = _References()
    reader.feed(page)
    reader.close()
    return reader.found


@dataclass(frozen=True)
class Visit:
    """What came of opening a page.

    Attributes:
        dom: the page as it stood after its scripts had run.
        requests: addresses that the page asked for.
    """

    dom: str
    requests: list[str]


def browse(page: Path) -> Visit:
    """Opens a file in headless Chromium, which can resolve no name, and reads its network log.

    The browser's own errands (updates, accounts) have no origin in the log and are left out.
    The test skips where there is no Chromium.
    """
    names = ("chromium", "chromium-browser", "google-chrome")
    chromium = next(filter(None, map(shutil.which, names)), None)
    if chromium is None:
        pytest.skip("Chromium is not installed: the page was not opened in a browser")
    with tempfile.TemporaryDirectory() as profile:
        log = Path(profile) / "network.json"
        run = subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                f"--user-data-dir={profile}",
                "--host-resolver-rules=MAP * ~NOTFOUND",
                f"--log-net-log={log}",
                "--virtual-time-budget=10000",
                "--dump-dom",
                page.resolve().as_uri(),
            ],
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=120,
            check=True,
        )
        return Visit(run.stdout, _requests_of_pages(json.loads(log.read_text(encoding="utf-8"))))


def _requests_of_pages(log: dict[str, Any]) -> list[str]:
    """Addresses that pages asked for, other than files, data and blobs."""
    asked = [event["params"] for event in log["events"] if "initiator" in event.get("params", {})]
    return [
        params["url"]
        for params in asked
        if params["initiator"] != "not an origin"
        and not params["url"].startswith(("file:", "data:", "blob:"))
    ]
