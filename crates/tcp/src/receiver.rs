//! The receiving end: in-order delivery, acknowledgements, SACK blocks.

use crate::ack_delay::AckDelay;
use crate::auto_tuning::{AutoTuning, ReceiveState};
use crate::ranges::Ranges;
use crate::receive_buffer::{Accepted, ReceiveBuffer};
use crate::receive_window::ReceiveWindow;
use crate::recent::RecentRanges;
use crate::segment::{Segment, SegmentKind};
use crate::spec::{EcnUse, TcpSpec};
use skycell_units::{Cells, Ecn, Octets, SimTime};
use std::sync::Arc;

/// Blocks that an acknowledgement which is held is to have at most, so that they are said twice where three fit.
const SACK_BLOCKS_HELD: usize = 2;

/// The counters of a receiver over all connections of its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// Octets handed to the application, in order.
    pub octets_delivered: Octets,
    /// Different octets that arrived.
    pub octets_received: Octets,
    /// Highest octet that arrived, earlier connections' octets included.
    pub octets_highest: Octets,
    /// Data segments that arrived.
    pub segments: u64,
    /// Of those, segments with nothing new in them.
    pub duplicates: u64,
    /// Acknowledgements sent.
    pub acks: u64,
    /// Answers to SYN and FIN sent.
    pub controls: u64,
    /// Of the data segments, those that a queue had marked.
    pub marked: u64,
}

/// The receiver of one flow. What every segment needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    held_until: Option<SimTime>,
    tcp: Arc<TcpSpec>,
    rcv_nxt: u64,
    /// Timestamp to echo (RFC 7323 section 4.3).
    ts_recent: u64,
    /// Acknowledgement last sent.
    last_acked: u64,
    connection: u32,
    /// Segments received since the last acknowledgement.
    unacknowledged: u32,
    segments: u64,
    acks: u64,
    /// True if there may be anything in `early` or `recent`; read when an acknowledgement is sent.
    has_early: bool,
    /// True if acknowledgements echo a mark, until the sender has reported that it slowed down.
    echoes_mark: bool,
    /// Segments that are still acknowledged at once, each.
    quick: u16,
    controls: u32,
    // What few segments need.
    early: Ranges,
    recent: RecentRanges,
    /// Of the flow's earlier connections: octets delivered, different octets that arrived, and the highest one.
    before: Octets,
    received_before: Octets,
    highest_before: Octets,
    /// None where the window is always the same.
    window: Option<Box<ReceiveWindow>>,
    duplicates: u64,
    marked: u64,
    /// Of a receiver whose octets wait for another connection.
    room: Option<Box<ReceiveBuffer>>,
    /// Of one whose holds of acknowledgements follow from what arrives.
    delay: Option<Box<AckDelay>>,
}

impl Receiver {
    /// A receiver before the flow's first connection.
    pub fn new(tcp: impl Into<Arc<TcpSpec>>) -> Self {
        let tcp = tcp.into();
        Receiver {
            window: ReceiveWindow::new(&tcp),
            delay: AckDelay::new(&tcp),
            quick: quick_segments(&tcp),
            tcp,
            connection: 0,
            rcv_nxt: 0,
            early: Ranges::default(),
            recent: RecentRanges::default(),
            ts_recent: 0,
            last_acked: 0,
            unacknowledged: 0,
            held_until: None,
            has_early: false,
            echoes_mark: false,
            marked: 0,
            before: 0,
            received_before: 0,
            highest_before: 0,
            segments: 0,
            duplicates: 0,
            acks: 0,
            controls: 0,
            room: None,
        }
    }

    /// Octets wait behind this receiver for another connection, and there is room for `buffer` of them.
    pub fn set_buffer(&mut self, buffer: Octets) {
        self.room = Some(Box::new(ReceiveBuffer::new(buffer)));
    }

    /// The end of the receiver opens a connection, by a SYN that advertises its window.
    pub fn open(&mut self, connection: u32) {
        self.begin(connection);
        self.window(0);
    }

    /// Returns what has been accepted; without a buffer nothing waits for it.
    pub fn accepted(&self) -> Accepted {
        Accepted {
            connection: self.connection,
            octets: self.rcv_nxt,
            in_all: self.before + self.rcv_nxt,
            has_ended: self.room.as_ref().is_some_and(|room| room.has_ended),
            refused: self.room.as_ref().map_or(0, |room| room.refused),
        }
    }

    /// There is room now up to the octet `limit` of all connections together. The sender learns of it at once if it has no
    /// more than half the window left, as Linux has it (tcp_cleanup_rbuf), and two segments can be added (4.4BSD tcp_output).
    pub fn set_limit(&mut self, now: SimTime, limit: Octets, out: &mut Vec<Segment>) {
        let Some(room) = &mut self.room else {
            return;
        };
        room.limit = limit;
        let more = room.more(self.before, self.rcv_nxt, self.tcp.rwnd);
        let is_worth_it = more >= 2 * self.tcp.mss || 2 * more >= self.tcp.rwnd;
        let is_short = 2 * room.left(self.rcv_nxt) <= self.tcp.rwnd;
        if is_short && is_worth_it && !room.has_ended && self.early.is_empty() {
            self.acknowledge(now, None, 0, out);
        }
    }

    /// Octets of the IP packet that `segment` is.
    pub fn packet(&self, segment: &Segment) -> Octets {
        segment.packet(&self.tcp)
    }

    /// Cells of the frame that carries `segment`.
    pub fn cells(&self, segment: &Segment) -> Cells {
        segment.cells(&self.tcp)
    }

    /// When a held acknowledgement must go out.
    pub fn deadline(&self) -> Option<SimTime> {
        self.held_until
    }

    /// Returns the counters.
    pub fn counters(&self) -> ReceiverCounters {
        ReceiverCounters {
            octets_delivered: self.before + self.rcv_nxt,
            octets_received: self.received_before + self.rcv_nxt + self.waiting(),
            octets_highest: self.highest(),
            segments: self.segments,
            duplicates: self.duplicates,
            acks: self.acks,
            controls: self.controls.into(),
            marked: self.marked,
        }
    }

    /// Octets that wait for earlier ones.
    pub fn waiting(&self) -> Octets {
        self.early.octets_above(self.rcv_nxt)
    }

    /// Highest octet that arrived, earlier connections' octets included.
    fn highest(&self) -> Octets {
        let highest = self.early.end().max(self.rcv_nxt);
        self.highest_before.max(self.before + highest)
    }

    /// A segment from the sender has arrived.
    pub fn on_segment(&mut self, now: SimTime, segment: &Segment, out: &mut Vec<Segment>) {
        if segment.connection > self.connection {
            self.begin(segment.connection);
        } else if segment.connection < self.connection {
            return; // left over from a connection that is closed
        }
        match segment.kind {
            SegmentKind::Syn => {
                if let Some(delay) = &mut self.delay {
                    delay.on_answered(now);
                }
                self.answer(SegmentKind::SynAck, now, out);
            }
            SegmentKind::Fin => {
                if let Some(room) = &mut self.room {
                    room.has_ended = true;
                }
                self.answer(SegmentKind::FinAck, now, out);
            }
            SegmentKind::Data => self.on_data(now, segment, out),
            SegmentKind::Probe => self.acknowledge(now, None, 0, out),
            SegmentKind::ControlAck => {
                if let Some(delay) = &mut self.delay {
                    delay.on_opened(&self.tcp, now);
                }
                if let Some(ReceiveWindow::AutoTuned(tuning)) = self.window.as_deref_mut() {
                    tuning.on_opened(now);
                }
            }
            SegmentKind::SynAck
            | SegmentKind::FinAck
            | SegmentKind::Ack
            | SegmentKind::Datagram => {}
        }
    }

    /// The hold of an acknowledgement has run out.
    pub fn on_deadline(&mut self, out: &mut Vec<Segment>) {
        if let Some(now) = self.held_until {
            if self.early.is_empty()
                && let Some(delay) = &mut self.delay
            {
                delay.on_expired();
            }
            self.acknowledge(now, None, 0, out);
        }
    }

    fn answer(&mut self, kind: SegmentKind, now: SimTime, out: &mut Vec<Segment>) {
        self.controls += 1;
        let window = match self.room {
            None => 0, // which no sender looks at
            Some(_) => self.window(0) as u32,
        };
        out.push(Segment {
            window,
            sequence: self.clock(now),
            ..Segment::bare(kind, self.connection)
        });
    }

    fn begin(&mut self, connection: u32) {
        self.connection = connection;
        self.highest_before = self.highest();
        self.received_before += self.rcv_nxt + self.waiting();
        self.before += self.rcv_nxt;
        self.rcv_nxt = 0;
        self.last_acked = 0;
        self.window = ReceiveWindow::new(&self.tcp);
        self.quick = quick_segments(&self.tcp);
        self.early.clear();
        self.recent.clear();
        self.has_early = false;
        self.echoes_mark = false;
        self.unacknowledged = 0;
        self.held_until = None;
        self.delay = AckDelay::new(&self.tcp);
        if let Some(room) = &mut self.room {
            room.begin();
        }
    }

    fn on_data(&mut self, now: SimTime, segment: &Segment, out: &mut Vec<Segment>) {
        self.segments += 1;
        let has_changed = self.note_mark(now, segment, out);
        let (start, end) = (segment.sequence, segment.end());
        if end <= self.rcv_nxt {
            self.quick = self.quick.max(quick_segments(&self.tcp)); // tcp_enter_quickack_mode
        }
        if let Some(room) = &mut self.room
            && room.refuses(self.before + end)
        {
            return self.acknowledge(now, None, 0, out);
        }
        let is_known = end <= self.rcv_nxt || self.has_early && self.early.holds(start, end);
        if is_known {
            self.duplicates += 1;
        }
        // RFC 7323 4.3: of segments whose acknowledgement is held, the earliest is echoed, so that the
        // sender's sample includes the hold.
        if start <= self.last_acked {
            self.ts_recent = segment.timestamp;
        }
        let had_gap = self.has_early && !self.early.is_empty();
        let (mut changed, mut unread) = (None, 0);
        if start > self.rcv_nxt {
            if self.holds_sacks() {
                self.release_sack(now, (start, end), out);
            }
            changed = Some(self.early.add(start, end));
            self.has_early = true;
        } else if end > self.rcv_nxt {
            unread = self.deliver(end);
            if let Some(delay) = &mut self.delay
                && delay.on_in_order(now)
            {
                self.quick = self.quick.max(quick_segments(&self.tcp)); // tcp_incr_quickack
            }
        }
        let is_quick = self.is_quick(now, segment, unread, changed.is_some()) || has_changed;
        // RFC 5681 4.2: an out-of-order or duplicate segment, and one that fills a gap, is
        // acknowledged at once.
        let is_in_order = changed.is_none() && !is_known && !had_gap;
        self.unacknowledged += 1;
        let may_hold = !is_in_order && !is_known && !is_quick;
        let is_held = may_hold && self.holds_sacks() && self.holds_sack(now, changed);
        match self.tcp.delayed_ack {
            Some(delayed)
                if is_in_order && !is_quick && self.unacknowledged < delayed.every_segments =>
            {
                let hold = match &self.delay {
                    None => SimTime(delayed.timeout_ps),
                    Some(delay) => delay.hold(),
                };
                self.held_until.get_or_insert(now + hold);
            }
            _ if is_held => {}
            _ => self.acknowledge(now, changed, unread, out),
        }
        if is_known && self.tcp.recovery.has_dsack() {
            self.say_duplicate(segment, out);
        }
        if self.has_room_to_report() {
            self.acknowledge(now, None, 0, out);
        }
    }

    /// Returns whether acknowledgements of early segments are held back.
    fn holds_sacks(&self) -> bool {
        self.delay.is_some() && self.tcp.delayed_ack.is_some_and(|d| d.holds_sacks())
    }

    /// Returns whether the due acknowledgement waits, because octets are missing and a later one
    /// will report the same: an acknowledgement of early octets, whose range is `changed`, or of no
    /// more than a segment in order.
    #[inline(never)] // so that nothing is done for it where nothing is held
    fn holds_sack(&mut self, now: SimTime, changed: Option<(u64, u64)>) -> bool {
        let Some(delay) = &mut self.delay else {
            return false;
        };
        let is_large = self.rcv_nxt - self.last_acked > self.tcp.mss;
        if self.early.is_empty() || is_large {
            return false;
        }
        let Some(wait) = delay.hold_early(self.rcv_nxt, self.held_until.is_some()) else {
            return false;
        };
        if let Some(range) = changed {
            self.recent.note(range);
        }
        self.held_until.get_or_insert(now + wait);
        true
    }

    /// An acknowledgement that is held goes out before what `early` says pushes a range out of its first blocks (Linux
    /// tcp_sack_new_ofo_skb, TCP_SACK_BLOCKS_EXPECTED).
    #[inline(never)]
    fn release_sack(&mut self, now: SimTime, early: (u64, u64), out: &mut Vec<Segment>) {
        if self.held_until.is_none() || self.early.is_empty() {
            return;
        }
        let newest = self.recent.newest(self.rcv_nxt, SACK_BLOCKS_HELD);
        let touches = |&(start, end): &(u64, u64)| start <= early.1 && early.0 <= end;
        let blocks = newest.as_slice();
        if blocks.len() == SACK_BLOCKS_HELD && !blocks.iter().any(touches) {
            self.acknowledge(now, None, 0, out);
        }
    }

    /// The acknowledgement that goes out says that `segment`, with nothing new in it, has come (RFC 2883 section 4).
    #[cold]
    fn say_duplicate(&self, segment: &Segment, out: &mut [Segment]) {
        if let (Some(ack), Some(most)) = (out.last_mut(), self.tcp.recovery.max_blocks()) {
            ack.sack.put_first((segment.sequence, segment.end()), most);
        }
    }

    /// Notes whether a segment is marked; whether that is to be said at once.
    fn note_mark(&mut self, now: SimTime, segment: &Segment, out: &mut Vec<Segment>) -> bool {
        let is_marked = segment.ecn == Ecn::Ce;
        self.marked += u64::from(is_marked);
        if self.tcp.ecn != EcnUse::Accurate {
            // RFC 3168 6.1.3: CWR ends the echo of earlier marks; of a mark that comes with it there is one.
            self.echoes_mark = is_marked || self.echoes_mark && !segment.cwr;
            return false;
        }
        // RFC 8257 3.2, DCTCP.CE: an ACK for what came before, and one for the first that differs.
        let has_changed = is_marked != self.echoes_mark;
        if has_changed && self.held_until.is_some() {
            self.acknowledge(now, None, 0, out);
        }
        self.echoes_mark = is_marked;
        has_changed
    }

    /// Returns whether a segment that is early or delivers `octets` in order is acknowledged at
    /// once: one of the first, or one that makes the window grow (Linux tcp_grow_window,
    /// icsk_ack.quick).
    fn is_quick(
        &mut self,
        now: SimTime,
        segment: &Segment,
        octets: Octets,
        is_early: bool,
    ) -> bool {
        let largest = self.tcp.rwnd;
        let grows = match self.window.as_deref_mut() {
            // Of early ones, which Linux's grows by too, nothing.
            Some(ReceiveWindow::Growing(window)) if octets > 0 && *window < largest => {
                *window = (*window + 2 * octets).min(largest);
                true
            }
            Some(ReceiveWindow::AutoTuned(_)) => {
                // So that those of the begin are left for when it grows no more.
                self.quick |= u16::from(self.tune(now, segment, octets, is_early));
                false
            }
            _ => false,
        };
        let is_first = self.quick > 0;
        if is_first {
            self.quick -= 1;
        }
        is_first || grows
    }

    #[inline(never)] // what few receivers do
    fn tune(&mut self, now: SimTime, segment: &Segment, octets: Octets, is_early: bool) -> bool {
        let state = ReceiveState {
            rcv_nxt: self.rcv_nxt,
            early_end: self.early.end(),
            waiting: self.waiting(),
            is_early,
            is_in_order: octets > 0,
        };
        match self.window.as_deref_mut() {
            Some(ReceiveWindow::AutoTuned(tuning)) => tuning.on_data(now, segment, state),
            _ => false,
        }
    }

    /// Returns the receiver's clock in its timestamps (RFC 7323's TSval), if they are needed.
    fn clock(&self, now: SimTime) -> u64 {
        match self.window.as_deref() {
            Some(ReceiveWindow::AutoTuned(_)) if self.tcp.timestamps => AutoTuning::clock(now),
            _ => 0,
        }
    }

    /// Returns whether the application's reading has opened the window far enough for a report to
    /// the sender: by two segments, or half of all (4.4BSD tcp_output).
    fn has_room_to_report(&self) -> bool {
        let Some(ReceiveWindow::FreeBuffer(edge)) = self.window.as_deref() else {
            return false;
        };
        let more = self.rcv_nxt + self.tcp.rwnd - edge;
        more >= 2 * self.tcp.mss || 2 * more >= self.tcp.rwnd
    }

    /// The window to advertise while the application has `unread` octets before it.
    fn window(&mut self, unread: Octets) -> Octets {
        let waiting = || self.early.octets_above(self.rcv_nxt);
        let window = match self.window.as_deref_mut() {
            None => self.tcp.rwnd,
            Some(ReceiveWindow::FreeBuffer(edge)) => {
                let free = self.tcp.rwnd.saturating_sub(unread);
                *edge = (*edge).max(self.rcv_nxt + free);
                *edge - self.rcv_nxt
            }
            Some(ReceiveWindow::Growing(window)) => *window,
            Some(ReceiveWindow::AutoTuned(tuning)) => tuning.offer(self.rcv_nxt, waiting()),
        };
        match &mut self.room {
            None => window,
            Some(room) => {
                let has_gap = !self.early.is_empty();
                room.advertise(self.before, self.rcv_nxt, window, &self.tcp, has_gap)
            }
        }
    }

    /// Hands octets up to `end` to the application, and the early ones that now follow. Returns how
    /// many; the application reads them once the segment has been answered.
    fn deliver(&mut self, end: u64) -> Octets {
        let mut next = end;
        if self.has_early {
            next = self.early.reached_from(end);
            self.early.forget_below(next);
        }
        let delivered = next - self.rcv_nxt;
        self.rcv_nxt = next;
        delivered
    }

    #[inline(always)]
    fn acknowledge(
        &mut self,
        now: SimTime,
        changed: Option<(u64, u64)>,
        unread: Octets,
        out: &mut Vec<Segment>,
    ) {
        self.unacknowledged = 0;
        self.held_until = None;
        self.last_acked = self.rcv_nxt;
        self.acks += 1;
        let window = self.window(unread) as u32;
        out.push(Segment {
            sequence: self.clock(now),
            acknowledgement: self.rcv_nxt,
            window,
            timestamp: self.ts_recent,
            ece: self.echoes_mark,
            ..Segment::bare(SegmentKind::Ack, self.connection)
        });
        if self.has_early {
            if let Some(most) = self.tcp.recovery.max_blocks() {
                if let Some(range) = changed {
                    self.recent.note(range);
                }
                let ack = out.last_mut().expect("it was pushed just now");
                ack.sack = self.recent.newest(self.rcv_nxt, most as usize);
            }
            self.has_early = !(self.early.is_empty() && self.recent.is_empty());
        }
    }
}

fn quick_segments(tcp: &TcpSpec) -> u16 {
    let quick = tcp.delayed_ack.map_or(0, |delayed| delayed.quick_segments);
    u16::try_from(quick).unwrap_or(u16::MAX)
}

#[cfg(test)]
#[path = "receiver_tests.rs"]
mod tests;
