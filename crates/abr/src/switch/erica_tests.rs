//! ERICA by hand: what each backward RM cell is told.

use super::*;
use crate::switch::{RateAlgorithm, RateAlgorithmSpec, RateControl, VcShare};
use skycell_units::SimTime;

/// A forward RM cell of a source of rate `ccr`.
pub(in crate::switch) fn forward(ccr: f64) -> RmCell {
    RmCell {
        is_backward: false,
        is_becn: false,
        ci: false,
        ni: false,
        is_out_of_rate: false,
        ccr,
        er: f64::MAX,
        mcr: 0.0,
    }
}

/// ER of a backward RM cell of VC `vc` that comes with `er`.
pub(in crate::switch) fn backward(rule: &mut impl RateAlgorithm, vc: usize, er: f64) -> f64 {
    let mut cell = RmCell {
        is_backward: true,
        er,
        ..forward(0.0)
    };
    rule.on_backward(vc, &mut cell);
    cell.er
}

/// An interval of a second on a link of 1 000 cells/s.
pub(in crate::switch) fn measured(by_vc: &[u32], other: u32, queued: u32) -> Measured<'_> {
    Measured {
        seconds: 1.0,
        link: 1_000.0,
        abr: by_vc.iter().sum(),
        other,
        queued,
        by_vc,
    }
}

/// U = 0.9 of 1 000 cells/s, delta = 0.1.
fn erica(ccr_from: CcrFrom, vcs: usize) -> Erica {
    let spec = EricaSpec {
        target_utilization: 0.9,
        interval_ps: 1,
        interval_cells: 1,
        delta: 0.1,
        ccr_from,
        becn_millicells: 0,
    };
    Erica::new(&spec, 1_000.0, vcs)
}

#[test]
fn under_overload_each_gets_its_share_or_what_ends_the_overload() {
    let mut erica = erica(CcrFrom::RmCell, 3);
    for (vc, ccr) in [(0, 900.0), (1, 600.0), (2, 300.0)] {
        erica.on_forward(vc, &forward(ccr));
    }
    // Target 900, input 1 800: z = 2, fair share 300. VC shares 450, 300 and 150.
    erica.on_interval(&measured(&[900, 600, 300], 0, 0));
    assert_eq!(
        erica.state(),
        RateState {
            overload: 2.0,
            fair_share: 300.0,
            target: 900.0
        }
    );
    let reported = [0, 1, 2].map(|vc| backward(&mut erica, vc, 1e9));
    assert_eq!(reported, [450.0, 300.0, 300.0]);
}

#[test]
fn without_overload_nobody_gets_less_than_the_most_of_the_interval_before() {
    let mut erica = erica(CcrFrom::RmCell, 3);
    erica.on_forward(0, &forward(600.0));
    erica.on_forward(1, &forward(150.0));
    erica.on_forward(2, &forward(150.0));
    // z = 900 / 900 = 1: shares 600, 150, 150, and the largest that was allocated is the 300 of the start.
    erica.on_interval(&measured(&[600, 150, 150], 0, 0));
    assert_eq!(backward(&mut erica, 0, 1e9), 600.0);
    // 150 is below the fair share of 300: the VC comes to that first.
    assert_eq!(backward(&mut erica, 1, 1e9), 300.0);
    // Now all are at 300 or above; z = 1.1 is still no overload, and 600 is the largest of the interval
    // before.
    erica.on_forward(1, &forward(300.0));
    erica.on_interval(&measured(&[540, 300, 150], 0, 0));
    assert_eq!(backward(&mut erica, 1, 1e9), 600.0);
    // Above it shares count: 600 x 900 / 1 200 = 450, 300 x 0.75 = 225 gives way to 300.
    erica.on_interval(&measured(&[600, 300, 300], 0, 0));
    assert_eq!(backward(&mut erica, 0, 1e9), 450.0);
    assert_eq!(backward(&mut erica, 1, 1e9), 300.0);
}

#[test]
fn a_vc_has_one_feedback_in_an_interval_and_no_cell_rises() {
    let mut erica = erica(CcrFrom::RmCell, 2);
    erica.on_forward(0, &forward(800.0));
    erica.on_interval(&measured(&[800, 800], 0, 0)); // z = 16 / 9
    assert_eq!(backward(&mut erica, 0, 1e9), 450.0);
    erica.on_forward(0, &forward(1_600.0)); // would be told 900
    assert_eq!(backward(&mut erica, 0, 1e9), 450.0);
    assert_eq!(backward(&mut erica, 0, 20.0), 20.0);
    assert_eq!(backward(&mut erica, 0, 1e9), 450.0);
    erica.on_interval(&measured(&[800, 800], 0, 0));
    assert_eq!(backward(&mut erica, 0, 1e9), 900.0);
}

#[test]
fn what_others_use_is_taken_from_the_target_and_silent_vcs_from_the_count() {
    let mut erica = erica(CcrFrom::Measured, 4);
    // 900 - 300 = 600 for two VCs that send.
    erica.on_interval(&measured(&[500, 0, 100, 0], 300, 0));
    assert_eq!(erica.state().target, 600.0);
    assert_eq!(erica.state().fair_share, 300.0);
    // Measured rates: 500 / 1 and 100 / 1. The most allocated before is 225, of the start.
    assert_eq!(backward(&mut erica, 0, 1e9), 500.0);
    assert_eq!(backward(&mut erica, 2, 1e9), 300.0);
    // Others take more than all: no share is left.
    erica.on_interval(&measured(&[500, 0, 100, 0], 950, 0));
    assert_eq!(backward(&mut erica, 0, 1e9), 0.0);
    // Nothing came: the fair share is all there is, for one.
    erica.on_interval(&measured(&[0; 4], 0, 0));
    assert_eq!(erica.state().fair_share, 900.0);
    assert_eq!(backward(&mut erica, 0, 1e9), 900.0);
}

#[test]
fn a_source_that_lies_about_its_rate_gains_by_it_unless_rates_are_measured() {
    // The pseudo-code's option to measure rates: CCR need not be the rate at which cells come.
    // Both send 900, and VC 0 says 100: with z = 2 it is told less than VC 1, and both are held to one
    // share where the switch measures.
    for (ccr_from, expected) in [
        (CcrFrom::RmCell, [450.0, 900.0]),
        (CcrFrom::Measured, [450.0, 450.0]),
    ] {
        let mut erica = erica(ccr_from, 2);
        erica.on_forward(0, &forward(450.0));
        erica.on_forward(1, &forward(1_800.0));
        erica.on_interval(&measured(&[900, 900], 0, 0));
        assert_eq!([0, 1].map(|vc| backward(&mut erica, vc, 1e9)), expected);
    }
}

#[test]
fn the_port_ends_an_interval_by_cells_or_by_time() {
    let spec = RateAlgorithmSpec::Erica(EricaSpec {
        target_utilization: 0.9,
        interval_ps: 1_000_000_000_000,
        interval_cells: 4,
        delta: 0.1,
        ccr_from: CcrFrom::RmCell,
        becn_millicells: 0,
    });
    let vc = VcShare {
        pcr: 1_000.0,
        mcr: 0.0,
        weight: 1.0,
    };
    let mut port = RateControl::new(&spec, 1_000_000_000, &[vc, vc]);
    assert_eq!(port.due(), SimTime::from_millis(1_000));
    // Four cells in 4 ms: 1 000 cells/s, z = 1 000 / 900, and the next interval ends at 1.004 s.
    for ms in 1..=4 {
        port.on_cell(SimTime::from_millis(ms), (ms % 2) as usize, None, 0);
    }
    assert_eq!(port.state().overload, 1_000.0 / 900.0);
    assert_eq!(port.due(), SimTime::from_millis(1_004));
    port.on_time(SimTime::from_millis(1_003), 0);
    assert_eq!(port.due(), SimTime::from_millis(1_004));
    // By time: 1 cell in 1 s.
    port.on_cell(SimTime::from_millis(500), 0, None, 0);
    port.on_time(SimTime::from_millis(1_004), 0);
    assert_eq!(port.state().overload, 1.0 / 900.0);
    assert_eq!(port.due(), SimTime::from_millis(2_004));
}
