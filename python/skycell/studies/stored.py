"""Results of studies that come with the package: what `skycell advise` answers from without a run.

Each is a file `stored.csv` in the folder of its study, with a row per run: levels of the settings
and of the options, replication, the first 12 digits of the hash of its spec, measures.
`tools/generate.py stored queue` and `stored category` write them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from io import StringIO
from typing import Any, Literal

from skycell.experiment.design import Level
from skycell.experiment.ranking import Aim
from skycell.experiment.result import SweepResult, SweepRun
from skycell.experiment.subjects import of_default_port
from skycell.measures.responses import is_response
from skycell.studies.compare import Row
from skycell.studies.library import study_folder, table_of
from skycell.studies.model import MEANINGS, UNITS
from skycell.studies.settings import Setting, distance

FILE = "stored.csv"
_HASH_DIGITS = 12

Choice = Literal["queue", "category"]
"""What is chosen: buffer, queue management and TCP of a link; or a service category of ATM."""


@dataclass(frozen=True)
class Source:
    """A study that answers, and what of it.

    Attributes:
        study: its id.
        tables: whose rows are stored.
        settings: factors that a user has.
        options: factors that a user chooses, by their names in an answer.
        title: what its options are, in a few words.
        replications: runs of each cell that are stored; the study's own number if 0.
        port: the default port of its network; empty if no measure concerns it.
        units: of options that are numbers.
        simplest: levels of the option that everybody has, by their names in an answer.
    """

    study: str
    tables: tuple[str, ...]
    settings: tuple[str, ...]
    options: Mapping[str, str]
    title: str
    replications: int = 0
    port: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    simplest: Mapping[str, Level] = field(default_factory=dict)


SOURCES: Mapping[Choice, Source] = {
    "queue": Source(
        "link-options",
        ("link-options-bulk", "link-options-loss", "link-options-web"),
        ("rate_mbps", "rtt_ms", "users", "loss_percent", "traffic"),
        {"buffer": "buffer", "policy": "policy", "tcp": "tcp"},
        "buffer in products of rate and round trip, queue management, TCP",
        port="router1>router2",
        units={"buffer": "BDP"},
        simplest={"policy": "tail_drop", "tcp": "cubic"},
    ),
    "category": Source(
        "service-categories",
        ("service-categories-use", "service-categories-web"),
        ("hop", "traffic"),
        {"service": "service", "buffer_rtt": "buffer"},
        "service category, buffer in round trips of the link",
        replications=8,
        units={"buffer": "RTT"},
        simplest={"service": "ubr_tail_drop"},
    ),
}

CATEGORY_AIMS: Mapping[str, Aim] = {
    "goodput": Aim("throughput", "greater", "what all users get together"),
    "delay": Aim("mean_flow_delay", "smaller", "mean delay from end to end", "bulk"),
    "fairness": Aim("jain_fairness", "greater", "Jain's index of the users' throughputs", "bulk"),
    "vc_fairness": Aim("edge_fairness", "greater", "Jain's index of the VCs' throughputs", "bulk"),
    "guarantee": Aim("guarantee_shortfall", "smaller", "part of the MCRs that is missing", "bulk"),
    "pages": Aim("page_response_p95", "smaller", "time within which 95 % of the pages come", "web"),
}
"""What matters where a service category is chosen, by the word for it."""

_RESPONSE_NAMES: Mapping[str, tuple[str, float]] = {
    "page_response_p95": ("p95_page_response", 1e3),
}
"""Responses of sweeps in place of a study's measures, where a queue is chosen; and the factor."""

_HOP_RTT_S: Mapping[str, float] = {"terrestrial": 0.052, "leo": 0.132, "geo": 0.582}
"""Round trips of the far users, by the hop; without the 10 us behind the last router."""
CATEGORY_RATE_BPS, CATEGORY_USERS = 8.48e6, 10


def setting_of(choice: Choice, levels: Mapping[str, str]) -> Setting:
    """The setting of a row of a source."""
    if choice == "category":
        traffic: Any = {"persistent": "bulk"}.get(levels["traffic"], levels["traffic"])
        rtt_s = _HOP_RTT_S[levels["hop"]]
        return Setting(CATEGORY_RATE_BPS, rtt_s, CATEGORY_USERS, traffic)
    own: Any = levels["traffic"]
    return Setting(
        float(levels["rate_mbps"]) * 1e6,
        float(levels["rtt_ms"]) / 1e3,
        int(levels["users"]),
        own,
        float(levels["loss_percent"]) / 100,
    )


@dataclass(frozen=True)
class StoredResult:
    """The runs of a study in one setting.

    Attributes:
        source: the study.
        table: of the study that has these runs.
        setting: in which they were made.
        result: its options' runs, as those of a sweep.
    """

    source: Source
    table: str
    setting: Setting
    result: SweepResult

    def command(self) -> str:
        """What makes the same runs again."""
        more = f" --replications {self.source.replications}" if self.source.replications else ""
        return f"skycell reproduce {self.table}{more}"


def to_csv(choice: Choice, rows: Iterable[Row], version: str) -> str:
    """The rows of a study's tables as the file that comes with the package.

    Measures of a part of the network, such as a node, are left out.
    """
    source = SOURCES[choice]
    keys = (*source.settings, *source.options)
    known = {name for row in rows for name in row.factors}
    runs: dict[tuple[str, ...], dict[str, Any]] = {}
    measures: dict[str, None] = {}
    for row in rows:
        if row.table not in source.tables or "node" in row.factors:
            continue
        measures[row.metric] = None
        levels = {name: str(row.factors[name]) for name in keys if name in known}
        hashes = row.spec_hashes
        for at, (value, spec) in enumerate(zip(row.by_replication, hashes, strict=True), 1):
            own = runs.setdefault(
                (row.table, *levels.values(), str(at)),
                {"table": row.table, **levels, "replication": at, "spec": spec[:_HASH_DIGITS]},
            )
            own[row.metric] = "" if value is None else f"{value:.6g}"
    text = StringIO()
    text.write(f"# skycell {version.partition('+')[0]}, engine fast, seeds from 1\n")
    columns = ["table", *keys, "replication", "spec", *measures]
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows(runs.values())
    return text.getvalue()


@cache
def stored_results(choice: Choice) -> tuple[StoredResult, ...]:
    """What comes with the package, a result for each setting."""
    source = SOURCES[choice]
    text = (study_folder(source.study) / FILE).read_text(encoding="utf-8")
    head, _, table = text.partition("\n")
    version = head.removeprefix("# skycell ").partition(",")[0]
    by_setting: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in csv.DictReader(StringIO(table)):
        by_setting.setdefault(tuple(row[key] for key in source.settings), []).append(row)
    return tuple(_result(choice, rows, version) for rows in by_setting.values())


def _result(choice: Choice, rows: Sequence[dict[str, str]], version: str) -> StoredResult:
    source = SOURCES[choice]
    setting = setting_of(choice, rows[0])
    fixed = {"table", *source.settings, *source.options, "replication", "spec"}
    measures = [key for key in rows[0] if key not in fixed and any(row[key] for row in rows)]
    by_option: dict[tuple[str, ...], dict[int, dict[str, str]]] = {}
    for row in rows:  # tables may share runs
        option = tuple(row[key] for key in source.options)
        by_option.setdefault(option, {}).setdefault(int(row["replication"]), row)
    runs = tuple(
        SweepRun(
            {new: _level(row[old]) for old, new in source.options.items()},
            number,
            number,
            row["spec"],
            dict(_measured(choice, key, row[key]) for key in measures),
            None,
        )
        for replications in by_option.values()
        for number, row in replications.items()
    )
    return StoredResult(
        source, rows[0]["table"], setting, result_of(choice, runs, measures, setting, version)
    )


def _measured(choice: Choice, measure: str, text: str) -> tuple[str, float | None]:
    name, times = _named(choice, measure)
    return name, float(text) * times if text else None


def _named(choice: Choice, measure: str) -> tuple[str, float]:
    own = (measure, 1.0)
    return _RESPONSE_NAMES.get(measure, own) if choice == "queue" else own


def _level(text: str) -> Level:
    try:
        return float(text)
    except ValueError:
        return text


def result_of(
    choice: Choice,
    runs: Sequence[SweepRun],
    measures: Iterable[str],
    setting: Setting,
    version: str,
    from_store: int = 0,
) -> SweepResult:
    """The runs of a source's options in a setting, as the result of a sweep."""
    source = SOURCES[choice]
    units: dict[str, str] = {}
    meanings: dict[str, str] = {}
    for measure in measures:
        name, times = _named(choice, measure)
        units[name] = "ms" if times != 1 else UNITS[measure]
        meanings[name] = MEANINGS[name]
    return SweepResult(
        title=f"{source.title}: {setting.in_words()}",
        file=source.study,
        factors={
            name: tuple(dict.fromkeys(run.levels[name] for run in runs))
            for name in source.options.values()
        },
        factor_units=source.units,
        replications=max(run.replication for run in runs),
        first_seed=1,
        common_random_numbers=True,
        units=units,
        engine="fast",
        version=version,
        runs=tuple(runs),
        from_store=from_store or len(runs),
        subjects=dict.fromkeys(of_default_port(filter(is_response, units)), source.port),
        meanings=meanings,
    )


def nearest(choice: Choice, asked: Setting) -> StoredResult | None:
    """The stored result whose setting is nearest to a question's; none has its traffic."""
    known = [
        stored_result
        for stored_result in stored_results(choice)
        if stored_result.setting.traffic == asked.traffic
    ]
    return min(known, key=lambda one: distance(asked, one.setting), default=None)


def settings_with(choice: Choice, traffic: str) -> list[Setting]:
    """The settings of all stored results with this traffic."""
    return [
        stored_result.setting
        for stored_result in stored_results(choice)
        if stored_result.setting.traffic == traffic
    ]


def tables_of(choice: Choice) -> list[Any]:
    """The tables of a source, with their study."""
    return [table_of(name) for name in SOURCES[choice].tables]
