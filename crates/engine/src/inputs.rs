//! The frames that are due at a multiplexing port, and the order in which their heads and tails come.

use crate::arrivals::Moment;
use skycell_des::{Key, KeyHeap};
use skycell_units::SimTime;
use std::collections::VecDeque;

/// A frame on a link to the port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When its first cell comes.
    pub(crate) head: SimTime,
    pub(crate) frame: u32,
    /// Place of its VC at the port.
    pub(crate) place: u32,
    pub(crate) cells: u32,
    /// Whether its cells have CLP = 1.
    pub(crate) is_tagged: bool,
}

impl Due {
    /// A frame whose first cell comes at `head`.
    pub(crate) fn new(head: SimTime, frame: u32, place: u32, cells: u32, is_tagged: bool) -> Self {
        Due {
            head,
            frame,
            place,
            cells,
            is_tagged,
        }
    }
}

/// Frames behind the first that there is room for from the beginning, for all lanes side by side.
const FIRST_OTHERS: usize = 2;

/// One link's frames, in order, in one line of the cache while there is one of them.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Lane {
    first: Option<Due>,
    /// Whether the head of the first has come.
    has_begun: bool,
    /// Time between two cells of a frame.
    pub(crate) spacing: SimTime,
    /// Those behind the first.
    others: VecDeque<Due>,
}

impl Lane {
    fn first(&self) -> &Due {
        self.first.as_ref().expect("a frame is due")
    }

    /// When the last cell of `due` comes.
    pub(crate) fn tail(&self, due: &Due) -> SimTime {
        due.head + SimTime(u64::from(due.cells - 1) * self.spacing.0)
    }
}

/// What comes next.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// The first cell of a frame, the last one being later.
    Head,
    /// The last cell of a frame whose first one has come.
    Tail,
    /// A frame between whose first and last cell nothing else comes.
    Whole,
}

/// All links to the port.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// Ascending.
    links: Vec<u32>,
    /// By link.
    lanes: Vec<Lane>,
    /// When the next head or tail of each lane that has one comes. Equal times: lower link first.
    next: KeyHeap,
}

impl Inputs {
    /// Inputs from the given links, ascending, each with the time between two cells of a frame.
    pub(crate) fn new(links: impl Iterator<Item = (u32, SimTime)>) -> Self {
        let lane = |spacing| Lane {
            first: None,
            has_begun: false,
            spacing,
            others: VecDeque::with_capacity(FIRST_OTHERS),
        };
        let (links, lanes) = links.map(|(link, spacing)| (link, lane(spacing))).unzip();
        Inputs {
            links,
            lanes,
            next: KeyHeap::default(),
        }
    }

    /// The lane of `link`.
    pub(crate) fn lane_of(&self, link: u32) -> u32 {
        let at = self.links.binary_search(&link);
        at.expect("the link leads to the port") as u32
    }

    /// A frame is on its way; it comes after all others of its lane.
    pub(crate) fn push(&mut self, lane: u32, due: Due) {
        let at = &mut self.lanes[lane as usize];
        let last = at.others.back().or(at.first.as_ref());
        debug_assert!(last.is_none_or(|last| at.tail(last) < due.head));
        if at.first.is_none() {
            self.next.push(Key::new(due.head, 0, lane));
            at.first = Some(due);
        } else {
            at.others.push_back(due);
        }
    }

    /// When the next head or tail comes.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.next.first().map(Key::time)
    }

    /// What comes next before `limit`, and its lane.
    pub(crate) fn next_before(&mut self, limit: SimTime) -> Option<(Next, u32, Moment, Due)> {
        let first = self.next.first().filter(|next| next.time() < limit)?;
        let (time, id) = (first.time(), first.subject());
        let lane = &self.lanes[id as usize];
        let due = *lane.first();
        let next = if lane.has_begun {
            Next::Tail
        } else {
            let tail = lane.tail(&due);
            let is_next = |second| Key::new(tail, 0, id) < second;
            if tail < limit && self.next.second().is_none_or(is_next) {
                Next::Whole
            } else {
                Next::Head
            }
        };
        let moment = Moment {
            time,
            link: self.links[id as usize],
        };
        Some((next, id, moment, due))
    }

    /// The head of the lane's first frame has come, its tail is awaited.
    pub(crate) fn await_tail(&mut self, lane: u32) {
        let at = &mut self.lanes[lane as usize];
        at.has_begun = true;
        let tail = at.tail(at.first());
        self.replace_top(lane, Some(tail));
    }

    /// The lane's first frame has been dealt with.
    pub(crate) fn pop(&mut self, lane: u32) {
        let at = &mut self.lanes[lane as usize];
        at.first = at.others.pop_front();
        at.has_begun = false;
        let next = at.first.map(|due| due.head);
        self.replace_top(lane, next);
    }

    fn replace_top(&mut self, lane: u32, next: Option<SimTime>) {
        debug_assert_eq!(self.next.first().map(Key::subject), Some(lane));
        match next {
            Some(time) => self.next.replace_first(Key::new(time, 0, lane)),
            None => self.next.pop(),
        }
    }

    /// The lane's link and its cells' spacing.
    pub(crate) fn lane(&self, lane: u32) -> &Lane {
        &self.lanes[lane as usize]
    }
}
