//! Groups of users, each with an application, and the routes between their hosts and those of servers.

use crate::check::{range, structure, validate_start, validate_tcp};
use crate::{AppSpec, NetworkSpec, SpecError, StartSpec, TcpSpec};
use serde::{Deserialize, Serialize};
use skycell_declare::{Declare, is_default};

/// Most connections of all users that may be open at once: their numbers, twice as many, have 32 bits.
const MOST_SLOTS: u64 = 1 << 30;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Declare)]
#[serde(deny_unknown_fields)]
pub struct UserRouteSpec {
    /// VC ids from the servers to the users, end to end; routers join one to the next.
    pub forward: Vec<u32>,
    /// VC ids from the users to the servers.
    pub reverse: Vec<u32>,
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

impl UsersSpec {
    /// Connections that all users together may have open at once.
    pub fn slots(&self) -> u64 {
        let groups = self.groups.iter();
        let slots = groups.map(|group| u64::from(group.count) * u64::from(group.app.slots()));
        slots.sum()
    }
}

impl NetworkSpec {
    /// The routes of users, each direction by itself.
    pub fn user_routes(&self) -> impl Iterator<Item = &Vec<u32>> + Clone {
        let routes = self.users.iter().flat_map(|users| &users.routes);
        routes.flat_map(|route| [&route.forward, &route.reverse])
    }

    /// Refuses users that cannot be simulated.
    pub(crate) fn validate_users(&self) -> Result<(), SpecError> {
        let Some(users) = &self.users else {
            return Ok(());
        };
        if users.routes.is_empty() || users.groups.is_empty() {
            return Err(structure("users".into(), "needs a route and a group"));
        }
        if self.sky.is_some() || self.flows.iter().any(|flow| !flow.peps.is_empty()) {
            let problem = "go neither with a constellation nor with proxies";
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
        let slots = users.slots() + self.flows.len() as u64 + self.sources.len() as u64;
        if slots > MOST_SLOTS {
            let allowed = "at most 2^30 connections of all users at once";
            return Err(range("users.groups".into(), slots, allowed));
        }
        Ok(())
    }
}
