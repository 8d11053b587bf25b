//! Columns from links and routes that are written one by one: for small networks, and for tests of engines.

use crate::columns::{Columns, ColumnsError, NO_LINK};

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandLink {
    /// Node that it leaves.
    pub from: u32,
    /// Node that it leads to.
    pub to: u32,
    /// Which of its node's ports feeds it.
    pub port: u32,
    /// Kind of that port.
    pub kind: u8,
    /// Delay at each epoch, picoseconds; none while it does not exist.
    pub delays_ps: Vec<Option<u64>>,
}

/// A network whose links and routes are written one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByHand {
    /// When each epoch begins.
    pub epoch_ps: Vec<u64>,
    /// Number of nodes.
    pub nodes: u32,
    /// Links, in any order.
    pub links: Vec<HandLink>,
    /// Node at which each label ends.
    pub label_node: Vec<u32>,
    /// By epoch, then node, then label: the next node; none where there is no route.
    pub next: Vec<Vec<Vec<Option<u32>>>>,
}

impl ByHand {
    /// The columns.
    ///
    /// # Errors
    /// What was written has no meaning, or a route has no link.
    pub fn columns(&self) -> Result<Columns, ColumnsError> {
        let mut links = self.links.clone();
        links.sort_by_key(|link| (link.from, link.to));
        let mut columns = Columns {
            epoch_ps: self.epoch_ps.clone(),
            label_node: self.label_node.clone(),
            interval_diff: vec![0],
            node_link: vec![0],
            node_change: vec![0],
            ..Columns::default()
        };
        let mut ports: Vec<(u32, u32)> = Vec::new();
        for link in &links {
            columns.link_to.push(link.to);
            columns.link_extra_ps.push(0);
            columns
                .link_course
                .push(columns.course_interval.len() as u32);
            let own = (link.from, link.port);
            let known = ports.iter().position(|&port| port == own);
            let port = known.unwrap_or_else(|| {
                ports.push(own);
                columns.port_kind.push(link.kind);
                ports.len() - 1
            });
            columns.link_port.push(port as u32);
            columns.add_course(&link.delays_ps);
        }
        let intervals = columns.interval_epoch.len() as u32;
        columns.course_interval.push(intervals);
        for node in 0..self.nodes {
            let own = links.iter().filter(|link| link.from <= node);
            columns.node_link.push(own.count() as u32);
        }
        for node in 0..self.nodes {
            for label in 0..self.label_node.len() {
                let link = self.route(&columns, 0, node, label);
                columns.route_first.push(link);
            }
        }
        for node in 0..self.nodes {
            for epoch in 1..self.epoch_ps.len() {
                for label in 0..self.label_node.len() {
                    let link = self.route(&columns, epoch, node, label);
                    if link != self.route(&columns, epoch - 1, node, label) {
                        columns.change_epoch.push(epoch as u32);
                        columns.change_label.push(label as u16);
                        columns.change_link.push(link);
                    }
                }
            }
            let changes = columns.change_epoch.len() as u32;
            columns.node_change.push(changes);
        }
        columns.check()?;
        Ok(columns)
    }

    fn route(&self, columns: &Columns, epoch: usize, node: u32, label: usize) -> u16 {
        let next = self.next[epoch][node as usize][label];
        next.and_then(|next| columns.link_to(node, next))
            .unwrap_or(NO_LINK)
    }
}

impl Columns {
    /// Adds a course with these delays, an interval for each time without a gap.
    fn add_course(&mut self, delays_ps: &[Option<u64>]) {
        self.course_interval.push(self.interval_epoch.len() as u32);
        let mut before: Option<u64> = None;
        for (epoch, &delay_ps) in delays_ps.iter().enumerate() {
            let step = delay_ps
                .zip(before)
                .map(|(now, before)| now as i64 - before as i64);
            match (delay_ps, step.map(i32::try_from)) {
                (_, Some(Ok(step))) => self.diff_ps.push(step),
                (Some(delay_ps), _) => {
                    // An interval begins where the one before ends, whose course may be another one.
                    if self.interval_diff.len() == self.interval_epoch.len() {
                        self.interval_diff.push(self.diff_ps.len() as u32);
                    }
                    self.interval_epoch.push(epoch as u32);
                    self.interval_first_ps.push(delay_ps);
                }
                (None, _) => {}
            }
            before = delay_ps;
        }
        if self.interval_diff.len() == self.interval_epoch.len() {
            self.interval_diff.push(self.diff_ps.len() as u32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Courses, Rows};

    #[test]
    fn what_is_written_is_read_again() {
        let delays = [
            [Some(5), Some(9), None, Some(7)],
            [Some(6), Some(8), None, Some(4)],
            [None, Some(1 << 40), Some(3), Some(4)],
            [None; 4],
        ];
        let link = |(from, to): (u32, u32), port: u32, course: usize| HandLink {
            from,
            to,
            port,
            kind: port as u8,
            delays_ps: delays[course].to_vec(),
        };
        let routes = [None, Some(1), Some(2), Some(1)];
        let by_hand = ByHand {
            epoch_ps: vec![0, 10, 20, 30],
            nodes: 3,
            links: vec![
                link((0, 2), 1, 1),
                link((0, 1), 0, 0),
                link((1, 2), 0, 2),
                link((2, 1), 0, 3),
            ],
            label_node: vec![1],
            next: routes
                .map(|next| vec![vec![next], vec![None], vec![None]])
                .to_vec(),
        };
        let columns = by_hand.columns().unwrap();
        let mut courses = Courses::new(&columns);
        for (link, expected) in delays.iter().enumerate() {
            let found = [0, 1, 2, 3].map(|epoch| courses.delay_ps(link as u32, epoch));
            assert_eq!(&found, expected, "link {link}");
        }
        let mut rows = Rows::new(&columns);
        let found = [0, 1, 2, 3].map(|epoch| {
            rows.bring(0, epoch);
            rows.next(0, 0)
        });
        assert_eq!(found, [None, Some(0), Some(1), Some(0)]);
    }
}
