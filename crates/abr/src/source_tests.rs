//! The source by hand: each test names the source behaviours of af-tm-0056 that it holds.

use super::*;
use proptest::prelude::*;

/// PCR 1 000 cells/s, MCR 10, ICR 100; the rest as TM 4.0 has it.
pub(crate) fn spec() -> AbrSpec {
    AbrSpec {
        return_vc: 0,
        pcr_millicells: 1_000_000,
        mcr_millicells: 10_000,
        icr_millicells: 100_000,
        tbe_cells: 16_777_215,
        frtt_ps: 0,
        nrm: 32,
        mrm: 2,
        trm_ps: 100_000_000_000,
        rif: 0.0625,
        rdf: 0.0625,
        cdf: 0.0625,
        adtf_ps: 500_000_000_000,
        tcr_millicells: 10_000,
        use_it_or_lose_it: false,
        turns_out_of_rate: false,
        destination_millicells: 1_000_000,
        weight: 1.0,
    }
}

const DATA: Waiting = Waiting {
    data: true,
    backward: false,
};
const BACKWARD: Waiting = Waiting {
    data: false,
    backward: true,
};
const BOTH: Waiting = Waiting {
    data: true,
    backward: true,
};
const NOTHING: Waiting = Waiting {
    data: false,
    backward: false,
};

fn ms(ms: u64) -> SimTime {
    SimTime::from_millis(ms)
}

/// A backward RM cell with this ER.
fn backward(er: f64) -> RmCell {
    RmCell {
        is_backward: true,
        is_becn: false,
        ci: false,
        ni: true,
        is_out_of_rate: false,
        ccr: 0.0,
        er,
        mcr: 10.0,
    }
}

/// Sends the next cell at its time, not before `now`; when it was and what.
fn step(source: &mut Source, now: SimTime, waiting: Waiting) -> (SimTime, Sent) {
    let (at, kind) = source.next(now, waiting).expect("a cell is next");
    (at, source.send(at, kind))
}

/// The next `count` cells while the same always waits: F forward, B backward, D data, small letters for
/// cells beside the rate.
fn sequence(source: &mut Source, mut now: SimTime, waiting: Waiting, count: usize) -> String {
    (0..count)
        .map(|_| {
            let (at, sent) = step(source, now, waiting);
            now = at;
            match sent {
                Sent::Forward(cell) if cell.is_out_of_rate => 'f',
                Sent::Forward(_) => 'F',
                Sent::Backward {
                    is_out_of_rate: true,
                } => 'b',
                Sent::Backward { .. } => 'B',
                Sent::Data => 'D',
            }
        })
        .collect()
}

#[test]
fn behaviour_1_and_2_begin_at_icr_with_a_forward_cell_and_keep_1_by_acr_apart() {
    let mut source = Source::new(&spec());
    assert_eq!(source.acr(), 100.0);
    assert_eq!(source.next(ms(7), NOTHING), None);
    let (at, sent) = step(&mut source, ms(7), DATA);
    assert_eq!(at, ms(7));
    let Sent::Forward(cell) = sent else {
        panic!("a forward cell is first")
    };
    // 10: its fields.
    let fields = (cell.is_backward, cell.is_becn, cell.ci, cell.ni);
    assert_eq!(fields, (false, false, false, false));
    assert_eq!((cell.ccr, cell.er, cell.mcr), (100.0, 1_000.0, 10.0));
    assert!(!cell.is_out_of_rate); // 4
    assert_eq!(source.next(ms(8), DATA), Some((ms(17), NextCell::Data)));
    // The rate of now counts, not that of the last cell.
    source.on_backward(&backward(50.0));
    assert_eq!(source.next(ms(8), DATA), Some((ms(27), NextCell::Data)));
    assert_eq!(source.next(ms(30), DATA), Some((ms(30), NextCell::Data)));
}

#[test]
fn behaviour_1_icr_is_held_by_what_may_be_on_its_way() {
    let mut limited = spec();
    (limited.tbe_cells, limited.frtt_ps) = (32, 500_000_000_000);
    assert_eq!(Source::new(&limited).acr(), 64.0); // TBE / FRTT
    limited.frtt_ps = 100_000_000_000_000;
    assert_eq!(Source::new(&limited).acr(), 10.0); // not below MCR
}

#[test]
fn behaviour_3_a_forward_cell_every_nrm_cells() {
    let mut fast = spec();
    fast.nrm = 8;
    let mut source = Source::new(&fast);
    // At 100 cells/s Trm, 100 ms, is 10 cells: Nrm comes first.
    let sent = sequence(&mut source, ms(0), DATA, 17);
    assert_eq!(sent, "FDDDDDDDFDDDDDDDF");
}

#[test]
fn behaviour_3a_at_a_low_rate_trm_and_mrm_decide() {
    let mut source = Source::new(&spec());
    source.on_backward(&backward(25.0)); // 40 ms
    // 0 F, 40 D, 80 D, 120: two cells and 100 ms.
    assert_eq!(sequence(&mut source, ms(0), DATA, 7), "FDDFDDF");
    source.on_backward(&backward(10.0)); // 100 ms: Trm alone would be each second cell
    assert_eq!(sequence(&mut source, ms(1_000), DATA, 5), "DDFDD");
}

#[test]
fn behaviour_3a_what_was_sent_is_closed_with_a_forward_cell_though_nothing_waits() {
    let mut source = Source::new(&spec());
    assert_eq!(sequence(&mut source, ms(0), DATA, 3), "FDD"); // 0, 10, 20 ms
    assert_eq!(
        source.next(ms(20), NOTHING),
        Some((ms(100), NextCell::Forward))
    );
    source.send(ms(100), NextCell::Forward);
    assert_eq!(source.next(ms(100), NOTHING), None); // Mrm cells are missing
}

#[test]
fn behaviour_3b_backward_cells_go_once_between_forward_ones_or_when_no_data_waits() {
    let mut fast = spec();
    fast.nrm = 4;
    let mut source = Source::new(&fast);
    assert_eq!(sequence(&mut source, ms(0), BOTH, 9), "FBDDFBDDF");
    assert_eq!(sequence(&mut source, ms(80), BACKWARD, 5), "BBBFB");
}

#[test]
fn behaviour_5_after_adtf_the_rate_falls_to_icr() {
    let mut source = Source::new(&spec());
    source.send(ms(0), NextCell::Forward);
    source.on_backward(&backward(1_000.0));
    source.on_backward(&RmCell {
        ni: false,
        ..backward(1_000.0)
    });
    assert_eq!(source.acr(), 162.5); // + RIF x PCR
    source.send(ms(10), NextCell::Data);
    source.send(ms(500), NextCell::Forward); // not more than ADTF
    assert_eq!(source.acr(), 162.5);
    let Sent::Forward(cell) = source.send(ms(1_001), NextCell::Forward) else {
        panic!("a forward cell")
    };
    // 7: the cell says the new rate.
    assert_eq!((source.acr(), cell.ccr), (100.0, 100.0));
}

#[test]
fn behaviour_6_without_feedback_each_forward_cell_lowers_the_rate() {
    let mut limited = spec();
    limited.tbe_cells = 65; // Crm = 65 / 32, rounded up: 3
    let mut source = Source::new(&limited);
    let rates: Vec<_> = (0..5)
        .map(|n| {
            source.send(ms(n), NextCell::Forward);
            source.acr()
        })
        .collect();
    assert_eq!(rates, [100.0, 100.0, 100.0, 93.75, 87.890625]);
    // BN = 1 is no sign of the destination, and CI lowers by RDF.
    source.on_backward(&RmCell {
        is_becn: true,
        ci: true,
        ..backward(1_000.0)
    });
    assert_eq!(source.acr(), 82.3974609375);
    source.send(ms(5), NextCell::Forward);
    assert!(source.acr() < 82.0);
    source.on_backward(&backward(1_000.0));
    let after = source.acr();
    source.send(ms(6), NextCell::Forward);
    assert_eq!(source.acr(), after);
    (0..100).for_each(|n| _ = source.send(ms(7 + n), NextCell::Forward));
    assert_eq!(source.acr(), 10.0); // never below MCR
}

#[test]
fn behaviours_8_and_9_feedback_moves_the_rate_within_its_bounds() {
    let mut source = Source::new(&spec());
    let mut reported = |ci, ni, er| {
        source.on_backward(&RmCell {
            ci,
            ni,
            ..backward(er)
        });
        source.acr()
    };
    assert_eq!(reported(false, false, 1e9), 162.5); // + 1 000 / 16
    assert_eq!(reported(false, true, 1e9), 162.5);
    assert_eq!(reported(true, false, 1e9), 152.34375); // x 15 / 16
    assert_eq!(reported(false, false, 200.0), 200.0); // 214.8 and then at most ER
    assert_eq!(reported(false, true, 300.0), 200.0); // ER does not raise
    assert_eq!(reported(true, true, 150.0), 150.0); // 187.5 and then at most ER
    assert_eq!(reported(false, true, 2.0), 10.0); // MCR
    for _ in 0..20 {
        reported(false, false, 1e9);
    }
    assert_eq!(reported(false, false, 1e9), 1_000.0); // PCR
}

#[test]
fn behaviour_11_below_tcr_cells_go_beside_the_rate() {
    let mut stopped = spec();
    stopped.mcr_millicells = 0;
    let mut source = Source::new(&stopped);
    source.send(ms(0), NextCell::Forward);
    source.on_backward(&backward(0.0));
    assert_eq!(source.acr(), 0.0);
    assert_eq!(source.next(ms(1), NOTHING), None);
    // TCR is 10 cells/s: 100 ms apart. No data.
    assert_eq!(
        source.next(ms(1), DATA),
        Some((ms(100), NextCell::OutOfRateForward))
    );
    assert_eq!(sequence(&mut source, ms(1), DATA, 3), "fff");
    assert_eq!(sequence(&mut source, ms(301), BACKWARD, 1), "b");
    source.on_backward(&backward(100.0));
    assert_eq!(source.acr(), 0.0); // ER alone does not raise
    source.on_backward(&RmCell {
        ni: false,
        ..backward(40.0)
    });
    assert_eq!(source.acr(), 40.0);
    assert_eq!(sequence(&mut source, ms(402), DATA, 2), "DD");
}

#[test]
fn behaviour_13_what_is_not_used_is_lost_down_to_icr() {
    let mut losing = spec();
    losing.use_it_or_lose_it = true;
    losing.nrm = 4;
    let mut source = Source::new(&losing);
    source.on_backward(&RmCell {
        ni: false,
        ..backward(125.0)
    });
    assert_eq!(source.acr(), 125.0); // 8 ms
    sequence(&mut source, ms(0), DATA, 5);
    assert_eq!(source.acr(), 125.0); // used in full
    // The source has little: 4 cells in 36 ms are 111.1 cells/s; then 4 in 100 ms, ICR.
    for (at, expected) in [([40, 50, 60, 68], 111.111), ([80, 100, 120, 168], 100.0)] {
        for at in &at[..3] {
            source.send(ms(*at), NextCell::Data);
        }
        source.send(ms(at[3]), NextCell::Forward);
        assert!((source.acr() - expected).abs() < 1e-3, "{}", source.acr());
    }
}

/// The events of a source.
#[derive(Clone, Copy, Debug)]
enum Event {
    Wait(u64),
    Reported { ci: bool, ni: bool, er: f64 },
    Send(Waiting),
}

fn any_event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0u64..2_000).prop_map(Event::Wait),
        (any::<bool>(), any::<bool>(), 0.0..2_000.0).prop_map(|(ci, ni, er)| Event::Reported {
            ci,
            ni,
            er
        }),
        (any::<bool>(), any::<bool>())
            .prop_map(|(data, backward)| Event::Send(Waiting { data, backward })),
    ]
}

proptest! {
    /// ACR stays between MCR and PCR; cells in the rate are never closer than 1 / ACR; forward cells
    /// are at most Nrm cells apart; what is beside the rate keeps TCR.
    #[test]
    fn whatever_happens_the_source_keeps_its_bounds(
        events in prop::collection::vec(any_event(), 1..200),
        mcr in 0u64..500_000,
        tbe_cells in 1u32..2_000,
        use_it_or_lose_it in any::<bool>(),
    ) {
        let spec = AbrSpec { mcr_millicells: mcr, tbe_cells, use_it_or_lose_it, ..spec() };
        let mut source = Source::new(&spec);
        let mut now = SimTime::ZERO;
        let (mut last_in_rate, mut last_beside) = (None, None);
        let mut since_forward = 0;
        for event in events {
            match event {
                Event::Wait(ms) => now += SimTime::from_millis(ms),
                Event::Reported { ci, ni, er } => source.on_backward(&RmCell { ci, ni, ..backward(er) }),
                Event::Send(waiting) => {
                    let Some((at, kind)) = source.next(now, waiting) else { continue };
                    prop_assert!(at >= now);
                    prop_assert_eq!(source.next(at, waiting).map(|next| next.0), Some(at));
                    now = at;
                    let acr = source.acr();
                    if matches!(kind, NextCell::OutOfRateForward | NextCell::OutOfRateBackward) {
                        if let Some(last) = last_beside.replace(now) {
                            prop_assert!(now - last >= interval(10.0));
                        }
                        source.send(now, kind);
                        continue;
                    }
                    if let Some(last) = last_in_rate.replace(now) {
                        let gap: SimTime = now - last;
                        prop_assert!(gap.0 as f64 * acr >= 1e12 * (1.0 - 1e-12));
                    }
                    let sent = source.send(now, kind);
                    match sent {
                        Sent::Forward(cell) => {
                            prop_assert_eq!(cell.ccr, source.acr());
                            since_forward = 0;
                        }
                        _ => since_forward += 1,
                    }
                    prop_assert!(since_forward < spec.nrm);
                }
            }
            let bounds = mcr as f64 / 1e3..=1_000.0;
            prop_assert!(bounds.contains(&source.acr()), "{}", source.acr());
        }
    }
}
