//! Which ports with several queues have a server of their own here, and what crosses them.
//!
//! Frames join one queue of such a port, the cells of an open-loop source, which reacts to nothing, another. Such a source is
//! known before the run, but for whether a cell finds its queue full, which is known when all choices before have been made: so the server need
//! not wait for anybody. Where frames join several queues of a port, there is no server ([`crate::port::vc_queues`]) and no
//! open-loop source. Cells of any other source are frames, of one cell or several.

use crate::plan::route::SourcePlan;
use crate::plan::route::{PortKind, route};
use crate::plan::stepping::{Stepping, cell_sources};
use skycell_records::SteppedReason;
use skycell_spec::{LinkSpec, NetworkSpec, PortSpec, SourceSpec};

/// The VCs and sources that cross ports with several queues.
pub(crate) struct Shared {
    pub(crate) open_loop_sources: Vec<SourcePlan>,
    /// By port: which of its queues holds the cells of frames; none where several do.
    pub(crate) frame_queues: Vec<Option<usize>>,
}

impl Shared {
    /// Returns whether the cells of a source with VC `vc` are those of an open-loop source.
    pub(crate) fn has_open_loop_source(&self, vc: u32) -> bool {
        self.open_loop_sources
            .iter()
            .any(|open_loop_source| open_loop_source.vc == vc)
    }
}

/// The plan of a valid spec with ports of these kinds. A source that sends cells of longer frames and is no open-loop source begins
/// at a port that is stepped.
pub(crate) fn plan(spec: &NetworkSpec, kinds: &[PortKind], stepping: &mut Stepping) -> Shared {
    // VCs of open-loop sources so far: of one that becomes frames another may have to come after it, or share its port with
    // frames in several queues.
    let mut known: Vec<u32> = cell_sources(spec).map(|(_, source)| source.vc).collect();
    loop {
        let frame_queues = frame_queues(spec, &known);
        let (mut open_loop_sources, mut others) = (Vec::new(), Vec::new());
        for (id, source) in cell_sources(spec).filter(|(_, source)| known.contains(&source.vc)) {
            match open_loop_source(spec, kinds, &frame_queues, source, id, &known) {
                Some(open_loop_source) => open_loop_sources.push(open_loop_source),
                None => others.push(source),
            }
        }
        if others.is_empty() {
            open_loop_sources.sort_by_key(|open_loop_source| open_loop_source.vc);
            return Shared {
                open_loop_sources,
                frame_queues,
            };
        }
        for source in &others {
            let vc = &spec.vcs[source.vc as usize];
            if source.frame_cells == 1 {
                continue;
            }
            stepping.step(vc.path[0], SteppedReason::SourceFrames);
            if spec.records.delay_vcs.contains(&source.vc) {
                stepping.step_vc(vc, SteppedReason::UnitDelays);
            }
        }
        known.retain(|vc| !others.iter().any(|source| source.vc == *vc));
    }
}

/// By port: which of its queues holds the cells of frames, which are those of all VCs but `known`; none where several
/// do, the default one where none does.
fn frame_queues(spec: &NetworkSpec, known: &[u32]) -> Vec<Option<usize>> {
    let default = |port: &PortSpec| port.queues.iter().position(|queue| queue.class.is_none());
    let mut joined: Vec<Vec<usize>> = vec![Vec::new(); spec.links.len()];
    let vcs = spec.vcs.iter().zip(0u32..);
    for (vc, _) in vcs.filter(|(_, id)| !known.contains(id)) {
        for &link in &vc.path {
            let queue = spec.links[link as usize].port.queue_of(vc.class);
            let joined = &mut joined[link as usize];
            joined.extend(queue.filter(|queue| !joined.contains(queue)));
        }
    }
    let of_port = |(link, joined): (&LinkSpec, Vec<usize>)| match joined[..] {
        _ if link.port.queues.len() == 1 => Some(0),
        [] => default(&link.port),
        [queue] => Some(queue),
        _ => None,
    };
    spec.links.iter().zip(joined).map(of_port).collect()
}

/// The plan of an open-loop source; none if it cannot be that beside those with the VCs `known`.
fn open_loop_source(
    spec: &NetworkSpec,
    kinds: &[PortKind],
    frame_queues: &[Option<usize>],
    source: &SourceSpec,
    id: u32,
    known: &[u32],
) -> Option<SourcePlan> {
    let vc = &spec.vcs[source.vc as usize];
    let mut route = route(spec, kinds, vc);
    let (output, hop) = route.outputs.pop().filter(|_| route.outputs.is_empty())?;
    if kinds[output as usize] != PortKind::Output {
        return None;
    }
    let sampled = &spec.records.sampled_ports;
    let is_sampled =
        |link: u32| sampled.contains(&link) || spec.records.vc_sampled_ports.contains(&link);
    let is_alone = |&link: &u32| {
        let crossing = spec.vcs.iter().filter(|vc| vc.path.contains(&link));
        link == output || crossing.count() == 1 && !is_sampled(link)
    };
    let last = vc.path.iter().all(is_alone);
    // At the port its VC comes after those of frames, in the order of samples.
    let comes_last = spec.vcs.iter().zip(0u32..).all(|(other, other_id)| {
        known.contains(&other_id) || other_id < source.vc || !other.path.contains(&output)
    });
    let port = &spec.links[output as usize].port;
    let queue = port.queue_of(vc.class)?;
    let comes_at_once = route.first.passes.is_empty();
    let is_beside = frame_queues[output as usize].is_some_and(|own| own != queue);
    let own_port = &spec.links[route.source as usize].port;
    let here = &port.queues[queue];
    let is_simple = source.frame_cells == 1
        && here.policy.takes_all()
        && takes_all(own_port)
        && vc.gfr.is_none();
    (last && comes_last && comes_at_once && is_beside && is_simple).then_some(SourcePlan {
        source: id,
        vc: source.vc,
        own_port: route.source,
        output,
        queue,
        capacity: here.capacity_cells,
        hop,
    })
}

/// Returns whether a port accepts everything.
fn takes_all(port: &PortSpec) -> bool {
    port.queues[0].capacity_cells.is_none() && port.queues[0].policy.takes_all()
}
