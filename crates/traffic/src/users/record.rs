//! What users leave when a run ends.

use super::Users;
use super::connection::{add_received, add_sent};
use skycell_apps::Client;
use skycell_records::{UserGroupRecord, UserRows};
use skycell_spec::AppSpec;
use skycell_units::SimTime;

impl Users {
    /// The records of the groups of a run that ends at `end`.
    pub fn records(&self, end: SimTime) -> Vec<UserGroupRecord> {
        (0..self.groups.len())
            .map(|group| self.record(group, end))
            .collect()
    }

    fn record(&self, of: usize, end: SimTime) -> UserGroupRecord {
        let group = &self.groups[of];
        let [mut forward, mut reverse] = group.closed.clone();
        let mut rows = group.rows.clone();
        let users = self.users[group.first_user..].iter();
        let users: Vec<_> = users.take_while(|user| user.group as usize == of).collect();
        for (user, k) in users.iter().zip(0u32..) {
            let unfinished = [user.client.unfinished(end), user.peer.unfinished()];
            rows.extend(unfinished.into_iter().flatten().map(|row| (k, row)));
            let open = user.slots.iter().filter_map(|slot| slot.at);
            for at in open {
                let Some(connection) = &self.connections[at as usize] else {
                    continue;
                };
                add_sent(&mut reverse, &connection.client.sender);
                add_received(&mut forward, &connection.client.receiver);
                if let Some(server) = &connection.server {
                    add_sent(&mut forward, &server.half.sender);
                    add_received(&mut reverse, &server.half.receiver);
                }
            }
        }
        rows.sort_by_key(|(k, row)| (row.begin, *k));
        let columns = Client::columns(&group.app);
        UserGroupRecord {
            name: group.name.clone(),
            app: (*group.app).clone(),
            users: users.len() as u64,
            connections: group.connections,
            segments_late: group.late,
            datagrams: group.datagrams,
            responses: match &*group.app {
                AppSpec::Asks(_) => Some(group.responses.clone()),
                _ => None,
            },
            forward,
            reverse,
            rows: UserRows {
                user: rows.iter().map(|(k, _)| *k).collect(),
                begin_ps: rows.iter().map(|(_, row)| row.begin.0).collect(),
                columns: columns
                    .iter()
                    .enumerate()
                    .map(|(at, name)| {
                        let values = rows.iter().map(|(_, row)| row.values[at]);
                        (*name, values.collect())
                    })
                    .collect(),
            },
        }
    }
}
