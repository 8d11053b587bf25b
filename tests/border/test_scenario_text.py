"""TOML as Rust reads it for Python: values, positions, errors."""

import contextlib
import math
import pickle
import subprocess
import sys
import textwrap
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skycell._core import TomlError, parse_toml


def text(lines: str) -> str:
    return textwrap.dedent(lines).strip("\n") + "\n"


def errors_of(document: str) -> list[tuple[int, int, str]]:
    with pytest.raises(TomlError) as caught:
        parse_toml(document)
    return caught.value.errors


def test_values_come_in_pythons_own_types() -> None:
    values, _ = parse_toml(
        text("""
        name = "geo"
        count = 0x10
        part = 0.5
        never = inf
        on = true
        [[flow]]
        vcs = [0, {up = 1}]
        """)
    )
    assert values == {
        "name": "geo",
        "count": 16,
        "part": 0.5,
        "never": math.inf,
        "on": True,
        "flow": [{"vcs": [0, {"up": 1}]}],
    }
    assert isinstance(values["on"], bool)


def test_keys_keep_the_order_of_the_text() -> None:
    values, positions = parse_toml("z = 1\na = 2\nm = 3\n")
    assert list(values) == ["z", "a", "m"]
    assert list(positions) == ["z", "a", "m"]


def test_every_value_has_a_position() -> None:
    _, positions = parse_toml(
        text("""
        seed = 1
        [link.up]
          rate = "155.52 Mbit/s"
        paths = [
          [0, 1],
        ]
        [[flow]]
        tcp = {mss = 9180}
        """)
    )
    assert positions == {
        "seed": (1, 8),
        "link": (2, 2),
        "link.up": (2, 1),
        "link.up.rate": (3, 10),
        "link.up.paths": (4, 9),
        "link.up.paths.0": (5, 3),
        "link.up.paths.0.0": (5, 4),
        "link.up.paths.0.1": (5, 7),
        "flow": (7, 1),
        "flow.0": (7, 1),
        "flow.0.tcp": (8, 7),
        "flow.0.tcp.mss": (8, 14),
    }


def test_columns_count_characters_and_lines_may_end_in_cr_lf() -> None:
    _, positions = parse_toml('a = {"µs" = "é", b = 2}\r\nc = 3\r\n')
    assert positions["a.b"] == (1, 22)  # µ and é are one character each
    assert positions["c"] == (2, 5)


def test_several_syntax_errors_are_told_at_once_in_the_order_of_the_text() -> None:
    assert errors_of("x = = 3\ny = 4\ny = 5\nend\n[t\n") == [
        (1, 5, "extra `=`, expected nothing"),
        (1, 7, "unexpected key or value, expected newline, `#`"),
        (3, 1, "duplicate key"),
        (4, 4, "key with no value, expected `=`"),
        (5, 3, "unclosed table, expected `]`"),
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("18446744073709551616", "an integer beyond 64 bits"),
        ("-9223372036854775809", "an integer beyond 64 bits"),
        ("1e999", "a number too large for a 64-bit float"),
        ("1997-07-01", "a date or time has no meaning here; quote it to make it text"),
    ],
)
def test_a_value_no_scenario_can_hold_is_refused_where_it_stands(value: str, message: str) -> None:
    assert errors_of(f"ok = 1\nbad = [\n  {value}]\n") == [(3, 3, message)]


def test_an_integer_may_have_64_bits_with_or_without_a_sign() -> None:
    text = "a = 0xffff_ffff_ffff_ffff\nb = 18446744073709551615\nc = -9223372036854775808\n"
    assert parse_toml(text)[0] == {"a": 2**64 - 1, "b": 2**64 - 1, "c": -(2**63)}


def test_the_message_has_a_line_for_each_error() -> None:
    with pytest.raises(TomlError, match=r"^line 1, column 5: .*\nline 2, column 5: .*$"):
        parse_toml("a = 1e999\nb = -1e999\n")


def test_an_error_at_the_end_of_the_text_has_a_position() -> None:
    assert [(line, column) for line, column, _ in errors_of("a = ")] == [(1, 5)]
    assert errors_of("a = [1,")[0][:2] == (1, 8)


def test_the_errors_survive_the_way_between_processes() -> None:
    with pytest.raises(TomlError) as caught:
        parse_toml("a = 1e999")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.errors == caught.value.errors
    assert str(copy) == str(caught.value)


def test_very_deep_nesting_is_an_error_and_no_crash() -> None:
    assert errors_of("a = " + "[" * 100_000)


@given(st.text())
def test_any_text_is_either_read_as_tomllib_reads_it_or_refused(document: str) -> None:
    try:
        values, positions = parse_toml(document)
    except TomlError as error:
        refused = error.errors
    else:
        assert set(positions) >= set(values)
        # tomllib reads TOML 1.0, which is stricter.
        with contextlib.suppress(tomllib.TOMLDecodeError):
            assert values == tomllib.loads(document)
        return
    assert refused


SCALARS = (
    st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.booleans()
    | st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.from_regex(r"[a-z_]{1,6}", fullmatch=True), inner, max_size=3)
    ),
    max_leaves=8,
)


def written(value: Any) -> str:
    """The value as TOML writes it inline."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
        case list():
            return "[" + ", ".join(map(written, value)) + "]"
        case dict():
            return "{" + ", ".join(f"{k} = {written(v)}" for k, v in value.items()) + "}"
        case _:
            return repr(value)


@given(VALUES)
def test_what_is_written_is_read(value: Any) -> None:
    values, _ = parse_toml(f"value = {written(value)}\n")
    assert values == {"value": value}


@given(st.text(alphabet="aµ€😀\n\t#", max_size=300), st.integers(0, 200))
def test_a_position_is_that_of_the_character_whatever_stands_before(
    comment: str, blanks: int
) -> None:
    before = "".join(f"#{line}\n" for line in comment.replace("\t", " ").split("\n"))
    line = f'"k{"µ😀" * blanks}" = {" " * blanks}[1, 2]\n'
    _, positions = parse_toml(before + line)
    (key,) = (path for path in positions if "." not in path)
    assert positions[key] == (before.count("\n") + 1, line.index("[") + 1)
    assert positions[f"{key}.1"] == (before.count("\n") + 1, line.index("2") + 1)


def test_an_interrupt_ends_the_reading() -> None:
    # A tenth of a second into what takes several: without a look at signals all would be read.
    script = textwrap.dedent(
        """
        import signal
        from skycell._core import parse_toml

        text = "a = [" + "1," * 8_000_000 + "]"
        signal.signal(signal.SIGALRM, signal.default_int_handler)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        told = "interrupted"
        try:
            parse_toml(text)
            told = "read"
        except KeyboardInterrupt:
            pass
        print(told)
        """
    )
    command = [sys.executable, "-c", script]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ended.stdout == "interrupted\n"
