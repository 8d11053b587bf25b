//! Host ports with a limit, which refuse whole frames.

use super::{Builder, Dice};
use skycell_spec::*;

/// Limits some of the ports of hosts. Half of the runs leave no samples and no trace but the discards,
/// so that receivers act before their time and are refused before their time.
pub(super) fn limit(spec: &mut NetworkSpec, dice: &mut Dice) {
    let mut builder = Builder::new(dice);
    for link in &mut spec.links {
        let is_host = spec.nodes[link.from as usize].kind == NodeKind::Host;
        if is_host && builder.dice.one_in(2) {
            let capacity = builder.dice.pick(&[1, 2, 2, 3, 40, 200, 600]);
            let policy = builder.policy(capacity);
            link.port = PortSpec::fifo(Some(capacity), policy, link.port.frame_gap_ps);
        }
    }
    if builder.dice.one_in(2) {
        spec.records.sampled_ports.clear();
        spec.records.vc_sampled_ports.clear();
        spec.records.traces = vec![TraceKind::Discards];
    }
}
