//! Routes over time: over which link a node forwards a label.

use crate::columns::{Columns, NO_LINK};
use std::ops::Deref;

/// The rows in force at an epoch, which goes forward only.
#[derive(Debug)]
pub struct Rows<C> {
    columns: C,
    /// Link by node, then label, counted within the node.
    links: Vec<u16>,
    /// Next change of each node.
    changes: Vec<u32>,
}

impl<C: Deref<Target = Columns>> Rows<C> {
    /// The rows at the first epoch.
    pub fn new(columns: C) -> Self {
        Rows {
            links: columns.route_first.clone(),
            changes: columns.node_change[..columns.nodes()].to_vec(),
            columns,
        }
    }

    /// The columns that the rows are of.
    #[inline]
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Brings the row of a node to an epoch, not before the one that it is at.
    #[inline]
    pub fn bring(&mut self, node: u32, epoch: u32) {
        let own = node as usize;
        let end = self.columns.node_change[own + 1];
        let labels = self.columns.labels();
        while self.changes[own] < end {
            let change = self.changes[own] as usize;
            if self.columns.change_epoch[change] > epoch {
                return;
            }
            let label = usize::from(self.columns.change_label[change]);
            self.links[own * labels + label] = self.columns.change_link[change];
            self.changes[own] += 1;
        }
    }

    /// Brings the rows of all nodes to an epoch.
    pub fn bring_all(&mut self, epoch: u32) {
        for node in 0..self.columns.nodes() as u32 {
            self.bring(node, epoch);
        }
    }

    /// The link over which a node forwards a label; none where there is no route.
    #[inline]
    pub fn next(&self, node: u32, label: u16) -> Option<u32> {
        let row = node as usize * self.columns.labels() + usize::from(label);
        let link = self.links[row];
        (link != NO_LINK).then(|| self.columns.links(node).start + u32::from(link))
    }
}

/// The first epoch from `epoch` on at which a node has a route for a label; none if it has none any more.
pub fn first_routed(columns: &Columns, node: u32, label: u16, epoch: u32) -> Option<u32> {
    let own = columns.node_change[node as usize]..columns.node_change[node as usize + 1];
    let first = columns.route_first[node as usize * columns.labels() + usize::from(label)];
    let changes = own.map(|change| change as usize);
    let changes = changes.filter(|&change| columns.change_label[change] == label);
    let changes = changes.map(|change| (columns.change_epoch[change], columns.change_link[change]));
    let (mut since, mut link) = (0, first);
    for (from, next) in changes {
        if from > epoch && link != NO_LINK {
            break;
        }
        (since, link) = (from, next);
    }
    (link != NO_LINK).then_some(since.max(epoch))
}

/// The first epoch from `epoch` on at which a node has a route for a label over a link that exists; none if there is
/// none any more.
pub fn first_linked(columns: &Columns, node: u32, label: u16, mut epoch: u32) -> Option<u32> {
    while (epoch as usize) < columns.epochs() {
        epoch = first_routed(columns, node, label, epoch)?;
        let link = last_routed(columns, node, label, epoch)?;
        if columns.exists(link, epoch) {
            return Some(epoch);
        }
        epoch += 1;
    }
    None
}

/// The link of the last route that a node has had for a label, at `epoch` or before; none if it has had none.
pub fn last_routed(columns: &Columns, node: u32, label: u16, epoch: u32) -> Option<u32> {
    let own = columns.node_change[node as usize]..columns.node_change[node as usize + 1];
    let first = columns.route_first[node as usize * columns.labels() + usize::from(label)];
    let changes = own.map(|change| change as usize);
    let changes = changes.filter(|&change| {
        columns.change_label[change] == label && columns.change_epoch[change] <= epoch
    });
    let mut links = std::iter::once(first).chain(changes.map(|change| columns.change_link[change]));
    let last = links.rfind(|&link| link != NO_LINK)?;
    Some(columns.links(node).start + u32::from(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::chain;

    #[test]
    fn a_row_is_that_of_its_nodes_epoch() {
        let columns = chain();
        let mut rows = Rows::new(&columns);
        let found: Vec<Option<u32>> = (0..4)
            .map(|epoch| {
                rows.bring(1, epoch);
                rows.next(1, 0)
            })
            .collect();
        assert_eq!(found, [Some(2), None, Some(2), Some(2)]);
        assert_eq!(rows.next(0, 0), Some(0));
    }

    #[test]
    fn a_node_without_a_route_waits_for_the_next_epoch_with_one() {
        let columns = chain();
        let from = |node: u32| [0, 1, 2, 3].map(|epoch| first_routed(&columns, node, 0, epoch));
        assert_eq!(from(1), [Some(0), Some(2), Some(2), Some(3)]);
        assert_eq!(from(2), [None; 4]); // the label ends there
    }

    #[test]
    fn a_node_keeps_its_last_route_in_mind() {
        let mut columns = chain();
        let last = |columns: &Columns, node: u32| {
            [0, 1, 2, 3].map(|epoch| last_routed(columns, node, 0, epoch))
        };
        assert_eq!(last(&columns, 1), [Some(2); 4]);
        assert_eq!(last(&columns, 2), [None; 4]);
        // Without a route at first, and over link 1 from epoch 2 on.
        columns.route_first[1] = NO_LINK;
        columns.change_link[1] = 0;
        assert_eq!(last(&columns, 1), [None, None, Some(1), Some(1)]);
    }

    #[test]
    fn a_route_over_a_link_that_is_gone_is_waited_for_until_the_link_is_back() {
        let mut columns = chain();
        let from = |columns: &Columns| [0, 1, 2, 3].map(|epoch| first_linked(columns, 1, 0, epoch));
        assert_eq!(from(&columns), [Some(0), Some(2), Some(2), Some(3)]);
        // The row of node 1 names link 2 throughout, which does not exist at epoch 1.
        columns.change_link[0] = columns.route_first[1];
        assert_eq!(from(&columns), [Some(0), Some(2), Some(2), Some(3)]);
        assert_eq!(first_linked(&columns, 1, 0, 4), None);
    }
}
