"""What every test has."""

import signal

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
