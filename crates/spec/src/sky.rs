//! A part of the network whose links and routes change together: satellites and stations that forward
//! packets by label.

use crate::check::{CELL_TIME_MAX_PS, range, structure};
use crate::check_classes::{refused, validate_policing, validate_resequencer};
use crate::{
    ChannelSpec, LinkSpec, NetworkSpec, NodeKind, NodeSpec, PacketFraming, PortSpec, SpecError,
    VcSpec, WHOLE_PPB,
};
use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Rule, is_default};
use skycell_sky::{Columns, file::digest};
use std::sync::Arc;

/// Most links that a packet may be allowed to take (RFC 791: a time to live has eight bits).
pub const MOST_HOPS: u32 = 255;

/// Nodes that forward packets by label, over links and routes that change at epochs.
///
/// Delays and routes are columns of a file of their own, which has the nodes of the spec up to its own
/// number of nodes. The run begins at the first epoch. Ports and links of the columns are numbered
/// behind those of the spec.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct SkySpec {
    /// SHA-256 of the columns' file, as lowercase hexadecimal digits.
    pub columns: String,
    /// Kinds of ports, by the number that the columns give to each port.
    pub kinds: Vec<PortKindSpec>,
    /// Links that a packet may take: one more and it is lost.
    pub hop_limit: u32,
    /// True if a packet is lost whose link ends before it arrives, or ended before it left.
    pub loses_in_flight: bool,
    /// The columns themselves, which the form leaves out.
    #[serde(skip)]
    pub read: Option<Arc<Columns>>,
}

/// Ports that are alike, each with one or more links of the columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PortKindSpec {
    /// Name, unique among the kinds.
    pub name: String,
    /// How its links carry packets; the key is left out where they carry cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub framing: Option<PacketFraming>,
    /// Time that a cell takes, picoseconds; the key is left out where the links carry packets. All kinds carry
    /// cells, or none does.
    #[serde(default, skip_serializing_if = "is_default")]
    pub cell_time_ps: u64,
    /// Part of a thousand million of the packets that each of its links loses; the key is left out for links
    /// that lose none. Drawn from the stream `link/<from>><to>/loss`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub loss_ppb: u32,
    /// How losses of its links come in bursts, or their bit errors; the key is left out for other links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<ChannelSpec>,
    /// The port.
    pub port: PortSpec,
    /// What it does with a packet whose link or route has changed while the packet waited.
    pub waiting: Waiting,
    /// True if a port holds packets that were handed over at its node, and what waits behind them, until the
    /// node has a route for them; it reroutes or turns what waits. The key is left out where such packets are lost.
    #[serde(default, skip_serializing_if = "is_default")]
    pub waits_for_route: bool,
}

/// What becomes of a packet whose link, or route, changes while the packet waits in a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum Waiting {
    /// The packet takes the link that it came for, with the last delay known if that is gone.
    Sent,
    /// The packet takes the route in force: at once if that leaves by the same port, else it joins the queue
    /// of the port by which that leaves.
    Rerouted,
    /// The packet is lost if the link that it came for is gone.
    Lost,
    /// The packet takes the link that it came for, as if sent, and is lost if its node has no route any more.
    SentIfRouted,
    /// The port begins no packet without a route over a link that exists. The packet takes the route in force as
    /// it leaves, as if rerouted; if that has ended meanwhile, the last one, with the last delay known.
    Turned,
}

/// A VC of packets without a path, which nodes of the sky send on by label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct ByLabelSpec {
    /// Node of the sky at which the VC begins.
    pub from: u32,
    /// Label of the columns, which ends at one node.
    pub label: u32,
}

impl From<Waiting> for skycell_sky::Waiting {
    fn from(waiting: Waiting) -> Self {
        match waiting {
            Waiting::Sent => skycell_sky::Waiting::Sent,
            Waiting::Rerouted => skycell_sky::Waiting::Rerouted,
            Waiting::Lost => skycell_sky::Waiting::Lost,
            Waiting::SentIfRouted => skycell_sky::Waiting::SentIfRouted,
            Waiting::Turned => skycell_sky::Waiting::Turned,
        }
    }
}

impl PortKindSpec {
    /// A port of the kind with a link between two nodes, as a link of its own; its delay is 0.
    pub fn link(&self, name: String, from: u32, to: u32) -> LinkSpec {
        LinkSpec {
            name,
            from,
            to,
            cell_time_ps: self.cell_time_ps,
            framing: self.framing,
            delay_ps: 0,
            loss_ppb: self.loss_ppb,
            channel: self.channel.clone(),
            delay_variation: None,
            schedule: None,
            receivers: Vec::new(),
            port: self.port.clone(),
        }
    }
}

impl SkySpec {
    /// The columns.
    ///
    /// # Panics
    /// The spec has not been given its columns, which [`NetworkSpec::validate`] refuses.
    pub fn columns(&self) -> &Columns {
        self.read.as_deref().expect("a valid sky has its columns")
    }

    /// Returns whether nodes forward cells, and not packets.
    pub fn carries_cells(&self) -> bool {
        self.kinds.iter().any(|kind| kind.framing.is_none())
    }

    /// The link for whose port a packet waits that is handed over at a node without a route; none where such
    /// packets are lost.
    pub fn link_to_wait_for(&self, node: u32) -> Option<u32> {
        let columns = self.columns();
        let kind = |link: u32| columns.port_kind[columns.link_port[link as usize] as usize];
        let mut links = columns.links(node);
        links.find(|&link| self.kinds[usize::from(kind(link))].waits_for_route)
    }

    /// A node with a port of a kind, a switch if there is one; any node where there is no such port.
    fn node_of_kind(&self, kind: usize, nodes: &[NodeSpec]) -> u32 {
        let columns = self.columns();
        let from = columns.link_from();
        let first = columns.first_links();
        let ports = first.iter().zip(&columns.port_kind);
        let own = ports.filter(|(_, own)| usize::from(**own) == kind);
        let own = own.map(|(&link, _)| from[link as usize]);
        let is_switch = |&node: &u32| nodes[node as usize].kind == NodeKind::Switch;
        let any = own.clone().next().unwrap_or(0);
        own.clone().find(is_switch).unwrap_or(any)
    }

    /// Names of the ports, in their order: of one with one link both ends of that, of one with several its
    /// node and what the kind is called.
    pub fn port_names(&self, nodes: &[crate::NodeSpec]) -> Vec<String> {
        let columns = self.columns();
        let (first, from) = (columns.first_links(), columns.link_from());
        let mut links = vec![0u32; columns.ports()];
        columns
            .link_port
            .iter()
            .for_each(|&port| links[port as usize] += 1);
        let name = |node: u32| &nodes[node as usize].name;
        let ports = first.iter().zip(&links).zip(&columns.port_kind);
        ports
            .map(|((&link, &count), &kind)| {
                let own = name(from[link as usize]);
                match count {
                    1 => format!("{own}>{}", name(columns.link_to[link as usize])),
                    _ => format!("{own}>{}", self.kinds[usize::from(kind)].name),
                }
            })
            .collect()
    }
}

impl NetworkSpec {
    /// Gives the sky of the spec its columns, read from the octets of their file.
    ///
    /// # Errors
    /// The octets are no columns, the spec has no sky, or names other columns.
    pub fn attach(&mut self, octets: &[u8]) -> Result<(), SpecError> {
        let at = || "sky.columns".to_owned();
        let Some(sky) = &mut self.sky else {
            return Err(structure(
                at(),
                "there are columns, and the spec has no sky",
            ));
        };
        let found = digest(octets);
        if found != sky.columns {
            return Err(range(
                at(),
                &sky.columns,
                &format!("{found}, the digest of the file"),
            ));
        }
        let columns = Columns::from_octets(octets);
        let columns = columns.map_err(|error| structure(at(), error))?;
        sky.read = Some(Arc::new(columns));
        Ok(())
    }

    /// Refuses a sky that cannot be simulated.
    pub(crate) fn validate_sky(&self) -> Result<(), SpecError> {
        let Some(sky) = &self.sky else {
            return match self.vcs.iter().position(|vc| vc.by_label.is_some()) {
                None => Ok(()),
                Some(i) => {
                    let problem = "belongs to a sky, and the spec has none";
                    Err(structure(format!("vcs[{i}].by_label"), problem))
                }
            };
        };
        let Some(columns) = &sky.read else {
            let problem = "the file of the columns was not given";
            return Err(structure("sky.columns".into(), problem));
        };
        if columns.nodes() > self.nodes.len() {
            let problem = "has more nodes than the spec";
            return Err(structure("sky.columns".into(), problem));
        }
        if sky.hop_limit == 0 || sky.hop_limit > MOST_HOPS {
            let allowed = format!("1 to {MOST_HOPS}");
            return Err(range("sky.hop_limit".into(), sky.hop_limit, &allowed));
        }
        let mut nodes = self.nodes[..columns.nodes()].iter();
        let is_wrong = |node: &NodeSpec| node.kind == NodeKind::Switch && !sky.carries_cells();
        if let Some(i) = nodes.position(is_wrong) {
            let problem =
                "nodes that forward packets are hosts and routers: switches forward cells";
            return Err(structure(format!("nodes[{i}].kind"), problem));
        }
        if let Some(&kind) = columns
            .port_kind
            .iter()
            .find(|&&kind| usize::from(kind) >= sky.kinds.len())
        {
            let problem = format!("needs a kind of the number {kind}, which the columns name");
            return Err(structure("sky.kinds".into(), problem));
        }
        for (i, kind) in sky.kinds.iter().enumerate() {
            self.validate_kind(
                kind,
                sky.node_of_kind(i, &self.nodes),
                &format!("sky.kinds[{i}]"),
            )?;
            if kind.framing.is_some() == sky.carries_cells() {
                let problem = "all kinds of ports carry packets, or all carry cells";
                return Err(structure(format!("sky.kinds[{i}].framing"), problem));
            }
        }
        for (i, vc) in self.vcs.iter().enumerate() {
            self.validate_by_label(i, vc, sky)?;
        }
        Ok(())
    }

    fn validate_kind(&self, kind: &PortKindSpec, node: u32, path: &str) -> Result<(), SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        let is_right = match &kind.framing {
            None => (1..=CELL_TIME_MAX_PS).contains(&kind.cell_time_ps),
            Some(framing) => {
                framing.validate(&at("framing"))?;
                if framing.fragment_octets.is_some() || framing.checked_octets.is_some() {
                    let problem = "packets of a sky go whole, and with all their bits right";
                    return Err(structure(at("framing"), problem));
                }
                kind.cell_time_ps == 0
            }
        };
        if !is_right {
            let allowed = "above 0 and at most 1 s without a framing, 0 with one";
            return Err(range(at("cell_time_ps"), kind.cell_time_ps, allowed));
        }
        if kind.waits_for_route && !matches!(kind.waiting, Waiting::Rerouted | Waiting::Turned) {
            let problem = "needs packets that take the route in force as they leave: waiting is rerouted or turned";
            return Err(structure(at("waits_for_route"), problem));
        }
        if kind.loss_ppb > WHOLE_PPB {
            return Err(range(at("loss_ppb"), kind.loss_ppb, "at most 1000000000"));
        }
        if let Some(channel) = &kind.channel {
            let refusal = channel.check(&Context::default());
            refusal.map_err(|refusal| refused(refusal, &at("channel")))?;
            if kind.loss_ppb > 0 {
                let problem = "is all that the links lose: no loss_ppb beside it";
                return Err(structure(at("channel"), problem));
            }
        }
        self.validate_port(&kind.link(kind.name.clone(), node, node), path)
    }

    fn validate_by_label(&self, i: usize, vc: &VcSpec, sky: &SkySpec) -> Result<(), SpecError> {
        let Some(route) = vc.by_label else {
            return Ok(());
        };
        let at = |key: &str| format!("vcs[{i}].{key}");
        let columns = sky.columns();
        if !vc.path.is_empty() {
            let problem = "is empty: the VC goes by a label";
            return Err(structure(at("path"), problem));
        }
        if route.from as usize >= columns.nodes() {
            return Err(range(at("by_label.from"), route.from, "a node of the sky"));
        }
        if route.label as usize >= columns.labels() {
            return Err(range(
                at("by_label.label"),
                route.label,
                "a label of the sky",
            ));
        }
        let end = columns.label_node[route.label as usize];
        if end == route.from {
            let problem = "begins where its label ends";
            return Err(structure(at("by_label.from"), problem));
        }
        let misplaced = |cells: bool, key: &str| {
            let problem = match cells {
                true => "belongs to VCs of cells, and the sky carries packets",
                false => "belongs to VCs of cells with a path, and the VC goes by label",
            };
            Err(structure(key.to_owned(), problem))
        };
        let of_paths = [
            ("gfr", vc.gfr.is_some()),
            ("abr", vc.abr.is_some()),
            ("rerouting", vc.rerouting.is_some()),
        ];
        if let Some((key, _)) = of_paths.iter().find(|(_, is_there)| *is_there) {
            return misplaced(false, &at(key));
        }
        let of_cells = [
            (at("policing"), !vc.policing.is_empty()),
            (at("resequencer"), vc.resequencer.is_some()),
            (
                "records.delay_vcs".into(),
                self.records.delay_vcs.contains(&(i as u32)),
            ),
        ];
        if let Some((key, _)) = of_cells.iter().find(|(_, is_there)| *is_there)
            && !sky.carries_cells()
        {
            return misplaced(true, key);
        }
        validate_policing(i, vc)?;
        if let Some(resequencer) = &vc.resequencer {
            validate_resequencer(resequencer, at("resequencer"))?;
        }
        match sky
            .kinds
            .iter()
            .find(|kind| kind.port.queue_of(vc.class).is_none())
        {
            None => Ok(()),
            Some(kind) => {
                let problem = format!("ports {} have no queue for {}", kind.name, vc.class.name());
                Err(structure(at("class"), problem))
            }
        }
    }
}
