"""What commands offer without loading what it belongs to."""

from skycell.cli import options
from skycell.scenario import file


def test_run_offers_the_traces_of_a_scenario_file() -> None:
    assert options.TRACES == file.TRACES
