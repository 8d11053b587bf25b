"""Writes the mean elements of Telesat's first shell as Hypatia has it, for `hypatia-network`.

    python tools/hypatia_elements.py python/skycell/studies/hypatia_network/telesat-1015.tle

A pattern cannot have this shell: every second of its 27 planes is half a place ahead, and half of a
place is no whole number of the steps that `phasing` counts (F = 13.5).

Source: satgenpy/satgen/tles/generate_tles_from_scratch.py and
paper/satellite_networks_state/main_telesat_1015.py of github.com/snkas/hypatia.
"""

import sys
from pathlib import Path

PLANES, PER_PLANE = 27, 13
INCLINATION_DEG = 98.98
REVOLUTIONS_PER_DAY = 13.66
"""About 1 015 km above the surface."""
_EPOCH = "00001.00000000"
"""2000-01-01, 0 h UTC."""


def text() -> str:
    """The element sets, the numbers of planes and of satellites of a plane before them."""
    lines = [f"{PLANES} {PER_PLANE}"]
    for number in range(PLANES * PER_PLANE):
        plane, place = divmod(number, PER_PLANE)
        ahead = 0.5 if plane % 2 else 0.0
        anomaly_deg = 360 * (place + ahead) / PER_PLANE
        lines += [f"{plane + 1}-{place + 1}", *_set(number + 1, 360 * plane / PLANES, anomaly_deg)]
    return "\n".join(lines) + "\n"


def _set(number: int, node_deg: float, anomaly_deg: float) -> tuple[str, str]:
    """Both lines of the set of a satellite in a circular orbit without drag."""
    first = f"1 {number:05d}U 00000ABC {_EPOCH}  .00000000  00000-0  00000+0 0    0"
    second = (
        f"2 {number:05d} {INCLINATION_DEG:8.4f} {node_deg:8.4f} 0000001 {0:8.4f} "
        f"{anomaly_deg:8.4f} {REVOLUTIONS_PER_DAY:11.8f}    0"
    )
    return _with_checksum(first), _with_checksum(second)


def _with_checksum(line: str) -> str:
    """The line and its check digit: the sum of its digits modulo 10, a minus counted as 1."""
    total = sum(int(sign) if sign.isdecimal() else sign == "-" for sign in line)
    return f"{line}{total % 10}"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(text(), encoding="utf-8")
