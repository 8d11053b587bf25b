"""What an interrupt, by Ctrl-C or SIGTERM, has ended, what is kept, and how to go on.

The first of our modules that a command imports: an interrupt may come while the others are loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def if_interrupted(reported: str) -> Iterator[None]:
    """What is to be said of an interrupt in this part of a command; the innermost part counts."""
    try:
        yield
    except KeyboardInterrupt as error:
        error.add_note(reported)
        raise


def report_it(error: KeyboardInterrupt, verb: str | None) -> None:
    """Says on standard error what there is to say about an interrupt.

    Args:
        error: the interrupt, with what `if_interrupted` has put on it.
        verb: the command that it came into; none if it came before.
    """
    command = f"`skycell {verb}`" if verb else "skycell"
    usual = f"{command} wrote nothing; the same command starts over"
    from skycell.input.printable import printable

    # A terminal has ^C at the end of its line.
    begin = "\n" if sys.stderr.isatty() else ""
    what = printable(getattr(error, "__notes__", [usual])[0])
    print(f"{begin}Interrupted: {what}.", file=sys.stderr)
