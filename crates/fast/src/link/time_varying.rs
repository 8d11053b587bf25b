//! Links whose delay changes: which way cells take, when they come, and which of them are lost.
//!
//! A cell takes the delay of the step in which it enters, and on one path waits for the one ahead of it. So of the
//! cells of a burst that enter in one step the first ones may come together, with the last cell of an earlier
//! step, and the others come as far apart as they entered. After a handover to a shorter path cells overtake those on
//! the old one: what comes by the old path is kept here until all is known that comes before it.

mod fragment;
mod order;
mod steps;

use crate::burst::Burst;
use crate::burst::fragment::NextHop;
use crate::burst::fragment::{DueFragment, Part};
use crate::frames::Frames;
use crate::plan::route::schedule_of;
use fragment::Fragment;
pub(crate) use order::EntryOrder;
use skycell_des::Stream;
use skycell_spec::{LinkSpec, ScheduleSpec, WHOLE_PPB};
use skycell_units::{FrameId, InputId, PortVc, SimTime};
use std::collections::BTreeMap;
use steps::Steps;

/// Returns the loss of the link in each step; empty if it loses nothing.
fn losses_ppb(link: &LinkSpec, schedule: &ScheduleSpec) -> Vec<u32> {
    match link.loss_ppb {
        0 => schedule.losses_ppb.clone(),
        constant => vec![constant; schedule.times_ps.len()],
    }
}

/// A VC that goes over the link.
#[derive(Clone, Debug, Default)]
struct TimeVaryingVc {
    group: u32,
    /// Place at the port that the group goes on to.
    next_port_vc: PortVc,
    /// True if the frame whose cells entered last is lost.
    is_lost: bool,
    /// Of which frame cells were sent on last.
    sent: Option<FrameId>,
    /// Before the end of the run: cells that come to the next port, that entered and were lost as drawn, and by
    /// handovers.
    arrived: u64,
    drawn: u64,
    handover_lost: u64,
}

/// The VCs that go on to one port.
#[derive(Debug)]
struct Group {
    port: u32,
    input: InputId,
    vcs: u32,
    /// When the last of all cells comes that have entered.
    latest: u64,
    /// Fragments that have not been forwarded, by time of arrival and of entry.
    kept: BTreeMap<(u64, u64), Fragment>,
    /// True if some of them may be several cells at once.
    keeps_several: bool,
}

/// A time-varying link, behind a port from which cells leave as they came.
#[derive(Debug)]
pub(crate) struct TimeVaryingLink {
    steps: Steps,
    losses_ppb: Vec<u32>,
    loses_at_handover: bool,
    draws: Stream,
    cell_time: SimTime,
    end: u64,
    /// The step in which the last cell entered, and when it comes, or would if it is lost.
    step: usize,
    last_arrival: u64,
    /// By index at the port before it.
    vcs: Vec<TimeVaryingVc>,
    groups: Vec<Group>,
    /// Fragments that have entered since the last call of `carry`, by index at the port before it:
    /// times are of entry.
    entered: Vec<(PortVc, DueFragment)>,
    /// The steps in which that entered, in order. Before which time none of it comes: with the last cell on the path
    /// before the step.
    entered_in: Vec<(usize, u64)>,
    /// Up to when all is known that comes by the link.
    safe_time: u64,
    /// Arrivals at each port, with their input.
    arrivals: Vec<(u32, InputId, DueFragment)>,
    /// By frame: whether it entered, and none of its cells has been sent on.
    is_new: Vec<bool>,
    /// Where somebody asks which of the cells that come together entered first, and they may come to several ports.
    order: Option<EntryOrder>,
    notes_order: Option<usize>,
}

impl TimeVaryingLink {
    /// The link, whose port `vcs` VCs cross, if it moves. If it
    /// `notes_order`, `entry` is asked, and so many more are kept as [`crate::tuning::Tuning::entries_kept`] says.
    pub(crate) fn new(
        link: &LinkSpec,
        seed: u64,
        vcs: usize,
        end: SimTime,
        notes_order: Option<usize>,
    ) -> Option<Self> {
        let schedule = schedule_of(link)?;
        Some(TimeVaryingLink {
            steps: Steps::new(schedule, link.delay_ps, end),
            losses_ppb: losses_ppb(link, schedule),
            loses_at_handover: schedule.handover_loses_cells,
            draws: Stream::new(seed, &format!("link/{}/loss", link.name)),
            cell_time: SimTime(link.cell_time_ps),
            end: end.0,
            step: 0,
            last_arrival: 0,
            vcs: vec![TimeVaryingVc::default(); vcs],
            groups: Vec::new(),
            entered: Vec::new(),
            entered_in: Vec::new(),
            safe_time: 0,
            arrivals: Vec::new(),
            is_new: Vec::new(),
            order: None,
            notes_order,
        })
    }

    /// Forwards the VC at `port_vc`.
    pub(crate) fn add(&mut self, port_vc: PortVc, next_hop: NextHop) {
        let is_same = |group: &Group| (group.port, group.input) == (next_hop.port, next_hop.input);
        let group = self.groups.iter().position(is_same).unwrap_or_else(|| {
            self.groups.push(Group {
                port: next_hop.port,
                input: next_hop.input,
                vcs: 0,
                latest: 0,
                kept: BTreeMap::new(),
                keeps_several: false,
            });
            self.groups.len() - 1
        });
        self.groups[group].vcs += 1;
        let vcs = self.vcs.len();
        let vc = &mut self.vcs[port_vc.index()];
        (vc.group, vc.next_port_vc) = (group as u32, next_hop.port_vc);
        if let Some(kept) = self.notes_order.filter(|_| group > 0) {
            self.order.get_or_insert_with(|| EntryOrder::new(vcs, kept));
        }
    }

    /// Cells of the VC at `port_vc` enter.
    pub(crate) fn enter(&mut self, port_vc: PortVc, fragment: DueFragment) {
        self.entered.push((port_vc, fragment));
    }

    /// Carries what has entered. All else enters after it, at `unknown` or later.
    pub(crate) fn carry(&mut self, unknown: SimTime, frames: &mut Frames) {
        let mut entered = std::mem::take(&mut self.entered);
        entered.sort_unstable_by_key(|(_, fragment)| fragment.head);
        self.note_steps(&entered);
        self.safe_time = self.safe_time_before(unknown.0);
        for (port_vc, fragment) in entered.drain(..) {
            self.draw(port_vc, &fragment);
            self.carry_part(port_vc, &fragment, frames);
        }
        self.entered = entered;
        for group in 0..self.groups.len() {
            self.send_kept(group, frames);
        }
    }

    /// Notes the steps in which the parts enter, and moves on to the last.
    fn note_steps(&mut self, entered: &[(PortVc, DueFragment)]) {
        let mut steps = std::mem::take(&mut self.entered_in);
        steps.clear();
        for (_, fragment) in entered {
            let mut left = fragment.burst(self.cell_time);
            while left.count > 0 {
                let (step, count) = self.steps.entering(left, self.step);
                let entering;
                (entering, left) = left.split(count);
                let last = entering.last().0;
                match steps.binary_search_by_key(&step, |(step, _)| *step) {
                    Ok(at) => steps[at].1 = last.max(steps[at].1),
                    Err(at) => steps.insert(at, (step, last)),
                }
            }
        }
        for (step, time) in &mut steps {
            if self.steps.path[*step] != self.steps.path[self.step] {
                self.last_arrival = 0;
            }
            self.step = *step;
            let arrival = *time + self.steps.delays[*step];
            *time = self.last_arrival;
            self.last_arrival = self.last_arrival.max(arrival);
        }
        self.entered_in = steps;
    }

    /// Up to when all that comes by the link is known, where all else enters at `unknown` or later.
    fn safe_time_before(&self, unknown: u64) -> u64 {
        let step = self.steps.at(unknown, self.step);
        let is_same = self.steps.path[step] == self.steps.path[self.step];
        let on_path = if is_same { self.last_arrival } else { 0 };
        on_path
            .max(unknown + self.steps.least)
            .min(self.steps.later[step])
    }

    /// Cells enter: with the first of a frame, or the first after another's, is decided whether it is lost.
    fn draw(&mut self, port_vc: PortVc, fragment: &DueFragment) {
        let vc = &mut self.vcs[port_vc.index()];
        if fragment.part.begins() {
            let step = self.steps.at(fragment.head.0, self.step);
            let loss_ppb = self.losses_ppb.get(step).copied().map(u64::from);
            let mut drawn = || self.draws.uniform(0, u64::from(WHOLE_PPB));
            vc.is_lost = loss_ppb.is_some_and(|loss_ppb| drawn() < loss_ppb);
        }
        if fragment.part.is_new() {
            let at = fragment.frame.index();
            if self.is_new.len() <= at {
                self.is_new.resize(at + 1, false);
            }
            self.is_new[at] = true;
        }
    }

    /// Carries cells of one frame, step by step.
    fn carry_part(&mut self, port_vc: PortVc, fragment: &DueFragment, frames: &mut Frames) {
        let entries = fragment.burst(self.cell_time);
        let vc = &mut self.vcs[port_vc.index()];
        if vc.is_lost {
            vc.drawn += entries.count_before(SimTime(self.end));
            return;
        }
        let mut left = Fragment {
            arrivals: entries,
            entry: entries.first,
            nth: fragment.nth.into(),
            stride: fragment.stride,
            port_vc,
            next_port_vc: fragment.port_vc,
            frame: fragment.frame,
            eom: fragment.part.eom(),
            clp: fragment.clp,
        };
        while left.arrivals.count > 0 {
            let (step, count) = self.steps.entering(left.entries(), self.step);
            let (entering, others) = left.split(count);
            left = others;
            let delay = SimTime(self.steps.delays[step]);
            let cells = Fragment {
                arrivals: entering.entries().shift(delay),
                ..entering
            };
            let at = self.entered_in.partition_point(|(other, _)| *other < step);
            // Those that would come before the last cell ahead of the step come with it.
            let ahead = SimTime(self.entered_in[at].1);
            let (with_it, later) = cells.split(cells.arrivals.count_before(ahead));
            for cell in with_it.one_by_one() {
                let arrivals = Burst {
                    first: ahead,
                    ..cell.arrivals
                };
                self.carry_cells(step, Fragment { arrivals, ..cell }, frames);
            }
            if later.arrivals.count > 0 {
                self.carry_cells(step, later, frames);
            }
        }
    }

    /// Carries cells that enter in `step`, but those that a handover loses.
    fn carry_cells(&mut self, step: usize, cells: Fragment, frames: &mut Frames) {
        // What overtakes them may have entered already.
        let safe_time = self.safe_time.min(self.steps.later[step]);
        let given_up = self.steps.given_up[step].filter(|_| self.loses_at_handover);
        let Some(given_up) = given_up.filter(|&time| time < cells.arrivals.last().0) else {
            return self.bring(cells, safe_time, frames);
        };
        let (come, lost) = cells.split(cells.arrivals.count_by(SimTime(given_up)));
        let entering = lost.entries().count_before(SimTime(self.end));
        self.vcs[cells.port_vc.index()].handover_lost += entering;
        if come.arrivals.count > 0 {
            self.bring(come, safe_time, frames);
        }
    }

    /// Cells come to the next port; all is known that does so up to `safe_time`, but what follows them on their path.
    fn bring(&mut self, cells: Fragment, safe_time: u64, frames: &mut Frames) {
        let vc = &mut self.vcs[cells.port_vc.index()];
        vc.arrived += cells.arrivals.count_before(SimTime(self.end));
        let group = &mut self.groups[vc.group as usize];
        let last = cells.arrivals.last().0;
        let overtakes = cells.arrivals.first.0 < group.latest;
        group.latest = group.latest.max(last);
        frames.hold(cells.frame);
        if group.vcs == 1 && !overtakes {
            if group.kept.is_empty() && last <= safe_time {
                return self.send(cells);
            }
            group.kept.insert(cells.key(), cells);
            group.keeps_several |= cells.arrivals.count > 1;
            return;
        }
        if std::mem::take(&mut group.keeps_several) {
            for (_, cells) in std::mem::take(&mut group.kept) {
                group.keep_one_by_one(cells, frames);
            }
        }
        group.keep_one_by_one(cells, frames);
    }

    /// Sends on what comes while all is known.
    fn send_kept(&mut self, group: usize, frames: &mut Frames) {
        while let Some(first) = self.groups[group].kept.first_entry()
            && first.key().0 <= self.safe_time
        {
            let cells = first.remove();
            let (come, others) = cells.split(cells.arrivals.count_by(SimTime(self.safe_time)));
            if others.arrivals.count > 0 {
                frames.hold(cells.frame);
                let kept = &mut self.groups[group].kept;
                kept.insert(others.key(), others);
            }
            self.send(come);
        }
    }

    fn send(&mut self, cells: Fragment) {
        let vc = &mut self.vcs[cells.port_vc.index()];
        let is_new = std::mem::take(&mut self.is_new[cells.frame.index()]);
        let is_again = vc.sent.replace(cells.frame) != Some(cells.frame);
        let group = &self.groups[vc.group as usize];
        let fragment = DueFragment {
            head: cells.arrivals.first,
            frame: cells.frame,
            port_vc: cells.next_port_vc,
            cells: cells.count() as u16,
            nth: cells.nth as u16,
            stride: cells.stride,
            part: Part::new(is_new, cells.eom).again(is_again && !is_new),
            clp: cells.clp,
        };
        if let Some(order) = &mut self.order {
            order.note(cells.port_vc, cells.entries());
        }
        self.arrivals.push((group.port, group.input, fragment));
    }

    /// Takes what comes to which port, over which input.
    pub(crate) fn take(&mut self, mut report: impl FnMut(u32, InputId, DueFragment)) {
        self.arrivals
            .drain(..)
            .for_each(|(port, input, fragment)| report(port, input, fragment));
    }

    /// When the first cell comes of those that have not been sent on.
    pub(crate) fn first_kept(&self) -> Option<SimTime> {
        let firsts = self
            .groups
            .iter()
            .filter_map(|group| group.kept.keys().next());
        firsts.map(|(arrival, _)| SimTime(*arrival)).min()
    }

    /// When the `nth` cell of the VC at `port_vc` that was sent on, from 0, entered, if several ports may ask.
    pub(crate) fn entry(&self, port_vc: PortVc, nth: u64) -> Option<SimTime> {
        self.order.as_ref()?.entry(port_vc, nth)
    }

    /// Nobody will ask for the first cells of VCs: `processed` tells how many have been processed of that at an index
    /// of a port.
    pub(crate) fn forget(&mut self, processed: impl Fn(u32, PortVc) -> u64) {
        if let Some(order) = &mut self.order {
            let (vcs, groups) = (&self.vcs, &self.groups);
            order.forget(|port_vc| {
                let vc = &vcs[port_vc.index()];
                let group = groups.get(vc.group as usize);
                group.map_or(0, |group| processed(group.port, vc.next_port_vc))
            });
        }
    }

    /// Of the VC at `port_vc`, cells that come before the end of the run.
    pub(crate) fn arrived(&self, port_vc: PortVc) -> u64 {
        self.vcs[port_vc.index()].arrived
    }

    /// Of the VC at `port_vc`, cells that entered before the end of the run and were lost: drawn, and at handovers.
    pub(crate) fn lost(&self, port_vc: PortVc) -> (u64, u64) {
        let vc = &self.vcs[port_vc.index()];
        (vc.drawn, vc.handover_lost)
    }
}

impl Group {
    /// Keeps cells one by one; one more of their frame's parts is under way for each but the first.
    fn keep_one_by_one(&mut self, cells: Fragment, frames: &mut Frames) {
        (1..cells.arrivals.count).for_each(|_| frames.hold(cells.frame));
        let each = cells.one_by_one();
        self.kept.extend(each.map(|cell| (cell.key(), cell)));
    }
}

#[cfg(test)]
mod tests;
