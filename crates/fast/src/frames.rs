//! Frames on their way.

use skycell_tcp::{SackBlocks, Segment, SegmentKind};
use skycell_traffic::prefetch;
use skycell_units::{Ecn, FlowId, FrameId, SimTime};

/// A frame, and the segment it carries but for its SACK blocks, or what a source sends: one line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Frame {
    sequence: u64,
    acknowledgement: u64,
    timestamp: u64,
    /// When the end point handed it to its port; of a source's cell, when it had left that port.
    pub(crate) enqueued_at: SimTime,
    length: u32,
    window: u32,
    /// Of a source's frame, the source.
    connection: u32,
    /// [`FlowId::NONE`] for a source's frame.
    pub(crate) flow: FlowId,
    /// VC it is on.
    pub(crate) vc: u32,
    /// Its length on a VC of cells, at most 1 366 of them.
    cells: u16,
    /// Octets of the IP packet that it carries.
    octets: u16,
    /// Which VC of the flow's route that is.
    pub(crate) route_index: u16,
    // In the order in which a segment has them, so that they are copied together.
    kind: SegmentKind,
    ecn: Ecn,
    ece: bool,
    cwr: bool,
    has: Has,
    pub(crate) is_forward: bool,
}

/// Flags that few frames have, in one octet.
#[derive(Clone, Copy, Debug)]
struct Has(u8);

impl Has {
    const NOTHING: Has = Has(0);
    /// SACK blocks.
    const SACK: u8 = 1;
    /// CLP = 1 in each of its cells.
    const CLP: u8 = 2;
    /// The payload of one of its cells has bit errors.
    const ERRORED: u8 = 4;

    fn any(self, of: u8) -> bool {
        self.0 & of != 0
    }
}

impl Frame {
    /// The number of its flow among those of a run with so many connections, as `reference` counts them: both directions
    /// of a connection, then sources.
    pub(crate) fn flow_number(&self, connections: usize) -> u32 {
        match self.flow {
            FlowId::NONE => 2 * connections as u32 + self.connection,
            flow => 2 * flow.0 + u32::from(!self.is_forward),
        }
    }

    /// A place for a frame.
    const NONE: Frame = Frame {
        sequence: 0,
        acknowledgement: 0,
        timestamp: 0,
        enqueued_at: SimTime::ZERO,
        length: 0,
        window: 0,
        connection: 0,
        flow: FlowId::NONE,
        vc: 0,
        cells: 0,
        octets: 0,
        route_index: 0,
        kind: SegmentKind::Data,
        ecn: Ecn::NotEct,
        ece: false,
        cwr: false,
        has: Has::NOTHING,
        is_forward: true,
    };

    /// Its length on a VC of cells.
    pub(crate) fn cells(&self) -> u32 {
        self.cells.into()
    }

    /// Octets of the IP packet that it carries.
    pub(crate) fn octets(&self) -> u32 {
        self.octets.into()
    }

    /// The ECN field of the IP packet that it carries.
    pub(crate) fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// Sets that field: a queue may have marked the packet.
    pub(crate) fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }

    /// Returns whether its source or its adapter has tagged it, if the VC goes cell by cell.
    pub(crate) fn clp(&self) -> bool {
        self.has.any(Has::CLP)
    }

    /// Its source or its adapter tags it, and its cells go on one by one.
    pub(crate) fn tag(&mut self) {
        self.has.0 |= Has::CLP;
    }

    /// Returns whether the payload of one of its cells has bit errors.
    pub(crate) fn is_errored(&self) -> bool {
        self.has.any(Has::ERRORED)
    }

    /// The payload of one of its cells has bit errors.
    pub(crate) fn set_errored(&mut self) {
        self.has.0 |= Has::ERRORED;
    }

    /// The source whose datagram or cell it is, if it is one.
    pub(crate) fn sent_by(&self) -> Option<u32> {
        (self.flow == FlowId::NONE).then_some(self.connection)
    }
}

/// All frames under way.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    /// SACK blocks of the frames that have any, by frame.
    sacks: Vec<SackBlocks>,
    free: Vec<FrameId>,
    made: u64,
    /// By frame: how many parts of it are under way, itself counted; nothing where frames go as wholes.
    holds: Option<Vec<u32>>,
    /// By frame: its number in the run; nothing where nobody asks.
    serials: Option<Vec<u64>>,
    /// Before the number of the first frame: 0, or what tells the region from others.
    first_serial: u64,
}

impl Frames {
    /// No frames yet; whether they may go in parts, and whether these `have_serials`.
    pub(crate) fn new(go_in_parts: bool, have_serials: bool) -> Self {
        Frames {
            holds: go_in_parts.then(Vec::new),
            serials: have_serials.then(Vec::new),
            ..Frames::default()
        }
    }

    /// Asks for the frame's line of the cache.
    pub(crate) fn prefetch(&self, frame: FrameId) {
        prefetch(&self.frames[frame.index()]);
    }

    /// Adds the frame of `cells` cells, or packet of `octets` octets, in which `segment` of `flow` goes over its first
    /// VC.
    #[inline(always)]
    pub(crate) fn add(
        &mut self,
        segment: &Segment,
        flow: FlowId,
        is_forward: bool,
        vc: u32,
        (cells, octets): (u32, u32),
        enqueued_at: SimTime,
    ) -> FrameId {
        let has_sack = !segment.sack.as_slice().is_empty();
        let frame = Frame {
            sequence: segment.sequence,
            acknowledgement: segment.acknowledgement,
            timestamp: segment.timestamp,
            enqueued_at,
            length: segment.length,
            window: segment.window,
            connection: segment.connection,
            flow,
            vc,
            cells: cells as u16,
            octets: octets as u16,
            route_index: 0,
            kind: segment.kind,
            ecn: segment.ecn,
            ece: segment.ece,
            cwr: segment.cwr,
            has: Has(Has::SACK * u8::from(has_sack)),
            is_forward,
        };
        let id = self.keep(frame);
        if has_sack {
            self.keep_sack(id, segment.sack);
        }
        id
    }

    #[inline(always)]
    fn keep_sack(&mut self, id: FrameId, sack: SackBlocks) {
        if self.sacks.len() < self.frames.len() {
            self.sacks
                .resize(self.frames.capacity(), SackBlocks::default());
        }
        self.sacks[id.index()] = sack;
    }

    /// Adds a datagram of `cells` cells of a source, on the first VC of its route, or one cell of it.
    pub(crate) fn add_of_source(
        &mut self,
        source: u32,
        vc: u32,
        (cells, octets): (u32, u32),
        enqueued_at: SimTime,
    ) -> FrameId {
        self.keep(Frame {
            enqueued_at,
            connection: source,
            vc,
            cells: cells as u16,
            octets: octets as u16,
            ..Frame::NONE
        })
    }

    #[inline(always)]
    fn keep(&mut self, frame: Frame) -> FrameId {
        self.made += 1;
        let id = self.free.pop().unwrap_or_else(|| {
            self.frames.push(Frame::NONE);
            FrameId(self.frames.len() as u32 - 1)
        });
        self.frames[id.index()] = frame;
        if self.serials.is_some() {
            self.number(id);
        }
        id
    }

    #[inline(never)] // what few runs ask for
    fn number(&mut self, id: FrameId) {
        if let Some(serials) = &mut self.serials {
            serials.resize(self.frames.len(), 0);
            serials[id.index()] = self.first_serial + self.made;
        }
    }

    /// Has the numbers of frames differ from those of other regions.
    pub(crate) fn number_from(&mut self, region: u32) {
        self.first_serial = u64::from(region) << 40;
    }

    /// What another region has to be given of a frame that goes on there, with its number where frames have any.
    pub(crate) fn leaving(&self, id: FrameId) -> (Frame, Option<&SackBlocks>, u64) {
        let frame = self.get(id);
        let sack = frame.has.any(Has::SACK).then(|| &self.sacks[id.index()]);
        let serial = self.serials.as_ref().map_or(0, |all| all[id.index()]);
        (*frame, sack, serial)
    }

    /// Adds a frame, or a part of one, that comes from another region, where it was made.
    pub(crate) fn add_from_elsewhere(
        &mut self,
        frame: Frame,
        sack: Option<&SackBlocks>,
        serial: u64,
    ) -> FrameId {
        let made = self.made;
        let id = self.keep(frame);
        self.made = made;
        if let Some(sack) = sack {
            self.keep_sack(id, *sack);
        }
        if let Some(serials) = &mut self.serials {
            serials[id.index()] = serial;
        }
        id
    }

    /// The number of the frame in the run, from 1, which never repeats.
    pub(crate) fn serial(&self, id: FrameId) -> u64 {
        let serials = self.serials.as_ref().expect("frames have numbers");
        serials[id.index()]
    }

    /// The segment that the frame carries.
    pub(crate) fn segment(&self, id: FrameId) -> Segment {
        let frame = self.get(id);
        let sack = if frame.has.any(Has::SACK) {
            self.sacks[id.index()]
        } else {
            SackBlocks::default()
        };
        Segment {
            kind: frame.kind,
            ecn: frame.ecn,
            ece: frame.ece,
            cwr: frame.cwr,
            connection: frame.connection,
            sequence: frame.sequence,
            length: frame.length,
            window: frame.window,
            acknowledgement: frame.acknowledgement,
            sack,
            timestamp: frame.timestamp,
        }
    }

    pub(crate) fn get(&self, id: FrameId) -> &Frame {
        &self.frames[id.index()]
    }

    pub(crate) fn get_mut(&mut self, id: FrameId) -> &mut Frame {
        &mut self.frames[id.index()]
    }

    /// A part of the frame is under way beside those that are.
    pub(crate) fn hold(&mut self, id: FrameId) {
        if let Some(holds) = &mut self.holds {
            if holds.len() < self.frames.len() {
                holds.resize(self.frames.len(), 1);
            }
            holds[id.index()] += 1;
        }
    }

    /// The frame, or a part of it, is no longer under way; after the last it is forgotten.
    pub(crate) fn forget(&mut self, id: FrameId) {
        self.forget_part(id);
    }

    /// As [`Frames::forget`]; returns whether the frame is forgotten.
    #[inline(always)]
    pub(crate) fn forget_part(&mut self, id: FrameId) -> bool {
        if let Some(holds) = self
            .holds
            .as_mut()
            .and_then(|holds| holds.get_mut(id.index()))
            && *holds > 1
        {
            *holds -= 1;
            return false;
        }
        self.free.push(id);
        true
    }

    /// So many parts of the frame are no longer under way, others being so.
    pub(crate) fn forget_some(&mut self, id: FrameId, parts: u32) {
        (0..parts).for_each(|_| self.forget(id));
    }

    /// Counts frames that another region has made.
    pub(crate) fn add_made(&mut self, made: u64) {
        self.made += made;
    }

    /// Frames made so far.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_gives_back_the_segment_that_it_was_made_of() {
        let mut frames = Frames::default();
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            for bits in 0..8u8 {
                let mut sack = SackBlocks::default();
                if bits & 1 != 0 {
                    sack.push((3, 5));
                }
                let segment = Segment {
                    kind: SegmentKind::Ack,
                    ecn,
                    ece: bits & 2 != 0,
                    cwr: bits & 4 != 0,
                    connection: 1,
                    sequence: 2,
                    length: 3,
                    window: 4,
                    acknowledgement: 5,
                    sack,
                    timestamp: 6,
                };
                let id = frames.add(&segment, FlowId(0), true, 0, (2, 40), SimTime::ZERO);
                assert_eq!(frames.segment(id), segment);
            }
        }
    }
}
