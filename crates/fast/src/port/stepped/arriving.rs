//! Units on their way to a port that is stepped, in the order of events.

use skycell_des::Key;
use skycell_reference::Cell;
use skycell_units::SimTime;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// Units of one frame at equal distances.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrivingUnits {
    /// The event in which the first of them comes.
    pub(super) key: Key,
    pub(super) unit: Cell,
    pub(super) count: u32,
    pub(super) spacing: SimTime,
    /// True if all come at once.
    pub(super) is_whole: bool,
    /// True if the last of them is the frame's.
    pub(super) eom: bool,
    /// Which of those that come together by one link was first, if several ports may ask.
    pub(super) entered: Option<SimTime>,
}

impl ArrivingUnits {
    /// The `unit` alone.
    pub(super) fn of_unit(key: Key, unit: Cell) -> Self {
        ArrivingUnits {
            key,
            unit,
            count: 1,
            spacing: SimTime::ZERO,
            is_whole: false,
            eom: unit.eom,
            entered: None,
        }
    }
}

/// All that comes to a port: what is on its way, and the order.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// With places that can be taken again.
    bursts: Vec<ArrivingUnits>,
    free: Vec<u32>,
    /// The event in which a burst's next unit comes; in one event what was on its way first is first. Then its place.
    order: BinaryHeap<Reverse<(Key, u64, u32)>>,
    pushed: u64,
}

impl Arrivals {
    /// More is on its way.
    pub(super) fn push(&mut self, arriving: ArrivingUnits) {
        let at = self.free.pop().unwrap_or_else(|| {
            self.bursts.push(arriving);
            self.bursts.len() as u32 - 1
        });
        self.bursts[at as usize] = arriving;
        self.pushed += 1;
        self.order.push(Reverse((arriving.key, self.pushed, at)));
    }

    /// When the next unit comes.
    pub(super) fn next_time(&self) -> Option<SimTime> {
        self.order.peek().map(|first| first.0.0.time())
    }

    /// Takes the next unit, or all of the next frame that comes at once: the first of the burst as it stands.
    ///
    /// # Panics
    /// None is on its way.
    pub(super) fn take(&mut self) -> ArrivingUnits {
        let mut top = self.order.peek_mut().expect("something comes");
        let at = top.0.2;
        let burst = &mut self.bursts[at as usize];
        let first = *burst;
        if burst.is_whole || burst.count == 1 {
            PeekMut::pop(top);
            self.free.push(at);
        } else {
            let (time, key) = (burst.key.time() + burst.spacing, burst.key);
            burst.key = Key::in_order(time, key.order(), key.subject());
            burst.count -= 1;
            burst.unit.index += 1;
            top.0.0 = burst.key;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_units::{FrameId, PortVc};

    #[test]
    fn units_come_by_event_and_in_one_event_as_they_were_on_their_way() {
        let unit = |frame: FrameId| Cell {
            rm: None,
            efci: false,
            ack: None,
            frame,
            index: 0,
            octets: 0,
            vc: 0,
            port_vc: PortVc(0),
            flow: 0,
            ecn: skycell_units::Ecn::NotEct,
            hop: 1,
            sky_link: 0,
            eom: false,
            clp: false,
            is_paced: false,
            came_at: SimTime::ZERO,
            left_at: SimTime::ZERO,
            entry: 0,
        };
        let burst = |time: u64, link: u32, frame: u32, count: u32| ArrivingUnits {
            count,
            spacing: SimTime(10),
            ..ArrivingUnits::of_unit(Key::new(SimTime(time), 2, link), unit(FrameId(frame)))
        };
        let mut arrivals = Arrivals::default();
        arrivals.push(burst(20, 5, 9, 2));
        arrivals.push(burst(10, 7, 8, 3)); // at 10, 20 and 30
        arrivals.push(burst(20, 5, 7, 1));
        let mut order = Vec::new();
        while let Some(time) = arrivals.next_time() {
            let first = arrivals.take();
            assert_eq!(first.key.time(), time);
            order.push((time.0, first.unit.frame.0, first.unit.index));
        }
        let expected = [
            (10, 8, 0),
            (20, 9, 0),
            (20, 7, 0),
            (20, 8, 1),
            (30, 9, 1),
            (30, 8, 2),
        ];
        assert_eq!(order, expected);
    }
}
