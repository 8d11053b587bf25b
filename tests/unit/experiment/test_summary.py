"""What is kept of a run's records."""

import json

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
SPEC = {
    "links": [
        {"port": {"queues": [{"capacity_cells": None}]}},
        {"port": {"queues": [{"capacity_cells": None}, {"capacity_cells": 1000}]}},
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
