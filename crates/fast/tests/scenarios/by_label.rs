//! Satellites and stations that forward packets by label, over links and routes that change at epochs.

use super::channels::channel;
use super::packets::manage_queues;
use super::{Builder, Dice, MICROSECOND, MILLISECOND, with_jitter};
use skycell_des::Stream;
use skycell_sky::{ByHand, Columns, HandLink, file::digest};
use skycell_spec::*;
use skycell_tcp::spec::EcnUse;
use std::sync::Arc;

/// Time on which, in scenarios of round numbers, everything begins, ends, arrives and leaves.
const ROUND: u64 = 100 * MICROSECOND;
/// Port of a node for all its links of one kind.
const SHARED: u32 = u32::MAX;

/// A network by label: a random graph of satellites and stations over some epochs, with flows and datagrams.
pub fn by_label(seed: u64) -> NetworkSpec {
    let mut dice = Dice(Stream::new(seed, "by label"));
    let draws = Draws {
        is_round: dice.one_in(3),
        has_zero: dice.one_in(12),
        satellites: 1 + dice.below(5) as u32,
        stations: 2 + dice.below(3) as u32,
        epochs: 1 + dice.below(10) as usize,
        paths: 1 + if dice.one_in(3) {
            dice.below(4) as u32
        } else {
            0
        },
    };
    let mut builder = Builder::new(&mut dice);
    for node in 0..draws.nodes() {
        let kind = match node < draws.satellites {
            true => NodeKind::Router,
            false => NodeKind::Host,
        };
        builder.node(&format!("n{node}"), kind);
    }
    builder.spec.duration_ps = MILLISECOND * (1 + builder.dice.below(20));
    let duration_ps = builder.spec.duration_ps;
    let kinds = 1 + builder.dice.below(4) as usize;
    let by_hand = draws.columns(builder.dice, duration_ps, kinds as u64);
    let columns = shared_courses(by_hand.columns().expect("columns that have a meaning"));
    builder.flows_by_label(&draws);
    builder.sources_by_label(&draws);
    let of_cells = builder
        .dice
        .one_in(4)
        .then(|| builder.kinds_of_cells(kinds));
    let mut spec = builder.spec;
    spec.seed = dice.below(1 << 40);
    let kinds = of_cells.unwrap_or_else(|| draws.kinds(&mut spec, &mut dice, kinds));
    spec.sky = Some(SkySpec {
        columns: digest(&columns.to_octets()),
        kinds,
        hop_limit: dice.pick(&[1, 2, 3, 5, 64, 64, 64]),
        loses_in_flight: dice.one_in(2),
        read: Some(Arc::new(columns)),
    });
    records(&mut spec, &mut dice);
    let mut spec = with_jitter(spec, seed);
    if dice.one_in(6) {
        spec.measure_from_ps = spec.duration_ps * (1 + dice.below(7)) / 8;
    }
    spec
}

/// What a scenario is drawn with.
struct Draws {
    is_round: bool,
    has_zero: bool,
    satellites: u32,
    stations: u32,
    epochs: usize,
    /// Labels that end at each node.
    paths: u32,
}

impl Draws {
    fn nodes(&self) -> u32 {
        self.satellites + self.stations
    }

    fn delay(&self, dice: &mut Dice) -> u64 {
        if self.is_round {
            return ROUND * (u64::from(!self.has_zero) + dice.below(12));
        }
        let any = 1 + dice.below(2 * MILLISECOND);
        let least = u64::from(!self.has_zero);
        dice.pick(&[least, 5 * MICROSECOND, MILLISECOND, any, any, any])
    }

    /// Delays of a link epoch by epoch: steps, leaps, and times without a link.
    fn course(&self, dice: &mut Dice, is_certain: bool) -> Vec<Option<u64>> {
        let first = self.delay(dice);
        let (mut delay, mut exists) = (first, is_certain || !dice.one_in(5));
        let step = if self.is_round { ROUND } else { MICROSECOND };
        (0..self.epochs)
            .map(|_| {
                match dice.below(8) {
                    0 => delay = self.delay(dice),
                    1..=3 => delay += step * dice.below(3),
                    4..=5 if delay > 2 * step => delay -= step,
                    _ => {}
                }
                if !is_certain && dice.one_in(4) {
                    exists = !exists;
                }
                exists.then_some(delay)
            })
            .collect()
    }

    /// Pairs of nodes with a link each way.
    fn pairs(&self, dice: &mut Dice) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        for node in 1..self.nodes() {
            // A tree, in which no station has another one behind it, and some more.
            let first = dice.below(node.min(self.satellites).into()) as u32;
            pairs.push((first, node));
            for other in 0..node.min(self.satellites) {
                if other != first && dice.one_in(3) {
                    pairs.push((other, node));
                }
            }
            // Gateways have links with what is behind them.
            for other in self.satellites..node {
                if dice.one_in(6) {
                    pairs.push((other, node));
                }
            }
        }
        pairs
    }

    fn columns(&self, dice: &mut Dice, duration_ps: u64, kinds: u64) -> ByHand {
        let nodes = self.nodes();
        let mut links = Vec::new();
        let is_shared: Vec<bool> = (0..nodes).map(|_| dice.one_in(3)).collect();
        let kind_of: Vec<u8> = (0..nodes).map(|_| dice.below(kinds) as u8).collect();
        for (a, b) in self.pairs(dice) {
            let is_certain = dice.one_in(2);
            let there = self.course(dice, is_certain);
            let back = match dice.one_in(3) {
                true => self.course(dice, is_certain),
                false => there.clone(),
            };
            for (from, to, delays_ps) in [(a, b, there), (b, a, back)] {
                // What a node has in one port leads to stations, or from a station.
                let is_ground = (from >= self.satellites) != (to >= self.satellites);
                let is_shared = is_ground && is_shared[from as usize];
                links.push(HandLink {
                    from,
                    to,
                    port: if is_shared { SHARED } else { to },
                    kind: if is_shared { 0 } else { kind_of[to as usize] },
                    delays_ps,
                });
            }
        }
        let first = dice.pick(&[0, 7, 3 * MILLISECOND]);
        let length = dice.pick(&[
            duration_ps / self.epochs as u64,
            2 * duration_ps / self.epochs as u64,
            ROUND,
            10 * ROUND,
        ]);
        // Looks between those of a step come where routes change.
        let is_even = dice.one_in(2);
        let mut at_ps = first;
        let epoch_ps: Vec<u64> = (0..self.epochs)
            .map(|_| {
                let own = at_ps;
                let part = if is_even { 1 } else { 1 + dice.below(5) };
                at_ps += (length / part).max(1);
                own
            })
            .collect();
        let next = (0..self.epochs).map(|epoch| {
            // Some epochs have the routes of the one before.
            let of = epoch - usize::from(epoch > 0 && dice.one_in(4));
            self.routes(dice, &links, of)
        });
        ByHand {
            epoch_ps,
            next: next.collect(),
            nodes,
            links: links.clone(),
            label_node: (0..nodes * self.paths).map(|label| label % nodes).collect(),
        }
    }

    /// The next node by node, then label: most by the fewest links of an epoch, some any or none.
    fn routes(&self, dice: &mut Dice, links: &[HandLink], epoch: usize) -> Vec<Vec<Option<u32>>> {
        let nodes = self.nodes();
        let labels = nodes * self.paths;
        let mut next = vec![vec![None; labels as usize]; nodes as usize];
        let is_wild = dice.one_in(4);
        for label in 0..labels {
            let end = label % nodes;
            let (mut found, mut queue) = (vec![false; nodes as usize], vec![end]);
            found[end as usize] = true;
            let mut at = 0;
            while at < queue.len() {
                let to = queue[at];
                at += 1;
                let exists = |link: &&HandLink| link.to == to && link.delays_ps[epoch].is_some();
                for link in links.iter().filter(exists) {
                    let from = link.from as usize;
                    if !found[from] {
                        found[from] = true;
                        next[from][label as usize] = Some(to);
                        queue.push(link.from);
                    }
                }
            }
            for node in 0..nodes {
                let own: Vec<u32> = (links.iter().filter(|link| link.from == node))
                    .map(|link| link.to)
                    .collect();
                let next = &mut next[node as usize][label as usize];
                if node == end {
                    *next = None;
                } else if is_wild && dice.one_in(3) || dice.one_in(8) {
                    *next = Some(dice.pick(&own));
                } else if dice.one_in(40) {
                    *next = None;
                }
            }
        }
        next
    }

    fn kinds(&self, spec: &mut NetworkSpec, dice: &mut Dice, count: usize) -> Vec<PortKindSpec> {
        let rate = dice.pick(&[10_000_000_000, 100_000_000_000, 155_520_000_000]);
        let rate = if self.is_round { 100_000_000_000 } else { rate };
        let is_plain = dice.one_in(2);
        for at in 0..count {
            let own = dice.pick(&[rate, rate, rate / 2, rate * 3]);
            let link = self.link(at, if self.is_round { rate } else { own }, dice);
            spec.links.push(link);
        }
        if !is_plain {
            manage_queues(spec, dice);
            for flow in &mut spec.flows {
                flow.ipsec = dice.one_in(4);
                if !flow.tcp.congestion.is_scalable()
                    && !matches!(
                        flow.tcp.congestion,
                        skycell_tcp::spec::CongestionSpec::Bbr3(_)
                    )
                {
                    flow.tcp.ecn = dice.pick(&[EcnUse::Off, EcnUse::Classic]);
                }
            }
            for link in &mut spec.links {
                let one = &link.port.queues[0];
                if link.port.scheduler == SchedulerSpec::Fifo(FifoSpec {}) && dice.one_in(3) {
                    split(&mut link.port, dice);
                } else if one.policy.order().is_none() && dice.one_in(6) {
                    link.port.ack_filter = true;
                }
            }
        }
        let links = std::mem::take(&mut spec.links);
        let loses = dice.one_in(3);
        let kind = |link: LinkSpec| {
            let [loses_some, strikes] = [(); 2].map(|()| loses && dice.one_in(2));
            let waiting = dice.pick(&[
                Waiting::Sent,
                Waiting::Rerouted,
                Waiting::Rerouted,
                Waiting::Lost,
                Waiting::SentIfRouted,
                Waiting::Turned,
            ]);
            PortKindSpec {
                waits_for_route: matches!(waiting, Waiting::Rerouted | Waiting::Turned)
                    && dice.one_in(2),
                name: link.name,
                framing: link.framing,
                cell_time_ps: 0,
                loss_ppb: match loses_some {
                    true => dice.pick(&[10_000_000, 300_000_000]),
                    false => 0,
                },
                channel: (strikes && !loses_some).then(|| channel(dice)),
                port: link.port,
                waiting,
            }
        };
        links.into_iter().map(kind).collect()
    }

    /// A link of packets with the port of a kind.
    fn link(&self, at: usize, rate_millibps: u64, dice: &mut Dice) -> LinkSpec {
        let octets = dice.one_in(4);
        let capacity = dice.pick(&[None, Some(1), Some(2), Some(5), Some(20), Some(100)]);
        let capacity = capacity.map(|packets: u32| packets * if octets { 1_500 } else { 1 });
        let gap = if dice.one_in(12) { MICROSECOND } else { 0 };
        let overhead_octets = if self.is_round {
            0
        } else {
            dice.pick(&[0, 38])
        };
        let mut port = PortSpec::fifo(capacity, PolicySpec::TailDrop(TailDropSpec {}), gap);
        port.queues[0].counts_octets = octets;
        LinkSpec {
            name: format!("kind{at}"),
            from: 0,
            to: 1,
            cell_time_ps: 0,
            framing: Some(PacketFraming {
                rate_millibps,
                overhead_octets,
                least_octets: 0,
                unit_octets: 1,
                line_octets: 1,
                fragment_octets: None,
                checked_octets: None,
            }),
            delay_ps: 0,
            loss_ppb: 0,
            channel: None,
            delay_variation: None,
            schedule: None,
            receivers: Vec::new(),
            port,
        }
    }
}

/// Gives a port of packets a queue for one more class, and a scheduler for both.
fn split(port: &mut PortSpec, dice: &mut Dice) {
    let rest = port.queues[0].clone();
    let own = QueueSpec {
        class: Some(ServiceClass::Cbr),
        ..rest.clone()
    };
    port.queues = match dice.one_in(2) {
        true => vec![own, rest],
        false => vec![rest, own],
    };
    port.scheduler = match dice.one_in(2) {
        true => SchedulerSpec::StrictPriority(StrictPrioritySpec {}),
        false => SchedulerSpec::WeightedRoundRobin(WeightedRoundRobinSpec {
            weights: vec![1, 1 + dice.below(3) as u32],
        }),
    };
}

impl Builder<'_> {
    /// The VC by label from one node to another.
    fn vc_by_label(&mut self, draws: &Draws, from: u32, to: u32) -> u32 {
        let id = self.spec.vcs.len() as u32;
        let label = to + draws.nodes() * self.dice.below(draws.paths.into()) as u32;
        self.spec.vcs.push(VcSpec {
            name: format!("vc{id}"),
            path: Vec::new(),
            by_label: Some(ByLabelSpec { from, label }),
            class: self.dice.pick(&[ServiceClass::Ubr, ServiceClass::Cbr]),
            policing: Vec::new(),
            gfr: None,
            abr: None,
            rerouting: None,
            resequencer: None,
        });
        id
    }

    /// VCs from a station to another one, joined by a satellite or not.
    fn route_by_label(&mut self, draws: &Draws, from: u32, to: u32) -> Vec<u32> {
        if self.dice.one_in(8) {
            let middle = self.dice.below(draws.satellites.into()) as u32;
            return vec![
                self.vc_by_label(draws, from, middle),
                self.vc_by_label(draws, middle, to),
            ];
        }
        vec![self.vc_by_label(draws, from, to)]
    }

    /// Ports of cells, and sources whose datagrams have as many cells as they need.
    fn kinds_of_cells(&mut self, count: usize) -> Vec<PortKindSpec> {
        for source in &mut self.spec.sources {
            source.frame_cells = (source.datagram_octets as u32 + 8).div_ceil(48);
        }
        if self.dice.one_in(3) {
            self.contracts_by_label();
        }
        let loses = self.dice.one_in(3);
        let kind = |at: usize| {
            let capacity = self
                .dice
                .pick(&[None, Some(1), Some(30), Some(150), Some(400)]);
            let policy = match capacity {
                Some(cells) if self.dice.one_in(2) => self.policy(cells),
                _ => PolicySpec::TailDrop(TailDropSpec {}),
            };
            let gap = if self.dice.one_in(8) { MICROSECOND } else { 0 };
            let waiting = self.dice.pick(&[
                Waiting::Sent,
                Waiting::Rerouted,
                Waiting::Lost,
                Waiting::SentIfRouted,
                Waiting::Turned,
            ]);
            let strikes = loses && self.dice.one_in(2);
            PortKindSpec {
                name: format!("kind{at}"),
                framing: None,
                cell_time_ps: self.rate(),
                loss_ppb: if loses && !strikes { 10_000_000 } else { 0 },
                channel: strikes.then(|| channel(self.dice)),
                port: PortSpec::fifo(capacity, policy, gap),
                waiting,
                waits_for_route: matches!(waiting, Waiting::Rerouted | Waiting::Turned)
                    && self.dice.one_in(2),
            }
        };
        (0..count).map(kind).collect()
    }

    /// Policers and resequencers of VCs of cells, some of whose delays are measured.
    fn contracts_by_label(&mut self) {
        for id in 0..self.spec.vcs.len() {
            let resequencer = ResequencerSpec {
                hold_ps: MICROSECOND * (1 + self.dice.below(2_000)),
                capacity_cells: 1 + self.dice.below(60) as u32,
            };
            let policing = match self.dice.one_in(2) {
                true => self.policing(),
                false => Vec::new(),
            };
            let vc = &mut self.spec.vcs[id];
            vc.policing = policing;
            vc.resequencer = self.dice.one_in(2).then_some(resequencer);
            if self.dice.one_in(2) {
                self.spec.records.delay_vcs.push(id as u32);
            }
        }
    }

    /// Two stations.
    fn ends(&mut self, draws: &Draws) -> (u32, u32) {
        let stations = u64::from(draws.stations);
        let from = self.dice.below(stations);
        let to = (from + 1 + self.dice.below(stations - 1)) % stations;
        let node = |end: u64| draws.satellites + end as u32;
        (node(from), node(to))
    }

    fn flows_by_label(&mut self, draws: &Draws) {
        let keeps_web = self.dice.one_in(12);
        for _ in 0..self.dice.below(5) {
            let (from, to) = self.ends(draws);
            let forward = self.route_by_label(draws, from, to);
            let reverse = self.route_by_label(draws, to, from);
            let (start, mut tcp) = (self.start(), self.tcp());
            if draws.is_round {
                // 1 250 octets take 100 us.
                (tcp.mss, tcp.rwnd) = (1_210, tcp.rwnd.max(9_680));
                tcp.max_cwnd = tcp.max_cwnd.max(9_680);
                tcp.initial_cwnd = 2 * 1_210;
                tcp.initial_ssthresh = tcp.initial_ssthresh.max(2_420);
                if tcp.initial_rwnd > 0 {
                    tcp.initial_rwnd = 9_680;
                }
            }
            self.flow(forward, reverse, start, tcp);
            let flow = self.spec.flows.last_mut().expect("one was added");
            if !keeps_web && matches!(flow.traffic, TrafficSpec::Web(_)) {
                flow.traffic = TrafficSpec::Persistent;
            }
            if self.dice.one_in(3) {
                // It is over before the run is.
                flow.start = StartSpec::At {
                    time_ps: self.dice.below(1_000),
                };
                flow.traffic = TrafficSpec::Transfers {
                    size_octets: 1 + self.dice.below(3_000),
                    count: Some(1),
                    idle: DistributionSpec::Constant { value_ps: 0 },
                    new_connection: self.dice.one_in(2),
                };
            }
        }
    }

    fn sources_by_label(&mut self, draws: &Draws) {
        for i in 0..self.dice.below(5) {
            let (from, to) = self.ends(draws);
            let route = self.route_by_label(draws, from, to);
            let datagram_octets = match draws.is_round {
                true => self.dice.pick(&[1_250, 1_250, 625]),
                false => self.dice.pick(&[1, 40, 500, 1_500, 9_000]),
            };
            let octets_time = datagram_octets * 80_000; // at 100 Mbit/s
            let pattern = match self.dice.below(3) {
                0 => SourcePattern::Constant,
                1 => SourcePattern::Bursts {
                    begins_ps: vec![0, 5 * MILLISECOND],
                    lengths_ps: vec![MILLISECOND, 3 * MILLISECOND],
                },
                _ => SourcePattern::OnOff {
                    on: DistributionSpec::Exponential {
                        mean_ps: MILLISECOND,
                    },
                    off: DistributionSpec::Constant { value_ps: ROUND },
                    phase: PhaseSpec::At { offset_ps: 0 },
                },
            };
            let start = self.start();
            self.spec.sources.push(SourceSpec {
                clp: None,
                name: format!("s{i}"),
                vc: route[0],
                datagram_route: route,
                cell_interval_ps: self
                    .dice
                    .pick(&[octets_time, octets_time, 3 * octets_time, 7])
                    .max(ROUND / 10),
                frame_cells: 1,
                datagram_octets,
                pattern,
                start,
            });
            if self.dice.one_in(3) {
                let of = self.spec.sources.len() as u32 - 1;
                let source = self.spec.sources[of as usize].clone();
                let route = self.route_by_label(draws, to, from);
                self.spec.sources.push(SourceSpec {
                    name: format!("s{i}.reply"),
                    vc: route[0],
                    datagram_route: route,
                    cell_interval_ps: 0,
                    pattern: SourcePattern::Echo { of },
                    start: StartSpec::At { time_ps: 0 },
                    ..source
                });
            }
        }
    }
}

/// Has both directions of a link share a course where their delays are the same.
fn shared_courses(mut columns: Columns) -> Columns {
    let from = columns.link_from();
    let delays = |columns: &Columns, link: usize| {
        let mut courses = skycell_sky::Courses::new(columns);
        let epochs = 0..columns.epochs() as u32;
        let delay = epochs.map(|epoch| courses.delay_ps(link as u32, epoch));
        delay.collect::<Vec<_>>()
    };
    for (link, &node) in from.iter().enumerate() {
        let back = columns.link_to(columns.link_to[link], node);
        let back =
            back.map(|own| columns.links(columns.link_to[link]).start as usize + usize::from(own));
        let Some(back) = back.filter(|&back| back < link) else {
            continue;
        };
        if delays(&columns, link) == delays(&columns, back) {
            columns.link_course[link] = columns.link_course[back];
        }
    }
    columns
}

/// Draws the records: much, little or nothing beyond the counters.
fn records(spec: &mut NetworkSpec, dice: &mut Dice) {
    let columns = spec.sky.as_ref().map(|sky| sky.columns().ports());
    let ports = 0..columns.unwrap_or(0) as u32;
    let carries_cells = spec.sky.as_ref().is_some_and(SkySpec::carries_cells);
    let records = &mut spec.records;
    records.sample_every_ps = dice.pick(&[97 * MICROSECOND, ROUND, MILLISECOND]);
    records.traces = match dice.below(3) {
        0 => vec![
            TraceKind::Cwnd,
            TraceKind::Sequence,
            TraceKind::Queue,
            TraceKind::Discards,
            TraceKind::Transfers,
            TraceKind::Deliveries,
            TraceKind::Service,
            TraceKind::Files,
        ],
        1 => vec![TraceKind::Discards, TraceKind::Queue],
        _ => Vec::new(),
    };
    if dice.one_in(2) {
        records.sampled_ports = ports.filter(|_| dice.one_in(2)).collect();
    }
    let sampled = records.sampled_ports.iter().copied();
    let of_flows = sampled.filter(|_| !carries_cells && dice.one_in(4));
    records.flow_ports = of_flows.collect();
    let sources = 0..spec.sources.len() as u32;
    records.delay_sources = sources.filter(|_| dice.one_in(2)).collect();
}
