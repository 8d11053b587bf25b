//! A flow and its wire, without a network: every segment arrives after a fixed time.

use super::*;
use skycell_spec::{DelayedAckSpec, DistributionSpec, JitterSpec, LossScript};

pub(crate) const MSS: u64 = 1_000;
const HOSTS: Hosts<'_> = Hosts {
    source: "h",
    destination: "g",
};
/// One-way delay of the wire.
pub(crate) const DELAY: SimTime = SimTime::from_millis(50);

pub(crate) fn spec(traffic: TrafficSpec, handshake: bool) -> FlowSpec {
    FlowSpec {
        name: "f".into(),
        forward: vec![0],
        reverse: vec![1],
        tcp: tcp(handshake),
        traffic,
        start: StartSpec::At { time_ps: 0 },
        loss_script: LossScript::default(),
        jitter: JitterSpec::default(),
        peps: Vec::new(),
        ipsec: false,
    }
}

/// SACK with the studies' defaults and a window of 64 segments.
fn tcp(handshake: bool) -> TcpSpec {
    let text = r#"{
        "recovery": {"kind": "sack", "dup_ack_threshold": 3, "pipe_at_entry": "cwnd",
            "partial_ack": "pipe_less_two", "partial_ack_restarts": "every", "pipe_room": "segment",
            "retransmit_delay": {"kind": "none"}, "max_blocks": 3,
            "avoid_multiple_fast_retransmits": false},
        "congestion": {"kind": "reno", "growth": "float", "ssthresh_basis": "cwnd"},
        "slow_start": {"kind": "standard", "at_ssthresh": false}, "mss": 1000, "llc_snap": true, "rwnd": 64000, "window_scaling": false,
        "initial_cwnd": 1000, "initial_ssthresh": 64000, "max_cwnd": 64000,
        "tick_ps": 100000000000, "tick_phase": {"kind": "at", "offset_ps": 0},
        "tick_order": "clock_first", "rto_min_ticks": 2, "rto_initial_ticks": 30,
        "rto_max_ticks": 640, "rto_max_backoff": 64, "rto_restart": "on_ack", "timestamps": false,
        "advertised_window": "constant",
        "delayed_ack": null, "nagle": false, "sws_avoidance": true, "idle_restart": false,
        "handshake": false
    }"#;
    TcpSpec {
        handshake,
        ..serde_json::from_str(text).expect("a TcpSpec")
    }
}

/// Runs the flow over the wire until `end`.
pub(crate) fn run(spec: &FlowSpec, end: SimTime) -> (FlowRecord, Traces) {
    run_with_losses(spec, end, |_| false)
}

/// The same on a wire that loses what `loses` says.
pub(crate) fn run_with_losses(
    spec: &FlowSpec,
    end: SimTime,
    mut loses: impl FnMut(&Segment) -> bool,
) -> (FlowRecord, Traces) {
    let traces = [
        TraceKind::Transfers,
        TraceKind::Sequence,
        TraceKind::Cwnd,
        TraceKind::Files,
    ];
    let mut flow = Flow::new(0, spec, &mut SharedTcp::default(), 1, HOSTS, &traces);
    let mut out = Outbox::default();
    // (arrival, to the destination?, segment, handed over), in order of arrival.
    let mut wire: std::collections::VecDeque<(SimTime, bool, Segment, SimTime)> =
        std::collections::VecDeque::new();
    loop {
        let (arrival, timer) = (wire.front().map(|w| w.0), flow.next_timer(0));
        let due = earlier(arrival, timer.map(|timer| timer.time()));
        let Some(now) = due.filter(|&t| t < end) else {
            return (flow.record(end), out.traces);
        };
        if arrival == Some(now) {
            let (_, forward, segment, enqueued_at) = wire.pop_front().unwrap();
            if forward {
                flow.on_segment_at_destination(now, &segment, enqueued_at, &mut out);
            } else {
                flow.on_segment_at_source(now, &segment, &mut out);
            }
        } else if let Some(timer) = timer {
            flow.on_timer(now, timer.rank(), &mut out);
        }
        let arrival = now + DELAY;
        out.forward.retain(|segment| !loses(segment));
        out.reverse.retain(|segment| !loses(segment));
        wire.extend(out.forward.drain(..).map(|s| (arrival, true, s, now)));
        wire.extend(out.reverse.drain(..).map(|s| (arrival, false, s, now)));
    }
}

fn transfers(count: Option<u32>, new_connection: bool) -> TrafficSpec {
    TrafficSpec::Transfers {
        size_octets: 3 * MSS + 500,
        count,
        idle: DistributionSpec::Constant {
            value_ps: SimTime::from_millis(1_000).0,
        },
        new_connection,
    }
}

#[test]
fn transfers_follow_each_other_after_the_idle_time() {
    // 1, 2, 1 segments: three round trips of 100 ms, then one second of idling.
    let (record, traces) = run(
        &spec(transfers(Some(2), true), false),
        SimTime::from_millis(10_000),
    );
    let millis =
        |column: &[u64]| -> Vec<u64> { column.iter().map(|ps| ps / 1_000_000_000).collect() };
    assert_eq!(millis(&traces.transfers.start_ps), [0, 1_300]);
    assert_eq!(millis(&traces.transfers.end_ps), [300, 1_600]);
    assert_eq!((record.transfers, record.octets_delivered), (2, 7_000));
    assert_eq!(SimTime(record.connected_ps), SimTime::from_millis(600));
    assert_eq!((record.closings, record.closing_ps), (2, 0)); // no FIN without a handshake
    assert_eq!(record.delay_mean_ps, DELAY.0 as f64);
}

#[test]
fn a_kept_connection_keeps_its_window() {
    let (record, traces) = run(
        &spec(transfers(Some(2), false), false),
        SimTime::from_millis(10_000),
    );
    // cwnd is 5 segments after the first transfer: the second takes one round trip.
    let took = traces.transfers.end_ps[1] - traces.transfers.start_ps[1];
    assert_eq!(SimTime(took), SimTime::from_millis(100));
    assert_eq!((record.transfers, record.closings), (2, 0));
}

#[test]
fn a_handshake_costs_a_round_trip_before_and_after() {
    let (record, traces) = run(
        &spec(transfers(Some(2), true), true),
        SimTime::from_millis(10_000),
    );
    let took = traces.transfers.end_ps[0] - traces.transfers.start_ps[0];
    assert_eq!(SimTime(took), SimTime::from_millis(400));
    // SYN, its answer, what answers that, and the same of FIN.
    assert_eq!(record.control_segments, 2 * 6);
    // FIN and its answer: another round trip before the idle time.
    assert_eq!(
        SimTime(traces.transfers.start_ps[1]),
        SimTime::from_millis(1_500)
    );
    // Which is no part of what the transfers took, and is told apart.
    assert_eq!(record.closings, 2);
    assert_eq!(SimTime(record.closing_ps), SimTime::from_millis(2 * 100));
    assert_eq!(
        SimTime(record.connected_ps),
        SimTime::from_millis(2 * (400 + 100))
    );
    assert_eq!(record.transfers, 2);
}

#[test]
fn a_scripted_loss_is_repaired_and_counted() {
    let mut spec = spec(TrafficSpec::Persistent, false);
    spec.loss_script.transmissions = vec![9];
    let (record, _) = run(&spec, SimTime::from_millis(3_000));
    assert_eq!(record.segments_lost_by_script, 1);
    assert_eq!(record.segments_retransmitted, 1);
    assert_eq!((record.fast_retransmits, record.timeouts), (1, 0));
    // One retransmission made good for it: everything acknowledged had arrived.
    assert!(record.octets_delivered >= record.octets_acked && record.octets_acked > 100 * MSS);
}

#[test]
fn a_loss_at_each_crossing_of_a_window_keeps_cwnd_below_it() {
    let mut spec = spec(TrafficSpec::Persistent, false);
    spec.loss_script.at_cwnd_octets = Some(20 * MSS);
    let (record, traces) = run(&spec, SimTime::from_millis(60_000));
    assert!(record.segments_lost_by_script > 10);
    assert_eq!(record.segments_lost_by_script, record.fast_retransmits);
    assert_eq!(record.timeouts, 0);
    // Slow start passes 20 segments by one window; later peaks stay within one segment.
    let late = traces
        .cwnd
        .time_ps
        .partition_point(|&t| t < 5_000_000_000_000);
    let peak = traces.cwnd.cwnd[late..].iter().copied().fold(0.0, f64::max);
    assert!((20_000.0..22_100.0).contains(&peak), "{peak}");
}

#[test]
fn draws_belong_to_the_flow_and_the_host() {
    let mut drawn = spec(TrafficSpec::Persistent, false);
    drawn.start = StartSpec::Drawn {
        from_ps: 0,
        to_ps: 1_000_000,
    };
    let start = |seed, name: &str| {
        let named = FlowSpec {
            name: name.into(),
            ..drawn.clone()
        };
        Flow::new(0, &named, &mut SharedTcp::default(), seed, HOSTS, &[]).application_due()
    };
    assert_eq!(start(1, "a"), start(1, "a"));
    assert_ne!(start(1, "a"), start(1, "b"));
    assert_ne!(start(1, "a"), start(2, "a"));
}

#[test]
fn an_acknowledgement_is_held_for_a_second_segment_or_its_time() {
    let mut spec = spec(transfers(Some(1), false), false);
    spec.tcp.delayed_ack = Some(DelayedAckSpec {
        timeout_ps: SimTime::from_millis(200).0,
        every_segments: 2,
        max_timeout_ps: 0,
        quick_segments: 0,
        sack_timeout_ps: 0,
        sack_segments: 0,
    });
    let (record, traces) = run(&spec, SimTime::from_millis(10_000));
    // 1, 2 and 1 segments: the first and the last wait for 200 ms, and the second pair for nobody.
    let took = traces.transfers.end_ps[0] - traces.transfers.start_ps[0];
    assert_eq!(SimTime(took), SimTime::from_millis(300 + 100 + 300));
    assert_eq!((record.acks_sent, record.timeouts), (3, 0));
}

#[test]
fn transfers_without_a_count_go_on_to_the_end_of_the_run() {
    // One of them every 1.3 s.
    let (record, _) = run(
        &spec(transfers(None, true), false),
        SimTime::from_millis(10_000),
    );
    assert_eq!(record.transfers, 8); // the ninth begins at 10.4 s
}

#[test]
fn what_a_new_connection_sends_is_sent_and_not_resent() {
    let (_, traces) = run(
        &spec(transfers(Some(2), true), false),
        SimTime::from_millis(10_000),
    );
    let events = |event: SequenceEvent| {
        let is = |&&reported: &&u8| reported == event as u8;
        traces.sequence.event.iter().filter(is).count()
    };
    assert_eq!(events(SequenceEvent::Sent), 2 * 4);
    assert_eq!(events(SequenceEvent::Retransmitted), 0);
}

#[test]
fn a_connection_that_is_open_at_the_end_was_connected_until_then() {
    let mut spec = spec(TrafficSpec::Persistent, false);
    spec.start = StartSpec::At {
        time_ps: SimTime::from_millis(200).0,
    };
    let (record, _) = run(&spec, SimTime::from_millis(1_000));
    assert_eq!(SimTime(record.connected_ps), SimTime::from_millis(800));
}

#[test]
fn delays_of_segments_are_told_by_least_mean_and_most() {
    let mut destination = AtDestination::default();
    assert_eq!(destination.delay_mean(), 0.0);
    for delay in [3, 1, 5] {
        destination.add_delay(SimTime(delay));
    }
    let least_and_most = (destination.delay_min, destination.delay_max);
    assert_eq!(least_and_most, (SimTime(1), SimTime(5)));
    assert_eq!(destination.delay_mean(), 3.0);
}

#[test]
fn a_flow_writes_the_traces_that_were_asked_for_and_a_window_once_it_has_changed() {
    let rows = |kind| {
        let spec = spec(TrafficSpec::Persistent, false);
        let mut flow = Flow::new(0, &spec, &mut SharedTcp::default(), 1, HOSTS, &[kind]);
        let mut out = Outbox::default();
        flow.on_application(SimTime::ZERO, &mut out);
        let again = Segment {
            kind: SegmentKind::Ack,
            length: 0,
            ..out.forward[0]
        };
        flow.on_segment_at_source(SimTime(1), &again, &mut out);
        (
            out.traces.cwnd.time_ps.len(),
            out.traces.sequence.time_ps.len(),
        )
    };
    assert_eq!(rows(TraceKind::Cwnd), (1, 0));
    assert!(matches!(rows(TraceKind::Sequence), (0, 2..)));
    assert_eq!(rows(TraceKind::Queue), (0, 0));
}
