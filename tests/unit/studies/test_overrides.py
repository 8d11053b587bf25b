"""What is set otherwise than studies say is told at once, and before anything is run."""

import pytest

from skycell.input.faults import Fault, ScenarioFaults
from skycell.studies import reproduce, select
from skycell.studies.overrides import refuse_faulty, refuse_unknown_everywhere
from tests.unit.studies.double import Double


def faults(ids: list[str], *variants: dict[str, object]) -> tuple[Fault, ...]:
    with pytest.raises(ScenarioFaults) as reported:
        refuse_faulty(select(ids), variants)
    return reported.value.faults


def test_faults_of_choices_keys_and_values_come_together() -> None:
    found = faults(["ijsc-t1"], {"ceiling.base": "much", "tcp.mss": -5, "nonsense": 1})
    assert [(fault.file, fault.path) for fault in found] == [
        ("ijsc", "ceiling.base"),
        ("ijsc", "nonsense"),
        ("ijsc leo config=leo n_sources=5 buffer_cells=12000 tcp=sack policy=epd", "tcp.mss"),
    ]
    unknown = found[1]
    assert unknown.got == "an unknown key"
    assert "a choice of the study (link.framing, ceiling.base, " in unknown.allowed
    assert "or a key of a scenario file, in preset, run, topology, tcp, " in unknown.allowed


def test_what_is_wrong_in_later_cases_alone_is_told_with_the_rest() -> None:
    found = faults(["icccn97-t3"], {"tcp.nope": 3, "epd.drop_threshold": 2, "sd.drop_threshold": 3})
    assert {(fault.file.rpartition(" ")[2], fault.path, fault.got) for fault in found} == {
        ("policy=ubr", "tcp.nope", 'the unknown key "nope"'),
        ("policy=epd", "topology.bottleneck.policy.drop_threshold", "2"),
        ("policy=sd", "topology.bottleneck.policy.drop_threshold", "3"),
    }


def test_a_key_that_is_nearly_a_choice_is_answered_with_it() -> None:
    (fault,) = faults(["ijsc-t1"], {"ceilng.base": "link"})
    assert fault.allowed.endswith('; did you mean "ceiling.base"?')


def test_what_several_cases_have_alike_is_told_once() -> None:
    (fault,) = faults(["icccn97", "ijsc-t1"], {"tcp.tick": "slow"})
    assert fault.file.startswith("icccn97 terrestrial config=lan ")
    assert fault.file.endswith(" and 6 more")
    (fault,) = faults(["icccn97", "ijsc-t1"], {"nonsense": 1})
    assert fault.file == "icccn97 and 1 more"


@pytest.mark.parametrize(
    ("key", "value", "factor"),
    [("tcp.recovery", "reno", "tcp"), ("topology.sources", 3, "n_sources"), ("tcp", {}, "tcp")],
)
def test_what_a_factor_of_the_tables_sets_cannot_be_set(
    key: str, value: object, factor: str
) -> None:
    (fault,) = faults(["icccn97-t3"], {key: value})
    assert (fault.file, fault.path) == ("icccn97", key)
    assert fault.allowed == f"any other key: this one is set by the factor {factor} of the tables"


def test_a_part_of_what_a_level_sets_can_be_set() -> None:
    # Levels of config set the buffer's delay and more: they stay different.
    refuse_faulty(select(["icccn97-t1"]), [{"topology.access.delay": "1 ms"}])


def test_every_variant_is_tried() -> None:
    found = faults(["ijsc-t1"], {"tcp.tick": "100 ms"}, {"tcp.tick": "slow"}, {"tcp.mss": -5})
    assert {fault.path for fault in found} == {"tcp.tick", "tcp.mss"}


def test_tables_that_are_computed_are_tried_before_the_runs_of_others(double: Double) -> None:
    with pytest.raises(ScenarioFaults) as reported:
        reproduce(
            ["ijsc-t1", "jsac98-t8"],
            overrides={"tcp.tick": "100 ms"},
            replications=1,
            jobs=1,
            version="test",
            work=double.work,
        )
    (fault,) = reported.value.faults
    assert (fault.file, fault.path, fault.got) == ("jsac98", "tcp.tick", "an unknown key")
    assert "a key of a constellation file, in preset, title, pattern" in fault.allowed
    assert double.made() == []


@pytest.mark.parametrize("points", [0, "many", True, 2.5])
def test_queuing_points_are_counted(points: object) -> None:
    (fault,) = faults(["jsac98"], {"geo.queuing_points": points})
    assert (fault.file, fault.path) == ("jsac98", "geo.queuing_points")
    assert fault.allowed == "a whole number above 0"
    assert fault.meaning


def test_a_value_that_no_constellation_can_have_is_told_of_its_case() -> None:
    (fault,) = faults(["jsac98-t3"], {"ground.min_elevation": "100 deg"})
    assert fault.file.startswith("jsac98 ")
    assert fault.path == "ground.min_elevation"


def test_where_no_study_is_known_only_what_none_knows_is_a_fault() -> None:
    refuse_unknown_everywhere([{"ceiling.base": "much"}, {"tcp.mss": -5}, {"ground.x": 1}])
    with pytest.raises(ScenarioFaults) as reported:
        refuse_unknown_everywhere([{"ceiling.base": "link", "nonsense": 1}])
    assert {fault.path for fault in reported.value.faults} == {"nonsense"}
