//! The paths of VCs through the network, and how nodes send their cells on.

use skycell_sky::{Columns, Departing, Forward, HOP_LIMIT, Rows, Waiting, forward, leave};
use skycell_spec::{NetworkSpec, VcSpec};
use skycell_units::{PortVc, SimTime};
use std::collections::BTreeSet;

/// The links that a VC's cells may take.
#[derive(Debug)]
pub(crate) struct VcPaths {
    /// For each link of its paths: the port, and the VC's index there. First the links of the first
    /// path in their order, hop 0 being the first link of all paths.
    hops: Vec<(u32, PortVc)>,
    /// The node at which each hop begins.
    nodes: Vec<u32>,
    /// Its label, if its path changes.
    label: Option<u16>,
}

impl VcPaths {
    /// The paths of `vc`, which has this label if its path changes. `port_vc` lets it cross a port and returns its index
    /// there; `from` tells the node of a port.
    pub(crate) fn new(
        vc: &VcSpec,
        label: Option<u16>,
        mut port_vc: impl FnMut(u32) -> PortVc,
        from: impl Fn(u32) -> u32,
    ) -> Self {
        let (mut hops, mut nodes, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for &link in vc.paths().flatten() {
            if known.insert(link) {
                hops.push((link, port_vc(link)));
                nodes.push(from(link));
            }
        }
        VcPaths { hops, nodes, label }
    }

    /// Port of a hop, and the VC's index there.
    pub(crate) fn hop(&self, hop: u16) -> (u32, PortVc) {
        self.hops[usize::from(hop)]
    }

    /// All hops, each with the node at which it begins.
    pub(crate) fn hops(&self) -> impl Iterator<Item = (u16, u32)> {
        (0u16..).zip(self.nodes.iter().copied())
    }

    /// The hop over a port.
    fn over(&self, port: u32) -> u16 {
        let hop = self.hops.iter().position(|own| own.0 == port);
        hop.expect("a VC's label leads over its links") as u16
    }
}

/// The routes of the VCs whose path changes: rows of nodes, as in a sky, over the ports of the spec.
#[derive(Debug)]
pub(crate) struct PathRows {
    rows: Rows<Box<Columns>>,
    /// The epoch in force.
    epoch: u32,
}

impl PathRows {
    /// Those of a valid spec, if there are any.
    pub(crate) fn of(spec: &NetworkSpec) -> Option<Self> {
        let rows = Rows::new(Box::new(spec.rows_of_paths()?));
        Some(PathRows { rows, epoch: 0 })
    }

    /// Brings the row of a node to the epoch in force at `now`.
    fn bring(&mut self, now: SimTime, node: u32) {
        let times = &self.rows.columns().epoch_ps;
        let later = &times[self.epoch as usize + 1..];
        self.epoch += later.iter().take_while(|&&begins| begins <= now.0).count() as u32;
        self.rows.bring(node, self.epoch);
    }

    /// What becomes of a cell of a label at a node.
    fn forward(&mut self, now: SimTime, node: u32, label: u16) -> Forward {
        self.bring(now, node);
        forward(&self.rows, node, label, 0, HOP_LIMIT)
    }

    /// What becomes of a cell of a label whose last bit leaves a port of a node: a link that turns takes it where it leads
    /// then, and others do if the node knows the VC.
    fn leave(&mut self, now: SimTime, (node, label): (u32, u16), port: u32) -> Departing {
        self.bring(now, node);
        let columns = self.rows.columns();
        let waiting = match columns.port_kind[port as usize] {
            0 => Waiting::SentIfRouted,
            _ => Waiting::Turned,
        };
        let mut links = columns.links(node);
        let link = links.find(|&link| columns.link_port[link as usize] == port);
        let link = link.expect("a VC's cells wait at ports of its paths");
        leave(
            &self.rows,
            |_| true,
            (node, label, link),
            self.epoch,
            waiting,
        )
    }

    /// The port of a link.
    fn port(&self, link: u32) -> u32 {
        self.rows.columns().link_port[link as usize]
    }
}

/// The fate of a cell that has arrived at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It goes on over this hop.
    Hop(u16),
    /// It has reached the VC's end.
    End,
    /// The node has no route for the VC.
    Lost,
}

/// The fate of a cell whose last bit leaves a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It enters the port's link, which leads to this node.
    To(u32),
    /// It joins the queue of the port of this hop: the one before leads nowhere that the VC goes any more.
    Rejoins(u16),
    /// The node has no route for the VC any more.
    Lost,
}

impl VcPaths {
    /// The hop over which the VC leaves `node` at `now`, if it does.
    pub(crate) fn leaving(
        &self,
        rows: &mut Option<PathRows>,
        now: SimTime,
        node: u32,
    ) -> Option<u16> {
        let Some((label, rows)) = self.label.zip(rows.as_mut()) else {
            return self.hops().find(|hop| hop.1 == node).map(|hop| hop.0);
        };
        match rows.forward(now, node, label) {
            Forward::Link(link) => Some(self.over(rows.port(link))),
            Forward::Delivered | Forward::Lost(_) => None,
        }
    }

    /// Where a cell goes on that has come over `hop` to `node`.
    pub(crate) fn next(
        &self,
        rows: &mut Option<PathRows>,
        now: SimTime,
        hop: u16,
        node: u32,
    ) -> Next {
        let Some((label, rows)) = self.label.zip(rows.as_mut()) else {
            let is_end = usize::from(hop) + 1 == self.hops.len();
            return if is_end {
                Next::End
            } else {
                Next::Hop(hop + 1)
            };
        };
        match rows.forward(now, node, label) {
            Forward::Delivered => Next::End,
            Forward::Link(link) => Next::Hop(self.over(rows.port(link))),
            Forward::Lost(_) => Next::Lost,
        }
    }

    /// What becomes of a cell whose last bit leaves `port` at `now`, whose link leads to `end` if that does not change.
    pub(crate) fn departing(
        &self,
        rows: &mut Option<PathRows>,
        now: SimTime,
        (node, port, end): (u32, u32, u32),
    ) -> Exit {
        let Some((label, rows)) = self.label.zip(rows.as_mut()) else {
            return Exit::To(end);
        };
        match rows.leave(now, (node, label), port) {
            Departing::Link(link) => Exit::To(rows.rows.columns().link_to[link as usize]),
            Departing::Port(link) => Exit::Rejoins(self.over(rows.port(link))),
            Departing::Lost(_) => Exit::Lost,
        }
    }
}
