//! The frames on their way to a port, and which head or tail comes first.

use crate::burst::fragment::DueFragment;
use crate::tuning::Tuning;
use skycell_des::{Calendar, Key, KeyHeap};
use skycell_traffic::prefetch;
use skycell_units::{InputId, PortVc, SimTime};

/// Frames wait in buckets, each for about the time of so many cells.
const CELLS_OF_BUCKET: u64 = 1024;
/// No frame.
const NONE: u32 = u32::MAX;

/// A frame and the one behind it on its input, never across two lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct ArrivingFrame {
    fragment: DueFragment,
    behind: u32,
}

const _: () = assert!(std::mem::size_of::<ArrivingFrame>() == 32);

/// The first frame of an input and the last; [`NONE`] where there is none.
#[derive(Clone, Copy, Debug)]
struct Input {
    first: u32,
    last: u32,
}

/// The order in which heads and tails come. Keys say when; which input, and whether it is a tail; which frame.
#[derive(Debug)]
enum Order {
    /// The first frames of few inputs, each with the others behind it.
    OfInputs {
        foremost: KeyHeap,
        inputs: Vec<Input>,
    },
    /// All frames, of many inputs.
    OfFrames(Calendar),
}

/// A head or a tail that comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    pub(super) time: SimTime,
    pub(super) input: InputId,
    pub(super) is_tail: bool,
    pub(super) fragment: DueFragment,
}

/// Frames of several inputs, those of an input one after another.
#[derive(Debug)]
pub(super) struct ArrivingFrames {
    /// Frames, and places of others that can be taken again.
    frames: Vec<ArrivingFrame>,
    /// The first of those places; `behind` it are the others.
    free: u32,
    order: Order,
    /// So many frames before one comes its line of the cache is asked for, and after half of them read.
    asked_ahead: usize,
}

impl ArrivingFrames {
    /// None yet, of so many inputs; a cell takes `cell_time` at least. Of cells of an input that `come_together` only
    /// the input itself knows the order.
    pub(super) fn new(inputs: usize, cell_time: u64, come_together: bool, tuning: &Tuning) -> Self {
        let order = if inputs > tuning.few_inputs && !come_together {
            let width = SimTime(CELLS_OF_BUCKET * cell_time);
            Order::OfFrames(Calendar::new(width, tuning.asked_ahead + 1))
        } else {
            let none = Input {
                first: NONE,
                last: NONE,
            };
            Order::OfInputs {
                foremost: KeyHeap::default(),
                inputs: vec![none; inputs],
            }
        };
        ArrivingFrames {
            frames: Vec::new(),
            free: NONE,
            order,
            asked_ahead: tuning.asked_ahead,
        }
    }

    /// A frame is on its way; it comes after all others of its input.
    #[inline(always)]
    pub(super) fn push(&mut self, input: InputId, fragment: DueFragment) {
        let at = self.keep(fragment);
        match &mut self.order {
            Order::OfFrames(all) => all.push(head(input, &fragment, at)),
            Order::OfInputs { foremost, inputs } => {
                let on = &mut inputs[input.index()];
                if on.first == NONE {
                    foremost.push(head(input, &fragment, at));
                    on.first = at;
                } else {
                    self.frames[on.last as usize].behind = at;
                }
                on.last = at;
            }
        }
    }

    /// Finds a place for a frame.
    fn keep(&mut self, fragment: DueFragment) -> u32 {
        let arriving = ArrivingFrame {
            fragment,
            behind: NONE,
        };
        if self.free == NONE {
            self.frames.push(arriving);
            return self.frames.len() as u32 - 1;
        }
        let slot = &mut self.frames[self.free as usize];
        let at = std::mem::replace(&mut self.free, slot.behind);
        *slot = arriving;
        at
    }

    fn first_key(&self) -> Option<Key> {
        match &self.order {
            Order::OfFrames(all) => all.first(),
            Order::OfInputs { foremost, .. } => foremost.first(),
        }
    }

    /// When the next head or tail comes.
    pub(super) fn next_time(&self) -> Option<SimTime> {
        self.first_key().map(Key::time)
    }

    /// Returns the next arrival.
    #[inline(always)]
    pub(super) fn first(&self) -> Option<First> {
        let first = self.first_key()?;
        Some(First {
            time: first.time(),
            input: InputId(first.order() >> 1),
            is_tail: first.order() & 1 == 1,
            fragment: self.frames[first.subject() as usize].fragment,
        })
    }

    /// Returns whether the tail of the input's first frame, which comes at `tail`, comes before
    /// everything but its head.
    #[inline(always)]
    pub(super) fn comes_second(&self, input: InputId, tail: SimTime) -> bool {
        let second = match &self.order {
            Order::OfFrames(all) => all.second(),
            Order::OfInputs { foremost, .. } => foremost.second(),
        };
        second.is_none_or(|second| Key::in_order(tail, input.0 << 1 | 1, 0) < second)
    }

    /// The head that was first has come; the tail comes at `tail`.
    pub(super) fn await_tail(&mut self, input: InputId, tail: SimTime) {
        let at = self.first_key().expect("a head was first").subject();
        let tail = Key::in_order(tail, input.0 << 1 | 1, at);
        match &mut self.order {
            Order::OfFrames(all) => all.replace_first(tail),
            Order::OfInputs { foremost, .. } => foremost.replace_first(tail),
        }
    }

    /// The frame whose head or tail was first has been processed.
    #[inline(always)]
    pub(super) fn pop(&mut self) {
        let first = self.first_key().expect("a frame was first");
        let at = first.subject();
        let slot = &mut self.frames[at as usize];
        let behind = std::mem::replace(&mut slot.behind, self.free);
        self.free = at;
        match &mut self.order {
            Order::OfFrames(all) => all.pop(),
            Order::OfInputs { foremost, inputs } => {
                let input = InputId(first.order() >> 1);
                inputs[input.index()].first = behind;
                if behind == NONE {
                    foremost.pop();
                } else {
                    let fragment = &self.frames[behind as usize].fragment;
                    foremost.replace_first(head(input, fragment, behind));
                }
            }
        }
    }

    /// Index of the VC of a frame that comes soon, where there are many inputs. Asks for one that comes later.
    #[inline(always)]
    pub(super) fn port_vc_ahead(&self) -> Option<PortVc> {
        let Order::OfFrames(all) = &self.order else {
            return None;
        };
        if let Some(later) = all.ahead(self.asked_ahead) {
            prefetch(&self.frames[later.subject() as usize]);
        }
        let soon = all.ahead(self.asked_ahead / 2)?;
        Some(self.frames[soon.subject() as usize].fragment.port_vc)
    }
}

/// When the frame at `at` begins to come.
fn head(input: InputId, fragment: &DueFragment, at: u32) -> Key {
    Key::in_order(fragment.head, input.0 << 1, at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use skycell_units::FrameId;

    const CELL: u64 = 10;

    /// Frames of inputs numbered from 0, kept the other way than `ArrivingFrames::new` would.
    fn of_few(inputs: usize) -> ArrivingFrames {
        let none = Input {
            first: NONE,
            last: NONE,
        };
        ArrivingFrames {
            order: Order::OfInputs {
                foremost: KeyHeap::default(),
                inputs: vec![none; inputs],
            },
            ..ArrivingFrames::new(inputs, CELL, false, &Tuning::SMALL)
        }
    }

    /// Takes and returns the first arrival, as far as its tail if the tail comes before everything
    /// else.
    fn take(frames: &mut ArrivingFrames) -> Option<(u64, u32, bool, u32, bool)> {
        let first = frames.first()?;
        let (input, tail) = (first.input, first.fragment.tail(SimTime(CELL)));
        let is_whole = frames.comes_second(input, tail);
        if first.is_tail || is_whole {
            frames.pop();
        } else {
            frames.await_tail(input, tail);
        }
        Some((
            first.time.0,
            input.0,
            first.is_tail,
            first.fragment.frame.0,
            is_whole,
        ))
    }

    proptest! {
        /// Frames of many inputs come in the order in which those of few do.
        #[test]
        fn the_two_ways_are_one_order(
            steps in prop::collection::vec((0usize..9, 0u64..40, 1u32..5, prop::bool::ANY), 1..200),
        ) {
            const INPUTS: usize = 2 * Tuning::SMALL.few_inputs;
            let mut orders = [of_few(INPUTS), ArrivingFrames::new(INPUTS, CELL, false, &Tuning::SMALL)];
            prop_assert!(matches!(orders[1].order, Order::OfFrames(_)));
            let (mut free_from, mut now) = ([0; INPUTS], 0);
            for ((input, wait, cells, takes), frame) in steps.into_iter().zip(0..) {
                let input = input % INPUTS;
                let fragment = DueFragment::new(SimTime(free_from[input].max(now) + wait * CELL / 4), FrameId(frame), PortVc(0), cells, false);
                free_from[input] = fragment.tail(SimTime(CELL)).0 + CELL;
                orders.iter_mut().for_each(|order| order.push(InputId(input as u32), fragment));
                if takes {
                    let [few, many] = orders.each_mut().map(take);
                    prop_assert_eq!(few, many);
                    now = few.map_or(now, |(time, ..)| time);
                }
            }
            loop {
                let [few, many] = orders.each_mut().map(take);
                prop_assert_eq!(few, many);
                if few.is_none() {
                    break;
                }
            }
        }
    }
}
