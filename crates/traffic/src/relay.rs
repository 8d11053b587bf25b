//! A proxy between two connections of a split flow (RFC 3135): what the one before delivers at it is what the one behind has
//! to send, and what of its buffer is free is the window of the one before.
//!
//! The proxy answers the connection before it by itself: it acknowledges what has arrived in order, a FIN too, whatever has
//! become of the connection behind, which it opens as soon as the first segment has come. Where the one before is a row of
//! connections, so is the one behind: the next is opened when the last has delivered all and is closed, and its octets wait.

use crate::pep_buffer::PepBuffer;
use crate::{Application, Flow, Outbox};
use skycell_records::PepRecord;
use skycell_spec::Proxy;
use skycell_tcp::Accepted;
use skycell_units::{Octets, SimTime};
use std::collections::VecDeque;

/// The proxies between connections, by flow.
#[derive(Debug, Default)]
pub struct Proxies {
    /// The connection behind, and the one before; nothing where no flow is split.
    joined: Vec<[Option<u32>; 2]>,
}

impl Proxies {
    /// Joins connections by proxies.
    pub fn join(flows: &mut [&mut Flow], proxies: &[Proxy]) -> Self {
        let count = if proxies.is_empty() { 0 } else { flows.len() };
        let mut joined = vec![[None, None]; count];
        for proxy in proxies {
            joined[proxy.before as usize][0] = Some(proxy.behind);
            joined[proxy.behind as usize][1] = Some(proxy.before);
            flows[proxy.before as usize].end_at_proxy(proxy.buffer);
            flows[proxy.behind as usize].begin_at_proxy(proxy.buffer);
            let pair = [proxy.before as usize, proxy.behind as usize];
            let pair = flows.get_disjoint_mut(pair);
            let [before, behind] = pair.expect("a connection does not join itself");
            behind.take_deliveries(before.give_up_deliveries());
            behind.take_user(before);
        }
        Proxies { joined }
    }

    /// The connection that goes on where a segment of `flow` comes to the destination, or else the source.
    pub fn beyond(&self, flow: u32, is_forward: bool) -> Option<u32> {
        self.joined.get(flow as usize)?[usize::from(!is_forward)]
    }
}

/// The proxy at which a connection begins.
#[derive(Debug)]
pub(crate) struct Relay {
    buffer: PepBuffer,
    /// The connections before it that it still has to do with, in order.
    incoming: VecDeque<Incoming>,
    /// The newest connection that has come here, which may be done with: its FIN can come again.
    newest: Option<u32>,
    /// True if the connection of the first of them is open here.
    is_open: bool,
    /// Octets of the first of them that have been handed to TCP.
    handed_over: Octets,
}

/// A connection before a proxy.
#[derive(Clone, Copy, Debug)]
struct Incoming {
    connection: u32,
    /// Octets of it that have come in order.
    octets: Octets,
    has_ended: bool,
}

impl Relay {
    fn new(buffer: Octets) -> Self {
        Relay {
            buffer: PepBuffer::new(buffer),
            incoming: VecDeque::new(),
            newest: None,
            is_open: false,
            handed_over: 0,
        }
    }

    /// Octets that have come and have not been handed to TCP.
    fn waiting(&self) -> Octets {
        let all: Octets = self.incoming.iter().map(|one| one.octets).sum();
        all - self.handed_over
    }
}

impl Flow {
    /// A segment has come to the destination of the connection before, or else to the source of the one behind: lets this
    /// one, on the other side of the proxy, know.
    pub fn on_beyond(
        &mut self,
        now: SimTime,
        is_forward: bool,
        beyond: &mut Flow,
        out: &mut Outbox,
    ) {
        if is_forward {
            return self.on_accepted(now, beyond.receiver.accepted(), out);
        }
        self.receiver
            .set_limit(now, beyond.limit(), &mut out.reverse);
        if let (Some(web), Some(behind)) = (&mut self.web, &mut beyond.web) {
            web.relay(now, behind, &mut out.reverse);
        }
    }

    /// The web user of the flow, if it has one, is at its end, and not at the end of the connection `before`, whose
    /// requests come from here.
    fn take_user(&mut self, before: &mut Flow) {
        if let (Some(web), Some(behind)) = (&mut before.web, &mut self.web) {
            web.end_at_proxy(behind);
            self.application_due = std::mem::replace(&mut before.application_due, SimTime::NEVER);
        }
    }

    /// Makes arrivals at the destination wait there for another connection.
    fn end_at_proxy(&mut self, buffer: Octets) {
        self.sender.obey_window();
        self.destination.has_timers = true;
        self.at_source.asks_for_window = true;
        self.receiver.set_buffer(buffer);
    }

    /// Makes the source send what comes from another connection.
    fn begin_at_proxy(&mut self, buffer: Octets) {
        self.application_due = SimTime::NEVER;
        self.at_source.has_relay = true;
        self.application.relay = Some(Relay::new(buffer));
    }

    /// The octet of all connections before up to which the proxy at the source has room.
    fn limit(&self) -> Octets {
        let acked = self.sender.counters().octets_acked;
        let relay = self.application.relay.as_ref();
        relay.map_or(acked, |relay| relay.buffer.limit(acked))
    }

    /// The connection before has accepted more, or has ended.
    fn on_accepted(&mut self, now: SimTime, accepted: Accepted, out: &mut Outbox) {
        let acked = self.sender.counters().octets_acked;
        let Some(relay) = &mut self.application.relay else {
            return;
        };
        relay.buffer.on_accepted(&accepted, acked);
        if relay
            .newest
            .is_none_or(|newest| newest < accepted.connection)
        {
            relay.newest = Some(accepted.connection);
            if let Some(last) = relay.incoming.back_mut() {
                last.has_ended = true;
            }
            relay.incoming.push_back(Incoming {
                connection: accepted.connection,
                octets: 0,
                has_ended: false,
            });
        }
        let last = relay.incoming.back_mut();
        if let Some(last) = last.filter(|last| last.connection == accepted.connection) {
            last.octets = accepted.octets;
            last.has_ended = accepted.has_ended;
        }
        self.after_sender(now, out);
    }

    /// Opens, hands over and closes what there is to, at the proxy at the source.
    pub(crate) fn advance_relay(&mut self, now: SimTime, out: &mut Outbox) {
        let Application {
            relay,
            connections,
            connected_since,
            connected,
            closing_since,
            closing,
            closings,
            start,
            traced_highest,
            ..
        } = &mut *self.application;
        let Some(relay) = relay else {
            return;
        };
        while let Some(&first) = relay.incoming.front() {
            if !relay.is_open {
                self.sender.open(now, *connections, &mut out.forward);
                if *connections == 0 {
                    *start = now;
                }
                *connections += 1;
                *connected_since = Some(now);
                *traced_highest = 0;
                (relay.is_open, relay.handed_over) = (true, 0);
            }
            if first.octets > relay.handed_over {
                let more = first.octets - relay.handed_over;
                relay.handed_over = first.octets;
                self.sender.hand_over(now, more, &mut out.forward);
            }
            let is_done = first.has_ended && self.sender.is_open() && self.sender.is_all_acked();
            if is_done && closing_since.is_none() {
                *closing_since = Some(now);
                self.sender.close(now, &mut out.forward);
            }
            if self.sender.is_open() {
                return;
            }
            let since = closing_since.take().unwrap_or(now);
            *closing += now - since;
            *connected += now - connected_since.take().unwrap_or(now);
            *closings += 1;
            relay.incoming.pop_front();
            (relay.is_open, relay.handed_over) = (false, 0);
        }
    }

    /// Returns the record of the proxy at the source.
    pub(crate) fn pep_record(&self) -> Option<PepRecord> {
        let relay = self.application.relay.as_ref()?;
        Some(relay.buffer.record(relay.waiting(), &self.sender))
    }
}

#[cfg(test)]
#[path = "relay_tests.rs"]
mod tests;
