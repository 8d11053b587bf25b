//! The virtual channels of a run.

use crate::edge::{Edge, may_cut};
use crate::ends::Ends;
use crate::plan::Route;
use crate::stations::Places;
use skycell_records::{CellDelays, Discards};
use skycell_spec::{NetworkSpec, VcSpec};
use skycell_units::SimTime;
use std::collections::HashMap;

/// A virtual channel, in one line of the cache: what each of its frames needs that no other VC has.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Vc {
    pub(crate) cells_offered: u64,
    pub(crate) frames_offered: u64,
    pub(crate) frames_delivered: u64,
    /// Cells of the frames delivered.
    pub(crate) cells_whole: u64,
    /// Which source port it begins at, and its place there.
    pub(crate) source: u32,
    pub(crate) source_place: u32,
    /// Its place at its first multiplexing port, and which of the inputs it comes over.
    pub(crate) mux_place: u32,
    pub(crate) lane: u32,
    /// The links over which its first multiplexing port and its end are reached; the same one where it is
    /// multiplexed nowhere.
    pub(crate) first_link: u32,
    pub(crate) last_link: u32,
    /// Which of the ways it goes.
    way: u32,
}

const _: () = assert!(std::mem::size_of::<Vc>() == 64);

/// What the VCs between stations of the same kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Way {
    /// The first multiplexing port, where there is one.
    pub(crate) mux: Option<u32>,
    /// From a cell's departure at the source port to that port or the VC's end.
    pub(crate) first_delay: SimTime,
    /// From a cell's departure at the last multiplexing port to the VC's end.
    pub(crate) last_delay: SimTime,
    /// Whether the VC's edge looks at frames, and may let them go in parts.
    pub(crate) is_watched: bool,
    pub(crate) is_cut: bool,
    /// Whether only a sender is at the end, and no other, which may take what is known to arrive.
    pub(crate) is_sender_alone: bool,
    /// Whether only receivers are at the end that have no events of their own.
    pub(crate) receives_at_once: bool,
}

/// What the frames of a VC seldom look at.
#[derive(Debug)]
pub(crate) struct RestOfVc {
    pub(crate) route: Route,
    /// Its place at each of its multiplexing ports.
    pub(crate) places: Vec<u32>,
    pub(crate) edge: Edge,
    /// Delays of its cells, where they are measured.
    pub(crate) delays: Option<Box<CellDelays>>,
    pub(crate) frames_corrupt: u64,
    pub(crate) cells_corrupt: u64,
    /// Cells refused by its source port.
    pub(crate) discarded_at_source: Discards,
}

/// All VCs that carry frames, by id.
#[derive(Debug)]
pub(crate) struct Vcs {
    pub(crate) at_work: Vec<Vc>,
    pub(crate) rest: Vec<RestOfVc>,
    ways: Vec<Way>,
}

/// Whether frames of `vc`, whose cells take `route`, may go in parts from its edge on.
pub(crate) fn is_cut(vc: &VcSpec, route: &Route) -> bool {
    // A later port may get a frame without its first cell, so that it looks at another's CLP.
    may_cut(vc, route.muxes.len() > 1)
}

impl Vcs {
    /// The VCs of the spec over the given routes, each with its places at the ports.
    pub(crate) fn new(
        spec: &NetworkSpec,
        routes: Vec<Route>,
        places: Vec<Places>,
        ends: &Ends,
    ) -> Self {
        let mut vcs = Vcs {
            at_work: Vec::with_capacity(routes.len()),
            rest: Vec::with_capacity(routes.len()),
            ways: Vec::new(),
        };
        let mut known = HashMap::new();
        for ((route, places), id) in routes.into_iter().zip(places).zip(0..) {
            let edge = Edge::new(&spec.vcs[id], SimTime(spec.duration_ps));
            let is_measured = spec.records.delay_vcs.contains(&(id as u32));
            let last = route.last();
            let first_mux = places.muxes.first();
            let way = Way {
                mux: route.first_mux(),
                first_delay: route.first.delay,
                last_delay: last.delay,
                is_watched: edge.is_watching(),
                is_cut: is_cut(&spec.vcs[id], &route),
                is_sender_alone: ends.sender_alone[last.link as usize].is_some(),
                receives_at_once: ends.receives_at_once[id],
            };
            let way = *known.entry(way).or_insert_with(|| {
                vcs.ways.push(way);
                vcs.ways.len() as u32 - 1
            });
            vcs.at_work.push(Vc {
                cells_offered: 0,
                frames_offered: 0,
                frames_delivered: 0,
                cells_whole: 0,
                source: places.source_port,
                source_place: places.source,
                mux_place: first_mux.map_or(u32::MAX, |mux| mux.place),
                lane: first_mux.map_or(u32::MAX, |mux| mux.lane),
                first_link: route.first.link,
                last_link: last.link,
                way,
            });
            vcs.rest.push(RestOfVc {
                route,
                places: places.muxes.iter().map(|mux| mux.place).collect(),
                edge,
                delays: is_measured.then(|| Box::new(CellDelays::new(spec.vc_fixed_delay_ps(id)))),
                frames_corrupt: 0,
                cells_corrupt: 0,
                discarded_at_source: Discards::default(),
            });
        }
        vcs
    }

    /// The way that the VC with id `vc` goes.
    pub(crate) fn way_of(&self, vc: u32) -> &Way {
        self.with_way(vc).1
    }

    /// That VC, and the way that it goes.
    pub(crate) fn with_way(&self, vc: u32) -> (&Vc, &Way) {
        let vc = &self.at_work[vc as usize];
        (vc, &self.ways[vc.way as usize])
    }
}
