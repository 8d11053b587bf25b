"""The delay of a link over the run, and where it leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from skycell.spec.declared.network import ScheduleSpec


@dataclass(frozen=True)
class SatellitePath:
    """The delay of a link over the run, and where it leads, in steps.

    Attributes:
        times_ps: when each step begins, from 0.
        delays_ps: in each step; None while there is no path.
        targets: names of the node that the link leads to in each step.
        interruption_ps: for which nothing is sent after the link has turned.
        loses_cells: whether cells under way are lost when it turns.
    """

    times_ps: tuple[int, ...]
    delays_ps: tuple[int | None, ...]
    targets: tuple[str, ...]
    interruption_ps: int = 0
    loses_cells: bool = False

    @property
    def least_ps(self) -> int:
        """The least delay."""
        return min(delay for delay in self.delays_ps if delay is not None)

    def schedule(self, node_ids: Mapping[str, int]) -> ScheduleSpec | None:
        """The path as the engines see it; None for a link at rest."""
        if len(self.times_ps) == 1:
            return None
        turns = len(set(self.targets)) > 1
        paths = [0]
        for before, after in pairwise(self.targets):
            paths.append(paths[-1] + (before != after))
        return ScheduleSpec(
            times_ps=self.times_ps,
            delays_ps=self.delays_ps,
            paths=tuple(paths),
            to=tuple(node_ids[name] for name in self.targets) if turns else (),
            interruption_ps=self.interruption_ps,
            handover_loses_cells=self.loses_cells,
        )
