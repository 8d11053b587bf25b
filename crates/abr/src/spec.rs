//! The parameters of an ABR connection: what its source and its destination keep to.

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{
        CellRateOrNone, CellsBetweenRm, CellsInFlight, Flag, FromZeroToOne, Interval,
        LeastCellsBetweenRm, PartOfOne, PeakCellRate, RateUpToPeak, Weight, unchecked,
    },
};

/// The parameters of an ABR VC's source and destination.
///
/// Source: ATM Forum Traffic Management 4.0 (af-tm-0056), section 5.10. Rates in thousandths of a cell a
/// second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct AbrSpec {
    /// The VC the other way, of the same two ends, which carries the backward RM cells; it has a rate
    /// control too, and names this one.
    #[param(check = unchecked, unwritten)]
    pub return_vc: u32,
    /// Most that the source may send.
    #[param(
        key = "pcr",
        default = "link rate",
        symbol = "PCR",
        source = "choice: as fast as the first link"
    )]
    pub pcr_millicells: PeakCellRate,
    /// Rate that the network has promised; the source need not send slower.
    #[param(key = "mcr", default = "0 cells/s", symbol = "MCR", at_most = "pcr_millicells", source = TM)]
    pub mcr_millicells: CellRateOrNone,
    /// Rate at the start and after a pause, at most PCR; TBE / FRTT if that is less.
    #[param(key = "icr", default = "pcr", symbol = "ICR", at_most = "pcr_millicells", source = TM)]
    pub icr_millicells: RateUpToPeak,
    /// Cells that the source may send before the first feedback; without feedback for TBE / Nrm of its RM
    /// cells it slows down.
    #[param(key = "tbe", default = "16777215 cells", symbol = "TBE", source = TM)]
    pub tbe_cells: CellsInFlight,
    /// Round trip of the connection without queues.
    #[param(check = unchecked, unwritten)]
    pub frtt_ps: u64,
    /// A forward RM cell comes at least every so many cells.
    #[param(default = 32, symbol = "Nrm", source = TM)]
    pub nrm: CellsBetweenRm,
    /// Cells between two forward RM cells at a low rate.
    #[param(default = 2, symbol = "Mrm", source = TM)]
    pub mrm: LeastCellsBetweenRm,
    /// Time after which a forward RM cell need not wait for Nrm cells.
    #[param(key = "trm", default = "100 ms", symbol = "Trm", source = TM)]
    pub trm_ps: Interval,
    /// Part of PCR by which a backward RM cell without CI and NI raises the rate.
    #[param(default = 0.0625, symbol = "RIF", source = TM)]
    pub rif: PartOfOne,
    /// Part of the rate that a backward RM cell with CI takes away.
    #[param(default = 0.0625, symbol = "RDF", source = TM)]
    pub rdf: PartOfOne,
    /// Part of the rate that each forward RM cell takes away while feedback is missing; 0 for none.
    #[param(default = 0.0625, symbol = "CDF", source = TM)]
    pub cdf: FromZeroToOne,
    /// Time without a forward RM cell after which the rate falls to ICR.
    #[param(key = "adtf", default = "500 ms", symbol = "ADTF", source = TM)]
    pub adtf_ps: Interval,
    /// Rate of forward RM cells beside the allowed rate; 0 for none.
    #[param(key = "tcr", default = "10 cells/s", symbol = "TCR", source = TM)]
    pub tcr_millicells: CellRateOrNone,
    /// Use it or lose it: with each forward RM cell a rate that was not used falls to what was, but not
    /// below ICR.
    #[param(
        default = false,
        source = "choice: af-tm-0056, source behaviour 13, leaves it to the source"
    )]
    pub use_it_or_lose_it: Flag,
    /// A backward RM cell that waits when the next one comes is sent with its contents beside the rate;
    /// otherwise it is dropped.
    #[param(
        default = false,
        source = "choice: af-tm-0056, destination behaviour 3, allows both"
    )]
    pub turns_out_of_rate: Flag,
    /// Most that the destination lets into a backward RM cell as ER.
    #[param(
        key = "destination_rate",
        default = "pcr",
        symbol = "ER",
        at_most = "pcr_millicells",
        source = "choice: no limit of its own; af-tm-0056, destination behaviour 2b"
    )]
    pub destination_millicells: RateUpToPeak,
    /// Weight of the VC where a switch divides what is beyond the MCRs.
    #[param(
        default = 1.0,
        symbol = "w_i",
        source = "ATM Forum 98-0408: equal weights"
    )]
    pub weight: Weight,
}

/// The defaults of TM 4.0.
const TM: &str = "af-tm-0056 section 5.10";
