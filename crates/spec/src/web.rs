//! Users of the World Wide Web: a client that asks for pages, and a server that answers with files.

use crate::check::{range, structure, validate_distribution};
use crate::{DistributionSpec, SpecError};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_units::Octets;

/// One client and its server on one persistent connection (HTTP/1.1, pipelined).
///
/// Requests are TCP data from the flow's destination to its source, on the VCs that carry the
/// acknowledgements of the answers. Source: 98-0876R1 section 5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct WebSpec {
    /// Time from a page to the next, not always zero.
    pub page_interval: DistributionSpec,
    /// What of a page begins the time to the next one.
    pub page_interval_from: PageMoment,
    /// Pages in all; none for as many as the run has time for.
    pub pages: Option<u32>,
    /// Requests of a page; the least is at least 1.
    pub requests: CountSpec,
    /// Time between two requests of a page.
    pub gap: DistributionSpec,
    /// Octets of a request, above zero.
    pub request_octets: Octets,
    /// What a requested file may be, at least one class.
    pub classes: Vec<FileClassSpec>,
    /// Which size of its class a file has; the least count stands for the first.
    pub size: CountSpec,
}

/// A moment of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PageMoment {
    /// Its first request. A page whose requests take longer than the time to the next one puts that off
    /// to its last request.
    FirstRequest,
    /// Its last request.
    LastRequest,
    /// The arrival of its last octet at the client.
    LastAnswer,
}

/// Files of one class.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct FileClassSpec {
    /// How often the class is asked for, in proportion to the others; above zero, finite.
    pub weight: f64,
    /// Sizes, octets, each above zero; as many as `size` has counts.
    pub sizes_octets: Vec<Octets>,
}

/// A count with a Poisson distribution that is held between limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct CountSpec {
    /// Mean of the Poisson distribution before it is held, above 0, at most 500.
    pub mean: f64,
    /// Least count.
    pub low: u32,
    /// Largest count, at least `low`.
    pub high: u32,
    /// What a value outside the limits becomes.
    pub outside: OutsideLimits,
}

/// What a drawn value outside its limits becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum OutsideLimits {
    /// The nearest limit.
    Clamp,
    /// Another draw: the distribution is cut off at its limits.
    Redraw,
}

/// Largest number of values that a count may take, and of sizes in a class.
const MOST_COUNTS: u32 = 10_000;

impl WebSpec {
    /// Refuses what cannot be simulated; `at` is where the spec stands.
    pub(crate) fn validate(&self, at: &str) -> Result<(), SpecError> {
        let path = |key: &str| format!("{at}.{key}");
        let interval = path("page_interval");
        validate_distribution(&self.page_interval, &interval)?;
        if self.page_interval == (DistributionSpec::Constant { value_ps: 0 }) {
            return Err(range(format!("{interval}.value_ps"), 0, "above 0"));
        }
        if self.request_octets == 0 {
            return Err(range(path("request_octets"), 0, "above 0"));
        }
        validate_distribution(&self.gap, &path("gap"))?;
        self.requests.validate(&path("requests"))?;
        self.size.validate(&path("size"))?;
        if self.requests.low == 0 {
            return Err(range(path("requests.low"), 0, "above 0"));
        }
        if self.classes.is_empty() {
            return Err(structure(path("classes"), "needs a class"));
        }
        let counts = self.size.high - self.size.low + 1;
        for (i, class) in self.classes.iter().enumerate() {
            let here = |key: &str| path(&format!("classes[{i}].{key}"));
            if !(class.weight > 0.0 && class.weight.is_finite()) {
                return Err(range(here("weight"), class.weight, "above 0"));
            }
            if class.sizes_octets.len() != counts as usize {
                return Err(range(
                    here("sizes_octets"),
                    format!("{} sizes", class.sizes_octets.len()),
                    &format!("{counts}, one for each count of size"),
                ));
            }
            if class.sizes_octets.contains(&0) {
                return Err(range(here("sizes_octets"), 0, "above 0"));
            }
        }
        Ok(())
    }
}

impl CountSpec {
    fn validate(&self, at: &str) -> Result<(), SpecError> {
        if !(self.mean > 0.0 && self.mean <= 500.0) {
            return Err(range(
                format!("{at}.mean"),
                self.mean,
                "above 0, at most 500",
            ));
        }
        if self.high < self.low || self.high - self.low >= MOST_COUNTS {
            return Err(range(
                format!("{at}.high"),
                self.high,
                "at least low, less than low + 10000",
            ));
        }
        Ok(())
    }
}
