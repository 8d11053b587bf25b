"""A run of this package in a process of its own, without what reads scenarios.

`python -m benches.peers.alone SPEC START COLUMNS ENGINE` runs the spec of each file, the second of
which ends as it starts, and prints JSON: the `records` of the first, `hops`, packets that came to
ports of the constellation, `loop_s`, CPU time of the first run beyond that of the second, and
`peak_octets`, the greatest memory of the process with Python in it.
"""

import json
import re
import sys
import time
from pathlib import Path

from skycell import _core


def main(spec: str, start: str, columns: str, engine: str) -> None:
    """Runs both, the start once before, as the first run of a process also loads its code."""
    timed(start, columns, engine)
    _, started_s = timed(start, columns, engine)
    (records, tables), whole_s = timed(spec, columns, engine)
    found = {
        "records": json.loads(records),
        "hops": int(tables["sky_ports"]["arrived"].sum()),
        "loop_s": max(whole_s - started_s, 0.0),
        "peak_octets": peak_octets(),
    }
    print(json.dumps(found))


def timed(spec: str, columns: str, engine: str):  # type: ignore[no-untyped-def] # as _core has it
    """What a run left, and its CPU time in s."""
    text = Path(spec).read_text(encoding="utf-8")
    before = time.process_time()
    left = _core.run(text, engine, None, Path(columns))
    return left, time.process_time() - before


def peak_octets() -> int:
    """The greatest memory of the process so far; 0 where the system does not say.

    What getrusage says begins with that of the process that started it.
    """
    status = Path("/proc/self/status")
    found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text() if status.exists() else "")
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    main(*sys.argv[1:])
