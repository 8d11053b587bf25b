"""What codes leave of a link's bits and full segments, by Eb/N0; nothing is run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import log10

from skycell.coding import OutOfRange, threshold_db
from skycell.coding.remaining import Law, TwoStates, bursts
from skycell.input.faults import Fault, ScenarioFaults
from skycell.metrics.budget import budgets, loss_of, packet_loss
from skycell.metrics.resolved_links import resolved_links
from skycell.scenario.declared.channels import BitErrors, ErrorBursts, GilbertElliottBits
from skycell.scenario.declared.framings import Framing, Gse
from skycell.scenario.links.coding import (
    AnyCode,
    Concatenated,
    Convolutional,
    DvbS2,
    Uncoded,
    errors_behind,
)
from skycell.scenario.links.framing import overhead_of
from skycell.scenario.scenario import Scenario
from skycell.spec.declared.network import LinkSpec

#: Eb/N0 that is drawn, tenths of a dB.
_TENTHS = range(121)
_RATES = ("1/2", "3/4")
_MODCODS = ("QPSK 1/2", "QPSK 3/4", "8PSK 3/4", "16APSK 3/4", "32APSK 3/4")
#: MODCODs nearer to the link's own would cover its name, dB.
_APART_DB = 0.6


@dataclass(frozen=True)
class CodePoint:
    """What a code leaves at one ratio.

    Attributes:
        code: in words.
        eb_n0_db: energy of a user's bit over the density of the noise, dB.
        ber: part of the bits behind the decoder that are wrong.
        frame_loss: part of the full segments that is lost by that.
    """

    code: str
    eb_n0_db: float
    ber: float
    frame_loss: float


@dataclass(frozen=True)
class CodingCurves:
    """Codes on one link.

    Attributes:
        link: its name.
        octets: of the IP packet of a full segment.
        on_line: octets that it takes of the link, in a frame or in cells.
        framing: of the link; `cells` for ATM cells.
        points: by code, in the order of Eb/N0; where a formula does not hold there is none.
        thresholds: Eb/N0 in dB by MODCOD of DVB-S2, from which on next to nothing is wrong.
        own: where the link is; None where its errors are not those of a code.
        spec_hash: of the scenario.
    """

    link: str
    octets: int
    on_line: int
    framing: str
    points: tuple[CodePoint, ...]
    thresholds: dict[str, float]
    own: CodePoint | None
    spec_hash: str


def coding_curves(scenario: Scenario, link: str | None = None) -> CodingCurves:
    """The curves of a link that data of flows cross.

    Args:
        scenario: without faults.
        link: its name; it may be left out where links with errors, or all, are alike.

    Raises:
        ScenarioFaults: data cross no such link, or several that differ.
    """
    found = budgets(scenario, link)
    if len(found) > 1 and link is None:
        found = tuple(one for one in found if one.errors is not None) or found
    if len(found) > 1:
        names = ", ".join(one.names[0] for one in found)
        got = f"nothing, of {len(found)} links that differ"
        allowed = f"one of them: {names}"
        raise ScenarioFaults([Fault("command line", "LINK", got, allowed, "the link to draw")])
    name = link or found[0].names[0]
    spec, plan = scenario.resolve(), scenario.plan
    own = next(one for one in spec.links if one.name == name)
    resolved = next(
        resolved_link for resolved_link in resolved_links(spec, plan) if name in resolved_link.names
    )
    assert resolved.full is not None
    planned = plan.links[name]
    octets = resolved.full.octets
    code = loss_of(scenario, planned)
    gse = planned.framing if isinstance(planned.framing, Gse) else None
    points: list[CodePoint] = []
    for family in _families(code):
        points.extend(_points(family, own, octets))
    return CodingCurves(
        link=name,
        octets=octets,
        on_line=resolved.full.on_line,
        framing=resolved.framing,
        points=tuple(points),
        thresholds=_thresholds(gse),
        own=_own(code, planned.framing, own, octets),
        spec_hash=spec.hash(),
    )


def _families(own: object) -> Iterator[list[AnyCode]]:
    """Codes at all ratios, one family after the other; that of the link among them."""
    ratios = [f"{tenths / 10} dB" for tenths in _TENTHS]
    yield [Uncoded.model_validate({"kind": "uncoded", "eb_n0": ratio}) for ratio in ratios]
    for of in (Convolutional, Concatenated):
        kind = "convolutional" if of is Convolutional else "concatenated"
        rates = dict.fromkeys(_RATES)
        if isinstance(own, of):
            rates[own.rate] = None
        for rate in rates:
            values = ({"kind": kind, "eb_n0": one, "rate": rate} for one in ratios)
            yield [of.model_validate(one) for one in values]


def _points(codes: list[AnyCode], link: LinkSpec, octets: int) -> Iterator[CodePoint]:
    for code in codes:
        found = _point(code, None, link, octets)
        if found is not None:
            yield found


def _own(code: object, framing: Framing | None, link: LinkSpec, octets: int) -> CodePoint | None:
    return _point(code, framing, link, octets) if isinstance(code, AnyCode) else None


def _point(code: AnyCode, framing: Framing | None, link: LinkSpec, octets: int) -> CodePoint | None:
    """What a code leaves; None where its formula does not hold."""
    try:
        law = _law(code, framing)
    except OutOfRange:
        return None
    ratio_db = _eb_n0_db(code.es_n0, framing) if isinstance(code, DvbS2) else code.eb_n0
    return CodePoint(_words(code, framing), ratio_db, law.ber, packet_loss(law, link, octets))


def _law(code: AnyCode, framing: Framing | None) -> Law:
    channel = errors_behind(code, framing)
    if isinstance(channel, BitErrors):
        return TwoStates(0.0, 1.0, channel.ber, 0.0)
    if isinstance(channel, GilbertElliottBits):
        return TwoStates(
            channel.good_to_bad, channel.bad_to_good, channel.errors_in_good, channel.errors_in_bad
        )
    assert isinstance(channel, ErrorBursts)  # a scenario without faults has its code's framing
    is_fixed = channel.lengths == "fixed"
    return bursts(channel.ber, channel.length, channel.density, is_fixed=is_fixed)


def _words(code: AnyCode, framing: Framing | None) -> str:
    if isinstance(code, Uncoded):
        return "uncoded QPSK"
    if isinstance(code, Convolutional):
        return f"convolutional {code.rate}"
    if isinstance(code, Concatenated):
        return f"Reed-Solomon over {code.rate}"
    return framing.modcod if isinstance(framing, Gse) else code.kind


def _eb_n0_db(es_n0_db: float, framing: Framing | None) -> float:
    """Eb/N0 of the line of packets over DVB-S2, of whose bits a symbol carries several."""
    assert isinstance(framing, Gse)
    return es_n0_db - 10 * log10(overhead_of(framing).carried)


def _thresholds(own: Gse | None) -> dict[str, float]:
    """Those of the link's own MODCOD, and of usual ones that are not too near to it."""
    usual = own or Gse.model_validate({"kind": "gse", "modcod": _MODCODS[0]})
    kept: dict[str, float] = {}
    for modcod in dict.fromkeys((*([own.modcod] if own else []), *_MODCODS)):
        framing = usual.model_copy(update={"modcod": modcod})
        ratio = _eb_n0_db(threshold_db(modcod, framing.frame), framing)
        if all(abs(ratio - other) >= _APART_DB for other in kept.values()):
            kept[modcod] = ratio
    return kept
