//! How the delay of a link varies from packet to packet, as that of a wireless or a virtual link does.
//!
//! Draws of a link come from its own stream. Whatever the law, a draw begins with a normal variate z, which may depend on
//! the one before: z' = c z + sqrt(1 - c^2) e. Its quantile picks the value of the law, so that a correlation c leaves
//! the law as it is (a Gaussian copula; R. B. Nelsen, An Introduction to Copulas, 2006, section 2.3).

use serde::{Deserialize, Serialize};
use skycell_declare::{
    Context, Declare, Refusal, Rule,
    types::{Correlation, Flag, Interval, TimeOrNone},
};
use skycell_des::Stream;

/// How the delay of a link varies from packet to packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum DelayVariationSpec {
    /// See [`UniformDelaySpec`].
    Uniform(UniformDelaySpec),
    /// See [`NormalDelaySpec`].
    Normal(NormalDelaySpec),
    /// See [`ParetoDelaySpec`].
    Pareto(ParetoDelaySpec),
    /// See [`TableDelaySpec`].
    Table(TableDelaySpec),
}

/// The parameters that all distributions share.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct VariationPart {
    /// Correlation of the variate of a packet with that of the packet before.
    #[param(default = 0.0, source = "choice: none")]
    pub correlation: Correlation,
    /// If true, a packet may overtake earlier packets; otherwise it arrives with the last of them
    /// at the earliest.
    #[param(
        default = true,
        source = "Linux's netem, which sorts packets by their times"
    )]
    pub reorder: Flag,
}

/// The delay is uniform over its mean minus and plus the spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(written_for = "uniform_delay")]
pub struct UniformDelaySpec {
    /// Half of the range.
    #[param(key = "spread")]
    pub spread_ps: Interval,
    /// Parameters shared with other distributions.
    #[param(parts)]
    pub part: VariationPart,
}

/// The delay is normal about its mean, cut at four spreads to either side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(written_for = "normal_delay")]
pub struct NormalDelaySpec {
    /// Standard deviation.
    #[param(key = "spread")]
    pub spread_ps: Interval,
    /// Parameters shared with other distributions.
    #[param(parts)]
    pub part: VariationPart,
}

/// The delay has a long tail: Pareto with a shape of 3, from 0.577 spreads below its mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(written_for = "pareto_delay")]
pub struct ParetoDelaySpec {
    /// Standard deviation.
    #[param(key = "spread")]
    pub spread_ps: Interval,
    /// Parameters shared with other distributions.
    #[param(parts)]
    pub part: VariationPart,
}

/// A packet takes the link's delay and one of some further times, all as likely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(written_for = "table_delay")]
pub struct TableDelaySpec {
    /// Times beyond the link's delay, from the least to the greatest.
    #[param(key = "values", ascending)]
    pub values_ps: Vec<TimeOrNone>,
    /// Parameters shared with other distributions.
    #[param(parts)]
    pub part: VariationPart,
}

/// Where the normal law is cut, in standard deviations: as far as the tables of netem reach.
const MOST_SIGMA: f64 = 4.0;

/// Mean and standard deviation of a Pareto variate from 1 on with a shape of 3: a / (a - 1), and the root of
/// a / ((a - 1)^2 (a - 2)).
const PARETO_MEAN: f64 = 1.5;
const PARETO_SIGMA: f64 = 0.866_025_403_784_438_6;

impl DelayVariationSpec {
    /// From the link's mean delay, of a table from its least, down to the least, picoseconds.
    pub fn reach_ps(&self) -> u64 {
        let reach = |spread: u64, parts: f64| (spread as f64 * parts).round() as u64;
        match self {
            DelayVariationSpec::Uniform(law) => law.spread_ps,
            DelayVariationSpec::Normal(law) => reach(law.spread_ps, MOST_SIGMA),
            DelayVariationSpec::Pareto(law) => {
                reach(law.spread_ps, (PARETO_MEAN - 1.0) / PARETO_SIGMA)
            }
            DelayVariationSpec::Table(_) => 0,
        }
    }

    fn part(&self) -> VariationPart {
        match self {
            DelayVariationSpec::Uniform(law) => law.part,
            DelayVariationSpec::Normal(law) => law.part,
            DelayVariationSpec::Pareto(law) => law.part,
            DelayVariationSpec::Table(law) => law.part,
        }
    }
}

impl Rule for DelayVariationSpec {
    fn check(&self, context: &Context) -> Result<(), Refusal> {
        match self {
            DelayVariationSpec::Uniform(spec) => spec.check(context),
            DelayVariationSpec::Normal(spec) => spec.check(context),
            DelayVariationSpec::Pareto(spec) => spec.check(context),
            DelayVariationSpec::Table(spec) => spec.check(context),
        }
    }
}

/// The delays of one link in one run, beyond the least.
#[derive(Debug)]
pub struct DelayVariation {
    spec: DelayVariationSpec,
    part: VariationPart,
    reach_ps: u64,
    stream: Stream,
    /// z of the packet before.
    last: Option<f64>,
}

impl DelayVariation {
    /// Of the link `name` in a run with `seed`, drawn from the stream `link/<name>/delay`.
    pub fn new(spec: &DelayVariationSpec, seed: u64, name: &str) -> Self {
        DelayVariation {
            part: spec.part(),
            reach_ps: spec.reach_ps(),
            spec: spec.clone(),
            stream: Stream::new(seed, &format!("link/{name}/delay")),
            last: None,
        }
    }

    /// Returns whether a packet may overtake earlier packets.
    pub fn reorders(&self) -> bool {
        self.part.reorder
    }

    /// Returns the delay of the next packet beyond the least delay, picoseconds.
    pub fn next_ps(&mut self) -> u64 {
        let z = self.variate();
        let about_mean = |spread: u64, x: f64| {
            let beyond = self.reach_ps as f64 + spread as f64 * x;
            beyond.max(0.0).round() as u64
        };
        match &self.spec {
            DelayVariationSpec::Uniform(law) => about_mean(law.spread_ps, 1.0 - 2.0 * above(z)),
            DelayVariationSpec::Normal(law) => {
                about_mean(law.spread_ps, z.clamp(-MOST_SIGMA, MOST_SIGMA))
            }
            DelayVariationSpec::Pareto(law) => {
                // The quantile of 1 - q is q^(-1/3).
                let x = (1.0 / libm::cbrt(above(z)) - PARETO_MEAN) / PARETO_SIGMA;
                about_mean(law.spread_ps, x)
            }
            DelayVariationSpec::Table(law) => {
                let count = law.values_ps.len();
                let index = ((1.0 - above(z)) * count as f64) as usize;
                law.values_ps[index.min(count - 1)]
            }
        }
    }

    /// A normal variate that depends on the one before.
    fn variate(&mut self) -> f64 {
        // Box and Muller, A Note on the Generation of Random Normal Deviates, 1958; one of the two.
        let radius = libm::sqrt(-2.0 * libm::log(self.stream.unit()));
        let fresh = radius * libm::cos(2.0 * std::f64::consts::PI * self.stream.unit());
        let c = self.part.correlation;
        let z = match self.last {
            Some(last) => c * last + libm::sqrt(1.0 - c * c) * fresh,
            None => fresh,
        };
        self.last = Some(z);
        z
    }
}

/// The probability that a normal variate lies above `z`.
fn above(z: f64) -> f64 {
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;
    const DRAWS: usize = 200_000;

    fn part(correlation: f64) -> VariationPart {
        VariationPart {
            correlation,
            reorder: true,
        }
    }

    fn laws(correlation: f64) -> [DelayVariationSpec; 3] {
        let (spread_ps, part) = (MS, part(correlation));
        [
            DelayVariationSpec::Uniform(UniformDelaySpec { spread_ps, part }),
            DelayVariationSpec::Normal(NormalDelaySpec { spread_ps, part }),
            DelayVariationSpec::Pareto(ParetoDelaySpec { spread_ps, part }),
        ]
    }

    /// Draws in spreads about the mean.
    fn drawn(spec: &DelayVariationSpec) -> Vec<f64> {
        let mut delays = DelayVariation::new(spec, 1, "l");
        let reach = spec.reach_ps() as f64;
        let one = |_| (delays.next_ps() as f64 - reach) / MS as f64;
        (0..DRAWS).map(one).collect()
    }

    fn moments(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let square = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / count;
        (mean, square.sqrt())
    }

    #[test]
    fn each_law_has_the_mean_of_the_link_and_the_spread_that_is_written_correlated_or_not() {
        // Standard deviations: 1 / sqrt 3 of uniform; 1 of normal, less 0.0005 by the cut; 1 of Pareto, whose fourth
        // moment is infinite, so that the sample's comes to it slowly. Of 200 000 draws the mean's is 0.0022 times that;
        // with a correlation of 0.5 sqrt((1 + c) / (1 - c)) = 1.7 times as much at most.
        for correlation in [0.0, 0.5] {
            let expected = [1.0 / 3f64.sqrt(), 1.0, 1.0];
            for (spec, sigma) in laws(correlation).iter().zip(expected) {
                let (mean, found) = moments(&drawn(spec));
                assert!(mean.abs() < 0.012, "{spec:?}: mean {mean}");
                let tolerance = if sigma < 1.0 { 0.005 } else { 0.06 };
                assert!((found - sigma).abs() < tolerance, "{spec:?}: {found}");
            }
        }
    }

    #[test]
    fn quantiles_are_those_of_the_laws() {
        // At 90 %: 0.8 of a spread, 1.2816, and (10^(1/3) - 1.5) / 0.866 = 0.7557.
        for (spec, quantile) in laws(0.0).iter().zip([0.8, 1.2816, 0.7557]) {
            let below = drawn(spec).iter().filter(|&&x| x < quantile).count();
            let part = below as f64 / DRAWS as f64;
            assert!((part - 0.9).abs() < 0.0021, "{spec:?}: {part}"); // 3 sigma
        }
    }

    #[test]
    fn a_correlation_is_that_of_the_variates() {
        // Of the normal law that is the correlation of the delays.
        let values = drawn(&laws(0.5)[1]);
        let (mean, sigma) = moments(&values);
        let products = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean));
        let found = products.sum::<f64>() / (DRAWS - 1) as f64 / (sigma * sigma);
        assert!((found - 0.5).abs() < 0.01, "{found}");
    }

    #[test]
    fn a_table_gives_each_of_its_values_as_often_as_the_others() {
        let spec = DelayVariationSpec::Table(TableDelaySpec {
            values_ps: vec![0, MS, 5 * MS, 5 * MS],
            part: part(0.0),
        });
        let mut delays = DelayVariation::new(&spec, 1, "l");
        let values: Vec<u64> = (0..DRAWS).map(|_| delays.next_ps()).collect();
        for (value, part) in [(0, 0.25), (MS, 0.25), (5 * MS, 0.5)] {
            let found = values.iter().filter(|&&v| v == value).count() as f64 / DRAWS as f64;
            assert!((found - part).abs() < 0.0034, "{value}: {found}"); // 3 sigma
        }
    }
}
