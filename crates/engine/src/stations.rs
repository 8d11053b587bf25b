//! The ports of a run, each in the form that suits it.

use crate::mux::MuxPort;
use crate::plan::{PassThrough, Plan, PortKind};
use crate::source::SourcePort;
use skycell_records::QueueSamples;
use skycell_spec::NetworkSpec;
use skycell_units::SimTime;

/// An output port.
#[derive(Debug)]
pub(crate) enum Port {
    Source(Box<SourcePort>),
    Pass(PassPort),
    Mux(Box<MuxPort>),
}

/// A VC at a port where no cell waits.
#[derive(Debug, Default)]
pub(crate) struct PassVc {
    pub(crate) vc: u32,
    /// Its place at the station its cells come from.
    pub(crate) place: u32,
    pub(crate) samples: QueueSamples,
}

/// A port where no cell waits: it shifts times.
#[derive(Debug)]
pub(crate) struct PassPort {
    pub(crate) cell_time: SimTime,
    /// The port its cells come from, and how long after their departure there.
    pub(crate) station: u32,
    pub(crate) after: PassThrough,
    pub(crate) vcs: Vec<PassVc>,
    pub(crate) samples: QueueSamples,
}

/// All ports of a run, and the places of each VC at its source and its multiplexing port.
pub(crate) fn ports(spec: &NetworkSpec, plan: &Plan) -> (Vec<Port>, Vec<(u32, u32)>) {
    let end = SimTime(spec.duration_ps);
    let new = |(link, kind): (&skycell_spec::LinkSpec, &PortKind)| match kind {
        PortKind::Source => Port::Source(Box::new(SourcePort::new(link, spec.seed))),
        PortKind::Mux => Port::Mux(Box::new(MuxPort::new(link, spec.seed, end))),
        PortKind::PassThrough => Port::Pass(PassPort {
            cell_time: SimTime(link.cell_time_ps),
            station: u32::MAX,
            after: PassThrough {
                port: u32::MAX,
                arrival: SimTime::ZERO,
                departure: SimTime::ZERO,
            },
            vcs: Vec::new(),
            samples: QueueSamples::default(),
        }),
    };
    let mut ports: Vec<Port> = spec.links.iter().zip(&plan.kinds).map(new).collect();
    let mut places = Vec::new();
    for (route, vc) in plan.routes.iter().zip(0u32..) {
        let Port::Source(source) = &mut ports[route.source as usize] else {
            unreachable!("a route begins at a source port");
        };
        let source_place = source.add_vc(vc);
        for pass in &route.first.passes {
            cross(&mut ports, *pass, route.source, vc, source_place);
        }
        let mut mux_place = u32::MAX;
        if let Some((mux, stretch)) = &route.mux {
            let Port::Mux(port) = &mut ports[*mux as usize] else {
                unreachable!("a route is multiplexed at a multiplexing port");
            };
            mux_place = port.add_vc(vc, stretch.delay);
            for pass in &stretch.passes {
                cross(&mut ports, *pass, *mux, vc, mux_place);
            }
        }
        places.push((source_place, mux_place));
    }
    (ports, places)
}

fn cross(ports: &mut [Port], pass: PassThrough, station: u32, vc: u32, place: u32) {
    let Port::Pass(port) = &mut ports[pass.port as usize] else {
        unreachable!("a stretch passes through ports where no cell waits");
    };
    // All its VCs come over one link, so from one station after the same time.
    debug_assert!(port.vcs.is_empty() || (port.station, port.after) == (station, pass));
    (port.station, port.after) = (station, pass);
    port.vcs.push(PassVc {
        vc,
        place,
        samples: QueueSamples::default(),
    });
}

/// The cell that is in the pass-through port `id` at `time`, departures done and arrivals not: when
/// it came, and its VC's place at the station before. There is at most one.
pub(crate) fn in_pass(ports: &[Port], id: u32, time: SimTime) -> Option<(SimTime, u32)> {
    let Port::Pass(port) = &ports[id as usize] else {
        unreachable!("asked of pass-through ports only");
    };
    if port.vcs.is_empty() {
        return None;
    }
    let before = SimTime(time.0.checked_sub(port.after.arrival.0)?);
    let crosses = |place: u32| port.vcs.iter().any(|vc| vc.place == place);
    let (departure, place) = match &ports[port.station as usize] {
        Port::Source(source) => source.last_departure(before, crosses)?,
        Port::Mux(mux) => mux
            .last_departure_before(before)
            .filter(|(_, place)| crosses(*place))?,
        Port::Pass(_) => unreachable!("a stretch begins at a source or multiplexing port"),
    };
    (departure + port.after.departure > time).then(|| (departure + port.after.arrival, place))
}
