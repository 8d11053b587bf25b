"""Sources that send the packets of a file."""

from pathlib import Path

import pytest

from skycell import RunResult, Scenario, load, run
from skycell.input.faults import ScenarioFaults
from skycell.metrics.network import taken_bps
from skycell.metrics.run_rows import source_totals
from skycell.scenario.notes import notes_on
from skycell.scenario.packets.trace import read_packet_trace
from skycell.spec.declared.network import SourcePatternTrace

MS = 10**9
SCENARIO = """
[run]
duration = "2 s"

[topology]
kind = "graph"
hosts = ["a", "b"]
routers = ["r", "q"]
link = [
    { from = "a", to = "r", rate = "10 Mbit/s", framing = "ethernet", delay = "1 ms" },
    { from = "r", to = "q", rate = "1 Mbit/s", FRAMING, delay = "20 ms", buffer = "HELD" },
    { from = "q", to = "b", rate = "10 Mbit/s", framing = "ethernet", delay = "1 ms" },
]

[[source]]
kind = "trace"
name = "calls"
source = "a"
destination = "b"
file = "calls.csv"
start = "together"
"""
CALLS = "time_ms,octets\n0,200\n20,1500\n20,1000\n20,1500\n20,1500\n1500,60\n"


def scenario(
    folder: Path,
    table: str = CALLS,
    more: str = "",
    framing: str = 'framing = "ip"',
    held: str = "2 packets",
) -> Scenario:
    (folder / "calls.csv").write_text(table, encoding="utf-8")
    text = SCENARIO.replace("FRAMING", framing).replace("HELD", held)
    (folder / "own.toml").write_text(text + more, encoding="utf-8")
    return load(folder / "own.toml")


def ran(folder: Path, **others: str) -> RunResult:
    return run(scenario(folder, **others))


@pytest.mark.parametrize(
    "text",
    [
        "time,octets\n0.02,200\n1.5,1400\n1.5,60\n",
        "0.02,200\n1.5,1400\n1.5,60\n",
        "0.02 200\n1.5   1400\n\n1.5 60",
        "# a call\ntime_ms\tsize\tport\n20\t200\t9\n1.5e3\t1400\t9\n1500.000\t60\t9\n",
        "No;Time (us);Length (B)\n1;20000;200\n2;1500000;1400\n3;1500000;60\n",
        "t,bytes\n20 ms,200 B\n1.5 s,1400 B\n1500 ms,60\n",
        '{"time_s": 0.02, "size": 200}\n{"size": 1400, "time_s": 1.5}\n{"t": "1.5", "size": 60}\n',
        # tshark -T fields -E header=y -E separator=, -E quote=d -e frame.time_relative -e ip.len
        'frame.time_relative,ip.len\n"0.020","200"\n"1.500","1400"\n"1.500","60"\n',
    ],
)
def test_a_list_may_have_any_usual_form(text: str) -> None:
    trace = read_packet_trace("calls", text)
    assert trace.times_ps == (20 * MS, 1500 * MS, 1500 * MS)
    assert trace.octets == (200, 1400, 60)


@pytest.mark.parametrize(
    "text",
    [
        "timestamp,octets\n1705744800.5,200\n1705744801.98,1400\n",
        "timestamp,octets\n1705744800500,200\n1705744801980,1400\n",
        "time,octets\n2024-01-20T10:00:00.5Z,200\n2024-01-20T10:00:01.98Z,1400\n",
        """10:00:00.500000 IP 10.0.0.1.50 > 10.0.0.2.60: UDP, length 172
10:00:01.980000 IP6 fe80::1.50 > fe80::2.60: UDP, length 1352
""",
        """1705744800.500000 IP a.50 > b.60: UDP, length 172
1705744801.980000 IP a.50 > b.60: UDP, length 1372
""",
    ],
)
def test_moments_count_from_the_first_packet(text: str) -> None:
    trace = read_packet_trace("calls", text)
    assert trace.times_ps == (0, 1480 * MS)
    assert trace.octets == (200, 1400)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("", "calls\n  got      no line"),
        ("time,octets\n", "calls\n  got      no packet"),
        (
            "time,octets\n0.02,200\n0.01,200\n",
            'calls:3:1: time\n  got      "0.01", 10 ms before line 2\n  allowed  times that do',
        ),
        (
            "time,octets\n0.02, 0\n",
            'calls:2:7: octets\n  got      "0"\n  allowed  whole octets of an IP packet, 28 to 65',
        ),
        ("0,65536\n", 'calls:1:3: octets\n  got      "65536"'),
        ("time,octets\n-1,200\n", 'calls:2:1: time\n  got      "-1"'),
        ("time_ms,octets\n5 s,200\n", 'calls:2:1: time_ms\n  got      "5 s"'),
        ("time,octets\n1,200,3\n", "calls:2\n  got      3 values\n  allowed  2, as in line 1"),
        ("when,how\n1,200\n", 'calls:1\n  got      "when, how"\n  allowed  a header with a time'),
        ("time,size,octets\n1,2,3\n", "calls:1\n  got      size and octets"),
        (
            "frame.time_relative,frame.len\n1,200\n",
            "calls:1\n  got      frame.len\n  allowed  ip.len",
        ),
        ("1,200\n2024-01-20T10:00:00Z,200\n", "calls:2:1: time\n"),
        ("0,200\n8640001,200\n", "calls:2:1: time\n"),
        ('{"time": 1, "octets": 200}\n{"time": 1\n', "calls:2:11\n"),
        ('{"time": 1, "octets": 5}\n', 'calls:1:13: octets\n  got      "5"'),
        (
            "10:00:00.5 IP a.50 > b.60: UDP, length 9\n10:00:01.5 ARP, Request who-has b\n",
            "calls:2:1\n",
        ),
    ],
)
def test_a_faulty_list_is_told_by_line_and_column(text: str, reported: str) -> None:
    with pytest.raises(ScenarioFaults) as faults:
        read_packet_trace("calls", text)
    assert str(faults.value).startswith(reported)


def test_all_faults_of_a_list_are_told_together(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults) as faults:
        scenario(tmp_path, "time,octets\n0,9\n1,9\n")
    reported = [(Path(fault.file).name, fault.line) for fault in faults.value.faults]
    assert reported == [("calls.csv", 2), ("calls.csv", 3)]


@pytest.mark.parametrize(
    ("more", "reported"),
    [
        ('period = "1499 ms"', "allowed  from 1.5 s, the last time in calls.csv"),
        ('packet_size = "200 B"', 'unknown key "packet_size"'),
        ('[run]\nduration = "1 s"', "duplicate"),
    ],
)
def test_keys_that_do_not_go_with_a_list_are_faults(
    tmp_path: Path, more: str, reported: str
) -> None:
    with pytest.raises(ScenarioFaults, match=reported):
        scenario(tmp_path, more=more)


def test_a_list_that_begins_after_the_run_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults, match="whose first packet would be sent at 2 s"):
        scenario(tmp_path, "2,200\n")


def test_an_mtu_below_the_longest_packet_names_its_line(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFaults, match=r"in line 3 of calls.csv, is of 1 500 B"):
        scenario(tmp_path, framing='framing = "ip", mtu = "1400 B"')


def test_packets_of_a_list_cross_routers_and_are_counted(tmp_path: Path) -> None:
    # Ethernet takes 1538 octets at 10 Mbit/s for 1500: all four of 20 ms have come within 5 ms, and
    # the first takes 12 ms of the link at 1 Mbit/s. Two are held, one of them being sent: the third
    # and fourth are lost.
    result = ran(tmp_path)
    [source] = result.records["sources"]
    assert (source["frames"], source["octets"]) == (6, 200 + 1500 + 1000 + 1500 + 1500 + 60)
    assert (source["datagrams_delivered"], source["octets_delivered"]) == (4, 200 + 2500 + 60)
    totals = source_totals(result.spec, result.records)
    assert totals.in_words == "4 of 6 packets arrived"
    assert totals.arrived_bps == pytest.approx(8 * 2760 / 2)


def test_packets_of_a_list_go_in_cells_behind_llc_snap(tmp_path: Path) -> None:
    result = ran(tmp_path, framing='framing = "none"', held="9 cells", table="0,40\n0.5,1500\n")
    cells = {vc["name"]: vc["cells_offered"] for vc in result.records["vcs"]}
    # RFC 2684 and I.363.5: 40 and 1500 octets with 16 more are 2 and 32 cells.
    assert 34 in cells.values()


def test_a_list_goes_on_in_the_same_rhythm(tmp_path: Path) -> None:
    result = ran(tmp_path, table="0,100\n0.1,300\n", more='period = "250 ms"')
    [source] = result.records["sources"]
    # Rounds begin at 0, 0.25 ... 1.75 s.
    assert (source["frames"], source["octets"]) == (16, 8 * 400)
    spec = result.spec
    first = spec.vcs[spec.sources[0].vc].path[0]
    # What the list offers to Ethernet in the mean: 138 and 338 octets of it.
    assert taken_bps(spec, spec.sources)[first] == pytest.approx(8 * (138 + 338) / 0.25)
    [note] = notes_on(spec)
    assert note == (
        "calls sends 2 packets, 400 octets, every 250 ms: 12 800 bit/s in the mean, and up to "
        "24 kbit/s within 100 ms, as IP packets."
    )


def test_what_comes_after_the_end_of_the_run_offers_nothing(tmp_path: Path) -> None:
    spec = scenario(tmp_path, "0,462\n1,462\n3,462\n").resolve()
    first = spec.vcs[spec.sources[0].vc].path[0]
    assert taken_bps(spec, spec.sources)[first] == pytest.approx(8 * 2 * 500 / 2)
    [note] = notes_on(spec)
    assert "(1 of them after the end of the run)" in note


def test_the_packets_are_part_of_the_spec_and_its_hash(tmp_path: Path) -> None:
    one, other = (scenario(tmp_path, f"0,{octets}\n").resolve() for octets in (200, 201))
    assert isinstance(one.sources[0].pattern, SourcePatternTrace)
    assert one.hash() != other.hash()
