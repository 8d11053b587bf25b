"""A short real run with every trace, made once."""

from functools import cache

import skycell
from skycell.records.result import RunResult

CBR_FIRST = {"class": [{"name": "cbr"}]}
"""A port that has a queue of its own for CBR cells."""

TRACES = ["cwnd", "sequence", "queue", "vc_queue", "discards"]


@cache
def short_run() -> RunResult:
    """Two SACK sources that overrun a small Selective Drop buffer within 200 ms."""
    scenario = skycell.parse(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "200 ms"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {
                    "buffer": "600 cells",
                    "policy": {"kind": "selective_drop", "drop_threshold": 0.8},
                },
            },
            "records": {"traces": TRACES},
        }
    )
    return skycell.run(scenario)


@cache
def run_of_classes() -> RunResult:
    """A source beside half a link of CBR cells that are served first, for 50 ms."""
    return skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "50 ms"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {"buffer": "600 cells", **CBR_FIRST},
            },
            "source": [{"kind": "cbr", "name": "voice", "rate": 0.5}],
            "records": {"traces": ["queue", "service"]},
        }
    )


@cache
def run_of_abr() -> RunResult:
    """Two sources over ABR VCs and ERICA+ for 300 ms; the first has half of the link promised."""
    return skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "300 ms"},
            "topology": {
                "kind": "dumbbell",
                "sources": 2,
                "bottleneck": {
                    "rate_algorithm": {"kind": "weighted_erica_plus", "ccr_from": "measured"}
                },
            },
            "abr": [
                {"vcs": ["flow1.forward"], "mcr": "77.76 Mbit/s", "icr": "pcr", "rif": 1.0},
                {"vcs": ["flow2.forward"], "rif": 1.0},
            ],
            "records": {"traces": ["acr", "rate_control"]},
        }
    )


@cache
def run_without_traces() -> RunResult:
    """One source and nobody else for 20 ms: it loses nothing and keeps nothing."""
    return skycell.run(
        {
            "preset": "icccn97-lan",
            "run": {"duration": "20 ms"},
            "topology": {"kind": "dumbbell", "sources": 1, "bottleneck": CBR_FIRST},
        }
    )


@cache
def run_over_a_sky() -> RunResult:
    """Six pairs over Iridium's pattern for 30 s, one of them over the meridian of 180 degrees.

    London and a place near it have the same satellite.
    """
    port = {"rate": "1 Mbit/s", "framing": "ip", "buffer": "50 packets"}
    pairs = [["los_angeles", "sydney"], ["new_york", "tokyo"], ["london", "new_york"]]
    pairs += [["tokyo", "51,0.5"], ["tokyo", "new_york"]]
    scenario = skycell.parse(
        {
            "run": {"duration": "30 s"},
            "topology": {
                "kind": "constellation",
                "constellation": "iridium-like",
                "stations": ["new_york", "london", "tokyo", "los_angeles", "sydney", "51,0.5"],
                "inter_satellite": dict(port),
                "ground": dict(port),
            },
            "traffic": [
                {"pairs": pairs},
                {"pairs": [["tokyo", "london"]], "kind": "cbr", "rate": "100 kbit/s"},
            ],
            "records": {"traces": ["sequence"]},
        }
    )
    return skycell.run(scenario)
