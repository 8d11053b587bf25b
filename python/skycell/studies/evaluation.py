"""How an experiment's runs are measured: the ceiling and the throughput, choices resolved."""

from skycell.input.faults import FaultCollector
from skycell.input.quantities import Dimension, Refused, parse_quantity
from skycell.metrics import THROUGHPUT_DEFINITIONS
from skycell.metrics.ceiling import stated_bps_of
from skycell.studies.design import Overrides, choices_in_force, refuse_choice, resolve_choices
from skycell.studies.measured_run import Evaluation
from skycell.studies.model import Study


def evaluation_of(study: Study, experiment: str, overrides: Overrides) -> Evaluation:
    """The evaluation of an experiment, some choices set otherwise.

    Raises:
        ScenarioFaults: the base is no bit rate, the segment no size, or the definition unknown.
    """
    template = study.experiments[experiment]
    choices = choices_in_force(study, overrides)
    faults = FaultCollector(study.id)
    base = str(resolve_choices(template.ceiling_base, choices))
    stated_bps = stated_bps_of(base)
    if base != "link" and stated_bps is None:
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
    return Evaluation(stated_bps, throughput, mss)


def _octets(text: str) -> int:
    """A size in octets; 0 if the text is none."""
    try:
        stated = parse_quantity(text)
    except Refused:
        return 0
    return int(stated.amount) if stated.dimension is Dimension.SIZE else 0
