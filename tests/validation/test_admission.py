"""The effective bandwidth of on/off sources: beside the queue's law, and in runs."""

import math

import pytest

import skycell
from skycell.scenario.resolve.effective_bandwidth import OnOff, of_all, of_one

VIDEO = OnOff(peak=20_000, on_s=0.02, off_s=0.06)


@pytest.mark.parametrize("buffer", [10, 300, 5_000, 10**9])
@pytest.mark.parametrize("loss", [1e-2, 1e-6])
def test_at_its_effective_bandwidth_a_source_fills_its_buffer_for_that_part_of_the_time(
    buffer: int, loss: float
) -> None:
    rate, rho = of_one(VIDEO, buffer, loss), VIDEO.utilisation
    z = (rate - rho * VIDEO.peak) / (VIDEO.on_s * (1 - rho) * rate * (VIDEO.peak - rate))
    assert z * buffer == pytest.approx(-math.log(loss), rel=1e-6)


def test_it_lies_between_mean_and_peak() -> None:
    assert of_one(VIDEO, 0, 1e-6) == of_one(VIDEO, 100, 0) == VIDEO.peak
    assert of_one(VIDEO, math.inf, 1e-6) == VIDEO.mean
    assert of_one(VIDEO, 100, 1) == pytest.approx(VIDEO.mean)
    # One that never pauses needs its rate.
    assert of_one(OnOff(500, 1, 0), 10, 1e-6) == 500


def test_of_many_sources_few_are_on_together() -> None:
    few, many = (of_all([VIDEO] * count, 50, 1e-5) / count for count in (2, 200))
    assert few > 0.95 * VIDEO.peak
    # 5 000 + 4.603 x 8 660 / sqrt(200) of each.
    assert many == pytest.approx(7_819, abs=1)
    assert of_all([VIDEO] * 3, 50, 0) == 3 * VIDEO.peak


def lost(rate: float, buffer: int) -> float:
    """Part of its cells that VIDEO loses where CBR leaves it so many cells a second."""
    link = {"framing": "none", "delay": "1 ms"}
    classes = [{"name": "cbr"}, {"name": "rt_vbr", "buffer": f"{buffer} cells"}]
    topology = {
        "kind": "graph",
        "hosts": ["a", "b", "c"],
        "switches": ["s"],
        "link": [
            {"from": "a", "to": "s", "rate": "155.52 Mbit/s", **link},
            {"from": "c", "to": "s", "rate": "155.52 Mbit/s", **link},
            {"from": "s", "to": "b", "rate": "40000 cells/s", "class": classes, **link},
        ],
    }
    times = {"on": VIDEO.on_s, "off": VIDEO.off_s}
    video = {
        "kind": "vbr",
        "name": "video",
        "class": "rt_vbr",
        "source": "a",
        "peak_rate": f"{VIDEO.peak:.0f} cells/s",
        **{key: {"kind": "exponential", "mean": f"{s} s"} for key, s in times.items()},
    }
    rest = {"kind": "cbr", "name": "rest", "source": "c", "rate": f"{40_000 - rate:.0f} cells/s"}
    values = {
        "run": {"duration": "400 s"},
        "topology": topology,
        "source": [{**one, "destination": "b"} for one in (video, rest)],
        "admission": {"loss": 0.01},
    }
    if rate < of_one(VIDEO, buffer, 0.01):
        (fault,) = skycell.check(values)
        assert fault.got.startswith("16 018 cells/s, the effective bandwidth of 1 source of VBR")
        values["admission"] = {"overbooking": "allow"}
    vc = skycell.run(values).records["vcs"][0]
    part: float = sum(vc["cells_discarded"].values()) / vc["cells_offered"]
    return part


def test_a_source_that_is_left_its_effective_bandwidth_loses_no_more() -> None:
    buffer = 400
    rate = math.ceil(of_one(VIDEO, buffer, 0.01))
    assert 0 < lost(rate, buffer) < 0.01
    assert lost((rate + VIDEO.mean) / 2, buffer) > 0.03
