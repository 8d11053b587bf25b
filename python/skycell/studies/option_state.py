"""What an option keeps for each VC or flow: the price of it that is not in its measures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from skycell.experiment.advice import SPLIT
from skycell.scenario.declared.policies import POLICIES
from skycell.studies.library import load_study, table_of
from skycell.studies.sources import SOURCES, Choice, Source, source_of

KEPT_FOR: Mapping[Choice, str] = {"queue": "flow", "category": "VC"}
"""What state is counted by."""

_LONG_INTERVAL = "_rtt"
"""Ends the name of a policy of queues whose interval is a round trip."""


def state_of(source: Source, levels: Mapping[str, Any]) -> tuple[str, ...]:
    """What an option keeps for each VC, or flow; nothing if all share what it keeps.

    >>> queues, categories, *_, schemes = (one for every in SOURCES.values() for one in every)
    >>> state_of(queues, {"policy": "codel_rtt", "tcp": "cubic"})
    ()
    >>> state_of(categories, {"service": "gfr_wfq"}), state_of(categories, {"service": "abr"})
    (('count', 'queue'), ('rate',))
    >>> state_of(schemes, {"service": "gfr_round_robin"}), state_of(schemes, {"service": "gfr_red"})
    (('count', 'queue'), ())
    """
    if "service" in levels:
        return _of_service(source.study, str(levels["service"]))
    kind = str(levels["policy"]).removesuffix(_LONG_INTERVAL)
    own = (*_of_policy(kind), *(("queue",) if kind == "fq_codel" else ()))
    return (*own, "connection") if levels["tcp"] == SPLIT else own


def _of_policy(kind: str) -> tuple[str, ...]:
    """A policy of the classes MA-ST and MA-MT counts for each VC (CM 3)."""
    return ("count",) if POLICIES[kind].facts["class"].startswith("MA") else ()


@cache
def _of_service(study: str, service: str) -> tuple[str, ...]:
    kept: dict[str, None] = {}
    for key, value in _keys_of(study, service).items():
        match key.rpartition(".")[2]:
            case "policy":
                kind = value if isinstance(value, str) else value["kind"]
                kept |= dict.fromkeys(_of_policy(kind))
                if kind == "fq_codel":
                    kept["queue"] = None
            case "scheduler" | "vs_vd":
                kept["queue"] = None
            case "rate_algorithm":
                kept["rate"] = None
    return tuple(kept)


def _keys_of(study: str, service: str) -> Mapping[str, Any]:
    """The keys of a scenario that a service sets in a study; or in that of all services."""
    for source in (source_of(study), SOURCES["category"][0]):
        experiment = load_study(source.study).experiments[
            table_of(source.tables[0]).table.experiment
        ]
        for name, option in source.options.items():
            if option.name == "service":
                levels = experiment.factors[name].levels
                assert levels is not None
                for level, keys in levels.items():
                    if option.shown(level) == service:
                        return keys
    raise KeyError(service)
