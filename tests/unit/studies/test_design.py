"""Studies as data: templates, choices, factors, and the specs they come to."""

import json
import random
from typing import Any

import pytest
from msgspec import to_builtins

from skycell.experiment.design import Cell, Level
from skycell.scenario import NetworkSpec, ScenarioFaults
from skycell.spec.declared.network import DistributionConstant, SourcePatternOnOff
from skycell.studies import STUDY_IDS, load_study, scenario_of, select
from skycell.studies.design import cell_of, references, specs_of
from skycell.studies.model import Factor, Part, Study
from skycell.studies.plan import cells_of, plan_runs, printed_rows

STUDIES = [pytest.param(load_study(study_id), id=study_id) for study_id in STUDY_IDS]


MANY = 60
"""Cases of a study that are written out: a large study has hundreds, of a hundred TCPs each."""


def cases_of(study: Study) -> list[Cell]:
    """Every simulated case of a study."""
    cases: dict[Cell, None] = {}
    for table in study.tables:
        if not study.is_computed(table):
            for part in table.parts:
                for printed in printed_rows(study, part):
                    for levels in cells_of(part, printed.factors):
                        cases[cell_of(study, table.experiment, levels)] = None
    return list(cases)


def spread_of(cases: list[Cell]) -> list[Cell]:
    """Some cases, among them one of every level of every factor."""
    levels: dict[tuple[object, ...], Cell] = {}
    for case in cases:
        for level in case.levels:
            levels.setdefault((case.of[-1], *level), case)
    chosen = dict.fromkeys([*levels.values(), *random.Random(1).sample(cases, len(cases))])
    return list(chosen)[: max(MANY, len(set(levels.values())))]


@pytest.mark.parametrize("study", STUDIES)
def test_every_choice_is_used_and_every_reference_is_a_choice(study: Study) -> None:
    used: set[str] = set()
    for experiment in study.experiments.values():
        used |= set(references(experiment.model_dump()))
    for table in study.tables:
        used |= {name for part in table.parts for name in references(part.fixed)}
    assert used == {choice.name for choice in study.choices}


def test_every_open_point_of_the_web_traffic_is_a_choice() -> None:
    choices = {choice.name: choice for choice in load_study("atmf980876r1").choices}
    for name in (
        "web.gap",
        "web.outside",
        "web.kilobyte",
        "web.interval_from",
        "web.pages",  # what is under way when the run ends
        "start.latest",
        "reverse.buffer",  # where requests queue
        "tcp.idle_restart",
        "tcp.rto_min",
    ):
        assert choices[name].alternatives, name


@pytest.mark.parametrize(("number", "on_ms"), [("on", 50), ("cycle", 25)])
def test_a_choice_may_choose_among_settings(number: str, on_ms: int) -> None:
    study = load_study("atmf970424")
    cases = [case for case in cases_of(study) if case.labels.get("vbr_period_ms") == 50]
    (source,) = scenario_of(study, cases[0], {"vbr.number": number}).resolve().sources
    time = DistributionConstant(value_ps=on_ms * 10**9)
    assert isinstance(source.pattern, SourcePatternOnOff)
    assert (source.pattern.on, source.pattern.off) == (time, time)


def test_a_choice_that_chooses_nothing_is_refused() -> None:
    study = load_study("atmf970424")
    for number in ("both", 1):
        with pytest.raises(ScenarioFaults) as reported:
            scenario_of(study, cases_of(study)[0], {"vbr.number": number})
        (fault,) = reported.value.faults
        assert (fault.path, fault.allowed) == ("vbr.number", '"on" or "cycle"')


@pytest.mark.parametrize("study", STUDIES)
def test_every_choice_has_a_reason_and_no_alternative_is_the_choice_itself(study: Study) -> None:
    names = [choice.name for choice in study.choices]
    assert len(set(names)) == len(names)
    for choice in study.choices:
        assert choice.reason
        assert choice.meaning
        assert choice.value not in choice.alternatives


@pytest.mark.parametrize("study", STUDIES)
def test_every_table_has_an_experiment_and_its_own_id(study: Study) -> None:
    for table in study.tables:
        assert table.experiment in study.experiments
        # A study of one experiment in several publications has the tables of each.
        assert table.id.startswith((study.id, *STUDY_IDS, "atmf980406-"))
        for part in table.parts:
            known = study.experiments[table.experiment].factors
            measured_only = {"destination", "tcp_group", "component", "factor", "level", "quantity"}
            assert set(part.factors) <= set(known) | measured_only


@pytest.mark.parametrize("study", STUDIES)
def test_every_run_of_a_study_can_be_simulated(study: Study) -> None:
    from skycell import _core

    cases = cases_of(study)
    assert bool(cases) == any(entry.kind == "runs" for entry in study.experiments.values())
    for case in spread_of(cases):
        for spec in specs_of(study, case, {}):
            _core.validate(spec.canonical_json())


@pytest.mark.parametrize("study", STUDIES)
def test_every_alternative_of_every_choice_is_allowed(study: Study) -> None:
    one_of_each = {case.of[-1]: case for case in cases_of(study)}.values()
    for case in one_of_each:
        used = set(references(study.experiments[case.of[-1]].model_dump()))
        for choice in study.choices:
            for value in choice.alternatives if choice.name in used else ():
                assert specs_of(study, case, {choice.name: value}), f"{choice.name}={value}"


def geo_case(tcp: str = "sack", policy: str = "epd") -> Cell:
    levels: dict[str, Level] = {}
    levels |= {
        "config": "geo",
        "n_sources": 5,
        "buffer_cells": 200000,
        "tcp": tcp,
        "policy": policy,
    }
    return cell_of(load_study("icccn97"), "geo", levels)


def spec_of(case: Cell, **overrides: Any) -> NetworkSpec:
    return specs_of(load_study(case.of[0]), case, overrides)[0]


def bottleneck(spec: NetworkSpec) -> Any:
    (link,) = [link for link in spec.links if link.port.capacity_cells is not None]
    return link


def test_the_geostationary_case_is_that_of_the_paper() -> None:
    spec = spec_of(geo_case())
    assert len(spec.flows) == 5
    assert spec.duration_ps == 40 * 10**12
    link = bottleneck(spec)
    assert link.port.capacity_cells == 200_000
    assert link.delay_ps == 275 * 10**9
    assert link.cell_time_ps == 2_726_337  # 424 bit at 155.52 Mbit/s
    tcp = spec.flows[0].tcp
    assert (tcp.mss, tcp.rwnd, tcp.recovery.kind) == (9180, 8_704_000, "sack")
    access = spec.links[0]
    assert access.delay_ps == 5 * 10**6  # 1 km


def test_a_choice_reaches_every_place_that_refers_to_it() -> None:
    spec = spec_of(geo_case(), **{"epd.drop_threshold": 0.5, "tcp.rto_restart": "on_send"})
    assert bottleneck(spec).port.policy.threshold_cells == 100_000
    assert {flow.tcp.rto_restart for flow in spec.flows} == {"on_send"}


def test_a_scenario_key_that_is_no_choice_can_be_set_too() -> None:
    spec = spec_of(geo_case(), **{"tcp.recovery.dup_ack_threshold": 2, "run.duration": "3 s"})
    assert to_builtins(spec.flows[0].tcp.recovery)["dup_ack_threshold"] == 2
    assert spec.duration_ps == 3 * 10**12


def test_a_key_that_no_scenario_has_is_refused() -> None:
    with pytest.raises(ScenarioFaults, match=r"tcp\.nonsense"):
        spec_of(geo_case(), **{"tcp.nonsense": 1})


def test_measuring_from_a_later_moment_needs_a_second_shorter_run() -> None:
    study = load_study("icccn97")
    whole, beginning = specs_of(study, geo_case(), {"measure.from": "5 s"})
    assert (whole.duration_ps, beginning.duration_ps) == (40 * 10**12, 5 * 10**12)
    as_dict = [
        json.loads(spec.canonical_json()) | {"duration_ps": 0} for spec in (whole, beginning)
    ]
    assert as_dict[0] == as_dict[1]
    assert len(specs_of(study, geo_case(), {"measure.from": "0 s"})) == 1


@pytest.mark.parametrize("study_id", ["icccn97", "atmf970424", "atmf970616"])
def test_the_beginning_of_a_run_is_what_a_scenario_of_that_length_comes_to(study_id: str) -> None:
    study = load_study(study_id)
    cases = {case.of[-1]: case for case in cases_of(study)}
    measured = [name for name in cases if "{" in study.experiments[name].measured_from]
    assert measured
    for case in map(cases.get, measured):
        assert case is not None
        _, beginning = specs_of(study, case, {"measure.from": "3 s"})
        shorter = scenario_of(study, case, {"run.duration": "3 s"})
        assert beginning == shorter.resolve(seed=0), str(case)


def test_what_begins_behind_the_measured_moment_is_a_fault_of_the_scenario() -> None:
    late = {"start": {"kind": "together", "at": "6 s"}}
    assert spec_of(geo_case(), **late)
    with pytest.raises(ScenarioFaults, match=r"before the end of the run, 5 s"):
        spec_of(geo_case(), **late, **{"measure.from": "5 s"})


def test_steps_of_a_moving_link_end_with_the_run_that_the_measure_begins_after() -> None:
    study = load_study("leo-handover")
    case = cases_of(study)[0]
    experiment = study.experiments[case.of[-1]].model_copy(update={"measured_from": "2 s"})
    changed = study.model_copy(update={"experiments": {case.of[-1]: experiment}})
    _, beginning = specs_of(changed, case, {})
    shorter = specs_of(study, case, {"run.duration": "2 s"})[0]
    assert beginning == shorter


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("measure.from", "40 s", "a time below 40 s, when the run ends"),
        ("measure.from", "late", "a time below 40 s, when the run ends"),
        ("ceiling.base", "5 cells", '"link", or a bit rate above 0 such as "149.76 Mbit/s"'),
        ("ceiling.geo_segment", "5 cells", '"own", or a size above 0 such as "9180 B"'),
        ("ceiling.base", "0 Mbit/s", '"link", or a bit rate above 0 such as "149.76 Mbit/s"'),
        ("ceiling.base", "fast", '"link", or a bit rate above 0 such as "149.76 Mbit/s"'),
        ("throughput.definition", "goodput", "delivered_over_duration, received_over_duration, "),
    ],
)
def test_a_choice_of_the_evaluation_that_cannot_be_is_refused_before_any_run(
    name: str, value: str, allowed: str
) -> None:
    with pytest.raises(ScenarioFaults) as reported:
        plan_runs(select(["icccn97-t3"]), 1, 1, {name: value})
    (fault,) = reported.value.faults
    assert (fault.path, fault.got) == (name, f'"{value}"')
    assert fault.allowed.startswith(allowed)
    meanings = {choice.name: choice.meaning for choice in load_study("icccn97").choices}
    assert fault.meaning == meanings[name]


def test_rows_that_differ_only_in_what_is_measured_share_their_runs() -> None:
    plan = plan_runs(select(["compcom99"]), seed=1, replications=5, overrides={})
    # 4 windows, 4 sets of thresholds and 3 beyond them, five replications of each
    assert len(plan.different) == 55
    tables = ("compcom99-t1", "compcom99-t2", "compcom99-t3")
    extremes = ("compcom99-f5", "compcom99-s3-extremes", *tables)
    assert plan.shared() == {("compcom99-f5", *tables): 10, extremes: 10}


def test_efficiency_and_fairness_of_one_study_share_their_runs() -> None:
    plan = plan_runs(select(["icccn97"]), seed=1, replications=5, overrides={})
    assert plan.shared() == {
        ("icccn97-t1", "icccn97-t2"): 71 * 5,
        ("icccn97-t3", "icccn97-t4"): 17 * 5,
        ("icccn97-delayed-retransmission", "icccn97-t1", "icccn97-t2"): 5,
        ("icccn97-delayed-retransmission", "icccn97-t3", "icccn97-t4"): 5,
    }


def test_replications_differ_in_their_seed_only() -> None:
    plan = plan_runs(select(["icccn97-t3"]), seed=7, replications=3, overrides={})
    runs = [run for (run,) in plan.of_cell[geo_case()]]
    assert [run.seed for run in runs] == [7, 8, 9]
    texts = {json.dumps(json.loads(run.task("fast").spec_json) | {"seed": 0}) for run in runs}
    assert len(texts) == 1
    assert len({run.spec_hash for run in runs}) == 3


def test_the_scenario_of_a_case_can_be_taken_on() -> None:
    scenario = scenario_of(load_study("icccn97"), geo_case("reno"))
    assert scenario.with_values({"run.duration": "1 s"}).resolve().duration_ps == 10**12


def test_a_level_that_a_factor_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match="factor policy: level 'red', allowed are ubr, epd, sd"):
        spec_of(geo_case(policy="red"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "a factor has either a key, or levels, or is a label"),
        ({"key": "a", "label": True}, "a factor has either a key, or levels, or is a label"),
        ({"label": True, "form": "{}"}, "a form needs a key"),
    ],
)
def test_a_factor_says_one_thing(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Factor(**fields)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "a part has either a published file or a grid of its own"),
        ({"file": "x.csv"}, "a published part names both its file and its column"),
        (
            {"file": "x.csv", "column": "y", "grid": ({"n": (1,)},)},
            "a part has either a published file or a grid of its own",
        ),
    ],
)
def test_a_part_says_where_its_rows_come_from(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Part(measure="efficiency", factors=("n",), **fields)


def test_replications_of_a_study_may_begin_at_other_moments() -> None:
    plan = plan_runs(select(["leo-handover-throughput"]), seed=1, replications=2, overrides={})
    for case, runs in plan.of_cell.items():
        specs = [NetworkSpec.model_validate_json(run.task("fast").spec_json) for (run,) in runs]
        assert [spec.seed for spec in specs] == [1, 2]
        first, second = (
            [link.schedule.delays_ps for link in spec.links if link.schedule] for spec in specs
        )
        is_geo = case.labels["satellites"] == "geo_slot"
        assert (first == second) == is_geo
