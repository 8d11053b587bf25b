//! Prague's response to marks: that of DCTCP, for queues that keep scalable senders apart.

use super::marked::MarkedPart;
use super::reno::growth_by_octets;
use super::{Ack, Congestion, CongestionControl, CongestionRule, HALF, Marks};
use crate::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, types::PartOfOne};
use skycell_units::Ecn;

/// DCTCP's response in packets with ECT(1); what is not marked goes on to make cwnd grow.
///
/// Source: RFC 9331 section 4; draft-briscoe-iccrg-prague-congestion-control-04 sections 2.4.2 and 2.4.3.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PragueSpec {
    /// Weight of the last window in the smoothed part of octets that were marked.
    #[param(
        default = 0.0625,
        symbol = "g",
        source = "draft-briscoe-iccrg-prague-congestion-control-04 section 2.4.2: 1 / 16"
    )]
    pub gain: PartOfOne,
}

impl CongestionRule for PragueSpec {
    fn state(&self) -> Option<Congestion> {
        Some(Congestion::Prague(Prague::new(self)))
    }

    fn is_scalable(&self) -> bool {
        true
    }

    fn grows_through_marks(&self) -> bool {
        true
    }

    fn ect(&self) -> Ecn {
        Ecn::Ect1
    }
}

/// The state of Prague.
#[derive(Clone, Debug)]
pub(crate) struct Prague {
    marked: MarkedPart,
    /// True if a mark has come: until then nothing shows that queues mark, and alpha stays 1.
    has_marks: bool,
}

impl Prague {
    pub(crate) fn new(spec: &PragueSpec) -> Self {
        Prague {
            marked: MarkedPart::new(spec.gain),
            has_marks: false,
        }
    }
}

impl CongestionControl for Prague {
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
        self.has_marks |= marks.are_marked;
        if self.has_marks {
            self.marked.note(marks);
        } else {
            self.marked.restart(marks);
        }
    }
}
