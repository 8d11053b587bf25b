//! The frames that are due at a multiplexing port, and the order in which their heads and tails come.

use crate::train::Moment;
use skycell_des::{Calendar, Key};
use skycell_units::SimTime;
use std::collections::HashMap;

/// A frame on a link to the port, or a part of one that comes from another such port: cells at equal
/// distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Due {
    /// When its first cell comes.
    pub(crate) head: SimTime,
    pub(crate) frame: u32,
    /// Place of its VC at the port.
    pub(crate) place: u32,
    pub(crate) cells: u32,
    /// The distance, in times between two cells of a frame of the lane.
    pub(crate) stride: u16,
    pub(crate) part: Part,
    /// Whether its cells have CLP = 1.
    pub(crate) is_tagged: bool,
}

/// Which part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it.
    Whole,
    /// Nothing of it came before, and more comes.
    First,
    Middle,
    /// Its last cell is the frame's.
    Last,
}

impl Part {
    /// The part that begins or ends a frame, or neither.
    pub(crate) fn new(begins: bool, ends: bool) -> Self {
        match (begins, ends) {
            (true, true) => Part::Whole,
            (true, false) => Part::First,
            (false, false) => Part::Middle,
            (false, true) => Part::Last,
        }
    }

    /// Whether nothing of the frame came before.
    pub(crate) fn begins(self) -> bool {
        matches!(self, Part::Whole | Part::First)
    }

    /// Whether its last cell is the frame's.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Part::Whole | Part::Last)
    }
}

impl Due {
    /// A whole frame whose first cell comes at `head`.
    pub(crate) fn new(head: SimTime, frame: u32, place: u32, cells: u32, is_tagged: bool) -> Self {
        Due {
            head,
            frame,
            place,
            cells,
            stride: 1,
            part: Part::Whole,
            is_tagged,
        }
    }

    /// The same cells as a part of their frame.
    pub(crate) fn as_part(self, begins: bool, ends: bool) -> Self {
        let part = Part::new(begins, ends);
        Due { part, ..self }
    }

    /// Time between two of its cells, on a lane where two of a frame come `spacing` after each other.
    pub(crate) fn spacing(&self, spacing: SimTime) -> SimTime {
        SimTime(u64::from(self.stride) * spacing.0)
    }

    /// When its last cell comes, on such a lane.
    pub(crate) fn tail(&self, spacing: SimTime) -> SimTime {
        self.head + SimTime(u64::from(self.cells - 1) * self.spacing(spacing).0)
    }
}

/// Frames on their way wait in boxes, each for about the time of so many cells.
const CELLS_OF_BOX: u64 = 1024;
/// No frame.
const NONE: u32 = u32::MAX;

/// A frame and the one behind it on its link, never across two lines of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Coming {
    due: Due,
    behind: u32,
    /// Whether its head has come.
    has_begun: bool,
}

/// One link to the port, or of a link from another such port one VC. Small, so that thousands of them stay in
/// the cache: the frames are elsewhere.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
struct Lane {
    link: u32,
    /// The first frame and the last; [`NONE`] where there is none.
    first: u32,
    last: u32,
    /// Place of the first one's VC at the port.
    place: u32,
}

const _: () = assert!(std::mem::size_of::<Coming>() == 32 && std::mem::size_of::<Lane>() == 16);

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
#[derive(Debug)]
pub(crate) struct Inputs {
    /// By link, ascending, and by VC where each has a lane.
    lanes: Vec<Lane>,
    /// Times between two cells of a frame that there are.
    spacings: Vec<SimTime>,
    /// By lane: which of them its cells have. Not looked at where there is but one.
    spacing_of: Vec<u32>,
    /// Frames on the links, and places of others that can be taken again.
    coming: Vec<Coming>,
    /// The first of those places; `behind` it are the others.
    free: u32,
    /// When the next head or tail of each lane that has one comes. Equal times: lower link first.
    next: Calendar,
}

impl Inputs {
    /// Inputs from the given links, ascending, each with the time between two cells of a frame. A link is
    /// named once for each lane that it has.
    pub(crate) fn new(links: impl Iterator<Item = (u32, SimTime)>) -> Self {
        let (mut spacings, mut known) = (Vec::new(), HashMap::new());
        let lane = |(link, spacing)| {
            let spacing = *known.entry(spacing).or_insert_with(|| {
                spacings.push(spacing);
                spacings.len() as u32 - 1
            });
            let lane = Lane {
                link,
                first: NONE,
                last: NONE,
                place: NONE,
            };
            (lane, spacing)
        };
        let (lanes, spacing_of): (Vec<_>, _) = links.map(lane).unzip();
        let cell_time = spacings.iter().min().map_or(0, |least: &SimTime| least.0);
        Inputs {
            spacings,
            spacing_of,
            coming: Vec::new(),
            free: NONE,
            next: Calendar::new(lanes.len(), SimTime(CELLS_OF_BOX * cell_time)),
            lanes,
        }
    }

    /// A frame is on its way; it comes after all others of its lane.
    #[inline(always)]
    pub(crate) fn push(&mut self, lane: u32, due: Due) {
        let (at, spacing) = (self.keep(due), self.spacing(lane));
        let on = &mut self.lanes[lane as usize];
        if on.first == NONE {
            self.next.push(Key::new(due.head, 0, lane));
            (on.first, on.place) = (at, due.place);
        } else {
            let last = &mut self.coming[on.last as usize];
            debug_assert!(last.due.tail(spacing) < due.head);
            last.behind = at;
        }
        on.last = at;
    }

    /// Finds a place for a frame that is the last of its lane.
    fn keep(&mut self, due: Due) -> u32 {
        let coming = Coming {
            due,
            behind: NONE,
            has_begun: false,
        };
        if self.free == NONE {
            self.coming.push(coming);
            return self.coming.len() as u32 - 1;
        }
        let place = &mut self.coming[self.free as usize];
        let at = std::mem::replace(&mut self.free, place.behind);
        *place = coming;
        at
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
        let Coming { due, has_begun, .. } = self.coming[lane.first as usize];
        let next = if has_begun {
            Next::Tail
        } else {
            let tail = due.tail(self.spacing(id));
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
        let spacing = self.spacing(lane);
        let first = &mut self.coming[self.lanes[lane as usize].first as usize];
        first.has_begun = true;
        let tail = first.due.tail(spacing);
        self.replace_top(lane, Some(tail));
    }

    /// The lane's first frame has been dealt with.
    pub(crate) fn pop(&mut self, lane: u32) {
        let on = &mut self.lanes[lane as usize];
        let first = &mut self.coming[on.first as usize];
        let behind = std::mem::replace(&mut first.behind, self.free);
        self.free = std::mem::replace(&mut on.first, behind);
        let next = (behind != NONE).then(|| {
            let due = &self.coming[behind as usize].due;
            on.place = due.place;
            due.head
        });
        self.replace_top(lane, next);
    }

    fn replace_top(&mut self, lane: u32, next: Option<SimTime>) {
        debug_assert_eq!(self.next.first().map(Key::subject), Some(lane));
        match next {
            Some(time) => self.next.replace_first(Key::new(time, 0, lane)),
            None => self.next.pop(),
        }
    }

    /// Time between two cells of a frame of the lane.
    pub(crate) fn spacing(&self, lane: u32) -> SimTime {
        match self.spacings[..] {
            [only] => only,
            _ => self.spacings[self.spacing_of[lane as usize] as usize],
        }
    }

    /// Reads something of the lane, so that it comes into the cache. What it returns means nothing.
    pub(crate) fn look(&self, lane: u32) -> u32 {
        self.lanes[lane as usize].last
    }

    /// Places of the VCs whose frames come next, or about so: those of the lanes that stand foremost.
    /// Reads a little of the frames themselves.
    pub(crate) fn places_ahead(&self, lanes: usize) -> impl Iterator<Item = u32> {
        let ahead = self.next.foremost(lanes);
        ahead.map(|key| {
            let lane = &self.lanes[key.subject() as usize];
            std::hint::black_box(self.coming[lane.first as usize].behind);
            lane.place
        })
    }
}
