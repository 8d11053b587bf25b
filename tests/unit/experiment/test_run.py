from pathlib import Path

import numpy as np
import pytest

import skycell
from skycell import _core
from skycell.experiment.run import run_spec

SHORT = {"preset": "icccn97-lan", "run": {"duration": "50 ms"}, "start": "together"}


def test_a_scenario_is_run_as_data_or_as_a_file(tmp_path: Path) -> None:
    file = tmp_path / "short.toml"
    file.write_text('preset = "icccn97-lan"\nstart = "together"\nrun = { duration = "50 ms" }\n')
    by_data, by_file = skycell.run(SHORT), skycell.run(file)
    assert by_data.to_json() == by_file.to_json()
    assert skycell.run(skycell.parse(SHORT)).to_json() == by_data.to_json()


def test_a_seed_gives_other_draws_and_the_same_seed_the_same_run() -> None:
    drawn = {"preset": "icccn97-lan", "run": {"duration": "150 ms"}}
    first, again, other = (skycell.run(drawn, seed=seed) for seed in (1, 1, 2))
    assert first.to_json() == again.to_json()
    starts = [[flow["start_ps"] for flow in run.records["flows"]] for run in (first, other)]
    assert starts[0] != starts[1]
    assert (first.seed, other.seed) == (1, 2)


def test_a_run_can_be_cancelled() -> None:
    long = skycell.parse({"preset": "icccn97-geo", "run": {"duration": "90 h"}}).resolve()
    with pytest.raises(_core.RunCancelled):
        run_spec(long, on_progress=lambda _now: False)


def test_an_engine_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match="no engine is called"):
        skycell.run(SHORT, engine="perpetual")


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=rf"^seed {seed}: must be a whole number from 0 to 184"):
        skycell.run(SHORT, seed=seed)


def test_numbers_of_numpy_are_numbers() -> None:
    values = {"topology.sources": np.int64(2), "tcp.sws_avoidance": np.True_}
    scenario = skycell.parse(SHORT).with_values(values)
    assert scenario == skycell.parse(SHORT).with_values(
        {"topology.sources": 2, "tcp.sws_avoidance": True}
    )
    assert skycell.run(scenario, seed=np.int64(3)).seed == 3  # type: ignore[arg-type]
    assert skycell.check({**SHORT, "run": {"duration": "1 ms", "seed": np.uint8(7)}}) == ()


def test_what_is_no_value_of_a_file_is_told_by_its_type() -> None:
    with pytest.raises(skycell.ScenarioFaults) as reported:
        skycell.parse(SHORT).with_values({"run.duration": object(), "run.seed": [object()]})
    assert [fault.got for fault in reported.value.faults] == [
        "a Python object",
        "[a Python object]",
    ]


def test_what_is_no_scenario_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match=r"stands for, not NetworkSpec$"):
        skycell.run(skycell.parse(SHORT).resolve())  # type: ignore[arg-type]


def test_a_result_is_shown_in_one_line() -> None:
    result = skycell.run(SHORT)
    reported = f"0.05 s simulated, seed 1, engine fast, skycell {skycell.__version__}, spec"
    assert repr(result) == f"<RunResult: {reported} {result.spec_hash[:12]}>"


def test_faults_are_handed_back_or_raised() -> None:
    faulty = SHORT | {"tcp": {"mss": "1 KB"}}
    (fault,) = skycell.check(faulty)
    assert fault.path == "tcp.mss"
    assert skycell.check(SHORT) == ()
    with pytest.raises(skycell.ScenarioFaults):
        skycell.run(faulty)


def test_the_front_offers_what_it_names() -> None:
    for name in skycell.__all__:
        assert getattr(skycell, name) is not None
    assert set(dir(skycell)) >= {*skycell.__all__, "__version__"}
    with pytest.raises(AttributeError, match="no attribute 'walk'"):
        skycell.walk  # noqa: B018
