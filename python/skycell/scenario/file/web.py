"""Users of the World Wide Web, as a scenario file writes them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from skycell.input.parameters import (
    Parameters,
    ValueType,
    param,
    quantity,
    read_number,
    whole_number,
    word,
)
from skycell.input.quantities import Dimension, Quantity, Refused
from skycell.scenario.file.distributions import Times

_SOURCE = "ATM Forum 98-0876R1"


def _positive(high: int, what: str) -> ValueType:
    def read(value: Any) -> float:
        number = read_number(value)
        if not 0 < number <= high:
            raise Refused("")
        return number

    schema = {"type": "number", "exclusiveMinimum": 0, "maximum": high}
    return ValueType(f"a number above 0, at most {high} ({what})", read, schema)


RequestSize = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=10**6, example="128 B")]
Kilobyte = Annotated[Quantity, quantity(Dimension.SIZE, low=1, high=10**6, example="1024 B")]
_MOST = 1_000


class PoissonCount(Parameters):
    """A Poisson count between two limits."""

    mean: Annotated[float, _positive(500, "a count")] = param(
        5,
        "mean of the Poisson distribution before the limits apply",
        source=f"{_SOURCE}, 5.2 and 5.3",
    )
    least: Annotated[int, whole_number(1, _MOST)] = param(
        1, "smallest count", source=f"{_SOURCE}, 5.2 and 5.3"
    )
    most: Annotated[int, whole_number(1, _MOST)] = param(
        9, "largest count; not below least", source=f"{_SOURCE}, 5.2 and 5.3"
    )
    outside: Annotated[str, word("clamp", "redraw")] = param(
        "clamp",
        "what happens to a value beyond a limit: it becomes the limit, or is drawn again",
        source="choice: clamping keeps the mean at 4.95 of the stated 5, drawing again at 4.85",
    )


class FileClass(Parameters):
    """Files whose sizes are small multiples of one step."""

    share: Annotated[float, _positive(10**6, "in proportion to the other classes")] = param(
        ..., "how often files of the class are asked for"
    )
    step_kb: Annotated[float, _positive(10**6, "kilobytes")] = param(
        ..., "the smallest size; the others are its multiples"
    )


class Web(Parameters):
    """Pages of files over one persistent HTTP/1.1 connection, requests pipelined.

    Requests are TCP data from the flow's destination (the client) to its source (the server), which
    answers each at once with a file.
    """

    kind: Literal["web"] = param(..., "the traffic")
    page_interval: Times = param(
        "10 s", "time from one page to the next", source=f"{_SOURCE}, 5.3 and 6.1"
    )
    page_interval_from: Annotated[str, word("first_request", "last_request", "last_answer")] = (
        param(
            "first_request",
            "from when the time to the next page counts: a page's first request, its last, "
            "or the arrival of everything that it asked for",
            source=f"{_SOURCE}, 6.1: a new set of requests every 10 s",
        )
    )
    pages: Annotated[int, whole_number(1, 2**32 - 1)] | None = param(
        None, "number of pages; without it as many as the run has time for", source="no end"
    )
    requests: PoissonCount = param(
        {}, "requests per page, one for each file", source=f"{_SOURCE}, 5.3"
    )
    gap: Times = param(
        {"kind": "uniform", "low": "100 ms", "high": "500 ms"},
        "time between two requests of a page",
        source=f"{_SOURCE}, 5.3: random between 100 and 500 ms; uniform is our choice",
    )
    request_size: RequestSize = param("128 B", "octets of a request", source=f"{_SOURCE}, 6.2")
    file_class: tuple[FileClass, ...] = param(
        [
            {"share": 20, "step_kb": 0.1},
            {"share": 28, "step_kb": 1},
            {"share": 40, "step_kb": 10},
            {"share": 11.2, "step_kb": 100},
            {"share": 0.8, "step_kb": 1000},
        ],
        "classes of files, with how often they are asked for",
        source=f"{_SOURCE}, Table 1",
    )
    file_step: PoissonCount = param(
        {}, "which multiple of its class's step a file has", source=f"{_SOURCE}, 5.2"
    )
    kilobyte: Kilobyte = param(
        "1024 B",
        "octets in the KB in which file sizes are stated",
        source=f"choice: only 1024 makes the mean file the 120.3 KB of the slides of {_SOURCE}",
    )
