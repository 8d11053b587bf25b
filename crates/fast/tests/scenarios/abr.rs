//! ABR VCs among others: rate algorithms at switches, control loops cut there.

use super::{
    Dice, MICROSECOND, MILLISECOND, packets, scenario, several_classes, skies, with_stepping,
};
use serde_json::json;
use skycell_des::Stream;
use skycell_spec::*;

/// A scenario of another kind in which the rates of some VCs are controlled, both of a pair that goes there and back by
/// the same nodes; none where it has no such pair.
pub fn abr(seed: u64) -> Option<NetworkSpec> {
    let mut dice = Dice(Stream::new(seed, "abr"));
    let kind = dice.below(8);
    let mut spec = match kind {
        _ if Dice(Stream::new(seed, "abr/skies")).one_in(4) => skies(seed),
        0 => several_classes(seed),
        1 | 2 => packets(seed),
        3 => with_stepping(scenario(seed), seed),
        _ => scenario(seed),
    };
    let pairs = pairs(&spec);
    let chosen = dice.below(pairs.len().max(1) as u64) as usize;
    let controls_all = dice.one_in(2);
    for (at, &(there, back)) in pairs.iter().enumerate() {
        if at == chosen || controls_all || dice.one_in(2) {
            control(&mut spec, there, back, &mut dice);
        }
    }
    let has_abr = spec.vcs.iter().any(|vc| vc.abr.is_some());
    for at in 0..spec.links.len() {
        let is_at_switch = spec.nodes[spec.links[at].from as usize].kind == NodeKind::Switch;
        if is_at_switch && !dice.one_in(4) {
            let algorithm = algorithm(&mut dice);
            change(&mut spec, |spec| {
                spec.links[at].port.rate_algorithm = Some(algorithm);
            });
        }
    }
    for at in 0..spec.nodes.len() {
        if spec.nodes[at].kind == NodeKind::Switch && dice.one_in(5) {
            let cut = VsVdSpec {
                coupling: dice.pick(&[
                    LoopCoupling::Minimum,
                    LoopCoupling::Both,
                    LoopCoupling::Acr,
                    LoopCoupling::Link,
                    LoopCoupling::Queue,
                ]),
                target_ps: MILLISECOND,
                drain_limit: 0.5,
            };
            change(&mut spec, |spec| spec.nodes[at].vs_vd = Some(cut));
        }
    }
    let mut dice = Dice(Stream::new(seed, "abr/by_flow"));
    for at in 0..spec.links.len() {
        if dice.one_in(3) {
            change(&mut spec, |spec| {
                for queue in &mut spec.links[at].port.queues {
                    queue.by_flow = true;
                }
            });
        }
    }
    has_abr.then_some(spec)
}

/// Makes a change that leaves the spec valid.
fn change(spec: &mut NetworkSpec, make: impl FnOnce(&mut NetworkSpec)) {
    let mut changed = spec.clone();
    make(&mut changed);
    if changed.validate().is_ok() {
        *spec = changed;
    }
}

/// Pairs of VCs of cells over switches that go there and back by the same nodes, as the run begins.
fn pairs(spec: &NetworkSpec) -> Vec<(u32, u32)> {
    let of_source = |id: u32| spec.sources.iter().any(|source| source.vc == id);
    let nodes = |id: u32| -> Vec<u32> {
        let path = &spec.vcs[id as usize].path;
        let begins = path.iter().map(|&link| spec.links[link as usize].from);
        begins.chain([spec.vc_destination(id as usize)]).collect()
    };
    let can = |id: &u32| {
        let vc = &spec.vcs[*id as usize];
        vc.path.len() > 1 && !of_source(*id)
    };
    let mut left: Vec<u32> = (0..spec.vcs.len() as u32).filter(can).collect();
    let mut pairs = Vec::new();
    while let Some(there) = left.pop() {
        let mut mirrored = nodes(there);
        mirrored.reverse();
        if let Some(at) = left.iter().position(|&back| nodes(back) == mirrored) {
            pairs.push((there, left.remove(at)));
        }
    }
    pairs
}

/// Controls the rates of both VCs, and sometimes gives one of them a source of cells instead of its
/// flows.
fn control(spec: &mut NetworkSpec, there: u32, back: u32, dice: &mut Dice) {
    let abr = [(there, back), (back, there)].map(|(vc, return_vc)| {
        let first = spec.vcs[vc as usize].path[0] as usize;
        let link = MILLICELLS_PS / spec.links[first].cell_time_ps;
        let pcr = link / dice.pick(&[1, 1, 1, 2, 5]);
        let part = |dice: &mut Dice| dice.pick(&[1.0, 0.5, 0.0625, 0.001]);
        let spec = json!({
            "return_vc": return_vc,
            "pcr_millicells": pcr,
            "mcr_millicells": dice.pick(&[0, 0, pcr / 50]),
            "icr_millicells": dice.pick(&[pcr, pcr / 2, pcr / 50]),
            "tbe_cells": dice.pick(&[16_777_215, 200, 20]),
            "frtt_ps": dice.pick(&[0, MILLISECOND, 10 * MILLISECOND]),
            "nrm": dice.pick(&[2, 4, 32]),
            "mrm": dice.pick(&[1, 2, 5]),
            "trm_ps": dice.pick(&[100 * MICROSECOND, 100 * MILLISECOND]),
            "rif": part(dice),
            "rdf": part(dice),
            "cdf": dice.pick(&[0.0, 0.0625, 0.5]),
            "adtf_ps": dice.pick(&[MILLISECOND, 500 * MILLISECOND]),
            "tcr_millicells": dice.pick(&[0, 10_000, 5_000_000]),
            "use_it_or_lose_it": dice.one_in(3),
            "turns_out_of_rate": dice.one_in(3),
            "destination_millicells": dice.pick(&[pcr, pcr, pcr / 3]),
            "weight": dice.pick(&[1.0, 2.0, 0.3]),
        });
        serde_json::from_value::<AbrSpec>(spec).expect("a rate control")
    });
    change(spec, |spec| {
        for (vc, abr) in [there, back].into_iter().zip(abr) {
            let vc = &mut spec.vcs[vc as usize];
            (vc.abr, vc.gfr, vc.class) = (Some(abr), None, ServiceClass::Abr);
        }
    });
    if spec.vcs[there as usize].abr.is_some() && dice.one_in(3) {
        let source = SourceSpec {
            clp: None,
            name: format!("cells{}", spec.sources.len()),
            vc: there,
            cell_interval_ps: MILLICELLS_PS / abr[0].pcr_millicells * dice.pick(&[1, 2, 7]),
            frame_cells: dice.pick(&[1, 1, 30]),
            datagram_route: Vec::new(),
            datagram_octets: 0,
            pattern: SourcePattern::Constant,
            start: StartSpec::At { time_ps: 0 },
        };
        change(spec, |spec| {
            let others = |flow: &FlowSpec| {
                !flow
                    .forward
                    .iter()
                    .chain(&flow.reverse)
                    .any(|vc| *vc == there)
            };
            spec.flows.retain(others);
            spec.sources.push(source);
        });
    }
}

/// Thousandths of a cell a second times picoseconds between cells.
const MILLICELLS_PS: u64 = 1_000_000_000_000_000;

fn algorithm(dice: &mut Dice) -> RateAlgorithmSpec {
    let interval_ps = dice.pick(&[MILLISECOND / 3, MILLISECOND, 5 * MILLISECOND]);
    let interval_cells = dice.pick(&[3, 50, 500]);
    let delta = dice.pick(&[0.0, 0.1]);
    let ccr_from = dice.pick(&[CcrFrom::RmCell, CcrFrom::Measured]);
    let high_cells = 1 + dice.below(40) as u32;
    let queue = QueueControlSpec {
        curve: dice.pick(&[
            QueueCurve::Hyperbolic,
            QueueCurve::InverseHyperbolic,
            QueueCurve::Linear,
            QueueCurve::Step,
        ]),
        target_ps: MILLISECOND / 10,
        upper_ps: MILLISECOND / 5,
        a: 1.15,
        b: 1.05,
        slope: 0.0625,
        step: 0.05,
        drain_limit: 0.5,
    };
    let becn_millicells = dice.pick(&[0, 0, 10_000, 5_000_000]);
    match dice.below(5) {
        0 => RateAlgorithmSpec::Efci(EfciSpec {
            high_cells,
            low_cells: 1 + dice.below(high_cells.into()) as u32,
            becn_millicells,
        }),
        4 => RateAlgorithmSpec::RelativeRate(RelativeRateSpec {
            high_cells,
            low_cells: 1 + dice.below(high_cells.into()) as u32,
            ni_cells: 1 + dice.below(high_cells.into()) as u32,
            rm_cells: dice.pick(&[
                MarkedRmCells::Backward,
                MarkedRmCells::Forward,
                MarkedRmCells::Both,
            ]),
            becn_millicells,
        }),
        1 => RateAlgorithmSpec::Erica(EricaSpec {
            target_utilization: 0.9,
            interval_ps,
            interval_cells,
            delta,
            ccr_from,
            becn_millicells,
        }),
        2 => RateAlgorithmSpec::EricaPlus(EricaPlusSpec {
            queue,
            interval_ps,
            interval_cells,
            delta,
            ccr_from,
            becn_millicells,
        }),
        _ => RateAlgorithmSpec::WeightedEricaPlus(WeightedEricaPlusSpec {
            queue,
            interval_ps,
            interval_cells,
            ccr_from,
            becn_millicells,
        }),
    }
}
