//! What becomes of a packet at a node.

use crate::course::Courses;
use crate::routes::Rows;

/// Links that a packet may take, the default time to live of ns-3 (`Ipv4L3Protocol`, `DefaultTtl`).
pub const HOP_LIMIT: usize = 64;

/// Why a packet is lost in the network itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossReason {
    /// The row in force has no link for the label.
    NoRoute,
    /// The row in force names a link that does not exist.
    OutOfRange,
    /// The packet has taken as many links as it may.
    HopLimit,
}

/// What becomes of a packet that has arrived at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forward {
    /// The packet has arrived where its label ends.
    Delivered,
    /// The packet goes on over a link.
    Link(u32),
    /// The packet is lost.
    Lost(LossReason),
}

/// Returns what becomes of a packet at a node after a number of links.
pub fn forward(rows: &Rows<'_>, node: u32, label: u16, hops: usize) -> Forward {
    if rows.columns().label_node[usize::from(label)] == node {
        return Forward::Delivered;
    }
    if hops >= HOP_LIMIT {
        return Forward::Lost(LossReason::HopLimit);
    }
    match rows.next(node, label) {
        Some(link) => Forward::Link(link),
        None => Forward::Lost(LossReason::NoRoute),
    }
}

/// The path of a packet that waits nowhere, with the rows and delays of one epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// Links taken.
    pub links: Vec<u32>,
    /// Delay of each.
    pub delays_ps: Vec<u64>,
    /// Why the packet does not arrive; none where it does.
    pub lost: Option<LossReason>,
}

/// Follows a label hop by hop from a node, at the epoch that the rows are brought to.
pub fn walk(rows: &Rows<'_>, courses: &mut Courses<'_>, from: u32, label: u16, epoch: u32) -> Walk {
    let mut found = Walk::default();
    let mut node = from;
    loop {
        match forward(rows, node, label, found.links.len()) {
            Forward::Delivered => return found,
            Forward::Lost(reason) => {
                found.lost = Some(reason);
                return found;
            }
            Forward::Link(link) => {
                let Some(delay_ps) = courses.delay_ps(link, epoch) else {
                    found.lost = Some(LossReason::OutOfRange);
                    return found;
                };
                found.links.push(link);
                found.delays_ps.push(delay_ps);
                node = rows.columns().link_to[link as usize];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::tests::chain;

    #[test]
    fn a_packet_goes_from_node_to_node_or_is_lost_with_its_reason() {
        let columns = chain();
        let (mut rows, mut courses) = (Rows::new(&columns), Courses::new(&columns));
        let whole = walk(&rows, &mut courses, 0, 0, 0);
        assert_eq!(
            (whole.links, whole.delays_ps, whole.lost),
            (vec![0, 2], vec![1005, 50], None)
        );
        rows.bring_all(1);
        let cut = walk(&rows, &mut courses, 0, 0, 1);
        assert_eq!((cut.links, cut.lost), (vec![0], Some(LossReason::NoRoute)));
    }

    #[test]
    fn a_loop_ends_at_the_hop_limit_and_a_missing_link_at_once() {
        let mut columns = chain();
        columns.route_first[1] = 0;
        let found = walk(&Rows::new(&columns), &mut Courses::new(&columns), 0, 0, 0);
        assert_eq!(
            (found.links.len(), found.lost),
            (HOP_LIMIT, Some(LossReason::HopLimit))
        );
        let columns = chain();
        let found = walk(&Rows::new(&columns), &mut Courses::new(&columns), 1, 0, 1);
        assert_eq!(found.lost, Some(LossReason::OutOfRange));
    }

    #[test]
    fn a_label_is_delivered_at_its_own_node_whatever_the_hops() {
        let columns = chain();
        assert_eq!(
            forward(&Rows::new(&columns), 2, 0, HOP_LIMIT),
            Forward::Delivered
        );
    }
}
