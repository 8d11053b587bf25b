//! Links that carry packets: what a packet takes of the line.

use crate::SpecError;
use crate::check::range;
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, is_default};
use skycell_units::Octets;

/// Longest time of a packet, picoseconds: an hour, that of 65 535 octets at 146 bit/s.
const PACKET_TIME_MAX_PS: u128 = 3_600 * 1_000_000_000_000;
/// Octets of the header of an IP packet without options.
pub const IP_HEADER: Octets = 20;
/// Longest packet that goes whole everywhere, octets (RFC 791, section 3.2).
const LEAST_MTU: u32 = 68;
/// Longest IP packet, octets (RFC 791: the length field has 16 bits).
pub(crate) const LONGEST_PACKET: Octets = 65_535;

/// How a link carries packets. A link without it carries ATM cells.
///
/// An IP packet of n octets goes with its overhead into whole units: it takes
/// ceil((max(n, `least_octets`) + `overhead_octets`) / `unit_octets`) of them, each `line_octets` long on the
/// line. Ethernet has units of one octet, n of 46 at least, and 38 octets from preamble to gap; packets in ATM cells
/// of a modem have units of 48 octets that are 53 on the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct PacketFraming {
    /// Rate of the line, thousandths of a bit a second, above zero. Where it changes, the greatest.
    pub rate_millibps: u64,
    /// Octets that each packet has beside itself.
    pub overhead_octets: u32,
    /// Octets to which shorter packets are padded.
    pub least_octets: u32,
    /// Octets of a unit, above zero.
    pub unit_octets: u32,
    /// Octets that a unit takes of the line, above zero.
    pub line_octets: u32,
    /// Longest packet that goes whole, at least 68; a longer one goes in fragments (RFC 791). The key is left out for a link
    /// to whose port no longer packet may come.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fragment_octets: Option<u32>,
    /// Octets of what a packet takes of the line, from its beginning, that the check of its frame covers, above zero: a bit
    /// error behind them goes on to the checksum at the end of its route. The key is left out where the check covers all.
    #[serde(default, skip_serializing_if = "is_default")]
    pub checked_octets: Option<u32>,
}

impl PacketFraming {
    /// Octets that a packet takes of the line, in fragments where it is too long.
    pub fn octets_on_line(&self, packet: Octets) -> Octets {
        match self.fragment_octets {
            Some(mtu) if packet > mtu.into() => {
                let payloads = fragments(packet as u32, mtu).map(Octets::from);
                payloads
                    .map(|payload| self.octets_of_whole(payload + IP_HEADER))
                    .sum()
            }
            _ => self.octets_of_whole(packet),
        }
    }

    fn octets_of_whole(&self, packet: Octets) -> Octets {
        let framed = packet.max(self.least_octets.into()) + Octets::from(self.overhead_octets);
        framed.div_ceil(self.unit_octets.into()) * Octets::from(self.line_octets)
    }

    /// Time that a packet takes at a rate in thousandths of a bit a second, picoseconds, rounded half up once.
    pub fn time_at_ps(&self, packet: Octets, rate_millibps: u64) -> u64 {
        let bits = u128::from(self.octets_on_line(packet)) * 8;
        let (bits, rate) = (bits * 1_000_000_000_000_000, u128::from(rate_millibps));
        u64::try_from((2 * bits + rate) / (2 * rate)).unwrap_or(u64::MAX)
    }

    /// Time that a packet takes at the line's own rate, picoseconds.
    pub fn time_ps(&self, packet: Octets) -> u64 {
        self.time_at_ps(packet, self.rate_millibps)
    }

    /// Refuses what cannot be simulated.
    pub(crate) fn validate(&self, path: &str) -> Result<(), SpecError> {
        let at = |key: &str| format!("{path}.{key}");
        for (key, value) in [
            ("rate_millibps", self.rate_millibps),
            ("unit_octets", self.unit_octets.into()),
            ("line_octets", self.line_octets.into()),
        ] {
            if value == 0 {
                return Err(range(at(key), 0, "above 0"));
            }
        }
        for (key, value) in [
            ("overhead_octets", self.overhead_octets),
            ("least_octets", self.least_octets),
            ("unit_octets", self.unit_octets),
            ("line_octets", self.line_octets),
        ] {
            if value > 65_535 {
                return Err(range(at(key), value, "at most 65535"));
            }
        }
        if self.checked_octets == Some(0) {
            return Err(range(at("checked_octets"), 0, "above 0"));
        }
        if let Some(mtu) = self.fragment_octets
            && !(LEAST_MTU..=LONGEST_PACKET as u32).contains(&mtu)
        {
            let allowed = "from 68 to 65535 octets, which every host and router takes (RFC 791)";
            return Err(range(at("fragment_octets"), mtu, allowed));
        }
        self.validate_rate(self.rate_millibps, &at("rate_millibps"))
    }

    /// Refuses a rate at which the longest packet takes too long, or the shortest no time.
    pub(crate) fn validate_rate(&self, rate_millibps: u64, path: &str) -> Result<(), SpecError> {
        let longest = u128::from(self.time_at_ps(LONGEST_PACKET, rate_millibps));
        if rate_millibps == 0 || longest > PACKET_TIME_MAX_PS {
            let allowed = "a rate at which a packet of 65535 octets takes at most an hour";
            return Err(range(path.to_owned(), rate_millibps, allowed));
        }
        if self.time_at_ps(1, rate_millibps) == 0 {
            let allowed = "a rate at which a packet of one octet takes a picosecond or more";
            return Err(range(path.to_owned(), rate_millibps, allowed));
        }
        Ok(())
    }
}

/// Octets of payload of the fragments of a packet that is longer than `mtu`, at least 68, in order: as many as fit, in whole
/// units of 8 octets, and the rest (RFC 791, section 3.2).
pub fn fragments(packet: u32, mtu: u32) -> impl Iterator<Item = u32> {
    let (payload, most) = (packet - IP_HEADER as u32, (mtu - IP_HEADER as u32) / 8 * 8);
    (0..payload.div_ceil(most)).map(move |k| most.min(payload - k * most))
}

/// Refuses a rate at which the octets of a packet take too long, or none of the time.
pub(crate) fn validate_rate(rate_millibps: u64, path: &str) -> Result<(), SpecError> {
    let plain = PacketFraming {
        rate_millibps,
        overhead_octets: 0,
        least_octets: 0,
        unit_octets: 1,
        line_octets: 1,
        fragment_octets: None,
        checked_octets: None,
    };
    plain.validate_rate(rate_millibps, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBIT: u64 = 1_000_000_000;

    fn plain(rate_millibps: u64) -> PacketFraming {
        PacketFraming {
            rate_millibps,
            overhead_octets: 0,
            least_octets: 0,
            unit_octets: 1,
            line_octets: 1,
            fragment_octets: None,
            checked_octets: None,
        }
    }

    #[test]
    fn a_packet_takes_its_octets_at_the_rate_of_the_line_rounded_once() {
        // 1500 octets are 12 000 bits: 1.2 ms at 10 Mbit/s; a third of a bit/s more rounds half up.
        assert_eq!(plain(10 * MBIT).time_ps(1_500), 1_200_000_000);
        assert_eq!(plain(3 * MBIT).time_ps(1), 2_666_667);
        assert_eq!(plain(16_000_000_000_000_000).time_ps(1), 1); // half a picosecond
    }

    #[test]
    fn ethernet_pads_short_packets_and_has_38_octets_from_preamble_to_gap() {
        // IEEE 802.3: 8 of preamble, 14 of header, 46 or more of payload, 4 of check sequence, 12 of gap.
        let ethernet = PacketFraming {
            overhead_octets: 38,
            least_octets: 46,
            ..plain(100 * MBIT)
        };
        let frames = [40, 46, 47, 1_500].map(|packet| ethernet.octets_on_line(packet));
        assert_eq!(frames, [84, 84, 85, 1_538]);
        // 148 810 of the shortest frames a second at 100 Mbit/s (RFC 2544 section 9.1 rounds to 148 809).
        assert_eq!(ethernet.time_ps(40), 6_720_000);
    }

    #[test]
    fn units_of_a_modem_are_longer_on_the_line_than_what_they_hold() {
        // 40 octets in AAL5 with 8 of LLC/SNAP and 8 of trailer: two cells; with 8 of trailer alone one.
        let modem = |overhead_octets| PacketFraming {
            overhead_octets,
            unit_octets: 48,
            line_octets: 53,
            ..plain(MBIT)
        };
        assert_eq!(modem(16).octets_on_line(40), 106);
        assert_eq!(modem(8).octets_on_line(40), 53);
    }

    #[test]
    fn what_takes_no_time_or_too_much_is_refused() {
        let refused = |framing: PacketFraming| framing.validate("f").unwrap_err().to_string();
        assert!(plain(MBIT).validate("f").is_ok());
        assert!(refused(plain(0)).starts_with("f.rate_millibps"));
        assert!(refused(plain(1)).contains("at most an hour"));
        assert!(refused(plain(u64::MAX)).contains("a picosecond or more"));
        let no_unit = PacketFraming {
            unit_octets: 0,
            ..plain(MBIT)
        };
        assert!(refused(no_unit).starts_with("f.unit_octets"));
        let no_check = PacketFraming {
            checked_octets: Some(0),
            ..plain(MBIT)
        };
        assert!(refused(no_check).starts_with("f.checked_octets"));
    }

    #[test]
    fn fragments_have_whole_units_of_eight_octets_but_for_the_last() {
        let payloads = |packet, mtu| fragments(packet, mtu).collect::<Vec<_>>();
        assert_eq!(payloads(1_500, 576), [552, 552, 376]);
        assert_eq!(payloads(577, 576), [552, 5]);
        assert_eq!(payloads(116, 68), [48, 48]);
        let over_576 = PacketFraming {
            fragment_octets: Some(576),
            ..plain(MBIT)
        };
        assert_eq!(
            [576, 1_500].map(|n| over_576.octets_on_line(n)),
            [576, 1_540]
        );
        let small = PacketFraming {
            fragment_octets: Some(67),
            ..over_576
        };
        assert!(small.validate("framing").is_err());
    }
}
