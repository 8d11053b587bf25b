"""A link's errors as its modem's code leaves them, in words of a scenario file."""

from __future__ import annotations

from typing import Annotated, Literal

from skycell.coding import (
    RATES,
    ResidualErrors,
    after_dvb_s2,
    after_reed_solomon,
    after_viterbi,
    uncoded,
)
from skycell.coding.reed_solomon import USER
from skycell.input.parameters import Parameters, decibels, param, word
from skycell.scenario.declared.channels import (
    AnyChannel,
    BitErrors,
    ErrorBursts,
    GilbertElliottBits,
)
from skycell.scenario.declared.framings import Framing, Gse

Ratio = Annotated[float, decibels(-20, 40, "4.5 dB")]
Rate = Annotated[str, word(*RATES)]
_EB_N0 = "energy of a user's bit over the density of the noise"
_RATE = "rate of the code"
_RATE_SOURCE = "EN 300 421: not punctured"


class Uncoded(Parameters):
    """QPSK without a code: independent bit errors."""

    kind: Literal["uncoded"] = param(..., "the code")
    eb_n0: Ratio = param(..., _EB_N0, symbol="Eb/N0")


class Convolutional(Parameters):
    """The convolutional code of constraint length 7: bursts behind its Viterbi decoder."""

    kind: Literal["convolutional"] = param(..., "the code")
    eb_n0: Ratio = param(..., _EB_N0, symbol="Eb/N0")
    rate: Rate = param("1/2", _RATE, source=_RATE_SOURCE)


class Concatenated(Parameters):
    """Reed-Solomon (204, 188) over that code, with the interleaver: words that fail."""

    kind: Literal["concatenated"] = param(..., "the code")
    eb_n0: Ratio = param(..., _EB_N0, symbol="Eb/N0")
    rate: Rate = param("1/2", "rate of the inner code", source=_RATE_SOURCE)


class DvbS2(Parameters):
    """The code of the link's MODCOD, with framing gse: BBFRAMEs that fail."""

    kind: Literal["dvb_s2"] = param(..., "the code")
    es_n0: Ratio = param(..., "energy of a symbol over the density of the noise", symbol="Es/N0")


AnyCode = Uncoded | Convolutional | Concatenated | DvbS2
"""Codes that say what bit errors a link has."""


def key_of(code: AnyCode) -> str:
    """The key of a code's ratio."""
    return "es_n0" if isinstance(code, DvbS2) else "eb_n0"


def errors_behind(code: AnyCode, framing: Framing | None) -> AnyChannel | None:
    """The bit errors that a code leaves; none where it needs a framing that the link lacks.

    Raises:
        OutOfRange: at this ratio nothing is known of them.
    """
    if isinstance(code, Uncoded):
        return BitErrors(kind="bit_errors", ber=uncoded(code.eb_n0).ber)
    if isinstance(code, Concatenated):
        words = after_reed_solomon(code.eb_n0, code.rate)
        ends = 1 / (8 * USER)
        return GilbertElliottBits(
            kind="gilbert_elliott_bits",
            good_to_bad=min(1.0, ends * words.part / max(1 - words.part, 1e-9)),
            bad_to_good=ends,
            errors_in_bad=words.errors,
        )
    if isinstance(code, Convolutional):
        return _bursts(after_viterbi(code.eb_n0, code.rate))
    if not isinstance(framing, Gse):
        return None
    return _bursts(after_dvb_s2(code.es_n0, framing.modcod, framing.frame))


def _bursts(errors: ResidualErrors) -> ErrorBursts:
    # Lengths are whole bits: what they lose by that, the density makes up for.
    length = max(1, round(errors.burst_bits))
    density = min(1.0, max(0.5, errors.density * errors.burst_bits / length))
    return ErrorBursts(
        kind="error_bursts",
        ber=errors.ber,
        length=length,
        density=density,
        lengths="fixed" if errors.is_fixed else "geometric",
    )
