//! When paths change: the moments between the steps of a series, found by halving.

use crate::path::{NoPath, Path};
use crate::sky::{Sky, World};
use crate::spec::AccessRule;

/// The satellite of a station from a moment on; none where it sees none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) at_ps: u64,
    pub(crate) satellite: Option<u32>,
}

/// A change of path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which pair of the spec.
    pub pair: u32,
    /// The first moment that is known to be on the new path; the precision of the search before it,
    /// the old one was still taken.
    pub at_ps: u64,
    /// The old path at its last known moment; none where there was none.
    pub before_ps: Option<u64>,
    /// The new path at `at_ps`, or why there is none.
    pub after: Result<Path, NoPath>,
}

/// A moment, and the path there.
type At = (u64, Result<Path, NoPath>);

/// Returns the satellites that identify a path; its delay always changes.
fn satellites_of(path: &Result<Path, NoPath>) -> Result<&[u32], NoPath> {
    path.as_ref()
        .map_or_else(|&reason| Err(reason), |path| Ok(path.satellites.as_slice()))
}

/// The search for changes of one sky.
pub(crate) struct Search<'a, 'b> {
    pub(crate) sky: &'a mut Sky<'b>,
    pub(crate) precision_ps: u64,
}

impl Search<'_, '_> {
    /// How a station that held a satellite at `from_ps` changes it up to `to_ps`: it keeps it until
    /// it sets, and takes another at that moment. Changes closer than the precision are one.
    pub(crate) fn turns(
        &mut self,
        station: u32,
        held: Option<u32>,
        (from_ps, to_ps): (u64, u64),
    ) -> Vec<Turn> {
        let (mut held, mut from_ps) = (held, from_ps);
        let mut turns = Vec::new();
        loop {
            self.sky.turn_to(to_ps);
            if self.sky.access(station, held) == held {
                return turns;
            }
            // Halving on whether the station still has what it had.
            let mut late_ps = to_ps;
            while late_ps - from_ps > self.precision_ps {
                let middle_ps = from_ps + (late_ps - from_ps) / 2;
                self.sky.turn_to(middle_ps);
                if self.sky.access(station, held) == held {
                    from_ps = middle_ps;
                } else {
                    late_ps = middle_ps;
                }
            }
            self.sky.turn_to(late_ps);
            held = self.sky.access(station, held);
            let turn = Turn {
                at_ps: late_ps,
                satellite: held,
            };
            turns.push(turn);
            from_ps = late_ps;
        }
    }

    /// The path of a pair at a moment; `turns` give the satellites of its stations where they hold
    /// them.
    fn at(&mut self, pair: [u32; 2], at_ps: u64, turns: [&[Turn]; 2]) -> At {
        self.sky.turn_to(at_ps);
        self.sky.find_links();
        let mut access = [None; 2];
        for (used, (station, turns)) in access.iter_mut().zip(pair.into_iter().zip(turns)) {
            *used = match turns.partition_point(|turn| turn.at_ps <= at_ps) {
                0 => self.sky.access(station, None),
                known => turns[known - 1].satellite,
            };
        }
        (at_ps, self.sky.path(pair, access))
    }

    /// The changes of a pair's path after `from_ps` and up to `to_ps`, in the order of time.
    ///
    /// A way that is taken up and left again between two looks goes unseen.
    pub(crate) fn changes(
        &mut self,
        number: u32,
        pair: [u32; 2],
        turns: [&[Turn]; 2],
        (from_ps, to_ps): (u64, u64),
    ) -> Vec<Change> {
        let mut known = self.at(pair, from_ps, turns);
        // What is still to be looked at, the earliest last.
        let mut later = vec![self.at(pair, to_ps, turns)];
        let mut found = Vec::new();
        while let Some(next) = later.last() {
            let apart_ps = next.0 - known.0;
            if satellites_of(&next.1) == satellites_of(&known.1) {
                known = later.pop().expect("the one looked at");
            } else if apart_ps > self.precision_ps {
                let middle = self.at(pair, known.0 + apart_ps / 2, turns);
                later.push(middle);
            } else {
                let next = later.pop().expect("the one looked at");
                found.push(Change {
                    pair: number,
                    at_ps: next.0,
                    before_ps: known.1.as_ref().ok().map(Path::delay_ps),
                    after: next.1.clone(),
                });
                known = next;
            }
        }
        found
    }
}

impl World {
    /// Returns whether stations hold their satellites, so that the choice depends on history.
    pub(crate) fn holds(&self) -> bool {
        self.spec.access.hold && self.spec.access.rule != AccessRule::Any
    }
}
