//! One look after another at links and routes.

use super::chunk::{Chunk, Interval, Turn};
use super::nodes::Nodes;
use super::{CHUNK, Metric, NOWHERE, NetworkRequest, Outage, Routing};
use crate::acquired::{Acquired, OnGround};
use crate::graph::Graph;
use crate::series::{Access, NONE};
use crate::sky::{Sky, World};
use crate::spec::AccessRule;
use crate::spread::{Detours, Leaf, LeafLink};
use crate::tree::{Mesh, NextHop, Search, Tree, UNREACHED};

/// What a thread needs for its epochs.
pub(super) struct Builder<'a> {
    world: &'a World,
    request: &'a NetworkRequest,
    pub(super) nodes: &'a Nodes,
    access: &'a [Access],
    sky: Sky<'a>,
    /// Satellites of each place with the delay of light.
    ground: OnGround,
    acquired: Acquired,
    /// Delay of each place to the point; none without a link.
    terrestrial: Vec<Option<u64>>,
    /// Links of the nodes on the ground, places and then the point, with nodes that forward.
    leaves: Vec<Leaf>,
    /// Links among the nodes that forward, where places are among these.
    graph: Graph,
    mesh: Mesh,
    /// Trees of the destinations.
    trees: Vec<Tree>,
    search: Search,
    detours: Detours,
    /// Next nodes by label, then node.
    pub(super) table: Vec<u32>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(
        world: &'a World,
        request: &'a NetworkRequest,
        nodes: &'a Nodes,
        access: &'a [Access],
    ) -> Self {
        let (sites, labels) = (world.stations.len(), nodes.destinations() * request.paths());
        Builder {
            world,
            request,
            nodes,
            access,
            sky: world.sky(request.start_ps),
            ground: vec![Vec::new(); sites],
            acquired: Acquired::new(request.interruption_ps),
            terrestrial: vec![None; sites],
            leaves: vec![Leaf::new(); sites + 1],
            graph: Graph::default(),
            mesh: Mesh::default(),
            trees: vec![Tree::default(); nodes.destinations()],
            search: Search::default(),
            detours: Detours::default(),
            table: vec![NOWHERE; nodes.count() * labels],
        }
    }

    pub(super) fn chunk(mut self, at_ps: &[u64], number: usize) -> Chunk {
        let mut chunk = Chunk::default();
        let mut open: Vec<usize> = Vec::new();
        let first = number * CHUNK;
        let last = (first + CHUNK).min(at_ps.len() - 1);
        for &before_ps in self.acquired.before(&at_ps[..=first]) {
            self.turn_to(before_ps);
        }
        for (epoch, &at_ps) in at_ps.iter().enumerate().take(last + 1).skip(first) {
            self.turn_to(at_ps);
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

    /// Looks at a moment.
    pub(super) fn turn_to(&mut self, at_ps: u64) {
        self.sky.turn_to(at_ps);
        let step = ((at_ps - self.request.start_ps) / self.request.step_ps) as usize;
        let in_force = |outage: &&Outage| (outage.from..outage.until).contains(&(step as u32));
        let outages: Vec<Outage> = (self.request.outages.iter())
            .filter(in_force)
            .copied()
            .collect();
        let is_out = |ends: [u32; 2]| outages.iter().any(|own| own.takes(ends));
        self.sky.find_links_without(is_out);
        for site in 0..self.ground.len() as u32 {
            let node = self.nodes.of_site(site);
            let sky = &self.sky;
            let delay = |satellite: u32| (satellite, sky.ground_ps(site, satellite));
            let uses_any =
                self.world.spec.access.rule == AccessRule::Any || !self.nodes.is_station(site);
            let mut own = std::mem::take(&mut self.ground[site as usize]);
            own.clear();
            if uses_any {
                let visible = sky.visible(site);
                let up = visible.filter(|&satellite| !is_out([node, satellite]));
                own.extend(up.map(delay));
            } else {
                let used = self.used(site, at_ps, step);
                let is_used = |&satellite: &u32| satellite != NONE && !is_out([node, satellite]);
                own.extend(Some(used).filter(is_used).map(delay));
            }
            self.ground[site as usize] = own;
            let link_ps = self.nodes.point_ps(site);
            let is_there = !is_out([node, self.nodes.point()]);
            self.terrestrial[site as usize] = link_ps.filter(|_| is_there);
        }
        self.acquired.keep(at_ps, &mut self.ground);
    }

    /// The satellite that a station uses at the moment looked at; `NONE` for none.
    fn used(&self, station: u32, at_ps: u64, step: usize) -> u32 {
        let own = &self.access[station as usize];
        if self.request.precision_ps.is_none() {
            return own.at(step);
        }
        let used = match own.turns.partition_point(|turn| turn.at_ps <= at_ps) {
            0 => self.sky.access(station, None),
            known => own.turns[known - 1].satellite,
        };
        used.unwrap_or(NONE)
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
        let point = self.nodes.point();
        let ground = (self.ground.iter().zip(&self.terrestrial)).zip(0u32..);
        let ground = ground.flat_map(|((own, &terrestrial), site)| {
            let node = self.nodes.of_site(site);
            let to_point = terrestrial.map(|delay_ps| (point, delay_ps));
            let links = own.iter().copied().chain(to_point);
            links.map(move |(to, delay_ps)| ([node, to], delay_ps))
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

    /// Takes the links of the nodes that forward, and of those on the ground that do not.
    fn take_mesh(&mut self, cost: impl Fn(u64) -> u64 + Copy) {
        let satellites = self.world.fleet.len() as u32;
        let extra = self.world.spec.extra;
        let up_ps = |light_ps: u64| light_ps + extra.ground_ps + extra.satellite_ps;
        let down_ps = |light_ps: u64| light_ps + extra.ground_ps;
        if self.nodes.vertices() == satellites as usize {
            self.mesh.take(self.sky.graph(), cost);
        } else {
            let mut links = self.sky.links().to_vec();
            for (own, site) in self.ground.iter().zip(0u32..) {
                if self.nodes.site_forwards(site) {
                    let node = self.nodes.of_site(site);
                    links.extend(own.iter().map(|&(satellite, _)| [satellite, node]));
                }
            }
            let sky = &self.sky;
            self.graph.fill(self.nodes.vertices(), &links, |[a, b]| {
                match (a.checked_sub(satellites), b.checked_sub(satellites)) {
                    (Some(site), _) => up_ps(sky.ground_ps(site, b)),
                    (_, Some(site)) => down_ps(sky.ground_ps(site, a)),
                    _ => sky.graph().delay_ps(a, b).expect("a link of the sky"),
                }
            });
            self.mesh.take(&self.graph, cost);
        }
        for (own, leaf) in self.ground.iter().zip(&mut self.leaves) {
            leaf.clear();
            leaf.extend(own.iter().map(|&(satellite, ps)| LeafLink {
                to: satellite,
                out: cost(up_ps(ps)),
                back: cost(down_ps(ps)),
            }));
        }
        let gateways = self.terrestrial.iter().zip(0u32..);
        let links = gateways.filter_map(|(&delay_ps, site)| {
            let (to, own) = (self.nodes.of_site(site), cost(delay_ps?));
            Some(LeafLink {
                to,
                out: own,
                back: own,
            })
        });
        let point = self.leaves.last_mut().expect("a leaf for the point");
        point.clear();
        point.extend(links);
    }

    /// Brings trees and table to the moment looked at, and notes what differs where there was an epoch
    /// before.
    pub(super) fn take_routes(
        &mut self,
        epoch: u32,
        metric: Metric,
        mut turns: Option<&mut Vec<Turn>>,
    ) {
        self.take_mesh(|delay_ps| metric.cost(delay_ps));
        let satellites = self.world.fleet.len();
        let (nodes, destinations) = (self.nodes, self.nodes.destinations());
        let mut gateways = Vec::new();
        for destination in 0..destinations {
            let end = nodes.end_of(destination);
            gateways.clear();
            if nodes.forwards(end) {
                gateways.push((end, 0));
            } else {
                let leaf = &self.leaves[end as usize - satellites];
                gateways.extend(leaf.iter().map(|link| (link.to, link.back)));
            }
            let tree = &mut self.trees[destination];
            tree.follow(&self.mesh, &gateways, &mut self.search);
            for path in 0..self.request.paths() {
                if let Some(spread) = self.request.spread.filter(|_| path > 0) {
                    let most = |least: u64| metric.most(least, spread.detour_ppm);
                    (self.detours).follow(&self.mesh, tree, &gateways, (end, path as u16), most);
                }
                let label = path * destinations + destination;
                let table = &mut self.table[label * nodes.count()..][..nodes.count()];
                for (node, known) in (0u32..).zip(table) {
                    let next = if node == end {
                        NOWHERE
                    } else if nodes.forwards(node) {
                        match (path, tree.next(&self.mesh, node)) {
                            (_, None) => NOWHERE,
                            (0, Some(NextHop::Satellite(next))) => next,
                            (0, Some(NextHop::Down)) => end,
                            _ => self.detours.next(node),
                        }
                    } else {
                        let leaf = &self.leaves[node as usize - satellites];
                        match path {
                            0 => least(leaf, tree).1,
                            _ => {
                                let least = least(leaf, tree).0;
                                let spread = self.request.spread.expect("several paths");
                                let most = metric.most(least, spread.detour_ppm);
                                self.detours.of_leaf(leaf, tree, node, (least, most))
                            }
                        }
                    };
                    if *known != next {
                        *known = next;
                        if let Some(turns) = &mut turns {
                            turns.push(Turn {
                                node,
                                epoch,
                                label: label as u16,
                                next,
                            });
                        }
                    }
                }
            }
        }
    }
}

/// The least cost from a node on the ground that does not forward, and the next node. Links are in the
/// order of the nodes, so the first of equals is taken.
fn least(leaf: &Leaf, tree: &Tree) -> (u64, u32) {
    let (mut best, mut next) = (UNREACHED, NOWHERE);
    for link in leaf {
        let whole = link.out + tree.costs()[link.to as usize];
        if whole < best {
            (best, next) = (whole, link.to);
        }
    }
    (best, next)
}
