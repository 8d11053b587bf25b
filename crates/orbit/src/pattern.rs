//! Circular orbits in regular patterns: planes of equally spaced satellites.

use crate::earth::{EQUATORIAL_RADIUS_KM, MU_KM3_S2};
use crate::vector::Vec3;
use serde::{Deserialize, Serialize};

/// Where the satellites of a shell are at time 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Pattern {
    /// NASA/CR-1999-209158, part III.A, section 5.2.1, as its tables determine it.
    Jsac98 {
        /// Planes and what is in them.
        #[serde(flatten)]
        planes: Planes,
    },
    /// Walker's delta: ascending nodes around the whole equator (Walker, RAE TR 77044).
    Delta {
        /// Planes and what is in them.
        #[serde(flatten)]
        planes: Planes,
        /// F: a satellite leads its neighbour in the plane to the west by F x 360 / T degrees, T
        /// being the number of satellites; from 0 to P - 1.
        phasing: u32,
        /// True if the shift of every second plane is taken back in the next, as Hypatia shifts planes.
        alternating: bool,
    },
    /// A star: ascending nodes around about half of the equator, so that there is a seam.
    Star {
        /// Planes and what is in them.
        #[serde(flatten)]
        planes: Planes,
        /// Between ascending nodes of neighbouring planes, degrees; 180 / P is a regular star.
        raan_step_deg: f64,
        /// By which a satellite leads its neighbour in the plane to the west, degrees.
        phase_step_deg: f64,
    },
    /// Satellites that stand over places on the equator.
    Slots {
        /// From the centre of the earth, km.
        radius_km: f64,
        /// Degrees, east positive.
        longitudes_deg: Vec<f64>,
    },
}

/// Planes and what is in them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Planes {
    /// P: number of planes, above 0.
    pub planes: u32,
    /// S: number of satellites in each, above 0.
    pub satellites_per_plane: u32,
    /// Above the equator of WGS84, km.
    pub altitude_km: f64,
    /// Degrees, 0 to 180.
    pub inclination_deg: f64,
}

impl Planes {
    /// Number of satellites.
    pub fn satellites(&self) -> u32 {
        self.planes * self.satellites_per_plane
    }

    /// Between neighbours in a plane, degrees.
    pub fn delta_anomaly_deg(&self) -> f64 {
        360.0 / f64::from(self.satellites_per_plane)
    }
}

/// Circular orbits, as regular as a crystal: plane p's ascending node is p x `raan_step_deg`, and its
/// satellite s stands s x 360 / S + p x `phase_step_deg` after it (both counted from 0). Where phases
/// alternate, p is 1 there for an odd plane and 0 for an even one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// Planes and what is in them.
    pub planes: Planes,
    /// Between ascending nodes of neighbouring planes, degrees.
    pub raan_step_deg: f64,
    /// By which a satellite leads its neighbour in the plane to the west, degrees.
    pub phase_step_deg: f64,
    /// True if every second plane takes that lead back.
    pub alternating: bool,
}

/// Of the correction to the spacing of ascending nodes (III.A, section 5.2.1).
const RAAN_CORRECTION: f64 = 1.5;
/// Of the anomaly between neighbours, in the phasing between planes (III.A, section 5.2.1).
const PHASING_SHARE: f64 = 0.5;

impl Pattern {
    /// Number of satellites.
    pub fn satellites(&self) -> u32 {
        match self {
            Pattern::Jsac98 { planes } => planes.satellites(),
            Pattern::Delta { planes, .. } | Pattern::Star { planes, .. } => planes.satellites(),
            Pattern::Slots { longitudes_deg, .. } => longitudes_deg.len() as u32,
        }
    }

    /// The orbits; none where satellites stand over places.
    pub fn lattice(&self) -> Option<Lattice> {
        match *self {
            Pattern::Jsac98 { planes } => {
                let away_from_pole_deg = 90.0 - planes.inclination_deg;
                let raan_step_deg =
                    (180.0 + RAAN_CORRECTION * away_from_pole_deg) / f64::from(planes.planes);
                // The paper gives no sign. Its tables come out when each plane trails the one
                // to its west, and only then.
                let phase_step_deg = -(PHASING_SHARE * planes.delta_anomaly_deg()
                    + raan_step_deg * libm::sin(away_from_pole_deg.to_radians()));
                Some(Lattice {
                    planes,
                    raan_step_deg,
                    phase_step_deg,
                    alternating: false,
                })
            }
            Pattern::Delta {
                planes,
                phasing,
                alternating,
            } => Some(Lattice {
                planes,
                raan_step_deg: 360.0 / f64::from(planes.planes),
                phase_step_deg: f64::from(phasing) * 360.0 / f64::from(planes.satellites()),
                alternating,
            }),
            Pattern::Star {
                planes,
                raan_step_deg,
                phase_step_deg,
            } => Some(Lattice {
                planes,
                raan_step_deg,
                phase_step_deg,
                alternating: false,
            }),
            Pattern::Slots { .. } => None,
        }
    }
}

impl Lattice {
    /// Angle of a plane's first satellite from the plane's ascending node at time 0, degrees.
    fn phase_deg(&self, plane: u32) -> f64 {
        let steps = if self.alternating { plane % 2 } else { plane };
        f64::from(steps) * self.phase_step_deg
    }

    /// By how many places the first plane is ahead where it follows on the last one; none where the
    /// pattern does not close.
    pub fn offset_across_the_seam(&self) -> Option<u32> {
        let planes = f64::from(self.planes.planes);
        let closes = (planes * self.raan_step_deg - 360.0).abs() < 1e-9;
        if self.alternating {
            return closes.then_some(0);
        }
        let steps = planes * self.phase_step_deg / self.planes.delta_anomaly_deg();
        let is_whole = (steps - steps.round()).abs() < 1e-9;
        let count = f64::from(self.planes.satellites_per_plane);
        (closes && is_whole).then(|| steps.round().rem_euclid(count) as u32)
    }
}

/// One circular orbit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circular {
    /// From the centre of the earth, km.
    pub radius_km: f64,
    /// Angle from the ascending node at time 0, radians.
    pub phase_rad: f64,
    /// Rate of that angle, rad/s.
    pub rate_rad_s: f64,
    /// Unit vector to the ascending node.
    toward_node: Vec3,
    /// Unit vector a quarter of the orbit further.
    quarter_later: Vec3,
}

impl Circular {
    /// The orbit of plane `p`'s satellite `s`, both from 0.
    pub fn of(lattice: &Lattice, p: u32, s: u32) -> Self {
        let planes = &lattice.planes;
        let radius_km = EQUATORIAL_RADIUS_KM + planes.altitude_km;
        let phase_deg = f64::from(s) * planes.delta_anomaly_deg() + lattice.phase_deg(p);
        let p = f64::from(p);
        let (node_sine, node_cosine) = libm::sincos((p * lattice.raan_step_deg).to_radians());
        let (tilt_sine, tilt_cosine) = libm::sincos(planes.inclination_deg.to_radians());
        Circular {
            radius_km,
            phase_rad: phase_deg.to_radians(),
            rate_rad_s: (MU_KM3_S2 / (radius_km * radius_km * radius_km)).sqrt(),
            toward_node: [node_cosine, node_sine, 0.0],
            quarter_later: [
                -node_sine * tilt_cosine,
                node_cosine * tilt_cosine,
                tilt_sine,
            ],
        }
    }

    /// Where the satellite is, in axes that do not turn with the earth, km.
    pub fn position_km(&self, seconds: f64) -> Vec3 {
        let (sine, cosine) = libm::sincos(self.phase_rad + self.rate_rad_s * seconds);
        let (a, b) = (self.radius_km * cosine, self.radius_km * sine);
        [
            a * self.toward_node[0] + b * self.quarter_later[0],
            a * self.toward_node[1] + b * self.quarter_later[1],
            a * self.toward_node[2] + b * self.quarter_later[2],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::{distance, norm};

    const PAPER: Planes = Planes {
        planes: 6,
        satellites_per_plane: 11,
        altitude_km: 780.0,
        inclination_deg: 86.0,
    };

    #[test]
    fn the_paper_spreads_six_planes_by_31_degrees() {
        // 180 / 6 + 1.5 x 4 / 6 = 31; 0.5 x 360 / 11 + 31 sin 4 deg = 18.526.
        let lattice = Pattern::Jsac98 { planes: PAPER }.lattice().unwrap();
        assert_eq!(lattice.raan_step_deg, 31.0);
        assert!((lattice.phase_step_deg + 18.526).abs() < 1e-3);
    }

    #[test]
    fn neighbours_in_a_plane_of_the_paper_are_13_44_ms_apart() {
        // III.A, Table 3: 2 x 7158.137 km x sin(180/11 deg) / 300 000 km/s.
        let lattice = Pattern::Jsac98 { planes: PAPER }.lattice().unwrap();
        let at = |s| Circular::of(&lattice, 2, s).position_km(77.0);
        let delay_ms = distance(at(3), at(4)) / 300.0;
        assert!((delay_ms - 13.44).abs() < 0.005, "{delay_ms}");
    }

    #[test]
    fn the_first_satellite_begins_at_latitude_and_longitude_0() {
        let lattice = Pattern::Jsac98 { planes: PAPER }.lattice().unwrap();
        let at = Circular::of(&lattice, 0, 0).position_km(0.0);
        assert_eq!(at, [EQUATORIAL_RADIUS_KM + 780.0, 0.0, 0.0]);
    }

    #[test]
    fn an_orbit_closes_after_its_period_and_keeps_its_radius() {
        // 2 pi sqrt(r^3 / mu) = 6027.1 s at 780 km.
        let planes = Planes {
            inclination_deg: 86.4,
            ..PAPER
        };
        let lattice = Pattern::Star {
            planes,
            raan_step_deg: 31.6,
            phase_step_deg: 16.4,
        };
        let orbit = Circular::of(&lattice.lattice().unwrap(), 5, 7);
        let period_s = std::f64::consts::TAU / orbit.rate_rad_s;
        assert!((period_s - 6027.1).abs() < 0.1, "{period_s}");
        let (first, again) = (orbit.position_km(5.0), orbit.position_km(5.0 + period_s));
        assert!(distance(first, again) < 1e-6);
        assert!((norm(orbit.position_km(1234.5)) - orbit.radius_km).abs() < 1e-9);
    }

    #[test]
    fn a_delta_is_the_same_from_plane_to_plane() {
        let planes = Planes {
            planes: 5,
            satellites_per_plane: 4,
            altitude_km: 1000.0,
            inclination_deg: 53.0,
        };
        let lattice = Pattern::Delta {
            planes,
            phasing: 3,
            alternating: false,
        }
        .lattice()
        .unwrap();
        assert_eq!(lattice.raan_step_deg, 72.0);
        assert_eq!(lattice.phase_step_deg, 54.0); // 3 x 360 / 20
    }

    #[test]
    fn an_alternating_delta_shifts_every_second_plane_there_and_back_and_closes() {
        // Hypatia, generate_tles_from_scratch.py: an odd plane is 360 / (2 S) ahead, an even one is not.
        let planes = Planes {
            planes: 4,
            satellites_per_plane: 5,
            altitude_km: 630.0,
            inclination_deg: 51.9,
        };
        let lattice = Pattern::Delta {
            planes,
            phasing: 2,
            alternating: true,
        }
        .lattice()
        .unwrap();
        let phases_deg = [0, 1, 2, 3].map(|p| Circular::of(&lattice, p, 0).phase_rad.to_degrees());
        assert_eq!(phases_deg, [0.0, 36.0, 0.0, 36.0]);
        assert_eq!(lattice.offset_across_the_seam(), Some(0));
    }
}
