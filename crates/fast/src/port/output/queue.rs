//! The queues of frames at an output port: their buffers, their policies, and what they count.

use skycell_records::{Discards, QueueIntegral, QueueSamples};
use skycell_spec::{LinkSpec, QueueSpec};
use skycell_switch::Policy;

/// The queues: nearly always one, which is at hand.
#[derive(Debug)]
pub(crate) struct FrameQueues {
    pub(crate) first: FrameQueue,
    others: Vec<FrameQueue>,
    /// True if it matters to one of their policies which VC's cell was accepted first.
    pub(super) mind_order: bool,
    /// Of the smallest of their buffers.
    pub(super) least_capacity: u64,
}

impl FrameQueues {
    /// The queues that `specs` describe, at the port of `link`.
    pub(super) fn new(specs: &[QueueSpec], link: &LinkSpec, seed: u64) -> Self {
        let queues = specs.iter().map(|spec| FrameQueue::new(spec, link, seed));
        let mut queues: Vec<_> = queues.collect();
        FrameQueues {
            mind_order: queues.iter().any(|queue| queue.policy.needs().order),
            least_capacity: queues.iter().map(|queue| queue.capacity).min().unwrap_or(1),
            first: queues.remove(0),
            others: queues,
        }
    }

    pub(crate) fn are_several(&self) -> bool {
        !self.others.is_empty()
    }

    #[inline(always)]
    pub(super) fn get(&self, at: u32) -> &FrameQueue {
        match at.checked_sub(1) {
            None => &self.first,
            Some(other) => &self.others[other as usize],
        }
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self, at: u32) -> &mut FrameQueue {
        match at.checked_sub(1) {
            None => &mut self.first,
            Some(other) => &mut self.others[other as usize],
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &FrameQueue> {
        std::iter::once(&self.first).chain(&self.others)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut FrameQueue> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }
}

/// A queue.
#[derive(Debug)]
pub(crate) struct FrameQueue {
    pub(crate) class: Option<&'static str>,
    pub(super) capacity: u64,
    pub(super) policy: Policy,
    pub(super) counts_vcs: bool,
    pub(crate) arrived: u64,
    pub(crate) discarded: Discards,
    pub(crate) frames_discarded: Discards,
    pub(crate) integral: QueueIntegral,
    pub(crate) queue_max: u64,
    pub(crate) samples: QueueSamples,
}

impl FrameQueue {
    /// The queue that `spec` describes, at the port of `link`.
    fn new(spec: &QueueSpec, link: &LinkSpec, seed: u64) -> Self {
        let owner = link.port.name_of(spec, &link.name);
        let policy = Policy::new(&spec.policy, seed, &owner);
        FrameQueue {
            class: spec.class.map(|class| class.name()),
            capacity: u64::from(spec.capacity_cells.unwrap_or(u32::MAX)),
            counts_vcs: policy.needs().vcs,
            policy,
            arrived: 0,
            discarded: Discards::default(),
            frames_discarded: Discards::default(),
            integral: QueueIntegral::default(),
            queue_max: 0,
            samples: QueueSamples::default(),
        }
    }
}
