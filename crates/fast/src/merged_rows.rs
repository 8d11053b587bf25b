//! Rows of traces that regions of a network have written, as those of one network.

use skycell_des::Key;
use skycell_records::Traces;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows that a region has written, and the events that wrote them, in order, each with the rows up to its end.
pub(crate) type History = (Traces, Vec<(Key, [usize; Traces::KINDS])>);

/// The rows of all regions. No event writes rows in two regions, so the keys of the events say in which order.
pub(crate) fn merged_rows(regions: &[History]) -> Traces {
    let mut rest: Vec<_> = (regions.iter())
        .map(|(_, events)| events.iter().peekable())
        .collect();
    let mut heads: BinaryHeap<Reverse<(Key, usize)>> = BinaryHeap::new();
    for (region, events) in rest.iter_mut().enumerate() {
        heads.extend(events.peek().map(|first| Reverse((first.0, region))));
    }
    let mut done = vec![[0; Traces::KINDS]; regions.len()];
    let mut rows = Traces::default();
    while let Some(Reverse((_, region))) = heads.pop() {
        let (_, end) = rest[region].next().expect("the head of a region");
        rows.push_rows(&regions[region].0, &done[region], end);
        done[region] = *end;
        heads.extend(rest[region].peek().map(|next| Reverse((next.0, region))));
    }
    rows
}
