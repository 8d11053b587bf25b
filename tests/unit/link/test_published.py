"""Budgets beside published ones.

Those publications have one or two places after the point; 0.05 dB is half of the last place of most
of them. Angles and lengths of one have a place more.
"""

from pathlib import Path
from typing import Any

import pytest

from skycell.link import CarrierBudget, as_carrier, budget_of
from tests.unit.link import carriers

EXAMPLES = Path(__file__).parents[3] / "examples" / "carriers"


def values_of(budget: CarrierBudget) -> dict[str, Any]:
    """The values of a budget by symbol; of several with one symbol, the last."""
    rows = [row for hop in budget.hops for row in hop.rows] + list(budget.rows)
    return {row.symbol: row.value for row in rows}


def found_of(carrier: dict[str, Any], values: dict[str, Any] | None = None) -> dict[str, Any]:
    return values_of(budget_of(as_carrier(carrier, values)))


def test_a_ku_uplink_in_rain() -> None:
    # FCC SAT-PPL-20110112-00012, attachment 861203: 207.0 dB, 208.3 K, 21.8 dB, 18.1 dB.
    found = found_of(carriers.KU_UP)
    assert found["Lfs"] == pytest.approx(207.0, abs=0.05)
    assert found["ΔT"] == pytest.approx(208.3, abs=0.05)
    assert found["C/N"] == pytest.approx(21.8, abs=0.05)
    assert found["C/(N+I)"] == pytest.approx(18.1, abs=0.05)


def test_a_ku_downlink_in_rain() -> None:
    # FCC SAT-PPL-20110112-00012, attachment 861203: 205.4 dB, 174.5 K, 14.4 dB.
    found = found_of(carriers.KU_DOWN)
    assert found["Lfs"] == pytest.approx(205.4, abs=0.05)
    assert found["ΔT"] == pytest.approx(174.5, abs=0.05)
    assert found["C/N"] == pytest.approx(14.4, abs=0.05)


def test_a_ka_uplink_in_clear_sky_and_in_rain() -> None:
    # FCC SAT-LOA-20070314-00051, attachment 557807: 38 612 km, 213.7 dB; Eb/N0 14.3 dB and, with
    # interference, 11.8 dB; at 99.8 % of the year 7.1 and 6.5 dB.
    clear = found_of(carriers.KA_UP)
    assert clear["d"] == pytest.approx(38_612, abs=0.5)
    assert clear["Lfs"] == pytest.approx(213.7, abs=0.05)
    assert clear["C/N"] == pytest.approx(14.3, abs=0.05)
    assert clear["Eb/N0"] == pytest.approx(11.8, abs=0.05)
    rain = found_of(carriers.KA_UP, carriers.KA_UP_IN_RAIN)
    assert rain["C/N"] == pytest.approx(7.1, abs=0.05)
    assert rain["Eb/N0"] == pytest.approx(6.5, abs=0.05)


def test_a_leo_downlink() -> None:
    # Baktur, IEEE APM 64(6), 2022, table 3: 1 944 km, 151.57 dB, 80.56 dB Hz, 18.80 dB, 7.20 dB.
    found = found_of(carriers.LEO_DOWN)
    assert found["d"] == pytest.approx(1_944, abs=0.5)
    assert found["Lfs"] == pytest.approx(151.57, abs=0.05)
    assert found["C/N0"] == pytest.approx(80.56, abs=0.05)
    assert found["C/N"] == pytest.approx(18.80, abs=0.05)
    assert found["M"] == pytest.approx(7.20, abs=0.05)


@pytest.mark.parametrize(
    ("place", "frequency", "elevation", "availability", "published"),
    [
        # ITU-R Study Group 3, validation examples of P.618-13 (ITU-Rpy, test_data/618).
        ("51.5,-0.14,0.0314", "14.25 GHz", "31.077 deg", 99.9, 2.186),
        ("51.5,-0.14,0.0314", "14.25 GHz", "31.077 deg", 99.99, 6.798),
        ("25.78,-80.22,0.0086", "29 GHz", "52.679 deg", 99.9, 25.563),
        ("25.78,-80.22,0.0086", "29 GHz", "52.679 deg", 99.99, 58.474),
    ],
)
def test_rain_of_a_place(
    place: str, frequency: str, elevation: str, availability: float, published: float
) -> None:
    pytest.importorskip("itur", reason="itur is not installed")
    carrier = as_carrier(carriers.of_place(place, frequency, elevation))
    found = values_of(budget_of(carrier, availability))
    assert found["A_R"] == pytest.approx(published, abs=0.05)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_each_example_has_a_budget(file: Path) -> None:
    pytest.importorskip("itur", reason="itur is not installed")
    assert budget_of(as_carrier(file)).ip_bps
