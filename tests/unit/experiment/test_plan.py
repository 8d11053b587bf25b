"""From the file of a sweep to its cells, seeds and specs."""

from typing import Any

import pytest

from skycell.experiment.design import SweepPlan
from skycell.experiment.file import parse_plan
from skycell.experiment.plan import Design, design_runs, seed_of
from skycell.scenario import NetworkSpec, ScenarioFaults

FILE: dict[str, Any] = {
    "title": "two by two",
    "replications": 2,
    "scenario": {"preset": "icccn97-lan", "run": {"duration": "10 ms"}},
    "factors": {
        "tcp": {"key": "tcp.recovery", "levels": ["reno", "sack"]},
        "buffer": {"key": "topology.bottleneck.buffer", "form": "{} cells", "levels": [1000, 3000]},
    },
}


def plan(**changes: Any) -> SweepPlan:
    return parse_plan({**FILE, **changes})


def factor(levels: Any, **others: Any) -> SweepPlan:
    return plan(factors={"tcp": FILE["factors"]["tcp"], "x": {"levels": levels, **others}})


def specs_of(design: Design) -> dict[str, NetworkSpec]:
    """The spec of every cell, by the cell's name."""
    return {
        str(cell): NetworkSpec.model_validate_json(replications[-1][0].task("fast").spec_json)
        for cell, replications in design.runs.of_cell.items()
    }


def seeds_of(design: Design) -> list[tuple[int, int]]:
    """Number and seed of every replication, cell by cell."""
    return [
        (number, run.seed)
        for replications in design.runs.of_cell.values()
        for number, (run,) in enumerate(replications, 1)
    ]


def test_every_combination_is_a_cell_and_the_last_factor_changes_fastest() -> None:
    assert [str(cell) for cell in plan().cells] == [
        "tcp=reno buffer=1000",
        "tcp=reno buffer=3000",
        "tcp=sack buffer=1000",
        "tcp=sack buffer=3000",
    ]


def test_a_cell_has_its_levels_in_its_spec_and_nothing_else_differs() -> None:
    design = design_runs(plan())
    specs = specs_of(design)
    spec = specs["tcp=sack buffer=3000"]
    assert {flow.tcp.recovery.kind for flow in spec.flows} == {"sack"}
    assert 3000 in {link.port.capacity_cells for link in spec.links}
    other = specs["tcp=reno buffer=3000"]
    assert spec.links == other.links
    assert spec.vcs == other.vcs


def test_a_level_may_set_several_keys_or_a_whole_table() -> None:
    both = factor(
        {
            "near": {"topology.bottleneck.delay": "1 km", "tcp.mss": "512 B"},
            "far": {"topology": {"bottleneck": {"delay": "100 km"}}, "tcp": {"mss": "1024 B"}},
        }
    )
    specs = specs_of(design_runs(both))
    assert specs["tcp=reno x=far"].flows[0].tcp.mss == 1024
    assert specs["tcp=reno x=near"].flows[0].tcp.mss == 512
    assert max(link.delay_ps for link in specs["tcp=reno x=far"].links) == 500_000_000
    policies = factor(
        {
            "plain": "tail_drop",
            "fair": {"kind": "selective_drop", "drop_threshold": 0.7, "fairness_threshold": 0.8},
        },
        key="topology.bottleneck.policy",
    )
    kinds = {
        cell: {link.port.policy.kind for link in spec.links if link.port.capacity_cells}
        for cell, spec in specs_of(design_runs(policies)).items()
    }
    assert kinds["tcp=sack x=fair"] == {"selective_drop"}
    assert kinds["tcp=sack x=plain"] == {"tail_drop"}


def test_a_table_with_a_kind_is_one_value_and_not_a_way_to_keys() -> None:
    policy = {"kind": "selective_drop", "drop_threshold": 0.7}
    found = factor(
        {"a": {"topology": {"bottleneck": {"policy": policy}}}, "b": {"tcp.mss": "1 kB"}}
    )
    assert found.factors[1].levels[0].settings == {"topology.bottleneck.policy": policy}


def test_common_random_numbers_give_a_replication_one_seed_everywhere() -> None:
    design = design_runs(plan(first_seed=7))
    assert seeds_of(design) == [(1, 7), (2, 8)] * 4
    assert len(design.runs.different) == design.size == 8


def test_without_them_every_run_has_a_seed_of_its_own() -> None:
    seeds = seeds_of(design_runs(plan(common_random_numbers=False)))
    assert len({seed for _, seed in seeds}) == 8
    assert all(0 <= seed < 2**63 for _, seed in seeds)
    assert seeds_of(design_runs(plan(common_random_numbers=False))) == seeds


def test_a_seed_of_its_own_is_the_same_for_ever() -> None:
    # The first 63 bits of what `printf '1/tcp=reno buffer=1000/1' | sha256sum` prints. Other seeds
    # are other results, and kept runs are not found again.
    (first, *_) = seeds_of(design_runs(plan(common_random_numbers=False)))
    assert first == (1, 8_480_378_257_739_585_979)


def test_another_level_or_replication_moves_no_seed_that_there_was() -> None:
    def seeds(found: SweepPlan) -> dict[tuple[str, int], int]:
        return {
            (str(cell), k): seed_of(found, cell, k)
            for cell in found.cells
            for k in range(1, found.replications + 1)
        }

    levels = {"key": "tcp.recovery", "levels": ["vanilla", "reno", "sack"]}
    small = seeds(plan(common_random_numbers=False))
    large = seeds(
        plan(
            common_random_numbers=False,
            replications=3,
            factors={"tcp": levels, "buffer": FILE["factors"]["buffer"]},
        )
    )
    assert small.items() <= large.items()
    assert seeds(plan(common_random_numbers=False, first_seed=2)).items().isdisjoint(small.items())


def test_the_trace_of_transfers_is_kept_where_their_times_are_asked_for() -> None:
    transfers = {"kind": "transfers", "size": "1 MB"}
    source = {
        **FILE,
        "scenario": {**FILE["scenario"], "records": {"traces": ["files", "cwnd"]}},
        "factors": {
            "traffic": {"key": "traffic", "levels": {"all": "persistent", "some": transfers}}
        },
    }
    asked = specs_of(design_runs(parse_plan(source | {"responses": ["p95_transfer_time:flow1"]})))
    plain = specs_of(design_runs(parse_plan(source | {"responses": ["timeouts:flow1"]})))
    assert asked["traffic=some"].records.traces == ("cwnd", "transfers", "files")
    assert plain["traffic=some"].records.traces == ("cwnd", "files")
    times = specs_of(design_runs(parse_plan(source | {"responses": ["mean_delivery_time"]})))
    assert times["traffic=some"].records.traces == ("cwnd", "transfers", "deliveries", "files")
    assert asked["traffic=all"] == plain["traffic=all"]


def test_a_note_on_scenarios_is_there_once_with_the_number_of_its_cells() -> None:
    policies = {"key": "topology.bottleneck.policy", "levels": ["tail_drop", "epd"]}
    found = plan(factors=FILE["factors"] | {"policy": policies})
    (note,) = design_runs(found).notes
    assert note.note.startswith("tail_drop at switch port ")
    assert "(988 cells)" in note.note  # 1000 less a frame of 12, in the first cell
    assert (note.cells, note.varies) == (4, True)  # two TCPs and two buffers
    (note,) = design_runs(plan(factors={"policy": policies})).notes
    assert (note.cells, note.varies) == (1, False)
    scenario = FILE["scenario"] | {"topology": {"bottleneck": {"policy": "epd"}}}
    assert design_runs(plan(scenario=scenario)).notes == ()


def test_the_title_is_the_name_of_the_file_unless_it_says_another() -> None:
    untitled = {key: value for key, value in FILE.items() if key != "title"}
    assert parse_plan(untitled, "studies/wan.toml").title == "wan"


def test_a_ceiling_may_be_a_rate_of_which_tcp_has_its_share() -> None:
    by_rate = {
        rate: {
            network.ceiling_bps for network in design_runs(plan(ceiling=rate)).runs.known.values()
        }
        for rate in ("63 Mbit/s", "126 Mbit/s")
    }
    (one,), (double,) = by_rate.values()
    assert 0.8 * 63e6 < one < 63e6  # 9 140 octets of TCP in 192 cells of 53, headers and trailer
    assert double == 2 * one


def test_a_sweep_may_have_a_million_runs_and_names_of_64_letters() -> None:
    levels = {"key": "tcp.mss", "form": "{} B", "levels": list(range(500, 600))}
    largest = plan(replications=10_000, factors={"x" * 64: levels})
    assert largest.replications * len(largest.cells) == 1_000_000
    with pytest.raises(ScenarioFaults, match="a name of up to 64 letters"):
        plan(factors={"x" * 65: levels})


def test_a_fault_that_only_some_cells_have_names_one_of_them() -> None:
    levels = {
        "key": "topology.bottleneck.policy.drop_threshold",
        "levels": ["900 cells", "2000 cells"],
    }
    policy = {"topology": {"bottleneck": {"policy": {"kind": "epd"}}}}
    found = plan(
        scenario={**FILE["scenario"], **policy},
        factors={"r": levels, "buffer": FILE["factors"]["buffer"]},
    )
    with pytest.raises(ScenarioFaults) as faults:
        design_runs(found)
    (fault,) = faults.value.faults
    assert fault.path == "factors.r.levels[1]"
    assert fault.got == '"2000 cells"'
    assert fault.meaning.startswith("topology.bottleneck.policy.drop_threshold: R: ")
    assert fault.meaning.endswith("in 1 of 2 cells, such as r=2000 cells buffer=1000")
