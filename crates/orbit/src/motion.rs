//! Where every satellite of a constellation is, in axes that turn with the earth.

use crate::OrbitError;
use crate::accuracy::{Interval, intervals};
use crate::decay::{Limit, first_broken, state};
use crate::earth::{Rotation, Shape};
use crate::ephemeris::Segment;
use crate::frames::Frame;
use crate::pattern::{Circular, Pattern};
use crate::spec::{OrbitSpec, Shell};
use crate::vector::{Vec3, turned};

/// The position of a satellite that is left out: no number, so that nothing sees it, and no link
/// stands to it.
pub const NOWHERE: Vec3 = [f64::NAN; 3];

/// Returns whether a satellite is left out at its position.
pub fn is_left_out(position_km: Vec3) -> bool {
    position_km[0].is_nan()
}

/// The motion of one satellite.
enum Motion {
    /// Over a place, earth-fixed.
    Fixed(Vec3),
    /// Two bodies, no other forces.
    Circular(Circular),
    /// By SGP4 from mean elements.
    Elements(Box<Propagated>),
    /// By interpolation between the states of an ephemeris.
    Ephemeris(Vec<Followed>),
    /// Left out at all times.
    Nowhere,
}

/// A satellite that SGP4 moves.
struct Propagated {
    constants: sgp4::Constants,
    /// From the elements' epoch to time 0.
    minutes_at_start: f64,
    /// Between which it has positions, in minutes from the epoch, the bounds left out.
    good: [f64; 2],
}

/// A segment of an ephemeris, and where it cannot be followed.
struct Followed {
    segment: Segment,
    /// Intervals between states whose positions are not good enough.
    bad: Vec<Interval>,
}

/// An interval between two states of an ephemeris, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Number of the satellite.
    pub satellite: u32,
    /// Accuracy of the positions.
    pub interval: Interval,
    /// True if its positions are good enough; otherwise the satellite is left out within the
    /// interval.
    pub is_good: bool,
}

/// A satellite that has no position at some of the moments that are looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// Its number.
    pub satellite: u32,
    /// When it breaks a limit, from its epoch; it is left out from then on, before the epoch until
    /// then, and at 0 always.
    pub minutes: f64,
    /// Limit that it breaks.
    pub limit: Limit,
}

/// The motion of all satellites.
pub struct Fleet {
    motions: Vec<Motion>,
    rotation: Rotation,
    shape: Shape,
    left_out: Vec<LeftOut>,
    judged: Vec<Judged>,
}

impl Fleet {
    /// The satellites of a spec, shell after shell, for moments between two (seconds since time 0).
    ///
    /// A satellite of elements is left out from the first moment on, counted from its epoch, at
    /// which it breaks a limit of SGP4 or is inside the earth. One of an ephemeris is left out between
    /// two states whose positions are inside the earth, or too far from where the states lead.
    pub fn new(spec: &OrbitSpec, between_s: [f64; 2]) -> Result<Self, OrbitError> {
        let mut left_out = Vec::new();
        let mut judged = Vec::new();
        let mut motions = Vec::with_capacity(spec.satellites() as usize);
        for shell in &spec.shells {
            match shell {
                Shell::Pattern { pattern, .. } => add_pattern(pattern, &mut motions),
                Shell::Elements {
                    elements,
                    farthest_min,
                    ..
                } => {
                    for element in elements {
                        let satellite = motions.len() as u32;
                        let (motion, broken) = propagated(element, *farthest_min, spec, between_s)?;
                        motions.push(motion);
                        left_out.extend(broken.into_iter().map(|(minutes, limit)| LeftOut {
                            satellite,
                            minutes,
                            limit,
                        }));
                    }
                }
                Shell::Ephemerides {
                    objects,
                    max_error_km,
                    ..
                } => {
                    let Rotation::Sidereal { start_unix_ns, .. } = spec.rotation else {
                        return Err(OrbitError::NoStartDate);
                    };
                    for segments in objects {
                        let mut followed = Vec::with_capacity(segments.len());
                        for segment in segments {
                            let segment = segment.clone().turned_to_date(start_unix_ns);
                            let found: Vec<Judged> = intervals(&segment, spec.shape, between_s)
                                .map(|interval| Judged {
                                    satellite: motions.len() as u32,
                                    interval,
                                    is_good: interval.is_good(*max_error_km),
                                })
                                .collect();
                            let bad = found.iter().filter(|own| !own.is_good);
                            followed.push(Followed {
                                bad: bad.map(|own| own.interval).collect(),
                                segment,
                            });
                            judged.extend(found);
                        }
                        motions.push(Motion::Ephemeris(followed));
                    }
                }
            }
        }
        Ok(Fleet {
            motions,
            rotation: spec.rotation,
            shape: spec.shape,
            left_out,
            judged,
        })
    }

    /// Number of satellites.
    pub fn len(&self) -> usize {
        self.motions.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.motions.is_empty()
    }

    /// The satellites that are left out at some of the moments, by number.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The intervals between the states of ephemerides that the moments reach into, by satellite.
    pub fn judged(&self) -> &[Judged] {
        &self.judged
    }

    /// Earth-fixed positions of all satellites in km, written over `positions`; `NOWHERE` for those
    /// that are left out.
    pub fn positions_km(&self, seconds: f64, positions: &mut Vec<Vec3>) {
        let sine_cosine = libm::sincos(self.rotation.angle_rad(seconds));
        positions.clear();
        let all = 0..self.motions.len() as u32;
        positions.extend(all.map(|satellite| self.at(satellite, seconds, sine_cosine)));
    }

    /// Earth-fixed position of one satellite, km; `NOWHERE` where it is left out.
    pub fn position_km(&self, satellite: u32, seconds: f64) -> Vec3 {
        let sine_cosine = libm::sincos(self.rotation.angle_rad(seconds));
        self.at(satellite, seconds, sine_cosine)
    }

    fn at(&self, satellite: u32, seconds: f64, turn: (f64, f64)) -> Vec3 {
        match &self.motions[satellite as usize] {
            Motion::Fixed(position) => *position,
            Motion::Circular(orbit) => turned(orbit.position_km(seconds), turn),
            Motion::Elements(propagated) => {
                let minutes = propagated.minutes_at_start + seconds / 60.0;
                let [after, before] = propagated.good;
                if !(after < minutes && minutes < before) {
                    return NOWHERE;
                }
                state(&propagated.constants, minutes, self.shape)
                    .map_or(NOWHERE, |state| turned(state.position, turn))
            }
            Motion::Ephemeris(segments) => {
                // Where one segment ends and the next begins, as at a manoeuvre, the next one holds.
                let found = segments.iter().rev().find(|own| own.segment.holds(seconds));
                found.map_or(NOWHERE, |Followed { segment, bad }| {
                    if bad.iter().any(|interval| interval.holds(seconds)) {
                        return NOWHERE;
                    }
                    let position = segment.position_km(seconds);
                    if segment.frame == Frame::EarthFixed {
                        position
                    } else {
                        turned(position, turn)
                    }
                })
            }
            Motion::Nowhere => NOWHERE,
        }
    }
}

fn add_pattern(pattern: &Pattern, motions: &mut Vec<Motion>) {
    if let Some(lattice) = pattern.lattice() {
        for p in 0..lattice.planes.planes {
            for s in 0..lattice.planes.satellites_per_plane {
                motions.push(Motion::Circular(Circular::of(&lattice, p, s)));
            }
        }
    } else if let Pattern::Slots {
        radius_km,
        longitudes_deg,
    } = pattern
    {
        for longitude in longitudes_deg {
            let (sine, cosine) = libm::sincos(longitude.to_radians());
            motions.push(Motion::Fixed([radius_km * cosine, radius_km * sine, 0.0]));
        }
    }
}

/// The motion of a satellite of elements, and the limits it breaks between two moments.
fn propagated(
    elements: &sgp4::Elements,
    farthest_min: Option<f64>,
    spec: &OrbitSpec,
    between_s: [f64; 2],
) -> Result<(Motion, Vec<(f64, Limit)>), OrbitError> {
    let Rotation::Sidereal { start_unix_ns, .. } = spec.rotation else {
        return Err(OrbitError::NoStartDate);
    };
    let constants = match sgp4::Constants::from_elements_afspc_compatibility_mode(elements) {
        Ok(constants) => constants,
        Err(error) => {
            let limit = Limit::NoOrbit(error.to_string());
            return Ok((Motion::Nowhere, vec![(0.0, limit)]));
        }
    };
    let minutes_at_start = minutes_since(elements, start_unix_ns);
    let [first, last] = between_s.map(|seconds| minutes_at_start + seconds / 60.0);
    let mut good = [f64::NEG_INFINITY, f64::INFINITY];
    let mut found = Vec::new();
    for (bound, to) in good.iter_mut().zip([first.min(0.0), last.max(0.0)]) {
        let farthest = farthest_min.filter(|&farthest| to.abs() > farthest);
        let looked_at = farthest.map_or(to, |farthest| farthest.copysign(to));
        let too_far = farthest.map(|_| (looked_at, Limit::TooLong));
        if let Some((minutes, limit)) = first_broken(&constants, looked_at, spec.shape).or(too_far)
        {
            *bound = minutes;
            found.push((minutes, limit));
            if minutes == 0.0 {
                return Ok((Motion::Nowhere, found));
            }
        }
    }
    let motion = Motion::Elements(Box::new(Propagated {
        constants,
        minutes_at_start,
        good,
    }));
    Ok((motion, found))
}

/// Minutes from the epoch of some elements to a moment.
pub fn minutes_since(elements: &sgp4::Elements, unix_ns: i64) -> f64 {
    let epoch = elements.datetime.and_utc();
    let whole = unix_ns.div_euclid(1_000_000_000) - epoch.timestamp();
    let part = unix_ns.rem_euclid(1_000_000_000) - i64::from(epoch.timestamp_subsec_nanos());
    (whole as f64 + part as f64 / 1e9) / 60.0
}
