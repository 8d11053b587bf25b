"""What a test holds of the engine's stand-in."""

from pathlib import Path
from typing import NamedTuple

from skycell.experiment.tasks import Work


class Double(NamedTuple):
    """A stand-in for the engine, and the folder through which a test speaks to it."""

    work: Work
    folder: Path

    def made(self) -> list[str]:
        """Names of the runs that were made, in their order."""
        log = self.folder / "made.txt"
        return log.read_text().split() if log.exists() else []
