//! A filter of acknowledgements: a newer one takes the place of an older one that waits in the same queue.
//!
//! RFC 3449, section 5.2.1. Acknowledgements are cumulative, so an older one says nothing that a newer one does not, except
//! what it says beside its number: no filter may remove what carries data, flags, or SACK blocks, nor duplicates, which are the
//! signal of a loss, nor a change of ECN-Echo.

/// The fields that a filter reads in a pure acknowledgement: a segment with no data, no SACK blocks
/// and no flag beside ACK and ECN-Echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PureAck {
    /// Which of the flow's connections it belongs to.
    pub connection: u32,
    /// Next octet expected.
    pub acknowledgement: u64,
    /// ECN-Echo.
    pub ece: bool,
}

impl PureAck {
    /// Returns whether nothing is lost if it takes the place of `older`, the last waiting
    /// acknowledgement of the same flow.
    pub fn replaces(&self, older: &PureAck) -> bool {
        self.connection == older.connection
            && self.ece == older.ece
            && self.acknowledgement > older.acknowledgement
    }
}

/// The filter of a queue. It knows of each flow, by number, the newest acknowledgement that has come.
#[derive(Clone, Debug, Default)]
pub struct AckFilter {
    /// By flow number: the connection, and the octet expected.
    newest: Vec<Option<(u32, u64)>>,
}

impl AckFilter {
    /// `ack` of the flow with number `flow` has come: itself if it is newer than all before it, and may replace others and
    /// be replaced; none of a duplicate, which stays.
    pub fn on_ack(&mut self, flow: u32, ack: PureAck) -> Option<PureAck> {
        let at = flow as usize;
        if self.newest.len() <= at {
            self.newest.resize(at + 1, None);
        }
        let newest = &mut self.newest[at];
        let own = (ack.connection, ack.acknowledgement);
        let is_newer = newest.is_none_or(|newest| newest < own);
        if is_newer {
            *newest = Some(own);
        }
        is_newer.then_some(ack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acknowledgement: u64) -> PureAck {
        PureAck {
            connection: 0,
            acknowledgement,
            ece: false,
        }
    }

    #[test]
    fn duplicates_neither_replace_nor_are_replaced() {
        let mut filter = AckFilter::default();
        let seen = [1_000, 1_000, 3_000, 2_000, 3_000].map(|n| filter.on_ack(4, ack(n)).is_some());
        assert_eq!(seen, [true, false, true, false, false]);
        // Of another flow, and of the flow's next connection, it is the first.
        assert!(filter.on_ack(2, ack(1_000)).is_some());
        let next = PureAck {
            connection: 1,
            ..ack(1_000)
        };
        assert!(filter.on_ack(4, next).is_some());
    }

    #[test]
    fn an_acknowledgement_replaces_an_older_one_that_says_the_same_of_marks() {
        let older = ack(1_000);
        assert!(ack(2_000).replaces(&older));
        assert!(!older.replaces(&older));
        let others = [
            PureAck {
                ece: true,
                ..ack(2_000)
            },
            PureAck {
                connection: 1,
                ..ack(2_000)
            },
        ];
        assert_eq!(others.map(|other| other.replaces(&older)), [false; 2]);
    }
}
