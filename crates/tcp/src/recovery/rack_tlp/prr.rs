//! Proportional rate reduction: how many segments an ACK lets out while cwnd comes down to ssthresh (RFC 6937bis;
//! Linux tcp_cwnd_reduction).

/// One reduction. In segments.
#[derive(Clone, Debug, Default)]
pub(super) struct Reduction {
    /// RecoverFS: cwnd as it began (Linux's prior_cwnd).
    before: u64,
    /// prr_delivered: those that have arrived since.
    delivered: u64,
    /// prr_out: those that have been sent since.
    out: u64,
}

impl Reduction {
    /// Begins with cwnd at `before`.
    pub(super) fn new(before: u64) -> Self {
        Reduction {
            before,
            delivered: 0,
            out: 0,
        }
    }

    /// `count` segments have been sent.
    pub(super) fn on_sent(&mut self, count: u64) {
        self.out += count;
    }

    /// An ACK tells of `delivered` segments more: cwnd for what follows, with `pipe` in the network. `is_safe`: it
    /// acknowledges new data and no further loss has been found (SafeACK).
    pub(super) fn cwnd(
        &mut self,
        pipe: u64,
        ssthresh: u64,
        delivered: u64,
        is_safe: bool,
    ) -> Option<u64> {
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let allowed = if pipe > ssthresh {
            (ssthresh * self.delivered)
                .div_ceil(self.before.max(1))
                .saturating_sub(self.out)
        } else {
            let back = self.delivered.saturating_sub(self.out).max(delivered);
            (back + u64::from(is_safe)).min(ssthresh - pipe)
        };
        // The fast retransmit goes out whatever the rest says.
        let at_least = u64::from(self.out == 0);
        Some(pipe + allowed.max(at_least))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_of_twenty_comes_down_to_ten_by_a_segment_for_every_two() {
        // RFC 6937 section 4's example: 20 in flight, the first lost. ssthresh = 10, so ceil(10 d / 20) have gone
        // out after d deliveries; at the first the retransmission does.
        let mut prr = Reduction::new(20);
        let (mut pipe, mut out) = (16, Vec::new()); // one lost, three SACKed
        let mut cwnd = prr.cwnd(pipe, 10, 3, false).unwrap(); // ceil(30 / 20) = 2
        for _ in 0..12 {
            let sent = cwnd - pipe;
            out.push(sent);
            prr.on_sent(sent);
            pipe = pipe + sent - 1;
            cwnd = prr.cwnd(pipe, 10, 1, false).unwrap();
        }
        assert_eq!(out, [2, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
        assert!(pipe >= 10);
    }

    #[test]
    fn below_ssthresh_as_many_go_out_as_arrive_and_one_more_where_that_is_safe() {
        // 20 in flight, 16 lost: pipe falls to 1 with the third SACK.
        let mut prr = Reduction::new(20);
        assert_eq!(prr.cwnd(1, 10, 3, false), Some(4));
        prr.on_sent(3);
        assert_eq!(prr.cwnd(3, 10, 1, false), Some(4));
        prr.on_sent(1);
        assert_eq!(prr.cwnd(3, 10, 1, true), Some(5));
        prr.on_sent(2);
        // No further than ssthresh.
        assert_eq!(prr.cwnd(9, 10, 4, true), Some(10));
    }

    #[test]
    fn the_first_goes_out_though_nothing_else_may() {
        let mut prr = Reduction::new(100);
        assert_eq!(prr.cwnd(97, 1, 1, false), Some(98)); // ceil(1 / 100) = 1
        assert_eq!(prr.cwnd(96, 1, 0, false), None);
        prr.on_sent(1);
        assert_eq!(prr.cwnd(97, 1, 1, false), Some(97));
    }
}
