"""The results that come with the package are those of the studies as they stand."""

import json
from collections import Counter
from typing import get_args

import pytest

from skycell.experiment.advice import SPLIT, TCPS, Question
from skycell.experiment.advice import plan_of as plan_of_link
from skycell.experiment.plan import design_runs
from skycell.experiment.ranking import rank
from skycell.input.quantities import parse_quantity
from skycell.metrics.network import Network
from skycell.studies.category_advice import plan_of, refusal
from skycell.studies.design import cell_of, specs_of
from skycell.studies.library import select
from skycell.studies.plan import plan_runs, printed_rows
from skycell.studies.settings import Setting, differences, is_near
from skycell.studies.sources import CATEGORY_RATE_BPS, SOURCES, Choice, Source
from skycell.studies.stored import nearest, settings_for, stored_results

CHOICES: tuple[Choice, ...] = get_args(Choice)
EVERY = [
    pytest.param(choice, source, id=source.study)
    for choice, sources in SOURCES.items()
    for source in sources
]


@pytest.mark.parametrize(("choice", "source"), EVERY)
def test_every_stored_run_is_one_that_its_study_makes(choice: Choice, source: Source) -> None:
    plan = plan_runs(select(source.tables), 1, source.replications or None, {})
    made = {
        whole.spec_hash[:12]
        for cell, replications in plan.of_cell.items()
        for whole, *_ in replications
        if source.has(cell.labels)
    }
    stored = {
        run.spec_hash
        for found in stored_results(choice)
        for run in found.result.runs
        if found.source is source
    }
    assert stored == made


@pytest.mark.parametrize(("choice", "source"), EVERY)
def test_a_stored_setting_is_that_of_the_network(choice: Choice, source: Source) -> None:
    for found in select(source.tables):
        for case in {
            tuple(str(case[name]) for name in source.settings): case
            for part in found.table.parts
            for printed in printed_rows(found.study, part)
            for case in [printed.factors]
            if source.has(case)
        }.values():
            cell = cell_of(found.study, found.table.experiment, case)
            spec, *_ = specs_of(found.study, cell, {})
            setting = source.setting({name: str(case[name]) for name in source.settings})
            rtts_ps = [
                sum(
                    spec.links[link].delay_ps
                    for vc in (*flow.forward, *flow.reverse)
                    for link in spec.vcs[vc].path
                )
                for flow in spec.flows
            ]
            assert len(spec.flows) == setting.users
            assert max(rtts_ps) / 1e12 == pytest.approx(setting.rtt_s, rel=1e-3)
            assert {flow.tcp.mss for flow in spec.flows} == {setting.mss}
            assert {source.name for source in spec.sources} == (
                {"vbr"} if setting.beside == "vbr" else set()
            )
            # What TCP can carry of the link is less by headers, and by those of cells.
            ceiling_bps = Network.of(spec).ceiling_bps
            assert 0.8 * setting.rate_bps < ceiling_bps < setting.rate_bps


@pytest.mark.parametrize("choice", CHOICES)
def test_every_stored_result_ranks_by_each_aim_of_its_traffic(choice: Choice) -> None:
    for stored in stored_results(choice):
        runs = Counter(tuple(run.levels.items()) for run in stored.result.runs)
        assert len(set(runs.values())) == 1
        for name in stored.source.aims:
            if not stored.covers(stored.setting, name):
                continue
            aim = stored.source.aims[name]
            found = rank(stored.result, aim)
            assert len(found.ranked) + len(found.unranked) == len(runs)


def test_a_stored_run_of_a_link_is_the_run_that_a_question_makes() -> None:
    asked = Question(parse_quantity("4 Mbit/s"), parse_quantity("600 ms"), 10)
    stored = nearest("queue", Setting(4e6, 0.6, 10))
    assert stored is not None
    assert set(stored.result.factors["tcp"]) == {*TCPS, SPLIT}
    own = {
        run.spec_hash[:12]
        for replications in design_runs(plan_of_link(asked)).runs.of_cell.values()
        for runs in replications
        for run in runs
    }
    assert own
    assert own <= {run.spec_hash for run in stored.result.runs}


@pytest.mark.parametrize("rtt_s", [0.052, 0.132, 0.582])
def test_the_studys_own_setting_makes_the_studys_own_runs(rtt_s: float) -> None:
    setting = Setting(CATEGORY_RATE_BPS, rtt_s, 10)
    stored = nearest("category", setting)
    assert stored is not None
    assert is_near(
        differences(setting, stored.setting, settings_for("category", setting, "goodput"))
    )
    own = {run.spec_hash[:12] for run in plan_of(setting, 2).different}
    assert own <= {run.spec_hash for run in stored.result.runs}


@pytest.mark.parametrize("users", [10, 100])
def test_at_the_rates_of_the_papers_no_host_is_what_limits(users: int) -> None:
    plan = plan_of(Setting(155.52e6, 0.55, users), 1)
    (run, *_) = plan.different
    spec = json.loads(run.text.with_seed(run.seed))
    links = {link["name"]: link for link in spec["links"]}
    assert links["board>station"]["cell_time_ps"] == round(424e12 / 155.52e6)
    hosts = [link["framing"] for name, link in links.items() if name.startswith(("near", "far"))]
    assert len(hosts) >= users
    assert {framing["rate_millibps"] for framing in hosts} == {2 * 155_520_000_000}


@pytest.mark.parametrize("users", [5, 7, 25])
def test_other_users_are_spread_over_the_vcs_of_the_network(users: int) -> None:
    plan = plan_of(Setting(4e6, 0.2, users, loss=0.001), 1)
    behind = {len(facts.flows_by_edge) for facts in plan.known.values()}
    flows = {sum(map(len, facts.flows_by_edge)) for facts in plan.known.values()}
    sizes = {len(own) for facts in plan.known.values() for own in facts.flows_by_edge}
    assert (behind, flows) == ({5}, {users})
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        (Setting(4e6, 0.02, 10), "36 ms or more"),
        (Setting(1e9, 0.2, 10), "at most 622.08 Mbit/s"),
        (Setting(4e6, 0.2, 4), "5 to 100 users"),
    ],
)
def test_what_the_network_of_categories_cannot_have_is_refused(setting: Setting, why: str) -> None:
    assert why in (refusal(setting) or "")
