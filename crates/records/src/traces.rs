//! Traces as columns: one vector per column, rows in order of time.

use skycell_spec::TraceKind;

/// One column of a trace, whatever it counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Small numbers that stand for a word.
    U8(Vec<u8>),
    /// Ids, cells.
    U32(Vec<u32>),
    /// Picoseconds, octets.
    U64(Vec<u64>),
    /// Rates, and cwnd, which may grow by parts of an octet.
    F64(Vec<f64>),
}

macro_rules! column_of {
    ($($type:ty => $variant:ident,)+) => {
        $(impl From<Vec<$type>> for Column {
            fn from(values: Vec<$type>) -> Self { Column::$variant(values) }
        })+

        #[allow(clippy::len_without_is_empty)]
        impl Column {
            /// How many rows it has.
            pub fn len(&self) -> usize {
                match self { $(Column::$variant(values) => values.len(),)+ }
            }

            /// The value of a row, for people.
            pub fn shown(&self, row: usize) -> String {
                match self { $(Column::$variant(values) => format!("{:?}", values[row]),)+ }
            }
        }
    };
}
column_of! { u8 => U8, u32 => U32, u64 => U64, f64 => F64, }

/// Columns with their names.
pub type Columns = Vec<(&'static str, Column)>;

/// The columns of a kind of trace: their names, each with its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceForm {
    /// Which trace.
    pub kind: TraceKind,
    /// Names and documentation.
    pub columns: &'static [(&'static str, &'static str)],
}

/// Declares the traces: of each a struct of columns with a method that adds one row, its place among all
/// traces of a run, and its form for the generator.
macro_rules! traces {
    ($($kind:ident => $field:ident: $name:ident {
        $(#[doc = $doc:literal] $column:ident: $type:ty,)+
    })+) => {
        $(
            #[doc = concat!("Rows of [`TraceKind::", stringify!($kind), "`].")]
            #[derive(Clone, Debug, Default, PartialEq)]
            pub struct $name { $(#[doc = $doc] pub $column: Vec<$type>,)+ }
            impl $name {
                /// Adds one row.
                #[allow(clippy::too_many_arguments)] // one argument a column
                pub fn push(&mut self, $($column: $type,)+) { $(self.$column.push($column);)+ }

                /// How many rows there are.
                fn rows(&self) -> usize {
                    let [first, ..] = [$(self.$column.len(),)+];
                    first
                }

                /// Adds some rows of another such trace.
                fn push_rows(&mut self, other: &Self, rows: std::ops::Range<usize>) {
                    $(self.$column.extend_from_slice(&other.$column[rows.clone()]);)+
                }

                fn clear(&mut self) {
                    $(self.$column.clear();)+
                }

                /// The columns with their names, in the order in which they are declared.
                pub fn into_columns(self) -> Columns {
                    vec![$((stringify!($column), self.$column.into()),)+]
                }
            }
        )+

        /// Every trace of a run; those that were not asked for stay empty.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Traces {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] pub $field: $name,)+
        }

        impl Traces {
            /// How many kinds there are.
            pub const KINDS: usize = [$(TraceKind::$kind,)+].len();

            /// Rows of each kind.
            pub fn rows(&self) -> [usize; Self::KINDS] {
                [$(self.$field.rows(),)+]
            }

            /// Adds rows of `other`: of each kind those from `first` up to `end`.
            pub fn push_rows(
                &mut self,
                other: &Traces,
                first: &[usize; Self::KINDS],
                end: &[usize; Self::KINDS],
            ) {
                let mut ranges = first.iter().zip(end).map(|(&first, &end)| first..end);
                $(if let Some(rows) = ranges.next() && !rows.is_empty() {
                    self.$field.push_rows(&other.$field, rows);
                })+
            }

            /// Takes all rows away, and keeps their room.
            pub fn clear(&mut self) {
                $(self.$field.clear();)+
            }

            /// Those of some kinds, by name, in the order in which they are declared.
            pub fn into_tables(self, kinds: &[TraceKind]) -> Vec<(&'static str, Columns)> {
                let mut tables = Vec::new();
                $(if kinds.contains(&TraceKind::$kind) {
                    tables.push((stringify!($field), self.$field.into_columns()));
                })+
                tables
            }

            /// The columns of each kind.
            pub const FORMS: &'static [TraceForm] = &[$(TraceForm {
                kind: TraceKind::$kind,
                columns: &[$((stringify!($column), $doc),)+],
            },)+];

            /// A kind without columns is no kind.
            const _EACH: fn(TraceKind) = |kind| match kind {
                $(TraceKind::$kind => {})+
            };
        }
    };
}

traces! {
    Cwnd => cwnd: CwndTrace {
        /// Id.
        flow: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Octets, with fractions.
        cwnd: f64,
        /// Octets, with fractions.
        ssthresh: f64,
    }
    Sequence => sequence: SequenceTrace {
        /// Id.
        flow: u32,
        /// Picoseconds.
        time_ps: u64,
        /// 0 sent, 1 sent again, 2 ACK.
        event: u8,
        /// First octet of the segment, or the octet acknowledged up to.
        sequence: u64,
        /// Octets of the segment; 0 for an ACK.
        length: u32,
    }
    Queue => queue: QueueTrace {
        /// Link id.
        port: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Cells.
        cells: u32,
        /// Octets: of the IP packets, or of the cells, 53 each.
        octets: u64,
    }
    VcQueue => vc_queue: VcQueueTrace {
        /// Link id.
        port: u32,
        /// Id.
        vc: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Cells.
        cells: u32,
    }
    Discards => discards: DiscardTrace {
        /// Link id.
        port: u32,
        /// Id.
        vc: u32,
        /// Id; 4294967295 for what a source sends.
        flow: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Number of the reason, as above.
        reason: u8,
    }
    Transfers => transfers: TransferTrace {
        /// Id.
        flow: u32,
        /// When the application handed it over, picoseconds.
        start_ps: u64,
        /// When its last octet was acknowledged, picoseconds.
        end_ps: u64,
        /// Octets.
        octets: u64,
    }
    Deliveries => deliveries: DeliveryTrace {
        /// Id.
        flow: u32,
        /// When its last octet had arrived in order, picoseconds.
        end_ps: u64,
        /// Octets.
        octets: u64,
    }
    Files => files: FileTrace {
        /// Id.
        flow: u32,
        /// Which of the flow's pages it belongs to, from 0.
        page: u32,
        /// When the client handed the request to its TCP, picoseconds.
        requested_ps: u64,
        /// When the last octet of the file had arrived in order, picoseconds.
        received_ps: u64,
        /// Octets.
        octets: u64,
    }
    Service => service: ServiceTrace {
        /// Link id.
        port: u32,
        /// Index at the port.
        queue: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Cells that have departed so far.
        departed: u64,
        /// Cells.
        cells: u32,
    }
    Acr => acr: AcrTrace {
        /// Link id, where the source is.
        port: u32,
        /// Id.
        vc: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Cells a second.
        acr: f64,
        /// Of the last backward RM cell, PCR before the first; cells a second.
        er: f64,
    }
    RateControl => rate_control: RateControlTrace {
        /// Link id.
        port: u32,
        /// Picoseconds.
        time_ps: u64,
        /// z; endless where the port aims at nothing.
        overload: f64,
        /// Of a VC; where shares are weighted, beyond its MCR and of weight 1; cells a second.
        fair_share: f64,
        /// Target rate of the port, cells a second.
        target: f64,
        /// Cells of ABR VCs in the port.
        cells: u32,
    }
}

/// The event of a row of the sequence trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum SequenceEvent {
    /// A new data segment was sent.
    Sent = 0,
    /// A data segment was sent again.
    Retransmitted = 1,
    /// An acknowledgement arrived at the sender.
    Acked = 2,
}

impl DiscardTrace {
    /// The flow id of cells that belong to no flow.
    pub const NO_FLOW: u32 = u32::MAX;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_hands_on_its_columns_by_the_names_of_its_fields() {
        let mut trace = QueueTrace::default();
        trace.push(3, 10, 7, 371);
        trace.push(3, 20, 9, 477);
        assert_eq!(
            trace.into_columns(),
            [
                ("port", Column::U32(vec![3, 3])),
                ("time_ps", Column::U64(vec![10, 20])),
                ("cells", Column::U32(vec![7, 9])),
                ("octets", Column::U64(vec![371, 477])),
            ]
        );
    }

    #[test]
    fn tables_are_of_the_kinds_that_were_asked_for_in_the_order_of_their_declaration() {
        let mut traces = Traces::default();
        traces.queue.push(0, 10, 7, 371);
        let tables = traces.into_tables(&[TraceKind::Files, TraceKind::Queue]);
        let names: Vec<_> = tables.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, ["queue", "files"]);
        assert_eq!(tables[0].1[2], ("cells", Column::U32(vec![7])));
    }
}
