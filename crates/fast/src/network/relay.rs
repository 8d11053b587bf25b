//! Events at a proxy between two connections.

use super::Network;
use skycell_units::{FlowId, SimTime};

impl Network<'_> {
    /// A segment of the connection `flow` has come to a proxy, where `beyond` goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn relay(&mut self, now: SimTime, flow: FlowId, beyond: FlowId, is_forward: bool) {
        let pair = [flow.index(), beyond.index()];
        let flows = self.flows.get_disjoint_mut(pair);
        let [one, other] = flows.expect("a connection does not join itself");
        other.on_beyond(now, is_forward, one, &mut self.out);
        self.after_flow(now, beyond);
    }
}
