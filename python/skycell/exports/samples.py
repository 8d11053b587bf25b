"""Samples of senders at equal steps of time, in the words of Linux's `ss -ti`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skycell.exports.named import NothingToExport, seconds
from skycell.exports.segments import flows_of, trace_of
from skycell.exports.selection import Selection
from skycell.input.quantities import PS_PER_SECOND

if TYPE_CHECKING:
    import polars as pl

    from skycell.records.result import RunResult

MOST_SAMPLES = 10_000_000
"""Rows of a table that is still a table."""


def socket_samples(result: RunResult, selection: Selection, every_ps: int) -> pl.DataFrame:
    """What `ss -ti` would have said of each sender, again and again.

    Args:
        result: a run with the traces ``sequence`` and ``cwnd``.
        selection: flows, which there are, and times. What came before counts.
        every_ps: from one sample to the next, picoseconds, above 0. Samples are at its multiples,
            the first of a run at one step.

    Returns:
        A row a sample and flow: ``time_s``, ``flow`` (name), ``mss`` (octets), ``cwnd`` and
        ``ssthresh`` (segments, as `ss` counts them; null before the flow began), ``bytes_sent``,
        ``bytes_retrans``, ``bytes_acked``, ``segs_out``, ``retrans`` (segments sent again so far),
        ``unacked`` (segments in flight, from octets), ``delivery_bps`` (acknowledged since the last
        sample, bit/s).

    Raises:
        NothingToExport: the run has no flows or no such trace, or there would be too many samples.
    """
    import polars as pl

    wanted = flows_of(result, selection.flows)
    first = max(-(-selection.from_ps // every_ps), 1)
    last = selection.end_ps(result) // every_ps
    count = last - first + 1
    if not 1 <= count * len(wanted) <= MOST_SAMPLES:
        raise NothingToExport(
            f"{max(count, 0)} samples of {len(wanted)} flows: the run takes "
            f"{result.spec.duration_ps / PS_PER_SECOND:g} s, and a table has 1 to {MOST_SAMPLES:,} "
            "rows"
        )
    # The sample before the first is there as long as rates are worked out.
    steps = range(max(first - 1, 1), last + 1)
    grid = pl.DataFrame({"time_ps": [every_ps * step for step in steps]}).join(
        pl.DataFrame(
            {
                "flow": wanted,
                "name": [result.spec.flows[flow].name for flow in wanted],
                "mss": [result.spec.flows[flow].tcp.mss for flow in wanted],
            }
        ),
        how="cross",
    )
    grid = grid.with_columns(pl.col("time_ps").cast(pl.UInt64), pl.col("flow").cast(pl.UInt32))
    is_sent, is_again, is_ack = (pl.col("event") != 2, pl.col("event") == 1, pl.col("event") == 2)
    end = pl.col("sequence") + pl.col("length")
    sent = trace_of(result, "sequence").select(
        "flow",
        "time_ps",
        bytes_sent=_counted(pl.col("length"), is_sent),
        bytes_retrans=_counted(pl.col("length"), is_again),
        segs_out=_counted(pl.lit(1), is_sent),
        retrans=_counted(pl.lit(1), is_again),
        bytes_acked=pl.when(is_ack).then(pl.col("sequence")).otherwise(0).cum_max().over("flow"),
        highest=pl.when(is_sent).then(end).otherwise(0).cum_max().over("flow"),
    )
    windows = trace_of(result, "cwnd").select("flow", "time_ps", "cwnd", "ssthresh")
    found = grid
    for part in (sent, windows):
        found = found.sort("time_ps").join_asof(
            part.sort("time_ps"), on="time_ps", by="flow", check_sortedness=False
        )
    zeroed = ["bytes_sent", "bytes_retrans", "segs_out", "retrans", "bytes_acked", "highest"]
    found = found.sort("flow", "time_ps")
    found = found.with_columns(
        pl.col(zeroed).fill_null(0).cast(pl.Int64), pl.col("mss").cast(pl.Int64)
    )
    acked = pl.col("bytes_acked").diff().over("flow").fill_null(pl.col("bytes_acked"))
    found = found.with_columns(acked=acked).filter(pl.col("time_ps") >= first * every_ps)
    return found.select(
        time_s=seconds(found["time_ps"]),
        flow="name",
        mss="mss",
        cwnd=pl.col("cwnd") / pl.col("mss"),
        ssthresh=pl.col("ssthresh") / pl.col("mss"),
        bytes_sent="bytes_sent",
        bytes_retrans="bytes_retrans",
        bytes_acked="bytes_acked",
        segs_out="segs_out",
        retrans="retrans",
        unacked=-(-(pl.col("highest") - pl.col("bytes_acked")) // pl.col("mss")),
        delivery_bps=pl.col("acked") * 8 * PS_PER_SECOND / every_ps,
    )


def _counted(amount: pl.Expr, when: pl.Expr) -> pl.Expr:
    import polars as pl

    return pl.when(when).then(amount).otherwise(0).cast(pl.Int64).cum_sum().over("flow")
