//! How people write the values of a type: its unit, range, words and an example. `make generate` writes
//! Python's reader of each from it.

use crate::types::LONGEST_PS;
use serde::Serialize;
use std::fmt::Display;

/// How a value of a type is written in a scenario file.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Written {
    /// Not at all: it follows from the rest of the scenario.
    Not,
    /// In a form of its own, which Python reads by hand.
    ByHand,
    /// True or false.
    Flag,
    /// A whole number.
    Whole(Whole),
    /// A number.
    Number(Number),
    /// A number above 0, at most 1, or as many per cent; the text says what 1 is.
    Part(&'static str),
    /// One of some whole numbers; the text says which.
    OneOf(Vec<u64>, &'static str),
    /// A number with its unit.
    Quantity(Quantity),
    /// A size in what a buffer counts, such as cells, packets or what the link carries in a time: the least
    /// that it may be, and an example.
    Held(u64, &'static str),
    /// A table with a value for each of some VCs, by name.
    ByVc(Box<Written>),
    /// A table with a value for each of some service classes, by name.
    ByClass(Box<Written>),
}

/// A whole number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Whole {
    /// The least that it may be.
    pub low: u64,
    /// The most that it may be.
    pub high: u64,
    /// Thing that is counted; empty if the key says it.
    pub what: &'static str,
}

/// A number with a range.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Number {
    /// Lower bound, exclusive.
    pub above: Option<f64>,
    /// The least that it may be.
    pub low: Option<f64>,
    /// The most that it may be.
    pub high: Option<f64>,
    /// Upper bound, exclusive.
    pub below: Option<f64>,
    /// Text after the range, with its punctuation: a unit, or the meaning of its end.
    pub what: &'static str,
}

/// The dimension of a quantity. Python has the units of each dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Dimension {
    /// Picoseconds.
    Time,
    /// Bits a second.
    BitRate,
    /// Cells a second.
    CellRate,
    /// Octets.
    Size,
    /// Cells.
    Cells,
    /// Segments of one MSS.
    Segments,
    /// Ticks of the host's clock.
    Ticks,
    /// Round-trip times, or what a link carries in them.
    Rtt,
    /// Amount that a link carries in a round-trip time.
    Bdp,
}

/// A number with its unit. Its range is in the base unit of the first dimension.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Quantity {
    /// Dimensions that it may have.
    pub dimensions: Vec<Dimension>,
    /// The least that it may be.
    pub low: u64,
    /// Lower bound, exclusive, which replaces `low`.
    pub above: Option<u64>,
    /// The most that it may be.
    pub high: u64,
    /// Words that may stand for it.
    pub words: &'static [&'static str],
    /// Remark on its units.
    pub what: &'static str,
    /// One as people write it.
    pub example: &'static str,
}

/// A whole number from `low` to `high`.
pub fn whole(low: u64, high: u64) -> Whole {
    Whole {
        low,
        high,
        what: "",
    }
}

impl Whole {
    /// The same of what is counted.
    pub fn of(self, what: &'static str) -> Self {
        Self { what, ..self }
    }
}

/// A number above `bound`.
pub fn above(bound: f64) -> Number {
    Number {
        above: Some(bound),
        ..Number::default()
    }
}

/// A number from `bound` on.
pub fn from(bound: f64) -> Number {
    Number {
        low: Some(bound),
        ..Number::default()
    }
}

impl Number {
    /// At most `bound`.
    pub fn to(self, bound: f64) -> Self {
        Self {
            high: Some(bound),
            ..self
        }
    }

    /// Below `bound`.
    pub fn below(self, bound: f64) -> Self {
        Self {
            below: Some(bound),
            ..self
        }
    }

    /// With words behind the range.
    pub fn of(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    fn range(&self) -> String {
        match (self.above, self.low, self.high, self.below) {
            (Some(above), _, Some(high), _) => format!("above {above}, at most {high}"),
            (Some(above), ..) => format!("above {above}"),
            (_, Some(low), Some(high), _) => format!("{low} to {high}"),
            (_, Some(low), _, Some(below)) => format!("{low} to below {below}"),
            (_, Some(low), ..) => format!("at least {low}"),
            _ => "any".to_owned(),
        }
    }

    /// Returns whether a number is in the range.
    pub fn has(&self, value: f64) -> bool {
        value.is_finite()
            && self.above.is_none_or(|bound| value > bound)
            && self.low.is_none_or(|bound| value >= bound)
            && self.high.is_none_or(|bound| value <= bound)
            && self.below.is_none_or(|bound| value < bound)
    }
}

/// An amount of what is counted in one unit, from 0.
fn quantity(dimensions: Vec<Dimension>, high: u64, example: &'static str) -> Quantity {
    Quantity {
        dimensions,
        low: 0,
        above: None,
        high,
        words: &[],
        what: "",
        example,
    }
}

/// A time, at most a day.
pub fn time(example: &'static str) -> Quantity {
    quantity(vec![Dimension::Time], LONGEST_PS, example)
}

/// Octets, at most those of an IP packet.
pub fn octets(example: &'static str) -> Quantity {
    quantity(vec![Dimension::Size], 65_535, example)
}

/// Cells.
pub fn cells(example: &'static str) -> Quantity {
    quantity(vec![Dimension::Cells], u64::from(u32::MAX), example)
}

/// A rate of packets: at least one cell a second, and an octet takes a picosecond at least.
pub fn bit_rate(example: &'static str) -> Quantity {
    let rate = quantity(vec![Dimension::BitRate], 8_000_000_000_000, example);
    rate.from(424)
}

/// A rate of cells, or of the bits of whole cells.
pub fn cell_rate() -> Quantity {
    let units = vec![Dimension::CellRate, Dimension::BitRate];
    let rate = quantity(units, 1_000_000_000_000, "1000 cells/s");
    rate.of("bits of whole cells, 424 each")
}

/// A window of TCP, or a word for one. RFC 7323 section 2.2: a field of 16 bits, shifted by at most 14.
pub fn window(words: &'static [&'static str]) -> Quantity {
    use Dimension::{Bdp, Rtt, Segments, Size};
    let window = quantity(vec![Size, Segments, Rtt, Bdp], 65_535 << 14, "64 KiB");
    window.from(1).or(words)
}

/// A table with a value for each of some VCs.
pub fn by_vc(value: impl Into<Written>) -> Written {
    Written::ByVc(Box::new(value.into()))
}

/// A table with a value for each of some service classes.
pub fn by_class(value: impl Into<Written>) -> Written {
    Written::ByClass(Box::new(value.into()))
}

impl Quantity {
    /// At least `low`.
    pub fn from(self, low: u64) -> Self {
        Self { low, ..self }
    }

    /// Above `bound`.
    pub fn above(self, bound: u64) -> Self {
        Self {
            above: Some(bound),
            ..self
        }
    }

    /// At most `high`.
    pub fn to(self, high: u64) -> Self {
        Self { high, ..self }
    }

    /// Or one of some words.
    pub fn or(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    /// Or counted in another unit.
    pub fn or_in(mut self, dimension: Dimension) -> Self {
        self.dimensions.push(dimension);
        self
    }

    /// With words about its units.
    pub fn of(self, what: &'static str) -> Self {
        Self { what, ..self }
    }
}

macro_rules! from_forms {
    ($($form:ident),*) => {
        $(impl From<$form> for Written {
            fn from(form: $form) -> Self {
                Written::$form(form)
            }
        })*
    };
}

from_forms!(Whole, Number, Quantity);

impl Written {
    /// The range in words, of a number.
    pub fn range(&self) -> String {
        match self {
            Written::Whole(whole) => format!("{} to {}", whole.low, whole.high),
            Written::OneOf(_, text) => (*text).to_owned(),
            Written::Part(_) => above(0.0).to(1.0).range(),
            Written::Number(number) => number.range(),
            _ => unreachable!("{self:?} has no range"),
        }
    }
}

/// A number whose range is that in which people write it.
pub trait Ranged: Copy + Display {
    /// Returns whether it is in the range.
    fn is_in(self, written: &Written) -> bool;
}

impl Ranged for u64 {
    fn is_in(self, written: &Written) -> bool {
        match written {
            Written::Whole(whole) => (whole.low..=whole.high).contains(&self),
            Written::OneOf(values, _) => values.contains(&self),
            _ => unreachable!("{written:?} is no whole number"),
        }
    }
}

impl Ranged for u32 {
    fn is_in(self, written: &Written) -> bool {
        u64::from(self).is_in(written)
    }
}

impl Ranged for f64 {
    fn is_in(self, written: &Written) -> bool {
        match written {
            Written::Number(number) => number.has(self),
            Written::Part(_) => above(0.0).to(1.0).has(self),
            _ => unreachable!("{written:?} is no number"),
        }
    }
}
