"""Faults by the thousand, and numbers of hundreds of digits: a screenful that can be read."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from skycell.cli.main import main
from skycell.input.faults import MOST_SHOWN, show_value
from skycell.input.quantities import show_amount
from skycell.scenario import ScenarioFaults, parse

HEAD = 'preset = "icccn97-lan"\n'
SWEEP = """
[scenario]
preset = "icccn97-lan"
[factors.tick]
key = "tcp.tick"
levels = ["100 ms", "200 ms"]
"""
SEVERAL = {
    "unknown keys": HEAD + "[tcp]\n" + "".join(f"key{number} = 1\n" for number in range(1500)),
    "wrong values": HEAD + "[records]\ntraces = [" + '"none", ' * 1500 + "]\n",
    "no TOML, in lines": HEAD + "a = @\n" + "".join(f"key{n} = @\n" for n in range(1499)),
    "no TOML, in one line": HEAD + "a = [" + "@," * 1500 + "]\n",
}


def called(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@pytest.mark.parametrize("text", SEVERAL.values(), ids=SEVERAL)
def test_the_first_faults_are_shown_in_the_order_of_the_file_and_the_others_counted(
    text: str, tmp_path: Path
) -> None:
    file = tmp_path / "many.toml"
    file.write_text(text)
    ended = called("check", str(file))
    assert ended.exit_code == 2
    lines = ended.stderr.splitlines()
    places = [line for line in lines if line.startswith(str(file))]
    assert len(places) == MOST_SHOWN
    order = [tuple(map(int, place.split(": ")[0].split(":")[1:])) for place in places]
    assert order == sorted(order)
    assert lines[-2:] == ["and 1 480 more faults", "1 500 faults; nothing was run."]

    (reported,) = json.loads(called("check", str(file), "--json").stdout)["files"]
    assert len(reported["faults"]) == MOST_SHOWN
    assert reported["fault_count"] == 1500
    with pytest.raises(ScenarioFaults) as faults:
        parse(text)
    assert len(faults.value.faults) == 1500
    assert json.loads(faults.value.to_json())["fault_count"] == 1500


def test_faults_of_a_sweep_and_of_a_call_are_bounded_too(tmp_path: Path) -> None:
    file = tmp_path / "many.toml"
    file.write_text(SWEEP + "".join(f"[factors.f{n}]\nkey = 1\n" for n in range(500)))
    settings = [word for n in range(500) for word in ("--set", f"tcp.key{n}=1")]
    for ended in (
        called("sweep", str(file), "--plan"),
        called("run", "no-such-file.toml", *settings, "--trace", "none"),
        called("run", str(file), *settings),
    ):
        assert ended.exit_code == 2
        assert len(ended.stderr) < 20_000


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (10**39, f"{10**39}"),
        (10**40, "100000…(41 digits)"),
        (10**300 - 1, "999999…(300 digits)"),
        (-(10**5000), "-100000…(5001 digits)"),
        ("7" * 5000, '"777777…(5000 digits)"'),
        (f"{'1' * 300}.{'2' * 300} ms", '"111111…(300 digits).222222…(300 digits) ms"'),
        ([2**64, 10**300], "[18446744073709551616, 100000…(301 digits)]"),
        ([[[[[[1]]]]]], "[[[[…]]]]"),
    ],
    ids=lambda _: "",
)
def test_a_long_number_is_shown_by_its_first_digits(value: object, shown: str) -> None:
    assert show_value(value) == shown


@pytest.mark.parametrize(
    "call",
    [
        ("run", "no-such.toml", "--seed"),
        ("run", "-", "--seed"),
        ("orbit", "path", "geo-ring", "cairo", "rome", "--at"),
        ("sweep", "-", "--replications"),
        ("sweep", "-", "--store", "no/such", "--jobs"),
    ],
    ids=" ".join,
)
def test_a_long_number_of_an_option_is_shown_by_its_first_digits(call: tuple[str, ...]) -> None:
    ended = called(*call, "7" * 5000)
    assert ended.exit_code == 2
    assert "777777…(5000 digits)" in ended.stderr
    assert len(ended.stderr) < 2000


def test_a_long_amount_is_shown_by_its_first_digits() -> None:
    assert show_amount(10**300) == "100000…(301 digits)"
    assert show_amount(10**6) == "1 000 000"


@pytest.mark.parametrize("depth", [100, 100_000])
@pytest.mark.parametrize(("begin", "end"), [("[", "]"), ("{a=", "}")])
def test_a_value_in_values_in_values_is_a_fault(depth: int, begin: str, end: str) -> None:
    with pytest.raises(ScenarioFaults) as faults:
        parse(f"{HEAD}a = {begin * depth}1{end * depth}\n")
    assert "max recursion depth met" in str(faults.value)


def test_an_error_far_into_a_line_is_shown_with_what_is_about_it() -> None:
    with pytest.raises(ScenarioFaults) as faults:
        parse(f"{HEAD}a = [{'1, ' * 1000}here @, {'2, ' * 1000}]\n")
    assert "here @" in faults.value.faults[-1].got
    assert len(faults.value.faults[-1].got) < 100
