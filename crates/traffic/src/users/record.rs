//! What users leave when a run ends.

use super::connection::Connection;
use super::{Reported, Users};
use skycell_apps::Client;
use skycell_des::Key;
use skycell_records::{StreamRecord, UserGroupRecord, UserRows, UserSectionRecord};
use skycell_spec::AppSpec;
use skycell_units::SimTime;

impl Users {
    /// Ends the run at `end`: accounts for what is under way then.
    pub fn finish(&mut self, end: SimTime) {
        for (user, at) in self.users.iter_mut().zip(0..) {
            let group = &mut self.groups[user.group as usize];
            let client = user.client.as_ref();
            let unfinished = [
                client.and_then(|client| client.unfinished(end)),
                user.peer.unfinished(),
            ];
            let reported = unfinished.into_iter().flatten().map(|row| Reported {
                user: (at - group.first_user) as u32,
                row,
                order: Some(Key::new(SimTime::NEVER, u8::MAX, u32::MAX)),
                is_by_server: client.is_none(),
            });
            group.rows.extend(reported);
            for slot in &mut user.slots {
                let mut next = slot.at.take();
                while let Some(at) = next
                    && let Some(connection) = &self.connections[at as usize]
                {
                    add_open(&mut group.ends, &mut group.closed, connection);
                    next = connection.older;
                }
            }
        }
    }

    /// The records of the groups, after [`Users::finish`].
    pub fn records(&self) -> Vec<UserGroupRecord> {
        (0..self.groups.len())
            .map(|group| self.record(group))
            .collect()
    }

    fn record(&self, of: usize) -> UserGroupRecord {
        let group = &self.groups[of];
        let users = self.users[group.first_user..].iter();
        let users = users.take_while(|user| user.group as usize == of).count();
        let [forward, reverse] = group.ends.clone();
        let mut sections = group.closed.clone();
        if sections.len() == 1 {
            sections.clear();
        }
        let mut rows: Vec<_> = group.rows.iter().map(|own| (own.user, own.row)).collect();
        rows.sort_by_key(|(k, row)| (row.begin, *k));
        let columns = Client::columns(&group.app);
        UserGroupRecord {
            name: group.name.clone(),
            app: (*group.app).clone(),
            users: users as u64,
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
