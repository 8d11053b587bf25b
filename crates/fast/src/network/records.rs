//! The records of a run: where every cell is when it ends.

use super::Network;
use crate::link::lossy::LossyLink;
use crate::port::cell_source::OpenLoopSource;
use crate::port::form::Form;
use crate::port::stepped::SteppedPort;
use crate::port::{PassPort, Slot, last_of_pass};
use skycell_records::{
    CellDelayRecord, CellDelays, ClassDelayRecord, Discards, EngineStats, FlowRecord, Ledger,
    PortRecord, QueueIntegral, QueueRecord, QueueSamples, RunRecords, SourceRecord, VcRecord,
    WebTotals, delay_records,
};
use skycell_reference::Finished;
use skycell_traffic::Users;
use skycell_units::{PortVc, SimTime};

/// Cells that came to a station before the end of the run, and that left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Passed {
    arrived: u64,
    departed: u64,
}

impl Network<'_> {
    /// The records of the run, which has ended at the ports, too.
    pub(crate) fn records(self) -> RunRecords {
        let mut network = self;
        let (flows, mut traces) = network.take_flows();
        let coupled = network.coupled.take().map(|part| part.finish());
        let coupled = coupled.as_ref();
        if let Some(part) = coupled {
            traces.acr = part.traces.acr.clone();
            traces.rate_control = part.traces.rate_control.clone();
        }
        let end = network.end;
        let mut flows: Vec<_> = flows.iter().map(|flow| flow.record(end)).collect();
        for (id, half) in &network.halves {
            let own = &mut flows[id.index()];
            *own = FlowRecord::of_ends(std::mem::take(own), &half.record(end));
        }
        let users = network.users.as_ref();
        let users = users.map_or_else(Vec::new, Users::records);
        let mut passed = vec![Passed::default(); network.ports.slots.len()];
        let vcs = 0..network.vcs.rest.len();
        let of_vc = |id: usize| match coupled {
            Some(part) if network.vcs.is_coupled(id as u32) => part.vcs[id].clone(),
            _ => vc_record(&network, id, &mut passed),
        };
        let mut vcs: Vec<_> = vcs.map(of_vc).collect();
        let ports = (0u32..).zip(&passed);
        let ports = ports.map(|(id, passed)| port_record(&network, id, coupled, *passed));
        let mut ports: Vec<_> = ports.collect();
        let cell_sources = OpenLoopSources::of(&network, coupled);
        cell_sources.note(&network, &mut vcs, &mut ports);
        let stats = EngineStats {
            events: network.events.popped() - network.continued
                + network.events_elsewhere
                + coupled.map_or(0, |part| part.events),
            cells: ports.iter().map(|p| p.arrived - p.discarded.total()).sum(),
            cells_stepped: (network.ports.slots.iter().zip(&ports))
                .map(|(port, record)| stepped(port, record))
                .sum(),
            stepped_ports: std::mem::take(&mut network.stepped_ports),
            regions: None,
        };
        RunRecords {
            engine: "fast",
            duration_ps: end.0,
            measured_from_ps: 0,
            ledger: {
                let others = (&cell_sources.sources[..], &users[..]);
                let of_cell_sources = self::cell_sources(&network)
                    .map(|cell_source| cell_source.source.record().frames);
                let of_part = coupled.map_or(0, |part| part.frames);
                let frames = network.frames.made() + of_cell_sources.sum::<u64>() + of_part;
                Ledger::of(&flows, &vcs, &ports, others, frames)
            },
            users,
            sources: cell_sources.sources,
            probes: Vec::new(),
            uplinks: coupled.map_or_else(Vec::new, |part| part.uplinks.clone()),
            calls: Vec::new(),
            cell_delays: cell_sources.delays,
            class_delays: cell_sources.class_delays,
            web: WebTotals::of(&flows),
            flows,
            vcs,
            ports,
            engine_stats: stats,
            sky: None,
            traces,
        }
    }
}

/// Returns the record of a port, and of its queues at the end; for a port that cells pass, from
/// `passed`.
fn port_record(
    network: &Network<'_>,
    id: u32,
    coupled: Option<&Finished>,
    passed: Passed,
) -> PortRecord {
    let (end, name) = (network.end, &network.spec.links[id as usize].name);
    let form = match (&network.ports.slots[id as usize], coupled) {
        (Slot::Pass(port), _) => {
            // Also a cell that would leave at this very moment.
            let inside = (passed.arrived > passed.departed)
                .then(|| last_of_pass(&network.ports, id, end))
                .flatten();
            return PortRecord {
                name: name.clone(),
                ..pass_record(port, passed, inside, end)
            };
        }
        (Slot::Coupled, Some(part)) => Some(&part.ports[id as usize] as &dyn Form),
        _ => network.ports.form(id),
    };
    let form = form.expect("a port that cells do not pass has a queue");
    let has_vc_samples = network.spec.records.vc_sampled_ports.contains(&id);
    form.record(name, end, has_vc_samples)
}

/// Cells that a port took one by one.
fn stepped(port: &Slot, record: &PortRecord) -> u64 {
    match port {
        Slot::Output(port) => {
            let served = port.log.server.as_ref().map_or(0, |server| server.served);
            let chosen = port.vc_queues.as_ref().map_or(0, |queues| queues.count());
            port.stepped + served + chosen
        }
        Slot::Stepped(port) => port.stepped,
        Slot::Coupled => record.arrived - record.discarded.total(),
        _ => 0,
    }
}

/// Follows a VC from station to station. Adds what went through pass-through ports to `passed`.
fn vc_record(network: &Network<'_>, id: usize, passed: &mut [Passed]) -> VcRecord {
    let end = network.end;
    let vc = id as u32;
    let ((begin, _), (at_end, _)) = (network.vcs.begin(vc), network.vcs.end(vc));
    let rest = &network.vcs.rest[id];
    let mut record = VcRecord {
        name: network.spec.vcs[id].name.clone(),
        carries_packets: network.spec.carries_packets(id),
        cells_offered: begin.cells_offered,
        cells_discarded: rest.discarded_at_source,
        frames_offered: begin.frames_offered,
        frames_delivered: at_end.frames_delivered,
        cells_whole: at_end.cells_whole,
        frames_corrupt: rest.frames_corrupt,
        frames_crc: rest.frames_crc,
        cells_corrupt: rest.cells_corrupt,
        ..VcRecord::default()
    };
    let mut arrived = match rest.route.begins_stepped() {
        true => 0,
        false => leave_source(network, id, &mut record, passed),
    };
    for ((port, hop), &port_vc) in rest.route.outputs.iter().zip(&rest.port_vcs) {
        let output = match &network.ports.slots[*port as usize] {
            Slot::Output(port) => port,
            Slot::Stepped(port) => {
                step_through(&mut record, port, port_vc);
                arrived = rest.delivered;
                continue;
            }
            _ => unreachable!("units may wait there"),
        };
        let here = &output.vcs[port_vc.index()];
        let discarded = &output.rest_of_vcs[port_vc.index()].discarded;
        add(&mut record.cells_discarded, discarded);
        let left_output = |after: SimTime| {
            let time = end.since(after);
            output.departed_before(time, port_vc)
                - lost_behind(output.lossy.as_deref(), time, port_vc)
        };
        let mut departed = left_output(SimTime::ZERO);
        let lost = lost_behind(output.lossy.as_deref(), end, port_vc);
        record.cells_lost.drawn += lost;
        record.cells_queued += here.accepted - departed - lost;
        for pass in &hop.passes {
            let here = Passed {
                arrived: left_output(pass.arrival),
                departed: left_output(pass.departure),
            };
            pass_through(&mut record, &mut passed[pass.port as usize], departed, here);
            departed = here.departed;
        }
        if let Some(time_varying) = &output.time_varying {
            let (drawn, handover_lost) = time_varying.lost(port_vc);
            record.cells_lost.drawn += drawn;
            record.cells_lost.handover += handover_lost;
            departed -= drawn + handover_lost;
            arrived = time_varying.arrived(port_vc);
        } else {
            arrived = left_output(hop.delay);
        }
        record.cells_in_transit += departed - arrived;
    }
    record.cells_delivered = arrived;
    if network.spec.carries_packets(id) {
        record.cells_whole = at_end.frames_delivered;
    }
    record.cells_open = arrived - record.cells_whole - record.cells_corrupt;
    rest.edge.write(&mut record);
    record
}

/// Counts the cells at the port where the VC begins, in closed form, and on the path to the next
/// port at which they may wait; returns how many came to the end of that path.
fn leave_source(
    network: &Network<'_>,
    id: usize,
    record: &mut VcRecord,
    passed: &mut [Passed],
) -> u64 {
    let end = network.end;
    let (begin, rest) = (network.vcs.begin(id as u32).0, &network.vcs.rest[id]);
    let source = &network.ports.sources[begin.source as usize];
    let accepted = begin.cells_offered - rest.discarded_at_source.total();
    // Cells that left the source port at least `after` before the end, and were not lost behind it.
    let left_source = |after: SimTime| {
        let (time, port_vc) = (end.since(after), begin.source_port_vc);
        let lost = lost_behind(source.lossy(), time, port_vc);
        accepted - source.not_departed_before(time, port_vc) - lost
    };
    let queued = source.queued_at_end(begin.source_port_vc);
    let lost = lost_behind(source.lossy(), end, begin.source_port_vc);
    record.cells_lost.drawn += lost;
    record.cells_queued += queued;
    let mut departed = accepted - queued - lost;
    for pass in &rest.route.first.passes {
        let here = Passed {
            arrived: left_source(pass.arrival),
            departed: left_source(pass.departure),
        };
        pass_through(record, &mut passed[pass.port as usize], departed, here);
        departed = here.departed;
    }
    let arrived = match record.carries_packets {
        true => network.vcs.end(id as u32).0.frames_delivered,
        false => left_source(rest.route.first.delay),
    };
    record.cells_in_transit += departed - arrived;
    arrived
}

/// Cells of the VC at `port_vc` that the link lost before `time`, if it loses any.
fn lost_behind(lossy: Option<&LossyLink>, time: SimTime, port_vc: PortVc) -> u64 {
    lossy.map_or(0, |lossy| lossy.lost_before(time, port_vc))
}

/// Counts the units of the VC at `port_vc` of a stepped port, and on its link.
fn step_through(record: &mut VcRecord, port: &SteppedPort, port_vc: PortVc) {
    let here = &port.vcs[port_vc.index()];
    add(&mut record.cells_discarded, &here.discarded);
    record.cells_queued += u64::from(port.port.vcs[port_vc.index()].queued);
    record.cells_in_transit += port.in_transit(port_vc);
    record.cells_lost.add_all(&here.lost);
}

/// A VC of which `departed` cells were sent on to a pass-through port, where it stands as `here`.
fn pass_through(record: &mut VcRecord, port: &mut Passed, departed: u64, here: Passed) {
    record.cells_in_transit += departed - here.arrived;
    record.cells_queued += here.arrived - here.departed;
    port.arrived += here.arrived;
    port.departed += here.departed;
}

fn add(total: &mut Discards, more: &Discards) {
    for reason in skycell_records::DiscardReason::ALL {
        total.add(reason, more.of(reason));
    }
}

/// The counts of the sources' cells.
struct OpenLoopSources {
    sources: Vec<SourceRecord>,
    delays: Vec<CellDelayRecord>,
    class_delays: Vec<ClassDelayRecord>,
}

impl OpenLoopSources {
    fn of(network: &Network<'_>, coupled: Option<&Finished>) -> Self {
        let mut sources = vec![SourceRecord::default(); network.spec.sources.len()];
        let mut measured: Vec<(u32, &CellDelays)> = Vec::new();
        for (id, source, _) in &network.sources {
            sources[*id as usize] = source.record();
        }
        if let Some(part) = coupled {
            for ((source, of_source), record) in part
                .sources
                .iter()
                .zip(&network.spec.sources)
                .zip(&mut sources)
            {
                let is_datagram = !of_source.datagram_route.is_empty();
                if !is_datagram && network.vcs.is_coupled(of_source.vc) {
                    *record = source.record();
                }
            }
            measured.extend(part.delays.iter().map(|(vc, delays)| (*vc, delays)));
        }
        for cell_source in cell_sources(network) {
            sources[cell_source.plan.source as usize] = cell_source.source.record();
            measured.extend(
                cell_source
                    .delays()
                    .map(|delays| (cell_source.plan.vc, delays)),
            );
        }
        let is_open_loop =
            |vc: u32| cell_sources(network).any(|cell_source| cell_source.plan.vc == vc);
        for (rest, id) in network.vcs.rest.iter().zip(0u32..) {
            let delays = rest.delays.as_deref().filter(|_| !is_open_loop(id));
            measured.extend(delays.map(|delays| (id, delays)));
        }
        measured.sort_by_key(|(vc, _)| *vc);
        let (delays, class_delays) = delay_records(measured.into_iter(), network.spec);
        OpenLoopSources {
            sources,
            delays,
            class_delays,
        }
    }

    /// Puts what open-loop sources did into the records of VCs and ports.
    fn note(&self, network: &Network<'_>, vcs: &mut [VcRecord], ports: &mut [PortRecord]) {
        for cell_source in cell_sources(network) {
            let vc = &mut vcs[cell_source.plan.vc as usize];
            *vc = cell_source.vc_record(&vc.name);
            let own = &mut ports[cell_source.plan.own_port as usize];
            *own = PortRecord {
                name: std::mem::take(&mut own.name),
                ..cell_source.own_port_record()
            };
            for pass in &cell_source.plan.hop.passes {
                let Slot::Pass(port) = &network.ports.slots[pass.port as usize] else {
                    unreachable!("cells pass it");
                };
                let (arrived, departed, inside) = cell_source.passed(pass);
                let passed = Passed { arrived, departed };
                let record = &mut ports[pass.port as usize];
                *record = PortRecord {
                    name: std::mem::take(&mut record.name),
                    ..pass_record(port, passed, inside, network.end)
                };
            }
        }
    }
}

fn cell_sources<'a>(network: &'a Network<'_>) -> impl Iterator<Item = &'a OpenLoopSource> {
    let servers = network.ports.slots.iter().filter_map(|port| match port {
        Slot::Output(port) => port.log.server.as_ref(),
        _ => None,
    });
    servers.flat_map(|server| &server.cell_sources)
}

/// `inside`: when the cell came that is in the port at the end.
fn pass_record(
    port: &PassPort,
    passed: Passed,
    inside: Option<SimTime>,
    end: SimTime,
) -> PortRecord {
    let queued = passed.arrived - passed.departed;
    let stay = inside.map_or(SimTime::ZERO, |came| end - came);
    let busy = SimTime(passed.departed * port.cell_time.0) + stay;
    // Each cell stays for its transmission only.
    let mut integral = QueueIntegral::default();
    integral.departed(u128::from(busy.0));
    let max = u32::from(passed.arrived > 0);
    PortRecord {
        arrived: passed.arrived,
        departed: passed.departed,
        queued,
        busy_ps: busy.0,
        queue: QueueRecord::new(integral.mean(0, end.0), max, &QueueSamples::default()),
        ..PortRecord::default()
    }
}
