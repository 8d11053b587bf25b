//! A flow: an application, the TCP connections it opens, and what both ends count. Engines carry its
//! segments and wake it when its times come; they know nothing of TCP.

mod cell_source;
mod loss_script;
mod timers;
mod web;

pub use cell_source::{CellSource, SourceCell};
pub use timers::{Timers, rank};

use loss_script::ScriptedLosses;
use skycell_des::Stream;
use skycell_records::{FlowRecord, SequenceEvent, Traces};
use skycell_spec::{
    Distribution, FlowSpec, NetworkSpec, StartSpec, TcpSpec, TickPhase, TraceKind, TrafficSpec,
};
use skycell_tcp::{Receiver, Segment, SegmentKind, Sender, TickClock};
use skycell_units::{Cells, SimTime};
use web::{Draw, Web, is_for_requests, is_of_requests};

/// Segments that a flow wants sent, and the traces it writes while it acts.
#[derive(Debug, Default)]
pub struct Outbox {
    /// From the source to the destination.
    pub forward: Vec<Segment>,
    /// From the destination to the source.
    pub reverse: Vec<Segment>,
    /// Traces of the run.
    pub traces: Traces,
}

/// One flow of the spec.
#[derive(Debug)]
pub struct Flow {
    id: u32,
    name: String,
    tcp: TcpSpec,
    traffic: TrafficSpec,
    idle_stream: Stream,
    sender: Sender,
    receiver: Receiver,
    /// The web user, of flows with web traffic.
    web: Option<Box<Web>>,
    losses: ScriptedLosses,
    start: SimTime,
    /// When the application acts next.
    application_due: Option<SimTime>,
    /// Connections opened so far.
    connections: u32,
    connected_since: Option<SimTime>,
    connected: SimTime,
    /// When the transfer under way was handed over.
    transfer_since: Option<SimTime>,
    transfers: u64,
    delay: DelayStatistics,
    traces_cwnd: bool,
    traces_sequence: bool,
    traces_transfers: bool,
    traces_files: bool,
    /// cwnd and ssthresh last traced.
    traced_window: (f64, f64),
    /// Highest octet of the connection that the sequence trace has seen.
    traced_highest: u64,
}

/// One-way delays of the segments that arrived.
#[derive(Clone, Copy, Debug, Default)]
struct DelayStatistics {
    sum_ps: u128,
    count: u64,
    min: SimTime,
    max: SimTime,
}

/// Names of the hosts at the ends of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Hosts<'a> {
    /// Where data comes from.
    pub source: &'a str,
    /// Where it goes.
    pub destination: &'a str,
}

impl<'a> Hosts<'a> {
    /// The ends of a flow of a valid spec.
    pub fn of(spec: &'a NetworkSpec, flow: &FlowSpec) -> Self {
        let name = |node: u32| spec.nodes[node as usize].name.as_str();
        Hosts {
            source: name(spec.vc_source(flow.forward[0] as usize)),
            destination: name(spec.vc_source(flow.reverse[0] as usize)),
        }
    }
}

/// The clock of `host` in a run with `seed`.
fn clock_of(tcp: &TcpSpec, seed: u64, host: &str) -> TickClock {
    let phase = match tcp.tick_phase {
        TickPhase::At { offset_ps } => offset_ps,
        TickPhase::Drawn => Stream::new(seed, &format!("host/{host}/tick")).uniform(0, tcp.tick_ps),
    };
    TickClock::new(tcp.tick_ps, phase)
}

impl Flow {
    /// The flow `id` of a run with `seed`.
    pub fn new(
        id: u32,
        spec: &FlowSpec,
        seed: u64,
        hosts: Hosts<'_>,
        traces: &[TraceKind],
    ) -> Self {
        let stream = |purpose: &str| Stream::new(seed, &format!("flow/{}/{purpose}", spec.name));
        let start = match spec.start {
            StartSpec::At { time_ps } => time_ps,
            StartSpec::Drawn { from_ps, to_ps } => stream("start").uniform(from_ps, to_ps),
        };
        let web = match &spec.traffic {
            TrafficSpec::Web(web) => Some(Box::new(Web::new(web, spec, seed, hosts.destination))),
            TrafficSpec::Persistent | TrafficSpec::Transfers { .. } => None,
        };
        // A web user opens the connection by the first request, and the server has it open then.
        let tcp = TcpSpec {
            handshake: spec.tcp.handshake && web.is_none(),
            ..spec.tcp.clone()
        };
        Flow {
            id,
            name: spec.name.clone(),
            traffic: spec.traffic.clone(),
            idle_stream: stream("idle"),
            sender: Sender::new(&tcp, clock_of(&tcp, seed, hosts.source)),
            receiver: Receiver::new(&tcp),
            web,
            tcp,
            losses: ScriptedLosses::new(&spec.loss_script),
            start: SimTime(start),
            application_due: Some(SimTime(start)),
            connections: 0,
            connected_since: None,
            connected: SimTime::ZERO,
            transfer_since: None,
            transfers: 0,
            delay: DelayStatistics::default(),
            traces_cwnd: traces.contains(&TraceKind::Cwnd),
            traces_sequence: traces.contains(&TraceKind::Sequence),
            traces_transfers: traces.contains(&TraceKind::Transfers),
            traces_files: traces.contains(&TraceKind::Files),
            traced_window: (0.0, 0.0),
            traced_highest: 0,
        }
    }

    /// When the application acts next.
    pub fn application_due(&self) -> Option<SimTime> {
        self.application_due
    }

    /// When a retransmission timer runs out.
    pub fn retransmission_due(&self) -> Option<SimTime> {
        let web = self.web.as_ref().and_then(|web| web.retransmission_due());
        earlier(self.sender.deadline(), web)
    }

    /// When a receiver must send an acknowledgement that it holds back.
    pub fn held_ack_due(&self) -> Option<SimTime> {
        let web = self.web.as_ref().and_then(|web| web.held_ack_due());
        earlier(self.receiver.deadline(), web)
    }

    /// Cells of the frame that carries `segment`.
    pub fn cells(&self, segment: &Segment) -> Cells {
        segment.cells(&self.tcp)
    }

    /// The application's time has come: it opens a connection, or hands over a transfer.
    pub fn on_application(&mut self, now: SimTime, out: &mut Outbox) {
        self.application_due = None;
        if !self.sender.is_open() {
            self.sender.open(now, self.connections, &mut out.forward);
            self.connections += 1;
            self.connected_since = Some(now);
            self.traced_highest = 0;
        }
        let octets = match self.traffic {
            TrafficSpec::Persistent => u64::MAX,
            TrafficSpec::Transfers { size_octets, .. } => {
                self.transfer_since = Some(now);
                size_octets
            }
            TrafficSpec::Web(_) => {
                let web = self.web.as_mut().expect("the flow has a web user");
                self.application_due = web.on_request_due(now, &mut out.reverse);
                return self.after_sender(now, out);
            }
        };
        self.sender.hand_over(now, octets, &mut out.forward);
        self.after_sender(now, out);
    }

    /// A retransmission timer has run out.
    pub fn on_retransmission(&mut self, now: SimTime, out: &mut Outbox) {
        if self.sender.deadline() == Some(now) {
            self.sender.on_timeout(now, &mut out.forward);
        }
        if let Some(web) = &mut self.web
            && web.retransmission_due() == Some(now)
        {
            web.on_retransmission(now, &mut out.reverse);
        }
        self.after_sender(now, out);
    }

    /// A held acknowledgement must go out.
    pub fn on_held_ack(&mut self, now: SimTime, out: &mut Outbox) {
        if self.receiver.deadline() == Some(now) {
            self.receiver.on_deadline(&mut out.reverse);
        }
        if let Some(web) = &mut self.web
            && web.held_ack_due() == Some(now)
        {
            web.on_held_ack(&mut out.forward);
        }
    }

    /// A segment has arrived at the source.
    pub fn on_segment_at_source(&mut self, now: SimTime, segment: &Segment, out: &mut Outbox) {
        if let Some(web) = &mut self.web
            && is_of_requests(segment)
        {
            web.on_segment_at_server(now, segment, &mut out.forward);
            while let Some(octets) = web.next_answer() {
                self.sender.hand_over(now, octets, &mut out.forward);
            }
            return self.after_sender(now, out);
        }
        if self.traces_sequence && segment.kind == SegmentKind::Ack {
            let event = SequenceEvent::Acked as u8;
            let acknowledgement = segment.acknowledgement;
            let trace = &mut out.traces.sequence;
            trace.push(self.id, now.0, event, acknowledgement, 0);
        }
        self.sender.on_segment(now, segment, &mut out.forward);
        self.after_sender(now, out);
    }

    /// A segment that the source had handed to its port at `handed_at` has arrived.
    pub fn on_segment_at_destination(
        &mut self,
        now: SimTime,
        segment: &Segment,
        handed_at: SimTime,
        out: &mut Outbox,
    ) {
        if let Some(web) = &mut self.web
            && is_for_requests(segment)
        {
            return web.on_ack_at_client(now, segment, &mut out.reverse);
        }
        if segment.kind == SegmentKind::Data {
            self.delay.add(now - handed_at);
        }
        self.receiver.on_segment(now, segment, &mut out.reverse);
        if let Some(web) = &mut self.web {
            let delivered = self.receiver.counters().octets_delivered;
            let trace = self.traces_files.then_some(&mut out.traces.files);
            web.on_delivered(now, delivered, self.id, trace);
        }
    }

    /// What every act of the sender is followed by: traces, scripted losses, the application.
    fn after_sender(&mut self, now: SimTime, out: &mut Outbox) {
        if let TrafficSpec::Transfers { .. } = self.traffic {
            self.on_transfer_progress(now, out);
        }
        let window = (self.sender.cwnd(), self.sender.ssthresh());
        if self.traces_cwnd && window != self.traced_window {
            self.traced_window = window;
            out.traces.cwnd.push(self.id, now.0, window.0, window.1);
        }
        if self.traces_sequence {
            for segment in out.forward.iter().filter(|s| s.kind == SegmentKind::Data) {
                let event = if segment.sequence < self.traced_highest {
                    SequenceEvent::Retransmitted
                } else {
                    SequenceEvent::Sent
                };
                self.traced_highest = self.traced_highest.max(segment.end());
                let trace = &mut out.traces.sequence;
                let (start, length) = (segment.sequence, segment.length);
                trace.push(self.id, now.0, event as u8, start, length);
            }
        }
        self.losses.apply(self.sender.cwnd(), &mut out.forward);
    }

    fn on_transfer_progress(&mut self, now: SimTime, out: &mut Outbox) {
        let TrafficSpec::Transfers {
            size_octets,
            count,
            idle,
            new_connection,
        } = self.traffic
        else {
            return;
        };
        if let Some(since) = self.transfer_since
            && self.sender.is_all_acked()
        {
            self.transfer_since = None;
            self.transfers += 1;
            if self.traces_transfers {
                let trace = &mut out.traces.transfers;
                trace.push(self.id, since.0, now.0, size_octets);
            }
            if new_connection {
                self.sender.close(now, &mut out.forward);
            } else {
                self.plan_next(now, count, idle);
            }
        }
        if !self.sender.is_open()
            && let Some(since) = self.connected_since.take()
        {
            self.connected += now - since;
            self.plan_next(now, count, idle);
        }
    }

    fn plan_next(&mut self, now: SimTime, count: Option<u32>, idle: Distribution) {
        if count.is_none_or(|count| self.transfers < u64::from(count)) {
            let idle = idle.draw(&mut self.idle_stream);
            self.application_due = Some(now + SimTime(idle));
        }
    }

    /// What the flow has counted when the run ends at `end`.
    pub fn record(&self, end: SimTime) -> FlowRecord {
        let sent = self.sender.counters();
        let received = self.receiver.counters();
        let open = self
            .connected_since
            .map_or(SimTime::ZERO, |since| end - since);
        FlowRecord {
            name: self.name.clone(),
            start_ps: self.start.0,
            connected_ps: (self.connected + open).0,
            octets_sent: sent.octets_sent,
            octets_retransmitted: sent.octets_retransmitted,
            octets_acked: sent.octets_acked,
            octets_delivered: received.octets_delivered,
            octets_received: received.octets_received,
            octets_highest: received.octets_highest,
            segments_sent: sent.segments_sent,
            segments_retransmitted: sent.segments_retransmitted,
            segments_lost_by_script: self.losses.lost(),
            segments_received: received.segments,
            segments_duplicate: received.duplicates,
            acks_sent: received.acks,
            acks_received: sent.acks,
            dup_acks_received: sent.dup_acks,
            timeouts: sent.timeouts,
            fast_retransmits: sent.fast_retransmits,
            control_segments: sent.controls + received.controls,
            octets_outstanding: self.sender.outstanding(),
            octets_waiting: self.receiver.waiting(),
            cwnd_max: sent.cwnd_max,
            transfers: self.transfers,
            delay_mean_ps: self.delay.mean(),
            delay_min_ps: self.delay.min.0,
            delay_max_ps: self.delay.max.0,
            web: self.web.as_ref().map(|web| web.record()),
        }
    }
}

/// The earlier of two times that may not be set.
fn earlier(a: Option<SimTime>, b: Option<SimTime>) -> Option<SimTime> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl DelayStatistics {
    fn add(&mut self, delay: SimTime) {
        self.min = if self.count == 0 {
            delay
        } else {
            self.min.min(delay)
        };
        self.max = self.max.max(delay);
        self.sum_ps += u128::from(delay.0);
        self.count += 1;
    }

    fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum_ps as f64 / self.count as f64
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod web_tests;
