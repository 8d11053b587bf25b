//! Classes on a link between switches: queues, schedulers, cell sources.

use super::{Builder, Dice, MICROSECOND, MILLISECOND, scenario, schedules};
use skycell_des::Stream;
use skycell_spec::*;

/// Classes that frames join, too.
const CLASSES: [ServiceClass; 4] = [
    ServiceClass::Cbr,
    ServiceClass::NrtVbr,
    ServiceClass::Gfr,
    ServiceClass::Ubr,
];

/// A scenario in which frames join several queues at some ports of switches, each with a policy of its own; some links
/// between others move or lose frames.
pub fn several_classes(seed: u64) -> NetworkSpec {
    let mut spec = scenario(seed);
    schedules::keep_all(&mut spec);
    let mut dice = Dice(Stream::new(seed, "several classes"));
    for at in 0..spec.links.len() {
        let link = &mut spec.links[at];
        let is_at_switch = spec.nodes[link.from as usize].kind == NodeKind::Switch;
        let is_simple =
            link.port.queues.len() > 1 || link.port.scheduler == SchedulerSpec::Fifo(FifoSpec {});
        if is_at_switch && is_simple && dice.one_in(2) {
            split(&mut link.port, &mut dice);
        }
    }
    let of_source = |id: u32| spec.sources.iter().any(|source| source.vc == id);
    for (vc, id) in spec.vcs.iter_mut().zip(0u32..) {
        if !of_source(id) {
            vc.class = dice.pick(&CLASSES);
        }
    }
    if !spec.records.traces.is_empty() && !spec.records.traces.contains(&TraceKind::Service) {
        spec.records.traces.push(TraceKind::Service);
    }
    if dice.one_in(4) {
        schedules::move_on(&mut spec, &mut dice);
    }
    if dice.one_in(6) {
        schedules::lose_frames(&mut spec, &mut dice);
    }
    spec
}

/// Gives the port one to three queues beside its default one, and a scheduler.
fn split(port: &mut PortSpec, dice: &mut Dice) {
    let rest = port.queues.iter().find(|queue| queue.class.is_none());
    let rest = rest.expect("it has a default queue").clone();
    let count = 1 + dice.below(3) as usize;
    let mut queues: Vec<QueueSpec> = CLASSES[..count]
        .iter()
        .map(|&class| queue(class, dice))
        .collect();
    queues.insert(dice.below(count as u64 + 1) as usize, rest);
    port.scheduler = scheduler(count + 1, dice);
    port.queues = queues;
}

fn queue(class: ServiceClass, dice: &mut Dice) -> QueueSpec {
    let capacity = dice.pick(&[1, 5, 20, 60, 200]);
    let is_limited = !dice.one_in(3);
    let policy = if !is_limited || dice.one_in(3) {
        PolicySpec::TailDrop(TailDropSpec {})
    } else {
        Builder::new(dice).policy(capacity)
    };
    QueueSpec {
        class: Some(class),
        capacity_cells: is_limited.then_some(capacity),
        counts_octets: false,
        by_flow: false,
        policy,
    }
}

fn scheduler(count: usize, dice: &mut Dice) -> SchedulerSpec {
    let part = WHOLE_PPB / count as u32;
    match dice.below(4) {
        0 => SchedulerSpec::StrictPriority(StrictPrioritySpec {}),
        1 => SchedulerSpec::WeightedRoundRobin(WeightedRoundRobinSpec {
            weights: (0..count).map(|_| 1 + dice.below(4) as u32).collect(),
        }),
        _ => {
            let some = part - part % 10_000_000;
            let shares = [
                0,
                0,
                100_000_000,
                part,
                some,
                some / 4,
                part / 3,
                333_333_333.min(part),
            ];
            SchedulerSpec::GuaranteedRate(GuaranteedRateSpec {
                shares_ppb: (0..count).map(|_| dice.pick(&shares)).collect(),
            })
        }
    }
}

/// Gives one link between switches queues for classes, and cell sources that cross it; leaves a spec
/// without such a link as it is.
pub fn add(spec: &mut NetworkSpec, dice: &mut Dice) {
    let is_switch = |node: u32| spec.nodes[node as usize].kind == NodeKind::Switch;
    let Some(shared) = spec
        .links
        .iter()
        .position(|link| is_switch(link.from) && is_switch(link.to))
    else {
        return;
    };
    // One source that sends in step with the link, for a while: choices then repeat.
    let in_step = dice.one_in(2);
    let beside = dice.pick(&[1, 1, 1, 2]);
    let classes = [ServiceClass::Cbr, ServiceClass::NrtVbr];
    let rest = spec.links[shared].port.queues.remove(0);
    let mut queues: Vec<QueueSpec> = classes[..beside]
        .iter()
        .map(|&class| QueueSpec {
            class: Some(class),
            capacity_cells: dice.one_in(4).then(|| dice.pick(&[1, 5, 20])),
            counts_octets: false,
            by_flow: false,
            policy: dice.pick(&[
                PolicySpec::TailDrop(TailDropSpec {}),
                PolicySpec::TailDrop(TailDropSpec {}),
                PolicySpec::Ppd(PpdSpec {}),
            ]),
        })
        .collect();
    let index = dice.below(queues.len() as u64 + 1) as usize;
    let index = if dice.one_in(3) { index } else { queues.len() };
    queues.insert(index, rest);
    spec.links[shared].port.scheduler = scheduler(queues.len(), dice);
    spec.links[shared].port.queues = queues;
    let sources = if in_step { 1 } else { 1 + dice.below(3) };
    for i in 0..sources {
        let class = classes[dice.below(beside as u64) as usize];
        source(spec, dice, &[shared as u32], class, i);
    }
    if in_step {
        keep_in_step(spec, dice, shared);
    }
    if !spec.records.traces.is_empty() {
        spec.records.traces.push(TraceKind::Service);
    }
    if dice.one_in(2) {
        spec.records.delay_vcs = spec.sources.iter().map(|source| source.vc).collect();
    }
}

/// Makes the source that was added last send at the rate of the link, over bursts that are long for
/// a run.
fn keep_in_step(spec: &mut NetworkSpec, dice: &mut Dice, shared: usize) {
    let unit = spec.links[shared].cell_time_ps;
    let source = spec.sources.last_mut().expect("one was added");
    source.cell_interval_ps = unit;
    let own = spec.vcs[source.vc as usize].path[0] as usize;
    spec.links[own].cell_time_ps = unit;
    if let SourcePattern::OnOff { on, off, .. } = &mut source.pattern {
        let cells = dice.pick(&[30, 300, 300, 1_000]);
        let silent = dice.pick(&[10, 300, 1_000, 1_000]);
        let jitter = dice.below(unit);
        let (mean_ps, value_ps) = (cells * unit + jitter, silent * unit + jitter);
        *on = DistributionSpec::Exponential { mean_ps };
        *off = DistributionSpec::Constant { value_ps };
    }
}

/// Adds cell sources that cross the same queues as flows between their hosts; some are at the
/// flows' own hosts, and share their ports, too.
pub fn add_among_frames(spec: &mut NetworkSpec, dice: &mut Dice) {
    for i in 0..1 + dice.below(2) {
        let flow = &spec.flows[dice.below(spec.flows.len() as u64) as usize];
        let vc = dice.pick(&[flow.forward[0], flow.reverse[0]]);
        let path = spec.vcs[vc as usize].path.clone();
        let shared = path[1..path.len().max(2) - 1].to_vec();
        if shared.is_empty() {
            return;
        }
        source(spec, dice, &shared, ServiceClass::Cbr, i);
        let last = spec.sources.last().expect("one was added").vc;
        let from = spec.links[path[0] as usize].from;
        if dice.one_in(2) && spec.nodes[from as usize].kind == NodeKind::Host {
            spec.vcs[last as usize].path = path;
        }
    }
    if dice.one_in(2) {
        spec.records.delay_vcs = spec.sources.iter().map(|source| source.vc).collect();
    }
}

/// A source whose cells cross the `shared` links, one after the other, between hosts of its own.
fn source(spec: &mut NetworkSpec, dice: &mut Dice, shared: &[u32], class: ServiceClass, i: u64) {
    let of = |link: u32| &spec.links[link as usize];
    let (first, last) = (of(shared[0]), of(shared[shared.len() - 1]));
    let (unit, enter, leave) = (first.cell_time_ps, first.from, last.to);
    let mut host = |name: String| {
        spec.nodes.push(NodeSpec {
            vs_vd: None,
            name,
            kind: NodeKind::Host,
        });
        spec.nodes.len() as u32 - 1
    };
    let (begin, end) = (host(format!("v{i}")), host(format!("w{i}")));
    let own_cell_time = dice.pick(&[unit, unit, unit / 2, unit * 2, unit + 54]);
    let mut link = |from: u32, to: u32, cell_time_ps: u64, delay_ps: u64| {
        let id = spec.links.len() as u32;
        spec.links.push(LinkSpec {
            name: format!("{from}>{to}#{id}"),
            from,
            to,
            cell_time_ps,
            framing: None,
            delay_ps,
            loss_ppb: 0,
            channel: None,
            delay_variation: None,
            schedule: None,
            receivers: Vec::new(),
            port: PortSpec::fifo(None, PolicySpec::TailDrop(TailDropSpec {}), 0),
        });
        id
    };
    let delay = dice.pick(&[0, 0, 1, 5 * MICROSECOND, unit, 333 * MICROSECOND]);
    let up = link(begin, enter, own_cell_time, delay);
    let out = link(leave, end, dice.pick(&[unit, unit / 3]), delay);
    spec.vcs.push(VcSpec {
        resequencer: None,
        by_label: None,
        rerouting: None,
        name: format!("v{i}"),
        path: [&[up], shared, &[out]].concat(),
        class,
        gfr: None,
        abr: None,
        policing: if dice.one_in(6) {
            vec![GcraSpec {
                increment_ps: 2 * unit,
                limit_ps: 0,
                action: dice.pick(&[
                    PolicingAction::Count,
                    PolicingAction::Tag,
                    PolicingAction::Discard,
                ]),
                clp0_only: false,
            }]
        } else {
            Vec::new()
        },
    });
    let time = |dice: &mut Dice| {
        let mean = dice.pick(&[
            unit,
            10 * MICROSECOND,
            300 * MICROSECOND,
            100 * unit,
            3 * unit,
        ]);
        match dice.below(4) {
            0 => DistributionSpec::Exponential { mean_ps: mean },
            1 => DistributionSpec::Uniform {
                low_ps: 0,
                high_ps: 2 * mean,
            },
            _ => DistributionSpec::Constant { value_ps: mean },
        }
    };
    let pattern = if dice.one_in(3) {
        SourcePattern::Constant
    } else {
        SourcePattern::OnOff {
            on: time(dice),
            off: time(dice),
            phase: if dice.one_in(4) {
                PhaseSpec::At {
                    offset_ps: dice.below(3) * unit,
                }
            } else {
                PhaseSpec::Drawn { below_ps: 2 * unit }
            },
        }
    };
    spec.sources.push(SourceSpec {
        clp: None,
        name: format!("v{i}"),
        vc: spec.vcs.len() as u32 - 1,
        datagram_route: Vec::new(),
        cell_interval_ps: dice.pick(&[
            unit,
            unit,
            own_cell_time,
            2 * unit,
            3 * unit + 7,
            unit * 5 / 2,
        ]),
        frame_cells: if dice.one_in(16) { 3 } else { 1 },
        datagram_octets: 0,
        pattern,
        start: dice.pick(&[
            StartSpec::At { time_ps: 0 },
            StartSpec::At { time_ps: 0 },
            StartSpec::At { time_ps: unit },
            StartSpec::At {
                time_ps: 123 * MICROSECOND,
            },
            StartSpec::Drawn {
                from_ps: 0,
                to_ps: 4 * unit,
            },
        ]),
    });
}

/// A scenario in which some sources of cells send a part of them with CLP = 1; none where it has no such sources.
pub fn with_clp(seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "clp"));
    let mut spec = match seed % 8 {
        1 => several_classes(seed),
        _ => scenario(seed),
    };
    let single = |source: &SourceSpec| source.datagram_route.len() < 2;
    let fits: Vec<_> = (spec.sources.iter())
        .map(|source| {
            let vc = &spec.vcs[source.vc as usize];
            single(source)
                && !spec.carries_packets(source.vc as usize)
                && vc.gfr.is_none()
                && vc.abr.is_none()
        })
        .collect();
    let mut has_some = false;
    for (source, fits) in spec.sources.iter_mut().zip(fits) {
        if fits && (!has_some || dice.one_in(2)) {
            has_some = true;
            source.clp = Some(if dice.one_in(2) {
                ClpSpec::Drawn {
                    part_ppb: dice.pick(&[1_000_000, 250_000_000, 1_000_000_000]),
                }
            } else {
                ClpSpec::Pattern {
                    bits: dice.pick(&[vec![true], vec![false, true], vec![false, false, true]]),
                }
            });
        }
    }
    has_some.then_some(spec)
}

/// Puts a source of datagrams beside a flow.
pub fn add_datagrams(spec: &mut NetworkSpec, dice: &mut Dice) {
    let flow = &spec.flows[dice.below(spec.flows.len() as u64) as usize];
    let route = flow.forward.clone();
    spec.sources.push(SourceSpec {
        clp: None,
        name: "udp".into(),
        vc: route[0],
        datagram_route: route,
        cell_interval_ps: dice.pick(&[3, 10]) * MICROSECOND,
        frame_cells: 1 + dice.below(40) as u32,
        datagram_octets: 0,
        pattern: SourcePattern::Constant,
        start: StartSpec::At { time_ps: 0 },
    });
}

/// Has the destinations of some flows answer the datagrams that come beside these.
pub fn add_echoes(spec: &mut NetworkSpec, dice: &mut Dice) {
    for of in 0..spec.sources.len() as u32 {
        let source = spec.sources[of as usize].clone();
        let mut flows = spec.flows.iter();
        let flow = flows.find(|flow| flow.forward == source.datagram_route);
        let Some(flow) = flow.filter(|_| dice.one_in(2)) else {
            continue;
        };
        let datagram_route = flow.reverse.clone();
        spec.sources.push(SourceSpec {
            clp: None,
            name: format!("{}.reply", source.name),
            vc: datagram_route[0],
            datagram_route,
            cell_interval_ps: 0,
            pattern: SourcePattern::Echo { of },
            start: StartSpec::At { time_ps: 0 },
            ..source
        });
    }
}

/// Has echoes fit what they answer, where sources were left out or have another length.
pub fn fit_echoes(spec: &mut NetworkSpec) {
    let sources = spec.sources.clone();
    for source in &mut spec.sources {
        let SourcePattern::Echo { of } = &mut source.pattern else {
            continue;
        };
        let asking = source.name.strip_suffix(".reply").expect("its name");
        let at = sources.iter().position(|source| source.name == asking);
        *of = at.expect("it is there") as u32;
        source.datagram_octets = sources[*of as usize].datagram_octets;
    }
}

/// Puts a source with a list of packets beside a flow.
pub fn add_packet_trace(spec: &mut NetworkSpec, dice: &mut Dice) {
    let flow = &spec.flows[dice.below(spec.flows.len() as u64) as usize];
    let route = flow.forward.clone();
    let (mut times_ps, mut octets) = (Vec::new(), Vec::new());
    let mut time = 0;
    let gap = dice.pick(&[10, 100, 1_000]) * MICROSECOND;
    for _ in 0..1 + dice.below(60) {
        // Some at one moment.
        time += dice.below(2) * dice.below(gap);
        times_ps.push(time);
        octets.push(dice.pick(&[1, 40, 200, 1_500, 1_500, 9_180, 65_535]));
    }
    let period_ps = dice.pick(&[None, Some(time + MICROSECOND), Some(time + gap)]);
    spec.sources.push(SourceSpec {
        clp: None,
        name: "list".into(),
        vc: route[0],
        datagram_route: route,
        cell_interval_ps: 0,
        frame_cells: 1,
        datagram_octets: *octets.iter().max().expect("some"),
        pattern: SourcePattern::Trace {
            times_ps,
            octets,
            period_ps,
        },
        start: dice.pick(&[
            StartSpec::At { time_ps: 0 },
            StartSpec::Drawn {
                from_ps: 0,
                to_ps: MILLISECOND,
            },
        ]),
    });
}
