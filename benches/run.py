"""Fixed scenarios that speed is quoted from: `make bench`, or `python benches/run.py --help`.

Each scenario runs on one core, CPU time of the engine only; `fast` three times (the median counts),
`reference` once, in one process. Where costs are compared as scenarios grow, they run in turns,
seven times. Ratios, not times, are what may be quoted. Results go to `benches/results/latest.json`.
"""

import argparse
import itertools
import json
import platform
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from skycell import _core
from skycell.scenario import NetworkSpec, parse
from skycell.spec.columns import columns_of

RESULTS = Path(__file__).parent / "results" / "latest.json"
REPEATS = 3
COMPARED_ROUNDS = 7
SCALE_RATIOS = (("5 flows", "5000 flows", 1.5), ("1000 cells", "1000000 cells", 1.2))
SENDER_RATIOS = (("NewReno", "linux", 1.3), ("NewReno", "BBR", 2.0), ("NewReno", "BBRv3", 2.0))
PEAK_RATE = "155.52 Mbit/s"
PORT_GAP = {"frame_jitter": {"kind": "port_gap", "up_to": "1 cell"}}
"""The rule of the studies, which most scenarios have."""


def dumbbell(
    sources: int,
    preset: str,
    recovery: str,
    policy: str,
    buffer: int,
    duration: str,
    **delays: str,
) -> dict[str, Any]:
    """A scenario of the N-source configuration; delays of `bottleneck` and `access` links."""
    return {
        "run": {"duration": duration},
        "topology": {
            "kind": "dumbbell",
            "sources": sources,
            "bottleneck": {
                "rate": PEAK_RATE,
                "framing": "none",
                "delay": delays["bottleneck"],
                "buffer": f"{buffer} cells",
                "policy": policy,
            },
            "access": {"delay": delays["access"], **PORT_GAP},
        },
        "tcp": {"preset": preset, "recovery": recovery},
    }


def groups() -> Iterator[tuple[str, float, list[dict[str, Any]]]]:
    """Name, least ratio of reference to fast that we ask for, and scenarios of each group."""
    geo = {"bottleneck": "275 ms", "access": "5 ms"}
    yield (
        "geo",
        40.0,
        [
            dumbbell(n, "icccn97-geo", "sack", policy, buffer, "100 s", **geo)
            for n, buffer, policy in itertools.product(
                (5, 15, 50), (200_000, 25_000), ("epd", "selective_drop")
            )
        ],
    )
    wan = {"bottleneck": "5 ms", "access": "5 ms"}
    yield (
        "wan",
        5.0,
        [
            dumbbell(n, "icccn97-wan", recovery, policy, buffer, "20 s", **wan)
            for n, buffer, policy, recovery in itertools.product(
                (5, 15),
                (12_000, 36_000),
                ("tail_drop", "epd", "selective_drop"),
                ("vanilla", "reno", "sack"),
            )
        ],
    )
    yield (
        "jitter",
        5.0,
        [
            senders_take_a_frame(dumbbell(n, "icccn97-wan", "sack", policy, 12_000, "20 s", **wan))
            for n, policy in itertools.product((5, 15), ("tail_drop", "epd"))
        ],
    )
    yield (
        "vbr",
        5.0,
        [
            beside_vbr(rate, recovery, policy)
            for rate, recovery, policy in itertools.product(
                (0.0, 0.1, 0.5), ("vanilla", "sack"), ("tail_drop", "selective_drop")
            )
        ],
    )
    yield (
        "classes",
        3.0,
        [
            *(
                classes_of_tcp(n, policy)
                for n, policy in itertools.product((3, 15), ("tail_drop", "selective_drop"))
            ),
            *(over_lossy_link(beside_vbr(rate, "sack", "epd")) for rate in (0.1, 0.5)),
        ],
    )
    yield (
        "vcs",
        3.0,
        [
            *(
                wfq_switch(delay, access)
                for delay, access in (("100 us", "10 us"), ("10 ms", "2500 us"))
            ),
            *(
                queues_of_vcs(n, scheduler, policy)
                for n, scheduler, policy in itertools.product(
                    (5, 50),
                    ("virtual_spacing", "vc_round_robin", "vc_weighted_round_robin"),
                    ("tail_drop", "selective_drop"),
                )
            ),
        ],
    )
    yield (
        "lots",
        5.0,
        [
            *(
                parking_lot("100 ms", "9180 B", buffer, policy)
                for buffer, policy in itertools.product((6_000, 60_000), ("epd", "selective_drop"))
            ),
            *(
                parking_lot("5 ms", mss, buffer, policy)
                for mss, buffer, policy in itertools.product(
                    ("512 B", "1460 B"), (3_000, 12_000), ("tail_drop", "epd")
                )
            ),
        ],
    )
    yield ("hosts", 3.0, [slow_hosts(n) for n in (10, 30)])
    lan = {"bottleneck": "5 us", "access": "5 us"}
    yield (
        "lan",
        5.0,
        [
            dumbbell(5, "icccn97-lan", recovery, policy, buffer, "10 s", **lan)
            for buffer, policy, recovery in itertools.product(
                (1_000, 3_000),
                ("tail_drop", "epd", "selective_drop"),
                ("vanilla", "reno", "sack"),
            )
        ],
    )


def parking_lot(delay: str, mss: str, buffer: int, policy: str) -> dict[str, Any]:
    """Two connections over three congested links, each of which two others cross, too."""
    bottleneck = {"rate": PEAK_RATE, "framing": "none", "delay": delay}
    return {
        "run": {"duration": "5 s"},
        "topology": {
            "kind": "parking_lot",
            "hops": 3,
            "long_flows": 2,
            "cross_flows": 2,
            "bottleneck": bottleneck | {"buffer": f"{buffer} cells", "policy": policy},
            "access": {"delay": "5 us", **PORT_GAP},
        },
        "tcp": {
            "recovery": "sack",
            "mss": mss,
            "receiver_window": "1 RTT",
            "window_scaling": True,
        },
    }


def slow_hosts(sources: int) -> dict[str, Any]:
    """A WAN whose hosts are slower than the bottleneck: the ports to them multiplex, too."""
    scenario = dumbbell(
        sources, "icccn97-wan", "sack", "epd", 12_000, "5 s", bottleneck="5 ms", access="5 ms"
    )
    scenario["topology"]["access"] |= {"rate": "20 Mbit/s", "framing": "none"}
    return scenario


def beside_vbr(rate: float, recovery: str, policy: str) -> dict[str, Any]:
    """A WAN scenario beside a VBR source of 300 ms on and off, UBR with a guaranteed rate."""
    scenario = dumbbell(
        5, "icccn97-wan", recovery, policy, 12_000, "20 s", bottleneck="5 ms", access="5 ms"
    )
    scenario["topology"]["bottleneck"] |= {
        "class": [{"name": "nrt_vbr"}],
        "scheduler": {"kind": "guaranteed_rate", "rates": {"ubr": rate}},
    }
    times = {"on": "300 ms", "off": "300 ms", "phase": "0 s"}
    scenario["source"] = [{"kind": "vbr", "name": "vbr", "peak_rate": 1.0, **times}]
    return scenario


def classes_of_tcp(each: int, policy: str) -> dict[str, Any]:
    """A WAN link with a queue for each of two classes, GFR and UBR, with `each` connections."""
    link = {"rate": PEAK_RATE, "framing": "none", "delay": "5 ms"}
    access = {**link, **PORT_GAP}
    queue = {"buffer": "6000 cells", "policy": policy}
    shared = {
        "class": [{"name": "gfr", **queue}],
        "scheduler": {"kind": "guaranteed_rate", "rates": {"gfr": 0.6, "ubr": 0.2}},
        **queue,
    }
    pairs = [(f"{name}{n}", name) for name in ("gfr", "ubr") for n in range(each)]
    return {
        "run": {"duration": "20 s"},
        "topology": {
            "kind": "graph",
            "hosts": [host for name, _ in pairs for host in (name, f"{name}.end")],
            "switches": ["west", "east"],
            "link": [
                *({"from": name, "to": "west", **access} for name, _ in pairs),
                *({"from": "east", "to": f"{name}.end", **access} for name, _ in pairs),
                {"from": "west", "to": "east", **link, **shared},
            ],
            "flow": [
                {"name": name, "source": name, "destination": f"{name}.end", "class": service}
                for name, service in pairs
            ],
        },
        "tcp": {"preset": "icccn97-wan", "recovery": "sack"},
    }


def senders_take_a_frame(scenario: dict[str, Any]) -> dict[str, Any]:
    """The same with processing times at the ends of connections, and no waits at ports."""
    scenario["topology"]["access"]["frame_jitter"] = "1 frame"
    return scenario


def over_lossy_link(scenario: dict[str, Any]) -> dict[str, Any]:
    """The same with a bottleneck that loses one frame in ten thousand."""
    scenario["topology"]["bottleneck"] |= {"loss": "0.01 %"}
    return scenario


class Lengths:
    """A scenario and the same four times as long.

    Their difference has no set-up, no start of connections and no losses of the first windows,
    which grow with the number of flows but not with the segments.
    """

    def __init__(self, scenario: dict[str, Any]) -> None:
        duration = int(scenario["run"]["duration"].removesuffix(" s"))
        self._specs = [
            parse(scenario | {"run": {"duration": f"{seconds} s"}}, "bench").resolve(seed=1)
            for seconds in (duration, 4 * duration)
        ]
        self._flows: list[list[dict[str, Any]]] = [[], []]
        self._seconds: list[list[float]] = [[], []]

    def run(self) -> None:
        """Runs both once."""
        for at, spec in enumerate(self._specs):
            seconds, records = cpu_seconds(spec, "fast")
            self._seconds[at].append(seconds)
            self._flows[at] = records["flows"]

    def _more(self, key: str) -> int:
        first, longer = (sum(flow[key] for flow in flows) for flows in self._flows)
        return longer - first

    @property
    def us_per_segment(self) -> list[float]:
        """Of each round, microseconds."""
        segments = self._more("segments_sent")
        pairs = zip(*self._seconds, strict=True)
        return [(longer - first) / segments * 1e6 for first, longer in pairs]

    def row(self) -> dict[str, Any]:
        """The costs of a segment in all rounds, and what else is told of them."""
        costs = self.us_per_segment
        segments = sum(flow["segments_sent"] for flow in self._flows[0])
        cost = statistics.median(costs)
        beside = statistics.median(self._seconds[0]) - cost * 1e-6 * segments
        return {
            "spec_hashes": [spec.hash() for spec in self._specs],
            "us_per_segment": round(cost, 3),
            "us_per_segment_by_round": [round(cost, 3) for cost in costs],
            "retransmitted": round(
                self._more("segments_retransmitted") / self._more("segments_sent"), 5
            ),
            "beside_segments_s": round(beside, 3),
        }


def compared_costs(
    title: str,
    compared: Iterator[tuple[str, dict[str, Any]]],
    asked_ratios: Sequence[tuple[str, str, float]],
) -> dict[str, Any]:
    """Costs of a segment in several scenarios, and ratios of these, each with what is asked for.

    A shared machine is slower at some moments than at others, so each round runs all scenarios, and
    a ratio is the median of those of the rounds.
    """
    scenarios = {name: Lengths(scenario) for name, scenario in compared}
    for _ in range(COMPARED_ROUNDS):
        for lengths in scenarios.values():
            lengths.run()
    rows: dict[str, Any] = {name: lengths.row() for name, lengths in scenarios.items()}
    for name, row in rows.items():
        print(
            f"{title}, {name}: {row['us_per_segment']} us a segment "
            f"({row['retransmitted']:.2%} repeated), {row['beside_segments_s']} s beside"
        )
    ratios = {}
    for one, other, asked in asked_ratios:
        pairs = zip(scenarios[one].us_per_segment, scenarios[other].us_per_segment, strict=True)
        by_round = [round(more / less, 2) for less, more in pairs]
        ratio = round(statistics.median(by_round), 2)
        ratios[f"{other} against {one}"] = {"ratio": ratio, "by_round": by_round, "asked": asked}
        print(
            f"{title}, {other} against {one}: {ratio}, in rounds {min(by_round)} to "
            f"{max(by_round)} (asked: below {asked})"
        )
    return {"rows": rows, "ratios": ratios}


def wfq_switch(delay: str, access: str) -> dict[str, Any]:
    """The WFQ switch of Bonaventure's GFR study: ten VCs, transfers of 10 MB, thresholds of VCs."""
    scenario = dumbbell(
        10, "icccn97-wan", "sack", "tail_drop", 8_192, "10 s", bottleneck=delay, access=access
    )
    thresholds = {"tagged_threshold": "6144 cells", "drop_threshold": "7168 cells"}
    scenario["topology"]["bottleneck"] |= {
        "rate": "365566 cells/s",
        "policy": {"kind": "vc_priority_drop", **thresholds},
        "scheduler": "virtual_spacing",
    }
    del scenario["topology"]["bottleneck"]["framing"]
    contract = {"mfs": "200 cells", "mbs": "201 cells", "tagging": "network"}
    others = [f"flow{i}.forward" for i in range(2, 11)]
    scenario["gfr"] = [
        {"vcs": ["flow1.forward"], "mcr": "100000 cells/s", **contract},
        {"vcs": others, "mcr": "20000 cells/s", **contract},
    ]
    idle = {"kind": "exponential", "mean": "100 ms"}
    transfers = {"kind": "transfers", "size": "10 MB", "idle": idle, "new_connection": True}
    return scenario | {"traffic": transfers, "tcp": {"preset": "bonaventure-sack"}}


def queues_of_vcs(sources: int, scheduler: str, policy: str) -> dict[str, Any]:
    """A WAN scenario with a queue for each VC, MCRs of 1 to 5 parts in turn."""
    scenario = dumbbell(
        sources, "icccn97-wan", "sack", policy, 12_000, "5 s", bottleneck="5 ms", access="5 ms"
    )
    scenario["topology"]["bottleneck"]["scheduler"] = scheduler
    scenario["gfr"] = [
        {"vcs": [f"flow{i}.forward"], "mcr": f"{(i % 5 + 1) * 100_000 // sources} cells/s"}
        for i in range(1, sources + 1)
    ]
    return scenario


def scale() -> Iterator[tuple[str, dict[str, Any]]]:
    """Scenarios whose cost per segment is compared: flows, buffers, a gigabit."""
    for flows in (5, 50, 500, 5_000):
        scenario = dumbbell(
            flows, "icccn97-wan", "sack", "epd", 60_000, "10 s", bottleneck="145 ms", access="5 ms"
        )
        # Equal total load: the windows share one that fills the link and half the buffer, which
        # leaves each of 5000 flows two segments and a half.
        window = 6_400_000 // flows
        scenario["tcp"] |= {
            "receiver_window": f"{window} B",
            "initial_ssthresh": f"{window} B",
            "max_cwnd": f"{window} B",
        }
        yield f"{flows} flows", scenario
    for buffer in (1_000, 10_000, 100_000, 1_000_000):
        scenario = dumbbell(
            15, "icccn97-wan", "sack", "epd", buffer, "10 s", bottleneck="5 ms", access="5 ms"
        )
        yield f"{buffer} cells", scenario
    gigabit = dumbbell(
        1_000, "icccn97-wan", "sack", "epd", 70_000, "10 s", bottleneck="5 ms", access="5 ms"
    )
    gigabit["topology"]["bottleneck"]["rate"] = "1 Gbit/s"
    gigabit["tcp"] |= {"mss": "1460 B", "receiver_window": "65535 B", "window_scaling": False}
    yield "1 Gbit/s, 1000 flows", gigabit


def senders() -> Iterator[tuple[str, dict[str, Any]]]:
    """Scenarios that differ in loss recovery and congestion control alone: packets, five flows."""
    new_reno = {"recovery": "new_reno", "congestion": "reno", "slow_start": "standard"}
    kinds = {
        "NewReno": new_reno,
        "linux": {},
        "BBR": {"congestion": "bbr"},
        "BBRv3": {"congestion": "bbr3"},
    }
    for name, tcp in kinds.items():
        yield (
            name,
            {
                "run": {"duration": "10 s"},
                "topology": {
                    "kind": "dumbbell",
                    "sources": 5,
                    "bottleneck": {
                        "rate": "100 Mbit/s",
                        "framing": "ip",
                        "delay": "19 ms",
                        "buffer": "1000 packets",
                    },
                    "access": {"rate": "1 Gbit/s", "framing": "ip", "delay": "500 us"},
                },
                "tcp": {"preset": "linux", "mss": "1448 B", "receiver_window": "4 MB", **tcp},
            },
        )


TRACES = ("cwnd", "sequence", "queue", "vc_queue", "discards")


def tracing_cost(scenario: dict[str, Any]) -> float:
    """CPU time of a run with all traces of a TCP run, against the same run without."""
    plain = parse(scenario, "bench").resolve(seed=1)
    records = plain.records.model_copy(update={"traces": TRACES})
    traced = plain.model_copy(update={"records": records})
    medians = [
        statistics.median(cpu_seconds(spec, "fast")[0] for _ in range(REPEATS))
        for spec in (plain, traced)
    ]
    return round(medians[1] / medians[0], 2)


def gain_of_second_worker() -> float:
    """Wall time of a study of short runs with one process, against two, all its replications."""
    from skycell.studies import reproduce

    walls = []
    for jobs in (1, 2):
        before = time.perf_counter()
        reproduce(["atmf970616-s4"], jobs=jobs)
        walls.append(time.perf_counter() - before)
    return round(walls[0] / walls[1], 2)


def divided() -> Iterator[tuple[str, NetworkSpec]]:
    """Networks that are divided into regions, by name."""
    from skycell.cli.inputs import load_input

    root = Path(__file__).parents[1]
    cities = str(root / "examples" / "hundred-cities.toml")
    for rate, duration in (("10 Mbit/s", "20 s"), ("100 Mbit/s", "10 s")):
        rates = {f"topology.{links}.rate": rate for links in ("inter_satellite", "ground")}
        spec = load_input(cities, {**rates, "run.duration": duration}).resolve(seed=1)
        yield f"a hundred cities over Kuiper, {rate}", spec
    port = {"framing": "ip", "buffer": "100 packets"}
    starlink = {
        "kind": "constellation",
        "constellation": "starlink-like",
        "stations": "cities-1000",
        "step": "1 s",
        "inter_satellite": {**port, "rate": "100 Mbit/s"},
        "ground": {**port, "rate": "10 Mbit/s"},
    }
    pairs = [{"pairs": "reciprocal_permutation"}]
    thousand = {"run": {"duration": "2 s"}, "topology": starlink, "traffic": pairs}
    yield "a thousand cities over Starlink, 10 Mbit/s", parse(thousand).resolve(seed=1)
    yield "parking lot of 50 hops, packets", parse(routers_in_a_chain()).resolve(seed=1)
    yield "parking lot of 8 hops, cells", parse(switches_in_a_chain()).resolve(seed=1)
    yield "200 terminals over GEO, packets", parse(terminals()).resolve(seed=1)
    yield "3000 users of a beam", parse(users_of_a_beam()).resolve(seed=1)


def routers_in_a_chain() -> dict[str, Any]:
    """Fifty routers in a chain; two long connections, and two over each hop."""
    lot = {"kind": "parking_lot", "hops": 50, "long_flows": 2, "cross_flows": 2}
    hop = {"rate": "100 Mbit/s", "delay": "5 ms", "buffer": "500 packets"}
    return of_packets(lot, hop, "1 RTT", "20 s")


def switches_in_a_chain() -> dict[str, Any]:
    """Eight hops between ATM switches; ten long connections, and twenty over each hop."""
    lot = parking_lot("100 ms", "9180 B", 12_000, "epd")
    lot["topology"] |= {"hops": 8, "long_flows": 10, "cross_flows": 20}
    return {**lot, "run": {"duration": "1000 s"}}


def terminals() -> dict[str, Any]:
    """A gateway's servers send to 200 terminals behind a geostationary satellite."""
    hop = {"rate": "1 Gbit/s", "delay": "250 ms", "buffer": "20000 packets"}
    return of_packets({"kind": "dumbbell", "sources": 200}, hop, "1 MB", "60 s")


def users_of_a_beam() -> dict[str, Any]:
    """Users behind a hundred terminals, each of which has a carrier back."""
    gse = {"kind": "gse", "modcod": "16APSK 3/4"}
    beam = {
        "kind": "beam",
        "terminals": 100,
        "delay": "260 ms",
        "servers": {"delay": "10 ms"},
        "forward": {"rate": "100 Mbaud", "framing": gse, "buffer": "200 ms"},
        "return": {"rate": "2 Mbaud", "framing": gse, "buffer": "100 kB"},
    }
    groups = [
        {"name": "browse", "users": 1000, "preset": "web_2025"},
        {"name": "speak", "users": 500, "preset": "g711"},
        {"name": "report", "users": 1500, "preset": "telemetry"},
    ]
    start = {"kind": "drawn", "latest": "10 s"}
    return {
        "run": {"duration": "40 s"},
        "topology": beam,
        "tcp": {"preset": "linux"},
        "start": start,
        "traffic": groups,
    }


def of_packets(
    topology: dict[str, Any], hop: dict[str, str], window: str, duration: str
) -> dict[str, Any]:
    """A scenario of SACK connections over such hops between routers."""
    access = {"framing": "ip", "rate": "1 Gbit/s", "delay": "1 ms"}
    return {
        "run": {"duration": duration},
        "topology": {**topology, "bottleneck": {"framing": "ip", **hop}, "access": access},
        "tcp": {"recovery": "sack", "window_scaling": True, "receiver_window": window},
    }


def gain_of_second_thread(spec: NetworkSpec) -> dict[str, float] | None:
    """Wall time of one run with one thread, against two, in turns; and how far more would help.

    Beside it stands what two runs at once gain against one after the other. They share nothing but
    the machine, so it is the most that two of its cores give.
    """
    text, columns = spec.canonical_json(), columns_of(spec)

    def run(threads: int) -> tuple[float, dict[str, Any]]:
        before = time.perf_counter()
        records, _ = _core.run(text, "fast", None, columns, threads)
        return time.perf_counter() - before, json.loads(records)["engine_stats"]

    def two_runs() -> float:
        before = time.perf_counter()
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(run, (1, 1)))
        return time.perf_counter() - before

    rounds = [(run(1), run(2), two_runs()) for _ in range(REPEATS)]
    regions = rounds[0][1][1].get("regions")
    if regions is None:
        return None
    return {
        "one_s": round(statistics.median(one[0] for one, _, _ in rounds), 2),
        "ratio": round(statistics.median(one[0] / two[0] for one, two, _ in rounds), 2),
        "two_runs": round(statistics.median(2 * one[0] / both for one, _, both in rounds), 2),
        "work_over_path": round(regions["events"] / regions["path_events"], 2),
    }


def cpu_seconds(spec: NetworkSpec, engine: str) -> tuple[float, dict[str, Any]]:
    """CPU time of one run, and its records."""
    text = spec.canonical_json()
    before = time.process_time()
    records, _ = _core.run(text, engine)
    return time.process_time() - before, json.loads(records)


def measure(scenario: dict[str, Any]) -> dict[str, Any]:
    """Times of one scenario, and that both engines left the same records."""
    spec = parse(scenario, "bench").resolve(seed=1)
    runs = [cpu_seconds(spec, "fast") for _ in range(REPEATS)]
    fast = statistics.median(seconds for seconds, _ in runs)
    records = runs[0][1]
    segments = sum(flow["segments_sent"] for flow in records["flows"])
    stats = records["engine_stats"]
    row: dict[str, Any] = {
        "spec_hash": spec.hash(),
        "fast_s": round(fast, 4),
        "segments": segments,
        "us_per_segment": round(fast / segments * 1e6, 3),
        "events_per_segment": round(stats["events"] / segments, 2),
        "cells_per_s": round(stats["cells"] / fast),
        "stepped": round(stats["cells_stepped"] / stats["cells"], 4),
    }
    seconds, reference = cpu_seconds(spec, "reference")
    own = ("engine", "engine_stats")
    for left in (records, reference):
        for key in own:
            del left[key]
    if records != reference:
        raise SystemExit(f"the engines differ on {spec.hash()}: {json.dumps(scenario)}")
    row |= {"reference_s": round(seconds, 3), "ratio": round(seconds / fast, 2)}
    return row


def name_of(scenario: dict[str, Any]) -> str:
    """What distinguishes a scenario within its group."""
    topology = scenario["topology"]
    if topology["kind"] == "graph":
        bottleneck = topology["link"][-1]
        return f"N={len(topology['flow'])}, {bottleneck['buffer']}, {bottleneck['policy']}"
    bottleneck = topology["bottleneck"]
    policy, scheduler = bottleneck["policy"], bottleneck.get("scheduler", {})
    named = policy if isinstance(policy, str) else policy["kind"]
    if topology["kind"] == "parking_lot":
        return ", ".join((bottleneck["delay"], scenario["tcp"]["mss"], bottleneck["buffer"], named))
    rate = topology["access"].get("rate")
    hosts = [] if rate is None else [f"hosts {rate}"]
    parts = (f"N={topology['sources']}", *hosts, bottleneck["buffer"], named)
    tcp = scenario["tcp"].get("recovery", scenario["tcp"]["preset"])
    if isinstance(scheduler, str):
        return ", ".join((*parts, tcp, scheduler, bottleneck["delay"]))
    guarantees = [f"GR {rate}" for rate in scheduler.get("rates", {}).values()]
    losses = [f"loss {bottleneck['loss']}"] if "loss" in bottleneck else []
    return ", ".join((*parts, tcp, *guarantees, *losses))


def main() -> int:
    """Runs everything, prints a table, writes the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    names = [*(name for name, _, _ in groups()), "scale", "senders", "threads", "other"]
    parser.add_argument("--only", choices=names, help="one group")
    parser.add_argument("--out", type=Path, default=RESULTS, help="where the results go")
    arguments = parser.parse_args()
    results: dict[str, Any] = {
        "version": _core.VERSION,
        "machine": {"processor": platform.machine(), "python": platform.python_version()},
        "profile": "release",
        "groups": {},
    }
    for group, asked, scenarios in groups():
        if arguments.only not in (None, group):
            continue
        rows = {name_of(scenario): measure(scenario) for scenario in scenarios}
        ratios = [row["ratio"] for row in rows.values()]
        summary = {
            "asked": asked,
            "median_ratio": round(statistics.median(ratios), 2),
            "least_ratio": min(ratios),
            "median_us_per_segment": statistics.median(r["us_per_segment"] for r in rows.values()),
            "rows": rows,
        }
        results["groups"][group] = summary
        print(
            f"{group}: reference / fast median {summary['median_ratio']}, least "
            f"{summary['least_ratio']} (asked: {asked}); "
            f"{summary['median_us_per_segment']} us a segment"
        )
    if arguments.only in (None, "scale"):
        results["scale"] = compared_costs("scale", scale(), SCALE_RATIOS)
    if arguments.only in (None, "senders"):
        results["senders"] = compared_costs("senders", senders(), SENDER_RATIOS)
    if arguments.only in (None, "threads"):
        results["threads"] = {}
        for name, spec in divided():
            gain = results["threads"][name] = gain_of_second_thread(spec)
            print(f"two threads against one, {name}: {gain} (asked: 1.7)", flush=True)
    if arguments.only in (None, "other"):
        traced = {
            group: tracing_cost(scenarios[0])
            for group, _, scenarios in groups()
            if group in ("geo", "wan", "lan")
        }
        results["other"] = {"tracing": traced, "second_worker": gain_of_second_worker()}
        print(f"all traces on against off: {traced} (asked: below 2)")
        print(f"two processes against one: {results['other']['second_worker']} (asked: 1.8)")
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"written: {arguments.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
