"""The studies that `skycell advise` answers from without a run: their tables, settings and options.

The first source of a choice is also what runs of just one link are made like.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skycell.experiment.advice import AIMS
from skycell.experiment.design import Level
from skycell.experiment.ranking import Aim
from skycell.studies.settings import Setting

Choice = Literal["queue", "category"]
"""What is chosen: buffer, queue management and TCP of a link; or a service category of ATM."""

Levels = Mapping[str, str]
"""Levels of the factors of a run, as its row has them."""


@dataclass(frozen=True)
class Option:
    """A factor that a user chooses, as an answer shows it.

    Attributes:
        name: in an answer.
        unit: of its levels; empty if they are no numbers of something.
        form: of a level, which stands at `{}`.
        names: levels that have another name in answers.
    """

    name: str
    unit: str = ""
    form: str = "{}"
    names: Mapping[str, str] = field(default_factory=dict)

    def shown(self, level: str) -> str:
        """A level by its name in an answer.

        >>> Option("service", form="ubr_{}", names={"ubr": "tail_drop"}).shown("ubr")
        'ubr_tail_drop'
        """
        return self.form.format(self.names.get(level, level))


@dataclass(frozen=True)
class Source:
    """A study that answers, and what of it.

    Attributes:
        study: its id.
        tables: whose rows are stored.
        settings: factors that a user has.
        options: factors that a user chooses.
        setting: of a row, from its levels of `settings`.
        title: what its options are, in a few words.
        aims: what may matter, by the word for it.
        fixed: levels of options that all of its runs have, by their names in an answer.
        only: levels of other factors that a row has to have to be stored.
        responses: measures that are shown as responses of sweeps, with the factor of their unit.
        replications: runs of each cell that are stored; the study's own number if 0.
        port: the default port of its network; empty if no measure concerns it.
        simplest: levels of the option that everybody has, by their names in an answer.
    """

    study: str
    tables: tuple[str, ...]
    settings: tuple[str, ...]
    options: Mapping[str, Option]
    setting: Callable[[Levels], Setting]
    title: str
    aims: Mapping[str, Aim]
    fixed: Mapping[str, Level] = field(default_factory=dict)
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    responses: Mapping[str, tuple[str, float]] = field(default_factory=dict)
    replications: int = 0
    port: str = ""
    simplest: Mapping[str, Level] = field(default_factory=dict)

    @property
    def units(self) -> Mapping[str, str]:
        """Units of the options that are numbers, by their names in an answer."""
        return {option.name: option.unit for option in self.options.values() if option.unit}

    def has(self, factors: Mapping[str, Any]) -> bool:
        """Whether a row with these levels is stored."""
        return all(str(factors.get(name)) in levels for name, levels in self.only.items())

    def aim(self, word: str, traffic: str) -> Aim | None:
        """What a word asks for of this traffic; none if the source does not measure it."""
        aim = self.aims.get(word)
        return aim if aim is not None and aim.traffic in (None, traffic) else None


CATEGORY_RATE_BPS, CATEGORY_USERS = 8.48e6, 10
PAPERS_RATE_BPS = 155.52e6
"""OC-3, whose cells the studies of 1997 count at this rate."""
T3_RATE_BPS = 45e6
GFR_RATE_BPS = 40_000 * 424.0
"""40 000 cells/s."""

_CATEGORY_RTT_S: Mapping[str, float] = {"terrestrial": 0.052, "leo": 0.132, "geo": 0.582}
"""Round trips of the far users, by the hop; without the 10 us behind the last router."""
_RTT_0616_S: Mapping[str, float] = {"leo": 0.03, "multi_leo": 0.12, "geo": 0.57}
_RTT_0424_S: Mapping[str, float] = {"wan": 0.03, "geo": 0.55}
_MSS_0424: Mapping[str, int] = {"wan": 512, "geo": 9180}
_RTT_0876_S: Mapping[str, float] = {"wan": 0.01002, "meo": 0.20002, "geo": 0.55002}
_MSS_0876: Mapping[str, int] = {"wan": 1024, "meo": 9180, "geo": 9180}
_GFR_RTT_S: Mapping[str, float] = {"wan": 0.0102, "geo": 0.5502}
_GFR_VCS = 5


def _of_link(levels: Levels) -> Setting:
    traffic: Any = levels["traffic"]
    return Setting(
        float(levels["rate_mbps"]) * 1e6,
        float(levels["rtt_ms"]) / 1e3,
        int(levels["users"]),
        traffic,
        float(levels["loss_percent"]) / 100,
        mss=1448,
    )


def _of_categories(levels: Levels) -> Setting:
    traffic: Any = {"persistent": "bulk"}.get(levels["traffic"], levels["traffic"])
    rtt_s = _CATEGORY_RTT_S[levels["hop"]]
    return Setting(CATEGORY_RATE_BPS, rtt_s, CATEGORY_USERS, traffic, mss=1460)


def _of_buffers(levels: Levels) -> Setting:
    rtt_s = _RTT_0616_S[levels["config"]]
    return Setting(PAPERS_RATE_BPS, rtt_s, int(levels["n_sources"]), mss=9180)


def _of_tcps(levels: Levels) -> Setting:
    return Setting(PAPERS_RATE_BPS, 0.03, int(levels["n_sources"]), mss=512)


def _beside_vbr(levels: Levels) -> Setting:
    config = levels["config"]
    users, mss = int(levels["n_sources"]), _MSS_0424[config]
    return Setting(PAPERS_RATE_BPS, _RTT_0424_S[config], users, mss=mss, beside="vbr")


def _of_web(levels: Levels) -> Setting:
    config = levels["config"]
    return Setting(T3_RATE_BPS, _RTT_0876_S[config], 100, "web", mss=_MSS_0876[config])


def _of_schemes(levels: Levels) -> Setting:
    users = _GFR_VCS * int(levels["tcps_per_vc"])
    return Setting(GFR_RATE_BPS, _GFR_RTT_S[levels["latency"]], users, mss=1460)


_EFFICIENCY = "part of what TCP can have of the link"
_JAIN = "Jain's index of the users' throughputs"
_UBR = Option("service", form="ubr_{}", names={"ubr": "tail_drop"})
_CELLS = Option("buffer", "cells")
_PAPER_AIMS: Mapping[str, Aim] = {
    "goodput": Aim("efficiency", "greater", _EFFICIENCY, "bulk"),
    "fairness": Aim("jain_fairness", "greater", _JAIN, "bulk"),
}

SOURCES: Mapping[Choice, tuple[Source, ...]] = {
    "queue": (
        Source(
            "link-options",
            ("link-options-bulk", "link-options-loss", "link-options-web", "link-options-bbr"),
            ("rate_mbps", "rtt_ms", "users", "loss_percent", "traffic"),
            {
                "buffer": Option("buffer", "BDP"),
                "policy": Option("policy"),
                "tcp": Option("tcp"),
            },
            _of_link,
            "buffer in products of rate and round trip, queue management, TCP",
            AIMS,
            responses={"page_response_p95": ("p95_page_response", 1e3)},
            port="router1>router2",
            simplest={"policy": "tail_drop", "tcp": "cubic"},
        ),
    ),
    "category": (
        Source(
            "service-categories",
            ("service-categories-use", "service-categories-web"),
            ("hop", "traffic"),
            {"service": Option("service"), "buffer_rtt": Option("buffer", "RTT")},
            _of_categories,
            "service category, buffer in round trips of the link",
            {
                "goodput": Aim("throughput", "greater", "what all users get together", "bulk"),
                "delay": Aim("mean_flow_delay", "smaller", "mean delay from end to end", "bulk"),
                "fairness": Aim("jain_fairness", "greater", _JAIN, "bulk"),
                "vc_fairness": Aim(
                    "edge_fairness", "greater", "Jain's index of the VCs' throughputs", "bulk"
                ),
                "guarantee": Aim(
                    "guarantee_shortfall", "smaller", "part of the MCRs that is missing", "bulk"
                ),
                "pages": Aim(
                    "page_response_p95",
                    "smaller",
                    "time within which 95 % of the pages come",
                    "web",
                ),
            },
            replications=8,
            simplest={"service": "ubr_tail_drop"},
        ),
        Source(
            "atmf970616",
            ("atmf970616-s4",),
            ("config", "n_sources"),
            {"buffer_cells": _CELLS},
            _of_buffers,
            "buffer under Selective Drop",
            _PAPER_AIMS,
            fixed={"service": "ubr_sd", "tcp": "sack"},
        ),
        Source(
            "ijsc",
            ("ijsc-t1",),
            ("config", "n_sources"),
            {
                "policy": _UBR,
                "buffer_rtt_multiple": Option("buffer", "RTT"),
                "tcp": Option("tcp"),
            },
            _of_tcps,
            "drop policy, buffer in round trips, TCP",
            {"goodput": _PAPER_AIMS["goodput"]},
        ),
        Source(
            "atmf970424",
            (
                "atmf970424-t4",
                "atmf970424-t6",
                "atmf970424-t7",
                "atmf970424-t8",
                "atmf970424-t9",
            ),
            ("config", "n_sources"),
            {
                "policy": _UBR,
                "buffer_cells": _CELLS,
                "tcp": Option("tcp"),
                "gr_fraction": Option("guaranteed", "of the link"),
            },
            _beside_vbr,
            "drop policy, buffer, TCP, and what is guaranteed to UBR beside VBR",
            {
                "goodput": Aim(
                    "efficiency", "greater", "part of what VBR leaves of the link", "bulk"
                ),
                "fairness": _PAPER_AIMS["fairness"],
            },
            simplest={"service": "ubr_tail_drop", "guaranteed": 0.0},
        ),
        Source(
            "atmf980876r1",
            (
                "atmf980876r1-t4",
                "atmf980876r1-t4-fairness",
                "atmf980876r1-t7",
                "atmf980876r1-t7-fairness",
                "atmf980876r1-t10",
                "atmf980876r1-t10-fairness",
            ),
            ("config",),
            {
                "policy": _UBR,
                "buffer_rtt_multiple": Option("buffer", "RTT"),
                "tcp": Option("tcp"),
            },
            _of_web,
            "drop policy, buffer in round trips, TCP",
            {
                "goodput": Aim("efficiency", "greater", _EFFICIENCY, "web"),
                "fairness": Aim(
                    "max_min_fairness", "greater", "Jain's index against max-min shares", "web"
                ),
            },
        ),
        Source(
            "gfr-schemes",
            ("gfr-schemes-cells",),
            ("latency", "tcps_per_vc"),
            {"scheme": Option("service", form="gfr_{}"), "buffer_cells": _CELLS},
            _of_schemes,
            "scheme of GFR with 85 % of the link guaranteed, buffer",
            {
                "goodput": _PAPER_AIMS["goodput"],
                "guarantee": Aim(
                    "guarantee_shortfall", "smaller", "part of the MCRs that is missing", "bulk"
                ),
            },
            # At 51 % no MCR is above an equal part of the link; no user has the LAN's 0.2 ms.
            only={"mcr_allocation_percent": ("85",), "latency": ("wan", "geo")},
            simplest={"service": "gfr_tail_drop"},
        ),
    ),
}
"""The sources of each choice."""


def source_of(study: str) -> Source:
    """The source that is this study."""
    return next(
        source for sources in SOURCES.values() for source in sources if source.study == study
    )


def aims_of(choice: Choice) -> Mapping[str, tuple[Aim, ...]]:
    """What may matter, by the word for it: the aims of all sources."""
    found: dict[str, tuple[Aim, ...]] = {}
    for source in SOURCES[choice]:
        for word, aim in source.aims.items():
            found[word] = (*found.get(word, ()), aim)
    return found
