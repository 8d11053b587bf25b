from fractions import Fraction

import pytest
from pydantic import TypeAdapter

from skycell.input.quantities import parse_quantity
from skycell.scenario.declared.framings import Framing
from skycell.scenario.links.keys import cell_time_ps, payload_rate
from tests.unit.scenario.wan import wan


@pytest.mark.parametrize(
    ("rate", "framing", "cells_per_second", "cell_ps"),
    [
        # 155.52 Mbit/s / 424 bit = 366 792.45; all bits carry cells (ICCCN'97 section 6.2).
        ("155.52 Mbit/s", "none", 366_792, 2_726_337),
        # 149.76 Mbit/s / 424 bit = 353 207.55 (the GFR studies' "155.52 Mbit/s").
        ("155.52 Mbit/s", "sts3c", 353_207, 2_831_197),
        # Bonaventure's 155 Mbit/s.
        ("365566 cells/s", None, 365_566, 2_735_484),
        ("622.08 Mbit/s", "sts12c", 1_412_830, 707_799),
        ("44.736 Mbit/s", "ds3_plcp", 96_000, 10_416_667),
    ],
)
def test_a_link_carries_the_cells_of_its_rate_and_framing(
    rate: str, framing: str | None, cells_per_second: int, cell_ps: int
) -> None:
    read = TypeAdapter(Framing | None).validate_python(framing)
    payload = payload_rate(parse_quantity(rate), read)
    assert payload // 424 == cells_per_second
    assert cell_time_ps(payload) == cell_ps


def test_a_cell_time_is_rounded_half_up() -> None:
    # 424e12 / rate = 2.5 ps
    assert cell_time_ps(Fraction(424 * 10**12, 1) / Fraction(5, 2)) == 3


def test_a_kilometre_takes_five_microseconds() -> None:
    spec = wan(topology__access={"delay": "1 km"}).resolve()
    assert spec.links[0].delay_ps == 5_000_000


def test_an_access_link_has_the_bottlenecks_rate_unless_it_has_its_own() -> None:
    alike = wan().resolve()
    assert {link.cell_time_ps for link in alike.links} == {2_726_337}
    own = wan(topology__access={"rate": "353207 cells/s", "delay": "5 ms"}).resolve()
    times = {link.name: link.cell_time_ps for link in own.links}
    assert times["source1>switch1"] == 2_831_201
    assert times["switch1>switch2"] == 2_726_337


def test_a_framing_of_its_own_takes_its_part_of_the_bottlenecks_rate() -> None:
    # The same 155.52 Mbit/s, of which SONET overhead takes a part beside the switches only.
    spec = wan(
        topology__bottleneck__framing="sts3c",
        topology__access={"framing": "none", "delay": "5 ms"},
    ).resolve()
    times = {link.name: link.cell_time_ps for link in spec.links}
    assert times["source1>switch1"] == 2_726_337
    assert times["switch1>switch2"] == 2_831_197
