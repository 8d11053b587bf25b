//! Links that change or lose frames, by hand. Times in picoseconds.

use super::*;
use skycell_spec::{PolicySpec, PortSpec, ReceiverSpec, TailDropSpec, WHOLE_PPB};
use skycell_units::{Ecn, FrameId, PortVc};

/// Steps (time, delay, path); -1 for no path.
fn link(steps: &[(u64, i64, u32)], interruption_ps: u64, handover_loses_cells: bool) -> Link {
    let schedule = schedule(steps, interruption_ps, handover_loses_cells);
    link_with(schedule)
}

fn schedule(
    steps: &[(u64, i64, u32)],
    interruption_ps: u64,
    handover_loses_cells: bool,
) -> ScheduleSpec {
    let delays_ps: Vec<Option<u64>> = steps.iter().map(|s| u64::try_from(s.1).ok()).collect();
    ScheduleSpec {
        times_ps: steps.iter().map(|s| s.0).collect(),
        delays_ps,
        paths: steps.iter().map(|s| s.2).collect(),
        cell_times_ps: Vec::new(),
        rates_millibps: Vec::new(),
        losses_ppb: Vec::new(),
        to: Vec::new(),
        interruption_ps,
        handover_loses_cells,
    }
}

fn link_with(schedule: ScheduleSpec) -> Link {
    Link::new(&spec_with(schedule), 1, SimTime(10_000))
}

fn spec_with(schedule: ScheduleSpec) -> LinkSpec {
    let delays_ps = schedule.delays_ps.iter().flatten().copied();
    LinkSpec {
        name: "l".into(),
        from: 0,
        to: 1,
        cell_time_ps: 10,
        framing: None,
        delay_ps: delays_ps.min().unwrap_or(0),
        loss_ppb: 0,
        channel: None,
        delay_variation: None,
        schedule: Some(schedule),
        receivers: Vec::new(),
        port: PortSpec::fifo(None, PolicySpec::TailDrop(TailDropSpec {}), 0),
    }
}

fn cell(index: u32) -> Cell {
    Cell {
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
        eom: false,
        clp: false,
        is_paced: false,
        came_at: SimTime::ZERO,
        octets: 0,
        ecn: Ecn::NotEct,
        left_at: SimTime::ZERO,
        entry: 0,
    }
}

/// (arrival, number) of cells that enter at the given times, in order of arrival.
fn arrivals(link: &mut Link, entries: &[u64]) -> Vec<(u64, u32)> {
    for (&at, number) in entries.iter().zip(0..) {
        link.enter((SimTime(at), SimTime(at)), 1, cell(number), 0);
    }
    let mut arrived = Vec::new();
    while let Some(next) = link.next_arrival() {
        let (_, cell) = link.take(next).expect("one arrives then");
        arrived.push((next.0, cell.index));
    }
    arrived
}

#[test]
fn a_cell_takes_the_delay_in_force_when_it_enters() {
    let mut link = link(&[(0, 100, 0), (50, 105, 0), (60, 130, 0)], 0, false);
    let expected = [(149, 0), (155, 1), (164, 2), (190, 3)];
    assert_eq!(arrivals(&mut link, &[49, 50, 59, 60]), expected);
}

#[test]
fn cells_on_one_path_keep_their_order_when_the_delay_falls() {
    let mut link = link(&[(0, 100, 0), (50, 60, 0)], 0, false);
    let expected = [(140, 0), (140, 1), (140, 2), (150, 3)];
    assert_eq!(arrivals(&mut link, &[40, 50, 60, 90]), expected);
}

#[test]
fn after_a_handover_cells_may_overtake() {
    let mut link = link(&[(0, 100, 0), (50, 60, 1)], 0, false);
    let expected = [(110, 1), (120, 2), (140, 0)];
    assert_eq!(arrivals(&mut link, &[40, 50, 60]), expected);
}

#[test]
fn a_handover_may_lose_what_is_under_way() {
    let mut link = link(&[(0, 20, 0), (50, 60, 1), (200, 60, 0)], 0, true);
    // The first arrives at 50, in time for the handover; the second would at 51.
    let expected = [(50, 0), (110, 2)];
    assert_eq!(arrivals(&mut link, &[30, 31, 50, 141]), expected);
}

#[test]
fn nothing_is_sent_without_a_path_and_just_after_a_handover() {
    let link = link(
        &[
            (0, 20, 0),
            (50, -1, 0),
            (70, 20, 1),
            (75, 20, 2),
            (200, -1, 2),
        ],
        10,
        false,
    );
    let may = |time| link.may_send_from(SimTime(time)).0;
    // At 70 a new path, but 75 is another: its interruption ends at 85.
    assert_eq!(
        [may(49), may(50), may(70), may(84), may(85)],
        [49, 85, 85, 85, 85]
    );
    assert_eq!(link.may_send_from(SimTime(200)), SimTime::NEVER);
}

#[test]
fn a_cell_under_transmission_as_the_path_ends_still_takes_it() {
    let mut link = link(&[(0, 10, 0), (40, 20, 0), (50, -1, 0)], 0, false);
    assert_eq!(arrivals(&mut link, &[55]), [(75, 0)]);
}

#[test]
fn a_cell_takes_the_time_in_force_when_its_transmission_begins() {
    let steps = [(0, 20, 0), (50, -1, 0), (70, 20, 0)];
    let mut schedule = schedule(&steps, 0, false);
    schedule.cell_times_ps = vec![10, 40, 25];
    let link = link_with(schedule);
    let times = [0, 49, 50, 69, 70, 900].map(|time| link.unit_time(SimTime(time), 0, 0).0);
    assert_eq!(times, [10, 10, 40, 40, 25, 25]);
}

/// A link that loses nothing, then all, then some, then is out.
fn lossy() -> Link {
    let steps = [(0, 20, 0), (100, 20, 0), (200, 20, 0), (5_000, -1, 0)];
    let mut schedule = schedule(&steps, 0, false);
    schedule.losses_ppb = vec![0, WHOLE_PPB, WHOLE_PPB / 2, 0];
    link_with(schedule)
}

/// Returns which frames with numbers from 0, of one cell each, are lost if they enter at the given
/// times.
fn lost(link: &mut Link, entries: impl IntoIterator<Item = u64>) -> Vec<bool> {
    let is_lost = |(at, serial)| {
        link.enter((SimTime(at), SimTime(at)), 1, cell(0), serial)
            .0
            .is_some()
    };
    entries.into_iter().zip(0..).map(is_lost).collect()
}

#[test]
fn frames_are_lost_by_what_holds_when_their_first_cell_enters() {
    let mut link = lossy();
    let mut enter = |at, serial| link.enter((SimTime(at), SimTime(at)), 1, cell(0), serial).0;
    // Begun before losses begin; then one whose first cell is within them, and which outlasts them.
    assert_eq!([enter(90, 7), enter(110, 7), enter(190, 7)], [None; 3]);
    let drawn = Some(LossReason::Drawn);
    assert_eq!([enter(199, 8), enter(250, 8)], [drawn; 2]);
    assert_eq!(link.cells().count(), 3);
}

#[test]
fn each_frame_has_one_draw_of_the_streams_own() {
    let half = lost(&mut lossy(), 300..1_300);
    let count = half.iter().filter(|&&is_lost| is_lost).count();
    // Of 1000 at a half; six standard deviations are 95.
    assert!((405..595).contains(&count), "{count}");
    // Frames before that took draws too, whatever became of them.
    let mut later = lossy();
    let before = lost(&mut later, [10, 150]);
    assert_eq!(before, [false, true]);
    assert_eq!(lost(&mut later, 300..1_298), half[2..]);
    // As the path ends, what was last known holds, whether a cell entered under it or not.
    assert_eq!(lost(&mut lossy(), 5_001..6_001), half);
}

/// A constant loss is the link's own, whether its delay changes or not.
#[test]
fn a_loss_of_the_link_is_that_of_a_schedule_with_this_loss_in_all_steps() {
    let steps = [(0, 20, 0), (600, 30, 0)];
    let mut by_step = schedule(&steps, 0, false);
    by_step.losses_ppb = vec![WHOLE_PPB / 2; 2];
    let mut changing = spec_with(schedule(&steps, 0, false));
    changing.loss_ppb = WHOLE_PPB / 2;
    let fixed = LinkSpec {
        schedule: None,
        receivers: Vec::new(),
        ..changing.clone()
    };
    let expected = lost(&mut link_with(by_step), 300..1_300);
    assert!(expected.contains(&true) && expected.contains(&false));
    for spec in [changing, fixed] {
        let mut link = Link::new(&spec, 1, SimTime(10_000));
        assert_eq!(lost(&mut link, 300..1_300), expected);
    }
}

#[test]
fn frames_of_two_vcs_that_mix_have_a_draw_each() {
    let mut link = lossy();
    let mut enter = |at, vc, serial| {
        let cell = Cell { vc, ..cell(0) };
        link.enter((SimTime(at), SimTime(at)), 1, cell, serial)
            .0
            .is_some()
    };
    assert!(!enter(99, 0, 5));
    assert!(enter(101, 1, 6));
    assert!(!enter(102, 0, 5));
    assert!(enter(201, 1, 6));
}

#[test]
fn a_packet_goes_at_the_rate_of_its_receiver_and_is_lost_where_that_hears_nothing() {
    let mut spec = spec_with(schedule(&[(0, 10, 0)], 0, false));
    spec.schedule = None;
    spec.framing = Some(PacketFraming {
        rate_millibps: 8_000_000_000,
        overhead_octets: 0,
        least_octets: 0,
        unit_octets: 1,
        line_octets: 1,
        fragment_octets: None,
        checked_octets: None,
    });
    spec.receivers = vec![ReceiverSpec {
        vcs: vec![3],
        times_ps: vec![0, 100, 200],
        rates_millibps: vec![Some(2_000_000_000), None, Some(4_000_000_000)],
    }];
    let mut link = Link::new(&spec, 1, SimTime::NEVER);
    let microseconds = |time: u64, vc: u32| link.unit_time(SimTime(time), 1_000, vc).0 / 1_000_000;
    assert_eq!(microseconds(0, 7), 1_000); // as the link: 8 000 bits at 8 Mbit/s
    let own = [0, 99, 100, 199, 200].map(|time| microseconds(time, 3));
    assert_eq!(own, [4_000, 4_000, 4_000, 4_000, 2_000]);
    let mut lost = |since: u64, vc: u32| {
        let entering = Cell { vc, ..cell(0) };
        link.enter((SimTime(since), SimTime(since + 1)), 1, entering, 0)
            .0
    };
    assert_eq!(lost(99, 3), None);
    assert_eq!(lost(100, 3), Some(LossReason::OutOfRange));
    assert_eq!(lost(150, 7), None);
    assert_eq!(lost(200, 3), None);
}
