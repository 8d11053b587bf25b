//! Proportional Integral controller Enhanced.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Interval, PartOfOne},
};
use skycell_des::Stream;

/// Discards or marks packets that come, at random, so that the wait comes to a target.
///
/// See [`Pie`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "dynamic",
    discards = "probabilistic",
    source = "Pan, Natarajan, Baker, White: RFC 8033",
    chosen = "wait measured by time stamps; largest packet so far as mean packet; active from the start",
    needs = "packets",
    label = "PIE"
)]
pub struct PieSpec {
    /// Wait that the controller aims at.
    #[param(
        key = "target",
        default = "15 ms",
        symbol = "QDELAY_REF",
        source = "RFC 8033, section 4.2"
    )]
    pub target_ps: Interval,
    /// Time between updates of the probability.
    #[param(
        key = "update",
        default = "15 ms",
        symbol = "T_UPDATE",
        source = "RFC 8033, section 4.2"
    )]
    pub update_ps: Interval,
    /// How long a burst is let through after a time without congestion.
    #[param(
        key = "burst",
        default = "150 ms",
        symbol = "MAX_BURST",
        source = "RFC 8033, section 4.4"
    )]
    pub burst_ps: Interval,
    /// Probability up to which packets that know ECN are marked, and above which they are discarded.
    #[param(
        default = 0.1,
        symbol = "mark_ecnth",
        source = "RFC 8033, section 5.1: 10 %"
    )]
    pub mark_below: PartOfOne,
}

/// Weight of the wait's distance from the target, per second of it (RFC 8033, section 4.2).
const ALPHA: f64 = 0.125;
/// Weight of the wait's growth since the last update, per second of it (section 4.2).
const BETA: f64 = 1.25;

impl PolicyRule for PieSpec {
    type Policy = Box<Pie>;

    fn policy(&self, draws: &Draws) -> Box<Pie> {
        Box::new(Pie::new(self, draws.stream("pie")))
    }
}

/// PIE at work on a queue.
///
/// Every update, the probability grows by ALPHA (wait - target) + BETA (wait - wait at the update before), less where it
/// is small. Updates fall on multiples of their interval and are made up for before anything else happens at the
/// queue, which nothing changes between: the wait is that of the packet that was sent last, 0 once it left nothing
/// behind.
#[derive(Debug)]
pub struct Pie {
    spec: PieSpec,
    probability: f64,
    /// burst_allowance: what is left of a burst that is let through, picoseconds.
    burst_ps: u64,
    /// current_qdelay, picoseconds.
    wait_ps: u64,
    /// qdelay_old, picoseconds.
    old_wait_ps: u64,
    /// accu_prob: probabilities of the packets since the last discard.
    accumulated: f64,
    /// When the next update is due, picoseconds.
    due_ps: u64,
    /// Largest packet so far, octets.
    max_packet: u32,
    stream: Stream,
}

impl Pie {
    fn new(spec: &PieSpec, stream: Stream) -> Self {
        Pie {
            spec: *spec,
            probability: 0.0,
            burst_ps: spec.burst_ps,
            wait_ps: 0,
            old_wait_ps: 0,
            accumulated: 0.0,
            due_ps: spec.update_ps,
            max_packet: 0,
            stream,
        }
    }

    /// Makes the updates that are due by `now`.
    fn catch_up(&mut self, now_ps: u64) {
        while self.due_ps <= now_ps {
            let before = (self.probability, self.burst_ps, self.old_wait_ps);
            self.update();
            self.due_ps += self.spec.update_ps;
            if before == (self.probability, self.burst_ps, self.old_wait_ps) {
                // So would be all others.
                let others = (now_ps + self.spec.update_ps - self.due_ps) / self.spec.update_ps;
                self.due_ps += others * self.spec.update_ps;
            }
        }
    }

    /// RFC 8033 section 4.2, 5.5 and 4.4: the new probability, and what is left of the allowance.
    fn update(&mut self) {
        let seconds = |ps: u64| ps as f64 * 1e-12;
        let (wait, old) = (seconds(self.wait_ps), seconds(self.old_wait_ps));
        let step = ALPHA * (wait - seconds(self.spec.target_ps)) + BETA * (wait - old);
        let mut step = step / scale(self.probability);
        if self.probability >= 0.1 {
            step = step.min(0.02); // section 5.5
        }
        self.probability += step;
        if self.wait_ps == 0 && self.old_wait_ps == 0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_ps = self.burst_ps.saturating_sub(self.spec.update_ps);
        self.old_wait_ps = self.wait_ps;
    }

    /// Section 4.4, and appendix A, `enqueue`: a packet that comes without congestion gives the allowance back.
    fn renew_allowance(&mut self) {
        if self.probability == 0.0 && self.is_short(self.wait_ps) && self.is_short(self.old_wait_ps)
        {
            self.burst_ps = self.spec.burst_ps;
        }
    }

    fn is_short(&self, wait_ps: u64) -> bool {
        wait_ps < self.spec.target_ps / 2
    }

    /// Section 4.1 and 5.4, `drop_early`: whether a packet that finds `octets` octets is not to be taken in unmarked.
    fn draws_against(&mut self, octets: u64) -> bool {
        let is_safe = self.is_short(self.old_wait_ps) && self.probability < 0.2;
        if self.burst_ps > 0 || is_safe || octets <= 2 * u64::from(self.max_packet) {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < 0.85 {
            return false;
        }
        let is_drawn = self.accumulated >= 8.5 || self.stream.unit() < self.probability;
        if is_drawn {
            self.accumulated = 0.0;
        }
        is_drawn
    }
}

/// Section 4.2: what a step is divided by while the probability is small.
fn scale(probability: f64) -> f64 {
    match probability {
        p if p < 0.000_001 => 2_048.0,
        p if p < 0.000_01 => 512.0,
        p if p < 0.000_1 => 128.0,
        p if p < 0.001 => 32.0,
        p if p < 0.01 => 8.0,
        p if p < 0.1 => 2.0,
        _ => 1.0,
    }
}

impl BufferPolicy for Pie {
    const NEEDS: Needs = Needs::OBSERVED_PACKETS;

    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        self.catch_up(view.now_ps);
        self.renew_allowance();
        self.max_packet = self.max_packet.max(view.packet_octets);
        if !self.draws_against(view.octets) {
            return Decision::Accept;
        }
        match self.probability <= self.spec.mark_below {
            true => view.signal(DiscardReason::Drawn),
            false => Decision::Discard(DiscardReason::Drawn),
        }
    }

    fn on_dequeue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        self.catch_up(view.now_ps);
        self.wait_ps = match view.octets {
            0 => 0,
            _ => view.now_ps - view.came_ps,
        };
        Decision::Accept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_units::Ecn;

    const MS: u64 = 1_000_000_000;

    fn pie() -> Pie {
        let spec = PieSpec {
            target_ps: 15 * MS,
            update_ps: 15 * MS,
            burst_ps: 150 * MS,
            mark_below: 0.1,
        };
        Pie::new(&spec, Stream::new(1, "test"))
    }

    /// A packet of 1000 octets at `now_ps` beside `octets` others; it has waited for `wait_ps` if it is about to be
    /// sent.
    fn packet(now_ps: u64, wait_ps: u64, octets: u64) -> BufferView {
        BufferView {
            now_ps,
            came_ps: now_ps - wait_ps,
            octets,
            packet_octets: 1_000,
            ..BufferView::default()
        }
    }

    /// Packets that come and go every 100 us from `from` until `end`, all after `wait`; when the first of them was
    /// discarded.
    fn first_discard(pie: &mut Pie, from: u64, end: u64, wait: u64) -> Option<u64> {
        (from..end).step_by((MS / 10) as usize).find(|&now| {
            let is_discarded = pie.on_enqueue(0, &packet(now, 0, 9_000)) != Decision::Accept;
            pie.on_dequeue(0, &packet(now, wait.min(now), 9_000));
            is_discarded
        })
    }

    #[test]
    fn the_probability_follows_the_wait_and_its_growth() {
        // From 0: 0.125 (40 - 15) ms + 1.25 (40 - 0) ms = 0.053125, of which 1/2048 counts: 2.594e-5. At the next
        // update the wait has not grown: 0.003125, of which 1/128.
        let mut pie = pie();
        pie.on_dequeue(0, &packet(10 * MS, 10 * MS, 9_000));
        pie.wait_ps = 40 * MS;
        pie.catch_up(15 * MS - 1);
        assert_eq!(pie.probability, 0.0);
        pie.catch_up(15 * MS);
        let first = 0.053_125 / 2_048.0;
        assert!((pie.probability / first - 1.0).abs() < 1e-9);
        pie.catch_up(30 * MS);
        let second = first + 0.003_125 / 128.0;
        assert!((pie.probability / second - 1.0).abs() < 1e-9);
        // At 0.1 and above a step is at most 0.02: 0.125 x 985 ms + 1.25 x 960 ms would be 1.32.
        (pie.probability, pie.wait_ps) = (0.1, 1_000 * MS);
        pie.catch_up(45 * MS);
        assert!((pie.probability - 0.12).abs() < 1e-12);
        // Without a wait: 0.125 x -15 ms + 1.25 x -1 s, and after that -0.001875 and 2 % a step.
        (pie.probability, pie.wait_ps, pie.old_wait_ps) = (0.5, 0, 0);
        pie.catch_up(60 * MS);
        assert!((pie.probability - (0.5 - 0.001_875) * 0.98).abs() < 1e-12);
    }

    #[test]
    fn a_burst_is_let_through_for_as_long_as_its_allowance() {
        // No congestion until 300 ms: the allowance is whole. From then on packets wait for a second. The update at
        // 300 ms sees the old wait; those from 315 to 450 ms take ten times 15 ms off: from 450 ms on packets may go,
        // and at such waits the probability is beyond 0.1 by then.
        let mut pie = pie();
        assert_eq!(first_discard(&mut pie, 0, 300 * MS + 1, 0), None);
        assert_eq!(pie.burst_ps, 150 * MS);
        let first = first_discard(&mut pie, 300 * MS + MS / 10, 1_000 * MS, 1_000 * MS);
        let first = first.expect("the burst lasts") / MS;
        assert!((450..460).contains(&first), "{first}");
    }

    #[test]
    fn a_packet_that_comes_without_congestion_gives_the_allowance_back() {
        // The last update saw 20 ms; that at 15 ms sees 5 ms, and the packet after it 5 ms and 5 ms.
        let mut pie = pie();
        (pie.burst_ps, pie.old_wait_ps, pie.wait_ps) = (0, 20 * MS, 5 * MS);
        pie.on_enqueue(0, &packet(14 * MS, 0, 9_000));
        assert_eq!(pie.burst_ps, 0);
        pie.on_enqueue(0, &packet(15 * MS, 0, 9_000));
        assert_eq!(pie.burst_ps, 150 * MS);
        // No update gives it back, nor a packet while there is a probability.
        pie.catch_up(30 * MS);
        assert_eq!(pie.burst_ps, 135 * MS);
        pie.probability = 1e-9;
        pie.on_enqueue(0, &packet(31 * MS, 0, 9_000));
        assert_eq!(pie.burst_ps, 135 * MS);
    }

    #[test]
    fn small_queues_and_short_waits_lose_nothing() {
        let mut pie = pie();
        (pie.burst_ps, pie.max_packet, pie.accumulated) = (0, 1_000, 8.0);
        (pie.probability, pie.old_wait_ps) = (0.19, 7 * MS);
        assert!(!pie.draws_against(9_000));
        pie.old_wait_ps = 8 * MS;
        (0..1_000).for_each(|_| assert!(!pie.draws_against(2_000)));
        assert!((0..1_000).any(|_| pie.draws_against(2_001)));
    }

    #[test]
    fn discards_come_at_distances_that_are_neither_short_nor_long() {
        // p = 0.05: none among the next 16 packets, for 17 x 0.05 = 0.85, and one at 170 at the latest.
        let mut pie = pie();
        (pie.burst_ps, pie.probability, pie.old_wait_ps) = (0, 0.05, 20 * MS);
        let mut last = 0;
        let mut distances = Vec::new();
        for k in 1..=100_000 {
            if pie.draws_against(9_000) {
                distances.push(k - last);
                last = k;
            }
        }
        let (least, most) = (distances.iter().min(), distances.iter().max());
        assert!(
            least >= Some(&17) && most <= Some(&170),
            "{least:?} {most:?}"
        );
        // Sixteen, and 1 / p on the average.
        let mean = f64::from(last) / distances.len() as f64;
        assert!((mean - 36.0).abs() < 1.5, "{mean}"); // standard error 0.4
    }

    #[test]
    fn packets_that_know_ecn_are_marked_up_to_a_probability() {
        for (probability, decision) in [
            (0.1, Decision::Mark),
            (0.11, Decision::Discard(DiscardReason::Drawn)),
        ] {
            let mut pie = pie();
            (pie.burst_ps, pie.probability, pie.old_wait_ps) = (0, probability, 20 * MS);
            let ect = BufferView {
                ecn: Ecn::Ect0,
                ..packet(0, 0, 9_000)
            };
            let mut first = (0..200).map(|_| pie.on_enqueue(0, &ect));
            assert_eq!(first.find(|d| *d != Decision::Accept), Some(decision));
        }
    }

    #[test]
    fn updates_that_change_nothing_are_passed_over_and_fall_on_their_times() {
        let mut pie = pie();
        pie.catch_up(1_000_000 * 15 * MS + 7);
        assert_eq!(pie.due_ps, 1_000_001 * 15 * MS);
    }
}
