//! How a video client chooses the rate of its next segment.

use skycell_spec::{VideoChoice, VideoSpec};
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;

/// Picoseconds in a second.
const SECOND: f64 = 1e12;

/// The segments that came last: octets, and the time from the request to the last of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    segments: VecDeque<(Octets, SimTime)>,
}

impl History {
    /// A segment has come.
    pub(crate) fn add(&mut self, octets: Octets, took: SimTime, spec: &VideoSpec) {
        self.segments.push_back((octets, took));
        if self.segments.len() > spec.rate_segments as usize {
            self.segments.pop_front();
        }
    }

    /// Harmonic mean of their rates, thousandths of a bit a second; none without a segment.
    fn mean(&self) -> Option<f64> {
        let inverse = |&(octets, took): &(Octets, SimTime)| took.0 as f64 / octets as f64;
        let sum: f64 = self.segments.iter().map(inverse).sum();
        let count = self.segments.len() as f64;
        (sum > 0.0).then(|| count / sum * 8.0 * 1000.0 * SECOND)
    }
}

/// The rung of the next segment, with `buffer` of video left and `last` before it.
pub(crate) fn choose(
    spec: &VideoSpec,
    buffer: SimTime,
    last: Option<usize>,
    history: &History,
) -> usize {
    match spec.choice {
        VideoChoice::Rate => by_rate(spec, history),
        VideoChoice::Bola => bola(spec, buffer),
        VideoChoice::Bba => bba(spec, buffer, last.unwrap_or(0)),
    }
}

fn by_rate(spec: &VideoSpec, history: &History) -> usize {
    let Some(mean) = history.mean() else {
        return 0;
    };
    let below = |&rate: &u64| rate as f64 <= spec.rate_part * mean;
    spec.ladder_millibps
        .partition_point(below)
        .saturating_sub(1)
}

/// Spiteri, Urgaonkar and Sitaraman, BOLA, 2016 (arXiv 1601.06748), with the parameters of dash.js's `BolaRule`: the rung
/// with the largest (V_p (u + gp) - Q) / r.
fn bola(spec: &VideoSpec, buffer: SimTime) -> usize {
    let ladder = &spec.ladder_millibps;
    let utility = |rung: usize| libm::log(ladder[rung] as f64 / ladder[0] as f64) + 1.0;
    let least = spec.bola_least_ps as f64 / SECOND;
    let target = spec.buffer_ps as f64 / SECOND;
    let top = ladder.len() - 1;
    if top == 0 {
        return 0;
    }
    let gp = (utility(top) - 1.0) / (target / least - 1.0);
    let vp = least / gp;
    let level = buffer.0 as f64 / SECOND;
    let score = |rung: usize| (vp * (utility(rung) + gp) - level) / ladder[rung] as f64;
    let mut best = 0;
    for rung in 1..=top {
        if score(rung) > score(best) {
            best = rung;
        }
    }
    best
}

/// Huang, Johari, McKeown, Trunnell and Watson, A buffer-based approach to rate adaptation, SIGCOMM 2014, algorithm 1.
fn bba(spec: &VideoSpec, buffer: SimTime, last: usize) -> usize {
    let ladder = &spec.ladder_millibps;
    let top = ladder.len() - 1;
    let (reservoir, cushion) = (spec.bba_reservoir_ps, spec.bba_cushion_ps);
    if buffer.0 <= reservoir {
        return 0;
    }
    if buffer.0 >= reservoir + cushion {
        return top;
    }
    let part = (buffer.0 - reservoir) as f64 / cushion as f64;
    let (lowest, highest) = (ladder[0] as f64, ladder[top] as f64);
    let rate = lowest + part * (highest - lowest);
    let above = ladder[(last + 1).min(top)] as f64;
    let below = ladder[last.saturating_sub(1)] as f64;
    if rate >= above {
        let lower = ladder.partition_point(|&rung| (rung as f64) < rate);
        lower.saturating_sub(1)
    } else if rate <= below {
        let higher = ladder.partition_point(|&rung| rung as f64 <= rate);
        higher.min(top)
    } else {
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::video::tests::spec;

    fn ms(ms: u64) -> SimTime {
        SimTime::from_millis(ms)
    }

    #[test]
    fn bola_goes_up_where_the_scores_of_two_rungs_are_equal() {
        // u = 1, 1.916, 2.609; gp = 1.609 / 2; V_p = 10 s / gp = 12.43 s. Rungs of 1 and 2.5 Mbit/s are equal at
        // (2.5 V_p (1 + gp) - V_p (1.916 + gp)) / 1.5 = 14.84 s, those of 2.5 and 5 Mbit/s at 25.20 s.
        let spec = spec(
            VideoChoice::Bola,
            &[1_000_000_000, 2_500_000_000, 5_000_000_000],
        );
        let rungs = [0, 14_830, 14_850, 25_190, 25_210, 30_000].map(|at| bola(&spec, ms(at)));
        assert_eq!(rungs, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn bba_follows_its_line_and_stays_between_two_rungs() {
        // From 1 Mbit/s at 5 s to 5 Mbit/s at 15 s: 2.5 Mbit/s at 8.75 s.
        let spec = spec(
            VideoChoice::Bba,
            &[1_000_000_000, 2_500_000_000, 5_000_000_000],
        );
        let chosen = |at, last| bba(&spec, ms(at), last);
        assert_eq!([chosen(5_000, 2), chosen(15_000, 0)], [0, 2]);
        assert_eq!([chosen(8_740, 0), chosen(8_760, 0)], [0, 1]);
        // From 2.5 Mbit/s it goes down only where the line is at 1 Mbit/s.
        assert_eq!([chosen(5_100, 1), chosen(5_000, 1)], [1, 0]);
        // From the highest it goes down where the line is at 2.5 Mbit/s, to the lowest rung above the line.
        assert_eq!([chosen(9_000, 2), chosen(8_700, 2)], [2, 1]);
    }

    #[test]
    fn rates_are_averaged_harmonically_and_the_oldest_is_forgotten() {
        let spec = spec(
            VideoChoice::Rate,
            &[1_000_000_000, 2_500_000_000, 5_000_000_000],
        );
        let mut history = History::default();
        assert_eq!(by_rate(&spec, &history), 0);
        // 1 Mbit in 1 s and 1 Mbit in 0.2 s: 2 / (1 + 1/5) = 1.667 Mbit/s.
        history.add(125_000, ms(1_000), &spec);
        history.add(125_000, ms(200), &spec);
        assert!((history.mean().expect("two") / 1e9 - 5.0 / 3.0).abs() < 1e-9);
        assert_eq!(by_rate(&spec, &history), 0);
        (0..4).for_each(|_| history.add(125_000, ms(180), &spec));
        // 5.556 Mbit/s, of which 0.9 is 5 Mbit/s.
        assert_eq!(by_rate(&spec, &history), 2);
        history.add(125_000, ms(181), &spec);
        assert_eq!(by_rate(&spec, &history), 1);
    }
}
