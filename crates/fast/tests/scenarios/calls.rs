//! Sources that send in bursts of a list, as calls do that come and go.

use super::{Dice, MICROSECOND, scenario, some_datagrams};
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario with cell sources, of which some, one at least, have their bursts listed; and calls that are counted.
pub fn calls(seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "calls"));
    let mut spec = scenario(seed);
    let is_list = |source: &SourceSpec| {
        matches!(
            source.pattern,
            SourcePattern::Trace { .. } | SourcePattern::Echo { .. }
        )
    };
    spec.sources.retain(|source| !is_list(source));
    spec.records.delay_sources =
        some_datagrams(&spec, &mut Dice(Stream::new(seed, "delays of the rest")));
    if spec.sources.is_empty() {
        return None;
    }
    let certain = dice.below(spec.sources.len() as u64) as usize;
    for (at, source) in spec.sources.iter_mut().enumerate() {
        if at == certain || dice.one_in(2) {
            source.pattern = bursts(source.cell_interval_ps, spec.duration_ps, &mut dice);
        }
    }
    spec.calls = vec![counted(&spec, &mut dice)];
    Some(spec)
}

/// Bursts up to the end of the run or beyond, some without a pause between them; or none at all.
fn bursts(interval: u64, duration: u64, dice: &mut Dice) -> SourcePattern {
    let (mut begins_ps, mut lengths_ps) = (Vec::new(), Vec::new());
    let lengths = [1, interval, 3 * interval + 1, 300 * MICROSECOND, duration];
    let mut at = dice.pick(&[0, interval, 300 * MICROSECOND]);
    let is_silent = dice.one_in(8);
    while !is_silent && at < duration + 2 * interval && begins_ps.len() < 2_000 {
        let length = dice.pick(&lengths);
        begins_ps.push(at);
        lengths_ps.push(length);
        at += length + dice.pick(&[0, 1, interval, 10 * interval, 300 * MICROSECOND]);
    }
    SourcePattern::Bursts {
        begins_ps,
        lengths_ps,
    }
}

fn counted(spec: &NetworkSpec, dice: &mut Dice) -> CallsSpec {
    let (end, links) = (spec.duration_ps + 1, spec.links.len() as u64);
    let mut begins_ps: Vec<u64> = (0..dice.below(40)).map(|_| dice.below(end)).collect();
    begins_ps.sort_unstable();
    let again = dice.one_in(2);
    CallsSpec {
        are_again: begins_ps
            .iter()
            .filter(|_| again)
            .map(|_| dice.one_in(3))
            .collect(),
        name: "voice".into(),
        lengths_ps: begins_ps.iter().map(|_| dice.below(end)).collect(),
        blocked_at: begins_ps
            .iter()
            .map(|_| dice.one_in(3).then(|| dice.below(links) as u32))
            .collect(),
        begins_ps,
    }
}
