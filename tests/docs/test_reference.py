"""Reference pages name what there is: every policy, parameter, record, command, and no other."""

import re
from pathlib import Path
from typing import Any, get_args

import skycell
from skycell.cli.main import VERBS
from skycell.experiment.file import KEYS
from skycell.measures.responses import RESPONSES
from skycell.records.result import RunResult
from skycell.records.sky import DELAYS, PATHS, POSITIONS
from skycell.scenario.declared.policies import Policy
from skycell.spec.declared.traces import TRACE_COLUMNS
from tests.divided import far_apart
from tests.docs.pages import DOCS, blocks, commands, pages
from tests.structure.tree import ROOT
from tests.tcp_keys import KEYS as KEYS_OF_TCP

REFERENCE = DOCS / "reference"

_CODE = re.compile(r"`([^`]+)`")


def policy_kinds(union: Any = Policy) -> list[str]:
    """Kinds of policies that a scenario may name."""
    if hasattr(union, "model_fields"):
        return [str(get_args(union.model_fields["kind"].annotation)[0])]
    return [kind for part in get_args(union) for kind in policy_kinds(part)]


_ONE_RUN = {"preset": "icccn97-lan", "run": {"duration": "20 ms"}}


def first_cells(page: Path) -> list[str]:
    """Words in code type of the first column of the tables of a page."""
    found = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| -"):
            found += _CODE.findall(line.split("|")[1])
    return found


def test_there_is_no_page_of_a_policy_that_does_not_exist() -> None:
    stems = {page.stem for page in (REFERENCE / "policies").glob("*.md")}
    assert stems - {"README"} == set(policy_kinds())


def test_every_tcp_parameter_is_compared_with_its_sources_or_explained() -> None:
    reported = first_cells(REFERENCE / "tcp" / "parameters.md")
    assert len(reported) == len(set(reported))
    known = {f"{key.rule}.{key.name}".lstrip(".") for key in KEYS_OF_TCP}
    assert set(reported) - known == set()
    others = (REFERENCE / "tcp").glob("*.md")
    text = "".join(page.read_text(encoding="utf-8") for page in others)
    younger = {key.rpartition(".")[2] for key in known - set(reported)}
    assert {key for key in younger if f"`{key}`" not in text} == set()


def test_every_record_is_explained_and_none_that_is_not_left() -> None:
    values = {
        **_ONE_RUN,
        "traffic": "web",
        "records": {"traces": list(TRACE_COLUMNS)},
        "topology": {"bottleneck": {"class": [{"name": "cbr"}]}},
        "source": [{"kind": "cbr", "name": "voice", "rate": 0.1}],
        "abr": [{"vcs": ["flow1.forward"]}],
    }
    result = skycell.run(values, engine="reference")
    reported = set(first_cells(REFERENCE / "records.md"))
    link = {"framing": "ip", "rate": "1 Mbit/s", "delay": "1 ms", "buffer": "9 packets"}
    access = {"framing": "ip", "delay": "1 ms", "frame_jitter": "0 s"}
    topology = {"bottleneck": link, "access": access}
    of_packets = skycell.run({**_ONE_RUN, "topology": topology})
    undoing = skycell.run({**_ONE_RUN, "topology": topology, "tcp": {"preset": "linux"}})
    split = {"pep": [{"node": "router1", "buffer": "1 MB"}]}
    of_proxies = skycell.run({**_ONE_RUN, "topology": topology, **split})
    # So many that headers fail in all ways, and so few that frames come with some.
    many, few = ({"kind": "bit_errors", "ber": ber} for ber in (0.02, 1e-5))
    with_errors = [
        skycell.run({**_ONE_RUN, "topology": of_link}, engine="reference")
        for of_link in (
            {"bottleneck": {"loss": many}},
            {"bottleneck": {"loss": few}},
            {"bottleneck": {**link, "loss": many}, "access": access},
        )
    ]
    uplink = {"to": "switch1", "access": "hybrid", "slot": "1 ms"}
    later = {"duration": "20 ms", "measure_from": "10 ms"}
    calls = {"name": "voice", "load": 1, "holding": "10 ms", "rate": 0.001}
    calls |= {"redial": 0.5, "redial_after": "1 ms"}
    tables = {"uplink": [uplink], "calls": [calls]}
    shared = skycell.run({**_ONE_RUN, "run": later, **tables}, engine="reference")
    back = {**link, "rate": "20 kbit/s", "ack_filter": True, "one_way": True}
    ends = [{"from": "a", "to": "b", **link, "one_way": True}, {"from": "b", "to": "a", **back}]
    near = {"framing": "ip", "rate": "1 Gbit/s", "delay": "1 ms"}
    ends += [{"from": "s", "to": "a", **near}, {"from": "b", "to": "d", **near}]
    flow = {"name": "flow1", "source": "s", "destination": "d"}
    graph = {"kind": "graph", "hosts": ["s", "d"], "routers": ["a", "b"], "flow": [flow]}
    narrow = {"run": {"duration": "5 s"}, "topology": {**graph, "link": ends}}
    filtered = skycell.run(narrow, engine="reference")
    web = {"topology": topology, **split, "traffic": "web"}
    relaying = skycell.run({**_ONE_RUN, **web})
    bounds = {"ctd": "1 s"}
    at_port = {"qos": [{"vcs": ["flow1.forward"], "ports": ["switch1>switch2"], **bounds}]}
    datagrams = {"kind": "cbr", "name": "voice", "rate": 0.1, "packet_size": "100 B"}
    pings = [{"name": "ping", "interval": "1 ms"}]
    to_end = {"source": [datagrams], "probe": pings, "qos": [{"flows": ["voice"], **bounds}]}
    bounded = [
        skycell.run({**_ONE_RUN, **at_port}, engine="reference"),
        skycell.run({**_ONE_RUN, "topology": topology, **to_end}),
    ]
    skies = [
        _over_a_sky(hop_limit=1),
        _over_a_sky(outage=[{"station": "paris", "at": "0 s", "lasts": "1 s"}]),
        _over_a_sky(outage=[{"satellite": "*", "at": "100 ms", "lasts": "100 ms"}]),
    ]
    divided = skycell.run(far_apart(), threads=2)
    others = (
        undoing,
        of_proxies,
        *with_errors,
        shared,
        filtered,
        relaying,
        *bounded,
        *skies,
        divided,
    )
    summaries = [run.summary() for run in (result, of_packets, *others)]
    for summary in summaries:
        summary.pop("qos", None)  # explained in qos.md
    keys = {key for summary in summaries for key in _keys(summary)}
    left = keys - {"name", "put_in", "found", "accounts"}
    assert left - reported == set()
    assert reported - left == (set(TRACE_COLUMNS) | {POSITIONS, PATHS, DELAYS, "name"}) - left
    text = (REFERENCE / "records.md").read_text(encoding="utf-8").partition("## Traces")[2]
    for trace, columns in TRACE_COLUMNS.items():
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{trace}` |")]
        assert tuple(re.findall(r"`(\w+)`", row.split("|")[3])) == columns
        assert tuple(result.traces[trace].columns) == columns
    for table in (POSITIONS, PATHS, DELAYS):
        (row,) = [line for line in text.splitlines() if line.startswith(f"| `{table}` |")]
        columns = tuple(re.findall(r"`(\w+)`", row.split("|")[3]))
        assert tuple(skies[0].traces[table].columns) == columns


def _over_a_sky(**keys: Any) -> RunResult:
    """A run in which packets wait for slow links and are lost as these end."""
    port = {"rate": "1 Mbit/s", "framing": "ip", "buffer": "50 packets", "waiting": "lost"}
    topology = {
        "kind": "constellation",
        "constellation": "iridium-like",
        "stations": ["paris", "tokyo"],
        "inter_satellite": port,
        "ground": port,
        **keys,
    }
    traffic = [{"pairs": "all", "kind": "cbr", "rate": "2 Mbit/s"}]
    run = {"duration": "200 ms"}
    return skycell.run({"run": run, "topology": topology, "traffic": traffic})


def test_every_account_of_the_ledger_is_told_with_all_places_where_it_is_found() -> None:
    text = (REFERENCE / "records.md").read_text(encoding="utf-8")
    table = text.partition("## The ledger")[2].partition("## Traces")[0]
    cells = [line.split(" | ") for line in table.splitlines() if line.startswith("| ")]
    reported = {row[0].removeprefix("| "): row[2].removesuffix(" |").split(", ") for row in cells}
    run = skycell.run({**_ONE_RUN, "abr": [{"vcs": ["flow1.forward"]}]})
    for account in run.records["ledger"]["accounts"]:
        places = [place for place, _ in account["found"]]
        of = "ABR VC" if "RM cells" in f"{account['name']} {places}" else "VC"
        label = re.sub(r", (flow|vc|port) .*", r", per \1", account["name"]).replace("vc", of)
        assert places == reported[label], label


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for part in value.values() for key in _keys(part))]
    if isinstance(value, list):
        return [key for part in value for key in _keys(part)]
    return []


def test_every_command_is_there_with_its_help() -> None:
    page = REFERENCE / "commands.md"
    shown = [command.command for block in blocks(page) for command in commands(block)]
    assert shown == ["skycell --help", *(f"skycell {verb} --help" for verb in VERBS)]


def test_every_response_and_key_of_a_sweep_is_explained_and_no_other() -> None:
    page = REFERENCE / "sweep.md"
    own = {*KEYS, *RESPONSES, "key", "form", "sweep.json", "runs.csv", "columns.csv", "report.html"}
    assert set(first_cells(page)) == own
    text = page.read_text(encoding="utf-8")
    table = text.partition("## What can be measured")[2].splitlines()
    for name, response in RESPONSES.items():
        (row,) = [line for line in table if line.startswith(f"| `{name}` |")]
        unit, part = (cell.strip() for cell in row.split("|")[2:4])
        assert (unit, part) == (response.unit, response.part)


def test_streams_on_the_page_of_random_numbers_are_those_that_are_opened() -> None:
    reported = first_cells(REFERENCE / "randomness.md")
    sources = [
        path.read_text(encoding="utf-8")
        for crate in ("traffic", "channel", "reference", "fast")
        for path in (ROOT / "crates" / crate / "src").rglob("*.rs")
    ]
    # A policy says its kind, and the list of policies the rest of the name.
    policies = (ROOT / "crates" / "switch" / "src").rglob("*.rs")
    sources.append("\n".join(path.read_text(encoding="utf-8") for path in policies))
    opened = set()
    for text in sources:
        streams = set(re.findall(r'format!\("((?:flow|host|link|port|source)/[^"]+)"', text))
        opened |= streams
        # What a stream is for comes last in its name: a flow's purpose, the kind of a policy.
        opened |= {
            stream.replace(variable, purpose)
            for variable in ("{purpose}", "{kind}")
            for stream in streams
            for purpose in re.findall(r'stream\("(\w+)"\)', text)
            if variable in stream
        }
    plain = {
        re.sub(r"\{[^}]*\}", "*", stream)
        for stream in opened
        if not stream.endswith(("{purpose}", "{kind}"))
    }
    assert {re.sub(r"<[^>]*>", "*", stream) for stream in reported} == plain


def test_files_of_ours_that_pages_name_exist() -> None:
    named = {
        name
        for page in pages()
        for name in re.findall(
            r"`((?:crates|python|tests|docs|examples|benches)/[\w./-]+)`",
            page.read_text(encoding="utf-8"),
        )
    }
    # The how-to page adds this file.
    named -= {"crates/switch/src/buffer/vc_quota.rs"}
    assert len(named) > 20
    assert {name for name in named if not (ROOT / name).exists()} == set()
