//! Whole loops, step by step: sources, a port and destinations, without delay or queue in between.

use crate::source::tests::spec;
use crate::spec::AbrSpec;
use crate::switch::specs::{
    CcrFrom, EricaPlusSpec, QueueControlSpec, QueueCurve, RateAlgorithmSpec, WeightedEricaPlusSpec,
};
use crate::switch::{RateControl, VcShare};
use crate::{Destination, NextCell, Sent, Source, Waiting};
use proptest::prelude::*;
use skycell_units::SimTime;

const DATA: Waiting = Waiting {
    data: true,
    backward: false,
};

/// Greedy sources that send over one port of `link` cells a second into a fluid queue; the rates over
/// the second half of `seconds`.
fn rates(specs: &[AbrSpec], algorithm: &RateAlgorithmSpec, link: f64, seconds: u64) -> Vec<f64> {
    let shares: Vec<_> = specs.iter().map(VcShare::of).collect();
    let mut port = RateControl::new(algorithm, (1e12 / link) as u64, &shares);
    let mut sources: Vec<_> = specs.iter().map(Source::new).collect();
    let mut destinations: Vec<_> = specs.iter().map(Destination::new).collect();
    let end = SimTime(seconds * SimTime::PER_SECOND);
    let (mut now, mut queue) = (SimTime::ZERO, 0.0f64);
    let mut late = vec![0u64; specs.len()];
    while now < end {
        let nexts = sources
            .iter()
            .enumerate()
            .filter_map(|(vc, source)| source.next(now, DATA).map(|(at, kind)| (at, vc, kind)));
        let (at, vc, kind): (SimTime, usize, NextCell) =
            nexts.min_by_key(|next| (next.0, next.1)).expect("greedy");
        let at = if port.due() < at { port.due() } else { at };
        queue = (queue - (at - now).as_secs_f64() * link).max(0.0);
        now = at;
        if port.due() <= now {
            port.on_time(now, queue as u32);
            continue;
        }
        let sent = sources[vc].send(now, kind);
        late[vc] += u64::from(now.0 > end.0 / 2);
        let forward = match sent {
            Sent::Forward(cell) => Some(cell),
            _ => None,
        };
        port.on_cell(now, vc, forward.as_ref(), queue as u32);
        queue += 1.0;
        if let Some(cell) = forward {
            destinations[vc].on_forward(&cell);
            let mut back = destinations[vc].send(false);
            port.on_backward(vc, &mut back);
            sources[vc].on_backward(&back);
        }
    }
    let half = seconds as f64 / 2.0;
    late.iter().map(|&cells| cells as f64 / half).collect()
}

fn queue() -> QueueControlSpec {
    QueueControlSpec {
        curve: QueueCurve::Hyperbolic,
        target_ps: 20_000_000_000,
        upper_ps: 40_000_000_000,
        a: 1.15,
        b: 1.05,
        slope: 0.0625,
        step: 0.05,
        drain_limit: 0.5,
    }
}

fn vc(pcr: u64, mcr: u64, weight: f64) -> AbrSpec {
    AbrSpec {
        pcr_millicells: pcr * 1_000,
        mcr_millicells: mcr * 1_000,
        icr_millicells: mcr.max(10) * 1_000,
        destination_millicells: pcr * 1_000,
        rif: 1.0,
        weight,
        ..spec()
    }
}

#[test]
fn greedy_sources_under_erica_plus_come_to_equal_parts_of_the_link() {
    let algorithm = RateAlgorithmSpec::EricaPlus(EricaPlusSpec {
        queue: queue(),
        interval_ps: 20_000_000_000,
        interval_cells: 1_000,
        delta: 0.1,
        ccr_from: CcrFrom::RmCell,
        becn_millicells: 0,
    });
    let specs = [
        vc(10_000, 0, 1.0),
        vc(10_000, 0, 1.0),
        vc(500, 0, 1.0),
        vc(10_000, 0, 1.0),
    ];
    let rates = rates(&specs, &algorithm, 10_000.0, 20);
    // One is held to 500 by its PCR: (10 000 - 500) / 3 for each of the others.
    for (rate, expected) in rates
        .iter()
        .zip([9_500.0 / 3.0, 9_500.0 / 3.0, 500.0, 9_500.0 / 3.0])
    {
        assert!((rate / expected - 1.0).abs() < 0.01, "{rates:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Weighted shares: MCR and of the rest a part by weight, whatever the MCRs and weights.
    #[test]
    fn weighted_shares_come_to_mcr_and_a_part_by_weight(
        vcs in prop::collection::vec((0u64..1_000, 1u32..5), 2..6),
    ) {
        let algorithm = RateAlgorithmSpec::WeightedEricaPlus(WeightedEricaPlusSpec {
            queue: queue(),
            interval_ps: 100_000_000_000,
            interval_cells: 1_000,
            ccr_from: CcrFrom::RmCell,
        becn_millicells: 0,
        });
        let specs: Vec<_> = vcs.iter().map(|&(mcr, w)| vc(10_000, mcr, f64::from(w))).collect();
        let excess = 10_000.0 - vcs.iter().map(|vc| vc.0 as f64).sum::<f64>();
        let weights: f64 = vcs.iter().map(|vc| f64::from(vc.1)).sum();
        let found = rates(&specs, &algorithm, 10_000.0, 20);
        for (&(mcr, w), rate) in vcs.iter().zip(&found) {
            let due = mcr as f64 + excess * f64::from(w) / weights;
            prop_assert!((rate / due - 1.0).abs() < 0.01, "{vcs:?}: {found:?}");
        }
    }
}
