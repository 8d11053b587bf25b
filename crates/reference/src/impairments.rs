//! What a link does to what enters it: losses at random, and bit errors.

use crate::bit_errors::{BitErrors, Struck};
use crate::frames::Cell;
use skycell_channel::Channel;
use skycell_des::Stream;
use skycell_records::{ErrorRecord, LossReason};
use skycell_spec::{LinkSpec, WHOLE_PPB};
use skycell_units::SimTime;
use std::collections::BTreeMap;

/// The losses and the bit errors of a link.
#[derive(Debug)]
pub struct Impairments {
    /// None for a link that loses nothing.
    losses: Option<Losses>,
    /// None for a link without.
    errors: Option<BitErrors>,
}

/// Which frames a link loses at random.
#[derive(Debug)]
struct Losses {
    law: Law,
    /// By VC: the frame whose cells entered last, by its number in the run, and whether it is lost.
    frames: BTreeMap<u32, (u64, bool)>,
}

/// How it is found whether the next frame is lost.
#[derive(Debug)]
enum Law {
    /// Part of all frames, in parts of [`WHOLE_PPB`], where the schedule has no other.
    Constant { loss_ppb: u32, draws: Stream },
    /// In bursts.
    Channel(Channel),
}

impl Impairments {
    /// Those of the link that `spec` describes, in a run with `seed`.
    pub fn new(spec: &LinkSpec, seed: u64) -> Self {
        let schedule = spec.schedule.as_ref();
        let draws = spec.loss_ppb > 0 || schedule.is_some_and(|s| !s.losses_ppb.is_empty());
        let law = match &spec.channel {
            Some(channel) => Channel::new(channel, seed, &spec.name).map(Law::Channel),
            None => draws.then(|| Law::Constant {
                loss_ppb: spec.loss_ppb,
                draws: Stream::new(seed, &format!("link/{}/loss", spec.name)),
            }),
        };
        Impairments {
            losses: law.map(|law| Losses {
                law,
                frames: BTreeMap::new(),
            }),
            errors: BitErrors::new(spec, seed),
        }
    }

    /// A cell of the frame with number `serial` of the run enters, under transmission over `times`. If the
    /// schedule of the link has a loss, it is `loss_ppb`.
    pub fn on_cell(
        &mut self,
        times: (SimTime, SimTime),
        loss_ppb: Option<u32>,
        cell: &Cell,
        serial: u64,
    ) -> Struck {
        let (since, now) = times;
        if let Some(losses) = &mut self.losses
            && losses.on_cell(now, loss_ppb, cell, serial)
        {
            return Struck::Lost(LossReason::Drawn);
        }
        match &mut self.errors {
            None => Struck::Right,
            Some(errors) => errors.on_cell(since, now, cell),
        }
    }

    /// Returns the effects of bit errors, if there are some.
    pub(crate) fn errors(&self) -> Option<ErrorRecord> {
        self.errors.as_ref().map(BitErrors::record)
    }
}

impl Losses {
    /// Returns whether the cell that has just entered belongs to a lost frame. If the schedule has
    /// a loss, it is `loss_ppb`. Each frame has one draw, with its first cell that enters, so that
    /// losses elsewhere do not shift it; an RM cell has its own.
    fn on_cell(&mut self, now: SimTime, loss_ppb: Option<u32>, cell: &Cell, serial: u64) -> bool {
        if cell.rm.is_some() {
            return self.law.next_is_lost(now, loss_ppb);
        }
        match self.frames.get(&cell.vc) {
            Some(&(known, is_lost)) if known == serial => is_lost,
            _ => {
                let is_lost = self.law.next_is_lost(now, loss_ppb);
                self.frames.insert(cell.vc, (serial, is_lost));
                is_lost
            }
        }
    }
}

impl Law {
    /// Returns whether the frame that enters at `now` is lost. If the schedule has a loss, it is
    /// `of_schedule_ppb`.
    fn next_is_lost(&mut self, now: SimTime, of_schedule_ppb: Option<u32>) -> bool {
        match self {
            Law::Constant { loss_ppb, draws } => {
                let loss_ppb = of_schedule_ppb.unwrap_or(*loss_ppb);
                draws.uniform(0, u64::from(WHOLE_PPB)) < u64::from(loss_ppb)
            }
            Law::Channel(channel) => channel.loses(now),
        }
    }
}
