//! Applications of today as state machines: a user's client is handed the time and what has come, and hands back what it
//! wants done. It knows neither TCP nor an event queue.
//!
//! A client and its server share only what travels: octets, and letters that are read when the octet that they are pinned to
//! has arrived. The client draws everything, so that the same is asked for whatever the network does.

mod asks;
mod bulk;
mod call;
mod draw;
mod page_draw;
mod pages;
mod rates;
mod server;
mod video;

pub use draw::Draw;
pub use server::{Server, Written};

use asks::Asks;
use bulk::Bulk;
use call::{Call, Callee};
use pages::Pages;
use skycell_des::Stream;
use skycell_spec::AppSpec;
use skycell_units::{Octets, SimTime};
use std::sync::Arc;
use video::Video;

/// A connection of a user, by number.
pub type Slot = u32;

/// A request, as the server reads it when the last octet of it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Number that the parts of the answer carry.
    pub stream: u32,
    /// Octets of the answer, above zero.
    pub octets: Octets,
    /// Time that the server takes.
    pub wait: SimTime,
    /// Rank among answers of a connection that are sent in parts; the least goes first.
    pub urgency: u8,
}

/// A part of an answer, as the client reads it when the octet that it is pinned to has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The first octet of the answer.
    First,
    /// The last octet of a part that others follow.
    Middle,
    /// The last octet of the answer.
    Last,
}

/// Something that happens to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its time has come.
    Timer,
    /// A part of an answer has come.
    Read {
        /// The connection.
        slot: Slot,
        /// Number of the request.
        stream: u32,
        /// Which part.
        part: Part,
    },
    /// A connection is closed.
    Closed(Slot),
    /// A datagram has come.
    Datagram {
        /// Its tag.
        tag: u64,
        /// When it was sent.
        sent: SimTime,
    },
}

/// Something that a client wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Opens a connection that is not open.
    Open {
        /// The connection.
        slot: Slot,
        /// True if the server sends answers in parts, by urgency, and not one after the other.
        in_parts: bool,
    },
    /// Hands over a request on an open connection.
    Ask {
        /// The connection.
        slot: Slot,
        /// Octets of the request.
        octets: Octets,
        /// Its letter.
        ask: Ask,
    },
    /// Closes a connection on which nothing is awaited.
    Close(Slot),
    /// Sends a datagram to the other side.
    Datagram {
        /// Octets of its IP packet.
        octets: u32,
        /// Content.
        tag: u64,
    },
    /// Reports something that the user did.
    Report(Row),
    /// Reports that something has been asked.
    Asked {
        /// When.
        begin: SimTime,
    },
    /// Reports that it has been answered.
    Answered {
        /// When it was asked.
        begin: SimTime,
        /// Time to the answer.
        took: SimTime,
    },
}

/// Most values of a [`Row`].
pub const MOST_VALUES: usize = 10;

/// Something that a user did, such as a page or a video; [`Client::columns`] names its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// When it began.
    pub begin: SimTime,
    /// Values; none where there is none, or beyond the columns.
    pub values: [Option<u64>; MOST_VALUES],
}

impl Row {
    fn new<const N: usize>(begin: SimTime, of: [Option<u64>; N]) -> Self {
        let mut values = [None; MOST_VALUES];
        values[..N].copy_from_slice(&of);
        Row { begin, values }
    }
}

/// The client of one user.
#[derive(Debug)]
pub enum Client {
    /// Requests and answers.
    Asks(Box<Asks>),
    /// Downloads.
    Bulk(Box<Bulk>),
    /// Calls.
    Call(Box<Call>),
    /// Pages.
    Pages(Box<Pages>),
    /// Videos.
    Video(Box<Video>),
}

impl Client {
    /// The client of a user who begins at `start` and draws from streams that `stream` finds by purpose.
    pub fn new(app: &Arc<AppSpec>, start: SimTime, stream: impl Fn(&str) -> Stream) -> Self {
        match &**app {
            AppSpec::Asks(_) => Client::Asks(Box::new(Asks::new(app.clone(), start, stream))),
            AppSpec::Call(_) => Client::Call(Box::new(Call::new(app.clone(), start, stream))),
            AppSpec::Pages(_) => Client::Pages(Box::new(Pages::new(app.clone(), start, stream))),
            AppSpec::Bulk(_) => Client::Bulk(Box::new(Bulk::new(app.clone(), start, stream))),
            AppSpec::Video(_) => Client::Video(Box::new(Video::new(app.clone(), start, stream))),
        }
    }

    /// Names of the values of a row that such a client reports.
    pub fn columns(app: &AppSpec) -> &'static [&'static str] {
        match app {
            AppSpec::Asks(_) => &[],
            AppSpec::Bulk(_) => &bulk::COLUMNS,
            AppSpec::Call(_) => &call::COLUMNS,
            AppSpec::Pages(_) => &pages::COLUMNS,
            AppSpec::Video(_) => &video::COLUMNS,
        }
    }

    /// When it acts by itself; [`SimTime::NEVER`] while it waits for others.
    pub fn due(&self) -> SimTime {
        match self {
            Client::Asks(asks) => asks.due(),
            Client::Bulk(bulk) => bulk.due(),
            Client::Call(call) => call.due(),
            Client::Pages(pages) => pages.due(),
            Client::Video(video) => video.due(),
        }
    }

    /// Something happens.
    pub fn on(&mut self, now: SimTime, event: Event, acts: &mut Vec<Act>) {
        match self {
            Client::Asks(asks) => asks.on(now, event, acts),
            Client::Bulk(bulk) => bulk.on(now, event, acts),
            Client::Call(call) => call.on(now, event, acts),
            Client::Pages(pages) => pages.on(now, event, acts),
            Client::Video(video) => video.on(now, event, acts),
        }
    }

    /// What is under way when the run ends at `end`.
    pub fn unfinished(&self, end: SimTime) -> Option<Row> {
        match self {
            Client::Asks(_) => None,
            Client::Bulk(bulk) => bulk.unfinished(),
            Client::Call(call) => call.unfinished(),
            Client::Pages(pages) => pages.unfinished(),
            Client::Video(video) => video.unfinished(end),
        }
    }
}

/// The other side of a user's datagrams.
#[derive(Debug)]
pub enum Peer {
    /// It gets none.
    None,
    /// It answers each at once, with as many octets as its tag says.
    Echo,
    /// It talks too.
    Callee(Box<Callee>),
}

impl Peer {
    /// The other side of the datagrams of an application.
    pub fn new(app: &Arc<AppSpec>) -> Self {
        match &**app {
            AppSpec::Asks(_) | AppSpec::Pages(_) => Peer::Echo,
            AppSpec::Call(_) => Peer::Callee(Box::new(Callee::new(app.clone()))),
            AppSpec::Bulk(_) | AppSpec::Video(_) => Peer::None,
        }
    }

    /// When it acts by itself; [`SimTime::NEVER`] while it waits for others.
    pub fn due(&self) -> SimTime {
        match self {
            Peer::None | Peer::Echo => SimTime::NEVER,
            Peer::Callee(callee) => callee.due(),
        }
    }

    /// Its time has come.
    pub fn on_due(&mut self, now: SimTime, acts: &mut Vec<Act>) {
        if let Peer::Callee(callee) = self {
            callee.on_due(now, acts);
        }
    }

    /// A datagram has come that was sent then.
    pub fn on_datagram(&mut self, now: SimTime, tag: u64, sent: SimTime, acts: &mut Vec<Act>) {
        match self {
            Peer::None => {}
            Peer::Echo => acts.push(Act::Datagram {
                octets: (tag >> 32) as u32,
                tag,
            }),
            Peer::Callee(callee) => callee.on_datagram(now, tag, sent, acts),
        }
    }

    /// What is under way when the run ends.
    pub fn unfinished(&self) -> Option<Row> {
        match self {
            Peer::None | Peer::Echo => None,
            Peer::Callee(callee) => callee.unfinished(),
        }
    }
}

/// The tag of a datagram that asks for one of so many octets.
fn echo_tag(number: u32, answer: u32) -> u64 {
    u64::from(answer) << 32 | u64::from(number)
}
