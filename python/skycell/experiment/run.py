"""One run: a spec goes to an engine, its records come back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from skycell.experiment.cores import default_jobs
from skycell.records.result import RunResult, as_text
from skycell.scenario import Scenario, ScenarioLike, as_scenario
from skycell.spec.declared.network import NetworkSpec

#: Told the simulated time in picoseconds about every 0.1 s; False in return cancels the run.
OnProgress = Callable[[int], bool]


def run(
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    engine: str = "fast",
    on_progress: OnProgress | None = None,
    threads: int | None = None,
) -> RunResult:
    """Simulates a scenario.

    Args:
        scenario: a `Scenario`, the name of a file, or the data that a file stands for.
        seed: replaces the scenario's.
        engine: name of the engine.
        on_progress: told the simulated time in picoseconds about every 0.1 s; False in return
            cancels the run.
        threads: how many threads a large run may use; all cores if not given. The records are the
            same but for `engine_stats`.

    Raises:
        ScenarioFaults: the scenario cannot be run.
        skycell._core.RunError: the run failed.
    """
    checked = as_scenario(scenario)
    threads = default_jobs() if threads is None else threads
    return with_derived(run_spec(checked.resolve(seed), engine, on_progress, threads), checked)


def with_derived(result: RunResult, scenario: Scenario) -> RunResult:
    """The result with what follows from its records and its scenario together.

    These are `delay_terms`, what delays over its constellations are made of, `qos`, whether the
    bounds of the file were kept, and for a network that is a constellation the tables of
    `skycell.experiment.sky`. Notes on satellites, such as those that are left out, and on logs
    that drive links join the others.
    """
    from skycell.experiment.sky import sky_tables
    from skycell.metrics.qos import qos_verdicts
    from skycell.records.delay_terms import delay_terms
    from skycell.records.traces import TraceTables
    from skycell.scenario.file.processing import processing_ps
    from skycell.scenario.notes import notes_on
    from skycell.scenario.sky_paths import notes_on_series, sky_paths

    paths = sky_paths(scenario)
    notes = (*notes_on(result.spec, paths), *notes_on_series(scenario))
    result = replace(result, notes=notes)
    tables = sky_tables(scenario)
    if tables and isinstance(result.traces, TraceTables):
        result = replace(result, traces=result.traces.with_tables(tables))
    derived: dict[str, object] = {}
    if paths:
        processing = processing_ps(scenario.file.processing)
        terms = delay_terms(result.spec, result.records, paths, processing)
        derived["delay_terms"] = terms
    if scenario.file.qos:
        derived["qos"] = qos_verdicts(scenario.file.qos, result.spec, result.records)
    if not derived:
        return result
    return replace(result, records_json=as_text({**result.records, **derived}))


def run_spec(
    spec: NetworkSpec,
    engine: str = "fast",
    on_progress: OnProgress | None = None,
    threads: int = 1,
) -> RunResult:
    """Simulates one run.

    Args:
        spec: what to run.
        engine: name of the engine.
        on_progress: told the simulated time in picoseconds about every 0.1 s; False in return
            cancels the run.
        threads: how many threads a large run may use. The records are the same but for
            `engine_stats`.

    Raises:
        skycell._core.SpecError: the engine refuses the spec.
        skycell._core.RunError: the run failed, for instance because its ledger did not balance.
        ValueError: there is no such engine, or no thread.
    """
    from skycell import _core
    from skycell.spec.columns import columns_of
    from skycell.version import version

    text = spec.canonical_json()
    records, traces = _core.run(text, engine, on_progress, columns_of(spec), threads)
    return RunResult.of(spec, records, traces, version())
