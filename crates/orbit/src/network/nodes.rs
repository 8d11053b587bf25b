//! Which nodes there are, and which of them forward packets of others.

use super::NetworkRequest;
use crate::OrbitError;
use crate::sky::World;
use skycell_sky::columns::MOST_DELAY_PS;

/// What the places on the ground are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ground {
    /// Places of the spec that are stations, which come first. The others forward packets, and may use every
    /// satellite that they see.
    pub stations: usize,
    /// True if stations forward packets of others too.
    pub stations_relay: bool,
    /// Links between places that forward and a point behind them, which is the last node and a destination.
    pub terrestrial: Vec<Terrestrial>,
}

/// A link on the ground, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terrestrial {
    /// Number of the place.
    pub site: u32,
    /// Delay to the point.
    pub delay_ps: u64,
}

/// The nodes by their numbers: satellites, then places, then the point.
#[derive(Debug)]
pub(super) struct Nodes {
    satellites: u32,
    sites: u32,
    stations: u32,
    stations_relay: bool,
    /// Delay to the point by place; none without a link.
    point_ps: Vec<Option<u64>>,
    has_point: bool,
}

impl Nodes {
    pub(super) fn new(world: &World, request: &NetworkRequest) -> Result<Self, OrbitError> {
        let ground = &request.ground;
        let sites = world.stations.len();
        let refuse = |what: String| Err(OrbitError::Spec(what));
        if ground.stations > sites {
            return refuse(format!("{} stations of {sites} places", ground.stations));
        }
        let mut point_ps = vec![None; sites];
        for link in &ground.terrestrial {
            let site = link.site as usize;
            let is_relay = (ground.stations..sites).contains(&site);
            if !is_relay || point_ps[site].is_some() || link.delay_ps > MOST_DELAY_PS {
                let stations = ground.stations;
                return refuse(format!(
                    "{link:?}: allowed are sites from {stations} to {sites}, each once, and delays \
                     up to {MOST_DELAY_PS} ps"
                ));
            }
            point_ps[site] = Some(link.delay_ps);
        }
        Ok(Nodes {
            satellites: world.fleet.len() as u32,
            sites: sites as u32,
            stations: ground.stations as u32,
            stations_relay: ground.stations_relay,
            has_point: !ground.terrestrial.is_empty(),
            point_ps,
        })
    }

    /// Number of nodes.
    pub(super) fn count(&self) -> usize {
        self.satellites as usize + self.sites as usize + usize::from(self.has_point)
    }

    /// Number of nodes that packets have as their destination.
    pub(super) fn destinations(&self) -> usize {
        self.stations as usize + usize::from(self.has_point)
    }

    /// Node of a place.
    pub(super) fn of_site(&self, site: u32) -> u32 {
        self.satellites + site
    }

    /// Node of the point.
    pub(super) fn point(&self) -> u32 {
        self.satellites + self.sites
    }

    /// Delay from a place to the point; none without a link.
    pub(super) fn point_ps(&self, site: u32) -> Option<u64> {
        self.point_ps[site as usize]
    }

    /// Node at which a label ends; the labels of all destinations follow one another.
    pub(super) fn end_of(&self, label: usize) -> u32 {
        let destination = (label % self.destinations()) as u32;
        if destination < self.stations {
            self.of_site(destination)
        } else {
            self.point()
        }
    }

    /// True if a place is a station, whose satellites are those that the rules of access give it.
    pub(super) fn is_station(&self, site: u32) -> bool {
        site < self.stations
    }

    /// True if a place forwards packets of others.
    pub(super) fn site_forwards(&self, site: u32) -> bool {
        self.stations_relay || !self.is_station(site)
    }

    /// True if a node forwards packets of others.
    pub(super) fn forwards(&self, node: u32) -> bool {
        match node.checked_sub(self.satellites) {
            None => true,
            Some(site) => site < self.sites && self.site_forwards(site),
        }
    }

    /// Number of the nodes among which those are that forward: the satellites, or all but the point.
    pub(super) fn vertices(&self) -> usize {
        match (0..self.sites).any(|site| self.site_forwards(site)) {
            true => (self.satellites + self.sites) as usize,
            false => self.satellites as usize,
        }
    }
}
