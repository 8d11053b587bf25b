"""Budgets of links: shares add up, and are those that were worked out by hand."""

from pathlib import Path

import pytest

from skycell import load
from skycell.input.faults import ScenarioFaults
from skycell.metrics.budget import LinkBudget, budgets

EXAMPLES = Path(__file__).parents[3] / "examples"
FILES = sorted(EXAMPLES.glob("*.toml"))
CARRIER = "topology.link.1"


def of(link: str, values: dict[str, object] | None = None) -> LinkBudget:
    [found] = budgets(load(EXAMPLES / "dvb-s2.toml", values), link)
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_layers_of_a_carrier_are_all_of_it(file: Path) -> None:
    scenario = load(file)
    if not scenario.resolve().flows:
        with pytest.raises(ScenarioFaults, match="no flow"):
            budgets(scenario)
        return
    for found in budgets(scenario):
        assert sum(layer.share for layer in found.layers) == pytest.approx(1, abs=1e-12)
        assert sum(layer.bps for layer in found.layers) == pytest.approx(found.carrier_bps)
        assert found.layers[-1].name == "TCP payload"
        assert all(layer.bps > 0 for layer in found.layers)


def test_the_carrier_of_symbols_is_that_of_the_standard() -> None:
    found = of("hub>terminal")
    assert (found.symbol_rate, found.carrier_bps, found.bandwidth_hz) == (30e6, 90e6, 36e6)
    layers = {layer.name: layer.bps for layer in found.layers}
    # EN 302 307-1: of 22 194 symbols of a PLFRAME 21 600 are of the code word, 48 408 of its 64 800
    # bits of the BBFRAME; 10 octets of that are its header and 10 a split packet.
    frames = 30e6 / 22_194
    assert layers["code"] == pytest.approx(frames * (64_800 - 48_408))
    assert layers["BBFRAME header"] == pytest.approx(frames * 80)
    # Segments of 1460 octets with 52 of headers and 10 of GSE with a label of six: 1522.
    packets = frames * (48_408 - 160) / 8 / 1522
    for name, octets in {"framing gse": 10, "IP": 20, "TCP": 32, "TCP payload": 1460}.items():
        assert layers[name] == pytest.approx(8 * packets * octets), name
    assert of("hub>terminal", {f"{CARRIER}.framing.roll_off": 0.35}).bandwidth_hz == 40.5e6


def test_a_code_below_the_rate_of_a_link_takes_its_part_of_the_carrier() -> None:
    found = of("terminal>hub")
    assert (found.carrier_bps, found.symbol_rate, found.bandwidth_hz) == (4e6, 2e6, None)
    code = {"kind": "concatenated", "eb_n0": "4 dB", "rate": "3/4"}
    found = of("terminal>hub", {"topology.link.2.loss": code})
    assert found.carrier_bps == pytest.approx(2e6 / 0.75 * 204 / 188)
    shares = {layer.name: layer.share for layer in found.layers}
    assert shares["convolutional code 3/4"] == pytest.approx(0.25)
    assert shares["Reed-Solomon (204, 188)"] == pytest.approx(0.75 * 16 / 204)


def test_cells_in_sonet_leave_what_the_studies_say() -> None:
    # NASA/CR-1999-209158: 149.76 of 155.52 Mbit/s; 512 octets of data in 12 cells.
    values = {"tcp.mss": "512 B", "tcp.timestamps": False}
    found = budgets(load(EXAMPLES / "ubr-wan.toml", values))[-1]
    layers = {layer.name: layer.bps for layer in found.layers}
    assert layers["framing sts3c"] == pytest.approx(5.76e6)
    assert layers["TCP payload"] == pytest.approx(149.76e6 * 512 / (12 * 53))
    assert layers["AAL5, LLC/SNAP"] == pytest.approx(149.76e6 * (12 * 48 - 552) / (12 * 53))


def test_errors_are_those_that_the_code_leaves() -> None:
    errors = of("hub>terminal").errors
    assert errors is not None
    assert (errors.ratio_db, errors.ber, errors.cell_loss) == (9.5, 5e-8, None)
    assert errors.margin_db == pytest.approx(9.5 - 7.91)
    # A BBFRAME in 10^7 fails, and each packet lies in one, or 1522 of 6051 times in two.
    assert errors.frame_loss == pytest.approx(1e-7 * (1 + 1522 / 6051), rel=0.01)
    errors = of("terminal>hub").errors
    assert errors is not None
    assert errors.cell_loss is not None
    assert errors.cell_loss > 1000 * 2380 * (errors.ber or 0) ** 2
    assert errors.frame_loss > errors.ack_loss > 0
    assert of("server>hub").errors is None


@pytest.mark.parametrize(
    ("loss", "part"),
    [
        (0.01, 0.01),
        ({"kind": "gilbert_elliott", "good_to_bad": 0.01, "bad_to_good": 0.19}, 0.05),
        ({"kind": "loss_bursts", "gap": "9 s", "length": "1 s", "loss": 0.5}, 0.05),
        ({"kind": "periodic_losses", "period": "10 s", "length": "1 s"}, 0.1),
    ],
)
def test_frames_that_are_lost_whole_are_the_mean_of_their_law(loss: object, part: float) -> None:
    errors = of("hub>terminal", {f"{CARRIER}.loss": loss}).errors
    assert errors is not None
    assert (errors.ber, errors.cell_loss) == (None, None)
    assert (errors.frame_loss, errors.ack_loss) == pytest.approx((part, part))


def test_a_link_that_no_data_cross_is_refused() -> None:
    with pytest.raises(ScenarioFaults) as found:
        of("hub>termnal")
    [fault] = found.value.faults
    assert (fault.got, fault.path) == ('"hub>termnal"', "LINK")
    assert 'did you mean "hub>terminal"?' in fault.allowed
