"""How far the runs of a study are, on standard error, once they take longer than two seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skycell.cli.progress import ProgressLine

if TYPE_CHECKING:
    from skycell.studies import Progress


class StudyProgress(ProgressLine):
    """Tells the progress of many runs; hand it to `skycell.studies.reproduce` as `on_progress`."""

    def __init__(self, store: str) -> None:
        super().__init__()
        self._store = store
        self._name = ""
        self._last: Progress | None = None

    def name(self, name: str) -> None:
        """What the runs from now on belong to."""
        self._name = f"{name}: "
        self.begin_anew()

    def __call__(self, progress: Progress) -> None:
        """Tells how far the runs are."""
        self._last = progress
        # Nothing is to do where the store had every run.
        if progress.runs_to_do and progress.simulated_s_to_do:
            elapsed = self.elapsed_if_due()
            if elapsed is not None:
                self.say(self._text(progress, elapsed))

    def _text(self, progress: Progress, elapsed: float) -> str:
        part = progress.simulated_s / progress.simulated_s_to_do
        left = f", about {_minutes(elapsed * (1 - part) / part)} left" if 0 < part < 1 else ""
        waited_for = progress.runs_waited_for
        others = f"; waiting for {waited_for} that another process has begun" if waited_for else ""
        return (
            f"{self._name}{progress.runs_done} of {progress.runs_to_do} runs, "
            f"{progress.simulated_s:.0f} of {progress.simulated_s_to_do:.0f} s simulated "
            f"({part:.0%}){left}{others}"
        )

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        super().__exit__(kind, error, trace)
        if isinstance(error, KeyboardInterrupt) and self._last is not None:
            error.add_note(
                f"{self._last.runs_done} of {self._last.runs_to_do} runs are finished "
                f"and kept in {self._store}; the same command continues from there"
            )


def _minutes(seconds: float) -> str:
    """A time to wait, for people.

    >>> _minutes(42.4), _minutes(150)
    ('42 s', '2 min 30 s')
    """
    whole = round(seconds)
    return f"{whole} s" if whole < 90 else f"{whole // 60} min {whole % 60} s"
