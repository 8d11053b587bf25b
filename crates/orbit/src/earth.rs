//! The earth: its shape and its rotation.

use crate::vector::{Vec3, norm};
use serde::{Deserialize, Serialize};

/// Equatorial radius, km (WGS84, NIMA TR8350.2, table 3.1).
pub const EQUATORIAL_RADIUS_KM: f64 = 6378.137;
/// Flattening (WGS84, NIMA TR8350.2, table 3.1).
pub const FLATTENING: f64 = 1.0 / 298.257_223_563;
/// Gravitational constant times mass, km^3/s^2 (WGS84, NIMA TR8350.2, table 3.1).
pub const MU_KM3_S2: f64 = 398_600.441_8;
/// Rate of rotation, rad/s (WGS84, NIMA TR8350.2, table 3.1).
pub const ROTATION_RAD_S: f64 = 7.292_115e-5;

/// The surface that places stand on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// A sphere of the equatorial radius.
    Sphere,
    /// The ellipsoid of WGS84; latitudes are geodetic.
    Wgs84,
}

impl Shape {
    /// Distance of the poles from the centre, km.
    fn polar_radius_km(self) -> f64 {
        match self {
            Shape::Sphere => EQUATORIAL_RADIUS_KM,
            Shape::Wgs84 => EQUATORIAL_RADIUS_KM * (1.0 - FLATTENING),
        }
    }

    /// Returns whether a point is below the surface; the third axis leads to the north pole, km.
    pub fn holds_inside(self, point_km: Vec3) -> bool {
        let [x, y, z] = point_km;
        let stretched = z * (EQUATORIAL_RADIUS_KM / self.polar_radius_km());
        norm([x, y, stretched]) < EQUATORIAL_RADIUS_KM
    }
}

/// How the earth turns under the orbits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Rotation {
    /// At WGS84's rate from an angle at time 0; orbits are placed by the longitude at time 0.
    Uniform {
        /// Of the prime meridian from the first axis of the orbits at time 0, degrees.
        angle_at_start_deg: f64,
    },
    /// By Greenwich mean sidereal time.
    Sidereal {
        /// Time 0 in nanoseconds of UTC since 1970.
        start_unix_ns: i64,
        /// UT1 less UTC, seconds, within 0.9.
        ut1_minus_utc_s: f64,
    },
}

impl Rotation {
    /// Angle of the prime meridian from the orbits' first axis, in radians.
    pub fn angle_rad(&self, seconds: f64) -> f64 {
        match *self {
            Rotation::Uniform { angle_at_start_deg } => {
                angle_at_start_deg.to_radians() + ROTATION_RAD_S * seconds
            }
            Rotation::Sidereal {
                start_unix_ns,
                ut1_minus_utc_s,
            } => sidereal_time_rad(start_unix_ns, seconds + ut1_minus_utc_s),
        }
    }
}

/// Greenwich mean sidereal time some seconds after a moment, in radians from 0 to 2 pi.
///
/// The expression of 1982 (Aoki et al., Astronomy and Astrophysics 105, p. 359), which the frame of
/// SGP4's positions (TEME) belongs to (Vallado et al., AIAA 2006-6753, section C).
fn sidereal_time_rad(unix_ns: i64, seconds: f64) -> f64 {
    const DAY_S: f64 = 86_400.0;
    /// 1970-01-01 in days from 2000-01-01 12:00.
    const UNIX_IN_DAYS: f64 = -10_957.5;
    const DAY_NS: i64 = 86_400_000_000_000;
    let days = unix_ns.div_euclid(DAY_NS) as f64 + UNIX_IN_DAYS;
    let seconds_of_day = unix_ns.rem_euclid(DAY_NS) as f64 / 1e9 + seconds;
    let centuries = (days + seconds_of_day / DAY_S) / 36_525.0;
    // The day's own turn is taken off before it can cost digits.
    let turn_s = 67_310.548_41 - DAY_S / 2.0
        + seconds_of_day
        + centuries * (8_640_184.812_866 + centuries * (0.093_104 - centuries * 6.2e-6));
    (turn_s.rem_euclid(DAY_S) / DAY_S) * std::f64::consts::TAU
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_the_surface_depends_on_its_shape_at_the_poles_only() {
        for (point, sphere, ellipsoid) in [
            ([6378.136, 0.0, 0.0], true, true),
            ([0.0, 6378.138, 0.0], false, false),
            ([0.0, 0.0, 6378.136], true, false),
            ([0.0, 0.0, -6_356.753], true, false),
            ([0.0, 0.0, 6_356.752], true, true),
        ] {
            assert_eq!(Shape::Sphere.holds_inside(point), sphere, "{point:?}");
            assert_eq!(Shape::Wgs84.holds_inside(point), ellipsoid, "{point:?}");
        }
    }

    #[test]
    fn sidereal_time_is_that_of_the_textbook() {
        // Vallado, Fundamentals of Astrodynamics, example 3-5: 1992-08-20 12:14 UT1, 152.578788 deg.
        let unix_s: i64 = 714_312_840;
        let angle = sidereal_time_rad(unix_s * 1_000_000_000, 0.0).to_degrees();
        assert!((angle - 152.578_788).abs() < 1e-5, "{angle}");
    }

    #[test]
    fn the_earth_turns_once_in_a_sidereal_day() {
        let rotation = Rotation::Uniform {
            angle_at_start_deg: 10.0,
        };
        // 86164.0989 s: 2 pi over the rate.
        let turned = rotation.angle_rad(std::f64::consts::TAU / ROTATION_RAD_S);
        assert!((turned - std::f64::consts::TAU - 10f64.to_radians()).abs() < 1e-12);
    }
}
