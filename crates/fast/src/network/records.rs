//! What a run leaves: where every cell is when it ends.

use super::Network;
use crate::link::lossy::LossyLink;
use crate::port::cell_stream::CellStream;
use crate::port::mux::server::Server;
use crate::port::mux::{FrameQueue, MuxPort};
use crate::port::source::SourcePort;
use crate::port::stepped::SteppedPort;
use crate::port::{PassPort, Port, last_of_pass};
use skycell_records::{
    CellDelayRecord, CellDelays, ClassDelayRecord, ClassQueueRecord, Discards, EngineStats, Ledger,
    PortRecord, QueueIntegral, QueueRecord, QueueSamples, RunRecords, SourceRecord, VcQueueRecord,
    VcRecord, WebTotals, delay_records,
};
use skycell_units::SimTime;

/// Cells that came to a station before the end of the run, and that left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Passed {
    arrived: u64,
    departed: u64,
}

impl Network<'_> {
    /// The records of the run, which has ended.
    pub(crate) fn records(self) -> RunRecords {
        let mut network = self;
        network.finish_ports();
        let (flows, traces) = network.take_flows();
        let end = network.end;
        let flows: Vec<_> = flows.iter().map(|flow| flow.record(end)).collect();
        let mut passed = vec![Passed::default(); network.ports.len() as usize];
        let vcs = 0..network.vcs.rest.len();
        let mut vcs: Vec<_> = vcs.map(|id| vc_record(&network, id, &mut passed)).collect();
        let mut ports: Vec<_> = (0u32..)
            .zip(network.ports.iter())
            .map(|(id, port)| port_record(&network, id, port, passed[id as usize]))
            .collect();
        let streams = Streams::of(&network);
        streams.note(&network, &mut vcs, &mut ports);
        let stats = EngineStats {
            events: network.events.popped(),
            cells: ports.iter().map(|p| p.arrived - p.discarded.total()).sum(),
            cells_stepped: network.ports.iter().map(stepped).sum(),
            stepped_ports: std::mem::take(&mut network.stepped_ports),
        };
        RunRecords {
            engine: "fast",
            duration_ps: end.0,
            ledger: {
                let of_streams =
                    self::streams(&network).map(|stream| stream.source.record().frames);
                let frames = network.frames.made() + of_streams.sum::<u64>();
                Ledger::of(&flows, &vcs, &ports, &streams.sources, frames)
            },
            sources: streams.sources,
            cell_delays: streams.delays,
            class_delays: streams.class_delays,
            web: WebTotals::of(&flows),
            flows,
            vcs,
            ports,
            engine_stats: stats,
            traces,
        }
    }
}

/// What a port did, and what its queues hold at the end; of one that cells pass, `passed` tells that.
fn port_record(network: &Network<'_>, id: u32, port: Port<'_>, passed: Passed) -> PortRecord {
    let end = network.end;
    let mut record = match port {
        Port::Source(port) => source_record(port, end),
        Port::Packets(port) => port.record(end),
        Port::Stepped(port) => {
            let has_vc_samples = network.spec.records.vc_sampled_ports.contains(&id);
            let name = &network.spec.links[id as usize].name;
            return port.port.record(name, end, has_vc_samples);
        }
        Port::Mux(port) => mux_record(port, end),
        Port::Pass(port) => {
            // Also a cell that would leave at this very moment.
            let inside = (passed.arrived > passed.departed)
                .then(|| last_of_pass(&network.ports, id, end))
                .flatten();
            pass_record(port, passed, inside, end)
        }
    };
    record
        .name
        .clone_from(&network.spec.links[id as usize].name);
    if network.spec.records.vc_sampled_ports.contains(&id) {
        record.vc_queues = vc_queues(port);
    }
    record
}

/// Cells that a port took one by one.
fn stepped(port: Port<'_>) -> u64 {
    match port {
        Port::Mux(port) => {
            let served = port.log.server.as_ref().map_or(0, |server| server.served);
            let chosen = port.vc_queues.as_ref().map_or(0, |queues| queues.count());
            port.stepped + served + chosen
        }
        Port::Stepped(port) => port.stepped,
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
    if let Port::Packets(port) = network.ports.get(rest.route.source) {
        let here = &port.vcs[begin.source_place as usize];
        let taken_in = begin.cells_offered - rest.discarded_at_source.total();
        record.cells_whole = at_end.frames_delivered;
        record.cells_delivered = at_end.frames_delivered;
        record.cells_queued = taken_in - here.departed;
        record.cells_lost.drawn = here.lost;
        record.cells_in_transit = here.departed - here.lost - at_end.frames_delivered;
        return record;
    }
    let mut arrived = match rest.route.begins_stepped() {
        true => 0,
        false => leave_source(network, id, &mut record, passed),
    };
    for ((port, stretch), &place) in rest.route.muxes.iter().zip(&rest.places) {
        let mux = match network.ports.get(*port) {
            Port::Stepped(port) => {
                step_through(&mut record, port, place);
                arrived = rest.delivered;
                continue;
            }
            _ => network.ports.mux(*port),
        };
        let here = &mux.vcs[place as usize];
        let discarded = &mux.rest_of_vcs[place as usize].discarded;
        add(&mut record.cells_discarded, discarded);
        let left_mux = |after: SimTime| {
            let time = end.since(after);
            mux.departed_before(time, place) - lost_behind(mux.lossy.as_deref(), time, place)
        };
        let mut departed = left_mux(SimTime::ZERO);
        let lost = lost_behind(mux.lossy.as_deref(), end, place);
        record.cells_lost.drawn += lost;
        record.cells_queued += here.taken_in - departed - lost;
        for pass in &stretch.passes {
            let here = Passed {
                arrived: left_mux(pass.arrival),
                departed: left_mux(pass.departure),
            };
            pass_through(&mut record, &mut passed[pass.port as usize], departed, here);
            departed = here.departed;
        }
        if let Some(moving) = &mux.moving {
            let (drawn, handed_over) = moving.lost(place);
            record.cells_lost.drawn += drawn;
            record.cells_lost.handover += handed_over;
            departed -= drawn + handed_over;
            arrived = moving.arrived(place);
        } else {
            arrived = left_mux(stretch.delay);
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

/// What became of cells at the port where the VC begins, in closed form, and on the way to the next at which they may
/// wait; returns how many came to the end of that way.
fn leave_source(
    network: &Network<'_>,
    id: usize,
    record: &mut VcRecord,
    passed: &mut [Passed],
) -> u64 {
    let end = network.end;
    let (begin, rest) = (network.vcs.begin(id as u32).0, &network.vcs.rest[id]);
    let source = network.ports.source(rest.route.source);
    let taken_in = begin.cells_offered - rest.discarded_at_source.total();
    // Cells that left the source port at least `after` before the end, and were not lost behind it.
    let left_source = |after: SimTime| {
        let (time, place) = (end.since(after), begin.source_place);
        let lost = lost_behind(source.rest.lossy.as_ref(), time, place);
        taken_in - source.not_departed_before(time, place) - lost
    };
    let mut departed = left_source(SimTime::ZERO);
    let lost = lost_behind(source.rest.lossy.as_ref(), end, begin.source_place);
    record.cells_lost.drawn += lost;
    record.cells_queued += taken_in - departed - lost;
    for pass in &rest.route.first.passes {
        let here = Passed {
            arrived: left_source(pass.arrival),
            departed: left_source(pass.departure),
        };
        pass_through(record, &mut passed[pass.port as usize], departed, here);
        departed = here.departed;
    }
    let arrived = left_source(rest.route.first.delay);
    record.cells_in_transit += departed - arrived;
    arrived
}

/// Cells of the VC at `place` that the link lost before `time`, if it loses any.
fn lost_behind(lossy: Option<&LossyLink>, time: SimTime, place: u32) -> u64 {
    lossy.map_or(0, |lossy| lossy.lost_before(time, place))
}

/// What became of the units of the VC at `place` of a stepped port, and on its link.
fn step_through(record: &mut VcRecord, port: &SteppedPort, place: u32) {
    let here = &port.vcs[place as usize];
    add(&mut record.cells_discarded, &here.discarded);
    record.cells_queued += u64::from(port.port.vcs[place as usize].queued);
    record.cells_in_transit += port.in_transit(place);
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

fn source_record(port: &SourcePort, end: SimTime) -> PortRecord {
    let rest = &port.rest;
    let queued = port.arrived - rest.discarded.total() - rest.departed;
    let mean = rest.integral.mean(queued, end.0);
    PortRecord {
        arrived: port.arrived,
        departed: rest.departed,
        queued,
        discarded: rest.discarded,
        frames_discarded: rest.frames_discarded,
        busy_ps: port.busy(end).0,
        queue: QueueRecord::new(mean, port.queue_max, &rest.samples),
        ..PortRecord::default()
    }
}

fn mux_record(port: &MuxPort, end: SimTime) -> PortRecord {
    let integrals = port.queues.iter().map(|queue| queue.integral);
    let integral = integrals.fold(QueueIntegral::default(), QueueIntegral::and);
    if let Some(server) = &port.log.server {
        let own = &port.queues.first;
        let queued = port.log.taken_in() - port.departed;
        let record = queue_record(own, port.departed, queued, &QueueSamples::default(), end);
        let (queues, beside) = server.records(record);
        let busy = busy_with(port, server, queued, &queues, end);
        return PortRecord {
            busy_ps: busy,
            ..shared_record(port, queues, integral.and(beside), end)
        };
    }
    if port.has_classes() {
        let sent = port.vc_queues.as_ref().expect("classes have queues");
        let records = port.queues.iter().zip(0..).map(|(queue, at)| {
            let (taken_in, departed, _) = sent.totals(at);
            queue_record(queue, departed, taken_in - departed, &queue.samples, end)
        });
        let queued = port.log.taken_in() - port.departed;
        return PortRecord {
            busy_ps: port.busy(queued).0,
            ..shared_record(port, records.collect(), integral, end)
        };
    }
    let queued = port.log.taken_in() - port.departed;
    let own = queue_record(
        &port.queues.first,
        port.departed,
        queued,
        &port.samples,
        end,
    );
    PortRecord {
        arrived: own.arrived,
        departed: own.departed,
        queued,
        discarded: own.discarded,
        frames_discarded: own.frames_discarded,
        busy_ps: port.busy(queued).0,
        queue: own.queue,
        ..PortRecord::default()
    }
}

/// What a queue of frames did.
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

/// What a port with these queues did, but for the time during which it sent.
fn shared_record(
    port: &MuxPort,
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
    port: &MuxPort,
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

/// What became of the cells of sources.
struct Streams {
    sources: Vec<SourceRecord>,
    delays: Vec<CellDelayRecord>,
    class_delays: Vec<ClassDelayRecord>,
}

impl Streams {
    fn of(network: &Network<'_>) -> Self {
        let mut sources = vec![SourceRecord::default(); network.spec.sources.len()];
        let mut measured: Vec<(u32, &CellDelays)> = Vec::new();
        for (id, source, _) in &network.sources {
            sources[*id as usize] = source.record();
        }
        for stream in streams(network) {
            sources[stream.plan.source as usize] = stream.source.record();
            measured.extend(stream.delays().map(|delays| (stream.plan.vc, delays)));
        }
        let is_stream = |vc: u32| streams(network).any(|stream| stream.plan.vc == vc);
        for (rest, id) in network.vcs.rest.iter().zip(0u32..) {
            let delays = rest.delays.as_deref().filter(|_| !is_stream(id));
            measured.extend(delays.map(|delays| (id, delays)));
        }
        measured.sort_by_key(|(vc, _)| *vc);
        let (delays, class_delays) = delay_records(measured.into_iter(), network.spec);
        Streams {
            sources,
            delays,
            class_delays,
        }
    }

    /// Puts what streams did into the records of VCs and ports.
    fn note(&self, network: &Network<'_>, vcs: &mut [VcRecord], ports: &mut [PortRecord]) {
        for stream in streams(network) {
            let vc = &mut vcs[stream.plan.vc as usize];
            *vc = stream.vc_record(&vc.name);
            let own = &mut ports[stream.plan.own_port as usize];
            *own = PortRecord {
                name: std::mem::take(&mut own.name),
                ..stream.own_port_record()
            };
            for pass in &stream.plan.stretch.passes {
                let port = network.ports.pass(pass.port);
                let (arrived, departed, inside) = stream.passed(pass);
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

fn streams<'a>(network: &'a Network<'_>) -> impl Iterator<Item = &'a CellStream> {
    let servers = network.ports.iter().filter_map(|port| match port {
        Port::Mux(port) => port.log.server.as_ref(),
        _ => None,
    });
    servers.flat_map(|server| &server.streams)
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

fn vc_queues(port: Port<'_>) -> Vec<VcQueueRecord> {
    match port {
        Port::Source(port) => {
            let vcs = port.rest.vcs.iter();
            vcs.map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect()
        }
        Port::Pass(_) => unreachable!("none is sampled"),
        Port::Stepped(_) => unreachable!("its record is whole"),
        Port::Packets(port) => {
            let vcs = port.vcs.iter();
            vcs.map(|vc| VcQueueRecord::new(vc.vc, &vc.samples))
                .collect()
        }
        Port::Mux(port) => {
            let beside = port.log.server.iter().flat_map(|server| &server.streams);
            let vcs = port.vcs.iter().zip(&port.rest_of_vcs);
            vcs.map(|(vc, rest)| VcQueueRecord::new(vc.vc, &rest.samples))
                .chain(beside.map(CellStream::vc_queue_record))
                .collect()
        }
    }
}
