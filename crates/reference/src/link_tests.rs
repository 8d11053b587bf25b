//! Moving links, by hand. Times in picoseconds.

use super::*;
use skycell_spec::{PolicySpec, PortSpec};

/// Steps (time, delay, path); -1 for no path.
fn link(steps: &[(u64, i64, u32)], interruption_ps: u64, handover_loses_cells: bool) -> Link {
    let delays_ps: Vec<Option<u64>> = steps.iter().map(|s| u64::try_from(s.1).ok()).collect();
    let spec = LinkSpec {
        name: "l".into(),
        from: 0,
        to: 1,
        cell_time_ps: 10,
        delay_ps: delays_ps.iter().flatten().copied().min().unwrap_or(0),
        motion: Some(MotionSpec {
            times_ps: steps.iter().map(|s| s.0).collect(),
            delays_ps,
            paths: steps.iter().map(|s| s.2).collect(),
            interruption_ps,
            handover_loses_cells,
        }),
        port: PortSpec::fifo(None, PolicySpec::TailDrop, 0),
    };
    Link::new(&spec, SimTime(10_000))
}

fn cell(index: u32) -> Cell {
    Cell {
        frame: 0,
        index,
        vc: 0,
        hop: 0,
        is_last: false,
        is_tagged: false,
        is_paced: false,
        left_at: SimTime::ZERO,
    }
}

/// (arrival, number) of cells that enter at the given times, in order of arrival.
fn arrivals(link: &mut Link, entries: &[u64]) -> Vec<(u64, u32)> {
    for (&at, number) in entries.iter().zip(0..) {
        link.enter(SimTime(at), cell(number));
    }
    let mut arrived = Vec::new();
    while let Some(next) = link.next_arrival() {
        let cell = link.take(next).expect("one arrives then");
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
    let mut link = link(&[(0, 20, 0), (50, -1, 0)], 0, false);
    assert_eq!(arrivals(&mut link, &[55]), [(75, 0)]);
}
