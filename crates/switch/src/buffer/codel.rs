//! Controlled Delay.

use super::{BufferPolicy, BufferView, Draws, Needs, PolicyRule};
use crate::{Decision, DiscardReason};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{Interval, TimeOrNone},
};

/// Controlled Delay: discards or marks packets at the head that have waited for too long.
///
/// Once no packet has waited for less than the target for a whole interval, one is discarded, and the
/// next after interval / sqrt(n), n counting the discards, until a packet has waited for less.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(
    class = "SA-ST",
    threshold = "dynamic",
    discards = "deterministic",
    source = "Nichols, Jacobson, McGregor, Iyengar: RFC 8289",
    chosen = "largest packet so far as MTU",
    needs = "packets",
    label = "CoDel"
)]
pub struct CodelSpec {
    /// Wait that may stand for longer than an interval.
    #[param(
        key = "target",
        default = "5 ms",
        symbol = "TARGET",
        below = "interval_ps",
        source = "RFC 8289, section 4.4: 5 to 10 % of the interval"
    )]
    pub target_ps: Interval,
    /// For how long the wait may stand above target; of the order of the longest round trip.
    #[param(
        key = "interval",
        default = "100 ms",
        symbol = "INTERVAL",
        source = "RFC 8289, section 4.3: round trips from 10 ms to 1 s; over GEO satellites more is better"
    )]
    pub interval_ps: Interval,
    /// Wait above which every packet that knows ECN is marked, whatever the control loop does; 0 s for none.
    #[param(
        key = "ce_threshold",
        default = "0 s",
        symbol = "ce_threshold",
        source = "Linux 6.18, codel_impl.h: off unless set; RFC 8257, section 3.1, marks above one threshold"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub ce_threshold_ps: TimeOrNone,
}

impl PolicyRule for CodelSpec {
    type Policy = Codel;

    fn policy(&self, _draws: &Draws) -> Codel {
        Codel::new(self)
    }
}

/// CoDel at work on one queue.
#[derive(Clone, Debug)]
pub struct Codel {
    spec: CodelSpec,
    /// maxpacket: the largest packet that came so far stands for the MTU, octets.
    max_packet: u32,
    control: Control,
}

/// The state of the control loop; one for each queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// first_above_time: from when on packets are in excess, if every one since has waited for the target.
    first_above_ps: Option<u64>,
    is_dropping: bool,
    /// drop_next: when the next packet goes, picoseconds.
    drop_next_ps: u64,
    /// Discards since the drop state was entered, or a start for their rate.
    count: u32,
    last_count: u32,
    /// Fate of the packet before.
    last: Last,
}

/// The fate of the packet before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Last {
    #[default]
    Sent,
    /// The drop state was entered with it.
    Entered,
    /// Another one in the drop state.
    Discarded,
}

impl Codel {
    fn new(spec: &CodelSpec) -> Self {
        Codel {
            spec: *spec,
            max_packet: 0,
            control: Control::default(),
        }
    }
}

impl BufferPolicy for Codel {
    const NEEDS: Needs = Needs::PACKETS;

    fn on_enqueue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        self.max_packet = self.max_packet.max(view.packet_octets);
        Decision::Accept
    }

    fn on_dequeue(&mut self, _vc: u32, view: &BufferView) -> Decision {
        let is_small = view.octets <= u64::from(self.max_packet);
        let decision = self.control.on_dequeue(&self.spec, view, is_small);
        marked_above(decision, self.spec.ce_threshold_ps, view)
    }
}

/// Marks a packet that the control loop sends on unmarked, if it knows ECN and has waited for longer than the threshold,
/// where there is one.
///
/// Source: Linux 6.18, `codel_dequeue`: the comparison is strict, and a packet without ECN goes on as it is.
pub(super) fn marked_above(decision: Decision, threshold_ps: u64, view: &BufferView) -> Decision {
    let is_above = threshold_ps != 0 && view.now_ps - view.came_ps > threshold_ps;
    match decision {
        Decision::Accept if is_above && view.ecn.is_capable() => Decision::Mark,
        other => other,
    }
}

impl Control {
    /// RFC 8289 section 5.5, packet by packet: `dequeue` of the RFC takes as many as it discards and one more.
    /// `is_small` says that no more than a packet waits behind this one.
    pub(super) fn on_dequeue(
        &mut self,
        spec: &CodelSpec,
        view: &BufferView,
        is_small: bool,
    ) -> Decision {
        let now = view.now_ps;
        let is_excess = self.is_excess(spec, view, is_small);
        match std::mem::take(&mut self.last) {
            Last::Sent => {}
            // What follows the discard that enters the drop state goes, whatever it has waited.
            Last::Entered => return Decision::Accept,
            Last::Discarded if is_excess => {
                self.drop_next_ps = self.control_law(spec, self.drop_next_ps);
            }
            Last::Discarded => {}
        }
        if self.is_dropping {
            self.is_dropping = is_excess;
            if !is_excess || now < self.drop_next_ps {
                return Decision::Accept;
            }
            self.count += 1;
            self.last = Last::Discarded;
        } else if is_excess {
            self.enter(spec, now);
            self.last = Last::Entered;
        } else {
            return Decision::Accept;
        }
        let decision = view.signal(DiscardReason::Delayed);
        // A marked one goes, and so takes the place of the one that would follow it.
        if decision == Decision::Mark && std::mem::take(&mut self.last) == Last::Discarded {
            self.drop_next_ps = self.control_law(spec, self.drop_next_ps);
        }
        decision
    }

    /// Section 5.6, `dodequeue`: whether the wait has been at least the target for an interval, with more than a
    /// packet behind.
    fn is_excess(&mut self, spec: &CodelSpec, view: &BufferView, is_small: bool) -> bool {
        let wait = view.now_ps - view.came_ps;
        if wait < spec.target_ps || is_small {
            self.first_above_ps = None;
            return false;
        }
        let limit = view.now_ps + spec.interval_ps;
        view.now_ps >= *self.first_above_ps.get_or_insert(limit)
    }

    /// Enters the drop state; goes on near the rate at which it was left if that was not long ago.
    fn enter(&mut self, spec: &CodelSpec, now: u64) {
        self.is_dropping = true;
        let delta = self.count - self.last_count;
        let is_recent = now.saturating_sub(self.drop_next_ps) < 16 * spec.interval_ps;
        self.count = if delta > 1 && is_recent { delta } else { 1 };
        self.drop_next_ps = self.control_law(spec, now);
        self.last_count = self.count;
    }

    /// Section 5.6, `control_law`: t + INTERVAL / sqrt(count).
    fn control_law(&self, spec: &CodelSpec, time_ps: u64) -> u64 {
        time_ps + (spec.interval_ps as f64 / f64::from(self.count).sqrt()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_units::Ecn;

    const MS: u64 = 1_000_000_000;
    const SPEC: CodelSpec = CodelSpec {
        target_ps: 5 * MS,
        interval_ps: 100 * MS,
        ce_threshold_ps: 0,
    };
    const DELAYED: Decision = Decision::Discard(DiscardReason::Delayed);

    /// CoDel that has seen a packet of 1500 octets.
    fn codel() -> Codel {
        let mut codel = Codel::new(&SPEC);
        let view = BufferView {
            packet_octets: 1_500,
            ..BufferView::default()
        };
        assert_eq!(codel.on_enqueue(0, &view), Decision::Accept);
        codel
    }

    /// A packet that has waited for `wait` is about to be sent at `now`, before `octets` octets.
    fn packet(now_ps: u64, wait_ps: u64, octets: u64) -> BufferView {
        BufferView {
            now_ps,
            came_ps: now_ps - wait_ps,
            octets,
            packet_octets: 1_500,
            ..BufferView::default()
        }
    }

    /// Decisions on packets that wait for 20 ms, one sent every `every` from 1 s on until `end`; the times of
    /// those that are discarded.
    fn discards(codel: &mut Codel, every: u64, end: u64) -> Vec<u64> {
        let mut discarded = Vec::new();
        let mut now = 1_000 * MS;
        while now < end {
            match codel.on_dequeue(0, &packet(now, 20 * MS, 9_000)) {
                DELAYED => discarded.push(now),
                _ => now += every,
            }
        }
        discarded
    }

    #[test]
    fn the_first_packet_goes_an_interval_after_the_wait_rose_and_the_next_when_the_control_law_says()
     {
        // Above the target from 1 s on. At 1.1 s the first, count 1: the next from 1.2 s on, count 2. Then
        // 1.2 s + 100 ms / sqrt 2 = 1.27071 s, and + 100 ms / sqrt 3 = 1.32845 s: with a packet every 10 ms at
        // 1.28 s and 1.33 s.
        let times = discards(&mut codel(), 10 * MS, 1_340 * MS);
        let ms: Vec<_> = times.iter().map(|time| time / MS).collect();
        assert_eq!(ms, [1_100, 1_200, 1_280, 1_330]);
    }

    #[test]
    fn discards_come_at_distances_of_interval_over_the_root_of_their_number() {
        let times = discards(&mut codel(), MS / 100, 4_000 * MS);
        let mut due = 1_100.0;
        for (n, time) in (1..).zip(&times) {
            let late = *time as f64 / MS as f64 - due;
            assert!((0.0..0.011).contains(&late), "discard {n}: {late} ms late");
            due += 100.0 / f64::from(n).sqrt();
        }
        // Sum of 100 / sqrt n up to n is about 200 sqrt n - 146: 2.9 s are 231 discards or so.
        assert!((225..240).contains(&times.len()), "{}", times.len());
    }

    #[test]
    fn nothing_is_discarded_while_each_interval_has_a_short_wait_or_no_more_than_a_packet_behind() {
        for (wait, octets) in [(5 * MS - 1, 9_000), (20 * MS, 1_500), (20 * MS, 0)] {
            let mut codel = codel();
            for k in 0..1_000 {
                let is_tenth = k % 10 == 9;
                let (wait, octets) = if is_tenth {
                    (wait, octets)
                } else {
                    (20 * MS, 9_000)
                };
                let packet = packet((1_000 + 10 * k) * MS, wait, octets);
                assert_eq!(codel.on_dequeue(0, &packet), Decision::Accept);
            }
        }
    }

    #[test]
    fn a_short_wait_ends_the_drop_state_and_what_comes_soon_after_goes_on_at_its_rate() {
        let mut codel = codel();
        let before = discards(&mut codel, MS, 2_000 * MS).len() as u32;
        let first = packet(2_000 * MS, MS, 9_000);
        assert_eq!(codel.on_dequeue(0, &first), Decision::Accept);
        assert!(!codel.control.is_dropping);
        let mut now = 2_001 * MS;
        while codel.on_dequeue(0, &packet(now, 20 * MS, 9_000)) != DELAYED {
            now += MS;
        }
        // An interval above the target again; count goes on from the discards of the last time, less the first.
        assert_eq!(now, 2_101 * MS);
        assert_eq!(codel.control.count, before - 1);
        // The packet that follows the one with which the state is entered goes.
        let next = packet(now, 20 * MS, 9_000);
        assert_eq!(codel.on_dequeue(0, &next), Decision::Accept);
    }

    #[test]
    fn long_after_the_drop_state_it_begins_anew() {
        let mut codel = codel();
        discards(&mut codel, MS, 2_000 * MS);
        let later = 2_000 * MS + 17 * 100 * MS;
        codel.on_dequeue(0, &packet(later, MS, 9_000));
        codel.on_dequeue(0, &packet(later + MS, 20 * MS, 9_000));
        let excess = packet(later + 101 * MS, 20 * MS, 9_000);
        assert_eq!(codel.on_dequeue(0, &excess), DELAYED);
        assert_eq!(codel.control.count, 1);
    }

    #[test]
    fn packets_that_know_ecn_are_marked_when_others_are_discarded() {
        let mut codel = codel();
        let mut times = Vec::new();
        for now in (1_000..1_340).step_by(10) {
            let packet = BufferView {
                ecn: Ecn::Ect0,
                ..packet(now * MS, 20 * MS, 9_000)
            };
            match codel.on_dequeue(0, &packet) {
                Decision::Mark => times.push(now),
                decision => assert_eq!(decision, Decision::Accept),
            }
        }
        assert_eq!(times, [1_100, 1_200, 1_280, 1_330]);
    }

    #[test]
    fn several_packets_go_at_once_when_the_control_law_is_behind() {
        let mut codel = codel();
        discards(&mut codel, MS, 1_250 * MS); // two, the next from 1270.71 ms on
        let mut gone = 0;
        while codel.on_dequeue(0, &packet(1_400 * MS, 20 * MS, 9_000)) == DELAYED {
            gone += 1;
        }
        // 1270.71, 1328.45 and 1378.45 ms are over, 1423.17 ms is not.
        assert_eq!(gone, 3);
    }

    #[test]
    fn above_the_threshold_each_packet_that_knows_ecn_is_marked_and_no_other_is_touched() {
        // Waits of 1 ms are below the target: the control loop does nothing.
        let mut codel = Codel::new(&CodelSpec {
            ce_threshold_ps: MS,
            ..SPEC
        });
        let mut after = |wait_ps, ecn| {
            let packet = packet(1_000 * MS, wait_ps, 9_000);
            codel.on_dequeue(0, &BufferView { ecn, ..packet })
        };
        assert_eq!(after(MS, Ecn::Ect0), Decision::Accept);
        assert_eq!(after(MS + 1, Ecn::Ect0), Decision::Mark);
        assert_eq!(after(MS + 1, Ecn::Ect1), Decision::Mark);
        assert_eq!(after(MS + 1, Ecn::NotEct), Decision::Accept);
    }

    #[test]
    fn the_threshold_leaves_the_control_loop_as_it_is() {
        let mut codel = codel();
        codel.spec.ce_threshold_ps = MS;
        // Packets without ECN: the same discards as without a threshold.
        let times = discards(&mut codel, 10 * MS, 1_340 * MS);
        let ms: Vec<_> = times.iter().map(|time| time / MS).collect();
        assert_eq!(ms, [1_100, 1_200, 1_280, 1_330]);
    }
}
