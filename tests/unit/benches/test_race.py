import json
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from benches.peers import child, race
from benches.peers.counts import peer as counts
from benches.peers.counts.peer import Counts
from benches.peers.ns2 import simulator
from benches.peers.ns2.peer import Ns2
from benches.peers.ns3 import peer as ns3
from benches.peers.ns3.peer import Ns3
from benches.peers.outcome import Outcome, Simulator, Skycell, outcome, spec_of
from benches.peers.scenarios import GEO, IP_WAN, WAN, Dumbbell

SHORT = Dumbbell(WAN, 2, "sack", 2_000, duration_s=0.3)


@dataclass
class Paced:
    """A simulator that takes given times, one after the other."""

    name: str
    times_s: list[float]
    efficiency: float = 0.9
    asked: list[str] = field(default_factory=list)

    is_slow: bool = False
    lacks: str = "nothing"

    def missing(self) -> str | None:
        return None

    def can_run(self, dumbbell: Dumbbell) -> bool:
        return self.lacks not in dumbbell.name

    def run(self, dumbbell: Dumbbell) -> Outcome:
        self.asked.append(dumbbell.name)
        return Outcome(self.efficiency, 1.0, 1_000, 10, 1, self.times_s.pop(0))


def test_medians_over_the_rounds_are_compared_per_segment() -> None:
    ours, peer = Paced("ours", [0.5, 0.1, 0.2]), Paced("peer", [0.6, 0.9, 0.7])
    reported: list[str] = []
    (row,) = race.race([SHORT], [ours, peer], 3, reported.append)
    assert row.outcomes["ours"].us_per_segment == pytest.approx(200)
    assert row.ratio("ours", "peer") == pytest.approx(0.7 / 0.2)
    assert row.is_fair("ours", "peer")
    assert [line.split(": ")[-1] for line in reported] == ["ours", "peer"] * 3


def test_a_row_in_which_one_carried_less_is_marked_and_does_not_count() -> None:
    geo = replace(SHORT, net=GEO)
    rows = race.race(
        [SHORT, geo], [Paced("ours", [0.1, 0.1]), Paced("peer", [0.3, 0.4], 0.7)], 1, lambda _: None
    )
    text = race.table(rows, "ours", ["peer"])
    assert text.count("not comparable") == 2
    assert "median ratio" not in text
    rows = race.race(
        [SHORT, geo], [Paced("ours", [0.1, 0.1]), Paced("peer", [0.3, 0.4])], 1, lambda _: None
    )
    text = race.table(rows, "ours", ["peer"])
    assert "wan: median ratio 3.00, least 3.00, of 1 comparable rows" in text
    assert "geo: median ratio 4.00, least 4.00, of 1 comparable rows" in text
    assert race.markdown(rows, "ours", ["peer", "absent"]).splitlines() == [
        "| peer | wan | geo |",
        "|---|---|---|",
        "| peer | 3.0 (least 3.0, 1 rows) | 4.0 (least 4.0, 1 rows) |",
        "| absent | – | – |",
    ]


def test_a_slow_peer_runs_once_and_only_what_it_can() -> None:
    geo = replace(SHORT, net=GEO)
    ours, slow = Paced("ours", [0.1] * 4), Paced("slow", [2.0], is_slow=True, lacks="geo")
    rows = race.race([SHORT, geo], [ours, slow], 2, lambda _: None)
    assert slow.asked == [SHORT.name]
    assert [set(row.outcomes) for row in rows] == [{"ours", "slow"}, {"ours"}]
    assert "geo" not in race.table(rows, "ours", ["slow"])


def test_an_outcome_counts_what_the_applications_got() -> None:
    # Two connections with 1 MB in 0.3 s each: 53.3 of 125.19 Mbit/s.
    found = outcome(SHORT, [1e6, 1e6], (10, 2, 1), 0.5)
    assert found.efficiency == pytest.approx(53.333 / 125.193, rel=1e-4)
    assert (found.fairness, found.sent, found.resent, found.timeouts) == (1.0, 10, 2, 1)


def test_our_own_run_is_an_outcome() -> None:
    fast, reference = Skycell().run(SHORT), Skycell("reference").run(SHORT)
    assert replace(fast, event_loop_s=0) == replace(reference, event_loop_s=0)
    assert 0 < fast.efficiency < 1
    assert fast.sent > 500
    assert Skycell().missing() is None


def test_every_scenario_of_the_race_has_its_own_name() -> None:
    names = [scenario.name for scenario in race.SCENARIOS]
    assert len(set(names)) == len(names)
    assert sum(name.startswith("geo") for name in names) == 6


def test_a_peer_that_is_not_installed_is_named_and_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(race, "SCENARIOS", (SHORT,))
    assert race.main(["--rounds", "1"]) == 0
    shown = capsys.readouterr()
    assert f"left out: ns-2: {simulator.MISSING}" in shown.err
    assert "left out: ns-3: " in shown.err
    assert "left out: packet counts: g++" in shown.err
    assert shown.out == "nothing to race against\n"
    for peer in (Ns2(), Ns3()):
        with pytest.raises(RuntimeError, match="not installed"):
            peer.run(SHORT)


def test_another_program_called_ns_is_not_ns2(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "ns"
    other.write_text("#!/bin/sh\necho 3.1\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert simulator.program() is None


def test_a_failure_of_ns2_says_what_it_said(tmp_path: Path) -> None:
    broken = tmp_path / "ns"
    broken.write_text("#!/bin/sh\necho no such agent >&2\nexit 3\n")
    broken.chmod(0o755)
    dumbbell = Dumbbell(WAN, 1, "reno", 100, duration_s=0.1)
    with pytest.raises(RuntimeError, match=r"code 3:\nno such agent"):
        simulator.run(str(broken), spec_of(dumbbell))


def test_the_race_can_be_read_by_machines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rivals: list[Simulator] = [Paced("peer", [0.4])]
    monkeypatch.setattr(race, "SCENARIOS", (SHORT,))
    monkeypatch.setattr(race, "peers", lambda: rivals)
    assert race.main(["--rounds", "1", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["scenario"] == SHORT.name
    assert row["outcomes"]["peer"]["us_per_segment"] == pytest.approx(400)


@pytest.mark.parametrize("arguments", [["--only", "moon"], ["--rounds", "0"]])
def test_a_race_of_nothing_is_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        race.main(arguments)
    assert end.value.code == 2
    assert "geo 5 sack 200000 epd" in capsys.readouterr().err


def test_packet_counts_are_told_what_the_spec_says_and_carry_about_what_we_do() -> None:
    dumbbell = Dumbbell(IP_WAN, 5, "new_reno", 400, "tail_drop")
    inputs = [float(argument) for argument in counts.arguments(dumbbell)]
    network = [400, 155.52e6, 1555.2e6, 0.005, 0.005]
    assert inputs == pytest.approx([5, 1460, 2.92e6, *network, 0.007, 0.1, 0.2, 3, 20])
    peer = Counts()
    assert not peer.can_run(replace(dumbbell, recovery="sack"))
    assert not peer.can_run(replace(dumbbell, net=WAN))
    with pytest.raises(ValueError, match="only packets"):
        peer.run(replace(dumbbell, recovery="sack"))
    missing = peer.missing()
    if missing is not None:
        pytest.skip(missing)
    theirs, ours = peer.run(dumbbell), Skycell().run(dumbbell)
    assert abs(theirs.efficiency - ours.efficiency) < race.FAIR
    assert abs(theirs.sent / ours.sent - 1) < race.FAIR


def test_ns3_is_told_what_the_spec_says() -> None:
    inputs = dict(
        argument.removeprefix("--").split("=")
        for argument in ns3.arguments(replace(SHORT, net=GEO))
    )
    assert (inputs["sources"], inputs["mss"], inputs["frameOctets"]) == ("2", "9180", "10229")
    assert int(inputs["queueOctets"]) == 53 * 1_800 + 10_229  # R = 0.9 of 2 000 cells
    assert float(inputs["accessDelay"]) == pytest.approx(0.005)
    assert float(inputs["bottleneckDelay"]) == pytest.approx(0.275)
    assert float(inputs["minRto"]) == pytest.approx(0.2)


def test_ns3_has_sack_with_epd_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Ns3().can_run(SHORT)
    for other in (replace(SHORT, recovery="reno"), replace(SHORT, policy="tail_drop")):
        assert not Ns3().can_run(other)
        with pytest.raises(ValueError, match="only SACK with EPD"):
            Ns3().run(other)
    with pytest.raises(ValueError, match="only EPD"):
        ns3.arguments(replace(SHORT, policy="tail_drop"))
    library = tmp_path / "lib64" / f"libns{ns3.VERSION}-core.so"
    library.parent.mkdir()
    library.touch()
    monkeypatch.setenv(ns3.PREFIX_VARIABLE, str(tmp_path))
    assert ns3.prefix() == tmp_path
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Ns3().missing() == child.NO_COMPILER
