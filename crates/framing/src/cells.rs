//! Framings of ATM cells: the part of the rate that is theirs.

use crate::{Framing, Overhead, Part};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, Refusal};

macro_rules! of_cells {
    ($($doc:literal $name:ident ($($fact:tt)*) = $carried:expr;)+) => {
        $(
            #[doc = $doc]
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
            #[serde(deny_unknown_fields)]
            #[rule(carries = "cells", $($fact)*)]
            pub struct $name {}

            impl Framing for $name {
                fn overhead(&self) -> Result<Overhead, Refusal> {
                    Ok(Overhead::of_cells($carried))
                }
            }
        )+
    };
}

of_cells! {
    "All of the rate carries ATM cells."
    NoOverheadSpec() = Part::ALL;

    // Of the columns of a frame, those that carry payload.
    "ATM cells in SONET STS-3c (SDH STM-1): 149.76 of 155.52 Mbit/s (ANSI T1.105)."
    Sts3cSpec(only_bps = 155_520_000) = Part::of(260, 270);

    "ATM cells in SONET STS-12c (SDH STM-4): 599.04 of 622.08 Mbit/s (ANSI T1.105)."
    Sts12cSpec(only_bps = 622_080_000) = Part::of(1040, 1080);

    // 12 cells of 424 bits in each frame of 125 us.
    "ATM cells in the PLCP of a DS3: 96 000 cells/s of 44.736 Mbit/s (ANSI T1.624)."
    Ds3PlcpSpec(only_bps = 44_736_000) = Part::of(96_000 * 424, 44_736_000);
}
