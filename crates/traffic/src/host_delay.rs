//! From TCP to the network interface: the processing time of a host at the end of a flow.

use skycell_des::Stream;
use skycell_spec::FlowSpec;
use skycell_units::{FrameId, SimTime};
use std::collections::VecDeque;

/// The segments that one end of a flow has sent and not yet handed over.
///
/// A segment waits for a time drawn for it alone, and never overtakes: with an interface that still
/// sends, it comes to the end of the queue while that is being sent, and costs no capacity.
#[derive(Debug)]
pub struct HostDelay {
    /// Range of the times, picoseconds; 0 for none, without draws.
    below: u64,
    stream: Stream,
    /// When the last segment is handed over.
    last: SimTime,
    /// Frames not yet handed over, in order, and when they will be.
    waiting: VecDeque<(SimTime, FrameId)>,
}

impl HostDelay {
    /// Both ends of the flow in a run with `seed`: the source's, and the destination's.
    pub fn of_ends(flow: &FlowSpec, seed: u64) -> [HostDelay; 2] {
        let end = |below, stream: String| HostDelay {
            below,
            stream: Stream::new(seed, &stream),
            last: SimTime::ZERO,
            waiting: VecDeque::new(),
        };
        [
            end(
                flow.jitter.data_ps,
                format!("flow/{}/jitter/data", flow.name),
            ),
            end(
                flow.jitter.acks_ps,
                format!("flow/{}/jitter/acks", flow.name),
            ),
        ]
    }

    /// The place, among those of all flows, of an end of the flow `flow`; the subject of its events.
    pub fn index(flow: u32, is_forward: bool) -> u32 {
        2 * flow + u32::from(!is_forward)
    }

    /// The flow, and whether it is its source's end, of a place.
    pub fn end_at(index: u32) -> (u32, bool) {
        (index / 2, index.is_multiple_of(2))
    }

    /// Returns whether segments are handed over as TCP sends them.
    pub fn is_immediate(&self) -> bool {
        self.below == 0
    }

    /// When the segment that TCP sends now is handed over.
    pub fn draw(&mut self, now: SimTime) -> SimTime {
        let at = match self.below {
            0 => now,
            below => now + SimTime(self.stream.uniform(0, below)),
        };
        self.last = self.last.max(at);
        self.last
    }

    /// Makes a frame wait until `at`, which is not before any other's time. Returns whether it is
    /// the only one.
    pub fn wait(&mut self, at: SimTime, frame: FrameId) -> bool {
        self.waiting.push_back((at, frame));
        self.waiting.len() == 1
    }

    /// When the next frame is handed over.
    pub fn next(&self) -> Option<SimTime> {
        self.waiting.front().map(|(at, _)| *at)
    }

    /// Takes the next frame that is handed over now.
    pub fn take(&mut self, now: SimTime) -> Option<FrameId> {
        if self.next() != Some(now) {
            return None;
        }
        self.waiting.pop_front().map(|(_, frame)| frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::spec;
    use skycell_spec::{JitterSpec, TrafficSpec};

    const UP_TO: u64 = 1_000;

    fn data(seed: u64, data_ps: u64) -> HostDelay {
        let acks_ps = 7;
        let flow = FlowSpec {
            jitter: JitterSpec { data_ps, acks_ps },
            ..spec(TrafficSpec::Persistent, false)
        };
        let [data, _] = HostDelay::of_ends(&flow, seed);
        data
    }

    #[test]
    fn without_a_range_segments_are_handed_over_as_they_are_sent() {
        let mut end = data(1, 0);
        assert!(end.is_immediate());
        let times = [3, 3, 9].map(SimTime);
        assert_eq!(times.map(|at| end.draw(at)), times);
    }

    #[test]
    fn lone_segments_wait_half_the_range_in_the_mean() {
        let mut end = data(1, UP_TO);
        let waits = (0..10_000u64).map(|i| end.draw(SimTime(i * UP_TO)).0 - i * UP_TO);
        // Standard error 289 / sqrt(1e4) = 2.9; six of them.
        let mean = waits.sum::<u64>() as f64 / 1e4;
        assert!((mean - 499.5).abs() < 17.0, "{mean}");
    }

    /// An interface that takes a time for each frame, with processing times before it and without.
    #[test]
    fn segments_keep_their_order_and_an_interface_with_work_loses_no_time() {
        let mut dice = Stream::new(3, "exchanges");
        for seed in 0..200 {
            let mut end = data(seed, UP_TO);
            let service = dice.uniform(1, 2_000);
            let (mut now, mut before) = (0, 0);
            let (mut free, mut free_at_once) = (0, 0);
            for _ in 0..60 {
                // Half of them are sent together with the one before.
                now += dice.uniform(0, 3_000).saturating_sub(1_500);
                let at = end.draw(SimTime(now)).0;
                assert!(at >= before && (now..now + UP_TO).contains(&at));
                if now + UP_TO <= free {
                    // It comes before the interface is done, and leaves when it would have anyway.
                    assert!(at <= free);
                }
                before = at;
                free = free.max(at) + service;
                free_at_once = now.max(free_at_once) + service;
                // However much was sent, it has left less than one range later.
                assert!((free_at_once..free_at_once + UP_TO).contains(&free));
            }
        }
    }

    #[test]
    fn frames_are_taken_at_their_times_and_in_order() {
        let mut end = data(1, UP_TO);
        assert!(end.wait(SimTime(5), FrameId(8)));
        assert!(!end.wait(SimTime(5), FrameId(2)));
        assert!(!end.wait(SimTime(6), FrameId(3)));
        assert_eq!((end.next(), end.take(SimTime(4))), (Some(SimTime(5)), None));
        let taken: Vec<u32> = std::iter::from_fn(|| end.take(SimTime(5)))
            .map(|frame| frame.0)
            .collect();
        assert_eq!((taken, end.next()), (vec![8, 2], Some(SimTime(6))));
    }
}
