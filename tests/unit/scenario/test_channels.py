"""Losses in bursts: what a file says, and what a run makes of it."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import skycell
from skycell.scenario import ScenarioFaults, parse
from skycell.spec.declared.network import (
    BitErrorsSpec,
    ErrorBurstsSpec,
    ErrorTraceSpec,
    GilbertElliottBitsSpec,
    GilbertElliottSpec,
    LossBurstsSpec,
    PeriodicLossesSpec,
)
from tests.unit.scenario.wan import wan

KEY = "topology__bottleneck__loss"


def channel_of(loss: dict[str, Any]) -> Any:
    links = wan(**{KEY: loss}).resolve().links
    (both,) = {link.channel for link in links if link.channel is not None}
    return both


@pytest.mark.parametrize(
    ("loss", "spec"),
    [
        (
            {"kind": "gilbert_elliott", "good_to_bad": 0.01, "bad_to_good": "25 %"},
            GilbertElliottSpec(
                good_to_bad=0.01, bad_to_good=0.25, loss_in_good=0.0, loss_in_bad=1.0
            ),
        ),
        (
            {"kind": "loss_bursts", "gap": "10 s", "length": "40 ms"},
            LossBurstsSpec(gap_ps=10**13, length_ps=4 * 10**10, loss=1.0),
        ),
        (
            {"kind": "periodic_losses", "period": "15 s", "length": "80 ms", "phase": "12 s"},
            PeriodicLossesSpec(
                period_ps=15 * 10**12, length_ps=8 * 10**10, phase_ps=12 * 10**12, loss=1.0
            ),
        ),
        ({"kind": "bit_errors", "ber": 1e-7}, BitErrorsSpec(ber=1e-7)),
        (
            {"kind": "gilbert_elliott_bits", "good_to_bad": 1e-6, "bad_to_good": 0.1},
            GilbertElliottBitsSpec(
                good_to_bad=1e-6, bad_to_good=0.1, errors_in_good=0.0, errors_in_bad=0.5
            ),
        ),
        (
            {"kind": "error_bursts", "ber": 1e-7, "length": 20},
            ErrorBurstsSpec(ber=1e-7, length_bits=20, density=0.5, lengths="fixed"),
        ),
        ({"kind": "error_trace", "errors": [3, 8, 9]}, ErrorTraceSpec(errors=(3, 8, 9))),
    ],
)
def test_a_link_loses_as_the_file_says(loss: dict[str, Any], spec: Any) -> None:
    assert channel_of(loss) == spec


def test_a_number_is_the_kind_without_bursts() -> None:
    as_number = wan(**{KEY: 0.001}).resolve()
    assert wan(**{KEY: {"kind": "independent", "part": "0.1 %"}}).resolve().hash() == (
        as_number.hash()
    )


@pytest.mark.parametrize(
    ("loss", "path", "got", "allowed"),
    [
        (
            {"kind": "periodic_losses", "period": "1 s", "length": "2 s"},
            "loss.length",
            '"2 s"',
            "up to period, 1 s",
        ),
        ({"kind": "bursts"}, "loss.kind", '"bursts"', '"independent" or "gilbert_elliott"'),
        (
            {"kind": "gilbert_elliott", "good_to_bad": 0.1, "bad_to_good": 0},
            "loss.bad_to_good",
            "0",
            "above 0",
        ),
        (1.5, "loss", "1.5", ""),
        ({"kind": "bit_errors", "ber": 0.6}, "loss.ber", "0.6", "above 0, at most 0.5"),
        (
            {"kind": "error_bursts", "ber": 0.1, "length": 0},
            "loss.length",
            "0",
            "a whole number from 1",
        ),
        (
            {"kind": "error_bursts", "ber": 0.1, "length": 5, "density": 0.2},
            "loss.density",
            "0.2",
            "from 0.5 to 1",
        ),
        (
            {
                "kind": "gilbert_elliott_bits",
                "good_to_bad": 0.1,
                "bad_to_good": 1,
                "errors_in_bad": 0,
            },
            "loss.errors_in_bad",
            "0",
            "above 0, at most 0.5",
        ),
        (
            {"kind": "error_trace", "errors": [4, 4]},
            "loss.errors",
            "[4, 4]",
            "whole numbers that ascend",
        ),
        (
            {"kind": "error_trace", "errors": "nowhere.txt"},
            "loss.errors",
            '"nowhere.txt"',
            "a file that can be read",
        ),
    ],
)
def test_what_cannot_be_is_a_fault(loss: Any, path: str, got: str, allowed: str) -> None:
    with pytest.raises(ScenarioFaults) as found:
        wan(**{KEY: loss}).resolve()
    (fault,) = found.value.faults
    assert fault.path == f"topology.bottleneck.{path}"
    assert fault.got.startswith(got)
    assert fault.allowed.startswith(allowed)


def test_a_code_says_what_errors_a_link_has() -> None:
    plain = channel_of({"kind": "uncoded", "eb_n0": "9 dB"})
    assert (plain.kind, plain.ber) == ("bit_errors", pytest.approx(3.36e-5, rel=0.01))
    bursts = channel_of({"kind": "convolutional", "eb_n0": "4.5 dB"})
    assert (bursts.kind, bursts.length_bits, bursts.lengths) == ("error_bursts", 6, "geometric")
    words = channel_of({"kind": "concatenated", "eb_n0": "3 dB"})
    # 188 octets of a word that fails; 1.5e-6 of the words do.
    assert words.bad_to_good == pytest.approx(1 / 1504)
    assert words.good_to_bad / words.bad_to_good == pytest.approx(1.5e-6, rel=0.05)


@pytest.mark.parametrize(
    ("loss", "path", "got", "allowed"),
    [
        ({"kind": "uncoded", "eb_n0": 9}, "loss.eb_n0", "9", "from -20 dB"),
        ({"kind": "convolutional", "eb_n0": "1 dB"}, "loss.eb_n0", "1 dB", "from 2.2 dB"),
        ({"kind": "dvb_s2", "es_n0": "9 dB"}, "loss.kind", '"dvb_s2"', "with framing"),
    ],
)
def test_a_code_out_of_its_range_is_a_fault(loss: Any, path: str, got: str, allowed: str) -> None:
    with pytest.raises(ScenarioFaults) as found:
        wan(**{KEY: loss}).resolve()
    (fault,) = found.value.faults
    assert fault.path == f"topology.bottleneck.{path}"
    assert fault.got.startswith(got)
    assert fault.allowed.startswith(allowed)


def test_a_trace_of_errors_may_be_a_file(tmp_path: Path) -> None:
    file = tmp_path / "errors.txt"
    loss = {"kind": "error_trace", "errors": str(file)}
    file.write_text("# of a modem\n12\n\n15\n")
    assert channel_of(loss) == ErrorTraceSpec(errors=(12, 15))
    for text, got in (("12\n-3\n", "line 2: -3"), ("12\n12\n", "with 12 behind")):
        file.write_text(text)
        with pytest.raises(ScenarioFaults) as found:
            wan(**{KEY: loss}).resolve()
        (fault,) = found.value.faults
        assert got in fault.got


def test_bit_errors_lose_packets_by_their_length() -> None:
    # 1500 octets, and no more in framing ip: 1 - (1 - b)^12 000 = 0.113.
    loss = {"kind": "bit_errors", "ber": 1e-5}
    sent, failed = datagrams(loss, "fast", "check")
    assert (sent, failed) == datagrams(loss, "reference", "check")
    expected = 1 - (1 - 1e-5) ** 12_000
    # 40 000 packets: a standard deviation of 0.0016.
    assert failed / sent == pytest.approx(expected, abs=0.0065)


def datagrams(loss: dict[str, Any], engine: str, how: str = "drawn") -> tuple[int, int]:
    """Packets of a steady source that were sent over a link of packets and lost on it."""
    scenario = parse(
        {
            "run": {"duration": "200 s"},
            "topology": {
                "kind": "graph",
                "hosts": ["a", "b"],
                "routers": ["r"],
                "link": [
                    {"from": "a", "to": "r", "rate": "10 Mbit/s", "framing": "ip", "delay": "1 ms"},
                    {
                        "from": "r",
                        "to": "b",
                        "rate": "10 Mbit/s",
                        "framing": "ip",
                        "delay": "1 ms",
                        "buffer": "100 packets",
                        "loss": loss,
                    },
                ],
            },
            "source": [
                {
                    "name": "cbr",
                    "kind": "cbr",
                    "source": "a",
                    "destination": "b",
                    "rate": "2.4 Mbit/s",
                    "packet_size": "1500 B",
                }
            ],
        }
    )
    records = skycell.run(scenario, engine=engine).records
    port = next(port for port in records["ports"] if port["name"] == "r>b")
    lost = sum(vc["cells_lost"].get(how, 0) for vc in records["vcs"])
    return port["departed"], lost


def test_the_losses_of_a_run_are_those_of_the_closed_form() -> None:
    loss = {"kind": "gilbert_elliott", "good_to_bad": 0.02, "bad_to_good": 0.25}
    sent, lost = datagrams(loss, "fast")
    assert (sent, lost) == datagrams(loss, "reference")
    assert sent == pytest.approx(40_000, abs=2)
    # p / (p + r) = 0.0741; a mean of n frames varies about 2 / (p + r) times as much as one of
    # independent ones: a standard deviation of 0.0035.
    expected = float(Fraction(2, 27))
    assert lost / sent == pytest.approx(expected, abs=4 * 0.0036)
    periodic = {"kind": "periodic_losses", "period": "1 s", "length": "100 ms"}
    sent, lost = datagrams(periodic, "fast")
    assert lost / sent == pytest.approx(0.1, abs=0.001)
