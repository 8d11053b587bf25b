//! Receivers of a link, each with the rate that it can receive.

use skycell_spec::{LinkSpec, ReceiverSpec};
use skycell_units::SimTime;

/// The receivers of a link, found by VC.
#[derive(Debug)]
pub(crate) struct Receivers {
    all: Vec<ReceiverSpec>,
    /// By VC, up to the last that one receives: which one.
    by_vc: Vec<Option<u32>>,
}

impl Receivers {
    pub(crate) fn new(link: &LinkSpec) -> Self {
        let mut by_vc = Vec::new();
        for (receiver, at) in link.receivers.iter().zip(0u32..) {
            for &vc in &receiver.vcs {
                by_vc.resize(by_vc.len().max(vc as usize + 1), None);
                by_vc[vc as usize] = Some(at);
            }
        }
        Receivers {
            all: link.receivers.clone(),
            by_vc,
        }
    }

    /// The rate of a packet of `vc` whose transmission begins at `time`, thousandths of a bit a second, and whether it is
    /// received; none where the packet goes as the link says.
    pub(crate) fn at(&self, vc: u32, time: SimTime) -> Option<(u64, bool)> {
        let at = (*self.by_vc.get(vc as usize)?)?;
        Some(self.all[at as usize].at(time.0))
    }
}
