//! Receivers of a link, each with the rate that it can receive.

use skycell_spec::{LinkSpec, ReceiverSpec};
use skycell_units::SimTime;
use std::collections::BTreeMap;

/// The receivers of a link, found by VC.
#[derive(Debug)]
pub(crate) struct Receivers {
    all: Vec<ReceiverSpec>,
    by_vc: BTreeMap<u32, usize>,
}

impl Receivers {
    pub(crate) fn new(link: &LinkSpec) -> Self {
        let numbered = link.receivers.iter().enumerate();
        let of = |(at, receiver): (usize, &ReceiverSpec)| {
            let vcs = receiver.vcs.clone();
            vcs.into_iter().map(move |vc| (vc, at))
        };
        Receivers {
            all: link.receivers.clone(),
            by_vc: numbered.flat_map(of).collect(),
        }
    }

    /// The rate of a packet of `vc` whose transmission begins at `time`, thousandths of a bit a second, and whether it is
    /// received; none where the packet goes as the link says.
    pub(crate) fn at(&self, vc: u32, time: SimTime) -> Option<(u64, bool)> {
        let at = self.by_vc.get(&vc)?;
        Some(self.all[*at].at(time.0))
    }
}
