"""The command: `skycell`, or `python -m skycell` where that is not on the path."""

import io
import os
import sys

from skycell.cli.interrupts import report_it


def main() -> None:
    """Runs the command line, and tells of an interrupt that comes while it is being loaded."""
    lost = _open_what_is_closed()
    try:
        from skycell.cli.main import main as command

        command(prog_name="skycell")
    except KeyboardInterrupt as error:
        report_it(error, None)
        raise SystemExit(1) from None
    except SystemExit as end:
        if lost is not None and lost.is_used and not end.code:
            print("Standard output is closed: what belongs there is lost.", file=sys.stderr)
            raise SystemExit(1) from None
        raise


class _Lost(io.TextIOWrapper):
    """An output that leads nowhere, and knows whether something was written to it."""

    is_used = False

    def write(self, text: str, /) -> int:
        self.is_used = self.is_used or bool(text)
        return super().write(text)


def _open_what_is_closed() -> _Lost | None:
    """Has what goes to an output that the caller has closed go nowhere; gives standard output then.

    Python has no such output at all: a table finds none to ask for its width, and a fault none to
    be told on. Nor may a file that is opened next take its place.
    """
    opened: dict[str, _Lost] = {}
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = open(os.open(os.devnull, os.O_WRONLY), "wb")  # noqa: PTH123, SIM115
            opened[name] = _Lost(nowhere, encoding="utf-8")
            setattr(sys, name, opened[name])
    return opened.get("stdout")


if __name__ == "__main__":
    main()
