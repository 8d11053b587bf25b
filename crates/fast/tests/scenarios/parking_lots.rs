//! Switches in a row or in a ring.

use super::Builder;
use skycell_spec::{NodeKind, StartSpec};

impl Builder<'_> {
    /// A ring of switches with flows that go around parts of it, all in one sense.
    pub(super) fn ring(&mut self) {
        let count = 3 + self.dice.below(2);
        let switches: Vec<u32> = (0..count)
            .map(|i| self.node(&format!("sw{i}"), NodeKind::Switch))
            .collect();
        let around: Vec<u32> = (0..count as usize)
            .map(|i| {
                let (delay, is_limited) = (self.delay(), self.dice.one_in(2));
                self.link(
                    switches[i],
                    switches[(i + 1) % count as usize],
                    delay,
                    is_limited,
                )
            })
            .collect();
        let between = |from: usize, to: usize| -> Vec<u32> {
            let count = around.len();
            let hops = (to + count - from) % count;
            (0..hops).map(|hop| around[(from + hop) % count]).collect()
        };
        let start = self.start();
        for i in 0..count as usize + self.dice.below(3) as usize {
            let enter = i % count as usize;
            let leave = (enter + 1 + self.dice.below(count - 1) as usize) % count as usize;
            self.flow_over(i, switches[enter], switches[leave], start, |there| {
                if there {
                    between(enter, leave)
                } else {
                    between(leave, enter)
                }
            });
        }
    }

    /// A row of switches with flows that cover parts of it, in both directions: their VCs are multiplexed
    /// at one port after the other.
    pub(super) fn parking_lot(&mut self) {
        let count = 3 + self.dice.below(3);
        let switches: Vec<u32> = (0..count)
            .map(|i| self.node(&format!("sw{i}"), NodeKind::Switch))
            .collect();
        let mut across = Vec::new();
        let mut back = Vec::new();
        for pair in switches.windows(2) {
            let delay = self.delay();
            across.push(self.link(pair[0], pair[1], delay, true));
            let is_limited = self.dice.one_in(3);
            back.push(self.link(pair[1], pair[0], delay, is_limited));
        }
        let last = count as usize - 1;
        let mut parts = vec![(0, last), (0, 1), (1, last)];
        for _ in 0..self.dice.below(4) {
            let enter = self.dice.below(count) as usize;
            let leave = (enter + 1 + self.dice.below(count - 1) as usize) % (last + 1);
            parts.push((enter, leave));
        }
        let start = self.start();
        let between = |from: usize, to: usize| -> Vec<u32> {
            if from < to {
                across[from..to].to_vec()
            } else {
                back[to..from].iter().rev().copied().collect()
            }
        };
        for (i, (enter, leave)) in parts.into_iter().enumerate() {
            self.flow_over(i, switches[enter], switches[leave], start, |there| {
                if there {
                    between(enter, leave)
                } else {
                    between(leave, enter)
                }
            });
        }
    }

    /// One or two flows between hosts of their own at two switches; `links` tells those between the switches, there
    /// and back.
    pub(super) fn flow_over(
        &mut self,
        i: usize,
        enter: u32,
        leave: u32,
        start: StartSpec,
        links: impl Fn(bool) -> Vec<u32>,
    ) {
        let source = self.node(&format!("s{i}"), NodeKind::Host);
        let destination = self.node(&format!("d{i}"), NodeKind::Host);
        let delay = self.delay();
        let up = self.link(source, enter, delay, false);
        let down = self.link(enter, source, delay, false);
        let out = self.link(leave, destination, delay, false);
        let into = self.link(destination, leave, delay, false);
        let forward = self.vc([vec![up], links(true), vec![out]].concat());
        let reverse = self.vc([vec![into], links(false), vec![down]].concat());
        for _ in 0..1 + self.dice.below(2) {
            let tcp = self.tcp();
            self.flow(vec![forward], vec![reverse], start, tcp);
        }
    }
}
