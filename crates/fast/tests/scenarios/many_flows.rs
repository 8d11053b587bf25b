//! Crowds: so many connections that the fast engine keeps what comes to a port in buckets, and reads ahead.
//!
//! Delays are those of a LAN, a WAN or a GEO hop. Runs and windows are short, so that a crowd's cells stay few.

use super::{
    Builder, Dice, MICROSECOND, MILLISECOND, classes, hosts, policies, records, schedules, spacing,
};
use skycell_des::Stream;
use skycell_spec::*;

/// One number in so many has a crowd.
const EVERY: u64 = 10;
/// Flows of a crowd, at most.
const MOST: u64 = 400;
/// Cells that all windows together let into the network, about.
const CELLS_IN_FLIGHT: u64 = 4_000;
/// Cells of a link's rate up to which a run has sources that send at about that rate.
const CELLS_OF_SOURCES: u64 = 10_000;

/// The crowd of a number, if it has one.
pub fn many_flows(number: u64) -> Option<NetworkSpec> {
    number.is_multiple_of(EVERY).then(|| draw(number))
}

fn draw(number: u64) -> NetworkSpec {
    let mut dice = Dice(Stream::new(number, "crowd"));
    let mut builder = Builder::new(&mut dice);
    let many_flows = ManyFlows::new(&mut builder);
    match builder.dice.below(10) {
        0..=4 => builder.many_flows_over_a_link(&many_flows),
        5..=6 => builder.many_flows_along_a_parking_lot(&many_flows),
        7..=8 => builder.many_flows_at_a_server(&many_flows),
        _ => builder.many_flows_behind_routers(&many_flows),
    }
    let (mut spec, cell_time) = (builder.spec, builder.cell_time);
    spec.seed = dice.below(1 << 40);
    let rounds = 2 + dice.below(3);
    spec.duration_ps = many_flows.round_trip * rounds + MILLISECOND + dice.below(3 * MILLISECOND);
    make_alike(&mut spec, &mut dice);
    let vcs = spec.vcs.len();
    let queues = spec.links.iter_mut().flat_map(|link| &mut link.port.queues);
    queues.for_each(|queue| policies::name_all_vcs(&mut queue.policy, vcs));
    spec.records = records(&spec, &mut dice);
    spec.records.sample_every_ps = spec.duration_ps / dice.pick(&[3, 20]) + dice.below(1_000);
    if spec.duration_ps < CELLS_OF_SOURCES * cell_time {
        match dice.below(6) {
            0 => classes::add(&mut spec, &mut dice),
            1 => classes::add_among_frames(&mut spec, &mut dice),
            2 => classes::add_datagrams(&mut spec, &mut dice),
            _ => {}
        }
    }
    if dice.one_in(4) {
        spacing::set(&mut spec, &mut dice);
    }
    if dice.one_in(4) {
        hosts::limit(&mut spec, &mut dice);
    }
    if dice.one_in(6) {
        schedules::move_on(&mut spec, &mut dice);
    }
    if dice.one_in(5) {
        schedules::lose_frames(&mut spec, &mut dice);
    }
    spec
}

/// The common parameters of many connections.
struct ManyFlows {
    /// Pairs of hosts, with a VC there and one back.
    pairs: u64,
    /// Flows on each of these VCs.
    flows: u64,
    /// Delay between switches.
    delay: u64,
    /// Delays that hosts' links have.
    access: Vec<u64>,
    /// The longest round trip, without queues.
    round_trip: u64,
    /// Of the first pair's connections.
    start: StartSpec,
    /// How much later each next pair's start.
    stagger: u64,
    /// Connections have one of these.
    tcp: Vec<TcpSpec>,
}

impl ManyFlows {
    fn new(builder: &mut Builder) -> Self {
        let dice = &mut builder.dice;
        let (least, more) = dice.pick(&[(66, 10), (66, 70), (130, 70), (200, 200)]);
        let pairs = least + dice.below(more);
        let flows = if dice.one_in(4) { MOST / pairs } else { 1 };
        let near = [0, 1, 5 * MICROSECOND, dice.below(20 * MICROSECOND)];
        let far = [&near[..], &[MILLISECOND]].concat();
        let (delay, mut access) = dice.pick(&[
            (0, near.to_vec()),
            (5 * MICROSECOND, near.to_vec()),
            (MILLISECOND, far.clone()),
            (5 * MILLISECOND, far.clone()),
            (275 * MILLISECOND, far),
        ]);
        if dice.one_in(2) {
            access = vec![dice.pick(&access)];
        }
        let longest = access.iter().max().expect("one at least");
        let round_trip = 2 * (delay + 2 * longest);
        let while_all_start = MILLISECOND + round_trip / 2;
        let stagger = dice.pick(&[0, 0, 1, builder.cell_time, while_all_start / pairs]);
        let to_ps = dice.pick(&[1_000, while_all_start]);
        let start = dice.pick(&[
            StartSpec::At { time_ps: 0 },
            StartSpec::Drawn { from_ps: 0, to_ps },
        ]);
        let kinds = dice.pick(&[1, 1, 3]);
        let tcp = |_| builder.tcp_of_many_flows(pairs * flows, round_trip);
        let tcp = (0..kinds).map(tcp).collect();
        ManyFlows {
            pairs,
            flows,
            delay,
            access,
            round_trip,
            start,
            stagger,
            tcp,
        }
    }

    fn start(&self, nth: u64) -> StartSpec {
        let later = nth * self.stagger;
        match self.start {
            StartSpec::At { time_ps } => StartSpec::At {
                time_ps: time_ps + later,
            },
            StartSpec::Drawn { from_ps, to_ps } => StartSpec::Drawn {
                from_ps: from_ps + later,
                to_ps: to_ps + later,
            },
        }
    }
}

impl Builder<'_> {
    /// A sender with a window and timers that suit so many flows.
    fn tcp_of_many_flows(&mut self, flows: u64, round_trip: u64) -> TcpSpec {
        let mut tcp = self.tcp();
        // IP and TCP headers, LLC/SNAP, AAL5's trailer; a cell of padding.
        let cells = (tcp.mss + 40 + 8 + 8) / 48 + 1;
        let most = (CELLS_IN_FLIGHT / flows / cells).clamp(1, 64);
        tcp.max_cwnd = tcp.mss * (1 + self.dice.below(most));
        tcp.rwnd = tcp.max_cwnd.max(2_000);
        tcp.initial_cwnd = tcp.initial_cwnd.min(tcp.max_cwnd);
        tcp.tick_ps = self
            .dice
            .pick(&[round_trip, round_trip / 4, 10 * MILLISECOND]);
        tcp.tick_ps = tcp.tick_ps.max(50 * MICROSECOND);
        tcp
    }

    /// Two switches with a link between them.
    fn many_flows_over_a_link(&mut self, many_flows: &ManyFlows) {
        let [west, east] = ["west", "east"].map(|name| self.node(name, NodeKind::Switch));
        let across = self.link(west, east, many_flows.delay, true);
        let tiny_return_buffer = self.dice.one_in(4);
        let back = self.link(east, west, many_flows.delay, tiny_return_buffer);
        for nth in 0..many_flows.pairs {
            self.pair(many_flows, nth, (west, &[across], east), &[back]);
        }
    }

    /// Three switches in a row; some go all the way, some enter or leave at the second.
    fn many_flows_along_a_parking_lot(&mut self, many_flows: &ManyFlows) {
        let names = ["west", "middle", "east"];
        let [west, middle, east] = names.map(|name| self.node(name, NodeKind::Switch));
        let (first, second) = (
            many_flows.delay / 3,
            many_flows.delay - many_flows.delay / 3,
        );
        let across = [(west, middle, first), (middle, east, second)]
            .map(|(from, to, delay)| self.link(from, to, delay, true));
        let back = [(east, middle, second), (middle, west, first)]
            .map(|(from, to, delay)| self.link(from, to, delay, false));
        let cross = self.dice.pick(&[1, 3, 10]);
        for nth in 0..many_flows.pairs {
            if !self.dice.one_in(cross + 1) {
                self.pair(many_flows, nth, (west, &across, east), &back);
            } else if self.dice.one_in(2) {
                self.pair(many_flows, nth, (west, &across[..1], middle), &back[1..]);
            } else {
                self.pair(many_flows, nth, (middle, &across[1..], east), &back[..1]);
            }
        }
    }

    /// A switch between clients and one server, which sends to some and receives from the others.
    fn many_flows_at_a_server(&mut self, many_flows: &ManyFlows) {
        let hub = self.node("hub", NodeKind::Switch);
        let server = self.node("server", NodeKind::Host);
        let to_server = self.link(hub, server, many_flows.delay, true);
        let from_server = self.link(server, hub, many_flows.delay, false);
        let receives_of = self.dice.pick(&[1, 2, 1_000]);
        for nth in 0..many_flows.pairs {
            let client = self.node(&format!("c{nth}"), NodeKind::Host);
            let delay = self.dice.pick(&many_flows.access);
            let up = self.link(client, hub, delay, false);
            let down = self.link(hub, client, delay, false);
            let towards = self.vc(vec![up, to_server]);
            let away = self.vc(vec![from_server, down]);
            if self.dice.one_in(receives_of) {
                self.flows_of(many_flows, nth, vec![towards], vec![away]);
            } else {
                self.flows_of(many_flows, nth, vec![away], vec![towards]);
            }
        }
    }

    /// Two switches with a pair of routers, and hosts behind them.
    fn many_flows_behind_routers(&mut self, many_flows: &ManyFlows) {
        let [west, east] = ["west", "east"].map(|name| self.node(name, NodeKind::Switch));
        let across = self.link(west, east, many_flows.delay, true);
        let back = self.link(east, west, many_flows.delay, false);
        let pairs_of_routers = 2 + self.dice.below(3);
        let mut vc_paths = Vec::new();
        for i in 0..pairs_of_routers {
            let near = self.node(&format!("near{i}"), NodeKind::Router);
            let far = self.node(&format!("far{i}"), NodeKind::Router);
            let [up, out, into, down] = [(near, west), (east, far), (far, east), (west, near)]
                .map(|(from, to)| self.link(from, to, 1_000, false));
            let forward = self.vc(vec![up, across, out]);
            vc_paths.push((near, far, forward, self.vc(vec![into, back, down])));
        }
        for nth in 0..many_flows.pairs {
            let (near, far, forward, reverse) = self.dice.pick(&vc_paths);
            let source = self.node(&format!("s{nth}"), NodeKind::Host);
            let destination = self.node(&format!("d{nth}"), NodeKind::Host);
            let delay = self.dice.pick(&many_flows.access);
            let ends = [
                (source, near),
                (far, destination),
                (destination, far),
                (near, source),
            ];
            let [up, out, into, down] = ends.map(|(from, to)| {
                let link = self.link(from, to, delay, false);
                self.vc(vec![link])
            });
            self.flows_of(
                many_flows,
                nth,
                vec![up, forward, out],
                vec![into, reverse, down],
            );
        }
    }

    /// Two hosts with a VC in each sense, from one switch over links to another and back.
    fn pair(&mut self, many_flows: &ManyFlows, nth: u64, there: (u32, &[u32], u32), back: &[u32]) {
        let (enter, across, leave) = there;
        let source = self.node(&format!("s{nth}"), NodeKind::Host);
        let destination = self.node(&format!("d{nth}"), NodeKind::Host);
        let delay = self.dice.pick(&many_flows.access);
        let up = self.link(source, enter, delay, false);
        let down = self.link(enter, source, delay, false);
        let out = self.link(leave, destination, delay, false);
        let into = self.link(destination, leave, delay, false);
        let forward = self.vc([&[up], across, &[out]].concat());
        let reverse = self.vc([&[into], back, &[down]].concat());
        self.flows_of(many_flows, nth, vec![forward], vec![reverse]);
    }

    /// The flows of the `nth` pair of hosts.
    fn flows_of(&mut self, many_flows: &ManyFlows, nth: u64, forward: Vec<u32>, reverse: Vec<u32>) {
        for _ in 0..many_flows.flows {
            let tcp = self.dice.pick(&many_flows.tcp);
            self.flow(forward.clone(), reverse.clone(), many_flows.start(nth), tcp);
        }
    }
}

/// In one half of the crowds all connections offer the same, and no transmission is lost by prescription; in one half
/// no VC has a contract or a policer.
fn make_alike(spec: &mut NetworkSpec, dice: &mut Dice) {
    if dice.one_in(2) {
        let traffic = dice.pick(&spec.flows).traffic;
        for flow in &mut spec.flows {
            flow.traffic = traffic.clone();
            flow.loss_script.transmissions.clear();
        }
    }
    if dice.one_in(2) {
        for vc in &mut spec.vcs {
            vc.gfr = None;
            vc.policing.clear();
        }
    }
}
