//! The earth: its shape, its rotation, and places on it.

use crate::vector::{Vec3, dot, norm, sub};
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

    /// Whether a point is below the surface; the third axis leads to the north pole, km.
    pub fn holds_inside(self, point_km: Vec3) -> bool {
        let [x, y, z] = point_km;
        let stretched = z * (EQUATORIAL_RADIUS_KM / self.polar_radius_km());
        norm([x, y, stretched]) < EQUATORIAL_RADIUS_KM
    }
}

/// A place on the earth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// Degrees, north positive, -90 to 90.
    pub latitude_deg: f64,
    /// Degrees, east positive, -180 to 360.
    pub longitude_deg: f64,
    /// Above the surface, km.
    pub height_km: f64,
    /// Elevation from which a satellite counts as visible, degrees, -90 to 90.
    pub mask_deg: f64,
}

/// A place in earth-fixed coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Station {
    /// Third axis to the north pole, first to latitude and longitude 0, km.
    pub position_km: Vec3,
    /// Where up is: normal to the surface, length 1.
    pub up: Vec3,
    /// Sine of the elevation mask.
    pub sine_of_mask: f64,
}

impl Station {
    /// A place on a surface.
    pub fn new(spec: &StationSpec, shape: Shape) -> Self {
        let (sine, cosine) = libm::sincos(spec.latitude_deg.to_radians());
        let (east, first) = libm::sincos(spec.longitude_deg.to_radians());
        let flattening = match shape {
            Shape::Sphere => 0.0,
            Shape::Wgs84 => FLATTENING,
        };
        // NIMA TR8350.2, equations 4-14 and 4-15.
        let eccentricity_squared = flattening * (2.0 - flattening);
        let normal = EQUATORIAL_RADIUS_KM / (1.0 - eccentricity_squared * sine * sine).sqrt();
        let axis = (normal + spec.height_km) * cosine;
        Station {
            position_km: [
                axis * first,
                axis * east,
                (normal * (1.0 - eccentricity_squared) + spec.height_km) * sine,
            ],
            up: [cosine * first, cosine * east, sine],
            sine_of_mask: libm::sin(spec.mask_deg.to_radians()),
        }
    }

    /// Sine of the elevation of a point above the horizon of the place, and its distance in km.
    pub fn look(&self, point_km: Vec3) -> (f64, f64) {
        let way = sub(point_km, self.position_km);
        let slant_range_km = norm(way);
        (dot(self.up, way) / slant_range_km, slant_range_km)
    }

    /// Whether a point stands at the elevation mask or above it.
    pub fn sees(&self, point_km: Vec3) -> bool {
        let way = sub(point_km, self.position_km);
        let height_km = dot(self.up, way);
        let sine = self.sine_of_mask;
        // Most points are below: no root for them. Squares grow with what they are squares of.
        if height_km < 0.0 && sine >= 0.0 {
            return false;
        }
        if height_km >= 0.0 && sine <= 0.0 {
            return true;
        }
        let enough = sine * sine * dot(way, way);
        if sine > 0.0 {
            height_km * height_km >= enough
        } else {
            height_km * height_km <= enough
        }
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

    fn place(latitude_deg: f64, longitude_deg: f64, shape: Shape) -> Station {
        let spec = StationSpec {
            latitude_deg,
            longitude_deg,
            height_km: 0.0,
            mask_deg: 0.0,
        };
        Station::new(&spec, shape)
    }

    #[test]
    fn the_pole_of_the_ellipsoid_is_21_km_nearer_than_the_equator() {
        // Semi-minor axis of WGS84: 6356.7523142 km.
        let pole = place(90.0, 0.0, Shape::Wgs84).position_km;
        assert!((pole[2] - 6_356.752_314_2).abs() < 1e-7);
        assert_eq!(place(90.0, 0.0, Shape::Sphere).position_km[2], 6378.137);
        assert_eq!(place(0.0, 0.0, Shape::Wgs84).position_km[0], 6378.137);
    }

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
    fn a_satellite_in_the_zenith_is_at_90_degrees_and_one_beyond_the_horizon_below_0() {
        let station = place(0.0, 90.0, Shape::Sphere);
        let (sine, slant_range_km) = station.look([0.0, 7378.137, 0.0]);
        assert!((sine - 1.0).abs() < 1e-15 && (slant_range_km - 1000.0).abs() < 1e-9);
        assert!(!station.sees([7378.137, 0.0, 0.0]));
    }

    #[test]
    fn a_point_is_seen_where_its_elevation_reaches_the_mask() {
        for mask_deg in [-30.0, 0.0, 25.0] {
            let spec = StationSpec {
                latitude_deg: 0.0,
                longitude_deg: 0.0,
                height_km: 0.0,
                mask_deg,
            };
            let station = Station::new(&spec, Shape::Sphere);
            for elevation_deg in [-60.0, -30.1, -29.9, -0.1, 0.1, 24.9, 25.1, 90.0] {
                let (sine, cosine) = libm::sincos(f64::to_radians(elevation_deg));
                let point = [EQUATORIAL_RADIUS_KM + 700.0 * sine, 700.0 * cosine, 0.0];
                assert_eq!(
                    station.sees(point),
                    elevation_deg >= mask_deg,
                    "{elevation_deg}"
                );
            }
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
