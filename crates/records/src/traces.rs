//! Traces as columns: one vector per column, rows in order of time.

/// Every trace of a run; those that were not asked for stay empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traces {
    /// cwnd and ssthresh.
    pub cwnd: CwndTrace,
    /// Segments sent and acknowledgements received.
    pub sequence: SequenceTrace,
    /// Sampled queue lengths.
    pub queue: QueueTrace,
    /// Sampled occupancy by VC.
    pub vc_queue: VcQueueTrace,
    /// Frames that lost cells.
    pub discards: DiscardTrace,
    /// Finished transfers.
    pub transfers: TransferTrace,
    /// Files of web pages that were received.
    pub files: FileTrace,
    /// What the queues of ports have sent.
    pub service: ServiceTrace,
    /// Rates that sources of ABR VCs may send at.
    pub acr: AcrTrace,
    /// What rate algorithms have come to.
    pub rate_control: RateControlTrace,
}

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
    };
}
column_of! { u8 => U8, u32 => U32, u64 => U64, f64 => F64, }

/// Declares a trace: a struct of columns, a method that adds one row, and one that hands the
/// columns on.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: Vec<$type>,)+ }
        impl $name {
            /// Adds one row.
            #[allow(clippy::too_many_arguments)] // one argument a column
            pub fn push(&mut self, $($field: $type,)+) { $(self.$field.push($field);)+ }

            /// The columns with their names, in the order in which they are declared.
            pub fn into_columns(self) -> Vec<(&'static str, Column)> {
                vec![$((stringify!($field), self.$field.into()),)+]
            }
        }
    };
}

columns! {
    /// Every change of cwnd or ssthresh.
    CwndTrace {
        /// Flow id.
        flow: u32,
        /// Picoseconds.
        time_ps: u64,
        /// cwnd, octets.
        cwnd: f64,
        /// ssthresh, octets.
        ssthresh: f64,
    }
}

/// What a row of the sequence trace is.
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

columns! {
    /// Segments sent and acknowledgements received, at the sender.
    SequenceTrace {
        /// Flow id.
        flow: u32,
        /// Picoseconds.
        time_ps: u64,
        /// A [`SequenceEvent`].
        event: u8,
        /// First octet of the segment, or the octet acknowledged up to.
        sequence: u64,
        /// Octets of the segment; 0 for an acknowledgement.
        length: u32,
    }
}

columns! {
    /// Sampled queue lengths.
    QueueTrace {
        /// Link id of the port.
        port: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Queue length, cells.
        cells: u32,
    }
}

columns! {
    /// Sampled occupancy by VC.
    VcQueueTrace {
        /// Link id of the port.
        port: u32,
        /// VC id.
        vc: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Occupancy, cells.
        cells: u32,
    }
}

columns! {
    /// Frames that lost cells, at the first cell each lost.
    DiscardTrace {
        /// Link id of the port.
        port: u32,
        /// VC id.
        vc: u32,
        /// Flow id; [`DiscardTrace::NO_FLOW`] for a cell source.
        flow: u32,
        /// Picoseconds.
        time_ps: u64,
        /// A [`crate::DiscardReason`], as its number.
        reason: u8,
    }
}

impl DiscardTrace {
    /// What stands for the flow where cells belong to none.
    pub const NO_FLOW: u32 = u32::MAX;
}

columns! {
    /// Finished transfers.
    TransferTrace {
        /// Flow id.
        flow: u32,
        /// When the application handed it over, picoseconds.
        start_ps: u64,
        /// When its last octet was acknowledged, picoseconds.
        end_ps: u64,
        /// Octets.
        octets: u64,
    }
}

columns! {
    /// Files of web pages that were received, whole and in order.
    FileTrace {
        /// Flow id.
        flow: u32,
        /// Which of the flow's pages it belongs to, from 0.
        page: u32,
        /// When the client handed the request to its TCP, picoseconds.
        requested_ps: u64,
        /// When the last octet of the file had arrived in order, picoseconds.
        received_ps: u64,
        /// Octets of the file.
        octets: u64,
    }
}

columns! {
    /// Each queue of the sampled ports: what it has sent so far, and what it holds.
    ServiceTrace {
        /// Link id of the port.
        port: u32,
        /// Place of the queue at the port.
        queue: u32,
        /// Picoseconds.
        time_ps: u64,
        /// Cells departed since the start of the run.
        departed: u64,
        /// Queue length, cells.
        cells: u32,
    }
}

columns! {
    /// Every change of ACR or of the ER last received, at the sources of ABR VCs.
    AcrTrace {
        /// Link id of the port where the source is.
        port: u32,
        /// VC id.
        vc: u32,
        /// Picoseconds.
        time_ps: u64,
        /// ACR, cells a second.
        acr: f64,
        /// ER of the last backward RM cell, PCR before the first; cells a second.
        er: f64,
    }
}

columns! {
    /// Every averaging interval of a port that controls rates, at its end; rates in cells a second.
    RateControlTrace {
        /// Link id of the port.
        port: u32,
        /// Picoseconds.
        time_ps: u64,
        /// z: what came of ABR VCs over what was aimed at; endless where nothing was.
        overload: f64,
        /// Share of a VC; where shares are weighted, beyond its MCR and of weight 1.
        fair_share: f64,
        /// What is aimed at.
        target: f64,
        /// ABR cells in the port.
        cells: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_hands_on_its_columns_by_the_names_of_its_fields() {
        let mut trace = QueueTrace::default();
        trace.push(3, 10, 7);
        trace.push(3, 20, 9);
        assert_eq!(
            trace.into_columns(),
            [
                ("port", Column::U32(vec![3, 3])),
                ("time_ps", Column::U64(vec![10, 20])),
                ("cells", Column::U32(vec![7, 9])),
            ]
        );
    }
}
