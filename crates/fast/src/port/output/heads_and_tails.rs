//! Events at an output port when the first or the last cell of a frame comes, and the fate of the
//! frame.

use super::{ArrivingFragment, OutputPort, Refused};
use crate::burst::fragment::DueFragment;
use crate::burst::input_burst::{InputBurst, Moment};
use crate::port::inputs::Next;
use crate::port::vc_queues::Tail;
use skycell_traffic::prefetch;
use skycell_units::{FrameId, PortVc, SimTime};

/// A frame of which no more will come, and what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) frame: FrameId,
    /// VC id.
    pub(crate) vc: u32,
    pub(crate) fate: FrameEnd,
}

/// The fate of a frame when its last cell came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameEnd {
    /// Its last cell was accepted and leaves then.
    Sent {
        departure: SimTime,
        /// Cells of the reassembly that it ends.
        cells: u32,
        /// True if all of them are the frame's.
        of_one: bool,
    },
    /// The last cell that was accepted waits in its VC's queue, and nothing is to be told now.
    Pending,
    /// Its last cell was discarded, or this was a part without it.
    Dropped,
}

impl OutputPort {
    /// Processes heads and tails before `limit` until a frame has ended.
    pub(crate) fn next_end(&mut self, limit: SimTime) -> Option<Ended> {
        loop {
            if let Some(ended) = self.next_served() {
                return Some(ended);
            }
            let Some((next, input, moment, fragment)) = self.inputs.next_before(limit) else {
                return self.serve_before(limit);
            };
            self.look_ahead();
            let fate = match next {
                Next::Tail => self.on_tail(moment, &fragment),
                Next::Head => {
                    let spacing = fragment.spacing(self.inputs.spacing(input));
                    if self.on_head(moment, &fragment, spacing) {
                        self.inputs.await_tail(input, &fragment);
                        continue;
                    }
                    FrameEnd::Dropped
                }
                Next::Whole => {
                    let spacing = self.inputs.spacing(input);
                    let tail = fragment.tail(spacing);
                    self.on_frame(moment, tail, fragment.spacing(spacing), &fragment)
                }
            };
            self.inputs.pop();
            if let Some(vc) = self.in_parts.get_mut(fragment.port_vc.index()) {
                vc.in_frame = !fragment.part.eom();
            }
            if fate == FrameEnd::Pending {
                continue;
            }
            return Some(Ended {
                frame: fragment.frame,
                vc: self.vcs[fragment.port_vc.index()].vc,
                fate,
            });
        }
    }

    /// Reads a little of what the next `frames` frames will need: all reads are under way at once.
    #[inline(always)]
    fn look_ahead(&self) {
        if let Some(port_vc) = self.inputs.port_vc_ahead() {
            prefetch(&self.vcs[port_vc.index()]);
        }
    }

    /// A frame whose last cell has been chosen among those of all VCs.
    fn next_served(&mut self) -> Option<Ended> {
        let (departure, port_vc, tail) = self.vc_queues.as_mut()?.next_ended()?;
        let fate = if self.forwards(port_vc) {
            FrameEnd::Dropped
        } else {
            FrameEnd::Sent {
                departure,
                cells: tail.cells,
                of_one: tail.of_one,
            }
        };
        Some(Ended {
            frame: tail.frame,
            vc: self.vcs[port_vc.index()].vc,
            fate,
        })
    }

    /// No head or tail comes before `limit`: where VCs have queues, serves them up to there.
    fn serve_before(&mut self, limit: SimTime) -> Option<Ended> {
        self.vc_queues.as_ref()?;
        self.advance_before(limit);
        self.vc_queues.as_mut()?.serve_until(limit.0);
        self.next_served()
    }

    /// A frame comes, from its head at `moment` to its tail; no other head or tail comes meanwhile.
    fn on_frame(
        &mut self,
        moment: Moment,
        tail: SimTime,
        spacing: SimTime,
        fragment: &DueFragment,
    ) -> FrameEnd {
        let queued = self.begin(moment, fragment);
        let tail = Moment {
            time: tail,
            link: moment.link,
        };
        let vc = &self.vcs[fragment.port_vc.index()];
        let is_alone = self.arriving.is_empty() && self.refused.is_empty();
        let comes_at_once = is_alone && !self.draws_at_choices() && !self.has_classes();
        let cells = u64::from(fragment.cells);
        let has_room = queued + cells <= self.queues.first.capacity;
        if vc.discarding.is_none() && comes_at_once {
            let burst = InputBurst {
                next: moment.time.0,
                spacing: spacing.0,
                link: moment.link,
                port_vc: fragment.port_vc,
            };
            let passes_idle = self.passes_idle(&burst);
            if passes_idle || has_room && spacing.0 <= self.cell_time {
                self.accept_frame(burst, queued, tail, fragment, passes_idle);
                return self.after_part(fragment, fragment.cells.into(), fragment.part.eom());
            }
        }
        if fragment.cells == 1 {
            let eom = fragment.part.eom();
            let accepted = self.offer(moment, queued, fragment.frame, fragment.port_vc, eom);
            return self.after_part(fragment, u32::from(accepted), accepted && eom);
        }
        if self.accept_head(moment, queued, fragment, spacing) {
            self.on_tail(tail, fragment)
        } else {
            FrameEnd::Dropped
        }
    }

    /// A frame or a part of one begins to come at `moment`; if the VC is not in the midst of a frame, the
    /// policy decides. Returns X.
    #[inline(always)]
    fn begin(&mut self, moment: Moment, fragment: &DueFragment) -> u64 {
        if let Some(forwarding) = &mut self.forwarding {
            forwarding.begin(fragment);
        }
        if let Some(lossy) = &mut self.lossy {
            lossy.begin(fragment.port_vc, fragment.frame, fragment.part.is_new());
        }
        if let Some(vc) = self.in_parts.get_mut(fragment.port_vc.index()) {
            if fragment.part.is_new() && vc.open_frame == Some(fragment.frame) {
                vc.open_frame = None; // it had the number before, and has gone
            }
            if vc.in_frame {
                self.advance(moment);
                return self.queued(moment.time);
            }
        }
        self.begin_frame(moment, fragment)
    }

    /// The only burst there is comes in one piece to the only queue, and all of it is accepted.
    fn accept_frame(
        &mut self,
        burst: InputBurst,
        queued: u64,
        tail: Moment,
        fragment: &DueFragment,
        passes_idle: bool,
    ) {
        let cells = u64::from(fragment.cells);
        self.now = tail;
        self.queues.first.arrived += cells;
        let before = self.log.accepted();
        if passes_idle {
            self.log.accept_slow(burst, cells);
            self.queues.first.queue_max = self.queues.first.queue_max.max(1);
        } else {
            self.log.close_piece();
            if queued == 0 {
                self.log.begin_busy(SimTime(burst.next));
            }
            let bursts = std::iter::once(burst);
            let accepted = bursts.clone().map(|burst| (burst, fragment.cells.into()));
            self.log.accept_bursts(cells, accepted, tail.time);
            self.log.close_piece();
            if queued + cells > self.queues.first.queue_max {
                let peak = self.peak(before, tail, bursts);
                self.queues.first.queue_max = self.queues.first.queue_max.max(peak);
            }
        }
        let queue = &mut self.queues.first;
        queue.integral.arrived(burst.next_cells(cells).sum());
        let vc = &mut self.vcs[fragment.port_vc.index()];
        vc.accept(&burst, cells);
        if let Some(queues) = &mut self.vc_queues {
            queues.accept(&burst, cells);
        }
        queue.policy.on_accepted(vc.vc, cells as u32);
        self.note_eom(fragment.port_vc, fragment.part.eom());
        if passes_idle {
            self.send_passing(&burst, fragment.cells.into(), fragment.part.eom());
        } else {
            self.send(
                fragment.port_vc,
                before,
                1,
                fragment.cells.into(),
                fragment.part.eom(),
            );
        }
    }

    /// The first of several cells of a frame comes at `moment`. False when nothing of the frame can be accepted,
    /// so that its last cell is of no interest.
    fn on_head(&mut self, moment: Moment, fragment: &DueFragment, spacing: SimTime) -> bool {
        let queued = self.begin(moment, fragment);
        self.accept_head(moment, queued, fragment, spacing)
    }

    /// The first of several cells of a frame on which the policy has decided.
    fn accept_head(
        &mut self,
        moment: Moment,
        queued: u64,
        fragment: &DueFragment,
        spacing: SimTime,
    ) -> bool {
        let (frame, port_vc, eom) = (fragment.frame, fragment.port_vc, fragment.part.eom());
        let cells = u32::from(fragment.cells);
        let accepted = self.offer(moment, queued, frame, port_vc, false);
        let vc = &self.vcs[port_vc.index()];
        if vc.discarding.is_some() {
            let policy = &self.queues.get(vc.queue).policy;
            let keeps_end = vc.awaits_eom || policy.keeps_last_cells();
            let has_end = eom && keeps_end;
            let middle = cells - 1 - u32::from(has_end);
            self.discard_middle(moment, port_vc, middle, spacing);
            if has_end {
                self.refused.push(Refused {
                    port_vc,
                    accepted: u32::from(accepted),
                    eom,
                });
            }
            return has_end;
        }
        self.log.close_piece();
        self.slower += u32::from(spacing.0 > self.cell_time);
        self.arriving.push(ArrivingFragment {
            burst: InputBurst {
                next: moment.time.0 + spacing.0,
                spacing: spacing.0,
                link: moment.link,
                port_vc,
            },
            left: cells - 1,
            arrivals: 0,
            frame,
            accepted: u32::from(accepted),
            eom,
        });
        true
    }

    /// The last of several cells of a frame, or of a part, comes at `moment`.
    fn on_tail(&mut self, moment: Moment, fragment: &DueFragment) -> FrameEnd {
        self.advance(moment);
        let (accepted, has_last) = self.end_arriving(moment, fragment);
        self.after_part(fragment, accepted, has_last && fragment.part.eom())
    }

    /// Of what came, up to just now, `accepted` cells were accepted, and the frame's last one if `has_end`.
    #[inline(always)]
    fn after_part(&mut self, fragment: &DueFragment, accepted: u32, has_end: bool) -> FrameEnd {
        let port_vc = fragment.port_vc;
        if self
            .lossy
            .as_ref()
            .is_some_and(|lossy| lossy.has_lost(port_vc))
        {
            return self.after_lost_part(port_vc, has_end);
        }
        let vc = &mut self.vcs[port_vc.index()];
        if let Some(parts) = self
            .in_parts
            .get_mut(port_vc.index())
            .filter(|_| accepted > 0)
        {
            let open = parts.open_frame.replace(fragment.frame);
            let is_other = vc.open_cells > 0 && open != Some(fragment.frame);
            parts.is_mixed |= is_other || u32::from(fragment.nth) != vc.open_cells;
        }
        if !has_end {
            vc.open_cells += accepted;
            let queues = self.vc_queues.as_ref();
            let forwarding = queues
                .and(self.forwarding.as_mut())
                .filter(|_| accepted > 0);
            let waits = forwarding.is_some_and(|forwarding| forwarding.end_without_last(port_vc));
            return if waits {
                FrameEnd::Pending
            } else {
                FrameEnd::Dropped
            };
        }
        let reassembly = vc.open_cells + accepted;
        let of_one = match self.in_parts.get_mut(port_vc.index()) {
            Some(vc) => !std::mem::take(&mut vc.is_mixed),
            None => vc.open_cells == 0,
        };
        vc.open_cells = 0;
        if let Some(queues) = &mut self.vc_queues {
            let tail = Tail {
                frame: fragment.frame,
                cells: reassembly,
                of_one,
            };
            queues.accept_tail(port_vc, vc.accepted, tail);
            return FrameEnd::Pending;
        }
        let departure = self.log.last_departure();
        if self.queues.first.counts_vcs {
            self.active.accept_tail(departure, port_vc);
        }
        if self.forwards(port_vc) {
            return FrameEnd::Dropped;
        }
        FrameEnd::Sent {
            departure,
            cells: reassembly,
            of_one,
        }
    }

    /// The same of a frame that the link behind the port loses: nothing of it is open downstream.
    fn after_lost_part(&mut self, port_vc: PortVc, has_end: bool) -> FrameEnd {
        if has_end && self.queues.first.counts_vcs {
            self.active.accept_tail(self.log.last_departure(), port_vc);
        }
        FrameEnd::Dropped
    }

    /// Ends the burst; returns how many of its cells were accepted, and whether the last one was.
    fn end_arriving(&mut self, moment: Moment, fragment: &DueFragment) -> (u32, bool) {
        let port_vc = fragment.port_vc;
        let of_vc = |arriving: &ArrivingFragment| arriving.burst.port_vc == port_vc;
        if let Some(at) = self.arriving.iter().position(of_vc) {
            let ended = self.arriving.swap_remove(at);
            debug_assert_eq!(ended.left, 0);
            self.slower -= u32::from(ended.burst.spacing > self.cell_time);
            self.log.close_piece();
            return (
                ended.accepted,
                self.vcs[port_vc.index()].accepted_last(moment),
            );
        }
        let at = self
            .refused
            .iter()
            .position(|refused| refused.port_vc == port_vc);
        let refused = self
            .refused
            .swap_remove(at.expect("the frame was under discard"));
        if !refused.eom {
            return (refused.accepted, false);
        }
        let queued = self.queued(moment.time);
        let has_end = self.offer(moment, queued, fragment.frame, port_vc, true);
        (refused.accepted + u32::from(has_end), has_end)
    }
}
