"""What one sender did, told alike for skycell and for ns-2, and as text to be stored."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benches.peers.ns2.simulator import Exchange, Sent
from skycell import RunResult

NEW_FLIGHT_S = 0.02
"""A pause of this length begins another line of the text; a round trip takes five times as long."""


@dataclass(frozen=True)
class Windows:
    """cwnd and ssthresh at one time, segments."""

    time_s: float
    cwnd: float
    ssthresh: float


@dataclass(frozen=True)
class Reported:
    """One exchange: every data segment, and the windows in the quiet between two flights."""

    sent: tuple[Sent, ...]
    windows: tuple[Windows, ...]


def quiet_times(duration_s: float, rtt_s: float) -> list[float]:
    """The middles of the round trips: flights are short against them, so nothing moves then."""
    return [(k + 0.5) * rtt_s for k in range(int(duration_s / rtt_s))]


def of_skycell(result: RunResult, mss: int, quiet: Sequence[float]) -> Reported:
    """The first flow of a run with the traces `cwnd` and `sequence`."""
    sequence = result.traces["sequence"]
    sent = [
        Sent(row["time_ps"] / 1e12, row["sequence"] // mss, row["event"] == 1)
        for row in sequence.filter(sequence["event"] != 2).iter_rows(named=True)
    ]
    changes = [
        (row["time_ps"] / 1e12, row["cwnd"] / mss, row["ssthresh"] / mss)
        for row in result.traces["cwnd"].iter_rows(named=True)
    ]
    windows = [Windows(time, *_last(changes, time)) for time in quiet]
    return Reported(tuple(sent), tuple(windows))


def recovering(result: RunResult, mss: int, quiet: Sequence[float]) -> list[bool]:
    """Whether a repeated segment was unacknowledged, at each quiet time, in a run's first flow.

    Ours inflates cwnd in fast recovery, ns-2 keeps the inflation apart: only outside of it do their
    cwnd mean the same.
    """
    answers = []
    sequence = result.traces["sequence"]
    rows = list(sequence.select("time_ps", "event", "sequence").iter_rows())
    for time_s in quiet:
        before = [row for row in rows if row[0] <= time_s * 1e12]
        acked = max((octet for _, event, octet in before if event == 2), default=0)
        answers.append(any(event == 1 and octet >= acked for _, event, octet in before))
    return answers


def of_ns2(exchange: Exchange, quiet: Sequence[float]) -> Reported:
    """The flow of a traced run of ns-2."""
    windows = [
        Windows(time, *_last(exchange.cwnd, time), *_last(exchange.ssthresh, time))
        for time in quiet
    ]
    return Reported(exchange.sent, tuple(windows))


def _last(changes: Iterable[tuple[float, ...]], time_s: float) -> tuple[float, ...]:
    """The values of the last change up to a time."""
    values: tuple[float, ...] = ()
    for when, *now in changes:
        if when > time_s:
            break
        values = tuple(now)
    return values


@dataclass(frozen=True)
class Tolerance:
    """How far two exchanges may be apart and still be the same, each with its reason.

    Attributes:
        loss_found_s: time of every transmission up to the first repetition, s. ns-2 rounds times to
            microseconds, and our retransmission timer runs out up to one tick early.
        window: cwnd and ssthresh, segments. ns-2 rounds ssthresh down to whole segments, and leaves
            fast recovery with half the window and the growth of one ACK, ours with ssthresh.
        per_round_trip: transmissions by which one may lead, for each round trip since the first
            repetition: windows that differ by a part of a segment differ by at most one segment
            each round trip.
    """

    loss_found_s: float
    window: float = 1.0
    per_round_trip: int = 1


def first_difference(
    ours: Reported, theirs: Reported, recovering: Sequence[bool], tolerance: Tolerance
) -> tuple[float, str] | None:
    """Time (s) and kind of the first difference beyond the tolerance: `order`, `time`, `lead`,
    `ssthresh` or `cwnd`.
    """
    found = [
        difference
        for difference in (
            _order(ours.sent, theirs.sent),
            _time(ours.sent, theirs.sent, tolerance),
            _lead(ours, theirs, tolerance),
            _windows(ours, theirs, recovering, tolerance),
        )
        if difference is not None
    ]
    return min(found, default=None)


def _order(ours: Sequence[Sent], theirs: Sequence[Sent]) -> tuple[float, str] | None:
    for a, b in zip(ours, theirs, strict=False):
        if (a.segment, a.is_again) != (b.segment, b.is_again):
            return min(a.time_s, b.time_s), "order"
    return None


def _time(
    ours: Sequence[Sent], theirs: Sequence[Sent], tolerance: Tolerance
) -> tuple[float, str] | None:
    for a, b in zip(ours, theirs, strict=False):
        if abs(a.time_s - b.time_s) > tolerance.loss_found_s:
            return min(a.time_s, b.time_s), "time"
        if a.is_again:
            break
    return None


def _lead(ours: Reported, theirs: Reported, tolerance: Tolerance) -> tuple[float, str] | None:
    first_again_s = min((each.time_s for each in ours.sent if each.is_again), default=float("inf"))
    round_trips = 0
    for at in ours.windows:
        sent = [
            bisect_right(reported.sent, at.time_s, key=lambda each: each.time_s)
            for reported in (ours, theirs)
        ]
        round_trips += at.time_s > first_again_s
        if abs(sent[0] - sent[1]) > tolerance.per_round_trip * round_trips:
            return at.time_s, "lead"
    return None


def _windows(
    ours: Reported, theirs: Reported, recovering: Sequence[bool], tolerance: Tolerance
) -> tuple[float, str] | None:
    for a, b, is_recovering in zip(ours.windows, theirs.windows, recovering, strict=True):
        if abs(a.ssthresh - b.ssthresh) >= tolerance.window:
            return a.time_s, "ssthresh"
        if not is_recovering and abs(a.cwnd - b.cwnd) >= tolerance.window:
            return a.time_s, "cwnd"
    return None


def to_text(reported: Reported) -> str:
    """One line for each run of consecutive segments, one for the windows at each quiet time."""
    lines: list[tuple[float, str]] = [
        (w.time_s, f"{w.time_s:.6f} cwnd {w.cwnd:.3f} ssthresh {w.ssthresh:.3f}")
        for w in reported.windows
    ]
    for run in _runs(reported.sent):
        times = " ".join(f"{round((each.time_s - run[0].time_s) * 1e6)}" for each in run[1:])
        kind = "again" if run[0].is_again else "new"
        line = f"{run[0].time_s:.6f} {kind} {run[0].segment} +{len(run) - 1} us {times}"
        lines.append((run[0].time_s, line.rstrip()))
    return "".join(f"{line}\n" for _, line in sorted(lines, key=lambda item: item[0]))


def from_text(text: str) -> Reported:
    """Reads what `to_text` wrote."""
    sent: list[Sent] = []
    windows: list[Windows] = []
    for line in text.splitlines():
        words = line.split()
        time_s = float(words[0])
        if words[1] == "cwnd":
            windows.append(Windows(time_s, float(words[2]), float(words[4])))
            continue
        for k, later_us in enumerate([0, *map(int, words[5:])]):
            at_s = round(time_s + later_us * 1e-6, 6)
            sent.append(Sent(at_s, int(words[2]) + k, words[1] == "again"))
    return Reported(tuple(sent), tuple(windows))


def _runs(sent: Iterable[Sent]) -> list[list[Sent]]:
    runs: list[list[Sent]] = []
    for each in sent:
        if (
            runs
            and runs[-1][-1].segment + 1 == each.segment
            and runs[-1][-1].is_again == each.is_again
            and each.time_s - runs[-1][-1].time_s < NEW_FLIGHT_S
        ):
            runs[-1].append(each)
        else:
            runs.append([each])
    return runs
