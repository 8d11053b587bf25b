//! A connection of a user: the client's end and the server's, which share only what travels, and the ends at proxies between.

use crate::pep_buffer::{PepBuffer, WindowProbe};
use skycell_apps::{Ask, Part, Server};
use skycell_des::Stream;
use skycell_records::{RelayedRequests, StreamRecord};
use skycell_spec::TcpSpec;
use skycell_tcp::{Receiver, Segment, SegmentKind, Sender, TickClock};
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;
use std::sync::Arc;

/// Octets that have not been sent below which a server that writes in parts writes on.
const LOW_WATER: Octets = 32_768;

/// One end's half of a connection over one section.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// Octets handed over.
    pub(super) written: Octets,
    /// Of a sender to a proxy, whose window may close.
    probe: Option<WindowProbe>,
}

impl Half {
    fn new(
        tcp: &Arc<TcpSpec>,
        receiving: &Arc<TcpSpec>,
        (clock, draws): (TickClock, impl FnOnce() -> Stream),
    ) -> Self {
        Half {
            sender: Sender::new(tcp.clone(), clock, draws),
            receiver: Receiver::new(receiving.clone()),
            written: 0,
            probe: None,
        }
    }

    fn write(&mut self, now: SimTime, octets: Octets, out: &mut Vec<Segment>) {
        self.written += octets;
        self.sender.hand_over(now, octets, out);
    }

    /// Hands over octets up to `end` of the connection before or behind, which have come in order.
    fn write_up_to(&mut self, now: SimTime, end: Octets, out: &mut Vec<Segment>) {
        if end > self.written {
            self.write(now, end - self.written, out);
        }
    }

    fn retransmission_due(&self) -> SimTime {
        let probe = self.probe.map_or(SimTime::NEVER, |probe| probe.due);
        self.sender.deadline().unwrap_or(SimTime::NEVER).min(probe)
    }

    fn held_ack_due(&self) -> SimTime {
        self.receiver.deadline().unwrap_or(SimTime::NEVER)
    }

    /// A time of the sender may have come.
    fn on_retransmission(&mut self, now: SimTime, out: &mut Vec<Segment>) {
        if self.sender.deadline() == Some(now) {
            self.sender.on_timeout(now, out);
        }
        if let Some(probe) = &mut self.probe {
            probe.on_due(now, &mut self.sender, out);
        }
        self.plan_probe(now);
    }

    fn on_held_ack(&mut self, now: SimTime, out: &mut Vec<Segment>) {
        if self.receiver.deadline() == Some(now) {
            self.receiver.on_deadline(out);
        }
    }

    /// Adds what an end that asks, or else answers, has sent and got to accounts: from the servers, and to them.
    pub(super) fn add_to(&self, [forward, reverse]: [&mut StreamRecord; 2], asks: bool) {
        let [sent, received] = if asks {
            [reverse, forward]
        } else {
            [forward, reverse]
        };
        add_sent(sent, &self.sender);
        add_received(received, &self.receiver);
    }

    /// Requests that a proxy passes on by this end.
    pub(super) fn relayed(&self) -> RelayedRequests {
        RelayedRequests {
            octets_accepted: self.written,
            octets_unsent: self.sender.unsent(),
        }
    }

    /// Plans when the sender asks for its window, if that is closed.
    fn plan_probe(&mut self, now: SimTime) {
        if let Some(probe) = &mut self.probe {
            probe.plan(now, &self.sender);
        }
    }
}

/// A connection over one section: the end that opens it, with the user or a proxy, asks; the end with a server or a proxy answers.
#[derive(Debug, Default)]
pub(super) struct Section {
    /// None before it is opened, and once it is closed.
    pub(super) asking: Option<Half>,
    /// None before the SYN has come, and from the FIN on.
    pub(super) answering: Option<Half>,
    /// True if there has been an end that answers.
    pub(super) was_answering: bool,
    /// True if the end that asks closes it as soon as its requests are acknowledged.
    pub(super) is_closing: bool,
    has_closed: bool,
    /// Answers at the proxy where it begins.
    pub(super) buffer: Option<PepBuffer>,
}

impl Section {
    /// Opens it; `buffer` is that of a proxy that asks, and bounds what comes to it.
    pub(super) fn open(
        &mut self,
        now: SimTime,
        number: u32,
        tcp: &BothTcp,
        own: (TickClock, impl FnOnce() -> Stream),
        buffer: Option<Octets>,
        up: &mut Vec<Segment>,
    ) {
        let mut half = Half::new(&tcp.client, &tcp.server, own);
        if let Some(buffer) = buffer {
            half.receiver.set_buffer(buffer);
            half.receiver.open(number);
        }
        half.sender.open(now, number, up);
        self.asking = Some(half);
    }

    /// The SYN has come. The end that answers begins at a proxy with a buffer, and sends to a user or to a proxy that may have no
    /// room.
    pub(super) fn accept(
        &mut self,
        now: SimTime,
        number: u32,
        tcp: &BothTcp,
        own: (TickClock, impl FnOnce() -> Stream),
        (buffer, is_to_proxy): (Option<Octets>, bool),
    ) {
        let mut half = Half::new(&tcp.server, &tcp.client, own);
        if is_to_proxy {
            half.sender.obey_window();
            half.probe = Some(WindowProbe::IDLE);
        }
        half.sender.open(now, number, &mut Vec::new());
        self.answering = Some(half);
        self.was_answering = true;
        self.buffer = buffer.map(PepBuffer::new);
    }

    /// A segment has come to the end that answers.
    pub(super) fn on_segment_at_answering(
        &mut self,
        now: SimTime,
        segment: &Segment,
        down: &mut Vec<Segment>,
    ) {
        if let Some(half) = &mut self.answering {
            match segment.kind {
                SegmentKind::Ack => half.sender.on_segment(now, segment, down),
                _ => half.receiver.on_segment(now, segment, down),
            }
            half.plan_probe(now);
        }
    }

    /// A segment has come to the end that asks.
    pub(super) fn on_segment_at_asking(
        &mut self,
        now: SimTime,
        segment: &Segment,
        up: &mut Vec<Segment>,
    ) {
        if let Some(half) = &mut self.asking {
            match segment.kind {
                SegmentKind::Data | SegmentKind::Probe => {
                    half.receiver.on_segment(now, segment, up);
                }
                _ => half.sender.on_segment(now, segment, up),
            }
        }
    }

    /// A retransmission timer of either end may have run out.
    pub(super) fn on_retransmission(
        &mut self,
        now: SimTime,
        up: &mut Vec<Segment>,
        down: &mut Vec<Segment>,
    ) {
        if let Some(half) = &mut self.asking {
            half.on_retransmission(now, up);
        }
        if let Some(half) = &mut self.answering {
            half.on_retransmission(now, down);
        }
    }

    /// Either end may have to send an acknowledgement that it holds back.
    pub(super) fn on_held_ack(
        &mut self,
        now: SimTime,
        up: &mut Vec<Segment>,
        down: &mut Vec<Segment>,
    ) {
        if let Some(half) = &mut self.asking {
            half.on_held_ack(now, up);
        }
        if let Some(half) = &mut self.answering {
            half.on_held_ack(now, down);
        }
    }

    /// Closes it if that is wanted and all requests are acknowledged; returns whether it is closed.
    pub(super) fn advance_close(&mut self, now: SimTime, up: &mut Vec<Segment>) -> bool {
        let Some(Half { sender, .. }) = &mut self.asking else {
            return false;
        };
        if self.is_closing && !self.has_closed && sender.is_all_acked() {
            self.has_closed = true;
            sender.close(now, up);
        }
        self.has_closed && !sender.is_open()
    }

    fn ends(&self) -> impl Iterator<Item = &Half> {
        self.asking.iter().chain(&self.answering)
    }
}

/// A connection from its opening by the client until all of its sections are closed.
#[derive(Debug)]
pub(super) struct Connection {
    /// Number that its segments carry, from 1 in each slot.
    pub(super) number: u32,
    /// From the server on; one without proxies.
    pub(super) sections: Vec<Section>,
    /// The server's application, while the server's end is there.
    server: Option<Server>,
    /// An older connection of the slot, with sections that are not closed yet.
    pub(super) older: Option<u32>,
    in_parts: bool,
    /// Requests that have not come, each with the octet that it ends with.
    pub(super) asks: VecDeque<(Octets, Ask)>,
    /// Letters of answers that have not come, with the octet that they are pinned to.
    pub(super) parts: VecDeque<(Octets, u32, Part)>,
}

/// TCP parameters of both ends of connections over one section.
#[derive(Clone, Debug)]
pub(super) struct BothTcp {
    /// Of the end that asks.
    pub(super) client: Arc<TcpSpec>,
    /// Of the end that answers, whose connection is open with the other's.
    pub(super) server: Arc<TcpSpec>,
}

impl BothTcp {
    /// Those of one end's.
    pub(super) fn of(tcp: &TcpSpec) -> Self {
        BothTcp {
            client: Arc::new(tcp.clone()),
            server: Arc::new(TcpSpec {
                handshake: false,
                ..tcp.clone()
            }),
        }
    }
}

impl Connection {
    /// One of so many sections, of which none is open.
    pub(super) fn new(number: u32, sections: usize, in_parts: bool, older: Option<u32>) -> Self {
        Connection {
            number,
            sections: (0..sections).map(|_| Section::default()).collect(),
            server: None,
            older,
            in_parts,
            asks: VecDeque::new(),
            parts: VecDeque::new(),
        }
    }

    /// The user's section.
    pub(super) fn last(&mut self) -> &mut Section {
        self.sections
            .last_mut()
            .expect("a connection has a section")
    }

    /// Returns whether all sections are closed.
    pub(super) fn is_closed(&self) -> bool {
        self.sections.iter().all(|section| section.asking.is_none())
    }

    /// The client asks for something.
    pub(super) fn ask(&mut self, now: SimTime, octets: Octets, ask: Ask, up: &mut Vec<Segment>) {
        let client = self.last().asking.as_mut();
        let client = client.expect("a client asks over a connection that is open");
        client.write(now, octets, up);
        let end = client.written;
        self.asks.push_back((end, ask));
    }

    /// The server begins to answer.
    pub(super) fn begin_to_serve(&mut self) {
        self.server = Some(Server::new(self.in_parts));
    }

    /// Requests may have come whole: the server reads them, and writes answers that are ready.
    pub(super) fn serve(&mut self, now: SimTime, down: &mut Vec<Segment>) {
        let (Some(half), Some(server)) = (&mut self.sections[0].answering, &mut self.server) else {
            return;
        };
        if !self.asks.is_empty() {
            let delivered = half.receiver.counters().octets_delivered;
            while let Some(&(end, ask)) = self.asks.front()
                && end <= delivered
            {
                self.asks.pop_front();
                server.on_ask(now, ask);
            }
        }
        let has_room = |sender: &Sender, in_parts: bool| !in_parts || sender.unsent() < LOW_WATER;
        while !server.is_idle() && has_room(&half.sender, server.is_in_parts()) {
            let Some(written) = server.write(now) else {
                break;
            };
            if written.is_first {
                let first = half.written + 1;
                self.parts.push_back((first, written.stream, Part::First));
            }
            let end = half.written + written.octets;
            self.parts.push_back((end, written.stream, written.part));
            half.write(now, written.octets, down);
        }
        half.plan_probe(now);
    }

    /// Takes the next letter of an answer that the client can read.
    pub(super) fn read(&mut self) -> Option<(u32, Part)> {
        let &(at, stream, part) = self.parts.front()?;
        let client = self.last().asking.as_ref()?;
        if at > client.receiver.counters().octets_delivered {
            return None;
        }
        self.parts.pop_front();
        Some((stream, part))
    }

    /// Answers have come to the proxy where section `behind` begins: it sends them there.
    pub(super) fn relay_answers(&mut self, now: SimTime, behind: usize, down: &mut Vec<Segment>) {
        let [before, behind] = &mut self.sections[behind - 1..=behind] else {
            return;
        };
        if let (Some(came), Some(goes), Some(buffer)) =
            (&before.asking, &mut behind.answering, &mut behind.buffer)
        {
            let accepted = came.receiver.accepted();
            buffer.on_accepted(&accepted, goes.sender.counters().octets_acked);
            goes.write_up_to(now, accepted.octets, down);
            goes.plan_probe(now);
        }
    }

    /// A segment from the user has come to the proxy where section `behind` begins: requests go on, and what has been
    /// acknowledged leaves room for answers.
    pub(super) fn relay_requests(&mut self, now: SimTime, behind: usize, up: &mut Vec<Segment>) {
        let [before, behind] = &mut self.sections[behind - 1..=behind] else {
            return;
        };
        if let (Some(goes), Some(came), Some(buffer)) =
            (&mut before.asking, &behind.answering, &behind.buffer)
        {
            goes.write_up_to(now, came.receiver.counters().octets_delivered, up);
            let limit = buffer.limit(came.sender.counters().octets_acked);
            goes.receiver.set_limit(now, limit, up);
        }
    }

    /// Takes the end of a section that answers, which the FIN has come to.
    pub(super) fn take_answering(&mut self, section: usize) -> Option<Half> {
        if section == 0 {
            self.server = None;
        }
        self.sections[section].answering.take()
    }

    fn ends(&self) -> impl Iterator<Item = &Half> {
        self.sections.iter().flat_map(Section::ends)
    }

    /// When a retransmission timer of any end runs out.
    pub(super) fn retransmission_due(&self) -> SimTime {
        let due = self.ends().map(Half::retransmission_due);
        due.min().unwrap_or(SimTime::NEVER)
    }

    /// When any end must send an acknowledgement that it holds back.
    pub(super) fn held_ack_due(&self) -> SimTime {
        let due = self.ends().map(Half::held_ack_due);
        due.min().unwrap_or(SimTime::NEVER)
    }

    /// When the server acts by itself.
    pub(super) fn server_due(&self, now: SimTime) -> SimTime {
        let server = self.server.as_ref();
        server.map_or(SimTime::NEVER, |server| server.due(now))
    }
}

/// Adds what a sender has sent, and what a receiver of the other end has got, to the account of a direction.
fn add_sent(stream: &mut StreamRecord, sender: &Sender) {
    let sent = sender.counters();
    stream.octets_sent += sent.octets_sent;
    stream.octets_retransmitted += sent.octets_retransmitted;
    stream.octets_acked += sent.octets_acked;
    stream.octets_outstanding += sender.outstanding();
    stream.segments_sent += sent.segments_sent;
    stream.segments_retransmitted += sent.segments_retransmitted;
    stream.timeouts += sent.timeouts;
    stream.fast_retransmits += sent.fast_retransmits;
    stream.control_segments += u64::from(sent.controls);
}

/// The same of a receiver.
fn add_received(stream: &mut StreamRecord, receiver: &Receiver) {
    let received = receiver.counters();
    stream.octets_delivered += received.octets_delivered;
    stream.octets_received += received.octets_received;
    stream.octets_waiting += receiver.waiting();
    stream.acks_sent += received.acks;
    stream.control_segments += received.controls;
}
