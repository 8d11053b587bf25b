//! A constellation and its stations as the columns of a sky: links with delays, and routes by label.
//!
//! Nodes are the satellites and then the stations; each station is a label. A station links with the
//! satellites that it may use at an epoch, and does not relay. Threads share the epochs in chunks, and a
//! chunk looks at the first epoch of the next one, so the columns do not depend on the threads.

use crate::OrbitError;
use crate::acquired::{Acquired, Ground};
use crate::series::{Access, NONE, Progress, SeriesRequest, shared};
use crate::sky::{Sky, World};
use crate::spec::{AccessRule, Route};
use crate::tree::{Mesh, NextHop, Search, Tree, UNREACHED};
use skycell_sky::{Columns, NO_LINK};

/// Epochs that a thread takes at a time.
const CHUNK: usize = 64;
/// Next node where there is no route.
const NOWHERE: u32 = u32::MAX;
/// Cost of a link beside its delay where links are counted. The delays of a path add up to less.
const LINK_COST: u64 = 1 << 48;
/// Most labels, so that a label has 16 bits.
const MOST_LABELS: usize = u16::MAX as usize;

/// What a path has the least of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// Delay.
    Delay,
    /// Links, and of the paths with as few links, delay.
    Hops,
}

/// A route of a table that is read: from an epoch on, a node forwards a label to another node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedRoute {
    /// Number of the epoch.
    pub epoch: u32,
    /// Number of the node.
    pub node: u32,
    /// Number of the label.
    pub label: u16,
    /// Number of the next node; none where there is no route.
    pub next: Option<u32>,
}

/// Where routes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Routing {
    /// The paths with the least of something; of equal ones over the neighbour of the smallest number.
    Least(Metric),
    /// A table of routes by epoch. A node without a route for a label has none.
    Listed(Vec<ListedRoute>),
}

/// Which epochs, and which routes.
#[derive(Clone, Debug)]
pub struct NetworkRequest {
    /// The first epoch.
    pub start_ps: u64,
    /// From one to the next.
    pub step_ps: u64,
    /// How many, above 0.
    pub epochs: usize,
    /// Threads that work, above 0.
    pub threads: usize,
    /// Where routes come from.
    pub routing: Routing,
    /// True if a satellite has a port for each station that it links with, and not one for all.
    pub has_port_per_station: bool,
    /// Nodes and links that are out of order.
    pub outages: Vec<Outage>,
    /// Time from which on a station may use a satellite to that from which on their link carries packets.
    pub interruption_ps: u64,
}

/// A node, or a link, that is out of order: its links do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Number of the node, or of one end of the link.
    pub node: u32,
    /// Number of the other end; none for a node.
    pub other: Option<u32>,
    /// First epoch of the outage.
    pub from: u32,
    /// First epoch after it.
    pub until: u32,
}

impl Outage {
    /// Returns whether a link between two nodes is out of order at an epoch.
    fn takes(&self, [a, b]: [u32; 2], epoch: u32) -> bool {
        let is_of_it = match self.other {
            None => [a, b].contains(&self.node),
            Some(other) => [a, b] == [self.node, other] || [b, a] == [self.node, other],
        };
        is_of_it && (self.from..self.until).contains(&epoch)
    }
}

/// The kinds of ports in the columns.
pub mod port_kind {
    /// To another satellite.
    pub const BETWEEN: u8 = 0;
    /// Of a station, to all satellites.
    pub const UP: u8 = 1;
    /// Of a satellite, to stations.
    pub const DOWN: u8 = 2;
}

impl NetworkRequest {
    fn at_ps(&self, epoch: usize) -> u64 {
        self.start_ps + self.step_ps * epoch as u64
    }
}

/// A link between two nodes over epochs without a gap.
#[derive(Debug)]
struct Interval {
    ends: [u32; 2],
    first_epoch: u32,
    first_ps: u64,
    last_ps: u64,
    diffs_ps: Vec<i32>,
}

impl Interval {
    fn end(&self) -> u32 {
        self.first_epoch + self.diffs_ps.len() as u32 + 1
    }

    /// Takes the delay of the next epoch; false where the difference does not fit, so that a new
    /// interval begins.
    fn extend(&mut self, delay_ps: u64) -> bool {
        let difference = delay_ps.wrapping_sub(self.last_ps) as i64;
        i32::try_from(difference).is_ok_and(|difference| {
            self.diffs_ps.push(difference);
            self.last_ps = delay_ps;
            true
        })
    }
}

/// A next hop that differs from that of the epoch before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Turn {
    node: u32,
    epoch: u32,
    label: u16,
    next: u32,
}

/// The result of some epochs.
#[derive(Default)]
struct Chunk {
    intervals: Vec<Interval>,
    /// Next nodes at the first epoch, by label, then node; in the first chunk only.
    first: Vec<u32>,
    turns: Vec<Turn>,
}

impl World {
    /// The columns of the network.
    ///
    /// `go_on` is told the share that is done about every 0.1 s; a false answer ends the work.
    pub fn network(
        &self,
        request: &NetworkRequest,
        go_on: Progress,
    ) -> Result<Columns, OrbitError> {
        let refuse = |what: String| Err(OrbitError::Spec(what));
        if self.stations.len() > MOST_LABELS {
            let stations = self.stations.len();
            return refuse(format!("{stations} stations, allowed are {MOST_LABELS}"));
        }
        if self.spec.route == Route::Greedy {
            let why = "a greedy route depends on where it began, so nodes cannot forward by label";
            return refuse(why.into());
        }
        let access = self.access_of_all(request, go_on)?;
        let chunks = request.epochs.div_ceil(CHUNK);
        let done = shared(request.threads, chunks, (0.2, 1.0), go_on, |chunk| {
            Builder::new(self, request, &access).chunk(chunk)
        })?;
        let mut whole = Chunk::default();
        for chunk in done {
            whole.intervals.extend(chunk.intervals);
            whole.turns.extend(chunk.turns);
            whole.first.extend(chunk.first);
        }
        if let Routing::Listed(routes) = &request.routing {
            (whole.first, whole.turns) = self.listed(request, routes)?;
        }
        self.columns(request, whole)
    }

    /// The satellite of each station at each epoch; nothing where stations use any.
    fn access_of_all(
        &self,
        request: &NetworkRequest,
        go_on: Progress,
    ) -> Result<Vec<Access>, OrbitError> {
        let series = SeriesRequest {
            start_ps: request.start_ps,
            step_ps: request.step_ps,
            steps: request.epochs,
            threads: request.threads,
            with_links: false,
            precision_ps: None,
        };
        let mut part = |share: f64| go_on(share * 0.2);
        let all: Vec<u32> = (0..self.stations.len() as u32).collect();
        match (self.spec.access.rule, &self.spec.access.slots) {
            (AccessRule::Any, _) => Ok(Vec::new()),
            (_, Some(slots)) => self.slots_over_time(slots, &series, &mut part),
            (_, None) => self.access_over_time(&all, &series, &mut part),
        }
    }

    /// First next nodes and turns of a table of routes.
    fn listed(
        &self,
        request: &NetworkRequest,
        routes: &[ListedRoute],
    ) -> Result<(Vec<u32>, Vec<Turn>), OrbitError> {
        let (labels, nodes) = (self.stations.len(), self.fleet.len() + self.stations.len());
        let mut routes = routes.to_vec();
        routes.sort_by_key(|route| (route.epoch, route.node, route.label));
        let mut table = vec![NOWHERE; nodes * labels];
        let mut turns = Vec::new();
        let mut first = Vec::new();
        for route in &routes {
            let next = route.next.unwrap_or(NOWHERE);
            let is_known = (route.node as usize) < nodes
                && usize::from(route.label) < labels
                && (route.epoch as usize) < request.epochs
                && route.next.is_none_or(|next| (next as usize) < nodes);
            if !is_known {
                return Err(OrbitError::Spec(format!(
                    "{route:?}: allowed are {nodes} nodes, {labels} labels and {} epochs",
                    request.epochs
                )));
            }
            if route.epoch > 0 && first.is_empty() {
                first.clone_from(&table);
            }
            let known = &mut table[usize::from(route.label) * nodes + route.node as usize];
            if *known != next && route.epoch > 0 {
                turns.push(Turn {
                    node: route.node,
                    epoch: route.epoch,
                    label: route.label,
                    next,
                });
            }
            *known = next;
        }
        if first.is_empty() {
            first = table;
        }
        Ok((first, turns))
    }

    /// Numbers links and puts everything in the order of the columns.
    fn columns(&self, request: &NetworkRequest, mut whole: Chunk) -> Result<Columns, OrbitError> {
        let satellites = self.fleet.len() as u32;
        let (labels, nodes) = (self.stations.len(), self.fleet.len() + self.stations.len());
        let extra = self.spec.extra;
        let mut columns = Columns {
            epoch_ps: (0..request.epochs)
                .map(|epoch| request.at_ps(epoch))
                .collect(),
            label_node: (0..labels as u32).map(|label| satellites + label).collect(),
            interval_diff: vec![0],
            ..Columns::default()
        };
        // Chunks follow one another, so intervals of the same ends are in the order of time.
        whole.intervals.sort_by_key(|interval| interval.ends);
        let mut links: Vec<(u32, u32, u32)> = Vec::new();
        let mut before: Option<&Interval> = None;
        for interval in &whole.intervals {
            let known = before.filter(|known| known.ends == interval.ends);
            if known.is_none() {
                let ([a, b], course) = (interval.ends, columns.course_interval.len() as u32);
                links.extend([(a, b, course), (b, a, course)]);
                columns
                    .course_interval
                    .push(columns.interval_epoch.len() as u32);
            }
            let step = known
                .filter(|known| known.end() == interval.first_epoch)
                .and_then(|known| {
                    let step = interval.first_ps.wrapping_sub(known.last_ps) as i64;
                    i32::try_from(step).ok()
                });
            match step {
                Some(step) => columns.diff_ps.push(step),
                None => {
                    if before.is_some() {
                        columns.interval_diff.push(columns.diff_ps.len() as u32);
                    }
                    columns.interval_epoch.push(interval.first_epoch);
                    columns.interval_first_ps.push(interval.first_ps);
                }
            }
            columns.diff_ps.extend(&interval.diffs_ps);
            before = Some(interval);
        }
        if before.is_some() {
            columns.interval_diff.push(columns.diff_ps.len() as u32);
        }
        columns
            .course_interval
            .push(columns.interval_epoch.len() as u32);
        links.sort_unstable();
        columns.node_link.push(0);
        let mut link = links.iter().peekable();
        for node in 0..nodes as u32 {
            let mut on_ground: Option<u32> = None;
            while let Some(&(_, to, course)) = link.next_if(|link| link.0 == node) {
                let kind = match (node < satellites, to < satellites) {
                    (true, true) => port_kind::BETWEEN,
                    (false, _) => port_kind::UP,
                    (true, false) => port_kind::DOWN,
                };
                let is_shared = match kind {
                    port_kind::BETWEEN => false,
                    port_kind::UP => true,
                    _ => !request.has_port_per_station,
                };
                let port = on_ground.filter(|_| is_shared).unwrap_or_else(|| {
                    columns.port_kind.push(kind);
                    columns.port_kind.len() as u32 - 1
                });
                if is_shared {
                    on_ground = Some(port);
                }
                columns.link_port.push(port);
                let is_on_ground = node >= satellites || to >= satellites;
                let on_ground_ps = if is_on_ground { extra.ground_ps } else { 0 };
                let through_ps = if to < satellites {
                    extra.satellite_ps
                } else {
                    0
                };
                columns.link_to.push(to);
                columns.link_course.push(course);
                columns.link_extra_ps.push(on_ground_ps + through_ps);
            }
            columns.node_link.push(columns.link_to.len() as u32);
        }
        self.add_routes(request, whole.first, whole.turns, &mut columns)?;
        columns
            .check()
            .map_err(|error| OrbitError::Spec(error.to_string()))?;
        Ok(columns)
    }

    fn add_routes(
        &self,
        request: &NetworkRequest,
        first: Vec<u32>,
        mut turns: Vec<Turn>,
        columns: &mut Columns,
    ) -> Result<(), OrbitError> {
        let (labels, nodes) = (self.stations.len(), self.fleet.len() + self.stations.len());
        let link = |columns: &Columns, node: u32, label: u16, epoch: u32, next: u32| {
            if next == NOWHERE {
                return Ok(NO_LINK);
            }
            let at_ps = request.at_ps(epoch as usize);
            columns.link_to(node, next).ok_or(OrbitError::NoLink {
                node,
                label,
                next,
                at_ps,
            })
        };
        for node in 0..nodes as u32 {
            for label in 0..labels {
                let next = first[label * nodes + node as usize];
                let own = link(columns, node, label as u16, 0, next)?;
                columns.route_first.push(own);
            }
        }
        turns.sort_unstable();
        let mut turn = turns.into_iter().peekable();
        columns.node_change.push(0);
        for node in 0..nodes as u32 {
            while let Some(turn) = turn.next_if(|turn| turn.node == node) {
                let own = link(columns, node, turn.label, turn.epoch, turn.next)?;
                columns.change_epoch.push(turn.epoch);
                columns.change_label.push(turn.label);
                columns.change_link.push(own);
            }
            columns.node_change.push(columns.change_epoch.len() as u32);
        }
        Ok(())
    }
}

/// What a thread needs for a chunk.
struct Builder<'a> {
    world: &'a World,
    request: &'a NetworkRequest,
    access: &'a [Access],
    sky: Sky<'a>,
    ground: Ground,
    acquired: Acquired,
    mesh: Mesh,
    trees: Vec<Tree>,
    search: Search,
    /// Next nodes by label, then node.
    table: Vec<u32>,
}

impl<'a> Builder<'a> {
    fn new(world: &'a World, request: &'a NetworkRequest, access: &'a [Access]) -> Self {
        let (labels, nodes) = (
            world.stations.len(),
            world.fleet.len() + world.stations.len(),
        );
        Builder {
            world,
            request,
            access,
            sky: world.sky(request.start_ps),
            ground: vec![Vec::new(); labels],
            acquired: Acquired::new(request.interruption_ps),
            mesh: Mesh::default(),
            trees: vec![Tree::default(); labels],
            search: Search::default(),
            table: vec![NOWHERE; nodes * labels],
        }
    }

    fn chunk(mut self, number: usize) -> Chunk {
        let mut chunk = Chunk::default();
        let mut open: Vec<usize> = Vec::new();
        let first = number * CHUNK;
        let last = (first + CHUNK).min(self.request.epochs - 1);
        let before = self.acquired.epochs_before(self.request.step_ps);
        (first.saturating_sub(before)..first).for_each(|epoch| self.turn_to(epoch));
        for epoch in first..=last {
            self.turn_to(epoch);
            if epoch < first + CHUNK {
                open = self.take_links(epoch as u32, &mut chunk.intervals, &open);
            }
            if let Routing::Least(metric) = self.request.routing {
                let known = (epoch > first).then_some(&mut chunk.turns);
                self.take_routes(epoch as u32, metric, known);
                if epoch == 0 {
                    chunk.first.clone_from(&self.table);
                }
            }
        }
        chunk
    }

    fn turn_to(&mut self, epoch: usize) {
        self.sky.turn_to(self.request.at_ps(epoch));
        let satellites = self.world.fleet.len() as u32;
        let in_force = |outage: &&Outage| (outage.from..outage.until).contains(&(epoch as u32));
        let outages: Vec<Outage> = (self.request.outages.iter())
            .filter(in_force)
            .copied()
            .collect();
        let is_out = |ends: [u32; 2]| outages.iter().any(|own| own.takes(ends, epoch as u32));
        self.sky.find_links_without(is_out);
        for station in 0..self.ground.len() as u32 {
            let (sky, own) = (&self.sky, &mut self.ground[station as usize]);
            own.clear();
            let delay = |satellite: u32| (satellite, sky.ground_ps(station, satellite));
            if self.world.spec.access.rule == AccessRule::Any {
                let visible = sky.visible(station);
                let up = visible.filter(|&satellite| !is_out([satellites + station, satellite]));
                own.extend(up.map(delay));
            } else {
                let used = self.access[station as usize].at(epoch);
                let is_used = |&satellite: &u32| {
                    satellite != NONE && !is_out([satellites + station, satellite])
                };
                own.extend(Some(used).filter(is_used).map(delay));
            }
        }
        let now_ps = self.request.at_ps(epoch);
        self.acquired.keep(now_ps, &mut self.ground);
    }

    /// Goes on with the intervals of the epoch before, and begins new ones; returns those that exist,
    /// in the order of their ends.
    fn take_links(&self, epoch: u32, intervals: &mut Vec<Interval>, open: &[usize]) -> Vec<usize> {
        let satellites = self.world.fleet.len() as u32;
        let in_satellite_ps = self.world.spec.extra.satellite_ps;
        let graph = self.sky.graph();
        let between = (0..satellites).flat_map(|a| {
            let above = graph.row(a).filter(move |row| row.0 > a);
            above.map(move |(b, delay_ps)| ([a, b], delay_ps - in_satellite_ps))
        });
        let ground = self.ground.iter().enumerate().flat_map(|(station, own)| {
            let node = satellites + station as u32;
            own.iter()
                .map(move |&(satellite, delay_ps)| ([node, satellite], delay_ps))
        });
        let mut known = open.iter().copied().peekable();
        let mut now = Vec::with_capacity(open.len());
        for (ends, delay_ps) in between.chain(ground) {
            while known.next_if(|&own| intervals[own].ends < ends).is_some() {}
            let same = known.next_if(|&own| intervals[own].ends == ends);
            let goes_on = same.filter(|&own| intervals[own].extend(delay_ps));
            now.push(goes_on.unwrap_or_else(|| {
                intervals.push(Interval {
                    ends,
                    first_epoch: epoch,
                    first_ps: delay_ps,
                    last_ps: delay_ps,
                    diffs_ps: Vec::new(),
                });
                intervals.len() - 1
            }));
        }
        now
    }

    /// Brings trees and table to the epoch, and notes what differs where there was an epoch before.
    fn take_routes(&mut self, epoch: u32, metric: Metric, mut turns: Option<&mut Vec<Turn>>) {
        let per_link = match metric {
            Metric::Delay => 0,
            Metric::Hops => LINK_COST,
        };
        let cost = |delay_ps: u64| delay_ps.max(1) + per_link;
        let extra = self.world.spec.extra;
        self.mesh.take(self.sky.graph(), cost);
        let satellites = self.world.fleet.len();
        let nodes = satellites + self.ground.len();
        // Satellites of all stations with the costs of the links up, station after station.
        let (mut ups, mut starts) = (Vec::new(), vec![0]);
        for own in &self.ground {
            let up = |ps: u64| cost(ps + extra.ground_ps + extra.satellite_ps);
            ups.extend(own.iter().map(|&(satellite, ps)| (satellite, up(ps))));
            starts.push(ups.len());
        }
        let mut gateways = Vec::new();
        for label in 0..self.ground.len() {
            let own = self.ground[label].iter();
            gateways.clear();
            gateways.extend(own.map(|&(satellite, ps)| (satellite, cost(ps + extra.ground_ps))));
            let tree = &mut self.trees[label];
            tree.follow(&self.mesh, &gateways, &mut self.search);
            let costs = tree.costs();
            for node in 0..nodes as u32 {
                let next = match (node as usize).checked_sub(satellites) {
                    None => match tree.next(&self.mesh, node) {
                        None => NOWHERE,
                        Some(NextHop::Satellite(next)) => next,
                        Some(NextHop::Down) => (satellites + label) as u32,
                    },
                    Some(station) if station == label => NOWHERE,
                    Some(station) => {
                        // In the order of the satellites, so the first of equals is taken.
                        let (mut best, mut next) = (UNREACHED, NOWHERE);
                        for &(satellite, up) in &ups[starts[station]..starts[station + 1]] {
                            let whole = up + costs[satellite as usize];
                            if whole < best {
                                (best, next) = (whole, satellite);
                            }
                        }
                        next
                    }
                };
                let known = &mut self.table[label * nodes + node as usize];
                if *known != next {
                    *known = next;
                    if let Some(turns) = &mut turns {
                        let label = label as u16;
                        turns.push(Turn {
                            node,
                            epoch,
                            label,
                            next,
                        });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;
