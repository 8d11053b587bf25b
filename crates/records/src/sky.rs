//! Columns of the ports and nodes of a sky, of which there are thousands: those that had no traffic have no
//! row.

use crate::traces::Columns;
use crate::{Account, CellDelays, Ledger, PortRecord};

/// Length of the intervals of [`SkySeconds`], picoseconds.
const SECOND_PS: u64 = 1_000_000_000_000;

/// Declares a table: its columns, each with its type.
macro_rules! table {
    ($(#[$doc:meta])* $name:ident { $(#[$of:meta] $column:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name { $(#[$of] pub $column: Vec<$type>,)+ }

        impl $name {
            /// Adds one row.
            #[allow(clippy::too_many_arguments)] // one argument a column
            pub fn push(&mut self, $($column: $type,)+) { $(self.$column.push($column);)+ }

            /// The columns with their names.
            pub fn into_columns(self) -> Columns {
                vec![$((stringify!($column), self.$column.into()),)+]
            }
        }
    };
}

table! {
    /// Ports of the sky that a packet came to, a row each.
    SkyPorts {
        /// Number of the port.
        port: u32,
        /// Packets that came.
        arrived: u64,
        /// Packets whose last bit has left.
        departed: u64,
        /// Packets discarded.
        discarded: u64,
        /// Packets in the port at the end.
        queued: u64,
        /// Packets marked with CE.
        marked: u64,
        /// Octets of IP packets that have left.
        octets: u64,
        /// Time during which a packet was under transmission, picoseconds.
        busy_ps: u64,
        /// Mean over time of the packets in the port.
        queue_mean: f64,
        /// Most packets in the port.
        queue_max: u32,
    }
}

table! {
    /// Nodes of the sky that a packet came to, a row each.
    SkyNodes {
        /// Number of the node.
        node: u32,
        /// Packets that came over links of the sky.
        arrived: u64,
        /// Packets that flows, sources and other links handed over here.
        handed_over: u64,
        /// Packets whose label ends here.
        delivered: u64,
        /// Packets that went to a port of the node.
        offered: u64,
        /// Of these, packets that another port of the node gave back, as its link or route had changed.
        rerouted: u64,
        /// Packets that went back over the link that they had come by.
        turned_back: u64,
        /// Packets lost on arrival for want of a route.
        no_route: u64,
        /// Packets lost on arrival because they had taken as many links as they may.
        hop_limit: u64,
        /// Packets lost as they left, because link or route was gone.
        gone: u64,
        /// Cells that policers discarded where their VC enters the network.
        policed: u64,
    }
}

table! {
    /// Ports by second of the run, as far as a packet came or left: port after port.
    SkySeconds {
        /// Number of the port.
        port: u32,
        /// Second, from 0.
        second: u32,
        /// Octets of IP packets whose last bit left in it.
        octets: u64,
        /// Packets whose last bit left in it.
        packets: u32,
        /// Most packets in the port right after one came in it.
        queue_max: u32,
        /// Packets discarded in it.
        discarded: u32,
    }
}

table! {
    /// Round-trip times of the connections whose data a VC carries, a row for each VC that has some.
    SkyRoundTrips {
        /// Number of the VC.
        vc: u32,
        /// Times: data segments that were timed.
        timed: u64,
        /// Least time, picoseconds, exact.
        least_ps: u64,
        /// Mean, picoseconds, exact.
        mean_ps: f64,
        /// Median, picoseconds; as the next, not below the exact one and above it by at most 1/128.
        p50_ps: u64,
        /// 99th percentile, picoseconds.
        p99_ps: u64,
        /// Greatest time, picoseconds, exact.
        greatest_ps: u64,
    }
}

/// What a sky leaves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkyRecord {
    /// By port.
    pub ports: SkyPorts,
    /// By node.
    pub nodes: SkyNodes,
    /// By port and second.
    pub seconds: SkySeconds,
    /// Round-trip times of connections by the VC of their data, ascending; only of VCs that have some.
    pub round_trips: Vec<(u32, CellDelays)>,
}

/// Counts of a port by second. Those of the present second lie apart, so that a packet costs neither a division nor
/// a look at the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SkyMeter {
    /// When the present second ends; 0 where there is none yet.
    until_ps: u64,
    present: Second,
    rows: Vec<Second>,
}

/// The counts of one second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Second {
    octets: u64,
    second: u32,
    packets: u32,
    queue_max: u32,
    discarded: u32,
}

impl SkyMeter {
    #[inline(always)]
    fn row(&mut self, now_ps: u64) -> &mut Second {
        if now_ps >= self.until_ps {
            self.begin(now_ps);
        }
        &mut self.present
    }

    #[inline(never)] // once a second
    fn begin(&mut self, now_ps: u64) {
        if self.until_ps > 0 {
            self.rows.push(self.present);
        }
        let second = now_ps / SECOND_PS;
        self.until_ps = (second + 1) * SECOND_PS;
        self.present = Second {
            second: second as u32,
            ..Second::default()
        };
    }

    /// All seconds with something in them.
    fn rows(&self) -> impl Iterator<Item = &Second> {
        let present = (self.until_ps > 0).then_some(&self.present);
        self.rows.iter().chain(present)
    }

    /// Packets whose last bit left, and their octets.
    pub fn departed(&self) -> (u64, u64) {
        let rows = || self.rows();
        let packets = rows().map(|row| u64::from(row.packets)).sum();
        (packets, rows().map(|row| row.octets).sum())
    }

    /// A packet came, and the port has `queued` packets now.
    #[inline]
    pub fn on_arrival(&mut self, now_ps: u64, queued: u32) {
        let row = self.row(now_ps);
        row.queue_max = row.queue_max.max(queued);
    }

    /// The last bit of a packet of `octets` octets left.
    #[inline]
    pub fn on_departure(&mut self, now_ps: u64, octets: u32) {
        let row = self.row(now_ps);
        row.octets += u64::from(octets);
        row.packets += 1;
    }

    /// So many packets were discarded.
    pub fn on_discard(&mut self, now_ps: u64, packets: u32) {
        if packets > 0 {
            self.row(now_ps).discarded += packets;
        }
    }

    /// Adds the rows of port `port` to a table.
    pub fn write(&self, port: u32, seconds: &mut SkySeconds) {
        for row in self.rows() {
            seconds.push(
                port,
                row.second,
                row.octets,
                row.packets,
                row.queue_max,
                row.discarded,
            );
        }
    }
}

impl SkyRecord {
    /// Adds a port and its seconds.
    pub fn add_port(&mut self, port: u32, record: &PortRecord, meter: &SkyMeter) {
        let octets = record.octets.as_ref();
        self.ports.push(
            port,
            record.arrived,
            record.departed,
            record.discarded.total(),
            record.queued,
            octets.and_then(|own| own.ecn).map_or(0, |ecn| ecn.marked),
            meter.departed().1,
            record.busy_ps,
            record.queue.mean,
            record.queue.max,
        );
        meter.write(port, &mut self.seconds);
    }

    /// Adds the accounts of all ports and of all nodes together to a ledger, and that of a node that does
    /// not balance.
    pub fn add_to(&self, ledger: &mut Ledger) {
        let sum = |column: &[u64]| column.iter().sum::<u64>();
        let (ports, nodes) = (&self.ports, &self.nodes);
        let found = vec![
            ("departed", sum(&ports.departed)),
            ("discarded", sum(&ports.discarded)),
            ("queued", sum(&ports.queued)),
        ];
        ledger.add(
            "packets, ports of the sky".into(),
            sum(&ports.arrived),
            found,
        );
        let all = self.node_account(None);
        let wrong = (0..nodes.node.len()).map(|row| self.node_account(Some(row)));
        let wrong = wrong.filter(|account| !account.is_balanced()).take(1);
        ledger.accounts.extend(std::iter::once(all).chain(wrong));
    }

    /// What came to a node, or to all, and where it went.
    fn node_account(&self, row: Option<usize>) -> Account {
        let nodes = &self.nodes;
        let sum = |column: &[u64]| match row {
            Some(row) => column[row],
            None => column.iter().sum(),
        };
        let name = match row {
            Some(row) => format!("packets, node {} of the sky", nodes.node[row]),
            None => "packets, nodes of the sky".into(),
        };
        Account {
            name,
            put_in: sum(&nodes.arrived) + sum(&nodes.handed_over) + sum(&nodes.rerouted),
            found: vec![
                ("delivered", sum(&nodes.delivered)),
                ("offered to ports", sum(&nodes.offered)),
                ("lost for want of a route", sum(&nodes.no_route)),
                ("lost at the hop limit", sum(&nodes.hop_limit)),
                ("policed", sum(&nodes.policed)),
            ],
        }
    }

    /// The tables with their names.
    pub fn into_tables(self) -> Vec<(&'static str, Columns)> {
        vec![
            ("sky_ports", self.ports.into_columns()),
            ("sky_nodes", self.nodes.into_columns()),
            ("sky_seconds", self.seconds.into_columns()),
            (
                "sky_round_trips",
                round_trips(&self.round_trips).into_columns(),
            ),
        ]
    }

    /// Takes off what a run of `start_ps` had, of which this one, of `whole_ps`, is the continuation.
    pub(crate) fn subtract(&mut self, start: &SkyRecord, (whole_ps, start_ps): (u64, u64)) {
        let (ports, before) = (&mut self.ports, &start.ports);
        let mut known = 0;
        for row in 0..ports.port.len() {
            if before.port.get(known) != Some(&ports.port[row]) {
                // Nothing came before: the mean is over the rest alone.
                ports.queue_mean[row] *= whole_ps as f64 / (whole_ps - start_ps) as f64;
                continue;
            }
            ports.arrived[row] -= before.arrived[known];
            ports.departed[row] -= before.departed[known];
            ports.discarded[row] -= before.discarded[known];
            ports.marked[row] -= before.marked[known];
            ports.octets[row] -= before.octets[known];
            ports.busy_ps[row] -= before.busy_ps[known];
            ports.queue_mean[row] = crate::warm_up::mean(
                (ports.queue_mean[row], whole_ps),
                (before.queue_mean[known], start_ps),
            );
            known += 1;
        }
        let (nodes, before) = (&mut self.nodes, &start.nodes);
        let mut known = 0;
        for row in 0..nodes.node.len() {
            if before.node.get(known) != Some(&nodes.node[row]) {
                continue;
            }
            nodes.arrived[row] -= before.arrived[known];
            nodes.handed_over[row] -= before.handed_over[known];
            nodes.delivered[row] -= before.delivered[known];
            nodes.offered[row] -= before.offered[known];
            nodes.rerouted[row] -= before.rerouted[known];
            nodes.turned_back[row] -= before.turned_back[known];
            nodes.no_route[row] -= before.no_route[known];
            nodes.hop_limit[row] -= before.hop_limit[known];
            nodes.gone[row] -= before.gone[known];
            nodes.policed[row] -= before.policed[known];
            known += 1;
        }
        self.subtract_seconds(start);
        for (vc, times) in &mut self.round_trips {
            let found = start.round_trips.binary_search_by_key(vc, |own| own.0);
            if let Ok(row) = found {
                *times = times.since(&start.round_trips[row].1);
            }
        }
        self.round_trips.retain(|(_, times)| !times.is_empty());
    }

    /// Of the last second of the beginning the rest is left, and nothing of those before.
    fn subtract_seconds(&mut self, start: &SkyRecord) {
        let (seconds, before) = (&mut self.seconds, &start.seconds);
        let mut known = 0;
        let mut keeps = vec![true; seconds.port.len()];
        for (row, keeps) in keeps.iter_mut().enumerate() {
            let own = (seconds.port[row], seconds.second[row]);
            if known == before.port.len() || (before.port[known], before.second[known]) != own {
                continue;
            }
            seconds.octets[row] -= before.octets[known];
            seconds.packets[row] -= before.packets[known];
            seconds.discarded[row] -= before.discarded[known];
            known += 1;
            *keeps = seconds.packets[row] > 0 || seconds.discarded[row] > 0;
        }
        let kept = |row: usize| keeps[row].then_some(row);
        let rows: Vec<usize> = (0..keeps.len()).filter_map(kept).collect();
        let all = std::mem::take(seconds);
        for row in rows {
            seconds.push(
                all.port[row],
                all.second[row],
                all.octets[row],
                all.packets[row],
                all.queue_max[row],
                all.discarded[row],
            );
        }
    }
}

fn round_trips(of_vcs: &[(u32, CellDelays)]) -> SkyRoundTrips {
    let mut table = SkyRoundTrips::default();
    for (vc, times) in of_vcs {
        let own = times.record(*vc).delay;
        let (least, greatest) = (own.min_ps, own.max_ps);
        table.push(
            *vc,
            own.cells,
            least,
            own.mean_ps,
            own.p50_ps,
            own.p99_ps,
            greatest,
        );
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(until_ps: u64) -> SkyMeter {
        let mut meter = SkyMeter::default();
        for (now_ps, queued) in [(0, 1), (SECOND_PS / 2, 3), (3 * SECOND_PS, 2)] {
            if now_ps < until_ps {
                meter.on_arrival(now_ps, queued);
                meter.on_departure(now_ps + 10, 1500);
                meter.on_discard(now_ps + 20, queued - 1);
            }
        }
        meter
    }

    #[test]
    fn seconds_without_traffic_have_no_row() {
        let mut seconds = SkySeconds::default();
        meter(u64::MAX).write(7, &mut seconds);
        assert_eq!((seconds.port, seconds.second), (vec![7, 7], vec![0, 3]));
        assert_eq!(
            (seconds.octets, seconds.packets),
            (vec![3000, 1500], vec![2, 1])
        );
        assert_eq!(
            (seconds.queue_max, seconds.discarded),
            (vec![3, 2], vec![2, 1])
        );
    }

    #[test]
    fn of_a_beginning_within_a_second_the_rest_is_left() {
        let record = |until_ps: u64| {
            let mut record = SkyRecord::default();
            meter(until_ps).write(7, &mut record.seconds);
            record
        };
        let mut whole = record(u64::MAX);
        whole.subtract(&record(SECOND_PS / 4), (4 * SECOND_PS, SECOND_PS / 4));
        assert_eq!(whole.seconds.octets, [1500, 1500]);
        let mut whole = record(u64::MAX);
        whole.subtract(&record(2 * SECOND_PS), (4 * SECOND_PS, 2 * SECOND_PS));
        assert_eq!(
            (whole.seconds.second, whole.seconds.octets),
            (vec![3], vec![1500])
        );
    }

    #[test]
    fn of_round_trips_before_the_beginning_none_are_left() {
        let record = |of_vcs: &[(u32, &[u64])]| {
            let times = |all: &[u64]| {
                let mut times = CellDelays::new(0);
                all.iter().for_each(|&time| times.add(time));
                times
            };
            SkyRecord {
                round_trips: of_vcs.iter().map(|&(vc, all)| (vc, times(all))).collect(),
                ..SkyRecord::default()
            }
        };
        let start = record(&[(1, &[70, 30]), (4, &[50])]);
        let mut whole = record(&[(1, &[70, 30]), (2, &[20]), (4, &[50, 90])]);
        whole.subtract(&start, (2, 1));
        let left = round_trips(&whole.round_trips);
        assert_eq!((left.vc, left.timed), (vec![2, 4], vec![1, 1]));
        assert_eq!((left.least_ps, left.p99_ps), (vec![20, 90], vec![20, 90]));
    }

    #[test]
    fn a_node_that_loses_count_unbalances_the_ledger() {
        let mut record = SkyRecord::default();
        record.nodes.push(0, 5, 0, 2, 3, 0, 0, 0, 0, 0, 0);
        record.nodes.push(1, 4, 0, 2, 2, 0, 0, 0, 0, 0, 0);
        let mut ledger = Ledger::default();
        record.add_to(&mut ledger);
        assert_eq!(ledger.first_unbalanced(), None);
        // One too many here and one too few there balance together, and not one by one.
        record.nodes.delivered = vec![3, 1];
        let mut ledger = Ledger::default();
        record.add_to(&mut ledger);
        assert!(ledger.first_unbalanced().is_some());
    }
}
