//! Cells and packets that meet bit errors, by hand. Wrong bits are those of a trace; a bit takes 10 ps.

use super::*;
use skycell_abr::RmCell;
use skycell_spec::{
    BitErrorsSpec, BurstLengths, ChannelSpec, ErrorBurstsSpec, ErrorTraceSpec, PolicySpec,
    PortSpec, TailDropSpec,
};
use skycell_units::{Ecn, FrameId, PortVc};

const CELL_TIME: u64 = 10 * CELL_BITS;

fn errors(channel: ChannelSpec, framing: Option<PacketFraming>) -> BitErrors {
    let spec = LinkSpec {
        name: "l".into(),
        from: 0,
        to: 1,
        cell_time_ps: if framing.is_some() { 0 } else { CELL_TIME },
        framing,
        delay_ps: 0,
        loss_ppb: 0,
        channel: Some(channel),
        delay_variation: None,
        schedule: None,
        receivers: Vec::new(),
        port: PortSpec::fifo(None, PolicySpec::TailDrop(TailDropSpec {}), 0),
    };
    BitErrors::new(&spec, 1).expect("it has some")
}

fn trace(errors_at: &[u64]) -> ChannelSpec {
    ChannelSpec::ErrorTrace(ErrorTraceSpec {
        errors: errors_at.to_vec(),
    })
}

fn unit(octets: u32) -> Cell {
    Cell {
        frame: FrameId(0),
        rm: None,
        efci: false,
        ack: None,
        index: 0,
        octets,
        vc: 0,
        port_vc: PortVc(0),
        flow: 0,
        hop: 0,
        sky_link: 0,
        eom: true,
        clp: false,
        is_paced: false,
        ecn: Ecn::NotEct,
        came_at: SimTime::ZERO,
        left_at: SimTime::ZERO,
        entry: 0,
    }
}

/// A cell sent from so many bits after the start on.
fn send(errors: &mut BitErrors, bit: u64) -> Struck {
    let since = SimTime(10 * bit);
    errors.on_cell(since, since + SimTime(CELL_TIME), &unit(0))
}

#[test]
fn header_and_payload_are_struck_apart() {
    use Struck::{Lost, Payload, Right};
    // Cells back to back: bits 0 to 423, 424 to 847 and so on; 40 of each are its header.
    let wrong = [
        39,
        424 + 40,
        848 + 423,
        4 * 424 + 1,
        4 * 424 + 2,
        5 * 424 + 7,
        7 * 424 + 7,
    ];
    let mut errors = errors(trace(&wrong), None);
    let fates: Vec<Struck> = (0..8).map(|n| send(&mut errors, 424 * n)).collect();
    let by_header = Lost(LossReason::Header);
    // The last bit of a header is corrected; two wrong bits are not, and then not one in the next header.
    let expected = [
        Right, Payload, Payload, Right, by_header, by_header, Right, Right,
    ];
    assert_eq!(fates, expected);
    let expected = ErrorRecord {
        headers_corrected: 2,
        headers_lost: 2,
        misinserted: 0,
        payloads: 2,
        checks_failed: 0,
    };
    assert_eq!(errors.record(), expected);
}

#[test]
fn idle_cells_bring_the_receiver_back_to_correction() {
    // Wrong bits 3 of the first cell and 3 of the next: right behind it that is discarded, after an idle cell corrected,
    // and discarded if the idle cell before it has an error itself.
    let idle = |bits: u64, more: &[u64]| {
        let mut wrong = vec![3];
        wrong.extend(more);
        wrong.push(424 + bits + 3);
        let mut errors = errors(trace(&wrong), None);
        assert_eq!(send(&mut errors, 0), Struck::Right);
        send(&mut errors, 424 + bits)
    };
    assert_eq!(idle(0, &[]), Struck::Lost(LossReason::Header));
    assert_eq!(idle(423, &[]), Struck::Lost(LossReason::Header));
    assert_eq!(idle(424, &[]), Struck::Right);
    assert_eq!(
        idle(2 * 424, &[424 + 424 + 9]),
        Struck::Lost(LossReason::Header)
    );
}

#[test]
fn errors_that_make_another_word_of_the_code_misinsert_the_cell() {
    // The HEC of 00 00 00 01 is 07 (I.432.1): the last bit of octet 4 and the last three of octet 5.
    let mut errors = errors(trace(&[31, 37, 38, 39]), None);
    assert_eq!(send(&mut errors, 0), Struck::Lost(LossReason::Misinserted));
    assert_eq!(errors.record().misinserted, 1);
}

#[test]
fn an_rm_cell_with_a_wrong_payload_is_lost() {
    let mut errors = errors(trace(&[100]), None);
    let rm = Cell {
        rm: Some(RmCell {
            is_backward: false,
            is_becn: false,
            ci: false,
            ni: false,
            is_out_of_rate: false,
            ccr: 1.0,
            er: 1.0,
            mcr: 1.0,
        }),
        ..unit(0)
    };
    let fate = errors.on_cell(SimTime::ZERO, SimTime(CELL_TIME), &rm);
    assert_eq!(fate, Struck::Lost(LossReason::Check));
}

/// 100 Mbit/s: 10 ns a bit; 40 octets and 8 beside them are 384 bits.
const FRAMING: PacketFraming = PacketFraming {
    rate_millibps: 100_000_000_000,
    overhead_octets: 8,
    least_octets: 0,
    unit_octets: 1,
    line_octets: 1,
    fragment_octets: None,
    checked_octets: None,
};

#[test]
fn a_packet_with_any_wrong_bit_is_lost() {
    for (wrong, is_lost) in [(999, false), (1000, true), (1383, true), (1384, false)] {
        let mut errors = errors(trace(&[wrong]), Some(FRAMING));
        let since = SimTime(1000 * 10_000);
        let fate = errors.on_cell(since, since + SimTime(384 * 10_000), &unit(40));
        assert_eq!(fate == Struck::Lost(LossReason::Check), is_lost, "{wrong}");
    }
}

#[test]
fn a_packet_goes_on_with_errors_that_the_check_of_its_frame_does_not_cover() {
    use Struck::{Lost, Payload, Right};
    // The check covers 8 octets of the frame and 20 of the packet's header: bits 1000 to 1223.
    let framing = PacketFraming {
        checked_octets: Some(28),
        ..FRAMING
    };
    let by_check = Lost(LossReason::Check);
    let wrong: [(&[u64], _); 6] = [
        (&[999], Right),
        (&[1000], by_check),
        (&[1223, 1300], by_check),
        (&[1224], Payload),
        (&[1383, 1390], Payload),
        (&[1384], Right),
    ];
    for (bits, expected) in wrong {
        let mut errors = errors(trace(bits), Some(framing));
        let since = SimTime(1000 * 10_000);
        let fate = errors.on_cell(since, since + SimTime(384 * 10_000), &unit(40));
        assert_eq!(fate, expected, "{bits:?}");
        let record = errors.record();
        let counts = (record.checks_failed, record.payloads);
        assert_eq!(
            counts,
            ((fate == by_check).into(), (fate == Payload).into())
        );
    }
}

#[test]
fn units_back_to_back_share_no_bit_and_idle_bits_are_counted() {
    let mut line = Line::default();
    // 424 bits in 1000 ps: cells at 0, 1000, 2500: bits 0, 424, 1060.
    let rate = (424, 1000);
    let mut take = |time, rate| line.take(SimTime(time), 424, rate);
    assert_eq!(take(0, rate), (0, 0));
    assert_eq!(take(1000, rate), (424, 0));
    assert_eq!(take(2500, rate), (1060, 212));
    // Twice as fast from 4000 on: 1696 bits had passed.
    assert_eq!(take(4000, (848, 1000)), (1696, 212));
    assert_eq!(take(4500, (848, 1000)), (2120, 0));
}

/// Part of some cells back to back that are lost by their headers.
fn loss_of(channel: ChannelSpec, cells: u64) -> f64 {
    let mut errors = errors(channel, None);
    (0..cells).for_each(|n| {
        send(&mut errors, 424 * n);
    });
    let record = errors.record();
    (record.headers_lost + record.misinserted) as f64 / cells as f64
}

/// CLR of random errors: q0 (1 - q0 - q1) + (1 - q0)^2, with q0 and q1 for none and one wrong bit of 40; 2380 b^2 for
/// small b (two of them in one header, 780 b^2, and one right after another, 1600 b^2).
fn random_clr(b: f64) -> f64 {
    let q0 = power(1.0 - b, 40);
    let q1 = 40.0 * b * power(1.0 - b, 39);
    q0 * (1.0 - q0 - q1) + (1.0 - q0) * (1.0 - q0)
}

fn power(base: f64, times: u32) -> f64 {
    (0..times).fold(1.0, |product, _| product * base)
}

#[test]
fn the_closed_form_is_2380_b_squared_for_rare_errors() {
    let b = 1e-7;
    assert!((random_clr(b) / (2380.0 * b * b) - 1.0).abs() < 0.002);
}

#[test]
fn random_errors_lose_cells_as_the_closed_form_says() {
    let (b, cells) = (1e-4, 20_000_000);
    let found = loss_of(ChannelSpec::BitErrors(BitErrorsSpec { ber: b }), cells);
    // 473 of 20 million: a standard error of 4.6 %, and losses that come in pairs; four of them.
    let expected = random_clr(b);
    assert!((found / expected - 1.0).abs() < 0.22, "{found} {expected}");
}

#[test]
fn bursts_lose_a_thousand_times_as_many_cells_at_the_same_ratio() {
    let (b, length) = (1e-7, 20);
    let bursts = ErrorBurstsSpec {
        ber: b,
        length_bits: length,
        density: 0.5,
        lengths: BurstLengths::Fixed,
    };
    let cells = 100_000_000;
    let found = loss_of(ChannelSpec::ErrorBursts(bursts), cells);
    // (b / (0.5 L)) (L + 39) bursts overlap a header; of one with k bits in it two wrong bits are needed, which half
    // of the bits give with probability 1 - (k + 1) / 2^k.
    let rate = b / (0.5 * length as f64);
    let overlaps = rate * (length as f64 + 39.0);
    let lost = |k: u64| 1.0 - (k + 1) as f64 / f64::from(1u32 << k);
    let expected = rate * (21.0 * lost(20) + 2.0 * (1..20).map(lost).sum::<f64>());
    assert!(expected < overlaps && expected > 0.8 * overlaps);
    // About 56 cells of 100 million: a standard error of 13 %.
    assert!((found / expected - 1.0).abs() < 0.45, "{found} {expected}");
    assert!(expected / random_clr(b) > 1_000.0);
    assert!(found / random_clr(b) > 1_000.0, "{found}");
}
