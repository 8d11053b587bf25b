//! Who gets the slots of a frame: constant, rate-based, volume-based and free capacity.
//!
//! Source: ETSI EN 301 790 (DVB-RCS), capacity request categories: CRA is given without being asked for; RBDC asks for a
//! rate, which holds until the next such request or a timeout; VBDC asks for a volume in addition to what was asked for
//! before, AVBDC for one in its place; FCA is what is left, unasked. The standard leaves the order within a category to
//! the NCC: here terminals take turns, slot by slot, and the turn goes on from frame to frame.

/// A request of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// RBDC: slots a frame, in place of the rate asked for before.
    Rate(u32),
    /// VBDC: slots, beside those asked for before.
    Volume(u32),
    /// AVBDC: slots, in place of those asked for before.
    AbsoluteVolume(u32),
}

/// By which category a slot is granted, in the order in which they are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// CRA.
    Constant,
    /// RBDC.
    Rate,
    /// VBDC or AVBDC.
    Volume,
    /// FCA.
    Free,
}

/// A slot granted.
pub type Grant = (u32, Category);

/// A controller's state for one terminal.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    /// CRA, slots a frame.
    constant: u32,
    /// RBDC, slots a frame, and the frame from which it holds no more.
    rate: u32,
    rate_until: u64,
    /// VBDC and AVBDC, slots.
    volume: u32,
}

/// The controller of an uplink, at the network control center or on board.
#[derive(Debug)]
pub struct Controller {
    accounts: Vec<Account>,
    /// Frames for which a rate holds.
    rate_timeout: u64,
    /// True if all terminals in turn get the remaining slots (FCA).
    gives_free: bool,
    /// Terminal whose turn comes first.
    turn: usize,
    /// Slots given so far, by category.
    pub given: [u64; 4],
}

impl Controller {
    /// With `constant` slots a frame of CRA for each terminal.
    pub fn new(constant: &[u32], rate_timeout: u32, gives_free: bool) -> Self {
        let account = |&constant: &u32| Account {
            constant,
            ..Account::default()
        };
        Controller {
            accounts: constant.iter().map(account).collect(),
            rate_timeout: rate_timeout.into(),
            gives_free,
            turn: 0,
            given: [0; 4],
        }
    }

    /// A request has come that counts from frame `frame` on.
    pub fn on_request(&mut self, frame: u64, terminal: u32, request: Request) {
        let account = &mut self.accounts[terminal as usize];
        match request {
            Request::Rate(slots) => {
                account.rate = slots;
                account.rate_until = frame + self.rate_timeout;
            }
            Request::Volume(slots) => account.volume = account.volume.saturating_add(slots),
            Request::AbsoluteVolume(slots) => account.volume = slots,
        }
    }

    /// Gives the `slots` slots of frame `frame`, in order; none for one that nobody gets.
    pub fn allocate(&mut self, frame: u64, slots: u32) -> Vec<Option<Grant>> {
        for account in &mut self.accounts {
            if account.rate_until <= frame {
                account.rate = 0;
            }
        }
        let all = |of: fn(&Account) -> u32| self.accounts.iter().map(of).collect::<Vec<u32>>();
        let free = if self.gives_free { slots } else { 0 };
        // What is constant keeps its place in the frame; elsewhere the first turn goes round.
        let wanted = [
            (Category::Constant, all(|own| own.constant), 0),
            (Category::Rate, all(|own| own.rate), self.turn),
            (Category::Volume, all(|own| own.volume), self.turn),
            (Category::Free, vec![free; self.accounts.len()], self.turn),
        ];
        let mut grants: Vec<Option<Grant>> = Vec::new();
        for (category, wanted, first) in wanted {
            let from = grants.len();
            let terminals = round_robin(wanted, first, slots as usize - from);
            grants.extend(terminals.map(|id| Some((id, category))));
            self.given[category as usize] += (grants.len() - from) as u64;
        }
        for &(id, category) in grants.iter().flatten() {
            if category == Category::Volume {
                self.accounts[id as usize].volume -= 1;
            }
        }
        grants.resize(slots as usize, None);
        self.turn = (self.turn + 1) % self.accounts.len();
        grants
    }

    /// Numbers that it keeps.
    pub fn state_size(&self) -> u32 {
        4 * self.accounts.len() as u32 + 1
    }
}

/// Slots, at most `room`, one to each terminal that wants one more, from `first` on, until none does.
fn round_robin(mut wanted: Vec<u32>, first: usize, room: usize) -> impl Iterator<Item = u32> {
    let terminals = wanted.len();
    let round = (0..terminals).map(|i| (first + i) % terminals);
    let mut order: Vec<usize> = round.filter(|&id| wanted[id] > 0).collect();
    let mut slots: Vec<u32> = Vec::new();
    while !order.is_empty() && slots.len() < room {
        slots.extend(order.iter().take(room - slots.len()).map(|&id| id as u32));
        order.retain(|&id| {
            wanted[id] -= 1;
            wanted[id] > 0
        });
    }
    slots.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(controller: &mut Controller, frame: u64, slots: u32) -> Vec<Option<u32>> {
        let grants = controller.allocate(frame, slots);
        grants.iter().map(|grant| grant.map(|(id, _)| id)).collect()
    }

    #[test]
    fn categories_are_served_in_their_order_and_terminals_round_robin() {
        let mut controller = Controller::new(&[1, 0, 0], 2, true);
        controller.on_request(0, 1, Request::Rate(2));
        controller.on_request(0, 2, Request::Volume(3));
        // CRA of 0, RBDC of 1, VBDC of 2, and FCA to all.
        let got = frame(&mut controller, 0, 9);
        let terminals = [0, 1, 1, 2, 2, 2, 0, 1, 2];
        assert_eq!(got, terminals.map(Some));
        assert_eq!(controller.given, [1, 2, 3, 3]);
    }

    #[test]
    fn a_rate_holds_until_its_timeout_and_a_volume_until_it_is_given() {
        let mut controller = Controller::new(&[0, 0], 2, false);
        controller.on_request(5, 0, Request::Rate(1));
        controller.on_request(5, 1, Request::Volume(4));
        // Frame 5 has no room for all of the volume; the rate of frame 5 and 6 ends before frame 7.
        assert_eq!(frame(&mut controller, 5, 3), [Some(0), Some(1), Some(1)]);
        assert_eq!(frame(&mut controller, 6, 2), [Some(0), Some(1)]);
        assert_eq!(frame(&mut controller, 7, 2), [Some(1), None]);
    }

    #[test]
    fn a_volume_adds_up_and_an_absolute_volume_does_not() {
        let mut controller = Controller::new(&[0], 2, false);
        controller.on_request(0, 0, Request::Volume(2));
        controller.on_request(0, 0, Request::Volume(3));
        assert_eq!(frame(&mut controller, 0, 4), [Some(0); 4]);
        controller.on_request(1, 0, Request::AbsoluteVolume(2));
        assert_eq!(frame(&mut controller, 1, 3), [Some(0), Some(0), None]);
    }

    #[test]
    fn the_first_turn_goes_round() {
        let mut controller = Controller::new(&[1, 0, 0], 1, true);
        assert_eq!(frame(&mut controller, 0, 4), [0, 0, 1, 2].map(Some));
        // What is constant stays first.
        assert_eq!(frame(&mut controller, 1, 4), [0, 1, 2, 0].map(Some));
    }
}
