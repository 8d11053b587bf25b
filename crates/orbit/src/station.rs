//! Places on the earth, and what each may use of the satellites above it.

use crate::earth::{EQUATORIAL_RADIUS_KM, FLATTENING, Shape};
use crate::vector::{Vec3, closest_approach, dot, norm, sub};
use serde::{Deserialize, Serialize};

/// Radius of the geostationary orbit, km: a period of one sidereal day.
const GSO_RADIUS_KM: f64 = 42_164.17;
/// Between the points of that orbit that are looked at, degrees of longitude. What lies between two
/// of them is nearer than the nearer one by less than 0.01 degrees, from half a degree of exclusion on.
const GSO_STEP_DEG: f64 = 0.25;

/// A place on the earth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationSpec {
    /// Name of its random streams.
    pub name: String,
    /// Degrees, north positive, -90 to 90.
    pub latitude_deg: f64,
    /// Degrees, east positive, -180 to 360.
    pub longitude_deg: f64,
    /// Above the surface, km.
    pub height_km: f64,
    /// Elevation from which a satellite counts as visible, degrees, -90 to 90.
    pub mask_deg: f64,
    /// Higher masks by direction: from an azimuth (clockwise from north, ascending from 0 or more) on,
    /// up to the next one, an elevation; both in degrees.
    pub horizon_deg: Vec<[f64; 2]>,
    /// Longest slant range, km; none for no limit.
    pub longest_km: Option<f64>,
    /// Smallest angle from any point of the geostationary orbit above the horizon, degrees.
    pub gso_exclusion_deg: f64,
}

/// Where a satellite stands above a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Clockwise from north, degrees from 0 to below 360.
    pub azimuth_deg: f64,
    /// Above the horizon, degrees.
    pub elevation_deg: f64,
    /// Distance, km.
    pub slant_range_km: f64,
}

/// A place in earth-fixed coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Station {
    /// Third axis to the north pole, first to latitude and longitude 0, km.
    pub position_km: Vec3,
    /// Where up is: normal to the surface, length 1.
    pub up: Vec3,
    east: Vec3,
    north: Vec3,
    /// Sine of the elevation mask.
    sine_of_mask: f64,
    /// Azimuths in degrees, and from each on the sine of the elevation.
    horizon: Vec<(f64, f64)>,
    longest_km: f64,
    cosine_of_exclusion: f64,
    /// Directions to the geostationary orbit, where it counts.
    gso: Vec<Vec3>,
    /// Equatorial radius over polar radius: with the third axis so much longer, the earth is a sphere.
    flattening_scale: f64,
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
        let horizon = spec.horizon_deg.iter();
        let mut station = Station {
            position_km: [
                axis * first,
                axis * east,
                (normal * (1.0 - eccentricity_squared) + spec.height_km) * sine,
            ],
            up: [cosine * first, cosine * east, sine],
            east: [-east, first, 0.0],
            north: [-sine * first, -sine * east, cosine],
            sine_of_mask: libm::sin(spec.mask_deg.to_radians()),
            horizon: horizon
                .map(|[azimuth, elevation]| (*azimuth, libm::sin(elevation.to_radians())))
                .collect(),
            longest_km: spec.longest_km.unwrap_or(f64::INFINITY),
            cosine_of_exclusion: libm::cos(spec.gso_exclusion_deg.to_radians()),
            gso: Vec::new(),
            flattening_scale: 1.0 / (1.0 - flattening),
        };
        if spec.gso_exclusion_deg > 0.0 {
            let points = (0..(360.0 / GSO_STEP_DEG) as u32).map(|n| f64::from(n) * GSO_STEP_DEG);
            station.gso = points
                .map(|longitude| {
                    let (y, x) = libm::sincos(longitude.to_radians());
                    let point = [GSO_RADIUS_KM * x, GSO_RADIUS_KM * y, 0.0];
                    let sight = sub(point, station.position_km);
                    sight.map(|part| part / norm(sight))
                })
                .filter(|direction| dot(*direction, station.up) >= 0.0)
                .collect();
        }
        station
    }

    /// Sine of the elevation of a point above the horizon of the place, and its distance in km.
    pub fn rises(&self, point_km: Vec3) -> (f64, f64) {
        let sight = sub(point_km, self.position_km);
        let slant_range_km = norm(sight);
        (dot(self.up, sight) / slant_range_km, slant_range_km)
    }

    /// Where a point stands above the place.
    pub fn look(&self, point_km: Vec3) -> Look {
        let (sine, slant_range_km) = self.rises(point_km);
        Look {
            azimuth_deg: self.azimuth_deg(sub(point_km, self.position_km)),
            elevation_deg: libm::asin(sine.clamp(-1.0, 1.0)).to_degrees(),
            slant_range_km,
        }
    }

    fn azimuth_deg(&self, sight: Vec3) -> f64 {
        let azimuth = libm::atan2(dot(self.east, sight), dot(self.north, sight)).to_degrees();
        // What is below 0 by less than half a step of the numbers near 360 is 0.
        Some(azimuth.rem_euclid(360.0))
            .filter(|&own| own < 360.0)
            .unwrap_or(0.0)
    }

    /// Returns whether the place may use a satellite at a point: at its mask or above, at no more
    /// than its longest slant range, away from the geostationary orbit, and over a straight line
    /// that does not cut the surface, whatever the mask is.
    pub fn sees(&self, point_km: Vec3) -> bool {
        self.allowed(point_km)
            .is_some_and(|(sight, height_km)| height_km >= 0.0 || self.clears_earth(sight))
    }

    /// Returns whether only the earth hides a satellite at a point.
    pub fn is_hidden(&self, point_km: Vec3) -> bool {
        self.allowed(point_km)
            .is_some_and(|(sight, height_km)| height_km < 0.0 && !self.clears_earth(sight))
    }

    /// From the place to a point, and how far that leads upwards, where the limits of the place allow
    /// to use it.
    fn allowed(&self, point_km: Vec3) -> Option<(Vec3, f64)> {
        let sight = sub(point_km, self.position_km);
        let height_km = dot(self.up, sight);
        let sine = self.sine_of_mask;
        // Most points are below: no root for them. Squares grow with what they are squares of.
        if height_km < 0.0 && sine >= 0.0 {
            return None;
        }
        let is_surely_up = height_km >= 0.0 && sine <= 0.0;
        if !is_surely_up {
            let enough = sine * sine * dot(sight, sight);
            let is_up = if sine > 0.0 {
                height_km * height_km >= enough
            } else {
                height_km * height_km <= enough
            };
            if !is_up {
                return None;
            }
        }
        self.may_use(sight, height_km).then_some((sight, height_km))
    }

    /// Returns whether a straight line from the place stays outside of the earth. The line begins
    /// within `clearance_km` of links between satellites, so that clearance does not apply to it.
    fn clears_earth(&self, sight: Vec3) -> bool {
        let unflattened = |[x, y, z]: Vec3| [x, y, z * self.flattening_scale];
        let from = unflattened(self.position_km);
        let along = unflattened(sight);
        let to = [from[0] + along[0], from[1] + along[1], from[2] + along[2]];
        closest_approach(from, to) >= EQUATORIAL_RADIUS_KM
    }

    /// Returns whether a point above the mask is within the other limits.
    fn may_use(&self, sight: Vec3, height_km: f64) -> bool {
        let range_km = norm(sight);
        if range_km > self.longest_km {
            return false;
        }
        if !self.horizon.is_empty() {
            let azimuth = self.azimuth_deg(sight);
            let next = self.horizon.partition_point(|(from, _)| *from <= azimuth);
            // Before the first azimuth the last elevation goes on.
            let sector = next.checked_sub(1).unwrap_or(self.horizon.len() - 1);
            if height_km < self.horizon[sector].1 * range_km {
                return false;
            }
        }
        let least = self.cosine_of_exclusion * range_km;
        self.gso
            .iter()
            .all(|direction| dot(*direction, sight) <= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(latitude_deg: f64, longitude_deg: f64) -> StationSpec {
        StationSpec {
            name: String::new(),
            latitude_deg,
            longitude_deg,
            height_km: 0.0,
            mask_deg: 0.0,
            horizon_deg: Vec::new(),
            longest_km: None,
            gso_exclusion_deg: 0.0,
        }
    }

    fn place(latitude_deg: f64, longitude_deg: f64, shape: Shape) -> Station {
        Station::new(&at(latitude_deg, longitude_deg), shape)
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
    fn a_satellite_in_the_zenith_is_at_90_degrees_and_one_beyond_the_horizon_below_0() {
        let station = place(0.0, 90.0, Shape::Sphere);
        let (sine, slant_range_km) = station.rises([0.0, 7378.137, 0.0]);
        assert!((sine - 1.0).abs() < 1e-15 && (slant_range_km - 1000.0).abs() < 1e-9);
        assert!(!station.sees([7378.137, 0.0, 0.0]));
    }

    #[test]
    fn a_point_is_seen_where_its_elevation_reaches_the_mask() {
        for mask_deg in [-30.0, 0.0, 25.0] {
            // 10 000 km up, the horizon is 67 degrees below the horizontal.
            let spec = StationSpec {
                mask_deg,
                height_km: 10_000.0,
                ..at(0.0, 0.0)
            };
            let station = Station::new(&spec, Shape::Sphere);
            for elevation_deg in [-60.0, -30.1, -29.9, -0.1, 0.1, 24.9, 25.1, 90.0] {
                let (sine, cosine) = libm::sincos(f64::to_radians(elevation_deg));
                let up = EQUATORIAL_RADIUS_KM + 10_000.0 + 700.0 * sine;
                assert_eq!(
                    station.sees([up, 700.0 * cosine, 0.0]),
                    elevation_deg >= mask_deg,
                    "{elevation_deg}"
                );
            }
        }
    }

    #[test]
    fn no_mask_looks_through_the_earth() {
        // On a sphere, the horizon of a height h is acos(R / (R + h)) below the horizontal.
        for height_km in [0.0, 0.01, 3.0, 12.0, 500.0] {
            let spec = StationSpec {
                mask_deg: -90.0,
                height_km,
                ..at(0.0, 0.0)
            };
            let station = Station::new(&spec, Shape::Sphere);
            let high_km = EQUATORIAL_RADIUS_KM + height_km;
            let dip_deg = libm::acos(EQUATORIAL_RADIUS_KM / high_km).to_degrees();
            for (below_deg, sees) in [(-0.001, true), (0.001, false)] {
                let (sine, cosine) = libm::sincos((-dip_deg - below_deg).to_radians());
                let point = [high_km + 9_000.0 * sine, 0.0, 9_000.0 * cosine];
                assert_eq!(station.sees(point), sees, "{height_km} {below_deg}");
                assert_eq!(station.is_hidden(point), !sees, "{height_km} {below_deg}");
            }
            // What flies between the place and the ground is in front of the earth.
            assert_eq!(station.sees([high_km - 0.005, 0.0, 0.0]), height_km >= 0.01);
        }
    }

    #[test]
    fn the_ellipsoid_is_in_the_way_at_any_latitude_and_only_below_the_horizontal() {
        for latitude_deg in [-90.0, -47.0, 0.0, 30.0, 60.0, 89.0] {
            let spec = StationSpec {
                mask_deg: -90.0,
                ..at(latitude_deg, 20.0)
            };
            let station = Station::new(&spec, Shape::Wgs84);
            for azimuth_deg in [0.0, 77.0, 180.0, 300.0] {
                let (east, north) = libm::sincos(f64::to_radians(azimuth_deg));
                for (elevation_deg, sees) in [(0.0001, true), (-0.0001, false)] {
                    let (up, flat) = libm::sincos(f64::to_radians(elevation_deg));
                    let at = |axis: usize| {
                        station.position_km[axis]
                            + 2_000.0
                                * (station.up[axis] * up
                                    + (station.east[axis] * east + station.north[axis] * north)
                                        * flat)
                    };
                    let point = [at(0), at(1), at(2)];
                    assert_eq!(station.sees(point), sees, "{latitude_deg} {azimuth_deg}");
                }
            }
        }
    }

    /// A point 700 km away at an azimuth and an elevation, seen from latitude and longitude 0.
    fn point(azimuth_deg: f64, elevation_deg: f64) -> Vec3 {
        let (up, flat) = libm::sincos(elevation_deg.to_radians());
        let (east, north) = libm::sincos(azimuth_deg.to_radians());
        [
            EQUATORIAL_RADIUS_KM + 700.0 * up,
            700.0 * flat * east,
            700.0 * flat * north,
        ]
    }

    #[test]
    fn azimuth_goes_clockwise_from_north() {
        let station = place(0.0, 0.0, Shape::Sphere);
        for (azimuth, elevation) in [(0.0, 10.0), (90.0, 20.0), (200.0, 5.0), (359.5, 60.0)] {
            let look = station.look(point(azimuth, elevation));
            assert!((look.azimuth_deg - azimuth).abs() < 1e-9, "{look:?}");
            assert!((look.elevation_deg - elevation).abs() < 1e-9, "{look:?}");
            assert!((look.slant_range_km - 700.0).abs() < 1e-9, "{look:?}");
        }
    }

    #[test]
    fn what_is_nowhere_is_never_seen() {
        for mask_deg in [-90.0, 0.0, 10.0] {
            let spec = StationSpec {
                mask_deg,
                ..at(0.0, 0.0)
            };
            let station = Station::new(&spec, Shape::Sphere);
            assert!(!station.sees(crate::motion::NOWHERE), "{mask_deg}");
        }
    }

    #[test]
    fn a_horizon_masks_its_sectors_and_goes_on_before_the_first() {
        let spec = StationSpec {
            horizon_deg: vec![[90.0, 40.0], [180.0, 0.0], [300.0, 20.0]],
            ..at(0.0, 0.0)
        };
        let station = Station::new(&spec, Shape::Sphere);
        for (azimuth, least) in [
            (89.9, 20.0),
            (90.1, 40.0),
            (179.9, 40.0),
            (200.0, 0.0),
            (10.0, 20.0),
        ] {
            assert!(station.sees(point(azimuth, least + 0.01)), "{azimuth}");
            assert!(!station.sees(point(azimuth, least - 0.01)), "{azimuth}");
        }
    }

    #[test]
    fn what_is_farther_than_the_longest_slant_range_is_not_used() {
        for (longest_km, sees) in [(699.9, false), (700.1, true)] {
            let spec = StationSpec {
                longest_km: Some(longest_km),
                ..at(0.0, 0.0)
            };
            assert_eq!(
                Station::new(&spec, Shape::Sphere).sees(point(70.0, 30.0)),
                sees
            );
        }
    }

    #[test]
    fn the_geostationary_orbit_is_kept_away_from_where_it_is() {
        // From the equator it passes from east to west through the zenith: the angle from it is that
        // from the vertical plane, whatever the elevation along it.
        let spec = StationSpec {
            gso_exclusion_deg: 18.0,
            ..at(0.0, 0.0)
        };
        let station = Station::new(&spec, Shape::Sphere);
        for (azimuth, elevation, sees) in [
            (0.0, 71.9, true),
            (0.0, 72.1, false),
            (180.0, 71.9, true),
            (90.0, 50.0, false),
            (90.0, 20.0, false),
            (70.0, 0.1, true),
            (73.0, 0.1, false),
        ] {
            assert_eq!(
                station.sees(point(azimuth, elevation)),
                sees,
                "{azimuth} {elevation}"
            );
        }
        // From latitude 50 it stands at 90 - 50 - asin(sin 50 x 6378 / 38 586) = 32.7 degrees in the
        // south (the closed form: tan el = (cos 50 - R / r) / sin 50); the north is free.
        let spec = StationSpec {
            gso_exclusion_deg: 18.0,
            ..at(50.0, 0.0)
        };
        let station = Station::new(&spec, Shape::Sphere);
        let ratio = EQUATORIAL_RADIUS_KM / GSO_RADIUS_KM;
        let (sine, cosine) = libm::sincos(50f64.to_radians());
        let south = libm::atan2(cosine - ratio, sine).to_degrees();
        for (elevation, sees) in [
            (south - 18.1, true),
            (south - 17.9, false),
            (south + 17.9, false),
            (south + 18.1, true),
        ] {
            let (up, flat) = libm::sincos(elevation.to_radians());
            let point = [0, 1, 2].map(|axis| {
                station.position_km[axis]
                    + 700.0 * (up * station.up[axis] - flat * station.north[axis])
            });
            assert_eq!(station.sees(point), sees, "{elevation}");
        }
    }
}
