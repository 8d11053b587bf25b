//! Links that the rules ask for, and that do not exist: through the earth, or too long.

use crate::links::Obstacle;
use crate::sky::{World, seconds};
use std::collections::BTreeMap;

/// Moments that are looked at, at most.
const MOST_LOOKS: u64 = 61;
/// Pairs of satellites that are searched for the shortest links in all looks together, about.
const MOST_PAIRS: u64 = 4_000_000;
/// Looks where that is too many: at both ends and in the middle.
const FEWEST_LOOKS: u64 = 3;

/// A link that does not exist at some of the moments at which the rules ask for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Absent {
    /// Numbers of its satellites.
    pub ends: [u32; 2],
    /// Moments at which the rules ask for it.
    pub looks: u32,
    /// Those of them at which it does not exist.
    pub absent: u32,
    /// Limit that the link breaks at most of these moments, at its worst.
    pub obstacle: Obstacle,
}

/// The absences of links between two moments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Absences {
    /// Moments that were looked at, evenly spaced.
    pub looks: u32,
    /// Pairs of satellites that the rules ask for at any of them.
    pub asked_for: u32,
    /// Those whose link does not always exist, in the order of their ends.
    pub links: Vec<Absent>,
}

/// The limits that one link breaks over the samples.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    looks: u32,
    by_earth: u32,
    by_length: u32,
    lowest_km: f64,
    longest_km: f64,
}

impl Count {
    fn add(&mut self, broken: Option<Obstacle>) {
        self.looks += 1;
        match broken {
            None => {}
            Some(Obstacle::Earth(height_km)) => {
                let known = if self.by_earth == 0 {
                    f64::INFINITY
                } else {
                    self.lowest_km
                };
                self.lowest_km = known.min(height_km);
                self.by_earth += 1;
            }
            Some(Obstacle::Length(length_km)) => {
                self.longest_km = self.longest_km.max(length_km);
                self.by_length += 1;
            }
        }
    }

    fn absent(&self, ends: [u32; 2]) -> Option<Absent> {
        let absent = self.by_earth + self.by_length;
        (absent > 0).then_some(Absent {
            ends,
            looks: self.looks,
            absent,
            obstacle: if self.by_earth >= self.by_length {
                Obstacle::Earth(self.lowest_km)
            } else {
                Obstacle::Length(self.longest_km)
            },
        })
    }
}

impl World {
    /// The links that do not exist at some moments between two, both included.
    pub fn absences(&self, [first_ps, last_ps]: [u64; 2]) -> Absences {
        if self.topology.is_empty() {
            return Absences::default();
        }
        let affordable = MOST_PAIRS / self.topology.searched_pairs().max(1);
        let most = affordable.clamp(FEWEST_LOOKS, MOST_LOOKS);
        let looks = if first_ps == last_ps { 1 } else { most };
        let mut counts: BTreeMap<[u32; 2], Count> = BTreeMap::new();
        let mut positions_km = Vec::new();
        for look in 0..looks {
            let share = u128::from(last_ps - first_ps) * u128::from(look);
            let at_s = seconds(first_ps + (share / u128::from((looks - 1).max(1))) as u64);
            self.fleet.positions_km(at_s, &mut positions_km);
            for (ends, broken) in self.topology.asked_for(&positions_km, at_s) {
                counts.entry(ends).or_default().add(broken);
            }
        }
        Absences {
            looks: looks as u32,
            asked_for: counts.len() as u32,
            links: counts
                .into_iter()
                .filter_map(|(ends, count)| count.absent(ends))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::earth::EQUATORIAL_RADIUS_KM;
    use crate::spec::OrbitSpec;
    use proptest::prelude::*;

    /// Two satellites over the equator, some degrees apart.
    fn pair(radius_km: f64, apart_deg: f64, clearance_km: f64, links: &str, given: &str) -> World {
        let spec = format!(
            r#"{{"shells": [{{"from": "pattern", "links": {links}, "pattern": {{"kind": "slots",
                "radius_km": {radius_km}, "longitudes_deg": [10.0, {}]}}}}],
            "rotation": {{"kind": "uniform", "angle_at_start_deg": 0.0}},
            "shape": "wgs84", "light_km_s": 299792.458,
            "limits": {{"max_length_km": null, "clearance_km": {clearance_km}}},
            "given_links": {given}, "stations": [], "pairs": [],
            "access": {{"rule": "any", "hold": false, "slots": null}}, "route": "shortest",
            "extra": {{"satellite_ps": 0, "ground_ps": 0}}}}"#,
            10.0 + apart_deg
        );
        World::new(OrbitSpec::from_json(&spec).unwrap(), [0, 0]).unwrap()
    }

    proptest! {
        /// The chord of an angle on a circle is nearest to the centre in its middle, at r cos(angle / 2).
        #[test]
        fn a_link_exists_where_its_chord_clears_the_earth_whatever_asks_for_it(
            radius_km in 6_500.0..45_000.0f64,
            apart_deg in 1.0..180.0f64,
            clearance_km in 0.0..500.0f64,
        ) {
            let height_km = radius_km * libm::cos((apart_deg / 2.0).to_radians()) - EQUATORIAL_RADIUS_KM;
            prop_assume!((height_km - clearance_km).abs() > 1e-6);
            let exists = height_km > clearance_km;
            for (links, given) in [
                (r#"{"kind": "ring"}"#, "[]"),
                (r#"{"kind": "nearest", "count": 1}"#, "[]"),
                (r#"{"kind": "none"}"#, "[[1, 0]]"),
            ] {
                let world = pair(radius_km, apart_deg, clearance_km, links, given);
                let mut sky = world.sky(0);
                sky.find_links();
                prop_assert_eq!(sky.links(), if exists { &[[0, 1]][..] } else { &[] }, "{}", links);
                let found = world.absences([0, 0]);
                prop_assert_eq!((found.looks, found.asked_for), (1, 1));
                if exists {
                    prop_assert_eq!(found.links, vec![]);
                } else {
                    let Obstacle::Earth(lowest_km) = found.links[0].obstacle else {
                        panic!("{found:?}");
                    };
                    prop_assert!((lowest_km - height_km).abs() < 1e-6);
                }
            }
        }
    }
}
