//! Links and next hops, put in the order of the columns.

use super::chunk::{Chunk, Interval, Turn};
use super::nodes::Nodes;
use super::{NOWHERE, NetworkRequest, port_kind};
use crate::OrbitError;
use crate::sky::World;
use skycell_sky::{Columns, NO_LINK};

impl World {
    /// Numbers links and puts everything in the order of the columns.
    pub(super) fn columns(
        &self,
        request: &NetworkRequest,
        of: &Nodes,
        epoch_ps: Vec<u64>,
        mut whole: Chunk,
    ) -> Result<Columns, OrbitError> {
        let satellites = self.fleet.len() as u32;
        let nodes = of.count();
        let extra = self.spec.extra;
        let labels = of.destinations() * request.paths();
        let mut columns = Columns {
            epoch_ps,
            label_node: (0..labels).map(|label| of.end_of(label)).collect(),
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
                    (false, true) => port_kind::UP,
                    (true, false) => port_kind::DOWN,
                    (false, false) => port_kind::TERRESTRIAL,
                };
                let is_shared = match kind {
                    port_kind::BETWEEN | port_kind::TERRESTRIAL => false,
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
                let is_on_ground = (node < satellites) != (to < satellites);
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
        add_routes(whole.first, whole.turns, &mut columns)?;
        columns
            .check()
            .map_err(|error| OrbitError::Spec(error.to_string()))?;
        Ok(columns)
    }
}

/// Adds the first next hops, by label, then node, and the later ones, as links of the columns.
fn add_routes(
    first: Vec<u32>,
    mut turns: Vec<Turn>,
    columns: &mut Columns,
) -> Result<(), OrbitError> {
    let (labels, nodes) = (columns.labels(), columns.nodes());
    let link = |columns: &Columns, node: u32, label: u16, epoch: u32, next: u32| {
        if next == NOWHERE {
            return Ok(NO_LINK);
        }
        let at_ps = columns.epoch_ps[epoch as usize];
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
