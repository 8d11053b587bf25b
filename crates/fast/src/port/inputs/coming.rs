//! The frames on their way to a port, and which head or tail comes first.

use crate::burst::due::Due;
use crate::tuning::Tuning;
use skycell_des::{Calendar, Key, KeyHeap};
use skycell_traffic::ask_for;
use skycell_units::SimTime;

/// Frames wait in boxes, each for about the time of so many cells.
const CELLS_OF_BOX: u64 = 1024;
/// No frame.
const NONE: u32 = u32::MAX;

/// A frame and the one behind it on its lane, never across two lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Coming {
    due: Due,
    behind: u32,
}

const _: () = assert!(std::mem::size_of::<Coming>() == 32);

/// The first frame of a lane and the last; [`NONE`] where there is none.
#[derive(Clone, Copy, Debug)]
struct Lane {
    first: u32,
    last: u32,
}

/// The order in which heads and tails come. Keys say when; which lane, and whether it is a tail; which frame.
#[derive(Debug)]
enum Order {
    /// The first frames of few lanes, each with the others behind it.
    OfLanes { foremost: KeyHeap, lanes: Vec<Lane> },
    /// All frames, of many lanes.
    OfFrames(Calendar),
}

/// A head or a tail that comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    pub(super) time: SimTime,
    pub(super) lane: u32,
    pub(super) is_tail: bool,
    pub(super) due: Due,
}

/// Frames of several lanes, those of a lane one after another.
#[derive(Debug)]
pub(super) struct ComingFrames {
    /// Frames, and places of others that can be taken again.
    frames: Vec<Coming>,
    /// The first of those places; `behind` it are the others.
    free: u32,
    order: Order,
    /// So many frames before one comes its line of the cache is asked for, and after half of them read.
    asked_ahead: usize,
}

impl ComingFrames {
    /// None yet, of so many lanes; a cell takes `cell_time` at least. Of cells of a lane that `come_together` only
    /// the lane itself knows the order.
    pub(super) fn new(lanes: usize, cell_time: u64, come_together: bool, tuning: &Tuning) -> Self {
        let order = if lanes > tuning.few_lanes && !come_together {
            let stretch = SimTime(CELLS_OF_BOX * cell_time);
            Order::OfFrames(Calendar::new(stretch, tuning.asked_ahead + 1))
        } else {
            let none = Lane {
                first: NONE,
                last: NONE,
            };
            Order::OfLanes {
                foremost: KeyHeap::default(),
                lanes: vec![none; lanes],
            }
        };
        ComingFrames {
            frames: Vec::new(),
            free: NONE,
            order,
            asked_ahead: tuning.asked_ahead,
        }
    }

    /// A frame is on its way; it comes after all others of its lane.
    #[inline(always)]
    pub(super) fn push(&mut self, lane: u32, due: Due) {
        let at = self.keep(due);
        match &mut self.order {
            Order::OfFrames(all) => all.push(head(lane, &due, at)),
            Order::OfLanes { foremost, lanes } => {
                let on = &mut lanes[lane as usize];
                if on.first == NONE {
                    foremost.push(head(lane, &due, at));
                    on.first = at;
                } else {
                    self.frames[on.last as usize].behind = at;
                }
                on.last = at;
            }
        }
    }

    /// Finds a place for a frame.
    fn keep(&mut self, due: Due) -> u32 {
        let coming = Coming { due, behind: NONE };
        if self.free == NONE {
            self.frames.push(coming);
            return self.frames.len() as u32 - 1;
        }
        let place = &mut self.frames[self.free as usize];
        let at = std::mem::replace(&mut self.free, place.behind);
        *place = coming;
        at
    }

    fn first_key(&self) -> Option<Key> {
        match &self.order {
            Order::OfFrames(all) => all.first(),
            Order::OfLanes { foremost, .. } => foremost.first(),
        }
    }

    /// When the next head or tail comes.
    pub(super) fn next_time(&self) -> Option<SimTime> {
        self.first_key().map(Key::time)
    }

    /// What comes next.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<First> {
        let first = self.first_key()?;
        Some(First {
            time: first.time(),
            lane: first.order() >> 1,
            is_tail: first.order() & 1 == 1,
            due: self.frames[first.subject() as usize].due,
        })
    }

    /// Whether the tail of the lane's first frame, which comes at `tail`, comes before all but its head.
    #[inline(always)]
    pub(super) fn comes_second(&self, lane: u32, tail: SimTime) -> bool {
        let second = match &self.order {
            Order::OfFrames(all) => all.second(),
            Order::OfLanes { foremost, .. } => foremost.second(),
        };
        second.is_none_or(|second| Key::in_order(tail, lane << 1 | 1, 0) < second)
    }

    /// The head that was first has come; the tail comes at `tail`.
    pub(super) fn await_tail(&mut self, lane: u32, tail: SimTime) {
        let at = self.first_key().expect("a head was first").subject();
        let tail = Key::in_order(tail, lane << 1 | 1, at);
        match &mut self.order {
            Order::OfFrames(all) => all.replace_first(tail),
            Order::OfLanes { foremost, .. } => foremost.replace_first(tail),
        }
    }

    /// The frame whose head or tail was first has been dealt with.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        let first = self.first_key().expect("a frame was first");
        let at = first.subject();
        let place = &mut self.frames[at as usize];
        let behind = std::mem::replace(&mut place.behind, self.free);
        self.free = at;
        match &mut self.order {
            Order::OfFrames(all) => all.pop(),
            Order::OfLanes { foremost, lanes } => {
                let lane = first.order() >> 1;
                lanes[lane as usize].first = behind;
                if behind == NONE {
                    foremost.pop();
                } else {
                    let due = &self.frames[behind as usize].due;
                    foremost.replace_first(head(lane, due, behind));
                }
            }
        }
    }

    /// Place of the VC of a frame that comes soon, where there are many lanes. Asks for one that comes later.
    #[inline(always)]
    pub(super) fn place_ahead(&self) -> Option<u32> {
        let Order::OfFrames(all) = &self.order else {
            return None;
        };
        if let Some(later) = all.ahead(self.asked_ahead) {
            ask_for(&self.frames[later.subject() as usize]);
        }
        let soon = all.ahead(self.asked_ahead / 2)?;
        Some(self.frames[soon.subject() as usize].due.place)
    }
}

/// When the frame at `at` begins to come.
fn head(lane: u32, due: &Due, at: u32) -> Key {
    Key::in_order(due.head, lane << 1, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CELL: u64 = 10;

    /// Frames of lanes numbered from 0, kept the other way than `ComingFrames::new` would.
    fn of_few(lanes: usize) -> ComingFrames {
        let none = Lane {
            first: NONE,
            last: NONE,
        };
        ComingFrames {
            order: Order::OfLanes {
                foremost: KeyHeap::default(),
                lanes: vec![none; lanes],
            },
            ..ComingFrames::new(lanes, CELL, false, &Tuning::SMALL)
        }
    }

    /// What comes first, and whether its tail comes before all else; then it is taken as far as that.
    fn take(frames: &mut ComingFrames) -> Option<(u64, u32, bool, u32, bool)> {
        let first = frames.first()?;
        let (lane, tail) = (first.lane, first.due.tail(SimTime(CELL)));
        let is_whole = frames.comes_second(lane, tail);
        if first.is_tail || is_whole {
            frames.pop();
        } else {
            frames.await_tail(lane, tail);
        }
        Some((first.time.0, lane, first.is_tail, first.due.frame, is_whole))
    }

    proptest! {
        /// Frames of many lanes come in the order in which those of few do.
        #[test]
        fn the_two_ways_are_one_order(
            steps in prop::collection::vec((0usize..9, 0u64..40, 1u32..5, prop::bool::ANY), 1..200),
        ) {
            const LANES: usize = 2 * Tuning::SMALL.few_lanes;
            let mut ways = [of_few(LANES), ComingFrames::new(LANES, CELL, false, &Tuning::SMALL)];
            prop_assert!(matches!(ways[1].order, Order::OfFrames(_)));
            let (mut free_from, mut now) = ([0; LANES], 0);
            for ((lane, wait, cells, takes), frame) in steps.into_iter().zip(0..) {
                let lane = lane % LANES;
                let due = Due::new(SimTime(free_from[lane].max(now) + wait * CELL / 4), frame, 0, cells, false);
                free_from[lane] = due.tail(SimTime(CELL)).0 + CELL;
                ways.iter_mut().for_each(|way| way.push(lane as u32, due));
                if takes {
                    let [few, many] = ways.each_mut().map(take);
                    prop_assert_eq!(few, many);
                    now = few.map_or(now, |(time, ..)| time);
                }
            }
            loop {
                let [few, many] = ways.each_mut().map(take);
                prop_assert_eq!(few, many);
                if few.is_none() {
                    break;
                }
            }
        }
    }
}
