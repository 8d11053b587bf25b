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
}

/// Declares a trace: a struct of columns with a method that adds one row.
macro_rules! columns {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $($(#[$field_doc])* pub $field: Vec<$type>,)+ }
        impl $name {
            /// Adds one row.
            #[allow(clippy::too_many_arguments)] // one argument a column
            pub fn push(&mut self, $($field: $type,)+) { $(self.$field.push($field);)+ }
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
        /// Flow id.
        flow: u32,
        /// Picoseconds.
        time_ps: u64,
        /// A [`crate::DiscardReason`], as its number.
        reason: u8,
    }
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
