//! Losses that the scenario prescribes: they make recovery rules visible one at a time.

use skycell_spec::LossScript;
use skycell_tcp::{Segment, SegmentKind};

/// The losses of one flow.
#[derive(Clone, Debug)]
pub(crate) struct ScriptedLosses {
    /// Ordinals still to come, the next one last.
    transmissions: Vec<u64>,
    /// Data segments seen so far, lost or not.
    seen: u64,
    at_cwnd: Option<f64>,
    /// Whether cwnd has been below `at_cwnd` since the last loss made there.
    armed: bool,
    /// Highest octet seen of the current connection: what lies above is new.
    highest: u64,
    connection: u32,
    lost: u64,
}

impl ScriptedLosses {
    /// The losses that `script` prescribes; none where it prescribes nothing.
    pub(crate) fn new(script: &LossScript) -> Option<Box<Self>> {
        let is_empty = script.transmissions.is_empty() && script.at_cwnd_octets.is_none();
        let losses = ScriptedLosses {
            transmissions: script.transmissions.iter().rev().copied().collect(),
            seen: 0,
            at_cwnd: script.at_cwnd_octets.map(|octets| octets as f64),
            armed: true,
            highest: 0,
            connection: 0,
            lost: 0,
        };
        (!is_empty).then(|| Box::new(losses))
    }

    /// Data segments lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes the segments to lose out of `segments`, which a sender with `cwnd` wants sent.
    pub(crate) fn apply(&mut self, cwnd: f64, segments: &mut Vec<Segment>) {
        if let Some(at_cwnd) = self.at_cwnd {
            self.armed |= cwnd < at_cwnd;
        } else if self.transmissions.is_empty() {
            return;
        }
        segments.retain(|segment| segment.kind != SegmentKind::Data || !self.takes(cwnd, segment));
    }

    fn takes(&mut self, cwnd: f64, segment: &Segment) -> bool {
        if segment.connection != self.connection {
            (self.connection, self.highest) = (segment.connection, 0);
        }
        let is_new = segment.sequence >= self.highest;
        self.highest = self.highest.max(segment.end());
        let by_ordinal = self.transmissions.last() == Some(&self.seen);
        if by_ordinal {
            self.transmissions.pop();
        }
        let by_cwnd = is_new && self.armed && self.at_cwnd.is_some_and(|at| cwnd >= at);
        if by_cwnd {
            self.armed = false;
        }
        self.seen += 1;
        self.lost += u64::from(by_ordinal || by_cwnd);
        by_ordinal || by_cwnd
    }
}
