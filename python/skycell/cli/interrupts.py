"""What an interrupt, by Ctrl-C or SIGTERM, has ended, what is kept, and how to go on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def if_interrupted(told: str) -> Iterator[None]:
    """What is to be said of an interrupt in this part of a command; the innermost part counts."""
    try:
        yield
    except KeyboardInterrupt as error:
        error.add_note(told)
        raise


def told_of(error: KeyboardInterrupt, verb: str | None) -> str:
    """What there is to say about an interrupt.

    Args:
        error: the interrupt, with what `if_interrupted` has put on it.
        verb: the command that it came into; none if it came before.
    """
    command = f"`skycell {verb}`" if verb else "skycell"
    usual = f"{command} wrote nothing; the same command begins anew"
    return f"Interrupted: {getattr(error, '__notes__', [usual])[0]}."
