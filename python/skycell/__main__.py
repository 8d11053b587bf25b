"""The command: `skycell`, or `python -m skycell` where that is not on the path."""

import os
import sys

from skycell.cli.interrupts import report_it


def main() -> None:
    """Runs the command line, and tells of an interrupt that comes while it is being loaded."""
    _open_what_is_closed()
    try:
        from skycell.cli.main import main as command

        command(prog_name="skycell")
    except KeyboardInterrupt as error:
        report_it(error, None)
        raise SystemExit(1) from None


def _open_what_is_closed() -> None:
    """Has what goes to an output that the caller has closed go nowhere.

    Python has no such output at all: a table finds none to ask for its width, and a fault none to
    be told on. Nor may a file that is opened next take its place.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, os.fdopen(nowhere, "w", encoding="utf-8"))


if __name__ == "__main__":
    main()
