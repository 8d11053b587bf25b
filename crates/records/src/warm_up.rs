//! The records of a run from a moment on, of which the run up to there is the beginning.
//!
//! A run is a function of its spec, so that a run that ends at the moment is the beginning of the longer one, event by
//! event: what counts is the difference of the two, histograms bucket by bucket.

use crate::packets::{EcnCounts, EcnRecord, FlowSojournRecord};
use crate::{
    AbrRecord, CellStayRecord, ClassQueueRecord, Discards, ErrorRecord, FlowRecord, LinkLosses,
    PacketRecord, PepRecord, PortRecord, QueueRecord, ResequencerRecord, ResponseTimes,
    RunGuarantee, RunRecords, SojournRecord, SourceRecord, StreamRecord, UplinkRecord,
    UserSectionRecord, VcQueueRecord, VcRecord, WebRecord, WebTotals, WindowRecord, delay_records,
};
use skycell_spec::NetworkSpec;

/// Takes the counters of a beginning off those of the whole run. What is not named is what there is at the end.
macro_rules! subtract {
    ($whole:expr, $start:expr; $($field:ident),* $(,)?) => {
        $($whole.$field -= $start.$field;)*
    };
}

impl RunRecords {
    /// Returns the records of a run of `spec` from the end of `start`, its beginning, on.
    ///
    /// Counters and times are differences, and so are means, weighted by time or by what they are means of; percentiles
    /// are those of the samples and of the delays from then on. What is there at the end (a queue, what is under way or
    /// outstanding), the largest and the least of a flow, of a window and of a queue, the ledger and the traces are those
    /// of the whole run.
    #[must_use]
    pub fn since(mut self, start: &RunRecords, spec: &NetworkSpec) -> RunRecords {
        let whole_ps = self.duration_ps;
        let times = Times {
            whole_ps,
            start_ps: start.duration_ps,
        };
        for (flow, start) in self.flows.iter_mut().zip(&start.flows) {
            subtract_flow(flow, start);
        }
        for (vc, start) in self.vcs.iter_mut().zip(&start.vcs) {
            subtract_vc(vc, start);
        }
        for (port, start) in self.ports.iter_mut().zip(&start.ports) {
            times.subtract_port(port, start);
        }
        for (group, before) in self.users.iter_mut().zip(&start.users) {
            group.subtract(before, start.duration_ps);
            subtract_stream(&mut group.forward, &before.forward);
            subtract_stream(&mut group.reverse, &before.reverse);
            for (section, before) in group.sections.iter_mut().zip(&before.sections) {
                subtract_section(section, before);
            }
        }
        for (source, start) in self.sources.iter_mut().zip(&start.sources) {
            subtract_source(source, start);
        }
        for (uplink, start) in self.uplinks.iter_mut().zip(&start.uplinks) {
            *uplink = UplinkRecord::since(uplink, start);
        }
        let measured = self.cell_delays.iter().zip(&start.cell_delays);
        let measured: Vec<_> = measured
            .map(|(whole, start)| (whole.vc, whole.delays.since(&start.delays)))
            .collect();
        let measured = measured.iter().map(|(vc, delays)| (*vc, delays));
        (self.cell_delays, self.class_delays) = delay_records(measured, spec);
        self.web = WebTotals::of(&self.flows);
        if let (Some(sky), Some(start)) = (&mut self.sky, &start.sky) {
            sky.subtract(start, (whole_ps, times.start_ps));
        }
        self.engine_stats.events += start.engine_stats.events;
        self.engine_stats.cells += start.engine_stats.cells;
        self.engine_stats.cells_stepped += start.engine_stats.cells_stepped;
        self.measured_from_ps = start.duration_ps;
        self.duration_ps = whole_ps - start.duration_ps;
        self
    }
}

impl VcRecord {
    /// Cells offered that are neither delivered nor lost: in ports, on links, or in the resequencer.
    pub fn cells_unsettled(&self) -> u64 {
        let lost = self.cells_discarded.total() + self.cells_policed + self.cells_refused;
        self.cells_offered - self.cells_delivered - lost - self.cells_lost.total()
    }
}

/// The lengths of a run and of its beginning.
#[derive(Clone, Copy)]
struct Times {
    whole_ps: u64,
    start_ps: u64,
}

impl Times {
    /// A mean over time, from the end of the beginning on.
    fn mean(self, whole: f64, start: f64) -> f64 {
        mean((whole, self.whole_ps), (start, self.start_ps))
    }

    fn subtract_port(self, port: &mut PortRecord, start: &PortRecord) {
        subtract!(port, start; arrived, departed, busy_ps);
        subtract_discards(&mut port.discarded, &start.discarded);
        subtract_discards(&mut port.frames_discarded, &start.frames_discarded);
        self.subtract_queue(&mut port.queue, &start.queue);
        for (queue, start) in port.queues.iter_mut().zip(&start.queues) {
            self.subtract_class(queue, start);
        }
        for (vc, start) in port.vc_queues.iter_mut().zip(&start.vc_queues) {
            *vc = VcQueueRecord::new(vc.vc, &vc.samples.since(&start.samples));
        }
        if let (Some(octets), Some(start)) = (&mut port.octets, &start.octets) {
            self.subtract_packets(octets, start);
        }
        for (own, start) in port.stays.iter_mut().zip(&start.stays) {
            *own = CellStayRecord::new(own.vc, &own.stays.since(&start.stays));
        }
        if let (Some(errors), Some(start)) = (&mut port.errors, &start.errors) {
            subtract_errors(errors, start);
        }
    }

    fn subtract_class(self, queue: &mut ClassQueueRecord, start: &ClassQueueRecord) {
        subtract!(queue, start; arrived, departed);
        subtract_discards(&mut queue.discarded, &start.discarded);
        subtract_discards(&mut queue.frames_discarded, &start.frames_discarded);
        self.subtract_queue(&mut queue.queue, &start.queue);
        if let (Some(octets), Some(start)) = (&mut queue.octets, &start.octets) {
            self.subtract_packets(octets, start);
        }
    }

    fn subtract_queue(self, queue: &mut QueueRecord, start: &QueueRecord) {
        let mean = self.mean(queue.mean, start.mean);
        *queue = QueueRecord::new(mean, queue.max, &queue.samples.since(&start.samples));
    }

    fn subtract_packets(self, octets: &mut PacketRecord, start: &PacketRecord) {
        subtract!(octets, start; arrived, departed, discarded);
        octets.mean = self.mean(octets.mean, start.mean);
        octets.sojourn = SojournRecord::of(&octets.sojourn.stays.since(&start.sojourn.stays));
        for flow in &mut octets.flows {
            let earlier = start.flows.iter().find(|of| of.flow == flow.flow);
            if let Some(earlier) = earlier {
                let stays = flow.sojourn.stays.since(&earlier.sojourn.stays);
                *flow = FlowSojournRecord {
                    flow: flow.flow,
                    sojourn: SojournRecord::of(&stays),
                };
            }
        }
        octets.flows.retain(|flow| flow.sojourn.packets > 0);
        if let (Some(ecn), Some(start)) = (&mut octets.ecn, &start.ecn) {
            subtract_ecn(ecn, start);
        }
    }
}

/// Returns the rest of a mean, each given with its count; 0 without any.
pub(crate) fn mean(whole: (f64, u64), start: (f64, u64)) -> f64 {
    match whole.1 - start.1 {
        0 => 0.0,
        left if start.1 == 0 => whole.0 * (whole.1 as f64 / left as f64),
        left => {
            let sum = whole.0 * whole.1 as f64 - start.0 * start.1 as f64;
            // Rounding may leave less than nothing.
            sum.max(0.0) / left as f64
        }
    }
}

fn subtract_discards(whole: &mut Discards, start: &Discards) {
    subtract!(whole, start; overflow, rest_of_frame, above_threshold, over_fair_share, vc_threshold, drawn, tagged,
        delayed, pushed_out, policed, filtered);
}

fn subtract_losses(whole: &mut LinkLosses, start: &LinkLosses) {
    subtract!(whole, start; handover, drawn, off_path, header, misinserted, check, no_route, out_of_range, hop_limit);
}

fn subtract_errors(whole: &mut ErrorRecord, start: &ErrorRecord) {
    subtract!(whole, start; headers_corrected, headers_lost, misinserted, payloads, checks_failed);
}

fn subtract_ecn(whole: &mut EcnRecord, start: &EcnRecord) {
    let counts = |whole: &mut EcnCounts, start: &EcnCounts| {
        subtract!(whole, start; arrived, departed, discarded);
    };
    counts(&mut whole.ect, &start.ect);
    counts(&mut whole.ce, &start.ce);
    whole.marked -= start.marked;
}

fn subtract_source(whole: &mut SourceRecord, start: &SourceRecord) {
    subtract!(whole, start; cells, frames, octets, datagrams_delivered, octets_delivered);
    if let (Some(delay), Some(start)) = (&mut whole.delay, &start.delay) {
        *delay = SojournRecord::of(&delay.stays.since(&start.stays));
    }
}

fn subtract_flow(whole: &mut FlowRecord, start: &FlowRecord) {
    whole.delay_mean_ps = mean(
        (whole.delay_mean_ps, whole.segments_received),
        (start.delay_mean_ps, start.segments_received),
    );
    subtract!(whole, start; connected_ps, closings, closing_ps, octets_sent, octets_retransmitted, octets_acked,
        octets_delivered, octets_received, octets_highest, segments_sent, segments_retransmitted,
        segments_lost_by_script, segments_received, segments_duplicate, acks_sent, acks_received, dup_acks_received,
        timeouts, fast_retransmits, segments_marked, ecn_reductions, control_segments, transfers);
    whole.undos = whole
        .undos
        .zip(start.undos)
        .map(|(all, before)| all - before);
    if let (Some(web), Some(start)) = (&mut whole.web, &start.web) {
        subtract_web(web, start);
    }
    if let (Some(pep), Some(start)) = (&mut whole.pep, &start.pep) {
        subtract_pep(pep, start);
    }
    for (connection, start) in whole.connections.iter_mut().zip(&start.connections) {
        subtract_flow(connection, start);
    }
    whole.earlier_octets = start.octets_sent - start.octets_retransmitted;
    whole.earlier_transfers = start.transfers;
}

fn subtract_stream(whole: &mut StreamRecord, start: &StreamRecord) {
    subtract!(whole, start; octets_sent, octets_retransmitted, octets_acked, octets_delivered, octets_received,
        segments_sent, segments_retransmitted, acks_sent, timeouts, fast_retransmits, control_segments);
}

fn subtract_section(whole: &mut UserSectionRecord, start: &UserSectionRecord) {
    subtract!(whole, start; connections);
    subtract_stream(&mut whole.forward, &start.forward);
    subtract_stream(&mut whole.reverse, &start.reverse);
    if let (Some(pep), Some(start)) = (&mut whole.pep, &start.pep) {
        subtract_pep(pep, start);
    }
    if let (Some(relayed), Some(start)) = (&mut whole.relayed, &start.relayed) {
        subtract!(relayed, start; octets_accepted);
    }
}

fn subtract_web(whole: &mut WebRecord, start: &WebRecord) {
    subtract!(whole, start; pages, requests, requests_answered, octets_scheduled);
    subtract_stream(&mut whole.request_stream, &start.request_stream);
    if let (Some(relayed), Some(start)) = (&mut whole.relayed, &start.relayed) {
        subtract!(relayed, start; octets_accepted);
    }
    // One cohort: files and pages that were asked for from then on. They end in the order in which they were asked for.
    leave_out(&mut whole.file_times_ps, start.requests);
    leave_out(&mut whole.page_times_ps, start.pages);
    whole.file_response = ResponseTimes::of(whole.file_times_ps.clone());
    whole.page_response = ResponseTimes::of(whole.page_times_ps.clone());
}

/// Leaves out the first `count` times, or all of fewer.
fn leave_out(times_ps: &mut Vec<u64>, count: u64) {
    let count = usize::try_from(count).map_or(times_ps.len(), |count| count.min(times_ps.len()));
    times_ps.drain(..count);
}

fn subtract_pep(whole: &mut PepRecord, start: &PepRecord) {
    subtract!(whole, start; octets_accepted, octets_passed_on, segments_refused);
}

fn subtract_vc(whole: &mut VcRecord, start: &VcRecord) {
    let under_way = |vc: &VcRecord| vc.cells_queued + vc.cells_in_transit + vc.cells_open;
    let (at_end, at_start) = (under_way(whole), under_way(start));
    whole.earlier_cells = start.cells_unsettled();
    subtract!(whole, start; cells_offered, cells_delivered, cells_nonconforming, cells_tagged, cells_policed,
        frames_offered, frames_delivered, cells_whole, frames_corrupt, frames_crc, cells_corrupt, frames_eligible,
        cells_eligible, frames_tagged, frames_oversized, frames_inconsistent, frames_refused, cells_refused);
    subtract_discards(&mut whole.cells_discarded, &start.cells_discarded);
    subtract_losses(&mut whole.cells_lost, &start.cells_lost);
    if whole.guarantee != WindowRecord::default() {
        whole.run_guarantee = RunGuarantee {
            is_met: whole.cells_whole >= whole.run_guarantee.due_cells,
            // What was under way at the beginning had been eligible, as far as it was, before.
            is_eligible_met: whole.cells_whole + at_end >= whole.cells_eligible + at_start,
            ..whole.run_guarantee
        };
    }
    if let (Some(abr), Some(start)) = (&mut whole.abr, &start.abr) {
        subtract_abr(abr, start);
    }
    if let (Some(clp0), Some(start)) = (&mut whole.clp0, &start.clp0) {
        subtract!(clp0, start; cells_offered, cells_lost);
    }
    if let (Some(resequencer), Some(start)) = (&mut whole.resequencer, &start.resequencer) {
        subtract_resequencer(resequencer, start);
    }
}

fn subtract_abr(whole: &mut AbrRecord, start: &AbrRecord) {
    subtract!(whole, start; forward_sent, forward_out_of_rate, forward_received, backward_sent, backward_replaced,
        backward_received, becn_sent, becn_received, rm_cells_delivered);
}

fn subtract_resequencer(whole: &mut ResequencerRecord, start: &ResequencerRecord) {
    let mean_ps = mean(
        (whole.wait_mean_ps as f64, whole.cells_held),
        (start.wait_mean_ps as f64, start.cells_held),
    );
    whole.wait_mean_ps = mean_ps as u64;
    subtract!(whole, start; cells_held, cells_given_up, cells_late);
}
