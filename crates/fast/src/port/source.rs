//! A host's or router's port: whole frames, back to back, in closed form from the moment they are
//! handed over.

use crate::burst::Burst;
use crate::link::lossy::LossyLink;
use skycell_des::Stream;
use skycell_records::{DiscardReason, Discards, QueueIntegral, QueueSamples};
use skycell_spec::LinkSpec;
use skycell_switch::{BufferView, Policy};
use skycell_traffic::prefetch;
use skycell_units::{FrameId, PortVc, SimTime};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

/// A frame that the port has accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sending {
    /// When its last bit has left.
    end: SimTime,
    cells: u32,
    /// Index of its VC at the port.
    port_vc: PortVc,
}

/// A VC at the port.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceVc {
    /// VC id.
    pub(crate) vc: u32,
    /// Cells in the port, those of the frame under transmission all counted.
    queued: u32,
    pub(crate) samples: QueueSamples,
}

/// Frames that are remembered where the port is.
const LATEST: usize = 2;

/// The parameters that ports of one kind share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Kind {
    cell_time: u64,
    frame_gap: u64,
    capacity: u32,
    /// True if the policy must be asked.
    may_refuse: bool,
    /// True if the policy looks at the VCs' occupancy.
    counts_vcs: bool,
    /// Longest way of a frame from here to where its VC's spacing changes.
    horizon: SimTime,
    /// Departures from here on are asked for at the end.
    kept_from: SimTime,
}

/// The port. What every frame needs is in two lines of the cache, the rest elsewhere.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SourcePort {
    kind: Arc<Kind>,
    pub(crate) arrived: u64,
    /// Sum of the times that cells stay.
    stayed: u128,
    /// When the last frame will have left.
    free_at: SimTime,
    /// The two frames that were accepted last, if `remembered`, the older one first.
    latest: [Sending; LATEST],
    /// Frames that are remembered: those two, and the ones before them.
    remembered: u32,
    /// Of those, the ones that have wholly left.
    left: u32,
    /// Cells of the others.
    queued: u32,
    pub(crate) queue_max: u32,
    gap_stream: Stream,
    pub(crate) rest: Box<ColdPort>,
}

/// Checks the cache lines described above; `look` reads one field of each.
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(SourcePort, arrived) < 64 && offset_of!(SourcePort, queue_max) >= 64);
    assert!(size_of::<SourcePort>() == 128);
};

/// The state that a frame does not need if an idle port accepts it.
#[derive(Debug)]
pub(crate) struct ColdPort {
    /// The frames remembered before the latest, in order; what it holds where those are all is forgotten.
    older: VecDeque<Sending>,
    policy: Policy,
    /// The link behind the port, if that loses frames.
    pub(crate) lossy: Option<LossyLink>,
    pub(crate) vcs: Vec<SourceVc>,
    active_vcs: u32,
    /// Sum of the policy's weights of those VCs.
    active_weight: u64,
    /// Cells that left, after `finish`.
    pub(crate) departed: u64,
    /// Of the queue, after `finish`.
    pub(crate) integral: QueueIntegral,
    pub(crate) discarded: Discards,
    pub(crate) frames_discarded: Discards,
    pub(crate) samples: QueueSamples,
}

impl SourcePort {
    pub(crate) fn new(link: &LinkSpec, seed: u64) -> Self {
        let queue = &link.port.queues[0];
        let policy = Policy::new(&queue.policy, seed, &link.name);
        SourcePort {
            kind: Arc::new(Kind {
                cell_time: link.cell_time_ps,
                frame_gap: link.port.frame_gap_ps,
                capacity: queue.capacity_cells.unwrap_or(u32::MAX),
                may_refuse: !policy.takes_all(),
                counts_vcs: policy.needs().vcs,
                horizon: SimTime::ZERO,
                kept_from: SimTime::ZERO,
            }),
            arrived: 0,
            stayed: 0,
            free_at: SimTime::ZERO,
            latest: [Sending::default(); LATEST],
            remembered: 0,
            left: 0,
            queued: 0,
            queue_max: 0,
            gap_stream: Stream::new(seed, &format!("port/{}/gap", link.name)),
            rest: Box::new(ColdPort {
                older: VecDeque::new(),
                policy,
                lossy: None,
                vcs: Vec::new(),
                active_vcs: 0,
                active_weight: 0,
                departed: 0,
                integral: QueueIntegral::default(),
                discarded: Discards::default(),
                frames_discarded: Discards::default(),
                samples: QueueSamples::default(),
            }),
        }
    }

    /// The wait before the next frame.
    fn draw_gap(&mut self) -> u64 {
        match self.kind.frame_gap {
            0 => 0,
            below => self.gap_stream.uniform(0, below),
        }
    }

    /// Adds `vc`, which begins here; `delay` after they have left, its frames have no further
    /// effect.
    pub(crate) fn add_vc(&mut self, vc: u32, delay: SimTime) -> PortVc {
        let kind = Arc::make_mut(&mut self.kind);
        kind.horizon = kind.horizon.max(delay);
        self.rest.vcs.push(SourceVc {
            vc,
            ..SourceVc::default()
        });
        PortVc(self.rest.vcs.len() as u32 - 1)
    }

    /// All VCs are there, of a run that ends at `end`.
    pub(crate) fn keep_frames(&mut self, end: SimTime) {
        let kind = Arc::make_mut(&mut self.kind);
        kind.kept_from = SimTime(end.0.saturating_sub(kind.horizon.0));
    }

    /// Makes the link behind the port lose frames, if the spec says so, once all VCs are there.
    pub(crate) fn lose_frames(&mut self, link: &LinkSpec, seed: u64) {
        let (vcs, late) = (self.rest.vcs.len(), self.kind.kept_from);
        self.rest.lossy = LossyLink::new(link, seed, vcs, late);
    }

    /// Returns whether the link loses a frame of `cells` cells of the VC at `port_vc` that has been
    /// accepted and begins to leave at `start`.
    pub(crate) fn loses(&mut self, start: SimTime, port_vc: PortVc, cells: u32) -> bool {
        let Some(lossy) = &mut self.rest.lossy else {
            return false;
        };
        lossy.begin(port_vc, FrameId::default(), true);
        let is_lost = lossy.loses(port_vc, None);
        if is_lost {
            let cell_time = self.kind.cell_time;
            let cell_time = SimTime(cell_time);
            let entering = Burst::new(start + cell_time, cell_time, cells.into());
            lossy.note(port_vc, entering);
        }
        is_lost
    }

    /// Shares the common parameters of ports of one kind, once all have their VCs.
    pub(crate) fn share_kinds(ports: &mut [SourcePort]) {
        let mut known: HashSet<Arc<Kind>> = HashSet::new();
        for port in ports {
            match known.get(&port.kind) {
                Some(kind) => port.kind = kind.clone(),
                None => {
                    known.insert(port.kind.clone());
                }
            }
        }
    }

    /// Time that a cell takes, picoseconds.
    pub(crate) fn cell_time(&self) -> u64 {
        self.kind.cell_time
    }

    /// Asks for the lines of the cache that `offer` needs.
    pub(crate) fn prefetch(&self) {
        prefetch(&self.arrived);
        prefetch(&self.queue_max);
    }

    /// Offers a frame, which waits for a gap before it unless it is paced; returns when its first bit leaves,
    /// or why it was refused.
    pub(crate) fn offer(
        &mut self,
        now: SimTime,
        port_vc: PortVc,
        cells: u32,
        is_paced: bool,
    ) -> Result<SimTime, DiscardReason> {
        self.settle(now);
        self.arrived += u64::from(cells);
        let queued = self.queued(now);
        let refused = self.refusal(now, port_vc, cells, queued);
        let has_room = u64::from(queued) + u64::from(cells) <= u64::from(self.kind.capacity);
        if let Some(reason) = refused.or((!has_room).then_some(DiscardReason::Overflow)) {
            self.rest.discarded.add(reason, u64::from(cells));
            self.rest.frames_discarded.add(reason, 1);
            return Err(reason);
        }
        let gap = if is_paced { 0 } else { self.draw_gap() };
        let start = self.free_at.max(now) + SimTime(gap);
        self.free_at = start + SimTime(u64::from(cells) * self.kind.cell_time);
        self.remember(now, cells, port_vc);
        if self.kind.may_refuse {
            let vc = self.rest.vcs[port_vc.index()].vc;
            self.rest.policy.on_accepted(vc, cells);
        }
        self.queued += cells;
        if self.kind.counts_vcs {
            let vc = &mut self.rest.vcs[port_vc.index()];
            if vc.queued == 0 {
                self.rest.active_vcs += 1;
                self.rest.active_weight += self.rest.policy.weight(vc.vc);
            }
            vc.queued += cells;
        }
        let wait = u128::from((start - now).0) * u128::from(cells);
        self.stayed += wait + self.sending(cells.into());
        self.queue_max = self.queue_max.max(queued + cells);
        Ok(start)
    }

    /// Remembers the frame of `cells` cells that was accepted just now. Those that are over are
    /// forgotten when the last one is, and when there is no more room for another.
    fn remember(&mut self, now: SimTime, cells: u32, port_vc: PortVc) {
        let frame = Sending {
            end: self.free_at,
            cells,
            port_vc,
        };
        let [before, last] = self.latest;
        self.latest = [last, frame];
        if self.is_over(&last, now) {
            (self.remembered, self.left) = (1, 0);
            return;
        }
        self.remembered += 1;
        if self.remembered as usize <= LATEST {
            return;
        }
        if self.remembered as usize == LATEST + 1 {
            self.rest.older.clear();
        } else if self.rest.older.len() == self.rest.older.capacity() {
            while self.left > 0
                && let Some(first) = self.rest.older.front()
                && self.is_over(first, now)
            {
                self.rest.older.pop_front();
                (self.remembered, self.left) = (self.remembered - 1, self.left - 1);
            }
        }
        self.rest.older.push_back(before);
    }

    /// Returns whether the frame has left, and its departure time is no longer needed.
    fn is_over(&self, frame: &Sending, now: SimTime) -> bool {
        frame.end < now && frame.end < self.kind.kept_from
    }

    /// The frame that was accepted `at`-th of those remembered.
    fn frame(&self, at: u32) -> Option<&Sending> {
        if at >= self.remembered {
            return None;
        }
        match (self.remembered - at) as usize {
            from_end @ ..=LATEST => Some(&self.latest[LATEST - from_end]),
            _ => self.rest.older.get(at as usize),
        }
    }

    /// All frames remembered, in order.
    fn frames(&self) -> impl DoubleEndedIterator<Item = &Sending> {
        (0..self.remembered).filter_map(|at| self.frame(at))
    }

    /// Why the policy refuses a frame.
    fn refusal(
        &mut self,
        now: SimTime,
        port_vc: PortVc,
        cells: u32,
        queued: u32,
    ) -> Option<DiscardReason> {
        if !self.kind.may_refuse || cells == 1 && self.rest.policy.keeps_last_cells() {
            return None;
        }
        // What came and was neither refused nor is still here has left.
        let departed =
            self.arrived - u64::from(cells) - self.rest.discarded.total() - u64::from(queued);
        let view = BufferView {
            queued,
            vc_queued: self.vc_queued(now, port_vc),
            // A frame that has not wholly left keeps its VC active.
            active_vcs: self.rest.active_vcs,
            active_weight: self.rest.active_weight,
            now_ps: now.0,
            departed,
            idle_since_ps: (queued == 0 && departed > 0).then_some(self.free_at.0),
            clp: false,
            capacity: self.kind.capacity,
            ..BufferView::default()
        };
        self.rest
            .policy
            .on_enqueue(self.rest.vcs[port_vc.index()].vc, &view)
            .refusal()
    }

    /// Sum of the times after which the first `count` cells of a frame have left, since its start.
    fn sending(&self, count: u64) -> u128 {
        u128::from(count * (count + 1) / 2) * u128::from(self.kind.cell_time)
    }

    /// When the first bit of `frame` leaves.
    fn start(&self, frame: &Sending) -> SimTime {
        frame.end - SimTime(u64::from(frame.cells) * self.kind.cell_time)
    }

    /// Cells of `frame` that have left by `now`, that instant included.
    fn departed_of(&self, frame: &Sending, now: SimTime) -> u64 {
        (now.since(self.start(frame)).0 / self.kind.cell_time).min(u64::from(frame.cells))
    }

    /// Sets the frames apart that have wholly left by `now`.
    #[inline(always)]
    fn settle(&mut self, now: SimTime) {
        if self.free_at <= now && !self.kind.counts_vcs {
            // All have, and nobody asks which.
            (self.left, self.queued) = (self.remembered, 0);
            return;
        }
        while let Some(&frame) = self.frame(self.left)
            && frame.end <= now
        {
            self.left += 1;
            self.queued -= frame.cells;
            if self.kind.counts_vcs {
                let vc = &mut self.rest.vcs[frame.port_vc.index()];
                vc.queued -= frame.cells;
                if vc.queued == 0 {
                    self.rest.active_vcs -= 1;
                    self.rest.active_weight -= self.rest.policy.weight(vc.vc);
                }
            }
        }
    }

    /// Frames that have not wholly left, after `settle`.
    fn under_way(&self) -> impl Iterator<Item = &Sending> {
        (self.left..self.remembered).filter_map(|at| self.frame(at))
    }

    /// X: cells in the port, departures at `now` done.
    pub(crate) fn queued(&self, now: SimTime) -> u32 {
        if self.queued == 0 {
            return 0;
        }
        let front = self.frame(self.left);
        let departed = front.map_or(0, |front| self.departed_of(front, now));
        self.queued - departed as u32
    }

    /// X_i of the VC at `port_vc`, departures at `now` done.
    pub(crate) fn vc_queued(&self, now: SimTime, port_vc: PortVc) -> u32 {
        if self.kind.counts_vcs {
            let departed = match self.frame(self.left) {
                Some(front) if front.port_vc == port_vc => self.departed_of(front, now),
                _ => 0,
            };
            return self.rest.vcs[port_vc.index()].queued - departed as u32;
        }
        let of_vc = self.under_way().filter(|frame| frame.port_vc == port_vc);
        of_vc
            .map(|frame| frame.cells - self.departed_of(frame, now) as u32)
            .sum()
    }

    /// X at `now`, departures done.
    pub(crate) fn settled_queue(&mut self, now: SimTime) -> u32 {
        self.settle(now);
        self.queued(now)
    }

    /// Samples every VC's occupancy at `now`, and tells it.
    pub(crate) fn sample_each_vc(&mut self, now: SimTime, report: &mut dyn FnMut(u32, u32)) {
        self.settle(now);
        for port_vc in PortVc::all().take(self.rest.vcs.len()) {
            let cells = self.vc_queued(now, port_vc);
            let vc = &mut self.rest.vcs[port_vc.index()];
            vc.samples.add(cells);
            report(vc.vc, cells);
        }
    }

    /// Ends the run: takes back what does not leave before `end`.
    pub(crate) fn finish(&mut self, end: SimTime) {
        let last = SimTime(end.0 - 1);
        self.settle(last);
        let mut remaining = 0;
        for frame in self.under_way() {
            let done = self.departed_of(frame, last);
            let cells = u64::from(frame.cells) - done;
            let departures = u128::from(self.start(frame).0) * u128::from(cells)
                + self.sending(frame.cells.into())
                - self.sending(done);
            remaining += departures;
        }
        self.rest.integral.stayed(self.stayed);
        self.rest.integral.not_departed(remaining);
        self.rest.departed =
            self.arrived - self.rest.discarded.total() - u64::from(self.queued(last));
    }

    /// Time during which a cell was under transmission before `end`; after `finish`.
    pub(crate) fn busy(&self, end: SimTime) -> SimTime {
        let whole = SimTime(self.rest.departed * self.kind.cell_time);
        // The cell under transmission: the front frame's next one.
        let sending = self.under_way().next().map_or(SimTime::ZERO, |frame| {
            let done = self.departed_of(frame, SimTime(end.0 - 1));
            end.since(self.start(frame) + SimTime(done * self.kind.cell_time))
        });
        whole + sending
    }

    /// Cells, by index at the port, that leave at `from` or later, among the frames remembered.
    pub(crate) fn not_departed_before(&self, from: SimTime, port_vc: PortVc) -> u64 {
        self.frames()
            .filter(|frame| frame.port_vc == port_vc)
            .map(|frame| {
                let done = from
                    .0
                    .checked_sub(1)
                    .map_or(0, |last| self.departed_of(frame, SimTime(last)));
                u64::from(frame.cells) - done
            })
            .sum()
    }

    /// The last departure before `before` of a VC whose index `belongs`, and that index.
    pub(crate) fn last_departure(
        &self,
        before: SimTime,
        belongs: impl Fn(PortVc) -> bool,
    ) -> Option<(SimTime, PortVc)> {
        let last = SimTime(before.0.checked_sub(1)?);
        self.frames()
            .rev()
            .filter(|frame| belongs(frame.port_vc))
            .find_map(|frame| {
                let done = self.departed_of(frame, last);
                let departure = self.start(frame) + SimTime(done * self.kind.cell_time);
                (done > 0).then_some((departure, frame.port_vc))
            })
    }
}
