//! SACK: the pipe algorithm of Fall and Floyd, as the studies implement it.

use super::{LossRecovery, RecoveryPoint, RecoverySpec, TimerAfterAck};
use crate::spec::PartialAckRestarts;
use crate::transmit::Transmitter;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare,
    types::{Flag, SackBlocks, SegmentCount, unchecked},
};
use skycell_units::Octets;

/// Fast retransmit and a recovery guided by selective acknowledgements: the pipe algorithm.
///
/// Source: Fall and Floyd 1996; ICCCN'97 section 3; 98-0876R1 section 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct SackSpec {
    /// Duplicate ACKs that start fast retransmit.
    #[param(default = 3, source = "RFC 5681 section 3.2")]
    pub dup_ack_threshold: SegmentCount,
    /// Pipe at the third duplicate ACK, in segments.
    #[param(word, default = "cwnd", source = "ICCCN'97 section 3")]
    pub pipe_at_entry: PipeAtEntry,
    /// Effect of a partial ACK: it takes two segments off pipe, or one; resends two holes whatever
    /// the value of pipe; or ends the recovery.
    #[param(
        word,
        default = "pipe - 2",
        source = "ICCCN'97 section 3; ATM Forum 98-0876R1 section 3.2"
    )]
    pub partial_ack: SackPartialAck,
    /// Which partial ACKs restart the retransmission timer.
    #[param(
        word,
        default = "every",
        source = "stated in no study; ATM Forum 98-0876R1 section 3.1 does so for its NewReno"
    )]
    pub partial_ack_restarts: PartialAckRestarts,
    /// How much room pipe must leave below cwnd before a segment goes out: that of a
    /// whole segment, or any.
    #[param(
        word,
        default = "segment",
        source = "Fall and Floyd 1996; RFC 6675 section 5"
    )]
    pub pipe_room: PipeRoom,
    /// Segments above a hole that must be SACKed before it is resent.
    #[param(
        check = unchecked,
        default = "none",
        source = "NASA/CR-1999-209158 part VII: no significant effect"
    )]
    pub retransmit_delay: RetransmitDelay,
    /// Blocks in one ACK; four only without timestamps.
    #[param(default = 3, source = "RFC 2018 section 3")]
    pub max_blocks: SackBlocks,
    /// No second fast retransmit for data sent before the last recovery or timeout.
    #[param(
        default = false,
        source = "ATM Forum 98-0876R1 section 3.1: no extra rule"
    )]
    pub avoid_multiple_fast_retransmits: Flag,
}

/// SACK: the value of pipe when the third duplicate ACK arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PipeAtEntry {
    /// cwnd (ICCCN'97 section 3).
    Cwnd,
    /// cwnd less three segments (ICCCN'97 4.2, 98-0876R1 3.2).
    #[written("cwnd - 3")]
    CwndLessThree,
}

/// SACK: what an ACK of new data below `recover` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum SackPartialAck {
    /// Takes two segments off pipe (ICCCN'97 section 3, 98-0876R1 3.2).
    #[written("pipe - 2")]
    PipeLessTwo,
    /// Takes one segment off pipe.
    #[written("pipe - 1")]
    PipeLessOne,
    /// Takes two off and resends two holes, whatever pipe is (the expectation of ICCCN'97 4.2).
    #[written("resends two")]
    ResendsTwo,
    /// Ends the recovery, as Reno's first ACK of new data (SACK without NewReno).
    #[written("ends recovery")]
    EndsRecovery,
}

/// SACK: the room that pipe has to leave below cwnd before a segment goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum PipeRoom {
    /// A whole segment's (Fall and Floyd, who count both in segments; RFC 6675 section 5).
    Segment,
    /// Any (ICCCN'97 section 3, 98-0876R1 3.2, to the letter).
    Any,
}

/// SACK: when a hole may be resent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum RetransmitDelay {
    /// As soon as pipe allows.
    None,
    /// Only once this many segments above the hole have been SACKed.
    Segments {
        /// Segments, above zero.
        count: u32,
    },
}

fn spec(tx: &Transmitter) -> &SackSpec {
    match &tx.tcp.recovery {
        RecoverySpec::Sack(spec) => spec,
        _ => unreachable!("a sender recovers as its parameters say"),
    }
}

/// Entry and exit as NewReno. While it lasts, segments go out only while `pipe` leaves room below
/// cwnd, holes below the highest SACKed octet before new data, each hole once. Any duplicate ACK
/// takes a segment off `pipe`, with or without news in its SACK blocks: each stands for a segment
/// that has left the network.
///
/// How much room that has to be is `pipe_room`; what a partial ACK does is `partial_ack`, what
/// it means for the timer `partial_ack_restarts`.
/// Source: ICCCN'97 section 3; 98-0876R1 section 3.2.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sack {
    point: RecoveryPoint,
    /// Octets thought to be in the network; may fall below zero when more ACKs arrive than sent for.
    pipe: i64,
    /// Octets below this have been resent in this recovery, or are SACKed.
    resent_to: u64,
}

impl LossRecovery for Sack {
    fn on_dup_ack(&mut self, tx: &mut Transmitter, count: u32) {
        let mss = tx.tcp.mss as i64;
        let SackSpec {
            dup_ack_threshold,
            avoid_multiple_fast_retransmits: avoid_multiple,
            pipe_at_entry,
            ..
        } = *spec(tx);
        let may_begin = !self.point.is_active && self.point.may_begin(tx, avoid_multiple);
        if count == dup_ack_threshold && may_begin {
            // ICCCN'97 4.2 resends the segment and then sets pipe: it does not count on top.
            self.pipe = in_network(tx) as i64;
            if pipe_at_entry == PipeAtEntry::CwndLessThree {
                self.pipe -= 3 * mss;
            }
            self.point.begin(tx);
            tx.window.set_to_ssthresh_plus(&tx.tcp, 0);
            tx.resend_first();
            self.resent_to = (tx.snd_una + tx.tcp.mss).min(tx.snd_max);
        } else if self.point.is_active {
            self.pipe -= mss;
        }
        if self.point.is_active {
            self.send_while_pipe_allows(tx);
        }
    }

    fn on_new_ack(&mut self, tx: &mut Transmitter, acked: Octets) -> TimerAfterAck {
        let is_partial = self.point.is_active && !self.point.is_reached(tx);
        if is_partial && spec(tx).partial_ack != SackPartialAck::EndsRecovery {
            self.on_partial_ack(tx);
            let restarts = spec(tx).partial_ack_restarts;
            return self.point.timer_after_partial_ack(restarts);
        }
        if std::mem::take(&mut self.point.is_active) {
            if is_partial {
                // What a timeout goes back to goes on after what this recovery has resent.
                tx.snd_nxt = tx.snd_nxt.max(self.resent_to);
            } else {
                // Fall and Floyd: what was sent since, from `recover` on, may be resent fast.
                self.point.recover = None;
            }
            tx.window.on_recovery_end(&tx.tcp);
        } else {
            tx.grow(acked);
        }
        tx.send_as_allowed();
        TimerAfterAck::Restart
    }

    /// 98-0876R1 3.2: while recovery lasts, new data too goes out only while pipe is below cwnd.
    fn on_more_to_send(&mut self, tx: &mut Transmitter) {
        if self.point.is_active {
            self.send_while_pipe_allows(tx);
        } else {
            tx.send_as_allowed();
        }
    }

    fn is_active(&self) -> bool {
        self.point.is_active
    }

    fn on_timeout(&mut self, tx: &mut Transmitter) {
        self.point.on_timeout(tx);
        tx.sacked.clear();
    }
}

impl Sack {
    fn on_partial_ack(&mut self, tx: &mut Transmitter) {
        let partial_ack = spec(tx).partial_ack;
        // One for the retransmission that has arrived, one for the original now known lost.
        self.pipe -= tx.tcp.mss as i64;
        if partial_ack != SackPartialAck::PipeLessOne {
            self.pipe -= tx.tcp.mss as i64;
        }
        if partial_ack == SackPartialAck::ResendsTwo {
            for _ in 0..2 {
                self.resend_next_hole(tx);
            }
        }
        self.send_while_pipe_allows(tx);
    }

    fn send_while_pipe_allows(&mut self, tx: &mut Transmitter) {
        let mss = tx.tcp.mss as i64;
        while self.has_room(tx) {
            if self.resend_next_hole(tx) {
                continue;
            }
            // Fall and Floyd: what a timeout goes back to and no block has passed, then new data.
            if !tx.send_next(self.resent_to.max(tx.sacked.end())) {
                break;
            }
            self.pipe += mss;
        }
    }

    /// Returns whether pipe leaves room below cwnd.
    fn has_room(&self, tx: &Transmitter) -> bool {
        let cwnd = tx.window.cwnd();
        match spec(tx).pipe_room {
            PipeRoom::Segment => self.pipe + tx.tcp.mss as i64 <= cwnd as i64,
            PipeRoom::Any => (self.pipe as f64) < cwnd,
        }
    }

    /// Resends the first segment of the next hole; false when there is none.
    fn resend_next_hole(&mut self, tx: &mut Transmitter) -> bool {
        let Some((start, end)) = self.next_hole(tx) else {
            return false;
        };
        tx.resend(start, end);
        self.resent_to = end.min(start + tx.tcp.mss);
        self.pipe += tx.tcp.mss as i64;
        true
    }

    /// The lowest hole that has not been resent and may be.
    fn next_hole(&self, tx: &Transmitter) -> Option<(u64, u64)> {
        let hole = tx.sacked.hole_from(self.resent_to.max(tx.snd_una))?;
        match spec(tx).retransmit_delay {
            RetransmitDelay::None => Some(hole),
            RetransmitDelay::Segments { count } => {
                let waits_for = u64::from(count) * tx.tcp.mss;
                tx.sacked.has_above(hole.1, waits_for).then_some(hole)
            }
        }
    }
}

/// Returns the octets that cwnd admits into the network. If partial segments wait, these are whole
/// segments (ICCCN'97 3: pipe is what is in the network; Fall and Floyd: int(cwnd)).
fn in_network(tx: &Transmitter) -> Octets {
    let cwnd = tx.window.cwnd() as Octets;
    if tx.tcp.sws_avoidance {
        cwnd / tx.tcp.mss * tx.tcp.mss
    } else {
        cwnd
    }
}

#[cfg(test)]
#[path = "sack_tests.rs"]
mod tests;
