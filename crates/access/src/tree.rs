//! Tree collision resolution: those that collided split into two groups, the first is resolved, then the second.
//!
//! Source: J. Capetanakis, Tree Algorithms for Packet Broadcast Channels, IEEE Trans. Information Theory 25, 1979; J. L.
//! Massey, Collision-Resolution Algorithms and Random-Access Communications, 1981 (skipping of certain collisions); D.
//! Bertsekas, R. Gallager, Data Networks, 2nd edition, section 4.3.1.

use crate::contention::{Contender, Contention, Feedback};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, TimeOrNone},
};
use skycell_des::Stream;
use skycell_units::SimTime;
use std::collections::BTreeSet;

/// Tree collision resolution: groups that collide split in two until each burst is through.
///
/// Capetanakis: Tree Algorithms for Packet Broadcast Channels, 1979. Static: all that wait enter the next tree. Dynamic: a
/// tree takes those that have come within a window, so that few collide.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct TreeSpec {
    /// Arrivals of this time enter a tree (dynamic); 0 for all that wait when it begins (static).
    #[param(
        key = "window",
        default = "0 s",
        symbol = "Delta",
        source = "Capetanakis 1979: static"
    )]
    pub window_ps: TimeOrNone,
    /// A group that must collide, as its sibling was idle, splits without being sent.
    #[param(default = false, source = "Capetanakis 1979: no; Massey 1981: yes")]
    pub skips_certain_collisions: Flag,
}

/// The terminals of an uplink, as trees let them send.
#[derive(Debug)]
pub struct Tree {
    spec: TreeSpec,
    coins: Stream,
    /// Trees that take turns, as many as there are slots until a slot is known: each tree waits for its own feedback only.
    trees: Vec<Stack>,
    /// Terminals in a tree.
    inside: BTreeSet<u32>,
    /// End of the windows so far.
    windows_end: SimTime,
}

/// Groups that are still to be resolved, the next one last.
type Stack = Vec<Group>;

#[derive(Debug, Default)]
struct Group {
    members: Vec<u32>,
    /// True if the group below it is the other half of the same collision.
    is_first_half: bool,
}

impl Tree {
    /// With `trees` trees that take turns, and coins from `coins`.
    pub fn new(spec: &TreeSpec, trees: u32, coins: Stream) -> Self {
        Tree {
            spec: *spec,
            coins,
            trees: (0..trees).map(|_| Stack::new()).collect(),
            inside: BTreeSet::new(),
            windows_end: SimTime::ZERO,
        }
    }

    fn tree_of(&self, slot: u64) -> usize {
        (slot % self.trees.len() as u64) as usize
    }

    /// Those that enter a tree that begins at `now`.
    fn enter(&mut self, now: SimTime, contenders: &[Contender]) -> Group {
        self.windows_end = match self.spec.window_ps {
            0 => now,
            window => now.min(self.windows_end + SimTime(window)),
        };
        let is_static = self.spec.window_ps == 0;
        let enters = |contender: &&Contender| {
            let has_come = is_static || contender.since < self.windows_end;
            has_come && !self.inside.contains(&contender.terminal)
        };
        let members: Vec<u32> = contenders
            .iter()
            .filter(enters)
            .map(|contender| contender.terminal)
            .collect();
        self.inside.extend(&members);
        Group {
            members,
            is_first_half: false,
        }
    }

    /// Each member of the next group flips a coin.
    fn split(&mut self, tree: usize) {
        let Some(group) = self.trees[tree].pop() else {
            return;
        };
        let coins = &mut self.coins;
        let (first, second) = group.members.iter().partition(|_| coins.uniform(0, 2) == 0);
        self.trees[tree].push(Group {
            members: second,
            is_first_half: false,
        });
        self.trees[tree].push(Group {
            members: first,
            is_first_half: true,
        });
    }
}

impl Contention for Tree {
    fn choose(
        &mut self,
        now: SimTime,
        slot: u64,
        contenders: &[Contender],
        senders: &mut Vec<u32>,
    ) {
        let tree = self.tree_of(slot);
        if self.trees[tree].is_empty() {
            let group = self.enter(now, contenders);
            self.trees[tree].push(group);
        }
        let group = self.trees[tree].last().expect("a tree has a group");
        let contends = |id: &u32| contenders.binary_search_by_key(id, |c| c.terminal).is_ok();
        senders.extend(group.members.iter().copied().filter(contends));
        senders.sort_unstable();
    }

    fn on_feedback(&mut self, slot: u64, feedback: Feedback, _senders: &[u32]) {
        let tree = self.tree_of(slot);
        if feedback == Feedback::Collision {
            return self.split(tree);
        }
        let Some(group) = self.trees[tree].pop() else {
            return;
        };
        for id in group.members {
            self.inside.remove(&id);
        }
        // Massey 1981: both halves of a collision were in the second one.
        let is_certain = feedback == Feedback::Idle && group.is_first_half;
        if self.spec.skips_certain_collisions && is_certain {
            self.split(tree);
        }
    }

    /// For each tree that takes its turn: groups before one's own, groups in all and whether one has split; and the end
    /// of the windows.
    fn state_size(&self) -> u32 {
        3 * self.trees.len() as u32 + u32::from(self.spec.window_ps > 0)
    }
}
