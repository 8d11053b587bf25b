//! Satellites of an ephemeris: states at moments, between which positions are interpolated.

use crate::frames::Frame;
use crate::vector::Vec3;
use serde::{Deserialize, Serialize};

/// How positions between the states of a segment are found (CCSDS 502.0-B-3, table 5-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// The straight line between the states on either side.
    Linear,
    /// The polynomial through the positions of degree + 1 states around the moment.
    Lagrange,
    /// The polynomial through positions and velocities of (degree + 1) / 2 states around the moment.
    Hermite,
}

/// States of one object that belong together: nothing is interpolated from one segment to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Axes of the states.
    pub frame: Frame,
    /// How positions between them are found.
    pub interpolation: Interpolation,
    /// Degree of the polynomial, above 0.
    pub degree: u32,
    /// Between which moments it may be used, seconds since time 0, both included.
    pub useable_s: [f64; 2],
    /// Moments of the states, seconds since time 0, ascending.
    pub times_s: Vec<f64>,
    /// Position (km) and velocity (km/s) at each.
    pub states: Vec<[f64; 6]>,
}

impl Segment {
    /// Returns the fault; none if there is none.
    pub fn refused(&self) -> Option<String> {
        let count = self.times_s.len();
        let needed = self.points();
        if self.states.len() != count || count < needed {
            return Some(format!(
                "{count} moments and {} states, of which one position needs {needed}",
                self.states.len()
            ));
        }
        let numbers = self.times_s.iter().chain(self.states.iter().flatten());
        if !numbers
            .chain(&self.useable_s)
            .all(|number| number.is_finite())
        {
            return Some("a number that is none".into());
        }
        let ascends = self.times_s.windows(2).all(|pair| pair[0] < pair[1]);
        let [from, to] = self.useable_s;
        let holds = self.times_s[0] <= from && from <= to && to <= self.times_s[count - 1];
        (self.degree == 0 || !ascends || !holds)
            .then(|| "moments that do not ascend, or do not reach over what is useable".into())
    }

    /// States that one position is found from.
    fn points(&self) -> usize {
        let degree = self.degree as usize;
        match self.interpolation {
            Interpolation::Linear => 2,
            Interpolation::Lagrange => degree + 1,
            Interpolation::Hermite => degree / 2 + 1,
        }
    }

    /// Returns whether it may be used at a moment.
    pub fn holds(&self, seconds: f64) -> bool {
        self.useable_s[0] <= seconds && seconds <= self.useable_s[1]
    }

    /// Position at a moment that it holds, in its own axes, km.
    pub fn position_km(&self, seconds: f64) -> Vec3 {
        let count = self.points();
        // Half of the states before the moment and half after it, where there are as many.
        let after = self.times_s.partition_point(|&time| time <= seconds);
        let first = after
            .saturating_sub(count.div_ceil(2))
            .min(self.times_s.len() - count);
        let (times, states) = (&self.times_s[first..first + count], &self.states[first..]);
        let mut nodes = Vec::with_capacity(2 * count);
        let repeats = 1 + usize::from(self.interpolation == Interpolation::Hermite);
        for &time in times {
            nodes.resize(nodes.len() + repeats, time);
        }
        let mut position = [0.0; 3];
        for (axis, value) in position.iter_mut().enumerate() {
            let at = |node: usize| states[node / repeats][axis];
            let rate = |node: usize| states[node / repeats][axis + 3];
            *value = newton(&nodes, at, rate, seconds);
        }
        position
    }

    /// The segment with its states in axes in which it needs no more than the earth's turn; these
    /// axes move by less than 1e-11 rad/s against its own.
    pub fn turned_to_date(mut self, start_unix_ns: i64) -> Self {
        if let Some(frame) = self.frame.of_date() {
            for (state, time) in self.states.iter_mut().zip(&self.times_s) {
                let turn = self.frame.to_date(start_unix_ns, *time);
                let [x, y, z, u, v, w] = *state;
                let (position, velocity) = (turn.applied([x, y, z]), turn.applied([u, v, w]));
                *state = [
                    position[0],
                    position[1],
                    position[2],
                    velocity[0],
                    velocity[1],
                    velocity[2],
                ];
            }
            self.frame = frame;
        }
        self
    }
}

/// Newton's polynomial through values at nodes, and through their rates where a node comes twice.
fn newton(
    nodes: &[f64],
    value: impl Fn(usize) -> f64,
    rate: impl Fn(usize) -> f64,
    at: f64,
) -> f64 {
    let mut column: Vec<f64> = (0..nodes.len()).map(&value).collect();
    let mut coefficients = vec![column[0]];
    for order in 1..nodes.len() {
        for index in 0..nodes.len() - order {
            let apart = nodes[index + order] - nodes[index];
            column[index] = if apart == 0.0 {
                rate(index)
            } else {
                (column[index + 1] - column[index]) / apart
            };
        }
        coefficients.push(column[0]);
    }
    coefficients
        .iter()
        .zip(nodes)
        .rev()
        .fold(0.0, |sum, (coefficient, node)| {
            sum * (at - node) + coefficient
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segment(
        interpolation: Interpolation,
        degree: u32,
        of: impl Fn(f64) -> (f64, f64),
    ) -> Segment {
        let times_s: Vec<f64> = (0..12)
            .map(|n| f64::from(n) * 60.0 + f64::from(n % 3))
            .collect();
        Segment {
            frame: Frame::EarthFixed,
            interpolation,
            degree,
            useable_s: [0.0, 662.0],
            states: times_s
                .iter()
                .map(|&time| {
                    let (value, rate) = of(time);
                    [value, 2.0 * value, -value, rate, 2.0 * rate, -rate]
                })
                .collect(),
            times_s,
        }
    }

    proptest! {
        #[test]
        fn a_polynomial_of_its_degree_is_met_everywhere(
            c in prop::array::uniform6(-1.0..1.0f64), at in 0.0..662.0f64,
        ) {
            for (interpolation, degree) in [
                (Interpolation::Linear, 1),
                (Interpolation::Lagrange, 5),
                (Interpolation::Hermite, 5),
            ] {
                let highest = degree as usize;
                let of = |time: f64| {
                    let x = time / 600.0;
                    // Horner's rule, for the value and for its rate.
                    (0..=highest).rev().fold((0.0, 0.0), |(value, rate), n| {
                        (value * x + c[n], rate * x + value / 600.0)
                    })
                };
                let found = segment(interpolation, degree, of).position_km(at);
                let expected = of(at).0;
                prop_assert!((found[0] - expected).abs() < 1e-9, "{interpolation:?}");
                prop_assert!((found[1] - 2.0 * expected).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn as_many_states_are_taken_as_the_degree_asks_for() {
        // A jump in the states beyond the nearest ones is not seen.
        for (interpolation, degree, points) in [
            (Interpolation::Linear, 5, 2),
            (Interpolation::Lagrange, 3, 4),
            (Interpolation::Hermite, 3, 2),
            (Interpolation::Hermite, 4, 3),
            (Interpolation::Hermite, 7, 4),
        ] {
            let own = segment(interpolation, degree, |time| (time, 1.0));
            assert_eq!(own.points(), points, "{interpolation:?} {degree}");
            let far = segment(interpolation, degree, |time| {
                let half = 60.0 * (points as f64 / 2.0).ceil() + 3.0;
                let bent = (time - 330.0).abs() > half;
                (time + if bent { 1e6 } else { 0.0 }, 1.0)
            });
            assert!(
                (far.position_km(330.0)[0] - 330.0).abs() < 1e-9,
                "{interpolation:?}"
            );
        }
    }

    #[test]
    fn states_that_cannot_be_interpolated_are_refused() {
        let good = segment(Interpolation::Hermite, 5, |time| (time, 1.0));
        assert_eq!(good.refused(), None);
        for change in [
            |s: &mut Segment| s.times_s.swap(3, 4),
            |s: &mut Segment| s.degree = 25,
            |s: &mut Segment| s.states[2][4] = f64::NAN,
            |s: &mut Segment| s.useable_s[1] = 700.0,
        ] {
            let mut broken = good.clone();
            change(&mut broken);
            assert!(broken.refused().is_some());
        }
    }
}
