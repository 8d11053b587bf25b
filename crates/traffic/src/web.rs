//! A web user and the server: pages of files, each asked for by a request of its own.
//!
//! Source: 98-0876R1 section 5. The connection carries data both ways: answers are the flow's own
//! data, and requests are a stream of their own in the other direction, on the same VCs. Either
//! direction acknowledges by segments without data, at once; none rides on data.

use crate::clock_of;
use skycell_des::{Discrete, Stream};
use skycell_records::{FileTrace, ResponseTimes, StreamRecord, WebRecord};
use skycell_spec::{
    CountSpec, DistributionSpec, FlowSpec, OutsideLimits, PageMoment, TcpSpec, WebSpec,
};
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

/// Client and server of one flow.
#[derive(Debug)]
pub(crate) struct Web {
    spec: WebSpec,
    /// Draws how many requests a page has, and which file each asks for.
    files: Stream,
    /// Draws the time between requests.
    gaps: Stream,
    /// Draws the time between pages.
    intervals: Stream,
    requests_of_page: Discrete,
    class: Discrete,
    size: Discrete,
    sender: Sender,
    receiver: Receiver,
    pages: u32,
    page_asked: SimTime,
    /// Requests of the page under way that are still to come.
    left: u32,
    requests: u64,
    /// Sizes of the files whose requests have not arrived at the server.
    unanswered: VecDeque<Octets>,
    answered: u64,
    scheduled: Octets,
    awaited: VecDeque<Awaited>,
    /// Octets of all files asked for.
    asked_octets: Octets,
    file_times: Vec<u64>,
    page_times: Vec<u64>,
}

impl Web {
    /// The user of a flow of a run with `seed`, on the host `client`.
    pub(crate) fn new(
        web: &WebSpec,
        flow: &FlowSpec,
        tcp: &Arc<TcpSpec>,
        seed: u64,
        client: &str,
    ) -> Self {
        let stream = |purpose: &str| Stream::new(seed, &format!("flow/{}/{purpose}", flow.name));
        Web {
            spec: web.clone(),
            files: stream("web"),
            gaps: stream("web_gap"),
            intervals: stream("web_interval"),
            requests_of_page: count(&web.requests),
            class: Discrete::weighted(web.classes.iter().map(|class| class.weight)),
            size: count(&web.size),
            sender: Sender::new(tcp.clone(), clock_of(tcp, seed, client), || {
                stream("web_cycle")
            }),
            receiver: Receiver::new(tcp.clone()),
            pages: 0,
            page_asked: SimTime::ZERO,
            left: 0,
            requests: 0,
            unanswered: VecDeque::new(),
            answered: 0,
            scheduled: 0,
            awaited: VecDeque::new(),
            asked_octets: 0,
            file_times: Vec::new(),
            page_times: Vec::new(),
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
        if !self.sender.is_open() {
            self.sender.open(now, 0, to_server);
        }
        if self.left == 0 {
            self.pages += 1;
            self.page_asked = now;
            self.left = draw(&self.requests_of_page, &self.spec.requests, &mut self.files);
        }
        self.left -= 1;
        self.request(now);
        self.sender
            .hand_over(now, self.spec.request_octets, to_server);
        if self.left > 0 {
            return Some(now + SimTime(self.spec.gap.draw(&mut self.gaps)));
        }
        match self.spec.page_interval_from {
            PageMoment::FirstRequest => self.next_page_after(self.page_asked).map(|at| at.max(now)),
            PageMoment::LastRequest => self.next_page_after(now),
            PageMoment::LastAnswer => None,
        }
    }

    /// When the page after this one is asked for, an interval after `moment`; none after the last.
    fn next_page_after(&mut self, moment: SimTime) -> Option<SimTime> {
        let is_over = self.spec.pages.is_some_and(|pages| self.pages >= pages);
        (!is_over).then(|| moment + SimTime(self.spec.page_interval.draw(&mut self.intervals)))
    }

    /// Draws the file that the client asks for.
    fn request(&mut self, now: SimTime) {
        let class = self.class.draw(&mut self.files);
        let octets = self.spec.classes[class].sizes_octets[self.size.draw(&mut self.files)];
        self.requests += 1;
        self.asked_octets += octets;
        self.unanswered.push_back(octets);
        self.awaited.push_back(Awaited {
            page: self.pages - 1,
            page_asked: self.page_asked,
            asked: now,
            octets,
            end: self.asked_octets,
            ends_page: self.left == 0,
        });
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
    /// arrived are answered. The server takes no time for it.
    pub(crate) fn next_answer(&mut self) -> Option<Octets> {
        let arrived = self.receiver.counters().octets_delivered / self.spec.request_octets;
        if self.answered == arrived {
            return None;
        }
        self.answered += 1;
        let octets = self.unanswered.pop_front();
        let octets = octets.expect("a request that arrives was sent");
        self.scheduled += octets;
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
        flow: u32,
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
                if self.spec.page_interval_from == PageMoment::LastAnswer {
                    next = self.next_page_after(now);
                }
            }
            if let Some(trace) = &mut trace {
                trace.push(flow, file.page, file.asked.0, now.0, file.octets);
            }
        }
        next
    }

    /// What was counted.
    pub(crate) fn record(&self) -> WebRecord {
        let (sent, received) = (self.sender.counters(), self.receiver.counters());
        WebRecord {
            pages: u64::from(self.pages),
            requests: self.requests,
            requests_answered: self.answered,
            octets_scheduled: self.scheduled,
            file_response: ResponseTimes::of(self.file_times.clone()),
            page_response: ResponseTimes::of(self.page_times.clone()),
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
            file_times_ps: self.file_times.clone(),
            page_times_ps: self.page_times.clone(),
        }
    }
}

/// Whether a segment that arrives at the server belongs to the requests; the rest acknowledges
/// answers.
pub(crate) fn is_of_requests(segment: &Segment) -> bool {
    segment.kind != SegmentKind::Ack
}

/// Whether a segment that arrives at the client answers to its requests, not to its need of data.
pub(crate) fn is_for_requests(segment: &Segment) -> bool {
    segment.kind != SegmentKind::Data
}

pub(crate) fn count(spec: &CountSpec) -> Discrete {
    let clamps = spec.outside == OutsideLimits::Clamp;
    Discrete::poisson(spec.mean, spec.low, spec.high, clamps)
}

pub(crate) fn draw(count: &Discrete, spec: &CountSpec, stream: &mut Stream) -> u32 {
    spec.low + count.draw(stream) as u32
}

/// A draw from a distribution of times, picoseconds.
pub(crate) trait Draw {
    /// One time.
    fn draw(&self, stream: &mut Stream) -> u64;
}

impl Draw for DistributionSpec {
    fn draw(&self, stream: &mut Stream) -> u64 {
        match *self {
            DistributionSpec::Constant { value_ps } => value_ps,
            DistributionSpec::Uniform { low_ps, high_ps } => stream.uniform(low_ps, high_ps),
            DistributionSpec::Exponential { mean_ps } => stream.exponential(mean_ps),
        }
    }
}
