//! The sending end: connection, acknowledgements, the retransmission timer.

use crate::clock::TickClock;
use crate::ecn::{EcnSender, note_marks, on_echo};
use crate::recovery::{LossRecovery, Recovery, TimerAfterAck};
use crate::segment::{Segment, SegmentKind};
use crate::spec::{RecoverySpec, TcpSpec, TickOrder};
use crate::transmit::{LIMITED_TRANSMIT, Transmitter};
use skycell_des::Stream;
use skycell_units::{Cells, Octets, SimTime};
use std::num::NonZeroU64;
use std::sync::Arc;

pub use crate::transmit::SenderCounters;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    SynSent,
    Established,
    FinSent,
}

/// The sender of one flow: one connection after another. What every acknowledgement needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    recovery: Recovery,
    /// Duplicate acknowledgements in a row.
    dup_acks: u32,
    state: State,
    pub(crate) tx: Transmitter,
}

impl Sender {
    /// A sender without a connection, on a host with the given clock. A congestion control that draws does so from
    /// `draws`, which no other asks for.
    pub fn new(
        tcp: impl Into<Arc<TcpSpec>>,
        clock: TickClock,
        draws: impl FnOnce() -> Stream,
    ) -> Self {
        let tcp = tcp.into();
        let draws = tcp.congestion.has_model().then(draws);
        Sender {
            state: State::Closed,
            recovery: Recovery::new(&tcp, draws),
            tx: Transmitter::new(tcp, clock),
            dup_acks: 0,
        }
    }

    /// Octets of the IP packet that `segment` is.
    pub fn packet(&self, segment: &Segment) -> Octets {
        segment.packet(&self.tx.tcp)
    }

    /// Cells of the frame that carries `segment`.
    pub fn cells(&self, segment: &Segment) -> Cells {
        segment.cells(&self.tx.tcp)
    }

    /// cwnd, octets; has a fraction while growth is in floating point.
    pub fn cwnd(&self) -> f64 {
        self.tx.window.cwnd()
    }

    /// ssthresh, octets.
    pub fn ssthresh(&self) -> f64 {
        self.tx.window.ssthresh()
    }

    /// When the retransmission timer runs out.
    pub fn deadline(&self) -> Option<SimTime> {
        (self.tx.deadline != SimTime::NEVER).then_some(self.tx.deadline)
    }

    /// Returns the counters.
    pub fn counters(&self) -> &SenderCounters {
        &self.tx.counters
    }

    /// Reductions of the window because of marks.
    pub fn ecn_reductions(&self) -> u64 {
        self.tx.ecn.as_deref().map_or(0, EcnSender::reductions)
    }

    /// Cuts of the window taken back; none where recovery takes none back.
    pub fn undos(&self) -> Option<u64> {
        self.tx
            .tcp
            .recovery
            .undoes()
            .then_some(self.tx.counters.undos.into())
    }

    /// The pace, octets a second, and the state of a congestion control that has states of its own.
    #[cfg(test)]
    pub(crate) fn pace_and_state(&self) -> (Option<u64>, Option<String>) {
        match &self.recovery {
            Recovery::RackTlp(rack_tlp) => rack_tlp.pace_and_state(),
            Recovery::ByDuplicates(_) => (None, None),
        }
    }

    /// Returns whether a connection is open or opening.
    pub fn is_open(&self) -> bool {
        self.state != State::Closed
    }

    /// Returns whether everything that the application handed over in this connection has been
    /// acknowledged.
    pub fn is_all_acked(&self) -> bool {
        self.tx.snd_una == self.tx.available
    }

    /// Octets sent and not acknowledged.
    pub fn outstanding(&self) -> Octets {
        self.tx.snd_max - self.tx.snd_una
    }

    /// Octets that the application has handed over and that have never been sent.
    pub fn unsent(&self) -> Octets {
        self.tx.available - self.tx.snd_max
    }

    /// The receiver's window may be closed for long: nothing is sent beyond it, and who has the sender asks how large it is
    /// now and then while it [is blocked](Self::is_blocked).
    pub fn obey_window(&mut self) {
        self.tx.obeys_window = true;
    }

    /// Returns whether nothing is outstanding and the receiver's window is too small for the data
    /// to send.
    pub fn is_blocked(&self) -> bool {
        self.state == State::Established && self.tx.is_blocked()
    }

    /// When to ask for the window that has been closed at `now`, `asked` times so far: after an RTO, and twice as long each
    /// time (RFC 1122 4.2.2.17).
    pub fn probe_due(&self, now: SimTime, asked: u32) -> SimTime {
        let ticks = self.tx.rto.ticks(&self.tx.tcp) << asked.min(16);
        let ticks = ticks.min(self.tx.tcp.rto_max_ticks.into());
        self.tx.clock.at(self.tx.clock.ticks(now) + ticks)
    }

    /// Asks for the window.
    pub fn probe(&mut self, out: &mut Vec<Segment>) {
        self.tx.counters.controls += 1;
        out.push(Segment::bare(SegmentKind::Probe, self.tx.connection));
    }

    /// Opens the `connection`-th connection of the flow.
    pub fn open(&mut self, now: SimTime, connection: u32, out: &mut Vec<Segment>) {
        self.tx.begin(connection);
        self.recovery.begin(&self.tx.tcp);
        self.dup_acks = 0;
        if self.tx.tcp.handshake {
            self.state = State::SynSent;
            self.act(now, out, |sender| {
                sender.send_control(SegmentKind::Syn, true);
            });
        } else {
            self.state = State::Established;
        }
        self.note_cwnd();
    }

    /// The application hands over `octets` more; `u64::MAX` for as many as can ever be sent.
    pub fn hand_over(&mut self, now: SimTime, octets: Octets, out: &mut Vec<Segment>) {
        self.tx.available = self.tx.available.saturating_add(octets);
        if self.tx.is_all_acked() {
            let ticks = self.tx.clock.ticks(now);
            let idle = ticks - self.tx.ticks;
            self.tx.window.on_idle_end(&self.tx.tcp, ticks);
            let restarts = self.tx.tcp.idle_restart && !self.tx.tcp.congestion.has_model();
            let is_validated = self.tx.validate_after_idling(ticks);
            if restarts && !is_validated && idle >= self.tx.rto.ticks(&self.tx.tcp) {
                self.tx.window.restart(self.tx.tcp.initial_cwnd);
            }
        }
        if self.state == State::Established {
            self.act(now, out, |sender| {
                sender.recovery.on_more_to_send(&mut sender.tx, now);
            });
        }
    }

    /// Closes the connection, whose data must all be acknowledged. With a handshake it stays open
    /// until the FIN is answered.
    pub fn close(&mut self, now: SimTime, out: &mut Vec<Segment>) {
        if self.tx.tcp.handshake {
            self.state = State::FinSent;
            self.act(now, out, |sender| {
                sender.send_control(SegmentKind::Fin, true);
            });
        } else {
            self.state = State::Closed;
        }
    }

    /// A segment from the receiver has arrived.
    pub fn on_segment(&mut self, now: SimTime, segment: &Segment, out: &mut Vec<Segment>) {
        if segment.connection != self.tx.connection || self.state == State::Closed {
            return; // left over from a connection that is closed
        }
        self.act(now, out, |sender| match (sender.state, segment.kind) {
            (State::SynSent, SegmentKind::SynAck) => {
                sender.on_control_answered();
                sender.state = State::Established;
                sender.tx.note_clock(segment);
                if sender.tx.obeys_window {
                    sender.tx.advertised = segment.window;
                }
                sender.recovery.on_more_to_send(&mut sender.tx, now);
            }
            (State::FinSent, SegmentKind::FinAck) => {
                sender.on_control_answered();
                sender.state = State::Closed;
            }
            (State::Established, SegmentKind::Ack) => sender.on_ack(now, segment),
            _ => {}
        });
    }

    /// The retransmission timer has run out.
    pub fn on_timeout(&mut self, now: SimTime, out: &mut Vec<Segment>) {
        self.tx.is_before_tick = self.tx.tcp.tick_order == TickOrder::TimersFirst;
        self.act(now, out, |sender| {
            match &mut sender.recovery {
                Recovery::RackTlp(recovery) if sender.state == State::Established => {
                    return recovery.on_timer(&mut sender.tx, now);
                }
                _ => {}
            }
            sender.tx.on_timeout();
            match sender.state {
                State::SynSent => sender.send_control(SegmentKind::Syn, false),
                State::FinSent => sender.send_control(SegmentKind::Fin, false),
                State::Established | State::Closed => sender.start_over(),
            }
        });
        self.tx.is_before_tick = false;
    }

    /// After a timeout: back to the oldest unacknowledged octet with a window of one segment.
    fn start_over(&mut self) {
        self.dup_acks = 0;
        if let Recovery::ByDuplicates(recovery) = &mut self.recovery {
            recovery.on_timeout(&mut self.tx);
        }
        self.tx.start_over();
        self.tx.window.on_rto(&self.tx.tcp);
    }

    fn on_ack(&mut self, now: SimTime, segment: &Segment) {
        self.tx.counters.acks += 1;
        self.tx.note_clock(segment);
        let ack = segment.acknowledgement;
        if ack > self.tx.snd_max || ack < self.tx.snd_una {
            return;
        }
        match &mut self.recovery {
            Recovery::ByDuplicates(_) => self.count_ack(segment),
            Recovery::RackTlp(recovery) => recovery.on_ack(&mut self.tx, now, segment),
        }
    }

    /// The same where duplicates are counted.
    fn count_ack(&mut self, segment: &Segment) {
        let Recovery::ByDuplicates(recovery) = &mut self.recovery else {
            return;
        };
        let ack = segment.acknowledgement;
        let has_news = self.tx.note_sacked(segment);
        self.tx.is_echo = segment.ece;
        note_marks(&mut self.tx, ack, segment.ece);
        if segment.ece && !recovery.is_active() {
            on_echo(&mut self.tx, ack);
        }
        let advertised = segment.window;
        if ack > self.tx.snd_una {
            self.dup_acks = 0;
            self.tx.advertised = advertised;
            let acked = self.tx.advance(ack, segment.timestamp);
            match recovery.on_new_ack(&mut self.tx, acked) {
                _ if self.tx.is_all_acked() => self.tx.deadline = SimTime::NEVER,
                // RFC 6298 5.3.
                TimerAfterAck::Restart => self.tx.start_timer(),
                TimerAfterAck::Keep => {}
            }
        } else if advertised > self.tx.advertised {
            // A window update is no duplicate, and ends a row of them (4.4BSD tcp_input).
            self.dup_acks = 0;
            self.tx.advertised = advertised;
            recovery.on_more_to_send(&mut self.tx);
        } else if !self.tx.is_all_acked() {
            // RFC 5681 section 2: data outstanding, nothing new acknowledged, no payload.
            self.tx.counters.dup_acks += 1;
            self.dup_acks += 1;
            recovery.on_dup_ack(&mut self.tx, self.dup_acks);
            if self.tx.tcp.limited_transmit && !recovery.is_active() {
                // With SACK only those with news (RFC 3042 section 2).
                let is_news = has_news || !matches!(self.tx.tcp.recovery, RecoverySpec::Sack(_));
                if is_news && u64::from(self.dup_acks) <= LIMITED_TRANSMIT {
                    self.tx.send_limited();
                }
            }
        }
    }

    fn send_control(&mut self, kind: SegmentKind, is_first: bool) {
        let ticks = self.tx.ticks;
        self.tx.timed = is_first.then_some((NonZeroU64::MIN, ticks));
        self.tx.start_timer();
        self.tx.counters.controls += 1;
        self.tx.out.push(Segment {
            timestamp: ticks,
            ..Segment::bare(kind, self.tx.connection)
        });
    }

    /// The answer to a SYN or FIN has come: it gives a sample (Karn: if sent once) and is
    /// acknowledged.
    fn on_control_answered(&mut self) {
        if let Some((_, sent_at)) = self.tx.timed.take() {
            self.tx.measure(self.tx.ticks - sent_at);
        }
        self.tx.deadline = SimTime::NEVER;
        self.tx.counters.controls += 1;
        let answer = Segment::bare(SegmentKind::ControlAck, self.tx.connection);
        self.tx.out.push(answer);
    }

    /// Does at `now` what puts segments out. The caller's list stands in for the sender's own, which
    /// so needs no room.
    fn act(&mut self, now: SimTime, out: &mut Vec<Segment>, doing: impl FnOnce(&mut Self)) {
        self.tx.ticks = self.tx.clock.ticks(now);
        let sent = self.tx.snd_max;
        std::mem::swap(&mut self.tx.out, out);
        doing(self);
        std::mem::swap(&mut self.tx.out, out);
        if self.tx.validation.is_some() {
            let is_open = self.dup_acks == 0 && self.recovery.is_open();
            self.tx.validate(self.tx.snd_max > sent, is_open);
        }
        self.note_cwnd();
    }

    fn note_cwnd(&mut self) {
        let cwnd = self.tx.window.octets();
        self.tx.counters.cwnd_max = self.tx.counters.cwnd_max.max(cwnd);
    }
}

#[cfg(test)]
#[path = "sender_tests.rs"]
pub(crate) mod tests;
