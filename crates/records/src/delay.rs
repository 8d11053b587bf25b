//! Cell transfer delay of a VC, and of a class: exact mean, least and largest, quantiles from a histogram.

use serde::Serialize;
use skycell_spec::{NetworkSpec, ServiceClass};
use std::collections::BTreeMap;

/// Bits of a value that the histogram keeps: a bucket is at most 1/128 of what it counts wide.
const KEPT_BITS: u32 = 8;

/// Cell transfer delays: each from the departure of a cell's last bit from its VC's first port to its
/// arrival at the VC's end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DelayStatistics {
    /// Cells that arrived.
    pub cells: u64,
    /// Mean, picoseconds, exact.
    pub mean_ps: f64,
    /// Least, picoseconds, exact.
    pub min_ps: u64,
    /// Largest, picoseconds, exact.
    pub max_ps: u64,
    /// Median, picoseconds.
    pub p50_ps: u64,
    /// 90th percentile, picoseconds.
    pub p90_ps: u64,
    /// 99th percentile, picoseconds.
    pub p99_ps: u64,
    /// 99.9th percentile, picoseconds.
    pub p999_ps: u64,
}

/// Cell transfer delay of a VC.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellDelayRecord {
    /// VC id.
    pub vc: u32,
    /// Delay of a cell through empty ports, picoseconds: the delays of all links (the least delay
    /// of a time-varying link; for a rerouted VC only those of its first and its shortest last
    /// link), and the cell times of all but the first. It is 0 for a VC by label.
    pub fixed_ps: u64,
    /// The delays of its cells.
    #[serde(flatten)]
    pub delay: DelayStatistics,
    /// The delays themselves.
    #[serde(skip)]
    pub delays: CellDelays,
}

/// How long the cells of a VC stayed in a port: from a cell's arrival to the departure of its last bit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CellStayRecord {
    /// VC id.
    pub vc: u32,
    /// The stays of its cells that left.
    #[serde(flatten)]
    pub stay: DelayStatistics,
    /// The stays themselves.
    #[serde(skip)]
    pub stays: CellDelays,
}

impl CellStayRecord {
    /// Of cells of VC `vc` that stayed so long.
    pub fn new(vc: u32, stays: &CellDelays) -> Self {
        CellStayRecord {
            vc,
            stay: stays.record(vc).delay,
            stays: stays.clone(),
        }
    }
}

/// Cell transfer delay of the cells of a service class, of its VCs whose delay is measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassDelayRecord {
    /// The class.
    pub class: ServiceClass,
    /// Ids of those VCs.
    pub vcs: Vec<u32>,
    /// The delays of all their cells.
    #[serde(flatten)]
    pub delay: DelayStatistics,
    /// Median of what cells take beyond the fixed part of their own VC, picoseconds.
    pub variable_p50_ps: u64,
    /// 90th percentile of that, picoseconds.
    pub variable_p90_ps: u64,
    /// 99th percentile of that, picoseconds.
    pub variable_p99_ps: u64,
    /// 99.9th percentile of that, picoseconds.
    pub variable_p999_ps: u64,
}

/// The records of measured VCs (ids ascending), and those of their classes, in the order of the classes.
pub fn delay_records<'a>(
    measured: impl Iterator<Item = (u32, &'a CellDelays)>,
    spec: &NetworkSpec,
) -> (Vec<CellDelayRecord>, Vec<ClassDelayRecord>) {
    let mut of_vcs = Vec::new();
    let mut by_class: BTreeMap<ServiceClass, (Vec<u32>, Vec<&CellDelays>)> = BTreeMap::new();
    for (vc, delays) in measured {
        of_vcs.push(delays.record(vc));
        let class = spec.vcs[vc as usize].class;
        let of_class = by_class.entry(class).or_default();
        of_class.0.push(vc);
        of_class.1.push(delays);
    }
    let of_classes = by_class
        .into_iter()
        .map(|(class, (vcs, delays))| class_record(class, vcs, &delays));
    (of_vcs, of_classes.collect())
}

fn class_record(class: ServiceClass, vcs: Vec<u32>, delays: &[&CellDelays]) -> ClassDelayRecord {
    let variable = Merged::of(delays, |_| 0);
    ClassDelayRecord {
        class,
        vcs,
        delay: statistics(delays),
        variable_p50_ps: variable.quantile(500),
        variable_p90_ps: variable.quantile(900),
        variable_p99_ps: variable.quantile(990),
        variable_p999_ps: variable.quantile(999),
    }
}

fn statistics(vcs: &[&CellDelays]) -> DelayStatistics {
    let whole = Merged::of(vcs, |vc| vc.fixed_ps);
    let sum_ps: u128 = vcs.iter().map(|vc| vc.sum_ps).sum();
    let arrived = vcs.iter().filter(|vc| vc.cells > 0);
    DelayStatistics {
        cells: whole.cells,
        mean_ps: sum_ps as f64 / whole.cells.max(1) as f64,
        min_ps: arrived.map(|vc| vc.min_ps).min().unwrap_or(0),
        max_ps: vcs.iter().map(|vc| vc.max_ps).max().unwrap_or(0),
        p50_ps: whole.quantile(500),
        p90_ps: whole.quantile(900),
        p99_ps: whole.quantile(990),
        p999_ps: whole.quantile(999),
    }
}

/// Delays of VCs: ends of buckets, ascending, and the cells in each.
struct Merged {
    counts: BTreeMap<u64, u64>,
    cells: u64,
}

impl Merged {
    /// Of what cells take beyond the fixed part and `base` together.
    fn of(vcs: &[&CellDelays], base: impl Fn(&CellDelays) -> u64) -> Self {
        let mut counts = BTreeMap::new();
        for vc in vcs {
            for (bucket, count) in vc.filled() {
                // The largest of the VC may lie below the end of its bucket.
                let end = end_of(bucket).min(vc.max_ps - vc.fixed_ps);
                *counts.entry(base(vc) + end).or_insert(0) += count;
            }
        }
        let cells = counts.values().sum();
        Merged { counts, cells }
    }

    /// Smallest delay that at least `permille` of a thousand cells do not exceed, to the end of its
    /// bucket; 0 without cells.
    fn quantile(&self, permille: u64) -> u64 {
        // Nearest rank: the ceil(permille / 1000 * cells)-th smallest.
        let rank = (u128::from(self.cells) * u128::from(permille)).div_ceil(1_000);
        let mut seen = 0;
        let reached = self.counts.iter().find(|(_, count)| {
            seen += u128::from(**count);
            seen >= rank
        });
        reached.map_or(0, |(&end, _)| end)
    }
}

/// Gathers the cell transfer delays of a VC.
///
/// The histogram counts what a delay has beyond the fixed part: up to 255 ps each value of its own,
/// above that in 128 buckets an octave; a quantile is the upper end of its bucket, so it is at most
/// 1/128 of the variable part too large and never above the largest delay.
#[derive(Clone, Debug, Default)]
pub struct CellDelays {
    fixed_ps: u64,
    cells: u64,
    sum_ps: u128,
    min_ps: u64,
    max_ps: u64,
    /// Buckets in ascending order with their counts, as long as there are few of them: of many thousand
    /// hosts each has sent a few packets. They move to `counts` when they are more.
    few: Vec<(u32, u32)>,
    /// Index of the one of `few` that was counted last, which as a rule is the next.
    latest: usize,
    /// Bucket of the first of `counts`.
    first: usize,
    /// Counts of buckets that follow each other; empty as long as there are few.
    counts: Vec<u64>,
}

/// Buckets that are kept one by one: as large as 64 that follow each other.
const MOST_FEW: usize = 64;

impl CellDelays {
    /// For a VC whose cells take `fixed_ps` through empty ports.
    pub fn new(fixed_ps: u64) -> Self {
        CellDelays {
            fixed_ps,
            min_ps: u64::MAX,
            ..CellDelays::default()
        }
    }

    /// Returns whether no cell has arrived.
    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// A cell has arrived after `delay_ps`, which is at least the fixed part.
    pub fn add(&mut self, delay_ps: u64) {
        self.add_many(delay_ps, 1);
    }

    /// `cells` cells have arrived after `delay_ps` each.
    pub fn add_many(&mut self, delay_ps: u64, cells: u64) {
        self.cells += cells;
        self.sum_ps += u128::from(delay_ps) * u128::from(cells);
        self.min_ps = self.min_ps.min(delay_ps);
        self.max_ps = self.max_ps.max(delay_ps);
        let bucket = bucket_of(delay_ps - self.fixed_ps);
        match self.counts.get_mut(bucket.wrapping_sub(self.first)) {
            Some(count) => *count += cells,
            None => self.add_outside(bucket, cells),
        }
    }

    /// The same in a bucket that is not among `counts`, or as long as there are few.
    #[inline(never)]
    fn add_outside(&mut self, bucket: usize, cells: u64) {
        if self.counts.is_empty() && self.is_added_to_few(bucket, cells) {
            return;
        }
        for (bucket, count) in std::mem::take(&mut self.few) {
            self.add_to_many(bucket as usize, u64::from(count));
        }
        self.add_to_many(bucket, cells);
    }

    /// Adds it to `few` if there is room; returns whether there was.
    fn is_added_to_few(&mut self, bucket: usize, cells: u64) -> bool {
        let sought = match self.few.get(self.latest) {
            Some(&(known, _)) if known as usize == bucket => Ok(self.latest),
            _ => self
                .few
                .binary_search_by_key(&bucket, |&(known, _)| known as usize),
        };
        self.latest = sought.unwrap_or_else(|index| index);
        let Ok(cells) = u32::try_from(cells) else {
            return false;
        };
        match sought {
            Ok(index) => match self.few[index].1.checked_add(cells) {
                Some(count) => self.few[index].1 = count,
                None => return false,
            },
            Err(_) if self.few.len() == MOST_FEW => return false,
            Err(index) => self.few.insert(index, (bucket as u32, cells)),
        }
        true
    }

    /// Every bucket that has a count, ascending.
    fn filled(&self) -> impl Iterator<Item = (usize, u64)> {
        let few = self.few.iter();
        let many = self.counts.iter().enumerate();
        few.map(|&(bucket, count)| (bucket as usize, u64::from(count)))
            .chain(many.map(|(index, &count)| (self.first + index, count)))
            .filter(|&(_, count)| count > 0)
    }

    fn add_to_many(&mut self, bucket: usize, cells: u64) {
        if bucket < self.first || self.counts.is_empty() {
            let lacking = match self.counts.len() {
                0 => 0,
                _ => self.first - bucket,
            };
            self.counts.splice(0..0, std::iter::repeat_n(0, lacking));
            self.first = bucket;
        }
        let index = bucket - self.first;
        if index >= self.counts.len() {
            self.counts.resize(index + 1, 0);
        }
        self.counts[index] += cells;
    }

    /// `each` cells have arrived after `delay_ps`, as many after `step_ps` more, and so on `count` times.
    pub fn add_series(&mut self, delay_ps: u64, step_ps: u64, count: u64, each: u64) {
        let (mut delay, mut left) = (delay_ps, count);
        while left > 0 {
            let beyond = delay - self.fixed_ps;
            let in_bucket = match step_ps {
                0 => left,
                _ => left.min((end_of(bucket_of(beyond)) - beyond) / step_ps + 1),
            };
            // All of them at the first, and what the others are later.
            self.add_many(delay, in_bucket * each);
            let steps = u128::from(in_bucket) * u128::from(in_bucket - 1) / 2;
            self.sum_ps += steps * u128::from(step_ps) * u128::from(each);
            self.max_ps = self.max_ps.max(delay + (in_bucket - 1) * step_ps);
            delay += in_bucket * step_ps;
            left -= in_bucket;
        }
    }

    /// Returns the value that at least `permille` of a thousand have not exceeded, rounded up to
    /// the end of its bucket.
    pub(crate) fn quantile(&self, permille: u64) -> u64 {
        Merged::of(&[self], |own| own.fixed_ps).quantile(permille)
    }

    /// The record of VC `vc`.
    pub fn record(&self, vc: u32) -> CellDelayRecord {
        CellDelayRecord {
            vc,
            fixed_ps: self.fixed_ps,
            delay: statistics(&[self]),
            delays: self.clone(),
        }
    }

    /// Those that are not among `earlier` ones, of which these are the continuation.
    ///
    /// The least and the largest are exact where they lie beyond those of the earlier ones, and else an end of their
    /// bucket.
    #[must_use]
    pub fn since(&self, earlier: &CellDelays) -> CellDelays {
        let mut later = CellDelays {
            fixed_ps: self.fixed_ps,
            cells: self.cells - earlier.cells,
            sum_ps: self.sum_ps - earlier.sum_ps,
            ..CellDelays::new(self.fixed_ps)
        };
        let before: BTreeMap<usize, u64> = earlier.filled().collect();
        for (bucket, count) in self.filled() {
            let count = count - before.get(&bucket).copied().unwrap_or(0);
            if count > 0 {
                let (least, most) = (start_of(bucket), end_of(bucket));
                later.min_ps = later.min_ps.min(self.fixed_ps + least);
                later.max_ps = self.fixed_ps + most;
                later.add_outside(bucket, count);
            }
        }
        if later.cells > 0 {
            later.min_ps = later.min_ps.max(self.min_ps);
            later.max_ps = later.max_ps.min(self.max_ps);
        }
        later
    }
}

impl PartialEq for CellDelays {
    /// Returns whether both have the same counts, in whatever form they are stored.
    fn eq(&self, other: &CellDelays) -> bool {
        let exact = |of: &CellDelays| (of.fixed_ps, of.cells, of.sum_ps, of.min_ps, of.max_ps);
        exact(self) == exact(other) && self.filled().eq(other.filled())
    }
}

fn bucket_of(value: u64) -> usize {
    let bits = 64 - value.leading_zeros();
    if bits <= KEPT_BITS {
        return value as usize;
    }
    // The leading bit says the octave, the KEPT_BITS - 1 after it the place within.
    let shift = bits - KEPT_BITS;
    let half = 1usize << (KEPT_BITS - 1);
    shift as usize * half + (value >> shift) as usize
}

/// The smallest value of a bucket.
fn start_of(bucket: usize) -> u64 {
    bucket.checked_sub(1).map_or(0, |below| end_of(below) + 1)
}

/// The largest value of a bucket.
fn end_of(bucket: usize) -> u64 {
    let half = 1usize << (KEPT_BITS - 1);
    if bucket < 2 * half {
        return bucket as u64;
    }
    let shift = bucket / half - 1;
    let kept = (bucket - shift * half) as u64;
    ((kept + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_delays_are_all_but_the_earlier_ones() {
        let of = |delays: &[u64]| {
            let mut all = CellDelays::new(10);
            delays.iter().for_each(|&delay| all.add(delay));
            all
        };
        let (earlier, whole) = (of(&[900, 20]), of(&[900, 20, 30, 40, 40]));
        let later = whole.since(&earlier);
        assert_eq!(later, of(&[30, 40, 40]));
        // Beyond those before them the least and the largest are exact.
        let beyond = of(&[20, 900_001, 11]).since(&of(&[20]));
        assert_eq!((beyond.min_ps, beyond.max_ps), (11, 900_001));
        assert_eq!(
            whole.since(&whole).record(0).delay,
            DelayStatistics::default()
        );
    }

    #[test]
    fn few_buckets_are_kept_one_by_one_and_many_from_the_least_delay_to_the_largest() {
        // A packet's time on a line of 10 Mbit/s, 1.2 ms, is in bucket 3 200 and something.
        let mut delays = CellDelays::new(0);
        delays.add(1_200_000_000);
        delays.add(1_150_000_000);
        delays.add(1_250_000_000);
        assert_eq!((delays.few.len(), delays.counts.len()), (3, 0));
        let mut many = CellDelays::new(0);
        (1..=65).rev().for_each(|value| many.add_many(value * 3, 2));
        assert_eq!((many.few.len(), many.counts.len()), (0, 193));
        let kept: Vec<_> = many.filled().collect();
        assert_eq!(
            kept,
            (1..=65).map(|value| (value * 3, 2)).collect::<Vec<_>>()
        );
        // A count that u32 cannot hold is among many.
        let mut often = CellDelays::new(0);
        often.add_many(7, u64::from(u32::MAX));
        often.add(7);
        assert_eq!(often.filled().collect::<Vec<_>>(), [(7, 1 << 32)]);
        let found = delays.record(0).delay;
        assert!(found.p50_ps >= 1_200_000_000 && found.p50_ps < 1_210_000_000);
        assert_eq!(found.p99_ps, 1_250_000_000);
        assert_eq!(delays.quantile(1), end_of(bucket_of(1_150_000_000)));
    }

    #[test]
    fn a_bucket_holds_the_values_up_to_its_end_and_is_a_128th_of_them_wide_at_most() {
        let mut last = None;
        for bucket in 0..4_000 {
            let end = end_of(bucket);
            assert_eq!(bucket_of(end), bucket);
            assert_eq!(bucket_of(end + 1), bucket + 1);
            if let Some(last) = last {
                let width: u64 = end - last;
                assert!(width == 1 || width * 128 <= last + 1, "{last} to {end}");
            }
            last = Some(end);
        }
    }

    #[test]
    fn a_class_has_the_delays_of_all_its_vcs_each_beyond_its_own_fixed_part() {
        let (mut near, mut far, idle) = (
            CellDelays::new(1_000),
            CellDelays::new(5_000),
            CellDelays::new(7),
        );
        (1..=60).for_each(|k| near.add(1_000 + k));
        (1..=40).for_each(|k| far.add(5_000 + 2 * k));
        let record = class_record(ServiceClass::Cbr, vec![2, 5, 9], &[&near, &far, &idle]);
        let delay = &record.delay;
        assert_eq!((record.vcs, delay.cells), (vec![2, 5, 9], 100));
        assert_eq!((delay.min_ps, delay.max_ps), (1_001, 5_080));
        assert_eq!(delay.mean_ps, (60.0 * 1_030.5 + 40.0 * 5_041.0) / 100.0);
        // The 50th of 100 is near's; the 90th is the 30th of far's.
        assert_eq!((delay.p50_ps, delay.p90_ps), (1_050, 5_060));
        // 1, 2, 2, 3, 4, 4, ...: up to 34 there are 34 of near's and 17 of far's.
        assert_eq!((record.variable_p50_ps, record.variable_p99_ps), (34, 78));
        let none = class_record(ServiceClass::Cbr, vec![9], &[&idle]);
        assert_eq!(none.delay, DelayStatistics::default());
        let alone = class_record(ServiceClass::Cbr, vec![5], &[&far]);
        assert_eq!(alone.delay, far.record(0).delay);
    }

    #[test]
    fn a_series_is_its_delays_one_by_one() {
        for (first, step, count, each) in [
            (1_000, 0, 5, 2),
            (1_000, 1, 400, 1),
            (1_017, 37, 900, 3),
            (2_000, 50_000, 70, 9),
            (1_000_000, 3, 100_000, 1),
        ] {
            let (mut together, mut one_by_one) = (CellDelays::new(1_000), CellDelays::new(1_000));
            together.add_series(first, step, count, each);
            (0..count).for_each(|k| one_by_one.add_many(first + k * step, each));
            assert_eq!(together.record(0), one_by_one.record(0));
            assert!(together.filled().eq(one_by_one.filled()));
        }
    }

    #[test]
    fn mean_and_ends_are_exact_and_quantiles_nearest_ranks_beyond_the_fixed_part() {
        let mut delays = CellDelays::new(1_000_000);
        assert_eq!(delays.record(3).delay.p50_ps, 0);
        (1..=100).for_each(|k| delays.add(1_000_000 + k));
        let record = delays.record(3);
        assert_eq!((record.vc, record.fixed_ps), (3, 1_000_000));
        let delay = record.delay;
        assert_eq!(delay.cells, 100);
        assert_eq!((delay.min_ps, delay.max_ps), (1_000_001, 1_000_100));
        assert_eq!(delay.mean_ps, 1_000_050.5);
        assert_eq!((delay.p50_ps, delay.p99_ps), (1_000_050, 1_000_099));
        delays.add(9_000_000);
        let all = Merged::of(&[&delays], |vc| vc.fixed_ps);
        assert_eq!(all.quantile(1_000), 9_000_000, "never above the largest");
    }
}
