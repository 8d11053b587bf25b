"""Traffic in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, word
from skycell.scenario.declared.types import (
    CountLimit,
    FileSizes,
    Flag,
    IndexFirst,
    KilobyteOctets,
    PoissonMean,
    Repetitions,
    RequestOctets,
    Share,
    TransferOctets,
)
from skycell.scenario.values.distributions import PageInterval, Times
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    RuleSpec,
    SubTable,
    kind_by_name,
)
from skycell.spec.declared.network import (
    CountSpec,
    FileClassSpec,
    TrafficPersistent,
    TrafficTransfers,
    WebSpec,
)


class Persistent(Parameters):
    """Always has more to send."""

    kind: Literal["persistent"] = param(..., "the traffic")


class Transfers(Parameters):
    """Transfers of one size with idle times between them."""

    kind: Literal["transfers"] = param(..., "the traffic")
    size: TransferOctets = param(
        ...,
        "octets of a transfer",
    )
    count: Repetitions | None = param(
        None,
        "number of transfers; without it as many as the run has time for",
        source="no end",
    )
    idle: Times = param(
        "0 s",
        (
            "time from the end of a transfer (its last octet acknowledged, with "
            "tcp.handshake its own connection closed) to the next"
        ),
        source="back to back",
    )
    new_connection: Flag = param(
        True,
        "each transfer opens its own connection with fresh TCP state",
        source="Bonaventure, simulation study of TCP with GFR: closed after each transfer",
    )


class Count(Parameters):
    """A Poisson count between two limits."""

    mean: PoissonMean = param(
        5,
        "mean of the Poisson distribution before the limits apply",
        source="ATM Forum 98-0876R1, 5.2 and 5.3",
    )
    least: CountLimit = param(
        1,
        "smallest count",
        source="ATM Forum 98-0876R1, 5.2 and 5.3",
    )
    most: CountLimit = param(
        9,
        "largest count; not below least",
        source="ATM Forum 98-0876R1, 5.2 and 5.3",
    )
    outside: Annotated[str, word("clamp", "redraw")] = param(
        "clamp",
        "fate of a value beyond a limit: it becomes the limit, or is drawn again",
        source=("choice: clamping keeps the mean at 4.95 of the stated 5, drawing again at 4.85"),
    )


class FileClass(Parameters):
    """Files whose sizes are small multiples of one step."""

    share: Share = param(
        ...,
        "how often files of the class are asked for",
    )
    step_kb: FileSizes = param(
        ...,
        "the smallest size; the others are its multiples",
    )


class Web(Parameters):
    """Pages of files over one persistent HTTP/1.1 connection, requests pipelined."""

    kind: Literal["web"] = param(..., "the traffic")
    page_interval: PageInterval = param(
        "10 s",
        "time from one page to the next",
        source="ATM Forum 98-0876R1, 5.3 and 6.1",
    )
    page_interval_from: Annotated[str, word("first_request", "last_request", "last_answer")] = (
        param(
            "first_request",
            (
                "from when the time to the next page counts: a page's first request, its "
                "last, or the arrival of everything that it asked for"
            ),
            source="ATM Forum 98-0876R1, 6.1: a new set of requests every 10 s",
        )
    )
    pages: Repetitions | None = param(
        None,
        "number of pages; without it as many as the run has time for",
        source="no end",
    )
    requests: Count = param(
        {},
        "requests per page, one for each file",
        source="ATM Forum 98-0876R1, 5.3",
    )
    gap: Times = param(
        {"kind": "uniform", "high": "500 ms", "low": "100 ms"},
        "time between two requests of a page",
        source=("ATM Forum 98-0876R1, 5.3: random between 100 and 500 ms; uniform is our choice"),
    )
    request_size: RequestOctets = param(
        "128 B",
        "octets of a request",
        source="ATM Forum 98-0876R1, 6.2",
    )
    file_class: tuple[FileClass, ...] = param(
        [
            {"share": 20, "step_kb": 0.1},
            {"share": 28, "step_kb": 1},
            {"share": 40, "step_kb": 10},
            {"share": 11.2, "step_kb": 100},
            {"share": 0.8, "step_kb": 1000},
        ],
        "classes of files, with how often they are asked for",
        source="ATM Forum 98-0876R1, Table 1",
    )
    index_first: IndexFirst = param(
        False,
        (
            "the first file of a page is its index page: a file of the first class. Its "
            "other files are of the other classes, by their shares. Otherwise all files "
            "of a page are drawn alike"
        ),
        source="ATM Forum 98-0876R1, 5.1 to 5.3: a share of 20 % for the first class",
    )
    file_step: Count = param(
        {},
        "which multiple of its class's step a file has",
        source="ATM Forum 98-0876R1, 5.2",
    )
    kilobyte: KilobyteOctets = param(
        "1024 B",
        "octets in the KB in which file sizes are stated",
        source=(
            "choice: only 1024 makes the mean file the 120.3 KB of the slides of ATM "
            "Forum 98-0876R1"
        ),
    )


AnyTraffic = Persistent | Transfers | Web
#: Those that need no more than their name.
_Names = Literal["persistent", "web"]
Traffic = Annotated[
    Annotated[AnyTraffic, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=AnyTraffic | _Names),
]

TRAFFIC: dict[str, RuleSpec] = {
    "persistent": RuleSpec(
        Persistent,
        TrafficPersistent,
        (),
        facts={},
    ),
    "transfers": RuleSpec(
        Transfers,
        TrafficTransfers,
        (
            FieldSpec("size_octets", "size", "TransferOctets"),
            FieldSpec("count", "count", "Repetitions"),
            FieldSpec("idle", "idle", "Times"),
            FieldSpec("new_connection", "new_connection", "Flag"),
        ),
        facts={},
    ),
    "web": RuleSpec(
        Web,
        WebSpec,
        (
            FieldSpec("page_interval", "page_interval", "PageInterval"),
            FieldSpec("page_interval_from", "page_interval_from", "word"),
            FieldSpec("pages", "pages", "Repetitions"),
            SubTable(
                "requests",
                "requests",
                CountSpec,
                (
                    FieldSpec("mean", "mean", "PoissonMean"),
                    FieldSpec("low", "least", "CountLimit"),
                    FieldSpec("high", "most", "CountLimit"),
                    FieldSpec("outside", "outside", "word"),
                ),
            ),
            FieldSpec("gap", "gap", "Times"),
            FieldSpec("request_octets", "request_size", "RequestOctets"),
            SubTable(
                "classes",
                "file_class",
                FileClassSpec,
                (
                    FieldSpec("weight", "share", "Share"),
                    FieldSpec("sizes_octets", "step_kb", "FileSizes"),
                ),
                is_list=True,
            ),
            FieldSpec("index_first", "index_first", "IndexFirst"),
            SubTable(
                "size",
                "file_step",
                CountSpec,
                (
                    FieldSpec("mean", "mean", "PoissonMean"),
                    FieldSpec("low", "least", "CountLimit"),
                    FieldSpec("high", "most", "CountLimit"),
                    FieldSpec("outside", "outside", "word"),
                ),
            ),
            FieldSpec("kilobyte", "kilobyte", "KilobyteOctets"),
        ),
        facts={},
    ),
}
"""What each traffic declares, by its kind."""
