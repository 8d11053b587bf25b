//! No framing of packets.

use crate::{Framing, Overhead, PacketOverhead};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, Refusal};

/// IP packets alone: the rate is that at which the link carries their octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
#[rule(carries = "packets")]
pub struct IpSpec {}

impl Framing for IpSpec {
    fn overhead(&self) -> Result<Overhead, Refusal> {
        Ok(Overhead::of_packets(PacketOverhead::beside(0)))
    }
}
