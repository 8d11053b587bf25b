//! What a run asks of a port that has a queue, whatever its form: samples, and its record at the end.

use crate::port::source::SourcePort;
use skycell_records::{PortRecord, Traces};
use skycell_spec::{RecordSpec, TraceKind};
use skycell_units::SimTime;

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
        let (units, octets) = self.sample(now);
        if records.traces.contains(&TraceKind::Queue) {
            traces.queue.push(id, now.0, units, octets);
        }
    }

    fn sample_vcs(&mut self, id: u32, now: SimTime, records: &RecordSpec, traces: &mut Traces) {
        self.sample_each_vc(now, &mut note_vc((id, now), records, traces));
    }

    fn record(&self, name: &str, end: SimTime, has_vc_samples: bool) -> PortRecord {
        self.record(name, end, has_vc_samples)
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
