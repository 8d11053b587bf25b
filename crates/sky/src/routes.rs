//! Routes over time: over which link a node forwards a label.

use crate::columns::{Columns, NO_LINK};

/// The rows in force at an epoch, which goes forward only.
pub struct Rows<'a> {
    columns: &'a Columns,
    /// Link by node, then label, counted within the node.
    links: Vec<u16>,
    /// Next change of each node.
    changes: Vec<u32>,
}

impl<'a> Rows<'a> {
    /// The rows at the first epoch.
    pub fn new(columns: &'a Columns) -> Self {
        Rows {
            columns,
            links: columns.route_first.clone(),
            changes: columns.node_change[..columns.nodes()].to_vec(),
        }
    }

    /// The columns that the rows are of.
    #[inline]
    pub fn columns(&self) -> &'a Columns {
        self.columns
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
}
