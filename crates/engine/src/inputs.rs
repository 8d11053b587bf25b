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

/// One link's frames, in order.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) link: u32,
    /// Time between two cells of a frame.
    pub(crate) spacing: SimTime,
    due: VecDeque<Due>,
    /// Whether the first frame's head has come.
    in_frame: bool,
}

impl Lane {
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
    /// Ascending by link.
    lanes: Vec<Lane>,
    /// When the next head or tail of each lane that has one comes. Equal times: lower link first.
    next: KeyHeap,
}

impl Inputs {
    /// Inputs from the given links, ascending, each with the time between two cells of a frame.
    pub(crate) fn new(links: impl Iterator<Item = (u32, SimTime)>) -> Self {
        let lane = |(link, spacing)| Lane {
            link,
            spacing,
            due: VecDeque::new(),
            in_frame: false,
        };
        Inputs {
            lanes: links.map(lane).collect(),
            next: KeyHeap::default(),
        }
    }

    /// The lane of `link`.
    pub(crate) fn lane_of(&self, link: u32) -> u32 {
        let at = self.lanes.binary_search_by_key(&link, |lane| lane.link);
        at.expect("the link leads to the port") as u32
    }

    /// A frame is on its way; it comes after all others of its lane.
    pub(crate) fn push(&mut self, lane: u32, due: Due) {
        let at = &mut self.lanes[lane as usize];
        debug_assert!(at.due.back().is_none_or(|last| at.tail(last) < due.head));
        if at.due.is_empty() {
            self.next.push(Key::new(due.head, 0, lane));
        }
        at.due.push_back(due);
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
        let due = lane.due[0];
        let next = if lane.in_frame {
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
            link: lane.link,
        };
        Some((next, id, moment, due))
    }

    /// The head of the lane's first frame has come, its tail is awaited.
    pub(crate) fn await_tail(&mut self, lane: u32) {
        let at = &mut self.lanes[lane as usize];
        at.in_frame = true;
        let tail = at.tail(&at.due[0]);
        self.replace_top(lane, Some(tail));
    }

    /// The lane's first frame has been dealt with.
    pub(crate) fn pop(&mut self, lane: u32) {
        let at = &mut self.lanes[lane as usize];
        at.in_frame = false;
        at.due.pop_front();
        let next = at.due.front().map(|due| due.head);
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
