"""Rate algorithms in a scenario file.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from skycell.input.parameters import Parameters, param, when, word
from skycell.scenario.declared.types import (
    AtLeastOne,
    CellCount,
    CellRateOrNone,
    FromZeroToOne,
    Interval,
    PartOfOne,
)
from skycell.scenario.values.parameter_types import Threshold
from skycell.scenario.values.rule_specs import (
    FieldSpec,
    Flattened,
    RuleSpec,
    kind_by_name,
)
from skycell.spec.declared.network import (
    EfciSpec,
    EricaPlusSpec,
    EricaSpec,
    QueueControlSpec,
    RelativeRateSpec,
    WeightedEricaPlusSpec,
)


class Efci(Parameters):
    """Marks data cells while the queue is long; the destination makes CI of the mark."""

    kind: Literal["efci"] = param(..., "the rate algorithm")
    high_threshold: Threshold = param(
        0.5,
        "ABR cells in the queue from which cells are marked",
        source="choice: af-tm-0056 leaves to the switch when it is congested",
    )
    low_threshold: Threshold = param(
        0.5,
        "ABR cells in the queue below which they no longer are, at most high_threshold",
        source="choice: no hysteresis",
    )
    becn: CellRateOrNone = param(
        "0 cells/s",
        (
            "backward RM cells a second that the port makes for a VC of which cells come "
            "while it is congested (BECN), at most; 0 for none"
        ),
        source=(
            "af-tm-0056 section 5.10.6, switch behaviour 2: optional, up to 10 cells/s "
            "for each connection"
        ),
    )


class RelativeRate(Parameters):
    """Sets NI in RM cells while the queue grows, and CI while it is long."""

    kind: Literal["relative_rate"] = param(..., "the rate algorithm")
    high_threshold: Threshold = param(
        0.5,
        "ABR cells in the queue from which CI is set",
        source="choice: af-tm-0056 leaves to the switch when it is congested",
    )
    low_threshold: Threshold = param(
        0.5,
        "ABR cells in the queue below which it no longer is, at most high_threshold",
        source="choice: no hysteresis",
    )
    ni_threshold: Threshold = param(
        0.25,
        "ABR cells in the queue from which NI is set, at most high_threshold",
        source="choice: half of high_threshold",
    )
    rm_cells: Annotated[str, word("backward", "forward", "both")] = param(
        "backward",
        ("RM cells that are marked: those that go back, those that go with the data, or both"),
        source="choice: the shortest way; af-tm-0056 allows each",
    )
    becn: CellRateOrNone = param(
        "0 cells/s",
        (
            "backward RM cells a second that the port makes for a VC of which cells come "
            "while it is congested (BECN), at most; 0 for none"
        ),
        source=(
            "af-tm-0056 section 5.10.6, switch behaviour 2: optional, up to 10 cells/s "
            "for each connection"
        ),
    )


class Erica(Parameters):
    """Gives each VC an equal share of a target, or more if that ends the overload."""

    kind: Literal["erica"] = param(..., "the rate algorithm")
    target_utilization: PartOfOne = param(
        0.9,
        "part of the link that all classes together shall use",
        symbol="U",
        source="ATM Forum 98-0408, of ERICA+: such as 0.9",
    )
    interval: Interval = param(
        "5 ms",
        "longest averaging interval",
        source="choice: 5 ms or 500 ABR cells",
    )
    interval_cells: CellCount = param(
        "500 cells",
        "ABR cells after which an averaging interval ends before its time",
        source="choice: 5 ms or 500 ABR cells",
    )
    delta: FromZeroToOne = param(
        0.1,
        "overload up to which VCs are brought to equal rates: 1 + delta",
        symbol="delta",
        source="choice: a tenth",
    )
    ccr_from: Annotated[str, word("rm_cell", "measured")] = param(
        "measured",
        "where a VC's rate is known from",
        source=(
            "choice: 98-0408 and Kalyanaraman's thesis, page 162: CCR is not the rate of "
            "a VC whose source cannot use its ACR; the per-VC option of 96-1172 measures "
            "it"
        ),
    )
    becn: CellRateOrNone = param(
        "0 cells/s",
        (
            "backward RM cells a second that the port makes for a VC of which cells come "
            "while it is congested (BECN), at most; 0 for none"
        ),
        source=(
            "af-tm-0056 section 5.10.6, switch behaviour 2: optional, up to 10 cells/s "
            "for each connection"
        ),
    )


class EricaPlus(Parameters):
    """ERICA with a target that follows the queue: all of the link while its delay is as wanted."""

    kind: Literal["erica_plus"] = param(..., "the rate algorithm")
    queue_control: Annotated[str, word("hyperbolic", "inverse_hyperbolic", "linear", "step")] = (
        param(
            "hyperbolic",
            "form of the function",
            source="ATM Forum 96-1172, section 6",
        )
    )
    target_delay: Interval = param(
        "1.5 ms",
        "queueing delay that is aimed at",
        symbol="T0",
        source="choice: the copies at hand do not say it",
    )
    upper_delay: Interval = param(
        "3 ms",
        "queueing delay up to which the function stays at 1; at least target_delay",
        symbol="T1",
        source="choice: twice T0",
        when=when("queue_control", "linear", "step"),
    )
    a: AtLeastOne = param(
        1.15,
        "curvature beyond Q0; 1 for none",
        symbol="a",
        source="arXiv cs/9809041, of the hyperbolic function: 1.15 and 1.05",
        when=when("queue_control", "hyperbolic", "inverse_hyperbolic"),
    )
    b: AtLeastOne = param(
        1.05,
        "the value at an empty queue, from which the curve falls to 1 at Q0",
        symbol="b",
        source="arXiv cs/9809041, of the hyperbolic function: 1.15 and 1.05",
        when=when("queue_control", "hyperbolic", "inverse_hyperbolic"),
    )
    slope: FromZeroToOne = param(
        0.0625,
        ("decrease of the function for each Q0 beyond Q1, and its excess at an empty queue"),
        symbol="m",
        source="arXiv cs/9809041: a power of 1/2",
        when=when("queue_control", "linear"),
    )
    step: FromZeroToOne = param(
        0.05,
        "excess of the function below Q0, and its deficit above Q1",
        symbol="s",
        source="choice: as much as b of the hyperbola",
        when=when("queue_control", "step"),
    )
    drain_limit: PartOfOne = param(
        0.5,
        "least value of the function: queue drain limit factor",
        symbol="QDLF",
        source="ATM Forum 98-0408, of ERICA+",
    )
    interval: Interval = param(
        "5 ms",
        "longest averaging interval",
        source="choice: 5 ms or 500 ABR cells",
    )
    interval_cells: CellCount = param(
        "500 cells",
        "ABR cells after which an averaging interval ends before its time",
        source="choice: 5 ms or 500 ABR cells",
    )
    delta: FromZeroToOne = param(
        0.1,
        "overload up to which VCs are brought to equal rates: 1 + delta",
        symbol="delta",
        source="choice: a tenth",
    )
    ccr_from: Annotated[str, word("rm_cell", "measured")] = param(
        "measured",
        "where a VC's rate is known from",
        source=(
            "choice: 98-0408 and Kalyanaraman's thesis, page 162: CCR is not the rate of "
            "a VC whose source cannot use its ACR; the per-VC option of 96-1172 measures "
            "it"
        ),
    )
    becn: CellRateOrNone = param(
        "0 cells/s",
        (
            "backward RM cells a second that the port makes for a VC of which cells come "
            "while it is congested (BECN), at most; 0 for none"
        ),
        source=(
            "af-tm-0056 section 5.10.6, switch behaviour 2: optional, up to 10 cells/s "
            "for each connection"
        ),
    )


class WeightedEricaPlus(Parameters):
    """ERICA+ that gives each VC its MCR and of the rest a part by its weight."""

    kind: Literal["weighted_erica_plus"] = param(..., "the rate algorithm")
    queue_control: Annotated[str, word("hyperbolic", "inverse_hyperbolic", "linear", "step")] = (
        param(
            "hyperbolic",
            "form of the function",
            source="ATM Forum 96-1172, section 6",
        )
    )
    target_delay: Interval = param(
        "1.5 ms",
        "queueing delay that is aimed at",
        symbol="T0",
        source="choice: the copies at hand do not say it",
    )
    upper_delay: Interval = param(
        "3 ms",
        "queueing delay up to which the function stays at 1; at least target_delay",
        symbol="T1",
        source="choice: twice T0",
        when=when("queue_control", "linear", "step"),
    )
    a: AtLeastOne = param(
        1.15,
        "curvature beyond Q0; 1 for none",
        symbol="a",
        source="arXiv cs/9809041, of the hyperbolic function: 1.15 and 1.05",
        when=when("queue_control", "hyperbolic", "inverse_hyperbolic"),
    )
    b: AtLeastOne = param(
        1.05,
        "the value at an empty queue, from which the curve falls to 1 at Q0",
        symbol="b",
        source="arXiv cs/9809041, of the hyperbolic function: 1.15 and 1.05",
        when=when("queue_control", "hyperbolic", "inverse_hyperbolic"),
    )
    slope: FromZeroToOne = param(
        0.0625,
        ("decrease of the function for each Q0 beyond Q1, and its excess at an empty queue"),
        symbol="m",
        source="arXiv cs/9809041: a power of 1/2",
        when=when("queue_control", "linear"),
    )
    step: FromZeroToOne = param(
        0.05,
        "excess of the function below Q0, and its deficit above Q1",
        symbol="s",
        source="choice: as much as b of the hyperbola",
        when=when("queue_control", "step"),
    )
    drain_limit: PartOfOne = param(
        0.5,
        "least value of the function: queue drain limit factor",
        symbol="QDLF",
        source="ATM Forum 98-0408, of ERICA+",
    )
    interval: Interval = param(
        "5 ms",
        "longest averaging interval",
        source="choice: 5 ms or 500 ABR cells",
    )
    interval_cells: CellCount = param(
        "500 cells",
        "ABR cells after which an averaging interval ends before its time",
        source="choice: 5 ms or 500 ABR cells",
    )
    ccr_from: Annotated[str, word("rm_cell", "measured")] = param(
        "measured",
        "where a VC's rate is known from",
        source=(
            "choice: 98-0408 and Kalyanaraman's thesis, page 162: CCR is not the rate of "
            "a VC whose source cannot use its ACR; the per-VC option of 96-1172 measures "
            "it"
        ),
    )
    becn: CellRateOrNone = param(
        "0 cells/s",
        (
            "backward RM cells a second that the port makes for a VC of which cells come "
            "while it is congested (BECN), at most; 0 for none"
        ),
        source=(
            "af-tm-0056 section 5.10.6, switch behaviour 2: optional, up to 10 cells/s "
            "for each connection"
        ),
    )


AnyRateAlgorithm = Efci | RelativeRate | Erica | EricaPlus | WeightedEricaPlus
#: Those that need no more than their name.
_Names = Literal["efci", "relative_rate", "erica", "erica_plus", "weighted_erica_plus"]
RateAlgorithm = Annotated[
    Annotated[AnyRateAlgorithm, Field(discriminator="kind")],
    BeforeValidator(kind_by_name, json_schema_input_type=AnyRateAlgorithm | _Names),
]

RATE_ALGORITHMS: dict[str, RuleSpec] = {
    "efci": RuleSpec(
        Efci,
        EfciSpec,
        (
            FieldSpec("high_cells", "high_threshold", "Threshold"),
            FieldSpec("low_cells", "low_threshold", "Threshold", at_most="high_cells"),
            FieldSpec("becn_millicells", "becn", "CellRateOrNone"),
        ),
        facts={
            "feedback": "one bit",
            "label": "EFCI",
            "source": "af-tm-0056 section 5.10.6, switch behaviour 1a",
        },
    ),
    "relative_rate": RuleSpec(
        RelativeRate,
        RelativeRateSpec,
        (
            FieldSpec("high_cells", "high_threshold", "Threshold"),
            FieldSpec("low_cells", "low_threshold", "Threshold", at_most="high_cells"),
            FieldSpec("ni_cells", "ni_threshold", "Threshold", at_most="high_cells"),
            FieldSpec("rm_cells", "rm_cells", "word"),
            FieldSpec("becn_millicells", "becn", "CellRateOrNone"),
        ),
        facts={
            "feedback": "two bits",
            "label": "relative rate",
            "source": "af-tm-0056 section 5.10.6, switch behaviour 1b",
        },
    ),
    "erica": RuleSpec(
        Erica,
        EricaSpec,
        (
            FieldSpec("target_utilization", "target_utilization", "PartOfOne"),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("interval_cells", "interval_cells", "CellCount"),
            FieldSpec("delta", "delta", "FromZeroToOne"),
            FieldSpec("ccr_from", "ccr_from", "word"),
            FieldSpec("becn_millicells", "becn", "CellRateOrNone"),
        ),
        facts={
            "feedback": "explicit rate",
            "label": "ERICA",
            "source": (
                "Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan: ERICA Switch Algorithm, ATM "
                "Forum 96-1172, 1996"
            ),
        },
    ),
    "erica_plus": RuleSpec(
        EricaPlus,
        EricaPlusSpec,
        (
            Flattened(
                "queue",
                QueueControlSpec,
                (
                    FieldSpec("curve", "queue_control", "word"),
                    FieldSpec("target_ps", "target_delay", "Interval"),
                    FieldSpec("upper_ps", "upper_delay", "Interval"),
                    FieldSpec("a", "a", "AtLeastOne"),
                    FieldSpec("b", "b", "AtLeastOne"),
                    FieldSpec("slope", "slope", "FromZeroToOne"),
                    FieldSpec("step", "step", "FromZeroToOne"),
                    FieldSpec("drain_limit", "drain_limit", "PartOfOne"),
                ),
            ),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("interval_cells", "interval_cells", "CellCount"),
            FieldSpec("delta", "delta", "FromZeroToOne"),
            FieldSpec("ccr_from", "ccr_from", "word"),
            FieldSpec("becn_millicells", "becn", "CellRateOrNone"),
        ),
        facts={
            "feedback": "explicit rate",
            "label": "ERICA+",
            "source": (
                "Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan: ERICA Switch Algorithm, ATM "
                "Forum 96-1172, 1996"
            ),
        },
    ),
    "weighted_erica_plus": RuleSpec(
        WeightedEricaPlus,
        WeightedEricaPlusSpec,
        (
            Flattened(
                "queue",
                QueueControlSpec,
                (
                    FieldSpec("curve", "queue_control", "word"),
                    FieldSpec("target_ps", "target_delay", "Interval"),
                    FieldSpec("upper_ps", "upper_delay", "Interval"),
                    FieldSpec("a", "a", "AtLeastOne"),
                    FieldSpec("b", "b", "AtLeastOne"),
                    FieldSpec("slope", "slope", "FromZeroToOne"),
                    FieldSpec("step", "step", "FromZeroToOne"),
                    FieldSpec("drain_limit", "drain_limit", "PartOfOne"),
                ),
            ),
            FieldSpec("interval_ps", "interval", "Interval"),
            FieldSpec("interval_cells", "interval_cells", "CellCount"),
            FieldSpec("ccr_from", "ccr_from", "word"),
            FieldSpec("becn_millicells", "becn", "CellRateOrNone"),
        ),
        facts={
            "feedback": "explicit rate",
            "label": "weighted ERICA+",
            "source": (
                "Vandalore, Fahmy, Jain, Goyal, Goyal: Overload Based Explicit Rate Switch "
                "Schemes with MCR Guarantees, ATM Forum 98-0408, 1998"
            ),
        },
    ),
}
"""What each rate algorithm declares, by its kind."""
