//! Segments and timers of connections: at the ends that ask and answer, and from proxy to proxy.

use super::connection::{Half, Section};
use super::{UserSegment, Users, UsersOutbox, Who};
use skycell_apps::Event;
use skycell_tcp::{Segment, SegmentKind};
use skycell_units::SimTime;

impl Users {
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
        match (self.find(who, segment.connection), is_forward) {
            (Some(at), true) => self.on_segment_at_asking(now, who, at, segment, out),
            (Some(at), false) => self.on_segment_at_answering(now, who, at, segment, out),
            (None, true) => self.group_mut(who).late += 1,
            (None, false) => {
                let slot = self.users[who.user].slots.get(who.slot as usize);
                let last = slot.map_or(0, |slot| slot.number);
                assert!(segment.connection <= last, "it comes before its letter");
                self.on_late_at_answering(who, segment, out);
            }
        }
        self.plan(now, who, out);
    }

    /// Where the state of a slot's connection with this number is.
    pub(super) fn find(&self, who: Who, number: u32) -> Option<u32> {
        let mut next = self.users[who.user].slots.get(who.slot as usize)?.at;
        while let Some(at) = next {
            let connection = self.connections[at as usize].as_ref()?;
            if connection.number == number {
                return Some(at);
            }
            next = connection.older;
        }
        None
    }

    /// The connections of a slot that are not closed.
    fn all_of(&self, who: Who) -> Vec<u32> {
        let slot = self.users[who.user].slots.get(who.slot as usize);
        let mut found = Vec::new();
        let mut next = slot.and_then(|slot| slot.at);
        while let Some(at) = next {
            found.push(at);
            next = self.connections[at as usize]
                .as_ref()
                .and_then(|one| one.older);
        }
        found
    }

    /// Timers of a slot's connections may have run out.
    pub(super) fn on_retransmission(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        self.each_section(who, out, |section, up, down| {
            section.on_retransmission(now, up, down);
        });
    }

    /// Holds of acknowledgements of a slot's connections may have run out.
    pub(super) fn on_held_ack(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        self.each_section(who, out, |section, up, down| {
            section.on_held_ack(now, up, down);
        });
    }

    /// Both ends over each section of a slot's connections act, and what they want sent is.
    fn each_section(
        &mut self,
        who: Who,
        out: &mut UsersOutbox,
        act: impl Fn(&mut Section, &mut Vec<Segment>, &mut Vec<Segment>),
    ) {
        for at in self.all_of(who) {
            for k in 0..self.route_of(who).sections.len() {
                if let Some(connection) = &mut self.connections[at as usize] {
                    act(&mut connection.sections[k], &mut self.up, &mut self.down);
                }
                self.send(who.at(k), out);
            }
        }
    }

    /// The servers of a slot's connections do what it is time for.
    pub(super) fn serve(&mut self, now: SimTime, who: Who, out: &mut UsersOutbox) {
        for at in self.all_of(who) {
            if let Some(connection) = &mut self.connections[at as usize] {
                connection.serve(now, &mut self.down);
                self.send(who.at(0), out);
            }
            self.post(who, at, out);
        }
    }

    /// An end that answers and is closed knows nothing but that it was: it answers a FIN, so that who asks need not ask for ever.
    fn on_late_at_answering(&mut self, who: Who, segment: &Segment, out: &mut UsersOutbox) {
        if segment.kind == SegmentKind::ControlAck {
            return; // of the close itself
        }
        let group = self.group_mut(who);
        group.late += 1;
        if segment.kind == SegmentKind::Fin {
            group.closed[who.section].reverse.control_segments += 1;
            if who.section == 0 {
                group.ends[1].control_segments += 1;
            }
            let answer = Segment::bare(SegmentKind::FinAck, segment.connection);
            self.down.push(answer);
            self.send(who, out);
        }
    }

    /// Adds an end that asks, or else answers, to the accounts of what is closed.
    fn close(&mut self, who: Who, half: &Half, asks: bool) {
        let last = self.route_of(who).sections.len() - 1;
        let is_at_host = who.section == if asks { last } else { 0 };
        let group = self.group_mut(who);
        if is_at_host {
            half.add_to(group.ends.each_mut(), asks);
        }
        let section = &mut group.closed[who.section];
        half.add_to([&mut section.forward, &mut section.reverse], asks);
    }

    fn on_segment_at_answering(
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
        let section = &mut connection.sections[who.section];
        if section.was_answering && section.answering.is_none() {
            self.connections[at as usize] = Some(connection);
            return self.on_late_at_answering(who, segment, out);
        }
        let begins = section.answering.is_none();
        if begins {
            let own = self.own_of(who, segment.connection, false);
            let sections = &self.route_of(who).sections;
            let buffer = sections[who.section].proxy.as_ref().map(|proxy| proxy.1);
            let is_to_proxy = who.section + 1 < sections.len();
            let tcp = self.tcp_of(who);
            section.accept(now, segment.connection, tcp, own, (buffer, is_to_proxy));
            if who.section == 0 {
                connection.begin_to_serve();
            }
        }
        connection.sections[who.section].on_segment_at_answering(now, segment, &mut self.down);
        if who.section == 0 {
            connection.serve(now, &mut self.down);
        }
        self.connections[at as usize] = Some(connection);
        self.send(who, out);
        self.post(who, at, out);
        if who.section > 0 {
            self.relay_to_server(now, who, at, begins, out);
        }
        if segment.kind == SegmentKind::Fin {
            self.on_fin(now, who, at, out);
        }
    }

    /// What has come from the user to the proxy where the section begins goes on; the first segment opens the one before.
    fn relay_to_server(
        &mut self,
        now: SimTime,
        who: Who,
        at: u32,
        begins: bool,
        out: &mut UsersOutbox,
    ) {
        let before = who.at(who.section - 1);
        if begins {
            self.open_section(now, before, at);
        }
        if let Some(connection) = &mut self.connections[at as usize] {
            connection.relay_requests(now, who.section, &mut self.up);
        }
        self.send(before, out);
    }

    /// The end that answers forgets the connection, and a proxy closes the one before: who asks closes when all has come, so
    /// that the FIN acknowledges everything.
    fn on_fin(&mut self, now: SimTime, who: Who, at: u32, out: &mut UsersOutbox) {
        let Some(connection) = &mut self.connections[at as usize] else {
            return;
        };
        let Some(half) = connection.take_answering(who.section) else {
            return;
        };
        let section = &mut connection.sections[who.section];
        let answers = section.buffer.take();
        let answers = answers.map(|buffer| buffer.record(0, &half.sender));
        self.close(who, &half, false);
        if let Some(answers) = answers {
            self.group_mut(who).closed[who.section].add_answers(&answers);
        }
        if who.section > 0 {
            let before = who.at(who.section - 1);
            if let Some(connection) = &mut self.connections[at as usize] {
                connection.sections[before.section].is_closing = true;
            }
            self.advance_close(now, before, at, out);
        } else if self.users[who.user].client.is_none() {
            self.forget(who, at);
        }
    }

    fn on_segment_at_asking(
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
        let section = &mut connection.sections[who.section];
        if section.asking.is_none() {
            self.group_mut(who).late += 1;
            return;
        }
        section.on_segment_at_asking(now, segment, &mut self.up);
        let is_at_proxy = who.section + 1 < connection.sections.len();
        self.send(who, out);
        if is_at_proxy {
            let behind = who.at(who.section + 1);
            if let Some(connection) = &mut self.connections[at as usize] {
                connection.relay_answers(now, behind.section, &mut self.down);
            }
            self.send(behind, out);
        }
        while !is_at_proxy
            && let Some(connection) = &mut self.connections[at as usize]
            && let Some((stream, part)) = connection.read()
        {
            let slot = who.slot;
            let event = Event::Read { slot, stream, part };
            self.notify(now, who, event, out);
        }
        self.advance_close(now, who, at, out);
    }

    /// Goes on with the close of a connection over a section, if it closes.
    fn advance_close(&mut self, now: SimTime, who: Who, at: u32, out: &mut UsersOutbox) {
        let Some(connection) = &mut self.connections[at as usize] else {
            return;
        };
        let is_of_user = who.section + 1 == connection.sections.len();
        let section = &mut connection.sections[who.section];
        let is_closed = section.advance_close(now, &mut self.up);
        if is_closed && let Some(half) = section.asking.take() {
            let is_over = connection.is_closed();
            self.close(who, &half, true);
            if !is_of_user {
                let closed = &mut self.group_mut(who).closed[who.section + 1];
                closed.add_requests(&half.relayed());
            }
            if is_over {
                self.forget(who, at);
            }
        }
        self.send(who, out);
        if is_closed && is_of_user {
            self.notify(now, who, Event::Closed(who.slot), out);
        }
    }

    /// Forgets a connection of which all sections are closed.
    fn forget(&mut self, who: Who, at: u32) {
        let Some(connection) = self.connections[at as usize].take() else {
            return;
        };
        self.free.push(at);
        let newest = &mut self.users[who.user].slots[who.slot as usize].at;
        if *newest == Some(at) {
            *newest = connection.older;
            return;
        }
        for other in self.all_of(who) {
            if let Some(newer) = &mut self.connections[other as usize]
                && newer.older == Some(at)
            {
                newer.older = connection.older;
            }
        }
    }

    /// Sends what both ends of a connection over a section want sent.
    pub(super) fn send(&mut self, who: Who, out: &mut UsersOutbox) {
        if self.up.is_empty() && self.down.is_empty() {
            return;
        }
        let tcp = self.tcp_of(who).client.clone();
        let flow = self.id_of(who) + who.section as u32;
        let both = [(&mut self.up, false), (&mut self.down, true)];
        for (segments, is_forward) in both {
            let sent = segments.drain(..).map(|segment| UserSegment {
                flow,
                is_forward,
                segment,
                octets: segment.packet(&tcp),
                cells: segment.cells(&tcp).0,
            });
            out.sent.extend(sent);
        }
    }
}
