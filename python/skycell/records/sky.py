"""Tables of a run over a constellation: ports, nodes, and ports by second, with their names."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Any

from skycell.input.quantities import CELL_BITS, PS_PER_SECOND

if TYPE_CHECKING:
    import polars as pl

    from skycell.spec.declared.network import NetworkSpec, PortKindSpec

PORTS, NODES, SECONDS = "sky_ports", "sky_nodes", "sky_seconds"
ROUND_TRIPS = "sky_round_trips"
POSITIONS, PATHS, DELAYS = "sky_positions", "sky_paths", "sky_delays"
SKY_TABLES = (PORTS, NODES, SECONDS, ROUND_TRIPS, POSITIONS, PATHS, DELAYS)
"""Names of the tables beside the traces of a run; the last three follow from its scenario."""
COLUMNS_FILE = "sky.columns"
"""File of a result with the delays and routes of its constellation."""

MOST_SECONDS = 61
"""Seconds of a run whose positions and delays are kept, and which are drawn one after another."""

_SEVERAL = 2**32 - 1
"""In place of a node: the port has several links."""


def sky_links(spec: NetworkSpec, traces: Mapping[str, Any]) -> pl.DataFrame:
    """The links of a constellation that carried something, a row a port.

    Columns: `link` (from>to, and from>kind for a port with several links), `from`, `to` (null for
    several), `kind`, `load` (part of the time in which a packet was sent), `mbps` (of IP packets),
    `packets` that left, `arrived`, `discarded`, `marked`, `queue_mean` and `queue_max` in packets.
    """
    import polars as pl

    seconds = (spec.duration_ps - spec.measure_from_ps) / 1e12
    ports = _named(traces[PORTS], spec)
    return ports.select(
        "link",
        "from",
        "to",
        "kind",
        load=pl.col("busy_ps") / (seconds * 1e12),
        mbps=8 * pl.col("octets") / seconds / 1e6,
        packets="departed",
        arrived="arrived",
        discarded="discarded",
        marked="marked",
        queue_mean="queue_mean",
        queue_max="queue_max",
    )


def sky_nodes(spec: NetworkSpec, traces: Mapping[str, Any]) -> pl.DataFrame:
    """The nodes of a constellation that a packet came to, with the name and counts of each."""
    import polars as pl

    names = pl.Series([node.name for node in spec.nodes])
    nodes: pl.DataFrame = traces[NODES]
    return nodes.with_columns(names.gather(nodes["node"]).alias("node"))


def sky_seconds(spec: NetworkSpec, traces: Mapping[str, Any]) -> pl.DataFrame:
    """Links by second: `link`, `second`, `load`, `mbps`, `packets`, `queue_max`, `discarded`.

    The load is what the packets that left in the second take of the line, in seconds, with what
    their framing adds to each but for padding.
    """
    import polars as pl

    ports = _named(traces[PORTS], spec).select("port", "link", "kind")
    kinds = spec.sky.kinds if spec.sky else ()
    lines = pl.DataFrame(
        [(kind.name, *_line_of(kind)) for kind in kinds],
        schema={"kind": pl.String, "s_per_octet": pl.Float64, "added": pl.Int64},
        orient="row",
    )
    seconds: pl.DataFrame = traces[SECONDS]
    joined = seconds.join(ports, on="port", how="left", maintain_order="left")
    joined = joined.join(lines, on="kind", how="left", maintain_order="left")
    return joined.select(
        "link",
        "second",
        load=(pl.col("octets") + pl.col("packets") * pl.col("added")) * pl.col("s_per_octet"),
        mbps=8 * pl.col("octets") / 1e6,
        packets="packets",
        queue_max="queue_max",
        discarded="discarded",
    )


def _line_of(kind: PortKindSpec) -> tuple[float, int]:
    """Seconds that a port of a kind takes for an octet, and octets added to each packet."""
    framing = kind.framing
    if framing is None:
        return 8 * kind.cell_time_ps / (PS_PER_SECOND * CELL_BITS), 0
    on_line = 8 * framing.line_octets / framing.unit_octets
    return on_line / (framing.rate_millibps / 1000), framing.overhead_octets


def satellites_of(spec: NetworkSpec) -> list[str]:
    """Names of the satellites: the nodes before the first station, which is a host."""
    return [node.name for node in takewhile(lambda node: node.kind != "host", spec.nodes)]


def seconds_of(duration_ps: int) -> list[int]:
    """The seconds of a run; of a long one `MOST_SECONDS` from the first to the last, evenly."""
    count = -(-duration_ps // PS_PER_SECOND)
    shown = min(count, MOST_SECONDS)
    return [second * (count - 1) // max(shown - 1, 1) for second in range(shown)]


def fullest_second(traces: Mapping[str, Any]) -> int:
    """The second in which most octets left all ports together; the first one of several, or 0."""
    import polars as pl

    totals = traces[SECONDS].group_by("second").agg(pl.col("octets").sum())
    ordered = totals.sort("octets", "second", descending=[True, False])
    return int(ordered["second"][0]) if len(ordered) else 0


def links_at(spec: NetworkSpec, traces: Mapping[str, Any], second: int) -> pl.DataFrame:
    """The links that carried packets in a second, each from a node to another.

    Columns: `from`, `to`, and `link`, `kind`, `load`, `mbps`, `queue_max` and `discarded` of its
    port. A port with several links has a row for each of them that a path of a pair used in the
    second, each with the load of the whole port.
    """
    import polars as pl

    own = sky_seconds(spec, traces).filter((pl.col("second") == second) & (pl.col("packets") > 0))
    ends = _named(traces[PORTS], spec).select("link", "kind", "from", "to")
    ports = own.join(ends, on="link", how="left", maintain_order="left")
    single = ports.filter(pl.col("to").is_not_null())
    several = ports.filter(pl.col("to").is_null()).drop("to")
    used = several.join(_hops_at(traces, second), on="from", how="inner", maintain_order="left")
    count = len(satellites_of(spec))
    stations = [node.name for node in spec.nodes[count:]]
    goes_down = pl.col("kind") == "down"
    used = used.filter(pl.col("to").is_in(stations) == goes_down)
    names = ("from", "to", "link", "kind", "load", "mbps", "queue_max", "discarded")
    return pl.concat([single.select(names), used.select(names)])


def _hops_at(traces: Mapping[str, Any], second: int) -> pl.DataFrame:
    """The links of the paths that are in force in a part of a second: `from`, `to`."""
    import polars as pl

    begin_ps = second * PS_PER_SECOND
    in_force = (pl.col("start_ps") < begin_ps + PS_PER_SECOND) & (pl.col("end_ps") > begin_ps)
    paths = traces[PATHS].filter(in_force)["path"].to_list()
    hops = dict.fromkeys(hop for path in paths for hop in pairwise(path))
    schema = {"from": pl.String, "to": pl.String}
    return pl.DataFrame(list(hops), schema=schema, orient="row")


def _named(ports: pl.DataFrame, spec: NetworkSpec) -> pl.DataFrame:
    """The ports with the names of their nodes and kinds."""
    import polars as pl

    assert spec.sky is not None
    names = [node.name for node in spec.nodes]
    kinds = [kind.name for kind in spec.sky.kinds]
    source = pl.Series(names).gather(ports["from"])
    several = ports["to"] == _SEVERAL
    ends = pl.Series([*names, None], dtype=pl.String)
    target = ends.gather(ports["to"].clip(upper_bound=len(names)))
    kind = pl.Series(kinds).gather(ports["kind"])
    return ports.with_columns(
        source.alias("from"),
        target.alias("to"),
        kind.alias("kind"),
        (source + ">" + target.fill_null(kind)).alias("link"),
    ).with_columns(several.alias("is_shared"))
