"""The scenario file's keys as a listing for the terminal and as a reference page.

Both come from the declarations of the parameters; nothing is written twice.
"""

from __future__ import annotations

from collections.abc import Iterator

from skycell.input.pages import page_of
from skycell.input.tables import tables
from skycell.scenario.file.scenario_file import WrittenFile
from skycell.scenario.presets import presets

_WIDTH = 96

_PREAMBLE = """# The scenario file

Written by `make generate` from the declarations of the parameters; change those, not this page.

A scenario is a TOML file. Values carry their unit (`"275 ms"`); the tables say what each parameter
may be. RTT is the two-way propagation delay of the flow with the longest route; RTT x bandwidth
is what the slowest link on that route carries in that time, including cell headers. A frame is that
of a full segment. If there are cell sources and no flow, RTT is twice the propagation delay of the
source with the longest route, and a frame is the longest of a source. `preset` at the top of the
file names a whole scenario to build on, `preset` in `[tcp]` a set of TCP parameters.

A generated topology names its parts. In `dumbbell` the VCs of `flow1` are `flow1.forward`, from
`source1` over `switch1` and `switch2` to `destination1`, and `flow1.reverse`. With `tcps_per_vc`
those between the routers `ingress1` and `egress1` are `trunk1.forward` and `trunk1.reverse`, and
`flow1.in`, `flow1.out`, `flow1.back_in` and `flow1.back_out` lead from hosts to routers and from
routers to hosts. In `parking_lot` `long1` crosses all switches and `cross2.1` is the first flow
from `switch2` to `switch3`, each between its own hosts, `long1.source` and `long1.destination`.
In a graph, the VCs of a flow that names none are called as in `dumbbell`, followed by a number if
routers split one into several. A link and the port that feeds it are called `switch1>switch2`.
"""


def listing(prefix: str = "") -> str:
    """The keys whose dotted name begins with `prefix`, for the terminal."""
    lines: list[str] = []
    for table in tables(WrittenFile):
        path = table.heading.split(" with ")[0]
        keys = [k for k in table.keys if f"{path}.{k.name}".lstrip(".").startswith(prefix)]
        if not keys:
            continue
        lines.append(f"[{table.heading}]" if table.heading else "(top of the file)")
        lines += [f"  {line}" for line in _wrapped(table.meaning, _WIDTH - 2)]
        for key in keys:
            symbol = f" ({key.symbol})" if key.symbol else ""
            lines.append(f"  {key.name}{symbol} = {key.default}")
            lines += [f"      {line}" for line in _wrapped(key.meaning, _WIDTH - 6)]
            lines += [f"      {line}" for line in _wrapped(f"allowed: {key.allowed}", _WIDTH - 6)]
            if key.source:
                lines += [f"      {line}" for line in _wrapped(f"source: {key.source}", _WIDTH - 6)]
        lines.append("")
    return "\n".join(lines).rstrip()


def paths_with(word: str) -> list[str]:
    """Dotted names of keys with a part of this name, each once.

    >>> paths_with("sources"), paths_with("tpc")
    (['topology.sources'], [])
    """
    found = [
        f"{table.heading.split(' with ')[0]}.{key.name}".lstrip(".")
        for table in tables(WrittenFile)
        for key in table.keys
        if key.name == word
    ]
    return list(dict.fromkeys(found))


def _wrapped(text: str, width: int) -> Iterator[str]:
    from textwrap import wrap

    yield from wrap(text, width, break_long_words=False, break_on_hyphens=False)


def page() -> str:
    """The reference page of the scenario file, in Markdown."""
    return page_of(WrittenFile, _PREAMBLE, presets())
