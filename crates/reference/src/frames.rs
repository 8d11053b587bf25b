//! Frames on their way, and the cells that carry them.

use crate::live::RealPacket;
use crate::network::Outside;
use skycell_abr::RmCell;
use skycell_records::{DiscardTrace, FragmentedPackets};
use skycell_spec::{IP_HEADER, fragments};
use skycell_switch::PureAck;
use skycell_tcp::{Segment, SegmentKind};
use skycell_units::{Ecn, FrameId, PortVc, SimTime};

/// The contents of a frame.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A segment of a flow.
    Segment {
        segment: Segment,
        /// Flow id.
        flow: u32,
        /// True from the flow's source to its destination.
        is_forward: bool,
        /// Which VC of the flow's route it is on.
        route_index: u32,
    },
    /// A datagram of a source.
    Datagram {
        /// Index of the source in the spec.
        source: u32,
        /// Which VC of its route it is on.
        route_index: u32,
        /// When it was sent; of an answer, when what it answers was.
        since: SimTime,
    },
    /// A packet of a host outside of the run.
    Real(Box<RealPacket>),
    /// A frame that came to this part of a network from outside of it.
    Outside(Outside),
    /// A fragment of a packet.
    Fragment(Fragment),
    /// A packet that is on its way in fragments.
    InFragments(Box<InFragments>),
    /// Whatever a cell source sends.
    Cells,
}

/// A fragment of an IP packet (RFC 791, section 3.2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fragment {
    /// The packet.
    pub(crate) whole: FrameId,
    /// Octets of its payload.
    pub(crate) payload: u32,
    /// Number of the packet's flow.
    pub(crate) number: u32,
    /// Id of the packet's flow, or [`DiscardTrace::NO_FLOW`].
    pub(crate) flow: u32,
    /// Which VC of the packet's route it is on.
    pub(crate) route_index: u32,
}

/// A packet that is reassembled at the end of the route.
#[derive(Clone, Debug)]
pub(crate) struct InFragments {
    /// Contents of the packet.
    pub(crate) content: Content,
    /// Octets of its payload that have not come.
    pub(crate) missing: u32,
}

impl Content {
    /// Id of its flow, if it has one, for traces.
    pub(crate) fn flow(&self) -> u32 {
        match self {
            Content::Segment { flow, .. } => *flow,
            Content::Real(packet) => packet.flow,
            Content::Outside(outside) => outside.flow,
            Content::Fragment(fragment) => fragment.flow,
            Content::InFragments(whole) => whole.content.flow(),
            Content::Datagram { .. } | Content::Cells => DiscardTrace::NO_FLOW,
        }
    }

    /// Which VC of its route it is on.
    fn route_index(&self) -> u32 {
        match self {
            Content::Segment { route_index, .. } | Content::Datagram { route_index, .. } => {
                *route_index
            }
            Content::Fragment(fragment) => fragment.route_index,
            other => unreachable!("has no route: {other:?}"),
        }
    }

    fn set_route_index(&mut self, to: u32) {
        match self {
            Content::Segment { route_index, .. } | Content::Datagram { route_index, .. } => {
                *route_index = to;
            }
            other => unreachable!("has no route: {other:?}"),
        }
    }

    /// Returns the acknowledgement of a segment that does nothing else and whose flow is not
    /// hidden.
    pub(crate) fn pure_ack(&self, is_hidden: impl Fn(u32) -> bool) -> Option<PureAck> {
        match self {
            Content::Segment { segment, flow, .. } if !is_hidden(*flow) => pure_ack(segment),
            _ => None,
        }
    }

    /// The number of its flow in a run with so many connections: both directions of those first, then sources.
    pub(crate) fn flow_number(&self, connections: usize) -> u32 {
        match self {
            Content::Segment {
                flow, is_forward, ..
            } => 2 * flow + u32::from(!is_forward),
            Content::Datagram { source, .. } => 2 * connections as u32 + source,
            Content::Real(packet) => packet.number,
            Content::Outside(outside) => outside.number,
            Content::Fragment(fragment) => fragment.number,
            Content::InFragments(whole) => whole.content.flow_number(connections),
            Content::Cells => 0,
        }
    }
}

/// Returns the acknowledgement of a segment that does nothing else.
pub fn pure_ack(segment: &Segment) -> Option<PureAck> {
    let is_pure = segment.kind == SegmentKind::Ack && segment.sack.as_slice().is_empty();
    is_pure.then_some(PureAck {
        connection: segment.connection,
        acknowledgement: segment.acknowledgement,
        ece: segment.ece,
    })
}

/// An AAL5 frame, or a cell that is none.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// Number of the frame in the run; never repeats.
    pub(crate) serial: u64,
    pub(crate) content: Content,
    /// True if it has CLP = 1 on its VC, set by its adapter.
    pub(crate) clp: bool,
    /// True if the payload of one of its cells has bit errors, which the CRC of AAL5 detects.
    pub(crate) is_errored: bool,
    /// True if its packet has bit errors, which the checksum at the end of its route detects.
    pub(crate) is_damaged: bool,
    /// Octets of the IP packet that it carries; 0 where that never crosses a link of packets.
    pub(crate) octets: u32,
    /// The ECN field of that packet.
    pub(crate) ecn: Ecn,
    /// Its length in cells, on a VC of cells.
    pub(crate) cells: u32,
    /// When the end point handed it to its port.
    pub(crate) enqueued_at: SimTime,
    /// Units that have neither reached the VC's end nor been discarded.
    left: u32,
}

/// One unit on its way: a cell of a frame, or on a link of packets the whole packet.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Its frame, one of the [`Frames`]; [`FrameId::NONE`] for an RM cell.
    pub frame: FrameId,
    /// Contents, for an RM cell.
    pub rm: Option<RmCell>,
    /// EFCI, of a data cell.
    pub efci: bool,
    /// Acknowledgement, for a packet with a [`PureAck`] that a filter may look at.
    pub ack: Option<PureAck>,
    /// Index in its frame, from 0.
    pub index: u32,
    /// Octets of the IP packet; 0 of a cell.
    pub octets: u32,
    /// VC id.
    pub vc: u32,
    /// Index of its VC at the port where it is.
    pub port_vc: PortVc,
    /// Its flow, by number: each direction of a connection is one, and each source.
    pub flow: u32,
    /// How many links of the VC it has crossed.
    pub hop: u16,
    /// Link of the sky that it came to its port for; 0 of a cell whose VC has a path.
    pub sky_link: u32,
    /// The end-of-message mark.
    pub eom: bool,
    /// The CLP bit.
    pub clp: bool,
    /// True if a cell source has set its pace: its port does not wait before it.
    pub is_paced: bool,
    /// The ECN field of its packet.
    pub ecn: Ecn,
    /// When it came to the port where it is.
    pub came_at: SimTime,
    /// When its last bit left the VC's first port.
    pub left_at: SimTime,
    /// Its number among the cells of its VC that came past the first switch, where a resequencer needs it.
    pub entry: u64,
}

/// All frames that still have cells under way.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    frames: Vec<Frame>,
    free: Vec<FrameId>,
    serial: u64,
    /// Frames made of fragments.
    fragments: u64,
    /// Fates of fragmented packets.
    pub(crate) fragmented: FragmentedPackets,
    /// Frames from outside that have ended on their way, until somebody takes them from here.
    pub(crate) ended_outside: Vec<FrameId>,
}

impl Frames {
    /// A new frame of `cells` cells, or of a packet of `octets` octets.
    pub(crate) fn add(
        &mut self,
        content: Content,
        octets: u32,
        cells: u32,
        enqueued_at: SimTime,
    ) -> FrameId {
        self.serial += 1;
        let ecn = match &content {
            Content::Segment { segment, .. } => segment.ecn,
            Content::Real(packet) => packet.ecn,
            Content::Outside(outside) => outside.ecn,
            _ => Ecn::NotEct,
        };
        let frame = Frame {
            serial: self.serial,
            content,
            clp: false,
            is_errored: false,
            is_damaged: false,
            octets,
            ecn,
            cells,
            enqueued_at,
            left: cells,
        };
        match self.free.pop() {
            Some(id) => {
                self.frames[id.index()] = frame;
                id
            }
            None => {
                self.frames.push(frame);
                FrameId(self.frames.len() as u32 - 1)
            }
        }
    }

    /// Frames made so far, without those of fragments.
    pub(crate) fn made(&self) -> u64 {
        self.serial - self.fragments
    }

    /// A new frame of a fragment, as its packet `id` or the longer fragment `id` is cut for a link.
    fn add_fragment(&mut self, id: FrameId, fragment: Fragment, cells: u32) -> FrameId {
        let Frame {
            ecn,
            enqueued_at,
            is_damaged,
            ..
        } = *self.get(id);
        let octets = fragment.payload + IP_HEADER as u32;
        let own = self.add(Content::Fragment(fragment), octets, cells, enqueued_at);
        self.fragments += 1;
        self.frames[own.index()].ecn = ecn;
        self.frames[own.index()].is_damaged = is_damaged;
        own
    }

    /// Cuts the packet, or fragment, `id` of flow `flow` into fragments of at most `mtu` octets, which take so many cells as
    /// `cells` says; they go on in its stead, from the VC of its route where it is.
    pub(crate) fn cut(
        &mut self,
        id: FrameId,
        (number, flow): (u32, u32),
        mtu: u32,
        cells: impl Fn(u32) -> u32,
    ) -> Vec<FrameId> {
        let frame = &mut self.frames[id.index()];
        let octets = frame.octets;
        let (whole, route_index) = match &mut frame.content {
            Content::Fragment(fragment) => (fragment.whole, fragment.route_index),
            content => {
                let route_index = content.route_index();
                let missing = octets - IP_HEADER as u32;
                let content = std::mem::replace(content, Content::Cells);
                frame.content = Content::InFragments(Box::new(InFragments { content, missing }));
                frame.left = 1; // until it is cut
                self.fragmented.cut += 1;
                (id, route_index)
            }
        };
        let mut made = Vec::new();
        for payload in fragments(octets, mtu) {
            let fragment = Fragment {
                whole,
                payload,
                number,
                flow,
                route_index,
            };
            made.push(self.add_fragment(id, fragment, cells(payload + IP_HEADER as u32)));
            self.frames[whole.index()].left += 1;
        }
        self.settle(id, 1);
        made
    }

    /// The fragment `id` has come to the end of its route: its packet, if that has come whole with it.
    pub(crate) fn put_together(&mut self, id: FrameId) -> Option<FrameId> {
        let (fragment, ecn) = match &self.get(id).content {
            Content::Fragment(fragment) => (*fragment, self.get(id).ecn),
            other => unreachable!("no fragment: {other:?}"),
        };
        let whole = &mut self.frames[fragment.whole.index()];
        let Content::InFragments(in_fragments) = &mut whole.content else {
            unreachable!("a packet that was cut");
        };
        in_fragments.missing -= fragment.payload;
        let is_whole = in_fragments.missing == 0;
        if ecn == Ecn::Ce {
            whole.ecn = ecn; // RFC 3168, section 5.3
        }
        if is_whole {
            let content = std::mem::replace(&mut in_fragments.content, Content::Cells);
            whole.content = content;
            whole.content.set_route_index(fragment.route_index);
            whole.left += 1;
            self.fragmented.whole += 1;
        }
        self.settle(id, 1);
        is_whole.then_some(fragment.whole)
    }

    /// The frame `id`.
    pub(crate) fn get(&self, id: FrameId) -> &Frame {
        &self.frames[id.index()]
    }

    /// Number of the frame in the run; 0, which no frame has, for a cell that belongs to none.
    pub(crate) fn serial(&self, id: FrameId) -> u64 {
        match id {
            FrameId::NONE => 0,
            id => self.get(id).serial,
        }
    }

    /// Takes the real packet out of its frame, which has come to the end of its way.
    pub(crate) fn take_real(&mut self, id: FrameId) -> RealPacket {
        let content = &mut self.frames[id.index()].content;
        match std::mem::replace(content, Content::Cells) {
            Content::Real(packet) => *packet,
            other => unreachable!("no real packet: {other:?}"),
        }
    }

    /// Sets the CLP bit of all cells of the frame.
    pub(crate) fn set_clp(&mut self, id: FrameId, clp: bool) {
        self.frames[id.index()].clp = clp;
    }

    /// The payload of one of its cells has bit errors.
    pub(crate) fn set_errored(&mut self, id: FrameId) {
        self.frames[id.index()].is_errored = true;
    }

    /// Its packet has bit errors that no frame's check has seen.
    pub(crate) fn set_damaged(&mut self, id: FrameId) {
        self.frames[id.index()].is_damaged = true;
    }

    /// Sets the ECN field of its packet.
    pub(crate) fn set_ecn(&mut self, id: FrameId, ecn: Ecn) {
        self.frames[id.index()].ecn = ecn;
    }

    /// The frame goes on a VC as so many units, all of them before it.
    pub(crate) fn begin(&mut self, id: FrameId, units: u32) {
        self.frames[id.index()].left = units;
    }

    /// Puts the frame on the next VC of its route.
    pub(crate) fn next_vc(&mut self, id: FrameId) {
        let frame = &mut self.frames[id.index()];
        match &mut frame.content {
            Content::Segment { route_index, .. } | Content::Datagram { route_index, .. } => {
                *route_index += 1
            }
            Content::Real(packet) => packet.route_index += 1,
            Content::Fragment(fragment) => fragment.route_index += 1,
            Content::Outside(_) | Content::InFragments(_) | Content::Cells => {}
        }
        frame.clp = false;
        frame.left = 1;
    }

    /// `units` units of the frame have reached their VC's end or were discarded; forgets the frame
    /// with its last one.
    pub(crate) fn settle(&mut self, id: FrameId, units: u32) {
        if id == FrameId::NONE {
            return;
        }
        let frame = &mut self.frames[id.index()];
        frame.left -= units;
        if frame.left == 0 {
            let of = match &frame.content {
                Content::Outside(outside) => {
                    self.ended_outside.push(outside.frame);
                    None
                }
                Content::Fragment(fragment) => Some(fragment.whole),
                Content::InFragments(_) => {
                    self.fragmented.incomplete += 1;
                    None
                }
                _ => None,
            };
            self.free.push(id);
            if let Some(whole) = of {
                self.settle(whole, 1);
            }
        }
    }

    /// The last unit of a frame from outside has made it whole at the end of its VC: it goes on there.
    pub(crate) fn take_out(&mut self, id: FrameId) {
        self.frames[id.index()].content = Content::Cells;
        self.settle(id, 1);
    }
}
