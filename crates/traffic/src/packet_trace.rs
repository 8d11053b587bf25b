//! A list of packets that a source sends: when, and how long each is.

use skycell_units::{Octets, SimTime};

/// The packets of a list, once or over and over.
#[derive(Debug)]
pub(crate) struct PacketTrace {
    times_ps: Vec<u64>,
    octets: Vec<Octets>,
    period_ps: Option<u64>,
    /// When the list began, or began anew.
    begin_ps: u64,
    /// The packet that is sent next, by its place in the list; beyond it when all are sent.
    next: usize,
}

impl PacketTrace {
    /// The list that begins at `start`.
    pub(crate) fn new(
        times_ps: &[u64],
        octets: &[Octets],
        period_ps: Option<u64>,
        start: SimTime,
    ) -> Self {
        PacketTrace {
            times_ps: times_ps.to_vec(),
            octets: octets.to_vec(),
            period_ps,
            begin_ps: start.0,
            next: 0,
        }
    }

    /// When the next packet is sent; never, if all have been.
    pub(crate) fn due(&self) -> SimTime {
        let next = self.times_ps.get(self.next);
        next.map_or(SimTime::NEVER, |&time| {
            // A list of months in a run of months goes beyond what 64 bits count, and any run.
            SimTime(self.begin_ps.saturating_add(time))
        })
    }

    /// Sends the packet that is due: its octets.
    pub(crate) fn send(&mut self) -> Octets {
        let octets = self.octets[self.next];
        self.next += 1;
        if let Some(period_ps) = self.period_ps
            && self.next == self.times_ps.len()
        {
            self.begin_ps = self.begin_ps.saturating_add(period_ps);
            self.next = 0;
        }
        octets
    }
}
