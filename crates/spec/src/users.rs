//! Groups of users, each with an application, and the routes between their hosts and those of servers.

use crate::check::{range, structure, validate_start, validate_tcp};
use crate::{AppSpec, NetworkSpec, PepSpec, SpecError, StartSpec, TcpSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, is_default};
use skycell_units::Octets;

/// Most connections of all users that may be open at once, each section by itself: their numbers, twice as many, have 32 bits.
const MOST_IDS: u64 = 1 << 30;

/// All users of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct UsersSpec {
    /// Routes between hosts; users go to them in turn.
    pub routes: Vec<UserRouteSpec>,
    /// The groups, at least one.
    pub groups: Vec<UserGroupSpec>,
}

/// A route between a host of servers and a host of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct UserRouteSpec {
    /// VC ids from the servers to the users, end to end; routers join one to the next.
    pub forward: Vec<u32>,
    /// VC ids from the users to the servers.
    pub reverse: Vec<u32>,
    /// Proxies that split the connections of users here, from the servers on; the key is left out where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub peps: Vec<PepSpec>,
}

/// Users who do the same. Each draws from the streams `user/<name>.<number>/...`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct UserGroupSpec {
    /// Name in the scenario, unique among the groups.
    pub name: String,
    /// Number of users, above zero.
    pub count: u32,
    /// Index of the first user's route; the others have the next ones in turn.
    pub first_route: u32,
    /// Both ends' parameters of TCP connections, which open and close by handshakes of the client.
    pub tcp: TcpSpec,
    /// The application.
    pub app: AppSpec,
    /// When a user begins.
    pub start: StartSpec,
    /// Time by which each user begins later than the one before, picoseconds; the key is left out where it is 0.
    #[serde(default, skip_serializing_if = "is_default")]
    pub every_ps: u64,
}

impl UserGroupSpec {
    /// Index of the route of user `k` of the group.
    pub fn route_of(&self, k: u32, routes: usize) -> usize {
        ((u64::from(self.first_route) + u64::from(k)) % routes as u64) as usize
    }
}

impl UserRouteSpec {
    fn both(&self) -> [&[u32]; 2] {
        [&self.forward, &self.reverse]
    }
}

impl UsersSpec {
    /// The most sections that connections of a route have; 1 without proxies.
    pub fn sections(&self) -> u32 {
        let peps = self.routes.iter().map(|route| route.peps.len());
        1 + peps.max().unwrap_or(0) as u32
    }

    /// Ids of a user of a group: one for each section of each connection that may be open at once, and one for datagrams where
    /// connections are split.
    pub fn ids_of_user(&self, app: &AppSpec) -> u64 {
        let sections = u64::from(self.sections());
        u64::from(app.slots()) * sections + u64::from(sections > 1)
    }

    /// Ids of all users.
    pub fn ids(&self) -> u64 {
        let ids = |group: &UserGroupSpec| u64::from(group.count) * self.ids_of_user(&group.app);
        self.groups.iter().map(ids).sum()
    }

    /// The largest receiver window of users on a route, at the end of a section that begins at the servers.
    fn rwnd_on(&self, route: usize) -> Octets {
        let routes = self.routes.len();
        let is_there = |group: &&UserGroupSpec| {
            let before = (route + routes - group.first_route as usize % routes) % routes;
            before < group.count as usize
        };
        let groups = self.groups.iter().filter(is_there);
        groups.map(|group| group.tcp.rwnd).max().unwrap_or(0)
    }
}

impl NetworkSpec {
    /// The routes of users from end to end, each direction by itself.
    pub fn user_routes(&self) -> impl Iterator<Item = &Vec<u32>> + Clone {
        let routes = self.users.iter().flat_map(|users| &users.routes);
        routes.flat_map(|route| [&route.forward, &route.reverse])
    }

    /// The pieces of routes of users between proxies, each direction by itself; none of routes without.
    pub fn user_sections(&self) -> Vec<Vec<u32>> {
        let routes = self.users.iter().flat_map(|users| &users.routes);
        let split = routes.filter(|route| !route.peps.is_empty());
        split
            .flat_map(|route| self.sections(route.both(), &route.peps))
            .flatten()
            .collect()
    }

    /// Refuses users that cannot be simulated.
    pub(crate) fn validate_users(&self) -> Result<(), SpecError> {
        let Some(users) = &self.users else {
            return Ok(());
        };
        if users.routes.is_empty() || users.groups.is_empty() {
            return Err(structure("users".into(), "needs a route and a group"));
        }
        if self.sky.is_some() {
            let problem = "do not go with a constellation";
            return Err(structure("users".into(), problem));
        }
        for (i, route) in users.routes.iter().enumerate() {
            self.validate_routes(
                &route.forward,
                &route.reverse,
                &format!("users.routes[{i}]"),
            )?;
        }
        for (i, group) in users.groups.iter().enumerate() {
            let at = |key: &str| format!("users.groups[{i}].{key}");
            if users.groups[..i].iter().any(|one| one.name == group.name) {
                return Err(structure(at("name"), "is taken"));
            }
            if group.count == 0 {
                return Err(range(at("count"), 0, "above 0"));
            }
            if group.first_route as usize >= users.routes.len() {
                return Err(structure(at("first_route"), "no such route"));
            }
            validate_tcp(&group.tcp, &at("tcp"))?;
            if !group.tcp.handshake {
                return Err(range(at("tcp.handshake"), false, "true for users"));
            }
            validate_start(&group.start, &at("start"))?;
            let last = u128::from(group.every_ps) * u128::from(group.count);
            if last > u128::from(crate::check::RUN_MAX_PS) {
                return Err(range(at("every_ps"), group.every_ps, "100 days for all"));
            }
            group.app.validate(&at("app"))?;
        }
        let connections = self.flows.iter().map(|flow| 1 + flow.peps.len() as u64);
        let ids = users.ids() + connections.sum::<u64>() + self.sources.len() as u64;
        if ids > MOST_IDS {
            let allowed = "at most 2^30 connections of all users at once, each section by itself";
            return Err(range("users.groups".into(), ids, allowed));
        }
        users.routes.iter().enumerate().try_for_each(|(i, route)| {
            let path = format!("users.routes[{i}]");
            self.validate_peps(&path, route.both(), users.rwnd_on(i), &route.peps)?;
            match route.peps.iter().position(|pep| !pep.tcp.handshake) {
                None => Ok(()),
                Some(k) => {
                    let at = format!("{path}.peps[{k}].tcp.handshake");
                    Err(range(at, false, "true for users"))
                }
            }
        })
    }
}
