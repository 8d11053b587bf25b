//! The header error control of a cell (I.432.1 section 4.3.2): one receiver for each link.
//!
//! Its eighth octet is the remainder of the other four by x^8 + x^2 + x + 1, so that a single wrong bit can be told
//! from two. In the correction mode a single wrong bit is corrected; after any header with errors that are
//! seen, the receiver is in the detection mode, in which every such header's cell is discarded, up to the first without.

/// Bits of a cell's header, the eight of the HEC included.
pub const HEADER_BITS: u32 = 40;
/// x^8 + x^2 + x + 1 without its highest term.
const GENERATOR: u8 = 0b0000_0111;

/// The fate of a cell, decided by its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// It has come as it was sent.
    Right,
    /// It had one wrong bit, which has been corrected.
    Corrected,
    /// Its errors were seen: the cell is discarded.
    Discarded,
    /// It is wrong, and taken for right: the cell goes where that leads.
    Misinserted,
}

/// The receiver's state.
#[derive(Clone, Debug, Default)]
pub struct Hec {
    detects_only: bool,
}

impl Hec {
    /// A header comes of which these bits are wrong: bit i of the mask for the i-th that is sent, from 0.
    pub fn on_header(&mut self, wrong: u64) -> Header {
        let syndrome = (0..HEADER_BITS)
            .filter(|bit| wrong >> bit & 1 == 1)
            .fold(0, |sum, bit| sum ^ syndrome_of(bit));
        let was_detecting = std::mem::replace(&mut self.detects_only, syndrome != 0);
        if syndrome == 0 {
            return match wrong {
                0 => Header::Right,
                _ => Header::Misinserted,
            };
        }
        let single = (0..HEADER_BITS).find(|&bit| syndrome_of(bit) == syndrome);
        match single {
            Some(bit) if !was_detecting && wrong == 1 << bit => Header::Corrected,
            Some(_) if !was_detecting => Header::Misinserted,
            _ => Header::Discarded,
        }
    }
}

/// The remainder that a wrong bit leaves: x^(39 - i) for the i-th that is sent.
fn syndrome_of(bit: u32) -> u8 {
    (bit + 1..HEADER_BITS).fold(1u8, |rest, _| {
        let overflow = rest >> 7;
        (rest << 1) ^ (overflow * GENERATOR)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_bit_is_corrected_and_two_are_seen() {
        for one in 0..HEADER_BITS {
            assert_eq!(Hec::default().on_header(1 << one), Header::Corrected);
            for other in 0..one {
                let two = 1 << one | 1 << other;
                assert_eq!(Hec::default().on_header(two), Header::Discarded);
            }
        }
    }

    #[test]
    fn the_code_is_the_one_of_the_standard() {
        // I.432.1 figure 9 and table: the idle cell's header 00 00 00 01 has the HEC 52 with the pattern 01010101 added,
        // 07 without: a wrong last bit of octet 4 and the wrong bits of 07 are a word of the code.
        let mut wrong = 1u64 << 31;
        for bit in 0..8 {
            wrong |= u64::from(0x07u8 >> (7 - bit) & 1) << (32 + bit);
        }
        assert_eq!(Hec::default().on_header(wrong), Header::Misinserted);
    }

    #[test]
    fn after_an_error_single_ones_are_discarded_up_to_a_header_without() {
        let mut hec = Hec::default();
        let fates = [1, 1, 2, 0, 4, 0, 0b11, 8, 0, 8].map(|wrong| hec.on_header(wrong));
        use Header::{Corrected, Discarded, Right};
        let expected = [
            Corrected, Discarded, Discarded, Right, Corrected, Right, Discarded, Discarded, Right,
            Corrected,
        ];
        assert_eq!(fates, expected);
    }

    #[test]
    fn three_wrong_bits_may_be_taken_for_one_but_not_in_the_detection_mode() {
        let mut taken = 0;
        for a in 0..HEADER_BITS {
            for b in 0..a {
                for c in 0..b {
                    let wrong = 1 << a | 1 << b | 1 << c;
                    let mut detecting = Hec { detects_only: true };
                    assert_eq!(detecting.on_header(wrong), Header::Discarded);
                    let fate = Hec::default().on_header(wrong);
                    assert!(fate == Header::Discarded || fate == Header::Misinserted);
                    taken += u32::from(fate == Header::Misinserted);
                }
            }
        }
        // Of 9880. A remainder of odd weight is one of 128, 40 of them those of single bits: about 40 / 128.
        assert!((2_500..3_700).contains(&taken), "{taken}");
    }
}
