//! A constellation as a network for Python: next hops, paths hop by hop, and the columns' file.

use crate::errors::orbit_error;
use crate::orbit::{MOST_VALUES, world};
use crate::run::{Watch, array};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use skycell_orbit::series::NO_PATH_PS;
use skycell_orbit::{
    Ground, ListedRoute, Metric, NetworkRequest, OrbitError, Outage, Routing, Spread, Terrestrial,
    World,
};
use skycell_records::Column;
use skycell_sky::file::digest;
use skycell_sky::{Columns, Courses, LossReason, NO_LINK, Rows, Walk, walk};

/// Node where there is no next hop.
const NO_NODE: u32 = u32::MAX;

/// Rows of a table of routes: epoch, node, label, and next node, below 0 for none.
type Listed = (Vec<u32>, Vec<u32>, Vec<u16>, Vec<i64>);

/// Routes by label over a constellation and the paths of its pairs, as columns.
#[pyfunction]
#[pyo3(signature = (spec_json, start_ps, step_ps, epochs, threads, by = "delay", listed = None, with_file = false, on_progress = None, port_per_station = false, outages = Vec::new(), stations = None, stations_relay = false, terrestrial = Vec::new(), paths = 1, detour_ppm = 0, precision_ps = None, interruption_ps = 0))]
#[allow(clippy::too_many_arguments)] // the caller's keywords
pub fn orbit_routes<'py>(
    py: Python<'py>,
    spec_json: String,
    start_ps: u64,
    step_ps: u64,
    epochs: usize,
    threads: usize,
    by: &str,
    listed: Option<Listed>,
    with_file: bool,
    on_progress: Option<Py<PyAny>>,
    port_per_station: bool,
    outages: Vec<(u32, i64, u32, u32)>,
    stations: Option<usize>,
    stations_relay: bool,
    terrestrial: Vec<(u32, u64)>,
    paths: u16,
    detour_ppm: u32,
    precision_ps: Option<u64>,
    interruption_ps: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let routing = routing(by, listed)?;
    let last_ps = step_ps.saturating_mul((epochs as u64).saturating_sub(1));
    let world = world(py, spec_json, [start_ps, start_ps.saturating_add(last_ps)])?;
    let nodes = world.fleet.len() + world.stations.len();
    let followed_pairs = world.spec.pairs.len().saturating_mul(usize::from(paths));
    let values = epochs.saturating_mul(nodes.max(followed_pairs));
    let is_nothing = epochs == 0 || threads == 0 || step_ps == 0 || paths == 0;
    if values > MOST_VALUES || is_nothing || precision_ps == Some(0) {
        return Err(PyValueError::new_err(format!(
            "{epochs} epochs of {nodes} nodes, {step_ps} ps apart, threads: {threads}; allowed are \
             {MOST_VALUES} nodes and epochs together, and numbers above 0"
        )));
    }
    let request = NetworkRequest {
        start_ps,
        step_ps,
        epochs,
        threads,
        routing,
        has_port_per_station: port_per_station,
        outages: outages.into_iter().map(outage).collect(),
        ground: Ground {
            stations: stations.unwrap_or(world.stations.len()),
            stations_relay,
            terrestrial: terrestrial.into_iter().map(link_on_ground).collect(),
        },
        spread: (paths > 1).then_some(Spread { paths, detour_ppm }),
        precision_ps,
        interruption_ps,
    };
    let (outcome, failure) = py.detach(|| {
        let mut watch = Watch::new(on_progress);
        let outcome = world.network(&request, &mut |part| watch.goes_on(part));
        let outcome = outcome.map(|columns| {
            let missing = columns.route_without_link();
            let paths = followed(&world, &columns, usize::from(paths));
            let octets = columns.to_octets();
            (missing, paths, digest(&octets), octets, columns)
        });
        (outcome, watch.failure)
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let found = PyDict::new(py);
    let (missing, paths, digest, octets, columns) = match outcome {
        Ok(done) => done,
        Err(OrbitError::NoLink {
            node,
            label,
            next,
            at_ps,
        }) => {
            found.set_item("no_link", (node, label, next, at_ps))?;
            return Ok(found);
        }
        Err(error) => return Err(orbit_error(error)),
    };
    if let Some((node, label, epoch)) = missing {
        let mut rows = Rows::new(&columns);
        rows.bring(node, epoch);
        let next = rows
            .next(node, label)
            .map(|link| columns.link_to[link as usize]);
        let at_ps = columns.epoch_ps[epoch as usize];
        found.set_item("no_link", (node, label, next, at_ps))?;
        return Ok(found);
    }
    found.set_item("digest", digest)?;
    found.set_item("octets", octets.len())?;
    if with_file {
        found.set_item("file", PyBytes::new(py, &octets))?;
    }
    found.set_item("links", columns.link_to.len())?;
    let on_ground = world.fleet.len() as u32..columns.nodes() as u32;
    let unlinked: Vec<bool> = on_ground
        .map(|node| columns.links(node).is_empty())
        .collect();
    found.set_item("unlinked", unlinked)?;
    found.set_item(
        "epoch_ps",
        array(py, Column::U64(columns.epoch_ps.clone()))?,
    )?;
    found.set_item(
        "label_node",
        array(py, Column::U32(columns.label_node.clone()))?,
    )?;
    for (name, column) in paths.into_columns().into_iter().chain(hops(&columns)) {
        found.set_item(name, array(py, column)?)?;
    }
    Ok(found)
}

/// A row of outages: node, other end or below 0, first epoch, and the first after it.
fn outage((node, other, from, until): (u32, i64, u32, u32)) -> Outage {
    let other = u32::try_from(other).ok();
    Outage {
        node,
        other,
        from,
        until,
    }
}

/// A link on the ground: place, and delay to the point.
fn link_on_ground((site, delay_ps): (u32, u64)) -> Terrestrial {
    Terrestrial { site, delay_ps }
}

fn routing(by: &str, listed: Option<Listed>) -> PyResult<Routing> {
    if let Some((epochs, nodes, labels, nexts)) = listed {
        let rows = epochs.len();
        if [nodes.len(), labels.len(), nexts.len()] != [rows; 3] {
            return Err(PyValueError::new_err("columns of different lengths"));
        }
        let routes = (0..rows).map(|row| ListedRoute {
            epoch: epochs[row],
            node: nodes[row],
            label: labels[row],
            next: u32::try_from(nexts[row]).ok(),
        });
        return Ok(Routing::Listed(routes.collect()));
    }
    match by {
        "delay" => Ok(Routing::Least(Metric::Delay)),
        "hops" => Ok(Routing::Least(Metric::Hops)),
        other => Err(PyValueError::new_err(format!(
            "routes by {other:?}; there are \"delay\" and \"hops\""
        ))),
    }
}

/// Paths of the pairs, pair after pair, label after label of its destination, in the order of time.
#[derive(Default)]
struct Paths {
    pair: Vec<u32>,
    first_epoch: Vec<u32>,
    epochs: Vec<u32>,
    /// 0 for a path that arrives, or the number of the reason.
    lost: Vec<u32>,
    /// Nodes of each path, the first and the last included.
    nodes: Vec<u32>,
    path: Vec<u32>,
    /// Delay of each pair at each epoch.
    delays_ps: Vec<u64>,
    /// Delays of the links of the pairs' paths at the first epoch.
    links_ps: Vec<u64>,
}

impl Paths {
    fn into_columns(self) -> [(&'static str, Column); 8] {
        [
            ("pair", Column::U32(self.pair)),
            ("first_epoch", Column::U32(self.first_epoch)),
            ("epochs", Column::U32(self.epochs)),
            ("lost", Column::U32(self.lost)),
            ("nodes", Column::U32(self.nodes)),
            ("way", Column::U32(self.path)),
            ("delays_ps", Column::U64(self.delays_ps)),
            ("links_ps", Column::U64(self.links_ps)),
        ]
    }
}

fn reason_number(lost: Option<LossReason>) -> u32 {
    match lost {
        None => 0,
        Some(LossReason::NoRoute) => 1,
        Some(LossReason::OutOfRange) => 2,
        Some(LossReason::HopLimit) => 3,
    }
}

/// Follows the pairs of a world, each over some labels of its destination.
fn followed(world: &World, columns: &Columns, labels: usize) -> Paths {
    let destinations = columns.labels() / labels;
    let pairs = world.spec.pairs.iter();
    let pairs: Vec<[usize; 2]> = pairs
        .flat_map(|&[from, to]| {
            (0..labels).map(move |own| [from as usize, own * destinations + to as usize])
        })
        .collect();
    let epochs = columns.epochs();
    let (mut rows, mut courses) = (Rows::new(columns), Courses::new(columns));
    let mut paths = Paths {
        delays_ps: vec![NO_PATH_PS; pairs.len() * epochs],
        ..Paths::default()
    };
    let mut spans: Vec<Vec<(u32, u32, Walk)>> = vec![Vec::new(); pairs.len()];
    for epoch in 0..epochs as u32 {
        rows.bring_all(epoch);
        for (pair, &[from, to]) in pairs.iter().enumerate() {
            let node = columns.label_node[from];
            let found = walk(&rows, &mut courses, node, to as u16, epoch);
            if found.lost.is_none() {
                let delay_ps = found.delays_ps.iter().sum();
                paths.delays_ps[pair * epochs + epoch as usize] = delay_ps;
            }
            match spans[pair].last_mut() {
                Some((_, count, known))
                    if known.links == found.links && known.lost == found.lost =>
                {
                    *count += 1;
                }
                _ => spans[pair].push((epoch, 1, found)),
            }
        }
    }
    for (pair, own) in spans.into_iter().enumerate() {
        for (first, count, found) in own {
            paths.pair.push(pair as u32);
            paths.first_epoch.push(first);
            paths.epochs.push(count);
            paths.lost.push(reason_number(found.lost));
            paths.nodes.push(found.links.len() as u32 + 1);
            paths.path.push(columns.label_node[pairs[pair][0]]);
            let ends = found
                .links
                .iter()
                .map(|&link| columns.link_to[link as usize]);
            paths.path.extend(ends);
            if first == 0 {
                paths.links_ps.extend(found.delays_ps);
            }
        }
    }
    paths
}

/// The next node of each node and label at the first epoch, and what changes after it, in the order of
/// time.
fn hops(columns: &Columns) -> [(&'static str, Column); 6] {
    let labels = columns.labels();
    let next = |node: usize, link: u16| match link {
        NO_LINK => NO_NODE,
        link => columns.link_to[columns.node_link[node] as usize + usize::from(link)],
    };
    let mut known: Vec<u32> = Vec::with_capacity(columns.route_first.len());
    for node in 0..columns.nodes() {
        let own = &columns.route_first[node * labels..(node + 1) * labels];
        known.extend(own.iter().map(|&link| next(node, link)));
    }
    let first = known.clone();
    let mut changes = Vec::with_capacity(columns.change_epoch.len());
    for node in 0..columns.nodes() {
        for row in columns.node_change[node] as usize..columns.node_change[node + 1] as usize {
            let label = columns.change_label[row];
            let own = &mut known[node * labels + usize::from(label)];
            let after = next(node, columns.change_link[row]);
            changes.push((columns.change_epoch[row], node as u32, label, *own, after));
            *own = after;
        }
    }
    changes.sort_unstable();
    let column =
        |of: fn(&(u32, u32, u16, u32, u32)) -> u32| Column::U32(changes.iter().map(of).collect());
    [
        ("next", Column::U32(first)),
        ("change_epoch", column(|change| change.0)),
        ("change_node", column(|change| change.1)),
        ("change_label", column(|change| u32::from(change.2))),
        ("change_before", column(|change| change.3)),
        ("change_after", column(|change| change.4)),
    ]
}
