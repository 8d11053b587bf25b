//! The form of a port, the fixed times between the stations of a VC, and what a link does to what it carries.

use skycell_records::SteppedReason;
use skycell_spec::{LinkSpec, NetworkSpec, ScheduleSpec, VcSpec};
use skycell_units::SimTime;

/// How a port can be treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PortKind {
    /// A host's or router's port: whole frames or packets, back to back.
    Source,
    /// A switch port fed by one link that is no faster than itself: a cell never waits there, and
    /// no policy discards in an empty buffer. Nobody looks at it before the run ends.
    PassThrough,
    /// Any other switch port: cells of several bursts are multiplexed.
    Output,
    /// Any port without a closed form: stepped unit by unit.
    Stepped(SteppedReason),
    /// One that is so together with others, from one list of events.
    Coupled,
}

impl PortKind {
    /// Returns whether units may wait there for others.
    pub(crate) fn may_wait(self) -> bool {
        matches!(self, PortKind::Output | PortKind::Stepped(_))
    }
}

/// A port that cells pass on their way: when, after the departure that begins the hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PassThrough {
    /// Port id.
    pub(crate) port: u32,
    /// From the departure to the cell's arrival at the port.
    pub(crate) arrival: SimTime,
    /// From the departure to the cell's departure from the port.
    pub(crate) departure: SimTime,
}

/// A hop of a VC, over which cells keep their spacing: from a departure to the next port that
/// may change it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hop {
    pub(crate) passes: Vec<PassThrough>,
    /// From the departure to the arrival at the hop's end.
    pub(crate) delay: SimTime,
    /// The link over which cells arrive at the hop's end.
    pub(crate) link: u32,
}

/// The way of a VC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) source: u32,
    pub(crate) first: Hop,
    /// The ports where cells are multiplexed, in order, and the hop from each to the next or to the
    /// VC's end.
    pub(crate) outputs: Vec<(u32, Hop)>,
}

impl Route {
    /// Returns whether the VC begins at a port that is stepped.
    pub(crate) fn begins_stepped(&self) -> bool {
        self.first_output() == Some(self.source)
    }

    /// The port where cells are multiplexed first, if they are anywhere.
    pub(crate) fn first_output(&self) -> Option<u32> {
        self.outputs.first().map(|(port, _)| *port)
    }

    /// The port where cells are multiplexed last.
    pub(crate) fn last_output(&self) -> Option<u32> {
        self.outputs.last().map(|(port, _)| *port)
    }

    /// The hop to the VC's end.
    pub(crate) fn last(&self) -> &Hop {
        self.outputs.last().map_or(&self.first, |(_, last)| last)
    }
}

/// Where the cells of a source go that are known beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourcePlan {
    /// Place among the sources of the spec.
    pub(crate) source: u32,
    /// VC id.
    pub(crate) vc: u32,
    /// The source's own port; its id is that of the link which leads to `output`.
    pub(crate) own_port: u32,
    /// The port where its cells share a link, and the queue they join.
    pub(crate) output: u32,
    pub(crate) queue: usize,
    /// Cells that this queue holds; none where it has no limit.
    pub(crate) capacity: Option<u32>,
    /// From the shared port to the VC's end.
    pub(crate) hop: Hop,
}

/// The way of `vc`. One that is rerouted has no port of these kinds.
pub(crate) fn route(spec: &NetworkSpec, kinds: &[PortKind], vc: &VcSpec) -> Route {
    let mut route = Route {
        source: vc.path[0],
        first: Hop::default(),
        outputs: Vec::new(),
    };
    let mut hop = &mut route.first;
    for &id in &vc.path {
        let link = &spec.links[id as usize];
        match kinds[id as usize] {
            PortKind::Source | PortKind::Coupled => {}
            PortKind::PassThrough => {
                let departure = hop.delay + SimTime(link.cell_time_ps);
                hop.passes.push(PassThrough {
                    port: id,
                    arrival: hop.delay,
                    departure,
                });
                hop.delay = departure;
            }
            PortKind::Output | PortKind::Stepped(_) => {
                route.outputs.push((id, Hop::default()));
                hop = &mut route.outputs.last_mut().expect("it has just been added").1;
            }
        }
        hop.delay += SimTime(link.delay_ps);
        hop.link = id;
    }
    route
}

/// Least time of a unit on the link.
pub(crate) fn least_time(link: &LinkSpec) -> SimTime {
    match &link.framing {
        Some(framing) => SimTime(framing.time_ps(1)),
        None => SimTime(link.cell_time_ps),
    }
}

/// How the link changes over time, if it does.
pub(crate) fn schedule_of(link: &LinkSpec) -> Option<&ScheduleSpec> {
    link.schedule.as_ref()
}

/// Of a link that loses frames and does not change otherwise: the part that it loses, in parts of
/// [`skycell_spec::WHOLE_PPB`].
pub(crate) fn constant_loss(link: &LinkSpec) -> Option<u32> {
    (link.schedule.is_none() && link.loss_ppb > 0).then_some(link.loss_ppb)
}
