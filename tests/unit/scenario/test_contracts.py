import pytest

from skycell import ScenarioFaults
from skycell.scenario import Scenario
from skycell.spec.declared.network import (
    DfbaSpec,
    DfbaZByVc,
    DfbaZComplementSquared,
    GcraSpec,
    VcPriorityDropSpec,
    VcRoundRobinSpec,
    VirtualSpacingSpec,
)
from skycell.spec.text import canonical_json
from tests.unit.scenario.wan import wan


def test_dfba_takes_its_shares_from_the_contracts_of_the_vcs() -> None:
    spec = wan(
        topology__bottleneck__policy={"kind": "dfba", "z": "(1-w_i/w)^2"},
        gfr=[
            # A cell has 424 bits: 8.48 Mbit/s are 20 000 cells/s.
            {"vcs": ["flow1.forward"], "mcr": "8.48 Mbit/s"},
            {"vcs": ["flow2.forward"], "mcr": "1.5 cells/s"},
        ],
    ).resolve()
    policy = next(link.port.policy for link in spec.links if link.name == "switch1>switch2")
    assert isinstance(policy, DfbaSpec)
    by_vc = dict(zip((vc.name for vc in spec.vcs), policy.mcr_millicells, strict=True))
    assert by_vc == {
        "flow1.forward": 20_000_000,
        "flow1.reverse": 0,
        "flow2.forward": 1_500,
        "flow2.reverse": 0,
    }
    # L and H are 0.5 and 0.9 of 12 000 cells.
    assert (policy.low_cells, policy.high_cells, policy.alpha) == (6_000, 10_800, 0.5)
    assert policy.z == DfbaZComplementSquared()
    assert policy.keeps_last_cells


def test_z_of_dfba_by_vc_is_1_for_a_vc_that_is_not_named() -> None:
    contract = [{"vcs": ["flow1.forward", "flow2.forward"], "mcr": "20000 cells/s"}]

    def wan_with(z: object) -> Scenario:
        return wan(topology__bottleneck__policy={"kind": "dfba", "z": z}, gfr=contract)

    spec = wan_with({"flow2.forward": 0.25}).resolve()
    policy = next(link.port.policy for link in spec.links if link.name == "switch1>switch2")
    assert isinstance(policy, DfbaSpec)
    assert policy.z == DfbaZByVc(values=(1.0, 1.0, 0.25, 1.0))
    # flow2.reverse goes the other way.
    for z, at in (({"flow2.reverse": 0.25}, ".flow2.reverse"), ({"flow2.forward": 1.25}, "")):
        with pytest.raises(ScenarioFaults) as found:
            wan_with(z).resolve()
        paths = [fault.path.replace('"', "") for fault in found.value.faults]
        assert paths == [f"topology.bottleneck.policy.z{at}"]


def test_alpha_of_dfba_has_no_effect_on_drops_like_those_of_red() -> None:
    contract = [{"vcs": ["flow1.forward"], "mcr": "20000 cells/s"}]
    red = {"kind": "dfba", "drop_function": "red"}
    assert "drop_function" in canonical_json(
        wan(topology__bottleneck__policy=red, gfr=contract).resolve()
    )
    with pytest.raises(ScenarioFaults) as found:
        wan(topology__bottleneck__policy={**red, "alpha": 0.5}, gfr=contract).resolve()
    assert [fault.path for fault in found.value.faults] == ["topology.bottleneck.policy.alpha"]


def test_a_contract_becomes_intervals_and_a_tolerance() -> None:
    spec = wan(
        gfr=[
            {
                "vcs": ["flow1.forward"],
                "mcr": "1000 cells/s",
                "pcr": "10000 cells/s",
                "mfs": "20 cells",
                "mbs": "3 frames",
                "cdvt": "5 us",
                "tagging": "network",
                "window": "2 s",
                "window_step": "500 ms",
            },
            {"vcs": ["flow2.forward"], "mcr": "1000 cells/s", "mbs": "30 cells"},
        ]
    ).resolve()
    found = {vc.name: vc.gfr for vc in spec.vcs}
    first, second = found["flow1.forward"], found["flow2.forward"]
    assert first is not None
    assert second is not None
    assert (first.mcr_interval_ps, first.pcr_interval_ps) == (10**9, 10**8)
    # (60 - 1) x 0.9 ms + 5 us.
    assert first.burst_tolerance_ps == 59 * 9 * 10**8 + 5 * 10**6
    assert (first.mfs_cells, first.tagging) == (20, "network")
    assert (first.window_ps, first.window_step_ps) == (2 * 10**12, 5 * 10**11)
    # PCR is the link's rate, MFS a full segment of 512 octets: 12 cells.
    assert second.pcr_interval_ps == 2_726_337
    assert (second.mfs_cells, second.tagging) == (12, "none")
    assert second.burst_tolerance_ps == 29 * (10**9 - 2_726_337)
    assert found["flow1.reverse"] is None


def test_the_wfq_switch_takes_its_weights_and_thresholds_from_the_contracts() -> None:
    def port(threshold: str) -> tuple[object, object]:
        spec = wan(
            topology__bottleneck__policy={"kind": "vc_priority_drop", "vc_threshold": threshold},
            topology__bottleneck__scheduler={"kind": "virtual_spacing", "other_rate": "3 cells/s"},
            gfr=[
                {"vcs": ["flow1.forward"], "mcr": "20000 cells/s", "mfs": "200 cells"},
                {"vcs": ["flow2.forward"], "mcr": "8.48 Mbit/s", "mbs": "450 cells"},
            ],
        ).resolve()
        (link,) = [link for link in spec.links if link.name == "switch1>switch2"]
        return link.port.scheduler, link.port.policy

    # VCs are flow1.forward, flow1.reverse, flow2.forward, flow2.reverse.
    third = 333_333_333_333
    assert port("MBS") == (
        VirtualSpacingSpec(intervals_ps=(50_000_000, third, 50_000_000, third)),
        VcPriorityDropSpec(
            tagged_cells=9_000, threshold_cells=10_500, vc_thresholds_cells=(400, 0, 450, 0)
        ),
    )
    _, policy = port("77 cells")
    assert isinstance(policy, VcPriorityDropSpec)
    assert policy.vc_thresholds_cells == (77, 0, 77, 0)


def test_a_threshold_of_contracts_is_a_fault_where_no_vc_across_the_port_has_one() -> None:
    def policy(threshold: str) -> None:
        chosen = {"kind": "vc_priority_drop", "vc_threshold": threshold}
        wan(topology__bottleneck__policy=chosen).resolve()

    policy("MBS")
    with pytest.raises(ScenarioFaults, match="a VC with a GFR contract crosses switch1>switch2"):
        policy("77 cells")


def test_round_robin_over_vcs_takes_its_weights_from_the_file_or_from_the_contracts() -> None:
    def weights(scheduler: object) -> tuple[int, ...]:
        spec = wan(
            topology__bottleneck__scheduler=scheduler,
            gfr=[
                {"vcs": ["flow1.forward"], "mcr": "20000 cells/s"},
                {"vcs": ["flow2.forward"], "mcr": "7000 cells/s"},
            ],
        ).resolve()
        (link,) = [link for link in spec.links if link.name == "switch1>switch2"]
        assert isinstance(link.port.scheduler, VcRoundRobinSpec)
        return link.port.scheduler.weights

    # VCs are flow1.forward, flow1.reverse, flow2.forward, flow2.reverse.
    assert weights("vc_round_robin") == (1, 1, 1, 1)
    # 20/27 and 7/27 of 100 cells: 74.07 and 25.93.
    assert weights("vc_weighted_round_robin") == (74, 1, 26, 1)
    # Of 2 cells 1.48 and 0.52: at least one each.
    assert weights({"kind": "vc_weighted_round_robin", "round": 2}) == (1, 1, 1, 1)
    inputs = {"kind": "vc_weighted_round_robin", "weights": {"flow2.forward": 3}}
    assert weights(inputs) == (1, 1, 3, 1)


def test_a_contract_may_police_its_peak_rate_and_discard_what_is_beyond_it() -> None:
    spec = wan(
        gfr=[
            {
                "vcs": ["flow1.forward"],
                "mcr": "1000 cells/s",
                "pcr": "10000 cells/s",
                "cdvt": "30 us",
                "excess": "discard",
                "nonconforming": "discard",
                "pcr_policing": "tag",
            },
            {"vcs": ["flow2.forward"], "mcr": "1000 cells/s"},
        ],
        policer=[{"vcs": ["flow1.forward"], "pcr": "20000 cells/s", "pcr_action": "count"}],
    ).resolve()
    vcs = {vc.name: vc for vc in spec.vcs}
    first, second = vcs["flow1.forward"], vcs["flow2.forward"]
    assert first.gfr is not None
    assert second.gfr is not None
    assert (first.gfr.excess, first.gfr.nonconforming) == ("discard", "discard")
    # The contract's bucket first: it speaks first.
    assert first.policing == (
        GcraSpec(increment_ps=10**8, limit_ps=30 * 10**6, action="tag"),
        GcraSpec(increment_ps=5 * 10**7, limit_ps=0, action="count"),
    )
    assert (second.gfr.excess, second.gfr.nonconforming) == ("pass", "count")
    assert second.policing == ()
