//! How far the positions between the states of an ephemeris are from the orbit of these states.
//!
//! Two states in turn each predict where the satellite is between them, by the pull of the earth and
//! of its oblateness alone. The interpolated position has to lie where they predict it, or between
//! their predictions, whatever its method and degree are.

use crate::earth::{EQUATORIAL_RADIUS_KM, MU_KM3_S2, ROTATION_RAD_S, Shape};
use crate::ephemeris::Segment;
use crate::frames::Frame;
use crate::vector::{Vec3, distance, norm, turned};

/// Second zonal harmonic (WGS84: 5^(1/2) times 4.841 669 903 0 e-4; NIMA TR8350.2, table 5.1).
const J2: f64 = 1.082_629_9e-3;
/// Distance from the centre of the earth, km, up to which states are judged. Drag, the sun and the
/// moon pull by less than 3e-8 km/s^2 below it: 50 m in half an hour.
const JUDGED_WITHIN_KM: f64 = 100_000.0;
/// No state is predicted so near to the centre of the earth, km.
const NEAREST_KM: f64 = 1_000.0;
/// One step of the prediction, in units of (r^3 / mu)^(1/2): 157 in a revolution, for an error of 3 m
/// after it (Runge and Kutta's method of the fourth order).
const STEP: f64 = 0.04;
/// Parts of the time between two states, after which a position is looked at.
const LOOKS: [f64; 3] = [0.25, 0.5, 0.75];

/// The accuracy of the positions between two states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Moments of the states, seconds since time 0.
    pub between_s: [f64; 2],
    /// Farthest of a position from what the states predict, beyond half of `apart_km`; 0 where they
    /// are not judged.
    pub error_km: f64,
    /// Farthest of what one state predicts from what the other does.
    pub apart_km: f64,
    /// Least distance from the centre of the earth of a position below its surface; none where there
    /// is none.
    pub inside_km: Option<f64>,
}

impl Interval {
    /// Returns whether positions may be used, with an error of up to `max_error_km`.
    pub fn is_good(&self, max_error_km: f64) -> bool {
        self.inside_km.is_none() && self.error_km <= max_error_km
    }

    /// Returns whether a moment is between the states.
    pub fn holds(&self, seconds: f64) -> bool {
        self.between_s[0] <= seconds && seconds <= self.between_s[1]
    }
}

/// The intervals between the states of a segment that reach into a time, judged.
///
/// The segment's axes are those of date, or turn with the earth.
pub fn intervals(
    segment: &Segment,
    shape: Shape,
    [first_s, last_s]: [f64; 2],
) -> impl Iterator<Item = Interval> + '_ {
    let [from_s, to_s] = segment.useable_s;
    let (first_s, last_s) = (first_s.max(from_s), last_s.min(to_s));
    let after = segment.times_s.partition_point(|&time| time <= first_s);
    (after.saturating_sub(1)..segment.times_s.len() - 1)
        .take_while(move |&index| segment.times_s[index] <= last_s)
        .map(move |index| judged(segment, index, shape))
}

fn judged(segment: &Segment, index: usize, shape: Shape) -> Interval {
    let [from_s, to_s] = [segment.times_s[index], segment.times_s[index + 1]];
    let length_s = to_s - from_s;
    let is_fixed = segment.frame == Frame::EarthFixed;
    let [before, after] =
        [index, index + 1].map(|number| State::of(segment.states[number], is_fixed));
    let ends = [before, after].map(|state| state.position);
    let is_near = ends.into_iter().all(|end| norm(end) <= JUDGED_WITHIN_KM);
    let mut interval = Interval {
        between_s: [from_s, to_s],
        error_km: 0.0,
        apart_km: 0.0,
        inside_km: None,
    };
    let mut found = ends.to_vec();
    for share in LOOKS {
        let at_s = from_s + share * length_s;
        let position = segment.position_km(at_s);
        found.push(position);
        let predicted = [(before, from_s), (after, to_s)].map(|(state, own_s)| {
            let moved = is_near.then(|| state.after(at_s - own_s)).flatten()?;
            let turn = if is_fixed {
                ROTATION_RAD_S * (at_s - own_s)
            } else {
                0.0
            };
            Some(turned(moved.position, libm::sincos(turn)))
        });
        if let [Some(ahead), Some(back)] = predicted {
            let apart_km = distance(ahead, back);
            // The nearer state says more.
            let between: Vec3 =
                std::array::from_fn(|axis| ahead[axis] + share * (back[axis] - ahead[axis]));
            let error_km = distance(position, between) - apart_km / 2.0;
            interval.apart_km = interval.apart_km.max(apart_km);
            interval.error_km = interval.error_km.max(error_km);
        }
    }
    interval.inside_km = found
        .into_iter()
        .filter(|&position| shape.holds_inside(position))
        .map(norm)
        .min_by(f64::total_cmp);
    interval
}

/// Position (km) and velocity (km/s) in axes that do not turn.
#[derive(Clone, Copy, Debug)]
struct State {
    position: Vec3,
    velocity: Vec3,
}

impl State {
    /// A state of a segment, in axes that stand still where its own ones are at its moment.
    fn of([x, y, z, u, v, w]: [f64; 6], is_fixed: bool) -> Self {
        let rate = if is_fixed { ROTATION_RAD_S } else { 0.0 };
        State {
            position: [x, y, z],
            velocity: [u - rate * y, v + rate * x, w],
        }
    }

    /// Where it leads to in some seconds, perhaps below 0; none through the middle of the earth.
    fn after(mut self, seconds: f64) -> Option<Self> {
        let mut left = seconds.abs();
        while left > 0.0 {
            let radius_km = norm(self.position);
            if radius_km.is_nan() || radius_km < NEAREST_KM {
                return None;
            }
            let step = left.min(STEP * (cubed(radius_km) / MU_KM3_S2).sqrt());
            self = self.stepped(step.copysign(seconds));
            left -= step;
        }
        Some(self)
    }

    fn stepped(self, step: f64) -> Self {
        let moved = |rate: &State, by: f64| State {
            position: add(self.position, rate.position, by),
            velocity: add(self.velocity, rate.velocity, by),
        };
        let first = self.rate();
        let second = moved(&first, step / 2.0).rate();
        let third = moved(&second, step / 2.0).rate();
        let fourth = moved(&third, step).rate();
        let mean = |part: fn(&State) -> Vec3| -> Vec3 {
            std::array::from_fn(|axis| {
                let [a, b, c, d] = [&first, &second, &third, &fourth].map(|rate| part(rate)[axis]);
                (a + 2.0 * b + 2.0 * c + d) / 6.0
            })
        };
        let mean = State {
            position: mean(|rate| rate.position),
            velocity: mean(|rate| rate.velocity),
        };
        moved(&mean, step)
    }

    /// Velocity, and acceleration by the earth and its oblateness (Vallado, Fundamentals of
    /// Astrodynamics, section 8.7.1).
    fn rate(&self) -> State {
        let [x, y, z] = self.position;
        let radius_km = norm(self.position);
        let pull = -MU_KM3_S2 / cubed(radius_km);
        let flat = 1.5 * J2 * squared(EQUATORIAL_RADIUS_KM / radius_km);
        let sine_squared = squared(z / radius_km);
        let across = pull * (1.0 + flat * (1.0 - 5.0 * sine_squared));
        let along = pull * (1.0 + flat * (3.0 - 5.0 * sine_squared));
        State {
            position: self.velocity,
            velocity: [across * x, across * y, along * z],
        }
    }
}

fn squared(value: f64) -> f64 {
    value * value
}

fn cubed(value: f64) -> f64 {
    value * value * value
}

fn add(a: Vec3, b: Vec3, times: f64) -> Vec3 {
    std::array::from_fn(|axis| a[axis] + times * b[axis])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ephemeris::Interpolation;

    /// A circular orbit without oblateness, by its closed form, in axes of date.
    fn circle(radius_km: f64, seconds: f64) -> [f64; 6] {
        let rate = (MU_KM3_S2 / cubed(radius_km)).sqrt();
        let (sine, cosine) = libm::sincos(rate * seconds);
        let (tilt_sine, tilt_cosine) = libm::sincos(0.9);
        let [along, across] = [radius_km * cosine, radius_km * sine];
        let [u, v] = [-rate * across, rate * along];
        [
            along,
            across * tilt_cosine,
            across * tilt_sine,
            u,
            v * tilt_cosine,
            v * tilt_sine,
        ]
    }

    fn segment(radius_km: f64, every_s: f64, method: Interpolation, degree: u32) -> Segment {
        let times_s: Vec<f64> = (0..13).map(|number| f64::from(number) * every_s).collect();
        Segment {
            frame: Frame::Teme,
            interpolation: method,
            degree,
            useable_s: [0.0, 12.0 * every_s],
            states: times_s
                .iter()
                .map(|&time| circle(radius_km, time))
                .collect(),
            times_s,
        }
    }

    fn worst(segment: &Segment) -> Interval {
        intervals(segment, Shape::Wgs84, segment.useable_s)
            .max_by(|x, y| x.error_km.total_cmp(&y.error_km))
            .unwrap()
    }

    #[test]
    fn a_prediction_is_the_closed_form_but_for_oblateness() {
        // A circle of the equator: J2 adds 1.5 J2 (R / r)^2 to the pull, and to the square of its rate.
        let radius_km: f64 = 7_000.0;
        let flat = 1.5 * J2 * squared(EQUATORIAL_RADIUS_KM / radius_km);
        let rate = (MU_KM3_S2 * (1.0 + flat) / cubed(radius_km)).sqrt();
        let start = State {
            position: [radius_km, 0.0, 0.0],
            velocity: [0.0, rate * radius_km, 0.0],
        };
        for seconds in [6_000.0, -6_000.0] {
            let found = start.after(seconds).unwrap().position;
            let (sine, cosine) = libm::sincos(rate * seconds);
            let off_km = distance(found, [radius_km * cosine, radius_km * sine, 0.0]);
            assert!(off_km < 5e-3, "{off_km}");
        }
    }

    #[test]
    fn the_error_of_a_line_is_its_sagitta() {
        // r (1 - cos(angle / 2)) in the middle of a chord; a minute in 93 is 3.9 degrees: 3.9 km.
        let own = segment(6_800.0, 60.0, Interpolation::Linear, 1);
        let angle = 60.0 * (MU_KM3_S2 / cubed(6_800.0)).sqrt();
        let sagitta_km = 6_800.0 * (1.0 - libm::cos(angle / 2.0));
        assert!(
            (worst(&own).error_km - sagitta_km).abs() < 0.02,
            "{:?}",
            worst(&own)
        );
    }

    #[test]
    fn states_near_to_each_other_are_good_and_states_an_hour_apart_are_not() {
        for (every_s, method, degree, least_km, most_km) in [
            (60.0, Interpolation::Hermite, 7, 0.0, 0.02),
            (60.0, Interpolation::Lagrange, 7, 0.0, 0.02),
            (600.0, Interpolation::Hermite, 7, 0.0, 0.8),
            (3_600.0, Interpolation::Hermite, 7, 500.0, 1e5),
            // Of one state and its velocity: a straight line for half an hour.
            (1_800.0, Interpolation::Hermite, 1, 2_000.0, 1e5),
        ] {
            let found = worst(&segment(6_800.0, every_s, method, degree));
            assert!(
                (least_km..most_km).contains(&found.error_km),
                "{every_s} {found:?}"
            );
        }
    }

    #[test]
    fn positions_below_the_surface_are_known() {
        // The chord of half a revolution passes the centre.
        let half_s = std::f64::consts::PI / (MU_KM3_S2 / cubed(6_800.0)).sqrt();
        let found = worst(&segment(6_800.0, half_s, Interpolation::Linear, 1));
        assert!(found.inside_km.unwrap() < 1.0, "{found:?}");
        assert!(!found.is_good(1e9));
    }

    #[test]
    fn axes_that_turn_with_the_earth_are_judged_like_others() {
        let mut own = segment(6_800.0, 60.0, Interpolation::Hermite, 7);
        for (state, time) in own.states.iter_mut().zip(&own.times_s) {
            let turn = libm::sincos(ROTATION_RAD_S * time);
            let [x, y, z, u, v, w] = *state;
            let (at, moves) = (turned([x, y, z], turn), turned([u, v, w], turn));
            *state = [
                at[0],
                at[1],
                at[2],
                moves[0] + ROTATION_RAD_S * at[1],
                moves[1] - ROTATION_RAD_S * at[0],
                moves[2],
            ];
        }
        own.frame = Frame::EarthFixed;
        assert!(worst(&own).error_km < 0.02, "{:?}", worst(&own));
    }

    #[test]
    fn velocities_that_are_not_those_of_the_positions_set_the_predictions_apart() {
        let mut own = segment(6_800.0, 60.0, Interpolation::Lagrange, 7);
        for state in &mut own.states {
            state[3..].fill(0.0);
        }
        assert!(worst(&own).apart_km > 100.0, "{:?}", worst(&own));
        assert!(worst(&own).error_km < 10.0, "{:?}", worst(&own));
    }
}
