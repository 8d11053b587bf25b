//! The order of trace rows: nodes act one after the other through a window, and rows stand in the order of time.

use crate::merged_rows::{History, merged_rows};
use skycell_des::Key;
use skycell_records::Traces;
use skycell_spec::{RecordSpec, TraceKind};

/// Rows of the windows that are over, in order, and which of the present window came in which event.
#[derive(Default)]
pub(super) struct Ordered {
    pub(super) has_discards: bool,
    has_any: bool,
    rows: Traces,
    /// Events of the window that wrote rows, each with the rows before it.
    events: Vec<(Key, [usize; Traces::KINDS])>,
    before: [usize; Traces::KINDS],
    /// By event in order: its rows.
    sorted: Vec<(Key, [usize; Traces::KINDS], [usize; Traces::KINDS])>,
    /// Of a region: the events that wrote `rows`, each with the rows up to its end.
    history: Option<Vec<(Key, [usize; Traces::KINDS])>>,
}

impl Ordered {
    pub(super) fn new(records: &RecordSpec, is_region: bool) -> Self {
        Ordered {
            has_discards: records.traces.contains(&TraceKind::Discards),
            has_any: !records.traces.is_empty(),
            rows: Traces::default(),
            events: Vec::new(),
            before: [0; Traces::KINDS],
            sorted: Vec::new(),
            history: is_region.then(Vec::new),
        }
    }

    /// An event is over, and `written` are the rows of the window so far.
    #[inline(always)]
    pub(super) fn note(&mut self, at: Key, written: &Traces) {
        if self.has_any {
            self.note_rows(at, written);
        }
    }

    #[inline(never)] // few runs have traces
    fn note_rows(&mut self, at: Key, written: &Traces) {
        let rows = written.rows();
        if rows != self.before {
            self.events.push((at, self.before));
            self.before = rows;
        }
    }

    /// A window is over: its rows follow those before it.
    #[inline(always)]
    pub(super) fn end_window(&mut self, written: &mut Traces) {
        if !self.events.is_empty() {
            self.put_in_order(written);
        }
    }

    #[inline(never)]
    fn put_in_order(&mut self, written: &mut Traces) {
        let ends = self.events[1..].iter().map(|event| event.1);
        let ends = ends.chain([self.before]);
        let events = self.events.iter().zip(ends);
        self.sorted.clear();
        self.sorted
            .extend(events.map(|(&(key, first), end)| (key, first, end)));
        // An event that happens twice does so in its order.
        self.sorted.sort_by_key(|event| event.0);
        for (at, first, end) in &self.sorted {
            self.rows.push_rows(written, first, end);
            if let Some(history) = &mut self.history {
                history.push((*at, self.rows.rows()));
            }
        }
        written.clear();
        self.events.clear();
        self.before = [0; Traces::KINDS];
    }

    /// All rows in order.
    pub(super) fn into_rows(self) -> Traces {
        self.rows
    }
}

/// The rows of regions as those of one network.
pub(super) fn merged(regions: Vec<Ordered>) -> Ordered {
    let histories = regions.into_iter();
    let histories = histories.map(|own| (own.rows, own.history.unwrap_or_default()));
    Ordered {
        rows: merged_rows(&histories.collect::<Vec<History>>()),
        ..Ordered::default()
    }
}
