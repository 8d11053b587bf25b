from skycell.spec.declared.network import EricaPlusSpec, NetworkSpec, VcSpec
from tests.unit.scenario.wan import wan


def _vc(spec: NetworkSpec, name: str) -> VcSpec:
    return next(vc for vc in spec.vcs if vc.name == name)


def test_a_vc_and_the_one_back_become_abr_and_name_each_other() -> None:
    spec = wan(
        abr=[
            {
                "vcs": ["flow1.forward"],
                "mcr": "424 kbit/s",
                "icr": "2000 cells/s",
                "tbe": "64 cells",
            },
            {"vcs": ["flow2.forward"], "pcr": "1000 cells/s"},
            {"vcs": ["flow2.reverse"], "pcr": "500 cells/s"},
        ]
    ).resolve()
    names = [vc.name for vc in spec.vcs]
    for one, other in (("forward", "reverse"), ("reverse", "forward")):
        vc = _vc(spec, f"flow1.{one}")
        assert vc.class_ == "abr"
        assert vc.abr is not None
        assert names[vc.abr.return_vc] == f"flow1.{other}"
        # A cell has 424 bits. PCR is the rate of the first link: 155.52 Mbit/s.
        assert vc.abr.mcr_millicells == 1_000_000
        assert (vc.abr.icr_millicells, vc.abr.tbe_cells) == (2_000_000, 64)
        assert vc.abr.pcr_millicells == vc.abr.destination_millicells == 366_792_452
        # TM 4.0's defaults.
        assert (vc.abr.nrm, vc.abr.mrm, vc.abr.trm_ps) == (32, 2, 100_000_000_000)
        assert (vc.abr.rif, vc.abr.rdf, vc.abr.cdf) == (1 / 16, 1 / 16, 1 / 16)
        assert (vc.abr.adtf_ps, vc.abr.tcr_millicells) == (500_000_000_000, 10_000)
        # Twice the way of the data.
        links = [spec.links[link] for link in vc.path]
        assert vc.abr.frtt_ps == 2 * sum(link.delay_ps for link in links)
    rates = [_vc(spec, f"flow2.{way}").abr for way in ("forward", "reverse")]
    assert [rate and rate.pcr_millicells for rate in rates] == [1_000_000, 500_000]


def test_the_bottleneck_tells_rates_in_the_direction_of_the_data() -> None:
    algorithm = {"kind": "erica_plus", "target_delay": "2 ms", "delta": 0, "ccr_from": "measured"}
    spec = wan(
        topology__bottleneck__rate_algorithm=algorithm, abr=[{"vcs": ["flow1.forward"]}]
    ).resolve()
    algorithms = {link.name: link.port.rate_algorithm for link in spec.links}
    at_bottleneck = algorithms.pop("switch1>switch2")
    assert isinstance(at_bottleneck, EricaPlusSpec)
    assert (at_bottleneck.queue.target_ps, at_bottleneck.queue.b, at_bottleneck.interval_cells) == (
        2_000_000_000,
        1.05,
        500,
    )
    assert (at_bottleneck.delta, at_bottleneck.ccr_from) == (0, "measured")
    assert set(algorithms.values()) == {None}


def test_a_switch_that_cuts_loops_says_how_it_couples_them() -> None:
    spec = wan(
        abr=[{"vcs": ["flow1.forward"]}],
        vs_vd=[
            {"nodes": ["switch1"]},
            {"nodes": ["switch2"], "coupling": "queue", "target_delay": "3 ms"},
        ],
    ).resolve()
    cuts = {node.name: node.vs_vd for node in spec.nodes}
    one, other = cuts.pop("switch1"), cuts.pop("switch2")
    assert one is not None
    assert other is not None
    assert (one.coupling, one.target_ps, one.drain_limit) == ("minimum", 1_500_000_000, 0.5)
    assert (other.coupling, other.target_ps) == ("queue", 3_000_000_000)
    assert set(cuts.values()) == {None}
