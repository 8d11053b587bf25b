//! The files of a page: how many, how long, from which server.

use crate::Draw;
use skycell_des::Stream;
use skycell_spec::{FilePartSpec, PagesSpec, Protocol};
use skycell_units::{Octets, SimTime};

/// Ranks, parts of all pages, at which a spec has numbers of requests and octets.
const RANKS: [f64; 5] = [0.10, 0.25, 0.50, 0.75, 0.90];

/// A file of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// It is asked for when all files of the waves before have come.
    pub(crate) wave: u32,
    /// Rank among files that a server sends at once; the least goes first.
    pub(crate) urgency: u8,
    pub(crate) octets: Octets,
    pub(crate) origin: usize,
    /// Time that its server takes.
    pub(crate) wait: SimTime,
}

/// A page that a user asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drawn {
    /// Wave by wave; the first is the page itself.
    pub(crate) files: Vec<File>,
    /// By origin: whether it has HTTP/1.1 and not HTTP/2.
    pub(crate) is_http1: Vec<bool>,
}

/// The value at a rank: between two ranks the logarithm is a line, and beyond the lines go on, to a part of the least and a
/// multiple of the largest that are both ten.
pub(crate) fn at_rank(values: &[u64], rank: f64) -> f64 {
    let logs = |at: usize| libm::log(values[at].max(1) as f64);
    let above = RANKS.partition_point(|&known| known < rank);
    let from = above.clamp(1, RANKS.len() - 1) - 1;
    let slope = (logs(from + 1) - logs(from)) / (RANKS[from + 1] - RANKS[from]);
    let log = logs(from) + slope * (rank - RANKS[from]);
    let (least, most) = (values[0] as f64, values[values.len() - 1] as f64);
    libm::exp(log).clamp(least / 10.0, most * 10.0)
}

/// A standard normal number (Box and Muller).
fn normal(stream: &mut Stream) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(stream.unit()));
    radius * libm::cos(2.0 * std::f64::consts::PI * stream.unit())
}

/// Draws a page.
pub(crate) fn draw(spec: &PagesSpec, stream: &mut Stream) -> Drawn {
    let rank = stream.unit();
    let requests = at_rank(&spec.requests, rank).round().max(1.0) as u64;
    let octets = at_rank(&spec.page_octets, rank);
    let origins = spec.origins.max(1) as usize;
    let is_http1 = (0..origins).map(|_| match spec.protocol {
        Protocol::Http1 => true,
        Protocol::Http2 => false,
        Protocol::ByOrigin => stream.unit() <= spec.http1_part,
    });
    let is_http1 = is_http1.collect();
    let all = |of: fn(&FilePartSpec) -> f64| spec.parts.iter().map(of).sum::<f64>();
    let (all_requests, all_octets) = (all(|part| part.requests), all(|part| part.octets));
    let (mut files, mut share, mut done) = (Vec::new(), 0.0, 0);
    for (at, part) in spec.parts.iter().enumerate() {
        share += part.requests;
        // The page itself is there whatever the rounding.
        let up_to = (share / all_requests * requests as f64).round() as u64;
        let up_to = if at == 0 { up_to.max(1) } else { up_to };
        let count = up_to.saturating_sub(done);
        done = done.max(up_to);
        let weights: Vec<f64> = (0..count)
            .map(|_| libm::exp(part.sigma * normal(stream)))
            .collect();
        let all_weights: f64 = weights.iter().sum();
        for weight in weights {
            let of_part = octets * part.octets / all_octets;
            let is_first = files.is_empty();
            let is_at_first = is_first || origins == 1 || stream.unit() <= spec.first_part;
            let wait = if is_first {
                spec.page_wait
            } else {
                spec.file_wait
            };
            files.push(File {
                wave: if is_first { 0 } else { part.wave.max(1) },
                urgency: part.urgency.min(255) as u8,
                octets: (of_part * weight / all_weights).round().max(1.0) as Octets,
                origin: match is_at_first {
                    true => 0,
                    false => stream.uniform(1, origins as u64) as usize,
                },
                wait: SimTime(wait.draw(stream)),
            });
        }
    }
    files.sort_by_key(|file| file.wave);
    Drawn { files, is_http1 }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use serde_json::json;

    /// The values of the preset.
    pub(crate) fn spec() -> PagesSpec {
        let part = |requests: u32, octets: u32, sigma: f64, wave: u32, urgency: u32| {
            json!({"requests": f64::from(requests), "octets": f64::from(octets), "sigma": sigma, "wave": wave,
                "urgency": urgency})
        };
        let exponential = |ms: u64| json!({"kind": "exponential", "mean_ps": ms * 1_000_000_000});
        let text = json!({
            "requests": [27, 46, 77, 122, 185],
            "page_octets": [621_568, 1_305_600, 2_469_888, 4_679_680, 9_399_296],
            "parts": [part(3, 22, 1.0, 1, 1), part(8, 82, 1.0, 1, 2), part(23, 697, 2.2, 1, 3),
                part(4, 139, 1.0, 2, 2), part(17, 1_058, 2.5, 2, 4)],
            "origins": 17, "first_part": 0.333, "protocol": "by_origin", "http1_part": 0.15,
            "connections": 6, "dns": "server", "dns_ask_octets": 60, "dns_answer_octets": 200,
            "dns_again_ps": 5_000_000_000_000u64, "hello_octets": 500, "flight_octets": 4_000,
            "resumed_octets": 300, "finished_octets": 100, "resumed_part": 0.4, "early_part": 0.0,
            "request_octets": 500, "page_wait": exponential(50), "file_wait": exponential(5),
            "reading": exponential(30_000), "count": null,
        });
        serde_json::from_value(text).expect("a spec")
    }

    #[test]
    fn requests_and_octets_have_their_quantiles() {
        let spec = spec();
        let mut stream = Stream::new(1, "pages");
        let pages: Vec<Drawn> = (0..4_000).map(|_| draw(&spec, &mut stream)).collect();
        let sorted = |of: &dyn Fn(&Drawn) -> f64| {
            let mut values: Vec<f64> = pages.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values
        };
        let requests = sorted(&|page| page.files.len() as f64);
        let octets = sorted(&|page| page.files.iter().map(|file| file.octets as f64).sum());
        for (at, rank) in RANKS.iter().enumerate() {
            let index = (rank * 4_000.0) as usize;
            // The standard error of a rank is 0.008; a hundredth of rank is up to 4 % of the value.
            assert!(
                (requests[index] / spec.requests[at] as f64 - 1.0).abs() < 0.08,
                "{rank}"
            );
            assert!(
                (octets[index] / spec.page_octets[at] as f64 - 1.0).abs() < 0.12,
                "{rank}"
            );
        }
    }

    #[test]
    fn ranks_have_the_values_of_the_spec_exactly() {
        let spec = spec();
        for (&rank, &requests) in RANKS.iter().zip(&spec.requests) {
            assert!((at_rank(&spec.requests, rank) - requests as f64).abs() < 1e-6);
        }
    }

    #[test]
    fn a_page_begins_with_itself_and_a_third_of_its_files_are_where_it_is() {
        let spec = spec();
        let mut stream = Stream::new(2, "pages");
        let pages: Vec<Drawn> = (0..500).map(|_| draw(&spec, &mut stream)).collect();
        assert!(
            pages
                .iter()
                .all(|page| page.files[0].wave == 0 && page.files[0].origin == 0)
        );
        let waves = |page: &Drawn| page.files.iter().filter(|file| file.wave == 0).count();
        assert!(pages.iter().all(|page| waves(page) == 1));
        let files: Vec<&File> = pages.iter().flat_map(|page| &page.files[1..]).collect();
        let at_first = files.iter().filter(|file| file.origin == 0).count();
        assert!((at_first as f64 / files.len() as f64 - 0.333).abs() < 0.01);
    }
}
