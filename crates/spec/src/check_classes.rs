//! What the ports, the classes and the cell sources of a `NetworkSpec` must fulfil.

use crate::check::{range, structure, validate_distribution, validate_start};
use crate::{
    DfbaZ, Distribution, LinkSpec, NetworkSpec, NodeKind, PhaseSpec, PolicySpec, PortSpec,
    QueueSpec, RedSpec, SchedulerSpec, SourcePattern, SourceSpec, SpecError, VcSpec, WHOLE_PPB,
};

/// Longest interval between cells, and largest tolerance of a policer: 1 day, picoseconds.
const LONGEST_PS: u64 = 86_400 * 1_000_000_000_000;

/// Most cycles that a source may be into its pattern when it begins.
const MOST_CYCLES: u64 = 1_000;

impl NetworkSpec {
    pub(crate) fn validate_port(&self, i: usize, link: &LinkSpec) -> Result<(), SpecError> {
        let port = &link.port;
        let at = |key: &str| format!("links[{i}].port.{key}");
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
        }
        let count = port.queues.len();
        let one_each = |given: usize, key: &str| {
            if given == count {
                Ok(())
            } else {
                let allowed = format!("one for each of {count} queues");
                Err(range(at(&format!("scheduler.{key}")), given, &allowed))
            }
        };
        match &port.scheduler {
            SchedulerSpec::Fifo if count > 1 => Err(structure(
                at("scheduler"),
                "fifo serves one queue; several need another scheduler",
            )),
            SchedulerSpec::Fifo | SchedulerSpec::StrictPriority => Ok(()),
            SchedulerSpec::VirtualSpacing { intervals_ps } => {
                let path = at("scheduler.intervals_ps");
                self.validate_vc_queues(port, is_switch, "virtual_spacing", &at("scheduler"))?;
                self.one_for_each_vc(intervals_ps.len(), &path)?;
                let outside = |&&interval: &&u64| interval == 0 || interval > LONGEST_PS;
                match intervals_ps.iter().find(outside) {
                    Some(interval) => Err(range(path, interval, "above 0, at most 1 day")),
                    None => Ok(()),
                }
            }
            SchedulerSpec::VcRoundRobin { weights } => {
                let path = at("scheduler.weights");
                self.validate_vc_queues(port, is_switch, "vc_round_robin", &at("scheduler"))?;
                self.one_for_each_vc(weights.len(), &path)?;
                match weights.contains(&0) {
                    true => Err(range(path, 0, "above 0")),
                    false => Ok(()),
                }
            }
            SchedulerSpec::GuaranteedRate { .. } if link.framing.is_some() => Err(structure(
                at("scheduler"),
                "guaranteed_rate counts cells, and the link carries packets",
            )),
            SchedulerSpec::GuaranteedRate { shares_ppb } => {
                one_each(shares_ppb.len(), "shares_ppb")?;
                let total: u64 = shares_ppb.iter().map(|&share| u64::from(share)).sum();
                if total > u64::from(WHOLE_PPB) {
                    let allowed = format!("at most {WHOLE_PPB} together");
                    return Err(range(at("scheduler.shares_ppb"), total, &allowed));
                }
                Ok(())
            }
            SchedulerSpec::WeightedRoundRobin { weights } => {
                one_each(weights.len(), "weights")?;
                if weights.contains(&0) {
                    return Err(range(at("scheduler.weights"), 0, "above 0"));
                }
                Ok(())
            }
        }
    }

    /// A scheduler that serves VCs orders the cells of one queue, at a switch.
    fn validate_vc_queues(
        &self,
        port: &PortSpec,
        is_switch: bool,
        kind: &str,
        path: &str,
    ) -> Result<(), SpecError> {
        if port.queues.len() > 1 || !is_switch {
            let problem = format!("{kind} orders the one queue of a switch port");
            return Err(structure(path.to_owned(), problem));
        }
        Ok(())
    }

    fn one_for_each_vc(&self, given: usize, path: &str) -> Result<(), SpecError> {
        if given != self.vcs.len() {
            let allowed = format!("one for each of {} VCs", self.vcs.len());
            return Err(range(path.to_owned(), given, &allowed));
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
        for (b, bucket) in vc.policing.iter().enumerate() {
            let bucket_at = |key: &str| at(&format!("policing[{b}].{key}"));
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
            if is_own && self.carries_packets(vc) {
                return Err(structure(
                    path,
                    "carries packets, and the source sends cells",
                ));
            }
            if is_own && std::mem::replace(&mut used[vc], true) {
                return Err(structure(path, "a source has a VC of its own"));
            }
            if self.nodes[self.vc_source(vc) as usize].kind != NodeKind::Host {
                return Err(structure(path, "a source stands at a host"));
            }
            validate_source(i, source)?;
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
        let is_joint = |pair: &[u32]| {
            let joint = self.vc_destination(pair[0] as usize);
            joint == self.vc_source(pair[1] as usize)
                && self.nodes[joint as usize].kind == NodeKind::Router
        };
        if !route.windows(2).all(is_joint) {
            return Err(structure(path, "VCs of a route are joined by routers"));
        }
        if self.nodes[self.vc_destination(last as usize) as usize].kind != NodeKind::Host {
            return Err(structure(path, "ends at a host"));
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
    let threshold = |r: u32| match queue.capacity_cells {
        Some(k) if r <= k => Ok(()),
        Some(k) => Err(range(
            at("policy.threshold_cells"),
            r,
            &format!("at most the capacity, {k}"),
        )),
        None => Err(structure(
            at("policy"),
            "a threshold needs a limited buffer",
        )),
    };
    let fairness = |z: f64| {
        if z > 0.0 && z <= 1.0 {
            Ok(())
        } else {
            let path = at("policy.fairness_threshold");
            Err(range(path, z, "above 0, at most 1"))
        }
    };
    match &queue.policy {
        PolicySpec::TailDrop | PolicySpec::Ppd | PolicySpec::SingleDrop { .. } => Ok(()),
        PolicySpec::Epd {
            threshold_cells, ..
        } => threshold(*threshold_cells),
        PolicySpec::SelectiveDrop {
            threshold_cells,
            fairness_threshold,
            ..
        }
        | PolicySpec::FairBufferAllocation {
            threshold_cells,
            fairness_threshold,
            ..
        } => {
            threshold(*threshold_cells)?;
            fairness(*fairness_threshold)
        }
        PolicySpec::Dfba {
            low_cells,
            high_cells,
            alpha,
            z,
            ..
        } => {
            threshold(*high_cells)?;
            if low_cells >= high_cells {
                let allowed = format!("below high_cells, {high_cells}");
                return Err(range(at("policy.low_cells"), low_cells, &allowed));
            }
            let part = |key: &str, value: f64| {
                if (0.0..=1.0).contains(&value) {
                    Ok(())
                } else {
                    Err(range(at(key), value, "0 to 1"))
                }
            };
            part("policy.alpha", *alpha)?;
            match z {
                DfbaZ::Fixed { value } => part("policy.z.value", *value),
                _ => Ok(()),
            }
        }
        PolicySpec::PriorityDrop {
            tagged_cells,
            threshold_cells,
        }
        | PolicySpec::VcPriorityDrop {
            tagged_cells,
            threshold_cells,
            ..
        } => {
            threshold(*threshold_cells)?;
            if tagged_cells > threshold_cells {
                let allowed = format!("at most threshold_cells, {threshold_cells}");
                return Err(range(at("policy.tagged_cells"), tagged_cells, &allowed));
            }
            Ok(())
        }
        PolicySpec::VirtualQueueing { .. } | PolicySpec::DynamicEpd { .. } => Ok(()),
        PolicySpec::Red(red) => validate_red(red, &at("policy")),
        PolicySpec::Fred(fred) => {
            if fred.frame_cells == 0 {
                return Err(range(at("policy.frame_cells"), 0, "above 0"));
            }
            validate_red(&fred.red, &at("policy.red"))
        }
        PolicySpec::McrScheduling(spec) => {
            validate_interval(spec.interval_ps, at("policy.interval_ps"))
        }
        PolicySpec::PmeEred(spec) => {
            validate_red(&spec.red, &at("policy.red"))?;
            validate_interval(spec.interval_ps, at("policy.interval_ps"))?;
            validate_part(spec.step, at("policy.step"))?;
            if !(0.0..=1.0).contains(&spec.marked_part) {
                return Err(range(at("policy.marked_part"), spec.marked_part, "0 to 1"));
            }
            Ok(())
        }
    }
}

fn validate_red(red: &RedSpec, path: &str) -> Result<(), SpecError> {
    let at = |key: &str| format!("{path}.{key}");
    if red.min_cells >= red.max_cells {
        let allowed = format!("below max_cells, {}", red.max_cells);
        return Err(range(at("min_cells"), red.min_cells, &allowed));
    }
    if red.frame_ps == 0 {
        return Err(range(at("frame_ps"), 0, "above 0"));
    }
    validate_part(red.max_p, at("max_p"))?;
    validate_part(red.weight, at("weight"))
}

fn validate_part(value: f64, path: String) -> Result<(), SpecError> {
    if value > 0.0 && value <= 1.0 {
        Ok(())
    } else {
        Err(range(path, value, "above 0, at most 1"))
    }
}

fn validate_interval(interval_ps: u64, path: String) -> Result<(), SpecError> {
    if interval_ps == 0 || interval_ps > LONGEST_PS {
        return Err(range(path, interval_ps, "above 0, at most 1 day"));
    }
    Ok(())
}

fn validate_source(i: usize, source: &SourceSpec) -> Result<(), SpecError> {
    let at = |key: &str| format!("sources[{i}].{key}");
    let interval = source.cell_interval_ps;
    if interval == 0 || interval > LONGEST_PS {
        let path = at("cell_interval_ps");
        return Err(range(path, interval, "above 0, at most 1 day"));
    }
    if source.frame_cells == 0 || source.frame_cells > 1_366 {
        // I.363.5: an SDU of 65 535 octets and its trailer fill 1 366 cells.
        return Err(range(at("frame_cells"), source.frame_cells, "1 to 1366"));
    }
    validate_start(&source.start, &at("start"))?;
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
fn longest_ps(times: &Distribution) -> u64 {
    match *times {
        Distribution::Constant { value_ps } => value_ps,
        Distribution::Uniform { high_ps, .. } => high_ps,
        Distribution::Exponential { mean_ps } => mean_ps,
    }
}
