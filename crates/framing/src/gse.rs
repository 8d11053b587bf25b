//! Generic Stream Encapsulation over DVB-S2.

use crate::dvb_s2::{BB_HEADER, FrameSize, Modcod, PlFrame};
use crate::{Framing, Overhead, PacketOverhead, Part};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, Refusal,
    types::{Flag, FromZeroToOne},
};

/// Octets of a GSE packet's header beside the label (TS 102 606-1 section 4.2): start, end, label type, length;
/// protocol type.
const HEADER: u32 = 2 + 2;
/// Octets that a split packet has more: fragment number and total length in its first part; header, fragment number
/// and CRC in its last one (TS 102 606-1 section 4.2).
const SPLIT: u64 = (1 + 2) + (2 + 1 + 4);

/// GSE packets in the BBFRAMEs of a DVB-S2 carrier, whose symbol rate is the link's rate.
///
/// Every BBFRAME is taken to split one packet, as it does where the carrier is full.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(carries = "packets", rate = "symbols")]
pub struct GseSpec {
    /// Constellation and code rate.
    #[param(word, symbol = "MODCOD")]
    pub modcod: Modcod,
    /// FECFRAMEs of 64 800 or 16 200 bits.
    #[param(word, default = "normal", source = "EN 302 307-1 section 5.3")]
    pub frame: FrameSize,
    /// 36 pilot symbols after every 16 slots.
    #[param(default = true, source = "choice: as most carriers have")]
    pub pilots: Flag,
    /// Address of each GSE packet.
    #[param(
        word,
        default = "6 B",
        source = "TS 102 606-1: as long as an Ethernet address"
    )]
    pub label: Label,
    /// Roll-off of the pulses: a carrier occupies 1 + roll-off times its symbol rate; for `skycell budget` alone.
    #[param(
        default = 0.2,
        symbol = "α",
        source = "EN 302 307-1 section 5.6: the least of 0.35, 0.25 and 0.20"
    )]
    pub roll_off: FromZeroToOne,
}

/// The label of a GSE packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// Six octets.
    #[written("6 B")]
    Long,
    /// Three octets.
    #[written("3 B")]
    Short,
    /// No label.
    None,
}

impl Framing for GseSpec {
    fn overhead(&self) -> Result<Overhead, Refusal> {
        let frame = PlFrame::of(self.modcod, self.frame, self.pilots).ok_or_else(|| {
            let allowed = "a code rate below 9/10, which short frames do not have";
            Refusal::new("modcod", self.modcod.written(), allowed)
        })?;
        let label = match self.label {
            Label::Long => 6,
            Label::Short => 3,
            Label::None => 0,
        };
        let left = frame.information - BB_HEADER - SPLIT;
        // Coded bits of all frames stand for the carrier's symbols, in proportion.
        let whole = frame.symbols * frame.coded_bits;
        let coded = frame.payload_symbols * frame.coded_bits;
        let octet = frame.payload_symbols * 8;
        let layers = [
            ("physical layer header and pilots", whole - coded),
            ("code", coded - octet * frame.information),
            ("BBFRAME header", octet * BB_HEADER),
            ("split packets", octet * SPLIT),
            ("packets", octet * left),
        ];
        Ok(Overhead {
            carried: Part::of(8 * left, frame.symbols),
            packet: Some(PacketOverhead::beside(HEADER + label)),
            layers: layers
                .map(|(name, parts)| (name, Part::of(parts, whole)))
                .to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gse(modcod: Modcod, frame: FrameSize) -> GseSpec {
        GseSpec {
            modcod,
            frame,
            pilots: true,
            label: Label::Short,
            roll_off: 0.2,
        }
    }

    #[test]
    fn the_layers_share_all_symbols() {
        for &modcod in Modcod::ALL {
            let overhead = gse(modcod, FrameSize::Normal).overhead().unwrap();
            let whole = overhead.layers[0].1.whole;
            assert!(overhead.layers.iter().all(|(_, share)| share.parts > 0));
            let parts: u64 = overhead.layers.iter().map(|(_, share)| share.parts).sum();
            assert_eq!(parts, whole);
        }
    }

    #[test]
    fn a_carrier_is_a_line_of_gse_packets() {
        let overhead = gse(Modcod::Psk8_3_4, FrameSize::Normal).overhead().unwrap();
        // 6051 octets a frame of 22 194 symbols, 10 of its header and 10 of a packet that is split.
        assert_eq!(overhead.carried, Part::of(8 * (6051 - 20), 22_194));
        assert_eq!(overhead.packet, Some(PacketOverhead::beside(4 + 3)));
    }

    #[test]
    fn a_short_frame_does_not_have_the_code_rate_9_10() {
        let refused = gse(Modcod::Qpsk9_10, FrameSize::Short)
            .overhead()
            .unwrap_err();
        assert_eq!((&*refused.field, &*refused.got), ("modcod", "QPSK 9/10"));
    }
}
