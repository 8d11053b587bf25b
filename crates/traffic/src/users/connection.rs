//! A connection of a user: the client's end and the server's, which share only what travels.

use skycell_apps::{Ask, Part, Server};
use skycell_des::Stream;
use skycell_records::StreamRecord;
use skycell_spec::TcpSpec;
use skycell_tcp::{Receiver, Segment, Sender, TickClock};
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;
use std::sync::Arc;

/// Octets that have not been sent below which a server that writes in parts writes on.
const LOW_WATER: Octets = 32_768;

/// One end's half of a connection.
#[derive(Debug)]
pub(super) struct Half {
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    /// Octets handed over.
    written: Octets,
}

impl Half {
    fn new(
        tcp: &Arc<TcpSpec>,
        receiving: &Arc<TcpSpec>,
        clock: TickClock,
        draws: impl FnOnce() -> Stream,
    ) -> Self {
        Half {
            sender: Sender::new(tcp.clone(), clock, draws),
            receiver: Receiver::new(receiving.clone()),
            written: 0,
        }
    }

    fn write(&mut self, now: SimTime, octets: Octets, out: &mut Vec<Segment>) {
        self.written += octets;
        self.sender.hand_over(now, octets, out);
    }
}

/// The server's end.
#[derive(Debug)]
pub(super) struct ServerEnd {
    pub(super) half: Half,
    pub(super) server: Server,
}

/// A connection from its opening by the client to its close there.
#[derive(Debug)]
pub(super) struct Connection {
    /// Number that its segments carry, from 1 in each slot.
    pub(super) number: u32,
    pub(super) client: Half,
    /// None before the SYN has come, and from the FIN on.
    pub(super) server: Option<ServerEnd>,
    /// True if the server's end has been.
    pub(super) server_was: bool,
    /// True if the client closes it as soon as its requests are acknowledged.
    pub(super) is_closing: bool,
    has_closed: bool,
    in_parts: bool,
    /// Requests that have not come, each with the octet that it ends with.
    asks: VecDeque<(Octets, Ask)>,
    /// Letters of answers that have not come, with the octet that they are pinned to.
    parts: VecDeque<(Octets, u32, Part)>,
}

/// TCP parameters of both ends of a group's connections.
#[derive(Clone, Debug)]
pub(super) struct BothTcp {
    /// Of what clients send.
    pub(super) client: Arc<TcpSpec>,
    /// Of what servers send, whose connection is open with the client's.
    pub(super) server: Arc<TcpSpec>,
}

impl Connection {
    /// The client opens it.
    pub(super) fn open(
        now: SimTime,
        number: u32,
        in_parts: bool,
        tcp: &BothTcp,
        (clock, draws): (TickClock, impl FnOnce() -> Stream),
        up: &mut Vec<Segment>,
    ) -> Self {
        let mut client = Half::new(&tcp.client, &tcp.server, clock, draws);
        client.sender.open(now, number, up);
        Connection {
            number,
            client,
            server: None,
            server_was: false,
            is_closing: false,
            has_closed: false,
            in_parts,
            asks: VecDeque::new(),
            parts: VecDeque::new(),
        }
    }

    /// The client asks for something.
    pub(super) fn ask(&mut self, now: SimTime, octets: Octets, ask: Ask, up: &mut Vec<Segment>) {
        let end = self.client.written + octets;
        self.asks.push_back((end, ask));
        self.client.write(now, octets, up);
    }

    /// The SYN has come to the server.
    pub(super) fn accept(
        &mut self,
        now: SimTime,
        tcp: &BothTcp,
        (clock, draws): (TickClock, impl FnOnce() -> Stream),
    ) {
        let mut half = Half::new(&tcp.server, &tcp.client, clock, draws);
        half.sender.open(now, self.number, &mut Vec::new());
        self.server = Some(ServerEnd {
            half,
            server: Server::new(self.in_parts),
        });
        self.server_was = true;
    }

    /// Requests may have come whole: the server reads them, and writes answers that are ready.
    pub(super) fn serve(&mut self, now: SimTime, down: &mut Vec<Segment>) {
        let Some(ServerEnd { half, server }) = &mut self.server else {
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
                return;
            };
            if written.is_first {
                let first = half.written + 1;
                self.parts.push_back((first, written.stream, Part::First));
            }
            let end = half.written + written.octets;
            self.parts.push_back((end, written.stream, written.part));
            half.write(now, written.octets, down);
        }
    }

    /// Takes the next letter of an answer that the client can read.
    pub(super) fn read(&mut self) -> Option<(u32, Part)> {
        let &(at, stream, part) = self.parts.front()?;
        if at > self.client.receiver.counters().octets_delivered {
            return None;
        }
        self.parts.pop_front();
        Some((stream, part))
    }

    /// Closes it if the client wants that, and all requests are acknowledged; returns whether it is closed.
    pub(super) fn advance_close(&mut self, now: SimTime, up: &mut Vec<Segment>) -> bool {
        let sender = &mut self.client.sender;
        if self.is_closing && !self.has_closed && sender.is_all_acked() {
            self.has_closed = true;
            sender.close(now, up);
        }
        self.has_closed && !sender.is_open()
    }

    /// When a retransmission timer of either end runs out.
    pub(super) fn retransmission_due(&self) -> SimTime {
        let server = self
            .server
            .as_ref()
            .and_then(|end| end.half.sender.deadline());
        earlier(self.client.sender.deadline(), server)
    }

    /// When either end must send an acknowledgement that it holds back.
    pub(super) fn held_ack_due(&self) -> SimTime {
        let server = self
            .server
            .as_ref()
            .and_then(|end| end.half.receiver.deadline());
        earlier(self.client.receiver.deadline(), server)
    }

    /// When the server acts by itself.
    pub(super) fn server_due(&self, now: SimTime) -> SimTime {
        let server = self.server.as_ref();
        server.map_or(SimTime::NEVER, |end| end.server.due(now))
    }
}

fn earlier(a: Option<SimTime>, b: Option<SimTime>) -> SimTime {
    let never = |time: Option<SimTime>| time.unwrap_or(SimTime::NEVER);
    never(a).min(never(b))
}

/// Adds what a sender has sent, and what a receiver of the other end has got, to the account of a direction.
pub(super) fn add_sent(stream: &mut StreamRecord, sender: &Sender) {
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
pub(super) fn add_received(stream: &mut StreamRecord, receiver: &Receiver) {
    let received = receiver.counters();
    stream.octets_delivered += received.octets_delivered;
    stream.octets_received += received.octets_received;
    stream.octets_waiting += receiver.waiting();
    stream.acks_sent += received.acks;
    stream.control_segments += received.controls;
}
