//! Which frames a link loses, where its losses come in bursts, which bits are wrong on one with bit errors, and how its
//! delay varies.
//!
//! A channel of frames is asked once for each frame (or packet), when its first cell enters the link, in order of time.
//! It draws from streams of its own, so that other links' draws stay what they are.

mod bits;
mod delay;
mod gilbert_elliott;
mod loss_bursts;
mod periodic;

pub use bits::{
    BitChannel, BitErrorsSpec, BurstLengths, ErrorBurstsSpec, ErrorTraceSpec,
    GilbertElliottBitsSpec,
};
pub use delay::{
    DelayVariation, DelayVariationSpec, NormalDelaySpec, ParetoDelaySpec, TableDelaySpec,
    UniformDelaySpec, VariationPart,
};
pub use gilbert_elliott::GilbertElliottSpec;
pub use loss_bursts::LossBurstsSpec;
pub use periodic::PeriodicLossesSpec;

use gilbert_elliott::GilbertElliott;
use loss_bursts::LossBursts;
use periodic::PeriodicLosses;
use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};
use skycell_des::Stream;
use skycell_units::SimTime;

/// How the losses of a link come, or its bit errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ChannelSpec {
    /// See [`GilbertElliottSpec`].
    GilbertElliott(GilbertElliottSpec),
    /// See [`LossBurstsSpec`].
    LossBursts(LossBurstsSpec),
    /// See [`PeriodicLossesSpec`].
    PeriodicLosses(PeriodicLossesSpec),
    /// See [`BitErrorsSpec`].
    BitErrors(BitErrorsSpec),
    /// See [`GilbertElliottBitsSpec`].
    GilbertElliottBits(GilbertElliottBitsSpec),
    /// See [`ErrorBurstsSpec`].
    ErrorBursts(ErrorBurstsSpec),
    /// See [`ErrorTraceSpec`].
    ErrorTrace(ErrorTraceSpec),
}

impl ChannelSpec {
    /// Returns true for bit errors, and false for losses of whole frames.
    pub fn strikes_bits(&self) -> bool {
        match self {
            ChannelSpec::GilbertElliott(_)
            | ChannelSpec::LossBursts(_)
            | ChannelSpec::PeriodicLosses(_) => false,
            ChannelSpec::BitErrors(_)
            | ChannelSpec::GilbertElliottBits(_)
            | ChannelSpec::ErrorBursts(_)
            | ChannelSpec::ErrorTrace(_) => true,
        }
    }
}

impl Rule for ChannelSpec {
    fn check(&self, context: &Context) -> Result<(), Refusal> {
        match self {
            ChannelSpec::GilbertElliott(spec) => spec.check(context),
            ChannelSpec::LossBursts(spec) => spec.check(context),
            ChannelSpec::PeriodicLosses(spec) => spec.check(context),
            ChannelSpec::BitErrors(spec) => spec.check(context),
            ChannelSpec::GilbertElliottBits(spec) => spec.check(context),
            ChannelSpec::ErrorBursts(spec) => spec.check(context),
            ChannelSpec::ErrorTrace(spec) => spec.check(context),
        }
    }
}

/// The losses of frames of one link in one run.
#[derive(Debug)]
pub struct Channel(Kind);

#[derive(Debug)]
enum Kind {
    GilbertElliott(GilbertElliott),
    LossBursts(LossBursts),
    PeriodicLosses(PeriodicLosses),
}

impl Channel {
    /// The channel of the link `name` in a run with `seed`; none for one whose bits go wrong. Its states are drawn from `link/<name>/channel`, losses
    /// within them from `link/<name>/loss`.
    pub fn new(spec: &ChannelSpec, seed: u64, name: &str) -> Option<Self> {
        let states = Stream::new(seed, &format!("link/{name}/channel"));
        let losses = Stream::new(seed, &format!("link/{name}/loss"));
        Some(Channel(match spec {
            ChannelSpec::GilbertElliott(spec) => {
                Kind::GilbertElliott(GilbertElliott::new(spec, states, losses))
            }
            ChannelSpec::LossBursts(spec) => {
                Kind::LossBursts(LossBursts::new(spec, states, losses))
            }
            ChannelSpec::PeriodicLosses(spec) => {
                Kind::PeriodicLosses(PeriodicLosses::new(spec, losses))
            }
            ChannelSpec::BitErrors(_)
            | ChannelSpec::GilbertElliottBits(_)
            | ChannelSpec::ErrorBursts(_)
            | ChannelSpec::ErrorTrace(_) => return None,
        }))
    }

    /// Returns whether the frame is lost whose first cell enters at `at`. Times must not decrease
    /// from call to call.
    pub fn loses(&mut self, at: SimTime) -> bool {
        match &mut self.0 {
            Kind::GilbertElliott(channel) => channel.loses(),
            Kind::LossBursts(channel) => channel.loses(at),
            Kind::PeriodicLosses(channel) => channel.loses(at),
        }
    }
}

/// Returns true with probability `part`. Draws in any case, so a probability shifts no other draw.
fn happens(draws: &mut Stream, part: f64) -> bool {
    draws.unit() <= part
}
