//! Slotted ALOHA: a terminal sends in a slot of its own choice, and again after a random time if it collided.
//!
//! Source: L. G. Roberts, ALOHA Packet System with and without Slots and Capture, 1975; D. Bertsekas, R. Gallager, Data
//! Networks, 2nd edition, section 4.2 (stabilisation: 4.2.3, after R. Rivest, Network Control by Bayesian Broadcast, IEEE
//! Trans. Information Theory 33, 1987).

use crate::contention::{Contender, Contention, Feedback};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{BackoffExponent, PartOfOne},
};
use skycell_des::Stream;
use skycell_units::SimTime;

/// Slotted ALOHA: terminals send at random, and again at random after a collision.
///
/// Roberts: ALOHA Packet System with and without Slots and Capture, 1975.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct SlottedAlohaSpec {
    /// How terminals wait after a collision.
    #[param(
        word,
        default = "pseudo_bayesian",
        source = "Bertsekas and Gallager 1992, section 4.2.3: stable up to 1/e"
    )]
    pub backoff: AlohaBackoff,
    /// Probability with which a terminal sends again in a slot after a collision.
    #[param(default = 0.05, symbol = "q_r", source = "choice", when(backoff = ["fixed"]))]
    pub probability: PartOfOne,
    /// Largest k of the 2^k slots among which one is drawn after the k-th collision.
    #[param(default = 10, source = "IEEE 802.3: 10", when(backoff = ["binary_exponential"]))]
    pub max_exponent: BackoffExponent,
    /// Arrivals in a slot that the estimate of the backlog takes for granted.
    #[param(
        default = 0.367_879_441_171_442_33,
        symbol = "lambda",
        source = "Bertsekas and Gallager 1992, section 4.2.3: 1/e, the most that it carries",
        when(backoff = ["pseudo_bayesian"])
    )]
    pub arrivals: PartOfOne,
}

/// A rule of waiting after a collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum AlohaBackoff {
    /// The same probability in each slot, without control: what is new is sent at once.
    Fixed,
    /// One of 2^k slots after the k-th collision of a burst.
    BinaryExponential,
    /// Probability 1/n in each slot, n being the backlog as estimated from what was heard, for new bursts too.
    PseudoBayesian,
}

/// The terminals of an uplink, as slotted ALOHA lets them send.
#[derive(Debug)]
pub struct SlottedAloha {
    spec: SlottedAlohaSpec,
    draws: Stream,
    /// By terminal: collisions of its burst so far, and the first slot in which it may be sent again.
    terminals: Vec<(u32, u64)>,
    /// Estimate of the number of contenders.
    backlog: f64,
    /// Slots that have begun.
    begun: u64,
}

/// Mean number of senders in a slot in which several sent, of a Poisson number with mean 1: (1 - 1/e) / (1 - 2/e).
const COLLIDERS: f64 = 1.0 + 1.0 / (std::f64::consts::E - 2.0);

impl SlottedAloha {
    /// With draws from `draws`.
    pub fn new(spec: &SlottedAlohaSpec, draws: Stream) -> Self {
        SlottedAloha {
            spec: *spec,
            draws,
            terminals: Vec::new(),
            backlog: 0.0,
            begun: 0,
        }
    }

    fn terminal(&mut self, id: u32) -> &mut (u32, u64) {
        if self.terminals.len() <= id as usize {
            self.terminals.resize(id as usize + 1, (0, 0));
        }
        &mut self.terminals[id as usize]
    }

    fn sends(&mut self, slot: u64, terminal: u32) -> bool {
        let (collisions, from) = *self.terminal(terminal);
        match self.spec.backoff {
            AlohaBackoff::Fixed => collisions == 0 || self.draws.unit() <= self.spec.probability,
            AlohaBackoff::BinaryExponential => slot >= from,
            AlohaBackoff::PseudoBayesian => self.draws.unit() <= 1.0 / self.backlog.max(1.0),
        }
    }
}

impl Contention for SlottedAloha {
    fn choose(
        &mut self,
        _now: SimTime,
        slot: u64,
        contenders: &[Contender],
        senders: &mut Vec<u32>,
    ) {
        self.begun = slot + 1;
        for contender in contenders {
            if self.sends(slot, contender.terminal) {
                senders.push(contender.terminal);
            }
        }
        // 4.2.3: n falls by the success that a slot has at best in the mean, and rises by what arrives.
        // Differs: there the slot's feedback is known at its end, and a collision adds 1/(e - 2). Here it is known a
        // round trip later, and those that have sent are no contenders meanwhile: the slot takes the one that sends in
        // the mean, and a collision gives back the senders that it has in the mean, 1 + 1/(e - 2), when it is known.
        let arrivals = self.spec.arrivals;
        self.backlog = (self.backlog - self.backlog.min(1.0) + arrivals).max(arrivals);
    }

    fn on_feedback(&mut self, _slot: u64, feedback: Feedback, senders: &[u32]) {
        if feedback == Feedback::Collision {
            self.backlog += COLLIDERS;
        }
        for &id in senders {
            let max = self.spec.max_exponent;
            let begun = self.begun;
            let collisions = match feedback {
                Feedback::Collision => self.terminal(id).0 + 1,
                _ => 0,
            };
            let wait = match self.spec.backoff {
                AlohaBackoff::BinaryExponential if collisions > 0 => {
                    self.draws.uniform(0, 1 << collisions.min(max))
                }
                _ => 0,
            };
            *self.terminal(id) = (collisions, begun + wait);
        }
    }

    /// Returns the size of the state: whether the terminal has collided (fixed), how often and how
    /// long it waits (exponential), or n.
    fn state_size(&self) -> u32 {
        match self.spec.backoff {
            AlohaBackoff::Fixed | AlohaBackoff::PseudoBayesian => 1,
            AlohaBackoff::BinaryExponential => 2,
        }
    }
}
