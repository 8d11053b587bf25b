//! Ethernet.

use crate::{Framing, Overhead, PacketOverhead};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, Refusal, types::Flag};

/// Octets beside a packet, from preamble to interpacket gap (IEEE 802.3 clause 3): 7 + 1 of preamble and start, 14 of
/// header, 4 of check sequence, 12 of gap (96 bits).
const BESIDE: u32 = 7 + 1 + 14 + 4 + 12;
/// Octets of a packet in the shortest frame, of 64 octets (minFrameSize, IEEE 802.3 clause 4.4.2).
const LEAST: u32 = 64 - 14 - 4;
/// Octets of a VLAN tag, which counts towards those of the shortest frame (IEEE 802.1Q).
const TAG: u32 = 4;

/// Ethernet: 38 octets beside each packet, from preamble to gap, and padding to 46.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(carries = "packets")]
pub struct EthernetSpec {
    /// Frames carry a VLAN tag (IEEE 802.1Q), 4 octets.
    #[param(default = false, source = "untagged frames")]
    pub vlan: Flag,
}

impl Framing for EthernetSpec {
    fn overhead(&self) -> Result<Overhead, Refusal> {
        let tag = if self.vlan { TAG } else { 0 };
        Ok(Overhead::of_packets(PacketOverhead {
            least_octets: LEAST - tag,
            ..PacketOverhead::beside(BESIDE + tag)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_beside_the_packet_and_counts_towards_the_shortest_frame() {
        let packet = |vlan| EthernetSpec { vlan }.overhead().unwrap().packet.unwrap();
        let (plain, tagged) = (packet(false), packet(true));
        assert_eq!((plain.overhead_octets, plain.least_octets), (38, 46));
        assert_eq!((tagged.overhead_octets, tagged.least_octets), (42, 42));
    }
}
