//! Users: many alike, each with an application over connections that have state only while they are open.
//!
//! User k of a group has the ids `first + k * slots + slot`, one for each connection that may be open at once, and acts under
//! the first of them. Engines carry segments by these ids, and wake users at the keys that they ask for.

mod connection;
mod record;

use crate::{clock_of, rank};
use connection::{BothTcp, Connection, add_received, add_sent};
use skycell_apps::{Act, Client, Event, Peer, Row, Slot};
use skycell_des::{Key, Stream};
use skycell_records::{Responses, StreamRecord};
use skycell_spec::{AppSpec, NetworkSpec, StartSpec, TcpSpec, UserGroupSpec};
use skycell_tcp::{Segment, SegmentKind};
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
}

/// Both routes between the host of a user and that of the servers: from the servers, and to them.
#[derive(Debug)]
struct Route {
    vcs: [Vec<u32>; 2],
    /// Clocks of the two hosts are those of their names.
    servers: String,
    users: String,
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
    /// What users did, each with the user's number in the group.
    rows: Vec<(u32, Row)>,
    /// Accounts of connections that are closed: from the servers, and to them.
    closed: [StreamRecord; 2],
    connections: u64,
    /// Segments that came for connections that were closed.
    late: u64,
    /// Datagrams sent: from the servers, and to them.
    datagrams: [u64; 2],
    responses: Responses,
}

/// One user.
#[derive(Debug)]
struct User {
    group: u32,
    route: u32,
    client: Client,
    peer: Peer,
    /// Of each slot that has ever been used.
    slots: Vec<SlotState>,
}

/// A connection's slot.
#[derive(Clone, Copy, Debug)]
struct SlotState {
    /// Number of the connection that was opened last; 0 for none.
    number: u32,
    /// Where the state of one is that is open.
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
    routes: Vec<Route>,
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
    /// The first id of the user.
    first: u32,
}

impl Users {
    /// Users of a valid spec; none where it has none.
    pub fn of(spec: &NetworkSpec) -> Option<Self> {
        let users = spec.users.as_ref()?;
        let host = |vc: u32| {
            spec.nodes[spec.vc_source(vc as usize) as usize]
                .name
                .clone()
        };
        let routes: Vec<Route> = users
            .routes
            .iter()
            .map(|route| Route {
                vcs: [route.forward.clone(), route.reverse.clone()],
                servers: host(route.forward[0]),
                users: host(route.reverse[0]),
            })
            .collect();
        // Numbers of packets' flows, twice an id, come after those of connections and sources.
        let first_id = spec.flows.len() as u32 + (spec.sources.len() as u32).div_ceil(2);
        let mut made = Users {
            seed: spec.seed,
            counted_from: SimTime(spec.measure_from_ps),
            ids: first_id..first_id,
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
            tcp: BothTcp {
                client: Arc::new(spec.tcp.clone()),
                server: Arc::new(TcpSpec {
                    handshake: false,
                    ..spec.tcp.clone()
                }),
            },
            slots,
            first_id,
            first_user: self.users.len(),
            rows: Vec::new(),
            closed: Default::default(),
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
            self.users.push(User {
                group,
                route: spec.route_of(k, self.routes.len()) as u32,
                client: Client::new(&app, SimTime(start), stream),
                peer: Peer::new(&app),
                slots: vec![SlotState::default()],
            });
        }
        first_id + spec.count * slots
    }

    /// Returns whether a flow of this id is a user's connection.
    pub fn has(&self, id: u32) -> bool {
        self.ids.contains(&id)
    }

    /// VCs that what a connection sends takes, from the server or to it.
    pub fn route(&self, id: u32, is_forward: bool) -> &[u32] {
        let user = &self.users[self.who(id).user];
        &self.routes[user.route as usize].vcs[usize::from(!is_forward)]
    }

    /// Returns whether packets of a connection have LLC and SNAP where they travel in cells.
    pub fn has_llc_snap(&self, id: u32) -> bool {
        self.group_of(self.who(id)).tcp.client.llc_snap
    }

    fn who(&self, id: u32) -> Who {
        let of = self.groups.partition_point(|group| group.first_id <= id) - 1;
        let group = &self.groups[of];
        let (k, slot) = (
            (id - group.first_id) / group.slots,
            (id - group.first_id) % group.slots,
        );
        Who {
            user: group.first_user + k as usize,
            slot,
            first: id - slot,
        }
    }

    fn group_of(&self, who: Who) -> &Group {
        &self.groups[self.users[who.user].group as usize]
    }

    /// Asks for the first event of each user.
    pub fn begin(&mut self, out: &mut UsersOutbox) {
        for at in 0..self.users.len() {
            let group = &self.groups[self.users[at].group as usize];
            let id = group.first_id + (at - group.first_user) as u32 * group.slots;
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
                if who.slot == 0 && self.users[who.user].client.due() <= now {
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

    fn on_retransmission(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        let (up, down) = (&mut self.up, &mut self.down);
        let Some(at) = self.users[who.user].slots[who.slot as usize].at else {
            return;
        };
        let Some(connection) = &mut self.connections[at as usize] else {
            return;
        };
        if connection.client.sender.deadline() == Some(now) {
            connection.client.sender.on_timeout(now, up);
        }
        if let Some(end) = &mut connection.server
            && end.half.sender.deadline() == Some(now)
        {
            end.half.sender.on_timeout(now, down);
        }
        self.send(who, out);
    }

    fn on_held_ack(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        let Some(at) = self.users[who.user].slots[who.slot as usize].at else {
            return;
        };
        let Some(connection) = &mut self.connections[at as usize] else {
            return;
        };
        if connection.client.receiver.deadline() == Some(now) {
            connection.client.receiver.on_deadline(&mut self.up);
        }
        if let Some(end) = &mut connection.server
            && end.half.receiver.deadline() == Some(now)
        {
            end.half.receiver.on_deadline(&mut self.down);
        }
        self.send(who, out);
    }

    /// A segment has come to the user, or else to the server.
    pub fn on_segment(
        &mut self,
        now: SimTime,
        id: u32,
        is_forward: bool,
        segment: &Segment,
        out: &mut UsersOutbox,
    ) {
        let who = self.who(id);
        if segment.kind == SegmentKind::Datagram {
            return self.on_datagram(now, who, is_forward, segment, out);
        }
        let state = self.users[who.user].slots[who.slot as usize];
        let open = state.at.filter(|_| segment.connection == state.number);
        match (open, is_forward) {
            (Some(at), true) => self.on_segment_at_client(now, who, at, segment, out),
            (Some(at), false) => self.on_segment_at_server(now, who, at, segment, out),
            (None, true) => self.group_mut(who).late += 1,
            (None, false) => self.on_late_at_server(who, segment, out),
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
        let group = self.group_mut(who);
        group.datagrams[usize::from(!is_forward)] += 1;
        let segment = Segment {
            length: octets,
            sequence: tag,
            timestamp: now.0,
            ..Segment::bare(SegmentKind::Datagram, 0)
        };
        out.sent.push(UserSegment {
            flow: who.first,
            is_forward,
            segment,
            octets: octets.into(),
            cells: segment.cells(&group.tcp.client).0,
        });
    }

    fn group_mut(&mut self, who: Who) -> &mut Group {
        &mut self.groups[self.users[who.user].group as usize]
    }

    /// A server's end that is closed knows nothing but that it was: it answers a FIN, so that the client need not ask for ever.
    fn on_late_at_server(&mut self, who: Who, segment: &Segment, out: &mut UsersOutbox) {
        if segment.kind == SegmentKind::ControlAck {
            return; // of the close itself
        }
        let group = self.group_mut(who);
        group.late += 1;
        if segment.kind == SegmentKind::Fin {
            group.closed[1].control_segments += 1;
            let answer = Segment::bare(SegmentKind::FinAck, segment.connection);
            self.down.push(answer);
            self.send(who, out);
        }
    }

    fn on_segment_at_server(
        &mut self,
        now: SimTime,
        who: Who,
        at: u32,
        segment: &Segment,
        out: &mut UsersOutbox,
    ) {
        let Some(mut connection) = self.connections[at as usize].take() else {
            return;
        };
        if connection.server_was && connection.server.is_none() {
            self.connections[at as usize] = Some(connection);
            return self.on_late_at_server(who, segment, out);
        }
        if connection.server.is_none() {
            let user = &self.users[who.user];
            let (group, route) = (
                &self.groups[user.group as usize],
                &self.routes[user.route as usize],
            );
            let clock = clock_of(&group.tcp.server, self.seed, &route.servers);
            let draws = self.draws_of(who, "server_cycle", segment.connection);
            connection.accept(now, &group.tcp, (clock, draws));
        }
        if let Some(end) = &mut connection.server {
            match segment.kind {
                SegmentKind::Ack => end.half.sender.on_segment(now, segment, &mut self.down),
                _ => end.half.receiver.on_segment(now, segment, &mut self.down),
            }
        }
        connection.serve(now, &mut self.down);
        if segment.kind == SegmentKind::Fin
            && let Some(end) = connection.server.take()
        {
            // The client closes when all has come to it, so that its FIN acknowledges everything.
            let closed = &mut self.groups[self.users[who.user].group as usize].closed;
            add_sent(&mut closed[0], &end.half.sender);
            add_received(&mut closed[1], &end.half.receiver);
        }
        self.connections[at as usize] = Some(connection);
        self.send(who, out);
    }

    fn on_segment_at_client(
        &mut self,
        now: SimTime,
        who: Who,
        at: u32,
        segment: &Segment,
        out: &mut UsersOutbox,
    ) {
        let Some(connection) = &mut self.connections[at as usize] else {
            return;
        };
        let client = &mut connection.client;
        match segment.kind {
            SegmentKind::Data | SegmentKind::Probe => {
                client.receiver.on_segment(now, segment, &mut self.up);
            }
            _ => client.sender.on_segment(now, segment, &mut self.up),
        }
        self.send(who, out);
        while let Some(connection) = &mut self.connections[at as usize]
            && let Some((stream, part)) = connection.read()
        {
            let slot = who.slot;
            let event = Event::Read { slot, stream, part };
            self.notify(now, who, event, out);
        }
        self.advance_close(now, who, out);
    }

    /// Goes on with the close of a connection, if it closes.
    fn advance_close(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        let state = &mut self.users[who.user].slots[who.slot as usize];
        let Some(at) = state.at else {
            return;
        };
        let entry = &mut self.connections[at as usize];
        let Some(connection) = entry else {
            return;
        };
        let is_closed = connection.advance_close(now, &mut self.up);
        if is_closed {
            state.at = None;
            let closed = &mut self.groups[self.users[who.user].group as usize].closed;
            add_sent(&mut closed[1], &connection.client.sender);
            add_received(&mut closed[0], &connection.client.receiver);
            *entry = None;
            self.free.push(at);
        }
        self.send(who, out);
        if is_closed {
            self.notify(now, who, Event::Closed(who.slot), out);
        }
    }

    /// The server of a connection does what it is time for.
    fn serve(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        if let Some(at) = self.users[who.user].slots[who.slot as usize].at
            && let Some(connection) = &mut self.connections[at as usize]
        {
            connection.serve(now, &mut self.down);
            self.send(who, out);
        }
    }

    /// Lets the client of a user know what happens, and does what it wants done.
    fn notify(&mut self, now: SimTime, who: Who, event: Event, out: &mut UsersOutbox) {
        let mut acts = std::mem::take(&mut self.acts);
        self.users[who.user].client.on(now, event, &mut acts);
        for act in acts.drain(..) {
            self.act(now, who, act, out);
        }
        self.acts = acts;
        self.plan_first(who, out);
    }

    fn act(&mut self, now: SimTime, who: Who, act: Act, out: &mut UsersOutbox) {
        let of = |slot: Slot| Who { slot, ..who };
        match act {
            Act::Open { slot, in_parts } => {
                self.open(now, of(slot), in_parts);
                self.send(of(slot), out);
                self.plan(now, of(slot), out);
            }
            Act::Ask { slot, octets, ask } => {
                let at = self.users[who.user].slots[slot as usize].at;
                let at = at.expect("a client asks over a connection that is open");
                if let Some(connection) = &mut self.connections[at as usize] {
                    connection.ask(now, octets, ask, &mut self.up);
                }
                self.send(of(slot), out);
                self.plan(now, of(slot), out);
            }
            Act::Close(slot) => {
                let at = self.users[who.user].slots[slot as usize].at;
                let at = at.expect("a client closes a connection that is open");
                if let Some(connection) = &mut self.connections[at as usize] {
                    connection.is_closing = true;
                    connection.advance_close(now, &mut self.up);
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
                let k = (who.user - self.group_of(who).first_user) as u32;
                self.group_mut(who).rows.push((k, row));
            }
        }
    }

    fn open(&mut self, now: SimTime, who: Who, in_parts: bool) {
        let slots = &mut self.users[who.user].slots;
        if slots.len() <= who.slot as usize {
            slots.resize(who.slot as usize + 1, SlotState::default());
        }
        let state = &mut slots[who.slot as usize];
        assert!(
            state.at.is_none(),
            "a client opens a connection that is not"
        );
        state.number += 1;
        let number = state.number;
        let user = &self.users[who.user];
        let (group, route) = (
            &self.groups[user.group as usize],
            &self.routes[user.route as usize],
        );
        let clock = clock_of(&group.tcp.client, self.seed, &route.users);
        let draws = self.draws_of(who, "cycle", number);
        let mut up = std::mem::take(&mut self.up);
        let own = (clock, draws);
        let connection = Connection::open(now, number, in_parts, &group.tcp, own, &mut up);
        self.up = up;
        let at = match self.free.pop() {
            Some(at) => at,
            None => {
                self.connections.push(None);
                self.connections.len() as u32 - 1
            }
        };
        self.connections[at as usize] = Some(connection);
        self.users[who.user].slots[who.slot as usize].at = Some(at);
        self.group_mut(who).connections += 1;
    }

    /// A stream of one connection, made only if it is needed.
    fn draws_of(&self, who: Who, purpose: &str, number: u32) -> impl FnOnce() -> Stream + use<> {
        let group = self.group_of(who);
        let (seed, slot, k) = (self.seed, who.slot, who.user - group.first_user);
        let name = format!("user/{}.{k}/{purpose}.{slot}.{number}", group.name);
        move || Stream::new(seed, &name)
    }

    /// Sends what both ends of a connection want sent.
    fn send(&mut self, who: Who, out: &mut UsersOutbox) {
        if self.up.is_empty() && self.down.is_empty() {
            return;
        }
        let tcp = &self.groups[self.users[who.user].group as usize].tcp.client;
        let flow = who.first + who.slot;
        let both = [(&mut self.up, false), (&mut self.down, true)];
        for (segments, is_forward) in both {
            let sent = segments.drain(..).map(|segment| UserSegment {
                flow,
                is_forward,
                segment,
                octets: segment.packet(tcp),
                cells: segment.cells(tcp).0,
            });
            out.sent.extend(sent);
        }
    }

    /// Asks for the events of a connection.
    fn plan(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        let user = &mut self.users[who.user];
        let Some(state) = user.slots.get_mut(who.slot as usize) else {
            return;
        };
        let connection = state
            .at
            .and_then(|at| self.connections[at as usize].as_ref());
        let mut due = match connection {
            None => [SimTime::NEVER; KINDS],
            Some(connection) => [
                connection.retransmission_due(),
                connection.held_ack_due(),
                connection.server_due(now),
            ],
        };
        if who.slot == 0 {
            due[2] = due[2].min(user.client.due()).min(user.peer.due());
        }
        for (kind, (due, pending)) in
            (rank::RETRANSMISSION..).zip(due.into_iter().zip(&mut state.pending))
        {
            if due < *pending {
                *pending = due;
                out.wakes.push(Key::new(due, kind, who.first + who.slot));
            }
        }
    }

    /// Asks for the next event of a user's client.
    fn plan_first(&mut self, who: Who, out: &mut UsersOutbox) {
        let user = &mut self.users[who.user];
        let due = user.client.due().min(user.peer.due());
        let pending = &mut user.slots[0].pending[2];
        if due < *pending {
            *pending = due;
            out.wakes.push(Key::new(due, rank::APPLICATION, who.first));
        }
    }
}

#[cfg(test)]
mod tests;
