"""The steps of a link as a table that can be read as a series again."""

from __future__ import annotations

from collections.abc import Iterator

from skycell.spec.steps import Steps


def steps_table(steps: Steps, *, has_delays: bool) -> str:
    """Steps of a line of packets as CSV, exactly: a table of steps.

    Args:
        steps: with rates in thousandths of a bit/s.
        has_delays: whether their delays are the file's, and not the link's own.
    """
    columns: dict[str, Iterator[str]] = {"time_s": (decimal(time, 12) for time in steps.times_ps)}
    if has_delays:
        columns["delay_ms"] = (
            "" if delay is None else decimal(delay, 9) for delay in steps.delays_ps
        )
    if len(set(steps.paths)) > 1:
        columns["path"] = map(str, steps.paths)
    if steps.rates:
        columns["rate_bit_s"] = (decimal(rate, 3) for rate in steps.rates)
    if steps.losses_ppb:
        columns["loss"] = (decimal(loss, 9) for loss in steps.losses_ppb)
    columns["availability"] = ("01"[delay is not None] for delay in steps.delays_ps)
    rows = [",".join(columns), *map(",".join, zip(*columns.values(), strict=True))]
    return "\n".join(rows) + "\n"


def decimal(amount: int, digits: int) -> str:
    """A whole number of the last digit as a decimal.

    >>> decimal(1_500, 3), decimal(7, 3), decimal(2_000, 3)
    ('1.5', '0.007', '2')
    """
    whole, part = divmod(amount, 10**digits)
    return f"{whole}.{part:0{digits}d}".rstrip("0").rstrip(".") if part else str(whole)
