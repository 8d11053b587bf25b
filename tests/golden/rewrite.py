"""Rewrites golden traces: `make generate WHAT="golden NAME..."`, or `--all`.

A trace whose events have moved loses the note on how it was checked; the tests refuse it until
somebody has read the new events against the rules and written there how.
"""

import sys

from tests.golden.golden import UNCHECKED, names, run, stored, write


def main(arguments: list[str]) -> int:
    """Rewrites the traces that are named and says which of them moved."""
    known = names()
    wanted = known if arguments == ["--all"] else arguments
    unknown = sorted(set(wanted) - set(known))
    if not wanted or unknown:
        print(f"name golden scenarios, or --all: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in wanted:
        note, before = stored(name)
        text = run(name, engine="reference")
        if text == before and note:
            print(f"{name}: as before")
        else:
            write(name, UNCHECKED, text)
            print(f"{name}: rewritten; read it and say in its header how it was checked")
    return 0
