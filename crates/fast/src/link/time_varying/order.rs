//! Which of the cells that come together by a time-varying link entered it first, where they go on to several ports.

use crate::burst::Burst;
use skycell_units::{PortVc, SimTime};
use std::collections::VecDeque;

/// Cells of a VC that have been sent on.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Cells of the VC sent on before.
    before: u64,
    entries: Burst,
}

impl Sent {
    /// Cells of the VC sent on with these.
    fn with(&self) -> u64 {
        self.before + self.entries.count
    }
}

/// The entries that have been forwarded and may be asked for.
#[derive(Debug)]
pub(crate) struct EntryOrder {
    /// By index at the port before the link.
    sent: Vec<VecDeque<Sent>>,
    /// How many of all VCs, and with how many it is seen which will be asked for.
    kept: usize,
    most: usize,
    /// So much more may be kept.
    more: usize,
}

impl EntryOrder {
    /// Of `vcs` VCs; between two looks at what will still be asked for at least `more` is kept.
    pub(crate) fn new(vcs: usize, more: usize) -> Self {
        EntryOrder {
            sent: vec![VecDeque::new(); vcs],
            kept: 0,
            most: more,
            more,
        }
    }

    /// Cells of the VC at `port_vc` are sent on, after all others of it that have been; `entries` is when they entered.
    pub(crate) fn note(&mut self, port_vc: PortVc, entries: Burst) {
        let sent = &mut self.sent[port_vc.index()];
        sent.push_back(Sent {
            before: sent.back().map_or(0, Sent::with),
            entries,
        });
        self.kept += 1;
    }

    /// When the `nth` cell of the VC at `port_vc` that was sent on, from 0, entered.
    pub(crate) fn entry(&self, port_vc: PortVc, nth: u64) -> Option<SimTime> {
        let sent = &self.sent[port_vc.index()];
        let at = sent.partition_point(|sent| sent.before <= nth);
        let sent = sent.get(at.checked_sub(1)?)?;
        Some(sent.entries.nth(nth - sent.before))
    }

    /// Of the VC at an index nobody will ask for so many of the first cells as `processed` tells. What was sent on
    /// last stays.
    pub(crate) fn forget(&mut self, processed: impl Fn(PortVc) -> u64) {
        if self.kept < self.most {
            return;
        }
        for (sent, port_vc) in self.sent.iter_mut().zip(PortVc::all()) {
            let count = processed(port_vc);
            while sent.len() > 1 && sent[0].with() <= count {
                sent.pop_front();
            }
        }
        self.kept = self.sent.iter().map(VecDeque::len).sum();
        self.most = 2 * self.kept + self.more;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_dealt_with_is_forgotten() {
        let mut order = EntryOrder::new(2, 4);
        let cells = |first: u64, count: u64| Burst::new(SimTime(first), SimTime(10), count);
        order.note(PortVc(0), cells(500, 3));
        order.note(PortVc(1), cells(510, 1));
        order.note(PortVc(0), cells(560, 2));
        let asked = |order: &EntryOrder| {
            let of_first = (0..5).map(|nth| order.entry(PortVc(0), nth).map(|time| time.0));
            of_first.collect::<Vec<_>>()
        };
        let all = [500, 510, 520, 560, 570].map(Some);
        assert_eq!(asked(&order), all);
        let processed = |port_vc: PortVc| [4, 1][port_vc.index()];
        order.forget(processed);
        assert_eq!(asked(&order), all, "few are kept");
        order.note(PortVc(0), cells(600, 1));
        order.forget(processed);
        assert_eq!(asked(&order), [None, None, None, Some(560), Some(570)]);
        assert_eq!(order.entry(PortVc(0), 5), Some(SimTime(600)));
        assert_eq!(
            order.entry(PortVc(1), 0),
            Some(SimTime(510)),
            "it was the last"
        );
        order.note(PortVc(1), cells(620, 1));
        assert_eq!(order.entry(PortVc(1), 1), Some(SimTime(620)));
    }
}
