//! An uplink in time: whose each slot is, and what becomes of it.

use crate::contention::{Contender, Contention, Feedback};
use crate::controller::{Category, Controller, Request};
use crate::counts::UplinkCounts;
use crate::requests::{RequestCategory, Requester};
use crate::slotted_aloha::{AlohaBackoff, SlottedAloha, SlottedAlohaSpec};
use crate::spec::{AccessSpec, UplinkSpec};
use crate::splitting::Splitting;
use crate::tree::Tree;
use skycell_des::Stream;
use skycell_units::SimTime;
use std::collections::VecDeque;

/// The cells that wait at a terminal when a slot begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Cells.
    pub cells: u32,
    /// When the first of them came.
    pub since: SimTime,
    /// Cells that have come so far.
    pub arrived: u64,
    /// True if its link has no path, or is interrupted: then it sends nothing and asks for nothing.
    pub is_cut_off: bool,
}

impl Waiting {
    /// Cells that it could send in the slot.
    fn sendable(&self) -> u32 {
        if self.is_cut_off { 0 } else { self.cells }
    }
}

/// The terminal that a slot lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Its number on the uplink.
    pub terminal: u32,
    /// Cells that it sends in the slot.
    pub cells: u32,
    /// True if they are lost on the way.
    pub is_lost: bool,
}

/// The owner of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Whoever sends.
    Contention,
    /// Requests of terminals in turn.
    Requests,
    /// A terminal.
    Own(u32),
    Nobody,
}

#[derive(Clone, Copy, Debug, Default)]
struct Terminal {
    /// Since when it contends, if it does.
    contends_since: Option<SimTime>,
    /// When it knew that its last success in contention was one.
    knows_since: SimTime,
    /// The first slot since which it has had a path.
    has_path_since: SimTime,
    /// True if it has sent in contention and does not know the outcome.
    is_waiting: bool,
    requester: Requester,
    /// Cells that had come at its last request.
    arrived: u64,
}

/// A slot of contention that is not known yet.
#[derive(Debug)]
struct Heard {
    known_at: SimTime,
    slot: u64,
    feedback: Feedback,
    senders: Vec<u32>,
}

/// An uplink and the state that its terminals and its controller keep.
#[derive(Debug)]
pub struct Uplink {
    spec: UplinkSpec,
    contention: Option<Box<dyn Contention>>,
    controller: Option<Controller>,
    terminals: Vec<Terminal>,
    errors: Stream,
    /// The slot that comes next, by number, and its place in its frame.
    slot: u64,
    slot_in_frame: usize,
    frame: u64,
    /// Owners of the slots of the current frame.
    frame_slots: Vec<Owner>,
    /// Slots of contention so far.
    contentions: u64,
    heard: VecDeque<Heard>,
    /// Requests on their way: when the grants hold to which they lead.
    requests: VecDeque<(SimTime, u32, Request)>,
    /// Terminal whose turn it is to send a request.
    asks_next: u32,
    counts: UplinkCounts,
    half_time: SimTime,
}

impl Uplink {
    /// The uplink that `spec` describes in a run with `seed` that ends at `end`. Draws of contention come from
    /// `uplink/<name>/contention`, those of what goes wrong from `uplink/<name>/errors`.
    pub fn new(spec: &UplinkSpec, seed: u64, end: SimTime) -> Self {
        let draws = Stream::new(seed, &format!("uplink/{}/contention", spec.name));
        // Slots from one that is sent until it is known, itself included.
        let until_known = 1 + spec.feedback_ps.div_ceil(spec.slot_ps) as u32;
        let terminals = spec.links.len();
        let contention: Option<Box<dyn Contention>> = match &spec.access {
            AccessSpec::SlottedAloha(own) => Some(Box::new(SlottedAloha::new(own, draws))),
            AccessSpec::Tree(own) => Some(Box::new(Tree::new(own, until_known, draws))),
            AccessSpec::Splitting(own) => Some(Box::new(Splitting::new(own, until_known))),
            AccessSpec::Hybrid(own) => {
                let own = SlottedAlohaSpec {
                    backoff: AlohaBackoff::PseudoBayesian,
                    arrivals: own.arrivals,
                    probability: 1.0,
                    max_exponent: 0,
                };
                Some(Box::new(SlottedAloha::new(&own, draws)))
            }
            AccessSpec::FixedAssignment(_) | AccessSpec::Dama(_) => None,
        };
        let all = |slots: u32| vec![slots; terminals];
        let controller = match &spec.access {
            AccessSpec::FixedAssignment(own) => Some((all(own.constant_slots), 1, false)),
            AccessSpec::Dama(own) => {
                Some((all(own.constant_slots), own.rate_timeout, own.free_capacity))
            }
            AccessSpec::Hybrid(_) => Some((all(0), 1, false)),
            _ => None,
        };
        let controller = controller
            .map(|(constant, timeout, gives_free)| Controller::new(&constant, timeout, gives_free));
        Uplink {
            contention,
            controller,
            terminals: vec![Terminal::default(); terminals],
            errors: Stream::new(seed, &format!("uplink/{}/errors", spec.name)),
            slot: 0,
            slot_in_frame: 0,
            frame: 0,
            frame_slots: Vec::new(),
            contentions: 0,
            heard: VecDeque::new(),
            requests: VecDeque::new(),
            asks_next: 0,
            counts: UplinkCounts::default(),
            half_time: SimTime(end.0 / 2),
            spec: spec.clone(),
        }
    }

    /// When the next slot begins.
    pub fn next_slot(&self) -> SimTime {
        SimTime(self.slot * self.spec.slot_ps)
    }

    /// Returns the counters.
    pub fn counts(&self) -> UplinkCounts {
        let given = self.controller.as_ref().map_or([0; 4], |own| own.given);
        let mut counts = self.counts;
        counts.given = given;
        counts
    }

    /// Numbers that a terminal, and the controller, keep.
    pub fn state_sizes(&self) -> (u32, u32) {
        let contends = self.contention.as_ref().map_or(0, |own| own.state_size());
        // Slots asked for, granted, and arrived with the frame of the last request.
        let asks = match self.category() {
            RequestCategory::None => 0,
            RequestCategory::Rate => 3,
            RequestCategory::Volume | RequestCategory::AbsoluteVolume => 2,
        };
        let controls = match &self.spec.access {
            AccessSpec::FixedAssignment(_) => 0,
            _ => self.controller.as_ref().map_or(0, Controller::state_size),
        };
        (contends + asks, controls)
    }

    fn category(&self) -> RequestCategory {
        match &self.spec.access {
            AccessSpec::Dama(own) => own.request,
            AccessSpec::Hybrid(_) => RequestCategory::Volume,
            _ => RequestCategory::None,
        }
    }

    /// The next slot begins, at `now`; `backlog` cells wait at all its terminals, and `waiting` tells what does at one. Who
    /// gets through, if anybody does.
    pub fn on_slot(
        &mut self,
        now: SimTime,
        backlog: u64,
        waiting: impl Fn(u32) -> Waiting,
    ) -> Option<Transmission> {
        self.learn(now);
        if self.slot_in_frame == self.frame_slots.len() {
            self.begin_frame(now);
        }
        let owner = self.frame_slots[self.slot_in_frame];
        self.slot_in_frame += 1;
        self.slot += 1;
        self.counts.slots += 1;
        self.counts.add_backlog(now >= self.half_time, backlog);
        let is_jammed = self.is_jammed(now);
        let sent = match owner {
            Owner::Contention => self.contend(now, waiting, is_jammed),
            Owner::Requests => {
                self.ask(now, waiting, is_jammed);
                None
            }
            Owner::Own(terminal) => self.use_own(now, terminal, waiting, is_jammed),
            Owner::Nobody => {
                self.counts.unassigned += 1;
                None
            }
        };
        if let Some(sent) = sent {
            self.counts.cells += u64::from(sent.cells);
        }
        sent
    }

    /// Processes the feedback of slots that has arrived.
    fn learn(&mut self, now: SimTime) {
        while self
            .heard
            .front()
            .is_some_and(|heard| heard.known_at <= now)
            && let Some(heard) = self.heard.pop_front()
        {
            for &id in &heard.senders {
                let terminal = &mut self.terminals[id as usize];
                terminal.is_waiting = false;
                if heard.feedback == Feedback::Success {
                    terminal.knows_since = heard.known_at;
                }
            }
            if let Some(contention) = &mut self.contention {
                contention.on_feedback(heard.slot, heard.feedback, &heard.senders);
            }
        }
    }

    fn begin_frame(&mut self, now: SimTime) {
        self.slot_in_frame = 0;
        let Some(controller) = &mut self.controller else {
            self.frame_slots = vec![Owner::Contention];
            return;
        };
        while self.requests.front().is_some_and(|next| next.0 <= now)
            && let Some((_, id, request)) = self.requests.pop_front()
        {
            controller.on_request(self.frame, id, request);
        }
        let terminals = self.terminals.len() as u32;
        // Slots of requests, slots that are granted, and slots of contention.
        let (requests, granted, contention) = match &self.spec.access {
            AccessSpec::Dama(own) => (own.request_slots, own.frame_slots - own.request_slots, 0),
            AccessSpec::Hybrid(own) => {
                let contention = own.contention_slots;
                (0, own.frame_slots - contention, contention)
            }
            AccessSpec::FixedAssignment(own) => (0, own.constant_slots * terminals, 0),
            _ => unreachable!("a protocol of contention has no controller"),
        };
        let grants = controller.allocate(self.frame, granted);
        let rest = match self.contention {
            Some(_) => Owner::Contention,
            None => Owner::Nobody,
        };
        self.frame_slots.clear();
        self.frame_slots
            .extend((0..requests).map(|_| Owner::Requests));
        let owners = grants
            .iter()
            .map(|grant| grant.map_or(rest, |(id, _)| Owner::Own(id)));
        self.frame_slots.extend(owners);
        self.frame_slots
            .extend((0..contention).map(|_| Owner::Contention));
        let mut by_terminal = vec![(0, 0); self.terminals.len()];
        for &(id, category) in grants.iter().flatten() {
            let (all, by_volume) = &mut by_terminal[id as usize];
            *all += 1;
            *by_volume += u32::from(category == Category::Volume);
        }
        for (terminal, (all, by_volume)) in self.terminals.iter_mut().zip(by_terminal) {
            terminal.requester.on_frame(all, by_volume);
        }
        self.frame += 1;
    }

    fn contend(
        &mut self,
        now: SimTime,
        waiting: impl Fn(u32) -> Waiting,
        is_jammed: bool,
    ) -> Option<Transmission> {
        let mut contenders = Vec::new();
        for (terminal, id) in self.terminals.iter_mut().zip(0u32..) {
            let own = waiting(id);
            let is_served = terminal.requester.asked + terminal.requester.granted > 0;
            if own.is_cut_off {
                // What waits contends as if it came with the path: intervals of time before then have been served.
                terminal.has_path_since = now + SimTime(self.spec.slot_ps);
            }
            if own.sendable() == 0 || is_served {
                terminal.contends_since = None;
            } else if !terminal.is_waiting {
                let since = own.since.max(terminal.knows_since);
                let since = since.max(terminal.has_path_since);
                let since = *terminal.contends_since.get_or_insert(since);
                contenders.push(Contender {
                    terminal: id,
                    since,
                });
            }
        }
        let slot = self.contentions;
        self.contentions += 1;
        let mut senders = Vec::new();
        let contention = self.contention.as_mut().expect("a slot of contention");
        contention.choose(now, slot, &contenders, &mut senders);
        self.counts.attempts += senders.len() as u64;
        let errors = self.spec.impairments;
        let feedback = match senders.len() {
            _ if is_jammed => Feedback::Collision,
            0 if self.happens(errors.false_collisions) => Feedback::Collision,
            0 => Feedback::Idle,
            1 if self.happens(errors.burst_errors) => Feedback::Collision,
            1 => Feedback::Success,
            _ => Feedback::Collision,
        };
        match (feedback, senders.len()) {
            (Feedback::Idle, _) => self.counts.idle += 1,
            (Feedback::Success, _) => self.counts.successes += 1,
            (Feedback::Collision, 0 | 1) => self.counts.false_collisions += 1,
            (Feedback::Collision, _) => self.counts.collisions += 1,
        }
        for &id in &senders {
            self.terminals[id as usize].is_waiting = true;
        }
        let through = (feedback == Feedback::Success).then(|| senders[0]);
        self.heard.push_back(Heard {
            known_at: SimTime(now.0 + self.spec.slot_ps + self.spec.feedback_ps),
            slot,
            feedback,
            senders,
        });
        let id = through?;
        self.terminals[id as usize].contends_since = None;
        Some(self.send(now, id, waiting(id), false))
    }

    /// A terminal sends what a slot carries, and asks for the rest where a burst may.
    fn send(&mut self, now: SimTime, id: u32, own: Waiting, is_lost: bool) -> Transmission {
        let cells = own.cells.min(self.spec.slot_cells);
        if let AccessSpec::Hybrid(_) = self.spec.access
            && !is_lost
        {
            let rest = Waiting {
                cells: own.cells - cells,
                ..own
            };
            self.request(now, id, rest);
        }
        Transmission {
            terminal: id,
            cells,
            is_lost,
        }
    }

    fn use_own(
        &mut self,
        now: SimTime,
        id: u32,
        waiting: impl Fn(u32) -> Waiting,
        is_jammed: bool,
    ) -> Option<Transmission> {
        let requester = &mut self.terminals[id as usize].requester;
        requester.granted = requester.granted.saturating_sub(1);
        let own = waiting(id);
        if own.sendable() == 0 {
            self.counts.unused += 1;
            return None;
        }
        self.counts.used += 1;
        let is_lost = is_jammed || self.happens(self.spec.impairments.burst_errors);
        self.counts.lost += u64::from(is_lost);
        Some(self.send(now, id, own, is_lost))
    }

    /// A slot of requests: the next terminals ask.
    fn ask(&mut self, now: SimTime, waiting: impl Fn(u32) -> Waiting, is_jammed: bool) {
        self.counts.request_slots += 1;
        let AccessSpec::Dama(spec) = self.spec.access else {
            unreachable!("only DAMA has slots of requests");
        };
        let terminals = self.terminals.len() as u32;
        for _ in 0..spec.requests_per_slot.min(terminals) {
            let id = self.asks_next;
            self.asks_next = (id + 1) % terminals;
            // A request that is lost changes nothing: its terminal asks again at its next turn.
            // Differs: it would know a round trip later.
            let own = waiting(id);
            let is_lost = is_jammed || self.happens(self.spec.impairments.burst_errors);
            if is_lost || own.is_cut_off {
                continue;
            }
            self.request(now, id, own);
        }
    }

    fn request(&mut self, now: SimTime, id: u32, own: Waiting) {
        let category = self.category();
        let slots = |cells: u64| cells.div_ceil(self.spec.slot_cells.into()) as u32;
        let waiting = slots(own.cells.into());
        let terminal = &mut self.terminals[id as usize];
        terminal.requester.arrived = slots(own.arrived - terminal.arrived);
        if let Some(request) = terminal.requester.request(category, self.frame, waiting) {
            terminal.arrived = own.arrived;
            let holds = SimTime(now.0 + self.spec.slot_ps + self.spec.response_ps);
            self.requests.push_back((holds, id, request));
            self.counts.requests += 1;
            let (Request::Volume(slots) | Request::AbsoluteVolume(slots) | Request::Rate(slots)) =
                request;
            self.counts.requested += u64::from(slots);
        }
    }

    fn is_jammed(&mut self, now: SimTime) -> bool {
        let errors = self.spec.impairments;
        let until = match errors.jammed_until_ps {
            0 => SimTime::NEVER,
            at => SimTime(at),
        };
        let is_failing = SimTime(errors.jammed_from_ps) <= now && now < until;
        is_failing && self.happens(errors.jammed)
    }

    /// Returns true with probability `part`; draws nothing if `part` is 0.
    fn happens(&mut self, part: f64) -> bool {
        part > 0.0 && self.errors.unit() <= part
    }
}
