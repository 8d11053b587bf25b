use super::*;
use crate::burst::fragment::Part;
use skycell_spec::{PolicySpec, PortSpec, TailDropSpec};
use skycell_units::{FrameId, InputId, PortVc};

const CELL: u64 = 10;

/// A schedule of these steps: when each begins, its delay, and its path.
fn schedule(steps: &[(u64, u64, u32)]) -> ScheduleSpec {
    ScheduleSpec {
        times_ps: steps.iter().map(|step| step.0).collect(),
        delays_ps: steps.iter().map(|step| Some(step.1)).collect(),
        paths: steps.iter().map(|step| step.2).collect(),
        cell_times_ps: Vec::new(),
        rates_millibps: Vec::new(),
        losses_ppb: Vec::new(),
        to: Vec::new(),
        interruption_ps: 0,
        handover_loses_cells: false,
    }
}

struct Setting {
    link: TimeVaryingLink,
    frames: Frames,
}

/// The link of a run that ends at 5 000. Two VCs go on over it, at places 0 and 1 before it and 5 and 6 behind
/// it, to one port, over input 3, or 3 and 4. Frames 0 to 3 are under way.
fn setting(schedule: ScheduleSpec, inputs: [u32; 2]) -> Setting {
    let delays = schedule.delays_ps.iter().flatten();
    let spec = LinkSpec {
        name: "up".to_owned(),
        from: 0,
        to: 1,
        cell_time_ps: CELL,
        framing: None,
        delay_ps: *delays.min().expect("it has steps"),
        loss_ppb: 0,
        channel: None,
        delay_variation: None,
        schedule: Some(schedule),
        receivers: Vec::new(),
        port: PortSpec::fifo(None, PolicySpec::TailDrop(TailDropSpec {}), 0),
    };
    let mut link = TimeVaryingLink::new(&spec, 1, 2, SimTime(5_000), Some(4)).expect("it moves");
    for (port_vc, input) in PortVc::all().zip(inputs) {
        let next_hop = NextHop {
            port: 7,
            input: InputId(input),
            port_vc: PortVc(5 + port_vc.0),
            delay: SimTime::ZERO,
        };
        link.add(port_vc, next_hop);
    }
    let mut frames = Frames::new(true, false);
    for source in 0..4 {
        frames.add_of_source(source, 0, (9, 0), SimTime::ZERO);
    }
    Setting { link, frames }
}

impl Setting {
    /// Cells of a frame of the VC at `port_vc` enter, the first at `head`, `stride` cell times apart.
    fn enter(
        &mut self,
        port_vc: PortVc,
        frame: u32,
        head: u64,
        cells: u32,
        stride: u16,
        part: Part,
    ) {
        let fragment = DueFragment {
            stride,
            part,
            ..DueFragment::new(
                SimTime(head),
                FrameId(frame),
                PortVc(port_vc.0 + 5),
                cells,
                false,
            )
        };
        self.link.enter(port_vc, fragment);
    }

    /// Carries what entered; all else enters at `unknown` or later. What comes.
    fn carry_all(&mut self, unknown: u64) -> Vec<DueFragment> {
        self.link.carry(SimTime(unknown), &mut self.frames);
        let mut come = Vec::new();
        self.link.take(|port, _, fragment| {
            assert_eq!(port, 7);
            come.push(fragment);
        });
        come
    }

    /// The same: frame, arrival, cells, part.
    fn carry(&mut self, unknown: u64) -> Vec<(u32, u64, u32, Part)> {
        let come = self.carry_all(unknown).into_iter();
        come.map(|fragment| {
            (
                fragment.frame.0,
                fragment.head.0,
                fragment.cells.into(),
                fragment.part,
            )
        })
        .collect()
    }
}

const FIRST: Part = Part::new(true, false);
const MIDDLE: Part = Part::new(false, false);
const LAST: Part = Part::new(false, true);

#[test]
fn cells_take_the_delay_of_the_step_in_which_they_enter() {
    let mut at = setting(schedule(&[(0, 100, 0), (1_000, 130, 0)]), [3, 4]);
    at.enter(PortVc(0), 0, 980, 4, 1, Part::WHOLE); // two in each step
    let come = [(0, 1_080, 2, FIRST), (0, 1_130, 2, LAST)];
    assert_eq!(at.carry(1_020), come);
    assert_eq!(at.link.first_kept(), None);
    assert_eq!(
        (at.link.arrived(PortVc(0)), at.link.arrived(PortVc(1))),
        (4, 0)
    );
}

#[test]
fn on_a_path_that_gets_shorter_cells_wait_for_those_ahead() {
    let mut at = setting(schedule(&[(0, 100, 0), (1_000, 75, 0)]), [3, 4]);
    at.enter(PortVc(0), 0, 980, 6, 1, Part::WHOLE); // the last ones at 1000, 1010, 1020 and 1030
    let come = [
        (0, 1_080, 2, FIRST),
        (0, 1_090, 1, MIDDLE),
        (0, 1_090, 1, MIDDLE),
        (0, 1_095, 2, LAST),
    ];
    assert_eq!(at.carry(1_040), come);
    // Another VC's cell waits for them as well.
    let mut at = setting(schedule(&[(0, 100, 0), (1_000, 75, 0)]), [3, 4]);
    at.enter(PortVc(0), 0, 980, 2, 1, Part::WHOLE);
    at.enter(PortVc(1), 1, 1_000, 1, 1, Part::WHOLE);
    let come = [(0, 1_080, 2, Part::WHOLE), (1, 1_090, 1, Part::WHOLE)];
    assert_eq!(at.carry(1_010), come);
    let entered = |port_vc: u32, nth: u64| at.link.entry(PortVc(port_vc), nth).map(|time| time.0);
    assert_eq!([entered(0, 1), entered(1, 0)], [990, 1_000].map(Some));
}

/// At 1000 the link goes from a path of 100 to one of 30.
fn to_a_shorter_path(inputs: [u32; 2]) -> Setting {
    setting(schedule(&[(0, 100, 0), (1_000, 30, 1)]), inputs)
}

#[test]
fn after_a_handover_cells_overtake_those_on_the_old_path() {
    let mut at = to_a_shorter_path([3, 3]);
    at.enter(PortVc(0), 0, 950, 3, 1, Part::WHOLE); // they come at 1050, 1060 and 1070
    // What enters from the handover on comes from 1030 on.
    assert_eq!(at.carry(980), []);
    assert_eq!(at.link.first_kept(), Some(SimTime(1_050)));
    at.enter(PortVc(0), 1, 1_025, 2, 1, Part::WHOLE); // these at 1055 and 1065
    let come = [
        (0, 1_050, 1, FIRST),
        (1, 1_055, 1, FIRST),
        (0, 1_060, 1, MIDDLE.again(true)),
        (1, 1_065, 1, LAST.again(true)),
    ];
    assert_eq!(at.carry(1_039), come, "what comes at 1070 is not known");
    assert_eq!(at.link.first_kept(), Some(SimTime(1_070)));
    assert_eq!(at.carry(1_040), [(0, 1_070, 1, LAST.again(true))]);
    assert_eq!(at.link.entry(PortVc(0), 0), None, "one port knows itself");
}

#[test]
fn cells_keep_their_places_in_a_frame_of_which_later_ones_come_first() {
    let mut at = to_a_shorter_path([3, 4]);
    at.enter(PortVc(0), 0, 980, 4, 1, Part::WHOLE);
    let come = at.carry_all(1_060).into_iter();
    let come = come.map(|fragment| (fragment.head.0, fragment.nth, fragment.part));
    let first = [(1_030, 2, FIRST), (1_040, 3, LAST)];
    let others = [(1_080, 0, MIDDLE), (1_090, 1, MIDDLE)];
    assert_eq!(come.collect::<Vec<_>>(), [first, others].concat());
    // The step of the link begins within what enters here.
    let mut at = setting(schedule(&[(0, 100, 0), (1_000, 130, 0)]), [3, 4]);
    let fragment = DueFragment {
        nth: 7,
        ..DueFragment::new(SimTime(980), FrameId(0), PortVc(5), 5, false)
    };
    at.link.enter(PortVc(0), fragment);
    let come = at.carry_all(1_030).into_iter();
    let come: Vec<_> = come
        .map(|fragment| (fragment.nth, fragment.cells))
        .collect();
    assert_eq!(come, [(7, 2), (9, 3)]);
}

#[test]
fn a_handover_may_lose_what_is_under_way() {
    let lost_at_handover = ScheduleSpec {
        handover_loses_cells: true,
        ..schedule(&[(0, 100, 0), (1_000, 130, 1)])
    };
    let mut at = setting(lost_at_handover.clone(), [3, 4]);
    at.enter(PortVc(0), 0, 880, 12, 1, Part::WHOLE); // the third comes at 1000, as the path is given up
    assert_eq!(at.carry(1_000), [(0, 980, 3, FIRST)]);
    assert_eq!(at.link.lost(PortVc(0)), (0, 9));
    assert_eq!(at.link.arrived(PortVc(0)), 3);
    // A handover after the end loses nothing.
    let later = ScheduleSpec {
        times_ps: vec![0, 5_000],
        ..lost_at_handover
    };
    let mut at = setting(later, [3, 4]);
    at.enter(PortVc(0), 0, 4_880, 12, 1, Part::WHOLE);
    assert_eq!(at.carry(5_000), [(0, 4_980, 12, Part::WHOLE)]);
    let arrived = 2; // before the end
    assert_eq!(
        (at.link.lost(PortVc(0)), at.link.arrived(PortVc(0))),
        ((0, 0), arrived)
    );
}

#[test]
fn frames_are_lost_by_the_step_in_which_they_begin() {
    let loses_late = ScheduleSpec {
        losses_ppb: vec![0, WHOLE_PPB],
        ..schedule(&[(0, 100, 0), (1_000, 100, 0)])
    };
    let mut at = setting(loses_late, [3, 4]);
    at.enter(PortVc(0), 0, 980, 4, 1, Part::WHOLE);
    at.enter(PortVc(0), 1, 1_020, 2, 1, FIRST);
    assert_eq!(at.carry(1_040), [(0, 1_080, 2, FIRST), (0, 1_100, 2, LAST)]);
    at.enter(PortVc(0), 1, 1_040, 1, 1, LAST);
    at.enter(PortVc(1), 2, 4_990, 3, 1, Part::WHOLE); // one before the end
    assert_eq!(at.carry(5_010), []);
    assert_eq!(
        [at.link.lost(PortVc(0)), at.link.lost(PortVc(1))],
        [(3, 0), (1, 0)]
    );
}

#[test]
fn a_frame_has_another_draw_after_cells_of_another_frame() {
    let loses_early = ScheduleSpec {
        losses_ppb: vec![WHOLE_PPB, 0],
        ..schedule(&[(0, 100, 0), (1_000, 100, 0)])
    };
    let mut at = setting(loses_early, [3, 4]);
    at.enter(PortVc(0), 0, 970, 1, 1, FIRST);
    at.enter(PortVc(0), 1, 980, 1, 1, Part::WHOLE);
    at.enter(PortVc(0), 0, 1_000, 2, 1, LAST.again(true));
    assert_eq!(at.carry(1_020), [(0, 1_100, 2, Part::WHOLE)]);
    assert_eq!(at.link.lost(PortVc(0)), (2, 0));
}

#[test]
fn what_has_a_longer_way_is_kept_until_all_before_it_is_known() {
    let mut at = setting(schedule(&[(0, 100, 0), (1_000, 100, 0)]), [3, 3]);
    at.enter(PortVc(0), 0, 500, 3, 2, Part::WHOLE); // they come at 600, 620 and 640
    // On one path nothing else comes before 640.
    assert_eq!(at.carry(530).len(), 3);
    let mut at = setting(schedule(&[(0, 100, 0), (1_000, 20, 1)]), [3, 4]);
    at.enter(PortVc(0), 0, 995, 3, 1, Part::WHOLE); // one at 1095, the others at 1025 and 1035
    let come = [(0, 1_025, 1, FIRST), (0, 1_035, 1, LAST)];
    assert_eq!(at.carry(1_025), come);
    assert_eq!(at.carry(1_074), []);
    assert_eq!(at.carry(1_075), [(0, 1_095, 1, MIDDLE)]);
}

#[test]
fn of_cells_that_are_kept_together_those_go_on_that_nothing_comes_before() {
    let mut at = setting(schedule(&[(0, 100, 0), (1_000, 20, 1)]), [3, 4]);
    at.enter(PortVc(0), 0, 950, 3, 1, Part::WHOLE); // they come at 1050, 1060 and 1070
    assert_eq!(at.carry(980), []);
    assert_eq!(at.carry(1_039), [(0, 1_050, 1, FIRST)]);
    assert_eq!(at.carry(1_040), [(0, 1_060, 1, MIDDLE)]);
    assert_eq!(at.carry(1_100), [(0, 1_070, 1, LAST)]);
}

#[test]
fn a_step_may_begin_as_late_as_a_time_can_be() {
    let mut at = setting(schedule(&[(0, 100, 0), (u64::MAX, 100, 1)]), [3, 4]);
    at.enter(PortVc(0), 0, 500, 3, 1, Part::WHOLE);
    assert_eq!(at.carry(530), [(0, 600, 3, Part::WHOLE)]);
}
