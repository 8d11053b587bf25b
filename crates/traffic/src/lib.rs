//! A flow: an application, the TCP connections it opens, and what both ends count. Engines carry its
//! segments and wake it when its times come; they know nothing of TCP.

mod cache;
mod cell_source;
mod halves;
mod host_delay;
mod loss_script;
mod packet_trace;
mod pep_buffer;
mod relay;
mod round_trips;
mod shared_tcp;
mod timers;
mod transfers;
mod users;
mod web;

pub use cache::prefetch;
pub use cell_source::{CellSource, SourceCell};
pub use host_delay::HostDelay;
pub use relay::Proxies;
pub use round_trips::RoundTrips;
pub use shared_tcp::SharedTcp;
pub use timers::rank;
pub use users::{Letter, UserSegment, Users, UsersOutbox};

use cache::{LINE, prefetch_line};
use loss_script::ScriptedLosses;
use pep_buffer::WindowProbe;
use relay::Relay;
use skycell_des::Stream;
use skycell_records::{FlowRecord, SequenceEvent, Traces};
use skycell_spec::{FlowSpec, NetworkSpec, StartSpec, TcpSpec, TickPhase, TraceKind, TrafficSpec};
use skycell_tcp::{Receiver, Segment, SegmentKind, Sender, TickClock};
use skycell_units::{Cells, Octets, SimTime};
use std::mem::{offset_of, size_of};
use transfers::Deliveries;
use web::{Web, is_for_requests, is_of_requests};

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
///
/// With thousands of flows none of it is in the cache when a segment comes, so what every segment
/// needs lies together, and the rest elsewhere: of lines of the cache, the first five are the source's, and
/// two more, with the end of the sender between, the destination's.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Flow {
    /// When the application acts next; [`SimTime::NEVER`] while it waits for something else.
    application_due: SimTime,
    at_source: AtSource,
    sender: Sender,
    destination: AtDestination,
    receiver: Receiver,
    // What few flows' segments look at.
    /// The web user, of flows with web traffic.
    web: Option<Box<Web>>,
    application: Box<Application>,
}

/// Lines of the cache that a segment needs which arrives at the source.
const AT_SOURCE: std::ops::Range<usize> = 0..5;
/// The first line of the two that one needs which arrives at the destination.
const AT_DESTINATION: usize = offset_of!(Flow, destination) / LINE;

/// Checks the cache lines described above. The state that every segment needs comes first in a
/// sender and in a receiver.
const _: () = {
    assert!(offset_of!(Flow, sender) == 16);
    assert!(offset_of!(Flow, destination).is_multiple_of(LINE));
    assert!(offset_of!(Flow, receiver) % LINE == 48 && size_of::<Flow>() == 10 * LINE);
};

/// The state of a flow that its segments do not need.
#[derive(Debug)]
struct Application {
    id: u32,
    name: String,
    traffic: TrafficSpec,
    idle_stream: Stream,
    start: SimTime,
    /// Connections opened so far.
    connections: u32,
    connected_since: Option<SimTime>,
    connected: SimTime,
    /// When the connection began to close that does so now.
    closing_since: Option<SimTime>,
    closing: SimTime,
    closings: u64,
    /// When the transfer under way was handed over.
    transfer_since: Option<SimTime>,
    transfers: u64,
    /// Losses that the scenario prescribes.
    losses: Option<Box<ScriptedLosses>>,
    traces_cwnd: bool,
    traces_transfers: bool,
    traces_files: bool,
    /// Transfers whose arrival is traced, which end where this flow or connection does.
    deliveries: Option<Deliveries>,
    /// cwnd and ssthresh last traced.
    traced_window: (f64, f64),
    /// Highest octet of the connection that the sequence trace has seen.
    traced_highest: u64,
    /// The proxy at which a connection of a split flow begins.
    relay: Option<Relay>,
    probe: WindowProbe,
}

/// The state of the flow that the source needs when a segment arrives.
#[derive(Clone, Copy, Debug)]
struct AtSource {
    has_web: bool,
    has_losses: bool,
    has_transfers: bool,
    /// True if a receiver of the flow may hold an acknowledgement back.
    holds_acks: bool,
    traces_sender: bool,
    traces_sequence: bool,
    /// True if it begins at a proxy.
    has_relay: bool,
    /// True if it ends at a proxy, whose window may be closed.
    asks_for_window: bool,
}

/// The destination's notes of each segment that arrives, and the state of the flow that it needs.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct AtDestination {
    /// One-way delays of the segments.
    delay_sum_ps: u128,
    delays: u64,
    delay_min: SimTime,
    delay_max: SimTime,
    has_web: bool,
    /// True if an arrival may set a timer, or continues on another connection.
    has_timers: bool,
    traces_deliveries: bool,
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
    /// The flow `id` of a run with `seed`, whose flows share TCP parameters.
    pub fn new(
        id: u32,
        spec: &FlowSpec,
        shared: &mut SharedTcp,
        seed: u64,
        hosts: Hosts<'_>,
        traces: &[TraceKind],
    ) -> Self {
        let stream = |purpose: &str| Stream::new(seed, &format!("flow/{}/{purpose}", spec.name));
        let start = Flow::start(spec, seed);
        let web = match &spec.traffic {
            TrafficSpec::Web(web) => {
                let tcp = shared.share(spec.tcp.clone());
                let user = Web::new(web, (id, spec), &tcp, seed, hosts.destination);
                Some(Box::new(user))
            }
            TrafficSpec::Persistent | TrafficSpec::Transfers { .. } => None,
        };
        // A web user opens the connection by the first request, and the server has it open then.
        let tcp = shared.share(TcpSpec {
            handshake: spec.tcp.handshake && web.is_none(),
            ..spec.tcp.clone()
        });
        let deliveries = Deliveries::of(id, &spec.traffic);
        let deliveries = deliveries.filter(|_| traces.contains(&TraceKind::Deliveries));
        let destination = AtDestination {
            has_web: web.is_some(),
            traces_deliveries: deliveries.is_some(),
            has_timers: tcp.delayed_ack.is_some() || web.is_some(),
            ..AtDestination::default()
        };
        let losses = ScriptedLosses::new(&spec.loss_script);
        let traces_cwnd = traces.contains(&TraceKind::Cwnd);
        let traces_sequence = traces.contains(&TraceKind::Sequence);
        let at_source = AtSource {
            has_web: web.is_some(),
            has_losses: losses.is_some(),
            has_transfers: matches!(spec.traffic, TrafficSpec::Transfers { .. }),
            holds_acks: tcp.delayed_ack.is_some(),
            traces_sender: traces_cwnd || traces_sequence,
            traces_sequence,
            has_relay: false,
            asks_for_window: false,
        };
        Flow {
            application_due: start,
            at_source,
            sender: Sender::new(tcp.clone(), clock_of(&tcp, seed, hosts.source), || {
                stream("cycle")
            }),
            destination,
            receiver: Receiver::new(tcp),
            web,
            application: Box::new(Application {
                id,
                name: spec.name.clone(),
                traffic: spec.traffic.clone(),
                idle_stream: stream("idle"),
                start,
                connections: 0,
                connected_since: None,
                connected: SimTime::ZERO,
                closing_since: None,
                closing: SimTime::ZERO,
                closings: 0,
                transfer_since: None,
                transfers: 0,
                losses,
                traces_cwnd,
                traces_transfers: traces.contains(&TraceKind::Transfers),
                traces_files: traces.contains(&TraceKind::Files),
                deliveries,
                traced_window: (0.0, 0.0),
                traced_highest: 0,
                relay: None,
                probe: WindowProbe::IDLE,
            }),
        }
    }

    /// When the application of a flow begins, in a run with `seed`.
    pub fn start(spec: &FlowSpec, seed: u64) -> SimTime {
        SimTime(match spec.start {
            StartSpec::At { time_ps } => time_ps,
            StartSpec::Drawn { from_ps, to_ps } => {
                Stream::new(seed, &format!("flow/{}/start", spec.name)).uniform(from_ps, to_ps)
            }
        })
    }

    /// Returns whether its transfers are over, and neither end acts again unless a segment comes to it.
    pub fn is_over(&self) -> bool {
        self.at_source.has_transfers
            && self.application.transfer_since.is_none()
            && self.application_due().is_none()
            && self.retransmission_due().is_none()
            && self.held_ack_due().is_none()
    }

    /// Returns whether a connection of it is open.
    pub fn is_connected(&self) -> bool {
        self.application.connected_since.is_some()
    }

    /// When the application acts next.
    pub fn application_due(&self) -> Option<SimTime> {
        (self.application_due != SimTime::NEVER).then_some(self.application_due)
    }

    /// When a retransmission timer runs out.
    pub fn retransmission_due(&self) -> Option<SimTime> {
        let mut own = self.sender.deadline();
        if self.at_source.asks_for_window && self.application.probe.due != SimTime::NEVER {
            own = earlier(own, Some(self.application.probe.due));
        }
        if !self.at_source.has_web {
            return own;
        }
        let web = self.web.as_ref().and_then(|web| web.retransmission_due());
        earlier(own, web)
    }

    /// When a receiver must send an acknowledgement that it holds back.
    pub fn held_ack_due(&self) -> Option<SimTime> {
        if !self.at_source.holds_acks {
            return None;
        }
        let web = self.web.as_ref().and_then(|web| web.held_ack_due());
        earlier(self.receiver.deadline(), web)
    }

    /// Asks for the lines of the cache that a segment needs which arrives at the destination, or else at
    /// the source.
    pub fn prefetch(&self, is_at_destination: bool) {
        let lines = if is_at_destination {
            AT_DESTINATION..AT_DESTINATION + 2
        } else {
            AT_SOURCE
        };
        for line in lines {
            prefetch_line(&self.application_due.0, line);
        }
    }

    /// Returns whether an arrival at the destination may set a timer there, or continues on another
    /// connection.
    pub fn has_timers_at_destination(&self) -> bool {
        self.destination.has_timers
    }

    /// Octets of the IP packet that `segment` is, from the source or to it.
    pub fn packet(&self, segment: &Segment, is_forward: bool) -> Octets {
        if is_forward {
            self.sender.packet(segment)
        } else {
            self.receiver.packet(segment)
        }
    }

    /// Cells of the frame that carries `segment`, from the source or to it.
    pub fn cells(&self, segment: &Segment, is_forward: bool) -> Cells {
        if is_forward {
            self.sender.cells(segment)
        } else {
            self.receiver.cells(segment)
        }
    }

    /// The application's time has come: it opens a connection, or hands over a transfer.
    pub fn on_application(&mut self, now: SimTime, out: &mut Outbox) {
        self.application_due = SimTime::NEVER;
        if !self.sender.is_open() && !self.at_source.has_relay {
            self.open(now, out);
        }
        let octets = match self.application.traffic {
            TrafficSpec::Persistent => u64::MAX,
            TrafficSpec::Transfers { size_octets, .. } => {
                self.application.transfer_since = Some(now);
                size_octets
            }
            TrafficSpec::Web(_) => {
                let web = self.web.as_mut().expect("the flow has a web user");
                let next = web.on_request_due(now, &mut out.reverse);
                self.application_due = next.unwrap_or(SimTime::NEVER);
                return self.after_sender(now, out);
            }
        };
        self.sender.hand_over(now, octets, &mut out.forward);
        self.after_sender(now, out);
    }

    /// The source opens its next connection.
    fn open(&mut self, now: SimTime, out: &mut Outbox) {
        let application = &mut *self.application;
        let connection = application.connections;
        self.sender.open(now, connection, &mut out.forward);
        application.connections += 1;
        application.connected_since = Some(now);
        application.traced_highest = 0;
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
        if self.at_source.asks_for_window && self.application.probe.due == now {
            let sender = &mut self.sender;
            self.application.probe.on_due(now, sender, &mut out.forward);
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
    #[inline(always)]
    pub fn on_segment_at_source(&mut self, now: SimTime, segment: &Segment, out: &mut Outbox) {
        if self.at_source.has_web && is_of_requests(segment) {
            let web = self.web.as_mut().expect("the flow has a web user");
            web.on_segment_at_server(now, segment, &mut out.forward);
            if self.at_source.asks_for_window && !self.at_source.has_relay && !self.sender.is_open()
            {
                self.open(now, out); // its user, beyond the proxy, has not
            }
            while let Some(octets) = self.web.as_mut().and_then(|web| web.next_answer()) {
                self.sender.hand_over(now, octets, &mut out.forward);
            }
            return self.after_sender(now, out);
        }
        if self.at_source.traces_sequence && segment.kind == SegmentKind::Ack {
            let event = SequenceEvent::Acked as u8;
            let acknowledgement = segment.acknowledgement;
            let trace = &mut out.traces.sequence;
            trace.push(self.application.id, now.0, event, acknowledgement, 0);
        }
        self.sender.on_segment(now, segment, &mut out.forward);
        self.after_sender(now, out);
    }

    /// A segment that the source had handed to its port at `enqueued_at` has arrived.
    #[inline(always)]
    pub fn on_segment_at_destination(
        &mut self,
        now: SimTime,
        segment: &Segment,
        enqueued_at: SimTime,
        out: &mut Outbox,
    ) {
        if self.destination.has_web && is_for_requests(segment) {
            let web = self.web.as_mut().expect("the flow has a web user");
            return web.on_ack_at_client(now, segment, &mut out.reverse);
        }
        if segment.kind == SegmentKind::Data {
            self.destination.add_delay(now - enqueued_at);
        }
        self.receiver.on_segment(now, segment, &mut out.reverse);
        if self.destination.traces_deliveries {
            self.trace_deliveries(now, out);
        }
        if self.destination.has_web {
            let web = self.web.as_mut().expect("the flow has a web user");
            let delivered = self.receiver.counters().octets_delivered;
            let trace = self
                .application
                .traces_files
                .then_some(&mut out.traces.files);
            if let Some(next) = web.on_delivered(now, delivered, trace) {
                self.application_due = next;
            }
        }
    }

    /// Follows every act of the sender: traces, scripted losses, the application.
    #[inline(always)]
    fn after_sender(&mut self, now: SimTime, out: &mut Outbox) {
        if self.at_source.has_transfers {
            self.on_transfer_progress(now, out);
        }
        if self.at_source.has_relay {
            self.advance_relay(now, out);
        }
        if self.at_source.asks_for_window {
            self.application.probe.plan(now, &self.sender);
        }
        if self.at_source.traces_sender {
            self.trace(now, out);
        }
        if self.at_source.has_losses {
            let losses = (self.application)
                .losses
                .as_mut()
                .expect("the flow has prescribed losses");
            losses.apply(self.sender.cwnd(), &mut out.forward);
        }
    }

    fn trace(&mut self, now: SimTime, out: &mut Outbox) {
        let application = &mut *self.application;
        let window = (self.sender.cwnd(), self.sender.ssthresh());
        if application.traces_cwnd && window != application.traced_window {
            application.traced_window = window;
            let trace = &mut out.traces.cwnd;
            trace.push(application.id, now.0, window.0, window.1);
        }
        if self.at_source.traces_sequence {
            for segment in out.forward.iter().filter(|s| s.kind == SegmentKind::Data) {
                let event = if segment.sequence < application.traced_highest {
                    SequenceEvent::Retransmitted
                } else {
                    SequenceEvent::Sent
                };
                application.traced_highest = application.traced_highest.max(segment.end());
                let trace = &mut out.traces.sequence;
                let (start, length) = (segment.sequence, segment.length);
                trace.push(application.id, now.0, event as u8, start, length);
            }
        }
    }

    /// Returns the counters of the flow when the run ends at `end`.
    pub fn record(&self, end: SimTime) -> FlowRecord {
        let sent = self.sender.counters();
        let received = self.receiver.counters();
        let application = &*self.application;
        let open = application
            .connected_since
            .map_or(SimTime::ZERO, |since| end - since);
        FlowRecord {
            name: application.name.clone(),
            start_ps: application.start.0,
            connected_ps: (application.connected + open).0,
            closings: application.closings,
            closing_ps: application.closing.0,
            octets_sent: sent.octets_sent,
            octets_retransmitted: sent.octets_retransmitted,
            octets_acked: sent.octets_acked,
            octets_delivered: received.octets_delivered,
            octets_received: received.octets_received,
            octets_highest: received.octets_highest,
            segments_sent: sent.segments_sent,
            segments_retransmitted: sent.segments_retransmitted,
            segments_lost_by_script: application
                .losses
                .as_ref()
                .map_or(0, |losses| losses.lost()),
            segments_received: received.segments,
            segments_duplicate: received.duplicates,
            acks_sent: received.acks,
            acks_received: sent.acks,
            dup_acks_received: sent.dup_acks,
            timeouts: sent.timeouts,
            fast_retransmits: sent.fast_retransmits,
            undos: self.sender.undos(),
            segments_marked: received.marked,
            ecn_reductions: self.sender.ecn_reductions(),
            control_segments: u64::from(sent.controls) + received.controls,
            octets_outstanding: self.sender.outstanding(),
            octets_waiting: self.receiver.waiting(),
            cwnd_max: sent.cwnd_max,
            transfers: application.transfers,
            delay_mean_ps: self.destination.delay_mean(),
            delay_min_ps: self.destination.delay_min.0,
            delay_max_ps: self.destination.delay_max.0,
            web: self.web.as_ref().map(|web| web.record()),
            pep: self.pep_record(),
            ..FlowRecord::default()
        }
    }
}

/// The earlier of two times that may not be set.
fn earlier<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

impl AtDestination {
    fn add_delay(&mut self, delay: SimTime) {
        self.delay_min = if self.delays == 0 {
            delay
        } else {
            self.delay_min.min(delay)
        };
        self.delay_max = self.delay_max.max(delay);
        self.delay_sum_ps += u128::from(delay.0);
        self.delays += 1;
    }

    fn delay_mean(&self) -> f64 {
        if self.delays == 0 {
            0.0
        } else {
            self.delay_sum_ps as f64 / self.delays as f64
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod web_tests;
