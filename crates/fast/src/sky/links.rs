//! Links: the packets under way, delays over time, and losses.

use super::Epochs;
use crate::frames::Frames;
use skycell_records::LossReason;
use skycell_reference::{Cell, Impairments, Struck};
use skycell_sky::{Columns, Courses};
use skycell_spec::{NetworkSpec, SkySpec};
use skycell_units::{CELL_OCTETS, Ecn, SimTime};
use std::collections::VecDeque;

/// In the place of octets: a cell.
const CELL: u32 = 1 << 31;
/// A cell that is the last of its frame.
const LAST: u32 = 1 << 30;

/// A packet, or a cell, on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// When it arrives at the end of its link.
    pub(super) arrival: SimTime,
    pub(super) frame: skycell_units::FrameId,
    pub(super) vc: u32,
    /// Octets of the IP packet; of a cell [`CELL`], [`LAST`] and its index in the frame.
    pub(super) octets: u32,
    pub(super) label: u16,
    /// Links that it has taken.
    pub(super) hops: u8,
    pub(super) ecn: Ecn,
}

/// A link, in one line of the cache but for its packets.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Link {
    /// In order of arrival.
    pub(super) ring: VecDeque<Entry>,
    /// Delay at `epoch`, or the last known before; [`SimTime::NEVER`] where there is none.
    delay: SimTime,
    epoch: u32,
    pub(super) from: u32,
    pub(super) to: u32,
    pub(super) port: u32,
    /// Kind of its port.
    pub(super) kind: u8,
    exists: bool,
    is_impaired: bool,
    /// True if its end is in another region: then the ring has nothing but the last packet.
    pub(super) crosses: bool,
}

const _: () = assert!(size_of::<Link>() == 64);

/// All links.
pub(super) struct Links<'a> {
    pub(super) all: Vec<Link>,
    /// Each link has a cursor of its own: one port may be ahead of another.
    courses: Courses<'a>,
    /// By link: when it ends, if it exists at its epoch; nothing where that does not matter.
    ends: Vec<SimTime>,
    impairments: Vec<Option<Box<Impairments>>>,
    loses_in_flight: bool,
    end_of_run: SimTime,
}

/// The least delay of each link at the first so many epochs; none of a link that does not exist then.
pub(super) fn least_delays_ps(columns: &Columns, epochs: u32) -> Vec<Option<u64>> {
    let courses = columns.course_interval.windows(2).map(|own| {
        let intervals = (own[0]..own[1]).map(|interval| interval as usize);
        let least = intervals.filter_map(|interval| {
            let until = epochs.saturating_sub(columns.interval_epoch[interval]) as usize;
            let first = columns.interval_first_ps[interval];
            let [from, to] = [0, 1].map(|nth| columns.interval_diff[interval + nth] as usize);
            let mut delay_ps = first;
            let later = columns.diff_ps[from..to]
                .iter()
                .take(until.saturating_sub(1));
            let later = later.map(|&step| {
                delay_ps = delay_ps.wrapping_add_signed(step.into());
                delay_ps
            });
            (until > 0).then(|| later.fold(first, u64::min))
        });
        least.min()
    });
    let of_course: Vec<Option<u64>> = courses.collect();
    let links = columns.link_course.iter().zip(&columns.link_extra_ps);
    links
        .map(|(&course, extra)| of_course[course as usize].map(|least| least + extra))
        .collect()
}

impl<'a> Links<'a> {
    pub(super) fn new(spec: &NetworkSpec, sky: &'a SkySpec) -> Self {
        let columns = sky.columns();
        let link_from = columns.link_from();
        let kind_of = |id: usize| columns.port_kind[columns.link_port[id] as usize];
        let impairments = |id: usize| {
            let (from, to) = (link_from[id], columns.link_to[id]);
            let kind = &sky.kinds[usize::from(kind_of(id))];
            let loses = kind.loss_ppb > 0 || kind.channel.is_some();
            let node = |node: u32| &spec.nodes[node as usize].name;
            let own = || kind.link(format!("{}>{}", node(from), node(to)), from, to);
            loses.then(|| Box::new(Impairments::new(&own(), spec.seed)))
        };
        let impairments: Vec<_> = (0..link_from.len()).map(impairments).collect();
        let link = |id: usize| Link {
            ring: VecDeque::new(),
            delay: SimTime::NEVER,
            epoch: u32::MAX,
            from: link_from[id],
            to: columns.link_to[id],
            port: columns.link_port[id],
            kind: kind_of(id),
            exists: false,
            is_impaired: impairments[id].is_some(),
            crosses: false,
        };
        let count = if sky.loses_in_flight {
            link_from.len()
        } else {
            0
        };
        Links {
            all: (0..link_from.len()).map(link).collect(),
            ends: vec![SimTime::NEVER; count],
            impairments,
            courses: Courses::by_link(columns),
            loses_in_flight: sky.loses_in_flight,
            end_of_run: SimTime(spec.duration_ps),
        }
    }

    /// Returns whether a link may lose packets by itself.
    pub(super) fn have_impairments(&self) -> bool {
        self.all.iter().any(|link| link.is_impaired)
    }

    /// Brings a link to an epoch, not before the one that it is at.
    #[inline(always)]
    fn bring(&mut self, link: u32, epoch: u32, epochs: &Epochs) {
        if self.all[link as usize].epoch != epoch {
            self.bring_to_other(link, epoch, epochs);
        }
    }

    #[inline(never)] // once an epoch
    fn bring_to_other(&mut self, link: u32, epoch: u32, epochs: &Epochs) {
        let own = &mut self.all[link as usize];
        own.exists = self.courses.delay_ps(link, epoch).is_some();
        let delay_ps = self.courses.known_ps(link, epoch);
        own.delay = delay_ps.map_or(SimTime::NEVER, SimTime);
        if self.loses_in_flight {
            self.ends[link as usize] = epochs.begins(self.courses.exists_until(link, epoch));
        }
        own.epoch = epoch;
    }

    /// Returns whether a link exists at an epoch.
    pub(super) fn exists(&mut self, link: u32, epoch: u32, epochs: &Epochs) -> bool {
        self.bring(link, epoch, epochs);
        self.all[link as usize].exists
    }

    /// A packet enters a link as its last bit leaves at an epoch, under transmission over `times`. Returns when it
    /// arrives and whether it is the only one there, or why it is lost.
    #[inline(always)]
    pub(super) fn enter(
        &mut self,
        (since, now): (SimTime, SimTime),
        (link, epoch): (u32, u32),
        entry: Entry,
        frames: &mut Frames,
        epochs: &Epochs,
    ) -> Result<(SimTime, bool), LossReason> {
        self.bring(link, epoch, epochs);
        let own = &mut self.all[link as usize];
        // The draw comes first, so that handovers shift nobody's draws.
        if own.is_impaired
            && let Some(impairments) = &mut self.impairments[link as usize]
        {
            let cell = entry.to_cell(now);
            let serial = frames.serial(entry.frame);
            match impairments.on_cell((since, now), None, &cell, serial) {
                Struck::Lost(reason) => return Err(reason),
                Struck::Payload => frames.get_mut(entry.frame).set_errored(),
                Struck::Right => {}
            }
        }
        if own.delay == SimTime::NEVER {
            return Err(LossReason::OutOfRange);
        }
        // None arrives before the one ahead of it.
        let ahead = own.ring.back().map_or(SimTime::ZERO, |last| last.arrival);
        let arrival = ahead.max(now + own.delay);
        if self.loses_in_flight {
            let ends = self.ends[link as usize];
            if ends < arrival && ends < self.end_of_run {
                return Err(LossReason::Handover);
            }
        }
        own.ring.push_back(Entry { arrival, ..entry });
        Ok((arrival, own.ring.len() == 1))
    }
}

impl Entry {
    /// Octets that a port sends for it, without those of a framing of packets.
    pub(super) fn line_octets(&self) -> u32 {
        match self.octets & CELL {
            0 => self.octets,
            _ => CELL_OCTETS as u32,
        }
    }

    /// The index of a cell in its frame, and whether it is the last one; none of a packet.
    pub(super) fn cell(&self) -> Option<(u32, bool)> {
        let index = self.octets & !(CELL | LAST);
        (self.octets & CELL != 0).then_some((index, self.octets & LAST != 0))
    }

    /// What stands in the place of octets of the first cell of a frame of so many.
    pub(super) fn first_cell(cells: u32) -> u32 {
        CELL | (LAST * u32::from(cells == 1))
    }

    /// What stands in the place of octets.
    pub(super) fn octets_of(cell: &Cell) -> u32 {
        match cell.octets {
            0 => CELL | cell.index | (LAST * u32::from(cell.eom)),
            octets => octets,
        }
    }

    /// The packet as ports and links of `reference` have it, come to one at `now`.
    pub(super) fn to_cell(self, now: SimTime) -> Cell {
        Cell {
            frame: self.frame,
            rm: None,
            efci: false,
            ack: None,
            index: self.cell().map_or(0, |cell| cell.0),
            octets: if self.cell().is_some() {
                0
            } else {
                self.octets
            },
            vc: self.vc,
            port_vc: skycell_units::PortVc(0),
            flow: 0,
            hop: self.hops.into(),
            sky_link: 0,
            eom: self.cell().is_none_or(|cell| cell.1),
            clp: false,
            is_paced: false,
            ecn: self.ecn,
            came_at: now,
            left_at: now,
            entry: 0,
        }
    }
}
