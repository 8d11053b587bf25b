//! Whole uplinks: frames, requests, grants and contention of terminals with queues.

use proptest::prelude::*;
use skycell_access::{
    AccessImpairments, AccessSpec, AlohaBackoff, DamaSpec, FixedAssignmentSpec, HybridSpec,
    RequestCategory, SlottedAlohaSpec, SplittingSpec, TreeSpec, Uplink, UplinkSpec, Waiting,
};
use skycell_des::Stream;
use skycell_units::SimTime;
use std::collections::VecDeque;

const SLOT: u64 = 1_000_000;
const ARRIVALS: f64 = 0.367_879_441_171_442_33;

fn uplink(access: AccessSpec, terminals: u32, feedback: u64, response: u64) -> UplinkSpec {
    UplinkSpec {
        name: "up".into(),
        links: (0..terminals).collect(),
        slot_ps: SLOT,
        slot_cells: 1,
        feedback_ps: feedback * SLOT,
        response_ps: response * SLOT,
        access,
        impairments: AccessImpairments::default(),
    }
}

fn dama(request: RequestCategory) -> DamaSpec {
    DamaSpec {
        frame_slots: 20,
        request_slots: 2,
        requests_per_slot: 5,
        request,
        constant_slots: 0,
        rate_timeout: 4,
        free_capacity: false,
    }
}

/// The view of an uplink's terminals: cells with the time of their arrival, and the cells that got
/// through.
struct Run {
    uplink: Uplink,
    queues: Vec<VecDeque<SimTime>>,
    arrived: Vec<u64>,
    /// By terminal: true while its link has no path.
    is_cut_off: Vec<bool>,
    /// Terminal, arrival and beginning of the slot of each cell that was sent.
    sent: Vec<(u32, SimTime, SimTime)>,
}

impl Run {
    fn new(spec: &UplinkSpec, slots: u64) -> Self {
        Run {
            uplink: Uplink::new(spec, 1, SimTime(slots * SLOT)),
            queues: vec![VecDeque::new(); spec.links.len()],
            arrived: vec![0; spec.links.len()],
            is_cut_off: vec![false; spec.links.len()],
            sent: Vec::new(),
        }
    }

    fn arrive(&mut self, terminal: usize, at: SimTime, cells: u32) {
        self.queues[terminal].extend((0..cells).map(|_| at));
        self.arrived[terminal] += u64::from(cells);
    }

    fn slot(&mut self) {
        let now = self.uplink.next_slot();
        let queues = self.queues.iter().zip(&self.arrived);
        let terminals = queues.zip(&self.is_cut_off);
        let waiting = terminals.map(|((queue, &arrived), &is_cut_off)| Waiting {
            cells: queue.len() as u32,
            since: queue.front().copied().unwrap_or(SimTime::ZERO),
            arrived,
            is_cut_off,
        });
        let waiting: Vec<_> = waiting.collect();
        let backlog = waiting.iter().map(|own| u64::from(own.cells)).sum();
        let of = |id: u32| waiting[id as usize];
        if let Some(sent) = self.uplink.on_slot(now, backlog, of) {
            for _ in 0..sent.cells {
                let queue = &mut self.queues[sent.terminal as usize];
                let since = queue.pop_front().expect("only what waits is sent");
                self.sent.push((sent.terminal, since, now));
            }
        }
    }

    /// Messages of `cells` cells with `load` cells a slot in all, Poisson, at terminals drawn alike.
    fn drive(&mut self, load: f64, cells: u32, slots: u64) {
        let mut draws = Stream::new(3, "arrivals");
        let terminals = self.queues.len() as u64;
        let mut next = 0.0;
        for slot in 0..slots {
            while next <= slot as f64 {
                let terminal = draws.uniform(0, terminals) as usize;
                self.arrive(terminal, SimTime((next * SLOT as f64) as u64), cells);
                next -= libm::log(draws.unit()) * f64::from(cells) / load;
            }
            self.slot();
        }
    }
}

#[test]
fn fixed_slots_come_round_once_a_frame() {
    let access = AccessSpec::FixedAssignment(FixedAssignmentSpec { constant_slots: 1 });
    let mut run = Run::new(&uplink(access, 5, 27, 54), 100);
    run.arrive(3, SimTime(0), 3);
    (0..20).for_each(|_| run.slot());
    let slots: Vec<u64> = run.sent.iter().map(|own| own.2.0 / SLOT).collect();
    assert_eq!(slots, [3, 8, 13]);
    assert_eq!(
        (run.uplink.counts().used, run.uplink.counts().unused),
        (3, 17)
    );
}

#[test]
fn a_terminal_without_a_path_leaves_its_slots_unused() {
    let access = AccessSpec::FixedAssignment(FixedAssignmentSpec { constant_slots: 1 });
    let mut run = Run::new(&uplink(access, 5, 27, 54), 100);
    run.arrive(3, SimTime(0), 2);
    // Slots 3, 8, 13 and 18 are its own; there is no path in slots 0 to 9.
    for slot in 0..20 {
        run.is_cut_off[3] = slot < 10;
        run.slot();
    }
    let slots: Vec<u64> = run.sent.iter().map(|own| own.2.0 / SLOT).collect();
    assert_eq!(slots, [13, 18]);
    assert_eq!(
        (run.uplink.counts().used, run.uplink.counts().unused),
        (2, 18)
    );
}

#[test]
fn a_terminal_without_a_path_asks_when_its_turn_comes_again() {
    for category in [
        RequestCategory::Rate,
        RequestCategory::Volume,
        RequestCategory::AbsoluteVolume,
    ] {
        let mut run = Run::new(&uplink(AccessSpec::Dama(dama(category)), 10, 27, 54), 400);
        run.arrive(7, SimTime(0), 1);
        // Its turn is in slot 1, without a path, and in slot 21: asked by 22, granted from 76, so in the frame at 80
        // behind two slots of requests.
        for slot in 0..100 {
            run.is_cut_off[7] = slot < 10;
            run.slot();
        }
        let slots: Vec<u64> = run.sent.iter().map(|own| own.2.0 / SLOT).collect();
        assert_eq!(slots, [82], "{category:?}");
    }
}

#[test]
fn a_terminal_without_a_path_does_not_contend() {
    let access = AccessSpec::SlottedAloha(SlottedAlohaSpec {
        backoff: AlohaBackoff::Fixed,
        probability: 1.0,
        max_exponent: 0,
        arrivals: 0.37,
    });
    let mut run = Run::new(&uplink(access, 2, 3, 6), 100);
    // Both would collide for ever; one waits for its path.
    run.arrive(0, SimTime(0), 1);
    run.arrive(1, SimTime(0), 1);
    for slot in 0..10 {
        run.is_cut_off[1] = slot < 5;
        run.slot();
    }
    let sent: Vec<_> = run.sent.iter().map(|own| (own.0, own.2.0 / SLOT)).collect();
    assert_eq!(sent, [(0, 0), (1, 5)]);
    assert_eq!(run.uplink.counts().collisions, 0);
}

#[test]
fn what_came_without_a_path_contends_when_it_is_back() {
    // Intervals of time from 0 on are served while nobody sends; a cell that came at 0 joins those of the time at which
    // its terminal has a path again.
    for access in [
        AccessSpec::Splitting(SplittingSpec { window_ps: SLOT }),
        AccessSpec::Tree(TreeSpec {
            window_ps: SLOT,
            skips_certain_collisions: true,
        }),
    ] {
        let mut run = Run::new(&uplink(access, 2, 0, 0), 100);
        run.arrive(0, SimTime(0), 1);
        for slot in 0..40 {
            run.is_cut_off[0] = slot < 17;
            run.slot();
        }
        let slots: Vec<u64> = run.sent.iter().map(|own| own.2.0 / SLOT).collect();
        assert_eq!(slots.len(), 1, "{access:?}");
        assert!((17..20).contains(&slots[0]), "{access:?} {slots:?}");
    }
}

#[test]
fn the_delay_of_fixed_slots_is_that_of_tdma() {
    // Each terminal is an M/D/1 queue with a service time of a frame of 10 slots, which begins at its slot: half a frame,
    // and r / (2 (1 - r)) frames at a load of r (Bertsekas and Gallager, section 3.5.1).
    let access = AccessSpec::FixedAssignment(FixedAssignmentSpec { constant_slots: 1 });
    let mut run = Run::new(&uplink(access, 10, 27, 54), 400_000);
    run.drive(0.6, 1, 400_000);
    let sum: f64 = run
        .sent
        .iter()
        .map(|(_, since, at)| (at.0 - since.0) as f64)
        .sum();
    let mean = sum / run.sent.len() as f64 / SLOT as f64;
    let expected = 5.0 + 10.0 * 0.6 / (2.0 * 0.4);
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} {expected}");
}

#[test]
fn a_message_over_dama_waits_for_its_request_the_response_and_the_frame() {
    let access = AccessSpec::Dama(dama(RequestCategory::Volume));
    let mut run = Run::new(&uplink(access, 10, 27, 54), 400);
    run.arrive(7, SimTime(0), 3);
    (0..400).for_each(|_| run.slot());
    // Terminals 5 to 9 ask in the second slot of each frame: it ends at 2, the grants hold from 56, the next frame begins
    // at 60 with two slots of requests. What arrives then asks at 62 and is granted at 120.
    let slots: Vec<u64> = run.sent.iter().map(|own| own.2.0 / SLOT).collect();
    assert_eq!(slots, [62, 63, 64]);
    let counts = run.uplink.counts();
    assert_eq!(
        (counts.requests, counts.requested, counts.unused),
        (1, 3, 0)
    );
    assert_eq!(
        (counts.request_slots, counts.used, counts.unassigned),
        (40, 3, 357)
    );
}

#[test]
fn a_controller_on_board_halves_the_response() {
    let first = |response| {
        let access = AccessSpec::Dama(dama(RequestCategory::Volume));
        let mut run = Run::new(&uplink(access, 10, 27, response), 4_000);
        run.arrive(0, SimTime(0), 1);
        (0..4_000).for_each(|_| run.slot());
        run.sent[0].2.0 / SLOT
    };
    // The request ends at 1; the next frame begins at 2 480 + 20 or 1 240 + 20 with slots of requests.
    assert_eq!((first(2_478), first(1_239)), (2_482, 1_242));
}

#[test]
fn what_is_asked_for_twice_is_granted_twice() {
    let of = |request| {
        let mut run = Run::new(&uplink(AccessSpec::Dama(dama(request)), 10, 27, 54), 40_000);
        run.drive(0.3, 5, 40_000);
        run.uplink.counts().unused as f64 / run.uplink.counts().used as f64
    };
    // VBDC asks once for each cell; AVBDC asks for it in each frame until it is granted, 3 frames later.
    assert_eq!(of(RequestCategory::Volume), 0.0);
    assert!(of(RequestCategory::AbsoluteVolume) > 0.5);
}

#[test]
fn reservation_aloha_carries_what_its_closed_form_says() {
    // Bertsekas and Gallager 4.5.3: a message of L bursts takes e slots of contention in the mean, the last of them its
    // first burst, and L - 1 slots of its own: L / (L - 1 + e).
    for cells in [1, 2, 4, 8] {
        let access = AccessSpec::Hybrid(HybridSpec {
            frame_slots: 40,
            contention_slots: 1,
            arrivals: ARRIVALS,
        });
        let terminals = 2_000;
        let slots = 40_000;
        let mut run = Run::new(&uplink(access, terminals, 0, 0), slots);
        let expected = f64::from(cells) / (f64::from(cells - 1) + std::f64::consts::E);
        run.drive(0.97 * expected, cells, slots);
        let below = run.uplink.counts().cells as f64 / slots as f64;
        // All of it is carried just below that.
        assert!(
            (below / expected - 0.97).abs() < 0.04,
            "{cells} {below} {expected}"
        );
    }
}

fn any_access() -> impl Strategy<Value = AccessSpec> {
    let backoff = prop_oneof![
        Just(AlohaBackoff::BinaryExponential),
        Just(AlohaBackoff::PseudoBayesian)
    ];
    let request = prop_oneof![
        Just(RequestCategory::Rate),
        Just(RequestCategory::Volume),
        Just(RequestCategory::AbsoluteVolume)
    ];
    prop_oneof![
        backoff.prop_map(|backoff| AccessSpec::SlottedAloha(SlottedAlohaSpec {
            backoff,
            probability: 0.1,
            max_exponent: 8,
            arrivals: ARRIVALS,
        })),
        (0u64..8, any::<bool>()).prop_map(|(window, skips)| AccessSpec::Tree(TreeSpec {
            window_ps: window * SLOT,
            skips_certain_collisions: skips,
        })),
        (1u64..8).prop_map(|window| AccessSpec::Splitting(SplittingSpec {
            window_ps: window * SLOT,
        })),
        (1u32..3).prop_map(
            |constant_slots| AccessSpec::FixedAssignment(FixedAssignmentSpec { constant_slots })
        ),
        (request, any::<bool>()).prop_map(|(request, free_capacity)| AccessSpec::Dama(DamaSpec {
            free_capacity,
            ..dama(request)
        })),
        (1u32..5).prop_map(|contention_slots| AccessSpec::Hybrid(HybridSpec {
            frame_slots: 20,
            contention_slots,
            arrivals: ARRIVALS,
        })),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn every_cell_gets_through_and_every_slot_is_counted_once(
        access in any_access(),
        terminals in 1u32..8,
        slot_cells in 1u32..5,
        lag in 0u64..30,
        errors in prop_oneof![Just(0.0), Just(0.1)],
        outages in prop::collection::vec((0u64..300, 0u64..200), 0..8),
        arrivals in prop::collection::vec((0u64..300, 0usize..8, 1u32..20), 0..20),
    ) {
        // False collisions stop some protocols, which is tested elsewhere, and so do terminals that have lost their paths
        // since their collision; lost bursts do not.
        let may_stop = match &access {
            AccessSpec::Splitting(_) => true,
            AccessSpec::Tree(tree) => tree.skips_certain_collisions,
            _ => false,
        };
        let mut spec = uplink(access, terminals, lag, 2 * lag);
        spec.slot_cells = slot_cells;
        spec.impairments.burst_errors = errors;
        let slots = 60_000;
        let mut run = Run::new(&spec, slots);
        let mut left = arrivals.clone();
        left.sort_unstable();
        for slot in 0..slots {
            while left.first().is_some_and(|own| own.0 <= slot) {
                let (at, terminal, cells) = left.remove(0);
                run.arrive(terminal % terminals as usize, SimTime(at * SLOT), cells);
            }
            for (own, &(from, length)) in run.is_cut_off.iter_mut().zip(&outages) {
                *own = !may_stop && (from..from + length).contains(&slot);
            }
            run.slot();
            if left.is_empty() && run.queues.iter().all(VecDeque::is_empty) {
                break;
            }
        }
        let cells: u64 = arrivals.iter().map(|own| u64::from(own.2)).sum();
        prop_assert_eq!(run.sent.len() as u64, cells);
        let counts = run.uplink.counts();
        prop_assert_eq!(counts.cells, cells);
        let kinds = [counts.idle, counts.successes, counts.collisions, counts.false_collisions];
        let own = [counts.used, counts.unused, counts.unassigned, counts.request_slots];
        prop_assert_eq!(kinds.iter().sum::<u64>() + own.iter().sum::<u64>(), counts.slots);
        prop_assert!(run.sent.iter().all(|(_, since, at)| since <= at));
    }
}
