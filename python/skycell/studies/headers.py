"""What bit errors do to the headers of cells, on links behind ports with a limited buffer."""

from collections.abc import Mapping, Sequence
from typing import Any


def lost_per_million(ports: Sequence[Mapping[str, Any]]) -> float | None:
    """Cells lost or led astray by their headers, of each million that was carried.

    None where no link has bit errors.

    >>> errors = {"headers_corrected": 6, "headers_lost": 3, "misinserted": 1}
    >>> lost_per_million([{"departed": 2_000_000, "errors": errors}])
    2.0
    """
    carried = sum(port["departed"] for port in ports if port.get("errors"))
    return 1e6 * _struck(ports, "headers_lost", "misinserted") / carried if carried else None


def corrected_part(ports: Sequence[Mapping[str, Any]]) -> float | None:
    """Headers that the HEC corrected, as a part of those with bit errors; none without any."""
    corrected = _struck(ports, "headers_corrected")
    struck = corrected + _struck(ports, "headers_lost", "misinserted")
    return corrected / struck if struck else None


def _struck(ports: Sequence[Mapping[str, Any]], *kinds: str) -> int:
    errors = [port["errors"] for port in ports if port.get("errors")]
    return sum(int(entry[kind]) for entry in errors for kind in kinds)
