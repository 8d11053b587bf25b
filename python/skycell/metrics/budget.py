"""The budget of a link: where the bits of its carrier go, and what its errors spoil of the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

from skycell.coding import bits_per_symbol, threshold_db
from skycell.coding.reed_solomon import USER, WORD
from skycell.coding.remaining import Law, TwoStates, bursts
from skycell.input.faults import Fault, ScenarioFaults, did_you_mean
from skycell.input.quantities import CELL_BITS, Dimension
from skycell.metrics.resolved_links import ResolvedLink, packet_cost, resolved_links
from skycell.scenario.declared.framings import Gse
from skycell.scenario.links.coding import AnyCode, Concatenated, Convolutional, DvbS2, key_of
from skycell.scenario.plan.plan import PlannedLink
from skycell.scenario.scenario import Scenario
from skycell.spec.declared.network import (
    BitErrorsSpec,
    ChannelSpec,
    ErrorBurstsSpec,
    GilbertElliottBitsSpec,
    GilbertElliottSpec,
    LinkSpec,
    LossBurstsSpec,
    PeriodicLossesSpec,
)
from skycell.spec.values import IP_HEADER, WHOLE_PPB, kinds_as_links, octets_on_line

_ACK = 40
_QPSK_BITS = 2


@dataclass(frozen=True)
class Layer:
    """What a layer takes of a carrier: a part of its bits, and how many in a second."""

    name: str
    share: float
    bps: float


@dataclass(frozen=True)
class RemainingErrors:
    """What is wrong behind the decoder of a link, and what that costs.

    Attributes:
        kind: of the losses or the code, as the file has it.
        ratio_db: Eb/N0, or Es/N0 with `dvb_s2`; None where the file says the errors themselves.
        margin_db: of that over the MODCOD's threshold; None for other codes.
        ber: part of the bits that are wrong; None where frames are lost whole.
        cell_loss: part of the cells that are lost by their headers; None on a link of packets.
        frame_loss: part of the full segments that are lost.
        ack_loss: part of the acknowledgements, of 40 octets, that are.
    """

    kind: str
    ratio_db: float | None
    margin_db: float | None
    ber: float | None
    cell_loss: float | None
    frame_loss: float
    ack_loss: float


@dataclass(frozen=True)
class LinkBudget:
    """The budget of links that are alike.

    Attributes:
        names: of them.
        stated: their rate as the file has it.
        carrier_bps: bits that the carrier sends: of its symbols, or of the line.
        symbol_rate: of the carrier, symbols a second; None where no modulation is known.
        bandwidth_hz: that it occupies with its roll-off; None where that is not known.
        layers: what takes the carrier's bits, from the outermost to TCP's payload; together all.
        errors: that are left; None for a link without.
        varies: whether the link's rate or path changes in the run, which the budget leaves aside.
    """

    names: tuple[str, ...]
    stated: str
    carrier_bps: float
    symbol_rate: float | None
    bandwidth_hz: float | None
    layers: tuple[Layer, ...]
    errors: RemainingErrors | None
    varies: bool

    def as_dict(self) -> dict[str, Any]:
        """All of it for a program."""
        return asdict(self)


def budgets(scenario: Scenario, link: str | None = None) -> tuple[LinkBudget, ...]:
    """The budgets of links that data of flows cross, those that are alike together.

    Args:
        scenario: without faults.
        link: name of the only link to be shown.

    Raises:
        ScenarioFaults: data cross no such link, or none at all.
    """
    spec, plan = scenario.resolve(), scenario.plan
    crossed = [
        resolved_link for resolved_link in resolved_links(spec, plan) if resolved_link.layers
    ]
    known = [name for one in crossed for name in one.names]
    if not known:
        allowed = "flows: a budget is that of full segments"
        raise ScenarioFaults([Fault(scenario.name, "topology", "no flow", allowed)])
    if link is not None and link not in known:
        allowed = f"a link that data of flows cross, such as {known[0]}{did_you_mean(link, known)}"
        meaning = "the link whose budget is shown"
        raise ScenarioFaults([Fault("command line", "LINK", f'"{link}"', allowed, meaning)])
    specs = {one.name: one for one in (*spec.links, *kinds_as_links(spec))}
    alike: dict[LinkBudget, list[str]] = {}
    for one in crossed:
        if link is None or link in one.names:
            found = _budget(scenario, one, plan.links[one.names[0]], specs[one.names[0]])
            alike.setdefault(replace(found, names=()), []).extend(found.names)
    return tuple(replace(one, names=tuple(names)) for one, names in alike.items())


def _budget(
    scenario: Scenario, resolved: ResolvedLink, planned: PlannedLink, spec: LinkSpec
) -> LinkBudget:
    loss = loss_of(scenario, planned)
    coded: dict[str, Fraction] = {}
    carrier = planned.rate.amount
    symbols: Fraction | None = None
    bandwidth: Fraction | None = None
    if planned.rate.dimension is Dimension.CELL_RATE:
        carrier *= CELL_BITS
    if isinstance(planned.framing, Gse):
        symbols = planned.rate.amount
        carrier = symbols * bits_per_symbol(planned.framing.modcod)
        bandwidth = symbols * (1 + Fraction(str(planned.framing.roll_off)))
    elif isinstance(loss, AnyCode):
        coded = _parts_of_codes(loss)
        carrier /= 1 - sum(coded.values())
        symbols = carrier / _QPSK_BITS
    left = float(1 - sum(coded.values()))
    shares = {name: float(part) for name, part in coded.items()}
    shares |= {name: left * part for name, part in _by_layer(resolved, planned).items()}
    return LinkBudget(
        names=resolved.names,
        stated=resolved.stated,
        carrier_bps=float(carrier),
        symbol_rate=None if symbols is None else float(symbols),
        bandwidth_hz=None if bandwidth is None else float(bandwidth),
        layers=tuple(Layer(name, share, share * float(carrier)) for name, share in shares.items()),
        errors=_errors(loss, planned, spec, resolved),
        varies=resolved.varies,
    )


def _parts_of_codes(code: AnyCode) -> dict[str, Fraction]:
    """Parts of a carrier of QPSK that codes below the file's rate take, the inner one first."""
    if not isinstance(code, Convolutional | Concatenated):
        return {}
    rate = Fraction(code.rate)
    parts = {f"convolutional code {code.rate}": 1 - rate}
    if isinstance(code, Concatenated):
        parts[f"Reed-Solomon ({WORD}, {USER})"] = rate * (1 - Fraction(USER, WORD))
    return parts


def _by_layer(resolved: ResolvedLink, planned: PlannedLink) -> Mapping[str, float]:
    """The layers of a stated rate, headers of IP and of TCP apart."""
    assert resolved.full is not None
    shares: dict[str, float] = {}
    for name, share in resolved.layers.items():
        if name == "TCP/IP headers":
            octet = (share + resolved.layers["TCP payload"]) / resolved.full.octets
            shares |= {"IP": IP_HEADER * octet, "TCP": share - IP_HEADER * octet}
        elif planned.framing is not None and name in ("framing of packets", planned.framing.kind):
            shares[f"framing {planned.framing.kind}"] = share
        else:
            shares[name] = share
    return shares


def loss_of(scenario: Scenario, planned: PlannedLink) -> Any:
    """What the file says of a link's losses; None where its table has no such key."""
    table: Any = scenario.file
    for step in planned.path:
        table = table[step] if isinstance(step, int) else getattr(table, step)
    return getattr(table, "loss", None)


def _errors(
    loss: Any, planned: PlannedLink, spec: LinkSpec, resolved: ResolvedLink
) -> RemainingErrors | None:
    assert resolved.full is not None
    ratio_db = margin_db = None
    if isinstance(loss, AnyCode):
        ratio_db = getattr(loss, key_of(loss))
    if isinstance(loss, DvbS2) and isinstance(planned.framing, Gse):
        margin_db = loss.es_n0 - threshold_db(planned.framing.modcod, planned.framing.frame)
    law = _law(spec.channel)
    if law is None:
        part = _frames_lost(spec)
        if part is None:
            return None
        return RemainingErrors(loss.kind, None, None, None, None, part, part)
    cell_loss = None if spec.framing is not None else law.cell_loss()
    lost = [packet_loss(law, spec, octets) for octets in (resolved.full.octets, _ACK)]
    return RemainingErrors(loss.kind, ratio_db, margin_db, law.ber, cell_loss, *lost)


def packet_loss(law: Law, link: LinkSpec, octets: int) -> float:
    """Probability that errors of a link spoil an IP packet, in its frame or in cells."""
    if link.framing is not None:
        return law.packet_loss(8 * octets_on_line(link.framing, octets))
    return law.frame_loss(packet_cost(link, octets).on_line // (CELL_BITS // 8))


def _law(channel: ChannelSpec | None) -> Law | None:
    """How bits come wrong; None where frames are lost whole, or a list says which bits."""
    if isinstance(channel, BitErrorsSpec):
        return TwoStates(0.0, 1.0, channel.ber, 0.0)
    if isinstance(channel, GilbertElliottBitsSpec):
        return TwoStates(
            channel.good_to_bad, channel.bad_to_good, channel.errors_in_good, channel.errors_in_bad
        )
    if isinstance(channel, ErrorBurstsSpec):
        is_fixed = channel.lengths == "fixed"
        return bursts(channel.ber, channel.length_bits, channel.density, is_fixed=is_fixed)
    return None


def _frames_lost(spec: LinkSpec) -> float | None:
    """Part of the frames that a link loses whole; None for none, or where a list says which."""
    channel = spec.channel
    if channel is None:
        return spec.loss_ppb / WHOLE_PPB if spec.loss_ppb else None
    if isinstance(channel, GilbertElliottSpec):
        good, bad = channel.bad_to_good, channel.good_to_bad
        return (good * channel.loss_in_good + bad * channel.loss_in_bad) / (good + bad)
    if isinstance(channel, LossBurstsSpec):
        return channel.loss * channel.length_ps / (channel.gap_ps + channel.length_ps)
    if isinstance(channel, PeriodicLossesSpec):
        return channel.loss * channel.length_ps / channel.period_ps
    return None
