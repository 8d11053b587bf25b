//! A constellation at one moment: positions, the links there are, what stations see.

use crate::OrbitError;
use crate::graph::Graph;
use crate::links::Topology;
use crate::motion::Fleet;
use crate::path::{NoPath, Path};
use crate::route::{Gateway, Shortest, greedy};
use crate::spec::{AccessRule, OrbitSpec, Route};
use crate::station::{Look, Station};
use crate::vector::{Vec3, distance};

const PS_PER_SECOND: f64 = 1e12;

/// How far ahead is looked for a satellite's setting, seconds; one that sets later counts as equal.
const LONGEST_VISIBILITY_S: f64 = 86_400.0;
/// Between looks, seconds; passes of satellites are minutes long.
const LOOK_EVERY_S: f64 = 10.0;
/// To which a setting is found, seconds.
const SETTING_S: f64 = 1e-3;

/// A constellation with its places, of which one moment at a time is looked at.
pub struct Sky<'a> {
    spec: &'a OrbitSpec,
    fleet: &'a Fleet,
    topology: &'a Topology,
    stations: &'a [Station],
    at_ps: u64,
    positions_km: Vec<Vec3>,
    links: Vec<[u32; 2]>,
    graph: Graph,
    shortest: Shortest,
    /// Satellites that stations see, found when first needed at this moment.
    gateways: Vec<Option<Vec<Gateway>>>,
}

/// The parts of a constellation that do not change with time.
pub struct World {
    /// Requested constellation.
    pub spec: OrbitSpec,
    /// The motion of the satellites.
    pub fleet: Fleet,
    /// Their links.
    pub topology: Topology,
    /// The places.
    pub stations: Vec<Station>,
}

impl World {
    /// A world as its spec says, for moments between two.
    pub fn new(spec: OrbitSpec, between_ps: [u64; 2]) -> Result<Self, OrbitError> {
        let [mut first_s, mut last_s] = between_ps.map(seconds);
        if spec.access.rule == AccessRule::Longest {
            last_s += LONGEST_VISIBILITY_S;
        }
        if let Some(slots) = spec.access.slots {
            let period_s = seconds(slots.period_ps);
            (first_s, last_s) = ((first_s - period_s).max(0.0), last_s + period_s);
        }
        Ok(World {
            fleet: Fleet::new(&spec, [first_s, last_s])?,
            topology: Topology::new(&spec),
            stations: spec
                .stations
                .iter()
                .map(|station| Station::new(station, spec.shape))
                .collect(),
            spec,
        })
    }

    /// The sky at a moment.
    pub fn sky(&self, at_ps: u64) -> Sky<'_> {
        let mut sky = Sky {
            spec: &self.spec,
            fleet: &self.fleet,
            topology: &self.topology,
            stations: &self.stations,
            at_ps: 0,
            positions_km: Vec::new(),
            links: Vec::new(),
            graph: Graph::default(),
            shortest: Shortest::default(),
            gateways: vec![None; self.stations.len()],
        };
        sky.turn_to(at_ps);
        sky
    }
}

/// Seconds, for positions.
pub fn seconds(at_ps: u64) -> f64 {
    at_ps as f64 / PS_PER_SECOND
}

impl Sky<'_> {
    /// Looks at another moment.
    pub fn turn_to(&mut self, at_ps: u64) {
        self.at_ps = at_ps;
        self.gateways.fill(None);
        self.fleet
            .positions_km(seconds(at_ps), &mut self.positions_km);
    }

    /// Finds the links and their delays; needed before paths, not before looking from stations.
    pub fn find_links(&mut self) {
        self.find_links_without(|_| false);
    }

    /// The same, but for links between satellites that are out of order.
    pub fn find_links_without(&mut self, is_out: impl Fn([u32; 2]) -> bool) {
        self.topology
            .links(&self.positions_km, seconds(self.at_ps), &mut self.links);
        self.links.retain(|&ends| !is_out(ends));
        let (positions_km, light_km_s) = (&self.positions_km, self.spec.light_km_s);
        let in_satellite_ps = self.spec.extra.satellite_ps;
        self.graph.fill(positions_km.len(), &self.links, |[a, b]| {
            let length_km = distance(positions_km[a as usize], positions_km[b as usize]);
            delay_ps(length_km, light_km_s) + in_satellite_ps
        });
    }

    /// Earth-fixed positions of the satellites, km; no numbers for those that are left out.
    pub fn positions_km(&self) -> &[Vec3] {
        &self.positions_km
    }

    /// The links with their delays.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The links at this moment.
    pub fn links(&self) -> &[[u32; 2]] {
        &self.links
    }

    /// Delay over a straight line from a station to a satellite.
    pub(crate) fn ground_ps(&self, station: u32, satellite: u32) -> u64 {
        let from = self.stations[station as usize].position_km;
        let length_km = distance(from, self.positions_km[satellite as usize]);
        delay_ps(length_km, self.spec.light_km_s)
    }

    pub(crate) fn sees(&self, station: u32, satellite: u32) -> bool {
        self.stations[station as usize].sees(self.positions_km[satellite as usize])
    }

    /// The satellites that a station sees, in the order of their numbers.
    pub fn visible(&self, station: u32) -> impl Iterator<Item = u32> + '_ {
        (0..self.positions_km.len() as u32).filter(move |&satellite| self.sees(station, satellite))
    }

    /// Where a satellite stands above a station.
    pub fn look(&self, station: u32, satellite: u32) -> Look {
        self.stations[station as usize].look(self.positions_km[satellite as usize])
    }

    /// Delay from a station up to a satellite and through it.
    fn up_ps(&self, station: u32, satellite: u32) -> u64 {
        self.down_ps(station, satellite) + self.spec.extra.satellite_ps
    }

    /// Delay from a satellite down to a station.
    fn down_ps(&self, station: u32, satellite: u32) -> u64 {
        self.ground_ps(station, satellite) + self.spec.extra.ground_ps
    }

    /// The satellite that a station uses when it used `held` before; none where it sees none.
    pub fn access(&self, station: u32, held: Option<u32>) -> Option<u32> {
        if self.spec.access.hold
            && let Some(held) = held
            && self.sees(station, held)
        {
            return Some(held);
        }
        match self.spec.access.rule {
            // The last two choose in slots, of which `slots` knows.
            AccessRule::Nearest | AccessRule::Any | AccessRule::Random | AccessRule::LeastUsed => {
                self.visible(station)
                    .min_by_key(|&satellite| (self.ground_ps(station, satellite), satellite))
            }
            AccessRule::Highest => self.best(station, |satellite| {
                let site = &self.stations[station as usize];
                site.rises(self.positions_km[satellite as usize]).0
            }),
            AccessRule::Longest => {
                self.best(station, |satellite| self.visible_for_s(station, satellite))
            }
        }
    }

    /// The visible satellite of the largest number, that of the smallest index on ties.
    fn best(&self, station: u32, value: impl Fn(u32) -> f64) -> Option<u32> {
        let mut best: Option<(f64, u32)> = None;
        for satellite in self.visible(station) {
            let value = value(satellite);
            if best.is_none_or(|(known, _)| value > known) {
                best = Some((value, satellite));
            }
        }
        best.map(|(_, satellite)| satellite)
    }

    /// For how long a satellite that is visible now stays so, seconds.
    pub(crate) fn visible_for_s(&self, station: u32, satellite: u32) -> f64 {
        let site = &self.stations[station as usize];
        let now = seconds(self.at_ps);
        let is_up = |after: f64| site.sees(self.fleet.position_km(satellite, now + after));
        let mut after = LOOK_EVERY_S;
        while is_up(after) {
            after += LOOK_EVERY_S;
            if after > LONGEST_VISIBILITY_S {
                return LONGEST_VISIBILITY_S;
            }
        }
        let (mut up, mut down) = (after - LOOK_EVERY_S, after);
        while down - up > SETTING_S {
            let middle = (up + down) / 2.0;
            if is_up(middle) {
                up = middle;
            } else {
                down = middle;
            }
        }
        up
    }

    /// The path of a pair of stations, over the satellites that they use (any, where `Any` rules).
    pub fn path(&mut self, pair: [u32; 2], access: [Option<u32>; 2]) -> Result<Path, NoPath> {
        let [from, to] = pair;
        let up_and_down = if self.spec.access.rule == AccessRule::Any {
            let up = self.gateways(from);
            let down = self.gateways(to);
            let in_satellite_ps = self.spec.extra.satellite_ps;
            let up: Vec<_> = up
                .into_iter()
                .map(|(s, ps)| (s, ps + in_satellite_ps))
                .collect();
            match (up.is_empty(), down.is_empty()) {
                (true, _) => return Err(NoPath::NothingVisible { station: from }),
                (_, true) => return Err(NoPath::NothingVisible { station: to }),
                _ => (up, down),
            }
        } else {
            let [Some(up), Some(down)] = access else {
                let station = if access[0].is_none() { from } else { to };
                return Err(NoPath::NothingVisible { station });
            };
            (
                vec![(up, self.up_ps(from, up))],
                vec![(down, self.down_ps(to, down))],
            )
        };
        let found = match self.spec.route {
            Route::Greedy => self.greedy_route(up_and_down.0[0].0, up_and_down.1[0].0),
            Route::Shortest => self.shortest_route(to, &up_and_down.0, &up_and_down.1),
        };
        found
            .map(|satellites| self.measured(pair, satellites))
            .ok_or(NoPath::NoRoute)
    }

    /// The satellites that a station sees, with the delays down to the station.
    pub fn downlinks(&self, station: u32) -> impl Iterator<Item = Gateway> + '_ {
        self.visible(station)
            .map(move |satellite| (satellite, self.down_ps(station, satellite)))
    }

    fn gateways(&mut self, station: u32) -> Vec<Gateway> {
        if let Some(known) = &self.gateways[station as usize] {
            return known.clone();
        }
        let found: Vec<Gateway> = self.downlinks(station).collect();
        self.gateways[station as usize] = Some(found.clone());
        found
    }

    fn greedy_route(&self, first: u32, last: u32) -> Option<Vec<u32>> {
        let end = self.positions_km[last as usize];
        greedy(&self.graph, first, last, |satellite| {
            let length_km = distance(self.positions_km[satellite as usize], end);
            delay_ps(length_km, self.spec.light_km_s)
        })
    }

    fn shortest_route(&mut self, to: u32, up: &[Gateway], down: &[Gateway]) -> Option<Vec<u32>> {
        let end = self.stations[to as usize].position_km;
        let (positions_km, light_km_s) = (&self.positions_km, self.spec.light_km_s);
        // Each link is rounded by half a picosecond at most, and a path has at most one link more
        // than there are satellites.
        let rounding_ps = positions_km.len() as u64 + 2;
        self.shortest.path(&self.graph, up, down, |satellite| {
            let straight_km = distance(positions_km[satellite as usize], end);
            delay_ps(straight_km, light_km_s).saturating_sub(rounding_ps)
        })
    }

    fn measured(&self, pair: [u32; 2], satellites: Vec<u32>) -> Path {
        let (first, last) = (satellites[0], satellites[satellites.len() - 1]);
        let mut links_ps = vec![self.up_ps(pair[0], first)];
        links_ps.extend(
            satellites
                .windows(2)
                .filter_map(|hop| self.graph.delay_ps(hop[0], hop[1])),
        );
        links_ps.push(self.down_ps(pair[1], last));
        Path {
            satellites,
            links_ps,
        }
    }
}

/// A way at the speed of light in whole picoseconds.
fn delay_ps(length_km: f64, light_km_s: f64) -> u64 {
    (length_km / light_km_s * PS_PER_SECOND).round() as u64
}
