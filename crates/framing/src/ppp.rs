//! PPP.

use crate::{Framing, Overhead, PacketOverhead};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, Refusal, types::Flag};

/// PPP in frames like HDLC's, on a synchronous line; stuffed bits are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(carries = "packets")]
pub struct PppSpec {
    /// The frame check sequence.
    #[param(
        word,
        default = "16 bit",
        symbol = "FCS",
        source = "RFC 1662 section 3.1"
    )]
    pub check_sequence: CheckSequence,
    /// Address and control are left out, and the protocol has one octet.
    #[param(
        default = false,
        source = "RFC 1661 sections 6.5 and 6.6: to be negotiated"
    )]
    pub compressed: Flag,
}

/// The frame check sequence of PPP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(rename_all = "snake_case")]
pub enum CheckSequence {
    /// Two octets.
    #[written("16 bit")]
    Short,
    /// Four octets.
    #[written("32 bit")]
    Long,
}

impl Framing for PppSpec {
    fn overhead(&self) -> Result<Overhead, Refusal> {
        // RFC 1662 section 3.1: one flag between frames, address, control, protocol, FCS.
        let check = match self.check_sequence {
            CheckSequence::Short => 2,
            CheckSequence::Long => 4,
        };
        let header = if self.compressed { 1 } else { 1 + 1 + 2 };
        Ok(Overhead::of_packets(PacketOverhead::beside(
            1 + header + check,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flag_header_and_check_sequence_are_beside_the_packet() {
        for (check_sequence, compressed, octets) in [
            (CheckSequence::Short, false, 7),
            (CheckSequence::Long, false, 9),
            (CheckSequence::Short, true, 4),
        ] {
            let ppp = PppSpec {
                check_sequence,
                compressed,
            };
            let packet = ppp.overhead().unwrap().packet.unwrap();
            assert_eq!(packet, PacketOverhead::beside(octets));
        }
    }
}
