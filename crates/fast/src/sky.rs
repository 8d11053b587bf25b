//! Networks whose nodes forward packets by label, without a list of events.
//!
//! A packet that comes to a node reaches the next one after the time of its transmission and the delay of a link. So no
//! event leads to one at another node before the lookahead, the least of these sums, has passed, and time goes in
//! windows of that length: through a window each node acts alone, in the order of `reference` at that node. Nodes with
//! nothing to do are not looked at, and where all are silent the next window is the next in which one acts ([`window`]).
//! Packets on a link wait in the link's ring ([`links`]), in order, and a node has of each ring the first ([`node`]).
//! A port that serves its one queue in order of arrival knows of each packet at hand-over when its last bit leaves, by
//! which link and with which delay; other ports are stepped ([`ports`]).

mod cut;
mod ends;
mod flows;
mod links;
mod merged;
mod node;
mod ports;
mod records;
mod region;
mod traces;
mod window;

use crate::frames::Frames;
pub(crate) use cut::load;
use flows::Stage;
use links::Links;
use node::{Counts, Node};
use ports::{Kind, Slot};
use region::Border;
use skycell_atm::Reassembly;
use skycell_des::Key;
use skycell_records::{RunRecords, SteppedReason, VcRecord};
use skycell_sky::{Columns, Rows};
use skycell_spec::{
    IP_HEADER, NetworkSpec, ServiceClass, SkySpec, SourcePattern, TrafficSpec, VcSpec,
};
use skycell_traffic::{CellSource, Outbox, RoundTrips, SharedTcp};
use skycell_units::SimTime;
use traces::Ordered;
use window::Windows;

/// Why a run with a sky goes to `reference` as a whole, if it does.
pub(crate) fn reason_to_step_everywhere(spec: &NetworkSpec) -> Option<SteppedReason> {
    let sky = spec.sky.as_ref()?;
    if !spec.links.is_empty() {
        return Some(SteppedReason::SkyBesideLinks);
    }
    // State that both ends touch without a delay between them: the requests of a user, the octets at a proxy.
    let is_web = |traffic: &TrafficSpec| matches!(traffic, TrafficSpec::Web(_));
    if spec.flows.iter().any(|flow| is_web(&flow.traffic)) {
        return Some(SteppedReason::SkyWeb);
    }
    if spec.flows.iter().any(|flow| !flow.peps.is_empty()) {
        return Some(SteppedReason::SkyProxies);
    }
    let has_contract = |vc: &VcSpec| !vc.policing.is_empty() || vc.resequencer.is_some();
    if spec.vcs.iter().any(has_contract) || !spec.records.delay_vcs.is_empty() {
        return Some(SteppedReason::SkyContracts);
    }
    let lookahead = lookahead_ps(spec, sky);
    (lookahead == Some(0)).then_some(SteppedReason::SkyLookahead)
}

/// The reason why a port of each kind is stepped, if it is.
pub(crate) fn reasons_of_kinds(sky: &SkySpec) -> Vec<Option<SteppedReason>> {
    sky.kinds.iter().map(ports::reason).collect()
}

/// The least time between an event and what it leads to at another node; none where no link ever exists.
fn lookahead_ps(spec: &NetworkSpec, sky: &SkySpec) -> Option<u64> {
    lookaheads_ps(spec, sky).into_iter().flatten().min()
}

/// The same by link; none for one that never exists.
fn lookaheads_ps(spec: &NetworkSpec, sky: &SkySpec) -> Vec<Option<u64>> {
    let columns = sky.columns();
    let begins = Epochs::of(columns);
    let epochs = begins.at(SimTime(spec.duration_ps), 0) + 1;
    let least = links::least_delays_ps(columns, epochs);
    let octets = least_octets(spec);
    let of_kind: Vec<u64> = (sky.kinds.iter())
        .map(|kind| match (ports::reason(kind), &kind.framing) {
            (None, Some(framing)) => framing.time_ps(octets),
            // What leaves it now may have begun before.
            _ => 0,
        })
        .collect();
    let of_link = |(link, delay_ps): (usize, u64)| {
        let port = columns.link_port[link];
        let kind = columns.port_kind[port as usize];
        match spec.records.has_sampled(port) {
            true => delay_ps, // as of a stepped kind
            false => delay_ps + of_kind[usize::from(kind)],
        }
    };
    let known = least.into_iter().enumerate();
    let known = known.map(|(link, delay)| delay.map(|delay| of_link((link, delay))));
    known.collect()
}

/// Octets of the shortest packet of a run, or fewer.
fn least_octets(spec: &NetworkSpec) -> u64 {
    let of_sources = spec
        .sources
        .iter()
        .flat_map(|source| match &source.pattern {
            SourcePattern::Trace { octets, .. } => octets.iter().copied().min(),
            _ => Some(source.datagram_octets),
        });
    of_sources.chain([IP_HEADER]).min().unwrap_or(0)
}

/// When each epoch comes into force.
struct Epochs {
    begins_ps: Vec<u64>,
}

impl Epochs {
    fn of(columns: &Columns) -> Self {
        let times = &columns.epoch_ps;
        Epochs {
            begins_ps: times.iter().map(|time| time - times[0]).collect(),
        }
    }

    /// The epoch in force at a time at which `since` was in force, or still is.
    #[inline(always)]
    fn at(&self, time: SimTime, since: u32) -> u32 {
        let mut epoch = since;
        while self.begins(epoch + 1) <= time {
            epoch += 1;
        }
        epoch
    }

    #[inline(always)]
    fn begins(&self, epoch: u32) -> SimTime {
        let time = self.begins_ps.get(epoch as usize);
        time.map_or(SimTime::NEVER, |&time| SimTime(time))
    }
}

/// A VC by label.
struct Vc {
    from: u32,
    label: u16,
    /// Index of its class among those of the run.
    class: u32,
    /// Of a VC of cells.
    reassembly: Reassembly,
    record: VcRecord,
}

/// The state of a run.
pub(crate) struct Sky<'a> {
    spec: &'a NetworkSpec,
    sky: &'a SkySpec,
    columns: &'a Columns,
    end: SimTime,
    epochs: Epochs,
    rows: Rows<&'a Columns>,
    links: Links<'a>,
    nodes: Vec<Node>,
    counts: Vec<Counts>,
    ports: Vec<Slot>,
    /// Names of the ports, by number.
    port_names: Vec<String>,
    kinds: Vec<Kind>,
    /// Classes of the VCs: a stepped port has these in this order.
    classes: Vec<ServiceClass>,
    carries_cells: bool,
    vcs: Vec<Vc>,
    flows: Vec<Stage>,
    shared_tcp: SharedTcp,
    round_trips: RoundTrips,
    sources: Vec<CellSource>,
    /// By source: the one that answers its datagrams.
    echoes: Vec<Option<u32>>,
    frames: Frames,
    windows: Windows,
    /// What lies beyond the nodes of the region, if these are not all.
    border: Option<Box<Border>>,
    /// Events before this time may happen.
    limit: SimTime,
    /// Nodes whose next event is in the present window, and not before the limit.
    held_back: Vec<u32>,
    out: Outbox,
    traces: Ordered,
    /// Events so far, of which a packet that comes to a node is one.
    pub(crate) moved: u64,
}

impl<'a> Sky<'a> {
    /// The run of a valid spec that [`reason_to_step_everywhere`] has nothing against.
    pub(crate) fn new(spec: &'a NetworkSpec, sky: &'a SkySpec) -> Self {
        let width_ps = lookahead_ps(spec, sky).unwrap_or(spec.duration_ps);
        Self::of_region(spec, sky, width_ps, None)
    }

    /// The same, or that of a region, with windows of a length.
    fn of_region(
        spec: &'a NetworkSpec,
        sky: &'a SkySpec,
        width_ps: u64,
        border: Option<Box<Border>>,
    ) -> Self {
        let columns = sky.columns();
        let mut classes: Vec<ServiceClass> = spec.vcs.iter().map(|vc| vc.class).collect();
        classes.sort_unstable();
        classes.dedup();
        let vc = |vc: &VcSpec| {
            let route = vc.by_label.expect("without links all VCs go by label");
            let class = classes.iter().position(|&class| class == vc.class);
            Vc {
                from: route.from,
                label: route.label as u16,
                class: class.expect("classes of all VCs are known") as u32,
                reassembly: Reassembly::default(),
                record: VcRecord {
                    name: vc.name.clone(),
                    carries_packets: !sky.carries_cells(),
                    ..VcRecord::default()
                },
            }
        };
        let mut links = Links::new(spec, sky);
        let crosses = |from, to| border.as_ref().is_some_and(|own| own.is_crossed(from, to));
        for link in &mut links.all {
            link.crosses = crosses(link.from, link.to);
        }
        let sources = 0..spec.sources.len() as u32;
        let mut own = Sky {
            epochs: Epochs::of(columns),
            rows: Rows::new(columns),
            nodes: (0..columns.nodes()).map(|_| Node::default()).collect(),
            counts: vec![Counts::default(); columns.nodes()],
            ports: (0..columns.ports()).map(|_| Slot::Unused).collect(),
            port_names: sky.port_names(&spec.nodes),
            kinds: sky.kinds.iter().map(Kind::new).collect(),
            vcs: spec.vcs.iter().map(vc).collect(),
            flows: spec.flows.iter().map(|_| Stage::Ahead).collect(),
            shared_tcp: SharedTcp::default(),
            round_trips: RoundTrips::new(spec.flows.len(), spec.vcs.len()),
            sources: sources.map(|id| CellSource::of(spec, id)).collect(),
            echoes: spec.echoes(),
            frames: Frames::new(
                sky.carries_cells(),
                sky.carries_cells() || links.have_impairments(),
            ),
            carries_cells: sky.carries_cells(),
            links,
            windows: Windows::new(width_ps),
            out: Outbox::default(),
            traces: Ordered::new(&spec.records, border.is_some()),
            limit: SimTime(spec.duration_ps),
            held_back: Vec::new(),
            border,
            moved: 0,
            end: SimTime(spec.duration_ps),
            spec,
            sky,
            columns,
            classes,
        };
        if let Some(border) = &own.border {
            own.frames.number_from(border.id);
        }
        own.begin_ends();
        own.begin_samples();
        own
    }

    /// Has the next node act through its window, the first in which one does; the beginning of that, or none after the
    /// end.
    pub(crate) fn advance(&mut self) -> Option<SimTime> {
        loop {
            let (begin, until) = self.windows.span(self.windows.now());
            if begin >= self.limit {
                return None;
            }
            while let Some(node) = self.windows.pop() {
                // It may have been put here before it was put into an earlier window.
                if self.nodes[node as usize].window == self.windows.now() {
                    self.run_node(node, until.min(self.limit));
                    return Some(begin);
                }
            }
            self.traces.end_window(&mut self.out.traces);
            while let Some(node) = self.held_back.pop() {
                self.windows.put(self.windows.now(), node);
            }
            if until >= self.limit {
                return None;
            }
            self.windows.next_before(self.limit)?;
        }
    }

    /// An event lies ahead of a node that is not acting.
    #[inline(always)]
    fn wake(&mut self, node: u32, key: Key) {
        if key.time() >= self.end {
            return;
        }
        let own = &mut self.nodes[node as usize];
        own.keys.push(key);
        let window = self.windows.of(key.time());
        if window < own.window {
            own.window = window;
            self.windows.put(window, node);
        }
    }

    /// What the run leaves.
    pub(crate) fn records(self) -> RunRecords {
        self.into_records()
    }
}
