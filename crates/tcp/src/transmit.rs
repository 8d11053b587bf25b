//! The state of a sender that all rules share: sequence space, window, timer; and the one way to
//! send segments.

use crate::clock::TickClock;
use crate::congestion::{Ack, Sample};
use crate::ecn::EcnSender;
use crate::ranges::Ranges;
use crate::rto::RtoEstimator;
use crate::segment::{Segment, SegmentKind};
use crate::spec::{NagleWaitsFor, RtoRestart, TcpSpec};
use crate::validation::Validation;
use crate::window::{Signal, Window};
use skycell_units::{Ecn, Octets, SimTime};
use std::num::NonZeroU64;
use std::sync::Arc;

/// Segments beyond cwnd that limited transmit may have out, and duplicate ACKs in a row that send them (RFC 3042
/// section 2).
pub(crate) const LIMITED_TRANSMIT: u64 = 2;

/// The counters of a sender over all connections of its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)] // what every acknowledgement changes comes first
pub struct SenderCounters {
    /// Octets of data given to the network, repetitions included.
    pub octets_sent: Octets,
    /// Octets acknowledged.
    pub octets_acked: Octets,
    /// Data segments given to the network.
    pub segments_sent: u64,
    /// Acknowledgements that arrived.
    pub acks: u64,
    /// Largest cwnd, whole octets.
    pub cwnd_max: Octets,
    /// Of the octets sent, those that had been sent before.
    pub octets_retransmitted: Octets,
    /// Of the data segments, those that had been sent before.
    pub segments_retransmitted: u64,
    /// Of the acknowledgements, the duplicates.
    pub dup_acks: u64,
    /// Expiries of the retransmission timer.
    pub timeouts: u64,
    /// Entries into fast retransmit.
    pub fast_retransmits: u64,
    /// Cuts of cwnd taken back.
    pub undos: u32,
    /// Segments sent that open or close connections.
    pub controls: u32,
}

/// The sender's half of a connection, without the rules of loss recovery. What every acknowledgement needs comes
/// before what few do.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Transmitter {
    /// Oldest unacknowledged octet.
    pub(crate) snd_una: u64,
    /// Next octet to send; below `snd_max` while a timeout's go-back is repeated.
    pub(crate) snd_nxt: u64,
    /// Octet after the highest ever sent.
    pub(crate) snd_max: u64,
    /// Octet after the last that the application has handed over.
    pub(crate) available: u64,
    /// Window that the receiver advertised last.
    pub(crate) advertised: u32,
    /// The receiver's clock that data echo, ms; 0 where it says none.
    pub(crate) echo: u32,
    pub(crate) window: Window,
    pub(crate) rto: RtoEstimator,
    /// When the retransmission timer runs out; [`SimTime::NEVER`] while it does not run.
    pub(crate) deadline: SimTime,
    /// Octet after the last short segment of new data that was sent.
    pub(crate) short_end: u64,
    /// The segment being timed: octet after its last (1 of a SYN or FIN, while it is unanswered and not
    /// repeated), and the tick count at its sending.
    pub(crate) timed: Option<(NonZeroU64, u64)>,
    pub(crate) tcp: Arc<TcpSpec>,
    pub(crate) clock: TickClock,
    /// Segments put out; stands empty while the sender does nothing.
    pub(crate) out: Vec<Segment>,
    /// Ticks of the host's clock when the sender last did something, or does.
    pub(crate) ticks: u64,
    pub(crate) connection: u32,
    /// True if the timer that runs out now does so before the clock moves on.
    pub(crate) is_before_tick: bool,
    /// True if the acknowledgement that is being processed echoes a mark.
    pub(crate) is_echo: bool,
    /// True if the receiver's window may be closed for long, so that nothing is sent beyond it.
    pub(crate) obeys_window: bool,
    /// Octets SACKed above `snd_una`.
    pub(crate) sacked: Ranges,
    pub(crate) counters: SenderCounters,
    /// None without ECN.
    pub(crate) ecn: Option<Box<EcnSender>>,
    /// None where an unused cwnd stays.
    pub(crate) validation: Option<Box<Validation>>,
}

impl Transmitter {
    pub(crate) fn new(tcp: Arc<TcpSpec>, clock: TickClock) -> Self {
        Transmitter {
            ticks: clock.ticks(SimTime::ZERO),
            clock,
            window: Window::new(&tcp),
            rto: RtoEstimator::new(&tcp),
            connection: 0,
            short_end: 0,
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            available: 0,
            sacked: Ranges::default(),
            advertised: tcp.first_window() as u32,
            echo: 0,
            deadline: SimTime::NEVER,
            timed: None,
            counters: SenderCounters::default(),
            is_before_tick: false,
            is_echo: false,
            obeys_window: false,
            ecn: EcnSender::new(&tcp),
            validation: Validation::new(&tcp),
            out: Vec::new(),
            tcp,
        }
    }

    /// Puts everything but counters and identity back to the start of a connection.
    pub(crate) fn begin(&mut self, connection: u32) {
        self.connection = connection;
        self.window = Window::new(&self.tcp);
        self.rto = RtoEstimator::new(&self.tcp);
        (self.snd_una, self.snd_nxt, self.snd_max, self.available) = (0, 0, 0, 0);
        self.short_end = 0;
        self.sacked.clear();
        self.advertised = self.tcp.first_window() as u32;
        self.echo = 0;
        self.deadline = SimTime::NEVER;
        self.timed = None;
        self.validation = Validation::new(&self.tcp);
        if let Some(ecn) = &mut self.ecn {
            ecn.begin();
        }
    }

    /// Returns whether everything sent has been acknowledged.
    pub(crate) fn is_all_acked(&self) -> bool {
        self.snd_una == self.snd_max
    }

    /// Sends what the congestion and receiver windows allow, repetitions after a timeout first.
    pub(crate) fn send_as_allowed(&mut self) {
        let cwnd = self.window.octets();
        while let Some(length) = self.next_length(self.snd_una + cwnd.min(self.receiver_window())) {
            self.send(self.snd_nxt, length);
            self.snd_nxt += length;
        }
    }

    /// Window that the receiver advertised last.
    pub(crate) fn advertised(&self) -> Octets {
        self.advertised.into()
    }

    /// Returns the octets that the receiver has room for: what it advertised, but at least a
    /// segment if nothing is under way, or everything that was is to be sent again. That replaces
    /// 4.4BSD's persist timer, which does not give up (RFC 1122 4.2.2.17); the application reads at
    /// once. If it does not, the sender probes the window.
    fn receiver_window(&self) -> Octets {
        if self.snd_nxt == self.snd_una && !(self.obeys_window && self.is_all_acked()) {
            self.advertised().max(self.tcp.mss)
        } else {
            self.advertised()
        }
    }

    /// Returns whether there is something to send, nothing is outstanding, and the receiver's
    /// window is too small.
    pub(crate) fn is_blocked(&self) -> bool {
        let is_idle = self.is_all_acked() && self.available > self.snd_max;
        is_idle
            && self
                .next_length(self.snd_una + self.receiver_window())
                .is_none()
    }

    /// Sends one segment of data never sent before, whatever cwnd is; false when the receiver's
    /// window or the application has no more.
    pub(crate) fn send_new(&mut self) -> bool {
        self.send_next(self.snd_max)
    }

    /// Sends the next segment that begins at `from` or above, whatever cwnd is; false, and nothing has
    /// changed, when the receiver's window or the application has no more.
    pub(crate) fn send_next(&mut self, from: u64) -> bool {
        let before = self.snd_nxt;
        self.snd_nxt = before.max(from);
        let Some(length) = self.next_length(self.snd_una + self.receiver_window()) else {
            self.snd_nxt = before;
            return false;
        };
        self.send(self.snd_nxt, length);
        self.snd_nxt += length;
        true
    }

    /// Sends the segment at `snd_una` again. Where that is the next of what a timeout went back to, this was it
    /// (4.4BSD moves `snd_nxt` on likewise).
    pub(crate) fn resend_first(&mut self) {
        let end = self.snd_max.min(self.snd_una + self.tcp.mss);
        self.resend(self.snd_una, end);
        self.snd_nxt = self.snd_nxt.max(end);
    }

    /// Sends the segment at `sequence` again, up to `end` at most.
    pub(crate) fn resend(&mut self, sequence: u64, end: u64) {
        let length = self.tcp.mss.min(end.min(self.snd_max) - sequence);
        self.send(sequence, length);
    }

    /// Length of the segment to send at `snd_nxt` if it may end at `limit` at most.
    fn next_length(&self, limit: u64) -> Option<u64> {
        let is_repetition = self.snd_nxt < self.snd_max;
        let end = if is_repetition {
            self.snd_max
        } else {
            self.available
        };
        let whole = self.tcp.mss.min(end - self.snd_nxt);
        let room = limit.saturating_sub(self.snd_nxt);
        let length = if room >= whole {
            whole
        } else if self.tcp.sws_avoidance && !self.is_all_acked() {
            // RFC 1122 4.2.3.4: a piece of a segment waits for the window to open.
            0
        } else {
            room
        };
        let is_held_by_nagle =
            self.tcp.nagle && !is_repetition && length < self.tcp.mss && self.holds_short_segment();
        (length > 0 && !is_held_by_nagle).then_some(length)
    }

    /// Returns whether a short segment of new data has to wait: RFC 896, until nothing is
    /// unacknowledged; Minshall, until no short segment is (draft-minshall-nagle-01; Linux's
    /// tcp_minshall_check).
    fn holds_short_segment(&self) -> bool {
        match self.tcp.nagle_waits_for {
            NagleWaitsFor::AnyData => self.snd_nxt > self.snd_una,
            NagleWaitsFor::ShortSegment => self.short_end > self.snd_una,
        }
    }

    /// A duplicate ACK that begins no recovery: sends a segment of new data if no more than two beyond cwnd are out
    /// then (RFC 3042 section 2). Nothing while what a timeout went back to is repeated.
    #[cold]
    #[inline(never)]
    pub(crate) fn send_limited(&mut self) {
        if self.snd_nxt < self.snd_max {
            return;
        }
        let beyond = self.window.octets() + LIMITED_TRANSMIT * self.tcp.mss;
        let limit = self.snd_una + beyond.min(self.receiver_window());
        if let Some(length) = self.next_length(limit) {
            self.send(self.snd_nxt, length);
            self.snd_nxt += length;
        }
    }

    /// The timestamp of what is sent now.
    pub(crate) fn timestamp(&self) -> u64 {
        self.ticks - u64::from(self.is_before_tick)
    }

    #[inline(always)]
    fn send(&mut self, sequence: u64, length: u64) {
        let end = sequence + length;
        let timestamp = self.timestamp();
        self.counters.octets_sent += length;
        self.counters.segments_sent += 1;
        let (mut ecn, mut cwr) = (Ecn::NotEct, false);
        if sequence < self.snd_max {
            self.counters.octets_retransmitted += self.snd_max.min(end) - sequence;
            self.counters.segments_retransmitted += 1;
            // Karn: a segment sent twice gives no sample.
            self.timed = self.timed.filter(|timed| timed.0.get() <= sequence);
        } else {
            if self.timed.is_none() {
                self.timed = NonZeroU64::new(end).map(|end| (end, timestamp));
            }
            if length < self.tcp.mss {
                self.short_end = end;
            }
            if let Some(sender) = &mut self.ecn {
                (ecn, cwr) = sender.of_new_data();
            }
        }
        self.snd_max = self.snd_max.max(end);
        if self.deadline == SimTime::NEVER || self.tcp.rto_restart == RtoRestart::OnSend {
            self.start_timer();
        }
        self.out.push(Segment {
            sequence,
            length: length as u32,
            acknowledgement: self.echo.into(),
            timestamp,
            ecn,
            cwr,
            ..Segment::bare(SegmentKind::Data, self.connection)
        });
    }

    /// The retransmission timer has run out.
    pub(crate) fn on_timeout(&mut self) {
        self.counters.timeouts += 1;
        self.rto.back_off();
    }

    /// A loss, of which no more is known: half of cwnd is ssthresh, one segment is cwnd, and everything from the oldest
    /// unacknowledged octet on is to be sent again.
    pub(crate) fn start_over(&mut self) {
        self.on_loss();
        self.set_cwnd_segments(1);
        self.snd_nxt = self.snd_una;
        self.deadline = SimTime::NEVER;
        self.send_as_allowed();
    }

    /// Notes the receiver's clock, which data echo from now on; an older one that was overtaken is none (RFC 7323 section 5.3).
    pub(crate) fn note_clock(&mut self, segment: &Segment) {
        self.echo = self.echo.max(segment.sequence as u32);
    }

    /// Starts the retransmission timer anew.
    pub(crate) fn start_timer(&mut self) {
        self.start_timer_of(self.rto.ticks(&self.tcp));
    }

    /// Starts the timer anew, which runs out at the tick that is the `count`-th to come, at least 1.
    pub(crate) fn start_timer_of(&mut self, count: u64) {
        self.deadline = self.clock.at(self.ticks + count);
    }

    /// Notes what an acknowledgement has SACKed; whether any of it is news, as far as limited transmit asks.
    pub(crate) fn note_sacked(&mut self, segment: &Segment) -> bool {
        let mut has_news = false;
        for &(start, end) in segment.sack.as_slice() {
            let start = start.max(self.snd_una);
            if self.tcp.limited_transmit {
                has_news |= !self.sacked.holds(start, end);
            }
            if end > self.snd_una && end <= self.snd_max {
                self.sacked.add(start, end);
            }
        }
        has_news
    }

    /// An acknowledgement moves `snd_una` to `ack`. Returns the octets acknowledged.
    #[inline(always)]
    pub(crate) fn advance_to(&mut self, ack: u64) -> Octets {
        let acked = ack - self.snd_una;
        self.counters.octets_acked += acked;
        self.snd_una = ack;
        self.snd_nxt = self.snd_nxt.max(ack);
        self.sacked.forget_below(ack);
        if self.validation.is_some() {
            self.note_pipe(acked);
        }
        acked
    }

    /// The same, with the round-trip sample that it brings.
    pub(crate) fn advance(&mut self, ack: u64, echoed_timestamp: u64) -> Octets {
        let acked = self.advance_to(ack);
        if self.tcp.timestamps {
            let rtt = self.ticks - echoed_timestamp;
            self.measure(rtt);
            if self.window.has_state() {
                self.sample(rtt);
            }
        } else if let Some((end, sent_at)) = self.timed
            && ack >= end.get()
        {
            self.measure(self.ticks - sent_at);
            self.timed = None;
        }
        acked
    }

    /// Tells the retransmission timer of a round trip of `rtt` ticks.
    pub(crate) fn measure(&mut self, rtt: u64) {
        self.rto
            .on_sample(&self.tcp, rtt, self.snd_una, self.snd_max);
    }

    /// Round trips that an acknowledgement has measured, ticks: of the first segment that it acknowledges, which is
    /// the timer's, and of the last, which is the window's.
    pub(crate) fn on_round_trips(&mut self, first: u64, last: u64) {
        self.measure(first);
        if self.window.has_state() {
            self.sample(last);
        }
    }

    /// cwnd in whole segments.
    pub(crate) fn cwnd_segments(&self) -> u64 {
        self.window.octets() / self.tcp.mss
    }

    /// ssthresh in whole segments.
    pub(crate) fn ssthresh_segments(&self) -> u64 {
        self.window.ssthresh() as u64 / self.tcp.mss
    }

    /// Sets cwnd to as many segments.
    pub(crate) fn set_cwnd_segments(&mut self, segments: u64) {
        self.window.set_cwnd((segments * self.tcp.mss) as f64);
    }

    /// An acknowledgement outside recovery has told of `segments` segments more: cwnd grows.
    pub(crate) fn grow_by_segments(&mut self, segments: u64, is_cwnd_limited: bool) {
        if !self.has_validated() {
            return;
        }
        self.window.on_ack(&self.tcp, |_| Ack {
            ticks: self.ticks,
            srtt_eighths: self.rto.srtt_eighths(),
            segments: segments as f64,
            octets: segments * self.tcp.mss,
            reached: self.snd_una,
            next: self.snd_nxt,
            is_cwnd_limited,
        });
    }

    /// Tells the window's rules of a round trip of `rtt` ticks.
    fn sample(&mut self, rtt: u64) {
        let tick = self.tcp.tick_ps;
        let sample = Sample {
            rtt_ps: rtt * tick,
            srtt_ps: self.rto.srtt_eighths() as u64 * tick / 8,
            now_ps: self.ticks * tick,
            reached: self.snd_una,
            next: self.snd_nxt,
        };
        self.window.on_sample(&self.tcp, &sample);
    }

    /// A loss: ssthresh is cut.
    pub(crate) fn on_loss(&mut self) {
        self.on_signal(Signal::Loss);
    }

    /// A loss or a mark: ssthresh is cut.
    pub(crate) fn on_signal(&mut self, signal: Signal) {
        if self.validation.is_some() {
            self.forget_unused();
        }
        self.window
            .on_signal(&self.tcp, self.advertised.into(), signal);
        self.note_reduction();
    }

    /// A loss or a mark has been answered.
    pub(crate) fn note_reduction(&mut self) {
        if let Some(ecn) = &mut self.ecn {
            ecn.on_reduction(self.snd_max);
        }
    }

    /// That acknowledgement of `acked` octets makes cwnd grow: no recovery is going on. One that echoes a mark
    /// does not (RFC 3168 section 6.1.2).
    pub(crate) fn grow(&mut self, acked: Octets) {
        if self.is_echo || !self.has_validated() {
            return;
        }
        self.window.on_ack(&self.tcp, |cwnd| {
            let was_outstanding = self.snd_max - self.snd_una + acked;
            Ack {
                ticks: self.ticks,
                srtt_eighths: self.rto.srtt_eighths(),
                segments: acked as f64 / self.tcp.mss as f64,
                octets: acked,
                reached: self.snd_una,
                next: self.snd_nxt,
                is_cwnd_limited: (was_outstanding + self.tcp.mss) as f64 > cwnd,
            }
        });
    }
}

#[cfg(test)]
#[path = "transmit_tests.rs"]
mod tests;
