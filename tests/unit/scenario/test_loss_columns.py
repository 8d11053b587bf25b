"""A table of round trips may say which part of an interval's packets was lost."""

from math import sqrt
from pathlib import Path

import pytest

from skycell.scenario.links.logs.loss_column import is_loss_column
from tests.unit.scenario.test_readings import about, read, refused, summary


def table(head: str, *losses: str, rtt: str = "40") -> str:
    rows = "".join(f"{at},{rtt},{loss}\n" for at, loss in enumerate(losses))
    return f"time_s,rtt_ms,{head}\n{rows}"


@pytest.mark.parametrize(
    ("head", "losses"),
    [
        ("loss_percent", ["0", "19", "36", "0.5"]),
        ("packet_loss (%)", ["0", "19", "36", "0.5"]),
        ("loss", ["0", "19", "36", "0.5"]),
        ("loss", ["0 %", "19 %", "36%", "0.5%"]),
        ("loss_ratio", ["0", "0.19", "0.36", "0.005"]),
        ("packet_loss_fraction", ["0", "0.19", "0.36", "0.005"]),
        ("pop_ping_drop_rate", ["0", "0.19", "0.36", "0.005"]),
    ],
)
def test_each_interval_has_its_loss(tmp_path: Path, head: str, losses: list[str]) -> None:
    account, steps = read(tmp_path, table(head, *losses))
    # Of round trips (1 - p)^2 come back: 19 % are lost where each way loses 10 %.
    expected = [0, 10**8, 2 * 10**8, round(1e9 * (1 - sqrt(0.995)))]
    assert steps.losses_ppb == pytest.approx(expected, abs=1)
    assert steps.times_ps == tuple(at * 10**12 for at in range(4))
    assert not account.left_aside
    assert about(account, "loss column").by == "file"
    assert f"column {head} " in about(account, "loss column").sentence


def test_a_loss_of_all_packets_is_an_outage(tmp_path: Path) -> None:
    text = "time_s,rtt_ms,loss_percent\n0,40,0\n1,,100\n2,50,50\n3,50,\n4,50,0\n5,50,0\n"
    found = summary(tmp_path, text)
    assert (found.outages, found.outage_s) == (1, 1)
    assert found.loss_percent is not None
    # 29.3 % each way from 2 s to 4 s, as the row at 3 s says nothing; 4 s with a path.
    assert found.loss_percent.mean == pytest.approx(100 * (1 - sqrt(0.5)) / 2, rel=1e-6)
    assert about(read(tmp_path, text)[0], "losses").numbers == {"outages": 1, "empty": 1}


def test_nothing_or_all_in_each_row_is_a_packet_a_row(tmp_path: Path) -> None:
    rows = [at % 4 == 3 for at in range(400)]
    of_flags = "".join(f"{at},40,{int(lost)}\n" for at, lost in enumerate(rows))
    of_empty = "".join(f"{at},{'' if lost else 40}\n" for at, lost in enumerate(rows))
    flags = read(tmp_path, f"time_s,rtt_ms,loss_ratio\n{of_flags}")
    empty = read(tmp_path, f"time_s,rtt_ms\n{of_empty}")
    assert flags[1] == empty[1]
    assert about(flags[0], "losses").numbers["lost"] == 100


def test_what_a_loss_is_a_part_of_is_no_guess(tmp_path: Path) -> None:
    fault = refused(tmp_path, table("loss", "0", "0.5", "0.01"))
    assert (fault.path, fault.line) == ("loss", 1)
    assert "loss_percent" in fault.allowed
    assert refused(tmp_path, table("loss_ratio", "0", "3")).line == 3
    assert refused(tmp_path, table("loss_ratio", "0", "0.3 %")).line == 3
    assert refused(tmp_path, table("loss_percent", "0", "101")).line == 3
    assert refused(tmp_path, table("loss_percent", "0", "-1")).line == 3
    assert refused(tmp_path, table("loss_percent", "x", "1")).line == 2
    # Nothing lost is nothing lost, whatever it is a part of.
    assert not read(tmp_path, table("loss", "0", "0", "0"))[1].losses_ppb


def test_a_key_of_lost_packets_has_no_effect_on_intervals(tmp_path: Path) -> None:
    for keys in ({"lost": "outage"}, {"loss_over": "1 s"}, {"stamp": "sent"}):
        (key,) = keys
        assert refused(tmp_path, table("loss_percent", "1", "2"), **keys).path == key


def test_only_one_column_says_the_loss(tmp_path: Path) -> None:
    text = "time_s,rtt_ms,loss_percent,packet_loss\n0,40,1,1\n1,40,1,1\n"
    assert "loss_percent and packet_loss" in refused(tmp_path, text).got


def test_counts_of_lost_packets_and_losses_of_throughputs_are_left_aside(tmp_path: Path) -> None:
    for text in (
        "time_s,rtt_ms,lost\n0,40,1\n1,40,0\n",
        "time_s,throughput_mbps,loss\n0,40,0.5\n1,40,0\n",
    ):
        (left,) = read(tmp_path, text)[0].left_aside
        assert left.names in (("lost",), ("loss",))
        assert left.why


@pytest.mark.parametrize("word", ["loss", "packet_loss_%", "loss_rate", "droprate", "pingloss"])
def test_a_name_of_losses_is_known(word: str) -> None:
    assert is_loss_column(word)
