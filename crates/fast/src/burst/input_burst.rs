//! Bursts on the inputs of a port: cells at equal distances on one link, and in which order those of several come.

use crate::burst::Burst;
use skycell_units::{PortVc, SimTime};

/// A place in the order of arrival at a port: cells that arrive together are ordered by link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    pub(crate) time: SimTime,
    pub(crate) link: u32,
}

/// Cells of one burst on an input, from `next` on, `spacing` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputBurst {
    pub(crate) next: u64,
    pub(crate) spacing: u64,
    pub(crate) link: u32,
    /// Index of its VC at the port.
    pub(crate) port_vc: PortVc,
}

impl InputBurst {
    /// The one cell that comes at `moment`.
    pub(crate) fn of_cell(moment: Moment, port_vc: PortVc) -> Self {
        InputBurst {
            next: moment.time.0,
            spacing: 1,
            link: moment.link,
            port_vc,
        }
    }

    /// The next `count` cells.
    pub(crate) fn next_cells(&self, count: u64) -> Burst {
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

/// The `n`-th arrival (from 0) of `count` bursts without end.
pub(crate) fn nth_arrival(
    bursts: impl Iterator<Item = InputBurst> + Clone,
    count: usize,
    n: u64,
) -> (Moment, PortVc) {
    let moment = |burst: &InputBurst, step: u64| Moment {
        time: SimTime(burst.next + step * burst.spacing),
        link: burst.link,
    };
    if count == 1 {
        let burst = bursts.last().expect("there are trains");
        return (moment(&burst, n), burst.port_vc);
    }
    if let Some(found) = nth_interleaved(bursts.clone(), count, n) {
        return found;
    }
    // The time by which n + 1 cells have come, by bisection; then the burst that brought the last.
    let before = |limit: u64| -> u64 {
        let end = Moment {
            time: SimTime(limit),
            link: u32::MAX,
        };
        bursts.clone().map(|burst| burst.count(end)).sum()
    };
    let mut low = bursts.clone().map(|burst| burst.next).min().unwrap_or(0);
    let mut high = bursts
        .clone()
        .map(|burst| burst.next + n * burst.spacing)
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
    let mut arriving: Vec<InputBurst> = bursts
        .filter(|burst| burst.next <= low && (low - burst.next) % burst.spacing == 0)
        .collect();
    arriving.sort_unstable_by_key(|burst| burst.link);
    let burst = arriving[(n - earlier) as usize];
    let moment = Moment {
        time: SimTime(low),
        link: burst.link,
    };
    (moment, burst.port_vc)
}

/// Returns whether the bursts, one or more, interleave: one spacing, and all their next cells
/// within it.
pub(crate) fn interleave(bursts: impl Iterator<Item = InputBurst> + Clone) -> bool {
    let nexts = bursts.clone().map(|burst| burst.next);
    let (Some(first), Some(one)) = (nexts.min(), bursts.clone().next()) else {
        return false;
    };
    let is_interleaved =
        |burst: InputBurst| burst.spacing == one.spacing && burst.next - first < one.spacing;
    bursts.clone().all(is_interleaved)
}

/// The same where they interleave.
fn nth_interleaved(
    bursts: impl Iterator<Item = InputBurst> + Clone,
    count: usize,
    n: u64,
) -> Option<(Moment, PortVc)> {
    if !interleave(bursts.clone()) {
        return None;
    }
    let spacing = bursts.clone().next()?.spacing;
    let (round, turn) = (n / count as u64, (n % count as u64) as usize);
    let order = |burst: &InputBurst| (burst.next, burst.link);
    let burst = bursts.clone().find(|burst| {
        let earlier = bursts.clone().filter(|other| order(other) < order(burst));
        earlier.count() == turn
    })?;
    let moment = Moment {
        time: SimTime(burst.next + round * spacing),
        link: burst.link,
    };
    Some((moment, burst.port_vc))
}
