//! From when on a satellite of mean elements has no position: what SGP4 and the earth forbid.
//!
//! SGP4's drag is a power series in time, which goes on after the orbit has shrunk to nothing: the
//! satellite then comes out of the earth again, at any distance. So a state is good only if every
//! state from the epoch to it is.

use crate::earth::Shape;
use crate::vector::{Vec3, dot, norm};
use sgp4::{Constants, MinutesSinceEpoch, Prediction};

/// The radius of the earth by which SGP4 knows that a satellite has decayed, km (WGS72; Vallado et
/// al., AIAA 2006-6753, error 6: mrt < 1).
pub const DECAY_RADIUS_KM: f64 = 6378.135;
/// Beyond it the sun holds what flies, km: the earth's Hill sphere, au x (m / 3 M)^(1/3).
pub const FARTHEST_KM: f64 = 1_500_000.0;
/// Gravitational constant times mass in SGP4, km^3/s^2 (WGS72; AIAA 2006-6753, appendix B).
const SGP4_MU_KM3_S2: f64 = 398_600.8;
/// Perigee, km from the centre of the earth, below which every state is looked at: that of the
/// ellipse a state lies on swings by some 20 km about the mean one.
const LOW_PERIGEE_KM: f64 = DECAY_RADIUS_KM + 100.0;
/// Between looks at a low orbit, minutes: 80 km of its way.
const LOOK_EVERY_MIN: f64 = 1.0 / 6.0;
/// The first look after the epoch, minutes; the next ones are each farther by `LOOK_RATIO`. An orbit
/// is low from before it has shrunk to nothing until well after: for at least 1.5 times the time
/// since the epoch, even where the last term of the series for drag, t^4, is the only one.
const FIRST_LOOK_MIN: f64 = 1.0;
const LOOK_RATIO: f64 = 1.25;
/// Farthest from one look to the next, minutes: sun and moon move the perigee of a far orbit within
/// days.
const LONGEST_LOOK_MIN: f64 = 720.0;
/// To which the moment is found, minutes: 1 ms.
const PRECISION_MIN: f64 = 1e-3 / 60.0;

/// The limit that a state breaks; the numbers are those of SGP4's errors (AIAA 2006-6753).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Limit {
    /// The elements are no orbit.
    #[error("the elements are no orbit: {0}")]
    NoOrbit(String),
    /// Error 1.
    #[error("SGP4 error 1: mean eccentricity {0:.3}, allowed from -0.001 to below 1")]
    MeanEccentricity(f64),
    /// Error 2, and whatever else has no number as its result.
    #[error("SGP4 error 2: no mean motion above 0, so that there is no position")]
    MeanMotion,
    /// Error 3.
    #[error("SGP4 error 3: perturbed eccentricity {0:.3}, allowed from 0 to 1")]
    PerturbedEccentricity(f64),
    /// Error 4.
    #[error("SGP4 error 4: semi-latus rectum below 0")]
    SemiLatusRectum,
    /// Error 6; the distance from the centre of the earth, km.
    #[error(
        "SGP4 error 6: decayed, less than its radius of the earth ({DECAY_RADIUS_KM} km) from the centre"
    )]
    Decayed(f64),
    /// Inside the earth as the spec has it; the distance from its centre, km.
    #[error("below the surface of the earth")]
    BelowSurface(f64),
    /// No orbit of the earth.
    #[error(
        "{0:.0} km from the centre of the earth, allowed up to {FARTHEST_KM} km (its Hill sphere)"
    )]
    TooFar(f64),
    /// No limit of SGP4's, but one that the caller sets.
    #[error("farther from its epoch than allowed")]
    TooLong,
}

/// The state so many minutes after the epoch, in the axes of SGP4; refused where it breaks a limit.
pub fn state(constants: &Constants, minutes: f64, shape: Shape) -> Result<Prediction, Limit> {
    // Sidereal time at the epoch by the formula of AFSPC, but without its slip where a node falls
    // below 0 (case 23599): all verification states are met only so.
    let state = constants
        .propagate(MinutesSinceEpoch(minutes))
        .map_err(limit_of)?;
    let radius_km = norm(state.position);
    if !(radius_km.is_finite() && norm(state.velocity).is_finite()) {
        Err(Limit::MeanMotion)
    } else if radius_km < DECAY_RADIUS_KM {
        Err(Limit::Decayed(radius_km))
    } else if shape.holds_inside(state.position) {
        Err(Limit::BelowSurface(radius_km))
    } else if radius_km > FARTHEST_KM {
        Err(Limit::TooFar(radius_km))
    } else {
        Ok(state)
    }
}

fn limit_of(error: sgp4::Error) -> Limit {
    match error {
        sgp4::Error::OutOfRangeEccentricity { eccentricity, .. } => {
            Limit::MeanEccentricity(eccentricity)
        }
        sgp4::Error::OutOfRangePerturbedEccentricity { eccentricity, .. } => {
            Limit::PerturbedEccentricity(eccentricity)
        }
        sgp4::Error::NegativeSemiLatusRectum { .. } => Limit::SemiLatusRectum,
    }
}

/// The first broken limit on the way from the epoch to `to` minutes after it (before it, where `to`
/// is below 0), and its moment; none where every state is good.
///
/// The moment is a property of the elements: it does not depend on `to`.
pub fn first_broken(constants: &Constants, to: f64, shape: Shape) -> Option<(f64, Limit)> {
    let look = |minutes: f64| state(constants, minutes, shape);
    if let Err(limit) = look(0.0) {
        return Some((0.0, limit));
    }
    let ahead = to.signum();
    let (mut known, mut next) = (0.0, FIRST_LOOK_MIN);
    while known < to.abs() {
        let is_high = look(ahead * next).is_ok_and(|state| perigee_km(&state) >= LOW_PERIGEE_KM);
        if !is_high && let Some((minutes, limit)) = first_of_low(&look, ahead, known, next) {
            return (minutes.abs() <= to.abs()).then_some((minutes, limit));
        }
        (known, next) = (next, (next * LOOK_RATIO).min(next + LONGEST_LOOK_MIN));
    }
    None
}

/// The first broken limit between two moments by close looks; the state at the first one is good.
fn first_of_low(
    look: &impl Fn(f64) -> Result<Prediction, Limit>,
    ahead: f64,
    from: f64,
    to: f64,
) -> Option<(f64, Limit)> {
    let mut good = from;
    while good < to {
        let next = (good + LOOK_EVERY_MIN).min(to);
        if let Err(mut limit) = look(ahead * next) {
            let mut broken = next;
            while broken - good > PRECISION_MIN {
                let middle = f64::midpoint(good, broken);
                match look(ahead * middle) {
                    Ok(_) => good = middle,
                    Err(found) => (broken, limit) = (middle, found),
                }
            }
            return Some((ahead * broken, limit));
        }
        good = next;
    }
    None
}

/// Nearest point of the ellipse that a state lies on to the centre of the earth, km; 0 for a state
/// on no ellipse.
fn perigee_km(state: &Prediction) -> f64 {
    let (position, velocity): (Vec3, Vec3) = (state.position, state.velocity);
    let radius_km = norm(position);
    let speed_squared = dot(velocity, velocity);
    let inverse_axis = 2.0 / radius_km - speed_squared / SGP4_MU_KM3_S2;
    if inverse_axis <= 0.0 {
        return 0.0;
    }
    let along = dot(position, velocity);
    let momentum_squared = radius_km * radius_km * speed_squared - along * along;
    let eccentricity_squared = 1.0 - momentum_squared / SGP4_MU_KM3_S2 * inverse_axis;
    (1.0 - eccentricity_squared.max(0.0).sqrt()) / inverse_axis
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::elements::read_tle;

    /// A satellite two days before its re-entry (catalogue number 55897, February 2025).
    const RE_ENTERING: &str = "\
        1 55897U 22151AAV 25058.12407234  .09435527  24934+0  44853-1 0  9999\n\
        2 55897  98.5849 110.9278 0014449 269.2407  90.7207 15.92146194 26688";
    /// When the program sgp4 2.27 (the official code of AIAA 2006-6753) first returns error 6 for it,
    /// looked for in steps of 10 s and then by halving, minutes after the epoch.
    const DECAYS_AT_MIN: f64 = 1_384.766_350_58;

    fn constants() -> Constants {
        let sets = read_tle(RE_ENTERING).sets;
        Constants::from_elements_afspc_compatibility_mode(&sets[0].1).unwrap()
    }

    #[test]
    fn the_moment_of_decay_is_that_of_the_official_program_however_far_one_looks() {
        let constants = constants();
        assert_eq!(first_broken(&constants, 1_300.0, Shape::Wgs84), None);
        for to in [1_400.0, 4_473.3, 100_000.0] {
            let (minutes, limit) = first_broken(&constants, to, Shape::Wgs84).unwrap();
            assert!(
                (minutes - DECAYS_AT_MIN).abs() < 2.0 * PRECISION_MIN,
                "{minutes}"
            );
            assert!(
                matches!(limit, Limit::Decayed(km) if km < DECAY_RADIUS_KM),
                "{limit}"
            );
        }
    }

    #[test]
    fn sgp4_alone_brings_a_satellite_back_out_of_the_earth() {
        // 4 558 min: 299 465 km from the centre, by the official program too, which returns no error.
        let radius_km = norm(state(&constants(), 4_558.0, Shape::Wgs84).unwrap().position);
        assert!((radius_km - 299_465.487_14).abs() < 1e-3, "{radius_km}");
    }

    #[test]
    fn each_limit_is_known_from_a_state() {
        // 1 385 min: 6377.932880 km, error 6 of the official program; 4 476 min: error 4.
        let broken = |minutes| state(&constants(), minutes, Shape::Sphere).unwrap_err();
        assert!(matches!(broken(1_385.0), Limit::Decayed(km) if (km - 6_377.932_880).abs() < 1e-5));
        assert_eq!(broken(4_476.0), Limit::SemiLatusRectum);
        assert!(matches!(broken(f64::NAN), Limit::MeanEccentricity(_)));
    }
}
