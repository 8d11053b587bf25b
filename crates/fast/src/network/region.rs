//! A region of a network: what leaves it, what comes to it, and how far it may act in a turn.

use super::Network;
use crate::burst::fragment::{DueFragment, Part};
use crate::frames::Frame;
use crate::plan::Plan;
use crate::plan::regions::{Border, Regions};
use crate::port::Slot;
use crate::tuning::Tuning;
use crate::turns::{Edge, Region};
use skycell_des::Key;
use skycell_records::Traces;
use skycell_reference::Cell;
use skycell_spec::{NetworkSpec, Proxy};
use skycell_tcp::SackBlocks;
use skycell_traffic::{Letter, Users, rank};
use skycell_units::{FrameId, InputId, PortVc, SimTime};
use std::collections::HashMap;
use std::sync::Arc;

/// Units moved after which a turn ends early.
const MOST_UNITS: u64 = 1 << 20;

/// A frame that another region has made.
#[derive(Debug)]
struct Foreign {
    frame: Frame,
    sack: Option<Box<SackBlocks>>,
    serial: u64,
    /// Of an answer of a source: when what it answers was sent.
    since: Option<SimTime>,
}

/// A whole frame that comes to the end of its VC.
#[derive(Debug)]
struct AtEnd {
    at: SimTime,
    link: u32,
    frame: Foreign,
    /// True if it may be accepted before its time.
    at_once: bool,
}

/// A frame, or a part of one, that comes to a port at which it may wait.
#[derive(Debug)]
struct AtPort {
    port: u32,
    arrival: Arrival,
    /// None if a part of it came before.
    frame: Option<Foreign>,
    /// True if the payload of one of its cells has got bit errors so far.
    is_errored: bool,
}

/// What comes to the port.
#[derive(Debug)]
enum Arrival {
    Fragment(InputId, DueFragment),
    /// To a stepped port from another, with its place on the link.
    Unit(Key, Box<Cell>, SimTime),
}

impl AtPort {
    /// When its first cell comes.
    fn head(&self) -> SimTime {
        match &self.arrival {
            Arrival::Fragment(_, fragment) => fragment.head,
            Arrival::Unit(key, ..) => key.time(),
        }
    }
}

/// What crosses a border in a turn, in order for each link.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    arriving: Vec<AtEnd>,
    due: Vec<AtPort>,
    /// Of users to servers, and back.
    letters: Vec<Letter>,
}

/// Which region this is, and what it sends.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) id: u32,
    pub(super) regions: Arc<Regions>,
    /// Regions to which it sends: over which border, and what is to leave.
    readers: Vec<(u32, Border, Batch)>,
    /// What may cross in a turn, what has crossed in this one, and in all.
    most_crossings: usize,
    crossings: usize,
    crossed: u64,
    /// All that comes before has happened.
    acted: SimTime,
    /// By port at which units may wait and index of a VC there: the frame of which a part came from another region that
    /// was not its last.
    open: HashMap<(u32, PortVc), FrameId>,
    /// Events that wrote rows of traces, each with the rows up to its end.
    pub(super) history: Vec<(Key, [usize; Traces::KINDS])>,
}

impl Here {
    /// What a frame that leaves is put into.
    fn batch_of_frame(&mut self, to: u32) -> &mut Batch {
        self.crossings += 1;
        self.crossed += 1;
        self.batch(to)
    }

    fn batch(&mut self, to: u32) -> &mut Batch {
        let reader = self.readers.iter_mut().find(|reader| reader.0 == to);
        &mut reader.expect("the border is known").2
    }

    /// Those ends of users that are in the region.
    pub(super) fn users(&self, spec: &NetworkSpec) -> Option<Users> {
        Users::in_region(spec, self.id, self.regions.of_users(spec))
    }

    /// Returns whether all has left that comes to another region before `end`.
    pub(super) fn has_given_all(&self, end: SimTime) -> bool {
        let mut left = self.readers.iter().flat_map(|reader| &reader.2.due);
        left.all(|due| due.head() >= end)
    }

    /// Returns whether a node is in the region.
    pub(super) fn has(&self, node: u32) -> bool {
        self.regions.of_node[node as usize] == self.id
    }
}

impl<'a> Network<'a> {
    /// The regions of a network by the map `wanted` from nodes, as far as it may be divided.
    pub(crate) fn regions(
        (spec, proxies, plan): (&'a NetworkSpec, &[Proxy], &Plan),
        tuning: &Tuning,
        wanted: &[u32],
    ) -> (Vec<Self>, Vec<Edge>) {
        let regions = Arc::new(Regions::new(spec, plan, wanted));
        let borders = regions.borders(spec, plan);
        let edges = Regions::edges(&borders);
        let region = |id: u32| {
            let own = borders.iter().filter(|border| border.0.0 == id);
            let here = Here {
                id,
                regions: regions.clone(),
                readers: own
                    .map(|(pair, border)| (pair.1, border.clone(), Batch::default()))
                    .collect(),
                most_crossings: tuning.crossings_at_once,
                crossings: 0,
                crossed: 0,
                acted: SimTime::ZERO,
                open: HashMap::new(),
                history: Vec::new(),
            };
            Network::of_region(spec, proxies, plan.clone(), tuning, Some(Box::new(here)))
        };
        ((0..regions.count()).map(region).collect(), edges)
    }

    /// Leaves only those ends of flows, ports and sources that are in the region.
    pub(super) fn keep_own(&mut self) {
        let Some(here) = &self.here else {
            return;
        };
        let spec = self.spec;
        self.frames.number_from(here.id);
        for (slot, link) in self.ports.slots.iter_mut().zip(&spec.links) {
            if !here.has(link.from) && !matches!(slot, Slot::Pass(_)) {
                *slot = Slot::Elsewhere;
            }
        }
        let slots = &self.ports.slots;
        let is_here = |id: &u32| !matches!(slots[*id as usize], Slot::Elsewhere);
        self.waiting.retain(is_here);
        for (flow, ends) in self.flows.iter_mut().zip(&spec.flows) {
            let end = |vc: u32| here.has(spec.vc_source(vc as usize));
            match (end(ends.forward[0]), end(ends.reverse[0])) {
                (true, true) => {}
                (true, false) => flow.keep_source(),
                (false, true) => flow.keep_destination(),
                (false, false) => flow.keep_nothing(),
            }
        }
        let coupled = |slot: &Slot| matches!(slot, Slot::Coupled);
        if !slots.iter().any(coupled) {
            self.coupled = None;
        }
        // What other regions send comes at the limit or later.
        let is_own: Vec<bool> = (0..slots.len() as u32).map(|id| is_here(&id)).collect();
        for &id in &self.waiting {
            let lookahead = self.ports.lookahead_mut(id);
            lookahead.fed_by.retain(|(from, _)| is_own[*from as usize]);
            lookahead.upstream.retain(|from| is_own[*from as usize]);
        }
        self.sources.retain(|(id, ..)| {
            let source = &spec.sources[*id as usize];
            let sink = source.datagram_route.last();
            here.has(spec.vc_source(source.vc as usize))
                || sink.is_some_and(|&vc| here.has(spec.vc_destination(vc as usize)))
        });
        let sampled = spec.records.sampled_ports.iter();
        let mut sampled = sampled.chain(&spec.records.vc_sampled_ports);
        if !sampled.any(|&port| here.has(spec.links[port as usize].from)) {
            self.next_sample = SimTime::NEVER;
        }
    }

    /// Frames that have left the region.
    pub(crate) fn crossed(&self) -> u64 {
        self.here.as_ref().map_or(0, |here| here.crossed)
    }

    /// Returns whether a node is in this region.
    pub(super) fn has(&self, node: u32) -> bool {
        self.here.as_ref().is_none_or(|here| here.has(node))
    }

    /// Returns whether `vc` ends in another region.
    #[inline(always)]
    pub(super) fn leaves(&self, vc: u32) -> bool {
        let here = self.here.as_ref();
        here.is_some_and(|here| here.regions.of_end(vc) != here.id)
    }

    /// The frame, of which the whole or a part leaves.
    fn foreign(&mut self, id: FrameId) -> Foreign {
        let (frame, sack, serial) = self.frames.leaving(id);
        let sack = sack.map(|sack| Box::new(*sack));
        self.frames.forget(id);
        Foreign {
            frame,
            sack,
            serial,
            since: match self.asked_at.is_empty() {
                true => None,
                false => self.asked_at.remove(&id),
            },
        }
    }

    fn adopt(&mut self, from: Foreign) -> FrameId {
        let sack = from.sack.as_deref();
        let id = self
            .frames
            .add_from_elsewhere(from.frame, sack, from.serial);
        if let Some(since) = from.since {
            self.asked_at.insert(id, since);
        }
        id
    }

    /// A whole frame comes at `at` over `link` to the end of its VC, in another region.
    #[cold]
    #[inline(never)]
    pub(super) fn send_to_end(&mut self, at: SimTime, link: u32, id: FrameId, at_once: bool) {
        if at >= self.end {
            return self.frames.forget(id);
        }
        let vc = self.frames.get(id).vc;
        let frame = self.foreign(id);
        let arriving = AtEnd {
            at,
            link,
            frame,
            at_once,
        };
        if let Some(here) = &mut self.here {
            let to = here.regions.of_end(vc);
            here.batch_of_frame(to).arriving.push(arriving);
        }
    }

    /// A frame, or a part of one, comes to a port of another region.
    #[cold]
    #[inline(never)]
    pub(super) fn send_to_port(&mut self, port: u32, input: InputId, fragment: DueFragment) {
        let arrival = Arrival::Fragment(input, fragment);
        self.send_part(port, arrival, fragment.frame, fragment.part);
    }

    /// A unit comes to a stepped port of another region, as that part of its frame.
    #[cold]
    #[inline(never)]
    pub(super) fn send_unit(
        &mut self,
        port: u32,
        key: Key,
        unit: Cell,
        entered: SimTime,
        part: Part,
    ) {
        let arrival = Arrival::Unit(key, Box::new(unit), entered);
        self.send_part(port, arrival, unit.frame, part);
    }

    fn send_part(&mut self, port: u32, arrival: Arrival, id: FrameId, part: Part) {
        let is_new = part.is_new();
        // The reader knows the last frame of the VC alone.
        assert!(is_new || !part.begins(), "the frames of a VC are mixed");
        let is_errored = self.frames.get(id).is_errored();
        let frame = match is_new {
            true => Some(self.foreign(id)),
            false => {
                self.frames.forget(id);
                None
            }
        };
        let due = AtPort {
            port,
            arrival,
            frame,
            is_errored,
        };
        if let Some(here) = &mut self.here {
            let to = here.regions.of_port(self.spec, port);
            here.batch_of_frame(to).due.push(due);
        }
    }

    /// The frame of what comes to the port of the region at the index of a VC there; the last part of it if it `eom`.
    fn frame_of(&mut self, due: &mut AtPort, port_vc: PortVc, eom: bool) -> FrameId {
        let adopted = due.frame.take().map(|frame| self.adopt(frame));
        let here = self.here.as_mut().expect("it is a region");
        let at = (due.port, port_vc);
        let before = here.open.remove(&at);
        let id = match adopted {
            Some(id) => {
                // Of that before no more comes.
                if let Some(before) = before {
                    self.frames.forget(before);
                }
                id
            }
            None => before.expect("a part of the frame came before"),
        };
        if !eom {
            here.open.insert(at, id);
            self.frames.hold(id);
        }
        if due.is_errored {
            self.frames.get_mut(id).set_errored();
        }
        id
    }

    /// What another region has sent comes to a port.
    fn on_foreign_part(&mut self, due: AtPort, acted: SimTime) {
        let mut due = due;
        assert!(due.head() >= acted, "it comes to what has happened");
        match &mut due.arrival {
            &mut Arrival::Fragment(input, fragment) => {
                let (port_vc, eom) = (fragment.port_vc, fragment.part.eom());
                let frame = self.frame_of(&mut due, port_vc, eom);
                let fragment = DueFragment { frame, ..fragment };
                self.push_fragment(due.port, input, fragment);
            }
            Arrival::Unit(key, unit, entered) => {
                let (key, unit, entered) = (*key, **unit, *entered);
                let port_vc = self.ports.stepped(due.port).port_vc(unit.vc);
                let frame = self.frame_of(&mut due, port_vc, unit.eom);
                self.push_unit(due.port, key, Cell { frame, ..unit }, Some(entered));
            }
        }
    }

    /// A letter of a user or a server goes to another region, ahead of what it is about.
    pub(super) fn send_letter(&mut self, to: u32, letter: Letter) {
        let here = self.here.as_mut().expect("users are in regions");
        here.batch(to).letters.push(letter);
    }

    /// A whole frame from another region comes to the end of its VC.
    fn on_foreign(&mut self, arriving: AtEnd) {
        let AtEnd {
            at, link, at_once, ..
        } = arriving;
        let id = self.adopt(arriving.frame);
        let path = *self.vcs.end(self.frames.get(id).vc).1;
        let key = Key::new(at, rank::ARRIVAL, link);
        if at_once && path.arrives_at_once {
            self.arriving.push_back((key, id));
            return self.take_arriving();
        }
        let is_alone = !path.carries_packets
            && (path.receives_at_once || path.is_sender_alone && self.is_next(id, at, link));
        if at_once && is_alone {
            self.current = key;
            return self.on_whole(at, id);
        }
        self.push_delivery(link, at, id);
    }

    /// Notes that the event `key` has written rows of traces, if it has.
    #[inline(always)]
    pub(super) fn note_rows(&mut self, key: Key) {
        if let Some(here) = &mut self.here
            && !self.spec.records.traces.is_empty()
        {
            let rows = self.out.traces.rows();
            let last = here.history.last();
            if last.map_or([0; Traces::KINDS], |last| last.1) != rows {
                here.history.push((key, rows));
            }
        }
    }
}

impl Region for Network<'_> {
    type Batch = Batch;

    fn take(&mut self, _: u32, batch: Batch) {
        let acted = self.here.as_ref().map_or(SimTime::ZERO, |here| here.acted);
        for letter in batch.letters {
            let users = self.users.as_mut().expect("a user writes to its server");
            users.on_letter(letter);
        }
        for due in batch.due {
            self.on_foreign_part(due, acted);
        }
        for arriving in batch.arriving {
            assert!(arriving.at >= acted, "it comes to what has happened");
            self.on_foreign(arriving);
        }
    }

    fn act(&mut self, limit: SimTime) -> (SimTime, u64) {
        self.limit = limit.min(self.end);
        let most = self.moved + MOST_UNITS;
        if let Some(here) = &mut self.here {
            here.crossings = 0;
        }
        while self.advance().is_some() {
            let here = self.here.as_ref();
            let is_full = here.is_some_and(|here| here.crossings >= here.most_crossings);
            if is_full || self.moved >= most {
                break;
            }
        }
        let first = self.first_event().map_or(SimTime::NEVER, Key::time);
        let mut acted = limit.min(first);
        self.limit = acted.min(self.end);
        self.run_ports(self.limit);
        if acted >= self.end {
            acted = SimTime::NEVER;
        }
        if let Some(here) = &mut self.here {
            here.acted = acted;
        }
        (acted, self.moved)
    }

    fn give(&mut self, to: u32) -> (Batch, SimTime) {
        let ports = &self.ports;
        let here = self.here.as_mut().expect("it is a region");
        let reader = here.readers.iter_mut().find(|reader| reader.0 == to);
        let (_, border, batch) = reader.expect("the border is known");
        let direct = border.direct.map(|across| here.acted + across);
        let behind = border.ports.iter();
        let behind = behind.map(|(port, _)| ports.waiting(*port).sends_after());
        let on = border.parts.iter();
        let on = on.map(|(port, across)| ports.lookahead(*port).sends_from + *across);
        let safe = behind.chain(on).chain(direct).min();
        let safe = safe.unwrap_or(SimTime::NEVER);
        (std::mem::take(batch), safe)
    }
}
