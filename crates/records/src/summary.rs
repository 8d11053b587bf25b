//! The part of a run's records that a study keeps: what each flow and each congested port did.
//!
//! The ledger has balanced by then, and ports that hold whatever arrives discard nothing, so a few
//! kilobytes a run are enough for every number that the studies print.

use crate::{FlowRecord, PortRecord, ResponseTimes, RunRecords, SkyRecord, VcRecord};
use serde::Serialize;
use serde_json::{Map, Value, json};
use skycell_spec::{LinkSpec, NetworkSpec, TraceKind, TrafficSpec};
use std::collections::VecDeque;

/// The values that are kept of each VC's samples at a port.
const VC_QUEUE: [&str; 2] = ["vc", "mean"];
/// The values that are kept of each VC with a GFR contract.
const GFR_VC: [&str; 8] = [
    "frames_offered",
    "frames_tagged",
    "frames_eligible",
    "cells_eligible",
    "frames_refused",
    "cells_whole",
    "guarantee",
    "run_guarantee",
];
/// The values that are kept, beside those, of each VC whose cells' delay is measured.
const MEASURED_VC: [&str; 8] = [
    "name",
    "cells_offered",
    "cells_discarded",
    "cells_lost",
    "cells_nonconforming",
    "cells_policed",
    "cells_refused",
    "cells_tagged",
];
/// The values that are kept of each web user; response times are kept over all of them.
const WEB_USER: [&str; 3] = ["requests", "requests_answered", "octets_scheduled"];

impl RunRecords {
    /// The records of the flows and of the ports with a limited buffer, as one JSON object with
    /// sorted keys and no spaces.
    ///
    /// It has no `engine_stats`, so it is the same for each engine and any number of threads.
    /// `duration_ps`, `flows`, `ports` and, where there are web users, `web` are as in the records, but for a VC's
    /// occupancy, of which the mean is kept, and for the response
    /// times of single web users. `gfr_vcs` has, of each VC with a GFR contract, its frames and its
    /// guarantees; `measured_vcs`, of each VC whose cells' delay is measured, what became of its cells
    /// and, as `delay`, that; `uplinks`, `probes`, `users` and `calls`, where there are some, as in the records; `sky`, of a network
    /// that forwards by label, what became of all packets and how busy the fullest port was; `link_losses`, where links have a
    /// schedule, a loss or a channel, what was lost on them over all VCs;
    /// `transfers`, where their trace is kept, those begun and the times that finished ones took, over
    /// all flows that have them and of each; with the trace of their arrivals also, as `deliveries`, the
    /// times to those. `spec` is the run's own.
    pub fn summary_json(&self, spec: &NetworkSpec) -> String {
        let mut summary = Map::new();
        summary.insert("duration_ps".into(), json!(self.duration_ps));
        if self.measured_from_ps > 0 {
            let from = self.measured_from_ps;
            summary.insert("measured_from_ps".into(), json!(from));
        }
        summary.insert("flows".into(), self.flows.iter().map(flow).collect());
        summary.insert("ports".into(), self.limited_ports(spec));
        if let Some(web) = &self.web {
            summary.insert("web".into(), json!(web));
        }
        if spec.vcs.iter().any(|vc| vc.gfr.is_some()) {
            summary.insert("gfr_vcs".into(), self.vcs_with_a_contract(spec));
        }
        if !self.uplinks.is_empty() {
            summary.insert("uplinks".into(), json!(self.uplinks));
        }
        if !self.probes.is_empty() {
            summary.insert("probes".into(), json!(self.probes));
        }
        if !self.users.is_empty() {
            summary.insert("users".into(), json!(self.users));
        }
        if !self.calls.is_empty() {
            summary.insert("calls".into(), json!(self.calls));
        }
        if !self.cell_delays.is_empty() {
            summary.insert("measured_vcs".into(), self.measured_vcs());
        }
        let may_lose = |link: &LinkSpec| {
            link.schedule.is_some() || link.loss_ppb > 0 || link.channel.is_some()
        };
        if spec.links.iter().any(may_lose) {
            summary.insert("link_losses".into(), lost_on_links(&self.vcs));
        }
        if let Some(sky) = &self.sky {
            summary.insert("sky".into(), self.of_sky(sky));
        }
        if spec.records.traces.contains(&TraceKind::Transfers) {
            let traffic = spec.flows.iter().map(|flow| &flow.traffic);
            summary.insert("transfers".into(), self.transfers(traffic));
        }
        Value::from(summary).to_string()
    }

    /// What became of all packets over a sky, and how busy its fullest port was.
    fn of_sky(&self, sky: &SkyRecord) -> Value {
        let sum = |of: fn(&VcRecord) -> u64| self.vcs.iter().map(of).sum::<u64>();
        let fullest = sky.ports.busy_ps.iter().max().copied().unwrap_or(0);
        json!({
            "offered": sum(|vc| vc.cells_offered),
            "delivered": sum(|vc| vc.cells_delivered),
            "discarded": sum(|vc| vc.cells_discarded.total()),
            "lost": sum(|vc| vc.cells_lost.total()),
            "turned_back": sky.nodes.turned_back.iter().sum::<u64>(),
            "largest_busy_ps": fullest,
        })
    }

    /// Of flows with this traffic.
    fn transfers<'a>(&self, traffic: impl Iterator<Item = &'a TrafficSpec>) -> Value {
        let trace = &self.traces.transfers;
        let (mut taken, mut starts) = (vec![Vec::new(); self.flows.len()], Vec::new());
        starts.resize_with(self.flows.len(), VecDeque::new);
        for ((&flow, start), end) in trace.flow.iter().zip(&trace.start_ps).zip(&trace.end_ps) {
            if *end >= self.measured_from_ps {
                taken[flow as usize].push(end - start);
            }
            starts[flow as usize].push_back(*start);
        }
        // A flow's transfers come in the order in which they began.
        let trace = &self.traces.deliveries;
        let mut delivered = vec![Vec::new(); self.flows.len()];
        for (&flow, end) in trace.flow.iter().zip(&trace.end_ps) {
            let start = starts[flow as usize].pop_front();
            let start = start.filter(|_| *end >= self.measured_from_ps);
            delivered[flow as usize].extend(start.map(|start| end - start));
        }
        let has_deliveries = !trace.flow.is_empty();
        let entry = |begun: u64, taken: &[&Vec<u64>], delivered: &[&Vec<u64>]| {
            let all = |of: &[&Vec<u64>]| {
                ResponseTimes::of(of.iter().copied().flatten().copied().collect())
            };
            let mut entry = json!({ "begun": begun, "times": all(taken) });
            if has_deliveries {
                entry["deliveries"] = json!(all(delivered));
            }
            entry
        };
        let mut begun_in_all = 0;
        let mut flows = Vec::new();
        let (mut all_taken, mut all_delivered) = (Vec::new(), Vec::new());
        let times = taken.iter().zip(&delivered);
        for ((record, traffic), (taken, delivered)) in self.flows.iter().zip(traffic).zip(times) {
            if let TrafficSpec::Transfers { size_octets, .. } = traffic {
                let begun = transfers_begun(record, *size_octets);
                begun_in_all += begun;
                let mut own = entry(begun, &[taken], &[delivered]);
                own["name"] = json!(record.name);
                flows.push(own);
                all_taken.push(taken);
                all_delivered.push(delivered);
            }
        }
        let mut found = entry(begun_in_all, &all_taken, &all_delivered);
        found["flows"] = json!(flows);
        found
    }

    fn limited_ports(&self, spec: &NetworkSpec) -> Value {
        let limited = self.ports.iter().zip(&spec.links).filter(|(_, link)| {
            let mut queues = link.port.queues.iter();
            queues.any(|queue| queue.capacity_cells.is_some())
        });
        let limited = limited.map(|(port, _)| port);
        limited
            .chain(self.limited_in_sky(spec))
            .map(|port| {
                let mut kept = json!(port);
                kept["vc_queues"] = port
                    .vc_queues
                    .iter()
                    .map(|vc| part(vc, &VC_QUEUE))
                    .collect();
                kept
            })
            .collect()
    }

    /// The ports of the sky that have a record and a limited buffer.
    fn limited_in_sky<'a>(&'a self, spec: &'a NetworkSpec) -> impl Iterator<Item = &'a PortRecord> {
        let links = spec.links.len();
        let sampled = &spec.records.sampled_ports;
        let of_sky = sampled.iter().filter(move |&&port| port as usize >= links);
        let own = self.ports.iter().skip(links).zip(of_sky);
        let limited = own.filter(move |(_, port)| {
            let sky = spec.sky.as_ref().expect("a port of it is sampled");
            let kind = sky.columns().port_kind[**port as usize - links];
            let mut queues = sky.kinds[usize::from(kind)].port.queues.iter();
            queues.any(|queue| queue.capacity_cells.is_some())
        });
        limited.map(|(port, _)| port)
    }

    fn vcs_with_a_contract(&self, spec: &NetworkSpec) -> Value {
        let promised = (0u32..).zip(self.vcs.iter().zip(&spec.vcs));
        promised
            .filter(|(_, (_, vc))| vc.gfr.is_some())
            .map(|(id, (record, _))| {
                let mut kept = part(record, &GFR_VC);
                kept["vc"] = json!(id);
                kept
            })
            .collect()
    }

    fn measured_vcs(&self) -> Value {
        let of_each = self.cell_delays.iter().map(|delay| {
            let mut kept = part(&self.vcs[delay.vc as usize], &MEASURED_VC);
            let vc = &self.vcs[delay.vc as usize];
            if vc.earlier_cells > 0 {
                kept["earlier_cells"] = json!(vc.earlier_cells);
            }
            kept["delay"] = json!(delay);
            kept
        });
        of_each.collect()
    }
}

fn flow(record: &FlowRecord) -> Value {
    let mut kept = json!(record);
    if let Some(web) = &record.web {
        kept["web"] = part(web, &WEB_USER);
    }
    kept
}

/// Transfers of which something was sent: those finished, and one more where octets were sent for the
/// first time that are none of theirs; those under way when counting began are among them.
fn transfers_begun(record: &FlowRecord, size_octets: u64) -> u64 {
    let finished = record.earlier_transfers + record.transfers;
    let new_octets = record.earlier_octets + record.octets_sent - record.octets_retransmitted;
    record.transfers + u64::from(new_octets > finished * size_octets)
}

/// Frames that arrived spoilt, and cells that links lost.
fn lost_on_links(vcs: &[VcRecord]) -> Value {
    let corrupt: u64 = vcs.iter().map(|vc| vc.frames_corrupt).sum();
    let lost: u64 = vcs.iter().map(|vc| vc.cells_lost.total()).sum();
    json!({ "frames_corrupt": corrupt, "cells_lost": lost })
}

/// Some fields of a record.
fn part(record: &impl Serialize, keys: &[&str]) -> Value {
    let mut whole = json!(record);
    keys.iter()
        .map(|&key| (key.to_owned(), whole[key].take()))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::{
        CellDelayRecord, CellDelays, DelayStatistics, EngineStats, FlowRecord, LinkLosses,
        LossReason, PortRecord, ResponseTimes, RunRecords, VcQueueRecord, VcRecord, WebRecord,
        WebTotals,
    };
    use serde_json::{Value, json};
    use skycell_spec::{DistributionSpec, NetworkSpec, TrafficSpec};

    /// A host's port without a limit, a switch's port of two queues with one, and two VCs.
    fn spec() -> Value {
        let queue = |cells: Option<u32>| json!({"class": null, "capacity_cells": cells, "policy": {"kind": "tail_drop"}});
        let link = |queues: Vec<Value>| {
            json!({
                "name": "a>b", "from": 0, "to": 1, "cell_time_ps": 1, "delay_ps": 0, "schedule": null,
                "port": {"queues": queues, "scheduler": {"kind": "fifo"}, "frame_gap_ps": 0},
            })
        };
        let vc = |name: &str| json!({"name": name, "path": [], "class": "ubr", "policing": [], "gfr": null});
        json!({
            "version": 2, "seed": 1, "duration_ps": 1, "nodes": [],
            "links": [link(vec![queue(None)]), link(vec![queue(None), queue(Some(1000))])],
            "vcs": [vc("v1"), vc("v2")],
            "flows": [],
            "sources": [],
            "records": {
                "sample_every_ps": 1, "sampled_ports": [], "vc_sampled_ports": [], "delay_vcs": [],
                "traces": [],
            },
        })
    }

    fn records() -> RunRecords {
        let port = |name: &str| PortRecord {
            name: name.into(),
            ..PortRecord::default()
        };
        let vc_queue = VcQueueRecord {
            mean: 1.5,
            p50: 2,
            ..VcQueueRecord::default()
        };
        let mut lost = LinkLosses::default();
        for reason in [LossReason::Handover, LossReason::Drawn, LossReason::OffPath] {
            lost.add(reason);
        }
        let vc = VcRecord {
            frames_offered: 7,
            frames_corrupt: 2,
            cells_queued: 1,
            cells_lost: lost,
            ..VcRecord::default()
        };
        RunRecords {
            engine: "reference",
            duration_ps: 9,
            measured_from_ps: 0,
            flows: vec![FlowRecord::default()],
            vcs: vec![vc.clone(), vc],
            ports: vec![
                port("h1>sw1"),
                PortRecord {
                    vc_queues: vec![vc_queue],
                    ..port("sw1>sw2")
                },
            ],
            web: None,
            users: Vec::new(),
            sources: Vec::new(),
            probes: Vec::new(),
            uplinks: Vec::new(),
            calls: Vec::new(),
            cell_delays: Vec::new(),
            class_delays: Vec::new(),
            ledger: crate::Ledger::default(),
            engine_stats: EngineStats::default(),
            sky: None,
            traces: crate::Traces::default(),
        }
    }

    fn text(records: &RunRecords, spec: &Value) -> String {
        let spec: NetworkSpec = serde_json::from_value(spec.clone()).unwrap();
        records.summary_json(&spec)
    }

    fn summary(records: &RunRecords, spec: &Value) -> Value {
        serde_json::from_str(&text(records, spec)).unwrap()
    }

    fn keys(of: &Value) -> Vec<&str> {
        of.as_object().unwrap().keys().map(String::as_str).collect()
    }

    #[test]
    fn flows_and_limited_ports_are_kept_and_the_rest_is_not() {
        let summary = summary(&records(), &spec());
        assert_eq!(keys(&summary), ["duration_ps", "flows", "ports"]);
        assert_eq!(summary["duration_ps"], 9);
        assert_eq!(summary["flows"], json!([FlowRecord::default()]));
        let ports = summary["ports"].as_array().unwrap();
        assert_eq!(ports.len(), 1);
        assert_eq!(ports[0]["name"], "sw1>sw2");
        assert_eq!(ports[0]["vc_queues"], json!([{"vc": 0, "mean": 1.5}]));
    }

    #[test]
    fn where_links_change_or_lose_what_was_lost_on_them_is_kept() {
        let mut spec = spec();
        spec["links"][1]["schedule"] = json!({
            "times_ps": [0], "delays_ps": [1], "paths": [0], "cell_times_ps": [],
            "losses_ppb": [], "to": [], "interruption_ps": 0, "handover_loses_cells": false,
        });
        let lost = json!({"frames_corrupt": 4, "cells_lost": 6});
        assert_eq!(summary(&records(), &spec)["link_losses"], lost);
        spec["links"][1]["schedule"] = Value::Null;
        assert!(summary(&records(), &spec).get("link_losses").is_none());
        spec["links"][1]["loss_ppb"] = json!(1);
        assert_eq!(summary(&records(), &spec)["link_losses"], lost);
    }

    #[test]
    fn of_vcs_with_a_contract_frames_and_guarantees_are_kept() {
        let mut spec = spec();
        spec["vcs"][1]["gfr"] = json!({
            "mcr_interval_ps": 2, "pcr_interval_ps": 1, "burst_tolerance_ps": 0, "mfs_cells": 1,
            "tagging": "none", "excess": "pass", "nonconforming": "count",
            "window_ps": 1, "window_step_ps": 1,
        });
        let summary = summary(&records(), &spec);
        let kept = summary["gfr_vcs"].as_array().unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(
            keys(&kept[0]),
            [
                "cells_eligible",
                "cells_whole",
                "frames_eligible",
                "frames_offered",
                "frames_refused",
                "frames_tagged",
                "guarantee",
                "run_guarantee",
                "vc",
            ]
        );
        assert_eq!(kept[0]["vc"], 1);
        assert_eq!(kept[0]["frames_offered"], 7);
    }

    #[test]
    fn of_vcs_whose_cells_are_measured_losses_and_delays_are_kept() {
        let mut records = records();
        records.vcs[1].name = "video".into();
        records.vcs[1].cells_offered = 9;
        records.cell_delays = vec![CellDelayRecord {
            vc: 1,
            fixed_ps: 2,
            delay: DelayStatistics {
                p999_ps: 5,
                ..DelayStatistics::default()
            },
            delays: CellDelays::default(),
        }];
        let summary = summary(&records, &spec());
        let kept = summary["measured_vcs"].as_array().unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(
            keys(&kept[0]),
            [
                "cells_discarded",
                "cells_lost",
                "cells_nonconforming",
                "cells_offered",
                "cells_policed",
                "cells_refused",
                "cells_tagged",
                "delay",
                "name",
            ]
        );
        assert_eq!(kept[0]["name"], "video");
        assert_eq!(kept[0]["cells_offered"], 9);
        assert_eq!(
            kept[0]["cells_lost"],
            json!({"handover": 1, "drawn": 1, "off_path": 1})
        );
        assert_eq!(kept[0]["delay"]["p999_ps"], 5);
    }

    #[test]
    fn response_times_are_kept_over_all_web_users_and_not_of_each() {
        let mut records = records();
        records.flows[0].web = Some(WebRecord {
            requests: 3,
            file_response: ResponseTimes::of(vec![5]),
            ..WebRecord::default()
        });
        records.web = Some(WebTotals::default());
        let summary = summary(&records, &spec());
        assert_eq!(
            summary["flows"][0]["web"],
            json!({"requests": 3, "requests_answered": 0, "octets_scheduled": 0})
        );
        assert_eq!(summary["web"], json!(WebTotals::default()));
    }

    #[test]
    fn of_transfers_those_begun_and_the_times_of_finished_ones_are_kept() {
        let sent = |transfers: u64, octets_sent: u64, octets_retransmitted: u64| FlowRecord {
            name: format!("f{transfers}"),
            transfers,
            octets_sent,
            octets_retransmitted,
            ..FlowRecord::default()
        };
        let mut records = records();
        // Of 1000 octets each: two finished and nothing of a third; one, and a part of the next.
        let persistent = sent(0, 5000, 0);
        records.flows = vec![sent(2, 2300, 300), persistent, sent(1, 1400, 399)];
        for (flow, start_ps, end_ps) in [(2, 0, 90), (0, 10, 20), (0, 50, 80)] {
            records.traces.transfers.push(flow, start_ps, end_ps, 1000);
        }
        let own = TrafficSpec::Transfers {
            size_octets: 1000,
            count: None,
            idle: DistributionSpec::Constant { value_ps: 5 },
            new_connection: true,
        };
        let kept = records.transfers([&own, &TrafficSpec::Persistent, &own].into_iter());
        assert_eq!(
            kept,
            json!({
                "begun": 4,
                "times": ResponseTimes::of(vec![90, 10, 30]),
                "flows": [
                    {"name": "f2", "begun": 2, "times": ResponseTimes::of(vec![10, 30])},
                    {"name": "f1", "begun": 2, "times": ResponseTimes::of(vec![90])},
                ],
            })
        );
    }

    #[test]
    fn of_transfers_that_have_come_the_times_from_their_beginning_are_kept_too() {
        let mut records = records();
        let flow = |name: &str| FlowRecord {
            name: name.into(),
            ..FlowRecord::default()
        };
        records.flows = vec![flow("a"), flow("b")];
        // The second of a is acknowledged by a proxy and has not come; that of b has come, unacknowledged.
        for (flow, start_ps, end_ps) in [(0, 10, 20), (0, 50, 80)] {
            records.traces.transfers.push(flow, start_ps, end_ps, 1000);
        }
        records.traces.deliveries.push(0, 70, 1000);
        records.traces.deliveries.push(1, 75, 1000);
        let own = TrafficSpec::Transfers {
            size_octets: 1000,
            count: None,
            idle: DistributionSpec::Constant { value_ps: 5 },
            new_connection: true,
        };
        let kept = records.transfers([&own, &own].into_iter());
        let times = |times: Vec<u64>| json!(ResponseTimes::of(times));
        assert_eq!(kept["deliveries"], times(vec![60]));
        assert_eq!(kept["flows"][0]["deliveries"], times(vec![60]));
        assert_eq!(kept["flows"][1]["deliveries"], times(vec![]));
        assert_eq!(kept["times"], times(vec![10, 30]));
    }

    #[test]
    fn transfers_are_kept_where_their_trace_is() {
        let mut spec = spec();
        assert_eq!(summary(&records(), &spec).get("transfers"), None);
        spec["records"]["traces"] = json!(["files", "transfers"]);
        let kept = &summary(&records(), &spec)["transfers"];
        assert_eq!(kept["begun"], 0);
        assert_eq!(kept["times"], json!(ResponseTimes::default()));
    }

    #[test]
    fn its_text_has_sorted_keys_and_no_spaces() {
        let text = text(&records(), &spec());
        assert!(text.starts_with("{\"duration_ps\":9,\"flows\":[{\""));
        assert!(!text.contains(' '));
    }
}
