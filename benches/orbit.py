"""Speed and memory of path series: `python benches/orbit.py`, or with --help.

The bar: paths and delays of 100 pairs of places over a shell of 1584 satellites, 6000 s at steps of
1 s, within 60 s on two cores. Wall time is taken, as threads are what is measured; say what else
the machine was doing when you quote it. The result goes to `benches/results/orbit.json`.
"""

import argparse
import json
import platform
import resource
import time
from pathlib import Path

from skycell.orbit import as_constellation, cities, series

RESULT = Path(__file__).parent / "results" / "orbit.json"
PAIRS = 100


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=int, default=6000, help="seconds (default 6000)")
    parser.add_argument("--jobs", type=int, default=2, help="threads (default 2)")
    parser.add_argument("--constellation", default="starlink-like")
    parser.add_argument("--links", action="store_true", help="keep the delay of every link too")
    asked = parser.parse_args()
    # Those that every shell of the present day sees.
    places = [place for place in cities().values() if abs(place.latitude_deg) < 58]
    count = len(places)
    # Every city is a source; the partners lie all over the list.
    pairs = [(n % count, (n * 7 + 13 + n // count) % count) for n in range(PAIRS)]
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, used = time.perf_counter(), time.process_time()
    found = series(
        as_constellation(asked.constellation),
        places,
        pairs,
        duration_ps=asked.duration * 10**12,
        jobs=asked.jobs,
        with_links=asked.links,
    )
    result = {
        "constellation": asked.constellation,
        "pairs": PAIRS,
        "steps": found.steps,
        "threads": asked.jobs,
        "wall_s": round(time.perf_counter() - began, 1),
        "cpu_s": round(time.process_time() - used, 1),
        "paths": len(found.intervals),
        "memory_before_mb": before_kb // 1024,
        "memory_peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "machine": platform.processor() or platform.machine(),
    }
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
