//! The VCs over which flows' segments go, one after the other.

use skycell_spec::FlowSpec;
use skycell_units::FlowId;

/// The legs of all flows, there and back.
#[derive(Debug)]
pub(crate) struct FlowRoutes {
    /// By flow, forward and reverse. So little that those of thousands of flows are in the cache.
    first: Vec<[u32; 2]>,
    /// The same, all legs after the first; nothing where no flow has any.
    others: Vec<[Box<[u32]>; 2]>,
}

impl FlowRoutes {
    pub(crate) fn new(flows: &[FlowSpec]) -> Self {
        let both = |flow: &FlowSpec| [flow.forward.len(), flow.reverse.len()];
        let has_others = flows
            .iter()
            .flat_map(both)
            .any(|flow_routes| flow_routes > 1);
        let others = |flow: &FlowSpec| [flow.forward[1..].into(), flow.reverse[1..].into()];
        FlowRoutes {
            first: flows
                .iter()
                .map(|flow| [flow.forward[0], flow.reverse[0]])
                .collect(),
            others: if has_others {
                flows.iter().map(others).collect()
            } else {
                Vec::new()
            },
        }
    }

    /// The VC over which segments of `flow` begin.
    pub(crate) fn first(&self, flow: FlowId, is_forward: bool) -> u32 {
        self.first[flow.index()][usize::from(!is_forward)]
    }

    /// The VC over which they go on after `route_index`, the first being 0.
    pub(crate) fn after(&self, route_index: u32, flow: FlowId, is_forward: bool) -> Option<u32> {
        let flow_routes = &self.others.get(flow.index())?[usize::from(!is_forward)];
        flow_routes.get(route_index as usize).copied()
    }
}
