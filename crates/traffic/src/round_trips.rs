//! Round-trip times of connections, exact, whatever the clocks of their hosts.

use skycell_records::CellDelays;
use skycell_tcp::{Segment, SegmentKind};
use skycell_units::SimTime;

/// Times one data segment of each flow at a time, as 4.4BSD does, from the moment at which TCP sends it to that at which
/// an acknowledgement covers it. A segment below which something is sent again gives no time (Karn's rule, RFC 6298 section
/// 3). What a receiver holds an acknowledgement back is part of the time.
#[derive(Debug, Default)]
pub struct RoundTrips {
    flows: Vec<Timed>,
    /// By VC that carries the data.
    vcs: Vec<CellDelays>,
}

/// The segment of a flow that is timed.
#[derive(Clone, Copy, Debug, Default)]
struct Timed {
    /// The octet behind it, which an acknowledgement has to reach; 0 while none is timed.
    end: u64,
    /// When it was sent.
    sent_at: SimTime,
    /// The octet behind all that the connection has sent.
    highest: u64,
    connection: u32,
}

impl RoundTrips {
    /// Of so many flows and VCs.
    pub fn new(flows: usize, vcs: usize) -> Self {
        RoundTrips {
            flows: vec![Timed::default(); flows],
            vcs: vec![CellDelays::new(0); vcs],
        }
    }

    /// The source of a flow sends a segment.
    pub fn on_sent(&mut self, flow: u32, segment: &Segment, now: SimTime) {
        if segment.kind != SegmentKind::Data {
            return;
        }
        let own = &mut self.flows[flow as usize];
        if segment.connection != own.connection {
            *own = Timed {
                connection: segment.connection,
                ..Timed::default()
            };
        }
        let is_new = segment.sequence >= own.highest;
        own.highest = own.highest.max(segment.end());
        if !is_new {
            if segment.sequence < own.end {
                own.end = 0;
            }
        } else if own.end == 0 {
            (own.end, own.sent_at) = (segment.end(), now);
        }
    }

    /// A segment has come back to the source of a flow, whose data go by a VC.
    pub fn on_answer(&mut self, flow: u32, vc: u32, segment: &Segment, now: SimTime) {
        let own = &mut self.flows[flow as usize];
        let covers = segment.acknowledgement >= own.end && segment.connection == own.connection;
        if segment.kind == SegmentKind::Ack && own.end > 0 && covers {
            own.end = 0;
            self.vcs[vc as usize].add((now - own.sent_at).0);
        }
    }

    /// Adds those of VCs that another has, and this one has not.
    pub fn take_times(&mut self, other: RoundTrips) {
        for (own, other) in self.vcs.iter_mut().zip(other.vcs) {
            if !other.is_empty() {
                debug_assert!(own.is_empty(), "the sources of a VC are at one node");
                *own = other;
            }
        }
    }

    /// The times, with the VC of each, of those that have any.
    pub fn into_times(self) -> Vec<(u32, CellDelays)> {
        let all = (0..).zip(self.vcs);
        all.filter(|(_, times)| !times.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skycell_tcp::SackBlocks;
    use skycell_units::Ecn;

    fn segment(kind: SegmentKind, connection: u32, sequence: u64, up_to: u64) -> Segment {
        Segment {
            kind,
            ecn: Ecn::NotEct,
            ece: false,
            cwr: false,
            connection,
            sequence,
            length: 100,
            window: 0,
            acknowledgement: up_to,
            sack: SackBlocks::default(),
            timestamp: 0,
        }
    }

    /// What is sent (connection, sequence) or acknowledged (connection, up to), each with its time; the times found.
    fn times(exchange: &[(char, u32, u64, u64)]) -> Vec<(u64, u64, u64)> {
        let mut found = RoundTrips::new(1, 3);
        for &(what, connection, number, at) in exchange {
            let now = SimTime(at);
            match what {
                'd' => {
                    found.on_sent(0, &segment(SegmentKind::Data, connection, number, 0), now);
                }
                _ => {
                    let ack = segment(SegmentKind::Ack, connection, 0, number);
                    found.on_answer(0, 2, &ack, now);
                }
            }
        }
        let found = found.into_times().into_iter();
        found
            .map(|(vc, times)| {
                let of_vc = times.record(vc).delay;
                (of_vc.cells, of_vc.min_ps, of_vc.max_ps)
            })
            .collect()
    }

    #[test]
    fn one_segment_is_timed_at_a_time() {
        // 0 to 100 is timed from 10 to 25; meanwhile what is sent at 12 is not, what is sent at 30 is, until 70.
        let exchange = [
            ('d', 0, 0, 10),
            ('d', 0, 100, 12),
            ('a', 0, 50, 20),
            ('a', 0, 100, 25),
            ('a', 0, 200, 27),
            ('d', 0, 200, 30),
            ('a', 0, 300, 70),
        ];
        assert_eq!(times(&exchange), [(2, 15, 40)]);
    }

    #[test]
    fn a_segment_below_which_something_is_sent_again_gives_no_time() {
        let sent = [('d', 0, 0, 10), ('d', 0, 100, 12)];
        let again_at_it = [sent[0], sent[1], ('d', 0, 0, 20), ('a', 0, 200, 30)];
        assert_eq!(times(&again_at_it), []);
        let again_above_it = [sent[0], sent[1], ('d', 0, 100, 20), ('a', 0, 200, 30)];
        assert_eq!(times(&again_above_it), [(1, 20, 20)]);
    }

    #[test]
    fn a_new_connection_begins_anew() {
        let exchange = [
            ('d', 0, 0, 10),
            ('d', 1, 0, 20),
            ('a', 0, 100, 25),
            ('a', 1, 100, 50),
        ];
        assert_eq!(times(&exchange), [(1, 30, 30)]);
    }
}
