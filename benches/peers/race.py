"""The race: user CPU time of the event loop per TCP segment, skycell against packet simulators.

    python -m benches.peers.race --help

A peer that is not installed is named and left out. All simulators run the same scenario; they take
turns within each round, so that a disturbance of the machine meets them alike, and medians over the
rounds are compared. A row whose efficiencies are further apart than FAIR does not count: one of the
two would have had less to do.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from benches.peers.counts.peer import Counts
from benches.peers.ns2.peer import Ns2
from benches.peers.ns2.translate import Choices
from benches.peers.ns3.peer import Ns3
from benches.peers.outcome import Outcome, Simulator, Skycell
from benches.peers.scenarios import GEO, IP_GEO, IP_WAN, WAN, Dumbbell

FAIR = 0.1
"""Largest difference of efficiency at which a row counts. Equal TCPs over equal links differ by
this much through the order of arrivals alone (docs/explanation/second-opinion-ns2.md)."""

SCENARIOS = (
    *(
        Dumbbell(GEO, sources, "sack", buffer_cells, duration_s=100)
        for buffer_cells in (200_000, 25_000)
        for sources in (5, 15, 50)
    ),
    *(
        Dumbbell(WAN, sources, recovery, buffer_cells)
        for buffer_cells in (12_000, 36_000)
        for sources in (5, 15)
        for recovery in ("vanilla", "reno", "sack")
    ),
    *(
        Dumbbell(IP_GEO, sources, recovery, buffer, "tail_drop", duration_s=100)
        for buffer in (7_400, 1_850)
        for sources in (5, 15, 50)
        for recovery in ("new_reno", "sack")
    ),
    *(
        Dumbbell(IP_WAN, sources, recovery, buffer, "tail_drop")
        for buffer in (400, 100)
        for sources in (5, 15)
        for recovery in ("reno", "new_reno", "sack")
    ),
)
"""GEO and WAN scenarios of the speed targets, as far as a packet simulator can express them; those
of packets with a buffer of a BDP and of a quarter of it."""


@dataclass(frozen=True)
class Row:
    """One scenario.

    Attributes:
        scenario: its name.
        outcomes: by simulator, each with the median time of the rounds.
    """

    scenario: str
    outcomes: dict[str, Outcome]

    def ratio(self, ours: str, peer: str) -> float:
        """How many times our time per segment the peer takes."""
        return self.outcomes[peer].us_per_segment / self.outcomes[ours].us_per_segment

    def is_fair(self, ours: str, peer: str) -> bool:
        """Whether both carried about the same."""
        return abs(self.outcomes[ours].efficiency - self.outcomes[peer].efficiency) <= FAIR


def peers() -> list[Simulator]:
    """All rivals, installed or not."""
    return [
        Ns2(),
        Ns2(Choices(only_needed_headers=True), "ns-2, needed headers only"),
        Ns3(),
        Counts(),
    ]


def race(
    scenarios: Sequence[Dumbbell],
    simulators: Sequence[Simulator],
    rounds: int,
    on_progress: Callable[[str], None],
) -> list[Row]:
    """Runs every scenario `rounds` times on every simulator that can, once on slow ones."""
    rows = []
    for scenario in scenarios:
        able = [simulator for simulator in simulators if simulator.can_run(scenario)]
        runs: dict[str, list[Outcome]] = {simulator.name: [] for simulator in able}
        for round_ in range(rounds):
            for simulator in able:
                if simulator.is_slow and round_ > 0:
                    continue
                on_progress(f"{scenario.name}, round {round_ + 1} of {rounds}: {simulator.name}")
                runs[simulator.name].append(simulator.run(scenario))
        rows.append(Row(scenario.name, {name: _median(of) for name, of in runs.items()}))
    return rows


def _median(runs: list[Outcome]) -> Outcome:
    """The run whose time is the (lower) median; all have the same counts."""
    return sorted(runs, key=lambda run: run.event_loop_s)[(len(runs) - 1) // 2]


def table(rows: Sequence[Row], ours: str, rivals: Sequence[str]) -> str:
    """The race as text: microseconds per segment, ratios, and what was carried."""
    lines = []
    for peer in rivals:
        lines += ["", f"{ours} against {peer}"]
        lines.append(
            f"{'scenario':<28}{'us/segment':>16}{'ratio':>7}{'efficiency':>15}"
            f"{'fairness':>12}{'resent':>16}{'timeouts':>11}"
        )
        raced = [row for row in rows if peer in row.outcomes]
        for row in raced:
            a, b = row.outcomes[ours], row.outcomes[peer]
            lines.append(
                f"{row.scenario:<28}{a.us_per_segment:>8.2f}{b.us_per_segment:>8.2f}"
                f"{row.ratio(ours, peer):>7.2f}{a.efficiency:>8.3f}{b.efficiency:>7.3f}"
                f"{a.fairness:>6.2f}{b.fairness:>6.2f}{a.resent:>8}{b.resent:>8}"
                f"{a.timeouts:>6}{b.timeouts:>5}"
                + ("" if row.is_fair(ours, peer) else "  not comparable")
            )
        for net in nets(raced):
            ratios = ratios_of(raced, net, ours, peer)
            if ratios:
                lines.append(
                    f"{net}: median ratio {statistics.median(ratios):.2f}, "
                    f"least {min(ratios):.2f}, of {len(ratios)} comparable rows"
                )
    return "\n".join(lines[1:])


def nets(rows: Sequence[Row]) -> list[str]:
    """The networks of the scenarios, in their order."""
    return list(dict.fromkeys(row.scenario.split()[0] for row in rows))


def ratios_of(rows: Sequence[Row], net: str, ours: str, peer: str) -> list[float]:
    """How many times our time a peer takes, of the comparable rows of a network."""
    raced = [row for row in rows if peer in row.outcomes and row.scenario.split()[0] == net]
    return [row.ratio(ours, peer) for row in raced if row.is_fair(ours, peer)]


def markdown(rows: Sequence[Row], ours: str, rivals: Sequence[str]) -> str:
    """Median, least and number of the ratios of each peer and network, as a table of a page."""
    columns = nets(rows)
    lines = [f"| peer | {' | '.join(columns)} |", f"|---{'|---' * len(columns)}|"]
    for peer in rivals:
        cells = []
        for net in columns:
            ratios = ratios_of(rows, net, ours, peer)
            cells.append(
                f"{statistics.median(ratios):.1f} (least {min(ratios):.1f}, {len(ratios)} rows)"
                if ratios
                else "–"
            )
        lines.append(f"| {peer} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="The race against packet simulators.")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each, medians count")
    parser.add_argument("--only", default="", help="scenarios whose name contains this")
    parser.add_argument("--peer", default="", help="rivals whose name contains this")
    parser.add_argument("--engine", default="fast", choices=("fast", "reference"))
    parser.add_argument("--json", action="store_true", help="for machines")
    parser.add_argument("--markdown", action="store_true", help="medians as a table of a page")
    options = parser.parse_args(arguments)
    scenarios = [scenario for scenario in SCENARIOS if options.only in scenario.name]
    if not scenarios or options.rounds < 1:
        names = "\n  ".join(scenario.name for scenario in SCENARIOS)
        parser.error(f"--rounds must be at least 1 and --only one of\n  {names}")
    ours = Skycell(options.engine)
    rivals = []
    for peer in peers():
        if options.peer not in peer.name:
            continue
        missing = peer.missing()
        if missing is None:
            rivals.append(peer)
        else:
            print(f"left out: {peer.name}: {missing}", file=sys.stderr)
    rows = race(
        scenarios, [ours, *rivals], options.rounds, lambda text: print(text, file=sys.stderr)
    )
    if options.json:
        found = [{"scenario": row.scenario, "outcomes": _plain(row)} for row in rows]
        print(json.dumps({"machine": platform.machine(), "rows": found}, indent=2))
    elif rivals and options.markdown:
        print(markdown(rows, ours.name, [peer.name for peer in rivals]))
    elif rivals:
        print(table(rows, ours.name, [peer.name for peer in rivals]))
    else:
        print("nothing to race against")
    return 0


def _plain(row: Row) -> dict[str, dict[str, float]]:
    return {
        name: asdict(of) | {"us_per_segment": of.us_per_segment}
        for name, of in row.outcomes.items()
    }


if __name__ == "__main__":
    sys.exit(main())
