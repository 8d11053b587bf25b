"""What is kept of a run's records."""

import json
from typing import Any

from skycell.experiment.summary import summarise, summary_text

RECORDS = {
    "engine": "reference",
    "duration_ps": 10**12,
    "flows": [{"name": "f1", "octets_delivered": 9}],
    "vcs": [{"name": "v1"}],
    "ports": [
        {"name": "h1>sw1", "arrived": 3, "vc_queues": []},
        {"name": "sw1>sw2", "arrived": 4, "vc_queues": [{"vc": 0, "mean": 1.5, "p50": 2}]},
    ],
    "ledger": {"accounts": [{"name": "a"}]},
    "engine_stats": {"events": 12},
}
SPEC: dict[str, Any] = {
    "links": [
        {"motion": None, "port": {"queues": [{"capacity_cells": None}]}},
        {"motion": None, "port": {"queues": [{"capacity_cells": None}, {"capacity_cells": 1000}]}},
    ],
    "vcs": [{"gfr": None}],
}


def test_flows_and_limited_ports_are_kept_and_the_rest_is_not() -> None:
    summary = summarise(RECORDS, SPEC)
    assert summary == {
        "duration_ps": 10**12,
        "flows": [{"name": "f1", "octets_delivered": 9}],
        "ports": [{"name": "sw1>sw2", "arrived": 4, "vc_queues": [{"vc": 0, "mean": 1.5}]}],
        "engine_stats": {"events": 12},
    }


def test_where_links_move_what_was_lost_on_them_is_kept() -> None:
    lost = {"handover": 3, "drawn": 1}
    vcs = [
        {"name": "v1", "frames_corrupt": 2, "cells_lost": lost},
        {"name": "v2", "frames_corrupt": 1, "cells_lost": {"handover": 0, "drawn": 0}},
    ]
    links = [{**SPEC["links"][0], "motion": {"times_ps": [0]}}, SPEC["links"][1]]
    spec = {"links": links, "vcs": [{"gfr": None}, {"gfr": None}]}
    summary = summarise({**RECORDS, "vcs": vcs}, spec)
    assert summary["moving"] == {"frames_corrupt": 3, "cells_lost": 4}


def test_of_vcs_with_a_contract_frames_and_guarantees_are_kept() -> None:
    counts = {
        "frames_offered": 7,
        "frames_tagged": 3,
        "frames_eligible": 4,
        "cells_eligible": 48,
        "frames_refused": 0,
        "cells_whole": 60,
        "guarantee": {"windows": 5, "met": 4},
        "run_guarantee": {"due_cells": 50, "is_met": True},
    }
    records = {**RECORDS, "vcs": [{"name": "v1"}, {"name": "v2", **counts, "cells_queued": 1}]}
    spec = {**SPEC, "vcs": [{"gfr": None}, {"gfr": {"mfs_cells": 200}}]}
    assert summarise(records, spec)["gfr_vcs"] == [{"vc": 1, **counts}]


def test_the_text_of_a_summary_does_not_depend_on_the_order_of_its_keys() -> None:
    assert summary_text({"b": 1, "a": 2}) == summary_text({"a": 2, "b": 1}) == '{"a":2,"b":1}'
    assert json.loads(summary_text(summarise(RECORDS, SPEC))) == summarise(RECORDS, SPEC)
