//! What a run leaves: where every cell is when it ends.

use crate::mux::MuxPort;
use crate::network::{Network, Vc};
use crate::source::SourcePort;
use crate::stations::{PassPort, Port, in_pass};
use skycell_records::{
    Discards, EngineStats, Ledger, PortRecord, QueueIntegral, QueueRecord, RunRecords,
    VcQueueRecord, VcRecord, WebTotals,
};
use skycell_units::SimTime;

/// Cells that came to a station before the end of the run, and that left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Passed {
    arrived: u64,
    departed: u64,
}

/// The records of a network whose run has ended.
pub(crate) fn records(mut network: Network<'_>) -> RunRecords {
    network.finish_ports();
    let (flows, traces) = network.take_flows();
    let end = network.end;
    let flows: Vec<_> = flows.iter().map(|flow| flow.record(end)).collect();
    let mut passed = vec![Passed::default(); network.ports.len()];
    let vcs: Vec<_> = network
        .vcs
        .iter()
        .zip(&network.spec.vcs)
        .map(|(vc, spec)| vc_record(&network, vc, &spec.name, &mut passed))
        .collect();
    let ports: Vec<_> = (0u32..)
        .zip(&network.ports)
        .map(|(id, port)| {
            let mut record = match port {
                Port::Source(port) => source_record(port, end),
                Port::Mux(port) => mux_record(port, end),
                Port::Pass(port) => {
                    let inside = in_pass(&network.ports, id, end).map(|(came, _)| came);
                    pass_record(port, passed[id as usize], inside, end)
                }
            };
            record
                .name
                .clone_from(&network.spec.links[id as usize].name);
            if network.spec.records.vc_sampled_ports.contains(&id) {
                record.vc_queues = vc_queues(port);
            }
            record
        })
        .collect();
    let stepped = network.ports.iter().map(|port| match port {
        Port::Mux(port) => port.stepped,
        _ => 0,
    });
    let stats = EngineStats {
        events: network.events.popped(),
        cells: ports.iter().map(|p| p.arrived - p.discarded.total()).sum(),
        cells_stepped: stepped.sum(),
    };
    RunRecords {
        engine: "fast",
        duration_ps: end.0,
        sources: Vec::new(),
        cell_delays: Vec::new(),
        ledger: Ledger::of(&flows, &vcs, &ports, &[], network.frames.made()),
        web: WebTotals::of(&flows),
        flows,
        vcs,
        ports,
        engine_stats: stats,
        traces,
    }
}

/// Follows a VC from station to station. Adds what went through pass-through ports to `passed`.
fn vc_record(network: &Network<'_>, vc: &Vc, name: &str, passed: &mut [Passed]) -> VcRecord {
    let end = network.end;
    let mut record = VcRecord {
        name: name.to_string(),
        cells_offered: vc.cells_offered,
        cells_discarded: vc.discarded_at_source,
        frames_offered: vc.frames_offered,
        frames_delivered: vc.frames_delivered,
        cells_whole: vc.cells_whole,
        frames_corrupt: vc.frames_corrupt,
        cells_corrupt: vc.cells_corrupt,
        ..VcRecord::default()
    };
    let Port::Source(source) = &network.ports[vc.route.source as usize] else {
        unreachable!("a route begins at a source port");
    };
    let taken_in = vc.cells_offered - vc.discarded_at_source.total();
    // Cells that left the source port at least `after` before the end.
    let left_source =
        |after: SimTime| taken_in - source.not_departed_before(end.since(after), vc.source_place);
    let mut departed = left_source(SimTime::ZERO);
    record.cells_queued += taken_in - departed;
    for pass in &vc.route.first.passes {
        let here = Passed {
            arrived: left_source(pass.arrival),
            departed: left_source(pass.departure),
        };
        pass_through(&mut record, &mut passed[pass.port as usize], departed, here);
        departed = here.departed;
    }
    let mut arrived = left_source(vc.route.first.delay);
    record.cells_in_transit += departed - arrived;
    if let Some((port, stretch)) = &vc.route.mux {
        let Port::Mux(mux) = &network.ports[*port as usize] else {
            unreachable!("a route is multiplexed at a multiplexing port");
        };
        let here = &mux.vcs[vc.mux_place as usize];
        add(&mut record.cells_discarded, &here.discarded);
        let left_mux = |after: SimTime| mux.departed_before(end.since(after), vc.mux_place);
        departed = left_mux(SimTime::ZERO);
        record.cells_queued += here.taken_in - departed;
        for pass in &stretch.passes {
            let here = Passed {
                arrived: left_mux(pass.arrival),
                departed: left_mux(pass.departure),
            };
            pass_through(&mut record, &mut passed[pass.port as usize], departed, here);
            departed = here.departed;
        }
        arrived = left_mux(stretch.delay);
        record.cells_in_transit += departed - arrived;
    }
    record.cells_delivered = arrived;
    record.cells_open = arrived - record.cells_whole - record.cells_corrupt;
    if let Some(guaranteed) = &vc.guaranteed {
        guaranteed.write(&mut record);
    }
    record
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

fn source_record(port: &SourcePort, end: SimTime) -> PortRecord {
    let queued = port.arrived - port.discarded.total() - port.departed;
    let mean = port.integral.mean(queued, end.0);
    PortRecord {
        arrived: port.arrived,
        departed: port.departed,
        queued,
        discarded: port.discarded,
        frames_discarded: port.frames_discarded,
        busy_ps: port.busy(end).0,
        queue: QueueRecord::new(mean, port.queue_max, &port.samples),
        ..PortRecord::default()
    }
}

fn mux_record(port: &MuxPort, end: SimTime) -> PortRecord {
    let departed = port.departed;
    let queued = port.log.taken_in() - departed;
    let mean = port.integral.mean(queued, end.0);
    PortRecord {
        arrived: port.arrived,
        departed,
        queued,
        discarded: port.discarded,
        frames_discarded: port.frames_discarded,
        busy_ps: port.busy(queued).0,
        queue: QueueRecord::new(mean, port.queue_max as u32, &port.samples),
        ..PortRecord::default()
    }
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
        queue: QueueRecord::new(integral.mean(0, end.0), max, &port.samples),
        ..PortRecord::default()
    }
}

fn vc_queues(port: &Port) -> Vec<VcQueueRecord> {
    match port {
        Port::Source(port) => {
            let vcs = port.vcs.iter();
            vcs.map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect()
        }
        Port::Pass(port) => {
            let vcs = port.vcs.iter();
            vcs.map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect()
        }
        Port::Mux(port) => {
            let vcs = port.vcs.iter();
            vcs.map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect()
        }
    }
}
