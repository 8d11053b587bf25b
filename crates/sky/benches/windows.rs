//! What a packet and hop costs in windows and rings, against one list of events for the whole network.
//!
//! `cargo bench -p skycell-sky --bench windows`. A grid of satellites with stations, links of drawn
//! delays, datagrams between the stations at a part of the line rate. Both loops give the same counts
//! and the same sum of delays, or the measurement ends. Numbers are in `benches/NOTES.md`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Instant;

const PS_PER_MS: u64 = 1_000_000_000;
const PS_PER_SECOND: u64 = 1000 * PS_PER_MS;
/// Packets that a port holds, the one that is sent included.
const CAPACITY: usize = 100;
const OCTETS: u16 = 1500;
const NEVER: u64 = u64::MAX;
/// Windows that have a bucket; what is later waits in the last one and is put in again.
const BUCKETS: usize = 4096;

/// A drawn network: every directed link has a port of its own.
struct Grid {
    satellites: usize,
    stations: usize,
    /// Links of a node: from its number to that of the next node.
    node_link: Vec<u32>,
    link_to: Vec<u32>,
    delay_ps: Vec<u64>,
    /// By node and label, the link counted within the node.
    rows: Vec<u16>,
    packet_ps: u64,
}

/// Numbers that are drawn (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

impl Grid {
    /// A torus of `planes` x `each` satellites whose shortest link takes `least_ps`, and stations under
    /// drawn satellites within a part of it, so that paths have some ten links as over Kuiper.
    fn new(planes: usize, each: usize, stations: usize, least_ps: u64, bits_per_s: u64) -> Self {
        let mut draw = Draw(1);
        let satellites = planes * each;
        let mut links: Vec<Vec<(u32, u64)>> = vec![Vec::new(); satellites + stations];
        let mut link = |a: usize, b: usize, delay_ps: u64| {
            links[a].push((b as u32, delay_ps));
            links[b].push((a as u32, delay_ps));
        };
        for plane in 0..planes {
            for slot in 0..each {
                let own = plane * each + slot;
                link(own, plane * each + (slot + 1) % each, 4_300_000_000);
                let across_ps = least_ps + draw.below(4 * PS_PER_MS);
                link(own, (plane + 1) % planes * each + slot, across_ps);
            }
        }
        for station in 0..stations {
            let (plane, slot) = (draw.below(20) as usize, draw.below(14) as usize);
            let delay_ps = 2_100_000_000 + draw.below(2 * PS_PER_MS);
            link(satellites + station, plane * each + slot, delay_ps);
        }
        let mut grid = Grid {
            satellites,
            stations,
            node_link: vec![0],
            link_to: Vec::new(),
            delay_ps: Vec::new(),
            rows: vec![0; (satellites + stations) * stations],
            packet_ps: u64::from(OCTETS) * 8 * PS_PER_SECOND / bits_per_s,
        };
        for row in &links {
            grid.link_to.extend(row.iter().map(|own| own.0));
            grid.delay_ps.extend(row.iter().map(|own| own.1));
            grid.node_link.push(grid.link_to.len() as u32);
        }
        for label in 0..stations {
            grid.fill_rows(label, &links);
        }
        grid
    }

    /// The least delay to a label, by Dijkstra; stations do not relay.
    fn fill_rows(&mut self, label: usize, links: &[Vec<(u32, u64)>]) {
        let mut least = vec![NEVER; links.len()];
        let mut heap = BinaryHeap::from([Reverse((0, (self.satellites + label) as u32))]);
        least[self.satellites + label] = 0;
        while let Some(Reverse((delay_ps, node))) = heap.pop() {
            let is_relay = (node as usize) < self.satellites || delay_ps == 0;
            if delay_ps > least[node as usize] || !is_relay {
                continue;
            }
            for &(to, link_ps) in &links[node as usize] {
                let whole_ps = delay_ps + link_ps;
                if whole_ps < least[to as usize] {
                    least[to as usize] = whole_ps;
                    let back = links[to as usize].iter().position(|own| own.0 == node);
                    let slot = to as usize * self.stations + label;
                    self.rows[slot] = back.expect("links have two directions") as u16;
                    heap.push(Reverse((whole_ps, to)));
                }
            }
        }
    }

    fn next_link(&self, node: u32, label: u16) -> u32 {
        let row = self.rows[node as usize * self.stations + usize::from(label)];
        self.node_link[node as usize] + u32::from(row)
    }

    /// No arrival leads to another one within this time.
    fn lookahead_ps(&self) -> u64 {
        self.delay_ps.iter().min().expect("there are links") + self.packet_ps
    }
}

/// A packet on its way.
#[derive(Clone, Copy)]
struct Entry {
    arrival_ps: u64,
    sent_ps: u64,
    label: u16,
    octets: u16,
    hops: u8,
}

/// Datagrams of a station to another one.
#[derive(Clone, Copy)]
struct Source {
    label: u16,
    next_ps: u64,
    every_ps: u64,
}

/// A port whose departures are known at hand-over.
struct Port {
    free_ps: u64,
    last_arrival_ps: u64,
    busy_ps: u64,
    held: VecDeque<u64>,
    taken: u64,
    octets: u64,
    /// Integral of the packets held over time.
    area: u128,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    hops: u64,
    delivered: u64,
    dropped: u64,
    delays_ps: u128,
}

fn ports(grid: &Grid) -> Vec<Port> {
    let new = |_| Port {
        free_ps: 0,
        last_arrival_ps: 0,
        busy_ps: 0,
        held: VecDeque::new(),
        taken: 0,
        octets: 0,
        area: 0,
    };
    grid.link_to.iter().map(new).collect()
}

fn sources(grid: &Grid, load: f64) -> Vec<Source> {
    let every_ps = (grid.packet_ps as f64 / load) as u64;
    let mut draw = Draw(7);
    let of = |station: usize| Source {
        label: ((station + 37) % grid.stations) as u16,
        next_ps: draw.below(every_ps),
        every_ps,
    };
    (0..grid.stations).map(of).collect()
}

/// Hands a packet to the port of a link; its arrival at the other end, or none if it is dropped.
fn offer(grid: &Grid, port: &mut Port, link: u32, octets: u16, now_ps: u64) -> Option<u64> {
    while port.held.front().is_some_and(|&left_ps| left_ps <= now_ps) {
        port.held.pop_front();
    }
    if port.held.len() == CAPACITY {
        return None;
    }
    let start_ps = port.free_ps.max(now_ps);
    let departure_ps = start_ps + grid.packet_ps;
    port.free_ps = departure_ps;
    port.held.push_back(departure_ps);
    port.busy_ps += grid.packet_ps;
    port.area += u128::from(departure_ps - now_ps);
    port.taken += 1;
    port.octets += u64::from(octets);
    let arrival_ps = (departure_ps + grid.delay_ps[link as usize]).max(port.last_arrival_ps);
    port.last_arrival_ps = arrival_ps;
    Some(arrival_ps)
}

/// One list of events for the whole network.
fn in_a_list(grid: &Grid, load: f64, end_ps: u64) -> (Counts, Vec<Port>) {
    let mut counts = Counts::default();
    let mut ports = ports(grid);
    let links = grid.link_to.len() as u32;
    let mut heap = BinaryHeap::new();
    let mut entries: Vec<Entry> = Vec::new();
    let mut free: Vec<u32> = Vec::new();
    let mut sources = sources(grid, load);
    for (station, source) in sources.iter().enumerate() {
        heap.push(Reverse((source.next_ps, links + station as u32, 0)));
    }
    while let Some(Reverse((now_ps, input, slot))) = heap.pop() {
        if now_ps >= end_ps {
            break;
        }
        let (node, mut entry) = if input >= links {
            let station = input - links;
            let source = &mut sources[station as usize];
            source.next_ps += source.every_ps;
            heap.push(Reverse((source.next_ps, input, 0)));
            (grid.satellites as u32 + station, new_entry(source, now_ps))
        } else {
            free.push(slot);
            (grid.link_to[input as usize], entries[slot as usize])
        };
        counts.hops += 1;
        if node == grid.satellites as u32 + u32::from(entry.label) {
            counts.delivered += 1;
            counts.delays_ps += u128::from(now_ps - entry.sent_ps);
            continue;
        }
        let link = grid.next_link(node, entry.label);
        match offer(grid, &mut ports[link as usize], link, entry.octets, now_ps) {
            None => counts.dropped += 1,
            Some(arrival_ps) => {
                entry.arrival_ps = arrival_ps;
                entry.hops += 1;
                let slot = free.pop().unwrap_or_else(|| {
                    entries.push(entry);
                    entries.len() as u32 - 1
                });
                entries[slot as usize] = entry;
                heap.push(Reverse((arrival_ps, link, slot)));
            }
        }
    }
    (counts, ports)
}

fn new_entry(source: &Source, now_ps: u64) -> Entry {
    Entry {
        arrival_ps: now_ps,
        sent_ps: now_ps,
        label: source.label,
        octets: OCTETS,
        hops: 0,
    }
}

/// Nodes act through a window alone, a ring for each link.
struct Windows<'a> {
    grid: &'a Grid,
    end_ps: u64,
    /// A window is as long as the lookahead.
    width_ps: u64,
    ports: Vec<Port>,
    rings: Vec<VecDeque<Entry>>,
    /// Time of each ring's head, by input of a node; `NEVER` where it is empty.
    heads_ps: Vec<u64>,
    /// Links into a node, ascending.
    node_input: Vec<u32>,
    input_link: Vec<u32>,
    /// Of a link, its index in the two above.
    link_input: Vec<u32>,
    sources: Vec<Source>,
    /// The window in whose bucket a node lies; `NEVER` for none.
    waits: Vec<u64>,
    buckets: Vec<Vec<u32>>,
    counts: Counts,
    visits: u64,
}

impl<'a> Windows<'a> {
    fn new(grid: &'a Grid, load: f64, end_ps: u64) -> Self {
        let nodes = grid.satellites + grid.stations;
        let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); nodes];
        for (link, &to) in grid.link_to.iter().enumerate() {
            inputs[to as usize].push(link as u32);
        }
        let mut windows = Windows {
            grid,
            end_ps,
            width_ps: grid.lookahead_ps(),
            ports: ports(grid),
            rings: vec![VecDeque::new(); grid.link_to.len()],
            heads_ps: vec![NEVER; grid.link_to.len()],
            node_input: vec![0],
            input_link: Vec::new(),
            link_input: vec![0; grid.link_to.len()],
            sources: sources(grid, load),
            waits: vec![NEVER; nodes],
            buckets: vec![Vec::new(); BUCKETS],
            counts: Counts::default(),
            visits: 0,
        };
        for row in inputs {
            for link in row {
                windows.link_input[link as usize] = windows.input_link.len() as u32;
                windows.input_link.push(link);
            }
            windows.node_input.push(windows.input_link.len() as u32);
        }
        windows
    }

    fn run(&mut self) {
        for station in 0..self.grid.stations {
            let at_ps = self.sources[station].next_ps;
            self.wait((self.grid.satellites + station) as u32, at_ps);
        }
        for window in 0..self.end_ps.div_ceil(self.width_ps) {
            let bucket = window as usize % BUCKETS;
            let mut nodes = std::mem::take(&mut self.buckets[bucket]);
            for node in nodes.drain(..) {
                if self.waits[node as usize] == window {
                    self.waits[node as usize] = NEVER;
                    self.act(node, ((window + 1) * self.width_ps).min(self.end_ps));
                }
            }
            self.buckets[bucket] = nodes;
        }
    }

    /// Has a node act in the window of a time, if it does not act before that.
    fn wait(&mut self, node: u32, at_ps: u64) {
        let window = at_ps / self.width_ps;
        if window < self.waits[node as usize] {
            self.waits[node as usize] = window;
            self.buckets[window as usize % BUCKETS].push(node);
        }
    }

    fn act(&mut self, node: u32, until_ps: u64) {
        self.visits += 1;
        let inputs =
            self.node_input[node as usize] as usize..self.node_input[node as usize + 1] as usize;
        let station = (node as usize).checked_sub(self.grid.satellites);
        loop {
            let mut first = (NEVER, 0);
            for input in inputs.clone() {
                if self.heads_ps[input] < first.0 {
                    first = (self.heads_ps[input], input);
                }
            }
            // Links come before the source at equal times.
            if let Some(station) = station
                && self.sources[station].next_ps < first.0
            {
                let source = &mut self.sources[station];
                let now_ps = source.next_ps;
                if now_ps >= until_ps {
                    return self.wait(node, now_ps);
                }
                source.next_ps += source.every_ps;
                let entry = new_entry(source, now_ps);
                self.forward(node, entry);
                continue;
            }
            if first.0 >= until_ps {
                if first.0 != NEVER {
                    self.wait(node, first.0);
                }
                return;
            }
            let ring = &mut self.rings[self.input_link[first.1] as usize];
            let entry = ring.pop_front().expect("a ring with a head");
            self.heads_ps[first.1] = ring.front().map_or(NEVER, |next| next.arrival_ps);
            self.forward(node, entry);
        }
    }

    fn forward(&mut self, node: u32, mut entry: Entry) {
        self.counts.hops += 1;
        let now_ps = entry.arrival_ps;
        if node == self.grid.satellites as u32 + u32::from(entry.label) {
            self.counts.delivered += 1;
            self.counts.delays_ps += u128::from(now_ps - entry.sent_ps);
            return;
        }
        let link = self.grid.next_link(node, entry.label);
        let Some(arrival_ps) = offer(
            self.grid,
            &mut self.ports[link as usize],
            link,
            entry.octets,
            now_ps,
        ) else {
            self.counts.dropped += 1;
            return;
        };
        entry.arrival_ps = arrival_ps;
        entry.hops += 1;
        let ring = &mut self.rings[link as usize];
        if ring.is_empty() {
            self.heads_ps[self.link_input[link as usize] as usize] = arrival_ps;
            ring.push_back(entry);
            self.wait(self.grid.link_to[link as usize], arrival_ps);
        } else {
            ring.push_back(entry);
        }
    }
}

fn main() {
    println!("rate, load: hops; drops; windows and rings, ns a hop; list, ns a hop; hops a visit");
    for (bits_per_s, load, end_ps) in [
        (10_000_000, 0.3, 20 * PS_PER_SECOND),
        (10_000_000, 0.7, 20 * PS_PER_SECOND),
        (10_000_000, 1.0, 20 * PS_PER_SECOND),
        (100_000_000, 0.7, 2 * PS_PER_SECOND),
        (100_000_000, 1.0, 2 * PS_PER_SECOND),
    ] {
        let grid = Grid::new(34, 34, 100, 530_000_000, bits_per_s);
        let (mut best, mut best_list) = (f64::INFINITY, f64::INFINITY);
        let mut shown = (Counts::default(), 0);
        for _ in 0..5 {
            let mut windows = Windows::new(&grid, load, end_ps);
            let began = Instant::now();
            windows.run();
            let ns = began.elapsed().as_nanos() as f64;
            best = best.min(ns / windows.counts.hops as f64);
            let began = Instant::now();
            let (counts, ports) = in_a_list(&grid, load, end_ps);
            let ns = began.elapsed().as_nanos() as f64;
            best_list = best_list.min(ns / counts.hops as f64);
            assert_eq!(counts, windows.counts, "both loops do the same");
            let sums = |own: &[Port]| {
                own.iter().fold((0, 0, 0), |sum, port| {
                    (sum.0 + port.taken, sum.1 + port.busy_ps, sum.2 + port.area)
                })
            };
            assert_eq!(sums(&ports), sums(&windows.ports), "both loops do the same");
            shown = (windows.counts, windows.visits);
        }
        let (counts, visits) = shown;
        println!(
            "{} Mbit/s, {load}: {}; {}; {best:.1}; {best_list:.1}; {:.2}",
            bits_per_s / 1_000_000,
            counts.hops,
            counts.dropped,
            counts.hops as f64 / visits as f64
        );
    }
}
