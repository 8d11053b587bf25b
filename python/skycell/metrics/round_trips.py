"""Round-trip times of TCP senders, from the segments that they sent and the ACKs that they got."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

_SENT, _SENT_AGAIN, _ACK = 0, 1, 2
"""Events of the trace ``sequence``."""


def round_trips(trace: pl.DataFrame) -> pl.DataFrame:
    """A sample of the round-trip time for each ACK that measures one.

    The sample of an ACK is the time since the sending of the newest segment that it is the first
    to acknowledge. An ACK gives no sample if a segment that it is the first to acknowledge was
    sent again: nobody can say which of the two it answers (Karn's rule, RFC 6298 section 3).

    Args:
        trace: the trace ``sequence`` of a run: ``flow`` (id), ``time_ps``, ``event`` (0 sent,
            1 sent again, 2 ACK), ``sequence`` and ``length`` (octets), in order of time.

    Returns:
        A row a sample in the order of the trace: ``flow``, ``time_ps`` (the arrival of the ACK),
        ``sequence`` (the octet acknowledged up to) and ``rtt_ps``.
    """
    import polars as pl

    octet = pl.col("sequence").cast(pl.Int64)
    end = octet + pl.col("length").cast(pl.Int64)
    rows = trace.with_row_index("row")
    acks = (
        rows.filter(pl.col("event") == _ACK)
        .with_columns(upto=octet, before=octet.cum_max().shift(fill_value=0).over("flow"))
        .filter(pl.col("upto") > pl.col("before"))
        .sort("upto", maintain_order=True)
    )
    sent = (
        rows.filter(pl.col("event") == _SENT)
        .select("flow", upto=end, sent_end=end, sent_ps=pl.col("time_ps"))
        .sort("upto", maintain_order=True)
    )
    # Of the repetitions that begin below the octet, the end that reaches farthest.
    again = (
        rows.filter(pl.col("event") == _SENT_AGAIN)
        .select("flow", upto=octet + 1, again_end=end)
        .sort("upto", maintain_order=True)
        .with_columns(pl.col("again_end").cum_max().over("flow"))
    )
    found = acks
    for part in (sent, again):
        found = found.join_asof(part, on="upto", by="flow", check_sortedness=False)
    is_measured = (pl.col("sent_end") > pl.col("before")) & ~(
        pl.col("again_end") > pl.col("before")
    ).fill_null(False)
    return (
        found.filter(is_measured)
        .sort("row")
        .select(
            "flow",
            "time_ps",
            "sequence",
            rtt_ps=pl.col("time_ps").cast(pl.Int64) - pl.col("sent_ps").cast(pl.Int64),
        )
    )
