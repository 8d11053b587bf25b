"""The table [abr] as a scenario file writes it.

Written by `make generate` from the declarations in Rust; change those, not this file.
"""

from __future__ import annotations

from skycell.input.parameters import Parameters, param
from skycell.scenario.declared.types import (
    CellRateOrNone,
    CellsBetweenRm,
    CellsInFlight,
    Flag,
    FromZeroToOne,
    Interval,
    LeastCellsBetweenRm,
    PartOfOne,
    PeakCellRate,
    RateUpToPeak,
    Weight,
)
from skycell.scenario.values.rule_specs import FieldSpec, RuleSpec
from skycell.spec.declared.network import AbrSpec


class Abr(Parameters):
    """The parameters of an ABR VC's source and destination."""

    pcr: PeakCellRate = param(
        "link rate",
        "most that the source may send",
        symbol="PCR",
        source="choice: as fast as the first link",
    )
    mcr: CellRateOrNone = param(
        "0 cells/s",
        "rate that the network has promised; the source need not send slower",
        symbol="MCR",
        source="af-tm-0056 section 5.10",
    )
    icr: RateUpToPeak = param(
        "pcr",
        "rate at the start and after a pause, at most PCR; TBE / FRTT if that is less",
        symbol="ICR",
        source="af-tm-0056 section 5.10",
    )
    tbe: CellsInFlight = param(
        "16777215 cells",
        (
            "cells that the source may send before the first feedback; without feedback "
            "for TBE / Nrm of its RM cells it slows down"
        ),
        symbol="TBE",
        source="af-tm-0056 section 5.10",
    )
    nrm: CellsBetweenRm = param(
        32,
        "a forward RM cell comes at least every so many cells",
        symbol="Nrm",
        source="af-tm-0056 section 5.10",
    )
    mrm: LeastCellsBetweenRm = param(
        2,
        "cells between two forward RM cells at a low rate",
        symbol="Mrm",
        source="af-tm-0056 section 5.10",
    )
    trm: Interval = param(
        "100 ms",
        "time after which a forward RM cell need not wait for Nrm cells",
        symbol="Trm",
        source="af-tm-0056 section 5.10",
    )
    rif: PartOfOne = param(
        0.0625,
        "part of PCR by which a backward RM cell without CI and NI raises the rate",
        symbol="RIF",
        source="af-tm-0056 section 5.10",
    )
    rdf: PartOfOne = param(
        0.0625,
        "part of the rate that a backward RM cell with CI takes away",
        symbol="RDF",
        source="af-tm-0056 section 5.10",
    )
    cdf: FromZeroToOne = param(
        0.0625,
        (
            "part of the rate that each forward RM cell takes away while feedback is "
            "missing; 0 for none"
        ),
        symbol="CDF",
        source="af-tm-0056 section 5.10",
    )
    adtf: Interval = param(
        "500 ms",
        "time without a forward RM cell after which the rate falls to ICR",
        symbol="ADTF",
        source="af-tm-0056 section 5.10",
    )
    tcr: CellRateOrNone = param(
        "10 cells/s",
        "rate of forward RM cells beside the allowed rate; 0 for none",
        symbol="TCR",
        source="af-tm-0056 section 5.10",
    )
    use_it_or_lose_it: Flag = param(
        False,
        (
            "use it or lose it: with each forward RM cell a rate that was not used falls "
            "to what was, but not below ICR"
        ),
        source="choice: af-tm-0056, source behaviour 13, leaves it to the source",
    )
    turns_out_of_rate: Flag = param(
        False,
        (
            "a backward RM cell that waits when the next one comes is sent with its "
            "contents beside the rate; otherwise it is dropped"
        ),
        source="choice: af-tm-0056, destination behaviour 3, allows both",
    )
    destination_rate: RateUpToPeak = param(
        "pcr",
        "most that the destination lets into a backward RM cell as ER",
        symbol="ER",
        source="choice: no limit of its own; af-tm-0056, destination behaviour 2b",
    )
    weight: Weight = param(
        1.0,
        "weight of the VC where a switch divides what is beyond the MCRs",
        symbol="w_i",
        source="ATM Forum 98-0408: equal weights",
    )


ABR = RuleSpec(
    Abr,
    AbrSpec,
    (
        FieldSpec("return_vc", None, "u32"),
        FieldSpec("pcr_millicells", "pcr", "PeakCellRate"),
        FieldSpec("mcr_millicells", "mcr", "CellRateOrNone", at_most="pcr_millicells"),
        FieldSpec("icr_millicells", "icr", "RateUpToPeak", at_most="pcr_millicells"),
        FieldSpec("tbe_cells", "tbe", "CellsInFlight"),
        FieldSpec("frtt_ps", None, "u64"),
        FieldSpec("nrm", "nrm", "CellsBetweenRm"),
        FieldSpec("mrm", "mrm", "LeastCellsBetweenRm"),
        FieldSpec("trm_ps", "trm", "Interval"),
        FieldSpec("rif", "rif", "PartOfOne"),
        FieldSpec("rdf", "rdf", "PartOfOne"),
        FieldSpec("cdf", "cdf", "FromZeroToOne"),
        FieldSpec("adtf_ps", "adtf", "Interval"),
        FieldSpec("tcr_millicells", "tcr", "CellRateOrNone"),
        FieldSpec("use_it_or_lose_it", "use_it_or_lose_it", "Flag"),
        FieldSpec("turns_out_of_rate", "turns_out_of_rate", "Flag"),
        FieldSpec(
            "destination_millicells", "destination_rate", "RateUpToPeak", at_most="pcr_millicells"
        ),
        FieldSpec("weight", "weight", "Weight"),
    ),
)
