//! The ledger: what went in, where it came out, and the proof that nothing was lost count of.

use crate::packets::EcnCounts;
use crate::{
    EcnRecord, FlowRecord, PortRecord, SourceRecord, StreamRecord, UserGroupRecord, VcRecord,
};
use serde::Serialize;

/// One line of the ledger: `put_in` must equal the sum of `found`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Thing that is counted, such as `cells of vc flow1.forward`.
    pub name: String,
    /// Amount put in.
    pub put_in: u64,
    /// Where it was found at the end of the run.
    pub found: Vec<(&'static str, u64)>,
}

impl Account {
    /// Returns whether everything was found.
    pub fn is_balanced(&self) -> bool {
        self.put_in == self.found.iter().map(|(_, n)| n).sum::<u64>()
    }
}

/// Packets that were too long for a link and went on in fragments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FragmentedPackets {
    /// Packets that were cut, once or again.
    pub cut: u64,
    /// Of those, packets that were put together again.
    pub whole: u64,
    /// Packets a fragment of which was lost, and whose others have ended too.
    pub incomplete: u64,
}

/// All accounts of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ledger {
    /// One line per port, per VC and per flow and layer.
    pub accounts: Vec<Account>,
}

impl Ledger {
    /// The ledger of a run whose end points handed `frames` frames to their ports.
    pub fn of(
        flows: &[FlowRecord],
        vcs: &[VcRecord],
        ports: &[PortRecord],
        (sources, users): (&[SourceRecord], &[UserGroupRecord]),
        frames: u64,
    ) -> Self {
        let mut ledger = Ledger::default();
        ledger.add_flows(flows, (sources, users), frames);
        vcs.iter().for_each(|vc| ledger.add_vc(vc));
        ports.iter().for_each(|port| ledger.add_port(port));
        ledger
    }

    /// Adds what the flows and users sent and got, and the `frames` that they and the sources handed over.
    fn add_flows(
        &mut self,
        flows: &[FlowRecord],
        (sources, users): (&[SourceRecord], &[UserGroupRecord]),
        frames: u64,
    ) {
        let from_sources = sources.iter().map(|source| source.frames).sum();
        let mut segments = vec![
            ("data", 0),
            ("acknowledgements", 0),
            ("control", 0),
            ("cell sources", from_sources),
        ];
        if !users.is_empty() {
            let datagrams = users.iter().flat_map(|group| group.datagrams).sum();
            segments.push(("datagrams of users", datagrams));
        }
        for flow in flows {
            segments[0].1 += flow.segments_sent - flow.segments_lost_by_script;
            segments[1].1 += flow.acks_sent;
            segments[2].1 += flow.control_segments;
            self.add_stream(
                &format!("flow {}", flow.name),
                flow.octets_sent - flow.octets_retransmitted,
                (flow.octets_acked, flow.octets_outstanding),
                flow.octets_received,
                (flow.octets_delivered, flow.octets_waiting),
            );
            if let Some(pep) = &flow.pep {
                let found = vec![
                    ("acknowledged behind it", flow.octets_acked),
                    ("outstanding behind it", flow.octets_outstanding),
                    ("unsent", pep.octets_unsent),
                ];
                let name = format!("octets accepted at the proxy, flow {}", flow.name);
                self.add(name, pep.octets_accepted, found);
            }
            if let Some(web) = &flow.web {
                let requests = &web.request_stream;
                segments[0].1 += requests.segments_sent;
                segments[1].1 += requests.acks_sent;
                segments[2].1 += requests.control_segments;
                self.add_half(&format!("requests of flow {}", flow.name), requests);
                if let Some(relayed) = &web.relayed {
                    let found = vec![
                        ("acknowledged before it", requests.octets_acked),
                        ("outstanding before it", requests.octets_outstanding),
                        ("unsent", relayed.octets_unsent),
                    ];
                    let name = format!(
                        "octets of requests accepted at the proxy, flow {}",
                        flow.name
                    );
                    self.add(name, relayed.octets_accepted, found);
                }
            }
        }
        for group in users {
            let whole = [&group.forward, &group.reverse];
            let sections = group.sections.iter();
            let split: Vec<_> = sections.map(|one| [&one.forward, &one.reverse]).collect();
            let carried = if split.is_empty() { vec![whole] } else { split };
            for (streams, k) in carried.into_iter().zip(0..) {
                let of = match k {
                    0 => group.name.clone(),
                    k => format!("{} behind proxy {k}", group.name),
                };
                for (stream, to) in streams.into_iter().zip(["to", "from"]) {
                    segments[0].1 += stream.segments_sent;
                    segments[1].1 += stream.acks_sent;
                    segments[2].1 += stream.control_segments;
                    self.add_half(&format!("{to} users {of}"), stream);
                }
            }
            self.add_proxies_of(group);
        }
        self.add("frames handed to ports".into(), frames, segments);
    }

    /// Adds what the proxies have accepted that split connections of users.
    fn add_proxies_of(&mut self, group: &UserGroupRecord) {
        for (behind, k) in group.sections.iter().zip(0..) {
            let (Some(pep), Some(relayed)) = (&behind.pep, &behind.relayed) else {
                continue;
            };
            let of = format!("proxy {k}, users {}", group.name);
            let found = vec![
                ("acknowledged behind it", behind.forward.octets_acked),
                ("outstanding behind it", behind.forward.octets_outstanding),
                ("unsent", pep.octets_unsent),
            ];
            self.add(
                format!("octets accepted at {of}"),
                pep.octets_accepted,
                found,
            );
            let delivered = behind.reverse.octets_delivered;
            let found = vec![(
                "handed to the connection before it",
                relayed.octets_accepted,
            )];
            self.add(format!("octets of requests at {of}"), delivered, found);
        }
    }

    /// Adds one direction of connections that carry data both ways.
    fn add_half(&mut self, name: &str, stream: &StreamRecord) {
        self.add_stream(
            name,
            stream.octets_sent - stream.octets_retransmitted,
            (stream.octets_acked, stream.octets_outstanding),
            stream.octets_received,
            (stream.octets_delivered, stream.octets_waiting),
        );
    }

    /// Adds what became of packets in fragments, if there were any.
    pub fn add_fragmented(&mut self, packets: &FragmentedPackets) {
        if packets.cut > 0 {
            let found = vec![
                ("put together", packets.whole),
                ("a fragment lost", packets.incomplete),
                (
                    "on their way",
                    packets.cut - packets.whole - packets.incomplete,
                ),
            ];
            self.add("packets in fragments".into(), packets.cut, found);
        }
    }

    /// Adds what became of a VC's cells.
    fn add_vc(&mut self, vc: &VcRecord) {
        let unit = unit(vc.carries_packets);
        let mut offered = vec![
            ("delivered", vc.cells_delivered),
            ("discarded", vc.cells_discarded.total()),
            ("policed", vc.cells_policed),
            ("refused by the contract", vc.cells_refused),
            ("queued", vc.cells_queued),
            ("in transit", vc.cells_in_transit),
            ("lost at handovers", vc.cells_lost.handover),
            ("lost on links by draw", vc.cells_lost.drawn),
            ("lost off the path", vc.cells_lost.off_path),
        ];
        let by_bit_errors = [
            ("lost by header errors", vc.cells_lost.header),
            ("misinserted", vc.cells_lost.misinserted),
            ("lost by a failed check", vc.cells_lost.check),
            ("lost for want of a route", vc.cells_lost.no_route),
            ("lost out of range", vc.cells_lost.out_of_range),
            ("lost at the hop limit", vc.cells_lost.hop_limit),
        ];
        offered.extend(by_bit_errors.iter().filter(|(_, count)| *count > 0));
        if let Some(resequencer) = &vc.resequencer {
            offered.push(("waiting for earlier ones", resequencer.cells_waiting));
        }
        self.add(format!("{unit}, vc {}", vc.name), vc.cells_offered, offered);
        let mut delivered = vec![
            ("in whole frames", vc.cells_whole),
            ("in corrupt frames", vc.cells_corrupt),
            ("in an open frame", vc.cells_open),
        ];
        if let Some(abr) = &vc.abr {
            delivered.push(("RM cells", abr.rm_cells_delivered));
        }
        self.add(
            format!("{unit} delivered, vc {}", vc.name),
            vc.cells_delivered,
            delivered,
        );
        if let Some(abr) = &vc.abr {
            self.add(
                format!("forward RM cells received, vc {}", vc.name),
                abr.forward_received,
                vec![
                    ("sent back", abr.backward_sent),
                    ("replaced by the next", abr.backward_replaced),
                    ("waiting", abr.backward_waiting),
                ],
            );
        }
    }

    /// Adds what became of the cells that came to a port, and to each of its queues.
    fn add_port(&mut self, port: &PortRecord) {
        let unit = unit(port.octets.is_some());
        self.add(
            format!("{unit}, port {}", port.name),
            port.arrived,
            vec![
                ("departed", port.departed),
                ("discarded", port.discarded.total()),
                ("queued", port.queued),
            ],
        );
        if let Some(octets) = &port.octets {
            self.add(
                format!("octets, port {}", port.name),
                octets.arrived,
                vec![
                    ("departed", octets.departed),
                    ("discarded", octets.discarded),
                    ("queued", octets.queued),
                ],
            );
            if let Some(ecn) = &octets.ecn {
                self.add_ecn(&port.name, ecn);
            }
        }
        for queue in &port.queues {
            let class = queue.class.unwrap_or("the rest");
            self.add(
                format!("{unit} of {class}, port {}", port.name),
                queue.arrived,
                vec![
                    ("departed", queue.departed),
                    ("discarded", queue.discarded.total()),
                    ("queued", queue.queued),
                ],
            );
        }
    }

    /// Adds what became of the packets of a port whose transport knows ECN: those that came with ECT, and those
    /// with CE.
    fn add_ecn(&mut self, port: &str, ecn: &EcnRecord) {
        let found = |counts: &EcnCounts| {
            vec![
                ("departed", counts.departed),
                ("discarded", counts.discarded),
                ("queued", counts.queued),
            ]
        };
        let mut ect = found(&ecn.ect);
        ect.push(("marked", ecn.marked));
        self.add(
            format!("packets with ECT, port {port}"),
            ecn.ect.arrived,
            ect,
        );
        let ce = ecn.ce.arrived + ecn.marked;
        self.add(format!("packets with CE, port {port}"), ce, found(&ecn.ce));
    }

    /// Adds the two lines of one direction of a connection: what the sender sent anew, and what
    /// the receiver got.
    fn add_stream(
        &mut self,
        name: &str,
        new: u64,
        (acknowledged, outstanding): (u64, u64),
        received: u64,
        (delivered, waiting): (u64, u64),
    ) {
        let found = vec![("acknowledged", acknowledged), ("outstanding", outstanding)];
        self.add(format!("new octets sent, {name}"), new, found);
        let found = vec![("delivered", delivered), ("waiting", waiting)];
        self.add(format!("octets received, {name}"), received, found);
    }

    /// Adds a line.
    pub fn add(&mut self, name: String, put_in: u64, found: Vec<(&'static str, u64)>) {
        self.accounts.push(Account {
            name,
            put_in,
            found,
        });
    }

    /// The first line that does not balance; a run that has one has failed.
    pub fn first_unbalanced(&self) -> Option<&Account> {
        self.accounts.iter().find(|account| !account.is_balanced())
    }
}

/// Returns the unit that is counted: packets if the VC carries packets, otherwise cells.
fn unit(carries_packets: bool) -> &'static str {
    match carries_packets {
        true => "packets",
        false => "cells",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_named_after_what_goes_there() {
        let vc = |carries_packets| VcRecord {
            carries_packets,
            ..VcRecord::default()
        };
        let port = |octets: Option<crate::PacketRecord>| PortRecord {
            octets,
            ..PortRecord::default()
        };
        let ports = [port(None), port(Some(crate::PacketRecord::default()))];
        let ledger = Ledger::of(&[], &[vc(false), vc(true)], &ports, (&[], &[]), 0);
        let first = |account: &Account| account.name.split(',').next().map(str::to_owned);
        let names: Vec<_> = ledger.accounts.iter().filter_map(first).collect();
        let expected = [
            "frames handed to ports",
            "cells",
            "cells delivered",
            "packets",
            "packets delivered",
            "cells",
            "packets",
            "octets",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_cell_that_is_nowhere_unbalances_the_ledger() {
        let mut ledger = Ledger::default();
        ledger.add("cells".into(), 3, vec![("departed", 2), ("queued", 1)]);
        assert_eq!(ledger.first_unbalanced(), None);
        ledger.add("cells".into(), 3, vec![("departed", 2)]);
        assert!(ledger.first_unbalanced().is_some());
    }
}
