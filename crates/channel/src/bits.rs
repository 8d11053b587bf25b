//! Which bits of a line are wrong, where a link has bit errors: what comes behind its demodulator and decoder.
//!
//! Bits are counted on the line from the start of the run, whether or not they carry anything. A channel is asked for the
//! first wrong bit from one on, in order: it draws how far that is, not each bit.

mod bit_errors;
mod error_bursts;
mod error_trace;
mod gilbert_elliott_bits;

pub use bit_errors::BitErrorsSpec;
pub use error_bursts::{BurstLengths, ErrorBurstsSpec};
pub use error_trace::ErrorTraceSpec;
pub use gilbert_elliott_bits::GilbertElliottBitsSpec;

use crate::ChannelSpec;
use bit_errors::BitErrors;
use error_bursts::ErrorBursts;
use error_trace::ErrorTrace;
use gilbert_elliott_bits::GilbertElliottBits;
use skycell_des::Stream;

/// The bit errors of one link in one run.
#[derive(Debug)]
pub struct BitChannel(Kind);

#[derive(Debug)]
enum Kind {
    Random(BitErrors),
    GilbertElliott(GilbertElliottBits),
    Bursts(ErrorBursts),
    Trace(ErrorTrace),
}

impl BitChannel {
    /// The bit errors of the link `name` in a run with `seed`; none for a channel that loses whole frames. States are
    /// drawn from `link/<name>/channel`, errors within them from `link/<name>/loss`.
    pub fn new(spec: &ChannelSpec, seed: u64, name: &str) -> Option<Self> {
        let states = || Stream::new(seed, &format!("link/{name}/channel"));
        let errors = || Stream::new(seed, &format!("link/{name}/loss"));
        Some(BitChannel(match spec {
            ChannelSpec::BitErrors(spec) => Kind::Random(BitErrors::new(spec, errors())),
            ChannelSpec::GilbertElliottBits(spec) => {
                Kind::GilbertElliott(GilbertElliottBits::new(spec, states(), errors()))
            }
            ChannelSpec::ErrorBursts(spec) => {
                Kind::Bursts(ErrorBursts::new(spec, states(), errors()))
            }
            ChannelSpec::ErrorTrace(spec) => Kind::Trace(ErrorTrace::new(spec)),
            ChannelSpec::GilbertElliott(_)
            | ChannelSpec::LossBursts(_)
            | ChannelSpec::PeriodicLosses(_) => return None,
        }))
    }

    /// The first wrong bit that is not before `bit`, which is not before the one that was asked for last;
    /// [`u64::MAX`] where there is none.
    pub fn first_from(&mut self, bit: u64) -> u64 {
        match &mut self.0 {
            Kind::Random(errors) => errors.first_from(bit),
            Kind::GilbertElliott(errors) => errors.first_from(bit),
            Kind::Bursts(errors) => errors.first_from(bit),
            Kind::Trace(errors) => errors.first_from(bit),
        }
    }
}

/// Bits that pass before one with something of probability `part` each: geometric, from 0.
fn bits_before(draws: &mut Stream, part: f64) -> u64 {
    if part == 0.0 {
        return u64::MAX;
    }
    (libm::log(draws.unit()) / libm::log1p(-part)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_to_an_error_is_geometric() {
        let mut draws = Stream::new(5, "test");
        let n = 100_000;
        let before: Vec<u64> = (0..n).map(|_| bits_before(&mut draws, 0.2)).collect();
        // Mean 0.8 / 0.2 = 4, standard deviation sqrt(0.8) / 0.2 = 4.5: a standard error of 0.014.
        let mean = before.iter().sum::<u64>() as f64 / f64::from(n);
        assert!((mean - 4.0).abs() < 0.06, "{mean}");
        let none = before.iter().filter(|&&bits| bits == 0).count() as f64 / f64::from(n);
        assert!((none - 0.2).abs() < 0.006, "{none}");
        assert_eq!(bits_before(&mut draws, 1.0), 0);
        assert_eq!(bits_before(&mut draws, 0.0), u64::MAX);
    }
}
