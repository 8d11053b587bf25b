//! What a run asks of a port that has a queue, whatever its form: samples, and its record at the end.

use crate::port::packets::PacketPort;
use crate::port::source::SourcePort;
use skycell_records::{PortRecord, QueueRecord, Traces, VcQueueRecord};
use skycell_spec::{RecordSpec, TraceKind};
use skycell_units::{CELL_OCTETS, SimTime};

/// A port that has a queue.
pub(crate) trait Form {
    /// Samples its queue at `now`, and those of its classes: departures of the instant done, arrivals not.
    fn sample(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces);

    /// Samples the occupancy of each VC.
    fn sample_vcs(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces);

    /// Returns its record in a run that ends at `end`, when all that leaves before has left.
    fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord;
}

/// Writes a row of the trace of VCs' occupancy at the port `id`, if it is asked for.
pub(super) fn note_vc(
    (id, now): (u32, SimTime),
    records: &RecordSpec,
    traces: &mut Traces,
) -> impl FnMut(u32, u32) {
    let is_traced = records.traces.contains(&TraceKind::VcQueue);
    move |vc, cells| {
        if is_traced {
            traces.vc_queue.push(id, vc, now.0, cells);
        }
    }
}

impl Form for SourcePort {
    fn sample(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        let cells = self.settled_queue(now);
        self.rest.samples.add(cells);
        if records.traces.contains(&TraceKind::Queue) {
            let octets = u64::from(cells) * CELL_OCTETS;
            traces.queue.push(id, now.0, cells, octets);
        }
    }

    fn sample_vcs(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        self.sample_each_vc(now, &mut note_vc((id, now), records, traces));
    }

    fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
        let rest = &self.rest;
        let queued = self.arrived - rest.discarded.total() - rest.departed;
        let mean = rest.integral.mean(queued, end.0);
        let vcs = rest.vcs.iter().filter(|_| has_vc_samples);
        PortRecord {
            name: name.into(),
            arrived: self.arrived,
            departed: rest.departed,
            queued,
            discarded: rest.discarded,
            frames_discarded: rest.frames_discarded,
            busy_ps: self.busy(end).0,
            queue: QueueRecord::new(mean, self.queue_max, &rest.samples),
            vc_queues: vcs
                .map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect(),
            ..PortRecord::default()
        }
    }
}

impl Form for PacketPort {
    fn sample(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        let packets = self.settled_queue(now);
        self.samples.add(packets);
        if records.traces.contains(&TraceKind::Queue) {
            traces.queue.push(id, now.0, packets, self.queued_octets());
        }
    }

    fn sample_vcs(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        self.sample_each_vc(now, &mut note_vc((id, now), records, traces));
    }

    fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
        let vcs = self.vcs.iter().filter(|_| has_vc_samples);
        PortRecord {
            name: name.into(),
            vc_queues: vcs
                .map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect(),
            ..self.counts(end)
        }
    }
}

/// A port that is stepped, alone or with others.
impl Form for skycell_reference::Port {
    fn sample(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        self.sample(id, now, records, traces);
    }

    fn sample_vcs(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        self.sample_vcs(id, now, records, traces);
    }

    fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
        self.record(name, end, has_vc_samples)
    }
}
