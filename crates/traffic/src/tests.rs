//! A flow and its wire, without a network: every segment arrives after a fixed time.

use super::*;
use skycell_spec::{
    AdvertisedWindow, CwndGrowth, LossScript, PartialAckRestarts, PartialAckWindow, PipeAtEntry,
    RtoRestart, SackPartialAck, SackRetransmitDelay, SsthreshBasis, TcpVariant, TickOrder,
};

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
        tcp: TcpSpec {
            variant: TcpVariant::Sack,
            mss: MSS,
            llc_snap: true,
            rwnd: 64_000,
            window_scaling: false,
            initial_cwnd: MSS,
            initial_ssthresh: 64_000,
            max_cwnd: 64_000,
            cwnd_growth: CwndGrowth::Float,
            slow_start_at_ssthresh: false,
            ssthresh_basis: SsthreshBasis::Cwnd,
            dup_ack_threshold: 3,
            tick_ps: SimTime::from_millis(100).0,
            tick_phase: TickPhase::At { offset_ps: 0 },
            tick_order: TickOrder::ClockFirst,
            rto_min_ticks: 2,
            rto_initial_ticks: 30,
            rto_max_ticks: 640,
            rto_max_backoff: 64,
            rto_restart: RtoRestart::OnAck,
            timestamps: false,
            pipe_at_entry: PipeAtEntry::Cwnd,
            sack_partial_ack: SackPartialAck::PipeLessTwo,
            sack_partial_ack_restarts: PartialAckRestarts::Every,
            sack_retransmit_delay: SackRetransmitDelay::None,
            sack_max_blocks: 3,
            partial_ack_window: PartialAckWindow::Keep,
            partial_ack_first_restarts_only: false,
            flywheel: false,
            avoid_multiple_fast_retransmits: false,
            advertised_window: AdvertisedWindow::Constant,
            delayed_ack: None,
            nagle: false,
            sws_avoidance: true,
            idle_restart: false,
            handshake,
        },
        traffic,
        start: StartSpec::At { time_ps: 0 },
        loss_script: LossScript::default(),
    }
}

/// Runs the flow over the wire until `end`.
pub(crate) fn run(spec: &FlowSpec, end: SimTime) -> (FlowRecord, Traces) {
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
        let due = [
            wire.front().map(|w| w.0),
            flow.application_due(),
            flow.retransmission_due(),
        ];
        let Some(now) = due.into_iter().flatten().min().filter(|&t| t < end) else {
            return (flow.record(end), out.traces);
        };
        if due[0] == Some(now) {
            let (_, forward, segment, handed_at) = wire.pop_front().unwrap();
            if forward {
                flow.on_segment_at_destination(now, &segment, handed_at, &mut out);
            } else {
                flow.on_segment_at_source(now, &segment, &mut out);
            }
        } else if due[1] == Some(now) {
            flow.on_application(now, &mut out);
        } else {
            flow.on_retransmission(now, &mut out);
        }
        let arrival = now + DELAY;
        wire.extend(out.forward.drain(..).map(|s| (arrival, true, s, now)));
        wire.extend(out.reverse.drain(..).map(|s| (arrival, false, s, now)));
    }
}

fn transfers(count: Option<u32>, new_connection: bool) -> TrafficSpec {
    TrafficSpec::Transfers {
        size_octets: 3 * MSS + 500,
        count,
        idle: Distribution::Constant {
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
    assert_eq!(record.transfers, 2);
}

#[test]
fn a_handshake_costs_a_round_trip_before_and_after() {
    let (record, traces) = run(
        &spec(transfers(Some(2), true), true),
        SimTime::from_millis(10_000),
    );
    let took = traces.transfers.end_ps[0] - traces.transfers.start_ps[0];
    assert_eq!(SimTime(took), SimTime::from_millis(400));
    // FIN and its answer: another round trip before the idle time.
    assert_eq!(
        SimTime(traces.transfers.start_ps[1]),
        SimTime::from_millis(1_500)
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
