//! Keys in order of which most lie ahead for a while, and that also show what comes second.

use crate::Key;
use crate::heap::KeyHeap;
use skycell_units::SimTime;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Keys that are as well off in a heap of all. Tests try boxes with fewer, too.
const FEW: usize = if cfg!(debug_assertions) { 4 } else { 64 };
/// Boxes, each for one stretch of time.
const BOXES: u64 = 256;

/// Keys, least first.
///
/// Where there may be many, a key waits unsorted in the box of its stretch of time, and comes into order with the
/// others when that box is opened: that costs less than a heap of thousands, whose every step is a guess.
#[derive(Debug)]
pub struct Calendar {
    /// All keys, or those that came after their box had been opened.
    heap: KeyHeap,
    boxes: Option<Box<Boxes>>,
}

/// Keys in boxes.
#[derive(Debug)]
struct Boxes {
    /// A stretch is 2 to this power, picoseconds.
    stretch_log2: u32,
    /// The first stretch whose box is closed. At least two keys lie before it, if there are so many.
    closed: u64,
    /// Keys of the open boxes that were there when they were opened, the least last.
    opened: Vec<Key>,
    /// By stretch, modulo [`BOXES`].
    keys: Vec<Vec<Key>>,
    /// A bit for each box that has keys.
    filled: [u64; BOXES as usize / 64],
    /// Keys beyond the last box.
    far: BinaryHeap<Reverse<Key>>,
}

impl Calendar {
    /// No keys yet, and never more than `most`; `stretch` is about the time that a box is for.
    pub fn new(most: usize, stretch: SimTime) -> Self {
        Calendar {
            heap: KeyHeap::default(),
            boxes: (most > FEW).then(|| Box::new(Boxes::new(stretch))),
        }
    }

    /// The least key.
    pub fn first(&self) -> Option<Key> {
        let late = self.heap.first();
        match self.opened().last() {
            Some(&opened) => Some(late.map_or(opened, |late| late.min(opened))),
            None => late,
        }
    }

    /// The least key but one.
    pub fn second(&self) -> Option<Key> {
        let mut opened = self.opened().iter().rev().copied();
        let Some(first) = opened.next() else {
            return self.heap.second();
        };
        let (late, others) = match self.heap.first() {
            Some(late) if late < first => (self.heap.second(), Some(first)),
            late => (late, opened.next()),
        };
        late.into_iter().chain(others).min()
    }

    /// Up to `count` keys of those that come next, many of the least ones among them.
    pub fn foremost(&self, count: usize) -> impl Iterator<Item = Key> {
        let boxes = self.boxes.as_ref();
        let next = boxes.and_then(|boxes| Some(&boxes.keys[boxes.next_filled()? as usize]));
        let late = self.heap.foremost(if boxes.is_some() { 0 } else { count });
        let ahead = self.opened().iter().rev().chain(next.into_iter().flatten());
        ahead.chain(late).take(count).copied()
    }

    /// Adds a key.
    pub fn push(&mut self, key: Key) {
        match &mut self.boxes {
            Some(boxes) if boxes.stretch_of(key) >= boxes.closed => {
                boxes.push(key);
                boxes.open(self.heap.len());
            }
            _ => self.heap.push(key),
        }
    }

    /// Takes the least key away.
    ///
    /// # Panics
    /// There is none.
    pub fn pop(&mut self) {
        let Some(boxes) = &mut self.boxes else {
            return self.heap.pop();
        };
        let (late, opened) = (self.heap.first(), boxes.opened.last());
        if opened.is_some_and(|&opened| late.is_none_or(|late| opened < late)) {
            boxes.opened.pop();
        } else {
            self.heap.pop();
        }
        boxes.open(self.heap.len());
    }

    /// Puts `key` into the place of the least one.
    ///
    /// # Panics
    /// There is none.
    pub fn replace_first(&mut self, key: Key) {
        if self.boxes.is_none() {
            return self.heap.replace_first(key);
        }
        self.pop();
        self.push(key);
    }

    fn opened(&self) -> &[Key] {
        self.boxes.as_ref().map_or(&[], |boxes| &boxes.opened)
    }
}

impl Boxes {
    fn new(stretch: SimTime) -> Self {
        Boxes {
            stretch_log2: stretch.0.max(1).ilog2(),
            closed: 0,
            opened: Vec::new(),
            keys: vec![Vec::new(); BOXES as usize],
            filled: [0; BOXES as usize / 64],
            far: BinaryHeap::new(),
        }
    }

    fn stretch_of(&self, key: Key) -> u64 {
        key.time().0 >> self.stretch_log2
    }

    /// Puts a key into its box, which is closed.
    fn push(&mut self, key: Key) {
        let stretch = self.stretch_of(key);
        if stretch - self.closed < BOXES {
            let at = stretch % BOXES;
            self.keys[at as usize].push(key);
            self.filled[at as usize / 64] |= 1 << (at % 64);
        } else {
            self.far.push(Reverse(key));
        }
    }

    /// The first closed box that has keys.
    fn next_filled(&self) -> Option<u64> {
        const WORDS: u64 = BOXES / 64;
        let first = self.closed % BOXES;
        // The word of the first box comes twice: its later boxes, and at the end its earlier ones.
        let word_at = |nth: u64| {
            let word = (first / 64 + nth) % WORDS;
            let later = u64::MAX << (first % 64);
            let asked = match nth {
                0 => later,
                WORDS => !later,
                _ => u64::MAX,
            };
            (word, self.filled[word as usize] & asked)
        };
        let mut words = (0..=WORDS).map(word_at);
        let (word, boxes) = words.find(|(_, boxes)| *boxes > 0)?;
        Some(word * 64 + u64::from(boxes.trailing_zeros()))
    }

    /// Opens boxes until two keys are in order, `late` elsewhere.
    fn open(&mut self, late: usize) {
        while self.opened.len() + late < 2 {
            let filled = self.next_filled();
            let near = filled.map(|at| self.closed + (at + BOXES - self.closed % BOXES) % BOXES);
            let far = self.far.peek().map(|far| self.stretch_of(far.0));
            let Some(stretch) = near.into_iter().chain(far).min() else {
                return;
            };
            self.closed = stretch + 1;
            let least = self.opened.pop();
            if near == Some(stretch) {
                let at = stretch % BOXES;
                std::mem::swap(&mut self.opened, &mut self.keys[at as usize]);
                self.filled[at as usize / 64] &= !(1 << (at % 64));
            }
            while let Some(&Reverse(far)) = self.far.peek()
                && self.stretch_of(far) == stretch
            {
                self.opened.push(far);
                self.far.pop();
            }
            self.opened.sort_unstable_by(|one, other| other.cmp(one));
            self.opened.extend(least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a sorted list: keys of the same box, of the next ones, and beyond the last.
        #[test]
        fn keys_come_in_order(
            most in prop::sample::select(vec![FEW, 300]),
            steps in prop::collection::vec((0u8..3, 0u64..50, 0u32..12), 0..300),
        ) {
            let (mut calendar, mut sorted) = (Calendar::new(most, SimTime(16)), Vec::new());
            let mut now = 0;
            for (step, after, log2) in steps {
                let key = Key::new(SimTime(now + (after << log2) / 4), 0, 0);
                match step {
                    1 if !sorted.is_empty() => {
                        calendar.pop();
                        sorted.remove(0);
                    }
                    2 if !sorted.is_empty() => {
                        calendar.replace_first(key);
                        sorted[0] = key;
                    }
                    _ => {
                        calendar.push(key);
                        sorted.push(key);
                    }
                }
                sorted.sort();
                now = sorted.first().map_or(now, |first| first.time().0);
                prop_assert_eq!(calendar.first(), sorted.first().copied());
                prop_assert_eq!(calendar.second(), sorted.get(1).copied());
                let ahead: Vec<_> = calendar.foremost(5).collect();
                prop_assert!(ahead.len() <= 5);
                prop_assert!(ahead.iter().all(|key| sorted.contains(key)));
            }
        }
    }
}
