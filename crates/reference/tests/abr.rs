//! ABR networks: single cells by hand, and rates beside those that water-filling gives.

mod abr_networks;

use abr_networks::{MS, Net, abr, cell_source, link, rates, run};
use serde_json::{Value, json};
use skycell_records::RunRecords;

/// Hosts a and b with a switch between them: 1 ms a cell, 10 ms a link; VC 0 there, VC 1 back.
fn pair(change: impl Fn(&mut Value), duration_ps: u64) -> RunRecords {
    let mut net = Net::chain(1, MS, 10 * MS);
    net.connect(0, 1, abr(1_000, 0));
    let mut spec = net.spec(duration_ps);
    change(&mut spec);
    run(&spec)
}

fn rm(records: &RunRecords, vc: usize) -> &skycell_records::AbrRecord {
    records.vcs[vc].abr.as_ref().unwrap()
}

#[test]
fn an_rm_cell_goes_round_and_its_answer_moves_the_rate() {
    // ICR 100 cells/s. The source's cell comes at 5 ms: at once an RM cell, and 10 ms later the cell
    // itself. The RM cell takes 1 ms onto each of two links and 10 ms over each: it comes at 27 ms, is sent
    // back over VC 1 after the RM cell with which that begins, 1/100 s later at 37 ms, and comes at 59 ms. Then
    // ACR grows by RIF of PCR to 162.5.
    let change = |spec: &mut Value| {
        spec["sources"] = json!([cell_source("s", 0, 5 * MS, 2 * 3_600_000 * MS)]);
        spec["vcs"][0]["abr"]["icr_millicells"] = json!(100_000);
        spec["vcs"][1]["abr"]["icr_millicells"] = json!(100_000);
    };
    let before = pair(change, 59 * MS);
    let counts = |records: &RunRecords| {
        let (one, other) = (rm(records, 0), rm(records, 1));
        (
            [
                one.forward_sent,
                one.forward_received,
                one.backward_sent,
                one.backward_received,
            ],
            [
                other.forward_sent,
                other.forward_received,
                other.backward_sent,
            ],
        )
    };
    // The RM cell of VC 1 left at 27 ms and comes to a at 49: it waits there for VC 0's next cell in the
    // rate, which has been due since 25 ms, and goes back at once.
    assert_eq!(counts(&before), ([1, 1, 1, 0], [1, 1, 1]));
    assert_eq!(rm(&before, 0).acr_millicells, 100_000);
    let after = pair(change, 59 * MS + 1);
    assert_eq!(counts(&after), ([1, 1, 1, 1], [1, 1, 1]));
    assert_eq!(rm(&after, 0).acr_millicells, 162_500);
    // Its data cell came at 15 + 22 = 37 ms.
    assert_eq!(after.vcs[0].cells_whole, 1);
    assert_eq!(pair(change, 37 * MS).vcs[0].cells_whole, 0);
}

#[test]
fn traces_show_rates_as_they_change_and_each_averaging_interval() {
    // As above; the port behind the switch aims at 0.9 of 1 000 cells/s.
    let change = |spec: &mut Value| {
        spec["sources"] = json!([cell_source("s", 0, 5 * MS, 4 * MS)]);
        spec["vcs"][0]["abr"]["icr_millicells"] = json!(500_000);
        spec["vcs"][0]["abr"]["rif"] = json!(1.0);
        spec["links"][1]["port"]["rate_algorithm"] = json!({
            "kind": "erica", "target_utilization": 0.9, "interval_ps": 100 * MS,
            "interval_cells": 100_000, "delta": 0.0, "ccr_from": "rm_cell",
        });
        spec["records"]["traces"] = json!(["acr", "rate_control"]);
    };
    let traces = pair(change, 250 * MS).traces;
    let acr = &traces.acr;
    let rows: Vec<_> = (0..acr.vc.len())
        .filter(|&row| acr.vc[row] == 0)
        .map(|row| (acr.port[row], acr.time_ps[row], acr.acr[row], acr.er[row]))
        .collect();
    // The answer comes at 49 ms: 5 + 22 there, turned at once as the first cell after VC 1's own RM cell,
    // 1 ms later, and 22 back. It has passed the switch, which then gave an equal share of its target, 900,
    // to each of one VC.
    assert_eq!(rows[0], (0, 0, 500.0, 1_000.0));
    assert_eq!(rows[1], (0, 50 * MS, 900.0, 900.0));
    let control = &traces.rate_control;
    assert_eq!(
        (&control.port[..], &control.time_ps[..]),
        (&[1, 1][..], &[100 * MS, 200 * MS][..])
    );
    // A cell each 4 ms from 5 ms on takes 11 ms to the switch: 22 of them up to 100 ms, an RM cell before
    // them, and the backward RM cell of VC 1. Then 25, the RM cell that Trm asks for at 105 ms, and the one
    // turned around for VC 1, which has then sent Mrm cells since its first.
    assert_eq!(control.target, [900.0, 900.0]);
    assert_eq!(control.fair_share, [900.0, 900.0]);
    assert_eq!(control.overload, [240.0 / 900.0, 270.0 / 900.0]);
    assert_eq!(control.cells, [1, 1]); // the last of them, which has just come
}

#[test]
fn efci_comes_back_as_ci() {
    // The port behind the switch is slow: 4 ms a cell, and marks from 3 cells on.
    let change = |spec: &mut Value| {
        spec["sources"] = json!([cell_source("s", 0, 0, 2 * MS)]);
        spec["links"][1]["cell_time_ps"] = json!(4 * MS);
        let high = json!({"kind": "efci", "high_cells": 3, "low_cells": 2});
        spec["links"][1]["port"]["rate_algorithm"] = high;
        spec["links"][1]["port"]["queues"][0]["capacity_cells"] = json!(2_000);
    };
    let records = pair(change, 60_000 * MS);
    // The rate swings about the link's 250 cells/s, and the queue stays in bounds.
    assert_eq!(records.ports[1].discarded.total(), 0);
    let (queue, busy) = (&records.ports[1].queue, records.ports[1].busy_ps);
    assert!(queue.max > 3 && queue.max < 600, "{}", queue.max);
    assert!(busy as f64 / (60_000 * MS) as f64 > 0.9);
    // Without marks the buffer is full before long.
    let unmarked = pair(
        |spec| {
            change(spec);
            let port = spec["links"][1]["port"].as_object_mut().unwrap();
            port.remove("rate_algorithm");
        },
        60_000 * MS,
    );
    assert!(unmarked.ports[1].discarded.total() > 1_000);
}

#[test]
fn lost_rm_cells_are_lost_like_others_and_the_source_slows_down_without_them() {
    // All frames are lost on the way back, and with them the backward RM cells.
    let change = |spec: &mut Value| {
        spec["sources"] = json!([cell_source("s", 0, 0, 2 * MS)]);
        spec["vcs"][0]["abr"]["tbe_cells"] = json!(64);
        spec["vcs"][0]["abr"]["mcr_millicells"] = json!(20_000);
        spec["links"][3]["schedule"] = json!({
            "times_ps": [0], "delays_ps": [10 * MS], "paths": [0], "cell_times_ps": [],
            "losses_ppb": [1_000_000_000], "to": [], "interruption_ps": 0, "handover_loses_cells": false,
        });
    };
    let records = pair(change, 60_000 * MS);
    assert!(rm(&records, 0).backward_sent > 10);
    assert_eq!(rm(&records, 0).backward_received, 0);
    assert_eq!(rm(&records, 0).acr_millicells, 20_000); // CDF, down to MCR
}

#[test]
fn a_full_buffer_discards_rm_cells_and_spoils_no_frame_with_them() {
    let change = |spec: &mut Value| {
        let mut source = cell_source("s", 0, 0, 2 * MS);
        source["frame_cells"] = json!(10);
        spec["sources"] = json!([source]);
        spec["vcs"][0]["abr"]["nrm"] = json!(4);
        spec["links"][1]["cell_time_ps"] = json!(4 * MS);
        spec["links"][1]["port"]["queues"][0]["capacity_cells"] = json!(30);
        spec["links"][1]["port"]["queues"][0]["policy"] =
            json!({"kind": "epd", "threshold_cells": 10, "partial_discard": true});
    };
    let records = pair(change, 60_000 * MS);
    let vc = &records.vcs[0];
    // EPD discards whole frames, with room for all of one that has begun; RM cells among them spoil none.
    assert!(vc.cells_discarded.above_threshold > 1_000);
    assert_eq!((vc.cells_discarded.overflow, vc.frames_corrupt), (0, 0));
    assert!(vc.frames_delivered > 300);
    let one = rm(&records, 0);
    assert!(one.forward_sent - one.forward_received < 20);
}

#[test]
fn the_destination_of_a_stopped_vc_answers_beside_the_rate() {
    // VC 1 is told 0 by its first switch port, which others fill, and carries VC 0's backward cells all the
    // same, at TCR.
    let change = |spec: &mut Value| {
        spec["sources"] = json!([cell_source("s", 0, 0, 2 * MS)]);
        spec["vcs"][1]["abr"]["icr_millicells"] = json!(0);
        spec["vcs"][1]["abr"]["rif"] = json!(1e-9);
    };
    let records = pair(change, 10_000 * MS);
    let one = rm(&records, 0);
    assert!(
        (95..=101).contains(&one.backward_sent),
        "{}",
        one.backward_sent
    );
    assert!(one.backward_replaced > 0);
    let other = rm(&records, 1);
    assert_eq!(other.forward_out_of_rate, other.forward_sent);
}

#[test]
fn what_cannot_be_controlled_is_refused() {
    let mut net = Net::chain(1, MS, 10 * MS);
    net.connect(0, 1, abr(1_000, 0));
    let spec = net.spec(MS);
    let efci = json!({"kind": "efci", "high_cells": 3, "low_cells": 2});
    let gfr: Value = json!({
        "mcr_interval_ps": MS, "pcr_interval_ps": MS, "burst_tolerance_ps": 0, "mfs_cells": 1,
        "tagging": "none", "excess": "pass", "nonconforming": "count", "window_ps": MS,
        "window_step_ps": MS,
    });
    let cases = [
        (
            "/vcs/0/class",
            json!("ubr"),
            "vcs[0].abr: belongs to a VC of class abr",
        ),
        (
            "/vcs/0/gfr",
            gfr,
            "vcs[0].gfr: a VC of class abr has MCR by its rate control",
        ),
        (
            "/vcs/0/abr/return_vc",
            json!(7),
            "vcs[0].abr.return_vc: must be an ABR VC",
        ),
        (
            "/vcs/0/abr/return_vc",
            json!(0),
            "vcs[0].abr.return_vc: the VC the other way comes by",
        ),
        (
            "/vcs/1/abr/return_vc",
            json!(1),
            "vcs[0].abr.return_vc: the VC the other way names",
        ),
        (
            "/vcs/0/abr/nrm",
            json!(31),
            "vcs[0].abr.nrm: got 31, allowed a power of 2",
        ),
        (
            "/vcs/0/abr/mcr_millicells",
            json!(1_000_001),
            "vcs[0].abr.mcr_millicells: got 1000001",
        ),
        (
            "/vcs/0/abr/rif",
            json!(0.0),
            "vcs[0].abr.rif: got 0, allowed above 0",
        ),
        (
            "/links/0/port/rate_algorithm",
            efci,
            "links[0].port.rate_algorithm: switches control",
        ),
    ];
    for (at, value, expected) in cases {
        let mut spec = spec.clone();
        match spec.pointer_mut(at) {
            Some(slot) => *slot = value,
            None => spec["links"][0]["port"]["rate_algorithm"] = value,
        }
        let refusal = skycell_spec::NetworkSpec::from_json(&spec.to_string()).unwrap_err();
        assert!(refusal.to_string().starts_with(expected), "{refusal}");
    }
    // Without a rate control the class is no more than a word.
    let mut bare = spec.clone();
    bare["vcs"][0].as_object_mut().unwrap().remove("abr");
    let refusal = skycell_spec::NetworkSpec::from_json(&bare.to_string()).unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "vcs[0].abr: a VC of class abr needs a rate control"
    );
    // Two VCs of 600 cells/s each on a link of 1 000.
    let mut net = Net::chain(2, MS, 10 * MS);
    net.join(MS, 0, &Value::Null);
    net.connect(0, 2, abr(1_000, 600));
    net.connect(0, 2, abr(1_000, 600));
    let refusal = skycell_spec::NetworkSpec::from_json(&net.spec(MS).to_string()).unwrap_err();
    let expected = "links[0]: got MCRs of 1200000 thousandths of a cell a second, allowed at most the link's rate, 1000000";
    assert_eq!(refusal.to_string(), expected);
}

#[test]
fn mcrs_of_abr_and_gfr_vcs_and_rates_of_cbr_sources_share_a_link() {
    // A link of 1 000 cells/s: 500 of an ABR VC, 300 of a GFR VC, and a CBR source.
    let mut net = Net::chain(2, MS, 10 * MS);
    net.join(MS, 0, &Value::Null);
    net.connect(0, 2, abr(1_000, 500));
    let gfr = net.connect(0, 2, abr(1_000, 0));
    net.add_cbr(0, 2, 5 * MS);
    let mut spec = net.spec(MS);
    for vc in [gfr, gfr + 1] {
        let vc = spec["vcs"][vc].as_object_mut().unwrap();
        vc.remove("abr");
        vc["class"] = json!("gfr");
        vc["gfr"] = json!({
            "mcr_interval_ps": 3_333_333_333u64, "pcr_interval_ps": MS, "burst_tolerance_ps": 0,
            "mfs_cells": 1, "tagging": "none", "excess": "pass", "nonconforming": "count",
            "window_ps": MS, "window_step_ps": MS,
        });
    }
    let read = |spec: &Value| skycell_spec::NetworkSpec::from_json(&spec.to_string());
    // 200 cells/s of CBR fill it; 201 are too many.
    assert_eq!(read(&spec).map(|_| ()), Ok(()));
    spec["sources"][0]["cell_interval_ps"] = json!(1_000 * MS / 201);
    let refusal = read(&spec).unwrap_err().to_string();
    let expected = "links[0]: got MCRs of 799999 thousandths of a cell a second beside 200999 of \
                    class cbr, allowed at most the link's rate, 1000000";
    assert_eq!(refusal, expected);
    // Its peaks bind nobody in another class.
    let cbr = spec["sources"][0]["vc"].as_u64().unwrap() as usize;
    spec["vcs"][cbr]["class"] = json!("nrt_vbr");
    assert_eq!(read(&spec).map(|_| ()), Ok(()));
}

#[test]
fn cells_of_other_classes_take_from_what_erica_shares() {
    // A link of 5 000 cells/s, 0.9 of it aimed at; 1 500 of a CBR source go first.
    let erica = json!({
        "kind": "erica", "target_utilization": 0.9, "interval_ps": 100 * MS,
        "interval_cells": 100_000, "delta": 0.0, "ccr_from": "rm_cell",
    });
    let mut net = Net::chain(2, 10_000_000, MS);
    net.join(200_000_000, 2 * MS, &erica);
    for icr in [100, 2_000] {
        let mut control = abr(10_000, 0);
        control["icr_millicells"] = json!(icr * 1_000);
        control["rif"] = json!(1.0);
        let vc = net.connect(0, 2, control);
        net.feed(vc);
    }
    net.add_cbr(0, 2, 666_666_667);
    let found = rates(&net, 5_000 * MS, 10_000 * MS);
    for vc in [0, 2] {
        assert!((found[vc] / 1_500.0 - 1.0).abs() < 0.01, "{found:?}");
    }
}

#[test]
fn shares_that_trust_ccr_are_unequal_where_a_source_has_little_and_equal_where_rates_are_measured()
{
    // 98-0408: "The algorithms A and B do not converge to the expected allocation" with a
    // source bottleneck unless rates are measured. CCR has the VC count in full, so that the fair share
    // stays too small and the others keep their ratio.
    for (ccr_from, is_fair) in [("rm_cell", false), ("measured", true)] {
        let mut algorithm = abr_networks::weighted_erica_plus();
        algorithm["ccr_from"] = json!(ccr_from);
        let mut net = Net::chain(2, 10_000_000, MS);
        net.join(100_000_000, MS, &algorithm);
        for icr in [4_000, 1_000] {
            let mut control = abr(12_000, 0);
            control["icr_millicells"] = json!(icr * 1_000);
            control["rif"] = json!(1.0);
            let vc = net.connect(0, 2, control);
            net.feed(vc);
        }
        let mut control = abr(12_000, 0);
        control["rif"] = json!(1.0);
        let little = net.connect(0, 2, control);
        net.add_source(little, 2 * MS);
        let found = rates(&net, 5_000 * MS, 10_000 * MS);
        let (one, other) = (found[0], found[2]);
        assert_eq!((one / other - 1.0).abs() < 0.01, is_fair, "{found:?}");
    }
}

#[test]
fn the_allocations_of_98_0408_come_out() {
    // Three sources with MCRs of 10, 30 and 50 Mbit/s on a link of 149.76 come to 29.92, 49.92 and 69.92;
    // while the first has no more than 10 the others come to 59.86 and 79.86 (its source bottleneck
    // configuration).
    let cells = |mbit: f64| mbit * 1e6 / 424.0;
    let mut algorithm = abr_networks::weighted_erica_plus();
    algorithm["ccr_from"] = json!("measured");
    algorithm["interval_ps"] = json!(5 * MS);
    algorithm["queue"]["target_ps"] = json!(MS);
    for (expected, is_limited) in [([29.92, 49.92, 69.92], false), ([10.0, 59.86, 79.86], true)] {
        let mut net = Net::chain(2, 2_000_000, MS);
        net.join(2_831_197, 5 * MS, &algorithm);
        for (mcr, limit) in [(10.0, is_limited), (30.0, false), (50.0, false)] {
            let mut control = abr(353_000, cells(mcr) as u64);
            control["icr_millicells"] = json!(30_000_000);
            control["rif"] = json!(1.0);
            let vc = net.connect(0, 2, control);
            match limit {
                true => net.add_source(vc, (1e12 / cells(10.0)) as u64),
                false => net.feed(vc),
            }
        }
        let found = rates(&net, 500 * MS, 800 * MS);
        for (vc, expected) in [(0, expected[0]), (2, expected[1]), (4, expected[2])] {
            let mut rate = found[vc] / cells(1.0);
            if is_limited && vc == 0 {
                rate *= 31.0 / 32.0; // RM cells come on top of what the source has
            }
            assert!(
                (rate / expected - 1.0).abs() < 0.01,
                "{rate} for {expected}: {found:?}"
            );
        }
    }
}

fn cut(spec: &mut Value, node: usize, coupling: &str) {
    spec["nodes"][node]["vs_vd"] = json!({
        "coupling": coupling, "target_ps": 10 * MS, "drain_limit": 0.5,
    });
}

#[test]
fn a_switch_that_cuts_the_loop_answers_itself_and_sends_on_as_a_source_does() {
    // ICR 100 cells/s on both VCs. The RM cell that goes at 5 ms comes to the switch at 16, where VC 1's
    // virtual source begins with an RM cell of its own and sends it back 10 ms later: it comes at 37 ms.
    let change = |spec: &mut Value| {
        spec["sources"] = json!([cell_source("s", 0, 5 * MS, 2 * 3_600_000 * MS)]);
        spec["vcs"][0]["abr"]["icr_millicells"] = json!(100_000);
        spec["vcs"][1]["abr"]["icr_millicells"] = json!(100_000);
        cut(spec, 0, "minimum");
    };
    assert_eq!(rm(&pair(change, 37 * MS), 0).acr_millicells, 100_000);
    let after = pair(change, 37 * MS + 1);
    // ER is the virtual source's ACR, so that RIF lets the rate rise no further.
    assert_eq!(rm(&after, 0).acr_millicells, 100_000);
    assert_eq!(rm(&after, 0).backward_received, 1);
    let loose = |spec: &mut Value| {
        change(spec);
        cut(spec, 0, "link");
    };
    assert_eq!(rm(&pair(loose, 37 * MS + 1), 0).acr_millicells, 162_500);
    // The data cell comes to the switch at 15 + 11 ms, waits 10 ms behind the virtual source's own first RM
    // cell and takes 11 more. That RM cell is at the end at 37 ms.
    assert_eq!(pair(change, 47 * MS).vcs[0].cells_whole, 0);
    assert_eq!(pair(change, 47 * MS + 1).vcs[0].cells_whole, 1);
    assert_eq!(
        (rm(&after, 0).forward_sent, rm(&after, 0).forward_received),
        (2, 2)
    );
    // VC 1's own loop is cut, too: its virtual source's RM cell came to a at 27 ms and is answered from there.
    assert_eq!(
        (rm(&after, 1).forward_received, rm(&after, 1).backward_sent),
        (1, 1)
    );
}

#[test]
fn where_the_loop_is_cut_the_queue_of_the_long_loop_waits_before_the_cut() {
    // A satellite hop of 100 ms, a hop of 10 ms, and the bottleneck of 5 000 cells/s. Two VCs begin with
    // all of it each.
    let erica = json!({
        "kind": "erica_plus", "queue": abr_networks::weighted_erica_plus()["queue"],
        "interval_ps": 10 * MS, "interval_cells": 100_000, "delta": 0.1, "ccr_from": "rm_cell",
    });
    let queues = |coupling: Option<&str>| {
        let mut net = Net::chain(4, 50_000_000, MS);
        net.join(50_000_000, 100 * MS, &Value::Null);
        net.join(50_000_000, 10 * MS, &Value::Null);
        net.join(200_000_000, MS, &erica);
        for _ in 0..2 {
            let mut control = abr(10_000, 0);
            control["icr_millicells"] = json!(5_000_000);
            control["rif"] = json!(1.0);
            let vc = net.connect(0, 4, control);
            net.feed(vc);
        }
        let mut spec = net.spec(3_000 * MS);
        if let Some(coupling) = coupling {
            cut(&mut spec, 1, coupling);
        }
        let records = run(&spec);
        // Links 0, 2 and 4 are the row; nothing is lost there, and the bottleneck is kept busy.
        let lost = [0, 2, 4].map(|port: usize| records.ports[port].discarded.total());
        assert_eq!(lost, [0; 3]);
        assert!(records.ports[4].busy_ps > 2_600 * MS, "{coupling:?}");
        [2, 4].map(|port: usize| records.ports[port].queue.max)
    };
    let [before, at_bottleneck] = queues(None);
    assert!(before <= 4);
    for coupling in ["minimum", "both", "acr", "queue"] {
        let [waiting, short] = queues(Some(coupling));
        // A feedback delay of 22 ms instead of 222.
        assert!(
            short < at_bottleneck / 4,
            "{coupling}: {short} of {at_bottleneck}"
        );
        assert!(
            waiting > at_bottleneck / 2,
            "{coupling}: {waiting} of {at_bottleneck}"
        );
    }
}

#[test]
fn steady_rates_are_the_weighted_max_min_allocation() {
    for seed in 0..24 {
        abr_networks::check_rates(seed);
    }
}

/// A slow port behind the switch, 4 ms a cell, which finds itself congested at 3 cells and makes 10 backward RM cells a
/// second.
fn with_becn(spec: &mut Value) {
    spec["sources"] = json!([cell_source("s", 0, 0, 2 * MS)]);
    spec["vcs"][0]["abr"]["icr_millicells"] = json!(500_000);
    spec["links"][1]["cell_time_ps"] = json!(4 * MS);
    spec["links"][1]["port"]["rate_algorithm"] =
        json!({"kind": "efci", "high_cells": 3, "low_cells": 3, "becn_millicells": 10_000});
    spec["links"][1]["port"]["queues"][0]["capacity_cells"] = json!(2_000);
}

#[test]
fn a_congested_switch_tells_the_source_itself() {
    // Cells go at 0, 2, 4 ... ms and come 11 ms later; the port sends from 11 ms on, one each 4 ms. Before
    // those that come at 11, 13, 15, 17, 19 and 21 ms there are 0, 1, 1, 2, 2 and 3. At 21 ms the switch makes a cell
    // with CI, which takes 11 ms to the source: ACR falls by a sixteenth of 500. An answer of the destination is on
    // its way until 48 ms, and the next cell of the switch is not made before 121 ms.
    let acr = |records: &RunRecords| rm(records, 0).acr_millicells;
    let counts = |records: &RunRecords| {
        let one = rm(records, 0);
        [one.becn_sent, one.becn_received, one.backward_received]
    };
    assert_eq!(counts(&pair(with_becn, 21 * MS)), [0, 0, 0]);
    let before = pair(with_becn, 32 * MS);
    assert_eq!((acr(&before), counts(&before)), (500_000, [1, 0, 0]));
    let after = pair(with_becn, 32 * MS + 1);
    assert_eq!((acr(&after), counts(&after)), (468_750, [1, 1, 1]));
    assert_eq!(counts(&pair(with_becn, 121 * MS))[0], 1);
    assert_eq!(counts(&pair(with_becn, 125 * MS))[0], 2);
    // They are none of those that answer: source behaviour 6 does not count them, and the ledger holds.
    let minute = pair(with_becn, 60_000 * MS);
    let one = rm(&minute, 0);
    assert!((300..=600).contains(&one.becn_sent), "{}", one.becn_sent);
    assert!(one.backward_received - one.becn_received <= one.backward_sent);
}

#[test]
fn where_the_loop_is_cut_the_virtual_destination_makes_the_cell() {
    let change = |spec: &mut Value| {
        with_becn(spec);
        spec["vcs"][0]["abr"]["rif"] = json!(1e-9);
        cut(spec, 0, "acr");
    };
    let records = pair(change, 10_000 * MS);
    let one = rm(&records, 0);
    assert!(one.becn_sent > 10);
    assert_eq!(one.becn_received, one.becn_sent);
}

#[test]
fn the_switch_before_a_satellite_needs_no_more_than_its_own_loop_if_it_answers_itself() {
    // JSAC 6.1: two VCs begin with all of a link of 5 000 cells/s each, 275 ms to the other end; the sources are
    // 10 ms away. Twice what the link takes comes until feedback is felt: 5 000 cells a second in excess.
    let longest = |becn: u64| {
        let mut erica = json!({
            "kind": "erica_plus", "queue": abr_networks::weighted_erica_plus()["queue"],
            "interval_ps": 10 * MS, "interval_cells": 100_000, "delta": 0.1, "ccr_from": "rm_cell",
        });
        if becn > 0 {
            erica["becn_millicells"] = json!(becn);
        }
        let mut net = Net::chain(2, 50_000_000, 10 * MS);
        net.join(200_000_000, 275 * MS, &erica);
        for _ in 0..2 {
            let mut control = abr(10_000, 0);
            control["icr_millicells"] = json!(5_000_000);
            control["rif"] = json!(1.0);
            let vc = net.connect(0, 2, control);
            net.feed(vc);
        }
        let records = run(&net.spec(4_000 * MS));
        assert!(records.ports[0].busy_ps > 3_700 * MS, "{becn}");
        f64::from(records.ports[0].queue.max)
    };
    let excess = 5_000.0;
    let (without, with) = (longest(0), longest(10_000));
    // The first answer of the destination: 2 x (275 + 2 x 10) ms after the first cell, to and from the switch
    // itself 10 ms less on each way.
    assert!(without > excess * 0.570, "{without}");
    // To the source and back, an averaging interval, and a share of the second that ends the overload.
    assert!(with < excess * (0.020 + 2.0 * 0.010), "{with}");
}

#[test]
fn relative_rate_marking_holds_the_queue_without_the_destination() {
    let longest = |algorithm: Value| {
        let change = |spec: &mut Value| {
            with_becn(spec);
            spec["links"][1]["port"]["rate_algorithm"] = algorithm.clone();
        };
        let records = pair(change, 60_000 * MS);
        assert_eq!(records.ports[1].discarded.total(), 0);
        assert!(records.ports[1].busy_ps as f64 / (60_000 * MS) as f64 > 0.9);
        records.ports[1].queue.max
    };
    let efci = longest(json!({"kind": "efci", "high_cells": 3, "low_cells": 2}));
    for rm_cells in ["backward", "forward", "both"] {
        let queue = longest(json!({
            "kind": "relative_rate", "high_cells": 3, "low_cells": 2, "ni_cells": 2,
            "rm_cells": rm_cells,
        }));
        assert!(queue > 3 && queue < efci * 2, "{rm_cells}: {queue}, {efci}");
    }
}

/// From a to b over satellite s0 until 2 s, then over s1, whose link to the ground has half the rate; 1 ms a cell and 10 ms a
/// link. Both satellites have ERICA.
fn handover(change: impl Fn(&mut Value), duration_ps: u64) -> RunRecords {
    let (west, east, first, second, a, b) = (0, 1, 2, 3, 4, 5);
    let names = [
        ("west", "switch"),
        ("east", "switch"),
        ("s0", "switch"),
        ("s1", "switch"),
        ("a", "host"),
        ("b", "host"),
    ];
    let nodes = names.map(|(name, kind)| json!({"name": name, "kind": kind}));
    let ends = [
        (a, west),
        (west, first),
        (first, east),
        (second, east),
        (east, b),
        (b, east),
        (east, first),
        (first, west),
        (second, west),
        (west, a),
    ];
    let mut links: Vec<Value> = (ends.iter().enumerate())
        .map(|(id, &(from, to))| link(&format!("l{id}"), from, to, MS, 10 * MS))
        .collect();
    for up in [1, 6] {
        links[up]["schedule"] = json!({
            "times_ps": [0, 2_000 * MS], "delays_ps": [10 * MS, 10 * MS], "paths": [0, 1],
            "cell_times_ps": [], "losses_ppb": [], "to": [first, second], "interruption_ps": 0,
            "handover_loses_cells": false,
        });
    }
    links[3]["cell_time_ps"] = json!(2 * MS);
    let erica = json!({
        "kind": "erica", "target_utilization": 0.9, "interval_ps": 100 * MS, "interval_cells": 100_000,
        "delta": 0.1, "ccr_from": "rm_cell",
    });
    for down in [2, 3] {
        links[down]["port"]["rate_algorithm"] = erica.clone();
    }
    let vc = |name: &str, back: usize, path: [usize; 4], later: [usize; 4]| {
        let mut control = abr(1_000, 0);
        control["return_vc"] = json!(back);
        control["rif"] = json!(1.0);
        json!({
            "name": name, "path": path, "class": "abr", "policing": [], "gfr": null, "abr": control,
            "rerouting": {"times_ps": [2_000 * MS], "paths": [later], "loses_cells": false},
        })
    };
    let mut spec = json!({
        "version": 2, "seed": 1, "duration_ps": duration_ps, "nodes": nodes, "links": links,
        "vcs": [vc("there", 1, [0, 1, 2, 4], [0, 1, 3, 4]), vc("back", 0, [5, 6, 7, 9], [5, 6, 8, 9])],
        "flows": [], "sources": [cell_source("s", 0, 0, MS)],
        "records": {
            "sample_every_ps": 1_000 * MS, "sampled_ports": [], "vc_sampled_ports": [], "delay_vcs": [],
            "traces": ["acr"],
        },
    });
    change(&mut spec);
    run(&spec)
}

/// Times in ms at which ACR of the VC there changed at a's port, from `from_ms` on, with the new ACR in cells a second.
fn rates_from(records: &RunRecords, from_ms: f64) -> Vec<(f64, f64)> {
    let trace = &records.traces.acr;
    let rows = trace
        .port
        .iter()
        .zip(&trace.vc)
        .zip(&trace.time_ps)
        .zip(&trace.acr);
    let rows = rows.filter(|(((port, vc), _), _)| **port == 0 && **vc == 0);
    let rows = rows.map(|((_, &time), &acr)| (time as f64 / MS as f64, acr));
    rows.filter(|row| row.0 >= from_ms).collect()
}

#[test]
fn after_a_handover_the_first_backward_cell_over_the_new_satellite_brings_its_rate() {
    let records = handover(|_| (), 4_000 * MS);
    // 0.9 of 1 000 cells/s over s0.
    assert!(
        rates_from(&records, 500.0)
            .iter()
            .all(|row| row.0 > 2_000.0)
    );
    let before = rates_from(&records, 0.0);
    assert_eq!(before[before.len() - 2].1, 900.0);
    // An RM cell leaves a with each 32 cells, 35.6 ms apart. The first of those turned around at b that leaves east after
    // 2 000 ms goes to s1: 10 ms over that link, and 1 and 10 ms over each of two. s1 has seen no cell of the VC: its fair
    // share is 0.9 of 500.
    let changes = rates_from(&records, 2_000.0);
    assert_eq!(changes.len(), 1, "{changes:?}");
    let (time, acr) = changes[0];
    assert_eq!(acr, 450.0);
    assert!((2_032.0..2_032.0 + 35.6).contains(&time), "{time}");
    // Cells at 900/s come to s1 from 2 010 ms on, 10 ms after the first leaves west; at 450/s 22 ms after the change. It sends
    // 500/s.
    let most = 0.4 * (time + 22.0 - 2_011.0);
    let queue = f64::from(records.ports[3].queue.max);
    assert!((queue - most).abs() <= 2.0, "{queue} {most}");
    // Nothing is lost: each RM cell has arrived or is under way, 6 links there and back at 14 a second at most.
    let there = rm(&records, 0);
    assert!(
        there.forward_sent - there.backward_received <= 3,
        "{there:?}"
    );
    assert_eq!(records.vcs[0].cells_lost.total(), 0);
}

#[test]
fn what_was_turned_around_before_a_handover_comes_back_over_the_old_satellite() {
    // The last such cell left east at 2 000 ms at the latest, and is at a 10 + 11 + 11 ms later: no sooner does ACR fall.
    let at = |ms: u64| rm(&handover(|_| (), ms * MS), 0).acr_millicells;
    assert_eq!(
        [at(2_000), at(2_032), at(2_068)],
        [900_000, 900_000, 450_000]
    );
    // Where satellites forget the VC, s0 loses the cells that are on the link up at 2 000 ms, 9 at 900/s, and one that it sends.
    let forgets = |spec: &mut Value| {
        for vc in 0..2 {
            spec["vcs"][vc]["rerouting"]["loses_cells"] = json!(true);
        }
    };
    let records = handover(forgets, 4_000 * MS);
    let lost = records.vcs[0].cells_lost.off_path;
    assert!((8..=11).contains(&lost), "{lost}");
    assert_eq!(rm(&records, 0).acr_millicells, 450_000);
}

#[test]
fn a_virtual_source_on_board_begins_at_icr_where_a_path_enters() {
    let cut = |spec: &mut Value| {
        let vs_vd = json!({"coupling": "minimum", "target_ps": MS, "drain_limit": 0.5});
        for satellite in [2, 3] {
            spec["nodes"][satellite]["vs_vd"] = vs_vd.clone();
        }
        spec["vcs"][0]["abr"]["icr_millicells"] = json!(100_000);
    };
    let records = handover(cut, 2_500 * MS);
    let trace = &records.traces.acr;
    let rows = trace
        .port
        .iter()
        .zip(&trace.vc)
        .zip(&trace.time_ps)
        .zip(&trace.acr);
    let of_new = rows.filter(|(((port, vc), _), _)| **port == 3 && **vc == 0);
    let of_new: Vec<(u64, f64)> = of_new.map(|((_, &time), &acr)| (time, acr)).collect();
    // ICR, until the first backward RM cell comes that has left east after 2 000 ms; it is of the loop that began at s0, and
    // one comes each 35.6 ms.
    assert_eq!(of_new[0], (0, 100.0));
    let moved = of_new.iter().find(|row| row.1 != 100.0).unwrap();
    assert!((2_010 * MS..2_047 * MS).contains(&moved.0), "{of_new:?}");
    // So do cells of the VC, from 2 011 ms on.
    assert!(records.ports[3].departed > 100);
}

#[test]
fn a_vc_that_changes_its_path_alone_is_refused() {
    let alone = |spec: &mut Value| {
        spec["vcs"][1].as_object_mut().unwrap().remove("rerouting");
    };
    let later = |spec: &mut Value| {
        spec["vcs"][1]["rerouting"]["times_ps"] = json!([2_001 * MS]);
    };
    let elsewhere = |spec: &mut Value| {
        spec["vcs"][1]["rerouting"]["paths"] = json!([[5, 6, 7, 9]]);
    };
    let changes: [fn(&mut Value); 3] = [alone, later, elsewhere];
    for change in changes {
        let refused = std::panic::catch_unwind(|| handover(change, MS));
        let text = *refused.unwrap_err().downcast::<String>().unwrap();
        assert!(
            text.contains("the VC the other way comes by the same nodes"),
            "{text}"
        );
    }
}
