//! The conditions that a `NetworkSpec` must fulfil before an engine may run it.

use crate::check_classes::{refused, validate_resequencer};
use crate::gfr::validate_gfr;
use crate::{
    AdvertisedWindow, DistributionSpec, FlowSpec, LinkSpec, NetworkSpec, NodeKind, RecoverySpec,
    SPEC_VERSION, SlowStartSpec, SourcePattern, StartSpec, TcpSpec, TickPhase, TrafficSpec, VcSpec,
    WHOLE_PPB,
};
use skycell_declare::{Context, Refusal, Rule};

/// Longest delay of a link, picoseconds: a day.
pub(crate) const DELAY_MAX_PS: u64 = 86_400 * 1_000_000_000_000;
/// Longest time of a cell, picoseconds: a second.
pub(crate) const CELL_TIME_MAX_PS: u64 = 1_000_000_000_000;
/// Longest processing time of a segment, picoseconds: an hour, above the time of any frame on a link.
const JITTER_MAX_PS: u64 = 3_600 * 1_000_000_000_000;
/// VCs of a flow's route in one direction: frames count them in 16 bits.
const LONGEST_ROUTE: usize = 65_535;

/// Why a spec cannot be run. Every variant names the part of the spec it speaks of.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpecError {
    /// The text is not the JSON form.
    #[error("the spec cannot be read: {0}")]
    Form(String),
    /// A value outside its range.
    #[error("{path}: got {got}, allowed {allowed}")]
    Range {
        /// Where in the spec.
        path: String,
        /// Value found.
        got: String,
        /// Values allowed.
        allowed: String,
    },
    /// Parts that do not fit together.
    #[error("{path}: {problem}")]
    Structure {
        /// Where in the spec.
        path: String,
        /// Problem.
        problem: String,
    },
}

/// Longest run, 100 days, picoseconds.
pub(crate) const RUN_MAX_PS: u64 = 8_640_000 * 1_000_000_000_000;

pub(crate) fn range(path: String, got: impl ToString, allowed: &str) -> SpecError {
    SpecError::Range {
        path,
        got: got.to_string(),
        allowed: allowed.to_string(),
    }
}

pub(crate) fn structure(path: String, problem: impl ToString) -> SpecError {
    SpecError::Structure {
        path,
        problem: problem.to_string(),
    }
}

/// Refuses a start that cannot be drawn.
pub(crate) fn validate_start(start: &StartSpec, path: &str) -> Result<(), SpecError> {
    match *start {
        StartSpec::Drawn { from_ps, to_ps } if from_ps >= to_ps => {
            Err(range(format!("{path}.to_ps"), to_ps, "above from_ps"))
        }
        _ => Ok(()),
    }
}

/// Refuses a distribution that cannot be drawn from.
pub(crate) fn validate_distribution(times: &DistributionSpec, path: &str) -> Result<(), SpecError> {
    match *times {
        DistributionSpec::Uniform { low_ps, high_ps } if low_ps >= high_ps => {
            Err(range(format!("{path}.high_ps"), high_ps, "above low_ps"))
        }
        DistributionSpec::Exponential { mean_ps: 0 } => {
            Err(range(format!("{path}.mean_ps"), 0, "above 0"))
        }
        _ => Ok(()),
    }
}

impl NetworkSpec {
    /// Refuses what cannot be simulated.
    ///
    /// # Errors
    /// The first broken rule found. Files that people write are checked with all faults at once by
    /// the scenario model; this is the engine's own guard.
    pub fn validate(&self) -> Result<(), SpecError> {
        if self.version != SPEC_VERSION {
            let allowed = SPEC_VERSION.to_string();
            return Err(range("version".into(), self.version, &allowed));
        }
        // Sums of times stay far below u64::MAX: 100 days of run, 1 day of delay.
        if self.duration_ps == 0 || self.duration_ps > RUN_MAX_PS {
            return Err(range(
                "duration_ps".into(),
                self.duration_ps,
                "above 0, at most 100 days",
            ));
        }
        if self.measure_from_ps >= self.duration_ps {
            let got = self.measure_from_ps;
            return Err(range("measure_from_ps".into(), got, "below duration_ps"));
        }
        if self.records.sample_every_ps == 0 {
            return Err(range("records.sample_every_ps".into(), 0, "above 0"));
        }
        let known = |key: &str, ports: &[u32]| self.validate_ports(key, ports, self.links.len());
        let columns = self.sky.as_ref().and_then(|sky| sky.read.as_deref());
        let all = self.links.len() + columns.map_or(0, |columns| columns.ports());
        self.validate_ports("sampled_ports", &self.records.sampled_ports, all)?;
        known("vc_sampled_ports", &self.records.vc_sampled_ports)?;
        self.validate_ports("flow_ports", &self.records.flow_ports, all)?;
        known("stay_ports", &self.records.stay_ports)?;
        let delay_vcs = &self.records.delay_vcs;
        let ascending = delay_vcs.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending || delay_vcs.iter().any(|&vc| vc as usize >= self.vcs.len()) {
            return Err(structure(
                "records.delay_vcs".into(),
                "must be VC ids, ascending",
            ));
        }
        self.validate_links()?;
        self.validate_sky()?;
        let of_link = |&port: &u32| self.links.get(port as usize);
        let of_cells = |port: &u32| match of_link(port) {
            Some(link) => link.framing.is_none(),
            None => self.sky.as_ref().is_some_and(crate::SkySpec::carries_cells),
        };
        if self.records.flow_ports.iter().any(of_cells) {
            let problem = "must be links of packets";
            return Err(structure("records.flow_ports".into(), problem));
        }
        let has_record = |port: &u32| of_link(port).is_some() || self.records.has_sampled(*port);
        if !self.records.flow_ports.iter().all(has_record) {
            let problem = "must be among sampled_ports as far as it is of the sky";
            return Err(structure("records.flow_ports".into(), problem));
        }
        if !self.records.stay_ports.iter().all(of_cells) {
            let problem = "must be links of cells";
            return Err(structure("records.stay_ports".into(), problem));
        }
        let delay_sources = &self.records.delay_sources;
        let sends_datagrams = |&source: &u32| {
            let source = self.sources.get(source as usize);
            source.is_some_and(|source| !source.datagram_route.is_empty())
        };
        if !delay_sources.is_sorted_by(|a, b| a < b) || !delay_sources.iter().all(sends_datagrams) {
            let problem = "must be ids of sources of datagrams, ascending";
            return Err(structure("records.delay_sources".into(), problem));
        }
        self.validate_vcs()?;
        self.validate_received_vcs()?;
        for (i, flow) in self.flows.iter().enumerate() {
            self.validate_flow(i, flow)?;
        }
        self.validate_users()?;
        self.validate_sources()?;
        self.validate_vs_vd()?;
        self.validate_uplinks()?;
        self.validate_calls()?;
        self.validate_admission()
    }

    /// Refuses ports of the records that are not among the first so many, or do not ascend.
    fn validate_ports(&self, key: &str, ports: &[u32], count: usize) -> Result<(), SpecError> {
        let ascending = ports.windows(2).all(|pair| pair[0] < pair[1]);
        if ascending && ports.iter().all(|&port| (port as usize) < count) {
            return Ok(());
        }
        let problem = "must be link ids, ascending";
        Err(structure(format!("records.{key}"), problem))
    }

    fn validate_links(&self) -> Result<(), SpecError> {
        for (i, link) in self.links.iter().enumerate() {
            let at = |key: &str| format!("links[{i}].{key}");
            if link.from as usize >= self.nodes.len() || link.to as usize >= self.nodes.len() {
                return Err(structure(at("from/to"), "no such node"));
            }
            if link.from == link.to {
                return Err(structure(
                    at("to"),
                    "a link cannot lead back to its own node",
                ));
            }
            if let Some(framing) = &link.framing {
                framing.validate(&at("framing"))?;
                self.validate_packet_link(i, link)?;
            } else if link.cell_time_ps == 0 || link.cell_time_ps > CELL_TIME_MAX_PS {
                return Err(range(
                    at("cell_time_ps"),
                    link.cell_time_ps,
                    "above 0, at most 1 s",
                ));
            }
            if link.delay_ps > DELAY_MAX_PS {
                return Err(range(at("delay_ps"), link.delay_ps, "at most 1 day"));
            }
            if link.loss_ppb > WHOLE_PPB {
                return Err(range(at("loss_ppb"), link.loss_ppb, "at most 1000000000"));
            }
            if let Some(channel) = &link.channel {
                let refusal = channel.check(&Context::default());
                refusal.map_err(|refusal| refused(refusal, &at("channel")))?;
                let in_schedule = |schedule: &crate::ScheduleSpec| !schedule.losses_ppb.is_empty();
                if link.loss_ppb > 0 || link.schedule.as_ref().is_some_and(in_schedule) {
                    let problem = "is all that the link loses: neither loss_ppb nor losses of a schedule beside it";
                    return Err(structure(at("channel"), problem));
                }
            }
            if let Some(variation) = &link.delay_variation {
                let refusal = variation.check(&Context::default());
                refusal.map_err(|refusal| refused(refusal, &at("delay_variation")))?;
                if link.framing.is_none() || link.schedule.is_some() {
                    let problem = "goes with packets and without a schedule";
                    return Err(structure(at("delay_variation"), problem));
                }
            }
            link.validate_receivers(&at("receivers"))?;
            if let Some(schedule) = &link.schedule {
                schedule.validate(link, &at("schedule"))?;
                let known = |&to: &u32| (to as usize) < self.nodes.len() && to != link.from;
                if !schedule.to.is_empty()
                    && (schedule.to[0] != link.to || !schedule.to.iter().all(known))
                {
                    let problem = "must be other nodes, the first of them the link's";
                    return Err(structure(at("schedule.to"), problem));
                }
            }
            self.validate_port(link, &format!("links[{i}]"))?;
        }
        Ok(())
    }

    /// Packets go from a host or router to another.
    fn validate_packet_link(&self, i: usize, link: &LinkSpec) -> Result<(), SpecError> {
        let at = |key: &str| format!("links[{i}].{key}");
        if link.cell_time_ps != 0 {
            let allowed = "0 on a link that carries packets";
            return Err(range(at("cell_time_ps"), link.cell_time_ps, allowed));
        }
        let changes = link.schedule.iter().flat_map(|schedule| &schedule.to);
        for &node in [link.from, link.to].iter().chain(changes) {
            let kind = self.nodes.get(node as usize).map(|node| node.kind);
            if kind == Some(NodeKind::Switch) {
                let problem = "switches forward cells, and the link carries packets";
                return Err(structure(at("framing"), problem));
            }
        }
        Ok(())
    }

    /// Returns whether VC `vc` is one link that carries packets, or a way by label of packets. The spec must be valid.
    pub fn carries_packets(&self, vc: usize) -> bool {
        match (self.vcs[vc].by_label, &self.sky) {
            (Some(_), sky) => !sky.as_ref().is_some_and(crate::SkySpec::carries_cells),
            (None, _) => self.links[self.vcs[vc].path[0] as usize].framing.is_some(),
        }
    }

    /// Returns whether the cells of VC `vc` with CLP = 0 are counted separately: its source also
    /// sends others, or its policer has a bucket for these alone.
    pub fn counts_clp0(&self, vc: u32) -> bool {
        let mut sources = self.sources.iter();
        let mut buckets = self.vcs[vc as usize].policing.iter();
        buckets.any(|bucket| bucket.clp0_only)
            || sources.any(|source| source.vc == vc && source.clp.is_some())
    }

    fn validate_vcs(&self) -> Result<(), SpecError> {
        let changing = self.vcs.iter().filter(|vc| vc.rerouting.is_some());
        if changing.count() > usize::from(u16::MAX) {
            let problem = "at most 65535 VCs change their path: each has a label";
            return Err(structure("vcs".into(), problem));
        }
        for (i, vc) in self.vcs.iter().enumerate() {
            if vc.by_label.is_some() {
                continue; // judged with the sky
            }
            let at = || format!("vcs[{i}].path");
            if let Some(rerouting) = &vc.rerouting {
                rerouting.validate(&format!("vcs[{i}].rerouting"))?;
            }
            for (k, path) in vc.paths().enumerate() {
                let at = match k.checked_sub(1) {
                    None => at(),
                    Some(k) => format!("vcs[{i}].rerouting.paths[{k}]"),
                };
                self.validate_path(path, &at)?;
            }
            self.validate_ends(i, vc)?;
            for node in [self.vc_source(i), self.vc_destination(i)] {
                if self.nodes[node as usize].kind == NodeKind::Switch {
                    return Err(structure(
                        at(),
                        "a VC begins and ends at a host or a router",
                    ));
                }
            }
            self.validate_class(i, vc)?;
            if self.carries_packets(i) {
                self.validate_packets(i, vc)?;
            }
            if let Some(resequencer) = &vc.resequencer {
                let at = format!("vcs[{i}].resequencer");
                if vc.path.len() == 1 || vc.abr.is_some() {
                    return Err(structure(
                        at,
                        "belongs to a VC that crosses a switch and is not of class abr",
                    ));
                }
                validate_resequencer(resequencer, at)?;
            }
            validate_gfr(i, vc, self.duration_ps)?;
            self.validate_abr(i, vc)?;
        }
        Ok(())
    }

    /// Refuses on a VC of packets what is made of cells.
    fn validate_packets(&self, i: usize, vc: &VcSpec) -> Result<(), SpecError> {
        let of_cells = [
            ("gfr", vc.gfr.is_some()),
            ("rerouting", vc.rerouting.is_some()),
            ("resequencer", vc.resequencer.is_some()),
        ];
        if let Some((key, _)) = of_cells.iter().find(|(_, is_there)| *is_there) {
            let problem = "belongs to cells, and the VC carries packets";
            return Err(structure(format!("vcs[{i}].{key}"), problem));
        }
        if self.records.delay_vcs.contains(&(i as u32)) {
            let problem = "measures cells, and the VC carries packets";
            return Err(structure("records.delay_vcs".into(), problem));
        }
        Ok(())
    }

    fn validate_path(&self, path: &[u32], at: &str) -> Result<(), SpecError> {
        let refuse = |problem: String| Err(structure(at.to_string(), problem));
        if path.is_empty() {
            return refuse("a VC needs at least one link".into());
        }
        if path.iter().any(|&l| l as usize >= self.links.len()) {
            return refuse("no such link".into());
        }
        for (k, pair) in path.windows(2).enumerate() {
            let (a, b) = (&self.links[pair[0] as usize], &self.links[pair[1] as usize]);
            if !a.leads_to(b.from) {
                return refuse(format!("link {} does not lead to link {}", a.name, b.name));
            }
            if self.nodes[b.from as usize].kind != NodeKind::Switch {
                return refuse(format!("hop {k}: only switches forward cells"));
            }
        }
        let mut seen = path.to_vec();
        seen.sort_unstable();
        seen.dedup();
        if seen.len() != path.len() {
            return refuse("a VC crosses a link once".into());
        }
        Ok(())
    }

    /// Node at which VC `vc` begins. The spec must be valid.
    pub fn vc_source(&self, vc: usize) -> u32 {
        if let Some(route) = self.vcs[vc].by_label {
            return route.from;
        }
        self.links[self.vcs[vc].path[0] as usize].from
    }

    /// Node at which VC `vc` ends. The spec must be valid.
    pub fn vc_destination(&self, vc: usize) -> u32 {
        if let (Some(route), Some(sky)) = (self.vcs[vc].by_label, &self.sky) {
            return sky.columns().label_node[route.label as usize];
        }
        let path = &self.vcs[vc].path;
        self.links[path[path.len() - 1] as usize].to
    }

    /// Returns, by source, the source that answers its datagrams, if there is one.
    pub fn echoes(&self) -> Vec<Option<u32>> {
        let mut echoes = vec![None; self.sources.len()];
        for (source, id) in self.sources.iter().zip(0u32..) {
            if let SourcePattern::Echo { of } = source.pattern {
                echoes[of as usize] = Some(id);
            }
        }
        echoes
    }

    /// Returns the time of a cell of VC `vc` from its departure from the first port to the VC's end
    /// if every port is empty, picoseconds; for a rerouted VC only its least time, over the first
    /// link and the shortest last link, and 0 for a VC by label. The spec must be valid.
    pub fn vc_fixed_delay_ps(&self, vc: usize) -> u64 {
        if self.vcs[vc].rerouting.is_some() {
            let first = &self.links[self.vcs[vc].path[0] as usize];
            let last = self.vcs[vc]
                .paths()
                .filter(|path| path.len() > 1)
                .map(|path| {
                    let link = &self.links[path[path.len() - 1] as usize];
                    link.delay_ps + link.cell_time_ps
                });
            return first.delay_ps + last.min().unwrap_or(0);
        }
        let links = self.vcs[vc].path.iter().map(|&id| &self.links[id as usize]);
        let after_first = links.clone().skip(1).map(|link| link.cell_time_ps);
        links.map(|link| link.delay_ps).sum::<u64>() + after_first.sum::<u64>()
    }

    fn validate_flow(&self, i: usize, flow: &FlowSpec) -> Result<(), SpecError> {
        let at = |key: &str| format!("flows[{i}].{key}");
        self.validate_routes(&flow.forward, &flow.reverse, &format!("flows[{i}]"))?;
        validate_tcp(&flow.tcp, &at("tcp"))?;
        let routes = [&flow.forward[..], &flow.reverse[..]];
        self.validate_peps(&format!("flows[{i}]"), routes, flow.tcp.rwnd, &flow.peps)?;
        for (key, jitter_ps) in [
            ("jitter.data_ps", flow.jitter.data_ps),
            ("jitter.acks_ps", flow.jitter.acks_ps),
        ] {
            if jitter_ps > JITTER_MAX_PS {
                return Err(range(at(key), jitter_ps, "at most 1 hour"));
            }
        }
        validate_start(&flow.start, &at("start"))?;
        match &flow.traffic {
            TrafficSpec::Persistent => {}
            TrafficSpec::Transfers {
                size_octets, idle, ..
            } => {
                if *size_octets == 0 {
                    return Err(range(at("traffic.size_octets"), 0, "above 0"));
                }
                validate_distribution(idle, &at("traffic.idle"))?;
            }
            TrafficSpec::Web(web) => web.validate(&at("traffic"))?,
        }
        Ok(())
    }

    /// Refuses routes, there and back, that do not join two hosts.
    pub(crate) fn validate_routes(
        &self,
        forward: &[u32],
        reverse: &[u32],
        at: &str,
    ) -> Result<(), SpecError> {
        let at = |key: &str| format!("{at}.{key}");
        for (key, route) in [("forward", forward), ("reverse", reverse)] {
            if route.is_empty() || route.iter().any(|&vc| vc as usize >= self.vcs.len()) {
                return Err(structure(at(key), "needs VCs that exist"));
            }
            if route.len() > LONGEST_ROUTE {
                return Err(range(at(key), route.len(), "at most 65535 VCs"));
            }
            for pair in route.windows(2) {
                let router = self.vc_destination(pair[0] as usize);
                if router != self.vc_source(pair[1] as usize)
                    || self.nodes[router as usize].kind != NodeKind::Router
                {
                    return Err(structure(at(key), "VCs of a flow are joined by routers"));
                }
            }
            let first = self.vc_source(route[0] as usize);
            let last = self.vc_destination(route[route.len() - 1] as usize);
            for node in [first, last] {
                if self.nodes[node as usize].kind != NodeKind::Host {
                    return Err(structure(at(key), "a flow begins and ends at a host"));
                }
            }
        }
        let ends = |route: &[u32]| {
            (
                self.vc_source(route[0] as usize),
                self.vc_destination(route[route.len() - 1] as usize),
            )
        };
        let (source, destination) = ends(forward);
        if ends(reverse) != (destination, source) {
            return Err(structure(at("reverse"), "does not lead back to the source"));
        }
        Ok(())
    }
}

/// Refuses parameters of a connection that cannot be.
pub(crate) fn validate_tcp(tcp: &TcpSpec, path: &str) -> Result<(), SpecError> {
    let at = |key: &str| format!("{path}.{key}");
    let refused = |at: Refusal| range(format!("{path}.{}", at.field), at.got, &at.allowed);
    tcp.check(&Context::default()).map_err(refused)?;
    if tcp.rwnd < tcp.mss {
        return Err(range(at("rwnd"), tcp.rwnd, "at least one MSS"));
    }
    // RFC 7323 2.2: 65 535 shifted by at most 14.
    let largest = if tcp.window_scaling {
        65_535 << 14
    } else {
        65_535
    };
    if tcp.rwnd > largest {
        return Err(range(at("rwnd"), tcp.rwnd, &format!("at most {largest}")));
    }
    let is_tuned = tcp.advertised_window == AdvertisedWindow::AutoTuned;
    if is_tuned && tcp.initial_rwnd < tcp.mss {
        let got = tcp.initial_rwnd;
        return Err(range(at("initial_rwnd"), got, "at least one MSS"));
    }
    for (key, value) in [
        ("initial_cwnd", tcp.initial_cwnd),
        ("max_cwnd", tcp.max_cwnd),
    ] {
        if value < tcp.mss {
            return Err(range(at(key), value, "at least one MSS"));
        }
    }
    if tcp.rto_initial_ticks < tcp.rto_min_ticks || tcp.rto_max_ticks < tcp.rto_initial_ticks {
        return Err(structure(
            at("rto_initial_ticks"),
            "must lie between rto_min_ticks and rto_max_ticks",
        ));
    }
    if let TickPhase::At { offset_ps } = tcp.tick_phase
        && offset_ps >= tcp.tick_ps
    {
        return Err(range(
            at("tick_phase.offset_ps"),
            offset_ps,
            "below tick_ps",
        ));
    }
    // RFC 2018 section 3: 40 octets of options hold four blocks, three beside timestamps.
    let blocks = if tcp.timestamps { 3 } else { 4 };
    if let Some(most) = tcp.recovery.max_blocks()
        && !(1..=blocks).contains(&most)
    {
        let allowed = format!("1 to {blocks}");
        return Err(range(at("recovery.max_blocks"), most, &allowed));
    }
    let is_timed = matches!(tcp.recovery, RecoverySpec::RackTlp(_));
    // Both count eight samples of a round trip: one of a window is too few.
    let is_hystart = matches!(
        tcp.slow_start,
        SlowStartSpec::HystartPlusPlus(_) | SlowStartSpec::Hystart(_)
    );
    if is_hystart && !tcp.timestamps && !is_timed {
        return Err(structure(
            at("slow_start"),
            "needs timestamps, or rack_tlp: a round trip of every ACK",
        ));
    }
    if tcp.congestion.needs_round_trips() && !tcp.timestamps && !is_timed {
        return Err(structure(
            at("congestion"),
            "needs timestamps, or rack_tlp: a round trip of every ACK",
        ));
    }
    if tcp.limited_transmit && is_timed {
        return Err(structure(
            at("limited_transmit"),
            "has no effect beside rack_tlp, whose pipe lets it out",
        ));
    }
    if tcp.pacing.is_on() && !is_timed {
        return Err(structure(
            at("pacing"),
            "needs rack_tlp, which asks the pacer before it sends",
        ));
    }
    if tcp.congestion.has_model() && !is_timed {
        return Err(structure(
            at("congestion"),
            "needs rack_tlp, which knows what is in flight",
        ));
    }
    if tcp.congestion.has_model() && tcp.pacing.is_on() {
        return Err(structure(
            at("pacing"),
            "has no effect beside bbr and bbr3, which pace themselves",
        ));
    }
    if matches!(tcp.congestion, crate::CongestionSpec::Bbr3(_)) && tcp.ecn != crate::EcnUse::Off {
        return Err(structure(
            at("ecn"),
            "is off with bbr3, which has no answer to marks",
        ));
    }
    if tcp.congestion.is_scalable() != (tcp.ecn == crate::EcnUse::Accurate) {
        return Err(structure(
            at("ecn"),
            "is accurate with dctcp and prague, and with no other",
        ));
    }
    if let Some(delayed) = tcp.delayed_ack {
        for (key, value) in [
            ("delayed_ack.timeout_ps", delayed.timeout_ps),
            (
                "delayed_ack.every_segments",
                u64::from(delayed.every_segments),
            ),
        ] {
            if value == 0 {
                return Err(range(at(key), 0, "above 0"));
            }
        }
        if delayed.max_timeout_ps > 0 && delayed.max_timeout_ps < delayed.timeout_ps {
            return Err(range(
                at("delayed_ack.max_timeout_ps"),
                delayed.max_timeout_ps,
                "0 or at least timeout_ps",
            ));
        }
        if (delayed.sack_timeout_ps > 0) != (delayed.sack_segments > 0) {
            return Err(structure(
                at("delayed_ack.sack_segments"),
                "is above 0 where sack_timeout_ps is, and not elsewhere",
            ));
        }
    }
    Ok(())
}
