//! Cells at equal distances on one link, and in which order those of several come.

use crate::burst::Burst;
use skycell_units::SimTime;

/// A place in the order of arrival at a port: cells that arrive together are ordered by link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) time: SimTime,
    pub(crate) link: u32,
}

/// Cells of one train, from `next` on, `spacing` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Train {
    pub(crate) next: u64,
    pub(crate) spacing: u64,
    pub(crate) link: u32,
    /// Place of its VC at the port.
    pub(crate) place: u32,
}

impl Train {
    /// The one cell that comes at `moment`.
    pub(crate) fn of_cell(moment: Moment, place: u32) -> Self {
        Train {
            next: moment.time.0,
            spacing: 1,
            link: moment.link,
            place,
        }
    }

    /// The next `count` cells.
    pub(crate) fn burst(&self, count: u64) -> Burst {
        Burst::new(SimTime(self.next), SimTime(self.spacing), count)
    }

    /// Cells that arrive up to `moment`, that moment included.
    pub(crate) fn count(&self, moment: Moment) -> u64 {
        let limit = moment.time.0;
        if self.next > limit {
            return 0;
        }
        let steps = (limit - self.next) / self.spacing;
        let is_late = self.link > moment.link && self.next + steps * self.spacing == limit;
        steps + 1 - u64::from(is_late)
    }
}

/// The `n`-th arrival (from 0) of `count` trains without end.
pub(crate) fn nth_arrival(
    trains: impl Iterator<Item = Train> + Clone,
    count: usize,
    n: u64,
) -> (Moment, u32) {
    let moment = |train: &Train, step: u64| Moment {
        time: SimTime(train.next + step * train.spacing),
        link: train.link,
    };
    if count == 1 {
        let train = trains.last().expect("there are trains");
        return (moment(&train, n), train.place);
    }
    if let Some(found) = nth_in_turn(trains.clone(), count, n) {
        return found;
    }
    // The time by which n + 1 cells have come, by bisection; then the train that brought the last.
    let before = |limit: u64| -> u64 {
        let end = Moment {
            time: SimTime(limit),
            link: u32::MAX,
        };
        trains.clone().map(|train| train.count(end)).sum()
    };
    let mut low = trains.clone().map(|train| train.next).min().unwrap_or(0);
    let mut high = trains
        .clone()
        .map(|train| train.next + n * train.spacing)
        .min()
        .expect("there are trains");
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) > n {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let earlier = if low == 0 { 0 } else { before(low - 1) };
    let mut arriving: Vec<Train> = trains
        .filter(|train| train.next <= low && (low - train.next) % train.spacing == 0)
        .collect();
    arriving.sort_unstable_by_key(|train| train.link);
    let train = arriving[(n - earlier) as usize];
    let moment = Moment {
        time: SimTime(low),
        link: train.link,
    };
    (moment, train.place)
}

/// Whether the trains, one or more, take turns: one spacing, and all their next cells within it.
pub(crate) fn take_turns(trains: impl Iterator<Item = Train> + Clone) -> bool {
    let nexts = trains.clone().map(|train| train.next);
    let (Some(first), Some(one)) = (nexts.min(), trains.clone().next()) else {
        return false;
    };
    let is_in_turn =
        |train: Train| train.spacing == one.spacing && train.next - first < one.spacing;
    trains.clone().all(is_in_turn)
}

/// The same where the trains take turns.
fn nth_in_turn(
    trains: impl Iterator<Item = Train> + Clone,
    count: usize,
    n: u64,
) -> Option<(Moment, u32)> {
    if !take_turns(trains.clone()) {
        return None;
    }
    let spacing = trains.clone().next()?.spacing;
    let (round, turn) = (n / count as u64, (n % count as u64) as usize);
    let order = |train: &Train| (train.next, train.link);
    let train = trains.clone().find(|train| {
        let earlier = trains.clone().filter(|other| order(other) < order(train));
        earlier.count() == turn
    })?;
    let moment = Moment {
        time: SimTime(train.next + round * spacing),
        link: train.link,
    };
    Some((moment, train.place))
}
