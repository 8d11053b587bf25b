//! Satellites above the mask of a place that the earth hides: a mask below the horizon asks for them.

use crate::motion::is_left_out;
use crate::sky::{World, seconds};
use std::collections::BTreeSet;

/// Moments that are looked at, at most.
const MOST_LOOKS: u64 = 61;

/// Satellites that the earth hides from a place at some of the moments looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hidden {
    /// Number of the place.
    pub station: u32,
    /// How many satellites.
    pub satellites: u32,
    /// Moments that were looked at, evenly spaced.
    pub looks: u32,
}

impl World {
    /// Returns what the earth hides between two moments, both included, from places whose limits
    /// ask for it.
    pub fn hidden(&self, [first_ps, last_ps]: [u64; 2]) -> Vec<Hidden> {
        let looks = if first_ps == last_ps { 1 } else { MOST_LOOKS };
        let mut found = vec![BTreeSet::new(); self.stations.len()];
        let mut positions_km = Vec::new();
        for look in 0..looks {
            let share = u128::from(last_ps - first_ps) * u128::from(look);
            let at_s = seconds(first_ps + (share / u128::from((looks - 1).max(1))) as u64);
            self.fleet.positions_km(at_s, &mut positions_km);
            for (satellite, &position_km) in positions_km.iter().enumerate() {
                for (station, own) in self.stations.iter().zip(&mut found) {
                    if !is_left_out(position_km) && station.is_hidden(position_km) {
                        own.insert(satellite);
                    }
                }
            }
        }
        let counts = found.into_iter().map(|own| own.len() as u32);
        (0..)
            .zip(counts)
            .filter(|(_, satellites)| *satellites > 0)
            .map(|(station, satellites)| Hidden {
                station,
                satellites,
                looks: looks as u32,
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::OrbitSpec;

    #[test]
    fn a_satellite_beyond_the_horizon_is_hidden_and_in_no_pass() {
        // At rest over the equator: on the ground below the first the second is 71.6 degrees away, and a
        // line of sight reaches acos(6378 / 42164) = 81.3 degrees; the third is 150 degrees away.
        let spec = r#"{"shells": [{"from": "pattern", "links": {"kind": "none"}, "pattern": {"kind":
            "slots", "radius_km": 42164.0, "longitudes_deg": [10.0, 81.6, 160.0]}}],
            "rotation": {"kind": "uniform", "angle_at_start_deg": 0.0},
            "shape": "wgs84", "light_km_s": 299792.458,
            "limits": {"max_length_km": null, "clearance_km": 80.0},
            "given_links": [], "stations": [{"name": "hut", "latitude_deg": 0.0, "longitude_deg": 10.0,
            "height_km": 0.0, "mask_deg": -90.0, "horizon_deg": [], "longest_km": null,
            "gso_exclusion_deg": 0.0}], "pairs": [],
            "access": {"rule": "any", "hold": false, "slots": null}, "route": "shortest",
            "extra": {"satellite_ps": 0, "ground_ps": 0}}"#;
        let last_ps = 60 * 1_000_000_000_000;
        let world = World::new(OrbitSpec::from_json(spec).unwrap(), [0, last_ps]).unwrap();
        let hut = Hidden {
            station: 0,
            satellites: 1,
            looks: 61,
        };
        assert_eq!(world.hidden([0, last_ps]), [hut]);
        let sky = world.sky(0);
        assert_eq!(sky.visible(0).collect::<Vec<_>>(), [0, 1]);
        let passes = world.passes([0, last_ps], 1, &mut |_| true).unwrap();
        let satellites: Vec<_> = passes.iter().map(|pass| pass.satellite).collect();
        assert_eq!(satellites, [0, 1]);
    }
}
