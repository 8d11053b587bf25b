//! Links that lose frames at random: which frames, and when their cells enter.
//!
//! A link that stands still and loses frames with a constant probability changes no times. Each frame has one
//! draw when its first cell enters. Where cells leave a port as they came, that is the order in which the frames'
//! first cells were accepted, so the draw can be made then. Where queues share the link, cells of sources have draws
//! in between: the server makes them all, as it chooses. What is lost goes through the port as all else does, and no
//! further.

use crate::burst::Burst;
use crate::plan::route::constant_loss;
use skycell_des::Stream;
use skycell_spec::{LinkSpec, WHOLE_PPB};
use skycell_units::{FrameId, PortVc, SimTime};
use std::collections::VecDeque;

/// Which frames are lost, one after the other as their first cells enter the link.
#[derive(Debug)]
pub(crate) struct Draws {
    loss_ppb: u64,
    stream: Stream,
}

impl Draws {
    /// Those of the link, if it loses frames with a constant probability.
    pub(crate) fn new(link: &LinkSpec, seed: u64) -> Option<Self> {
        Some(Draws {
            loss_ppb: u64::from(constant_loss(link)?),
            stream: Stream::new(seed, &format!("link/{}/loss", link.name)),
        })
    }

    /// Returns whether the next frame is lost.
    pub(crate) fn next_is_lost(&mut self) -> bool {
        self.stream.uniform(0, u64::from(WHOLE_PPB)) < self.loss_ppb
    }
}

/// A VC that goes over the link.
#[derive(Clone, Debug, Default)]
struct LossyVc {
    /// The frame whose cells come, the last one of which cells have been accepted, and whether that is lost.
    arriving: FrameId,
    drawn: Option<FrameId>,
    is_lost: bool,
    /// Cells of lost frames that entered before anybody asks for their times.
    earlier: u64,
    /// When the others enter the link, in order.
    lost: VecDeque<Burst>,
}

/// The link behind a port.
#[derive(Debug)]
pub(crate) struct LossyLink {
    /// None where the port's server has them.
    draws: Option<Draws>,
    /// Times from here on are asked for.
    kept_from: SimTime,
    /// By index at the port.
    vcs: Vec<LossyVc>,
}

impl LossyLink {
    /// The link, if it loses frames with a constant probability, behind a port with `vcs` VCs. At the end of the run
    /// times of entry before `kept_from` are all one.
    pub(crate) fn new(link: &LinkSpec, seed: u64, vcs: usize, kept_from: SimTime) -> Option<Self> {
        Some(LossyLink {
            draws: Some(Draws::new(link, seed)?),
            kept_from,
            vcs: vec![LossyVc::default(); vcs],
        })
    }

    /// Hands the draws over to the server of a port at which cells of sources have some of them.
    pub(crate) fn take_draws(&mut self) -> Option<Draws> {
        self.draws.take()
    }

    /// Cells of `frame` come on the VC at `port_vc`, the first of it if it `is_new`.
    pub(crate) fn begin(&mut self, port_vc: PortVc, frame: FrameId, is_new: bool) {
        let vc = &mut self.vcs[port_vc.index()];
        vc.arriving = frame;
        // Another frame had the number before.
        vc.drawn = vc.drawn.filter(|&drawn| !is_new || drawn != frame);
    }

    /// Returns whether there has been no draw for the frame that comes on the VC at `port_vc`, or
    /// cells of another frame have been enqueued since.
    pub(crate) fn is_open(&self, port_vc: PortVc) -> bool {
        let vc = &self.vcs[port_vc.index()];
        vc.drawn != Some(vc.arriving)
    }

    /// Returns whether the frame that comes on the VC at `port_vc`, some cells of which have been
    /// accepted, is lost; by the draws `of_server` if there are any.
    pub(crate) fn loses(&mut self, port_vc: PortVc, of_server: Option<&mut Draws>) -> bool {
        if self.is_open(port_vc) {
            let draws = of_server.or(self.draws.as_mut());
            let is_lost = draws.expect("somebody has the draws").next_is_lost();
            let vc = &mut self.vcs[port_vc.index()];
            (vc.drawn, vc.is_lost) = (Some(vc.arriving), is_lost);
        }
        self.vcs[port_vc.index()].is_lost
    }

    /// Returns whether the frame that came last on the VC at `port_vc` is lost.
    pub(crate) fn has_lost(&self, port_vc: PortVc) -> bool {
        !self.is_open(port_vc) && self.vcs[port_vc.index()].is_lost
    }

    /// The cells of a lost frame of the VC at `port_vc` enter.
    pub(crate) fn note(&mut self, port_vc: PortVc, cells: Burst) {
        let vc = &mut self.vcs[port_vc.index()];
        if cells.count_before(self.kept_from) == cells.count {
            vc.earlier += cells.count;
        } else {
            vc.lost.push_back(cells);
        }
    }

    /// Returns whether the cell of the VC at `port_vc` that entered at `time` was lost.
    pub(crate) fn has_lost_at(&self, time: SimTime, port_vc: PortVc) -> bool {
        let mut latest = self.vcs[port_vc.index()].lost.iter().rev();
        let begun = latest.find(|lost| lost.first <= time);
        begun.is_some_and(|lost| lost.count_by(time) > lost.count_before(time))
    }

    /// Cells of lost frames of the VC at `port_vc` that enter before `time`.
    pub(crate) fn lost_before(&self, time: SimTime, port_vc: PortVc) -> u64 {
        let vc = &self.vcs[port_vc.index()];
        vc.earlier
            + vc.lost
                .iter()
                .map(|lost| lost.count_before(time))
                .sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(loss_ppb: u32) -> LossyLink {
        LossyLink {
            draws: Some(Draws {
                loss_ppb: u64::from(loss_ppb),
                stream: Stream::new(1, "link/test/loss"),
            }),
            kept_from: SimTime(100),
            vcs: vec![LossyVc::default(); 2],
        }
    }

    fn cells(first: u64, spacing: u64, count: u64) -> Burst {
        Burst::new(SimTime(first), SimTime(spacing), count)
    }

    #[test]
    fn cells_that_entered_are_counted_one_by_one() {
        let mut link = link(WHOLE_PPB);
        link.note(PortVc(0), cells(95, 10, 3));
        let before =
            [95, 96, 105, 106, 115, 116, 1_000].map(|t| link.lost_before(SimTime(t), PortVc(0)));
        assert_eq!(before, [0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(link.lost_before(SimTime(1_000), PortVc(1)), 0);
        let lost_at = [94, 95, 96, 105, 115, 125].map(|t| link.has_lost_at(SimTime(t), PortVc(0)));
        assert_eq!(lost_at, [false, true, false, true, true, false]);
    }

    #[test]
    fn of_cells_that_nobody_asks_for_only_the_number_is_kept() {
        let mut link = link(WHOLE_PPB);
        link.note(PortVc(0), cells(10, 10, 9)); // the last at 90
        assert_eq!((link.vcs[0].earlier, link.vcs[0].lost.len()), (9, 0));
        link.note(PortVc(0), cells(20, 10, 9)); // the last at 100
        assert_eq!((link.vcs[0].earlier, link.vcs[0].lost.len()), (9, 1));
        assert_eq!(link.lost_before(SimTime(101), PortVc(0)), 18);
    }

    #[test]
    fn a_frame_has_one_draw_whatever_its_cells_are() {
        let (mut one, mut other) = (link(300_000_000), link(300_000_000));
        let fates = |link: &mut LossyLink, asked: usize| -> Vec<bool> {
            let mut of_frame = |_| {
                link.begin(PortVc(0), FrameId(5), true);
                assert!(link.is_open(PortVc(0)) && !link.has_lost(PortVc(0)));
                let fate = link.loses(PortVc(0), None);
                assert!((1..asked).all(|_| link.loses(PortVc(0), None) == fate));
                assert!(!link.is_open(PortVc(0)) && link.has_lost(PortVc(0)) == fate);
                fate
            };
            (0..1_000).map(&mut of_frame).collect()
        };
        let once = fates(&mut one, 1);
        assert_eq!(once, fates(&mut other, 5));
        let lost = once.iter().filter(|&&is_lost| is_lost).count();
        assert!((250..350).contains(&lost), "{lost}");
    }
}
