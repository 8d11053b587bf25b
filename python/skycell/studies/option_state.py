"""What an option keeps for each VC or flow: the price of it that is not in its measures."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from skycell.experiment.advice import SPLIT
from skycell.scenario.declared.policies import POLICIES
from skycell.studies.library import load_study
from skycell.studies.stored import Choice

KEPT_FOR: Mapping[Choice, str] = {"queue": "flow", "category": "VC"}
"""What state is counted by."""

_LONG_INTERVAL = "_rtt"
"""Ends the name of a policy of queues whose interval is a round trip."""


def state_of(choice: Choice, levels: Mapping[str, Any]) -> tuple[str, ...]:
    """What an option keeps for each VC, or flow; nothing if all share what it keeps.

    >>> state_of("queue", {"policy": "codel_rtt", "tcp": "cubic"})
    ()
    >>> state_of("category", {"service": "gfr_wfq"}), state_of("category", {"service": "abr"})
    (('count', 'queue'), ('rate',))
    """
    if choice == "category":
        return _of_service(str(levels["service"]))
    kind = str(levels["policy"]).removesuffix(_LONG_INTERVAL)
    own = (*_of_policy(kind), *(("queue",) if kind == "fq_codel" else ()))
    return (*own, "connection") if levels["tcp"] == SPLIT else own


def _of_policy(kind: str) -> tuple[str, ...]:
    """A policy of the classes MA-ST and MA-MT counts for each VC (CM 3)."""
    return ("count",) if POLICIES[kind].facts["class"].startswith("MA") else ()


@cache
def _of_service(service: str) -> tuple[str, ...]:
    factor = load_study("service-categories").experiments["network"].factors["service"]
    assert factor.levels is not None
    kept: dict[str, None] = {}
    for key, value in factor.levels[service].items():
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
