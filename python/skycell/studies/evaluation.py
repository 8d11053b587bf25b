"""How an experiment's runs are measured: the ceiling and the throughput, choices resolved."""

from dataclasses import dataclass

from skycell.input.faults import FaultCollector
from skycell.input.quantities import Dimension, Refused, parse_quantity
from skycell.metrics import THROUGHPUT_DEFINITIONS
from skycell.studies.design import Overrides, choices_in_force, refuse_choice, resolve_choices
from skycell.studies.model import Study


@dataclass(frozen=True)
class Evaluation:
    """How an experiment's runs are measured, choices resolved."""

    ceiling_base: str
    """`link` for the cell rate of the congested link, or a stated rate."""
    throughput: str
    """A definition of `skycell.metrics.throughput`."""
    ceiling_mss: int | None = None
    """Segment whose share of the base is an efficiency of 1, octets; none for the run's own."""

    @property
    def stated_bps(self) -> float | None:
        """The base where it is a stated rate."""
        return _bit_rate(self.ceiling_base)

    @classmethod
    def of(cls, study: Study, experiment: str, overrides: Overrides) -> "Evaluation":
        """The evaluation of an experiment, some choices set otherwise.

        Raises:
            ScenarioFaults: the base is no bit rate, the segment no size, or the definition unknown.
        """
        template = study.experiments[experiment]
        choices = choices_in_force(study, overrides)
        faults = FaultCollector(study.id)
        base = str(resolve_choices(template.ceiling_base, choices))
        if base != "link" and _bit_rate(base) is None:
            allowed = '"link", or a bit rate above 0 such as "149.76 Mbit/s"'
            refuse_choice(study, template.ceiling_base, choices, allowed, faults)
        throughput = str(resolve_choices(template.throughput, choices))
        if throughput not in THROUGHPUT_DEFINITIONS:
            allowed = ", ".join(THROUGHPUT_DEFINITIONS)
            refuse_choice(study, template.throughput, choices, allowed, faults)
        segment = str(resolve_choices(template.ceiling_segment, choices))
        mss = None if segment == "own" else _octets(segment)
        if mss == 0:
            allowed = '"own", or a size above 0 such as "9180 B"'
            refuse_choice(study, template.ceiling_segment, choices, allowed, faults)
        faults.raise_if_any()
        return cls(base, throughput, mss)


def _bit_rate(text: str) -> float | None:
    """A bit rate above 0 in bit/s; none if the text is none."""
    try:
        stated = parse_quantity(text)
    except Refused:
        return None
    is_rate = stated.dimension is Dimension.BIT_RATE and stated.amount > 0
    return float(stated.amount) if is_rate else None


def _octets(text: str) -> int:
    """A size in octets; 0 if the text is none."""
    try:
        stated = parse_quantity(text)
    except Refused:
        return 0
    return int(stated.amount) if stated.dimension is Dimension.SIZE else 0
