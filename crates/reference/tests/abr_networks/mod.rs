//! Networks of ABR VCs over a row of switches, and the rates that water-filling gives them.

use serde_json::{Value, json};
use skycell_records::RunRecords;
use skycell_spec::NetworkSpec;

pub const MS: u64 = 1_000_000_000;

/// A VC that never has nothing to send.
struct Greedy {
    source: String,
    vc: usize,
}

/// A row of switches, hosts at its ends and beside it.
pub struct Net {
    nodes: Vec<Value>,
    links: Vec<Value>,
    vcs: Vec<Value>,
    greedy: Vec<Greedy>,
    sources: Vec<Value>,
    switches: usize,
    access_ps: u64,
    delay_ps: u64,
    /// By switch: its links to the next one and back.
    row: Vec<[usize; 2]>,
}

/// A link whose port holds whatever comes.
pub fn link(name: &str, from: usize, to: usize, cell_time_ps: u64, delay_ps: u64) -> Value {
    json!({
        "name": name, "from": from, "to": to, "cell_time_ps": cell_time_ps, "delay_ps": delay_ps,
        "schedule": null,
        "port": {
            "queues": [{"class": null, "capacity_cells": null, "policy": {"kind": "tail_drop"}}],
            "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0,
        },
    })
}

/// The rate control of a VC with these PCR and MCR, cells a second; ICR as PCR, the rest as TM 4.0 has it.
pub fn abr(pcr: u64, mcr: u64) -> Value {
    json!({
        "return_vc": 0, "pcr_millicells": pcr * 1_000, "mcr_millicells": mcr * 1_000,
        "icr_millicells": pcr * 1_000, "tbe_cells": 16_777_215, "frtt_ps": 0, "nrm": 32, "mrm": 2,
        "trm_ps": 100 * MS, "rif": 0.0625, "rdf": 0.0625, "cdf": 0.0625, "adtf_ps": 500 * MS,
        "tcr_millicells": 10_000, "use_it_or_lose_it": false, "turns_out_of_rate": false,
        "destination_millicells": pcr * 1_000, "weight": 1.0,
    })
}

/// A source of frames of one cell at an even pace.
pub fn cell_source(name: &str, vc: usize, start_ps: u64, interval_ps: u64) -> Value {
    json!({
        "name": name, "vc": vc, "cell_interval_ps": interval_ps, "frame_cells": 1,
        "datagram_route": [], "pattern": {"kind": "constant"}, "start": {"kind": "at", "time_ps": start_ps},
    })
}

impl Net {
    /// So many switches in a row; a host of its own for each end of a VC.
    pub fn chain(switches: usize, access_ps: u64, delay_ps: u64) -> Net {
        let nodes = (0..switches).map(|i| json!({"name": format!("s{i}"), "kind": "switch"}));
        Net {
            nodes: nodes.collect(),
            links: Vec::new(),
            vcs: Vec::new(),
            greedy: Vec::new(),
            sources: Vec::new(),
            switches,
            access_ps,
            delay_ps,
            row: Vec::new(),
        }
    }

    /// Joins each switch to the next by a link of this cell time and delay, with this algorithm there.
    pub fn join(&mut self, cell_time_ps: u64, delay_ps: u64, algorithm: &Value) {
        let at = self.row.len();
        let mut there = link(&format!("row{at}"), at, at + 1, cell_time_ps, delay_ps);
        if !algorithm.is_null() {
            there["port"]["rate_algorithm"] = algorithm.clone();
        }
        let back = link(&format!("back{at}"), at + 1, at, cell_time_ps, delay_ps);
        self.row.push([self.links.len(), self.links.len() + 1]);
        self.links.extend([there, back]);
        assert!(self.row.len() < self.switches);
    }

    /// Two VCs between a new host at switch `from` and one behind switch `to - 1`: there, and back.
    pub fn connect(&mut self, from: usize, to: usize, control: Value) -> usize {
        let (a, b) = (self.nodes.len(), self.nodes.len() + 1);
        self.nodes
            .push(json!({"name": format!("h{a}"), "kind": "host"}));
        self.nodes
            .push(json!({"name": format!("h{b}"), "kind": "host"}));
        let first = self.links.len();
        let (time, delay) = (self.access_ps, self.delay_ps);
        for (name, from, to) in [
            ("in", a, from),
            ("out", to - 1, b),
            ("in", b, to - 1),
            ("out", from, a),
        ] {
            self.links.push(link(
                &format!("{name}{}", self.links.len()),
                from,
                to,
                time,
                delay,
            ));
        }
        let inner = self.row[from..to - 1].iter();
        let there: Vec<usize> = [first]
            .into_iter()
            .chain(inner.clone().map(|l| l[0]))
            .collect();
        let back: Vec<usize> = [first + 2]
            .into_iter()
            .chain(inner.rev().map(|l| l[1]))
            .collect();
        let vc = self.vcs.len();
        for (k, (path, last)) in [(there, first + 1), (back, first + 3)]
            .into_iter()
            .enumerate()
        {
            let mut control = control.clone();
            control["return_vc"] = json!(vc + 1 - k);
            let path: Vec<usize> = path.into_iter().chain([last]).collect();
            self.vcs.push(json!({
                "name": format!("v{}", vc + k), "path": path, "class": "abr", "policing": [], "gfr": null,
                "abr": control,
            }));
        }
        vc
    }

    /// Gives the VC something to send all the time, at least at its PCR.
    pub fn feed(&mut self, vc: usize) {
        let source = format!("source{vc}");
        self.greedy.push(Greedy { source, vc });
    }

    /// Gives the VC a cell to send at this interval.
    pub fn add_source(&mut self, vc: usize, interval_ps: u64) {
        let name = format!("source{vc}");
        self.sources.push(cell_source(&name, vc, 0, interval_ps));
    }

    /// A CBR VC from switch `from` to switch `to - 1` with a cell at each interval, which goes first at all
    /// ports.
    pub fn add_cbr(&mut self, from: usize, to: usize, interval_ps: u64) {
        let vc = self.connect(from, to, Value::Null);
        self.vcs.pop();
        let cbr = self.vcs[vc].as_object_mut().unwrap();
        cbr.remove("abr");
        cbr["class"] = json!("cbr");
        for link in &mut self.links {
            let queue = |class: Value| json!({"class": class, "capacity_cells": null, "policy": {"kind": "tail_drop"}});
            link["port"]["queues"] = json!([queue(json!("cbr")), queue(Value::Null)]);
            link["port"]["scheduler"] = json!({"kind": "strict_priority"});
        }
        self.add_source(vc, interval_ps);
    }

    pub fn spec(&self, duration_ps: u64) -> Value {
        let sources = self.greedy.iter().map(|greedy| {
            let pcr = self.vcs[greedy.vc]["abr"]["pcr_millicells"]
                .as_u64()
                .unwrap();
            cell_source(&greedy.source, greedy.vc, 0, 999_000_000_000_000 / pcr)
        });
        let sources = sources.chain(self.sources.iter().cloned());
        let mut links = self.links.clone();
        for greedy in &self.greedy {
            let first = self.vcs[greedy.vc]["path"][0].as_u64().unwrap() as usize;
            let queues = links[first]["port"]["queues"].as_array_mut().unwrap();
            queues.last_mut().unwrap()["capacity_cells"] = json!(100);
        }
        json!({
            "version": 2, "seed": 1, "duration_ps": duration_ps, "nodes": self.nodes, "links": links,
            "vcs": self.vcs, "flows": [], "sources": sources.collect::<Vec<_>>(),
            "records": {
                "sample_every_ps": 1_000 * MS, "sampled_ports": [], "vc_sampled_ports": [],
                "delay_vcs": [], "traces": [],
            },
        })
    }
}

pub fn run(spec: &Value) -> RunRecords {
    let spec = NetworkSpec::from_json(&spec.to_string()).unwrap();
    skycell_reference::run(&spec, &mut |_| true).unwrap()
}

/// Cells a second that reach the end of each VC in the last part of a run, from `from_ps` on.
pub fn rates(net: &Net, from_ps: u64, to_ps: u64) -> Vec<f64> {
    let [early, late] = [from_ps, to_ps].map(|end| run(&net.spec(end)));
    let seconds = (to_ps - from_ps) as f64 / 1e12;
    let both = early.vcs.iter().zip(&late.vcs);
    both.map(|(a, b)| (b.cells_delivered - a.cells_delivered) as f64 / seconds)
        .collect()
}

/// A VC to be given a rate.
#[derive(Clone, Copy, Debug)]
pub struct Claim {
    pub from: usize,
    pub to: usize,
    pub pcr: f64,
    pub mcr: f64,
    pub weight: f64,
}

/// Weighted max-min rates beyond MCRs: all rise together, each by its weight, until a link or its PCR
/// stops it. `links[i]` leads from switch i to the next; a VC crosses those from `from` to `to - 2`.
pub fn water_filling(links: &[f64], vcs: &[Claim]) -> Vec<f64> {
    let mut rates: Vec<f64> = vcs.iter().map(|vc| vc.mcr).collect();
    let mut rises = vec![true; vcs.len()];
    let crosses = |vc: &Claim, link: usize| vc.from <= link && link + 1 < vc.to;
    while rises.contains(&true) {
        let by_pcr = vcs
            .iter()
            .zip(&rates)
            .zip(&rises)
            .filter(|(_, rises)| **rises);
        let by_pcr = by_pcr.map(|((vc, rate), _)| (vc.pcr - rate) / vc.weight);
        let by_link = links.iter().enumerate().filter_map(|(l, capacity)| {
            let on = || (0..vcs.len()).filter(|&i| crosses(&vcs[i], l));
            let weight: f64 = on().filter(|&i| rises[i]).map(|i| vcs[i].weight).sum();
            let used: f64 = on().map(|i| rates[i]).sum();
            (weight > 0.0).then(|| (capacity - used) / weight)
        });
        let step = by_pcr.chain(by_link).fold(f64::MAX, f64::min);
        for i in (0..vcs.len()).filter(|&i| rises[i]) {
            rates[i] += step * vcs[i].weight;
        }
        let is_full = |l: usize| {
            let on = (0..vcs.len()).filter(|&i| crosses(&vcs[i], l));
            on.map(|i| rates[i]).sum::<f64>() > links[l] * (1.0 - 1e-9)
        };
        for i in 0..vcs.len() {
            let stops = rates[i] > vcs[i].pcr * (1.0 - 1e-9)
                || (0..links.len()).any(|l| crosses(&vcs[i], l) && is_full(l));
            rises[i] &= !stops;
        }
    }
    rates
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Weighted ERICA+ with a queue of 10 ms.
pub fn weighted_erica_plus() -> Value {
    json!({
        "kind": "weighted_erica_plus",
        "queue": {
            "curve": "hyperbolic", "target_ps": 10 * MS, "upper_ps": 20 * MS, "a": 1.15, "b": 1.05,
            "slope": 0.0625, "step": 0.05, "drain_limit": 0.5,
        },
        "interval_ps": 100 * MS, "interval_cells": 100_000, "ccr_from": "rm_cell",
    })
}

/// A generated network: one to four links of different rates in a row, VCs over parts of it (parking lots
/// among them), some held by their PCR, some with MCRs and weights. Its steady rates are within 1 % of
/// the weighted max-min allocation.
pub fn check_rates(seed: u64) {
    let mut dice = Dice(seed);
    (0..5).for_each(|_| _ = dice.below(1));
    let switches = 2 + dice.below(4) as usize;
    let mut net = Net::chain(switches, 10_000_000, MS * (1 + dice.below(3)));
    let mut links = Vec::new();
    for _ in 1..switches {
        let cell_time = 50_000_000 * (2 + dice.below(4)); // 4 000 to 10 000 cells/s
        net.join(cell_time, MS * dice.below(5), &weighted_erica_plus());
        links.push(1e12 / cell_time as f64);
    }
    let mut claims = Vec::new();
    let mut fed = Vec::new();
    for _ in 0..2 + dice.below(6) {
        let from = dice.below(switches as u64 - 1) as usize;
        let to = from + 2 + dice.below((switches - from - 1) as u64) as usize;
        let pcr = if dice.below(4) == 0 {
            300 + dice.below(600)
        } else {
            12_000
        };
        let mcr = if dice.below(3) == 0 {
            dice.below(300)
        } else {
            0
        };
        let weight = (1 + dice.below(3)) as f64;
        let mut control = abr(pcr, mcr);
        control["weight"] = json!(weight);
        control["icr_millicells"] = json!(1_000 * pcr.min(200).max(mcr));
        control["rif"] = json!(1.0);
        let vc = net.connect(from, to, control);
        net.feed(vc);
        fed.push(vc);
        let (pcr, mcr) = (pcr as f64, mcr as f64);
        claims.push(Claim {
            from,
            to,
            pcr,
            mcr,
            weight,
        });
    }
    let found = rates(&net, 5_000 * MS, 10_000 * MS);
    let due = water_filling(&links, &claims);
    for ((&vc, due), claim) in fed.iter().zip(&due).zip(&claims) {
        let rate = found[vc];
        assert!(
            (rate / due - 1.0).abs() < 0.01,
            "seed {seed}, vc {vc}: {rate} for {due}; {claim:?} of {claims:?} on {links:?}: {found:?}"
        );
    }
}

#[test]
fn water_filling_of_a_parking_lot_by_hand() {
    let vc = |from, to, weight| Claim {
        from,
        to,
        pcr: 1e9,
        mcr: 0.0,
        weight,
    };
    // Links of 90 and 60; one VC over both, one over each, the last of weight 2. The second link gives 20
    // and 40, and the first what the long VC leaves: 70.
    let rates = water_filling(
        &[90.0, 60.0],
        &[vc(0, 3, 1.0), vc(0, 2, 1.0), vc(1, 3, 2.0)],
    );
    assert_eq!(rates, [20.0, 70.0, 40.0]);
    // An MCR of 30 for the long one: 30 + 10 and 20 there, 50 here.
    let mut long = vc(0, 3, 1.0);
    long.mcr = 30.0;
    let rates = water_filling(&[90.0, 60.0], &[long, vc(0, 2, 1.0), vc(1, 3, 2.0)]);
    assert_eq!(rates, [40.0, 50.0, 20.0]);
}
