//! Resource management cells, and rates.

use skycell_units::SimTime;

/// The contents of a resource management (RM) cell (af-tm-0056 section 5.10, Table 5-4).
///
/// Rates in cells a second. Differs: the format's 16-bit numbers round a rate down by up to 1/512;
/// here a rate is what was put in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RmCell {
    /// DIR: whether it goes back to the source.
    pub is_backward: bool,
    /// BN: whether a switch or a destination has made it, not the source.
    pub is_becn: bool,
    /// CI: the source has to reduce its rate.
    pub ci: bool,
    /// NI: the source must not increase its rate.
    pub ni: bool,
    /// CLP: whether it goes beside the rate of its VC.
    pub is_out_of_rate: bool,
    /// CCR: the source's ACR when it sent the cell.
    pub ccr: f64,
    /// ER: most that the source may send; switches and the destination reduce it.
    pub er: f64,
    /// MCR of the connection.
    pub mcr: f64,
}

/// Cells a second of a rate in thousandths.
pub fn cells_per_second(millicells: u64) -> f64 {
    millicells as f64 / 1e3
}

/// Least time between two cells at `rate` cells a second, rounded up to whole picoseconds so that they
/// are never closer than 1 / rate; [`SimTime::NEVER`] at a rate of 0.
pub fn interval(rate: f64) -> SimTime {
    let picoseconds = (SimTime::PER_SECOND as f64 / rate).ceil();
    // A conversion saturates: what is beyond the range, infinity too, is the largest value.
    SimTime(picoseconds as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_never_shorter_than_the_reciprocal_of_the_rate() {
        assert_eq!(interval(1_000.0), SimTime(1_000_000_000));
        assert_eq!(interval(3.0), SimTime(333_333_333_334));
        assert_eq!(interval(0.0), SimTime::NEVER);
        assert_eq!(interval(1e-12), SimTime::NEVER);
    }
}
