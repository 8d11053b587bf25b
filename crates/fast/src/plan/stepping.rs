//! Which ports have no closed form, and why: those are stepped unit by unit.

use crate::plan::route::schedule_of;
use skycell_records::SteppedReason;
use skycell_spec::{
    ChannelSpec, Excess, FifoSpec, LinkSpec, NetworkSpec, NodeKind, Nonconforming, ScheduleSpec,
    SchedulerSpec, SourceSpec, TraceKind, VcSpec,
};
use skycell_switch::Departures;

/// Which ports are stepped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stepping {
    /// By port: why it is, if it is.
    reasons: Vec<Option<SteppedReason>>,
    /// By port: why it is together with others, if it is.
    pub(crate) coupled: Vec<Option<SteppedReason>>,
}

impl Stepping {
    /// Collects the reasons that the ports, links and VCs of a valid spec have by themselves.
    pub(crate) fn new(spec: &NetworkSpec) -> Self {
        let links = 0..spec.links.len() as u32;
        let mut stepping = Stepping {
            reasons: links.map(|link| of_link(spec, link)).collect(),
            coupled: coupled(spec),
        };
        for &port in &spec.records.stay_ports {
            stepping.step(port, SteppedReason::UnitDelays);
        }
        for (vc, id) in spec.vcs.iter().zip(0..) {
            if vc
                .paths()
                .flatten()
                .any(|&link| has_bit_errors(&spec.links[link as usize]))
            {
                // Frames go on with errors that only their ends see.
                stepping.step_vc(vc, SteppedReason::BitErrors);
            }
            if vc.path.len() == 1 && may_refuse(vc) {
                // What the contract refuses would have a port behind it.
                stepping.step(vc.path[0], SteppedReason::EdgeDiscards);
            }
            let mut sources = cell_sources(spec).map(|(_, source)| source.vc);
            if spec.records.delay_vcs.contains(&id) && !sources.any(|vc| vc == id) {
                stepping.step_vc(vc, SteppedReason::UnitDelays);
            }
        }
        stepping
    }

    /// Why the port is stepped, if it is.
    pub(crate) fn of(&self, port: u32) -> Option<SteppedReason> {
        self.reasons[port as usize]
    }

    /// The port is stepped; the first reason is what is told.
    pub(crate) fn step(&mut self, port: u32, reason: SteppedReason) {
        self.reasons[port as usize].get_or_insert(reason);
    }

    /// All ports are that `vc` may cross.
    pub(crate) fn step_vc(&mut self, vc: &VcSpec, reason: SteppedReason) {
        for &port in vc.paths().flatten() {
            self.step(port, reason);
        }
    }
}

/// By port: why it is stepped together with others, from one list of events, if it is. An RM cell that comes to a node
/// changes, in that instant, what the ports both ways tell and send, and a slot of an uplink is for one of its terminals, so
/// these wait for each other; those of all VCs that share one with an ABR VC or cross an uplink, or that measure where a
/// trace asks for it, are a part of the network by themselves. So are those of VCs of which cells with CLP = 0 are counted apart.
pub(crate) fn coupled(spec: &NetworkSpec) -> Vec<Option<SteppedReason>> {
    let traces_control = spec.records.traces.contains(&TraceKind::RateControl);
    let measures = |link: &LinkSpec| traces_control && link.port.rate_algorithm.is_some();
    let reason = |link: &LinkSpec| measures(link).then_some(SteppedReason::RateControl);
    let mut coupled: Vec<_> = spec.links.iter().map(reason).collect();
    for &link in spec.uplinks.iter().flat_map(|uplink| &uplink.links) {
        coupled[link as usize].get_or_insert(SteppedReason::SharedUplink);
    }
    let mut grows = true;
    while grows {
        grows = false;
        for (vc, id) in spec.vcs.iter().zip(0..) {
            let ports = || vc.paths().flatten().map(|&port| port as usize);
            let is_controlled = vc.abr.is_some().then_some(SteppedReason::RateControl);
            let is_rerouted = || vc.rerouting.is_some().then_some(SteppedReason::ReroutedVc);
            let counts_clp0 = || spec.counts_clp0(id).then_some(SteppedReason::Clp0);
            let shared = || ports().find_map(|port| coupled[port]);
            let reason = is_controlled.or_else(is_rerouted);
            let reason = reason.or_else(counts_clp0).or_else(shared);
            let Some(reason) = reason else {
                continue;
            };
            for port in ports() {
                grows |= coupled[port].is_none();
                coupled[port].get_or_insert(reason);
            }
        }
    }
    coupled
}

/// Returns whether the link has bit errors.
fn has_bit_errors(link: &LinkSpec) -> bool {
    let channel = link.channel.as_ref();
    channel.is_some_and(ChannelSpec::strikes_bits)
}

/// Returns whether the contract of `vc` refuses frames.
pub(crate) fn may_refuse(vc: &VcSpec) -> bool {
    vc.gfr.is_some_and(|gfr| {
        gfr.excess == Excess::Discard || gfr.nonconforming == Nonconforming::Discard
    })
}

/// Why the port before `link` is stepped, by what it is itself.
fn of_link(spec: &NetworkSpec, link: u32) -> Option<SteppedReason> {
    let LinkSpec { port, from, .. } = &spec.links[link as usize];
    let is_at_switch = spec.nodes[*from as usize].kind == NodeKind::Switch;
    let is_fifo = port.queues.len() == 1 && port.scheduler == SchedulerSpec::Fifo(FifoSpec {});
    if !is_at_switch && !is_fifo {
        return Some(SteppedReason::QueuesBesideSwitches);
    }
    let queue = &port.queues[0];
    if queue.policy.needs().departures == Departures::Decided
        || queue.policy.pushes_out()
        || queue.policy.order().is_some()
        || queue.by_flow
        || port.shaper.is_some()
        || port.policer.is_some()
        || port.ack_filter
    {
        return Some(SteppedReason::QueueManagement);
    }
    if has_bit_errors(&spec.links[link as usize]) {
        return Some(SteppedReason::BitErrors);
    }
    if spec.links[link as usize].channel.is_some() {
        return Some(SteppedReason::LossesInBursts);
    }
    if spec.links[link as usize].delay_variation.is_some() {
        return Some(SteppedReason::DelayVariation);
    }
    if !spec.links[link as usize].receivers.is_empty() {
        return Some(SteppedReason::Receivers);
    }
    let schedule = schedule_of(&spec.links[link as usize])?;
    let has_closed_form = is_at_switch && is_fifo && has_closed_form(spec, link, schedule);
    (!has_closed_form).then_some(SteppedReason::TimeVaryingLink)
}

/// Returns whether a time-varying link has a closed form behind a port from which cells leave in
/// the order of arrival: cells are sent at one rate and without a break, and continue to another
/// port.
fn has_closed_form(spec: &NetworkSpec, link: u32, schedule: &ScheduleSpec) -> bool {
    let cell_time = spec.links[link as usize].cell_time_ps;
    let in_run = |step: &usize| schedule.times_ps[*step] < spec.duration_ps;
    let mut steps = (0..schedule.times_ps.len()).filter(in_run);
    let rates = &schedule.cell_times_ps;
    let sends_on = steps.clone().all(|step| {
        schedule.delays_ps[step].is_some() && rates.get(step).is_none_or(|&time| time == cell_time)
    });
    let has_handover =
        steps.any(|step| step > 0 && schedule.paths[step] != schedule.paths[step - 1]);
    let mut crossing = spec.vcs.iter().filter(|vc| vc.path.contains(&link));
    sends_on
        && (schedule.interruption_ps == 0 || !has_handover)
        && crossing.all(|vc| vc.path.last() != Some(&link))
}

/// The sources that send cells, not datagrams, and their ids.
pub(crate) fn cell_sources(spec: &NetworkSpec) -> impl Iterator<Item = (u32, &SourceSpec)> {
    let sources = (0u32..).zip(&spec.sources);
    sources.filter(|(_, source)| source.datagram_route.is_empty())
}
