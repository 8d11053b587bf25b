//! The record of a proxy between two connections of a split flow, and the assembly of split flows.

use crate::{FlowRecord, StreamRecord, WebRecord};
use serde::Serialize;
use skycell_spec::Proxy;

/// A performance enhancing proxy at which a connection begins. Octets are TCP payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PepRecord {
    /// Octets that it has accepted from the connection before, in order, and has acknowledged or is about to.
    pub octets_accepted: u64,
    /// Of those, octets that have been acknowledged to it.
    pub octets_passed_on: u64,
    /// The others, at the end of the run: acknowledged to the sender, and not yet known to be delivered.
    pub octets_held: u64,
    /// Largest number of octets held.
    pub octets_held_max: u64,
    /// Of the octets held, those that have not been sent.
    pub octets_unsent: u64,
    /// Segments that found no room, as the sender could not know of the window.
    pub segments_refused: u64,
}

/// A row for each of `flows` flows, from the rows of their connections.
pub fn joined(connections: Vec<FlowRecord>, flows: usize, proxies: &[Proxy]) -> Vec<FlowRecord> {
    let mut rows: Vec<FlowRecord> = connections[..flows].to_vec();
    // The flow of each connection.
    let mut flow_of: Vec<usize> = (0..connections.len()).collect();
    for proxy in proxies {
        let (before, behind) = (proxy.before as usize, proxy.behind as usize);
        flow_of[behind] = flow_of[before];
        let row = &mut rows[flow_of[before]];
        if row.connections.is_empty() {
            row.connections.push(connections[before].clone());
        }
        row.connections.push(connections[behind].clone());
    }
    for row in &mut rows {
        let Some(last) = row.connections.last().cloned() else {
            continue;
        };
        let whole = std::mem::take(row).with_destination(&last);
        *row = FlowRecord {
            web: (whole.web.clone().zip(last.web)).map(|(of_server, of_user)| WebRecord {
                relayed: None,
                ..joined_web(of_server, of_user)
            }),
            ..whole
        };
    }
    rows
}

/// Of a web user what the last connection says, of its server what the first one does.
pub(crate) fn joined_web(of_server: WebRecord, of_user: WebRecord) -> WebRecord {
    let (at_server, at_user) = (&of_server.request_stream, &of_user.request_stream);
    let request_stream = StreamRecord {
        octets_delivered: at_server.octets_delivered,
        octets_received: at_server.octets_received,
        octets_waiting: at_server.octets_waiting,
        acks_sent: at_server.acks_sent,
        ..at_user.clone()
    };
    WebRecord {
        requests_answered: of_server.requests_answered,
        octets_scheduled: of_server.octets_scheduled,
        request_stream,
        ..of_user
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(name: &str, octets: u64) -> FlowRecord {
        FlowRecord {
            name: name.into(),
            octets_acked: octets,
            octets_delivered: octets,
            ..FlowRecord::default()
        }
    }

    #[test]
    fn a_split_flow_has_the_source_of_its_first_connection_and_the_destination_of_its_last() {
        let names = [("a", 9), ("b", 5), ("b@r", 4), ("b@s", 2)];
        let connections: Vec<_> = names.map(|(name, octets)| connection(name, octets)).into();
        let between = |before, behind| Proxy {
            before,
            behind,
            buffer: 0,
        };
        let rows = joined(connections, 2, &[between(1, 2), between(2, 3)]);
        let octets = |row: &FlowRecord| (row.octets_acked, row.octets_delivered);
        assert_eq!(
            rows.iter().map(octets).collect::<Vec<_>>(),
            [(9, 9), (5, 2)]
        );
        let own = rows[1].connections.iter().map(|row| row.name.as_str());
        assert_eq!(own.collect::<Vec<_>>(), ["b", "b@r", "b@s"]);
        assert!(rows[0].connections.is_empty());
    }
}
