//! The columns: what they are, and what has to hold of them.

use std::ops::Range;

/// Instead of a link, counted within its node: there is no route.
pub const NO_LINK: u16 = u16::MAX;

/// Longest delay of a link, ps: three days. No sum of delays along a path overflows.
pub const MOST_DELAY_PS: u64 = 1 << 58;

/// Declares the columns once, for the struct and for its file.
macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident: $number:ty,)*) => {
        /// A network whose links and routes change at epochs.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Columns {
            $($(#[$doc])* pub $name: Vec<$number>,)*
        }

        impl Columns {
            /// Hands each column on, in the order of the file.
            pub(crate) fn put_into(&self, file: &mut impl crate::file::Sink) {
                $(file.put(&self.$name, <$number>::to_le_bytes);)*
            }

            /// Takes each column, in the order of the file.
            pub(crate) fn taken_from(
                file: &mut crate::file::Source<'_>,
            ) -> Result<Self, ColumnsError> {
                Ok(Columns {
                    $($name: file.take(stringify!($name), <$number>::from_le_bytes)?,)*
                })
            }
        }
    };
}

declare! {
    /// When delays and routes are taken anew, ascending.
    epoch_ps: u64,
    /// First link of each node, and one beyond the last link.
    node_link: u32,
    /// Node at the end of a link; ascending within the node that the link leaves. The number of a link
    /// orders what happens at equal times.
    link_to: u32,
    /// Course of a link; the two directions share a course.
    link_course: u32,
    /// Delay of a link beside that of its course.
    link_extra_ps: u64,
    /// Port that feeds a link; the links of a port leave the same node.
    link_port: u32,
    /// Kind of each port, which the reader of the columns knows.
    port_kind: u8,
    /// First interval of each course, and one beyond the last interval.
    course_interval: u32,
    /// Epoch from which an interval exists; ascending within a course.
    interval_epoch: u32,
    /// Delay at the first epoch of an interval.
    interval_first_ps: u64,
    /// First difference of each interval, and one beyond the last one. An interval exists at one epoch
    /// more than it has differences.
    interval_diff: u32,
    /// Delay at an epoch less that at the epoch before.
    diff_ps: i32,
    /// Node at which a label is delivered.
    label_node: u32,
    /// Link at the first epoch by node, then label, counted within the node; `NO_LINK` for none.
    route_first: u16,
    /// First change of each node, and one beyond the last change.
    node_change: u32,
    /// Epoch from which a change is in force; by node, then epoch, then label.
    change_epoch: u32,
    /// Label of a change.
    change_label: u16,
    /// Link of a change, as in `route_first`.
    change_link: u16,
}

/// Why octets are no columns, or columns have no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ColumnsError {
    /// The file is of another kind.
    #[error("no columns of a sky: the file does not begin with their mark")]
    NoMark,
    /// The file ends within a column, or goes on after the last.
    #[error("column {column}: {found} octets, {allowed} are stated")]
    Length {
        /// Name of the column.
        column: &'static str,
        /// Octets that are left.
        found: u64,
        /// Octets that the file states.
        allowed: u64,
    },
    /// A value is outside of what it may be.
    #[error("{column}[{row}]: {found}, allowed is {allowed}")]
    Value {
        /// Name of the column.
        column: &'static str,
        /// Number of the row.
        row: usize,
        /// Value found there.
        found: u64,
        /// Allowed values.
        allowed: String,
    },
}

fn refuse<T>(
    column: &'static str,
    row: usize,
    found: u64,
    allowed: impl ToString,
) -> Result<T, ColumnsError> {
    Err(ColumnsError::Value {
        column,
        row,
        found,
        allowed: allowed.to_string(),
    })
}

/// Refuses what is not the beginnings of rows of `items`, one row after another.
fn check_starts(
    column: &'static str,
    starts: &[u32],
    rows: Option<usize>,
    items: usize,
) -> Result<(), ColumnsError> {
    let is_long_enough = rows.map_or(!starts.is_empty(), |rows| starts.len() == rows + 1);
    if !is_long_enough {
        let allowed = rows.map_or("1 or more".into(), |rows| (rows + 1).to_string());
        return refuse(column, starts.len(), starts.len() as u64, allowed);
    }
    let mut before = 0;
    for (row, &start) in starts.iter().enumerate() {
        if start < before || row == 0 && start != 0 {
            return refuse(
                column,
                row,
                start.into(),
                format!("{before} or more, and 0 at first"),
            );
        }
        before = start;
    }
    if before as usize != items {
        return refuse(column, starts.len() - 1, before.into(), items);
    }
    Ok(())
}

/// Refuses values that are not below a bound.
fn check_below(
    column: &'static str,
    values: impl IntoIterator<Item = u64>,
    bound: usize,
) -> Result<(), ColumnsError> {
    for (row, value) in values.into_iter().enumerate() {
        if value >= bound as u64 {
            return refuse(column, row, value, format!("below {bound}"));
        }
    }
    Ok(())
}

fn check_count(column: &'static str, found: usize, allowed: usize) -> Result<(), ColumnsError> {
    if found != allowed {
        return refuse(column, found, found as u64, format!("{allowed} rows"));
    }
    Ok(())
}

impl Columns {
    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.node_link.len().saturating_sub(1)
    }

    /// Number of labels.
    #[inline]
    pub fn labels(&self) -> usize {
        self.label_node.len()
    }

    /// Number of epochs.
    pub fn epochs(&self) -> usize {
        self.epoch_ps.len()
    }

    /// Links that leave a node.
    #[inline]
    pub fn links(&self, node: u32) -> Range<u32> {
        self.node_link[node as usize]..self.node_link[node as usize + 1]
    }

    /// Number of ports.
    pub fn ports(&self) -> usize {
        self.port_kind.len()
    }

    /// The first link of each port.
    pub fn first_links(&self) -> Vec<u32> {
        let mut first = vec![u32::MAX; self.ports()];
        for (&port, link) in self.link_port.iter().zip(0u32..) {
            let known = &mut first[port as usize];
            *known = link.min(*known);
        }
        first
    }

    /// Node that each link leaves.
    pub fn link_from(&self) -> Vec<u32> {
        let mut from = Vec::with_capacity(self.link_to.len());
        for node in 0..self.nodes() as u32 {
            from.extend(self.links(node).map(|_| node));
        }
        from
    }

    /// The link from a node to another one, counted within the node.
    pub fn link_to(&self, node: u32, to: u32) -> Option<u16> {
        let own = self.links(node);
        let ends = &self.link_to[own.start as usize..own.end as usize];
        ends.binary_search(&to).ok().map(|index| index as u16)
    }

    /// Epochs of an interval.
    pub fn interval_epochs(&self, interval: usize) -> Range<u32> {
        let first = self.interval_epoch[interval];
        first..first + self.interval_diff[interval + 1] - self.interval_diff[interval] + 1
    }

    /// The first route, by node and time, whose link does not exist while the route is in force: node,
    /// label, and epoch.
    pub fn route_without_link(&self) -> Option<(u32, u16, u32)> {
        let labels = self.labels();
        for node in 0..self.nodes() {
            let own = &self.route_first[node * labels..(node + 1) * labels];
            let mut since: Vec<(u16, u32)> = own.iter().map(|&link| (link, 0)).collect();
            let changes = self.node_change[node] as usize..self.node_change[node + 1] as usize;
            let mut first: Option<(u32, u16)> = None;
            let mut look = |label: u16, (link, from): (u16, u32), until: u32| {
                if let Some(gone) = self.gone(node as u32, link, from..until) {
                    let found = (gone, label);
                    first = Some(first.map_or(found, |known| known.min(found)));
                }
            };
            for change in changes {
                let (label, epoch) = (self.change_label[change], self.change_epoch[change]);
                let known = &mut since[usize::from(label)];
                look(label, *known, epoch);
                *known = (self.change_link[change], epoch);
            }
            for (label, &known) in since.iter().enumerate() {
                look(label as u16, known, self.epochs() as u32);
            }
            if let Some((epoch, label)) = first {
                return Some((node as u32, label, epoch));
            }
        }
        None
    }

    /// Returns whether a link exists at an epoch.
    pub fn exists(&self, link: u32, epoch: u32) -> bool {
        let course = self.link_course[link as usize] as usize;
        let mut intervals = self.course_interval[course]..self.course_interval[course + 1];
        intervals.any(|interval| self.interval_epochs(interval as usize).contains(&epoch))
    }

    /// The first of some epochs at which a link of a node does not exist.
    fn gone(&self, node: u32, link: u16, epochs: Range<u32>) -> Option<u32> {
        if link == NO_LINK || epochs.is_empty() {
            return None;
        }
        let link = self.links(node).start + u32::from(link);
        let course = self.link_course[link as usize] as usize;
        let intervals = self.course_interval[course]..self.course_interval[course + 1];
        let mut epoch = epochs.start;
        for interval in intervals {
            let own = self.interval_epochs(interval as usize);
            if own.contains(&epoch) {
                epoch = own.end;
            }
        }
        (epoch < epochs.end).then_some(epoch)
    }

    /// Refuses columns that have no meaning.
    pub fn check(&self) -> Result<(), ColumnsError> {
        if self.epoch_ps.is_empty() {
            return refuse("epoch_ps", 0, 0, "1 row or more");
        }
        if let Some(row) =
            (1..self.epochs()).find(|&row| self.epoch_ps[row] <= self.epoch_ps[row - 1])
        {
            return refuse(
                "epoch_ps",
                row,
                self.epoch_ps[row],
                "later than the one before",
            );
        }
        self.check_links()?;
        self.check_ports()?;
        self.check_courses()?;
        self.check_routes()
    }

    fn check_links(&self) -> Result<(), ColumnsError> {
        let links = self.link_to.len();
        check_starts("node_link", &self.node_link, None, links)?;
        check_count("link_course", self.link_course.len(), links)?;
        check_count("link_extra_ps", self.link_extra_ps.len(), links)?;
        let ends = self.link_to.iter().map(|&to| to.into());
        check_below("link_to", ends, self.nodes())?;
        let courses = self.course_interval.len().saturating_sub(1);
        let of_links = self.link_course.iter().map(|&course| course.into());
        check_below("link_course", of_links, courses)?;
        let extras = self.link_extra_ps.iter().copied();
        check_below("link_extra_ps", extras, MOST_DELAY_PS as usize)?;
        for node in 0..self.nodes() as u32 {
            let own = self.links(node);
            if own.len() >= usize::from(NO_LINK) {
                let allowed = format!("fewer than {NO_LINK} links of a node");
                return refuse("node_link", node as usize, own.len() as u64, allowed);
            }
            for link in own.clone() {
                let to = self.link_to[link as usize];
                let is_ascending = link == own.start || self.link_to[link as usize - 1] < to;
                if to == node || !is_ascending {
                    let allowed = "another node, ascending within a node";
                    return refuse("link_to", link as usize, to.into(), allowed);
                }
            }
        }
        Ok(())
    }

    /// A port has a link or more, which leave one node.
    fn check_ports(&self) -> Result<(), ColumnsError> {
        check_count("link_port", self.link_port.len(), self.link_to.len())?;
        let ports = self.link_port.iter().map(|&port| port.into());
        check_below("link_port", ports, self.ports())?;
        let mut owner: Vec<Option<u32>> = vec![None; self.ports()];
        for (link, &from) in self.link_from().iter().enumerate() {
            let port = self.link_port[link];
            let known = owner[port as usize].get_or_insert(from);
            if *known != from {
                let allowed = format!("a port of node {from}");
                return refuse("link_port", link, port.into(), allowed);
            }
        }
        match owner.iter().position(Option::is_none) {
            None => Ok(()),
            Some(port) => refuse("port_kind", port, 0, "a port with a link or more"),
        }
    }

    fn check_courses(&self) -> Result<(), ColumnsError> {
        let intervals = self.interval_epoch.len();
        check_starts("course_interval", &self.course_interval, None, intervals)?;
        check_starts(
            "interval_diff",
            &self.interval_diff,
            Some(intervals),
            self.diff_ps.len(),
        )?;
        check_count("interval_first_ps", self.interval_first_ps.len(), intervals)?;
        for course in self.course_interval.windows(2) {
            let mut free = 0;
            for interval in course[0] as usize..course[1] as usize {
                let epochs = self.interval_epoch[interval];
                let differences = self.interval_diff[interval + 1] - self.interval_diff[interval];
                let end = u64::from(epochs) + u64::from(differences) + 1;
                if u64::from(epochs) < free || end > self.epochs() as u64 {
                    let allowed = format!("{free} or more, and an end by {}", self.epochs());
                    return refuse("interval_epoch", interval, epochs.into(), allowed);
                }
                free = end;
                self.check_delays(interval)?;
            }
        }
        Ok(())
    }

    fn check_delays(&self, interval: usize) -> Result<(), ColumnsError> {
        let first_ps = self.interval_first_ps[interval];
        let allowed = format!("delays from 0 to {MOST_DELAY_PS}");
        if first_ps > MOST_DELAY_PS {
            return refuse("interval_first_ps", interval, first_ps, allowed);
        }
        let mut delay_ps = first_ps as i64;
        for row in self.interval_diff[interval]..self.interval_diff[interval + 1] {
            delay_ps += i64::from(self.diff_ps[row as usize]);
            if !(0..=MOST_DELAY_PS as i64).contains(&delay_ps) {
                return refuse("diff_ps", row as usize, delay_ps.unsigned_abs(), allowed);
            }
        }
        Ok(())
    }

    fn check_routes(&self) -> Result<(), ColumnsError> {
        let (nodes, labels) = (self.nodes(), self.labels());
        if labels > usize::from(u16::MAX) {
            return refuse("label_node", labels, labels as u64, "65535 labels or fewer");
        }
        let ends = self.label_node.iter().map(|&node| node.into());
        check_below("label_node", ends, nodes)?;
        check_count("route_first", self.route_first.len(), nodes * labels)?;
        let changes = self.change_epoch.len();
        check_starts("node_change", &self.node_change, Some(nodes), changes)?;
        check_count("change_label", self.change_label.len(), changes)?;
        check_count("change_link", self.change_link.len(), changes)?;
        let epochs = self.change_epoch.iter().map(|&epoch| epoch.into());
        check_below("change_epoch", epochs, self.epochs())?;
        let of_changes = self.change_label.iter().map(|&label| label.into());
        check_below("change_label", of_changes, labels)?;
        for node in 0..nodes {
            let links = self.links(node as u32).len();
            let is_link = |link: u16| link == NO_LINK || usize::from(link) < links;
            let allowed = || format!("below {links}, or {NO_LINK} for none");
            for row in node * labels..(node + 1) * labels {
                if !is_link(self.route_first[row]) {
                    return refuse("route_first", row, self.route_first[row].into(), allowed());
                }
            }
            let mut before = (0, u16::MAX);
            for row in self.node_change[node] as usize..self.node_change[node + 1] as usize {
                let own = (self.change_epoch[row], self.change_label[row]);
                if own <= before {
                    let allowed = "after the one before by epoch and label, from epoch 1 on";
                    return refuse("change_epoch", row, own.0.into(), allowed);
                }
                before = own;
                if !is_link(self.change_link[row]) {
                    return refuse("change_link", row, self.change_link[row].into(), allowed());
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Node 0 to 1 to 2, where the only label is delivered. The link between 1 and 2 is missing at epoch
    /// 1, when node 1 has no route.
    pub(crate) fn chain() -> Columns {
        Columns {
            epoch_ps: vec![0, 100, 200, 300],
            node_link: vec![0, 1, 3, 4],
            link_to: vec![1, 0, 2, 1],
            link_course: vec![0, 0, 1, 1],
            link_extra_ps: vec![5, 7, 0, 0],
            link_port: vec![0, 1, 2, 3],
            port_kind: vec![0; 4],
            course_interval: vec![0, 1, 3],
            interval_epoch: vec![0, 0, 2],
            interval_first_ps: vec![1000, 50, 60],
            interval_diff: vec![0, 3, 3, 4],
            diff_ps: vec![-10, 20, 30, 1],
            label_node: vec![2],
            route_first: vec![0, 1, NO_LINK],
            node_change: vec![0, 0, 2, 2],
            change_epoch: vec![1, 2],
            change_label: vec![0, 0],
            change_link: vec![NO_LINK, 1],
        }
    }

    #[test]
    fn a_chain_has_a_meaning_and_no_route_without_a_link() {
        let columns = chain();
        assert_eq!(columns.check(), Ok(()));
        assert_eq!(columns.route_without_link(), None);
        assert_eq!(columns.link_to(1, 2), Some(1));
        assert_eq!(columns.link_to(0, 2), None);
    }

    #[test]
    fn a_route_over_a_missing_link_is_found_with_node_and_epoch() {
        let mut columns = chain();
        columns.node_change = vec![0; 4];
        columns.change_epoch.clear();
        columns.change_label.clear();
        columns.change_link.clear();
        assert_eq!(columns.check(), Ok(()));
        assert_eq!(columns.route_without_link(), Some((1, 0, 1)));
    }

    #[test]
    fn each_column_that_has_no_meaning_is_named() {
        type Spoil = fn(&mut Columns);
        let spoils: [(&str, Spoil); 15] = [
            ("epoch_ps", |own| own.epoch_ps[2] = 100),
            ("node_link", |own| own.node_link[1] = 9),
            ("link_to", |own| own.link_to[2] = 3),
            ("link_to", |own| own.link_to[1] = 2),
            ("link_course", |own| own.link_course[0] = 2),
            ("link_port", |own| own.link_port[0] = 4),
            ("link_port", |own| own.link_port[0] = 1),
            ("port_kind", |own| own.port_kind.push(0)),
            ("interval_epoch", |own| own.interval_epoch[2] = 0),
            ("interval_epoch", |own| own.interval_epoch[2] = 3),
            ("diff_ps", |own| own.diff_ps[3] = -61),
            ("label_node", |own| own.label_node[0] = 3),
            ("route_first", |own| own.route_first[0] = 1),
            ("change_epoch", |own| own.change_epoch[0] = 2),
            ("change_link", |own| own.change_link[1] = 2),
        ];
        for (name, spoil) in spoils {
            let mut columns = chain();
            spoil(&mut columns);
            let found = columns.check();
            let is_named =
                matches!(found, Err(ColumnsError::Value { column, .. }) if column == name);
            assert!(is_named, "{name}: {found:?}");
        }
    }
}
