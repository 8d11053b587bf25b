//! Frames of DVB-S2: what is in one of a carrier's (ETSI EN 302 307-1).

use serde::{Deserialize, Serialize};
use skycell_declare::Declare;

/// Information bits of a BBFRAME, K_bch, by code rate: of a normal and of a short FECFRAME (tables 5a and 5b); a short
/// one does not have 9/10.
const INFORMATION: [(&str, u64, u64); 11] = [
    ("1/4", 16_008, 3_072),
    ("1/3", 21_408, 5_232),
    ("2/5", 25_728, 6_312),
    ("1/2", 32_208, 7_032),
    ("3/5", 38_688, 9_552),
    ("2/3", 43_040, 10_632),
    ("3/4", 48_408, 11_712),
    ("4/5", 51_648, 12_432),
    ("5/6", 53_840, 13_152),
    ("8/9", 57_472, 14_232),
    ("9/10", 58_192, 0),
];
/// Symbols of a slot, and of the header of a PLFRAME (section 5.5).
const SLOT: u64 = 90;
/// A block of pilots after every 16 slots but the last ones (section 5.5.3).
const PILOTS: u64 = 36;
const SLOTS_BETWEEN: u64 = 16;
/// Octets of the header of a BBFRAME (section 5.1.6).
pub const BB_HEADER: u64 = 10;

macro_rules! modcods {
    ($($name:ident = $written:literal, $bits:literal, $rate:literal;)+) => {
        /// A constellation with a code rate, of those that there are (table 12).
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
        #[serde(rename_all = "snake_case")]
        pub enum Modcod {
            $(#[doc = $written] #[written($written)] $name,)+
        }

        impl Modcod {
            /// All of them.
            pub const ALL: &[Modcod] = &[$(Modcod::$name),+];

            /// As files have it.
            pub const fn written(self) -> &'static str {
                match self {
                    $(Modcod::$name => $written,)+
                }
            }

            /// Bits of a symbol, and the code rate.
            const fn parts(self) -> (u64, &'static str) {
                match self {
                    $(Modcod::$name => ($bits, $rate),)+
                }
            }
        }
    };
}

modcods! {
    Qpsk1_4 = "QPSK 1/4", 2, "1/4";
    Qpsk1_3 = "QPSK 1/3", 2, "1/3";
    Qpsk2_5 = "QPSK 2/5", 2, "2/5";
    Qpsk1_2 = "QPSK 1/2", 2, "1/2";
    Qpsk3_5 = "QPSK 3/5", 2, "3/5";
    Qpsk2_3 = "QPSK 2/3", 2, "2/3";
    Qpsk3_4 = "QPSK 3/4", 2, "3/4";
    Qpsk4_5 = "QPSK 4/5", 2, "4/5";
    Qpsk5_6 = "QPSK 5/6", 2, "5/6";
    Qpsk8_9 = "QPSK 8/9", 2, "8/9";
    Qpsk9_10 = "QPSK 9/10", 2, "9/10";
    Psk8_3_5 = "8PSK 3/5", 3, "3/5";
    Psk8_2_3 = "8PSK 2/3", 3, "2/3";
    Psk8_3_4 = "8PSK 3/4", 3, "3/4";
    Psk8_5_6 = "8PSK 5/6", 3, "5/6";
    Psk8_8_9 = "8PSK 8/9", 3, "8/9";
    Psk8_9_10 = "8PSK 9/10", 3, "9/10";
    Apsk16_2_3 = "16APSK 2/3", 4, "2/3";
    Apsk16_3_4 = "16APSK 3/4", 4, "3/4";
    Apsk16_4_5 = "16APSK 4/5", 4, "4/5";
    Apsk16_5_6 = "16APSK 5/6", 4, "5/6";
    Apsk16_8_9 = "16APSK 8/9", 4, "8/9";
    Apsk16_9_10 = "16APSK 9/10", 4, "9/10";
    Apsk32_3_4 = "32APSK 3/4", 5, "3/4";
    Apsk32_4_5 = "32APSK 4/5", 5, "4/5";
    Apsk32_5_6 = "32APSK 5/6", 5, "5/6";
    Apsk32_8_9 = "32APSK 8/9", 5, "8/9";
    Apsk32_9_10 = "32APSK 9/10", 5, "9/10";
}

/// A FECFRAME.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum FrameSize {
    /// 64 800 bits.
    Normal,
    /// 16 200 bits.
    Short,
}

/// A frame of the physical layer, and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlFrame {
    /// Symbols, header and pilots included.
    pub symbols: u64,
    /// Symbols that carry coded bits.
    pub payload_symbols: u64,
    /// Bits of the code word.
    pub coded_bits: u64,
    /// Octets of the BBFRAME, its header included.
    pub information: u64,
}

impl PlFrame {
    /// The frame of a modulation and code; none where a short frame does not have the code rate.
    pub fn of(modcod: Modcod, size: FrameSize, has_pilots: bool) -> Option<Self> {
        let (bits, rate) = modcod.parts();
        let (_, normal, short) = INFORMATION.iter().find(|(own, ..)| *own == rate)?;
        let (information, coded_bits) = match size {
            FrameSize::Normal => (*normal, 64_800),
            FrameSize::Short => (*short, 16_200),
        };
        let payload_symbols = coded_bits / bits;
        let slots = payload_symbols / SLOT;
        let blocks = if has_pilots {
            (slots - 1) / SLOTS_BETWEEN
        } else {
            0
        };
        (information > 0).then_some(PlFrame {
            symbols: SLOT * (1 + slots) + PILOTS * blocks,
            payload_symbols,
            coded_bits,
            information: information / 8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FrameSize::{Normal, Short};

    #[test]
    fn efficiencies_are_those_of_the_standard() {
        // EN 302 307-1 table 13: bits of a BBFRAME without its header a symbol, normal frames, no pilots.
        let printed = [
            ("QPSK 1/4", 0.490243),
            ("QPSK 1/3", 0.656448),
            ("QPSK 2/5", 0.789412),
            ("QPSK 1/2", 0.988858),
            ("QPSK 3/5", 1.188304),
            ("QPSK 2/3", 1.322253),
            ("QPSK 3/4", 1.487473),
            ("QPSK 4/5", 1.587196),
            ("QPSK 5/6", 1.654663),
            ("QPSK 8/9", 1.766451),
            ("QPSK 9/10", 1.788612),
            ("8PSK 3/5", 1.779991),
            ("8PSK 2/3", 1.980636),
            ("8PSK 3/4", 2.228124),
            ("8PSK 5/6", 2.478562),
            ("8PSK 8/9", 2.646012),
            ("8PSK 9/10", 2.679207),
            ("16APSK 2/3", 2.637201),
            ("16APSK 3/4", 2.966728),
            ("16APSK 4/5", 3.165623),
            ("16APSK 5/6", 3.300184),
            ("16APSK 8/9", 3.523143),
            ("16APSK 9/10", 3.567342),
            ("32APSK 3/4", 3.703295),
            ("32APSK 4/5", 3.951571),
            ("32APSK 5/6", 4.11954),
            ("32APSK 8/9", 4.397854),
            ("32APSK 9/10", 4.453027),
        ];
        assert_eq!(Modcod::ALL.len(), printed.len());
        for (modcod, (name, efficiency)) in Modcod::ALL.iter().zip(printed) {
            let frame = PlFrame::of(*modcod, Normal, false).unwrap();
            let found = 8.0 * (frame.information - BB_HEADER) as f64 / frame.symbols as f64;
            assert_eq!(modcod.written(), name);
            assert!((found - efficiency).abs() <= 0.5e-6, "{name}: {found}");
        }
    }

    #[test]
    fn a_short_code_word_leaves_168_bits_for_bch() {
        // Table 5b: BCH words of 3240 and 14 400 bits, with 12 times 14 bits to correct 12 errors.
        let octets = |modcod| PlFrame::of(modcod, Short, true).map(|frame| frame.information);
        assert_eq!(octets(Modcod::Qpsk1_4), Some((3240 - 168) / 8));
        assert_eq!(octets(Modcod::Qpsk8_9), Some((14_400 - 168) / 8));
        assert_eq!(octets(Modcod::Qpsk9_10), None);
    }

    #[test]
    fn pilots_come_after_every_16_slots_but_not_at_the_end() {
        // 360 slots: 22 blocks; 36 slots: 2 blocks; 16 slots and fewer would have none.
        for (modcod, size, blocks) in [
            (Modcod::Qpsk1_2, Normal, 22),
            (Modcod::Apsk32_3_4, Short, 2),
        ] {
            let symbols = |pilots| PlFrame::of(modcod, size, pilots).unwrap().symbols;
            assert_eq!(symbols(true) - symbols(false), 36 * blocks);
        }
    }
}
