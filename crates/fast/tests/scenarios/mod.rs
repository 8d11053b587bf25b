//! Small, adversarial scenarios, one for each seed: tiny buffers, equal starts, equal phases, unequal
//! rates in both directions, many flows on one VC, zero delays, one-cell frames.

mod abr;
mod by_label;
mod calls;
mod channels;
mod classes;
mod delays;
mod hosts;
mod jitter;
mod many_flows;
mod overload;
mod packets;
mod parking_lots;
mod policies;
mod schedules;
mod skies;
mod spacing;
mod split;
mod stepping;
mod tcp;
mod uplinks;
mod users;
mod varying_parking_lots;
mod web;

pub use abr::abr;
pub use by_label::by_label;
pub use calls::calls;
pub use channels::bursty;
pub use classes::{several_classes, with_clp};
pub use delays::varying;
pub use jitter::with_jitter;
pub use many_flows::many_flows;
pub use overload::overload;
pub use packets::packets;
pub use schedules::{lossy_classes, rerouted, time_varying};
pub use skies::skies;
use skycell_des::Stream;
use skycell_spec::*;
pub use split::split;
pub use stepping::with_stepping;
pub use uplinks::uplinks;
pub use users::{call_in_overload, networks_with_users, with_users};
pub use varying_parking_lots::varying_parking_lots;

/// A source of choices.
struct Dice(Stream);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0.uniform(0, n)
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn pick<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len() as u64) as usize].clone()
    }
}

const MICROSECOND: u64 = 1_000_000;
const MILLISECOND: u64 = 1_000 * MICROSECOND;

/// The scenario of a seed.
pub fn scenario(seed: u64) -> NetworkSpec {
    let mut dice = Dice(Stream::new(seed, "scenario"));
    let kind = dice.below(10);
    let mut builder = Builder::new(&mut dice);
    match kind {
        0..=5 => builder.n_source(),
        6..=7 => builder.routers(),
        8 if seed.is_multiple_of(4) => builder.ring(),
        8 => builder.parking_lot(),
        _ => builder.two_paths(),
    }
    let mut spec = builder.spec;
    spec.seed = dice.below(1 << 40);
    spec.duration_ps = MILLISECOND * (1 + dice.below(20)) + dice.below(1_000);
    if dice.one_in(16) {
        let link = dice.below(spec.links.len() as u64) as usize;
        schedules::set_in_motion(&mut spec.links[link], spec.duration_ps, &mut dice);
    }
    spec.records = records(&spec, &mut dice);
    let mut dice = Dice(Stream::new(seed, "classes"));
    if dice.one_in(3) {
        classes::add(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "cells"));
    if spec.sources.is_empty() && dice.one_in(6) {
        classes::add_among_frames(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "datagrams"));
    if dice.one_in(24) {
        classes::add_datagrams(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "packet traces"));
    if dice.one_in(12) {
        classes::add_packet_trace(&mut spec, &mut dice);
    }
    classes::add_echoes(&mut spec, &mut Dice(Stream::new(seed, "echoes")));
    spec.records.delay_sources = some_datagrams(&spec, &mut Dice(Stream::new(seed, "delays")));
    let mut dice = Dice(Stream::new(seed, "spacing"));
    if dice.one_in(4) {
        spacing::set(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "hosts"));
    if dice.one_in(3) {
        hosts::limit(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "moving"));
    if dice.one_in(8) {
        schedules::move_on(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "losses"));
    if dice.one_in(4) {
        schedules::lose_frames(&mut spec, &mut dice);
    }
    let mut dice = Dice(Stream::new(seed, "reroute"));
    if dice.one_in(20) {
        schedules::reroute(&mut spec, &mut dice);
    }
    let mut spec = with_jitter(spec, seed);
    let mut dice = Dice(Stream::new(seed, "sources alone"));
    if !spec.sources.is_empty() && dice.one_in(12) {
        spec.flows.clear();
    }
    spec
}

/// Half of the sources of datagrams.
fn some_datagrams(spec: &NetworkSpec, dice: &mut Dice) -> Vec<u32> {
    let sources = (0u32..).zip(&spec.sources);
    let datagrams = sources.filter(|(_, source)| !source.datagram_route.is_empty());
    datagrams
        .filter(|_| dice.one_in(2))
        .map(|(id, _)| id)
        .collect()
}

/// Draws the records of a run. Half of the runs record everything; the others record little, as
/// most runs of people do, so that the fast engine's end points act before their time.
fn records(spec: &NetworkSpec, dice: &mut Dice) -> RecordSpec {
    let all: Vec<u32> = (0..spec.links.len() as u32).collect();
    let is_at_switch = |&port: &u32| {
        let from = spec.links[port as usize].from;
        spec.nodes[from as usize].kind == NodeKind::Switch
    };
    let bottlenecks: Vec<u32> = all.iter().copied().filter(is_at_switch).take(1).collect();
    let (ports, traces) = if dice.one_in(2) {
        let everything = vec![
            TraceKind::Cwnd,
            TraceKind::Sequence,
            TraceKind::Queue,
            TraceKind::VcQueue,
            TraceKind::Discards,
            TraceKind::Transfers,
            TraceKind::Deliveries,
            TraceKind::Files,
            TraceKind::Acr,
            TraceKind::RateControl,
        ];
        (all, everything)
    } else {
        let few = vec![
            TraceKind::Queue,
            TraceKind::VcQueue,
            TraceKind::Discards,
            TraceKind::Files,
        ];
        let ports = dice.pick(&[bottlenecks, Vec::new()]);
        (ports, dice.pick(&[few, Vec::new()]))
    };
    RecordSpec {
        sample_every_ps: dice.pick(&[97 * MICROSECOND, MILLISECOND, 2_726_337]),
        sampled_ports: ports.clone(),
        vc_sampled_ports: if dice.one_in(2) { ports } else { Vec::new() },
        flow_ports: Vec::new(),
        stay_ports: Vec::new(),
        delay_vcs: Vec::new(),
        delay_sources: Vec::new(),
        traces,
    }
}

struct Builder<'a> {
    dice: &'a mut Dice,
    spec: NetworkSpec,
    /// Cell time that most links have.
    cell_time: u64,
    uniform: bool,
    with_gaps: bool,
    /// True if some VCs of flows have policers: their first ports are stepped.
    polices: bool,
}

impl<'a> Builder<'a> {
    fn new(dice: &'a mut Dice) -> Self {
        let cell_time = dice.pick(&[2_726_337, 2_831_197, 1_000_000, 424_000]);
        let uniform = dice.one_in(2);
        let with_gaps = dice.one_in(2);
        let polices = dice.one_in(12);
        Builder {
            dice,
            spec: NetworkSpec {
                version: SPEC_VERSION,
                seed: 0,
                measure_from_ps: 0,
                duration_ps: 1,
                nodes: Vec::new(),
                links: Vec::new(),
                vcs: Vec::new(),
                flows: Vec::new(),
                users: None,
                sources: Vec::new(),
                uplinks: Vec::new(),
                sky: None,
                calls: Vec::new(),
                records: RecordSpec {
                    sample_every_ps: 1,
                    sampled_ports: Vec::new(),
                    vc_sampled_ports: Vec::new(),
                    flow_ports: Vec::new(),
                    stay_ports: Vec::new(),
                    delay_vcs: Vec::new(),
                    delay_sources: Vec::new(),
                    traces: Vec::new(),
                },
            },
            cell_time,
            uniform,
            with_gaps,
            polices,
        }
    }

    fn node(&mut self, name: &str, kind: NodeKind) -> u32 {
        self.spec.nodes.push(NodeSpec {
            vs_vd: None,
            name: name.to_string(),
            kind,
        });
        self.spec.nodes.len() as u32 - 1
    }

    fn rate(&mut self) -> u64 {
        let unit = self.cell_time;
        if self.uniform {
            return unit;
        }
        let choices = [
            unit,
            unit,
            unit / 2,
            unit * 2,
            unit + 54,
            unit * 3 / 2,
            unit / 3,
        ];
        self.dice.pick(&choices)
    }

    /// A link with its port; returns the link's id.
    fn link(&mut self, from: u32, to: u32, delay: u64, is_bottleneck: bool) -> u32 {
        let is_switch = self.spec.nodes[from as usize].kind == NodeKind::Switch;
        let is_host = self.spec.nodes[from as usize].kind == NodeKind::Host;
        let capacity = if is_host {
            None
        } else if is_bottleneck {
            Some(
                self.dice
                    .pick(&[1, 2, 3, 7, 20, 60, 150, 150, 400, 400, 1_000, 5_000]),
            )
        } else {
            self.dice.pick(&[None, None, Some(1), Some(5), Some(300)])
        };
        let policy = match capacity {
            Some(k) if is_bottleneck || self.dice.one_in(3) => self.policy(k),
            _ => PolicySpec::TailDrop(TailDropSpec {}),
        };
        let cell_time_ps = self.rate();
        let frame_gap_ps = if !is_switch && self.with_gaps {
            self.dice.pick(&[0, cell_time_ps, 1, 20 * MICROSECOND])
        } else {
            0
        };
        let id = self.spec.links.len() as u32;
        self.spec.links.push(LinkSpec {
            name: format!("{from}>{to}#{id}"),
            from,
            to,
            cell_time_ps,
            framing: None,
            delay_ps: delay,
            loss_ppb: 0,
            channel: None,
            delay_variation: None,
            schedule: None,
            receivers: Vec::new(),
            port: PortSpec::fifo(capacity, policy, frame_gap_ps),
        });
        id
    }

    fn contract(&mut self) -> GfrSpec {
        let pcr_interval_ps = self.cell_time;
        let window_step_ps = self.dice.pick(&[MILLISECOND, 333_333_333]);
        let tagging = self
            .dice
            .pick(&[Tagging::None, Tagging::Network, Tagging::Adapter]);
        let discards = tagging != Tagging::Network && self.dice.one_in(3);
        GfrSpec {
            mcr_interval_ps: pcr_interval_ps * (1 + self.dice.below(40)),
            pcr_interval_ps,
            burst_tolerance_ps: pcr_interval_ps * self.dice.below(2_000),
            mfs_cells: self.dice.pick(&[1, 12, 24, 200, 1_366]),
            tagging,
            excess: if discards {
                Excess::Discard
            } else {
                Excess::Pass
            },
            nonconforming: self.dice.pick(&[
                Nonconforming::Count,
                Nonconforming::Count,
                Nonconforming::Discard,
            ]),
            window_ps: window_step_ps * (1 + self.dice.below(5)),
            window_step_ps,
        }
    }

    fn delay(&mut self) -> u64 {
        let any = self.dice.below(MILLISECOND);
        self.dice
            .pick(&[0, 0, 1, 5 * MICROSECOND, MILLISECOND, 5 * MILLISECOND, any])
    }

    fn vc(&mut self, path: Vec<u32>) -> u32 {
        let id = self.spec.vcs.len() as u32;
        let crosses_a_switch = path.len() > 1;
        let gfr = if crosses_a_switch && self.dice.one_in(2) {
            Some(self.contract())
        } else {
            None
        };
        let policing = if self.polices && crosses_a_switch && self.dice.one_in(2) {
            self.policing()
        } else {
            Vec::new()
        };
        self.spec.vcs.push(VcSpec {
            resequencer: None,
            by_label: None,
            rerouting: None,
            gfr,
            abr: None,
            name: format!("vc{id}"),
            path,
            class: ServiceClass::Ubr,
            policing,
        });
        id
    }

    /// Buckets that some cells offend.
    fn policing(&mut self) -> Vec<GcraSpec> {
        let unit = self.cell_time;
        let bucket = |dice: &mut Dice| GcraSpec {
            increment_ps: dice.pick(&[unit, unit + unit / 8, 2 * unit, 20 * unit]),
            limit_ps: unit * dice.pick(&[0, 1, 10, 300]),
            action: dice.pick(&[
                PolicingAction::Count,
                PolicingAction::Count,
                PolicingAction::Tag,
                PolicingAction::Tag,
                PolicingAction::Discard,
            ]),
            clp0_only: false,
        };
        let buckets = 1 + u64::from(self.dice.one_in(3));
        let mut found: Vec<GcraSpec> = (0..buckets).map(|_| bucket(self.dice)).collect();
        if let Some(second) = found.get_mut(1) {
            second.clp0_only = self.dice.one_in(2);
        }
        found
    }

    fn n_source(&mut self) {
        let n = 1 + self.dice.below(6);
        let (west, east) = (
            self.node("west", NodeKind::Switch),
            self.node("east", NodeKind::Switch),
        );
        let delay = self.delay();
        let across = self.link(west, east, delay, true);
        let tiny_return_buffer = self.dice.one_in(4);
        let back = self.link(east, west, delay, tiny_return_buffer);
        let access = self.delay();
        let same_access = self.dice.one_in(2);
        let start = self.start();
        let tcp = self.tcp();
        for i in 0..n {
            let source = self.node(&format!("s{i}"), NodeKind::Host);
            let destination = self.node(&format!("d{i}"), NodeKind::Host);
            let delay = if same_access { access } else { self.delay() };
            let up = self.link(source, west, delay, false);
            let down = self.link(west, source, delay, false);
            let out = self.link(east, destination, delay, false);
            let into = self.link(destination, east, delay, false);
            let forward = self.vc(vec![up, across, out]);
            let reverse = self.vc(vec![into, back, down]);
            let flows = if self.dice.one_in(3) { 3 } else { 1 };
            for _ in 0..flows {
                self.flow(vec![forward], vec![reverse], start, tcp.clone());
            }
        }
    }

    fn routers(&mut self) {
        let (west, east) = (
            self.node("west", NodeKind::Switch),
            self.node("east", NodeKind::Switch),
        );
        let delay = self.delay();
        let across = self.link(west, east, delay, true);
        let back = self.link(east, west, delay, false);
        let start = self.start();
        for i in 0..1 + self.dice.below(3) {
            let near = self.node(&format!("near{i}"), NodeKind::Router);
            let far = self.node(&format!("far{i}"), NodeKind::Router);
            let near_up = self.link(near, west, 1_000, false);
            let near_down = self.link(west, near, 1_000, false);
            let far_out = self.link(east, far, 1_000, false);
            let far_in = self.link(far, east, 1_000, false);
            let forward = self.vc(vec![near_up, across, far_out]);
            let reverse = self.vc(vec![far_in, back, near_down]);
            for k in 0..1 + self.dice.below(4) {
                let source = self.node(&format!("s{i}.{k}"), NodeKind::Host);
                let destination = self.node(&format!("d{i}.{k}"), NodeKind::Host);
                let delay = self.delay();
                let up = self.link(source, near, delay, false);
                let down = self.link(near, source, delay, false);
                let out = self.link(far, destination, delay, false);
                let into = self.link(destination, far, delay, false);
                let flow_routes = [vec![up], vec![out], vec![into], vec![down]];
                let [up, out, into, down] = flow_routes.map(|path| self.vc(path));
                let tcp = self.tcp();
                self.flow(
                    vec![up, forward, out],
                    vec![into, reverse, down],
                    start,
                    tcp,
                );
            }
        }
    }

    /// One switch between hosts that are sources and destinations at once: data and
    /// acknowledgements meet in the same ports.
    fn two_paths(&mut self) {
        let hub = self.node("hub", NodeKind::Switch);
        let hosts: Vec<(u32, u32)> = (0..4)
            .map(|i| {
                let host = self.node(&format!("h{i}"), NodeKind::Host);
                let delay = self.delay();
                let up = self.link(host, hub, delay, false);
                (up, self.link(hub, host, delay, true))
            })
            .collect();
        let start = self.start();
        for _ in 0..2 + self.dice.below(4) {
            let from = self.dice.below(4) as usize;
            let to = (from + 1 + self.dice.below(3) as usize) % 4;
            let forward = self.vc(vec![hosts[from].0, hosts[to].1]);
            let reverse = self.vc(vec![hosts[to].0, hosts[from].1]);
            let tcp = self.tcp();
            self.flow(vec![forward], vec![reverse], start, tcp);
        }
    }

    fn start(&mut self) -> StartSpec {
        let to_ps = self.dice.pick(&[1_000, MILLISECOND]);
        self.dice.pick(&[
            StartSpec::At { time_ps: 0 },
            StartSpec::At { time_ps: 12_345 },
            StartSpec::Drawn { from_ps: 0, to_ps },
        ])
    }

    fn flow(&mut self, forward: Vec<u32>, reverse: Vec<u32>, start: StartSpec, tcp: TcpSpec) {
        let dice = &mut self.dice;
        let traffic = if dice.one_in(4) {
            TrafficSpec::Web(web::user(dice))
        } else if dice.one_in(3) {
            TrafficSpec::Transfers {
                size_octets: 1 + dice.below(30_000),
                count: dice.pick(&[None, Some(3)]),
                idle: dice.pick(&[
                    DistributionSpec::Constant { value_ps: 0 },
                    DistributionSpec::Constant {
                        value_ps: MILLISECOND,
                    },
                    DistributionSpec::Exponential {
                        mean_ps: MILLISECOND,
                    },
                    DistributionSpec::Uniform {
                        low_ps: 5,
                        high_ps: MILLISECOND,
                    },
                ]),
                new_connection: dice.one_in(2),
            }
        } else {
            TrafficSpec::Persistent
        };
        let transmissions = if dice.one_in(6) {
            vec![dice.below(5), 6 + dice.below(20)]
        } else {
            Vec::new()
        };
        self.spec.flows.push(FlowSpec {
            name: format!("f{}", self.spec.flows.len()),
            forward,
            reverse,
            tcp,
            traffic,
            start,
            loss_script: LossScript {
                transmissions,
                at_cwnd_octets: None,
            },
            jitter: JitterSpec::default(),
            peps: Vec::new(),
            ipsec: false,
        });
    }
}
