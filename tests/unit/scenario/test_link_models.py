"""Links that are drawn from a model: what a fit finds, what a seed draws, what is refused."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import skycell
from skycell.cli.main import main
from skycell.input.faults import ScenarioFaults
from skycell.scenario import parse
from skycell.scenario.links.outages import quantile

SECOND = 10**12


def starlink_like(file: Path, seconds: int = 3600) -> Path:
    """A series with known rules: from 12 s on another delay and rate each 15 s, with noise."""
    rng = random.Random(7)
    level, rate, noise = 30.0, 100.0, 0.0
    lines = ["time_s,delay_ms,rate_mbit_s"]
    for second in range(seconds):
        if (second - 12) % 15 == 0:
            level, rate = 25 + rng.expovariate(1 / 8), rng.uniform(60, 200)
        noise = 0.6 * noise + rng.gauss(0, 1.2)
        if second % 400 in (100, 101, 102):
            lines.append(f"{second},,")
        else:
            lines.append(f"{second},{level + noise:.3f},{rate * rng.uniform(0.9, 1):.3f}")
    file.write_text("\n".join(lines))
    return file


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("models")
    file = starlink_like(folder / "leo.csv")
    call = ["trace", "fit", str(file), "--out", str(folder / "leo.toml"), "--json"]
    done = CliRunner().invoke(main, call)
    assert done.exit_code == 0, done.output
    return folder / "leo.toml", json.loads(done.stdout)


def test_a_fit_finds_the_rules_of_a_series_that_has_them(fitted: Any) -> None:
    model = fitted[1]["model"]
    assert model["phase"] == "12 s"
    # Exponential levels about 25 + 8 ms: mean 33, median 25 + 8 ln 2; slots keep no memory.
    slots = model["delay_ms"]["slots"]
    assert quantile(slots, 0.5) == pytest.approx(30.5, abs=1.0)
    assert abs(model["delay_ms"]["slot_memory"]) < 0.2  # of 240 slots: three standard errors
    # 0.6, less what the mean of a slot of 15 samples takes out of it: about (1 + 3 * 0.6) / 15.
    assert model["delay_ms"]["noise_memory"] == pytest.approx(0.6 - 2.8 / 15, abs=0.06)
    assert quantile(model["rate_mbps"]["slots"], 0.5) == pytest.approx(0.95 * 130, abs=8)
    assert model["outages"]["lengths_s"] == [3.0]


def test_what_a_model_draws_is_like_the_series(fitted: Any) -> None:
    rows = {(row["value"], row["what"]): row for row in fitted[1]["check"]}
    assert len(rows) == 20
    outside = [key for key, row in rows.items() if not row["is_inside"]]
    # A value of the series' own law is outside the range of 20 draws in 2 of 21 cases.
    assert len(outside) <= 4, outside
    after = rows["delay_ms", "correlation after 1 s"]
    assert after["measured"] == pytest.approx(after["mean"], abs=0.03)


def test_a_series_with_another_law_is_told(tmp_path: Path) -> None:
    # A triangle of ten minutes: slots remember more than their last value.
    lines = ["time_s,delay_ms"]
    lines += [f"{s},{20 + abs(s % 600 - 300) / 10:.2f}" for s in range(3600)]
    (tmp_path / "ramp.csv").write_text("\n".join(lines))
    call = ["trace", "fit", str(tmp_path / "ramp.csv"), "--json"]
    rows = json.loads(CliRunner().invoke(main, call).stdout)["check"]
    assert any(not row["is_inside"] for row in rows)


def own(file: Path, **schedule: Any) -> dict[str, Any]:
    return {
        "run": {"duration": "40 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "access": {"rate": "1 Gbit/s", "delay": "1 ms", "framing": "ethernet"},
            "bottleneck": {
                "rate": "250 Mbit/s",
                "framing": "ip",
                "buffer": "1 BDP",
                "schedule": {"model": str(file), **schedule},
            },
        },
        "tcp": {"preset": "linux"},
    }


def test_each_seed_draws_another_course_and_the_same_one_again(fitted: Any) -> None:
    drawn = parse(own(fitted[0]))

    def schedule(seed: int) -> Any:
        found = next(link for link in drawn.resolve(seed).links if link.schedule)
        return found.schedule

    assert schedule(1) == schedule(1) != schedule(2)
    one = schedule(1)
    # Delays change at every second of a slot, rates too, and never leave what the model has.
    slots, noise = (fitted[1]["model"]["delay_ms"][key] for key in ("slots", "noise"))
    delays = [delay / 1e9 for delay in one.delays_ps if delay is not None]
    assert all(slots[0] + noise[0] - 1e-6 <= d <= slots[-1] + noise[-1] + 1e-6 for d in delays)
    assert all(time % SECOND == 0 or None in one.delays_ps for time in one.times_ps)


def test_the_numbers_of_a_draw_are_those_of_its_seed(tmp_path: Path) -> None:
    # Without memory a level is its quantile of an even number, the first that the seed gives.
    file = tmp_path / "even.toml"
    file.write_text('step = "1 s"\nslot = "1 h"\n[delay_ms]\nslots = [20, 40]')
    for seed in (1, 2):
        even = random.Random(f"{seed}/topology.bottleneck.schedule/delay").random()
        (link,) = {link.delay_ps for link in parse(own(file)).resolve(seed).links} - {10**9}
        assert link == pytest.approx((20 + 20 * even) * 1e9, abs=1000)


def test_replications_of_a_sweep_have_their_own_links(fitted: Any) -> None:
    plan = {
        "title": "Drawn links",
        "scenario": own(fitted[0]),
        "factors": {"buffer": {"key": "topology.bottleneck.buffer", "levels": ["1 BDP", "2 BDP"]}},
        "replications": 3,
        "responses": ["ceiling", "throughput"],
    }
    runs = skycell.sweep(plan, jobs=1).runs
    values = [(run.values["throughput"] or 0.0, run.values["ceiling"] or 0.0) for run in runs]
    assert len({run.spec_hash for run in runs}) == 6
    # Of each run's own link, not of the first one's; cells have the same three links.
    assert len({ceiling for _, ceiling in values}) == 3
    assert all(0 < throughput <= ceiling for throughput, ceiling in values)


SLOTS = 'step = "1 s"\nslot = "15 s"\n'


@pytest.mark.parametrize(
    ("text", "where", "said"),
    [
        ('step = "2 s"\nslot = "1 s"', "slot", "2 s or longer"),
        (SLOTS + "[delay_ms]\nslots = [3, 2]", "delay_ms.slots", "ascend"),
        (SLOTS + "[delay_ms]\nslots = [-3]", "delay_ms", "above 0"),
        (
            SLOTS + "[delay_ms]\nslots = [30]\nslot_memory = 1.0",
            "delay_ms.slot_memory",
            "0.999",
        ),
        (
            SLOTS + "[delay_ms]\nslots = [30]\n[rate_mbps]\nslots = [300]",
            "rate_mbps.slots",
            "250 Mbit/s",
        ),
        (SLOTS + "[rate_mbps]\nslots = [100]", "delay", "25 ms"),
        (
            SLOTS + "[delay_ms]\nslots = [30]\n[outages]\ngaps_s = [0.001]\nlengths_s = [9000]",
            "schedule.model",
            "with a path",
        ),
    ],
)
def test_a_faulty_model_is_told_with_its_place(
    text: str, where: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "model.toml"
    file.write_text(text)
    with pytest.raises(ScenarioFaults) as found:
        parse(own(file))
    (fault,) = found.value.faults
    assert fault.path.endswith(where)
    assert said in f"{fault.allowed} {fault.got}"


def test_too_short_a_series_is_refused(tmp_path: Path) -> None:
    file = starlink_like(tmp_path / "short.csv", 100)
    refused = CliRunner().invoke(main, ["trace", "fit", str(file)])
    assert refused.exit_code == 2
    assert "6 slots of 15 s" in refused.output
