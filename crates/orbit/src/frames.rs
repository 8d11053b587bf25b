//! Axes that states of satellites are given in, and how they turn to those of date.
//!
//! Positions end in axes that turn with the earth by Greenwich mean sidereal time from the mean
//! equinox of date (TEME's), as SGP4's do. Left out: polar motion (below 20 m), the bias between ICRF
//! and the mean equator of 2000 (0.02 arcseconds: 0.8 m in a low orbit), and what nutation has below
//! 0.002 arcseconds.

use crate::vector::{Vec3, dot};
use serde::{Deserialize, Serialize};

/// Axes of states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Frame {
    /// They turn with the earth: ITRF, and what differs from it by polar motion.
    EarthFixed,
    /// True equator and mean equinox of date, SGP4's.
    Teme,
    /// True equator and true equinox of date.
    TrueOfDate,
    /// Mean equator and equinox of 2000 (EME2000), and ICRF and GCRF.
    J2000,
}

impl Frame {
    /// The axes that states are brought to before they are used; none where they stay.
    pub fn of_date(self) -> Option<Frame> {
        match self {
            Frame::EarthFixed | Frame::Teme => None,
            Frame::TrueOfDate | Frame::J2000 => Some(Frame::Teme),
        }
    }

    /// The turn from these axes to TEME some seconds after a moment; none of those that stay.
    pub fn to_date(self, unix_ns: i64, seconds: f64) -> Turn {
        let centuries = centuries(unix_ns, seconds);
        match self {
            Frame::EarthFixed | Frame::Teme => Turn::NONE,
            Frame::TrueOfDate => equinoxes(&Nutation::at(centuries)),
            Frame::J2000 => {
                let nutation = Nutation::at(centuries);
                equinoxes(&nutation)
                    .after(&nutation.turn())
                    .after(&precession(centuries))
            }
        }
    }
}

/// Julian centuries since 2000-01-01 12:00. UTC stands for TT: a minute of precession is 1e-4
/// arcseconds.
fn centuries(unix_ns: i64, seconds: f64) -> f64 {
    (unix_ns as f64 / 1e9 + seconds - 946_728_000.0) / 86_400.0 / 36_525.0
}

/// A turn of axes: the rows of its matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn([Vec3; 3]);

impl Turn {
    const NONE: Turn = Turn([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);

    /// Of the axes about one of them (0, 1 or 2) by an angle.
    fn about(axis: usize, angle_rad: f64) -> Turn {
        let (sine, cosine) = libm::sincos(angle_rad);
        let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
        let mut rows = [[0.0; 3]; 3];
        rows[axis][axis] = 1.0;
        rows[next][next] = cosine;
        rows[next][last] = sine;
        rows[last][next] = -sine;
        rows[last][last] = cosine;
        Turn(rows)
    }

    /// This turn after another.
    fn after(&self, first: &Turn) -> Turn {
        let columns = [0, 1, 2].map(|column| first.0.map(|row| row[column]));
        Turn(self.0.map(|row| columns.map(|column| dot(row, column))))
    }

    /// A point as the turned axes see it.
    pub fn applied(&self, point: Vec3) -> Vec3 {
        self.0.map(|row| dot(row, point))
    }
}

const ARCSECOND: f64 = std::f64::consts::PI / 648_000.0;

/// From the mean equator and equinox of 2000 to those of date (Lieske, Astronomy and Astrophysics
/// 73, p. 282, 1979; IAU 1976).
fn precession(t: f64) -> Turn {
    let zeta = t * (2306.2181 + t * (0.301_88 + t * 0.017_998)) * ARCSECOND;
    let z = t * (2306.2181 + t * (1.094_68 + t * 0.018_203)) * ARCSECOND;
    let theta = t * (2004.3109 - t * (0.426_65 + t * 0.041_833)) * ARCSECOND;
    Turn::about(2, -z)
        .after(&Turn::about(1, theta))
        .after(&Turn::about(2, -zeta))
}

struct Nutation {
    longitude_rad: f64,
    obliquity_rad: f64,
    mean_obliquity_rad: f64,
}

/// The terms of the IAU's nutation of 1980 (Seidelmann, Celestial Mechanics 27, p. 79, 1982, table 1)
/// from 0.002 arcseconds on: multiples of l, l', F, D and the node; sine of longitude and its change
/// in a century, cosine of obliquity and its change, in 0.0001 arcseconds.
#[rustfmt::skip]
const TERMS: [([i8; 5], [f64; 4]); 26] = [
    ([0, 0, 0, 0, 1], [-171_996.0, -174.2, 92_025.0, 8.9]),
    ([0, 0, 0, 0, 2], [2_062.0, 0.2, -895.0, 0.5]),
    ([0, 0, 2, -2, 2], [-13_187.0, -1.6, 5_736.0, -3.1]),
    ([0, 1, 0, 0, 0], [1_426.0, -3.4, 54.0, -0.1]),
    ([0, 1, 2, -2, 2], [-517.0, 1.2, 224.0, -0.6]),
    ([0, -1, 2, -2, 2], [217.0, -0.5, -95.0, 0.3]),
    ([0, 0, 2, -2, 1], [129.0, 0.1, -70.0, 0.0]),
    ([2, 0, 0, -2, 0], [48.0, 0.0, 1.0, 0.0]),
    ([0, 0, 2, -2, 0], [-22.0, 0.0, 0.0, 0.0]),
    ([0, 0, 2, 0, 2], [-2_274.0, -0.2, 977.0, -0.5]),
    ([1, 0, 0, 0, 0], [712.0, 0.1, -7.0, 0.0]),
    ([0, 0, 2, 0, 1], [-386.0, -0.4, 200.0, 0.0]),
    ([1, 0, 2, 0, 2], [-301.0, 0.0, 129.0, -0.1]),
    ([1, 0, 0, -2, 0], [-158.0, 0.0, -1.0, 0.0]),
    ([-1, 0, 2, 0, 2], [123.0, 0.0, -53.0, 0.0]),
    ([0, 0, 0, 2, 0], [63.0, 0.0, -2.0, 0.0]),
    ([1, 0, 0, 0, 1], [63.0, 0.1, -33.0, 0.0]),
    ([-1, 0, 0, 0, 1], [-58.0, -0.1, 32.0, 0.0]),
    ([-1, 0, 2, 2, 2], [-59.0, 0.0, 26.0, 0.0]),
    ([1, 0, 2, 0, 1], [-51.0, 0.0, 27.0, 0.0]),
    ([0, 0, 2, 2, 2], [-38.0, 0.0, 16.0, 0.0]),
    ([2, 0, 0, 0, 0], [29.0, 0.0, -1.0, 0.0]),
    ([1, 0, 2, -2, 2], [29.0, 0.0, -12.0, 0.0]),
    ([2, 0, 2, 0, 2], [-31.0, 0.0, 13.0, 0.0]),
    ([0, 0, 2, 0, 0], [26.0, 0.0, -1.0, 0.0]),
    ([-1, 0, 2, 0, 1], [21.0, 0.0, -10.0, 0.0]),
];

impl Nutation {
    fn at(t: f64) -> Nutation {
        // Degrees: the moon's and the sun's anomaly, the moon's argument of latitude, its elongation
        // and its node (the same, table 1).
        let arguments = [
            134.962_981_39 + t * (477_198.867_398_1 + t * 0.008_697_2),
            357.527_723_33 + t * (35_999.050_34 - t * 0.000_160_3),
            93.271_910_28 + t * (483_202.017_538_1 - t * 0.003_682_5),
            297.850_363_06 + t * (445_267.111_48 - t * 0.001_914_2),
            125.044_522_22 - t * (1_934.136_260_8 - t * 0.002_070_8),
        ];
        let (mut longitude, mut obliquity) = (0.0, 0.0);
        for (multiples, [sine_of, sine_rate, cosine_of, cosine_rate]) in TERMS {
            let terms = multiples.iter().zip(arguments);
            let angle: f64 = terms.map(|(&n, argument)| f64::from(n) * argument).sum();
            let (sine, cosine) = libm::sincos(angle.to_radians());
            longitude += (sine_of + sine_rate * t) * sine;
            obliquity += (cosine_of + cosine_rate * t) * cosine;
        }
        let mean = 84_381.448 - t * (46.815 + t * (0.000_59 - t * 0.001_813));
        Nutation {
            longitude_rad: longitude * 1e-4 * ARCSECOND,
            obliquity_rad: obliquity * 1e-4 * ARCSECOND,
            mean_obliquity_rad: mean * ARCSECOND,
        }
    }

    /// From the mean equator and equinox of date to the true ones.
    fn turn(&self) -> Turn {
        Turn::about(0, -self.mean_obliquity_rad - self.obliquity_rad)
            .after(&Turn::about(2, -self.longitude_rad))
            .after(&Turn::about(0, self.mean_obliquity_rad))
    }
}

/// From the true equinox to the mean one, along the true equator.
fn equinoxes(nutation: &Nutation) -> Turn {
    let along = nutation.longitude_rad * libm::cos(nutation.mean_obliquity_rad);
    Turn::about(2, along)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vector::distance;

    #[test]
    fn the_axes_of_2000_become_those_of_date_as_in_the_textbook() {
        // Vallado et al., AIAA 2006-6753, appendix C: 2004-04-06 07:51:28.386009 UTC, km, by the
        // theories of 1976 and 1980 without the corrections of the earth rotation service.
        let unix_ns = 1_081_237_888_386_009_000;
        let j2000 = [5_102.509_600, 6_123.011_520, 6_378.136_300];
        let teme = [5_094.180_162_1, 6_127.644_659_5, 6_380.344_532_7];
        let found = Frame::J2000.to_date(unix_ns, 0.0).applied(j2000);
        assert!(distance(found, teme) < 5e-4, "{found:?}");
        assert_eq!(Frame::Teme.to_date(unix_ns, 0.0).applied(teme), teme);
    }
}
