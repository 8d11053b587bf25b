"""Golden traces: short runs as plain text, one event a line, that a person has checked.

A trace file opens with lines that begin with `#`: the scenario, its seed, and how the events were
checked against the rules. The events follow, then what the run counted.
`make generate WHAT="golden NAME"` is the one command that changes these files.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import skycell
from skycell import RunResult, Scenario

HERE = Path(__file__).parent
SCENARIOS = HERE / "scenarios"
TRACES = HERE / "traces"

UNCHECKED = "NOT CHECKED since it was rewritten."
"""Stands for the note on how a trace was checked until somebody has checked it."""

_PS_PER_MS = 10**9
_SEQUENCE_EVENTS = ("sent", "resent", "acked")
_REASONS = (
    "overflow",
    "rest_of_frame",
    "above_threshold",
    "over_fair_share",
    "vc_threshold",
    "drawn",
    "tagged",
    "delayed",
    "pushed_out",
    "policed",
    "filtered",
)
_HEAD = f"{'time, ms':>16}  {'flow':<6} {'event':<10} {'octet':>6} {'cwnd':>10} {'ssthresh':>10}"


def names() -> list[str]:
    """The golden scenarios by name."""
    return sorted(path.stem for path in SCENARIOS.glob("*.toml"))


def run(name: str, engine: str) -> str:
    """The events and counts of a golden scenario, as text."""
    scenario = skycell.load(SCENARIOS / f"{name}.toml")
    result = skycell.run(scenario, engine=engine)
    return "\n".join([_HEAD, *_events(scenario, result), "", *_counts(result)]) + "\n"


def stored(name: str) -> tuple[str, str]:
    """How a golden trace was checked, and its text; both empty when there is none."""
    path = TRACES / f"{name}.txt"
    if not path.exists():
        return "", ""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    note = [line[1:].strip() for line in lines if line.startswith("#")][2:]
    body = "".join(line for line in lines if not line.startswith("#"))
    return "\n".join(note).strip(), body.lstrip("\n")


def write(name: str, note: str, text: str) -> None:
    """Stores a golden trace with its header."""
    seed = skycell.load(SCENARIOS / f"{name}.toml").file.run.seed
    header = [f"scenario  {name}.toml", f"seed      {seed}", "", *note.splitlines()]
    lines = "".join(f"# {line}".rstrip() + "\n" for line in header)
    (TRACES / f"{name}.txt").write_text(f"{lines}\n{text}", encoding="utf-8")


def _events(scenario: Scenario, result: RunResult) -> list[str]:
    """One line per event, in order of time; at one time by flow, acknowledgements first."""
    lines = [*_sequence_lines(scenario, result), *_discard_lines(result), *_rate_lines(result)]
    return [text for _, text in sorted(lines, key=lambda line: line[0])]


def _sequence_lines(
    scenario: Scenario, result: RunResult
) -> Iterator[tuple[tuple[int, int, int, int], str]]:
    """Segments and acknowledgements, with cwnd and ssthresh as they are after that instant."""
    window_at: dict[tuple[int, int], tuple[float, float]] = {
        (row["flow"], row["time_ps"]): (row["cwnd"], row["ssthresh"])
        for row in result.traces["cwnd"].to_dicts()
    }
    window: dict[int, tuple[float, float]] = {}
    transmissions: dict[int, int] = {}
    lost = set(scenario.file.loss.transmissions)
    for place, row in enumerate(result.traces["sequence"].to_dicts()):
        flow, time, event = row["flow"], row["time_ps"], _SEQUENCE_EVENTS[row["event"]]
        window[flow] = window_at.get((flow, time), window.get(flow, (0.0, 0.0)))
        remark = ""
        if event != "acked":
            ordinal = transmissions.get(flow, 0)
            transmissions[flow] = ordinal + 1
            remark = "  lost by script" if ordinal in lost else ""
        cwnd, ssthresh = window[flow]
        text = f"{event:<10} {row['sequence']:>6} {cwnd:>10.3f} {ssthresh:>10.3f}{remark}"
        yield (time, flow, 0, place), _line(time, result.spec.flows[flow].name, text)


def _discard_lines(result: RunResult) -> Iterator[tuple[tuple[int, int, int, int], str]]:
    """Frames at the first cell that each lost at a port; those of a source under its VC's name."""
    for place, row in enumerate(result.traces["discards"].to_dicts()):
        port = result.spec.links[row["port"]].name
        text = f"discarded  at {port}: {_REASONS[row['reason']]}"
        key = (row["time_ps"], row["flow"], 1, place)
        flows, vcs = result.spec.flows, result.spec.vcs
        of = flows[row["flow"]] if row["flow"] < len(flows) else vcs[row["vc"]]
        yield key, _line(row["time_ps"], of.name, text)


def _rate_lines(result: RunResult) -> Iterator[tuple[tuple[int, int, int, int], str]]:
    """ACR and the ER last received of ABR VCs, cells/s, where the trace `acr` is on."""
    rows = result.traces["acr"].to_dicts() if "acr" in result.traces else []
    for place, row in enumerate(rows):
        port = result.spec.links[row["port"]].name
        text = f"rate       at {port}: ACR {row['acr']:.3f}, ER {row['er']:.3f}"
        yield (
            (row["time_ps"], row["vc"], 2, place),
            _line(row["time_ps"], result.spec.vcs[row["vc"]].name, text),
        )


def _line(time_ps: int, name: str, text: str) -> str:
    # Picoseconds, all of them: nine digits after a millisecond's point.
    time = f"{time_ps // _PS_PER_MS}.{time_ps % _PS_PER_MS:09}"
    return f"{time:>16}  {name:<6} {text}"


def _counts(result: RunResult) -> Iterator[str]:
    """What the run counted: flows, VCs that carry data, ports with a limited buffer."""
    for flow in result.records["flows"]:
        yield (
            f"{flow['name']}: {flow['octets_delivered']} octets delivered, "
            f"{flow['segments_sent']} segments sent, {flow['segments_retransmitted']} again, "
            f"{flow['fast_retransmits']} fast retransmits, {flow['timeouts']} timeouts"
        )
    forward = {vc for flow in result.spec.flows for vc in flow.forward}
    for number, vc in enumerate(result.records["vcs"]):
        if number in forward:
            discarded = _discarded(vc["cells_discarded"])
            yield (
                f"{vc['name']}: {vc['cells_offered']} cells offered, {discarded}; "
                f"{vc['frames_delivered']} frames whole, {vc['frames_corrupt']} corrupt "
                f"({vc['cells_corrupt']} cells)"
            )
    for vc in result.records["vcs"]:
        if "abr" in vc:
            yield f"{vc['name']}: {_rm_cells(vc['abr'])}"
    for link, port in zip(result.spec.links, result.records["ports"], strict=True):
        if link.port.capacity_cells is None:
            continue
        if link.framing is None:
            yield f"{port['name']}: {port['arrived']} cells arrived, longest queue {_longest(port)}"
        else:
            counts = f"{port['arrived']} packets arrived, {_discarded(port['discarded'])}"
            yield f"{port['name']}: {counts}, longest queue {_longest(port)}"


def _rm_cells(abr: dict[str, int]) -> str:
    return (
        f"RM cells {abr['forward_sent']} forward ({abr['forward_received']} received), "
        f"{abr['backward_sent']} backward, {abr['becn_sent']} of switches "
        f"({abr['backward_received']} received)"
    )


def _discarded(counts: dict[str, int]) -> str:
    reported = [f"{count} {reason}" for reason, count in counts.items() if count]
    return f"discarded {', '.join(reported)}" if reported else "none discarded"


def _longest(port: dict[str, Any]) -> int:
    return int(port["queue"]["max"])
