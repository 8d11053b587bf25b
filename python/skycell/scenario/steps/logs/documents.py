"""JSON of irtt, iperf3 and fping."""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from skycell.input.quantities import PS_PER_SECOND
from skycell.scenario.steps.logs.log import Log, Sample, in_order, refused
from skycell.scenario.steps.logs.pings import Answer, of_answers
from skycell.scenario.steps.logs.tables import moment_ps


def read_document(name: str, text: str, interval_ps: int | None) -> Log:
    """The log of a JSON document, or of one on each line.

    Raises:
        ScenarioFaults: it is not JSON, or not of these tools.
    """
    try:
        documents = [json.loads(text, parse_float=Fraction)]
    except ValueError:
        documents = list(_json_lines(name, text))
    first = documents[0] if documents else None
    if isinstance(first, dict):
        try:
            if "round_trips" in first:
                return _irtt(name, first)
            if "intervals" in first:
                return _iperf3(name, first)
            if first.keys() & {"resp", "timeout", "vSum"}:
                return _fping_json(name, documents, interval_ps)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            got = f"JSON whose parts are not as the tool writes them ({error})"
            raise refused(name, "", got, "the output of irtt, iperf3 or fping") from None
    allowed = "the JSON of irtt (round_trips), iperf3 (intervals) or fping (resp, timeout, vSum)"
    raise refused(name, "", "JSON of another kind", allowed)


def _json_lines(name: str, text: str) -> Iterator[Any]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line, parse_float=Fraction)
            except ValueError as error:
                raise refused(name, "", str(error), "JSON", number) from None


def _irtt(name: str, document: dict[str, Any]) -> Log:
    """Source: irtt-client(1), round_trips: times in ns; lost: false, true, true_up, true_down."""
    samples = []
    for trip in document["round_trips"]:
        sent = trip["timestamps"]["client"]["send"]
        at_ps = int(sent.get("wall") or sent["monotonic"]) * 1000
        is_lost = str(trip["lost"]).lower() != "false"
        delay_ps = None if is_lost else int(trip["delay"]["rtt"]) * 1000
        samples.append(Sample(at_ps, delay_ps, is_lost=is_lost))
    if all(sample.is_lost for sample in samples):
        raise refused(name, "round_trips", "no answer", "an answer or more of irtt")
    return in_order(Log("round trips of irtt", tuple(samples), 0, has_round_trips=True))


def _iperf3(name: str, document: dict[str, Any]) -> Log:
    """Source: iperf3(1), --json: `intervals`, each with its `sum` over all streams."""
    samples, end = [], Fraction(0)
    for interval in document["intervals"]:
        total = interval["sum"]
        if total.get("omitted"):
            continue
        at_ps = round(Fraction(total["start"]) * PS_PER_SECOND)
        samples.append(Sample(at_ps, rate_bps=Fraction(total["bits_per_second"])))
        end = max(end, Fraction(total["end"]))
    if not samples:
        raise refused(name, "intervals", "no interval", "an interval or more of iperf3")
    note = (
        "iperf3 measures what its own connection got: the link's rate only where that kept it full."
    )
    return in_order(
        Log("rates of iperf3", tuple(samples), round(end * PS_PER_SECOND), notes=(note,))
    )


def _fping_json(name: str, documents: list[Any], interval_ps: int | None) -> Log:
    """Source: fping's JSON output (pull requests 386 and 423 of its project): a document a line."""
    answers: list[Answer] = []
    hosts = set()
    for line, document in enumerate(documents, 1):
        for kind in ("resp", "timeout", "vSum"):
            found = document.get(kind)
            if found is None:
                continue
            hosts.add(found["host"])
            if kind == "vSum":
                times = [None if ms is None else Fraction(ms) for ms in found["values"]]
                answers += [Answer(line, seq, None, ms) for seq, ms in enumerate(times)]
                continue
            stamp = found.get("timestamp")
            at_s = None if stamp is None else Fraction(moment_ps(str(stamp)), PS_PER_SECOND)
            ms = Fraction(found["rtt"]) if kind == "resp" else None
            answers.append(Answer(line, int(found["seq"]), at_s, ms))
    if len(hosts) > 1:
        got = f"{len(hosts)} hosts: {', '.join(sorted(hosts)[:3])}"
        raise refused(name, "", got, "the answers of one host")
    return of_answers(name, "fping", answers, interval_ps)
