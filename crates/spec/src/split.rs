//! Split connections: proxies that end a flow's connection and carry its octets over another (RFC 3135 section 2.1).

use crate::check::{range, structure, validate_tcp};
use crate::{
    FlowSpec, JitterSpec, LossScript, NetworkSpec, NodeKind, SpecError, StartSpec, TcpSpec,
    TrafficSpec,
};
use serde::{Deserialize, Serialize};
use skycell_declare::Declare;
use skycell_units::Octets;
use std::borrow::Cow;

/// A performance enhancing proxy at a router on a flow's path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PepSpec {
    /// The router, at which VCs of the flow's routes meet in both directions.
    pub node: u32,
    /// Octets that it holds at most, those that it has sent and that are not acknowledged included; at least the receiver
    /// window of the connection before it.
    pub buffer_octets: Octets,
    /// Both end points' parameters of the connection behind it.
    pub tcp: TcpSpec,
}

/// The flows of a run as connections: a flow that is split is several in a row. The first of each has the flow's index; the
/// others follow all flows, flow by flow.
#[derive(Clone, Debug)]
pub struct Connections<'a> {
    /// The run with a flow for each connection, none of which is split.
    pub spec: Cow<'a, NetworkSpec>,
    /// Proxies between them, flow by flow, and for each flow in the order of the path.
    pub proxies: Vec<Proxy>,
}

/// A proxy between two connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proxy {
    /// Index of the connection that ends there.
    pub before: u32,
    /// Index of the one that begins there.
    pub behind: u32,
    /// Octets that it holds at most.
    pub buffer: Octets,
}

impl<'a> Connections<'a> {
    /// Those of a valid spec.
    pub fn of(spec: &'a NetworkSpec) -> Self {
        let mut proxies = Vec::new();
        if spec.flows.iter().all(|flow| flow.peps.is_empty()) {
            let spec = Cow::Borrowed(spec);
            return Connections { spec, proxies };
        }
        let (mut first, mut others) = (Vec::new(), Vec::new());
        for (flow, id) in spec.flows.iter().zip(0u32..) {
            let mut connections = spec.connections_of(flow).into_iter();
            first.extend(connections.next());
            let mut before = id;
            for (connection, pep) in connections.zip(&flow.peps) {
                let behind = (spec.flows.len() + others.len()) as u32;
                proxies.push(Proxy {
                    before,
                    behind,
                    buffer: pep.buffer_octets,
                });
                others.push(connection);
                before = behind;
            }
        }
        first.append(&mut others);
        let spec = Cow::Owned(NetworkSpec {
            flows: first,
            ..spec.clone()
        });
        Connections { spec, proxies }
    }
}

impl NetworkSpec {
    /// The connections of a flow, in the order of its path; itself if it is not split.
    fn connections_of(&self, flow: &FlowSpec) -> Vec<FlowSpec> {
        let sections = self.sections([&flow.forward, &flow.reverse], &flow.peps);
        let (count, mut found) = (sections.len(), Vec::new());
        for (k, [forward, reverse]) in sections.into_iter().enumerate() {
            let begins = (k > 0).then(|| &flow.peps[k - 1]);
            found.push(FlowSpec {
                name: match begins {
                    None => flow.name.clone(),
                    Some(pep) => self.name_behind(flow, pep),
                },
                forward,
                reverse,
                tcp: begins.map_or(&flow.tcp, |pep| &pep.tcp).clone(),
                traffic: match (begins, &flow.traffic) {
                    (None, own) | (Some(_), own @ TrafficSpec::Web(_)) => own.clone(),
                    _ => TrafficSpec::Persistent,
                },
                start: match begins {
                    None => flow.start,
                    Some(_) => StartSpec::At { time_ps: 0 },
                },
                loss_script: match begins {
                    None => flow.loss_script.clone(),
                    Some(_) => LossScript::default(),
                },
                jitter: JitterSpec {
                    data_ps: if k == 0 { flow.jitter.data_ps } else { 0 },
                    acks_ps: if k + 1 == count {
                        flow.jitter.acks_ps
                    } else {
                        0
                    },
                },
                peps: Vec::new(),
                ipsec: flow.ipsec,
            });
        }
        found
    }

    /// Returns the name of the connection of `flow` that begins at `pep`.
    pub fn name_behind(&self, flow: &FlowSpec, pep: &PepSpec) -> String {
        format!("{}@{}", flow.name, self.nodes[pep.node as usize].name)
    }

    /// The pieces of the routes there and back between proxies, in the order of the path.
    pub fn sections(
        &self,
        [forward, reverse]: [&[u32]; 2],
        peps: &[PepSpec],
    ) -> Vec<[Vec<u32>; 2]> {
        let nodes: Vec<u32> = peps.iter().map(|pep| pep.node).collect();
        let backward: Vec<u32> = nodes.iter().rev().copied().collect();
        let forward = self.cut(forward, &nodes).into_iter();
        let reverse = self.cut(reverse, &backward).into_iter().rev();
        let sections = forward.zip(reverse);
        sections.map(|(there, back)| [there, back]).collect()
    }

    /// A route in pieces, each of which ends at the next of `nodes`.
    fn cut(&self, route: &[u32], nodes: &[u32]) -> Vec<Vec<u32>> {
        let mut nodes = nodes.iter().peekable();
        let mut pieces = vec![Vec::new()];
        for &vc in route {
            pieces.last_mut().expect("there is one").push(vc);
            if nodes
                .next_if(|&&node| node == self.vc_destination(vc as usize))
                .is_some()
            {
                pieces.push(Vec::new());
            }
        }
        pieces
    }

    /// Refuses proxies that cannot split the connections over a route, whose receiver window is `rwnd` before the first.
    pub(crate) fn validate_peps(
        &self,
        path: &str,
        [forward, reverse]: [&[u32]; 2],
        mut rwnd: Octets,
        peps: &[PepSpec],
    ) -> Result<(), SpecError> {
        if peps.is_empty() {
            return Ok(());
        }
        let at = |k: usize, key: &str| format!("{path}.peps[{k}].{key}");
        for (k, pep) in peps.iter().enumerate() {
            let kind = self.nodes.get(pep.node as usize).map(|node| node.kind);
            if kind != Some(NodeKind::Router) {
                return Err(structure(at(k, "node"), "must be a router"));
            }
            if pep.buffer_octets < rwnd {
                let allowed = format!("at least {rwnd}, the receiver window before it");
                return Err(range(at(k, "buffer_octets"), pep.buffer_octets, &allowed));
            }
            if pep.buffer_octets > BUFFER_MAX {
                let allowed = format!("at most {BUFFER_MAX}");
                return Err(range(at(k, "buffer_octets"), pep.buffer_octets, &allowed));
            }
            validate_tcp(&pep.tcp, &at(k, "tcp"))?;
            rwnd = pep.tcp.rwnd;
        }
        let nodes: Vec<u32> = peps.iter().map(|pep| pep.node).collect();
        let backward: Vec<u32> = nodes.iter().rev().copied().collect();
        for (route, nodes) in [(forward, &nodes), (reverse, &backward)] {
            let pieces = self.cut(route, nodes);
            if pieces.len() != nodes.len() + 1 || pieces.iter().any(Vec::is_empty) {
                let problem = "must be routers of its routes, in their order";
                return Err(structure(format!("{path}.peps"), problem));
            }
        }
        Ok(())
    }
}

/// Largest buffer of a proxy, octets: a terabyte.
const BUFFER_MAX: Octets = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn spec() -> NetworkSpec {
        let text = include_str!("split_tests.json");
        NetworkSpec::from_json(text).expect("a valid spec")
    }

    fn refusal(change: impl FnOnce(&mut NetworkSpec)) -> String {
        let mut spec = spec();
        change(&mut spec);
        spec.validate().unwrap_err().to_string()
    }

    #[test]
    fn a_flow_that_is_split_is_two_connections_over_the_pieces_of_its_routes() {
        let spec = spec();
        let connections = Connections::of(&spec);
        let of = |k: usize| {
            let flow = &connections.spec.flows[k];
            (flow.name.as_str(), &flow.forward[..], &flow.reverse[..])
        };
        assert_eq!(of(0), ("f", &[0][..], &[3][..]));
        assert_eq!(of(1), ("f@r", &[1][..], &[2][..]));
        let between = Proxy {
            before: 0,
            behind: 1,
            buffer: 65_535,
        };
        assert_eq!(connections.proxies, [between]);
    }

    #[test]
    fn what_is_not_split_stays_as_it_is() {
        let mut spec = spec();
        spec.flows[0].peps.clear();
        assert!(matches!(Connections::of(&spec).spec, Cow::Borrowed(_)));
    }

    #[test]
    fn a_buffer_below_the_window_before_it_is_refused() {
        let refused = refusal(|spec| spec.flows[0].peps[0].buffer_octets = 65_534);
        let expected = "flows[0].peps[0].buffer_octets: got 65534, allowed at least 65535, the receiver window before it";
        assert_eq!(refused, expected);
    }

    #[test]
    fn a_proxy_is_a_router_on_both_routes_and_each_is_there_once() {
        let problem = "flows[0].peps[0].node: must be a router";
        assert_eq!(refusal(|spec| spec.flows[0].peps[0].node = 0), problem);
        let problem = "flows[0].peps: must be routers of its routes, in their order";
        let twice = |spec: &mut NetworkSpec| {
            let pep = spec.flows[0].peps[0].clone();
            spec.flows[0].peps.push(pep);
        };
        assert_eq!(refusal(twice), problem);
    }
}
