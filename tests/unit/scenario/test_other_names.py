import pytest

from skycell.input.other_names import KEYS_CALLED, ours_of
from skycell.input.tables import tables
from skycell.scenario import ScenarioFaults, parse
from skycell.scenario.file.scenario_file import WrittenFile

KNOWN = {key.name for table in tables(WrittenFile) for key in table.keys} | {"kind"}


def test_what_a_name_stands_for_is_a_key() -> None:
    meant = {key for keys in KEYS_CALLED.values() for key in keys}
    assert {step for key in meant for step in key.split(".")} <= KNOWN


def test_how_a_name_is_written_does_not_matter() -> None:
    assert ours_of("Queue-Size") == ours_of("queuesize") == ["buffer"]


def test_another_name_is_no_key_of_the_same_table() -> None:
    for table in tables(WrittenFile):
        keys = {key.name for key in table.keys}
        both = {key for key in keys for ours in ours_of(key) if ours in keys}
        assert both == set(), table.heading


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("window", " did you mean receiver_window?"),
        ("segment_size", " did you mean mss?"),
        ("cwnd", " did you mean initial_cwnd?"),
        ("ssthresh", " did you mean initial_ssthresh?"),
        ("algorithm", " did you mean recovery?"),
        ("variant", " did you mean recovery?"),
        ("congestion_control", " did you mean congestion?"),
        ("sack_pipe_room", ' did you mean recovery.pipe_room, with kind = "sack"?'),
        (
            "partial_ack_restarts",
            ' did you mean recovery.partial_ack_restarts, with kind = "new_reno" or "sack"?',
        ),
        ("cwnd_growth", ' did you mean congestion.growth, with kind = "reno"?'),
        (
            "slow_start_at_ssthresh",
            ' did you mean slow_start.at_ssthresh, with kind = "standard" or "limited"?',
        ),
        ("delay", " did you mean delayed_ack?"),
        ("framing", ""),  # of links, and no misspelling
    ],
)
def test_a_key_of_tcp_by_another_name_is_told(key: str, meant: str) -> None:
    with pytest.raises(ScenarioFaults) as faults:
        parse({"tcp": {key: "none"}})
    (fault,) = [fault for fault in faults.value.faults if fault.path == f"tcp.{key}"]
    assert fault.allowed.partition(";")[2] == meant
