//! A TCP segment, and what it costs on the wire.

use crate::spec::TcpSpec;
use skycell_units::{Cells, Ecn, Octets};

/// Octets of an IPv4 and a TCP header without options.
const HEADER_OCTETS: Octets = 40;
/// Octets of the timestamps option, padded (RFC 7323 appendix A).
const TIMESTAMPS_OCTETS: Octets = 12;

/// The purpose of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// Opens a connection.
    Syn,
    /// Answers a SYN.
    SynAck,
    /// Carries data.
    Data,
    /// Acknowledges data.
    Ack,
    /// Closes the connection.
    Fin,
    /// Answers a FIN.
    FinAck,
    /// Acknowledges a SYN's or FIN's answer.
    ControlAck,
    /// Asks, without data, how large the window is (RFC 1122 4.2.2.17).
    Probe,
    /// No segment but a datagram: its length is that of the IP packet, its sequence number a tag, and its timestamp when it
    /// was sent, picoseconds.
    Datagram,
}

/// The blocks of a SACK option, newest first (RFC 2018).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u64, u64); 4],
    count: u8,
}

impl SackBlocks {
    /// Octets of an option with four blocks.
    const MOST_OCTETS: Octets = 4 + 8 * 4;

    /// Adds a block [start, end); there is room for four.
    pub fn push(&mut self, block: (u64, u64)) {
        self.blocks[usize::from(self.count)] = block;
        self.count += 1;
    }

    /// Puts a block first; of `most` the last one goes if there is no room.
    pub(crate) fn put_first(&mut self, block: (u64, u64), most: u32) {
        let rest = usize::from(self.count).min((most as usize).saturating_sub(1));
        self.blocks.copy_within(..rest, 1);
        self.blocks[0] = block;
        self.count = rest as u8 + 1;
    }

    /// The same blocks, lowest first.
    pub(crate) fn ascending(mut self) -> Self {
        self.blocks[..usize::from(self.count)].sort_unstable();
        self
    }

    /// The blocks, newest first.
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// A TCP segment. Sequence numbers count octets of payload from 0 in each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Purpose of the segment.
    pub kind: SegmentKind,
    /// ECN field of the packet, as the sender sets it; a queue on the way makes it [`Ecn::Ce`] where it marks.
    pub ecn: Ecn,
    /// ECN-Echo: the receiver has seen a mark, and the sender has not yet said that it slowed down.
    pub ece: bool,
    /// Congestion window reduced: the sender has slowed down.
    pub cwr: bool,
    /// Which of the flow's connections it belongs to, from 0.
    pub connection: u32,
    /// First octet of the payload. In an acknowledgement the receiver's clock where that tunes its window (RFC 7323's TSval),
    /// ms from 1, 0 otherwise.
    pub sequence: u64,
    /// Octets of payload.
    pub length: u32,
    /// Window that the receiver advertises in an acknowledgement, octets.
    pub window: u32,
    /// Next octet expected, in what the receiver sends. In data the receiver's clock that it echoes (RFC 7323's TSecr), 0 for none.
    pub acknowledgement: u64,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// Sender's clock at sending; echoed by the receiver (RFC 7323).
    pub timestamp: u64,
}

impl Segment {
    /// A segment with nothing in it.
    pub fn bare(kind: SegmentKind, connection: u32) -> Self {
        Segment {
            kind,
            ecn: Ecn::NotEct,
            ece: false,
            cwr: false,
            connection,
            sequence: 0,
            length: 0,
            window: 0,
            acknowledgement: 0,
            sack: SackBlocks::default(),
            timestamp: 0,
        }
    }

    /// Octet after the payload's last.
    pub fn end(&self) -> u64 {
        self.sequence + u64::from(self.length)
    }

    /// Octets of the IP packet that the segment is, its headers and options included.
    ///
    /// 1460 octets of data: 1500; a bare acknowledgement: 40.
    pub fn packet(&self, tcp: &TcpSpec) -> Octets {
        if self.kind == SegmentKind::Datagram {
            return self.length.into();
        }
        let mut octets = HEADER_OCTETS + Octets::from(self.length);
        if tcp.timestamps {
            octets += TIMESTAMPS_OCTETS;
        }
        octets
            + match (self.kind, self.sack.as_slice().len() as Octets) {
                // MSS (4), window scale (3) and SACK permitted (2), padded (RFC 9293, 7323, 2018).
                (SegmentKind::Syn | SegmentKind::SynAck, _) => 12,
                (_, 0) => 0,
                // Kind and length (2), padded by 2, and 8 a block (RFC 2018 section 3).
                (_, blocks) => 4 + 8 * blocks,
            }
    }

    /// Octets of the longest IP packet that a segment of one of both ends is: with data, of which there is up to an MSS and
    /// no SACK block beside it, or without.
    pub fn longest_packet(tcp: &TcpSpec, has_data: bool) -> Octets {
        let options = SackBlocks::MOST_OCTETS + Octets::from(tcp.timestamps) * TIMESTAMPS_OCTETS;
        let data = Octets::from(tcp.timestamps) * TIMESTAMPS_OCTETS + tcp.mss;
        HEADER_OCTETS + if has_data { options.max(data) } else { options }
    }

    /// Cells of the AAL5 frame that carries the segment.
    ///
    /// 512 octets of data: 12 cells; 9180: 193; a bare acknowledgement: 2.
    pub fn cells(&self, tcp: &TcpSpec) -> Cells {
        Cells::for_ip_packet(self.packet(tcp), tcp.llc_snap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::tests::tcp;

    #[test]
    fn the_longest_packet_has_all_of_a_segment_or_four_sack_blocks() {
        let tcp = TcpSpec {
            timestamps: true,
            mss: 1_448,
            ..tcp()
        };
        let mut full = Segment::bare(SegmentKind::Data, 0);
        full.length = 1_448;
        assert_eq!(Segment::longest_packet(&tcp, true), 1_500);
        assert_eq!(full.packet(&tcp), 1_500);
        let mut ack = Segment::bare(SegmentKind::Ack, 0);
        (0..4).for_each(|block| ack.sack.push((block, block + 1)));
        assert_eq!(Segment::longest_packet(&tcp, false), ack.packet(&tcp));
        let small = TcpSpec { mss: 20, ..tcp };
        assert_eq!(Segment::longest_packet(&small, true), ack.packet(&small));
    }

    #[test]
    fn every_option_takes_its_octets_off_what_two_cells_have_room_for() {
        // I.363.5: 2 * 48 less 8 of trailer, then 40 of TCP and IP, and 8 of LLC/SNAP.
        let room = |tcp: &TcpSpec, kind, blocks| {
            let mut segment = Segment::bare(kind, 0);
            (0..blocks).for_each(|k| segment.sack.push((2 * k + 1, 2 * k + 2)));
            let mut cells = |length| {
                segment.length = length;
                segment.cells(tcp)
            };
            (0..100).find(|&length| cells(length + 1) > Cells(2))
        };
        let data = SegmentKind::Data;
        assert_eq!(room(&tcp(), data, 0), Some(40));
        let without_llc = TcpSpec {
            llc_snap: false,
            ..tcp()
        };
        assert_eq!(room(&without_llc, data, 0), Some(48));
        // RFC 7323 appendix A: ten octets, padded by two.
        let with_timestamps = TcpSpec {
            timestamps: true,
            ..tcp()
        };
        assert_eq!(room(&with_timestamps, data, 0), Some(28));
        // RFC 2018 section 3: two octets and eight a block, padded by two.
        let of_blocks = [1, 2, 3, 4].map(|blocks| room(&tcp(), SegmentKind::Ack, blocks));
        assert_eq!(of_blocks, [28, 20, 12, 4].map(Some));
        // MSS 4 (RFC 9293 3.7.1), window scale 3 (RFC 7323 2.2), SACK permitted 2 (RFC 2018 2), padded by 3.
        assert_eq!(room(&tcp(), SegmentKind::Syn, 0), Some(28));
        assert_eq!(room(&tcp(), SegmentKind::SynAck, 0), Some(28));
    }
}
