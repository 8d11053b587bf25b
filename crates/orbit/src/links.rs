//! Which satellites are linked at a moment.

use crate::earth::EQUATORIAL_RADIUS_KM;
use crate::motion::is_left_out;
use crate::pattern::{Circular, Lattice};
use crate::spec::{LinkLimits, OrbitSpec, Seam, Shell, ShellLinks};
use crate::vector::{Vec3, closest_approach, distance, norm};

/// The links of a constellation: those that stay, and how those that move are found.
pub struct Topology {
    /// Links that exist whenever the limits let them.
    fixed: Vec<Link>,
    moving: Vec<Moving>,
    limits: LinkLimits,
}

/// Two satellites that may be linked.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Link {
    ends: [u32; 2],
    /// Sine of the latitude above which an end switches it off; 1 never does.
    below_sine: f64,
}

/// The limit that a link breaks, so that it does not exist.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Obstacle {
    /// It comes so near to the earth: least height above the equatorial radius, km.
    Earth(f64),
    /// It is so long, km.
    Length(f64),
}

/// Links that change partners.
enum Moving {
    /// Between the last plane and the first of a shell.
    Seam(MovingSeam),
    /// The shortest ones of a group of satellites.
    Nearest { first: u32, end: u32, count: u32 },
}

struct MovingSeam {
    first_plane: u32,
    last_plane: u32,
    count: u32,
    rule: Seam,
    /// Half of the distance between neighbours in a plane over their rate, seconds.
    half_step_s: f64,
    below_sine: f64,
}

impl Topology {
    /// The links of a spec.
    pub fn new(spec: &OrbitSpec) -> Self {
        let mut topology = Topology {
            fixed: Vec::new(),
            moving: Vec::new(),
            limits: spec.limits,
        };
        let mut first = 0;
        for shell in &spec.shells {
            topology.add(shell, first);
            first += shell.satellites();
        }
        for &ends in &spec.given_links {
            topology.link(ends[0], ends[1], 1.0);
        }
        topology
    }

    fn link(&mut self, a: u32, b: u32, below_sine: f64) {
        let ends = [a.min(b), a.max(b)];
        if a != b && !self.fixed.iter().any(|link| link.ends == ends) {
            self.fixed.push(Link { ends, below_sine });
        }
    }

    fn add(&mut self, shell: &Shell, first: u32) {
        let count = shell.satellites();
        match *shell.links() {
            ShellLinks::None => {}
            ShellLinks::Ring => {
                for index in 0..count {
                    self.link(first + index, first + (index + 1) % count, 1.0);
                }
            }
            ShellLinks::Nearest { count: each } => self.moving.push(Moving::Nearest {
                first,
                end: first + count,
                count: each,
            }),
            ShellLinks::Grid {
                seam,
                cross_plane_below_deg,
            } => {
                if let Shell::Pattern { pattern, .. } = shell
                    && let Some(lattice) = pattern.lattice()
                {
                    let below_sine = libm::sin(cross_plane_below_deg.to_radians());
                    self.add_grid(&lattice, first, seam, below_sine);
                }
            }
        }
    }

    fn add_grid(&mut self, lattice: &Lattice, first: u32, seam: Seam, below_sine: f64) {
        let planes = lattice.planes.planes;
        let count = lattice.planes.satellites_per_plane;
        let at = |p: u32, s: u32| first + p * count + s % count;
        for p in 0..planes {
            for s in 0..count {
                self.link(at(p, s), at(p, s + 1), 1.0);
                if p + 1 < planes {
                    self.link(at(p, s), at(p + 1, s), below_sine);
                }
            }
        }
        if planes < 2 {
            return;
        }
        match seam {
            Seam::None => {}
            Seam::Closed => {
                let ahead = lattice.offset_across_the_seam().unwrap_or(0);
                for s in 0..count {
                    self.link(at(planes - 1, s), at(0, s + ahead), below_sine);
                }
            }
            Seam::Jsac98 | Seam::Matched => {
                let orbit = Circular::of(lattice, 0, 0);
                let step_rad = lattice.planes.delta_anomaly_deg().to_radians();
                self.moving.push(Moving::Seam(MovingSeam {
                    first_plane: at(0, 0),
                    last_plane: at(planes - 1, 0),
                    count,
                    rule: seam,
                    half_step_s: step_rad / 2.0 / orbit.rate_rad_s,
                    below_sine,
                }));
            }
        }
    }

    /// The links there are at a moment, in an order that depends on nothing else.
    pub fn links(&self, positions_km: &[Vec3], seconds: f64, found: &mut Vec<[u32; 2]>) {
        found.clear();
        self.pairs(positions_km, seconds, [&self.limits; 2], found);
    }

    /// The links that the rules ask for at a moment, and what those break that do not exist.
    ///
    /// The rules ask for the fixed links, for those across a seam, and for the shortest ones that
    /// are no longer than the longest link, whether the earth is in their way or not.
    pub fn asked_for(
        &self,
        positions_km: &[Vec3],
        seconds: f64,
    ) -> Vec<([u32; 2], Option<Obstacle>)> {
        let through_the_earth = LinkLimits {
            clearance_km: f64::NEG_INFINITY,
            ..self.limits
        };
        let mut pairs = Vec::new();
        self.pairs(
            positions_km,
            seconds,
            [&LinkLimits::NONE, &through_the_earth],
            &mut pairs,
        );
        pairs
            .into_iter()
            .map(|ends| (ends, self.limits.broken_by(ends, positions_km)))
            .collect()
    }

    /// Returns whether no link is asked for.
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.moving.is_empty()
    }

    /// Pairs of satellites, among which the shortest ones of a group have to be searched for.
    pub fn searched_pairs(&self) -> u64 {
        let pairs = |moving: &Moving| match moving {
            Moving::Nearest { first, end, .. } => u64::from(end - first).pow(2) / 2,
            Moving::Seam(_) => 0,
        };
        self.moving.iter().map(pairs).sum()
    }

    /// Adds the links that keep to some limits: those of named pairs, and those of the shortest ones.
    fn pairs(
        &self,
        positions_km: &[Vec3],
        seconds: f64,
        [named, shortest]: [&LinkLimits; 2],
        found: &mut Vec<[u32; 2]>,
    ) {
        found.extend(
            self.fixed
                .iter()
                .filter(|link| link.stands(positions_km, named))
                .map(|link| link.ends),
        );
        for moving in &self.moving {
            match moving {
                Moving::Seam(seam) => {
                    for link in seam.links(positions_km, seconds) {
                        if link.stands(positions_km, named) && !found.contains(&link.ends) {
                            found.push(link.ends);
                        }
                    }
                }
                Moving::Nearest { first, end, count } => {
                    nearest(positions_km, *first..*end, *count, shortest, found);
                }
            }
        }
    }
}

impl Link {
    /// Returns whether a link exists: its ends have positions, low enough ones, and it is within
    /// the limits.
    fn stands(&self, positions_km: &[Vec3], limits: &LinkLimits) -> bool {
        let ends = self.ends.map(|end| positions_km[end as usize]);
        let is_low = |at: Vec3| at[2].abs() <= self.below_sine * norm(at);
        !ends.into_iter().any(is_left_out)
            && (self.below_sine >= 1.0 || ends.into_iter().all(is_low))
            && limits.broken_by(self.ends, positions_km).is_none()
    }
}

impl LinkLimits {
    /// The limits of a model that asks for none.
    const NONE: Self = LinkLimits {
        max_length_km: None,
        clearance_km: f64::NEG_INFINITY,
    };

    /// Returns the limit that a link between two satellites breaks; none if the link may exist.
    fn broken_by(&self, ends: [u32; 2], positions_km: &[Vec3]) -> Option<Obstacle> {
        let [a, b] = ends.map(|end| positions_km[end as usize]);
        let length_km = distance(a, b);
        if self
            .max_length_km
            .is_some_and(|longest| length_km > longest)
        {
            return Some(Obstacle::Length(length_km));
        }
        let height_km = closest_approach(a, b) - EQUATORIAL_RADIUS_KM;
        (height_km < self.clearance_km).then_some(Obstacle::Earth(height_km))
    }
}

/// Adds the shortest links of a group that leave each satellite with at most `count`.
fn nearest(
    positions_km: &[Vec3],
    satellites: std::ops::Range<u32>,
    count: u32,
    limits: &LinkLimits,
    found: &mut Vec<[u32; 2]>,
) {
    let mut free = vec![count; positions_km.len()];
    let mut candidates = Vec::new();
    for a in satellites.clone() {
        for b in a + 1..satellites.end {
            let ends = [a, b];
            let link = Link {
                ends,
                below_sine: 1.0,
            };
            if link.stands(positions_km, limits) {
                let length = distance(positions_km[a as usize], positions_km[b as usize]);
                candidates.push((length, ends));
            }
        }
    }
    candidates.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
    for (_, ends) in candidates {
        let [a, b] = ends.map(|end| end as usize);
        if free[a] > 0 && free[b] > 0 && !found.contains(&ends) {
            free[a] -= 1;
            free[b] -= 1;
            found.push(ends);
        }
    }
}

impl MovingSeam {
    fn links(&self, positions_km: &[Vec3], seconds: f64) -> Vec<Link> {
        let turn = match self.rule {
            Seam::Matched => self.shortest_turn(positions_km),
            // From 1: s with S - 1 - s. From 0 that is S - 3 - s. The planes move against each other
            // at twice the satellites' rate, so that partners change every half step.
            _ => {
                let moved = (seconds / self.half_step_s + 0.5).floor() as i64;
                (i64::from(self.count) - 3 - moved).rem_euclid(i64::from(self.count)) as u32
            }
        };
        (0..self.count)
            .map(|s| Link {
                ends: self.ends(s, turn),
                below_sine: self.below_sine,
            })
            .collect()
    }

    fn ends(&self, s: u32, turn: u32) -> [u32; 2] {
        let partner = (turn + self.count - s) % self.count;
        let (a, b) = (self.first_plane + s, self.last_plane + partner);
        [a.min(b), a.max(b)]
    }

    fn shortest_turn(&self, positions_km: &[Vec3]) -> u32 {
        let total = |turn: u32| -> f64 {
            (0..self.count)
                .map(|s| {
                    let [a, b] = self.ends(s, turn).map(|end| positions_km[end as usize]);
                    distance(a, b)
                })
                .sum()
        };
        (0..self.count)
            .map(|turn| (total(turn), turn))
            .min_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)))
            .map_or(0, |(_, turn)| turn)
    }
}
