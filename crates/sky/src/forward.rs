//! What becomes of a packet at a node.

use crate::columns::Columns;
use crate::course::Courses;
use crate::routes::{Rows, last_routed};
use std::ops::Deref;

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

/// Returns what becomes of a packet at a node after a number of links, of which it may take `limit`.
#[inline]
pub fn forward<C: Deref<Target = Columns>>(
    rows: &Rows<C>,
    node: u32,
    label: u16,
    hops: usize,
    limit: usize,
) -> Forward {
    if rows.columns().label_node[usize::from(label)] == node {
        return Forward::Delivered;
    }
    if hops >= limit {
        return Forward::Lost(LossReason::HopLimit);
    }
    match rows.next(node, label) {
        Some(link) => Forward::Link(link),
        None => Forward::Lost(LossReason::NoRoute),
    }
}

/// What a port does with a packet whose last bit leaves when its link, or its route, is another one than
/// when the packet came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// The packet takes the link that it came for, with the last delay known if that is gone.
    Sent,
    /// The packet takes the route in force: within the port at once, else from the queue of another port.
    Rerouted,
    /// The packet is lost if the link that it came for is gone.
    Lost,
    /// The packet takes the link that it came for, as if sent, and is lost if its node has no route any more.
    SentIfRouted,
    /// The packet takes the route in force, as if rerouted, or the last one if there is none, with the last delay
    /// known if the link is gone.
    Turned,
}

/// What becomes of a packet whose last bit leaves a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departing {
    /// The packet takes this link.
    Link(u32),
    /// The packet goes to the queue of the port of this link.
    Port(u32),
    /// The packet is lost.
    Lost(LossReason),
}

/// Returns what becomes of a packet of a label that came to a port of `node` for `link` and whose last bit
/// leaves at `epoch`, which the node's rows are brought to and at which a link `exists` or not.
pub fn leave<C: Deref<Target = Columns>>(
    rows: &Rows<C>,
    mut exists: impl FnMut(u32) -> bool,
    (node, label, link): (u32, u16, u32),
    epoch: u32,
    waiting: Waiting,
) -> Departing {
    let ports = &rows.columns().link_port;
    match waiting {
        Waiting::Sent => Departing::Link(link),
        Waiting::Lost if exists(link) => Departing::Link(link),
        Waiting::Lost => Departing::Lost(LossReason::OutOfRange),
        Waiting::SentIfRouted => match rows.next(node, label) {
            Some(_) => Departing::Link(link),
            None => Departing::Lost(LossReason::NoRoute),
        },
        Waiting::Turned => {
            let last = || last_routed(rows.columns(), node, label, epoch);
            match rows.next(node, label).or_else(last) {
                None => Departing::Lost(LossReason::NoRoute),
                Some(next) if ports[next as usize] != ports[link as usize] => Departing::Port(next),
                Some(next) => Departing::Link(next),
            }
        }
        Waiting::Rerouted => match rows.next(node, label) {
            None => Departing::Lost(LossReason::NoRoute),
            Some(next) if ports[next as usize] != ports[link as usize] => Departing::Port(next),
            Some(next) if exists(next) => Departing::Link(next),
            Some(_) => Departing::Lost(LossReason::OutOfRange),
        },
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
pub fn walk(
    rows: &Rows<&Columns>,
    courses: &mut Courses<'_>,
    from: u32,
    label: u16,
    epoch: u32,
) -> Walk {
    let mut found = Walk::default();
    let mut node = from;
    loop {
        match forward(rows, node, label, found.links.len(), HOP_LIMIT) {
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
    use crate::columns::Columns;
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
    fn what_waits_is_sent_rerouted_or_lost_when_its_link_is_gone() {
        // Link 2, from node 1 to 2, is gone at epoch 1; so is node 1's route.
        let columns = chain();
        let (mut rows, mut courses) = (Rows::new(&columns), Courses::new(&columns));
        let mut at = |epoch: u32, waiting: Waiting| {
            rows.bring(1, epoch);
            let exists = |link: u32| courses.delay_ps(link, epoch).is_some();
            leave(&rows, exists, (1, 0, 2), epoch, waiting)
        };
        let all = [
            Waiting::Sent,
            Waiting::Rerouted,
            Waiting::Lost,
            Waiting::SentIfRouted,
            Waiting::Turned,
        ];
        assert_eq!(all.map(|waiting| at(0, waiting)), [Departing::Link(2); 5]);
        let expected = [
            Departing::Link(2),
            Departing::Lost(LossReason::NoRoute),
            Departing::Lost(LossReason::OutOfRange),
            Departing::Lost(LossReason::NoRoute),
            Departing::Link(2),
        ];
        assert_eq!(all.map(|waiting| at(1, waiting)), expected);
        assert_eq!(all.map(|waiting| at(2, waiting)), [Departing::Link(2); 5]);
    }

    #[test]
    fn what_is_rerouted_takes_another_link_of_its_port_or_goes_to_another_port() {
        let mut columns = chain();
        let leave = |columns: &Columns| {
            let rows = Rows::new(columns);
            [Waiting::Rerouted, Waiting::Turned]
                .map(|waiting| leave(&rows, |_| true, (1, 0, 1), 0, waiting))
        };
        assert_eq!(leave(&columns), [Departing::Port(2); 2]);
        columns.link_port = vec![0, 1, 1, 2];
        assert_eq!(leave(&columns), [Departing::Link(2); 2]);
    }

    #[test]
    fn a_label_is_delivered_at_its_own_node_whatever_the_hops() {
        let columns = chain();
        assert_eq!(
            forward(&Rows::new(&columns), 2, 0, HOP_LIMIT, HOP_LIMIT),
            Forward::Delivered
        );
    }
}
