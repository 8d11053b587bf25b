//! The cells of a source on their way to the port where they share a link with others: what the
//! source's own port does with them, and when they come.

use crate::burst::Burst;
use crate::edge::Edge;
use crate::plan::route::{PassThrough, SourcePlan};
use skycell_records::{
    CellDelays, DiscardReason, Discards, PortRecord, QueueIntegral, QueueRecord, QueueSamples,
    VcQueueRecord, VcRecord,
};
use skycell_switch::Period;
use skycell_traffic::CellSource;
use skycell_units::SimTime;
use std::collections::VecDeque;

mod event_times;
mod waiting;

use event_times::EventTimes;
pub(crate) use waiting::{Waiting, WaitingBurst};

/// A cell on its way to the port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ArrivingCell {
    /// When it left the source's own port.
    pub(crate) left: u64,
    pub(crate) arrival: u64,
}

/// Adds the delays of a run of cells, the first of which leaves in service `service` of `period`: those that leave
/// in the first slot arrive at `arrival`.
fn add_delays(
    delays: &mut CellDelays,
    burst: WaitingBurst,
    arrival: u64,
    spacing: u64,
    period: Period,
    service: u64,
) {
    let delay =
        |nth: u64| arrival + period.slot_of(service + nth) * spacing - (burst.left + nth * spacing);
    let services = period.services();
    // In each period the same cells are as much later as others have services.
    let step = (period.length() - services) * spacing;
    let whole = burst.cells / services;
    for (first, cells, cycles) in [
        (0, services, whole),
        (whole * services, burst.cells % services, 1),
    ] {
        let mut nth = first;
        while cycles > 0 && nth < first + cells {
            let delayed = delay(nth);
            let alike = (nth..first + cells).take_while(|&other| delay(other) == delayed);
            let alike = alike.count() as u64;
            delays.add_series(delayed, step, cycles, alike);
            nth += alike;
        }
    }
}

/// The fates of cells on a link that loses frames.
#[derive(Debug, Default)]
struct Lossy {
    /// Departures of the cells that are not lost.
    kept: EventTimes,
    /// Cells lost within the run.
    lost: u64,
}

/// The cells of one source.
#[derive(Debug)]
pub(crate) struct OpenLoopSource {
    pub(crate) plan: SourcePlan,
    pub(crate) source: CellSource,
    end: u64,
    cell_time: u64,
    delay: u64,
    /// The next cell; none when the run ends before it is sent.
    pub(crate) next: Option<ArrivingCell>,
    last_left: u64,
    /// Departures from its own port that were not over when the last cell was sent.
    leaving: VecDeque<u64>,
    sent: u64,
    own_departures: EventTimes,
    own_integral: QueueIntegral,
    own_max: u32,
    /// Arrivals at the shared port, and departures from there.
    pub(crate) arrivals: EventTimes,
    pub(crate) departures: EventTimes,
    /// Where the link behind it loses frames.
    lossy: Option<Lossy>,
    delays: Option<CellDelays>,
    pub(crate) samples: QueueSamples,
    edge: Edge,
    /// Cells, each a frame, that found the queue full.
    pub(crate) discarded: Discards,
}

impl OpenLoopSource {
    /// The open-loop source of `source`, whose own link has this cell time and delay.
    pub(crate) fn new(
        plan: SourcePlan,
        source: CellSource,
        edge: Edge,
        cell_time: u64,
        delay: u64,
        delays: Option<CellDelays>,
        end: SimTime,
    ) -> Self {
        let mut cell_source = OpenLoopSource {
            plan,
            source,
            end: end.0,
            cell_time,
            delay,
            next: None,
            last_left: 0,
            leaving: VecDeque::new(),
            sent: 0,
            own_departures: EventTimes::default(),
            own_integral: QueueIntegral::default(),
            own_max: 0,
            arrivals: EventTimes::default(),
            departures: EventTimes::default(),
            lossy: None,
            delays,
            samples: QueueSamples::default(),
            edge,
            discarded: Discards::default(),
        };
        cell_source.send();
        cell_source
    }

    /// The next cell has come to the shared port: the one after it that comes there is sent.
    pub(crate) fn send(&mut self) {
        loop {
            let due = self.source.due().0;
            if due >= self.end {
                self.next = None;
                return;
            }
            self.source.send();
            let arriving = self.leave(due);
            self.next = Some(arriving);
            if arriving.arrival >= self.end || self.edge.passes(SimTime(arriving.arrival)) {
                return;
            }
        }
    }

    /// A cell that is sent at `due` leaves the source's own port.
    fn leave(&mut self, due: u64) -> ArrivingCell {
        let left = due.max(self.last_left) + self.cell_time;
        self.last_left = left;
        while self.leaving.front().is_some_and(|&earlier| earlier <= due) {
            self.leaving.pop_front();
        }
        self.leaving.push_back(left);
        self.sent += 1;
        self.own_max = self.own_max.max(self.leaving.len() as u32);
        self.own_integral.arrived(u128::from(due));
        if left < self.end {
            self.own_integral.departed(u128::from(left));
        }
        self.own_departures.push(left);
        ArrivingCell {
            left,
            arrival: left + self.delay,
        }
    }

    /// The next cell comes to the shared port and finds `queued` cells in its queue: whether it is accepted, or
    /// else whether it is lost within the run.
    pub(crate) fn offer(&mut self, queued: u32) -> Result<(), bool> {
        if self.plan.capacity.is_none_or(|capacity| queued < capacity) {
            return Ok(());
        }
        // Choices are made beyond the end of the run, too.
        let is_in_time = self.next.is_some_and(|next| next.arrival < self.end);
        self.discarded
            .add(DiscardReason::Overflow, u64::from(is_in_time));
        Err(is_in_time)
    }

    /// How many cells come to the shared port, and as many after them are sent, each `spacing` after the
    /// one before; all of which happens before the run ends. None where each cell is looked at.
    pub(crate) fn steady(&self, spacing: u64) -> u64 {
        if self.edge.is_watching() || self.plan.capacity.is_some() {
            return 0;
        }
        let (regular, interval) = self.source.regular();
        // Each leaves its own port as the one after it comes there.
        let is_in_step = self.last_left == self.source.due().0 && self.leaving.len() == 1;
        if interval.0 != spacing || self.cell_time != spacing || !is_in_step {
            return 0;
        }
        let sent = self.end.saturating_sub(self.last_left + spacing) / spacing;
        let next = self.next.map_or(self.end, |next| next.arrival);
        let come = self.end.saturating_sub(next).div_ceil(spacing);
        let steady = sent.min(regular).saturating_sub(1);
        steady.min(come)
    }

    /// The next `cells` cells, at most [`OpenLoopSource::steady`] of them, have come to the shared port: as many
    /// after them are sent.
    pub(crate) fn bring_steadily(&mut self, cells: u64) {
        let spacing = self.cell_time;
        let next = self.next.as_mut().expect("a cell is on its way");
        self.arrivals.push_many(next.arrival, spacing, cells);
        next.left += cells * spacing;
        next.arrival += cells * spacing;
        let due = self.source.due().0;
        self.source.send_regular(cells);
        self.sent += cells;
        let sent = Burst::new(SimTime(due), SimTime(spacing), cells);
        self.own_integral.arrived(sent.sum());
        self.own_integral.departed(sent.shift(sent.spacing).sum());
        self.own_departures.push_many(due + spacing, spacing, cells);
        self.last_left += cells * spacing;
        self.leaving[0] = self.last_left;
    }

    /// The first of the cells that are `waiting` leave the shared port in the services of `period` among `slots`
    /// slots, each `spacing` long, the first from `start` on.
    pub(crate) fn on_pattern(
        &mut self,
        start: u64,
        spacing: u64,
        period: Period,
        slots: u64,
        waiting: &mut Waiting,
    ) {
        let cells = period.services_in(slots);
        self.departures.push_pattern(start, spacing, period, cells);
        // Of a cell that leaves in the first slot.
        let arrival = start + spacing + self.plan.hop.delay.0;
        let before_end = self.end.saturating_sub(arrival).div_ceil(spacing);
        let arrived = period.services_in(slots.min(before_end));
        let mut service = 0;
        while service < cells {
            let burst = waiting.pop(cells - service);
            let some = WaitingBurst {
                cells: burst.cells.min(arrived.saturating_sub(service)),
                ..burst
            };
            if let Some(delays) = &mut self.delays {
                add_delays(delays, some, arrival, spacing, period, service);
            }
            service += burst.cells;
        }
    }

    /// Sends the cells that do not come to the shared port before the run ends.
    pub(crate) fn finish(&mut self) {
        while self.next.is_some() {
            self.send();
        }
    }

    /// A cell that left its own port at `left` leaves the shared port at `departure`.
    pub(crate) fn on_departure(&mut self, left: u64, departure: u64) {
        self.departures.push(departure);
        if let Some(lossy) = &mut self.lossy {
            lossy.kept.push(departure);
        }
        let arrival = departure + self.plan.hop.delay.0;
        if let Some(delays) = self.delays.as_mut().filter(|_| arrival < self.end) {
            delays.add(arrival - left);
        }
    }

    /// The link behind the shared port loses frames.
    pub(crate) fn lose_cells(&mut self) {
        self.lossy = Some(Lossy::default());
    }

    /// The next cell leaves the shared port at `departure` and is lost behind it.
    pub(crate) fn on_loss(&mut self, departure: u64) {
        self.departures.push(departure);
        let lossy = self.lossy.as_mut().expect("the link loses frames");
        lossy.lost += u64::from(departure < self.end);
    }

    /// Departures of the cells that go on behind the shared port.
    fn forwarded(&self) -> &EventTimes {
        self.lossy
            .as_ref()
            .map_or(&self.departures, |lossy| &lossy.kept)
    }

    /// Cells that came to the shared port before the run ended, those that were lost there included.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrivals.before(self.end) + self.discarded.total()
    }

    /// Cells in the shared port at `now`, departures done and arrivals not.
    pub(crate) fn queued(&self, now: u64) -> u32 {
        (self.arrivals.before(now) - self.departures.up_to(now)) as u32
    }

    /// Forgets what nobody will ask for after `now`.
    pub(crate) fn forget_before(&mut self, now: u64) {
        let before = now.saturating_sub(self.plan.hop.delay.0 + self.cell_time);
        self.arrivals.forget_before(before);
        self.departures.forget_before(before);
        if let Some(lossy) = &mut self.lossy {
            lossy.kept.forget_before(before);
        }
        self.own_departures.forget_before(before);
    }

    /// Returns the record of its own port at the end of the run.
    pub(crate) fn own_port_record(&self) -> PortRecord {
        let departed = self.own_departures.before(self.end);
        let queued = self.sent - departed;
        let sending = self
            .own_departures
            .first_from(self.end)
            .filter(|_| queued > 0);
        let since = sending.map_or(self.end, |departure| departure - self.cell_time);
        let mean = self.own_integral.mean(queued, self.end);
        PortRecord {
            arrived: self.sent,
            departed,
            queued,
            busy_ps: departed * self.cell_time + (self.end - since),
            queue: QueueRecord::new(mean, self.own_max, &QueueSamples::default()),
            ..PortRecord::default()
        }
    }

    /// Cells that came to a port after the shared one and left it, and when the one came that is in
    /// it at the end.
    pub(crate) fn passed(&self, pass: &PassThrough) -> (u64, u64, Option<SimTime>) {
        let by = |after: SimTime| SimTime(self.end).since(after).0;
        let forwarded = self.forwarded();
        let arrived = forwarded.before(by(pass.arrival));
        let departed = forwarded.before(by(pass.departure));
        let inside = forwarded.first_from(by(pass.departure));
        let inside = inside.filter(|_| arrived > departed);
        (
            arrived,
            departed,
            inside.map(|left| SimTime(left) + pass.arrival),
        )
    }

    /// Returns the record of its cells at the end of the run.
    pub(crate) fn vc_record(&self, name: &str) -> VcRecord {
        let end = SimTime(self.end);
        let forwarded = self.forwarded();
        let delivered = forwarded.before(end.since(self.plan.hop.delay).0);
        let own = self.sent - self.own_departures.before(self.end);
        let shared = self.arrivals.before(self.end) - self.departures.before(self.end);
        let passing = self.plan.hop.passes.iter().map(|pass| {
            let (arrived, departed, _) = self.passed(pass);
            arrived - departed
        });
        let queued = own + shared + passing.sum::<u64>();
        let mut record = VcRecord {
            name: name.to_string(),
            cells_offered: self.sent,
            cells_discarded: self.discarded,
            cells_delivered: delivered,
            cells_queued: queued,
            frames_offered: self.source.record().frames,
            frames_delivered: delivered,
            cells_whole: delivered,
            ..VcRecord::default()
        };
        self.edge.write(&mut record);
        record.cells_lost.drawn = self.lossy.as_ref().map_or(0, |lossy| lossy.lost);
        let discarded = record.cells_policed + self.discarded.total();
        let gone = delivered + discarded + record.cells_lost.drawn;
        record.cells_in_transit = self.sent - gone - queued;
        record
    }

    /// Its cell transfer delays, where they are measured.
    pub(crate) fn delays(&self) -> Option<&CellDelays> {
        self.delays.as_ref()
    }

    /// Its sampled occupancy of the shared port.
    pub(crate) fn vc_queue_record(&self) -> VcQueueRecord {
        VcQueueRecord::new(self.plan.vc, &self.samples)
    }
}
