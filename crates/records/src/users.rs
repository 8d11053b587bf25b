//! What the users of a group did, and what their connections carried.

use crate::{PepRecord, RelayedRequests, StreamRecord};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use skycell_spec::AppSpec;
use std::collections::BTreeMap;

/// The users of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UserGroupRecord {
    /// Name in the spec.
    pub name: String,
    /// The application, as in the spec.
    pub app: AppSpec,
    /// Number of users.
    pub users: u64,
    /// Connections opened.
    pub connections: u64,
    /// Segments that came for connections that were closed.
    pub segments_late: u64,
    /// Datagrams sent: from the servers, and to them.
    pub datagrams: [u64; 2],
    /// Times to answers in datagrams; left out where users ask for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub responses: Option<Responses>,
    /// What all connections carried from the servers: of those that proxies split, what servers sent and users got.
    pub forward: StreamRecord,
    /// What they carried to the servers.
    pub reverse: StreamRecord,
    /// Of connections that proxies split, the sections from the servers on; left out where no route has a proxy.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<UserSectionRecord>,
    /// What the users did: downloads, pages, videos, calls.
    pub rows: UserRows,
}

/// What connections of a group carried over one section, which begins at the servers or at proxies, and ends at the next
/// proxies or the users.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UserSectionRecord {
    /// Connections opened.
    pub connections: u64,
    /// What they carried from the servers.
    pub forward: StreamRecord,
    /// What they carried to the servers.
    pub reverse: StreamRecord,
    /// Answers at the proxies where the section begins; left out of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pep: Option<PepRecord>,
    /// Requests at these proxies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relayed: Option<RelayedRequests>,
}

impl UserSectionRecord {
    /// Adds answers at the proxy where one connection's section begins.
    pub fn add_answers(&mut self, pep: &PepRecord) {
        let own = self.pep.get_or_insert_default();
        own.octets_accepted += pep.octets_accepted;
        own.octets_passed_on += pep.octets_passed_on;
        own.octets_held += pep.octets_held;
        own.octets_held_max = own.octets_held_max.max(pep.octets_held_max);
        own.octets_unsent += pep.octets_unsent;
        own.segments_refused += pep.segments_refused;
    }

    /// Adds requests at that proxy.
    pub fn add_requests(&mut self, requests: &RelayedRequests) {
        let own = self.relayed.get_or_insert_default();
        own.octets_accepted += requests.octets_accepted;
        own.octets_unsent += requests.octets_unsent;
    }

    /// Adds what other connections, or other ends of connections, have accounted for.
    pub fn add_all(&mut self, others: &UserSectionRecord) {
        self.connections += others.connections;
        self.forward.add_all(&others.forward);
        self.reverse.add_all(&others.reverse);
        if let Some(pep) = &others.pep {
            self.add_answers(pep);
        }
        if let Some(relayed) = &others.relayed {
            self.add_requests(relayed);
        }
    }
}

/// Bits of a time that a histogram keeps: a bucket is at most 1/64 of what it counts wide.
const KEPT_BITS: u32 = 7;

/// Requests that began while the run counts, and the times to their answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Responses {
    /// Requests.
    pub asked: u64,
    /// Answers.
    pub answered: u64,
    /// Sum of the times to them, picoseconds.
    pub sum_ps: u128,
    /// Longest, picoseconds.
    pub max_ps: u64,
    /// Number of answers by the least time of a bucket, picoseconds; a bucket is 1/64 of its times wide, or less.
    pub buckets: BTreeMap<u64, u64>,
}

impl Responses {
    /// An answer has come.
    pub fn add(&mut self, time_ps: u64) {
        self.answered += 1;
        self.sum_ps += u128::from(time_ps);
        self.max_ps = self.max_ps.max(time_ps);
        let cut = (u64::BITS - time_ps.leading_zeros()).saturating_sub(KEPT_BITS);
        *self.buckets.entry(time_ps >> cut << cut).or_default() += 1;
    }

    /// Adds those of other users.
    pub fn add_all(&mut self, others: &Responses) {
        self.asked += others.asked;
        self.answered += others.answered;
        self.sum_ps += others.sum_ps;
        self.max_ps = self.max_ps.max(others.max_ps);
        for (time_ps, count) in &others.buckets {
            *self.buckets.entry(*time_ps).or_default() += count;
        }
    }
}

/// What users did, one after the other by its beginning, as columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserRows {
    /// Number of the user in the group, from 0.
    pub user: Vec<u32>,
    /// When it began, picoseconds.
    pub begin_ps: Vec<u64>,
    /// Other columns of the kind, by name; none where there is no value.
    pub columns: Vec<(&'static str, Vec<Option<u64>>)>,
}

impl Serialize for UserRows {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2 + self.columns.len()))?;
        map.serialize_entry("user", &self.user)?;
        map.serialize_entry("begin_ps", &self.begin_ps)?;
        for (name, values) in &self.columns {
            map.serialize_entry(name, values)?;
        }
        map.end()
    }
}

impl UserRows {
    /// Keeps what began at `from_ps` or later.
    fn keep_from(&mut self, from_ps: u64) {
        let first = self.begin_ps.partition_point(|&begin| begin < from_ps);
        self.user.drain(..first);
        self.begin_ps.drain(..first);
        for (_, values) in &mut self.columns {
            values.drain(..first);
        }
    }
}

impl UserGroupRecord {
    /// Takes off what there was when the beginning of the run, `start`, ended at `from_ps`; keeps what began from then on.
    pub(crate) fn subtract(&mut self, start: &UserGroupRecord, from_ps: u64) {
        self.connections -= start.connections;
        self.segments_late -= start.segments_late;
        for (own, start) in self.datagrams.iter_mut().zip(start.datagrams) {
            *own -= start;
        }
        self.rows.keep_from(from_ps);
    }
}
