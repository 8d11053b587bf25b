//! Users of the World Wide Web: a client that asks for pages, and a server that answers with files.

use crate::check::{range, structure, validate_distribution};
use crate::check_classes::refused;
use crate::{DistributionSpec, SpecError, Times};
use serde::{Deserialize, Serialize};
use serde_json::json;
use skycell_declare::types::{
    CountLimit, FileSizes, IndexFirst, KilobyteOctets, PoissonMean, Repetitions, RequestOctets,
    Share, unchecked,
};
use skycell_declare::{Context, Declare, Rule, is_default};
use skycell_units::Octets;

/// One client and its server on one persistent connection (HTTP/1.1, pipelined).
///
/// [`Web`] says what each field means. Requests are TCP data from the flow's destination to its source, on the VCs that carry the
/// acknowledgements of the answers. Source: 98-0876R1 section 5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct WebSpec {
    /// Not always zero.
    pub page_interval: DistributionSpec,
    /// Point of a page from which the time to the next page counts.
    pub page_interval_from: PageMoment,
    /// Pages in all; none for as many as the run has time for.
    pub pages: Option<u32>,
    /// Requests of a page; the least is at least 1.
    pub requests: CountSpec,
    /// Time between two requests of a page.
    pub gap: DistributionSpec,
    /// Octets of a request, above zero.
    pub request_octets: Octets,
    /// Classes of a requested file, at least one; at least two with `index_first`.
    pub classes: Vec<FileClassSpec>,
    /// True if the first file of a page is of the first class, and the others are of the other classes.
    #[serde(default, skip_serializing_if = "is_default")]
    pub index_first: bool,
    /// Which size of its class a file has; the least count stands for the first.
    pub size: CountSpec,
}

/// Pages of files over one persistent HTTP/1.1 connection, requests pipelined.
///
/// This is [`WebSpec`] as a file has it, with the kilobyte in which it states sizes.
#[derive(Clone, Debug, PartialEq, Declare)]
#[rule(written_for = "web")]
pub struct Web {
    /// Time from one page to the next.
    #[param(check = unchecked, default = "10 s", source = "ATM Forum 98-0876R1, 5.3 and 6.1")]
    pub page_interval: PageInterval,
    /// From when the time to the next page counts: a page's first request, its last, or the arrival of
    /// everything that it asked for.
    #[param(
        word,
        default = "first_request",
        source = "ATM Forum 98-0876R1, 6.1: a new set of requests every 10 s"
    )]
    pub page_interval_from: PageMoment,
    /// Number of pages; without it as many as the run has time for.
    #[param(check = unchecked, optional, source = "no end")]
    pub pages: Option<Repetitions>,
    /// Requests per page, one for each file.
    #[param(table, empty, source = "ATM Forum 98-0876R1, 5.3")]
    pub requests: CountSpec,
    /// Time between two requests of a page.
    #[param(
        check = unchecked,
        default = json!({"kind": "uniform", "low": "100 ms", "high": "500 ms"}),
        source = "ATM Forum 98-0876R1, 5.3: random between 100 and 500 ms; uniform is our choice"
    )]
    pub gap: Times,
    /// Octets of a request.
    #[param(
        key = "request_size",
        default = "128 B",
        source = "ATM Forum 98-0876R1, 6.2"
    )]
    pub request_octets: RequestOctets,
    /// Classes of files, with how often they are asked for.
    #[param(
        table,
        key = "file_class",
        default = json!([
            {"share": 20, "step_kb": 0.1},
            {"share": 28, "step_kb": 1},
            {"share": 40, "step_kb": 10},
            {"share": 11.2, "step_kb": 100},
            {"share": 0.8, "step_kb": 1000},
        ]),
        source = "ATM Forum 98-0876R1, Table 1"
    )]
    pub classes: Vec<FileClassSpec>,
    /// The first file of a page is its index page: a file of the first class. Its other files are of the
    /// other classes, by their shares. Otherwise all files of a page are drawn alike.
    #[param(
        check = unchecked,
        default = false,
        source = "ATM Forum 98-0876R1, 5.1 to 5.3: a share of 20 % for the first class"
    )]
    pub index_first: IndexFirst,
    /// Which multiple of its class's step a file has.
    #[param(table, empty, key = "file_step", source = "ATM Forum 98-0876R1, 5.2")]
    pub size: CountSpec,
    /// Octets in the KB in which file sizes are stated.
    #[param(
        default = "1024 B",
        source = "choice: only 1024 makes the mean file the 120.3 KB of the slides of ATM Forum 98-0876R1"
    )]
    pub kilobyte: KilobyteOctets,
}

/// Times from page to page, not always zero.
pub type PageInterval = DistributionSpec;

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

/// Files whose sizes are small multiples of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct FileClassSpec {
    /// How often files of the class are asked for.
    #[param(key = "share")]
    pub weight: Share,
    /// The smallest size; the others are its multiples.
    ///
    /// As many as `size` has counts.
    #[param(key = "step_kb")]
    pub sizes_octets: FileSizes,
}

/// A Poisson count between two limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct CountSpec {
    /// Mean of the Poisson distribution before the limits apply.
    #[param(default = 5, source = "ATM Forum 98-0876R1, 5.2 and 5.3")]
    pub mean: PoissonMean,
    /// Smallest count.
    #[param(
        key = "least",
        default = 1,
        source = "ATM Forum 98-0876R1, 5.2 and 5.3"
    )]
    pub low: CountLimit,
    /// Largest count; not below least.
    #[param(key = "most", default = 9, source = "ATM Forum 98-0876R1, 5.2 and 5.3")]
    pub high: CountLimit,
    /// Fate of a value beyond a limit: it becomes the limit, or is drawn again.
    #[param(
        word,
        default = "clamp",
        source = "choice: clamping keeps the mean at 4.95 of the stated 5, drawing again at 4.85"
    )]
    pub outside: OutsideLimits,
}

/// The fate of a drawn value outside its limits.
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
        if self.index_first && self.classes.len() < 2 {
            let needs = "needs a second class, since the first is that of index pages";
            return Err(structure(path("classes"), needs));
        }
        let counts = self.size.high - self.size.low + 1;
        for (i, class) in self.classes.iter().enumerate() {
            let here = |key: &str| path(&format!("classes[{i}].{key}"));
            class
                .check(&Context::default())
                .map_err(|at| refused(at, &path(&format!("classes[{i}]"))))?;
            if class.sizes_octets.len() != counts as usize {
                return Err(range(
                    here("sizes_octets"),
                    format!("{} sizes", class.sizes_octets.len()),
                    &format!("{counts}, one for each count of size"),
                ));
            }
        }
        Ok(())
    }
}

impl CountSpec {
    fn validate(&self, at: &str) -> Result<(), SpecError> {
        self.check(&Context::default())
            .map_err(|refusal| refused(refusal, at))?;
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
