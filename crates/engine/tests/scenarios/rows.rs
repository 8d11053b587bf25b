//! Switches in a row.

use super::Builder;
use skycell_spec::NodeKind;

impl Builder<'_> {
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
        for (i, (enter, leave)) in parts.into_iter().enumerate() {
            let source = self.node(&format!("s{i}"), NodeKind::Host);
            let destination = self.node(&format!("d{i}"), NodeKind::Host);
            let delay = self.delay();
            let up = self.link(source, switches[enter], delay, false);
            let down = self.link(switches[enter], source, delay, false);
            let out = self.link(switches[leave], destination, delay, false);
            let into = self.link(destination, switches[leave], delay, false);
            let between = |from: usize, to: usize| -> Vec<u32> {
                if from < to {
                    across[from..to].to_vec()
                } else {
                    back[to..from].iter().rev().copied().collect()
                }
            };
            let forward = self.vc([vec![up], between(enter, leave), vec![out]].concat());
            let reverse = self.vc([vec![into], between(leave, enter), vec![down]].concat());
            for _ in 0..1 + self.dice.below(2) {
                let tcp = self.tcp();
                self.flow(vec![forward], vec![reverse], start, tcp);
            }
        }
    }
}
