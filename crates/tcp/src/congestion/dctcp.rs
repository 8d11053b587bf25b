//! DCTCP: marks cut the window by as much as there are.

use super::marked::MarkedPart;
use super::reno::growth_by_octets;
use super::{Ack, Congestion, CongestionControl, CongestionRule, HALF, Marks};
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::PartOfOne};

/// A segment each round trip; marks take half of their part of cwnd, a loss half of it all.
///
/// Source: RFC 8257 sections 3.3 and 3.5.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct DctcpSpec {
    /// Weight of the last window in the smoothed part of octets that were marked.
    #[param(
        default = 0.0625,
        symbol = "g",
        source = "RFC 8257 section 4.2: 1 / 16"
    )]
    pub gain: PartOfOne,
}

impl CongestionRule for DctcpSpec {
    fn state(&self) -> Option<Congestion> {
        Some(Congestion::Dctcp(Dctcp::new(self)))
    }

    fn is_scalable(&self) -> bool {
        true
    }
}

/// The state of DCTCP.
#[derive(Clone, Debug)]
pub(crate) struct Dctcp {
    marked: MarkedPart,
}

impl Dctcp {
    pub(crate) fn new(spec: &DctcpSpec) -> Self {
        Dctcp {
            marked: MarkedPart::new(spec.gain),
        }
    }
}

impl CongestionControl for Dctcp {
    fn on_ack(&mut self, tcp: &TcpSpec, cwnd: f64, ack: &Ack) -> f64 {
        growth_by_octets(tcp, cwnd, ack)
    }

    fn on_loss(&mut self, _tcp: &TcpSpec, _cwnd: f64) -> f64 {
        HALF
    }

    fn on_mark(&mut self, _tcp: &TcpSpec, _cwnd: f64) -> f64 {
        self.marked.left()
    }

    fn on_marks(&mut self, marks: &Marks) {
        self.marked.note(marks);
    }
}
