"""Whatever stands in a file of measurements, it is read or is a fault, in bounded work.

The suite looks at a few hundred mutants of each form, by seed. `SKYCELL_MUTANTS=10000` looks at as
many; `make soak` begins with that.
"""

import json
import os
import random
import re
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any
from unittest.mock import patch

import pytest

from skycell.input.faults import ScenarioFaults
from skycell.input.text import csv_faults
from skycell.scenario.declared.framings import Ip
from skycell.scenario.links import drawn, es_n0_series, series
from skycell.scenario.links.adaptive import AdaptiveCoding
from skycell.scenario.links.es_n0_series import read_es_n0
from skycell.scenario.links.fitted import UnfitError, fit
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.link_summary import summary_of
from skycell.scenario.links.schedule import MOST_STEPS, Schedule
from skycell.scenario.links.steps_table import steps_table
from skycell.scenario.packets.trace import read_packet_trace
from skycell.scenario.plan.link_budgets import es_n0_of_budget
from tests.unit.scenario.test_atlas_and_flent import DOWN, ICMP, flent, result
from tests.unit.scenario.test_logs import FPING, FPING_TEXT, irtt
from tests.unit.scenario.test_readings import WINDOWS, iperf, pings, rides

MUTANTS = int(os.environ.get("SKYCELL_MUTANTS", "200"))
"""Of each form."""
MOST_SECONDS = 20.0
"""Of the processor for one mutant: a million steps, the most that a series may have, take ten."""
RATE = LinkRate(Fraction(10**15), Ip(kind="ip"), "")
PING, TABLE = pings(every_ms=100, span_s=14)
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "ping -D": (PING, {}),
    "ping": (re.sub(r"\[.*?\] ", "", PING), {"lost": "outage"}),
    "ping of Windows": (WINDOWS, {"interval": "500 ms"}),
    "fping": (FPING_TEXT, {"loss_over": "2 s"}),
    "fping --json": (FPING, {}),
    "irtt": (irtt(*(None if at % 7 == 3 else 40 + at for at in range(30))), {}),
    "iperf3": (iperf("sum", retransmits=1), {}),
    "iperf3 --bidir": (iperf("sum", "sum_bidir_reverse"), {"direction": "down"}),
    "iperf3 --json-stream": (
        "\n".join(
            json.dumps({"event": "interval", "data": one})
            for one in json.loads(iperf("sum"))["intervals"]
        ),
        {},
    ),
    "RIPE Atlas": (json.dumps([result(at, 30 + at, 0, 40) for at in range(12)]), {}),
    "flent": (flent(icmp=ICMP, down=DOWN), {"stamp": "answered"}),
    "flent, no numbers": (flent(udp=DOWN), {}),
    "mahimahi": ("".join(f"{at * at % 40 + 40 * at}\n" for at in range(40)), {}),
    "round trips": (TABLE, {"minimum_over": "1 s"}),
    "losses": (
        "time_s,rtt_ms,packet_loss_%\n"
        + "".join(f"{at},{40 + at % 7},{at * at % 30 / 10}\n" for at in range(30)),
        {},
    ),
    "rates": (rides(600), {"gap": "cut"}),
    "semicolons": (TABLE.replace(",", ";").replace(".", ","), {"stamp": "answered"}),
    "steps": (
        "sun,time_s,delay_ms,path,rate_mbit_s,loss_percent,availability,other\n"
        + "".join(f"1,{at},{20 + at % 5},{at // 9},{at + 1},0.{at},1,x\n" for at in range(40)),
        {},
    ),
}
ES_N0 = "time_s,attenuation_db\n" + "".join(f"{at},{at % 4}.5\n" for at in range(22))
NUMBERS = (
    *("0", "-1", "1e308", "-1e308", "1e-300", "nan", "inf", "NaN", "Infinity", "1e999999999"),
    *("1e99", "9" * 30, "9" * 400, "9" * 5000, "65536", "4294967296", "99999999999"),
    *("0x10", "1_0", "\u0663", "\u00b2", "1,5", "1.2.3", "--1", "+1", "", "true"),
)
SIGNS = '\0\ud800\x1b\u2028\x85",;{[]\n\r\te'
VALUES: tuple[Any, ...] = (
    *(None, True, [], {}, "", "x", "1e999999999", -1, 0, 10**30, 10**400, 1e308, float("nan")),
    *([[]], {"a": 1}, ["\ud800"], float("-inf"), 1.5),
)


class OverworkedError(Exception):
    """A mutant takes more work than any file may."""


@contextmanager
def bounded_work() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise OverworkedError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def of_lines(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(5):
        case 0:
            del lines[at]
        case 1:
            lines.insert(other, lines[at])
        case 2:
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines = lines[:at]
        case _:
            lines *= 2
    return "".join(lines)


def of_numbers(text: str, rng: random.Random) -> str:
    found = list(re.finditer(r"\d+(?:\.\d+)?", text))
    if not found:
        return text
    one = rng.choice(found)
    return f"{text[: one.start()]}{rng.choice(NUMBERS)}{text[one.end() :]}"


def of_signs(text: str, rng: random.Random) -> str:
    at = rng.randrange(len(text) + 1)
    match rng.randrange(3):
        case 0:
            return text[:at]
        case 1:
            return text[:at] + rng.choice(SIGNS) + text[at:]
        case _:
            return text[:at] + text[at + 1 :]


def of_values(text: str, rng: random.Random) -> str:
    """Another value somewhere in a JSON document, or in one of its lines."""
    lines = [text] if text.count("\n") < 2 else text.splitlines()
    at = rng.randrange(len(lines))
    try:
        document = json.loads(lines[at])
    except ValueError:
        document = None
    if not isinstance(document, dict | list):
        return of_signs(text, rng)
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        inner = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in inner:
            places.append((node, key))
            if isinstance(value, dict | list):
                walk(value)

    walk(document)
    if not places:
        return text
    node, key = rng.choice(places)
    if rng.randrange(5):
        node[key] = rng.choice(VALUES)
    else:
        del node[key]
    lines[at] = json.dumps(document)
    return "\n".join(lines)


def mutant_of(text: str, rng: random.Random) -> str:
    kinds: list[Callable[[str, random.Random], str]] = [of_lines, of_numbers, of_signs]
    if text.lstrip().startswith(("{", "[")):
        kinds += [of_values, of_values]
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if text:
            text = rng.choice(kinds)(text, rng)
    return text


def work_through(text: str, **keys: Any) -> None:
    """Reads a file of measurements, and all that is said of it."""
    schedule = Schedule.model_validate({"series": "fi\x1ble", **keys})
    with patch.object(series, "read_text", return_value=text):
        account, steps = series.understood(Path(), schedule, RATE)
    assert len(steps.times_ps) <= 3 * MOST_STEPS
    assert list(steps.times_ps) == sorted(set(steps.times_ps))
    assert len(steps.delays_ps) == len(steps.paths) == len(steps.times_ps)
    assert all(0 <= loss <= 10**9 for loss in steps.losses_ppb)
    assert all(sign.isprintable() for note in account.notes() for sign in note)
    json.dumps(account.as_dict(), allow_nan=False)
    summary = summary_of(account.form, steps, RATE)
    json.dumps(asdict(summary), allow_nan=False)
    has_delay = summary.delay_ms is not None
    steps_table(steps, has_delays=has_delay)
    with suppress(UnfitError):
        fit(steps, step_ps=10**12, slot_ps=2 * 10**12, phase_ps=None, has_delay=has_delay)


def work_through_es_n0(text: str) -> None:
    """Reads Es/N0 over time."""
    coding = AdaptiveCoding.model_validate({"series": "beacon.csv", "es_n0": "14 dB"})
    with patch.object(es_n0_series, "read_text", return_value=text):
        found = read_es_n0(Path("mod\x1bel.toml"), coding, 10**12, 20)
    assert all(-200 <= ratio <= 200 for ratio in found)


def work_through_packets(text: str) -> None:
    """Reads a list of packets."""
    with csv_faults("packets"):
        found = read_packet_trace("packets", text)
    assert list(found.times_ps) == sorted(found.times_ps)
    assert len(found.times_ps) == len(found.octets)


MODEL = """step = "1 s"
slot = "15 s"
phase = "12 s"
loss = 0.002
[delay_ms]
slots = [24.1, 26.0, 27.5, 29.8, 41.3]
slot_memory = 0.1
noise = [-3.1, -0.9, 0.0, 0.8, 4.2]
noise_memory = 0.6
[rate_mbps]
slots = [60, 95, 130, 165, 200]
[outages]
lengths_s = [0.4, 1.0, 3.0]
gaps_s = [60, 200, 900]
"""


def work_through_model(text: str) -> None:
    """Reads a model of a link, and draws a course of it."""
    schedule = Schedule.model_validate({"model": "mod\x1bel.toml"})
    with patch.object(drawn, "read_text", return_value=text):
        model = drawn.read_model(Path("mod\x1bel.toml"))
        own_delay_ps = None if model.delay_ms else 10**9
        steps = drawn.drawn_steps(
            Path(), schedule, RATE, own_delay_ps, "1", 60 * 10**12, es_n0_of_budget
        )
    assert list(steps.times_ps) == sorted(set(steps.times_ps))


CASES: dict[str, tuple[str, Callable[[str], None]]] = {
    **{form: (sound, partial(work_through, **keys)) for form, (sound, keys) in FORMS.items()},
    "es/n0": (ES_N0, work_through_es_n0),
    "model": (MODEL, work_through_model),
    "packets": (
        "time_s,octets\n" + "".join(f"0.{at},{at}00\n" for at in range(1, 9)),
        work_through_packets,
    ),
    "packets by the clock": (
        "".join(f"12:00:0{at}.5 IP a.1 > b.2: UDP, length {at}00\n" for at in range(1, 9)),
        work_through_packets,
    ),
}


@pytest.mark.parametrize("form", CASES)
def test_a_mutant_is_read_or_a_fault(form: str) -> None:
    sound, work = CASES[form]
    work(sound)
    rng = random.Random(form)
    refused = 0
    for number in range(MUTANTS):
        mutant = mutant_of(sound, rng)
        try:
            with bounded_work():
                work(mutant)
        except ScenarioFaults as found:
            refused += 1
            is_visible = all(sign.isprintable() or sign == "\n" for sign in str(found))
            if not is_visible or not json.loads(found.to_json())["faults"][0]["allowed"]:
                raise AssertionError(str(found)) from found
        except BaseException as error:
            kept = Path(tempfile.gettempdir()) / f"mutant-{re.sub('[^a-z0-9]', '-', form)}-{number}"
            kept.write_text(mutant, encoding="utf-8", errors="surrogatepass")
            raise AssertionError(f"{kept}: {type(error).__name__}: {error}") from error
    assert 0 < refused < MUTANTS
