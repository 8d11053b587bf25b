from skycell.scenario.network_spec import DfbaSpec, ZComplementSquaredSpec
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
    assert policy.z == ZComplementSquaredSpec()
    assert policy.keeps_last_cells
