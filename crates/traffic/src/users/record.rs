//! What users leave when a run ends.

use super::Users;
use super::connection::Connection;
use skycell_apps::Client;
use skycell_records::{StreamRecord, UserGroupRecord, UserRows, UserSectionRecord};
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
        let (mut ends, mut sections) = (group.ends.clone(), group.closed.clone());
        let mut rows = group.rows.clone();
        let users = self.users[group.first_user..].iter();
        let users: Vec<_> = users.take_while(|user| user.group as usize == of).collect();
        for (user, k) in users.iter().zip(0u32..) {
            let unfinished = [user.client.unfinished(end), user.peer.unfinished()];
            rows.extend(unfinished.into_iter().flatten().map(|row| (k, row)));
            for slot in &user.slots {
                let mut next = slot.at;
                while let Some(at) = next
                    && let Some(connection) = &self.connections[at as usize]
                {
                    add_open(&mut ends, &mut sections, connection);
                    next = connection.older;
                }
            }
        }
        let [forward, reverse] = ends;
        if sections.len() == 1 {
            sections.clear();
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
            sections,
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

/// Adds what a connection carries that is not closed over all of its sections to the accounts of its ends and its sections.
fn add_open(
    ends: &mut [StreamRecord; 2],
    accounts: &mut [UserSectionRecord],
    connection: &Connection,
) {
    let last = connection.sections.len() - 1;
    for (k, section) in connection.sections.iter().enumerate() {
        let at_hosts = [(&section.asking, k == last), (&section.answering, k == 0)];
        for ((half, is_at_host), asks) in at_hosts.into_iter().zip([true, false]) {
            let Some(half) = half else {
                continue;
            };
            if is_at_host {
                half.add_to(ends.each_mut(), asks);
            }
            let account = &mut accounts[k];
            half.add_to([&mut account.forward, &mut account.reverse], asks);
        }
        if let (Some(buffer), Some(half)) = (&section.buffer, &section.answering) {
            accounts[k].add_answers(&buffer.record(0, &half.sender));
        }
        if k < last
            && let Some(half) = &section.asking
        {
            accounts[k + 1].add_requests(&half.relayed());
        }
    }
}
