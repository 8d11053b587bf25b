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
    /// True if cwnd has been below `at_cwnd` since the last loss made there.
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

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_tcp::SackBlocks;
    use skycell_units::Ecn;

    fn data(connection: u32, k: u64) -> Segment {
        Segment {
            kind: SegmentKind::Data,
            ecn: Ecn::NotEct,
            ece: false,
            cwr: false,
            connection,
            sequence: 1_000 * k,
            length: 1_000,
            window: 0,
            acknowledgement: 0,
            sack: SackBlocks::default(),
            timestamp: 0,
        }
    }

    #[test]
    fn new_data_alone_is_lost_where_cwnd_reaches_its_limit_once_each_time() {
        let mut losses = ScriptedLosses::new(&LossScript {
            transmissions: vec![],
            at_cwnd_octets: Some(8_000),
        })
        .expect("the script has losses");
        // cwnd in segments, connection, segment, and whether it is lost.
        for (cwnd, connection, k, is_lost) in [
            (8, 0, 0, true), // a window that begins there counts as one that came there
            (9, 0, 1, false),
            (8, 0, 2, false), // it has not been below
            (4, 0, 0, false),
            (9, 0, 1, false), // sent before
            (9, 0, 3, true),
            (4, 0, 4, false),
            (9, 1, 0, true), // sent before, in another connection
        ] {
            let mut segments = vec![data(connection, k)];
            losses.apply(1_000.0 * f64::from(cwnd), &mut segments);
            assert_eq!(segments.is_empty(), is_lost, "{k} at cwnd {cwnd}");
        }
        assert_eq!(losses.lost(), 3);
    }
}
