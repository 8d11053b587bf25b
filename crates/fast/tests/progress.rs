//! The progress function of a run is called after so much work, however much one event sets going.

use skycell_spec::NetworkSpec;

/// Units at all ports between two calls, at most: each engine has its own lower number, of what it moves itself.
const UNITS: u64 = 1 << 17;

/// One flow over 100 Gbit/s with a window that never limits it: each round trip's segments arrive one after the other.
fn spec() -> NetworkSpec {
    NetworkSpec::from_json(include_str!("one-flow.json")).expect("a valid spec")
}

#[test]
fn a_window_that_arrives_as_a_whole_does_not_keep_the_progress_function_waiting() {
    for engine in [skycell_fast::run, skycell_reference::run] {
        let mut calls = 0;
        let mut last = None;
        let records = engine(&spec(), &mut |now| {
            assert!(last <= Some(now), "time does not go back");
            last = Some(now);
            calls += 1;
            true
        });
        let cells = records.expect("the run succeeds").engine_stats.cells;
        assert!(cells > 3 * UNITS, "there is work to do: {cells}");
        assert!(calls >= cells / UNITS, "{calls} calls of {cells} units");
    }
}

#[test]
fn a_run_ends_at_the_call_that_refuses_it() {
    let outcome = skycell_fast::run(&spec(), &mut |_| false);
    assert!(outcome.is_err());
}
