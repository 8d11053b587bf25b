//! Bit errors on a link: which of its bits a unit takes, and what becomes of it when some are wrong.

use crate::frames::Cell;
use skycell_atm::{HEADER_BITS, Header, Hec};
use skycell_channel::BitChannel;
use skycell_records::{ErrorRecord, LossReason};
use skycell_spec::{LinkSpec, PacketFraming};
use skycell_units::{CELL_OCTETS, SimTime};

/// Bits of a cell.
const CELL_BITS: u64 = 8 * CELL_OCTETS;
/// Picoseconds in which a line of one thousandth of a bit a second sends a bit.
const PS_PER_BIT: u128 = 1_000_000_000_000_000;

/// The effect of bit errors on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Struck {
    /// Nothing, or nothing that is left of them.
    Right,
    /// The payload of a cell has some, or of a packet what the check of its frame does not cover.
    Payload,
    /// It is lost.
    Lost(LossReason),
}

/// The bit errors of one link, and the receiver of its cells' headers.
#[derive(Debug)]
pub(crate) struct BitErrors {
    channel: BitChannel,
    /// How the link carries packets, if it does, and whether its rate is always the same.
    packets: Option<PacketFraming>,
    is_steady: bool,
    line: Line,
    hec: Hec,
    record: ErrorRecord,
}

/// Counts the bits of a line from the start of the run, sent or idle.
#[derive(Debug, Default)]
struct Line {
    /// So many bits in so many picoseconds, from this time and bit on; none before the first unit.
    rate: Option<(u128, u128)>,
    since: SimTime,
    bit: u64,
    /// The first bit that no unit has taken yet.
    free: u64,
}

impl BitErrors {
    /// Those of the link that `spec` describes, if it has any.
    pub(crate) fn new(spec: &LinkSpec, seed: u64) -> Option<Self> {
        let channel = BitChannel::new(spec.channel.as_ref()?, seed, &spec.name)?;
        let mut schedules = spec.schedule.iter();
        let has_one_rate = spec.receivers.is_empty();
        Some(BitErrors {
            channel,
            packets: spec.framing,
            is_steady: has_one_rate && schedules.all(|own| own.rates_millibps.is_empty()),
            line: Line::default(),
            hec: Hec::default(),
            record: ErrorRecord::default(),
        })
    }

    /// Returns the effects so far.
    pub(crate) fn record(&self) -> ErrorRecord {
        self.record
    }

    /// A unit has been sent from `since` to `now`, after all others.
    pub(crate) fn on_cell(&mut self, since: SimTime, now: SimTime, cell: &Cell) -> Struck {
        match self.packets {
            Some(framing) => self.on_packet(since, now, &framing, cell.octets),
            None => self.on_atm_cell(since, now, cell),
        }
    }

    /// A packet with a wrong bit fails the check sequence of its frame, if that covers the bit.
    fn on_packet(
        &mut self,
        since: SimTime,
        now: SimTime,
        framing: &PacketFraming,
        octets: u32,
    ) -> Struck {
        let bits = 8 * framing.octets_on_line(octets.into());
        let rate = match self.is_steady {
            true => (u128::from(framing.rate_millibps), PS_PER_BIT),
            false => (u128::from(bits), u128::from((now - since).0)),
        };
        let (first, _) = self.line.take(since, bits, rate);
        let wrong = self.channel.first_from(first);
        if wrong >= first + bits {
            return Struck::Right;
        }
        let checked = framing.checked_octets.map(|octets| 8 * u64::from(octets));
        if checked.is_some_and(|checked| wrong >= first + checked) {
            self.record.payloads += 1;
            return Struck::Payload;
        }
        self.record.checks_failed += 1;
        Struck::Lost(LossReason::Check)
    }

    fn on_atm_cell(&mut self, since: SimTime, now: SimTime, cell: &Cell) -> Struck {
        let rate = (u128::from(CELL_BITS), u128::from((now - since).0));
        let (first, idle) = self.line.take(since, CELL_BITS, rate);
        if idle >= CELL_BITS {
            // The line is full of cells (I.432.1 section 4.4): of idle ones the last leaves the receiver in its mode.
            let wrong = self.wrong_of_header(first - CELL_BITS);
            self.hec.on_header(wrong);
        }
        let wrong = self.wrong_of_header(first);
        match self.hec.on_header(wrong) {
            Header::Discarded => {
                self.record.headers_lost += 1;
                return Struck::Lost(LossReason::Header);
            }
            Header::Misinserted => {
                self.record.misinserted += 1;
                return Struck::Lost(LossReason::Misinserted);
            }
            Header::Corrected => self.record.headers_corrected += 1,
            Header::Right => {}
        }
        let payload = first + u64::from(HEADER_BITS);
        if self.channel.first_from(payload) >= first + CELL_BITS {
            return Struck::Right;
        }
        if cell.rm.is_some() {
            // Its CRC-10 sees them (af-tm-0056 section 5.10.3.1).
            self.record.checks_failed += 1;
            return Struck::Lost(LossReason::Check);
        }
        self.record.payloads += 1;
        Struck::Payload
    }

    /// Which bits of the header are wrong that begins with bit `first` of the line.
    fn wrong_of_header(&mut self, first: u64) -> u64 {
        let end = first + u64::from(HEADER_BITS);
        let (mut wrong, mut from) = (0, first);
        loop {
            let bit = self.channel.first_from(from);
            if bit >= end {
                return wrong;
            }
            wrong |= 1 << (bit - first);
            from = bit + 1;
        }
    }
}

impl Line {
    /// A unit takes so many bits from `time` on, at a rate of so many bits in so many picoseconds. Its first bit, and
    /// how many before it were idle.
    fn take(&mut self, time: SimTime, bits: u64, rate: (u128, u128)) -> (u64, u64) {
        if let Some(before) = self.rate.filter(|before| *before != rate) {
            self.bit = self.at(time, before);
            self.since = time;
        }
        self.rate = Some(rate);
        // Times are rounded: one unit right behind another takes the next bit.
        let first = self.at(time, rate).max(self.free);
        let idle = first - self.free;
        self.free = first + bits;
        (first, idle)
    }

    /// The bit that begins at `time`, or next to it.
    fn at(&self, time: SimTime, (bits, ps): (u128, u128)) -> u64 {
        let since = u128::from((time - self.since).0);
        self.bit + ((2 * since * bits + ps) / (2 * ps)) as u64
    }
}

#[cfg(test)]
#[path = "bit_errors_tests.rs"]
mod tests;
