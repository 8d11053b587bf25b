//! What the nodes of a network that forwards by label have to do: it follows from the routes of the VCs, looked at a few
//! times.

use super::lookaheads_ps;
use crate::cut::Load;
use skycell_sky::{Columns, Rows};
use skycell_spec::{NetworkSpec, SkySpec, TrafficSpec};
use skycell_units::SimTime;

/// Wall time of a packet at a node, s: of the order of what `cargo bench --bench regions` measures.
const HOP_S: f64 = 2e-7;
/// That of one more at the end of a flow.
const END_S: f64 = 2.5e-7;
/// Times at which routes are looked at.
const LOOKS: u64 = 4;

const PS_PER_SECOND: f64 = 1e12;

/// What the nodes of a valid spec with a sky have to do.
pub(crate) fn load(spec: &NetworkSpec, sky: &SkySpec) -> Load {
    let columns = sky.columns();
    let mut looks = Looks {
        load: Load::none(columns.nodes()),
        columns,
        link_from: columns.link_from(),
    };
    let links = looks.link_from.iter().zip(&columns.link_to);
    for ((&from, &to), lookahead) in links.zip(lookaheads_ps(spec, sky)) {
        if let Some(lookahead_ps) = lookahead {
            looks.load.join(from, to, lookahead_ps);
        }
    }
    let begins = super::Epochs::of(columns);
    let mut rows = Rows::new(columns);
    for look in 0..LOOKS {
        let time = spec.duration_ps / (2 * LOOKS) * (2 * look + 1);
        let epoch = begins.at(SimTime(time), 0);
        rows.bring_all(epoch);
        looks.look(spec, sky, &rows);
    }
    looks.load
}

/// The load as far as it is known.
struct Looks<'a> {
    load: Load,
    columns: &'a Columns,
    /// Node that each link leaves.
    link_from: Vec<u32>,
}

impl Looks<'_> {
    /// Adds what the routes in force make.
    fn look(&mut self, spec: &NetworkSpec, sky: &SkySpec, rows: &Rows<&Columns>) {
        let columns = self.columns;
        let paths: Vec<Vec<u32>> = (spec.vcs.iter())
            .map(|vc| {
                let by_label = vc.by_label.expect("without links all VCs go by label");
                path(
                    columns,
                    rows,
                    sky.hop_limit,
                    by_label.from,
                    by_label.label as u16,
                )
            })
            .collect();
        let mut sharing = vec![0u32; columns.ports()];
        for &vc in spec.flows.iter().flat_map(|flow| &flow.forward) {
            for &link in &paths[vc as usize] {
                sharing[columns.link_port[link as usize] as usize] += 1;
            }
        }
        let run_s = spec.duration_ps as f64 / PS_PER_SECOND;
        for flow in &spec.flows {
            let octets = flow.tcp.mss + 40;
            let links = || flow.forward.iter().flat_map(|&vc| &paths[vc as usize]);
            let share = |&link: &u32| {
                let port = columns.link_port[link as usize] as usize;
                let kind = &sky.kinds[usize::from(columns.port_kind[port])];
                let packet_ps = match &kind.framing {
                    Some(framing) => framing.time_ps(octets),
                    None => kind.cell_time_ps * octets.div_ceil(48),
                };
                PS_PER_SECOND / packet_ps.max(1) as f64 / f64::from(sharing[port])
            };
            let mut packets = links().map(share).fold(f64::INFINITY, f64::min);
            let delay_ps = |&link: &u32| {
                let (from, to) = (
                    self.link_from[link as usize],
                    columns.link_to[link as usize],
                );
                self.load.lookahead_ps(from, to).unwrap_or(0)
            };
            let delays = links().map(delay_ps);
            let rtt_s = 2.0 * delays.sum::<u64>() as f64 / PS_PER_SECOND;
            if rtt_s > 0.0 {
                packets = packets.min((flow.tcp.rwnd / flow.tcp.mss) as f64 / rtt_s);
            }
            if let TrafficSpec::Transfers { size_octets, .. } = flow.traffic {
                packets = packets.min((size_octets / flow.tcp.mss + 1) as f64 / run_s);
            }
            let units = match sky.carries_cells() {
                true => octets.div_ceil(48) as f64,
                false => 1.0,
            };
            for (vcs, packets) in [(&flow.forward, packets * units), (&flow.reverse, packets)] {
                for &vc in vcs {
                    self.add(spec.vc_source(vc as usize), &paths[vc as usize], packets);
                }
            }
        }
        for source in &spec.sources {
            let packets = PS_PER_SECOND / source.cell_interval_ps.max(1) as f64;
            let route = match source.datagram_route.is_empty() {
                true => &[source.vc][..],
                false => &source.datagram_route[..],
            };
            for &vc in route {
                self.add(spec.vc_source(vc as usize), &paths[vc as usize], packets);
            }
        }
    }

    /// Adds packets of a second, on average over all looks.
    fn add(&mut self, from: u32, links: &[u32], packets: f64) {
        if !packets.is_finite() {
            return;
        }
        let packets = packets / LOOKS as f64;
        let mut node = from;
        self.load.add(node, packets * END_S);
        for &link in links {
            self.load.add(node, packets * HOP_S);
            let to = self.columns.link_to[link as usize];
            self.load.pass(node, to, packets);
            node = to;
        }
        self.load.add(node, packets * END_S);
    }
}

/// The links by which a label goes on from a node.
fn path(columns: &Columns, rows: &Rows<&Columns>, most: u32, from: u32, label: u16) -> Vec<u32> {
    let mut links = Vec::new();
    let mut node = from;
    while node != columns.label_node[usize::from(label)] && (links.len() as u32) < most {
        let Some(link) = rows.next(node, label) else {
            break;
        };
        links.push(link);
        node = columns.link_to[link as usize];
    }
    links
}
