//! The counters of an uplink.

use serde::Serialize;

/// Slots, bursts and requests of an uplink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UplinkCounts {
    /// Slots that have begun: each is one of the next eight kinds.
    pub slots: u64,
    /// Slots of contention in which nobody sent.
    pub idle: u64,
    /// Slots of contention in which one sent and was understood.
    pub successes: u64,
    /// Slots of contention in which several sent.
    pub collisions: u64,
    /// Slots of contention that were heard as collisions, but in which one or nobody sent, or a failed terminal.
    pub false_collisions: u64,
    /// Slots of a terminal's own in which it sent.
    pub used: u64,
    /// Slots of a terminal's own in which it had nothing to send.
    pub unused: u64,
    /// Slots that belonged to nobody.
    pub unassigned: u64,
    /// Slots that carry requests.
    pub request_slots: u64,
    /// Bursts in slots of contention.
    pub attempts: u64,
    /// Bursts in slots of a terminal's own that were lost.
    pub lost: u64,
    /// Cells that were sent in slots of their own or got through contention.
    pub cells: u64,
    /// Requests that came to the controller.
    pub requests: u64,
    /// Slots that they asked for; a frame's for a rate.
    pub requested: u64,
    /// Slots granted by CRA, by RBDC, by VBDC or AVBDC, and by FCA.
    #[serde(skip)]
    pub given: [u64; 4],
    /// Sum of the cells that waited at the beginnings of slots, in each half of the run.
    #[serde(skip)]
    backlog: [u64; 2],
    /// Slots of each half.
    #[serde(skip)]
    half_slots: [u64; 2],
}

impl UplinkCounts {
    /// `cells` wait when a slot begins, of the second half of the run or not.
    pub fn add_backlog(&mut self, is_second_half: bool, cells: u64) {
        let half = usize::from(is_second_half);
        self.backlog[half] += cells;
        self.half_slots[half] += 1;
    }

    /// Returns the counts since `earlier`; the backlog is that of the whole run.
    #[must_use]
    pub fn since(&self, earlier: &UplinkCounts) -> UplinkCounts {
        let [cra, rbdc, vbdc, free] = self.given;
        let [earlier_cra, earlier_rbdc, earlier_vbdc, earlier_free] = earlier.given;
        UplinkCounts {
            slots: self.slots - earlier.slots,
            idle: self.idle - earlier.idle,
            successes: self.successes - earlier.successes,
            collisions: self.collisions - earlier.collisions,
            false_collisions: self.false_collisions - earlier.false_collisions,
            used: self.used - earlier.used,
            unused: self.unused - earlier.unused,
            unassigned: self.unassigned - earlier.unassigned,
            request_slots: self.request_slots - earlier.request_slots,
            attempts: self.attempts - earlier.attempts,
            lost: self.lost - earlier.lost,
            cells: self.cells - earlier.cells,
            requests: self.requests - earlier.requests,
            requested: self.requested - earlier.requested,
            given: [
                cra - earlier_cra,
                rbdc - earlier_rbdc,
                vbdc - earlier_vbdc,
                free - earlier_free,
            ],
            ..*self
        }
    }

    /// Mean of the cells that wait when a slot begins, in each half of the run.
    pub fn mean_backlog(&self) -> [f64; 2] {
        let mean = |half: usize| self.backlog[half] as f64 / self.half_slots[half].max(1) as f64;
        [mean(0), mean(1)]
    }

    /// Backlog drift: by how many cells the backlog grows in a slot, from the mean of one half of the run to that of the
    /// other.
    pub fn drift(&self) -> f64 {
        let [first, second] = self.mean_backlog();
        let apart = (self.half_slots[0] + self.half_slots[1]) as f64 / 2.0;
        (second - first) / apart.max(1.0)
    }
}
