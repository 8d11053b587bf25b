//! Flows, which have their state from their start to their end: of 100 000 short transfers few are under way at once.

use super::Sky;
use skycell_records::FlowRecord;
use skycell_spec::NetworkSpec;
use skycell_traffic::{Flow, HostDelay, Hosts, rank};
use skycell_units::{FlowId, FrameId, SimTime};

/// How far a flow is.
#[derive(Debug)]
pub(super) enum Stage {
    /// Its application has not begun.
    Ahead,
    Open(Box<FlowState>),
    /// Nothing of it is under way, and neither end acts again.
    Over(Box<Over>),
}

/// A flow that has begun.
#[derive(Debug)]
pub(super) struct FlowState {
    pub(super) flow: Flow,
    /// By kind of timer: the time of the earliest event that is pending; [`SimTime::NEVER`] for none.
    pub(super) pending: [SimTime; 3],
    /// Segments that the source, and the destination, have sent and not yet handed over.
    pub(super) host_delays: [HostDelay; 2],
    /// Segments sent that have neither arrived nor been lost.
    pub(super) in_flight: u32,
}

/// What a flow leaves that is over.
#[derive(Debug)]
pub(super) struct Over {
    /// As of the time at which it ended.
    record: FlowRecord,
    ended: SimTime,
    is_connected: bool,
}

impl Stage {
    /// The state of a flow that has begun, and of which something is under way.
    #[inline(always)]
    pub(super) fn open(&mut self) -> &mut FlowState {
        match self {
            Stage::Open(state) => state,
            _ => unreachable!("a flow with something under way is open"),
        }
    }
}

impl Over {
    /// A flow that ends with the run.
    pub(super) fn at_end(record: FlowRecord, ended: SimTime) -> Self {
        Over {
            record,
            ended,
            is_connected: false,
        }
    }
}

impl FlowState {
    /// The next time of a timer, if that has no event yet.
    pub(super) fn due(&mut self, kind: u8) -> Option<SimTime> {
        let due = match kind {
            rank::RETRANSMISSION => self.flow.retransmission_due(),
            rank::HELD_ACK => self.flow.held_ack_due(),
            _ => self.flow.application_due(),
        };
        let pending = &mut self.pending[usize::from(kind - rank::RETRANSMISSION)];
        let due = due.filter(|due| due < pending)?;
        *pending = due;
        Some(due)
    }
}

/// The VCs that carry what the source of a flow, or else the destination, sends.
pub(super) fn route(spec: &NetworkSpec, id: u32, is_forward: bool) -> &[u32] {
    let flow = &spec.flows[id as usize];
    match is_forward {
        true => &flow.forward,
        false => &flow.reverse,
    }
}

impl Sky<'_> {
    fn new_flow(&mut self, id: u32) -> Flow {
        let spec = &self.spec.flows[id as usize];
        let (seed, traces) = (self.spec.seed, &self.spec.records.traces);
        let hosts = Hosts::of(self.spec, spec);
        Flow::new(id, spec, &mut self.shared_tcp, seed, hosts, traces)
    }

    /// The application of a flow begins.
    #[inline(never)] // once a flow
    pub(super) fn begin_flow(&mut self, id: u32) {
        let state = FlowState {
            flow: self.new_flow(id),
            pending: [SimTime::NEVER; 3],
            host_delays: HostDelay::of_ends(&self.spec.flows[id as usize], self.spec.seed),
            // What becomes of segments in other regions is not known here, so the flow stays open.
            in_flight: u32::from(self.border.is_some()),
        };
        self.flows[id as usize] = Stage::Open(Box::new(state));
    }

    /// A flow is over.
    #[inline(never)] // once a flow
    pub(super) fn end_flow(&mut self, now: SimTime, id: u32) {
        let flow = &self.flows[id as usize].open().flow;
        let over = Over {
            record: flow.record(now),
            ended: now,
            is_connected: flow.is_connected(),
        };
        self.flows[id as usize] = Stage::Over(Box::new(over));
    }

    /// A frame, or one of its cells, has come to its end, or is lost.
    #[inline(always)]
    pub(super) fn forget(&mut self, frame: FrameId) {
        let flow = self.frames.get(frame).flow;
        let is_gone = self.frames.forget_part(frame);
        if is_gone && flow != FlowId::NONE && self.border.is_none() {
            self.flows[flow.0 as usize].open().in_flight -= 1;
        }
    }

    /// The records of the flows at the end of the run.
    pub(super) fn flow_records(&mut self) -> Vec<FlowRecord> {
        let stages = std::mem::take(&mut self.flows);
        let all = (0u32..).zip(stages);
        all.map(|(id, stage)| self.flow_record(id, stage)).collect()
    }

    /// The record of a flow at the end of the run.
    pub(super) fn flow_record(&mut self, id: u32, stage: Stage) -> FlowRecord {
        match stage {
            Stage::Ahead => self.new_flow(id).record(self.end),
            Stage::Open(state) => state.flow.record(self.end),
            Stage::Over(over) => {
                let mut record = over.record;
                if over.is_connected {
                    record.connected_ps += (self.end - over.ended).0;
                }
                record
            }
        }
    }
}
