"""Whatever stands in a file, it is run or told its faults; there is no third way."""

import copy
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from skycell import _core
from skycell.input.quantities import _UNITS
from skycell.input.tables import tables
from skycell.scenario import ScenarioFaults, parse
from skycell.scenario.file.scenario_file import WrittenFile

KEYS = sorted(
    {key.name for table in tables(WrittenFile) for key in table.keys} | {"kind", "preset"}
)
WORDS = [
    *("dumbbell", "parking_lot", "graph", "epd", "ppd", "tail_drop", "selective_drop"),
    *(
        "single_drop",
        "fair_buffer_allocation",
        "persistent",
        "transfers",
        "web",
        "together",
        "staggered",
    ),
    *("drawn", "constant", "uniform", "exponential", "none", "sts3c", "ds3_plcp", "unlimited"),
    *("receiver window", "RTT x bandwidth", "window field", "off", "on", "common", "vanilla"),
    *("reno", "newreno", "sack", "icccn97-geo", "rfc-modern", "flow1", "switch1", "queue"),
    *("switch1>switch2", "source1>switch1", "flow1.forward"),
]

numbers = st.one_of(
    st.integers(-3, 20),
    st.integers(),
    st.floats(),
    st.sampled_from([10**400, -(2**63), 0.9, 1.0]),
)
quantities = st.builds(
    lambda number, unit: f"{number} {unit}",
    st.sampled_from(["0", "1", "5", "0.5", "1e9", "1e-9", "1e99", "-1", "1000000", "nan"]),
    st.sampled_from([*_UNITS, "KB", "parsec"]),
)
leaves = st.one_of(
    st.none(), st.booleans(), numbers, quantities, st.sampled_from(WORDS), st.text(max_size=8)
)
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=5)), inner, max_size=5),
    ),
    max_leaves=12,
)

LINK = {"rate": "155.52 Mbit/s", "framing": "none", "delay": "5 ms", "buffer": "100 cells"}
SOUND: list[dict[str, Any]] = [
    {"preset": "icccn97-wan", "tcp": {}, "flow": [{"names": ["flow1"], "tcp": {}}]},
    {"preset": "compcom99", "run": {"seed": 3}, "records": {"traces": ["queue"]}},
    {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "parking_lot",
            "hops": 2,
            "bottleneck": {**LINK, "policy": {"kind": "epd"}},
            "access": {"delay": "1 km"},
        },
        "start": {"kind": "staggered", "every": "1 ms"},
        "traffic": {
            "kind": "transfers",
            "size": "1 MB",
            "idle": {"kind": "constant", "value": "1 s"},
        },
    },
    {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 2,
            "bottleneck": LINK,
            "access": {"delay": "1 km"},
        },
        "traffic": {
            "kind": "web",
            "requests": {"mean": 2, "least": 1, "most": 3, "outside": "redraw"},
            "file_class": [{"share": 1, "step_kb": 0.5}],
            "gap": {"kind": "exponential", "mean": "1 s"},
        },
    },
    {
        "run": {"duration": "1 s"},
        "topology": {
            "kind": "graph",
            "hosts": ["a", "b"],
            "routers": ["r"],
            "switches": ["s"],
            "link": [
                {"from": "a", "to": "s", "rate": "1 Mbit/s", "framing": "none", "delay": "1 ms"},
                {"from": "s", "to": "r", "rate": "9 cells/s", "delay": "1 ms", "buffer": "9 cells"},
                {"from": "r", "to": "b", "rate": "9 cells/s", "delay": "1 ms", "loss": "0.1 %"},
            ],
            "vc": [{"name": "v", "path": ["a", "s", "r"]}, {"name": "w", "path": ["r", "b"]}],
            "flow": [{"name": "f", "source": "a", "destination": "b", "forward": ["v", "w"]}],
        },
    },
]


def places(node: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Paths of every value below a node."""
    found = [path] if path else []
    if isinstance(node, dict):
        for key, value in node.items():
            found += places(value, (*path, key))
    elif isinstance(node, list):
        for i, value in enumerate(node):
            found += places(value, (*path, i))
    return found


def is_run_or_reported(scenario: Any) -> None:
    try:
        spec = parse(scenario, "nonsense").resolve()
    except ScenarioFaults as found:
        reported = found
    else:
        _core.validate(spec.canonical_json())
        return
    assert reported.faults
    for fault in reported.faults:
        assert fault.got
        assert fault.allowed
        assert "\n" not in fault.path + fault.got + fault.allowed + fault.meaning
    assert str(reported).endswith("nothing was run.")
    assert reported.to_json()


@settings(deadline=None)  # a faulty file is gone through twice, and cores may be shared
@given(st.dictionaries(st.one_of(st.sampled_from(KEYS), st.text(max_size=5)), values, max_size=6))
def test_any_data_is_run_or_told_its_faults(scenario: dict[str, Any]) -> None:
    is_run_or_reported(scenario)


@settings(deadline=None)
@given(st.data())
def test_a_sound_file_with_some_nonsense_is_run_or_told_its_faults(data: st.DataObject) -> None:
    scenario = copy.deepcopy(data.draw(st.sampled_from(SOUND)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places(scenario)))
        here: Any = scenario
        for step in place[:-1]:
            here = here[step]
        if data.draw(st.booleans()) and isinstance(here, dict):
            here[data.draw(st.sampled_from(KEYS))] = data.draw(values)
        elif data.draw(st.integers(0, 5)) == 0:
            del here[place[-1]]
        else:
            here[place[-1]] = data.draw(values)
        if not places(scenario):
            break
    is_run_or_reported(scenario)


@given(st.text(alphabet=st.sampled_from("[]{}=\"'\n.,# \\1aé\u2028rundatiotcp"), max_size=60))
@example("[[[[")
@example("a = " + "[" * 500)
@example("a.b.c.d = 1\na = 2")
@example("\ufeff[run]")
@example("[run]\nduration = '''\n")
def test_any_text_is_run_or_told_its_faults(text: str) -> None:
    is_run_or_reported(text)
