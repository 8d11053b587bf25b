//! The source end system of an ABR connection.

use crate::rm::{RmCell, cells_per_second, interval};
use crate::spec::AbrSpec;
use skycell_units::SimTime;

/// The cells that wait to be sent on the VC of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// True if a data cell waits.
    pub data: bool,
    /// True if a backward RM cell of the opposite connection waits.
    pub backward: bool,
}

/// Which cell a source sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextCell {
    /// A forward RM cell.
    Forward,
    /// The backward RM cell that waits.
    Backward,
    /// The data cell that waits.
    Data,
    /// A forward RM cell beside the rate.
    OutOfRateForward,
    /// The backward RM cell that waits, beside the rate.
    OutOfRateBackward,
}

/// A cell that a source has sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sent {
    /// A forward RM cell, in the rate or beside it.
    Forward(RmCell),
    /// The backward RM cell that waited, beside the rate if so said.
    Backward {
        /// CLP = 1.
        is_out_of_rate: bool,
    },
    /// The data cell that waited.
    Data,
}

/// The source of an ABR connection: when it may send which cell, and at which rate.
///
/// Source: af-tm-0056 (ATM Forum Traffic Management 4.0, 1996), section 5.10, source behaviours 1 to
/// 13, whose numbers the comments carry. Rates in cells a second.
#[derive(Clone, Debug)]
pub struct Source {
    spec: AbrSpec,
    pcr: f64,
    mcr: f64,
    icr: f64,
    tcr: f64,
    /// Crm = TBE / Nrm, rounded up.
    crm: u32,
    acr: f64,
    /// When the last cell in the rate was sent.
    last_in_rate: Option<SimTime>,
    /// When the last forward RM cell in the rate was sent.
    last_forward: Option<SimTime>,
    /// Cells in the rate since then.
    since_forward: u32,
    /// True if one of them was a backward RM cell.
    has_turned: bool,
    /// Forward RM cells in the rate since a backward one that the destination sent.
    unanswered: u32,
    /// When the last cell beside the rate was sent.
    last_out_of_rate: Option<SimTime>,
}

impl Source {
    /// The source of a connection that is set up.
    pub fn new(spec: &AbrSpec) -> Self {
        let (pcr, mcr) = (
            cells_per_second(spec.pcr_millicells),
            cells_per_second(spec.mcr_millicells),
        );
        // TBE bounds what is on its way before the first feedback.
        let in_flight = if spec.frtt_ps == 0 {
            pcr
        } else {
            f64::from(spec.tbe_cells) / SimTime(spec.frtt_ps).as_secs_f64()
        };
        let icr = cells_per_second(spec.icr_millicells)
            .min(in_flight)
            .max(mcr);
        Source {
            spec: *spec,
            pcr,
            mcr,
            icr,
            tcr: cells_per_second(spec.tcr_millicells),
            crm: spec.tbe_cells.div_ceil(spec.nrm),
            acr: icr, // 2: ICR before the first cell.
            last_in_rate: None,
            last_forward: None,
            since_forward: 0,
            has_turned: false,
            unanswered: 0,
            last_out_of_rate: None,
        }
    }

    /// ACR: cells a second that it may send.
    pub fn acr(&self) -> f64 {
        self.acr
    }

    /// When the next cell in the rate may be sent, as far as its pace goes.
    pub fn paced(&self) -> SimTime {
        match self.last_in_rate {
            Some(last) => last + interval(self.acr),
            None => SimTime::ZERO,
        }
    }

    /// Which cell is next and when it may be sent, `now` or later; none while nothing waits and no
    /// forward RM cell will be due.
    pub fn next(&self, now: SimTime, waiting: Waiting) -> Option<(SimTime, NextCell)> {
        let in_rate = self.next_in_rate(now, waiting);
        let out_of_rate = self.next_out_of_rate(now, waiting);
        match (in_rate, out_of_rate) {
            (Some(a), Some(b)) => Some(if b.0 < a.0 { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    fn next_in_rate(&self, now: SimTime, waiting: Waiting) -> Option<(SimTime, NextCell)> {
        // 1: cells in the rate are no closer than 1 / ACR, at the ACR of now.
        let earliest = now.max(self.paced());
        // Nothing is sent at a rate of 0, not even the first cell.
        if interval(self.acr) == SimTime::NEVER || earliest == SimTime::NEVER {
            return None;
        }
        let has_cell = waiting.data || waiting.backward;
        let Some(last_forward) = self.last_forward else {
            // 2: the first cell in the rate is a forward RM cell.
            return has_cell.then_some((earliest, NextCell::Forward));
        };
        // 3a ii: Nrm - 1 cells since the last one.
        if self.since_forward >= self.spec.nrm - 1 {
            return Some((earliest, NextCell::Forward));
        }
        // 3a i: at least Mrm cells and the time Trm.
        let by_time = (self.since_forward >= self.spec.mrm)
            .then(|| earliest.max(last_forward + SimTime(self.spec.trm_ps)));
        if let Some(at) = by_time
            && (at == earliest || !has_cell)
        {
            return Some((at, NextCell::Forward));
        }
        // 3b: a backward RM cell, if it is the first since the last forward one or no data waits.
        if waiting.backward && (!self.has_turned || !waiting.data) {
            return Some((earliest, NextCell::Backward));
        }
        // 3c
        waiting.data.then_some((earliest, NextCell::Data))
    }

    /// 11: beside the rate, at most TCR. We send such cells only while ACR is below TCR and something
    /// waits: the loop would otherwise stand still where ACR has fallen to 0. A backward RM cell that
    /// waits goes first (destination behaviour 3 sets no rate; here both share TCR).
    fn next_out_of_rate(&self, now: SimTime, waiting: Waiting) -> Option<(SimTime, NextCell)> {
        if self.acr >= self.tcr || !(waiting.data || waiting.backward) {
            return None;
        }
        let last = self.last_out_of_rate.max(self.last_in_rate);
        let earliest = last.map_or(now, |last| now.max(last + interval(self.tcr)));
        let kind = if waiting.backward {
            NextCell::OutOfRateBackward
        } else {
            NextCell::OutOfRateForward
        };
        (earliest != SimTime::NEVER).then_some((earliest, kind))
    }

    /// Sends at `now` the cell that [`Source::next`] says, whose time has come.
    pub fn send(&mut self, now: SimTime, kind: NextCell) -> Sent {
        match kind {
            NextCell::OutOfRateForward | NextCell::OutOfRateBackward => {
                self.last_out_of_rate = Some(now);
                return match kind {
                    NextCell::OutOfRateForward => Sent::Forward(self.forward_cell(true)),
                    _ => Sent::Backward {
                        is_out_of_rate: true,
                    },
                };
            }
            NextCell::Forward => {
                self.before_forward(now);
                self.last_forward = Some(now);
                self.since_forward = 0;
                self.has_turned = false;
                self.unanswered += 1;
            }
            NextCell::Backward => {
                self.since_forward += 1;
                self.has_turned = true;
            }
            NextCell::Data => self.since_forward += 1,
        }
        // 7: only cells after the forward RM cell have to follow a rate that it has changed.
        self.last_in_rate = Some(now);
        match kind {
            NextCell::Forward => Sent::Forward(self.forward_cell(false)),
            NextCell::Backward => Sent::Backward {
                is_out_of_rate: false, // 4: CLP = 0
            },
            _ => Sent::Data,
        }
    }

    /// Changes ACR before a forward RM cell is sent in the rate.
    fn before_forward(&mut self, now: SimTime) {
        let since = self.last_forward.map(|last| now - last);
        if let Some(since) = since {
            // 13: a rate that is not used falls to the rate that is.
            if self.spec.use_it_or_lose_it {
                let used = f64::from(self.since_forward + 1) / since.as_secs_f64();
                // Intervals are rounded up, so that a rate that is used in full looks a little smaller.
                if self.acr > used * (1.0 + UNUSED) {
                    self.acr = self.acr.min(used.max(self.icr));
                }
            }
            // 5
            if self.acr > self.icr && since > SimTime(self.spec.adtf_ps) {
                self.acr = self.icr;
            }
        }
        // 6
        if self.unanswered >= self.crm {
            self.acr = (self.acr - self.acr * self.spec.cdf).max(self.mcr);
        }
    }

    /// 7, 10: the fields of a forward RM cell. ER asks for all that PCR allows.
    fn forward_cell(&self, is_out_of_rate: bool) -> RmCell {
        RmCell {
            is_backward: false,
            is_becn: false,
            ci: false,
            ni: false,
            is_out_of_rate,
            ccr: self.acr,
            er: self.pcr,
            mcr: self.mcr,
        }
    }

    /// A backward RM cell of this connection has come back, in the rate or beside it.
    pub fn on_backward(&mut self, cell: &RmCell) {
        if !cell.is_becn {
            self.unanswered = 0;
        }
        // 8
        if cell.ci {
            self.acr = (self.acr - self.acr * self.spec.rdf).max(self.mcr);
        } else if !cell.ni {
            self.acr = (self.acr + self.spec.rif * self.pcr).min(self.pcr);
        }
        // 9
        self.acr = self.acr.min(cell.er).max(self.mcr);
    }
}

/// Part by which ACR must be above the used rate to count as unused: below one cell in 32.
const UNUSED: f64 = 0.03;

#[cfg(test)]
#[path = "source_tests.rs"]
pub(crate) mod tests;
