//! Long-term bandwidth: two intervals in a row, each with a fifth lost and about the same bandwidth, are a policer's (lt_* of
//! Linux's tcp_bbr.c).

use super::{UNIT, octets_per_second};
use crate::congestion::Path;
use crate::congestion::path_model::{BW_UNIT, US_PER_MS};

/// bbr_lt_intvl_min_rtts: rounds of an interval of the long-term bandwidth, and four times as many at most.
const LT_ROUNDS: u32 = 4;
/// bbr_lt_loss_thresh: lost of what is delivered, in 256ths, from which on an interval looks policed.
const LT_LOSS: u64 = 50;
/// bbr_lt_bw_ratio and bbr_lt_bw_diff: two intervals agree with so much of a difference, in 256ths, or octets a second.
const LT_RATIO: u64 = UNIT / 8;
const LT_DIFFERENCE: u64 = 4_000 / 8;
/// bbr_lt_bw_max_rtts: rounds for which the long-term bandwidth is used.
const LT_USED_ROUNDS: u32 = 48;
/// The state of the long-term bandwidth (struct bbr).
#[derive(Clone, Debug, Default)]
pub(super) struct LongTerm {
    bandwidth: u64,
    is_used: bool,
    is_sampling: bool,
    rounds: u32,
    began_ms: u64,
    began_delivered: u64,
    began_lost: u64,
}

/// An ACK's view of a round.
pub(super) struct Round {
    pub(super) is_start: bool,
    /// True if it counts for the time in which the long-term bandwidth is used.
    pub(super) is_used: bool,
    pub(super) losses: u64,
    pub(super) is_app_limited: bool,
}

/// The results so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Nothing,
    /// A policer: its bandwidth is used from now on.
    Policer,
    /// It has been used for long enough.
    End,
}

impl LongTerm {
    /// lt_bw, in use or not.
    pub(super) fn bandwidth(&self) -> u64 {
        self.bandwidth
    }

    /// lt_use_bw.
    pub(super) fn is_used(&self) -> bool {
        self.is_used
    }

    /// bbr_lt_bw_sampling.
    pub(super) fn sample(&mut self, path: &Path, round: &Round) -> Finding {
        if self.is_used {
            self.rounds += u32::from(round.is_used);
            if round.is_used && self.rounds >= LT_USED_ROUNDS {
                self.reset(path);
                return Finding::End;
            }
            return Finding::Nothing;
        }
        // Not before the first loss, so that the policer's tokens are gone.
        if !self.is_sampling {
            if round.losses == 0 {
                return Finding::Nothing;
            }
            self.begin(path);
            self.is_sampling = true;
        }
        self.rounds += u32::from(round.is_start);
        if round.is_app_limited || self.rounds > 4 * LT_ROUNDS {
            self.reset(path);
            return Finding::Nothing;
        }
        if self.rounds < LT_ROUNDS || round.losses == 0 {
            return Finding::Nothing;
        }
        let lost = path.lost - self.began_lost;
        let delivered = path.delivered - self.began_delivered;
        let took_ms = path.delivered_at / US_PER_MS - self.began_ms;
        if delivered == 0 || lost * UNIT < LT_LOSS * delivered || took_ms == 0 {
            return Finding::Nothing;
        }
        self.end_interval(path, delivered * BW_UNIT / (took_ms * US_PER_MS))
    }

    /// bbr_reset_lt_bw_sampling.
    pub(super) fn reset(&mut self, path: &Path) {
        *self = LongTerm::default();
        self.begin(path);
    }

    /// bbr_reset_lt_bw_sampling_interval.
    fn begin(&mut self, path: &Path) {
        self.began_ms = path.delivered_at / US_PER_MS;
        self.began_delivered = path.delivered;
        self.began_lost = path.lost;
        self.rounds = 0;
    }

    /// bbr_lt_bw_interval_done.
    fn end_interval(&mut self, path: &Path, bandwidth: u64) -> Finding {
        let difference = bandwidth.abs_diff(self.bandwidth);
        let agrees = difference * UNIT <= LT_RATIO * self.bandwidth
            || octets_per_second(path.mss, difference, UNIT) <= LT_DIFFERENCE;
        if self.bandwidth > 0 && agrees {
            self.bandwidth = bandwidth.midpoint(self.bandwidth);
            self.is_used = true;
            self.rounds = 0;
            return Finding::Policer;
        }
        self.bandwidth = bandwidth;
        self.begin(path);
        Finding::Nothing
    }
}
