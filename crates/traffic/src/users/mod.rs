//! Users: many alike, each with an application over connections that have state only while they are open.
//!
//! A connection that may be open at once has a slot. User k of a group has the ids `first + (k * slots + slot) * sections +
//! section`, one for each section of a connection between proxies, and acts under the first of them. Where there are proxies,
//! a user's datagrams, which go from end to end, have an id more. Engines carry segments by these ids, and wake users at the
//! keys that they ask for.

mod connection;
mod divided;
mod record;
mod segments;

use crate::{clock_of, rank};
use connection::{BothTcp, Connection};
pub use divided::Letter;
use divided::News;
use skycell_apps::{Act, Client, Event, Peer, Row, Slot};
use skycell_des::{Key, Stream};
use skycell_records::{PepRecord, RelayedRequests, Responses, StreamRecord, UserSectionRecord};
use skycell_spec::{AppSpec, NetworkSpec, StartSpec, UserGroupSpec, UserRouteSpec};
use skycell_tcp::{Segment, SegmentKind, TickClock};
use skycell_units::{Octets, SimTime};
use std::ops::Range;
use std::sync::Arc;

/// Kinds of events of a connection: a retransmission timer, a held acknowledgement, an application.
const KINDS: usize = 3;

/// A segment that an end of a connection sends.
#[derive(Clone, Copy, Debug)]
pub struct UserSegment {
    /// Id of the connection.
    pub flow: u32,
    /// True from the server to the user.
    pub is_forward: bool,
    /// The segment.
    pub segment: Segment,
    /// Octets of its IP packet.
    pub octets: Octets,
    /// Cells of its frame.
    pub cells: u32,
}

/// What users want of an engine.
#[derive(Debug, Default)]
pub struct UsersOutbox {
    /// Segments to send, in order.
    pub sent: Vec<UserSegment>,
    /// Events that are to happen.
    pub wakes: Vec<Key>,
    /// Letters to other regions of a network, by region.
    pub letters: Vec<(u32, Letter)>,
    /// Of a region: the event that lets users act.
    pub order: Option<Key>,
}

/// Both routes between the host of a user and that of the servers.
#[derive(Debug)]
struct Route {
    /// From the servers, and to them.
    vcs: [Vec<u32>; 2],
    /// Sections of connections, from the servers on.
    sections: Vec<RouteSection>,
}

/// Both routes of a section, which begins at a server or a proxy.
#[derive(Debug)]
struct RouteSection {
    vcs: [Vec<u32>; 2],
    /// The node where it begins, and the one where it ends: clocks are those of these names.
    nodes: [String; 2],
    /// TCP parameters and the buffer of the proxy where it begins; none of the first section.
    proxy: Option<(BothTcp, Octets)>,
}

/// Users of a group.
#[derive(Debug)]
struct Group {
    name: String,
    app: Arc<AppSpec>,
    tcp: BothTcp,
    slots: u32,
    /// Id of its first user, and that user's place among all.
    first_id: u32,
    first_user: usize,
    rows: Vec<Reported>,
    /// By section: accounts of ends that are closed, and of proxies that have passed all on.
    closed: Vec<UserSectionRecord>,
    /// The same of ends at servers and users alone: from the servers, and to them.
    ends: [StreamRecord; 2],
    connections: u64,
    /// Segments that came for connections that were closed.
    late: u64,
    /// Datagrams sent: from the servers, and to them.
    datagrams: [u64; 2],
    responses: Responses,
}

/// Something that a user did.
#[derive(Debug)]
struct Reported {
    /// Number of the user in the group.
    user: u32,
    row: Row,
    /// Of a region: the event, and whether the user is elsewhere.
    order: Option<Key>,
    is_by_server: bool,
}

/// One user.
#[derive(Debug)]
struct User {
    group: u32,
    route: u32,
    /// None where the user is in another region.
    client: Option<Client>,
    peer: Peer,
    /// Of each slot that has ever been used.
    slots: Vec<SlotState>,
}

/// A connection's slot.
#[derive(Clone, Copy, Debug)]
struct SlotState {
    /// Number of the connection that was opened last; 0 for none.
    number: u32,
    /// Where the state of the newest is that is not closed.
    at: Option<u32>,
    /// By kind: the earliest event that an engine has; [`SimTime::NEVER`] for none.
    pending: [SimTime; KINDS],
}

impl Default for SlotState {
    fn default() -> Self {
        SlotState {
            number: 0,
            at: None,
            pending: [SimTime::NEVER; KINDS],
        }
    }
}

/// All users of a run.
#[derive(Debug)]
pub struct Users {
    seed: u64,
    /// From when on requests are counted that are answered in datagrams.
    counted_from: SimTime,
    /// Ids of connections.
    ids: Range<u32>,
    /// The most sections of a connection.
    sections: u32,
    routes: Vec<Route>,
    /// By route: the regions of the servers and of the users.
    regions: Vec<[u32; 2]>,
    /// The region to which these belong.
    region: u32,
    groups: Vec<Group>,
    users: Vec<User>,
    connections: Vec<Option<Connection>>,
    free: Vec<u32>,
    /// Lists that are empty between events.
    acts: Vec<Act>,
    up: Vec<Segment>,
    down: Vec<Segment>,
}

/// Who an id names.
#[derive(Clone, Copy, Debug)]
struct Who {
    user: usize,
    slot: Slot,
    /// Section of the connection.
    section: usize,
    /// True if the id is that of datagrams, of no connection.
    is_of_datagrams: bool,
    /// The first id of the user.
    first: u32,
}

impl User {
    /// When its client acts by itself.
    fn client_due(&self) -> SimTime {
        self.client.as_ref().map_or(SimTime::NEVER, Client::due)
    }
}

impl Who {
    fn at(self, section: usize) -> Self {
        Who { section, ..self }
    }
}

impl Route {
    fn of(spec: &NetworkSpec, route: &UserRouteSpec) -> Self {
        let name = |node: u32| spec.nodes[node as usize].name.clone();
        let pieces = spec.sections([&route.forward, &route.reverse], &route.peps);
        let proxies = std::iter::once(None).chain(route.peps.iter().map(Some));
        let sections = pieces.into_iter().zip(proxies).map(|(vcs, pep)| {
            let [begin, end] = [&vcs[0], &vcs[1]].map(|piece| spec.vc_source(piece[0] as usize));
            RouteSection {
                nodes: [name(begin), name(end)],
                vcs,
                proxy: pep.map(|pep| (BothTcp::of(&pep.tcp), pep.buffer_octets)),
            }
        });
        Route {
            vcs: [route.forward.clone(), route.reverse.clone()],
            sections: sections.collect(),
        }
    }
}

impl Users {
    /// Users of a valid spec; none where it has none.
    pub fn of(spec: &NetworkSpec) -> Option<Self> {
        let routes = spec.users.as_ref()?.routes.len();
        Users::in_region(spec, 0, vec![[0; 2]; routes])
    }

    /// Users of a network of which only the ends in `region` act. `regions` are those of the servers and of the users, by
    /// route; the two of a route with proxies are the same.
    pub fn in_region(spec: &NetworkSpec, region: u32, regions: Vec<[u32; 2]>) -> Option<Self> {
        let users = spec.users.as_ref()?;
        let routes: Vec<Route> = users
            .routes
            .iter()
            .map(|route| Route::of(spec, route))
            .collect();
        // Numbers of packets' flows, twice an id, come after those of connections and sources.
        let first_id = spec.flows.len() as u32 + (spec.sources.len() as u32).div_ceil(2);
        let mut made = Users {
            seed: spec.seed,
            counted_from: SimTime(spec.measure_from_ps),
            ids: first_id..first_id,
            sections: users.sections(),
            regions,
            region,
            routes,
            groups: Vec::new(),
            users: Vec::new(),
            connections: Vec::new(),
            free: Vec::new(),
            acts: Vec::new(),
            up: Vec::new(),
            down: Vec::new(),
        };
        for group in &users.groups {
            made.ids.end = made.add_group(group, made.ids.end);
        }
        Some(made)
    }

    /// Adds a group whose first id is `first_id`; returns the one behind its last.
    fn add_group(&mut self, spec: &UserGroupSpec, first_id: u32) -> u32 {
        let app = Arc::new(spec.app.clone());
        let slots = app.slots();
        let group = self.groups.len() as u32;
        self.groups.push(Group {
            name: spec.name.clone(),
            app: app.clone(),
            tcp: BothTcp::of(&spec.tcp),
            slots,
            first_id,
            first_user: self.users.len(),
            rows: Vec::new(),
            closed: self.no_sections(),
            ends: Default::default(),
            connections: 0,
            late: 0,
            datagrams: [0; 2],
            responses: Responses::default(),
        });
        for k in 0..spec.count {
            let stream = |purpose: &str| {
                Stream::new(self.seed, &format!("user/{}.{k}/{purpose}", spec.name))
            };
            let start = match spec.start {
                StartSpec::At { time_ps } => time_ps + u64::from(k) * spec.every_ps,
                StartSpec::Drawn { from_ps, to_ps } => stream("start").uniform(from_ps, to_ps),
            };
            let route = spec.route_of(k, self.routes.len());
            let [server, client] = self.regions[route];
            let is_here = client == self.region;
            self.users.push(User {
                group,
                route: route as u32,
                client: is_here.then(|| Client::new(&app, SimTime(start), stream)),
                peer: match server == self.region {
                    true => Peer::new(&app),
                    false => Peer::None,
                },
                slots: vec![SlotState::default()],
            });
        }
        first_id + spec.count * self.ids_of_user(slots)
    }

    /// Accounts of sections that nothing has gone over.
    fn no_sections(&self) -> Vec<UserSectionRecord> {
        let relays = |section: u32| section > 0;
        let section = |section| UserSectionRecord {
            pep: relays(section).then(PepRecord::default),
            relayed: relays(section).then(RelayedRequests::default),
            ..UserSectionRecord::default()
        };
        (0..self.sections).map(section).collect()
    }

    /// Ids of a user with so many slots.
    fn ids_of_user(&self, slots: u32) -> u32 {
        slots * self.sections + u32::from(self.sections > 1)
    }

    /// Returns whether a flow of this id is a user's connection.
    pub fn has(&self, id: u32) -> bool {
        self.ids.contains(&id)
    }

    /// VCs that what a connection sends takes, from the server or to it.
    pub fn route(&self, id: u32, is_forward: bool) -> &[u32] {
        let who = self.who(id);
        let route = self.route_of(who);
        let vcs = match who.is_of_datagrams {
            true => &route.vcs,
            false => &route.sections[who.section].vcs,
        };
        &vcs[usize::from(!is_forward)]
    }

    /// Returns whether packets of a connection have LLC and SNAP where they travel in cells.
    pub fn has_llc_snap(&self, id: u32) -> bool {
        self.tcp_of(self.who(id)).client.llc_snap
    }

    fn who(&self, id: u32) -> Who {
        let of = self.groups.partition_point(|group| group.first_id <= id) - 1;
        let group = &self.groups[of];
        let ids = self.ids_of_user(group.slots);
        let (k, own) = ((id - group.first_id) / ids, (id - group.first_id) % ids);
        let is_of_datagrams = own == group.slots * self.sections;
        let in_slot = if is_of_datagrams { 0 } else { own };
        Who {
            user: group.first_user + k as usize,
            slot: in_slot / self.sections,
            section: (in_slot % self.sections) as usize,
            is_of_datagrams,
            first: id - own,
        }
    }

    /// The id under which a connection's events are, which is that of its first section.
    fn id_of(&self, who: Who) -> u32 {
        who.first + who.slot * self.sections
    }

    /// The id of datagrams of a user.
    fn id_of_datagrams(&self, who: Who) -> u32 {
        match self.sections {
            1 => who.first,
            sections => who.first + self.group_of(who).slots * sections,
        }
    }

    fn route_of(&self, who: Who) -> &Route {
        &self.routes[self.users[who.user].route as usize]
    }

    /// TCP parameters over a section.
    fn tcp_of(&self, who: Who) -> &BothTcp {
        match &self.route_of(who).sections[who.section].proxy {
            None => &self.group_of(who).tcp,
            Some((tcp, _)) => tcp,
        }
    }

    fn group_of(&self, who: Who) -> &Group {
        &self.groups[self.users[who.user].group as usize]
    }

    /// Asks for the first event of each user.
    pub fn begin(&mut self, out: &mut UsersOutbox) {
        for at in 0..self.users.len() {
            let group = &self.groups[self.users[at].group as usize];
            let before = (at - group.first_user) as u32;
            let id = group.first_id + before * self.ids_of_user(group.slots);
            self.plan(SimTime::ZERO, self.who(id), out);
        }
    }

    /// A time of `kind` has come that was asked for.
    pub fn on_event(&mut self, now: SimTime, kind: u8, id: u32, out: &mut UsersOutbox) {
        let who = self.who(id);
        let state = &mut self.users[who.user].slots[who.slot as usize];
        state.pending[usize::from(kind - rank::RETRANSMISSION)] = SimTime::NEVER;
        match kind {
            rank::RETRANSMISSION => self.on_retransmission(now, who, out),
            rank::HELD_ACK => self.on_held_ack(now, who, out),
            _ => {
                if who.slot == 0 && self.users[who.user].client_due() <= now {
                    self.notify(now, who, Event::Timer, out);
                }
                if who.slot == 0 && self.users[who.user].peer.due() <= now {
                    self.on_peer(now, who, None, out);
                }
                self.serve(now, who, out);
            }
        }
        self.plan(now, who, out);
    }

    fn on_datagram(
        &mut self,
        now: SimTime,
        who: Who,
        is_forward: bool,
        segment: &Segment,
        out: &mut UsersOutbox,
    ) {
        let (tag, sent) = (segment.sequence, SimTime(segment.timestamp));
        match is_forward {
            true => self.notify(now, who, Event::Datagram { tag, sent }, out),
            false => self.on_peer(now, who, Some((tag, sent)), out),
        }
    }

    /// The other side of a user's datagrams has got one, or its time has come.
    fn on_peer(
        &mut self,
        now: SimTime,
        who: Who,
        datagram: Option<(u64, SimTime)>,
        out: &mut UsersOutbox,
    ) {
        let mut acts = std::mem::take(&mut self.acts);
        let peer = &mut self.users[who.user].peer;
        match datagram {
            Some((tag, sent)) => peer.on_datagram(now, tag, sent, &mut acts),
            None => peer.on_due(now, &mut acts),
        }
        for act in acts.drain(..) {
            match act {
                Act::Datagram { octets, tag } => {
                    self.send_datagram(now, who, true, (octets, tag), out)
                }
                act => self.act(now, who, act, out),
            }
        }
        self.acts = acts;
        self.plan_first(who, out);
    }

    fn send_datagram(
        &mut self,
        now: SimTime,
        who: Who,
        is_forward: bool,
        (octets, tag): (u32, u64),
        out: &mut UsersOutbox,
    ) {
        let flow = self.id_of_datagrams(who);
        let group = self.group_mut(who);
        group.datagrams[usize::from(!is_forward)] += 1;
        let segment = Segment {
            length: octets,
            sequence: tag,
            timestamp: now.0,
            ..Segment::bare(SegmentKind::Datagram, 0)
        };
        out.sent.push(UserSegment {
            flow,
            is_forward,
            segment,
            octets: octets.into(),
            cells: segment.cells(&group.tcp.client).0,
        });
    }

    fn group_mut(&mut self, who: Who) -> &mut Group {
        &mut self.groups[self.users[who.user].group as usize]
    }

    /// Lets the client of a user know what happens, and does what it wants done.
    fn notify(&mut self, now: SimTime, who: Who, event: Event, out: &mut UsersOutbox) {
        let mut acts = std::mem::take(&mut self.acts);
        if let Some(client) = &mut self.users[who.user].client {
            client.on(now, event, &mut acts);
        }
        for act in acts.drain(..) {
            self.act(now, who, act, out);
        }
        self.acts = acts;
        self.plan_first(who, out);
    }

    fn act(&mut self, now: SimTime, who: Who, act: Act, out: &mut UsersOutbox) {
        let section = self.route_of(who).sections.len() - 1;
        let of = |slot: Slot| Who {
            slot,
            section,
            ..who
        };
        match act {
            Act::Open { slot, in_parts } => {
                self.open(now, of(slot), in_parts, out);
                self.send(of(slot), out);
                self.plan(now, of(slot), out);
            }
            Act::Ask { slot, octets, ask } => {
                let at = self.users[who.user].slots[slot as usize].at;
                let at = at.expect("a client asks over a connection that is open");
                if let Some(connection) = &mut self.connections[at as usize] {
                    connection.ask(now, octets, ask, &mut self.up);
                }
                self.post(of(slot), at, out);
                self.send(of(slot), out);
                self.plan(now, of(slot), out);
            }
            Act::Close(slot) => {
                let at = self.users[who.user].slots[slot as usize].at;
                let at = at.expect("a client closes a connection that is open");
                if let Some(connection) = &mut self.connections[at as usize] {
                    connection.last().is_closing = true;
                    connection.last().advance_close(now, &mut self.up);
                }
                self.send(of(slot), out);
                self.plan(now, of(slot), out);
            }
            Act::Datagram { octets, tag } => {
                self.send_datagram(now, who, false, (octets, tag), out);
            }
            Act::Asked { begin } => {
                if begin >= self.counted_from {
                    self.group_mut(who).responses.asked += 1;
                }
            }
            Act::Answered { begin, took } => {
                if begin >= self.counted_from {
                    self.group_mut(who).responses.add(took.0);
                }
            }
            Act::Report(row) => {
                let reported = Reported {
                    user: (who.user - self.group_of(who).first_user) as u32,
                    row,
                    order: out.order,
                    is_by_server: self.users[who.user].client.is_none(),
                };
                self.group_mut(who).rows.push(reported);
            }
        }
    }

    fn open(&mut self, now: SimTime, who: Who, in_parts: bool, out: &mut UsersOutbox) {
        let slots = &self.users[who.user].slots;
        let last = slots.get(who.slot as usize).map_or(0, |slot| slot.number);
        let at = self.add(who, last + 1, in_parts);
        self.group_mut(who).connections += 1;
        self.open_section(now, who, at);
        self.write(who, last + 1, News::Opened { in_parts }, out);
    }

    /// Adds the next connection of a slot, of which nothing is open; returns where it is.
    fn add(&mut self, who: Who, number: u32, in_parts: bool) -> u32 {
        let slots = &mut self.users[who.user].slots;
        if slots.len() <= who.slot as usize {
            slots.resize(who.slot as usize + 1, SlotState::default());
        }
        let state = &mut slots[who.slot as usize];
        state.number = number;
        let older = state.at;
        let sections = self.route_of(who).sections.len();
        let connection = Connection::new(number, sections, in_parts, older);
        let at = match self.free.pop() {
            Some(at) => at,
            None => {
                self.connections.push(None);
                self.connections.len() as u32 - 1
            }
        };
        self.connections[at as usize] = Some(connection);
        self.users[who.user].slots[who.slot as usize].at = Some(at);
        at
    }

    /// The user, or a proxy, opens a connection over the section before it.
    fn open_section(&mut self, now: SimTime, who: Who, at: u32) {
        let Some(mut connection) = self.connections[at as usize].take() else {
            return;
        };
        let own = self.own_of(who, connection.number, true);
        let behind = self.route_of(who).sections.get(who.section + 1);
        let buffer = behind
            .and_then(|behind| behind.proxy.as_ref())
            .map(|proxy| proxy.1);
        let mut up = std::mem::take(&mut self.up);
        let section = &mut connection.sections[who.section];
        section.open(
            now,
            connection.number,
            self.tcp_of(who),
            own,
            buffer,
            &mut up,
        );
        self.up = up;
        self.connections[at as usize] = Some(connection);
        let of = self.users[who.user].group as usize;
        self.groups[of].closed[who.section].connections += 1;
    }

    /// The clock of the end of a section that asks, or else answers, and its stream, made only if it is needed.
    fn own_of(
        &self,
        who: Who,
        number: u32,
        asks: bool,
    ) -> (TickClock, impl FnOnce() -> Stream + use<>) {
        let sections = &self.route_of(who).sections;
        let section = &sections[who.section];
        let (node, is_proxy, tcp, purpose) = match asks {
            true => {
                let is_proxy = who.section + 1 < sections.len();
                (
                    &section.nodes[1],
                    is_proxy,
                    &self.tcp_of(who).client,
                    "cycle",
                )
            }
            false => {
                let is_proxy = who.section > 0;
                let tcp = &self.tcp_of(who).server;
                (&section.nodes[0], is_proxy, tcp, "server_cycle")
            }
        };
        let group = self.group_of(who);
        let (seed, slot, k) = (self.seed, who.slot, who.user - group.first_user);
        let end = if is_proxy {
            format!("@{node}")
        } else {
            String::new()
        };
        let name = format!("user/{}.{k}/{purpose}{end}.{slot}.{number}", group.name);
        (clock_of(tcp, seed, node), move || Stream::new(seed, &name))
    }

    /// Asks for the events of a connection.
    fn plan(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        let id = self.id_of(who);
        let user = &mut self.users[who.user];
        let first_due = user.client_due().min(user.peer.due());
        let Some(state) = user.slots.get_mut(who.slot as usize) else {
            return;
        };
        let mut due = [SimTime::NEVER; KINDS];
        let mut next = state.at;
        while let Some(connection) = next.and_then(|at| self.connections[at as usize].as_ref()) {
            let own = [
                connection.retransmission_due(),
                connection.held_ack_due(),
                connection.server_due(now),
            ];
            due = std::array::from_fn(|kind| due[kind].min(own[kind]));
            next = connection.older;
        }
        if who.slot == 0 {
            due[2] = due[2].min(first_due);
        }
        for (kind, (due, pending)) in
            (rank::RETRANSMISSION..).zip(due.into_iter().zip(&mut state.pending))
        {
            if due < *pending {
                *pending = due;
                out.wakes.push(Key::new(due, kind, id));
            }
        }
    }

    /// Asks for the next event of a user's client.
    fn plan_first(&mut self, who: Who, out: &mut UsersOutbox) {
        let user = &mut self.users[who.user];
        let due = user.client_due().min(user.peer.due());
        let pending = &mut user.slots[0].pending[2];
        if due < *pending {
            *pending = due;
            out.wakes.push(Key::new(due, rank::APPLICATION, who.first));
        }
    }
}

#[cfg(test)]
mod tests;
