//! A heap of keys that also shows what comes second.

use crate::Key;

/// Keys, least first.
#[derive(Debug, Default)]
pub struct KeyHeap {
    /// A binary heap: the children of entry i are 2 i + 1 and 2 i + 2.
    keys: Vec<Key>,
}

impl KeyHeap {
    /// The least key.
    pub fn first(&self) -> Option<Key> {
        self.keys.first().copied()
    }

    /// The least key but one.
    pub fn second(&self) -> Option<Key> {
        self.keys.iter().take(3).skip(1).min().copied()
    }

    /// Adds a key.
    pub fn push(&mut self, key: Key) {
        let mut at = self.keys.len();
        self.keys.push(key);
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.keys[parent] <= key {
                break;
            }
            self.keys[at] = self.keys[parent];
            at = parent;
        }
        self.keys[at] = key;
    }

    /// Takes the least key away.
    ///
    /// # Panics
    /// The heap is empty.
    pub fn pop(&mut self) {
        let last = self.keys.pop().expect("a key is in the heap");
        if !self.keys.is_empty() {
            self.replace_first(last);
        }
    }

    /// Puts `key` into the place of the least one.
    ///
    /// # Panics
    /// The heap is empty.
    pub fn replace_first(&mut self, key: Key) {
        let keys = &mut self.keys[..];
        let mut at = 0;
        loop {
            let mut child = 2 * at + 1;
            if child + 1 < keys.len() && keys[child + 1] < keys[child] {
                child += 1;
            }
            if child >= keys.len() || key <= keys[child] {
                break;
            }
            keys[at] = keys[child];
            at = child;
        }
        keys[at] = key;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use skycell_units::SimTime;

    proptest! {
        /// Against a sorted list.
        #[test]
        fn keys_come_in_order(steps in prop::collection::vec((0u8..3, 0u64..50), 0..200)) {
            let (mut heap, mut sorted) = (KeyHeap::default(), Vec::new());
            for (step, time) in steps {
                let key = Key::new(SimTime(time), 0, 0);
                match step {
                    1 if !sorted.is_empty() => {
                        heap.pop();
                        sorted.remove(0);
                    }
                    2 if !sorted.is_empty() => {
                        heap.replace_first(key);
                        sorted[0] = key;
                    }
                    _ => {
                        heap.push(key);
                        sorted.push(key);
                    }
                }
                sorted.sort();
                prop_assert_eq!(heap.first(), sorted.first().copied());
                prop_assert_eq!(heap.second(), sorted.get(1).copied());
            }
        }
    }
}
