import pytest


@pytest.fixture(autouse=True)
def figures_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However slow the machine, commands tell how far drawing is where a test asks them to."""
    monkeypatch.setattr("skycell.cli.progress.DrawingProgress.elapsed_if_due", lambda _: None)
