//! The averaging interval of a port.

use skycell_units::SimTime;

/// The arrivals at a port since its averaging interval began.
#[derive(Clone, Debug)]
pub struct Interval {
    length: SimTime,
    /// ABR cells after which it ends before its time.
    most: u32,
    /// The link's rate, cells a second.
    link: f64,
    began: SimTime,
    abr: u32,
    other: u32,
    /// By VC.
    by_vc: Vec<u32>,
}

/// The result of an averaging interval. Rates in cells a second.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// Its length, seconds, above zero.
    pub seconds: f64,
    /// The link's rate.
    pub link: f64,
    /// Cells of ABR VCs that came, RM cells included.
    pub abr: u32,
    /// Cells of other classes that came.
    pub other: u32,
    /// Cells in the ABR queue at its end.
    pub queued: u32,
    /// Cells that came of each VC.
    pub by_vc: &'a [u32],
}

impl Measured<'_> {
    /// A count as a rate.
    pub fn rate(&self, cells: u32) -> f64 {
        f64::from(cells) / self.seconds
    }

    /// Returns the bandwidth that the other classes leave of the link: the bandwidth less their
    /// arrivals.
    pub fn left_over(&self) -> f64 {
        (self.link - self.rate(self.other)).max(0.0)
    }
}

impl Interval {
    /// Ends after `length_ps` picoseconds or `most` ABR cells, at a port that `vcs` VCs cross.
    pub fn new(length_ps: u64, most: u32, link: f64, vcs: usize) -> Self {
        Interval {
            length: SimTime(length_ps),
            most,
            link,
            began: SimTime::ZERO,
            abr: 0,
            other: 0,
            by_vc: vec![0; vcs],
        }
    }

    /// When it ends by time.
    pub fn due(&self) -> SimTime {
        self.began + self.length
    }

    /// A cell of an ABR VC comes. Whether the interval ends with it.
    pub fn on_cell(&mut self, vc: usize) -> bool {
        self.abr += 1;
        self.by_vc[vc] += 1;
        self.abr >= self.most
    }

    /// A cell of another class comes.
    pub fn on_other_cell(&mut self) {
        self.other += 1;
    }

    /// Returns the result of the interval if it ends at `now` with `queued` ABR cells in the port.
    ///
    /// Cells that all come at the instant at which it began would make an infinite rate; such an
    /// interval counts as a picosecond.
    pub fn measured(&self, now: SimTime, queued: u32) -> Measured<'_> {
        Measured {
            seconds: now.since(self.began).max(SimTime(1)).as_secs_f64(),
            link: self.link,
            abr: self.abr,
            other: self.other,
            queued,
            by_vc: &self.by_vc,
        }
    }

    /// The next one begins.
    pub fn begin(&mut self, now: SimTime) {
        self.began = now;
        self.abr = 0;
        self.other = 0;
        self.by_vc.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_by_time_or_by_cells_and_counts_anew() {
        let mut interval = Interval::new(1_000_000_000, 3, 1_000.0, 2);
        assert_eq!(interval.due(), SimTime(1_000_000_000));
        assert!(!interval.on_cell(0));
        interval.on_other_cell();
        assert!(!interval.on_cell(1));
        assert!(interval.on_cell(1));
        let measured = interval.measured(SimTime(500_000_000_000), 7);
        assert_eq!(measured.rate(measured.abr), 6.0);
        assert_eq!(measured.left_over(), 998.0); // 1 cell of others in half a second
        assert_eq!((measured.by_vc, measured.queued), (&[1, 2][..], 7));
        interval.begin(SimTime(500_000_000_000));
        assert_eq!(interval.due(), SimTime(501_000_000_000));
        assert_eq!(interval.measured(SimTime(500_000_000_000), 0).abr, 0);
    }
}
