//! A web user and the server: pages of files, each asked for by a request of its own.
//!
//! Source: 98-0876R1 section 5. The connection carries data both ways: answers are the flow's own
//! data, and requests are a stream of their own in the other direction, on the same VCs. Either
//! direction acknowledges by segments without data, at once; none rides on data.

use crate::clock_of;
use skycell_apps::Draw;
use skycell_des::{Discrete, Stream};
use skycell_records::{FileTrace, RelayedRequests, ResponseTimes, StreamRecord, WebRecord};
use skycell_spec::{CountSpec, FlowSpec, OutsideLimits, PageMoment, TcpSpec, WebSpec};
use skycell_tcp::{Receiver, Segment, SegmentKind, Sender};
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;
use std::sync::Arc;

/// A file that the client waits for.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    page: u32,
    page_asked: SimTime,
    asked: SimTime,
    octets: Octets,
    /// Octets of all answers up to its last.
    end: Octets,
    ends_page: bool,
}

/// The requests of one connection, with the user and the server where it has them: at its ends, or beyond proxies.
#[derive(Debug)]
pub(crate) struct Web {
    /// The user, at the end to which the answers go; none where a proxy is there.
    client: Option<Client>,
    /// The server; none where a proxy is there.
    server: Option<Server>,
    sender: Sender,
    receiver: Receiver,
    /// Octets of requests that the proxy at the sender's end has taken over.
    relayed: Option<Octets>,
}

/// What a user asks for, as both ends know it.
#[derive(Debug)]
struct Kinds {
    spec: WebSpec,
    requests_of_page: Discrete,
    /// The class of a file; of those that have an index page before them, without its class.
    class: Discrete,
    size: Discrete,
}

/// The files that a user asks for, one after the other. The user and the server draw them, each for itself, from one
/// stream: a request says which file it is for, and TCP counts octets alone.
#[derive(Clone, Debug)]
struct Files {
    kinds: Arc<Kinds>,
    /// Draws how many requests a page has, and which file each asks for.
    stream: Stream,
    /// Requests of the page under way that are still to come.
    left: u32,
}

/// A user of the web.
#[derive(Debug)]
struct Client {
    /// The flow, for traces.
    flow: u32,
    files: Files,
    /// Draws the time between requests.
    gaps: Stream,
    /// Draws the time between pages.
    intervals: Stream,
    pages: u32,
    page_asked: SimTime,
    requests: u64,
    awaited: VecDeque<Awaited>,
    /// Octets of all files asked for.
    asked_octets: Octets,
    file_times: Vec<u64>,
    page_times: Vec<u64>,
}

/// The server that answers requests.
#[derive(Debug)]
struct Server {
    files: Files,
    answered: u64,
    scheduled: Octets,
}

impl Web {
    /// The user of a flow `id` of a run with `seed`, on the host `client`, and the server.
    pub(crate) fn new(
        web: &WebSpec,
        (id, flow): (u32, &FlowSpec),
        tcp: &Arc<TcpSpec>,
        seed: u64,
        client: &str,
    ) -> Self {
        let stream = |purpose: &str| Stream::new(seed, &format!("flow/{}/{purpose}", flow.name));
        let classes = &web.classes[usize::from(web.index_first)..];
        let files = Files {
            kinds: Arc::new(Kinds {
                spec: web.clone(),
                requests_of_page: count(&web.requests),
                class: Discrete::weighted(classes.iter().map(|class| class.weight)),
                size: count(&web.size),
            }),
            stream: stream("web"),
            left: 0,
        };
        Web {
            client: Some(Client {
                flow: id,
                files: files.clone(),
                gaps: stream("web_gap"),
                intervals: stream("web_interval"),
                pages: 0,
                page_asked: SimTime::ZERO,
                requests: 0,
                awaited: VecDeque::new(),
                asked_octets: 0,
                file_times: Vec::new(),
                page_times: Vec::new(),
            }),
            server: Some(Server {
                files,
                answered: 0,
                scheduled: 0,
            }),
            sender: Sender::new(tcp.clone(), clock_of(tcp, seed, client), || {
                stream("web_cycle")
            }),
            receiver: Receiver::new(tcp.clone()),
            relayed: None,
        }
    }

    /// The user is elsewhere.
    pub(crate) fn leave_user(&mut self) {
        self.client = None;
    }

    /// The server is elsewhere; returns whether the user is here.
    pub(crate) fn leave_server(&mut self) -> bool {
        self.server = None;
        self.client.is_some()
    }

    /// A proxy joins this connection to `behind`, which has the user now.
    pub(crate) fn end_at_proxy(&mut self, behind: &mut Web) {
        behind.client = self.client.take();
        behind.server = None;
        self.relayed = Some(0);
    }

    /// Something has come to the proxy from the connection `behind`, which passes requests on as they are whole in
    /// order.
    pub(crate) fn relay(&mut self, now: SimTime, behind: &Web, to_server: &mut Vec<Segment>) {
        if !self.sender.is_open() {
            self.sender.open(now, 0, to_server);
        }
        let delivered = behind.receiver.counters().octets_delivered;
        let more = delivered - self.relayed.replace(delivered).unwrap_or(0);
        if more > 0 {
            self.sender.hand_over(now, more, to_server);
        }
    }

    /// When the client's retransmission timer runs out.
    pub(crate) fn retransmission_due(&self) -> Option<SimTime> {
        self.sender.deadline()
    }

    /// When the server must send an acknowledgement that it holds back.
    pub(crate) fn held_ack_due(&self) -> Option<SimTime> {
        self.receiver.deadline()
    }

    /// The client's retransmission timer has run out.
    pub(crate) fn on_retransmission(&mut self, now: SimTime, to_server: &mut Vec<Segment>) {
        self.sender.on_timeout(now, to_server);
    }

    /// The server must send the acknowledgement that it holds back.
    pub(crate) fn on_held_ack(&mut self, to_client: &mut Vec<Segment>) {
        self.receiver.on_deadline(to_client);
    }

    /// The client sends its next request; returns when the one after it is due.
    pub(crate) fn on_request_due(
        &mut self,
        now: SimTime,
        to_server: &mut Vec<Segment>,
    ) -> Option<SimTime> {
        let client = self.client.as_mut()?;
        if !self.sender.is_open() {
            self.sender.open(now, 0, to_server);
        }
        client.request(now);
        let octets = client.files.kinds.spec.request_octets;
        self.sender.hand_over(now, octets, to_server);
        client.next_request(now)
    }

    /// A segment of the requests' direction has arrived at the server.
    pub(crate) fn on_segment_at_server(
        &mut self,
        now: SimTime,
        segment: &Segment,
        to_client: &mut Vec<Segment>,
    ) {
        self.receiver.on_segment(now, segment, to_client);
    }

    /// Size of the file that the next request to have arrived asks for; none when all that have
    /// arrived are answered, or where a proxy passes them on. The server takes no time for it.
    pub(crate) fn next_answer(&mut self) -> Option<Octets> {
        let server = self.server.as_mut()?;
        let request = server.files.kinds.spec.request_octets;
        let arrived = self.receiver.counters().octets_delivered / request;
        if server.answered == arrived {
            return None;
        }
        server.answered += 1;
        let (_, octets) = server.files.next();
        server.scheduled += octets;
        Some(octets)
    }

    /// An acknowledgement of requests has arrived at the client.
    pub(crate) fn on_ack_at_client(
        &mut self,
        now: SimTime,
        segment: &Segment,
        to_server: &mut Vec<Segment>,
    ) {
        self.sender.on_segment(now, segment, to_server);
    }

    /// The client has `delivered` octets of answers in order; returns when the next page is asked for
    /// where that waits for the last of them.
    pub(crate) fn on_delivered(
        &mut self,
        now: SimTime,
        delivered: Octets,
        trace: Option<&mut FileTrace>,
    ) -> Option<SimTime> {
        self.client.as_mut()?.on_delivered(now, delivered, trace)
    }

    /// Returns the counters.
    pub(crate) fn record(&self) -> WebRecord {
        let (sent, received) = (self.sender.counters(), self.receiver.counters());
        let of_server = self.server.as_ref();
        let own = WebRecord {
            requests_answered: of_server.map_or(0, |server| server.answered),
            octets_scheduled: of_server.map_or(0, |server| server.scheduled),
            request_stream: StreamRecord {
                octets_sent: sent.octets_sent,
                octets_retransmitted: sent.octets_retransmitted,
                octets_acked: sent.octets_acked,
                octets_outstanding: self.sender.outstanding(),
                octets_delivered: received.octets_delivered,
                octets_received: received.octets_received,
                octets_waiting: self.receiver.waiting(),
                segments_sent: sent.segments_sent,
                segments_retransmitted: sent.segments_retransmitted,
                acks_sent: received.acks,
                timeouts: sent.timeouts,
                fast_retransmits: sent.fast_retransmits,
                control_segments: u64::from(sent.controls) + received.controls,
            },
            relayed: self.relayed.map(|octets_accepted| RelayedRequests {
                octets_accepted,
                octets_unsent: self.sender.unsent(),
            }),
            ..WebRecord::default()
        };
        let Some(client) = &self.client else {
            return own;
        };
        WebRecord {
            pages: u64::from(client.pages),
            requests: client.requests,
            file_response: ResponseTimes::of(client.file_times.clone()),
            page_response: ResponseTimes::of(client.page_times.clone()),
            file_times_ps: client.file_times.clone(),
            page_times_ps: client.page_times.clone(),
            ..own
        }
    }
}

impl Files {
    /// Draws the next file: whether it is the first of a page, and its size.
    fn next(&mut self) -> (bool, Octets) {
        let (kinds, stream) = (&*self.kinds, &mut self.stream);
        let begins_page = self.left == 0;
        if begins_page {
            self.left = draw(&kinds.requests_of_page, &kinds.spec.requests, stream);
        }
        self.left -= 1;
        let class = match (kinds.spec.index_first, begins_page) {
            (true, true) => 0,
            (true, false) => 1 + kinds.class.draw(stream),
            (false, _) => kinds.class.draw(stream),
        };
        let sizes = &kinds.spec.classes[class].sizes_octets;
        (begins_page, sizes[kinds.size.draw(stream)])
    }
}

impl Client {
    /// Asks for the next file.
    fn request(&mut self, now: SimTime) {
        let (begins_page, octets) = self.files.next();
        if begins_page {
            self.pages += 1;
            self.page_asked = now;
        }
        self.requests += 1;
        self.asked_octets += octets;
        self.awaited.push_back(Awaited {
            page: self.pages - 1,
            page_asked: self.page_asked,
            asked: now,
            octets,
            end: self.asked_octets,
            ends_page: self.files.left == 0,
        });
    }

    /// When the request after the one sent now is due.
    fn next_request(&mut self, now: SimTime) -> Option<SimTime> {
        let spec = &self.files.kinds.spec;
        if self.files.left > 0 {
            return Some(now + SimTime(spec.gap.draw(&mut self.gaps)));
        }
        match spec.page_interval_from {
            PageMoment::FirstRequest => self.next_page_after(self.page_asked).map(|at| at.max(now)),
            PageMoment::LastRequest => self.next_page_after(now),
            PageMoment::LastAnswer => None,
        }
    }

    /// When the page after this one is asked for, an interval after `moment`; none after the last.
    fn next_page_after(&mut self, moment: SimTime) -> Option<SimTime> {
        let spec = &self.files.kinds.spec;
        let is_over = spec.pages.is_some_and(|pages| self.pages >= pages);
        (!is_over).then(|| moment + SimTime(spec.page_interval.draw(&mut self.intervals)))
    }

    fn on_delivered(
        &mut self,
        now: SimTime,
        delivered: Octets,
        mut trace: Option<&mut FileTrace>,
    ) -> Option<SimTime> {
        let mut next = None;
        while let Some(&file) = self.awaited.front()
            && file.end <= delivered
        {
            self.awaited.pop_front();
            self.file_times.push((now - file.asked).0);
            if file.ends_page {
                self.page_times.push((now - file.page_asked).0);
                if self.files.kinds.spec.page_interval_from == PageMoment::LastAnswer {
                    next = self.next_page_after(now);
                }
            }
            if let Some(trace) = &mut trace {
                trace.push(self.flow, file.page, file.asked.0, now.0, file.octets);
            }
        }
        next
    }
}

/// Returns whether a segment that arrives at the server belongs to the requests; the rest
/// acknowledges answers.
pub(crate) fn is_of_requests(segment: &Segment) -> bool {
    segment.kind != SegmentKind::Ack
}

/// Returns whether a segment that arrives at the client answers its requests, and is not data for
/// it.
pub(crate) fn is_for_requests(segment: &Segment) -> bool {
    !matches!(segment.kind, SegmentKind::Data | SegmentKind::Probe)
}

pub(crate) fn count(spec: &CountSpec) -> Discrete {
    let clamps = spec.outside == OutsideLimits::Clamp;
    Discrete::poisson(spec.mean, spec.low, spec.high, clamps)
}

pub(crate) fn draw(count: &Discrete, spec: &CountSpec, stream: &mut Stream) -> u32 {
    spec.low + count.draw(stream) as u32
}
