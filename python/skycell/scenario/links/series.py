"""The file that drives a link: a table of steps, or what a measuring tool wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from skycell.input.account import Account, Assumed
from skycell.input.faults import Fault, ScenarioFaults
from skycell.input.parameters import exact, meaning_of
from skycell.input.quantities import Quantity, rounded, show_time
from skycell.input.text import csv_faults, read_text
from skycell.scenario.links.delay_series import account_of_table, has_delay_column, read_delays
from skycell.scenario.links.keys import DELAY_MEANING
from skycell.scenario.links.link_rate import LinkRate
from skycell.scenario.links.logs import Asked, Log, read_log
from skycell.scenario.links.sampled import (
    Interpreted,
    Rule,
    interpreted,
    repeated,
    steps_of_log,
)
from skycell.scenario.links.schedule import MOST_STEPS, Schedule
from skycell.spec.steps import Steps

_QUEUES = (
    "The delays are measured round trips: the queues that the packets met are in them, and the run "
    "adds its own."
)
"""A known trap of measured round trips."""
_LEAST = "Each block has its least delay: a queue that was there throughout a block stays in it."


@dataclass(frozen=True)
class _File:
    """A file of a series: a log and what it says, or the text of a table of steps."""

    path: Path
    text: str
    log: Log | None
    found: Interpreted | None


def _opened(folder: Path, schedule: Schedule) -> _File:
    """The file that a schedule names, whatever the link is that it drives.

    Raises:
        ScenarioFaults: of the file by line, and of keys of the schedule (without a file).
        OSError: the file cannot be read.
    """
    assert schedule.series is not None
    path = folder / schedule.series
    with csv_faults(str(path)):
        text = read_text(path)
        asked = Asked(_ps(schedule.interval), schedule.stamp, schedule.direction)
        log = read_log(str(path), text, asked)
        _check_keys(schedule, log)
        if log is None:
            return _File(path, text, None, None)
        return _File(
            path, text, log, interpreted(str(path), schedule.series, log, rule_of(schedule))
        )


def read_series(
    folder: Path,
    schedule: Schedule,
    rate: LinkRate,
    own_delay_ps: int | None,
    until_ps: int = 0,
) -> Steps:
    """The steps of the file that a schedule names.

    Args:
        folder: of the scenario.
        schedule: with a series, and how it is read.
        rate: of the link.
        own_delay_ps: of the link, if it has one beside the series.
        until_ps: moment of the series up to which it is repeated, if it is.

    Raises:
        ScenarioFaults: of the file by line, and of keys of the schedule (without a file).
        OSError: the file cannot be read.
    """
    return _steps(_opened(folder, schedule), schedule, rate, own_delay_ps, until_ps)


def _steps(
    file: _File, schedule: Schedule, rate: LinkRate, own_delay_ps: int | None, until_ps: int
) -> Steps:
    assert schedule.series is not None
    _check_delay(schedule.series, file.log, own_delay_ps)
    name = str(file.path)
    if file.found is None:
        with csv_faults(name):
            steps = read_delays(name, file.text, rate, own_delay_ps)
    else:
        steps = steps_of_log(name, file.found, rate, own_delay_ps)
    wraps = file.log.wraps if file.log and schedule.repeat is None else bool(schedule.repeat)
    return repeated(steps, until_ps, MOST_STEPS) if wraps else steps


def series_account(folder: Path, schedule: Schedule) -> Account:
    """What was made of the file that a schedule names, which is known to be sound."""
    return _account(_opened(folder, schedule), schedule)


def _account(file: _File, schedule: Schedule) -> Account:
    assert schedule.series is not None
    if file.log is None or file.found is None:
        return account_of_table(schedule.series, file.text)
    account = file.found.account
    if schedule.repeat is not None:
        assumed = tuple(one for one in account.assumed if one.about != "repeat")
        account = replace(account, assumed=assumed)
    more = [Assumed("tool", warning) for warning in file.log.warnings]
    if file.log.has_round_trips:
        least = schedule.minimum_over is not None
        more.append(Assumed("queues", _LEAST) if least else _with_queues())
    return account.and_also(assumed=more)


def _with_queues() -> Assumed:
    return Assumed("queues", _QUEUES, otherwise="minimum_over, the least delay of each block,")


def understood(folder: Path, schedule: Schedule, rate: LinkRate) -> tuple[Account, Steps]:
    """What was made of the file of a schedule, and one round of its steps, with any delay.

    A file without delays gets one of 0.

    Raises:
        ScenarioFaults: as `read_series`.
        OSError: the file cannot be read.
    """
    file = _opened(folder, schedule)
    has_delays = has_delay_column(file.text) if file.log is None else file.log.has_delays
    steps = _steps(file, schedule, rate, None if has_delays else 0, 0)
    return _account(file, schedule), steps


def rule_of(schedule: Schedule) -> Rule:
    """How a schedule reads a log."""
    return Rule(
        Fraction(exact(schedule.rtt_share)) if schedule.rtt_share else None,
        _ps(schedule.minimum_over),
        _ps(schedule.phase),
        schedule.lost,
        _ps(schedule.loss_over),
        _ps(schedule.rate_over),
        schedule.missing,
        schedule.gap,
        _ps(schedule.gap_over),
    )


def _ps(time: Quantity | None) -> int | None:
    return None if time is None else rounded(time.amount)


def _check_keys(schedule: Schedule, log: Log | None) -> None:
    """Refuses a key that says nothing of this file."""
    has_delays = log is not None and log.has_delays
    has_packets = log is not None and log.has_delays and not log.has_losses
    applies = {
        "rtt_share": log is not None and log.has_round_trips,
        "minimum_over": has_delays,
        "phase": has_delays and schedule.minimum_over is not None,
        "stamp": log is not None and log.has_stamps,
        "missing": log is not None and log.may_lack_rows,
        "direction": log is not None and bool(log.directions),
        "gap": log is not None and not log.wraps,
        "gap_over": log is not None and not log.wraps,
        "lost": has_packets,
        "loss_over": has_packets,
        "rate_over": log is not None and any(sample.octets for sample in log.samples),
        "interval": log is not None and log.has_round_trips,
    }
    what = "a table of steps" if log is None else log.form
    faults = [
        Fault(
            "",
            key,
            f"{getattr(schedule, key)} for {schedule.series}, {what}",
            "minimum_over beside it"
            if key == "phase" and has_delays
            else "nothing: it has no effect on such a file",
            meaning_of(Schedule.model_fields[key]),
        )
        for key, has_effect in applies.items()
        if getattr(schedule, key) is not None and not has_effect
    ]
    if faults:
        raise ScenarioFaults(faults)


def _check_delay(name: str, log: Log | None, own_delay_ps: int | None) -> None:
    """Refuses a log with delays beside a delay of the link, and one without where it has none."""
    if log is None or log.has_delays != (own_delay_ps is not None):
        return
    if own_delay_ps is None:
        got = f"nothing, and {log.form} in {name}"
        allowed = 'a delay, such as "25 ms", beside schedule: the file has none'
    else:
        got = f"{show_time(own_delay_ps)}, and {log.form} in {name}"
        allowed = "no delay of the link: the file has them"
    raise ScenarioFaults([Fault("", "delay", got, allowed, DELAY_MEANING)])
