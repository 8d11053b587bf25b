//! Aggregation of ACKs: how many more segments are acknowledged than the bandwidth delivers
//! (ack_epoch_* and extra_acked* of Linux's tcp_bbr.c).

use crate::congestion::Path;

/// bbr_extra_acked_win_rtts: rounds of one of the two windows of aggregation.
const AGGREGATION_ROUNDS: u32 = 5;
/// bbr_ack_epoch_acked_reset_thresh.
const AGGREGATION_RESET: u64 = 1 << 20;
/// bbr_extra_acked_max_us.
const AGGREGATION_MAX_US: u64 = 100_000;
/// The state of the estimate.
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    pub(super) epoch_began: u64,
    pub(super) epoch_acked: u64,
    pub(super) extra: [u64; 2],
    window: usize,
    rounds: u32,
}

impl Aggregation {
    /// With an epoch that begins at `now`.
    pub(super) fn from(now: u64) -> Self {
        Aggregation {
            epoch_began: now,
            ..Aggregation::default()
        }
    }

    pub(super) fn begin_epoch(&mut self, now: u64) {
        self.epoch_began = now;
        self.epoch_acked = 0;
    }

    /// bbr_update_ack_aggregation.
    pub(super) fn update(&mut self, path: &Path, bandwidth: u64, acked: u64, is_round_start: bool) {
        if is_round_start {
            self.rounds += 1;
            if self.rounds >= AGGREGATION_ROUNDS {
                self.rounds = 0;
                self.window = 1 - self.window;
                self.extra[self.window] = 0;
            }
        }
        let epoch = path.delivered_at - self.epoch_began;
        let mut expected = ((u128::from(bandwidth) * u128::from(epoch)) >> 24) as u64;
        if self.epoch_acked <= expected || self.epoch_acked + acked >= AGGREGATION_RESET {
            self.begin_epoch(path.delivered_at);
            expected = 0;
        }
        self.epoch_acked = (self.epoch_acked + acked).min(AGGREGATION_RESET - 1);
        let extra = (self.epoch_acked - expected).min(path.cwnd);
        self.extra[self.window] = self.extra[self.window].max(extra);
    }

    /// bbr_ack_aggregation_cwnd.
    pub(super) fn cwnd(&self, bandwidth: u64) -> u64 {
        let most = (bandwidth * AGGREGATION_MAX_US) >> 24;
        self.extra[0].max(self.extra[1]).min(most)
    }
}
