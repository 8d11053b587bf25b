//! Any framing of packets by its numbers.

use crate::{Framing, Overhead, PacketOverhead};
use serde::{Deserialize, Serialize};
use skycell_declare::{
    Declare, Refusal,
    types::{OctetsBeside, OctetsOfUnit, OctetsOfUnitOnLine},
};

/// Any overhead of octets for each packet, perhaps with padding, perhaps in units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(carries = "packets")]
pub struct CustomSpec {
    /// Octets of each packet beside itself.
    #[param(key = "overhead")]
    pub overhead_octets: OctetsBeside,
    /// Octets to which a shorter packet is padded.
    #[param(key = "padded_to", default = "0 B", source = "no padding")]
    pub least_octets: OctetsBeside,
    /// Octets of the units that a packet with its overhead fills, such as 48 B of a modem that uses ATM cells.
    #[param(key = "unit", default = "1 B", source = "no units")]
    pub unit_octets: OctetsOfUnit,
    /// Octets that a unit takes of the line, such as 53 B.
    #[param(key = "unit_on_line", optional, source = "those of the unit")]
    pub line_octets: OctetsOfUnitOnLine,
}

impl Framing for CustomSpec {
    fn overhead(&self) -> Result<Overhead, Refusal> {
        Ok(Overhead::of_packets(PacketOverhead {
            overhead_octets: self.overhead_octets,
            least_octets: self.least_octets,
            unit_octets: self.unit_octets,
            line_octets: match self.line_octets {
                0 => self.unit_octets,
                octets => octets,
            },
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_as_long_on_the_line_as_it_is_unless_that_is_said() {
        let line = |line_octets| {
            let custom = CustomSpec {
                overhead_octets: 16,
                least_octets: 0,
                unit_octets: 48,
                line_octets,
            };
            custom.overhead().unwrap().packet.unwrap().line_octets
        };
        assert_eq!((line(0), line(53)), (48, 53));
    }
}
