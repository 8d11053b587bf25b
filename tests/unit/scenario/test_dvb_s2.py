"""Frames of DVB-S2 against the spectral efficiencies that the standard prints, and GSE in them."""

from fractions import Fraction

import pytest

from skycell.scenario import parse
from skycell.scenario.file.dvb_s2 import BB_HEADER, MODCODS, frame_of, layers_of
from skycell.spec.values import octets_on_line

#: EN 302 307-1 table 13: bits of a BBFRAME without its header a symbol, normal frames, no pilots.
EFFICIENCY = {
    "QPSK 1/4": 0.490243,
    "QPSK 1/3": 0.656448,
    "QPSK 2/5": 0.789412,
    "QPSK 1/2": 0.988858,
    "QPSK 3/5": 1.188304,
    "QPSK 2/3": 1.322253,
    "QPSK 3/4": 1.487473,
    "QPSK 4/5": 1.587196,
    "QPSK 5/6": 1.654663,
    "QPSK 8/9": 1.766451,
    "QPSK 9/10": 1.788612,
    "8PSK 3/5": 1.779991,
    "8PSK 2/3": 1.980636,
    "8PSK 3/4": 2.228124,
    "8PSK 5/6": 2.478562,
    "8PSK 8/9": 2.646012,
    "8PSK 9/10": 2.679207,
    "16APSK 2/3": 2.637201,
    "16APSK 3/4": 2.966728,
    "16APSK 4/5": 3.165623,
    "16APSK 5/6": 3.300184,
    "16APSK 8/9": 3.523143,
    "16APSK 9/10": 3.567342,
    "32APSK 3/4": 3.703295,
    "32APSK 4/5": 3.951571,
    "32APSK 5/6": 4.119540,
    "32APSK 8/9": 4.397854,
    "32APSK 9/10": 4.453027,
}


def test_efficiencies_are_those_of_the_standard() -> None:
    found = {}
    for modcod in MODCODS:
        frame = frame_of(modcod, "normal", pilots=False)
        assert frame is not None
        found[modcod] = round(8 * (frame.information - BB_HEADER) / frame.symbols, 6)
    assert found == EFFICIENCY


def test_a_short_code_word_leaves_168_bits_for_bch() -> None:
    # Table 5b: BCH words of 3240 and 14 400 bits, with 12 times 14 bits to correct 12 errors.
    quarter, most = (frame_of(f"QPSK {rate}", "short", pilots=True) for rate in ("1/4", "8/9"))
    assert quarter is not None
    assert most is not None
    assert (8 * quarter.information, 8 * most.information) == (3240 - 168, 14_400 - 168)
    assert frame_of("QPSK 9/10", "short", pilots=True) is None


def test_pilots_come_after_every_16_slots_but_not_at_the_end() -> None:
    # 360 slots: 22 blocks; 36 slots: 2 blocks; 16 slots and fewer would have none.
    for modcod, size, blocks in (("QPSK 1/2", "normal", 22), ("32APSK 3/4", "short", 2)):
        plain, piloted = (frame_of(modcod, size, pilots) for pilots in (False, True))
        assert plain is not None
        assert piloted is not None
        assert piloted.symbols - plain.symbols == 36 * blocks


@pytest.mark.parametrize("modcod", MODCODS)
def test_the_layers_share_all_symbols(modcod: str) -> None:
    frame = frame_of(modcod, "normal", pilots=True)
    assert frame is not None
    layers = layers_of(frame, 10)
    assert sum(layers.values()) == 1
    assert all(share > 0 for share in layers.values())


def test_a_carrier_is_a_line_of_gse_packets() -> None:
    framing = {"kind": "gse", "modcod": "8PSK 3/4", "label": "3 B"}
    bottleneck = {"rate": "30 Mbaud", "framing": framing, "delay": "1 ms", "buffer": "9 packets"}
    topology = {"kind": "dumbbell", "sources": 1, "bottleneck": bottleneck}
    access = {"rate": "1 Gbit/s", "delay": "1 ms"}
    spec = parse({"run": {"duration": "1 s"}, "topology": {**topology, "access": access}}).resolve()
    lines = {link.name: link.framing for link in spec.links}
    carrier, host = lines["router1>router2"], lines["source1>router1"]
    assert carrier is not None
    assert host is not None
    # 6051 octets a frame of 22 194 symbols, 10 of its header and 10 of a packet that is split.
    rate = Fraction(30_000_000 * 8 * (6051 - 20), 22_194)
    assert carrier.rate_millibps == round(rate * 1000)
    assert octets_on_line(carrier, 1500) == 1500 + 4 + 3
    assert octets_on_line(host, 1500) == 1500
