//! Which cells a port accepts.

use super::*;
use skycell_records::DiscardReason;
use skycell_records::DiscardReason::{AboveThreshold, Overflow, RestOfFrame};
use skycell_spec::{
    AbrSpec, EpdSpec, FifoSpec, PacketFraming, PolicySpec, PortSpec, PpdSpec, SchedulerSpec,
    SelectiveDropSpec, TailDropSpec, VcRoundRobinSpec, VirtualSpacingSpec,
};
use skycell_units::{Ecn, FrameId, PortVc};

fn port(capacity: u32, policy: PolicySpec) -> Port {
    port_with(capacity, policy, SchedulerSpec::Fifo(FifoSpec {}))
}

fn port_with(capacity: u32, policy: PolicySpec, scheduler: SchedulerSpec) -> Port {
    let mut link = LinkSpec {
        name: "p".into(),
        from: 0,
        to: 1,
        cell_time_ps: 10,
        framing: None,
        delay_ps: 0,
        loss_ppb: 0,
        channel: None,
        delay_variation: None,
        schedule: None,
        receivers: Vec::new(),
        port: PortSpec::fifo(Some(capacity), policy, 0),
    };
    link.port.scheduler = scheduler;
    let mut port = Port::new(&link, 1, SimTime::NEVER);
    port.add_vc(0, ServiceClass::Ubr, &link);
    port.add_vc(1, ServiceClass::Ubr, &link);
    port
}

fn epd(threshold_cells: u32, partial_discard: bool) -> PolicySpec {
    PolicySpec::Epd(EpdSpec {
        threshold_cells,
        partial_discard,
    })
}

/// Offers a frame of `cells` cells of VC `vc`, cell by cell at one instant; reasons by cell.
fn offer(port: &mut Port, vc: u32, cells: u32) -> Vec<Option<DiscardReason>> {
    (0..cells)
        .map(|index| offer_cell(port, vc, index, index + 1 == cells))
        .collect()
}

fn offer_cell(port: &mut Port, vc: u32, index: u32, eom: bool) -> Option<DiscardReason> {
    let cell = Cell {
        frame: FrameId(0),
        rm: None,
        efci: false,
        ack: None,
        index,
        vc,
        port_vc: PortVc(0),
        flow: 0,
        hop: 0,
        sky_link: 0,
        eom,
        clp: false,
        is_paced: false,
        came_at: SimTime::ZERO,
        octets: 0,
        ecn: Ecn::NotEct,
        left_at: SimTime::ZERO,
        entry: 0,
    };
    match port.on_cell(SimTime::ZERO, cell, PortVc(vc)) {
        Verdict::Accepted => None,
        Verdict::Discarded { reason, .. } => Some(reason),
    }
}

fn depart(port: &mut Port, cells: u32) {
    (0..cells).for_each(|_| {
        port.on_departure(SimTime(10), 0, Some(1));
    });
}

#[test]
fn tail_drop_discards_the_cells_that_find_the_buffer_full_and_no_others() {
    let mut port = port(3, PolicySpec::TailDrop(TailDropSpec {}));
    let verdicts = offer(&mut port, 0, 4);
    assert_eq!(verdicts, [None, None, None, Some(Overflow)]);
    depart(&mut port, 2);
    assert_eq!(offer(&mut port, 1, 2), [None, None]);
}

#[test]
fn ppd_discards_the_rest_of_a_frame_but_keeps_its_last_cell_when_there_is_room() {
    let mut port = port(2, PolicySpec::Ppd(PpdSpec {}));
    assert_eq!(offer_cell(&mut port, 0, 0, false), None);
    assert_eq!(offer_cell(&mut port, 0, 1, false), None);
    assert_eq!(offer_cell(&mut port, 0, 2, false), Some(Overflow));
    depart(&mut port, 1);
    assert_eq!(offer_cell(&mut port, 0, 3, false), Some(RestOfFrame));
    assert_eq!(offer_cell(&mut port, 0, 4, true), None); // the boundary
    assert_eq!(port.queues[0].frames_discarded.total(), 1);
    assert_eq!(port.queues[0].discarded.total(), 2);
}

#[test]
fn epd_discards_a_frame_whole_from_its_first_cell() {
    let mut port = port(10, epd(2, true));
    assert_eq!(offer(&mut port, 0, 3), [None; 3]);
    // X = 3 > R = 2; nothing of the frame was accepted, so no boundary is needed.
    assert_eq!(offer(&mut port, 0, 3), [Some(AboveThreshold); 3]);
    depart(&mut port, 1);
    assert_eq!(offer(&mut port, 1, 2), [None; 2]); // X = 2 is not above R
}

#[test]
fn frames_begun_are_taken_in_above_the_threshold() {
    let mut port = port(10, epd(2, true));
    assert_eq!(offer(&mut port, 0, 6), [None; 6]);
}

#[test]
fn the_last_cell_of_a_discarded_frame_ends_an_earlier_frame_that_lost_its_own() {
    let mut port = port(2, epd(1, true));
    assert_eq!(offer(&mut port, 0, 3), [None, None, Some(Overflow)]); // loses its last cell
    depart(&mut port, 1);
    assert_eq!(offer_cell(&mut port, 1, 0, false), None);
    // X = 2 > 1: discarded; VC 0 still waits for a boundary, but there is no room.
    assert_eq!(offer(&mut port, 0, 2), [Some(AboveThreshold); 2]);
    depart(&mut port, 1);
    assert_eq!(offer_cell(&mut port, 1, 1, false), None);
    assert_eq!(offer_cell(&mut port, 0, 0, false), Some(AboveThreshold));
    depart(&mut port, 1);
    assert_eq!(offer_cell(&mut port, 0, 1, true), None);
}

#[test]
fn a_frame_is_the_cells_up_to_a_mark_even_when_an_earlier_mark_is_missing() {
    let mut port = port(10, epd(2, true));
    // A frame whose last cell was lost upstream runs on into the next one: the policy is not asked
    // again, although X = 3 > R.
    (0..3).for_each(|index| assert_eq!(offer_cell(&mut port, 0, index, false), None));
    assert_eq!(offer(&mut port, 0, 2), [None; 2]);
    assert_eq!(offer(&mut port, 0, 1), [Some(AboveThreshold)]);
}

#[test]
fn a_whole_frame_from_a_host_or_router_is_taken_in_or_discarded_as_one() {
    let mut port = port(5, PolicySpec::TailDrop(TailDropSpec {}));
    let make = |index| Cell {
        frame: FrameId(0),
        rm: None,
        efci: false,
        ack: None,
        index,
        vc: 0,
        port_vc: PortVc(0),
        flow: 0,
        hop: 0,
        sky_link: 0,
        eom: index == 2,
        clp: false,
        is_paced: false,
        came_at: SimTime::ZERO,
        octets: 0,
        ecn: Ecn::NotEct,
        left_at: SimTime::ZERO,
        entry: 0,
    };
    let offer = |port: &mut Port| port.on_frame(SimTime::ZERO, PortVc(0), 3, make);
    assert_eq!(offer(&mut port), Verdict::Accepted);
    assert!(matches!(
        offer(&mut port),
        Verdict::Discarded {
            reason: Overflow,
            is_first_loss: true
        }
    ));
    assert_eq!((port.queued(), port.queues[0].discarded.total()), (3, 3));
}

#[test]
fn active_vcs_are_those_with_queued_cells() {
    let mut port = port(10, PolicySpec::TailDrop(TailDropSpec {}));
    offer(&mut port, 0, 2);
    offer(&mut port, 1, 1);
    assert_eq!(port.queues[0].active_vcs, 2);
    depart(&mut port, 2);
    assert_eq!(port.queues[0].active_vcs, 1);
    depart(&mut port, 1);
    assert_eq!(port.queues[0].active_vcs, 0);
}

#[test]
fn the_mean_queue_is_the_mean_over_time() {
    let mut port = port(10, PolicySpec::TailDrop(TailDropSpec {}));
    offer(&mut port, 0, 2); // at 0; departures both at 10 here
    depart(&mut port, 2);
    assert_eq!(port.queues[0].integral.mean(0, 40), 2.0 * 10.0 / 40.0);
    assert_eq!(port.busy(SimTime(40)), SimTime(20));
}

#[test]
fn before_each_frame_and_nowhere_else_a_host_port_waits_within_the_gap() {
    let mut port = port(10, PolicySpec::TailDrop(TailDropSpec {}));
    port.frame_gap = 1_000;
    let mut waits = Vec::new();
    for _ in 0..50 {
        offer(&mut port, 0, 2);
        let leaves = port.begin_sending(SimTime::ZERO).unwrap();
        waits.push(leaves.0 - 10);
        port.on_departure(leaves, 0, Some(1));
        let leaves = port.begin_sending(SimTime(77)).unwrap();
        assert_eq!(leaves, SimTime(87));
        port.on_departure(leaves, 0, Some(1));
        assert_eq!(port.begin_sending(SimTime(80)), None);
    }
    assert!(waits.iter().all(|&wait| wait < 1_000));
    waits.sort_unstable();
    waits.dedup();
    assert!(waits.len() > 40, "waits are drawn");
}

#[test]
fn without_partial_discard_the_rest_of_a_frame_is_taken_in_when_there_is_room_again() {
    let mut port = port(3, epd(2, false));
    (0..3).for_each(|index| assert_eq!(offer_cell(&mut port, 0, index, false), None));
    assert_eq!(offer_cell(&mut port, 0, 3, false), Some(Overflow));
    depart(&mut port, 1);
    assert_eq!(offer_cell(&mut port, 0, 4, false), None);
    assert_eq!(offer_cell(&mut port, 0, 5, true), Some(Overflow));
    assert_eq!(offer(&mut port, 1, 2), [Some(AboveThreshold); 2]); // X = 3 > R = 2
}

/// Sends `cells` cells; their VCs.
fn send(port: &mut Port, cells: u32) -> Vec<u32> {
    sent(port, cells).into_iter().map(|(vc, _)| vc).collect()
}

/// Sends `cells` cells; their VCs and their places in their frames.
fn sent(port: &mut Port, cells: u32) -> Vec<(u32, u32)> {
    let mut served = Vec::new();
    for _ in 0..cells {
        port.begin_sending(SimTime::ZERO).expect("cells wait");
        let cell = port.sending().0;
        served.push((cell.vc, cell.index));
        depart(port, 1);
    }
    served
}

/// VC 1's first cell begins to be sent before VC 0 has any; VC 0's sixth finds no room. The first
/// departs.
fn fill_nine_while_vc_1_is_sent(port: &mut Port) {
    assert_eq!(offer(port, 1, 4), [None; 4]);
    port.begin_sending(SimTime::ZERO);
    let verdicts = offer(port, 0, 6);
    assert_eq!(verdicts[..5], [None; 5]);
    assert_eq!(verdicts[5], Some(Overflow));
    assert_eq!(port.sending().0.vc, 1);
    depart(port, 1);
}

#[test]
fn virtual_spacing_serves_vcs_by_stamps_out_of_one_buffer() {
    // VC 0 has twice the rate of VC 1. The buffer holds nine cells of both together.
    let spacing = SchedulerSpec::VirtualSpacing(VirtualSpacingSpec {
        intervals_ps: vec![10, 20],
    });
    let mut port = port_with(9, PolicySpec::TailDrop(TailDropSpec {}), spacing);
    // Stamps of VC 1: 20, 40, 60, 80. Spacing time is 20 then: those of VC 0 are 30, 40, 50, 60, 70.
    fill_nine_while_vc_1_is_sent(&mut port);
    // 30; 40 of either, the lower id first; 50; 60 of either; 70; 80.
    assert_eq!(send(&mut port, 8), [0, 0, 1, 0, 0, 1, 0, 1]);
    assert_eq!(port.queued(), 0);
}

#[test]
fn cells_of_one_vc_keep_their_order_under_virtual_spacing() {
    let spacing = SchedulerSpec::VirtualSpacing(VirtualSpacingSpec {
        intervals_ps: vec![7, 3],
    });
    let mut port = port_with(100, PolicySpec::TailDrop(TailDropSpec {}), spacing);
    offer(&mut port, 0, 5);
    offer(&mut port, 1, 5);
    let mut next = [0, 0];
    for (vc, index) in sent(&mut port, 10) {
        assert_eq!(index, next[vc as usize]);
        next[vc as usize] += 1;
    }
    assert_eq!(next, [5, 5]);
}

#[test]
fn round_robin_serves_vcs_in_turn_out_of_one_buffer() {
    let robin = |weights: [u32; 2]| {
        SchedulerSpec::VcRoundRobin(VcRoundRobinSpec {
            weights: weights.into(),
        })
    };
    // The buffer holds nine cells of both together, whoever's turn it is.
    let mut port = port_with(9, PolicySpec::TailDrop(TailDropSpec {}), robin([1, 1]));
    fill_nine_while_vc_1_is_sent(&mut port);
    assert_eq!(send(&mut port, 8), [0, 1, 0, 1, 0, 1, 0, 0]);
    assert_eq!(port.queued(), 0);
    // Weights of 3 and 2, cells of a VC in their order.
    let mut port = port_with(100, PolicySpec::TailDrop(TailDropSpec {}), robin([3, 2]));
    offer(&mut port, 0, 5);
    offer(&mut port, 1, 5);
    let served = sent(&mut port, 10);
    let order = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1)];
    assert_eq!(served[..5], order);
    let order = [(0, 3), (0, 4), (1, 2), (1, 3), (1, 4)];
    assert_eq!(served[5..], order);
}

/// A port of packets, 1 us for each octet, behind a queue of at most four packets.
fn port_of_packets(policy: &str) -> Port {
    port_at(&link_of_packets(policy))
}

fn port_at(link: &LinkSpec) -> Port {
    let mut port = Port::new(link, 1, SimTime::NEVER);
    port.add_vc(0, ServiceClass::Ubr, link);
    port
}

fn link_of_packets(policy: &str) -> LinkSpec {
    let mut link = LinkSpec {
        name: "p".into(),
        from: 0,
        to: 1,
        cell_time_ps: 0,
        framing: Some(PacketFraming {
            rate_millibps: 8_000_000_000,
            overhead_octets: 0,
            least_octets: 0,
            unit_octets: 1,
            line_octets: 1,
            fragment_octets: None,
            checked_octets: None,
        }),
        delay_ps: 0,
        loss_ppb: 0,
        channel: None,
        delay_variation: None,
        schedule: None,
        receivers: Vec::new(),
        port: PortSpec::fifo(Some(4), serde_json::from_str(policy).unwrap(), 0),
    };
    link.port.queues[0].counts_octets = false;
    link
}

/// Offers packet `frame` of 1000 octets with `ecn`.
fn offer_packet(port: &mut Port, now: SimTime, frame: u32, ecn: Ecn) -> Verdict {
    port.on_frame(now, PortVc(0), 1, |_| Cell {
        ecn,
        came_at: now,
        left_at: now,
        ..packet(frame)
    })
}

/// Packet `frame` of 1000 octets, which comes as many picoseconds after 0.
fn packet(frame: u32) -> Cell {
    Cell {
        frame: FrameId(frame),
        rm: None,
        efci: false,
        ack: None,
        index: 0,
        vc: 0,
        port_vc: PortVc(0),
        flow: 0,
        hop: 0,
        sky_link: 0,
        eom: true,
        clp: false,
        is_paced: false,
        came_at: SimTime(frame.into()),
        octets: 1_000,
        ecn: Ecn::NotEct,
        left_at: SimTime(frame.into()),
        entry: 0,
    }
}

#[test]
fn a_packet_that_finds_the_buffer_full_pushes_out_the_one_that_has_waited_longest() {
    let mut port = port_of_packets(r#"{"kind": "head_drop"}"#);
    let frames = |port: &mut Port| -> Vec<u32> {
        let gone = port.discarded.drain(..);
        gone.map(|(cell, reason)| {
            assert_eq!(reason, DiscardReason::PushedOut);
            cell.frame.0
        })
        .collect()
    };
    offer_packet(&mut port, SimTime(0), 0, Ecn::NotEct);
    port.begin_sending(SimTime(0)); // and stays, whatever comes
    for frame in 1..=4 {
        offer_packet(&mut port, SimTime(1), frame, Ecn::NotEct);
    }
    assert_eq!(frames(&mut port), [1]);
    offer_packet(&mut port, SimTime(2), 5, Ecn::NotEct);
    assert_eq!(frames(&mut port), [2]);
    port.on_departure(SimTime(1_000_000_000), 0, Some(1));
    port.begin_sending(SimTime(1_000_000_000));
    assert_eq!(port.sending().0.frame.0, 3);
    let record = port.record("p", SimTime(1_000_000_001), false);
    assert_eq!((record.arrived, record.departed, record.queued), (6, 1, 3));
    assert_eq!((record.discarded.pushed_out, record.queue.max), (2, 4));
}

#[test]
fn marks_go_on_with_the_packet_and_are_counted_once() {
    let codel = r#"{"kind": "codel", "target_ps": 1, "interval_ps": 2}"#;
    let mut port = port_of_packets(codel);
    let ecns = [Ecn::Ect0, Ecn::Ect1, Ecn::Ce, Ecn::NotEct];
    for (frame, ecn) in (0..).zip(ecns) {
        offer_packet(&mut port, SimTime(0), frame, ecn);
    }
    // Waits are in excess from the third packet on, which came with CE, and each one is due for a signal.
    let mut sent = Vec::new();
    let mut now = SimTime(0);
    while let Some(leaves) = port.begin_sending(now) {
        now = leaves;
        sent.push(port.sending().0.ecn);
        port.on_departure(now, 0, Some(1));
        if sent.len() == 3 {
            for frame in 4..7 {
                offer_packet(&mut port, now, frame, Ecn::Ect0);
            }
        }
    }
    let record = port.record("p", now, false);
    let ecn = record.octets.unwrap().ecn.unwrap();
    let marked = sent.iter().filter(|&&ecn| ecn == Ecn::Ce).count() as u64;
    assert_eq!((ecn.ect.arrived, ecn.ce.arrived), (5, 1));
    assert!(ecn.marked > 0, "{sent:?}");
    assert_eq!(marked, ecn.marked + 1, "{sent:?}");
    assert_eq!(ecn.ect.departed + ecn.marked, 5);
    assert_eq!(ecn.ce.departed, marked);
}

#[test]
fn a_flow_that_begins_goes_before_those_that_wait_and_the_fattest_queue_makes_room() {
    let fq = r#"{"kind": "fq_codel", "target_ps": 5, "interval_ps": 9, "quantum_octets": 1000, "queues": 0}"#;
    let mut port = port_of_packets(fq);
    let offer = |port: &mut Port, frame: u32, flow: u32| {
        port.on_frame(SimTime(frame.into()), PortVc(0), 1, |index| Cell {
            frame: FrameId(frame),
            rm: None,
            efci: false,
            ack: None,
            index,
            vc: 0,
            port_vc: PortVc(0),
            flow,
            hop: 0,
            sky_link: 0,
            eom: true,
            clp: false,
            is_paced: false,
            came_at: SimTime(frame.into()),
            octets: 1_000,
            ecn: Ecn::NotEct,
            left_at: SimTime::ZERO,
            entry: 0,
        })
    };
    for frame in 0..4 {
        offer(&mut port, frame, 0);
    }
    port.begin_sending(SimTime(4)); // the first of flow 0
    assert_eq!(offer(&mut port, 4, 7), Verdict::Accepted);
    let gone: Vec<u32> = port
        .discarded
        .drain(..)
        .map(|(cell, _)| cell.frame.0)
        .collect();
    assert_eq!(gone, [1], "the head of the queue with most octets");
    let mut sent = vec![port.sending().0.frame.0];
    for now in 5..8 {
        port.on_departure(SimTime(now), 0, Some(1));
        port.begin_sending(SimTime(now));
        sent.push(port.sending().0.frame.0);
    }
    assert_eq!(sent, [0, 4, 2, 3]);
}

#[test]
fn an_edge_that_counts_flows_holds_an_abr_vc_to_its_rate_all_the_same() {
    let mut link = LinkSpec {
        name: "p".into(),
        from: 0,
        to: 1,
        cell_time_ps: 10,
        framing: None,
        delay_ps: 0,
        loss_ppb: 0,
        channel: None,
        delay_variation: None,
        schedule: None,
        receivers: Vec::new(),
        port: PortSpec::fifo(
            Some(100),
            PolicySpec::SelectiveDrop(SelectiveDropSpec {
                threshold_cells: 3,
                fairness_threshold: 1.0,
                partial_discard: true,
            }),
            0,
        ),
    };
    link.port.queues[0].by_flow = true;
    let mut port = Port::new(&link, 1, SimTime::NEVER);
    let edge = port.add_vc(5, ServiceClass::Abr, &link);
    let abr: AbrSpec = serde_json::from_value(serde_json::json!({
        "return_vc": 6, "pcr_millicells": 1_000_000, "mcr_millicells": 0, "icr_millicells": 1_000_000,
        "tbe_cells": 16_777_215, "frtt_ps": 0, "nrm": 32, "mrm": 2, "trm_ps": 100_000_000_000_u64,
        "rif": 0.0625, "rdf": 0.0625, "cdf": 0.0625, "adtf_ps": 500_000_000_000_u64, "tcr_millicells": 10_000,
        "use_it_or_lose_it": false, "turns_out_of_rate": false, "destination_millicells": 1_000_000,
        "weight": 1.0,
    }))
    .expect("a rate control");
    port.pacer_of(edge).add(5, edge, 0, &abr, &abr);
    let offer = |port: &mut Port, flow: u32, cells: u32| {
        port.on_frame(SimTime::ZERO, edge, cells, |index| Cell {
            frame: FrameId(flow),
            rm: None,
            efci: false,
            ack: None,
            index,
            vc: 5,
            port_vc: edge,
            flow,
            hop: 0,
            sky_link: 0,
            eom: index + 1 == cells,
            clp: false,
            is_paced: false,
            came_at: SimTime::ZERO,
            octets: 0,
            ecn: Ecn::NotEct,
            left_at: SimTime::ZERO,
            entry: 0,
        })
    };
    assert_eq!(offer(&mut port, 7, 4), Verdict::Accepted);
    // X = 4 is above R = 3. Flow 9 has nothing of it; flow 7 then has 4 of 6 with two active, and 4 * 2 > 6.
    assert_eq!(offer(&mut port, 9, 2), Verdict::Accepted);
    let refused = Verdict::Discarded {
        reason: DiscardReason::OverFairShare,
        is_first_loss: true,
    };
    assert_eq!(offer(&mut port, 7, 1), refused);
    // ACR is 1 000 cells/s: an RM cell, which is of no flow, and then a cell a millisecond, as they came.
    let ms = 1_000_000_000;
    assert_eq!(port.begin_sending(SimTime::ZERO), Some(SimTime(10)));
    assert_eq!((port.queued(), port.queues[0].active_vcs), (7, 2));
    port.on_departure(SimTime(10), 0, Some(1));
    let flows: Vec<u32> = (1..=6)
        .map(|cell| {
            let due = SimTime(cell * ms);
            assert_eq!(port.begin_sending(due.since(SimTime(1))), None);
            assert_eq!(port.begin_sending(due), Some(due + SimTime(10)));
            let flow = port.sending().0.flow;
            port.on_departure(due + SimTime(10), 0, Some(1));
            flow
        })
        .collect();
    assert_eq!(flows, [7, 7, 7, 7, 9, 9]);
    assert_eq!((port.queued(), port.queues[0].active_vcs), (0, 0));
}

#[path = "port_ack_tests.rs"]
mod acks;
