//! Toy regions, in a loop and in threads.

use super::*;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const END: u64 = 60;

/// Tokens that go from region to region: each is due at a time, and goes on after the lookahead of an edge.
#[derive(Debug)]
struct Toy {
    id: u32,
    /// Lookahead to each region; 0 for no edge.
    edges: Vec<u64>,
    due: BinaryHeap<Reverse<(u64, u32)>>,
    leaving: Vec<Vec<(u64, u32)>>,
    acted: u64,
    /// Time and token of all that happened here.
    log: Vec<(u64, u32)>,
    most_a_turn: usize,
    promises_too_much: u64,
    panics_at: u64,
}

impl Toy {
    /// Where a token goes next.
    fn next(&self, at: u64, token: u32) -> Option<usize> {
        let first = (at as usize + token as usize) % self.edges.len();
        let all = (0..self.edges.len()).map(|nth| (first + nth) % self.edges.len());
        all.into_iter().find(|&to| self.edges[to] > 0)
    }
}

impl Region for Toy {
    type Batch = Vec<(u64, u32)>;

    fn take(&mut self, _: u32, batch: Self::Batch) {
        for (at, token) in batch {
            assert!(at >= self.acted, "{at} is before {}", self.acted);
            self.due.push(Reverse((at, token)));
        }
    }

    fn act(&mut self, limit: SimTime) -> (SimTime, u64) {
        let mut left = self.most_a_turn;
        while let Some(&Reverse((at, token))) = self.due.peek()
            && at < limit.0.min(END)
        {
            if left == 0 {
                self.acted = at;
                return (SimTime(at), self.log.len() as u64);
            }
            left -= 1;
            self.due.pop();
            assert!(at < self.panics_at, "as the test has it");
            self.log.push((at, token));
            if let Some(to) = self.next(at, token) {
                let then = at + self.edges[to];
                match to == self.id as usize {
                    true => self.due.push(Reverse((then, token))),
                    false => self.leaving[to].push((then, token)),
                }
            }
        }
        self.acted = limit.0.min(END);
        let is_over = limit.0 >= END;
        let clock = if is_over { SimTime::NEVER } else { limit };
        (clock, self.log.len() as u64)
    }

    fn give(&mut self, to: u32) -> (Self::Batch, SimTime) {
        let lookahead = self.edges[to as usize] + self.promises_too_much;
        let batch = std::mem::take(&mut self.leaving[to as usize]);
        (batch, SimTime(self.acted + lookahead))
    }
}

/// Toys by their lookaheads to each other, with a token of its number at time 0 in each.
fn toys(lookaheads: &[Vec<u64>]) -> (Vec<Toy>, Vec<Edge>) {
    let count = lookaheads.len();
    let toy = |(edges, id): (&Vec<u64>, u32)| Toy {
        id,
        edges: edges.clone(),
        due: BinaryHeap::from([Reverse((0, id))]),
        leaving: vec![Vec::new(); count],
        acted: 0,
        log: Vec::new(),
        most_a_turn: usize::MAX,
        promises_too_much: 0,
        panics_at: u64::MAX,
    };
    let toys: Vec<Toy> = lookaheads.iter().zip(0..).map(toy).collect();
    let edges = toys.iter().flat_map(|toy| {
        let own = toy.edges.iter().zip(0..);
        own.filter(|&(&lookahead, to)| lookahead > 0 && to != toy.id)
            .map(|(&lookahead, to)| Edge {
                from: toy.id,
                to,
                lookahead: SimTime(lookahead),
            })
    });
    let edges = edges.collect();
    (toys, edges)
}

fn logs(toys: &[Toy]) -> Vec<Vec<(u64, u32)>> {
    toys.iter().map(|toy| toy.log.clone()).collect()
}

/// All tokens from one heap.
fn simulated_as_one(toys: &[Toy]) -> Vec<Vec<(u64, u32)>> {
    let mut due: BinaryHeap<_> = (toys.iter())
        .map(|toy| Reverse((0, toy.id, toy.id as usize)))
        .collect();
    let mut logs = vec![Vec::new(); toys.len()];
    while let Some(Reverse((at, token, slot))) = due.pop()
        && at < END
    {
        logs[slot].push((at, token));
        if let Some(to) = toys[slot].next(at, token) {
            due.push(Reverse((at + toys[slot].edges[to], token, to)));
        }
    }
    logs
}

fn ring(count: usize) -> Vec<Vec<u64>> {
    let edges = |id: usize| {
        let to = |to: usize| {
            if to == (id + 1) % count {
                3 + id as u64
            } else {
                0
            }
        };
        (0..count).map(to).collect()
    };
    (0..count).map(edges).collect()
}

fn go_on(_: SimTime) -> bool {
    true
}

#[test]
fn two_regions_that_pass_one_token_to_and_fro_have_all_work_on_one_path() {
    let (mut regions, edges) = toys(&[vec![0, 10], vec![20, 0]]);
    regions[1].due.clear();
    let ended = run_in_loop(regions, &edges, &mut go_on).expect("nobody cancels");
    // 0 -> 10 -> 30 -> 40; the next is due at 60, the end.
    assert_eq!(
        logs(&ended.regions),
        [[(0, 0), (30, 0)], [(10, 0), (40, 0)]]
    );
    assert_eq!(ended.work.iter().map(|work| work.units).sum::<u64>(), 4);
    assert_eq!(ended.path.units, 4);
}

#[test]
fn regions_that_nobody_sends_to_share_no_path() {
    let (regions, edges) = toys(&[vec![1, 0], vec![0, 2]]);
    let ended = run_in_loop(regions, &edges, &mut go_on).expect("nobody cancels");
    let units: Vec<u64> = ended.work.iter().map(|work| work.units).collect();
    assert_eq!((units, ended.path.units), (vec![60, 30], 60));
}

#[test]
#[should_panic(expected = "is before")]
fn a_promise_too_high_ends_the_run() {
    let (mut regions, edges) = toys(&[vec![0, 3], vec![4, 0]]);
    regions[0].promises_too_much = 2;
    let _ = run_in_loop(regions, &edges, &mut go_on);
}

#[test]
fn a_cancelled_loop_says_how_far_it_has_come() {
    let (regions, edges) = toys(&ring(3));
    let mut asked = 0;
    let mut progress = |_| {
        asked += 1;
        asked < 3
    };
    let ended = run_in_loop(regions, &edges, &mut progress);
    let cancelled = ended.expect_err("it was cancelled");
    assert!(
        cancelled > SimTime::ZERO && cancelled < SimTime(END),
        "{cancelled}"
    );
}

proptest! {
    #[test]
    fn turns_leave_what_one_list_of_events_does(
        (count, lookaheads) in (1usize..5).prop_flat_map(|count| {
            (Just(count), prop::collection::vec(prop::collection::vec(0u64..9, count), count))
        }),
        most_a_turn in 1usize..4,
    ) {
        let (mut regions, edges) = toys(&lookaheads);
        regions.iter_mut().for_each(|toy| toy.most_a_turn = most_a_turn);
        let one = simulated_as_one(&regions);
        let ended = run_in_loop(regions, &edges, &mut go_on).expect("nobody cancels");
        prop_assert_eq!(ended.regions.len(), count);
        let units: u64 = ended.work.iter().map(|work| work.units).sum();
        let largest = ended.work.iter().map(|work| work.units).max().unwrap_or(0);
        prop_assert!(largest <= ended.path.units && ended.path.units <= units);
        prop_assert_eq!(logs(&ended.regions), one);
    }
}

/// Tries schedules of threads, at random and by priorities that change a few times.
fn under_many_schedules(test: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(test.clone(), 300);
    shuttle::check_pct(test, 300, 3);
}

type Run = fn(Vec<Toy>, &[Edge], &mut dyn FnMut(SimTime) -> bool) -> Result<Finished<Toy>, SimTime>;

#[test]
fn threads_leave_what_the_loop_does_under_any_schedule() {
    for lookaheads in [
        ring(3),
        vec![vec![0, 5, 2], vec![7, 0, 0], vec![0, 3, 0]],
        // The last region is not sent to, and the first one not waited for.
        vec![vec![2, 0, 0], vec![3, 0, 4], vec![0, 1, 0]],
    ] {
        under_many_schedules(move || {
            let run = |run: Run| {
                let (mut regions, edges) = toys(&lookaheads);
                regions.iter_mut().for_each(|toy| toy.most_a_turn = 2);
                let ended = run(regions, &edges, &mut go_on);
                let ended = ended.expect("nobody cancels");
                let units = ended.work.iter().map(|work| work.units);
                let work: Vec<u64> = units.chain([ended.path.units, ended.turns]).collect();
                (logs(&ended.regions), work)
            };
            assert_eq!(run(run_in_threads), run(run_in_loop));
        });
    }
}

#[test]
fn threads_end_when_the_caller_cancels_under_any_schedule() {
    for after in [0, 1, 4] {
        under_many_schedules(move || {
            let (regions, edges) = toys(&ring(3));
            let mut asked = 0;
            let mut progress = |_| {
                asked += 1;
                asked <= after
            };
            let ended = run_in_threads(regions, &edges, &mut progress);
            assert!(ended.expect_err("it was cancelled") < SimTime(END));
        });
    }
}

#[test]
fn threads_end_when_a_region_panics_under_any_schedule() {
    for id in 0..3 {
        under_many_schedules(move || {
            let (mut regions, edges) = toys(&ring(3));
            regions[id].panics_at = 20;
            let run = || run_in_threads(regions, &edges, &mut go_on).map(|_| ());
            let panic = catch_unwind(AssertUnwindSafe(run)).expect_err("a region panics");
            let text = panic.downcast_ref::<&str>().expect("a text");
            assert_eq!(*text, "as the test has it");
        });
    }
}
