//! The destination end system of an ABR connection.

use crate::rm::{RmCell, cells_per_second};
use crate::spec::AbrSpec;

/// The fate of waiting backward RM cells when a forward RM cell arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Turned {
    /// None waited: the new one does.
    Waits,
    /// The one that waited is dropped; the new one waits.
    Replaced,
    /// The one that waited goes beside the rate with the new contents; a copy waits.
    OutOfRate(RmCell),
}

/// The destination of an ABR connection: it turns forward RM cells around, for the source of the
/// connection the other way to send.
///
/// Source: af-tm-0056 section 5.10, destination behaviours 1 to 6, whose numbers the comments carry.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Most that it lets in as ER, cells a second.
    limit: f64,
    turns_out_of_rate: bool,
    /// 1: EFCI of the last data cell.
    efci: bool,
    waiting: Option<RmCell>,
}

impl Destination {
    /// The destination of a connection that is set up.
    pub fn new(spec: &AbrSpec) -> Self {
        Destination {
            limit: cells_per_second(spec.destination_millicells),
            turns_out_of_rate: spec.turns_out_of_rate,
            efci: false,
            waiting: None,
        }
    }

    /// The backward RM cell that waits for the VC the other way.
    pub fn waiting(&self) -> Option<&RmCell> {
        self.waiting.as_ref()
    }

    /// 1: a data cell has come, with EFCI or without.
    pub fn on_data(&mut self, efci: bool) {
        self.efci = efci;
    }

    /// A forward RM cell has come, in the rate or beside it (6: both are turned around alike).
    /// Whoever knows of a smaller rate lowers its ER first.
    pub fn on_forward(&mut self, cell: &RmCell) -> Turned {
        let efci = std::mem::take(&mut self.efci);
        // 2: DIR changes, BN is 0; CCR, MCR, NI stay.
        let turned = RmCell {
            is_backward: true,
            is_becn: false,
            is_out_of_rate: false,
            // 2a: CI from EFCI, which is forgotten then.
            ci: cell.ci || efci,
            // 2b: ER falls to what the destination can take.
            er: cell.er.min(self.limit),
            ..*cell
        };
        // 3, 4: the new contents take the old one's place; nothing older goes after them.
        match self.waiting.replace(turned) {
            None => Turned::Waits,
            Some(_) if self.turns_out_of_rate => Turned::OutOfRate(RmCell {
                is_out_of_rate: true,
                ..turned
            }),
            Some(_) => Turned::Replaced,
        }
    }

    /// The cell that waits is sent, in the rate of the VC the other way or beside it.
    ///
    /// # Panics
    /// None waits.
    pub fn send(&mut self, is_out_of_rate: bool) -> RmCell {
        let cell = self.waiting.take().expect("a backward RM cell waits");
        RmCell {
            is_out_of_rate,
            ..cell
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::tests::spec;

    fn forward(ccr: f64, er: f64) -> RmCell {
        RmCell {
            is_backward: false,
            is_becn: false,
            ci: false,
            ni: false,
            is_out_of_rate: false,
            ccr,
            er,
            mcr: 5.0,
        }
    }

    #[test]
    fn a_forward_cell_comes_back_with_its_fields_and_the_direction_changed() {
        let mut destination = Destination::new(&spec());
        let turned = destination.on_forward(&RmCell {
            ni: true,
            is_out_of_rate: true,
            ..forward(70.0, 900.0)
        });
        assert_eq!(turned, Turned::Waits);
        let expected = RmCell {
            is_backward: true,
            ni: true,
            ..forward(70.0, 900.0)
        };
        assert_eq!(destination.send(false), expected);
        assert_eq!(destination.waiting(), None);
    }

    #[test]
    fn efci_of_the_last_data_cell_sets_ci_once() {
        let mut destination = Destination::new(&spec());
        destination.on_data(true);
        destination.on_data(false); // the last one counts
        destination.on_forward(&forward(1.0, 1.0));
        assert!(!destination.send(false).ci);
        destination.on_data(true);
        destination.on_forward(&forward(1.0, 1.0));
        assert!(destination.send(false).ci);
        destination.on_forward(&forward(1.0, 1.0)); // forgotten with the one before
        assert!(!destination.send(false).ci);
    }

    #[test]
    fn the_destinations_own_rate_lowers_er_and_never_raises_it() {
        let mut limited = spec();
        limited.destination_millicells = 100_000;
        let mut destination = Destination::new(&limited);
        destination.on_forward(&forward(1.0, 300.0));
        assert_eq!(destination.send(false).er, 100.0);
        destination.on_forward(&forward(1.0, 40.0));
        assert_eq!(destination.send(false).er, 40.0);
    }

    #[test]
    fn a_cell_that_still_waits_gives_way_to_the_next_or_goes_beside_the_rate() {
        let mut destination = Destination::new(&spec());
        destination.on_forward(&forward(1.0, 30.0));
        assert_eq!(
            destination.on_forward(&forward(1.0, 20.0)),
            Turned::Replaced
        );
        assert_eq!(destination.send(false).er, 20.0);

        let mut beside = spec();
        beside.turns_out_of_rate = true;
        let mut destination = Destination::new(&beside);
        destination.on_forward(&forward(1.0, 30.0));
        let Turned::OutOfRate(first) = destination.on_forward(&forward(1.0, 20.0)) else {
            panic!("the one that waited is sent");
        };
        // Both have the new contents: nothing older goes after what is newer.
        assert_eq!((first.er, first.is_out_of_rate), (20.0, true));
        assert_eq!(destination.send(false).er, 20.0);
    }
}
