//! ERICA+: ERICA with a target that follows the queue.

use super::CcrFrom;
use super::becn::BECN;
use super::erica::{CCR_FROM, INTERVAL};
use super::queue_control::QueueControlSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{CellCount, CellRateOrNone, FromZeroToOne, Interval},
};

/// ERICA with a target that follows the queue: all of the link while its delay is as wanted.
///
/// ATM Forum 96-1172, section 6; 98-0408 (arXiv cs/9809040).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    feedback = "explicit rate",
    source = "Jain, Kalyanaraman, Goyal, Fahmy, Viswanathan: ERICA Switch Algorithm, ATM Forum 96-1172, 1996",
    label = "ERICA+"
)]
pub struct EricaPlusSpec {
    /// Part of the capacity that is aimed at, by the queue.
    #[param(parts)]
    pub queue: QueueControlSpec,
    /// Longest averaging interval.
    #[param(key = "interval", default = "5 ms", source = INTERVAL)]
    pub interval_ps: Interval,
    /// ABR cells after which an averaging interval ends before its time.
    #[param(default = "500 cells", source = INTERVAL)]
    pub interval_cells: CellCount,
    /// Overload up to which VCs are brought to equal rates: 1 + delta.
    #[param(default = 0.1, symbol = "delta", source = "choice: a tenth")]
    pub delta: FromZeroToOne,
    /// Where a VC's rate is known from.
    #[param(
        word,
        default = "measured",
        source = CCR_FROM
    )]
    pub ccr_from: CcrFrom,
    /// Backward RM cells a second that the port makes for a VC of which cells come while it is congested (BECN), at most;
    /// 0 for none.
    #[serde(default, skip_serializing_if = "is_default")]
    #[param(key = "becn", default = "0 cells/s", source = BECN)]
    pub becn_millicells: CellRateOrNone,
}

#[cfg(test)]
mod tests {
    use super::super::erica::tests::{backward, forward, measured};
    use super::*;
    use crate::switch::queue_control::tests::hyperbolic;
    use crate::switch::{Erica, RateAlgorithm};

    #[test]
    fn the_target_is_above_the_capacity_while_the_queue_is_short_and_below_it_while_it_is_long() {
        let mut erica = Erica::plus(
            &EricaPlusSpec {
                queue: hyperbolic(),
                interval_ps: 1,
                interval_cells: 1,
                delta: 0.1,
                ccr_from: CcrFrom::RmCell,
                becn_millicells: 0,
            },
            1_000.0,
            2,
        );
        // Half of the input of 800 cells/s is of each VC; others take 200 of the link's 1 000. An empty
        // queue: f = b = 1.05, so the target is 840.
        erica.on_forward(0, &forward(400.0));
        erica.on_interval(&measured(&[400, 400], 200, 0));
        assert!((erica.state().target - 840.0).abs() < 1e-9);
        assert!((erica.state().overload - 800.0 / 840.0).abs() < 1e-12);
        // The largest so far was the share before the first interval, 500; the VC is below its share of
        // 420 and comes to it first.
        assert!((backward(&mut erica, 0, 1_000.0) - 420.0).abs() < 1e-9);
        // T0 = 0.1 s is 80 cells of the 800. A queue of 160: a / ((a - 1) 2 + 1) = 1.15 / 1.3.
        erica.on_interval(&measured(&[400, 400], 200, 160));
        assert!((erica.state().target - 800.0 * 1.15 / 1.3).abs() < 1e-9);
        // A queue without end: half of the capacity, QDLF.
        erica.on_interval(&measured(&[400, 400], 200, 1_000_000));
        assert!((erica.state().target - 400.0).abs() < 1e-9);
    }
}
