"""Applications in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, when, word
from skycell.scenario.declared.types import (
    BitRate,
    CountLimit,
    FileCount,
    FromZeroToOne,
    Impairment,
    Interval,
    OriginCount,
    PacketOctets,
    PartOfOne,
    Repetitions,
    RequestOctets,
    SegmentCount,
    Share,
    TransferOctets,
)
from skycell.scenario.values.distributions import PageInterval, Sizes, Times
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    RuleSpec,
    SubTable,
    kind_by_name,
)
from skycell.spec.declared.network import (
    AsksSpec,
    BulkSpec,
    CallSpec,
    FilePartSpec,
    PagesSpec,
    VideoSpec,
)


class Asks(Parameters):
    """Requests and answers in datagrams, at times of the client's own."""

    kind: Literal["asks"] = param(..., "the application")
    interval: PageInterval = param(
        "40 ms",
        "time from one request to the next, whether or not it has been answered",
        source="NGMN, Radio access performance evaluation methodology, 2008: games",
    )
    ask_size: Sizes = param(
        {"kind": "extreme", "mode": 45, "scale": 5.7},
        "octets of the IP packet of a request",
        source="NGMN, Radio access performance evaluation methodology, 2008: games",
    )
    answer_size: Sizes = param(
        {"kind": "extreme", "mode": 120, "scale": 36},
        "octets of the IP packet of an answer, which the server sends at once",
        source=(
            "NGMN, Radio access performance evaluation methodology, 2008: games, whose "
            "updates have times of their own"
        ),
    )
    again: Interval | None = param(
        None,
        ("time after which a request without an answer is sent again, twice as long each time"),
        source="never",
    )
    repeats: SegmentCount = param(
        3,
        "times that a request is sent again at most",
        source="choice",
    )


class Bulk(Parameters):
    """Downloads one after the other, each over a connection of its own."""

    kind: Literal["bulk"] = param(..., "the application")
    size: TransferOctets = param(
        "100 MB",
        "octets of a download",
        source="choice",
    )
    count: Repetitions | None = param(
        None,
        "number of downloads; without it as many as the run has time for",
        source="no end",
    )
    pause: Times = param(
        "0 s",
        "time from the end of a download to the next",
        source="choice: back to back",
    )
    request_size: RequestOctets = param(
        "500 B",
        "octets of the request for a download",
        source="choice",
    )


class Call(Parameters):
    """Calls: packets at equal times both ways, and a playout buffer at each end."""

    kind: Literal["call"] = param(..., "the application")
    packet_size: PacketOctets = param(
        "200 B",
        "octets of an IP packet",
        source="G.711: 160 octets each 20 ms, 40 of RTP, UDP and IP",
    )
    interval: Interval = param(
        "20 ms",
        "time from one packet to the next, which a packet has of speech",
        source="RFC 3551, 4.2",
    )
    playout: Interval = param(
        "60 ms",
        ("time that the receiver waits for packets beyond the least delay that it has seen"),
        source="choice",
    )
    ie: Impairment = param(
        0.0,
        "equipment impairment factor",
        symbol="Ie",
        source="G.113 appendix I: G.711",
    )
    bpl: Impairment = param(
        25.1,
        "packet-loss robustness factor",
        symbol="Bpl",
        source="G.113 appendix I: G.711 with concealment of losses; 4.3 without",
    )
    length: Times = param(
        {"kind": "exponential", "mean": "120 s"},
        "duration of a call",
        source="choice",
    )
    pause: Times = param(
        "10 s",
        "time from the end of a call to the next",
        source="choice",
    )
    count: Repetitions | None = param(
        None,
        "number of calls; without it as many as the run has time for",
        source="no end",
    )


class FilePart(Parameters):
    """Files of a type."""

    requests: Share = param(
        ...,
        "requests, in proportion to those of the other types",
    )
    size: Share = param(
        ...,
        "octets of all, in proportion to those of the other types",
    )
    sigma: Impairment = param(
        1.0,
        "standard deviation of the logarithm of a file's octets",
        source="choice",
    )
    wave: CountLimit = param(
        1,
        (
            "wave in which they are asked for, each when all of the waves before have "
            "come; the page itself is wave 0"
        ),
        source="choice",
    )
    urgency: CountLimit = param(
        1,
        "rank among files that a server has to send; 1 goes first",
        source="choice",
    )


class Pages(Parameters):
    """Pages of the web as browsers load them."""

    kind: Literal["pages"] = param(..., "the application")
    requests: Annotated[tuple[FileCount, ...], Field(min_length=1)] = param(
        [27, 46, 77, 122, 185],
        "requests of 10, 25, 50, 75 and 90 % of pages at most",
        source="HTTP Archive, Web Almanac 2025, Page weight: desktop",
    )
    page_size: Annotated[tuple[TransferOctets, ...], Field(min_length=1)] = param(
        ["607 KiB", "1275 KiB", "2412 KiB", "4570 KiB", "9179 KiB"],
        ("octets of all files of as many pages at most; a page with more requests has more octets"),
        source=(
            "HTTP Archive, Web Almanac 2025, Page weight: desktop; the same rank for both: choice"
        ),
    )
    file_type: tuple[FilePart, ...] = param(
        [
            {"requests": 3, "sigma": 1, "size": 22, "urgency": 1, "wave": 1},
            {"requests": 8, "sigma": 1, "size": 82, "urgency": 2, "wave": 1},
            {"requests": 23, "sigma": 2.2, "size": 697, "urgency": 3, "wave": 1},
            {"requests": 4, "sigma": 1, "size": 139, "urgency": 2, "wave": 2},
            {"requests": 17, "sigma": 2.5, "size": 1058, "urgency": 4, "wave": 2},
        ],
        "files by type: the first are the page and its frames",
        source=(
            "HTTP Archive, Web Almanac 2025, Page weight: medians of HTML, CSS, scripts, "
            "fonts, images; waves and urgency: choice"
        ),
    )
    origins: OriginCount = param(
        17,
        "servers from which a page has files",
        source="HTTP Archive, Web Almanac 2025, Third parties: one and 16",
    )
    first_part: FromZeroToOne = param(
        0.33,
        "part of the files that the first server has; the others have the rest alike",
        source="choice",
    )
    protocol: Annotated[str, word("http1", "http2", "by_origin")] = param(
        "by_origin",
        "HTTP/1.1, HTTP/2, or one of them for each server",
        source="HTTP Archive, Web Almanac 2024, HTTP",
    )
    http1_part: FromZeroToOne = param(
        0.15,
        "part of the servers with HTTP/1.1",
        source="HTTP Archive, Web Almanac 2024, HTTP",
        when=when("protocol", "by_origin"),
    )
    connections: OriginCount = param(
        6,
        (
            "connections to a server with HTTP/1.1, each with one request at a time; to "
            "one with HTTP/2 there is one"
        ),
        source="Chrome and Firefox",
    )
    dns: Annotated[str, word("server", "none")] = param(
        "server",
        (
            "who answers for names: the host of the servers (server), or nobody, as all "
            "are known (none)"
        ),
        source="choice",
    )
    dns_ask_size: PacketOctets = param(
        "60 B",
        "octets of the IP packet that asks for a name",
        source="choice",
        when=when("dns", "server"),
    )
    dns_answer_size: PacketOctets = param(
        "200 B",
        "octets of the IP packet of the answer",
        source="choice",
        when=when("dns", "server"),
    )
    dns_again: Interval = param(
        "5 s",
        "time after which a name is asked for again",
        source="choice",
        when=when("dns", "server"),
    )
    hello_size: RequestOctets = param(
        "500 B",
        "octets of the client's first flight of TLS",
        source="choice",
    )
    flight_size: RequestOctets = param(
        "4 kB",
        "octets of the server's flight with its certificates",
        source="choice: chains have 1.5 to 5 kB",
    )
    resumed_size: RequestOctets = param(
        "300 B",
        "octets of the server's flight where a session is resumed",
        source="choice",
    )
    finished_size: RequestOctets = param(
        "100 B",
        "octets of the client's last flight, which goes with its first request",
        source="choice",
    )
    resumed_part: FromZeroToOne = param(
        0.4,
        "part of the connections that resume a session",
        source="choice",
    )
    early_part: FromZeroToOne = param(
        0.0,
        "part of those that send requests with the first flight (0-RTT)",
        source="choice",
    )
    request_size: RequestOctets = param(
        "500 B",
        "octets of a request",
        source="choice",
    )
    page_wait: Times = param(
        {"kind": "exponential", "mean": "50 ms"},
        "time that a server takes for the page",
        source="choice",
    )
    file_wait: Times = param(
        {"kind": "exponential", "mean": "5 ms"},
        "time that it takes for another file",
        source="choice",
    )
    reading: Times = param(
        {"kind": "exponential", "mean": "30 s"},
        "time from a page's last octet to the next page",
        source="3GPP R1-070674, table A.2.1.3-1: reading time",
    )
    count: Repetitions | None = param(
        None,
        "number of pages; without it as many as the run has time for",
        source="no end",
    )


class Video(Parameters):
    """Videos in segments: a client with a buffer chooses the rate of each from a ladder."""

    kind: Literal["video"] = param(..., "the application")
    ladder: Annotated[tuple[BitRate, ...], Field(min_length=1)] = param(
        [
            "145 kbit/s",
            "365 kbit/s",
            "730 kbit/s",
            "1.1 Mbit/s",
            "2 Mbit/s",
            "3 Mbit/s",
            "4.5 Mbit/s",
            "6 Mbit/s",
            "7.8 Mbit/s",
        ],
        (
            "bit rates of the video, from the lowest. A segment has its rate times its "
            "duration, whatever it shows"
        ),
        source="Apple, HLS Authoring Specification, 2025: H.264, 16:9",
    )
    segment: Interval = param(
        "6 s",
        "duration of a segment",
        source="Apple, HLS Authoring Specification, 2025",
    )
    choice: Annotated[str, word("rate", "bola", "bba")] = param(
        "bola",
        (
            "how the rate of the next segment is chosen: by the rate at which the last "
            "segments came (rate), or by how long the buffer lasts (bola, bba)"
        ),
        source="choice",
    )
    rate_part: PartOfOne = param(
        0.9,
        ("part of the harmonic mean of the last segments' rates up to which a rate is chosen"),
        source="dash.js: bandwidthSafetyFactor",
        when=when("choice", "rate"),
    )
    rate_segments: SegmentCount = param(
        4,
        "segments in that mean",
        source="dash.js: ThroughputHistory",
        when=when("choice", "rate"),
    )
    bola_least: Interval = param(
        "10 s",
        ("duration of buffered video below which BOLA's lowest rate is best; below buffer"),
        source="dash.js: MINIMUM_BUFFER_S",
        when=when("choice", "bola"),
    )
    bba_reservoir: Interval = param(
        "5 s",
        "duration of buffered video up to which the lowest rate is chosen",
        source=(
            "Mao, Netravali and Alizadeh, Pensieve, SIGCOMM 2017, for short buffers; "
            "Huang and others, SIGCOMM 2014: 90 s"
        ),
        when=when("choice", "bba"),
    )
    bba_cushion: Interval = param(
        "10 s",
        "further duration over which the chosen rate rises to the highest",
        source=(
            "Mao, Netravali and Alizadeh, Pensieve, SIGCOMM 2017, for short buffers; "
            "Huang and others, SIGCOMM 2014: 126 s"
        ),
        when=when("choice", "bba"),
    )
    buffer: Interval = param(
        "30 s",
        (
            "duration of buffered video from which no segment is asked for, and BOLA's "
            "target; at least two segments"
        ),
        source="choice",
    )
    start_segments: SegmentCount = param(
        2,
        "segments that a client has before it plays",
        source="choice",
    )
    resume_segments: SegmentCount = param(
        1,
        "segments that it has before it plays on after a stall",
        source="choice",
    )
    length: Times = param(
        "600 s",
        "duration of a video, in whole segments and at least one",
        source="choice",
    )
    pause: Times = param(
        "10 s",
        "time from the end of a video to the next",
        source="choice",
    )
    count: Repetitions | None = param(
        None,
        "number of videos; without it as many as the run has time for",
        source="no end",
    )
    request_size: RequestOctets = param(
        "500 B",
        "octets of the request for a segment",
        source="choice",
    )


AnyApplication = Asks | Bulk | Call | Pages | Video
#: Those that need no more than their name.
_Names = Literal["asks", "bulk", "call", "pages", "video"]
Application = Annotated[
    Annotated[AnyApplication, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=AnyApplication | _Names),
]

APPLICATIONS: dict[str, RuleSpec] = {
    "asks": RuleSpec(
        Asks,
        AsksSpec,
        (
            FieldSpec("interval", "interval", "PageInterval"),
            FieldSpec("ask", "ask_size", "Sizes"),
            FieldSpec("answer", "answer_size", "Sizes"),
            FieldSpec("again_ps", "again", "Interval"),
            FieldSpec("repeats", "repeats", "SegmentCount"),
        ),
        facts={},
    ),
    "bulk": RuleSpec(
        Bulk,
        BulkSpec,
        (
            FieldSpec("size_octets", "size", "TransferOctets"),
            FieldSpec("count", "count", "Repetitions"),
            FieldSpec("pause", "pause", "Times"),
            FieldSpec("request_octets", "request_size", "RequestOctets"),
        ),
        facts={},
    ),
    "call": RuleSpec(
        Call,
        CallSpec,
        (
            FieldSpec("packet_octets", "packet_size", "PacketOctets"),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("playout_ps", "playout", "Interval"),
            FieldSpec("ie", "ie", "Impairment"),
            FieldSpec("bpl", "bpl", "Impairment"),
            FieldSpec("length", "length", "Times"),
            FieldSpec("pause", "pause", "Times"),
            FieldSpec("count", "count", "Repetitions"),
        ),
        facts={},
    ),
    "pages": RuleSpec(
        Pages,
        PagesSpec,
        (
            FieldSpec("requests", "requests", "FileCount", is_list=True),
            FieldSpec("page_octets", "page_size", "TransferOctets", is_list=True),
            SubTable(
                "parts",
                "file_type",
                FilePartSpec,
                (
                    FieldSpec("requests", "requests", "Share"),
                    FieldSpec("octets", "size", "Share"),
                    FieldSpec("sigma", "sigma", "Impairment"),
                    FieldSpec("wave", "wave", "CountLimit"),
                    FieldSpec("urgency", "urgency", "CountLimit"),
                ),
                is_list=True,
            ),
            FieldSpec("origins", "origins", "OriginCount"),
            FieldSpec("first_part", "first_part", "FromZeroToOne"),
            FieldSpec("protocol", "protocol", "word"),
            FieldSpec("http1_part", "http1_part", "FromZeroToOne"),
            FieldSpec("connections", "connections", "OriginCount"),
            FieldSpec("dns", "dns", "word"),
            FieldSpec("dns_ask_octets", "dns_ask_size", "PacketOctets"),
            FieldSpec("dns_answer_octets", "dns_answer_size", "PacketOctets"),
            FieldSpec("dns_again_ps", "dns_again", "Interval"),
            FieldSpec("hello_octets", "hello_size", "RequestOctets"),
            FieldSpec("flight_octets", "flight_size", "RequestOctets"),
            FieldSpec("resumed_octets", "resumed_size", "RequestOctets"),
            FieldSpec("finished_octets", "finished_size", "RequestOctets"),
            FieldSpec("resumed_part", "resumed_part", "FromZeroToOne"),
            FieldSpec("early_part", "early_part", "FromZeroToOne"),
            FieldSpec("request_octets", "request_size", "RequestOctets"),
            FieldSpec("page_wait", "page_wait", "Times"),
            FieldSpec("file_wait", "file_wait", "Times"),
            FieldSpec("reading", "reading", "Times"),
            FieldSpec("count", "count", "Repetitions"),
        ),
        facts={},
    ),
    "video": RuleSpec(
        Video,
        VideoSpec,
        (
            FieldSpec("ladder_millibps", "ladder", "BitRate", is_list=True),
            FieldSpec("segment_ps", "segment", "Interval"),
            FieldSpec("choice", "choice", "word"),
            FieldSpec("rate_part", "rate_part", "PartOfOne"),
            FieldSpec("rate_segments", "rate_segments", "SegmentCount"),
            FieldSpec("bola_least_ps", "bola_least", "Interval"),
            FieldSpec("bba_reservoir_ps", "bba_reservoir", "Interval"),
            FieldSpec("bba_cushion_ps", "bba_cushion", "Interval"),
            FieldSpec("buffer_ps", "buffer", "Interval"),
            FieldSpec("start_segments", "start_segments", "SegmentCount"),
            FieldSpec("resume_segments", "resume_segments", "SegmentCount"),
            FieldSpec("length", "length", "Times"),
            FieldSpec("pause", "pause", "Times"),
            FieldSpec("count", "count", "Repetitions"),
            FieldSpec("request_octets", "request_size", "RequestOctets"),
        ),
        facts={},
    ),
}
"""What each application declares, by its kind."""
