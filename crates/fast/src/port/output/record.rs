//! The record of a multiplexing port at the end of a run, and its samples before.

use super::OutputPort;
use super::queue::FrameQueue;
use super::server::Server;
use crate::port::cell_source::OpenLoopSource;
use crate::port::form::{Form, note_vc};
use skycell_records::{
    ClassQueueRecord, Discards, PortRecord, QueueIntegral, QueueRecord, QueueSamples, Traces,
    VcQueueRecord,
};
use skycell_spec::{RecordSpec, TraceKind};
use skycell_units::{CELL_OCTETS, PortVc, SimTime};

impl Form for OutputPort {
    fn sample(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        let own = self.queued(now) as u32;
        let cells = own + self.queued_beside(now);
        self.samples.add(cells);
        if records.traces.contains(&TraceKind::Queue) {
            let octets = u64::from(cells) * CELL_OCTETS;
            traces.queue.push(id, now.0, cells, octets);
        }
        let mut note = |queue: u32, departed: u64, cells: u32| {
            if records.traces.contains(&TraceKind::Service) {
                traces.service.push(id, queue, now.0, departed, cells);
            }
        };
        let own = (self.log.departed(now), own);
        if let Some(server) = &mut self.log.server {
            server.sample(now, own, &mut note);
        }
        self.sample_classes(now, &mut note);
    }

    fn sample_vcs(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        self.queued_beside(now);
        self.sample_each_vc(now, &mut note_vc((id, now), records, traces));
    }

    fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
        let vcs = self.vcs.iter().zip(&self.rest_of_vcs);
        let of_frames = vcs.map(|(vc, rest)| VcQueueRecord::new(vc.vc, &rest.samples));
        let beside = self.log.server.iter();
        let beside = beside.flat_map(|server| &server.cell_sources);
        let vc_queues = of_frames.chain(beside.map(OpenLoopSource::vc_queue_record));
        PortRecord {
            name: name.into(),
            vc_queues: vc_queues.filter(|_| has_vc_samples).collect(),
            ..self.counts(end)
        }
    }
}

impl OutputPort {
    /// Cells of sources in the port at `now`, arrivals before `now` done.
    fn queued_beside(&mut self, now: SimTime) -> u32 {
        let Some(server) = &mut self.log.server else {
            return 0;
        };
        server.advance(now);
        server.queued(now)
    }

    /// Where frames join several queues, samples the length of each at `now`; arrivals before `now` are processed. Tells
    /// its index, cells departed, and its length.
    fn sample_classes(&mut self, now: SimTime, report: &mut dyn FnMut(u32, u64, u32)) {
        let Some(sent) = self
            .vc_queues
            .as_mut()
            .filter(|_| self.queues.are_several())
        else {
            return;
        };
        sent.serve_until(now.0);
        for (queue, at) in self.queues.iter_mut().zip(0u32..) {
            let (departed, held) = sent.sent_and_held(at as usize, now);
            queue.samples.add(held as u32);
            report(at, departed, held as u32);
        }
    }

    /// Samples every VC's occupancy at `now`, and tells it; arrivals before `now` are processed.
    fn sample_each_vc(&mut self, now: SimTime, report: &mut dyn FnMut(u32, u32)) {
        if let Some(queues) = &mut self.vc_queues {
            queues.serve_until(now.0);
        }
        if let Some(departures) = &mut self.vc_departures {
            departures.settle(&self.log, self.log.departed(now));
        }
        let vcs = self.vcs.iter().zip(&mut self.rest_of_vcs);
        for ((vc, rest), port_vc) in vcs.zip(PortVc::all()) {
            let cells = match (&self.vc_queues, &self.vc_departures) {
                (Some(queues), _) => queues.queued(port_vc, vc.accepted, now),
                (None, Some(departures)) => (vc.accepted - departures.of(port_vc)) as u32,
                (None, None) => unreachable!("the port's VCs are sampled"),
            };
            rest.samples.add(cells);
            report(vc.vc, cells);
        }
        if let Some(server) = &mut self.log.server {
            for cell_source in &mut server.cell_sources {
                let cells = cell_source.queued(now.0);
                cell_source.samples.add(cells);
                report(cell_source.plan.vc, cells);
            }
        }
    }

    /// The counts of its record.
    fn counts(&self, end: SimTime) -> PortRecord {
        let integrals = self.queues.iter().map(|queue| queue.integral);
        let integral = integrals.fold(QueueIntegral::default(), QueueIntegral::and);
        if let Some(server) = &self.log.server {
            let own = &self.queues.first;
            let queued = self.log.accepted() - self.departed;
            let record = queue_record(own, self.departed, queued, &QueueSamples::default(), end);
            let (queues, beside) = server.records(record);
            let busy = busy_with(self, server, queued, &queues, end);
            return PortRecord {
                busy_ps: busy,
                ..shared_record(self, queues, integral.and(beside), end)
            };
        }
        if self.has_classes() {
            let sent = self.vc_queues.as_ref().expect("classes have queues");
            let records = self.queues.iter().zip(0..).map(|(queue, at)| {
                let (accepted, departed, _) = sent.totals(at);
                queue_record(queue, departed, accepted - departed, &queue.samples, end)
            });
            let queued = self.log.accepted() - self.departed;
            return PortRecord {
                busy_ps: self.busy(queued).0,
                ..shared_record(self, records.collect(), integral, end)
            };
        }
        let queued = self.log.accepted() - self.departed;
        let own = queue_record(
            &self.queues.first,
            self.departed,
            queued,
            &self.samples,
            end,
        );
        PortRecord {
            arrived: own.arrived,
            departed: own.departed,
            queued,
            discarded: own.discarded,
            frames_discarded: own.frames_discarded,
            busy_ps: self.busy(queued).0,
            queue: own.queue,
            ..PortRecord::default()
        }
    }

    /// Time during which a cell was under transmission, after `finish`, with `queued` cells left.
    fn busy(&self, queued: u64) -> SimTime {
        let whole = SimTime(self.departed * self.cell_time);
        if queued == 0 {
            return whole;
        }
        let departure = self.log.departure(self.departed);
        let departure = departure.expect("a queued cell's busy period is the present one");
        whole + (self.end + SimTime(self.cell_time) - departure)
    }
}

/// Returns the record of a queue of frames.
fn queue_record(
    queue: &FrameQueue,
    departed: u64,
    queued: u64,
    samples: &QueueSamples,
    end: SimTime,
) -> ClassQueueRecord {
    let mean = queue.integral.mean(queued, end.0);
    ClassQueueRecord {
        class: queue.class,
        arrived: queue.arrived,
        departed,
        queued,
        discarded: queue.discarded,
        frames_discarded: queue.frames_discarded,
        queue: QueueRecord::new(mean, queue.queue_max as u32, samples),
        octets: None,
    }
}

/// Returns the record of a port with these queues, without the time during which it sent.
fn shared_record(
    port: &OutputPort,
    queues: Vec<ClassQueueRecord>,
    integral: QueueIntegral,
    end: SimTime,
) -> PortRecord {
    let sum = |of: fn(&ClassQueueRecord) -> u64| queues.iter().map(of).sum::<u64>();
    let all = |of: fn(&ClassQueueRecord) -> &Discards| {
        let queues = queues.iter().map(of);
        queues.fold(Discards::default(), Discards::and)
    };
    let queued = sum(|queue| queue.queued);
    let max = queues.iter().map(|queue| queue.queue.max).sum();
    PortRecord {
        arrived: sum(|queue| queue.arrived),
        departed: sum(|queue| queue.departed),
        queued,
        discarded: all(|queue| &queue.discarded),
        frames_discarded: all(|queue| &queue.frames_discarded),
        queue: QueueRecord::new(integral.mean(queued, end.0), max, &port.samples),
        queues,
        ..PortRecord::default()
    }
}

/// Time during which a port with a server sent, picoseconds: `own` cells of frames are left of what its `queues` hold.
fn busy_with(
    port: &OutputPort,
    server: &Server,
    own: u64,
    queues: &[ClassQueueRecord],
    end: SimTime,
) -> u64 {
    let of_frames = port.log.departure(port.departed).filter(|_| own > 0);
    let next = of_frames
        .map(|departure| departure.0)
        .into_iter()
        .chain(server.first_departure_after_end())
        .min();
    let next = next.filter(|_| queues.iter().any(|queue| queue.queued > 0));
    let sending = next.map_or(0, |next| end.0 + port.cell_time() - next);
    let departed: u64 = queues.iter().map(|queue| queue.departed).sum();
    departed * port.cell_time() + sending
}
