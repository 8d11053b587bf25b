//! Pages of the web as browsers load them: names, handshakes of TCP and TLS, files in waves, over HTTP/1.1 and HTTP/2.

use crate::page_draw::{Drawn, draw};
use crate::{Act, Ask, Draw, Event, Part, Row, Slot, echo_tag};
use skycell_des::Stream;
use skycell_spec::{AppSpec, Dns, PagesSpec};
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;
use std::sync::Arc;

/// Names of the values of a page's row.
pub(crate) const COLUMNS: [&str; 5] = [
    "first_octet_ps",
    "loaded_ps",
    "objects",
    "octets",
    "connections",
];

/// Most connections of a user, those that close included: Chrome's limit.
pub(crate) const SLOTS: u32 = 256;

/// Number that the answer to a TLS hello carries.
const HELLO: u32 = u32::MAX;

/// Streams that a connection of HTTP/2 has open at most: what servers commonly set (RFC 9113, 6.5.2: no fewer than 100).
const MOST_STREAMS: usize = 100;

/// What is known of a server's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Unknown,
    /// Asked for; asked for again then.
    Asked {
        again: SimTime,
    },
    Known,
}

/// An origin of a page.
#[derive(Clone, Debug)]
struct Origin {
    name: Name,
    is_http1: bool,
    /// Files to ask for, in order.
    waiting: VecDeque<u32>,
    /// Its connections.
    slots: Vec<Slot>,
}

/// A connection.
#[derive(Clone, Copy, Debug)]
struct Link {
    origin: usize,
    /// True if requests may go.
    is_ready: bool,
    /// Octets that go with the next request: the end of the handshake.
    beside: Octets,
    /// Files asked for that have not come.
    open: usize,
}

/// The use of a slot.
#[derive(Clone, Copy, Debug)]
enum Use {
    Free,
    Open(Link),
    Closing,
}

/// A page under way.
#[derive(Debug)]
struct Page {
    begin: SimTime,
    first_octet: Option<SimTime>,
    drawn: Drawn,
    origins: Vec<Origin>,
    /// Files of waves that have been asked for, and those of them that have come.
    released: usize,
    come: usize,
    octets: Octets,
    connections: u64,
}

/// A user who reads pages.
#[derive(Debug)]
pub struct Pages {
    app: Arc<AppSpec>,
    files: Stream,
    handshakes: Stream,
    readings: Stream,
    next: SimTime,
    begun: u32,
    page: Option<Page>,
    slots: Vec<Use>,
}

impl Pages {
    pub(crate) fn new(app: Arc<AppSpec>, start: SimTime, stream: impl Fn(&str) -> Stream) -> Self {
        Pages {
            app,
            files: stream("page"),
            handshakes: stream("handshake"),
            readings: stream("reading"),
            next: start,
            begun: 0,
            page: None,
            slots: Vec::new(),
        }
    }

    pub(crate) fn due(&self) -> SimTime {
        let asked = self.page.iter().flat_map(|page| &page.origins);
        let again = asked.filter_map(|origin| match origin.name {
            Name::Asked { again } => Some(again),
            _ => None,
        });
        again.min().unwrap_or(SimTime::NEVER).min(self.next)
    }

    pub(crate) fn on(&mut self, now: SimTime, event: Event, acts: &mut Vec<Act>) {
        let app = self.app.clone();
        let AppSpec::Pages(spec) = &*app else {
            unreachable!("no pages: {app:?}")
        };
        match event {
            Event::Timer => {
                if self.next <= now {
                    self.begin(now, spec, acts);
                }
                self.ask_names_again(now, spec, acts);
            }
            Event::Datagram { tag, .. } => {
                // Names of a page before are no longer of interest.
                let (page, origin) = ((tag as u32) >> 8, (tag as u32 & 0xff) as usize);
                if page == self.begun & 0x00ff_ffff
                    && let Some(own) = self
                        .page
                        .as_mut()
                        .and_then(|page| page.origins.get_mut(origin))
                    && own.name != Name::Known
                {
                    own.name = Name::Known;
                    self.advance(origin, spec, acts);
                }
            }
            Event::Read { slot, stream, part } => {
                self.on_read(now, (slot, stream, part), spec, acts)
            }
            Event::Closed(slot) => {
                self.slots[slot as usize] = Use::Free;
                let origins = self.page.as_ref().map_or(0, |page| page.origins.len());
                for origin in 0..origins {
                    self.advance(origin, spec, acts);
                }
            }
        }
    }

    fn begin(&mut self, now: SimTime, spec: &PagesSpec, acts: &mut Vec<Act>) {
        self.next = SimTime::NEVER;
        self.begun += 1;
        let drawn = draw(spec, &mut self.files);
        let origins = drawn.is_http1.iter().map(|&is_http1| Origin {
            name: Name::Unknown,
            is_http1,
            waiting: VecDeque::new(),
            slots: Vec::new(),
        });
        self.page = Some(Page {
            begin: now,
            first_octet: None,
            origins: origins.collect(),
            drawn,
            released: 0,
            come: 0,
            octets: 0,
            connections: 0,
        });
        self.release(now, spec, acts);
    }

    /// Asks for the files of the next wave.
    fn release(&mut self, now: SimTime, spec: &PagesSpec, acts: &mut Vec<Act>) {
        let Some(page) = &mut self.page else {
            return;
        };
        let files = &page.drawn.files;
        let Some(wave) = files.get(page.released).map(|file| file.wave) else {
            return;
        };
        let mut asked = Vec::new();
        while let Some(file) = page
            .drawn
            .files
            .get(page.released)
            .filter(|file| file.wave == wave)
        {
            page.origins[file.origin]
                .waiting
                .push_back(page.released as u32);
            asked.push(file.origin);
            page.released += 1;
        }
        asked.sort_unstable();
        asked.dedup();
        for origin in asked {
            self.find(now, origin, spec, acts);
            self.advance(origin, spec, acts);
        }
    }

    /// Asks for the address of an origin, if that is not known.
    fn find(&mut self, now: SimTime, origin: usize, spec: &PagesSpec, acts: &mut Vec<Act>) {
        let page_number = self.begun & 0x00ff_ffff;
        let Some(page) = &mut self.page else {
            return;
        };
        let name = &mut page.origins[origin].name;
        if *name != Name::Unknown {
            return;
        }
        if spec.dns == Dns::None {
            *name = Name::Known;
            return;
        }
        let again = now + SimTime(spec.dns_again_ps);
        *name = Name::Asked { again };
        acts.push(name_request(page_number, origin, spec));
    }

    fn ask_names_again(&mut self, now: SimTime, spec: &PagesSpec, acts: &mut Vec<Act>) {
        let number = self.begun & 0x00ff_ffff;
        let origins = self.page.iter_mut().flat_map(|page| &mut page.origins);
        for (at, origin) in origins.enumerate() {
            if let Name::Asked { again } = &mut origin.name
                && *again <= now
            {
                *again = now + SimTime(spec.dns_again_ps);
                acts.push(name_request(number, at, spec));
            }
        }
    }

    /// Sends what requests to an origin may go, and opens connections for the others.
    fn advance(&mut self, at: usize, spec: &PagesSpec, acts: &mut Vec<Act>) {
        let Some(page) = &mut self.page else {
            return;
        };
        let origin = &mut page.origins[at];
        if origin.name != Name::Known {
            return;
        }
        let most = if origin.is_http1 { 1 } else { MOST_STREAMS };
        let (connections, http1) = (spec.connections as usize, origin.is_http1);
        let mut opening = 0;
        for own in 0..origin.slots.len() {
            let slot = origin.slots[own];
            let Use::Open(link) = &mut self.slots[slot as usize] else {
                continue;
            };
            opening += usize::from(!link.is_ready);
            while link.is_ready
                && link.open < most
                && let Some(file) = origin.waiting.pop_front()
            {
                link.open += 1;
                acts.push(request(
                    slot,
                    file,
                    link,
                    page.drawn.files[file as usize],
                    spec,
                ));
            }
        }
        let allowed = if http1 { connections } else { 1 };
        // A connection for each request that waits, but those that others are being opened for.
        while origin.waiting.len() > opening && origin.slots.len() < allowed {
            let free = self.slots.iter().position(|slot| matches!(slot, Use::Free));
            let slot = match free {
                Some(slot) => slot,
                None if self.slots.len() < SLOTS as usize => {
                    self.slots.push(Use::Free);
                    self.slots.len() - 1
                }
                None => return, // until one is closed
            };
            let is_resumed = self.handshakes.unit() <= spec.resumed_part;
            let is_early = is_resumed && self.handshakes.unit() <= spec.early_part;
            let mut link = Link {
                origin: at,
                is_ready: is_early,
                beside: spec.finished_octets,
                open: 0,
            };
            origin.slots.push(slot as Slot);
            page.connections += 1;
            acts.push(Act::Open {
                slot: slot as Slot,
                in_parts: !http1,
            });
            acts.push(Act::Ask {
                slot: slot as Slot,
                octets: spec.hello_octets,
                ask: Ask {
                    stream: HELLO,
                    octets: if is_resumed {
                        spec.resumed_octets
                    } else {
                        spec.flight_octets
                    },
                    wait: SimTime::ZERO,
                    urgency: 0,
                },
            });
            opening += usize::from(!is_early);
            while link.is_ready
                && link.open < most
                && let Some(file) = origin.waiting.pop_front()
            {
                link.open += 1;
                let own = page.drawn.files[file as usize];
                acts.push(request(slot as Slot, file, &mut link, own, spec));
            }
            self.slots[slot] = Use::Open(link);
            if !http1 {
                return;
            }
        }
    }

    fn on_read(
        &mut self,
        now: SimTime,
        (slot, stream, part): (Slot, u32, Part),
        spec: &PagesSpec,
        acts: &mut Vec<Act>,
    ) {
        let Some(page) = &mut self.page else {
            return;
        };
        let Use::Open(link) = &mut self.slots[slot as usize] else {
            return;
        };
        if part == Part::First && stream == 0 {
            page.first_octet = Some(now);
        }
        if part != Part::Last {
            return;
        }
        let origin = link.origin;
        if stream == HELLO {
            link.is_ready = true;
            return self.advance(origin, spec, acts);
        }
        link.open -= 1;
        page.come += 1;
        page.octets += page.drawn.files[stream as usize].octets;
        if page.come == page.drawn.files.len() {
            return self.end(now, spec, acts);
        }
        let is_wave_whole = page.come == page.released;
        self.advance(origin, spec, acts);
        if is_wave_whole {
            self.release(now, spec, acts);
        }
    }

    /// The page has been loaded: its connections close, and the next is asked for when it is read.
    fn end(&mut self, now: SimTime, spec: &PagesSpec, acts: &mut Vec<Act>) {
        if let Some(page) = self.page.take() {
            acts.push(Act::Report(page.row(Some(now))));
        }
        for (slot, own) in (0..).zip(&mut self.slots) {
            // One that is still being opened is closed when it is open.
            if let Use::Open(_) = own {
                *own = Use::Closing;
                acts.push(Act::Close(slot));
            }
        }
        if spec.count.is_none_or(|count| self.begun < count) {
            self.next = now + SimTime(spec.reading.draw(&mut self.readings));
        }
    }

    pub(crate) fn unfinished(&self) -> Option<Row> {
        self.page.as_ref().map(|page| page.row(None))
    }
}

impl Page {
    fn row(&self, loaded: Option<SimTime>) -> Row {
        let values = [
            self.first_octet.map(|time| time.0),
            loaded.map(|time| time.0),
            Some(self.drawn.files.len() as u64),
            Some(self.octets),
            Some(self.connections),
        ];
        Row::new(self.begin, values)
    }
}

/// The request for a file.
fn request(
    slot: Slot,
    stream: u32,
    link: &mut Link,
    file: crate::page_draw::File,
    spec: &PagesSpec,
) -> Act {
    Act::Ask {
        slot,
        octets: spec.request_octets + std::mem::take(&mut link.beside),
        ask: Ask {
            stream,
            octets: file.octets,
            wait: file.wait,
            urgency: file.urgency.max(1),
        },
    }
}

/// The request for the address of an origin.
fn name_request(page: u32, origin: usize, spec: &PagesSpec) -> Act {
    Act::Datagram {
        octets: spec.dns_ask_octets,
        tag: echo_tag(page << 8 | origin as u32, spec.dns_answer_octets),
    }
}
