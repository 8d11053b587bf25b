//! A switch port at which cells of several bursts are multiplexed.
//!
//! Between two frame events the set of arriving bursts is constant, so counts come from divisions.
//! Where a buffer may overflow within the interval, or a burst is slower than the port (so that the
//! port may fall idle between its cells), the interval is stepped cell by cell.

use crate::burst::fragment::DueFragment;
use crate::burst::input_burst::{InputBurst, Moment};
use crate::link::forwarding::Forwarding;
use crate::link::lossy::LossyLink;
use crate::link::time_varying::TimeVaryingLink;
use crate::port::inputs::Inputs;
use crate::port::lookahead::{Lookahead, Waiting};
use crate::port::vc_queues::VcQueues;
use crate::tuning::Tuning;
use skycell_records::{DiscardReason, QueueSamples};
use skycell_spec::LinkSpec;
use skycell_switch::BufferView;
use skycell_units::{FrameId, PortVc, SimTime};

mod active;
mod arrivals;
mod bursts;
mod cells;
mod forwarding;
mod heads_and_tails;
mod occupancy;
mod queue;
mod record;
pub(crate) mod server;

use active::ActiveVcs;
use arrivals::ArrivalLog;
pub(crate) use heads_and_tails::{Ended, FrameEnd};
use occupancy::{ColdVc, OutputVc, VcBursts, VcDepartures};
use queue::FrameQueues;

/// A port with a queue waits for so many cell times at most, so that it processes many frames at once.
const CELLS_AHEAD: u64 = 512;
/// Events between two clean-ups of the logs.
const EVENTS_PER_TRIM: usize = 64;

/// A frame whose cells are arriving and may be accepted.
#[derive(Clone, Copy, Debug)]
struct ArrivingFragment {
    burst: InputBurst,
    /// Cells still to come.
    left: u32,
    /// Of those, the ones that come up to the moment that is being processed.
    arrivals: u32,
    frame: FrameId,
    /// Cells accepted.
    accepted: u32,
    /// True if its last cell is the frame's.
    eom: bool,
}

/// A frame of which only the last cell may still be accepted.
#[derive(Clone, Copy, Debug)]
struct Refused {
    port_vc: PortVc,
    /// Cells accepted before.
    accepted: u32,
    /// True if the last cell comes with the fragment that is arriving.
    eom: bool,
}

/// A VC whose frames may come in parts.
#[derive(Clone, Copy, Debug, Default)]
struct InParts {
    /// True if the last cell that came was not a last cell.
    in_frame: bool,
    /// True if the open cells are of several frames or out of order.
    is_mixed: bool,
    /// Last of these frames, if it may come again.
    open_frame: Option<FrameId>,
}

/// A cell that was discarded, for the trace.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FirstLoss {
    pub(crate) moment: Moment,
    /// Which of the cells of its VC that came to the port, from 0.
    pub(crate) nth: u64,
    pub(crate) frame: FrameId,
    pub(crate) reason: DiscardReason,
}

/// The port.
#[derive(Debug)]
pub(crate) struct OutputPort {
    cell_time: u64,
    end: SimTime,
    /// The queue that frames join, or all queues of the port where they join several.
    pub(crate) queues: FrameQueues,
    pub(crate) vcs: Vec<OutputVc>,
    pub(crate) rest_of_vcs: Vec<ColdVc>,
    /// Where somebody asks for the VCs' occupancy before the run ends, and it follows from the order of
    /// arrival.
    vc_departures: Option<Box<VcDepartures>>,
    /// By index at the port, after `finish`, where cells leave as they came.
    last_bursts: Vec<VcBursts>,
    pub(crate) log: ArrivalLog,
    /// VCs of departing cells, if each VC has a queue or frames join several; otherwise cells leave
    /// in the order of arrival.
    pub(crate) vc_queues: Option<Box<VcQueues>>,
    pub(crate) inputs: Inputs,
    arriving: Vec<ArrivingFragment>,
    /// Bursts among them that are slower than the port.
    slower: u32,
    refused: Vec<Refused>,
    /// By index at the port; nothing where all frames come whole.
    in_parts: Vec<InParts>,
    /// Forwarding to other such ports, if there is any.
    pub(crate) forwarding: Option<Box<Forwarding>>,
    /// The link behind it, if that loses frames.
    pub(crate) lossy: Option<Box<LossyLink>>,
    /// The same, if it moves.
    pub(crate) time_varying: Option<Box<TimeVaryingLink>>,
    /// Arrivals up to here have been processed.
    now: Moment,
    /// How long after a cell's departure somebody may ask for it.
    horizon: SimTime,
    until_trim: usize,
    active: ActiveVcs,
    /// Cells that had left when the last frame began.
    departed_before: u64,
    /// Cells that left, after `finish`.
    pub(crate) departed: u64,
    pub(crate) samples: QueueSamples,
    pub(crate) stepped: u64,
    /// First losses of frames since they were last taken, in order; none where nobody asks for them.
    pub(crate) losses: Option<Vec<FirstLoss>>,
    pub(crate) lookahead: Lookahead,
    /// No cell that has not been processed leaves before.
    busy_until: SimTime,
}

impl OutputPort {
    /// Frames join the queue `frame_queue` of the link's port, or several.
    pub(crate) fn new(
        link: &LinkSpec,
        frame_queue: Option<usize>,
        seed: u64,
        end: SimTime,
        samples_vcs: bool,
        notes_losses: bool,
    ) -> Self {
        let queues = match frame_queue {
            Some(frame_queue) => std::slice::from_ref(&link.port.queues[frame_queue]),
            None => &link.port.queues[..],
        };
        let queues = FrameQueues::new(queues, link, seed);
        let vc_queues = VcQueues::new(link, frame_queue.is_none(), end).map(Box::new);
        let asks_for_vcs = samples_vcs || queues.iter().any(|queue| queue.counts_vcs);
        OutputPort {
            cell_time: link.cell_time_ps,
            end,
            vc_departures: (asks_for_vcs && vc_queues.is_none()).then(Box::default),
            queues,
            vcs: Vec::new(),
            rest_of_vcs: Vec::new(),
            last_bursts: Vec::new(),
            log: ArrivalLog::new(link.cell_time_ps),
            vc_queues,
            inputs: Inputs::new(std::iter::empty(), false, &Tuning::USE),
            arriving: Vec::new(),
            slower: 0,
            refused: Vec::new(),
            in_parts: Vec::new(),
            forwarding: None,
            lossy: None,
            time_varying: None,
            now: Moment {
                time: SimTime::ZERO,
                link: 0,
            },
            horizon: SimTime::ZERO,
            until_trim: EVENTS_PER_TRIM,
            active: ActiveVcs::default(),
            departed_before: 0,
            departed: 0,
            samples: QueueSamples::default(),
            stepped: 0,
            losses: notes_losses.then(Vec::new),
            lookahead: Lookahead::default(),
            busy_until: SimTime::ZERO,
        }
    }

    /// Adds VC `vc` to the port, in its queue `queue`; `horizon` after they have left, its cells
    /// are at the next such port, or at the end of their VC.
    pub(crate) fn add_vc(&mut self, vc: u32, queue: usize, horizon: SimTime) -> PortVc {
        let queue = if self.has_classes() { queue as u32 } else { 0 };
        let weight = self.queues.get(queue).policy.weight(vc);
        self.vcs.push(OutputVc::new(vc, queue));
        self.rest_of_vcs.push(ColdVc::default());
        self.active.add_vc(weight);
        if let Some(departures) = &mut self.vc_departures {
            departures.add_vc();
        }
        if let Some(queues) = &mut self.vc_queues {
            queues.add_vc(vc, queue as usize, weight);
        }
        self.horizon = self.horizon.max(horizon);
        PortVc(self.vcs.len() as u32 - 1)
    }

    /// Returns whether frames join several queues.
    pub(crate) fn has_classes(&self) -> bool {
        self.queues.are_several()
    }

    /// All VCs are there. What has left is asked for as the run ends; by a server, and by those who look at VCs, while
    /// it goes on.
    pub(crate) fn keep_order(&mut self) {
        let last_moments = self.end.since(self.horizon + SimTime(self.cell_time));
        let (order, departures) = if self.vc_queues.is_some() {
            (SimTime::NEVER, SimTime::ZERO)
        } else if self.log.server.is_some() {
            (SimTime::ZERO, SimTime::ZERO)
        } else if self.vc_departures.is_some() {
            (SimTime::ZERO, last_moments)
        } else {
            (last_moments, last_moments)
        };
        self.log.keep_from(order, departures);
    }

    /// Makes the link behind it lose frames, if the spec says so, once all VCs are there.
    pub(crate) fn lose_frames(&mut self, link: &LinkSpec, seed: u64) {
        let (vcs, late) = (self.vcs.len(), self.end.since(self.horizon));
        self.lossy = LossyLink::new(link, seed, vcs, late).map(Box::new);
        if let (Some(lossy), Some(server)) = (&mut self.lossy, &mut self.log.server) {
            server.lose_frames(lossy);
        }
    }

    /// Makes the link behind it vary, if the spec says so, once all VCs are there.
    pub(crate) fn vary_link(&mut self, link: &LinkSpec, seed: u64, tuning: &Tuning) {
        let notes_order = self.losses.is_some().then_some(tuning.entries_kept);
        let time_varying = TimeVaryingLink::new(link, seed, self.vcs.len(), self.end, notes_order);
        self.time_varying = time_varying.map(Box::new);
    }

    /// Accepts frames in parts, once all VCs are there.
    pub(crate) fn take_parts(&mut self) {
        self.in_parts.resize(self.vcs.len(), InParts::default());
    }

    /// Returns whether frames may come in parts.
    pub(crate) fn takes_parts(&self) -> bool {
        !self.in_parts.is_empty()
    }

    /// Time that a cell takes, picoseconds.
    pub(crate) fn cell_time(&self) -> u64 {
        self.cell_time
    }

    /// All that comes before `time` has been processed.
    pub(crate) fn advance_clock(&mut self, time: SimTime) {
        self.lookahead.advance_clock(time, time);
        if self.vc_queues.is_none() {
            self.busy_until = self.log.last_departure();
        }
    }

    /// Returns whether `burst`, the only one there is, is slower than the port and finds it idle,
    /// so that each of its cells has left before the next comes.
    fn passes_idle(&self, burst: &InputBurst) -> bool {
        burst.spacing > self.cell_time
            && burst.next + self.cell_time >= burst.spacing
            && self.log.last_departure().0 <= burst.next
            && self.vc_queues.is_none()
            && self.log.server.is_none()
    }

    /// Cells in all queues at `time`, its departures done; arrivals up to there must have been processed.
    pub(crate) fn queued(&self, time: SimTime) -> u64 {
        self.log.accepted() - self.log.departed(time)
    }

    /// X of the queue of the VC at `port_vc` at `time`, where all queues hold `queued` cells.
    fn queued_with(&mut self, port_vc: PortVc, time: SimTime, queued: u64) -> u64 {
        if !self.has_classes() {
            return queued;
        }
        let queues = self.vc_queues.as_mut().expect("classes have queues");
        queues.serve_until(time.0);
        let queue = self.vcs[port_vc.index()].queue as usize;
        queues.sent_and_held(queue, time).1
    }

    /// The first cell of a frame comes at `moment`: the policy decides. Returns how many cells all queues hold.
    #[inline(always)]
    fn begin_frame(&mut self, moment: Moment, fragment: &DueFragment) -> u64 {
        let port_vc = fragment.port_vc;
        self.advance(moment);
        if let Some(queues) = &mut self.vc_queues {
            queues.serve_until(moment.time.0);
        }
        self.until_trim -= 1;
        if self.until_trim == 0 {
            self.trim(moment.time);
        }
        let departed = self.log.departed(moment.time);
        self.departed_before = departed;
        let queued = self.log.accepted() - departed;
        let vc = &mut self.vcs[port_vc.index()];
        vc.has_lost = false;
        let eom = fragment.cells == 1 && fragment.part.eom();
        let queue = self.queues.get(vc.queue);
        if queue.policy.takes_all() || eom && queue.policy.keeps_last_cells() {
            vc.discarding = None;
            return queued;
        }
        let mut view = BufferView {
            queued: queued as u32,
            vc_queued: 0,
            active_vcs: 0,
            active_weight: 0,
            capacity: queue.capacity as u32,
            now_ps: moment.time.0,
            departed,
            idle_since_ps: (queued == 0 && self.log.accepted() > 0)
                .then(|| self.log.last_departure().0),
            clp: fragment.clp,
            ..BufferView::default()
        };
        if self.has_classes() {
            self.look_at_class(moment.time, port_vc, &mut view);
        }
        let queue = self.queues.get(self.vcs[port_vc.index()].queue);
        if queue.counts_vcs && queue.policy.looks_at_vcs(view.queued) {
            self.count_vcs(moment.time, departed, port_vc, &mut view);
        }
        let vc = &mut self.vcs[port_vc.index()];
        let policy = &mut self.queues.get_mut(vc.queue).policy;
        vc.discarding = policy.on_enqueue(vc.vc, &view).refusal();
        queued
    }

    /// Where frames join several queues: what the policy of that of the VC at `port_vc` sees of it at `time`.
    fn look_at_class(&self, time: SimTime, port_vc: PortVc, view: &mut BufferView) {
        let queues = self.vc_queues.as_ref().expect("classes have queues");
        let queue = self.vcs[port_vc.index()].queue as usize;
        let (departed, held) = queues.sent_and_held(queue, time);
        (view.departed, view.queued) = (departed, held as u32);
        view.idle_since_ps = queues.idle_since(queue, time);
    }

    fn count_vcs(&mut self, time: SimTime, departed: u64, port_vc: PortVc, view: &mut BufferView) {
        if let Some(queues) = &self.vc_queues {
            let vc = &self.vcs[port_vc.index()];
            view.vc_queued = queues.queued(port_vc, vc.accepted, time);
            (view.active_vcs, view.active_weight) = queues.active(vc.queue as usize, time);
            return;
        }
        let departures = self.vc_departures.as_mut();
        let departures = departures.expect("the policy looks at VCs");
        departures.settle(&self.log, departed);
        let vcs = &self.vcs;
        let queued = |port_vc: PortVc| vcs[port_vc.index()].accepted - departures.of(port_vc);
        view.vc_queued = queued(port_vc) as u32;
        let has_cells = |port_vc: PortVc| queued(port_vc) > 0;
        (view.active_vcs, view.active_weight) = self.active.count(time, has_cells);
    }

    /// Cells of the VC at `port_vc` that left before `time`, after `finish`.
    pub(crate) fn departed_before(&self, time: SimTime, port_vc: PortVc) -> u64 {
        let Some(last) = time.0.checked_sub(1) else {
            return 0;
        };
        if let Some(queues) = &self.vc_queues {
            return queues.departed_of(port_vc, self.log.departed(SimTime(last)));
        }
        let Some(seq) = self.log.departed(SimTime(last)).checked_sub(1) else {
            return self.last_bursts[port_vc.index()].accepted_by(None);
        };
        let last = self.log.arrival(seq).map(|(moment, _)| moment);
        let accepted = self.last_bursts[port_vc.index()].accepted_by(last);
        accepted - self.came_with(seq, last, port_vc)
    }

    /// Cells of the VC at `port_vc` that came at the moment `last` of the cell of `seq`, after it.
    fn came_with(&self, seq: u64, last: Option<Moment>, port_vc: PortVc) -> u64 {
        let later = (seq + 1..self.log.accepted()).map_while(|seq| self.log.arrival(seq));
        let with_it = later.take_while(|(moment, _)| Some(*moment) == last);
        with_it.filter(|(_, of)| *of == port_vc).count() as u64
    }

    /// The last departure before `time`, and its VC's index.
    pub(crate) fn last_departure_before(&self, time: SimTime) -> Option<(SimTime, PortVc)> {
        let departed = self.log.departed(SimTime(time.0.checked_sub(1)?));
        let seq = departed.checked_sub(1)?;
        let port_vc = match &self.vc_queues {
            Some(queues) => queues.port_vc_of(seq),
            None => self.log.arrival(seq)?.1,
        };
        Some((self.log.departure(seq)?, port_vc))
    }

    /// Forgets what nobody will ask for.
    fn trim(&mut self, now: SimTime) {
        self.until_trim = EVENTS_PER_TRIM;
        self.send_chosen();
        let before = SimTime(now.0.saturating_sub(self.horizon.0 + self.cell_time));
        let departures = self.log.trim_busy(before);
        if !self.has_classes() {
            self.queues.first.integral.departed(departures);
        }
        if let Some(queues) = &mut self.vc_queues {
            queues.forget(self.log.departed(before));
        }
        if let Some(departures) = &mut self.vc_departures {
            departures.settle(&self.log, self.log.departed(now));
        }
        self.log.trim(before);
    }

    /// Ends the run: books what leaves before its end.
    pub(crate) fn finish(&mut self) {
        self.advance_before(self.end);
        let last = SimTime(self.end.0 - 1);
        if let Some(server) = &mut self.log.server {
            server.finish();
        }
        self.departed = self.log.departed(last);
        if self.has_classes() {
            let sent = self.vc_queues.as_ref().expect("classes have queues");
            for (queue, at) in self.queues.iter_mut().zip(0..) {
                queue.integral.departed(sent.totals(at).2);
            }
            return;
        }
        let earlier = self.log.trim_busy(SimTime::ZERO);
        let from = self.log.first_busy_seq();
        let departures = self.log.departures_since(from, last);
        self.queues.first.integral.departed(earlier + departures);
        if self.vc_queues.is_none() {
            self.find_last_bursts();
        }
    }

    /// The last cells of each VC, from the log.
    fn find_last_bursts(&mut self) {
        let mut kept = vec![0; self.vcs.len()];
        self.log
            .each_burst(|burst, count| kept[burst.port_vc.index()] += count);
        let vcs = self.vcs.iter().zip(kept);
        let mut bursts: Vec<_> = vcs
            .map(|(vc, kept)| VcBursts::new(vc.accepted - kept))
            .collect();
        self.log
            .each_burst(|burst, count| bursts[burst.port_vc.index()].note(burst, count));
        self.last_bursts = bursts;
    }
}

impl Waiting for OutputPort {
    fn lookahead(&self) -> &Lookahead {
        &self.lookahead
    }

    fn arrives_after(&self, head: SimTime) -> SimTime {
        let busy = self
            .busy_until
            .min(head + SimTime(CELLS_AHEAD * self.cell_time));
        head.max(busy) + self.lookahead.end_lookahead
    }

    fn acts_at(&self) -> Option<SimTime> {
        let of_queues = self
            .vc_queues
            .as_ref()
            .and_then(|queues| queues.no_end_before());
        let next = self.inputs.next_time().into_iter().chain(of_queues).min();
        let next = next.map(|next| self.arrives_after(next));
        let kept = self
            .time_varying
            .as_ref()
            .and_then(|link| link.first_kept());
        next.into_iter().chain(kept).min()
    }

    fn sends_after(&self) -> SimTime {
        let of_queues = self.vc_queues.as_ref();
        let of_queues = of_queues.and_then(|queues| queues.no_end_before());
        let clock = self.lookahead.local_clock;
        self.arrives_after(of_queues.map_or(clock, |time| time.min(clock)))
    }

    fn entry(&self, vc: u32, nth: u64) -> Option<SimTime> {
        let time_varying = self.time_varying.as_ref()?;
        let port_vc = self.vcs.binary_search_by_key(&vc, |at| at.vc).ok()?;
        time_varying.entry(PortVc(port_vc as u32), nth)
    }

    fn processed(&self, port_vc: PortVc) -> u64 {
        let discarded = &self.rest_of_vcs[port_vc.index()].discarded;
        self.vcs[port_vc.index()].accepted + discarded.total()
    }
}
