//! Satellites that switch on board: the link of a ground station turns from satellite to satellite, and VCs change their
//! paths with it.

use super::channels::channel;
use super::{Builder, Dice, MILLISECOND, classes, records, schedules};
use skycell_des::Stream;
use skycell_spec::*;
use std::collections::BTreeMap;

/// Two ground stations over a few satellites. The path between them changes, and links between satellites and from them
/// to the ground may lose frames or have bit errors.
pub fn skies(seed: u64) -> NetworkSpec {
    let mut dice = Dice(Stream::new(seed, "skies"));
    let mut builder = Builder::new(&mut dice);
    let fed_by_satellites = builder.sky();
    let mut spec = builder.spec;
    spec.seed = dice.below(1 << 40);
    let loses = !dice.one_in(3);
    for id in fed_by_satellites {
        let link = &mut spec.links[id as usize];
        if loses && dice.one_in(2) {
            match dice.one_in(3) {
                true => link.loss_ppb = dice.pick(&[10_000_000, 300_000_000, WHOLE_PPB]),
                false => link.channel = Some(channel(&mut dice)),
            }
        }
    }
    spec.records = records(&spec, &mut dice);
    if dice.one_in(4) {
        classes::add(&mut spec, &mut dice);
    }
    spec
}

impl Builder<'_> {
    /// Ground stations west and east, satellites, and flows both ways. Returns the links that satellites feed.
    fn sky(&mut self) -> Vec<u32> {
        let duration_ps = MILLISECOND * (2 + self.dice.below(20));
        self.spec.duration_ps = duration_ps;
        let grounds = ["west", "east"].map(|name| self.node(name, NodeKind::Switch));
        let count = 2 + self.dice.below(4);
        let satellites: Vec<u32> = (0..count)
            .map(|i| self.node(&format!("sat{i}"), NodeKind::Switch))
            .collect();
        let epochs = 1 + self.dice.below(5);
        let chains: Vec<Vec<u32>> = (0..epochs).map(|_| self.chain(&satellites)).collect();
        let times: Vec<u64> = (0..epochs).map(|n| n * (duration_ps / epochs)).collect();
        let [up, back_up] = [false, true].map(|is_back| {
            let ends = chains.iter().map(|chain| match is_back {
                false => chain[0],
                true => chain[chain.len() - 1],
            });
            self.up(
                grounds[usize::from(is_back)],
                &times,
                &ends.collect::<Vec<u32>>(),
            )
        });
        let mut fed = BTreeMap::new();
        let mut path = |builder: &mut Self, chain: &[u32], is_back: bool| -> Vec<u32> {
            let (up, ground) = match is_back {
                false => (up, grounds[1]),
                true => (back_up, grounds[0]),
            };
            let mut nodes = chain.to_vec();
            if is_back {
                nodes.reverse();
            }
            nodes.push(ground);
            let mut links = vec![up];
            for pair in nodes.windows(2) {
                let link = fed.entry((pair[0], pair[1])).or_insert_with(|| {
                    let (delay, is_limited) = (builder.delay(), builder.dice.one_in(2));
                    builder.link(pair[0], pair[1], delay, is_limited)
                });
                links.push(*link);
            }
            links
        };
        let paths: Vec<[Vec<u32>; 2]> = chains
            .iter()
            .map(|chain| [false, true].map(|is_back| path(self, chain, is_back)))
            .collect();
        let start = self.start();
        for i in 0..1 + self.dice.below(4) as usize {
            let [west, east] = grounds;
            let is_back = self.dice.one_in(3);
            let (from, to) = if is_back { (east, west) } else { (west, east) };
            self.flow_over(i, from, to, start, |there| {
                paths[0][usize::from(there == is_back)].clone()
            });
        }
        let loses_cells = self.dice.one_in(3);
        for vc in &mut self.spec.vcs {
            let is_back = vc.path[1] == back_up;
            let (first, last) = (vc.path[0], vc.path[vc.path.len() - 1]);
            let later = paths[1..].iter().map(|both| {
                let middle = &both[usize::from(is_back)];
                [&[first], &middle[..], &[last]].concat()
            });
            if epochs > 1 {
                vc.rerouting = Some(ReroutingSpec {
                    times_ps: times[1..].to_vec(),
                    paths: later.collect(),
                    loses_cells,
                });
            }
        }
        fed.into_values().collect()
    }

    /// One to all of the satellites, in some order.
    fn chain(&mut self, satellites: &[u32]) -> Vec<u32> {
        let mut left = satellites.to_vec();
        let hops = 1 + self.dice.below(satellites.len() as u64);
        (0..hops)
            .map(|_| left.swap_remove(self.dice.below(left.len() as u64) as usize))
            .collect()
    }

    /// A ground station's link, which leads to one satellite after another; its delay changes with them and between.
    fn up(&mut self, ground: u32, times: &[u64], ends: &[u32]) -> u32 {
        let delay = self.delay();
        let id = self.link(ground, ends[0], delay, true);
        let mut schedule = ScheduleSpec {
            times_ps: Vec::new(),
            delays_ps: Vec::new(),
            paths: Vec::new(),
            cell_times_ps: Vec::new(),
            rates_millibps: Vec::new(),
            losses_ppb: Vec::new(),
            to: Vec::new(),
            interruption_ps: self.dice.pick(&[0, 0, MILLISECOND / 5]),
            handover_loses_cells: self.dice.one_in(3),
        };
        let mut path = 0;
        for (n, (&time, &end)) in times.iter().zip(ends).enumerate() {
            path += u32::from(n > 0 && end != ends[n - 1]);
            for between in 0..1 + self.dice.below(3) {
                let is_gone = between > 0 && self.dice.one_in(6);
                let own = delay + self.dice.below(MILLISECOND / 4);
                schedule.times_ps.push(time + between * (MILLISECOND / 7));
                schedule.delays_ps.push((!is_gone).then_some(own));
                schedule.paths.push(path);
                schedule.to.push(end);
            }
        }
        schedules::set(&mut self.spec.links[id as usize], schedule);
        id
    }
}
