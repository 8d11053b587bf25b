//! A port that is stepped unit by unit, with the code of `reference`: its queues, its scheduler and its link.
//!
//! It is alone in that: what comes to it in bursts is taken apart here, and what it sends goes on in bursts where it
//! can. Up to its safe time it acts in the order of events, departures before arrivals of one instant.

mod arriving;
mod earliest;

use crate::burst::Burst;
use crate::burst::fragment::NextHop;
use crate::burst::fragment::{DueFragment, Part};
use crate::frames::Frames;
use crate::link::forwarding::Forwarding;
use crate::link::time_varying::EntryOrder;
use crate::plan::route::{least_time, schedule_of};
use crate::port::lookahead::{Lookahead, Waiting};
use crate::tuning::Tuning;
use crate::vcs::Vcs;
use arriving::{Arrivals, ArrivingUnits};
use earliest::Earliest;
use skycell_des::Key;
use skycell_records::{DiscardReason, Discards, LinkLosses, LossReason};
use skycell_reference::{Cell, Port, Verdict};
use skycell_spec::{LinkSpec, ServiceClass};
use skycell_traffic::rank;
use skycell_units::{Ecn, FlowId, InputId, PortVc, SimTime};

/// Where the units of a VC go from the port.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// To the end of the VC.
    End,
    /// To a port that takes bursts.
    Bursts(NextHop),
    /// To another port that is stepped.
    Stepped(u32),
}

/// A VC at the port.
#[derive(Debug)]
pub(crate) struct SteppedVc {
    pub(crate) next: Next,
    /// Units that have come.
    arrived: u64,
    pub(crate) discarded: Discards,
    pub(crate) lost: LinkLosses,
    /// Number of the frame of which a unit went on last.
    forwarded: u64,
}

/// The first unit that a frame loses here, for the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLoss {
    /// Place in the order of events, and among those of one event.
    pub(crate) key: Key,
    pub(crate) entered: Option<SimTime>,
    pub(crate) vc: u32,
    /// Which of the units of its VC that came to the port, from 0.
    pub(crate) nth: u64,
    pub(crate) flow: FlowId,
    pub(crate) reason: DiscardReason,
}

/// A unit that comes to the end of the link, and when.
pub(crate) type Departed = (SimTime, Cell);

/// The port.
#[derive(Debug)]
pub(crate) struct SteppedPort {
    pub(crate) port: Port,
    id: u32,
    end: SimTime,
    /// Least time of a unit.
    least: SimTime,
    earliest: Earliest,
    /// By index at the port.
    pub(crate) vcs: Vec<SteppedVc>,
    /// By input: the link, and the time between two cells of a frame.
    inputs: Vec<(u32, SimTime)>,
    arriving: Arrivals,
    /// When the unit under transmission leaves, if it does.
    departure: Option<SimTime>,
    pub(crate) lookahead: Lookahead,
    /// Forwarding in bursts, if the link is always the same.
    pub(crate) forwarding: Option<Box<Forwarding>>,
    /// By frame: the number of the one whose units went on.
    seen: Vec<u64>,
    /// Which units that come together by the link went first, where it varies and leads to several ports.
    pub(crate) order: Option<EntryOrder>,
    gone: u64,
    /// First losses of frames since they were last taken, in order; none where nobody asks for them.
    pub(crate) losses: Option<Vec<FirstLoss>>,
    /// Units taken one by one.
    pub(crate) stepped: u64,
}

impl SteppedPort {
    /// The port of a link, which has this id, in a run with `seed` that ends at `end`.
    pub(crate) fn new(
        (link, id): (&LinkSpec, u32),
        seed: u64,
        end: SimTime,
        notes_losses: bool,
    ) -> Self {
        SteppedPort {
            port: Port::new(link, seed, end),
            id,
            end,
            least: least_time(link),
            earliest: Earliest::new(link),
            vcs: Vec::new(),
            inputs: Vec::new(),
            arriving: Arrivals::default(),
            departure: None,
            lookahead: Lookahead::default(),
            forwarding: None,
            seen: Vec::new(),
            order: None,
            gone: 0,
            losses: notes_losses.then(Vec::new),
            stepped: 0,
        }
    }

    /// Adds VC `vc` of `class` to the port of `link`.
    pub(crate) fn add_vc(&mut self, vc: u32, class: ServiceClass, link: &LinkSpec) -> PortVc {
        self.vcs.push(SteppedVc {
            next: Next::End,
            arrived: 0,
            discarded: Discards::default(),
            lost: LinkLosses::default(),
            forwarded: 0,
        });
        self.port.add_vc(vc, class, link)
    }

    /// Its inputs: by input the link, and the time between two cells of a frame.
    pub(crate) fn set_inputs(&mut self, inputs: impl Iterator<Item = (u32, SimTime)>) {
        self.inputs = inputs.collect();
    }

    /// All VCs know where they go on from here over `link`.
    pub(crate) fn join(&mut self, link: &LinkSpec, tuning: &Tuning) {
        let next_hop = self
            .vcs
            .iter()
            .zip(PortVc::all())
            .filter_map(|(vc, port_vc)| {
                let Next::Bursts(next_hop) = vc.next else {
                    return None;
                };
                Some((port_vc, next_hop))
            });
        let next_hop: Vec<(PortVc, NextHop)> = next_hop.collect();
        if schedule_of(link).is_none() && !next_hop.is_empty() {
            let mut forwarding = Forwarding::new(link.cell_time_ps, self.vcs.len());
            next_hop.iter().for_each(|&(port_vc, next_hop)| {
                let delay = SimTime::ZERO; // times are those of arrival
                forwarding.add(port_vc, NextHop { delay, ..next_hop });
            });
            self.forwarding = Some(Box::new(forwarding));
        } else if !next_hop.is_empty() && self.losses.is_some() {
            self.order = Some(EntryOrder::new(self.vcs.len(), tuning.entries_kept));
        }
    }

    /// The VC with spec id `vc` at the port.
    pub(crate) fn port_vc(&self, vc: u32) -> PortVc {
        let port_vc = self.port.vcs.binary_search_by_key(&vc, |at| at.vc);
        PortVc(port_vc.expect("the VC crosses the port") as u32)
    }

    fn push(&mut self, arriving: ArrivingUnits) {
        debug_assert!(arriving.key.time() >= self.lookahead.local_clock);
        self.arriving.push(arriving);
    }

    /// A frame of `units` units that begin with `unit` is handed over, to be accepted or refused whole, in the event
    /// with that `key`; `entered` tells of those of one event which was first.
    pub(crate) fn push_frame(&mut self, key: Key, unit: Cell, units: u32, entered: SimTime) {
        self.push(ArrivingUnits {
            entered: Some(entered),
            is_whole: true,
            count: units,
            eom: true,
            ..ArrivingUnits::of_unit(key, unit)
        });
    }

    /// A unit comes, in the event with that `key`; `entered` tells of those that do so by one link which was first.
    pub(crate) fn push_unit(&mut self, key: Key, unit: Cell, entered: Option<SimTime>) {
        self.push(ArrivingUnits {
            entered,
            ..ArrivingUnits::of_unit(key, unit)
        });
    }

    /// A burst comes over `input`, of the VC with spec id `vc`; `left_at` is when it left the VC's first port, if it is
    /// one cell.
    pub(crate) fn push_burst(
        &mut self,
        input: InputId,
        fragment: &DueFragment,
        vc: u32,
        left_at: SimTime,
    ) {
        let (link, spacing) = self.inputs[input.index()];
        let unit = Cell {
            rm: None,
            efci: false,
            ack: None,
            frame: fragment.frame,
            index: fragment.nth.into(),
            octets: 0,
            vc,
            port_vc: fragment.port_vc,
            flow: 0,
            hop: 1,
            sky_link: 0,
            eom: false,
            clp: fragment.clp,
            is_paced: false,
            ecn: Ecn::NotEct,
            came_at: fragment.head,
            left_at,
            entry: 0,
        };
        self.push(ArrivingUnits {
            spacing: fragment.spacing(spacing),
            count: fragment.cells.into(),
            eom: fragment.part.eom(),
            ..ArrivingUnits::of_unit(Key::new(fragment.head, rank::ARRIVAL, link), unit)
        });
    }

    /// Executes everything that happens before `limit`, and the departures of that instant.
    pub(crate) fn step(&mut self, limit: SimTime, frames: &mut Frames, vcs: &mut Vcs) {
        loop {
            let arrival = self.arriving.next_time().filter(|&time| time < limit);
            let departure = self.departure.filter(|&time| time < self.end);
            match departure {
                Some(time) if time <= arrival.unwrap_or(limit) => {
                    self.on_departure(time, frames, vcs);
                }
                _ if arrival.is_some() => self.on_arrival(frames, vcs),
                _ => return,
            }
        }
    }

    fn on_departure(&mut self, now: SimTime, frames: &mut Frames, vcs: &mut Vcs) {
        let (cell, _) = self.port.sending();
        if cell.hop == 0 && cell.is_paced {
            frames.get_mut(cell.frame).enqueued_at = now;
        }
        let serial = frames.serial(cell.frame);
        let left = self.port.on_departure(now, serial, Some(self.port.link.to));
        if let Some(frame) = left.errored {
            frames.get_mut(frame).set_errored();
        }
        if let Some((lost, reason)) = left.lost {
            self.lose(lost.port_vc, &lost, reason, frames);
        }
        self.begin_sending(now, frames, vcs);
        self.settle_discarded(Key::new(now, rank::DEPARTURE, self.id), None, frames);
    }

    /// The unit of the VC at `port_vc` is lost behind the port.
    pub(crate) fn lose(
        &mut self,
        port_vc: PortVc,
        unit: &Cell,
        reason: LossReason,
        frames: &mut Frames,
    ) {
        self.vcs[port_vc.index()].lost.add(reason);
        frames.forget(unit.frame);
    }

    /// The port begins to send its next unit, if it has one. With the first cell of a frame that the VC's adapter sends
    /// goes the decision whether it is tagged.
    fn begin_sending(&mut self, now: SimTime, frames: &mut Frames, vcs: &mut Vcs) {
        self.departure = self.port.begin_sending(now);
        if self.departure.is_none() {
            return;
        }
        let (cell, start) = self.port.sending();
        if cell.hop == 0 && cell.index == 0 {
            let frame = frames.get_mut(cell.frame);
            let edge = &mut vcs.rest[cell.vc as usize].edge;
            if edge.on_sending(start, frame.cells()) {
                frame.tag();
            }
        }
    }

    /// The first unit comes, or the first frame that does so as one.
    fn on_arrival(&mut self, frames: &mut Frames, vcs: &mut Vcs) {
        let first = self.arriving.take();
        let is_end = first.is_whole || first.count == 1;
        if !is_end {
            frames.hold(first.unit.frame);
        }
        let now = first.key.time();
        let mut unit = first.unit;
        let units = if first.is_whole { first.count } else { 1 };
        let port_vc = unit.port_vc;
        debug_assert_eq!(self.port.vcs[port_vc.index()].vc, unit.vc);
        let vc = &mut self.vcs[port_vc.index()];
        let nth = vc.arrived;
        vc.arrived += u64::from(units);
        self.stepped += u64::from(units);
        let was_idle = self.port.queued() == 0;
        unit.came_at = now;
        let verdict = if first.is_whole {
            let of_index = |index| Cell {
                rm: None,
                efci: false,
                index,
                eom: index + 1 == units,
                ..unit
            };
            self.port.on_frame(now, port_vc, units, of_index)
        } else {
            if first.eom && is_end {
                // Whatever was lost before, it is the frame's last.
                unit.eom = true;
                unit.index = frames.get(unit.frame).cells() - 1;
            }
            self.port.on_cell(now, unit, port_vc)
        };
        self.settle_discarded(first.key, first.entered, frames);
        match verdict {
            Verdict::Accepted => {
                (1..units).for_each(|_| frames.hold(unit.frame));
                if was_idle {
                    self.begin_sending(now, frames, vcs);
                    self.settle_discarded(first.key, first.entered, frames);
                }
            }
            Verdict::Discarded {
                reason,
                is_first_loss,
            } => {
                self.vcs[port_vc.index()]
                    .discarded
                    .add(reason, units.into());
                if let Some(losses) = self.losses.as_mut().filter(|_| is_first_loss) {
                    losses.push(FirstLoss {
                        key: first.key,
                        entered: first.entered,
                        vc: unit.vc,
                        nth,
                        flow: frames.get(unit.frame).flow,
                        reason,
                    });
                }
                frames.forget(unit.frame);
            }
        }
    }

    /// Processes the units that the port had accepted and has discarded in the event with that
    /// `key`.
    #[inline(always)]
    fn settle_discarded(&mut self, key: Key, entered: Option<SimTime>, frames: &mut Frames) {
        if !self.port.discarded.is_empty() {
            self.note_discarded(key, entered, frames);
        }
    }

    #[inline(never)] // as it seldom does
    fn note_discarded(&mut self, key: Key, entered: Option<SimTime>, frames: &mut Frames) {
        for (unit, reason) in self.port.discarded.drain(..) {
            let vc = &mut self.vcs[unit.port_vc.index()];
            vc.discarded.add(reason, 1);
            if let Some(losses) = &mut self.losses {
                losses.push(FirstLoss {
                    key,
                    entered,
                    vc: unit.vc,
                    nth: 0,
                    flow: frames.get(unit.frame).flow,
                    reason,
                });
            }
            frames.forget(unit.frame);
        }
    }

    /// All that comes before `limit` has been processed. Takes what arrives before anything else can that is not on the
    /// link yet.
    pub(crate) fn take_gone(&mut self, limit: SimTime, gone: &mut Vec<Departed>) {
        let next = self.departure.unwrap_or(limit + self.least);
        let safe_time = self.earliest.arrival(next);
        let link = &mut self.port.link;
        while let Some(arrival) = link
            .next_arrival()
            .filter(|&at| at < safe_time.min(self.end))
        {
            let (_, unit) = link.take(arrival).expect("it is the next");
            gone.push((arrival, unit));
        }
        let across = self.earliest.least + self.least;
        self.lookahead.advance_clock(limit, safe_time.since(across));
    }

    /// A unit goes on, as the next of its VC: which part it is of the frame with that number.
    pub(crate) fn part_of(&mut self, port_vc: PortVc, unit: &Cell, serial: u64) -> Part {
        let at = unit.frame.index();
        if self.seen.len() <= at {
            self.seen.resize(at + 1, 0);
        }
        let is_new = std::mem::replace(&mut self.seen[at], serial) != serial;
        let vc = &mut self.vcs[port_vc.index()];
        let is_again = std::mem::replace(&mut vc.forwarded, serial) != serial;
        Part::new(is_new, unit.eom).again(is_again && !is_new)
    }

    /// A unit that went on comes at `arrival`, as the next in order of its link: what goes to a port that takes bursts.
    pub(crate) fn burst_of(
        &mut self,
        port_vc: PortVc,
        unit: &Cell,
        arrival: SimTime,
        serial: u64,
    ) -> DueFragment {
        let part = self.part_of(port_vc, unit, serial);
        let fragment = DueFragment::new(arrival, unit.frame, port_vc, 1, unit.clp);
        DueFragment {
            nth: unit.index as u16,
            part,
            ..fragment
        }
    }

    /// Notes the place of a unit that comes to a port in the order of the link; it is told to that port.
    pub(crate) fn note_entry(&mut self, port_vc: PortVc) -> SimTime {
        self.gone += 1;
        if let Some(order) = &mut self.order {
            order.note(port_vc, Burst::new(SimTime(self.gone), SimTime(1), 1));
        }
        SimTime(self.gone)
    }

    /// Units of the VC at `port_vc` that are on the link at the end of the run.
    pub(crate) fn in_transit(&self, port_vc: PortVc) -> u64 {
        let vc = self.port.vcs[port_vc.index()].vc;
        let on_link = self.port.link.cells().filter(|cell| cell.vc == vc);
        on_link.count() as u64
    }
}

impl Waiting for SteppedPort {
    fn lookahead(&self) -> &Lookahead {
        &self.lookahead
    }

    fn acts_at(&self) -> Option<SimTime> {
        let end_lookahead = self.lookahead.end_lookahead;
        let departure = self
            .departure
            .map(|time| time.since(self.least) + end_lookahead);
        let arrival = self.arriving.next_time().map(|time| time + end_lookahead);
        let kept = self.port.link.next_arrival();
        departure.into_iter().chain(arrival).chain(kept).min()
    }

    fn sends_after(&self) -> SimTime {
        self.lookahead.sends_from + self.earliest.least + self.least
    }

    fn entry(&self, vc: u32, nth: u64) -> Option<SimTime> {
        self.order.as_ref()?.entry(self.port_vc(vc), nth)
    }

    fn processed(&self, port_vc: PortVc) -> u64 {
        self.vcs[port_vc.index()].arrived
    }
}
