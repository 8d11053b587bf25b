//! The types of parameters. In Rust each is the plain value that an engine reads. A type says here how people
//! write it, from which `make generate` makes Python's reader, and which values an engine may read.
//! `python/skycell/scenario/interpreter/parameters.py` makes one from the other.

use crate::written::Written::{self, ByHand, Flag as TrueOrFalse, Held, Not, OneOf, Part};
use crate::written::{
    Dimension, Ranged, above, bit_rate, by_class, by_vc, cell_rate, cells, from, octets, time,
    whole, window,
};
use crate::{Context, Refusal};
use std::fmt::Display;

/// Longest interval: 1 day, picoseconds.
pub const LONGEST_PS: u64 = 86_400 * 1_000_000_000_000;
/// Longest time of a host's clock: 1 hour, picoseconds.
pub const HOUR_PS: u64 = 3_600 * 1_000_000_000_000;
/// Largest MSS, octets. RFC 791: the datagram's length field has 16 bits; 92 octets are kept for headers
/// and LLC/SNAP.
pub const LARGEST_MSS: u64 = 65_535 - 92;
/// Most of what is counted.
const MOST: u64 = u32::MAX as u64;
/// The whole of a link in parts of [`ClassShares`].
pub const WHOLE_PPB: u32 = 1_000_000_000;

macro_rules! parameter_types {
    ($(
        $(#[$doc:meta])*
        $name:ident($value:ty) = $written:expr $(, |$given:ident, $context:tt, $field:tt| $check:expr)?;
    )*) => {
        $($(#[$doc])* pub type $name = $value;)*

        /// Of each type, under its name: whether a value is one.
        #[allow(non_snake_case, missing_docs, clippy::missing_errors_doc, clippy::ptr_arg)]
        pub mod check {
            use super::*;
            $(pub fn $name(value: &$value, context: &Context, field: &str) -> Result<(), Refusal> {
                _ = context;
                check!(value, context, field, $written $(, |$given, $context, $field| $check)?)
            })*
        }

        /// How people write each type, by its name.
        pub fn written() -> Vec<(&'static str, Written)> {
            vec![$((stringify!($name), Written::from($written))),*]
        }
    };
}

/// The check that a type declares, or else that its value is in the range in which people write it.
macro_rules! check {
    ($value:ident, $surroundings:ident, $name:ident, $written:expr) => {
        in_range(*$value, &Written::from($written), $name)
    };
    ($value:ident, $surroundings:ident, $name:ident, $written:expr, |$given:ident, $context:tt, $field:tt| $check:expr) => {{
        let ($given, $context, $field) = ($value, $surroundings, $name);
        $check
    }};
}

parameter_types! {
    /// True or false.
    Flag(bool) = TrueOrFalse, |_value, _, _| Ok(());
    /// An occupancy, cells: a part of the buffer, which must be limited, or a number of cells.
    Threshold(u32) = ByHand, |cells, context, field| within(*cells, 0, context, field);
    /// The same, below the capacity.
    ThresholdBelowCapacity(u32) = ByHand, |cells, context, field| within(*cells, 1, context, field);
    /// The same of an average occupancy, which an engine takes at any length.
    AverageThreshold(u32) = ByHand, |_cells, _, _| Ok(());
    /// Cells.
    CellCount(u32) = Held(0, "917 cells"), |_cells, _, _| Ok(());
    /// Cells of a number of full frames.
    CellsOfFrames(u32) = whole(1, 1000), |_cells, _, _| Ok(());
    /// Above 0, at most 1: 1 is an equal share.
    UpToEqualShare(f64) = Part("1 is an equal share");
    /// Above 0, at most 1: 1 is the whole.
    PartOfOne(f64) = Part("1 is the whole");
    /// From 0 to 1.
    FromZeroToOne(f64) = from(0.0).to(1.0);
    /// Part of the bits of a line that are wrong: above 0, at most 0.5, at which nothing is left of them.
    BitErrorRatio(f64) = above(0.0).to(0.5).of(", at which nothing is left of the bits");
    /// The same, or 0.
    BitErrorRatioOrNone(f64) = from(0.0).to(0.5);
    /// Part of the bits of a burst that are wrong: from 0.5, as behind a decoder, to 1.
    ErrorDensity(f64) = from(0.5).to(1.0);
    /// A gain of a controller, per second: above 0, at most 1000.
    PerSecond(f64) = above(0.0).to(1000.0).of(", per second");
    /// Correlation of a draw with the one before: from 0, below 1.
    Correlation(f64) = from(0.0).below(1.0);
    /// Bits of a line, at least 1, at most a thousand million.
    BitCount(u64) = whole(1, 1_000_000_000).of("bits");
    /// Bits of a line that are wrong, by number from 0, ascending; written as a list or as the name of a file.
    WrongBits(Vec<u64>) = ByHand, |bits, _, field| match bits.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err(Refusal::new(field, pair[1], format!("above the one before, {}", pair[0]))),
        None => Ok(()),
    };
    /// A time above 0, picoseconds, at most a day.
    Interval(u64) = time("10 ms").above(0), |ps, _, field| interval(*ps, field);
    /// Mean time of a state of a link, picoseconds: from 100 us, so that a run has not too many, to a day.
    StateTime(u64) = time("40 ms").from(100_000_000), |ps, _, field| match *ps {
        100_000_000.. => interval(*ps, field),
        _ => Err(Refusal::new(field, ps, "from 100000000")),
    };
    /// A time, picoseconds, at most a day; 0 for none.
    TimeOrNone(u64) = time("10 ms"), |ps, _, field| match *ps == 0 {
        true => Ok(()),
        false => interval(*ps, field),
    };
    /// The occupancy of each VC at which something happens, cells by VC id; none for one without.
    VcThresholds(Vec<Option<u32>>) = ByHand, |_cells, _, _| Ok(());
    /// A level of each VC, from 1, by VC id; 1 for a VC that is not named.
    VcLevels(Vec<u32>) = by_vc(whole(1, 64).of("level")), |levels, _, field| no_zero(levels, field);
    /// The occupancy that a VC with a contract may have, cells by VC id, its MBS if nothing else is
    /// said; 0 for a VC without.
    VcAllowances(Vec<u32>) = cells("400 cells").or(&["MBS"]), |_cells, _, _| Ok(());
    /// Not written: MCR by VC id, thousandths of a cell a second; 0 for a VC without a contract.
    McrByVc(Vec<u64>) = Not, |_rates, _, _| Ok(());
    /// Not written: the time that a full frame takes on the link, picoseconds.
    FrameTime(u64) = Not, |ps, _, field| above_zero(*ps, field);
    /// Octets of packets.
    PacketOctets(u32) = octets("1514 B").from(1), |octets, _, field| above_zero(u64::from(*octets), field);
    /// Octets beside a packet, or to which it is padded.
    OctetsBeside(u32) = octets("44 B"), |octets, _, field| up_to_packet(*octets, 0, field);
    /// Octets of a unit that packets fill.
    OctetsOfUnit(u32) = octets("48 B").from(1), |octets, _, field| up_to_packet(*octets, 1, field);
    /// Octets of a unit on the line; 0 for those of the unit.
    OctetsOfUnitOnLine(u32) = octets("48 B").from(1), |octets, _, field| up_to_packet(*octets, 0, field);
    /// Octets that may come, or go, at once.
    BurstOctets(u32) = octets("15 kB").from(1).to(1_000_000_000), |octets, _, field| above_zero(u64::from(*octets), field);
    /// Thousandths of a bit a second.
    BitRate(u64) = bit_rate("10 Mbit/s"), |millibps, _, field| above_zero(*millibps, field);
    /// The same, or none.
    BitRateOrNone(Option<u64>) = bit_rate("10 Mbit/s"), |millibps, _, field| above_zero(millibps.unwrap_or(1), field);
    /// Queues within a buffer, at most 65536; 0 where each flow has its own.
    QueueCount(u32) = whole(0, 65_536).of("0 for one of its own for each flow");
    /// k of the 2^k slots of which one is drawn, at most 20.
    BackoffExponent(u32) = whole(0, 20);
    /// Slots of a frame of an uplink, 1 to 65536.
    FrameSlots(u32) = whole(1, 65_536).of("slots");
    /// Slots of one kind in a frame, or requests in a slot, 1 to 65536.
    SlotCount(u32) = whole(1, 65_536);
    /// The same, or 0 for none.
    SlotCountOrNone(u32) = whole(0, 65_536);
    /// Frames of an uplink.
    FrameCount(u32) = whole(1, MOST).of("frames"), |count, _, field| above_zero(u64::from(*count), field);
    /// A ratio of probabilities.
    Coupling(u32) = whole(1, 100);
    /// Not written: cells of a full frame.
    FrameCells(u32) = Not, |cells, _, field| above_zero(u64::from(*cells), field);
    /// Guaranteed part of the link for each queue, in parts of [`WHOLE_PPB`]; written by class.
    ClassShares(Vec<u32>) = ByHand, |shares, context, field| {
        one_each(shares.len(), context.queues, "queues", field)?;
        match shares.iter().map(|&share| u64::from(share)).sum::<u64>() {
            total if total > u64::from(WHOLE_PPB) => {
                Err(Refusal::new(field, total, format!("at most {WHOLE_PPB} together")))
            }
            _ => Ok(()),
        }
    };
    /// Cells of each queue in a round; written by class.
    ClassWeights(Vec<u32>) = by_class(whole(1, MOST).of("cells in a round")), |weights, context, field| {
        one_each(weights.len(), context.queues, "queues", field)?;
        no_zero(weights, field)
    };
    /// Cells of each VC in a round, by VC id.
    VcWeights(Vec<u32>) = by_vc(whole(1, MOST).of("cells in a round")), |weights, context, field| {
        one_each(weights.len(), context.vcs, "VCs", field)?;
        no_zero(weights, field)
    };
    /// Not written: 1 for each VC, by VC id.
    EqualVcWeights(Vec<u32>) = Not, |weights, context, field| {
        one_each(weights.len(), context.vcs, "VCs", field)?;
        no_zero(weights, field)
    };
    /// Only written: cells that the VCs with a contract send in a round.
    CellsInRound(u32) = whole(1, 1_000_000).of("cells in a round"), |cells, _, field| above_zero(u64::from(*cells), field);
    /// Octets that an application hands over at once.
    TransferOctets(u64) = octets("10 MB").from(1).to(1_000_000_000_000_000), |octets, _, field| above_zero(*octets, field);
    /// Octets of what asks for a file.
    RequestOctets(u64) = octets("128 B").from(1).to(1_000_000), |octets, _, field| above_zero(*octets, field);
    /// Only written: octets in a kilobyte.
    KilobyteOctets(u64) = octets("1024 B").from(1).to(1_000_000), |octets, _, field| above_zero(*octets, field);
    /// How often something is done.
    Repetitions(u32) = whole(1, MOST), |_count, _, _| Ok(());
    /// Files of a page.
    FileCount(u64) = whole(1, 10_000);
    /// Servers of a page, or connections to one.
    OriginCount(u32) = whole(1, 64);
    /// A factor of the E-model, or a spread: from 0 to 100.
    Impairment(f64) = from(0.0).to(100.0);
    /// Mean of a Poisson distribution.
    PoissonMean(f64) = above(0.0).to(500.0).of(" (a count)");
    /// A limit of a count.
    CountLimit(u32) = whole(1, 1000), |_count, _, _| Ok(());
    /// How often something is chosen, in proportion to others of its kind.
    Share(f64) = above(0.0).to(1_000_000.0).of(" (in proportion to the other classes)"), |share, _, field| match *share > 0.0 && share.is_finite() {
        true => Ok(()),
        false => Err(Refusal::new(field, share, "above 0")),
    };
    /// Whether the first file of a page is of the first class of files; then there are others.
    IndexFirst(bool) = TrueOrFalse, |_value, _, _| Ok(());
    /// Sizes of files, octets, one after the other; written is the step from one to the next, kilobytes.
    FileSizes(Vec<u64>) = above(0.0).to(1_000_000.0).of(" (kilobytes)"), |sizes, _, field| match sizes.contains(&0) {
        true => Err(Refusal::new(field, 0, "above 0")),
        false => Ok(()),
    };
    /// Largest TCP payload of a segment, octets.
    Mss(u64) = octets("9180 B").from(1).to(LARGEST_MSS), |octets, _, field| match octets {
        0 => Err(Refusal::new(field, 0, "above 0")),
        1..=LARGEST_MSS => Ok(()),
        _ => Err(Refusal::new(field, octets, format!("at most {LARGEST_MSS}"))),
    };
    /// A receiver's window, octets.
    ReceiverWindow(u64) = window(&["RTT x bandwidth"]), |_octets, _, _| Ok(());
    /// A receiver's window at first, octets; 0 where that is not said.
    InitialWindow(u64) = window(&[]), |_octets, _, _| Ok(());
    /// A congestion window of at least one MSS, octets.
    Cwnd(u64) = window(&[]), |_octets, _, _| Ok(());
    /// The largest congestion window, octets.
    MaxCwnd(u64) = window(&["receiver window", "window field"]), |_octets, _, _| Ok(());
    /// A threshold of the congestion window, octets.
    Ssthresh(u64) = window(&["receiver window", "RTT x bandwidth"]), |octets, _, field| above_zero(*octets, field);
    /// Segments, or ACKs of them.
    SegmentCount(u32) = whole(1, 1000), |count, _, field| above_zero(u64::from(*count), field);
    /// Granularity of a host's clock, picoseconds.
    Tick(u64) = time("100 ms").from(1000).to(HOUR_PS), |ps, _, field| above_zero(*ps, field);
    /// Smallest RTO, ticks.
    RtoMin(u32) = time("1 s").or_in(Dimension::Ticks).above(0).of("rounded up to whole ticks"), |ticks, _, field| above_zero(u64::from(*ticks), field);
    /// RTO before the first measurement, ticks.
    RtoInitial(u32) = time("1 s").or_in(Dimension::Ticks).above(0).of("rounded up to whole ticks"), |_ticks, _, _| Ok(());
    /// Largest RTO, ticks.
    RtoMax(u32) = time("1 s").or_in(Dimension::Ticks).above(0).of("rounded up to whole ticks"), |_ticks, _, _| Ok(());
    /// Segments/s^3: C of CUBIC.
    CubicC(f64) = above(0.0).to(100.0).of(" (segments/s^3)");
    /// Largest factor by which timeouts lengthen the RTO.
    Backoff(u32) = OneOf(powers_of_2(0, 16), "a power of two from 1 to 65 536"), |factor, _, field| above_zero(u64::from(*factor), field);
    /// SACK blocks in an acknowledgement.
    SackBlocks(u32) = whole(1, 4), |_blocks, _, _| Ok(());
    /// Most cells a second of a VC, thousandths, above 0.
    PeakCellRate(u64) = cell_rate().from(1).or(&["link rate"]), |millicells, _, field| above_zero(*millicells, field);
    /// A rate of a VC that is at most its peak rate, thousandths of a cell a second.
    RateUpToPeak(u64) = cell_rate().or(&["pcr"]), |_millicells, _, _| Ok(());
    /// A rate, thousandths of a cell a second; 0 for none.
    CellRateOrNone(u64) = cell_rate(), |_millicells, _, _| Ok(());
    /// Cells on their way: at least 1, at most 16 777 215 (af-tm-0056 section 5.10).
    CellsInFlight(u32) = cells("10000 cells").from(1).to(16_777_215), |cells, _, field| match cells {
        1..=16_777_215 => Ok(()),
        _ => Err(Refusal::new(field, cells, "1 to 16777215")),
    };
    /// Cells from one forward RM cell to the next: a power of 2 from 2 to 256 (af-tm-0056 section 5.10).
    CellsBetweenRm(u32) = OneOf(powers_of_2(1, 8), "a power of 2 from 2 to 256");
    /// Cells that two forward RM cells have between them at least.
    LeastCellsBetweenRm(u32) = whole(1, 255);
    /// Above 0; only ratios count.
    Weight(f64) = above(0.0);
    /// At least 1.
    AtLeastOne(f64) = from(1.0);
    /// Time between cells of each VC at its MCR, picoseconds by VC id; what is written is the rate that
    /// stands for that of a VC without.
    VcIntervals(Vec<u64>) = cell_rate().from(1), |intervals, context, field| {
        one_each(intervals.len(), context.vcs, "VCs", field)?;
        intervals.iter().try_for_each(|&ps| interval(ps, field))
    };
}

fn within(cells: u32, less: u32, context: &Context, field: &str) -> Result<(), Refusal> {
    match context.capacity_cells {
        Some(k) if cells <= k.saturating_sub(less) => Ok(()),
        Some(k) if less == 0 => {
            let allowed = format!("at most the capacity, {k}");
            Err(Refusal::new(field, cells, allowed))
        }
        Some(k) => Err(Refusal::new(
            field,
            cells,
            format!("below the capacity, {k}"),
        )),
        None => Err(Refusal::new(
            field,
            format!("{cells}, with an unlimited buffer"),
            "a threshold needs a limited buffer",
        )),
    }
}

fn in_range<T: Ranged>(value: T, written: &Written, field: &str) -> Result<(), Refusal> {
    match value.is_in(written) {
        true => Ok(()),
        false => Err(Refusal::new(field, value, written.range())),
    }
}

fn powers_of_2(least: u32, greatest: u32) -> Vec<u64> {
    (least..=greatest).map(|k| 1 << k).collect()
}

fn interval(ps: u64, field: &str) -> Result<(), Refusal> {
    if ps == 0 || ps > LONGEST_PS {
        return Err(Refusal::new(field, ps, "above 0, at most 1 day"));
    }
    Ok(())
}

fn above_zero(value: u64, field: &str) -> Result<(), Refusal> {
    match value {
        0 => Err(Refusal::new(field, 0, "above 0")),
        _ => Ok(()),
    }
}

/// An IP packet has 65 535 octets at most (RFC 791: the length field has 16 bits).
fn up_to_packet(octets: u32, least: u32, field: &str) -> Result<(), Refusal> {
    match (least..=65_535).contains(&octets) {
        true => Ok(()),
        false => Err(Refusal::new(field, octets, format!("{least} to 65535"))),
    }
}

fn no_zero(weights: &[u32], field: &str) -> Result<(), Refusal> {
    match weights.contains(&0) {
        true => Err(Refusal::new(field, 0, "above 0")),
        false => Ok(()),
    }
}

fn one_each(given: usize, needed: usize, what: &str, field: &str) -> Result<(), Refusal> {
    match given == needed {
        true => Ok(()),
        false => {
            let allowed = format!("one for each of {needed} {what}");
            Err(Refusal::new(field, given, allowed))
        }
    }
}

/// Of a type that a single rule has: any value is one.
///
/// # Errors
/// Never.
pub fn unchecked<T>(_value: &T) -> Result<(), Refusal> {
    Ok(())
}

/// Refuses a list that is empty or does not ascend.
///
/// # Errors
/// It is such a list.
pub fn check_ascending<T: Copy + Display + PartialOrd>(
    values: &[T],
    field: &str,
) -> Result<(), Refusal> {
    if values.is_empty() {
        return Err(Refusal::new(field, "nothing", "at least one"));
    }
    match values.windows(2).find(|pair| pair[0] > pair[1]) {
        Some(pair) => Err(Refusal::new(
            field,
            pair[1],
            format!("at least the one before, {}", pair[0]),
        )),
        None => Ok(()),
    }
}

/// A value that a parameter is compared by: the value itself, or the least value of a list.
pub trait Comparable {
    /// Returns the value, or the least value of a list; none if it has no value.
    fn least(&self) -> Option<u64>;
}

impl Comparable for u32 {
    fn least(&self) -> Option<u64> {
        Some(u64::from(*self))
    }
}

impl Comparable for u64 {
    fn least(&self) -> Option<u64> {
        Some(*self)
    }
}

impl<T: Comparable> Comparable for Option<T> {
    fn least(&self) -> Option<u64> {
        self.as_ref().and_then(T::least)
    }
}

impl<T: Comparable> Comparable for Vec<T> {
    fn least(&self) -> Option<u64> {
        self.iter().filter_map(T::least).min()
    }
}

/// Refuses a value that is not below another, or with `may_equal` above it.
///
/// # Errors
/// It is not.
pub fn check_order(
    (field, value): (&str, &impl Comparable),
    (other, limit): (&str, &impl Comparable),
    may_equal: bool,
) -> Result<(), Refusal> {
    let (Some(value), Some(limit)) = (value.least(), limit.least()) else {
        return Ok(());
    };
    if value < limit || may_equal && value == limit {
        return Ok(());
    }
    let words = if may_equal { "at most" } else { "below" };
    Err(Refusal::new(
        field,
        value,
        format!("{words} {other}, {limit}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const AROUND: Context = Context {
        capacity_cells: Some(100),
        queues: 2,
        vcs: 3,
    };
    const UNLIMITED: Context = Context {
        capacity_cells: None,
        queues: 1,
        vcs: 0,
    };

    /// Returns the allowed values if a value is refused.
    fn allowed(result: Result<(), Refusal>) -> Option<String> {
        result.err().map(|refusal| {
            assert_eq!(refusal.field, "f");
            refusal.allowed
        })
    }

    #[test]
    fn a_value_outside_the_range_of_its_type_is_refused_and_one_at_its_end_is_not() {
        let none = |result| assert_eq!(allowed(result), None);
        let some = |result, text: &str| assert_eq!(allowed(result).as_deref(), Some(text));
        none(check::Threshold(&100, &AROUND, "f"));
        some(
            check::Threshold(&101, &AROUND, "f"),
            "at most the capacity, 100",
        );
        some(
            check::Threshold(&0, &UNLIMITED, "f"),
            "a threshold needs a limited buffer",
        );
        none(check::ThresholdBelowCapacity(&99, &AROUND, "f"));
        some(
            check::ThresholdBelowCapacity(&100, &AROUND, "f"),
            "below the capacity, 100",
        );
        none(check::AverageThreshold(&101, &UNLIMITED, "f"));
        none(check::UpToEqualShare(&1.0, &AROUND, "f"));
        some(
            check::UpToEqualShare(&0.0, &AROUND, "f"),
            "above 0, at most 1",
        );
        none(check::FromZeroToOne(&0.0, &AROUND, "f"));
        some(check::FromZeroToOne(&f64::NAN, &AROUND, "f"), "0 to 1");
        none(check::BitErrorRatio(&0.5, &AROUND, "f"));
        some(
            check::BitErrorRatio(&0.0, &AROUND, "f"),
            "above 0, at most 0.5",
        );
        none(check::Correlation(&0.0, &AROUND, "f"));
        some(check::Correlation(&1.0, &AROUND, "f"), "0 to below 1");
        some(check::Weight(&f64::INFINITY, &AROUND, "f"), "above 0");
        some(check::AtLeastOne(&0.9, &AROUND, "f"), "at least 1");
        none(check::QueueCount(&65_536, &AROUND, "f"));
        some(check::QueueCount(&65_537, &AROUND, "f"), "0 to 65536");
        none(check::CellsBetweenRm(&256, &AROUND, "f"));
        some(
            check::CellsBetweenRm(&48, &AROUND, "f"),
            "a power of 2 from 2 to 256",
        );
        none(check::Interval(&LONGEST_PS, &AROUND, "f"));
        some(check::Interval(&0, &AROUND, "f"), "above 0, at most 1 day");
        none(check::ClassShares(&vec![WHOLE_PPB, 0], &AROUND, "f"));
        some(
            check::ClassShares(&vec![WHOLE_PPB], &AROUND, "f"),
            "one for each of 2 queues",
        );
        some(
            check::ClassShares(&vec![WHOLE_PPB, 1], &AROUND, "f"),
            "at most 1000000000 together",
        );
        some(check::VcWeights(&vec![1, 0, 1], &AROUND, "f"), "above 0");
        some(
            check::VcIntervals(&vec![1], &AROUND, "f"),
            "one for each of 3 VCs",
        );
        some(check::Mss(&65_444, &AROUND, "f"), "at most 65443");
    }

    #[test]
    fn two_parameters_are_compared_and_of_a_list_its_least_counts() {
        let order = |a: u32, b: &Vec<Option<u32>>, may_equal| {
            check_order(("f", &a), ("g", b), may_equal).is_ok()
        };
        let limits = vec![None, Some(7), Some(5)];
        assert!(order(4, &limits, false) && !order(5, &limits, false));
        assert!(order(5, &limits, true) && !order(6, &limits, true));
        assert!(order(9, &vec![None], false), "nothing to compare with");
    }

    #[test]
    fn a_list_has_to_ascend_and_to_hold_something() {
        assert_eq!(allowed(check_ascending(&[1, 1, 3], "f")), None);
        let step = allowed(check_ascending(&[1, 3, 2], "f"));
        assert_eq!(step.as_deref(), Some("at least the one before, 3"));
        assert_eq!(
            allowed(check_ascending::<u32>(&[], "f")).as_deref(),
            Some("at least one")
        );
    }
}
