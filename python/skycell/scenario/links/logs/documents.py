"""JSON of irtt, iperf3, fping, RIPE Atlas and flent, and other JSON by its name."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NoReturn

from skycell.input.account import Assumed, LeftAside
from skycell.input.faults import show_value
from skycell.input.json_text import whole
from skycell.input.printable import printable
from skycell.input.quantities import PS_PER_MS, PS_PER_SECOND, show_amount
from skycell.scenario.links.limits import (
    OutOfLimitsError,
    delay_ps,
    moment_ps,
    number,
    rate_bps,
)
from skycell.scenario.links.logs.atlas import KEYS as ATLAS_KEYS
from skycell.scenario.links.logs.atlas import read_atlas
from skycell.scenario.links.logs.flent import read_flent
from skycell.scenario.links.logs.log import Asked, Direction, Log, Sample, in_order, refused
from skycell.scenario.links.logs.pings import Answer, of_answers
from skycell.scenario.links.logs.tables import stamp_ps

_READ = (
    "the JSON of irtt (round_trips), iperf3 (intervals, or --json-stream), fping (resp, vSum), "
    "RIPE Atlas (ping) or flent (raw_values)"
)
_INSTEAD = "A table is read too: the columns time_s and rtt_ms, or time_s and throughput_mbps"
_FOREIGN = (
    ({"report"}, "a report of mtr"),
    ({"download", "upload", "ping"}, "a speed test"),
    ({"dishGetHistory"}, "the history of a Starlink dish"),
)
"""JSON of other tools, by keys that only it has."""
_IPERF_SUM = {"start", "end", "seconds", "bytes", "bits_per_second", "omitted", "sender"}
_MOST_DEPTH = "JSON that is nested less deeply"


class _Nonsense(ValueError):
    """A number that JSON does not have, or that is longer than any measurement."""


def _constant(word: str) -> NoReturn:
    raise _Nonsense(f"the number {word}")


def _fraction(text: str) -> Fraction:
    try:
        return number(text)
    except OutOfLimitsError as error:
        raise _Nonsense(f"the number {error.got}") from None


def _parsed(text: str) -> Any:
    return json.loads(text, parse_float=_fraction, parse_int=whole, parse_constant=_constant)


def read_document(name: str, text: str, asked: Asked) -> Log:
    """The log of a JSON document, or of one on each line.

    Raises:
        ScenarioFaults: it is not JSON, or not of these tools.
    """
    try:
        return _read(name, list(_documents(name, text)), asked)
    except _Nonsense as error:
        raise refused(name, "", str(error), "JSON with finite numbers") from None
    except RecursionError:
        raise refused(name, "", "JSON within JSON, a thousand times", _MOST_DEPTH) from None


def _documents(name: str, text: str) -> Iterator[Any]:
    try:
        whole = _parsed(text)
    except _Nonsense:
        raise
    except ValueError as of_whole:
        first, _, rest = text.strip().partition("\n")
        try:
            _parsed(first)
        except ValueError:  # one document, and a broken one
            raise refused(name, "", str(of_whole), "JSON") from None
        yield from _json_lines(name, f"{first}\n{rest}")
        return
    yield whole


def _json_lines(name: str, text: str) -> Iterator[Any]:
    for line, written in enumerate(text.splitlines(), 1):
        if written.strip():
            try:
                yield _parsed(written)
            except _Nonsense:
                raise
            except ValueError as error:
                raise refused(name, "", str(error), "JSON", line) from None


def _read(name: str, documents: list[Any], asked: Asked) -> Log:
    if len(documents) == 1 and isinstance(documents[0], list):
        documents = documents[0]
    first = documents[0] if documents else None
    if isinstance(first, dict):
        try:
            if first.keys() >= ATLAS_KEYS:
                return read_atlas(name, documents, asked)
            if "x_values" in first and first.keys() & {"raw_values", "results"}:
                return read_flent(name, first, asked)
            if "round_trips" in first:
                return _irtt(name, first)
            if "intervals" in first:
                return _iperf3(name, first, asked)
            if first.keys() >= {"event", "data"}:
                return _iperf3(name, _of_stream(documents), asked)
            if first.keys() & {"resp", "timeout", "vSum"}:
                return _fping_json(name, documents, asked)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            if isinstance(error, OutOfLimitsError):
                raise refused(name, error.path, error.got, error.allowed) from None
            what = f"without {show_value(error.args[0])}" if isinstance(error, KeyError) else ""
            got = f"JSON whose parts are not as the tool writes them {what}".rstrip()
            raise refused(name, "", got, _READ) from None
    keys = first.keys() if isinstance(first, dict) else set()
    for own, form in _FOREIGN:
        if keys >= own:
            raise refused(name, "", f"{form} (JSON)", f"{_READ}. {_INSTEAD}")
    shown = ", ".join(show_value(key) for key in list(keys)[:4])
    got = f"JSON with the keys {shown}" if shown else "JSON of another kind"
    raise refused(name, "", got, f"{_READ}. {_INSTEAD}")


def _at(path: str, value: Any, convert: Any, *more: Any) -> Any:
    """A converted value; a fault of it names its path in the document."""
    try:
        return convert(number(value), *more)
    except OutOfLimitsError as error:
        raise OutOfLimitsError(error.got, error.allowed, path) from None


def _irtt(name: str, document: dict[str, Any]) -> Log:
    """Source: irtt-client(1), round_trips: times in ns; lost: false, true, true_up, true_down."""
    samples = []
    for at, trip in enumerate(document["round_trips"]):
        path = f"round_trips[{at}]"
        sent = trip["timestamps"]["client"]["send"]
        stamp = sent.get("wall") or sent["monotonic"]
        at_ps = _at(f"{path}.timestamps.client.send", stamp, _nanoseconds)
        is_lost = str(trip["lost"]).lower() != "false"
        delay = None
        if not is_lost:
            delay = _at(f"{path}.delay.rtt", trip["delay"]["rtt"], delay_ps, 1000)
        samples.append(Sample(at_ps, delay, is_lost=is_lost))
    if all(sample.is_lost for sample in samples):
        raise refused(name, "round_trips", "no answer", "an answer or more of irtt")
    one_way = sum("send" in trip.get("delay", {}) for trip in document["round_trips"])
    left = []
    if one_way:
        why = "by two clocks, which may differ; the round trips are read"
        left.append(LeftAside("block", one_way, ("delay.send and delay.receive",), why))
    left += _blocks(document, {"version", "system_info", "config", "stats", "round_trips"})
    form, noun = "round trips of irtt", "packets"
    log = Log(form, tuple(samples), noun=noun, has_round_trips=True, left_aside=tuple(left))
    return in_order(name, log)


def _nanoseconds(amount: Fraction) -> int:
    return moment_ps(amount / 10**9)


def _blocks(document: dict[str, Any], known: Iterable[str]) -> list[LeftAside]:
    others = [str(key) for key in document if key not in set(known)]
    return [LeftAside("block", len(others), tuple(others), "not understood")] if others else []


def _of_stream(documents: list[Any]) -> dict[str, Any]:
    """The document that events of --json-stream come to."""
    whole: dict[str, Any] = {"intervals": []}
    for document in documents:
        if document["event"] == "interval":
            whole["intervals"].append(document["data"])
        else:
            whole[str(document["event"])] = document["data"]
    return whole


def _iperf3(name: str, document: dict[str, Any], asked: Asked) -> Log:
    """Source: iperf3(1), --json: `intervals`, each with its `sum` over all streams.

    With --bidir `sum` is one direction and `sum_bidir_reverse` the other; `sender` says of each
    whether the host that wrote the file sent it.
    """
    intervals = document["intervals"]
    keys = dict.fromkeys(key for interval in intervals for key in interval)
    has_both = "sum_bidir_reverse" in keys
    found = {_direction(intervals, key): key for key in ("sum", "sum_bidir_reverse") if key in keys}
    if has_both and len(found) < 2:
        found = {"up": "sum", "down": "sum_bidir_reverse"}
    key = _chosen(name, intervals, found, asked)
    samples, end, omitted = [], Fraction(0), 0
    others: dict[str, None] = {}
    for at, interval in enumerate(intervals):
        total = interval[key]
        others |= dict.fromkeys(str(one) for one in total if one not in _IPERF_SUM)
        if total.get("omitted"):
            omitted += 1
            continue
        path = f"intervals[{at}].{key}"
        at_ps = _at(f"{path}.start", total["start"], moment_ps)
        bps = _at(f"{path}.bits_per_second", total["bits_per_second"], rate_bps)
        samples.append(Sample(at_ps, rate_bps=bps))
        end = max(end, Fraction(_at(f"{path}.end", total["end"], moment_ps)))
    if not samples:
        raise refused(name, "intervals", "no interval", "an interval or more of iperf3")
    left = []
    if omitted:
        left.append(LeftAside("interval", omitted, (), "iperf3 omitted them (-O)"))
    unread = [one for one in keys if one.startswith("sum") and one != key]
    if unread:
        why = "of the other direction" if has_both else "not understood"
        left.append(LeftAside("block", len(unread), tuple(map(str, unread)), why))
    if any(interval.get("streams") for interval in intervals):
        left.append(LeftAside("block", 1, ("streams",), "they are in the sum"))
    if others:
        left.append(LeftAside("value", len(others), tuple(others), f"beside the rates of {key}"))
    known = {"title", "extra_data", "start", "intervals", "end", "server_output_json"}
    left += _blocks(document, known | {"server_output_text"})
    of = {one: way for way, one in found.items() if way is not None}.get(key)
    ways = {"up": "what the file's host sent", "down": "what the file's host received"}
    assumed: tuple[Assumed, ...] = ()
    if of is not None:
        by = "key" if asked.direction else "file"
        sentence = f"The rates are {ways[of]} ({of})."
        other = f'direction = "{"down" if of == "up" else "up"}"' if has_both else ""
        assumed = (Assumed("direction", sentence, by, other),)
    warning = (
        "iperf3 measures what its own connection got: the link's rate only where that kept it full."
    )
    log = Log(
        "rates of iperf3",
        tuple(samples),
        noun="intervals",
        directions=tuple(way for way in found if way is not None),
        left_aside=tuple(left),
        assumed=assumed,
        warnings=(warning,),
    )
    return in_order(name, log, round(end))


def _direction(intervals: list[Any], key: str) -> Direction | None:
    """Which direction the sums of a key are; none where the file does not say it."""
    for interval in intervals:
        total = interval.get(key)
        if total is not None and "sender" in total:
            return "up" if total["sender"] else "down"
    return None


def _chosen(
    name: str, intervals: list[Any], found: dict[Direction | None, str], asked: Asked
) -> str:
    """The key of the sums that are read.

    Raises:
        ScenarioFaults: the file has both directions, and nobody chose one; or it lacks the one
            that is asked for.
    """
    ways = [way for way in found if way is not None]
    if asked.direction in found:
        return found[asked.direction]
    if asked.direction is not None:
        got = f'direction = "{asked.direction}" for rates {" and ".join(ways) or "of one way"}'
        raise refused(name, "", got, "a direction that the file has")
    if len(found) < 2:
        return next(iter(found.values()), "sum")
    means = []
    for way, key in found.items():
        rates = [number(interval[key]["bits_per_second"]) for interval in intervals]
        mean = sum(rates, Fraction(0)) / len(rates) / 10**6
        means.append(f"{way} (mean {show_amount(round(mean, 3))} Mbit/s)")
    got = f"rates of both directions: {' and '.join(means)}"
    raise refused(name, "", got, 'direction = "up" or direction = "down" beside series')


def _fping_json(name: str, documents: list[Any], asked: Asked) -> Log:
    """Source: fping's JSON output (pull requests 386 and 423 of its project): a document a line."""
    answers: list[Answer] = []
    hosts = set()
    others: list[str] = []
    has_lines = any({"resp", "timeout"} & document.keys() for document in documents)
    for line, document in enumerate(documents, 1):
        others += [str(key) for key in document if key not in ("resp", "timeout", "vSum")]
        for kind in ("resp", "timeout", "vSum"):
            found = document.get(kind)
            if found is None:
                continue
            hosts.add(str(found["host"]))
            if kind == "vSum":
                if not has_lines:
                    times = [None if ms is None else number(ms) for ms in found["values"]]
                    answers += [Answer(line, seq, None, ms) for seq, ms in enumerate(times)]
                continue
            stamp = found.get("timestamp")
            at_s = None if stamp is None else Fraction(stamp_ps(str(stamp)), PS_PER_SECOND)
            ms = number(found["rtt"]) if kind == "resp" else None
            if ms is not None:
                delay_ps(ms, PS_PER_MS)
            answers.append(Answer(line, int(number(found["seq"])), at_s, ms))
    if len(hosts) > 1:
        shown = ", ".join(printable(host) for host in sorted(hosts)[:3])
        raise refused(name, "", f"{len(hosts)} hosts: {shown}", "the answers of one host")
    left = []
    if others:
        names = tuple(dict.fromkeys(others))
        left.append(LeftAside("block", len(others), names, "not understood"))
    return of_answers(name, "fping", answers, asked, left)
