"""What every test has."""

import os
import signal
from collections.abc import Generator
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes is the machine's affair.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True, scope="session")
def interrupts_arrive() -> None:
    """Gives SIGINT, which a shell's background jobs ignore, its usual effect."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


ALL_INSTALLED = "SKYCELL_ALL_INSTALLED"
"""Set where every program is installed that a test may need: a test that lacks one then fails."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """Has a test fail that is skipped because something is not installed, where all is."""
    report = yield
    if report.skipped and "not installed" in str(report.longrepr) and os.environ.get(ALL_INSTALLED):
        report.outcome = "failed"
        report.longrepr = f"skipped, although {ALL_INSTALLED} is set: {report.longrepr}"
    return report
