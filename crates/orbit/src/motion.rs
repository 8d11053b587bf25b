//! Where every satellite of a constellation is, in axes that turn with the earth.

use crate::OrbitError;
use crate::earth::Rotation;
use crate::pattern::{Circular, Pattern};
use crate::spec::{OrbitSpec, Shell};
use crate::vector::{Vec3, turned};
use sgp4::MinutesSinceEpoch;

/// The motion of one satellite.
enum Motion {
    /// Over a place, earth-fixed.
    Fixed(Vec3),
    /// Two bodies, no other forces.
    Circular(Circular),
    /// By SGP4 from mean elements.
    Elements(Box<Propagated>),
}

/// A satellite that SGP4 moves.
struct Propagated {
    constants: sgp4::Constants,
    /// From the elements' epoch to time 0.
    minutes_at_start: f64,
}

/// The motion of all satellites.
pub struct Fleet {
    motions: Vec<Motion>,
    rotation: Rotation,
}

impl Fleet {
    /// The satellites of a spec, shell after shell.
    pub fn new(spec: &OrbitSpec) -> Result<Self, OrbitError> {
        let mut motions = Vec::with_capacity(spec.satellites() as usize);
        for shell in &spec.shells {
            match shell {
                Shell::Pattern { pattern, .. } => place(pattern, &mut motions),
                Shell::Elements { elements, .. } => {
                    for element in elements {
                        motions.push(propagated(element, &spec.rotation, motions.len() as u32)?);
                    }
                }
            }
        }
        Ok(Fleet {
            motions,
            rotation: spec.rotation,
        })
    }

    /// Number of satellites.
    pub fn len(&self) -> usize {
        self.motions.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.motions.is_empty()
    }

    /// Earth-fixed positions of all satellites in km, written over `positions`.
    pub fn positions_km(&self, seconds: f64, positions: &mut Vec<Vec3>) -> Result<(), OrbitError> {
        let sine_cosine = libm::sincos(self.rotation.angle_rad(seconds));
        positions.clear();
        for satellite in 0..self.motions.len() as u32 {
            positions.push(self.at(satellite, seconds, sine_cosine)?);
        }
        Ok(())
    }

    /// Earth-fixed position of one satellite, km.
    pub fn position_km(&self, satellite: u32, seconds: f64) -> Result<Vec3, OrbitError> {
        let sine_cosine = libm::sincos(self.rotation.angle_rad(seconds));
        self.at(satellite, seconds, sine_cosine)
    }

    fn at(&self, satellite: u32, seconds: f64, turn: (f64, f64)) -> Result<Vec3, OrbitError> {
        match &self.motions[satellite as usize] {
            Motion::Fixed(position) => Ok(*position),
            Motion::Circular(orbit) => Ok(turned(orbit.position_km(seconds), turn)),
            Motion::Elements(propagated) => {
                let minutes = propagated.minutes_at_start + seconds / 60.0;
                // Sidereal time at the epoch by the formula of AFSPC, but without its slip where a
                // node falls below 0 (case 23599): all verification states are met only so.
                propagated
                    .constants
                    .propagate(MinutesSinceEpoch(minutes))
                    .map(|prediction| turned(prediction.position, turn))
                    .map_err(|error| OrbitError::NotPropagated {
                        satellite,
                        minutes,
                        reason: error.to_string(),
                    })
            }
        }
    }
}

fn place(pattern: &Pattern, motions: &mut Vec<Motion>) {
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

fn propagated(
    elements: &sgp4::Elements,
    rotation: &Rotation,
    satellite: u32,
) -> Result<Motion, OrbitError> {
    let Rotation::Sidereal { start_unix_ns, .. } = *rotation else {
        return Err(OrbitError::NoStartDate);
    };
    let constants =
        sgp4::Constants::from_elements_afspc_compatibility_mode(elements).map_err(|error| {
            OrbitError::NotPropagated {
                satellite,
                minutes: 0.0,
                reason: error.to_string(),
            }
        })?;
    Ok(Motion::Elements(Box::new(Propagated {
        constants,
        minutes_at_start: minutes_since(elements, start_unix_ns),
    })))
}

/// Minutes from the epoch of some elements to a moment.
pub fn minutes_since(elements: &sgp4::Elements, unix_ns: i64) -> f64 {
    let epoch = elements.datetime.and_utc();
    let whole = unix_ns.div_euclid(1_000_000_000) - epoch.timestamp();
    let part = unix_ns.rem_euclid(1_000_000_000) - i64::from(epoch.timestamp_subsec_nanos());
    (whole as f64 + part as f64 / 1e9) / 60.0
}
