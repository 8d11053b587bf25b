//! The request for a constellation: the resolved form that comes from Python.

use crate::OrbitError;
use crate::earth::{Rotation, Shape};
use crate::ephemeris::Segment;
use crate::pattern::Pattern;
use crate::station::StationSpec;
use serde::{Deserialize, Serialize};

/// A constellation, places on the earth, and how paths between them are found.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OrbitSpec {
    /// Groups of satellites; satellites are numbered from 0 through all of them.
    pub shells: Vec<Shell>,
    /// How the earth turns.
    pub rotation: Rotation,
    /// The surface that stations stand on.
    pub shape: Shape,
    /// Speed of radio and light, km/s, above 0.
    pub light_km_s: f64,
    /// Limits of every link between satellites.
    pub limits: LinkLimits,
    /// Further links, as pairs of satellites.
    pub given_links: Vec<[u32; 2]>,
    /// Places on the earth.
    pub stations: Vec<StationSpec>,
    /// Source and destination, as pairs of stations.
    pub pairs: Vec<[u32; 2]>,
    /// Which satellite a station uses.
    pub access: Access,
    /// How a way through the satellites is found.
    pub route: Route,
    /// Delays of paths beside the propagation of light.
    pub extra: ExtraDelays,
}

/// A group of satellites that link to each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case", deny_unknown_fields)]
pub enum Shell {
    /// Satellites on circular orbits in a pattern.
    Pattern {
        /// Where they are at time 0.
        pattern: Pattern,
        /// Which of them are linked.
        links: ShellLinks,
    },
    /// Satellites of mean elements, which SGP4 moves.
    Elements {
        /// As in an OMM (CCSDS 502.0).
        elements: Vec<sgp4::Elements>,
        /// Minutes from its epoch beyond which a set is left out; none for no limit.
        farthest_min: Option<f64>,
        /// Which of them are linked.
        links: ShellLinks,
    },
    /// Satellites of ephemerides, between whose states is interpolated.
    Ephemerides {
        /// The segments of each.
        objects: Vec<Vec<Segment>>,
        /// Farthest of a position from where the states before and after it lead, km.
        max_error_km: f64,
        /// Which of them are linked.
        links: ShellLinks,
    },
}

impl Shell {
    /// Number of satellites.
    pub fn satellites(&self) -> u32 {
        match self {
            Shell::Pattern { pattern, .. } => pattern.satellites(),
            Shell::Elements { elements, .. } => elements.len() as u32,
            Shell::Ephemerides { objects, .. } => objects.len() as u32,
        }
    }

    /// Which of them are linked.
    pub fn links(&self) -> &ShellLinks {
        match self {
            Shell::Pattern { links, .. }
            | Shell::Elements { links, .. }
            | Shell::Ephemerides { links, .. } => links,
        }
    }
}

/// Links between the satellites of a shell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum ShellLinks {
    /// None: a satellite only mirrors what the earth sends.
    None,
    /// Each satellite with the next, and the last with the first.
    Ring,
    /// Fore and aft in the plane, and one in each neighbouring plane: the +grid.
    Grid {
        /// Between the last plane and the first.
        seam: Seam,
        /// Latitude above which links between planes are off, degrees; 90 never switches them off.
        cross_plane_below_deg: f64,
    },
    /// The shortest links that leave each satellite with at most `count`.
    Nearest {
        /// Links of one satellite, above 0.
        count: u32,
    },
}

/// How the last plane of a pattern is linked with the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seam {
    /// Not at all.
    None,
    /// As between other planes: the pattern closes (Walker's delta).
    Closed,
    /// Satellite s of the first plane with S - 1 - s of the last (from 1, modulo S), as the tables of
    /// NASA/CR-1999-209158, part III.A, determine it; moved on by one whenever both have moved on by
    /// half of their distance.
    Jsac98,
    /// Satellite s of the first plane with k - s of the last, for the k that makes the sum of the
    /// links' lengths least.
    Matched,
}

/// The limits of every link between satellites.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkLimits {
    /// Longest link, km; none for no limit.
    pub max_length_km: Option<f64>,
    /// Smallest height of a link above the equatorial radius, km.
    pub clearance_km: f64,
}

/// Which satellite a station uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Which of the visible ones.
    pub rule: AccessRule,
    /// True if a station keeps its satellite as long as it is visible.
    pub hold: bool,
    /// When satellites are given to stations, where that does not happen at any moment.
    pub slots: Option<Slots>,
}

/// Moments at which stations are given their satellites; between two of them they keep them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slots {
    /// From one to the next, above 0.
    pub period_ps: u64,
    /// The first from time 0 on, below the period.
    pub phase_ps: u64,
    /// Of the random choice.
    pub seed: u64,
}

/// The delays of a path beside the propagation of light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExtraDelays {
    /// In each satellite that it passes.
    pub satellite_ps: u64,
    /// On each link to or from the ground.
    pub ground_ps: u64,
}

/// Which of the visible satellites a station chooses; on ties that of the smallest number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessRule {
    /// That of the smallest distance.
    Nearest,
    /// That of the highest elevation.
    Highest,
    /// That which stays visible longest from now on.
    Longest,
    /// Whichever makes the whole path shortest.
    Any,
    /// Any with equal probability; in slots only.
    Random,
    /// That which the fewest stations before it in the spec have been given, of those the nearest; in
    /// slots only.
    LeastUsed,
}

/// How a way through the satellites is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Route {
    /// The least delay.
    Shortest,
    /// From each satellite on to the linked one nearest to the last satellite, none twice
    /// (NASA/CR-1999-209158, part III.A, section 5.2.2).
    Greedy,
}

impl OrbitSpec {
    /// Reads a spec and refuses one that has no meaning.
    pub fn from_json(text: &str) -> Result<Self, OrbitError> {
        let spec: OrbitSpec =
            serde_json::from_str(text).map_err(|error| OrbitError::Spec(error.to_string()))?;
        spec.check()?;
        Ok(spec)
    }

    /// Number of satellites.
    pub fn satellites(&self) -> u32 {
        self.shells.iter().map(Shell::satellites).sum()
    }

    fn check(&self) -> Result<(), OrbitError> {
        let refuse = |what: String| Err(OrbitError::Spec(what));
        let satellites = self.satellites();
        let stations = self.stations.len() as u32;
        if satellites == 0 {
            return refuse("no satellites".into());
        }
        if !(self.light_km_s.is_finite() && self.light_km_s > 0.0) {
            return refuse(format!(
                "light_km_s {}, allowed is above 0",
                self.light_km_s
            ));
        }
        for [a, b] in &self.given_links {
            if *a >= satellites || *b >= satellites || a == b {
                return refuse(format!(
                    "link {a}-{b}, allowed are two of 0 to {}",
                    satellites - 1
                ));
            }
        }
        for [from, to] in &self.pairs {
            if *from >= stations || *to >= stations {
                return refuse(format!("pair {from}-{to} of {stations} stations"));
            }
        }
        if self.route == Route::Greedy && self.access.rule == AccessRule::Any {
            return refuse("a greedy route needs one satellite at either end".into());
        }
        let slotted = matches!(self.access.rule, AccessRule::Random | AccessRule::LeastUsed);
        let slots = self.access.slots;
        if slots.is_some() && self.access.rule == AccessRule::Any || slotted && slots.is_none() {
            return refuse("a rule of access that does not go with slots, or needs them".into());
        }
        if slots.is_some_and(|slots| slots.phase_ps >= slots.period_ps) {
            return refuse("slots whose phase is not below their period".into());
        }
        for shell in &self.shells {
            if let Shell::Ephemerides { objects, .. } = shell
                && let Some(what) = objects.iter().flatten().find_map(Segment::refused)
            {
                return refuse(format!("an ephemeris: {what}"));
            }
            self.check_links(shell)?;
        }
        Ok(())
    }

    fn check_links(&self, shell: &Shell) -> Result<(), OrbitError> {
        let refuse = |what: &str| Err(OrbitError::Spec(what.into()));
        let lattice = match shell {
            Shell::Pattern { pattern, .. } => pattern.lattice(),
            Shell::Elements { .. } | Shell::Ephemerides { .. } => None,
        };
        match (shell.links(), lattice) {
            (ShellLinks::Grid { .. }, None) => refuse("a grid of links needs planes"),
            (ShellLinks::Grid { seam, .. }, Some(lattice)) if *seam == Seam::Closed => {
                if lattice.offset_across_the_seam().is_none() {
                    return refuse("a pattern with a seam does not close");
                }
                Ok(())
            }
            (ShellLinks::Nearest { count: 0 }, _) => refuse("nearest links: allowed is 1 or more"),
            _ => Ok(()),
        }
    }
}
