//! A constellation and its stations as the columns of a sky: links with delays, and routes by label.
//!
//! Nodes are the satellites, then the places on the ground, and then perhaps a point behind some of these.
//! Each station is a label, and so is the point. A station links with the satellites that it may use at an
//! epoch, and does not relay unless asked. Threads share the epochs in chunks, and a chunk looks at the
//! first epoch of the next one, so the columns do not depend on the threads.

mod chunk;
mod in_columns;
mod looks;
mod moments;
mod nodes;

pub use nodes::{Ground, Terrestrial};

use crate::OrbitError;
use crate::series::{Access, Progress, SeriesRequest, shared};
use crate::sky::World;
use crate::spec::{AccessRule, Route};
use crate::spread::Spread;
use chunk::{Chunk, Turn};
use looks::Builder;
use moments::Moments;
use nodes::Nodes;
use skycell_sky::Columns;

/// Epochs that a thread takes at a time.
const CHUNK: usize = 64;
/// Next node where there is no route.
const NOWHERE: u32 = u32::MAX;
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

/// Cost of a link beside its delay where links are counted. The delays of a path add up to less.
const LINK_COST: u64 = 1 << 48;

impl Metric {
    /// Cost of a link.
    fn cost(self, delay_ps: u64) -> u64 {
        let per_link = match self {
            Metric::Delay => 0,
            Metric::Hops => LINK_COST,
        };
        delay_ps.max(1) + per_link
    }

    /// The most that a path may cost beside one of the least cost: so much longer, or as many links.
    fn most(self, least: u64, detour_ppm: u32) -> u64 {
        match self {
            Metric::Delay => {
                let more = u128::from(least) * u128::from(detour_ppm) / 1_000_000;
                least.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
            }
            Metric::Hops => least | (LINK_COST - 1),
        }
    }
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
    /// What the places on the ground are.
    pub ground: Ground,
    /// Several labels for each destination, each with paths of its own; none for one.
    pub spread: Option<Spread>,
    /// How exactly changes of the paths of the spec's pairs are looked for between two epochs, above 0 ps;
    /// each is an epoch more. None where epochs are those of the step.
    pub precision_ps: Option<u64>,
    /// Time from which on a station may use a satellite to that from which on their link carries packets.
    pub interruption_ps: u64,
}

impl NetworkRequest {
    /// Labels of each destination.
    fn paths(&self) -> usize {
        self.spread.map_or(1, |spread| usize::from(spread.paths))
    }

    fn at_ps(&self, step: usize) -> u64 {
        self.start_ps + self.step_ps * step as u64
    }
}

/// A node, or a link, that is out of order: its links do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Number of the node, or of one end of the link.
    pub node: u32,
    /// Number of the other end; none for a node.
    pub other: Option<u32>,
    /// First step of the outage.
    pub from: u32,
    /// First step after it.
    pub until: u32,
}

impl Outage {
    /// Returns whether a link between two nodes is out of order while the outage lasts.
    fn takes(&self, [a, b]: [u32; 2]) -> bool {
        match self.other {
            None => [a, b].contains(&self.node),
            Some(other) => [a, b] == [self.node, other] || [b, a] == [self.node, other],
        }
    }
}

/// The kinds of ports in the columns.
pub mod port_kind {
    /// To another satellite.
    pub const BETWEEN: u8 = 0;
    /// Of a place on the ground, to all satellites.
    pub const UP: u8 = 1;
    /// Of a satellite, to places on the ground.
    pub const DOWN: u8 = 2;
    /// Between a place on the ground and the point behind it.
    pub const TERRESTRIAL: u8 = 3;
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
        let nodes = Nodes::new(self, request)?;
        let labels = nodes.destinations().saturating_mul(request.paths());
        if labels > MOST_LABELS {
            return refuse(format!("{labels} labels, allowed are {MOST_LABELS}"));
        }
        let ends = self.spec.pairs.iter().flatten();
        if let Some(end) = ends
            .max()
            .filter(|&&end| end as usize >= nodes.destinations())
        {
            let destinations = nodes.destinations();
            return refuse(format!("a pair with {end}, of {destinations} destinations"));
        }
        if request.interruption_ps > 0 && request.precision_ps.is_some() {
            return refuse("interruptions, and looks at changes: allowed is one of them".into());
        }
        if self.spec.route == Route::Greedy {
            let why = "a greedy route depends on where it began, so nodes cannot forward by label";
            return refuse(why.into());
        }
        let is_listed = matches!(request.routing, Routing::Listed(_));
        if is_listed && (request.spread.is_some() || request.precision_ps.is_some()) {
            let why = "routes of a table have one path, and change when the table says so";
            return refuse(why.into());
        }
        let access = self.access_of_all(request, go_on)?;
        let moments = Moments::find(self, request, &nodes, &access, go_on)?;
        let chunks = moments.at_ps.len().div_ceil(CHUNK);
        let begin = if request.precision_ps.is_some() {
            0.7
        } else {
            0.2
        };
        let done = shared(request.threads, chunks, (begin, 1.0), go_on, |chunk| {
            Builder::new(self, request, &nodes, &access).chunk(&moments.at_ps, chunk)
        })?;
        let mut whole = Chunk::default();
        for chunk in done {
            whole.intervals.extend(chunk.intervals);
            whole.turns.extend(chunk.turns);
            whole.first.extend(chunk.first);
        }
        if let Routing::Listed(routes) = &request.routing {
            (whole.first, whole.turns) = listed(request, &nodes, routes)?;
        }
        self.columns(request, &nodes, moments.at_ps, whole)
    }

    /// The satellite of each station over time; nothing where stations use any.
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
            precision_ps: request.precision_ps,
        };
        let mut part = |share: f64| go_on(share * 0.2);
        let all: Vec<u32> = (0..request.ground.stations as u32).collect();
        match (self.spec.access.rule, &self.spec.access.slots) {
            (AccessRule::Any, _) => Ok(Vec::new()),
            (_, Some(slots)) => self.slots_over_time(slots, &series, &mut part),
            (_, None) => self.access_over_time(&all, &series, &mut part),
        }
    }
}

/// First next nodes and turns of a table of routes.
fn listed(
    request: &NetworkRequest,
    nodes: &Nodes,
    routes: &[ListedRoute],
) -> Result<(Vec<u32>, Vec<Turn>), OrbitError> {
    let (labels, nodes) = (nodes.destinations(), nodes.count());
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

#[cfg(test)]
#[path = "network_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "network/ground_tests.rs"]
mod ground_tests;
