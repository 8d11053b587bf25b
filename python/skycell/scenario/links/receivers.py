"""Receivers of one carrier at rates of their own, as by adaptive coding and modulation."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated

from skycell.coding.dvb_s2 import MODCODS
from skycell.input.faults import NOTHING, FaultCollector, Path, Verbatim
from skycell.input.parameters import NamePatterns, Parameters, param, word
from skycell.input.quantities import Quantity
from skycell.scenario.declared.framings import Framing, Gse
from skycell.scenario.links.framing import overhead_of, unfit_of
from skycell.scenario.links.schedule import Text
from skycell.scenario.values.link_values import Rate


class ReceiverRate(Parameters):
    """The rate at which some receivers get the packets of a carrier."""

    modcod: Annotated[str, word(*MODCODS)] | None = param(
        None,
        "constellation and code rate of their packets; only with framing gse",
        source="rate or model says it",
    )
    rate: Rate | None = param(
        None, "rate of their packets, up to that of the link", source="modcod or model says it"
    )
    model: Text | None = param(
        None,
        "a file with adaptive_coding, outages or rates, from which each node has a course of its "
        "own drawn; where it has no rate, packets to the node are lost",
        source="modcod or rate says it",
    )


class Receiver(ReceiverRate):
    """Nodes behind a link of packets that receive it at another rate than its own.

    A name with `*`, such as `terminal*`, stands for all nodes of that name with a number.
    """

    nodes: NamePatterns = param(..., "nodes that the packets come to behind the link")


def payload_of(
    receiver: ReceiverRate,
    own: tuple[Quantity, Framing],
    here: Path,
    faults: FaultCollector,
) -> Fraction | None:
    """The greatest rate of the line for a receiver, bit/s; None with a fault, which is noted.

    Args:
        receiver: with a MODCOD or a rate.
        own: rate and framing of the link, which fit each other.
        here: the table of the receiver.
        faults: takes what does not go with the link.
    """
    said = [key for key in ("modcod", "rate", "model") if getattr(receiver, key) is not None]
    if len(said) != 1:
        got = Verbatim(" and ".join(said)) if said else NOTHING
        faults.add((*here, said[-1] if said else "modcod"), got, "one of modcod, rate and model")
        return None
    rate, framing = own
    most = rate.amount * overhead_of(framing).carried
    if receiver.rate is not None:
        if receiver.rate.dimension is not rate.dimension or receiver.rate.amount > rate.amount:
            allowed = f"a rate of up to {rate}, that of the link"
            faults.add((*here, "rate"), receiver.rate.text, allowed)
            return None
        return receiver.rate.amount * overhead_of(framing).carried
    if receiver.modcod is None:
        return most
    if not isinstance(framing, Gse):
        allowed = "a rate in its place: only a carrier with framing gse has MODCODs"
        faults.add((*here, "modcod"), receiver.modcod, allowed)
        return None
    changed = framing.model_copy(update={"modcod": receiver.modcod})
    if unfit := unfit_of(changed):
        faults.add((*here, "modcod"), receiver.modcod, unfit.allowed)
        return None
    found = rate.amount * overhead_of(changed).carried
    if found > most:
        got = Verbatim(f'"{receiver.modcod}", which carries more than {framing.modcod}')
        allowed = "a MODCOD that carries no more than that of the link, which is the highest"
        faults.add((*here, "modcod"), got, allowed)
        return None
    return found
