//! Recovery by time, guided by a scoreboard: RACK-TLP with proportional rate reduction, as Linux has it.
//!
//! [`Flight`] knows what has become of each segment, [`Rack`] which are lost, [`Reduction`] how many go out
//! while cwnd comes down, [`timers`] what the one timer waits for.

mod ack_summary;
mod bursts;
mod cwnd_usage;
mod duplicates;
mod flight;
mod model;
mod pace;
mod prr;
mod rack;
mod rate;
mod timers;
mod undo;

use crate::ecn::{note_marks, on_echo};
use crate::pacing::Pacer;
use crate::segment::Segment;
use crate::spec::TcpSpec;
use crate::transmit::Transmitter;
use crate::window::Signal;
use ack_summary::AckSummary;
use bursts::Burst;
use cwnd_usage::CwndUsage;
use duplicates::Duplicates;
use flight::{Flight, Losses};
use model::Model;
use prr::Reduction;
use rack::Rack;
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, is_default,
    types::{Flag, SackBlocks, SegmentCount},
};
use skycell_des::Stream;
use skycell_units::SimTime;
use timers::{Pending, Probe, TIMEOUT_MIN_PS};
use undo::Undo;

/// Losses by time of sending, a probe before any timeout, a scoreboard that outlives it.
///
/// Source: RFC 8985, RFC 6937bis, RFC 6675; Linux 6.x tcp_input.c, tcp_recovery.c, tcp_timer.c.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct RackTlpSpec {
    /// SACKed segments from which on nothing is waited for, as long as no reordering has been seen.
    #[param(
        default = 3,
        source = "RFC 8985 section 6.2 step 4; Linux tcp_reordering"
    )]
    pub dup_ack_threshold: SegmentCount,
    /// Blocks in one ACK; four only without timestamps.
    #[param(default = 3, source = "RFC 2018 section 3")]
    pub max_blocks: SackBlocks,
    /// If true, reductions are undone when segments that seemed lost turn out to be late.
    #[param(
        default = false,
        source = "RFC 8985 asks for none; RFC 4015 and RFC 5682 are Linux's"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub undo: Flag,
    /// If true, the receiver reports which segments came twice, and the sender counts them: with
    /// undo, a reduction is undone if everything that was repeated came twice.
    #[param(
        default = false,
        source = "RFC 8985 recommends it; RFC 2883 and RFC 3708 are Linux's"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub dsack: Flag,
    /// If true, segments that an ACK releases wait for the next ACK, if that is near, until they
    /// make a burst: what TSO sends in 1 ms, at least two segments.
    #[param(
        default = false,
        source = "no RFC has bursts; Linux's tcp_tso_should_defer"
    )]
    #[serde(default, skip_serializing_if = "is_default")]
    pub tso_defer: Flag,
}

/// tcp_ca_state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Open,
    /// Something is SACKed, nothing lost.
    Disorder,
    /// cwnd comes down because of a mark.
    Cwr,
    Recovery,
    /// The timer has run out.
    Loss,
}

/// The transmissions of recovery after an acknowledgement (REXMIT_*).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Nothing,
    /// Lost segments.
    Lost,
    /// New data, or what is lost where there are none.
    New,
}

/// The state of RACK-TLP.
#[derive(Clone, Debug)]
pub(crate) struct RackTlp {
    state: State,
    flight: Flight,
    rack: Rack,
    reduction: Reduction,
    /// high_seq: `snd_max` as the state began.
    high_seq: u64,
    pending: Pending,
    probe: Option<Probe>,
    usage: CwndUsage,
    /// True if something has been acknowledged since the timer last ran out (no icsk_retransmits).
    has_progressed: bool,
    /// TCP_TIMEOUT_MIN in ticks of the host's clock.
    timeout_min: u64,
    /// None where segments leave as soon as they may.
    pacer: Option<Box<Pacer>>,
    /// None where losses cut cwnd.
    model: Option<Box<Model>>,
    /// None where no cut is taken back.
    undo: Option<Undo>,
    duplicates: Duplicates,
    /// True if less than a burst waits for more segments (`tso_defer`).
    waits_for_bursts: bool,
    /// Ticks when a segment was last sent (tcp_wstamp_ns without a pace).
    last_sent: u64,
}

impl RackTlp {
    /// `draws` is for a congestion control that draws.
    pub(super) fn new(spec: &RackTlpSpec, tcp: &TcpSpec, draws: Option<Stream>) -> Self {
        RackTlp {
            state: State::Open,
            flight: Flight::default(),
            rack: Rack::new(spec.dup_ack_threshold),
            reduction: Reduction::default(),
            high_seq: 0,
            pending: Pending::Nothing,
            probe: None,
            usage: CwndUsage::default(),
            has_progressed: true,
            timeout_min: TIMEOUT_MIN_PS.div_ceil(tcp.tick_ps),
            pacer: pace::pacer(tcp),
            model: draws.map(|draws| Box::new(Model::new(draws))),
            undo: spec.undo.then(Undo::default),
            duplicates: Duplicates::default(),
            waits_for_bursts: spec.tso_defer,
            last_sent: 0,
        }
    }

    /// Returns the stream from which the next connection's model draws.
    pub(super) fn into_draws(self) -> Option<Stream> {
        self.model.and_then(|model| model.into_draws())
    }

    /// An acknowledgement that is not below `snd_una` nor above `snd_max` (tcp_ack).
    pub(crate) fn on_ack(&mut self, tx: &mut Transmitter, now: SimTime, segment: &Segment) {
        self.take_timer(tx, now);
        tx.is_echo = segment.ece;
        note_marks(tx, segment.acknowledgement, segment.ece);
        let (prior, una) = (self.flight.pipe(), tx.snd_una);
        let mut summary = self.learn(tx, segment);
        self.sample(tx, segment, &mut summary);
        if !summary.has_advanced && !summary.has_opened && !tx.is_all_acked() {
            tx.counters.dup_acks += 1;
            summary.is_duplicate = !summary.has_repetition;
        }
        self.end_probe(tx, segment.acknowledgement, &summary);
        let is_new = summary.has_advanced || summary.has_opened;
        let is_alert = summary.has_sacked || summary.has_repetition || segment.ece;
        let is_dubious = !is_new || is_alert || self.state != State::Open;
        let echo = tx.tcp.timestamps.then_some(segment.timestamp);
        let next = match is_dubious {
            true => self.react(tx, segment.ece, echo, una, &mut summary),
            false => Next::Nothing,
        };
        self.set_timer(tx, &summary);
        if self.has_model() {
            self.follow_model(tx, &summary, prior);
        } else {
            self.control_window(tx, &summary);
        }
        self.resend(tx, next);
        self.send_new(tx);
        self.give_timer(tx);
    }

    /// tcp_xmit_recovery.
    fn resend(&mut self, tx: &mut Transmitter, next: Next) {
        if next == Next::New {
            self.send_new(tx);
            if tx.snd_max > self.high_seq {
                return;
            }
            self.set_asking(false);
        }
        if next != Next::Nothing {
            self.resend_lost(tx);
        }
    }

    /// Handles more data to send: the application has handed over, or the connection is open.
    pub(crate) fn on_more_to_send(&mut self, tx: &mut Transmitter, now: SimTime) {
        self.take_timer(tx, now);
        self.before_more(tx);
        self.update_rate(tx);
        self.send_new(tx);
        self.give_timer(tx);
    }

    /// Numbers and blocks go into the scoreboard (tcp_sacktag_write_queue, tcp_clean_rtx_queue).
    fn learn(&mut self, tx: &mut Transmitter, segment: &Segment) -> AckSummary {
        let ack = segment.acknowledgement;
        let advertised = segment.window;
        let mut summary = AckSummary {
            has_advanced: ack > tx.snd_una,
            has_opened: advertised > tx.advertised,
            ..AckSummary::default()
        };
        if summary.has_advanced || summary.has_opened {
            tx.advertised = advertised;
        }
        let highest = tx.sacked.end().max(tx.snd_una);
        let echo = tx.tcp.timestamps.then_some(segment.timestamp);
        let now = tx.ticks;
        if tx.tcp.recovery.has_dsack() {
            self.note_duplicates(tx, segment, &mut summary);
        }
        let (had_sacked, high_seq) = (self.flight.sacked() > 0, self.high_seq);
        let (flight, rack) = (&mut self.flight, &mut self.rack);
        let mut rates = self.model.as_deref_mut().map(|model| &mut model.rates);
        for &(start, end) in segment.sack.ascending().as_slice() {
            if start <= ack || end > tx.snd_max {
                continue;
            }
            let mut from = start;
            while let Some((start, stop)) = tx.sacked.missing(from, end) {
                flight.sack(start, stop, |covered| {
                    summary.on_sacked(&covered, highest, high_seq);
                    rack.on_delivered(&covered, None, now);
                    if let Some(rates) = &mut rates {
                        rates.on_covered(&covered);
                    }
                });
                from = stop;
            }
            tx.sacked.add(start, end);
        }
        if summary.has_advanced {
            self.has_progressed = true;
            let octets = tx.advance_to(ack);
            flight.acknowledge(ack, |covered| {
                summary.on_acked(&covered, high_seq);
                if !covered.was_sacked {
                    rack.on_delivered(&covered, echo, now);
                }
                if let Some(rates) = &mut rates {
                    rates.on_covered(&covered);
                }
            });
            if let Some(rates) = &mut rates {
                rates.forget_before(flight.gone());
            }
            let is_lone = summary.delivered == 1 && !summary.has_sacked && !had_sacked;
            summary.is_lone_runt = is_lone && octets < tx.tcp.mss && !segment.ece;
        }
        if let Some(lowest) = summary.lowest {
            rack.on_reordering(lowest, highest, tx.tcp.mss);
        }
        summary
    }

    /// Round trips (tcp_ack_update_rtt): of the first segment acknowledged for the timer, of the last for the window.
    fn sample(&mut self, tx: &mut Transmitter, segment: &Segment, summary: &mut AckSummary) {
        let now = tx.ticks;
        let span = match summary.acked {
            Some(span) if !summary.has_repeated => Some(span),
            _ => summary.sacked,
        };
        if let Some((first, last)) = span {
            self.rack.on_round_trip(now - last);
            tx.on_round_trips(now - first, now - last);
            let newest = summary.sacked.map_or(last, |(_, last)| last);
            summary.rtt = Some(now - newest);
        } else if summary.has_advanced && tx.tcp.timestamps {
            let rtt = now - segment.timestamp.min(now);
            tx.measure(rtt);
            summary.rtt = Some(rtt);
        }
    }

    /// Handles losses and marks (tcp_fastretrans_alert), with `echo` the timestamp that the ACK
    /// echoes and `una` what was acknowledged before it; returns what is to be sent.
    fn react(
        &mut self,
        tx: &mut Transmitter,
        is_echo: bool,
        echo: Option<u64>,
        una: u64,
        summary: &mut AckSummary,
    ) -> Next {
        if self.is_reducing() && tx.snd_una >= self.high_seq {
            self.end_state(tx, echo);
        }
        let before = self.state;
        let mut next = Next::Nothing;
        match before {
            State::Recovery => {
                if summary.has_advanced && self.undo_partly(tx, echo, una) {
                    return Next::Nothing;
                }
                if self.undo_duplicates(tx) {
                    self.try_open(tx, is_echo);
                }
            }
            State::Loss => next = self.process_timeout(tx, echo, summary),
            State::Open | State::Disorder => _ = self.undo_duplicates(tx),
            State::Cwr => {}
        }
        let losses = self.find_lost(tx);
        summary.losses = losses;
        match self.state {
            State::Recovery => return Next::Lost,
            State::Loss if losses.repetitions == 0 => return next,
            _ => {}
        }
        if self.flight.lost() == 0 {
            if before != State::Recovery {
                self.try_open(tx, is_echo);
            }
            return next;
        }
        self.enter_recovery(tx);
        Next::Lost
    }

    /// Everything sent before a reduction began has been acknowledged.
    fn end_state(&mut self, tx: &mut Transmitter, echo: Option<u64>) {
        // Held until more than that is, so that the receiver has seen CWR.
        if self.state == State::Cwr && tx.snd_una == self.high_seq {
            return;
        }
        let is_undone = self.state == State::Recovery && self.undo_at_end(tx, echo);
        if !is_undone {
            self.rack.on_recovery_end();
            self.end_reduction(tx);
        }
        self.state = State::Open;
    }

    /// tcp_end_cwnd_reduction.
    fn end_reduction(&self, tx: &mut Transmitter) {
        if !self.has_model() {
            tx.window.set_to_ssthresh_plus(&tx.tcp, 0);
        }
    }

    /// tcp_try_to_open.
    fn try_open(&mut self, tx: &mut Transmitter, is_echo: bool) {
        if is_echo && self.state < State::Cwr && tx.tcp.congestion.grows_through_marks() {
            on_echo(tx, tx.snd_una);
        } else if is_echo && self.state < State::Cwr {
            if let Some(ecn) = &mut tx.ecn {
                ecn.count_reduction();
            }
            self.begin_reduction(tx, Signal::Mark);
            if let Some(undo) = &mut self.undo {
                undo.forget_cut();
            }
            self.state = State::Cwr;
        }
        self.keep_open(tx);
    }

    /// tcp_try_keep_open.
    fn keep_open(&mut self, tx: &Transmitter) {
        self.forget_repetition();
        if self.state != State::Cwr {
            let has_any = self.flight.sacked() + self.flight.lost() + self.flight.resent() > 0;
            let state = if has_any {
                State::Disorder
            } else {
                State::Open
            };
            if state != self.state {
                self.state = state;
                self.high_seq = tx.snd_max;
            }
        }
    }

    /// Returns whether nothing is SACKed or lost.
    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    fn is_reducing(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// tcp_enter_recovery.
    fn enter_recovery(&mut self, tx: &mut Transmitter) {
        tx.counters.fast_retransmits += 1;
        self.forget_repetition();
        self.note_cut(tx, self.is_reducing());
        if !self.is_reducing() {
            self.begin_reduction(tx, Signal::Loss);
        }
        self.state = State::Recovery;
    }

    /// tcp_init_cwnd_reduction: ssthresh is cut, and cwnd will come down to it.
    fn begin_reduction(&mut self, tx: &mut Transmitter, signal: Signal) {
        self.high_seq = tx.snd_max;
        self.probe = None;
        self.reduction = Reduction::new(tx.cwnd_segments());
        self.cut(tx, signal);
    }

    /// Marks what is lost by now.
    fn find_lost(&mut self, tx: &mut Transmitter) -> Losses {
        if !self.rack.take_news() {
            return Losses::default();
        }
        let srtt = tx.rto.srtt_eighths() as u64 / 8;
        let is_recovering = self.state >= State::Recovery;
        self.rack
            .find_lost(&mut self.flight, tx.ticks, srtt, is_recovering)
    }

    /// cwnd after an ACK (tcp_cong_control).
    fn control_window(&mut self, tx: &mut Transmitter, summary: &AckSummary) {
        if self.is_reducing() {
            let is_safe = summary.has_advanced && summary.losses.count == 0;
            self.reduce(tx, summary.delivered.into(), is_safe);
        } else {
            self.grow(tx, summary);
        }
        self.update_rate(tx);
    }

    fn grow(&mut self, tx: &mut Transmitter, summary: &AckSummary) {
        if tx.is_echo && tx.tcp.congestion.grows_through_marks() {
            return; // the others of the window do
        }
        let may_grow = summary.has_advanced || summary.has_sacked && self.rack.has_reordered();
        if may_grow && summary.delivered > 0 {
            let is_full = self.usage.is_cwnd_limited(tx);
            tx.grow_by_segments(summary.delivered.into(), is_full);
        }
    }

    fn reduce(&mut self, tx: &mut Transmitter, delivered: u64, is_safe: bool) {
        let ssthresh = tx.ssthresh_segments();
        let pipe = self.flight.pipe();
        if let Some(cwnd) = self.reduction.cwnd(pipe, ssthresh, delivered, is_safe) {
            tx.set_cwnd_segments(cwnd.max(1));
        }
    }

    /// Sends what is lost again, as far as cwnd allows (tcp_xmit_retransmit_queue).
    fn resend_lost(&mut self, tx: &mut Transmitter) {
        while self.flight.pipe() < tx.cwnd_segments() && self.flight.to_resend() > 0 {
            if !self.may_send(tx) {
                break;
            }
            let Some((index, start, end)) = self.flight.next_to_resend() else {
                break;
            };
            // What a window that has shrunk leaves out waits, but for the first.
            if start > tx.snd_una && end > tx.snd_una + tx.advertised() {
                break;
            }
            self.resend_one(tx, index, start, end);
            if self.is_reducing() {
                self.reduction.on_sent(1);
            }
            if start == tx.snd_una && self.pending != Pending::Reordering {
                self.start_rto(tx);
            }
        }
    }

    fn resend_one(&mut self, tx: &mut Transmitter, index: u64, start: u64, end: u64) {
        if let Some(undo) = &mut self.undo {
            undo.on_repeated(tx.timestamp());
        }
        let in_flight = self.flight.pipe() + 1;
        self.repeat(tx, index, start, end, in_flight);
        self.flight.on_resent(index, tx.ticks);
    }

    /// Sends a segment again, and with it there are so many `in_flight`.
    fn repeat(&mut self, tx: &mut Transmitter, index: u64, start: u64, end: u64, in_flight: u64) {
        self.before_sending(tx);
        self.duplicates.on_repeated();
        self.keep_deadline(tx, |tx| tx.resend(start, end));
        self.note_sent(tx, end - start);
        self.note_departure(tx, index, false, in_flight);
    }

    /// Does what sends: where sending restarts the timer (`rto_restart`), that of the retransmission only.
    fn keep_deadline<T>(
        &self,
        tx: &mut Transmitter,
        send: impl FnOnce(&mut Transmitter) -> T,
    ) -> T {
        let deadline = tx.deadline;
        let sent = send(tx);
        if matches!(self.pending, Pending::Probe | Pending::Reordering) {
            tx.deadline = deadline;
        }
        sent
    }

    /// Sends new data as far as cwnd, the receiver's window and Nagle allow (tcp_write_xmit).
    fn send_new(&mut self, tx: &mut Transmitter) {
        if tx.snd_max == tx.available {
            return;
        }
        let (mut cwnd, mut sent, mut burst) = (tx.cwnd_segments(), 0, 0);
        let mut is_full = false;
        while self.flight.pipe() < cwnd && self.may_send(tx) {
            if burst == 0 {
                match self.next_burst(tx, cwnd) {
                    Burst::Leaves(segments) => burst = segments,
                    Burst::Waits { is_cwnd_limited } => {
                        is_full = is_cwnd_limited;
                        break;
                    }
                }
            }
            if !self.send_one(tx) {
                break;
            }
            if self.has_model() {
                cwnd = tx.cwnd_segments(); // the first after idling may change it
            }
            burst -= 1;
            sent += 1;
        }
        is_full |= self.flight.pipe() >= cwnd;
        if sent > 0 || is_full {
            self.usage.note(tx, is_full, self.flight.len());
        }
        if sent > 0 {
            if self.is_reducing() {
                self.reduction.on_sent(sent);
            }
            self.schedule_probe(tx, false);
        }
    }

    /// One segment of new data (tcp_event_new_data_sent).
    fn send_one(&mut self, tx: &mut Transmitter) -> bool {
        self.before_sending(tx);
        let (was_empty, from) = (self.flight.is_empty(), tx.snd_max);
        if !self.keep_deadline(tx, Transmitter::send_new) {
            return false;
        }
        self.note_sent(tx, tx.snd_max - from);
        self.flight.push(tx.snd_max, tx.ticks);
        let index = self.flight.gone() + self.flight.len() - 1;
        self.note_departure(tx, index, was_empty, self.flight.pipe());
        if was_empty || self.pending == Pending::Probe {
            self.rearm_rto(tx);
        }
        true
    }
}

#[cfg(test)]
mod bursts_tests;

#[cfg(test)]
mod exchange_tests;

#[cfg(test)]
mod pace_tests;
