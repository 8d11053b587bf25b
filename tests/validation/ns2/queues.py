"""What queues.tcl leaves: the packets that ns-2's queues drop."""

import subprocess
import tempfile
from pathlib import Path

SCRIPT = Path(__file__).with_name("queues.tcl")
KINDS = ("drr", "red-forced", "red", "red-gentle")
DRAWN = ("red", "red-gentle")
SEEDS = (1, 2, 3)
"""Of ns-2's draws."""


def text_of(program: str, kind: str) -> str:
    """A line for each packet that was dropped: when, in s, and of which host.

    Where draws decide, a line a seed: packets that wait, on the average, and how many were dropped.
    """
    runs = [(kind, str(seed)) for seed in SEEDS] if kind in DRAWN else [(kind,)]
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        left = Path(folder) / "left"
        for arguments in runs:
            command = [program, str(SCRIPT), str(left), *arguments]
            subprocess.run(command, check=True, timeout=120, stdout=subprocess.DEVNULL)
            lines += left.read_text(encoding="utf-8").splitlines()
    if kind not in DRAWN:
        # Nodes are numbered in the order a, b, c.
        dropped = (line.split() for line in lines if line.startswith("d"))
        lines = [f"{row[1]} {'abc'[int(row[8][0])]}" for row in dropped]
    return "".join(f"{line}\n" for line in lines)
