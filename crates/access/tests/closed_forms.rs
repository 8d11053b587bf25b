//! Protocols of contention against what is known of them: every burst has a terminal of its own (the infinite population of
//! the sources), arrivals are Poisson.

use skycell_access::{
    AlohaBackoff, Contender, Contention, Feedback, SlottedAloha, SlottedAlohaSpec, Splitting,
    SplittingSpec, Tree, TreeSpec,
};
use skycell_des::Stream;
use skycell_units::SimTime;
use std::collections::VecDeque;

/// Length of a slot, picoseconds.
const SLOT: u64 = 1_000_000;

#[derive(Default)]
struct Seen {
    slots: u64,
    successes: u64,
    attempts: u64,
    /// Contenders, and those who wait for what was heard, at half time and at the end.
    backlog: [u64; 2],
    /// From arrival to the beginning of the successful slot, slots, in sum.
    delay: f64,
}

impl Seen {
    fn throughput(&self) -> f64 {
        self.successes as f64 / self.slots as f64
    }

    fn drift(&self) -> f64 {
        (self.backlog[1] as f64 - self.backlog[0] as f64) / (self.slots as f64 / 2.0)
    }
}

/// Runs a protocol over `slots` slots with `load` arrivals in each. The feedback of a slot comes
/// `lag` slots after its end; part `noise` of the idle slots is heard as collisions.
fn drive(contention: &mut dyn Contention, load: f64, slots: u64, lag: u64, noise: f64) -> Seen {
    let mut draws = Stream::new(7, "arrivals");
    let mut errors = Stream::new(7, "errors");
    let mut next_arrival = 0.0;
    let mut contenders: Vec<Contender> = Vec::new();
    let mut known: VecDeque<(u64, Feedback, Vec<Contender>)> = VecDeque::new();
    let mut arrivals = 0;
    let mut seen = Seen {
        slots,
        ..Seen::default()
    };
    for slot in 0..slots {
        let now = SimTime(slot * SLOT);
        while known.front().is_some_and(|first| first.0 + 1 + lag <= slot) {
            let (slot, feedback, sent) = known.pop_front().unwrap();
            let ids: Vec<u32> = sent.iter().map(|own| own.terminal).collect();
            contention.on_feedback(slot, feedback, &ids);
            if feedback == Feedback::Collision {
                for own in sent {
                    let index = contenders.partition_point(|c| c.terminal < own.terminal);
                    contenders.insert(index, own);
                }
            }
        }
        while next_arrival < slot as f64 {
            contenders.push(Contender {
                terminal: arrivals,
                since: SimTime((next_arrival * SLOT as f64) as u64),
            });
            arrivals += 1;
            next_arrival -= libm::log(draws.unit()) / load;
        }
        let mut senders = Vec::new();
        contention.choose(now, slot, &contenders, &mut senders);
        let sent: Vec<Contender> = contenders
            .extract_if(.., |own| senders.binary_search(&own.terminal).is_ok())
            .collect();
        assert_eq!(sent.len(), senders.len());
        seen.attempts += senders.len() as u64;
        let feedback = match senders.len() {
            0 if noise > 0.0 && errors.unit() <= noise => Feedback::Collision,
            0 => Feedback::Idle,
            1 => Feedback::Success,
            _ => Feedback::Collision,
        };
        if feedback == Feedback::Success {
            seen.successes += 1;
            seen.delay += (now.0 - sent[0].since.0) as f64 / SLOT as f64;
        }
        known.push_back((slot, feedback, sent));
        if slot == slots / 2 || slot + 1 == slots {
            let under_way = known.iter().filter(|own| own.1 == Feedback::Collision);
            let backlog = contenders.len() + under_way.map(|own| own.2.len()).sum::<usize>();
            seen.backlog[usize::from(slot + 1 == slots)] = backlog as u64;
        }
    }
    seen
}

fn aloha(backoff: AlohaBackoff) -> SlottedAloha {
    let spec = SlottedAlohaSpec {
        backoff,
        probability: 0.05,
        max_exponent: 10,
        arrivals: 1.0 / std::f64::consts::E,
    };
    SlottedAloha::new(&spec, Stream::new(7, "contention"))
}

fn tree(window_slots: f64, skips_certain_collisions: bool, trees: u32) -> Tree {
    let spec = TreeSpec {
        window_ps: (window_slots * SLOT as f64) as u64,
        skips_certain_collisions,
    };
    Tree::new(&spec, trees, Stream::new(7, "contention"))
}

fn splitting(window_slots: f64, resolutions: u32) -> Splitting {
    let window_ps = (window_slots * SLOT as f64) as u64;
    Splitting::new(&SplittingSpec { window_ps }, resolutions)
}

/// Slots that a tree takes in the mean that n bursts enter, by n: 1 for none or one; else one for the collision and those
/// of two halves, with a certain collision left out after an idle first half if it is skipped (Massey 1981).
fn tree_slots(most: usize, skips: bool) -> Vec<f64> {
    let mut slots = vec![1.0, 1.0];
    for n in 2..=most {
        // Binomial probabilities of n fair coins; both halves of size n on the left side.
        let mut part = libm::exp2(-(n as f64));
        let mut sum = 1.0 - if skips { part } else { 0.0 };
        let whole = 2.0 * part;
        for (i, own) in slots.iter().enumerate() {
            sum += 2.0 * part * own;
            part *= (n - i) as f64 / (i + 1) as f64;
        }
        slots.push(sum / (1.0 - whole));
    }
    slots
}

/// Largest throughput of trees that a Poisson number of bursts enters, over its mean, and the mean of which it is had.
fn tree_capacity(skips: bool) -> (f64, f64) {
    let slots = tree_slots(40, skips);
    let of = |mean: f64| {
        let mut part = libm::exp(-mean);
        let mut length = 0.0;
        for (n, own) in slots.iter().enumerate() {
            length += part * own;
            part *= mean / (n + 1) as f64;
        }
        mean / length
    };
    (50..300)
        .map(|i| (of(f64::from(i) / 100.0), f64::from(i) / 100.0))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap()
}

#[test]
fn closed_forms_of_trees_are_the_published_ones() {
    // Massey 1981: L(2) = 5 and 4.5; large trees have 0.3466 and 0.375 bursts a slot; windows 0.4295 and 0.4622.
    assert_eq!(tree_slots(2, false)[2], 5.0);
    assert_eq!(tree_slots(2, true)[2], 4.5);
    let (plain, skipping) = (tree_slots(60, false), tree_slots(60, true));
    assert!((60.0 / plain[60] - 0.3466).abs() < 0.003);
    assert!((60.0 / skipping[60] - 0.375).abs() < 0.004);
    let (plain, skipping) = (tree_capacity(false), tree_capacity(true));
    assert!((plain.0 - 0.4295).abs() < 0.0001, "{plain:?}");
    assert!((skipping.0 - 0.4623).abs() < 0.0002, "{skipping:?}");
}

#[test]
fn controlled_aloha_carries_up_to_one_in_e_and_its_backlog_drifts_beyond() {
    for lag in [0, 27] {
        let below = drive(
            &mut aloha(AlohaBackoff::PseudoBayesian),
            0.34,
            200_000,
            lag,
            0.0,
        );
        assert!((below.throughput() - 0.34).abs() < 0.005);
        assert!(below.drift() < 0.002, "{} {lag}", below.drift());
        // Standard error of the success rate: sqrt(0.23 / 4e4) = 0.0024.
        let above = drive(
            &mut aloha(AlohaBackoff::PseudoBayesian),
            0.45,
            40_000,
            lag,
            0.0,
        );
        let most = 1.0 / std::f64::consts::E;
        assert!(
            (above.throughput() - most).abs() < 0.008,
            "{}",
            above.throughput()
        );
        assert!((above.drift() - (0.45 - most)).abs() < 0.015);
    }
}

#[test]
fn uncontrolled_aloha_breaks_down_at_a_load_that_control_carries() {
    // Bertsekas and Gallager 4.2.2: beyond the unstable point the backlog only grows.
    let fixed = drive(&mut aloha(AlohaBackoff::Fixed), 0.34, 20_000, 0, 0.0);
    assert!(fixed.throughput() < 0.05, "{}", fixed.throughput());
    assert!(fixed.drift() > 0.25);
    // At a small load it is hardly ever met, and what is new is sent at once: the wait for the next slot, 1/2, and that
    // after the collision of few.
    let light = drive(&mut aloha(AlohaBackoff::Fixed), 0.05, 100_000, 0, 0.0);
    assert!(light.delay / (light.successes as f64) < 4.0);
}

#[test]
fn a_static_tree_takes_the_slots_of_the_closed_form() {
    for skips in [false, true] {
        let expected = tree_slots(50, skips)[50];
        let mut slots = 0;
        let trees = 400;
        for batch in 0..trees {
            let spec = TreeSpec {
                window_ps: 0,
                skips_certain_collisions: skips,
            };
            let mut own = Tree::new(&spec, 1, Stream::new(batch, "contention"));
            let mut left: Vec<Contender> = (0..50)
                .map(|terminal| Contender {
                    terminal,
                    since: SimTime::ZERO,
                })
                .collect();
            let mut slot = 0;
            while !left.is_empty() {
                let mut senders = Vec::new();
                own.choose(SimTime(slot * SLOT), slot, &left, &mut senders);
                let feedback = match senders[..] {
                    [] => Feedback::Idle,
                    [id] => {
                        left.retain(|own| own.terminal != id);
                        Feedback::Success
                    }
                    _ => Feedback::Collision,
                };
                own.on_feedback(slot, feedback, &senders);
                slot += 1;
            }
            slots += slot;
        }
        // Variance of a tree of n: 3.4 n, so 13 of one and 0.65 of the mean of 400; the last slots after the last
        // success, idle ones, are not counted: 0.5 in the mean.
        let mean = slots as f64 / trees as f64;
        assert!((mean - expected).abs() < 3.0, "{mean} {expected}");
    }
}

#[test]
fn trees_with_windows_carry_what_the_closed_forms_say() {
    for (skips, trees) in [(false, 1), (true, 1), (false, 28)] {
        let (capacity, mean) = tree_capacity(skips);
        // Windows with the best mean at a load beyond capacity: each is full.
        let load = 0.6;
        let mut own = tree(mean / load, skips, trees);
        let seen = drive(&mut own, load, 20_000, u64::from(trees) - 1, 0.0);
        // Standard error about sqrt(0.25 / 2e4) = 0.0035.
        assert!(
            (seen.throughput() - capacity).abs() < 0.011,
            "{}",
            seen.throughput()
        );
        let mut own = tree(mean / 0.4, skips, trees);
        let below = drive(&mut own, 0.4, 200_000, u64::from(trees) - 1, 0.0);
        assert!(below.drift() < 0.002, "{}", below.drift());
    }
}

#[test]
fn splitting_carries_0_487() {
    for lag in [0, 27] {
        // Bertsekas and Gallager 4.3.2: 0.4871 at 1.266 arrivals in the first interval.
        let mut own = splitting(1.266 / 0.6, lag + 1);
        let seen = drive(&mut own, 0.6, 20_000, lag.into(), 0.0);
        assert!(
            (seen.throughput() - 0.4871).abs() < 0.011,
            "{}",
            seen.throughput()
        );
        // alpha_0 = 2.6 slots at a load just below.
        let mut own = splitting(2.6, lag + 1);
        let below = drive(&mut own, 0.46, 200_000, lag.into(), 0.0);
        assert!(below.drift() < 0.003, "{}", below.drift());
    }
}

#[test]
fn false_collisions_stop_what_skips_and_only_slow_what_does_not() {
    // Massey 1981, Bertsekas and Gallager 4.3.2: an idle slot heard as a collision makes an empty interval split without
    // end, as its first half is idle and the second must then collide.
    let of = |own: &mut dyn Contention| drive(own, 0.25, 20_000, 0, 0.01).throughput();
    assert!((of(&mut aloha(AlohaBackoff::PseudoBayesian)) - 0.25).abs() < 0.01);
    assert!((of(&mut tree(2.6, false, 1)) - 0.25).abs() < 0.01);
    assert!(of(&mut tree(2.6, true, 1)) < 0.02);
    assert!(of(&mut splitting(2.6, 1)) < 0.02);
}
