"""The network of study `service-categories` with a user's rate, round trip, users and losses.

With the study's own rate, round trip and users the runs are the study's: their specs are the same.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Unpack

from skycell.experiment.batch import Batch, MakeOptions
from skycell.experiment.result import SweepResult, SweepRun
from skycell.experiment.store import RunStore
from skycell.studies.compare import Row
from skycell.studies.library import Selection, study_folder
from skycell.studies.model import Study
from skycell.studies.plan import Plan, plan_runs
from skycell.studies.rows import measure_rows
from skycell.studies.settings import Setting
from skycell.studies.sources import CATEGORY_USERS, SOURCES
from skycell.studies.stored import levels_of, result_of

_OWN_RTT_S = 0.032
"""Round trip of the far users beside the hop, which is crossed twice each way."""
LEAST_RTT_S = 0.036
MOST_RATE_BPS = 622.08e6
"""OC-12, the fastest link of the papers."""
_HOST_RATE_BPS, _SERVER_RATE_BPS = 100e6, 1e9
"""What the study's hosts and its server have; faster links get hosts that are faster, too."""
VCS = 5
_CELL_BITS = 424
_MEASURES: Mapping[str, Sequence[str]] = {
    "bulk": (
        "throughput",
        "jain_fairness",
        "edge_fairness",
        "guarantee_shortfall",
        "retransmitted_octets_percent",
        "mean_flow_delay",
    ),
    "web": ("page_response_median", "page_response_p95"),
}
_HOPS = (0, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13)
"""Links of the study that cross the satellite."""
_TABLE = "service-categories-asked"
SERVICES = (
    "ubr_tail_drop",
    "ubr_epd",
    "ubr_sd",
    "ubr_fba",
    "gfr_dfba",
    "gfr_wfq",
    "abr",
    "abr_vsvd",
    "ip_fq_codel",
)
"""What runs of a setting compare."""
_NOT_BESIDE_VBR = "gfr_wfq"
"""Its scheduler orders VCs of one buffer, and VBR has a buffer of its own."""
SOURCE = SOURCES["category"][0]
"""The study that has this network."""


def refusal(setting: Setting) -> str | None:
    """Why the network cannot have a setting; none if it can."""
    limits = (
        (
            setting.rtt_s < LEAST_RTT_S,
            (
                f"a round trip of {LEAST_RTT_S * 1e3:g} ms or more, of which {_OWN_RTT_S * 1e3:g} "
                "ms are the users' and the ground's"
            ),
        ),
        (
            setting.rate_bps > MOST_RATE_BPS,
            f"at most {MOST_RATE_BPS / 1e6:g} Mbit/s",
        ),
        (
            not VCS <= setting.users <= 20 * VCS,
            f"{VCS} to {20 * VCS} users: one or more on each of its {VCS} VCs",
        ),
    )
    return "; and ".join(text for is_beyond, text in limits if is_beyond) or None


def services_of(setting: Setting) -> tuple[str, ...]:
    """What runs of just this link compare."""
    return tuple(name for name in SERVICES if setting.beside == "none" or name != _NOT_BESIDE_VBR)


def asked_study(setting: Setting) -> Study:
    """The study with the setting in place of its hops, rate and users, and one table."""
    text = (study_folder(SOURCE.study) / "study.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    cells = setting.rate_bps / _CELL_BITS
    values = {
        "link.rate": f"{setting.rate_bps / 1e6:.12g} Mbit/s",
        "link.fast": f"{setting.rate_bps * 2 / 1e6:.12g} Mbit/s",
        "mcr.large": f"{round(0.24 * cells)} cells/s",
        "mcr.small": f"{round(0.04 * cells)} cells/s",
    }
    if setting.mss is not None:
        values["tcp.mss"] = f"{setting.mss} B"
    for choice in data["choices"]:
        choice["value"] = values.get(choice["name"], choice["value"])
    network = data["experiments"]["network"]
    hop_ms = (setting.rtt_s - _OWN_RTT_S) / 4 * 1e3
    duration_s = round(min(40.0, max(10.0, 150 * setting.rtt_s)))
    asked: dict[str, Any] = {f"topology.link.{at}.delay": f"{hop_ms:.12g} ms" for at in _HOPS}
    asked["run.duration"] = f"{duration_s} s"
    if setting.loss:
        asked["topology.link.0.loss"] = setting.loss
    network["factors"]["hop"]["levels"] = {"asked": asked}
    host_bps = max(_HOST_RATE_BPS, 2 * setting.rate_bps)
    for link in network["scenario"]["topology"]["link"]:
        if link["to"] == "server":
            link["rate"] = _shown_rate(max(_SERVER_RATE_BPS, 4 * setting.rate_bps))
        elif link["framing"] == "ethernet":
            link["rate"] = _shown_rate(host_bps)
    if setting.users != CATEGORY_USERS:
        _with_users(network, setting.users, _shown_rate(host_bps))
    factors = [name for name in network["factors"] if name != "node"]
    traffic = {"bulk": "persistent"}.get(setting.traffic, setting.traffic)
    grid = {
        "service": list(services_of(setting)),
        "hop": ["asked"],
        "congested": ["board"],
        "buffer_rtt": ["0.5"],
        "edge_buffer_rtt": ["0.5"],
        "load": [setting.beside],
        "reserved_percent": [0],
        "tcp": ["sack"],
        "traffic": [traffic],
    }
    parts = [
        {"measure": measure, "factors": factors, "grid": [deepcopy(grid)]}
        for measure in _MEASURES[setting.traffic]
    ]
    data["tables"] = [
        {"id": _TABLE, "title": setting.in_words(), "experiment": "network", "parts": parts}
    ]
    for key in ("numbers", "names", "usual", "conclusions", "figures", "traced"):
        data.pop(key, None)
    return Study.model_validate(data)


def _shown_rate(rate_bps: float) -> str:
    """A rate as the study writes it, so that its own setting has its own specs."""
    return "1 Gbit/s" if rate_bps == _SERVER_RATE_BPS else f"{rate_bps / 1e6:.12g} Mbit/s"


def _with_users(network: dict[str, Any], users: int, host_rate: str) -> None:
    """Gives each edge router near and far users in turn, instead of one of both."""
    topology = network["scenario"]["topology"]
    places = [(at % VCS + 1, at // VCS) for at in range(users)]
    hosts = [(f"{'far' if row % 2 else 'near'}{vc}_{row}", vc, row % 2) for vc, row in places]
    flows = [
        {
            "name": name,
            "source": name,
            "destination": "server",
            "forward": [f"{name}.up", f"vc{vc}", "last"],
            "reverse": ["first", f"back{vc}", f"{name}.down"],
        }
        for name, vc, _ in hosts
    ]
    old = {flow["source"] for flow in topology["flow"]}
    topology["hosts"] = [name for name, *_ in hosts] + [
        name for name in topology["hosts"] if name not in old
    ]
    links = [link for link in topology["link"] if link["from"] not in old]
    before = next(at for at, link in enumerate(links) if link["to"] == "server")
    access = [
        {
            "from": name,
            "to": f"in{vc}",
            "rate": host_rate,
            "framing": "ethernet",
            "delay": "10 ms" if far else "1 ms",
        }
        for name, vc, far in hosts
    ]
    topology["link"] = links[:before] + access + links[before:]
    vcs = [vc for vc in topology["vc"] if vc["name"].partition(".")[0] not in old]
    for name, vc, _ in hosts:
        vcs.append({"name": f"{name}.up", "path": [name, f"in{vc}"]})
        vcs.append({"name": f"{name}.down", "path": [f"in{vc}", name]})
    topology["vc"] = vcs
    topology["flow"] = flows
    network["factors"]["service"]["levels"]["ip_fq_codel"]["topology.flow"] = [
        {key: flow[key] for key in ("name", "source", "destination")} for flow in flows
    ]


def plan_of(setting: Setting, replications: int, jobs: int | None = None) -> Plan:
    """The runs that answer; raises `ScenarioFaults`."""
    return plan_runs([_selection(setting)], 1, replications, {}, jobs)


def _selection(setting: Setting) -> Selection:
    study = asked_study(setting)
    return Selection(study, study.tables[0])


def compare_categories(
    setting: Setting,
    replications: int,
    *,
    engine: str = "fast",
    store: RunStore | None = None,
    **options: Unpack[MakeOptions],
) -> SweepResult:
    """Runs every service category in a setting.

    Args:
        setting: one that `refusal` does not refuse.
        replications: runs of each category.
        engine: that simulates.
        store: where runs are kept and looked up.
        options: of `Batch.make`.

    Raises:
        ScenarioFaults: the network cannot have the setting.
    """
    selection = _selection(setting)
    plan = plan_runs([selection], 1, replications, {}, options.get("jobs"))
    with Batch(store, engine, None) as batch:
        runs = plan.different
        made = batch.make(runs, **options)
        ends = {run.spec_hash: batch.end(run.spec_hash) for run in runs}
        version = batch.version
    rows = measure_rows([selection], plan, ends, {})
    measures = _MEASURES[setting.traffic]
    swept = _runs(rows)
    return result_of(SOURCE, swept, measures, setting, version, made.from_store)


def _runs(rows: Sequence[Row]) -> tuple[SweepRun, ...]:
    """The runs of rows of several measures."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in rows:
        levels = levels_of(SOURCE, row.factors)
        for at, (value, spec) in enumerate(
            zip(row.by_replication, row.spec_hashes, strict=True), 1
        ):
            own = found.setdefault(
                (spec, at),
                {"levels": levels, "spec": spec, "values": {}, "failures": row.failures},
            )
            own["values"][row.metric] = value
    return tuple(
        SweepRun(
            own["levels"],
            at,
            at,
            own["spec"],
            own["values"],
            "; ".join(own["failures"]) or None
            if all(value is None for value in own["values"].values())
            else None,
        )
        for (_, at), own in found.items()
    )
