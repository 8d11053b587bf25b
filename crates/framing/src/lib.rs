//! Framings: what of the rate of a link carries ATM cells, or what each IP packet takes of the line beside itself.
//!
//! A framing is its file, which declares its parameters and what it takes, and its line in the list of kinds below. A
//! run's spec has what follows from it: the time of a cell, or a `PacketFraming`.

mod cells;
mod custom;
mod dvb_s2;
mod ethernet;
mod gse;
mod ip;
mod ppp;

pub use cells::{Ds3PlcpSpec, NoOverheadSpec, Sts3cSpec, Sts12cSpec};
pub use custom::CustomSpec;
pub use dvb_s2::{FrameSize, Modcod};
pub use ethernet::EthernetSpec;
pub use gse::{GseSpec, Label};
pub use ip::IpSpec;
pub use ppp::{CheckSequence, PppSpec};

use serde::{Deserialize, Serialize};
use skycell_declare::{Context, Declare, Refusal, Rule};

/// A framing that is declared.
pub trait Framing: Rule {
    /// Returns its overhead.
    ///
    /// # Errors
    /// The parameter that does not go with the others.
    fn overhead(&self) -> Result<Overhead, Refusal>;
}

/// A number of parts of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    /// How many.
    pub parts: u64,
    /// Of how many, above zero.
    pub whole: u64,
}

impl Part {
    /// All of it.
    pub const ALL: Part = Part::of(1, 1);

    /// So many of so many.
    pub const fn of(parts: u64, whole: u64) -> Self {
        Part { parts, whole }
    }
}

/// The overhead of a framing on a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overhead {
    /// Bits of cells, or of the line on which packets go, for each bit or symbol of the rate that a link states.
    pub carried: Part,
    /// Overhead of a packet on that line; none for a framing of cells.
    pub packet: Option<PacketOverhead>,
    /// Shares of the link by layer, in their order, together 1; none where there is one layer.
    pub layers: Vec<(&'static str, Part)>,
}

impl Overhead {
    /// A framing of cells, which have a part of the rate.
    pub const fn of_cells(carried: Part) -> Self {
        Overhead {
            carried,
            packet: None,
            layers: Vec::new(),
        }
    }

    /// A line of packets at the rate that the link states.
    pub const fn of_packets(packet: PacketOverhead) -> Self {
        Overhead {
            carried: Part::ALL,
            packet: Some(packet),
            layers: Vec::new(),
        }
    }
}

/// The overhead of a packet on a line: ceil((max(n, least) + overhead) / unit) units of
/// `line_octets` for n octets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PacketOverhead {
    /// Octets beside the packet.
    pub overhead_octets: u32,
    /// Octets to which a shorter packet is padded.
    pub least_octets: u32,
    /// Octets of a unit, above zero.
    pub unit_octets: u32,
    /// Octets that a unit takes of the line, above zero.
    pub line_octets: u32,
}

impl PacketOverhead {
    /// So many octets beside each packet, and no padding or units.
    pub const fn beside(overhead_octets: u32) -> Self {
        PacketOverhead {
            overhead_octets,
            least_octets: 0,
            unit_octets: 1,
            line_octets: 1,
        }
    }
}

macro_rules! framings {
    ($($kind:ident($spec:ident),)+) => {
        /// How a link carries what it is given.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
        #[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
        pub enum FramingSpec {
            $(#[doc = concat!("See [`", stringify!($spec), "`].")] $kind($spec),)+
        }

        impl FramingSpec {
            /// Returns its overhead.
            ///
            /// # Errors
            /// The first parameter out of its range, or that does not go with the others.
            pub fn overhead(&self) -> Result<Overhead, Refusal> {
                match self {
                    $(FramingSpec::$kind(framing) => {
                        framing.check(&Context::default())?;
                        framing.overhead()
                    })+
                }
            }
        }
    };
}

framings! {
    None(NoOverheadSpec),
    Sts3c(Sts3cSpec),
    Sts12c(Sts12cSpec),
    Ds3Plcp(Ds3PlcpSpec),
    Ip(IpSpec),
    Ethernet(EthernetSpec),
    Ppp(PppSpec),
    Custom(CustomSpec),
    Gse(GseSpec),
}
