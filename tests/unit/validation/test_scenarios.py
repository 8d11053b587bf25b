"""What was recorded and what is simulated are the same scenarios over the same paths."""

from dataclasses import replace

import pytest

from skycell.spec.declared.parts import StartAt
from skycell.spec.values import octets_on_line
from skycell.validation.measures import MEASURES
from skycell.validation.scenarios import (
    RecordedScenario,
    UnknownScenarioError,
    linux,
    recordings,
    scenarios,
    select,
)
from skycell.validation.validate import as_scenario


def test_every_scenario_is_recorded_and_nothing_else_is() -> None:
    assert {found.id for found in scenarios()} == set(recordings())
    assert len({found.id for found in scenarios()}) == len(scenarios())


@pytest.mark.parametrize("scenario", scenarios(), ids=lambda found: found.id)
def test_a_recording_has_whole_replications(scenario: RecordedScenario) -> None:
    rows = recordings()[scenario.id]
    flows = scenario.group.connections
    found = sorted((int(row["replication"]), int(row["flow"])) for row in rows)
    assert found == [(k, flow) for k in range(len(rows) // flows) for flow in range(flows)]
    assert len(rows) // flows >= 3
    # What one transfer takes, or what a flow gets that has no end.
    has = "goodput_mbit_s" if scenario.size_octets is None else "completion_s"
    assert all(row[has] for row in rows)


@pytest.mark.parametrize(
    "name", ["one-cubic-10M-100ms-83p", "two-cubic-10M-20ms-17p", "drop20-reno-50M-100ms-4000p"]
)
def test_the_path_is_that_of_the_recorder(name: str) -> None:
    (scenario,) = select([name])
    spec = as_scenario(scenario, {}).resolve()
    forward, back = spec.links
    rate = scenario.path.rate_mbit_s
    for link in (forward, back):
        assert link.framing is not None
        # 12 000 bits of the path's rate for 1500 octets; 2 units of 32 for an acknowledgement.
        full, ack = (octets_on_line(link.framing, octets) for octets in (1500, 52))
        assert full == 16 * ack
        bits_ps = 8 * full * 10**15 / link.framing.rate_millibps
        assert bits_ps == pytest.approx(12_000 / rate * 1e6)
        assert 2 * link.delay_ps == scenario.path.rtt_ms * 10**9
    assert forward.port.queues[0].capacity_cells == scenario.buffer_packets
    assert [flow.loss_script.transmissions for flow in spec.flows] == [
        scenario.group.lost
    ] * scenario.group.flows
    every_ps = int(scenario.group.every_s * 10**12)
    starts = [StartAt(time_ps=k * every_ps) for k in range(scenario.group.flows)]
    assert [flow.start for flow in spec.flows] == starts


def test_a_group_may_mix_congestion_controls_police_and_change_a_path() -> None:
    mixed, policer, spike, narrow = (
        as_scenario(select([name])[0], {}).resolve()
        for name in (
            "mixed-cubic+reno-20M-40ms-67p",
            "policer-cubic-20M-40ms-267p",
            "spike-cubic-10M-50ms-83p",
            "narrow-cubic-10M-50ms-83p",
        )
    )
    assert [flow.tcp.congestion.kind for flow in mixed.flows] == ["linux_cubic", "reno"]
    # What one flow has of its own is not the others'.
    (scenario,) = select(["mixed-cubic+reno-20M-40ms-67p"])
    turned = as_scenario(replace(scenario, congestion="reno+cubic"), {}).resolve()
    assert [flow.tcp for flow in turned.flows] == [flow.tcp for flow in reversed(mixed.flows)]
    first, second, back = policer.links
    assert (first.port.policer, back.port.policer) == (None, None)
    assert second.port.policer is not None
    assert (first.delay_ps, second.delay_ps, back.delay_ps) == (20 * 10**9, 0, 20 * 10**9)
    forward, back = spike.links
    assert back.schedule is None
    assert forward.schedule is not None
    back = narrow.links[1]
    assert back.port.queues[0].capacity_cells == 20


def test_ids_name_groups_and_scenarios_and_an_unknown_one_has_a_neighbour() -> None:
    assert select([]) == list(scenarios())
    two = [found.id for found in select(["two"])]
    assert [found.id for found in select(["two", two[0]])] == two
    with pytest.raises(UnknownScenarioError, match="did you mean two"):
        select(["twoo"])


def test_every_measure_is_a_column_of_the_recordings() -> None:
    for entry in linux().recordings:
        assert entry.file.endswith(".csv")
    columns = {name for rows in recordings().values() for row in rows for name in row}
    assert {measure.name for measure in MEASURES} <= columns
