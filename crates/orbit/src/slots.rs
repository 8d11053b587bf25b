//! Access in slots: an operator gives each station a satellite at fixed moments, for the time to the
//! next one.
//!
//! A station is given one of the satellites that it may use from the beginning of a slot to its end;
//! where there is none, one that it may use at the beginning, and nothing from that one's setting on.
//! A choice depends on its slot alone, not on the ones before.

use crate::OrbitError;
use crate::changes::Turn;
use crate::series::{Access, Progress, SeriesRequest, shared};
use crate::sky::{Sky, World};
use crate::spec::{AccessRule, Slots};
use skycell_des::Stream;

/// Slots that a thread takes at a time.
const PIECE: u64 = 8;
/// To which a setting within a slot is found where no precision is asked for, ps.
const SETTING_PS: u64 = 1_000_000_000;

impl Slots {
    /// Number of the slot that a moment is in; the one that begins at the phase has number 1.
    pub fn of(&self, at_ps: u64) -> u64 {
        (at_ps + self.period_ps - self.phase_ps) / self.period_ps
    }

    /// When a slot begins, at time 0 at the earliest.
    pub fn begins_ps(&self, slot: u64) -> u64 {
        (self.phase_ps + slot * self.period_ps).saturating_sub(self.period_ps)
    }
}

impl World {
    /// Returns the assignments of stations in a slot, in the order of the spec: when they take a
    /// satellite and which, and when they lose it, if that is before the slot ends.
    fn given(&self, slots: &Slots, slot: u64, precision_ps: u64) -> Vec<Vec<Turn>> {
        let (begin_ps, end_ps) = (slots.begins_ps(slot), slots.begins_ps(slot + 1));
        let (begin, end) = (self.sky(begin_ps), self.sky(end_ps));
        let mut users = vec![0u32; self.fleet.len()];
        let mut given = Vec::with_capacity(self.stations.len());
        for station in 0..self.stations.len() as u32 {
            let seen: Vec<u32> = begin.visible(station).collect();
            let mut lasting = seen.clone();
            lasting.retain(|&satellite| end.sees(station, satellite));
            let candidates = if lasting.is_empty() { &seen } else { &lasting };
            let satellite = self.choice(&begin, slots, slot, station, candidates, &users);
            let at_ps = begin_ps;
            let mut turns = vec![Turn { at_ps, satellite }];
            if let Some(satellite) = satellite {
                users[satellite as usize] += 1;
                if lasting.is_empty() {
                    let at_ps = self.sets_ps(station, satellite, (begin_ps, end_ps), precision_ps);
                    let satellite = None;
                    turns.push(Turn { at_ps, satellite });
                }
            }
            given.push(turns);
        }
        given
    }

    fn choice(
        &self,
        sky: &Sky<'_>,
        slots: &Slots,
        slot: u64,
        station: u32,
        candidates: &[u32],
        users: &[u32],
    ) -> Option<u32> {
        let near = |satellite: u32| (sky.ground_ps(station, satellite), satellite);
        let most = |value: &dyn Fn(u32) -> f64| {
            let mut best: Option<(f64, u32)> = None;
            for &satellite in candidates {
                let own = value(satellite);
                if best.is_none_or(|(known, _)| own > known) {
                    best = Some((own, satellite));
                }
            }
            best.map(|(_, satellite)| satellite)
        };
        let all = candidates.iter().copied();
        match self.spec.access.rule {
            AccessRule::Nearest | AccessRule::Any => all.min_by_key(|&satellite| near(satellite)),
            AccessRule::Highest => most(&|satellite| sky.look(station, satellite).elevation_deg),
            AccessRule::Longest => most(&|satellite| sky.visible_for_s(station, satellite)),
            AccessRule::LeastUsed => {
                all.min_by_key(|&satellite| (users[satellite as usize], near(satellite)))
            }
            AccessRule::Random => {
                let name = &self.spec.stations[station as usize].name;
                let mut stream = Stream::new(slots.seed, &format!("station/{name}/slot/{slot}"));
                let count = candidates.len() as u64;
                (count > 0).then(|| candidates[stream.uniform(0, count) as usize])
            }
        }
    }

    /// When a satellite that is visible at the first of two moments and not at the second one sets.
    fn sets_ps(
        &self,
        station: u32,
        satellite: u32,
        (mut up_ps, mut down_ps): (u64, u64),
        precision_ps: u64,
    ) -> u64 {
        let site = &self.stations[station as usize];
        while down_ps - up_ps > precision_ps {
            let middle_ps = up_ps + (down_ps - up_ps) / 2;
            let at = self
                .fleet
                .position_km(satellite, crate::sky::seconds(middle_ps));
            if site.sees(at) {
                up_ps = middle_ps;
            } else {
                down_ps = middle_ps;
            }
        }
        down_ps
    }

    /// The satellite that each station uses at a moment, by its rule.
    pub fn used(&self, sky: &Sky<'_>, at_ps: u64) -> Vec<Option<u32>> {
        let stations = 0..self.stations.len() as u32;
        let Some(slots) = self.spec.access.slots else {
            return stations.map(|station| sky.access(station, None)).collect();
        };
        let given = self.given(&slots, slots.of(at_ps), SETTING_PS);
        let last = |turns: Vec<Turn>| turns.into_iter().rfind(|turn| turn.at_ps <= at_ps);
        given
            .into_iter()
            .map(|turns| last(turns)?.satellite)
            .collect()
    }

    /// The satellites of all stations over time.
    pub(crate) fn slots_over_time(
        &self,
        slots: &Slots,
        request: &SeriesRequest,
        go_on: Progress,
    ) -> Result<Vec<Access>, OrbitError> {
        let last_ps = request.at_ps(request.steps.saturating_sub(1));
        let (first, end) = (slots.of(request.start_ps), slots.of(last_ps) + 1);
        let precision_ps = request.precision_ps.unwrap_or(SETTING_PS);
        let pieces = (end - first).div_ceil(PIECE) as usize;
        let done = shared(request.threads, pieces, (0.0, 0.5), go_on, |piece| {
            let from = first + piece as u64 * PIECE;
            let slots_of_piece = from..(from + PIECE).min(end);
            slots_of_piece
                .map(|slot| self.given(slots, slot, precision_ps))
                .collect::<Vec<_>>()
        })?;
        let mut access = vec![Access::default(); self.stations.len()];
        for given in done.into_iter().flatten() {
            for (own, turns) in access.iter_mut().zip(given) {
                own.turns.extend(turns);
            }
        }
        for own in &mut access {
            own.follow_turns(request);
        }
        Ok(access)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_begin_at_their_phase_and_every_period_after_it() {
        let slots = Slots {
            period_ps: 15,
            phase_ps: 12,
            seed: 1,
        };
        let numbers: Vec<u64> = [0, 11, 12, 26, 27].map(|at| slots.of(at)).to_vec();
        assert_eq!(numbers, [0, 0, 1, 1, 2]);
        assert_eq!([0, 1, 2].map(|slot| slots.begins_ps(slot)), [0, 12, 27]);
        let none = Slots {
            phase_ps: 0,
            ..slots
        };
        assert_eq!([0, 14, 15].map(|at| none.of(at)), [1, 1, 2]);
        assert_eq!([1, 2].map(|slot| none.begins_ps(slot)), [0, 15]);
    }
}
