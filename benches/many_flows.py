"""What many flows over a constellation cost: `python benches/many_flows.py 10000 [transfers]`.

Prints times of the CPU and the greatest memory of the process so far, step by step.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
from pathlib import Path

import skycell
from skycell.orbit.places import named_places

NETWORK = """[run]
duration = "10 s"

[topology]
kind = "constellation"
constellation = "starlink-like"
stations = "cities-1000"
step = "1 s"
inter_satellite = { rate = "1 Gbit/s", framing = "ip", buffer = "1000 packets" }
ground = { rate = "100 Mbit/s", framing = "ip", buffer = "100 packets" }

[[traffic]]
"""


def transfers(count: int) -> str:
    """A file of transfers of 10 to 300 kB between 5 000 pairs, which begin within 8 s."""
    draw = random.Random(1)
    names = [place.name for place in named_places("cities-1000")]
    pairs = [draw.sample(names, 2) for _ in range(5000)]
    rows = []
    for _ in range(count):
        source, target = draw.choice(pairs)
        start, size = draw.uniform(0, 8), draw.choice([10, 30, 100, 300])
        rows.append(f"{source},{target},{start:.6f} s,{size} kB")
    return "\n".join(["from,to,start,size", *rows, ""])


class Notes:
    """Says what each step has cost."""

    def __init__(self) -> None:
        self.cpu_s = self._now_s()

    def _now_s(self) -> float:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return used.ru_utime + used.ru_stime

    def note(self, what: str) -> None:
        """A step is over."""
        now_s = self._now_s()
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{what:40} {now_s - self.cpu_s:8.1f} s {peak_mb:8.0f} MB", flush=True)
        self.cpu_s = now_s


def main() -> None:
    """Makes, reads and runs the network."""
    count, of_transfers = int(sys.argv[1]), sys.argv[2:] == ["transfers"]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "network.toml"
        traffic = f'pairs = {{ kind = "gravity", draws = {count} }}\n'
        if of_transfers:
            (Path(folder) / "transfers.csv").write_text(transfers(count))
            traffic = 'file = "transfers.csv"\n'
        file.write_text(NETWORK + traffic)
        notes = Notes()
        spec = skycell.load(file).resolve()
        notes.note("read, plan, resolve")
        text = spec.canonical_json()
        spec.hash()
        notes.note(f"JSON of {len(text) / 1e6:.1f} MB, hash")
        del text
        result = skycell.run_spec(spec)
        hops = int(result.traces["sky_ports"]["departed"].sum())
        notes.note(f"run, {hops} packet-hops")
        print(f"records as JSON: {len(result.to_json()) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
