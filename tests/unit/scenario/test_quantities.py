from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.input.faults import ScenarioFaults
from skycell.input.quantities import (
    Dimension,
    Refused,
    parse_quantity,
    show_amount,
    show_time,
    unit_pattern,
    units_of,
)
from skycell.scenario import parse


@pytest.mark.parametrize(
    ("text", "amount", "dimension"),
    [
        ("275 ms", 275 * 10**9, Dimension.TIME),
        ("5us", 5 * 10**6, Dimension.TIME),
        ("0.1 s", 10**11, Dimension.TIME),
        ("2 min", 120 * 10**12, Dimension.TIME),
        ("1 h", 3600 * 10**12, Dimension.TIME),
        ("155.52 Mbit/s", 155_520_000, Dimension.BIT_RATE),
        ("1.5e3 kbit/s", 1_500_000, Dimension.BIT_RATE),
        ("353 207 cells/s", 353_207, Dimension.CELL_RATE),
        ("64 KiB", 65_536, Dimension.SIZE),
        ("64 kB", 64_000, Dimension.SIZE),
        ("1 MiB", 1_048_576, Dimension.SIZE),
        ("1 GB", 10**9, Dimension.SIZE),
        ("1 GiB", 2**30, Dimension.SIZE),
        ("2 TB", 2 * 10**12, Dimension.SIZE),
        ("2 TiB", 2**41, Dimension.SIZE),
        ("200 000 cells", 200_000, Dimension.CELLS),
        ("1 cell", 1, Dimension.CELLS),
        ("0.5 RTT", Fraction(1, 2), Dimension.RTT),
        ("90 %", Fraction(9, 10), Dimension.PART),
        ("1 km", 1, Dimension.DISTANCE),
        ("-5 ms", -5 * 10**9, Dimension.TIME),
    ],
)
def test_a_number_with_its_unit_is_read_exactly(
    text: str, amount: Fraction | int, dimension: Dimension
) -> None:
    read = parse_quantity(text)
    assert (read.amount, read.dimension, str(read)) == (amount, dimension, text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("64 KB", "1000 octets to some and 1024 to others"),
        ("155.52 Mb/s", "bits to some and bytes to others"),
        ("155.52 Mbps", "write Mbit/s"),
        ("3 furlongs", 'the unit "furlongs" is unknown'),
        ("20 cels", "did you mean cells?"),
        ("20", "the unit is missing"),
        ("ms", "a number followed by its unit"),
        ("", "a number followed by its unit"),
        ("1,5 ms", "a number followed by its unit"),
        ("1 2 ms", "a number followed by its unit"),
        ("١ ms", "a number followed by its unit"),
        ("1e999999999 s", "a number followed by its unit"),
        ("9" * 100 + " s", "a number followed by its unit"),
        ("nan s", "a number followed by its unit"),
        ("1 " + "x" * 50, "xxxxxxxxxxxxxxxxxxxxxxxx…"),
    ],
)
def test_what_is_no_quantity_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_quantity(text)
    assert why in str(refused.value)


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        read = parse_quantity(text)
    except Refused:
        return
    assert read.text == text.strip()


@given(st.fractions(0, 10**9, max_denominator=1000), st.sampled_from(["ms", "cells", "MiB", "RTT"]))
def test_a_quantity_means_its_number_times_its_unit(number: Fraction, unit: str) -> None:
    decimal = f"{float(number):.3f}"
    assert parse_quantity(f"{decimal} {unit}").amount == Fraction(decimal) * (
        parse_quantity(f"1 {unit}").amount
    )


def test_m_is_refused_where_a_time_is_meant() -> None:
    with pytest.raises(ScenarioFaults, match="a minute to some and a metre to others"):
        parse({"preset": "icccn97-lan", "run": {"duration": "1 m"}})


def test_units_are_listed_in_the_plural() -> None:
    assert units_of(Dimension.CELLS, Dimension.PART) == "cells, %"


def test_the_pattern_of_a_unit_admits_what_is_read() -> None:
    import re

    pattern = re.compile(unit_pattern(Dimension.TIME, Dimension.PART))
    assert all(pattern.match(text) for text in ("275 ms", "1 000 s", " 1.5e3us ", "90 %"))
    assert not any(pattern.match(text) for text in ("275", "1 RTT", "-1 s", "1 sec"))


def test_numbers_are_shown_with_thousands_apart() -> None:
    assert show_amount(4_294_967_295) == "4 294 967 295"
    assert show_amount(Fraction(1, 3)) == "0.333333333"
    assert show_time(1_500_000) == "1.5 us"
    assert show_time(500) == "0.5 ns"
