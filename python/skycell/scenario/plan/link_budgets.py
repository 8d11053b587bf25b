"""Es/N0 of a link over time from the budget of its carrier."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import Dimension, show_amount


def es_n0_of_budget(
    model: Path, name: str, symbol_rate: Fraction, stream: str, step_ps: int, count: int
) -> Iterator[float]:
    """Es/N0 at so many samples, dB.

    Args:
        model: file of the link's model, from whose folder the name of the budget leads.
        name: of the carrier's file.
        symbol_rate: of the link, symbols a second.
        stream: the same text draws the same series.
        step_ps: from one sample to the next.
        count: of samples.

    Raises:
        ScenarioFaults: of the carrier's file, and of one that has another rate than the link.
    """
    from skycell.link import as_carrier, es_n0_series  # whose file has framings of a scenario's

    where = "adaptive_coding.budget"
    try:
        carrier = as_carrier(model.parent / name)
    except OSError as error:
        allowed = f"a file that can be read; {error.strerror or error}"
        raise ScenarioFaults([Fault(str(model), where, show_value(name), allowed)]) from None
    rate = carrier.file.carrier.rate
    if rate.amount != symbol_rate or rate.dimension is not Dimension.SYMBOL_RATE:
        got = f"{name} with carrier.rate = {rate}"
        allowed = f"the rate of the link, {show_amount(symbol_rate / 10**6)} Mbaud"
        raise ScenarioFaults([Fault(str(model), where, got, allowed)])
    return es_n0_series(carrier, stream, step_ps, count)
