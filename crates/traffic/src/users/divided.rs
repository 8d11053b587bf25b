//! Users in the regions of a network. Each region has all users, of whom only the ends of connections act that are in it.
//! An end sends letters to the other as soon as it writes them: the octets that they are pinned to come later.

use super::{Group, Users, UsersOutbox, Who};
use skycell_apps::{Ask, Part};
use skycell_units::Octets;
use std::mem::take;

/// What an end of a connection lets the other know beside what travels.
#[derive(Clone, Copy, Debug)]
pub struct Letter {
    /// Id of the connection, and its number in the slot.
    flow: u32,
    number: u32,
    news: News,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum News {
    /// The client opens it.
    Opened { in_parts: bool },
    /// The client asks for something, with so many octets of requests up to there.
    Asked { end: Octets, ask: Ask },
    /// The server answers a request of this number, with so many octets of answers up to there.
    Answered {
        end: Octets,
        stream: u32,
        part: Part,
    },
}

impl Users {
    /// Sends a letter about a connection, if its other end is in another region.
    pub(super) fn write(&self, who: Who, number: u32, news: News, out: &mut UsersOutbox) {
        let [server, client] = self.regions[self.users[who.user].route as usize];
        if server != client {
            let to = if client == self.region {
                server
            } else {
                client
            };
            let flow = self.id_of(who);
            let letter = Letter { flow, number, news };
            out.letters.push((to, letter));
        }
    }

    /// Sends the letters that an end of a connection has written for one in another region.
    pub(super) fn post(&mut self, who: Who, at: u32, out: &mut UsersOutbox) {
        let [server, client] = self.regions[self.users[who.user].route as usize];
        if server == client {
            return;
        }
        let Some(connection) = &mut self.connections[at as usize] else {
            return;
        };
        let number = connection.number;
        if client == self.region {
            for (end, ask) in take(&mut connection.asks) {
                self.write(who, number, News::Asked { end, ask }, out);
            }
        } else {
            for (end, stream, part) in take(&mut connection.parts) {
                self.write(who, number, News::Answered { end, stream, part }, out);
            }
        }
    }

    /// A letter has come from another region.
    ///
    /// # Panics
    /// Octets have come that it is pinned to.
    pub fn on_letter(&mut self, letter: Letter) {
        let (who, number) = (self.who(letter.flow), letter.number);
        if let News::Opened { in_parts } = letter.news {
            self.add(who, number, in_parts);
            return;
        }
        let at = self.find(who, number);
        let Some(connection) = at.and_then(|at| self.connections[at as usize].as_mut()) else {
            return; // it is closed
        };
        let section = &connection.sections[0];
        let (half, end) = match letter.news {
            News::Asked { end, ask } => {
                connection.asks.push_back((end, ask));
                (&section.answering, end)
            }
            News::Answered { end, stream, part } => {
                connection.parts.push_back((end, stream, part));
                (&section.asking, end)
            }
            News::Opened { .. } => return,
        };
        let delivered = half
            .as_ref()
            .map(|half| half.receiver.counters().octets_delivered);
        assert!(
            delivered.is_none_or(|delivered| delivered < end),
            "its octets have come"
        );
    }

    /// Takes over what users did in another region, after [`Users::finish`] of both.
    pub fn absorb(&mut self, region: Users) {
        for (own, other) in self.groups.iter_mut().zip(region.groups) {
            own.absorb(other);
        }
    }
}

impl Group {
    fn absorb(&mut self, region: Group) {
        self.connections += region.connections;
        self.late += region.late;
        for (own, other) in self.datagrams.iter_mut().zip(region.datagrams) {
            *own += other;
        }
        self.responses.add_all(&region.responses);
        for (own, other) in self.ends.iter_mut().zip(&region.ends) {
            own.add_all(other);
        }
        for (own, other) in self.closed.iter_mut().zip(&region.closed) {
            own.add_all(other);
        }
        self.rows.extend(region.rows);
        // As one region would have reported them: at an event the user is first.
        self.rows.sort_by_key(|own| (own.order, own.is_by_server));
    }
}
