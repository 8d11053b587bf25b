"""Values on the command line, as they are read and written."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell.input.settings import read_value, read_values, write_value

_SCALARS = (
    st.text(max_size=20)
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(_VALUES)
def test_what_is_written_is_read_as_the_same_value(value: Any) -> None:
    assert read_value(write_value(value)) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("200 ms", "200 ms"),
        ("on_send", "on_send"),
        (True, "true"),
        (0.5, "0.5"),
        ("true", '"true"'),
        ("0.5", '"0.5"'),
        (" padded ", '" padded "'),
        ({"kind": "epd", "drop_threshold": 0.5}, '{kind = "epd", drop_threshold = 0.5}'),
        (["reno", 2], '["reno", 2]'),
    ],
)
def test_a_text_is_quoted_only_where_it_would_be_read_as_something_else(
    value: object, text: str
) -> None:
    assert write_value(value) == text


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("reno,sack", ["reno", "sack"]),
        ("1 s, 2", ["1 s", 2]),
        ("reno,", ["reno", ""]),
        (
            '300 ms,{kind = "uniform", low = "1 s"},[1, 2]',
            ["300 ms", {"kind": "uniform", "low": "1 s"}, [1, 2]],
        ),
        ("a},b", ["a}", "b"]),
    ],
)
def test_commas_part_values_but_not_those_of_a_table(text: str, values: list[object]) -> None:
    assert read_values(text) == values
