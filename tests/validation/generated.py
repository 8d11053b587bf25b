"""Generated scenarios: N sources over one bottleneck, every rule of TCP and of the buffers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from skycell.input.parameters import whens_of
from skycell.scenario.declared.policies import POLICIES
from skycell.scenario.declared.tcp import Tcp
from skycell.scenario.values.rule_specs import Choice, FieldSpec, Parameter
from tests.tcp_keys import OF_RULES, OF_TCP, RULES, SCALABLE, has_few

Values = dict[str, Any]
"""A scenario as data, with every time counted in units that the scale decides."""


def time(units: int, scale: int) -> str:
    """A time of `units` x 10 ns x `scale`."""
    return f"{units * 10 * scale} ns"


_OWN: Values = {
    "epd": {"drop_threshold": 0.7},
    "selective_drop": {"drop_threshold": 0.6, "fairness_threshold": 0.8},
    "fair_buffer_allocation": {"drop_threshold": 0.5, "fairness_threshold": 0.8},
    "red": {"min_threshold": 0.2, "max_threshold": 0.8, "weight": 0.1},
    "fred": {"min_threshold": 0.2, "max_threshold": 0.8, "weight": 0.1},
    "pme_ered": {"min_threshold": 0.2, "max_threshold": 0.8},
    "dfba": {"low_threshold": 0.4, "high_threshold": 0.9},
}
"""Parameters with another value than their default."""


def _declares(kind: str, found: Callable[[FieldSpec], bool]) -> bool:
    """Whether some parameter of a policy is such."""

    def any_of(parameters: Sequence[Parameter]) -> bool:
        return any(
            found(one) if isinstance(one, FieldSpec) else any_of(one.parameters)
            for one in parameters
            if not isinstance(one, Choice)
        )

    return any_of(POLICIES[kind].parameters)


_OF_CELLS = [kind for kind, one in POLICIES.items() if one.facts.get("needs") != "packets"]
_ORDERED = [kind for kind in POLICIES if _declares(kind, lambda one: bool(one.below))]
_BY_VC = [kind for kind in POLICIES if _declares(kind, lambda one: one.type == "VcThresholds")]
_BY_LEVEL = [kind for kind in POLICIES if _declares(kind, lambda one: one.is_ascending)]
_WITH_INTERVAL = [kind for kind in POLICIES if _declares(kind, lambda one: one.type == "Interval")]
_WITH_MCRS = [kind for kind in POLICIES if _declares(kind, lambda one: one.type == "McrByVc")]


@st.composite
def scenarios(draw: st.DrawFn, fixed: Mapping[str, Any] | None = None) -> tuple[Values, Values]:
    """A scenario, and the same with all rates ten times higher and all times a tenth.

    Nothing in it is drawn by the run itself: a drawn time need not be a whole tenth of another.
    Keys of `fixed` have its values; the others are drawn.
    """
    sources = draw(st.integers(1, 4))
    mss = draw(st.sampled_from([40, 512, 1000, 1460, 9180]))
    buffer = draw(st.integers(1, 400))
    kind = draw(st.sampled_from(_OF_CELLS))
    policy = {"kind": kind, **_OWN.get(kind, {})}
    if kind in _ORDERED:
        buffer = max(buffer, 3)  # L below H, in whole cells
    if kind in _BY_LEVEL:
        policy["thresholds"] = ["40 %", "90 %"]
    if kind in _BY_VC:
        policy["thresholds"] = [f"{max(1, buffer // 3)} cells"] * sources
    traffic = draw(
        st.one_of(
            st.just({"kind": "persistent"}),
            st.fixed_dictionaries(
                {
                    "kind": st.just("transfers"),
                    "size": st.sampled_from(["1 B", "5 kB", "40 kB"]),
                    "idle": st.integers(0, 2_000_000),
                    "new_connection": st.booleans(),
                }
            ),
        )
    )
    times = {
        "run.duration": draw(st.integers(2_000_000, 6_000_000)),
        "topology.bottleneck.delay": draw(st.integers(0, 500_000)),
        "topology.access.delay": draw(st.integers(0, 100_000)),
        "tcp.tick": draw(st.sampled_from([1_000, 100_000, 1_000_000])),
        "start.every": draw(st.integers(0, 100_000)),
        "records.sample_every": draw(st.integers(10_000, 1_000_000)),
        "tcp.delayed_ack.timeout": draw(st.integers(100, 1_000_000)),
    }
    rules: Values = {
        f"tcp.{key.name}": draw(st.sampled_from(key.values))
        for key in OF_TCP
        if has_few(key) and key.name not in RULES
    }
    for rule, kinds in RULES.items():
        kind = draw(st.sampled_from(kinds))
        few = {
            key.name: draw(st.sampled_from(key.values))
            for key in OF_RULES[rule, kind]
            if has_few(key)
        }
        rules[f"tcp.{rule}"] = {"kind": kind, **few}
        if kind in ("hystart_plus_plus", "hystart"):
            rules["tcp.timestamps"] = True  # it needs a round trip of every ACK
        if kind == "rack_tlp":
            rules["tcp.limited_transmit"] = False  # it does so anyway
    if rules["tcp.recovery"]["kind"] != "rack_tlp":
        rules["tcp.pacing"] = {"kind": "off"}  # no other asks before it sends
        if rules["tcp.congestion"]["kind"] in ("bbr", "bbr3"):
            rules["tcp.congestion"] = {"kind": "reno"}  # nor knows what is in flight
    if rules["tcp.congestion"]["kind"] in ("bbr", "bbr3"):
        rules["tcp.pacing"] = {"kind": "off"}  # it paces itself
    plain: Values = {
        **rules,
        "tcp.window_scaling": True,  # for any window
        "topology.bottleneck.buffer": f"{buffer} cells",
        "topology.bottleneck.policy": policy,
        "tcp.mss": f"{mss} B",
        "tcp.receiver_window": f"{mss * draw(st.integers(1, 40)) + draw(st.integers(0, 39))} B",
        "tcp.rto_min": "2 ticks",
        "tcp.rto_initial": f"{draw(st.integers(2, 30))} ticks",
        "tcp.rto_max": "200 ticks",
        "loss.transmissions": sorted(draw(st.sets(st.integers(0, 30), max_size=4))),
        "records.traces": ["cwnd", "sequence", "queue", "vc_queue", "discards", "transfers"],
        **(fixed or {}),
    }
    congestion = plain["tcp.congestion"]
    kind = congestion if isinstance(congestion, str) else congestion["kind"]
    if kind == "vegas":
        plain["tcp.timestamps"] = True  # it needs a round trip of every ACK
    if kind in SCALABLE:
        plain["tcp.ecn"] = "accurate"
    elif kind == "bbr3":
        plain["tcp.ecn"] = "off"  # it has no answer to marks
    elif plain["tcp.ecn"] == "accurate":
        plain["tcp.ecn"] = "classic"  # nobody else counts marks
    plain = {key: value for key, value in plain.items() if _has_effect(key, plain)}
    _leave_out_idle_keys(plain)
    if not draw(st.booleans()):
        del times["tcp.delayed_ack.timeout"]
    ratio = draw(st.sampled_from([1, 2, 5]))
    slow, fast = (_at_scale(scale, sources, ratio, traffic, times, plain) for scale in (10, 1))
    return slow, fast


def _leave_out_idle_keys(plain: Values) -> None:
    """Leaves out keys of TCP without effect beside the rules that were drawn."""
    rules = {
        rule: {"kind": own} if isinstance(own := plain[f"tcp.{rule}"], str) else dict(own)
        for rule in ("congestion", "recovery")
    }
    congestion, recovery = rules["congestion"], rules["recovery"]
    if congestion["kind"] in ("bbr", "bbr3"):
        for key in ("slow_start", "initial_ssthresh", "idle_restart", "cwnd_validation"):
            plain.pop(f"tcp.{key}", None)
    if (congestion["kind"], recovery["kind"]) == ("linux_cubic", "sack"):
        recovery.pop("pipe_room", None)
    if recovery["kind"] == "vanilla":
        congestion.pop("fast_convergence", None)
    plain.update({f"tcp.{rule}": own for rule, own in rules.items()})


def _has_effect(key: str, values: Values) -> bool:
    """Whether a key of TCP has an effect beside the others."""
    name = key.removeprefix("tcp.")
    whens = whens_of(Tcp.model_fields[name]) if f"tcp.{name}" == key else ()
    return all(values.get(f"tcp.{when.key}") in when.values for when in whens)


def _at_scale(
    scale: int,
    sources: int,
    ratio: int,
    traffic: Values,
    times: dict[str, int],
    plain: Values,
) -> Values:
    rate = 1_000_000 // scale
    values: Values = {
        "topology": {
            "kind": "dumbbell",
            "sources": sources,
            "bottleneck": {"rate": f"{rate} cells/s"},
            "access": {"rate": f"{rate * ratio} cells/s", "frame_jitter": "0 s"},
        },
        "tcp": {"tick_phase": "common"},
        "traffic": dict(traffic),
        "start": {"kind": "staggered"},
    }
    if "idle" in traffic:
        values["traffic"]["idle"] = {"kind": "constant", "value": time(traffic["idle"], scale)}
    for key, value in {**{k: time(t, scale) for k, t in times.items()}, **plain}.items():
        *path, last = key.split(".")
        table = values
        for step in path:
            table = table.setdefault(step, {})
        table[last] = value
    policy = plain["topology.bottleneck.policy"]
    if policy["kind"] in _WITH_INTERVAL:
        interval = time(100_000, scale)
        values["topology"]["bottleneck"]["policy"] = {**policy, "interval": interval}
    if policy["kind"] in _WITH_MCRS:
        windows = {"window": time(500_000, scale), "window_step": time(100_000, scale)}
        mcr = {"mcr": f"{rate // 8} cells/s", **windows}
        values["gfr"] = [{"vcs": [f"flow{i}.forward" for i in range(1, sources + 1)], **mcr}]
    return values
