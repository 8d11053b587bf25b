//! The conditions that the ports, the classes and the cell sources of a `NetworkSpec` must fulfil.

use crate::check::{range, structure, validate_distribution, validate_start};
use crate::framing::validate_rate;
use crate::{
    DistributionSpec, LinkSpec, NetworkSpec, NodeKind, PacketPolicerSpec, PhaseSpec, QueueSpec,
    ResequencerSpec, SchedulerSpec, SourcePattern, SourceSpec, SpecError, VcSpec,
};
use skycell_declare::types::LONGEST_PS;
use skycell_declare::{Context, Refusal, Rule};

/// Most cycles that a source may be into its pattern when it begins.
const MOST_CYCLES: u64 = 1_000;

impl NetworkSpec {
    /// Refuses a port that cannot be, of a link or kind at `path`.
    pub(crate) fn validate_port(&self, link: &LinkSpec, path: &str) -> Result<(), SpecError> {
        let port = &link.port;
        let at = |key: &str| format!("{path}.port.{key}");
        let is_switch = self.nodes[link.from as usize].kind == NodeKind::Switch;
        if port.frame_gap_ps > 0 && is_switch {
            return Err(structure(
                at("frame_gap_ps"),
                "only hosts and routers send whole frames",
            ));
        }
        if port.frame_gap_ps > 1_000_000_000_000 {
            return Err(range(at("frame_gap_ps"), port.frame_gap_ps, "at most 1 s"));
        }
        if port.queues.is_empty() {
            return Err(structure(at("queues"), "a port needs at least one queue"));
        }
        for (q, queue) in port.queues.iter().enumerate() {
            let path = at(&format!("queues[{q}]"));
            if port.queues[..q]
                .iter()
                .any(|other| other.class == queue.class)
            {
                return Err(structure(path, "a class has one queue"));
            }
            validate_queue(queue, &path)?;
        }
        for (q, queue) in port.queues.iter().enumerate() {
            if queue.counts_octets && link.framing.is_none() {
                let path = at(&format!("queues[{q}].counts_octets"));
                return Err(structure(path, "a buffer of cells counts cells"));
            }
            if queue.policy.needs().packets && link.framing.is_none() {
                let path = at(&format!("queues[{q}].policy"));
                let problem = "is a policy of packets, and the link carries cells";
                return Err(structure(path, problem));
            }
        }
        let several = port.queues.len() > 1;
        self.validate_port_of_packets(link, path)?;
        if matches!(port.scheduler, SchedulerSpec::Fifo(_)) && several {
            return Err(structure(
                at("scheduler"),
                "fifo serves one queue; several need another scheduler",
            ));
        }
        if matches!(port.scheduler, SchedulerSpec::GuaranteedRate(_)) && link.framing.is_some() {
            return Err(structure(
                at("scheduler"),
                "guaranteed_rate counts cells, and the link carries packets",
            ));
        }
        if port.scheduler.serves_vcs() && (several || !is_switch) {
            return Err(structure(
                at("scheduler"),
                "VCs are ordered in the one queue of a switch port",
            ));
        }
        let context = Context {
            queues: port.queues.len(),
            vcs: self.vcs.len(),
            ..Context::default()
        };
        let refusal = port.scheduler.check(&context);
        refusal.map_err(|refusal| refused(refusal, &at("scheduler")))?;
        self.validate_rate_algorithm(link, path)
    }

    /// Refuses what only packets can have on a link of cells, and two orders of the same packets.
    fn validate_port_of_packets(&self, link: &LinkSpec, path: &str) -> Result<(), SpecError> {
        let port = &link.port;
        let at = |key: &str| format!("{path}.port.{key}");
        let of_cells = "belongs to packets, and the link carries cells";
        let is_of_packets = link.framing.is_some();
        let orders_packets = port.scheduler.order().is_some();
        if orders_packets && !is_of_packets {
            return Err(structure(at("scheduler"), of_cells));
        }
        if orders_packets && port.queues.len() > 1 {
            let problem = "deficit_round_robin orders the packets of one queue";
            return Err(structure(at("scheduler"), problem));
        }
        for (q, queue) in port.queues.iter().enumerate() {
            if queue.by_flow && self.nodes[link.from as usize].kind == NodeKind::Switch {
                let problem = "belongs to hosts and routers, and a switch sees cells alone";
                return Err(structure(at(&format!("queues[{q}].by_flow")), problem));
            }
            if orders_packets && queue.policy.order().is_some() {
                let problem = "orders packets itself, and the scheduler does, too";
                return Err(structure(at(&format!("queues[{q}].policy")), problem));
            }
        }
        if port.ack_filter && !is_of_packets {
            return Err(structure(at("ack_filter"), of_cells));
        }
        let policed = port.policer.as_ref().map(PacketPolicerSpec::bucket);
        for (key, bucket) in [("shaper", port.shaper), ("policer", policed)] {
            let Some(bucket) = bucket else {
                continue;
            };
            if !is_of_packets {
                return Err(structure(at(key), of_cells));
            }
            let refusal = bucket.check(&Context::default());
            refusal.map_err(|refusal| refused(refusal, &at(key)))?;
            let rate = bucket.rate_millibps;
            validate_rate(rate, &at(&format!("{key}.rate_millibps")))?;
            if bucket.peak_millibps.is_some_and(|peak| peak < rate) {
                let path = at(&format!("{key}.peak_millibps"));
                return Err(structure(path, "is not below the rate"));
            }
        }
        Ok(())
    }

    pub(crate) fn validate_class(&self, i: usize, vc: &VcSpec) -> Result<(), SpecError> {
        let at = |key: &str| format!("vcs[{i}].{key}");
        for &link in vc.paths().flatten() {
            let link = &self.links[link as usize];
            if link.port.queue_of(vc.class).is_none() {
                let problem = format!("link {} has no queue for {}", link.name, vc.class.name());
                return Err(structure(at("class"), problem));
            }
        }
        if !vc.policing.is_empty() && vc.path.len() == 1 {
            let problem = "cells are policed at the first switch, and the VC crosses none";
            return Err(structure(at("policing"), problem));
        }
        validate_policing(i, vc)
    }

    pub(crate) fn validate_sources(&self) -> Result<(), SpecError> {
        let mut used = vec![false; self.vcs.len()];
        for flow in &self.flows {
            for &vc in flow.forward.iter().chain(&flow.reverse) {
                used[vc as usize] = true;
            }
        }
        for (i, source) in self.sources.iter().enumerate() {
            self.validate_datagrams(i, source)?;
            for &vc in &source.datagram_route {
                used[vc as usize] = true;
            }
        }
        for (i, source) in self.sources.iter().enumerate() {
            let path = format!("sources[{i}].vc");
            let vc = source.vc as usize;
            if vc >= self.vcs.len() {
                return Err(structure(path, "no such VC"));
            }
            let is_own = source.datagram_route.is_empty();
            if is_own && (self.carries_packets(vc) || self.vcs[vc].by_label.is_some()) {
                let problem = "carries packets, or frames by label, and the source sends cells";
                return Err(structure(path, problem));
            }
            if is_own && std::mem::replace(&mut used[vc], true) {
                return Err(structure(path, "a source has a VC of its own"));
            }
            if self.nodes[self.vc_source(vc) as usize].kind != NodeKind::Host {
                return Err(structure(path, "a source stands at a host"));
            }
            let has_no_clp = self.carries_packets(vc) || self.vcs[vc].by_label.is_some();
            crate::sources::validate_clp(i, source, &self.vcs[vc], has_no_clp)?;
            validate_source(i, source)?;
            crate::sources::validate_echo(self, i)?;
        }
        Ok(())
    }

    /// A route of datagrams leads from host to host, as that of a flow.
    fn validate_datagrams(&self, i: usize, source: &SourceSpec) -> Result<(), SpecError> {
        let route = &source.datagram_route;
        let (Some(&first), Some(&last)) = (route.first(), route.last()) else {
            if source.datagram_octets > 0 {
                let path = format!("sources[{i}].datagram_octets");
                return Err(structure(path, "needs a datagram_route"));
            }
            return Ok(());
        };
        let path = format!("sources[{i}].datagram_route");
        if route.iter().any(|&vc| vc as usize >= self.vcs.len()) {
            return Err(structure(path, "needs VCs that exist"));
        }
        if first != source.vc {
            return Err(structure(path, "begins with the source's vc"));
        }
        let meets_at_router = |pair: &[u32]| {
            let router = self.vc_destination(pair[0] as usize);
            router == self.vc_source(pair[1] as usize)
                && self.nodes[router as usize].kind == NodeKind::Router
        };
        if !route.windows(2).all(meets_at_router) {
            return Err(structure(path, "VCs of a route are joined by routers"));
        }
        if self.nodes[self.vc_destination(last as usize) as usize].kind != NodeKind::Host {
            return Err(structure(path, "ends at a host"));
        }
        if let SourcePattern::Trace { .. } = source.pattern {
            return Ok(()); // whose packets have octets, and are not cut into cells at a pace
        }
        let octets = source.datagram_octets;
        let octets_at = || format!("sources[{i}].datagram_octets");
        if octets > 65_535 {
            return Err(range(octets_at(), octets, "at most 65535"));
        }
        let mut vcs = route.iter();
        if octets == 0 && vcs.any(|&vc| self.carries_packets(vc as usize)) {
            let allowed = "above 0 where a VC of the route carries packets";
            return Err(range(octets_at(), octets, allowed));
        }
        let cells = if octets == 0 { source.frame_cells } else { 1 };
        let interval = source.cell_interval_ps.saturating_mul(cells.into());
        if interval > LONGEST_PS {
            let path = format!("sources[{i}].cell_interval_ps");
            return Err(range(
                path,
                source.cell_interval_ps,
                "at most 1 day for a datagram",
            ));
        }
        Ok(())
    }
}

fn validate_queue(queue: &QueueSpec, path: &str) -> Result<(), SpecError> {
    let at = |key: &str| format!("{path}.{key}");
    if queue.capacity_cells == Some(0) {
        return Err(range(at("capacity_cells"), 0, "above 0"));
    }
    let context = Context {
        capacity_cells: queue.capacity_cells,
        ..Context::default()
    };
    let refusal = queue.policy.check(&context);
    refusal.map_err(|refusal| refused(refusal, &at("policy")))
}

pub(crate) fn refused(refusal: Refusal, path: &str) -> SpecError {
    let path = format!("{path}.{}", refusal.field);
    range(path, refusal.got, &refusal.allowed)
}

fn validate_source(i: usize, source: &SourceSpec) -> Result<(), SpecError> {
    let at = |key: &str| format!("sources[{i}].{key}");
    if let SourcePattern::Trace { .. } = source.pattern {
        crate::sources::validate_trace(i, source)?;
    } else if let SourcePattern::Echo { .. } = source.pattern {
        // It sends when something comes.
    } else if source.cell_interval_ps == 0 || source.cell_interval_ps > LONGEST_PS {
        let path = at("cell_interval_ps");
        return Err(range(
            path,
            source.cell_interval_ps,
            "above 0, at most 1 day",
        ));
    }
    if source.frame_cells == 0 || source.frame_cells > 1_366 {
        // I.363.5: an SDU of 65 535 octets and its trailer fill 1 366 cells.
        return Err(range(at("frame_cells"), source.frame_cells, "1 to 1366"));
    }
    validate_start(&source.start, &at("start"))?;
    crate::sources::validate_bursts(i, source)?;
    let SourcePattern::OnOff { on, off, phase } = &source.pattern else {
        return Ok(());
    };
    validate_distribution(on, &at("pattern.on"))?;
    validate_distribution(off, &at("pattern.off"))?;
    for (key, times) in [("pattern.on", on), ("pattern.off", off)] {
        if longest_ps(times) > LONGEST_PS {
            return Err(range(at(key), longest_ps(times), "at most 1 day"));
        }
    }
    if longest_ps(on) == 0 {
        return Err(range(at("pattern.on"), 0, "above 0"));
    }
    // A phase is walked to cycle by cycle.
    let farthest = MOST_CYCLES * (longest_ps(on) + longest_ps(off));
    let allowed = format!("at most {MOST_CYCLES} cycles");
    match *phase {
        PhaseSpec::At { offset_ps } if offset_ps > farthest => {
            Err(range(at("pattern.phase.offset_ps"), offset_ps, &allowed))
        }
        PhaseSpec::Drawn { below_ps: 0 } => Err(range(at("pattern.phase.below_ps"), 0, "above 0")),
        PhaseSpec::Drawn { below_ps } if below_ps > farthest => {
            Err(range(at("pattern.phase.below_ps"), below_ps, &allowed))
        }
        _ => Ok(()),
    }
}

/// The longest time that `times` gives; the mean of an exponential one.
fn longest_ps(times: &DistributionSpec) -> u64 {
    match *times {
        DistributionSpec::Constant { value_ps } => value_ps,
        DistributionSpec::Uniform { high_ps, .. } => high_ps,
        DistributionSpec::Exponential { mean_ps } => mean_ps,
    }
}

/// Refuses buckets that fill never, or for too long.
pub(crate) fn validate_policing(i: usize, vc: &VcSpec) -> Result<(), SpecError> {
    for (b, bucket) in vc.policing.iter().enumerate() {
        let bucket_at = |key: &str| format!("vcs[{i}].policing[{b}].{key}");
        if bucket.increment_ps == 0 || bucket.increment_ps > LONGEST_PS {
            let path = bucket_at("increment_ps");
            return Err(range(path, bucket.increment_ps, "above 0, at most 1 day"));
        }
        if bucket.limit_ps > LONGEST_PS {
            let path = bucket_at("limit_ps");
            return Err(range(path, bucket.limit_ps, "at most 1 day"));
        }
    }
    Ok(())
}

/// Refuses a resequencer that holds nothing.
pub(crate) fn validate_resequencer(own: &ResequencerSpec, at: String) -> Result<(), SpecError> {
    match own.hold_ps == 0 || own.capacity_cells == 0 {
        true => Err(structure(at, "holds a cell at least, for a time")),
        false => Ok(()),
    }
}
