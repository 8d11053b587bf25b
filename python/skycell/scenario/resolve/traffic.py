"""What applications send, resolved to integers: each parameter by its type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.parameters import Parameters, exact
from skycell.input.quantities import LONGEST_RUN_PS, rounded, show_amount, show_time
from skycell.scenario.declared.rules import Nested, Parameter, Part
from skycell.scenario.declared.traffic import TRAFFIC, Traffic
from skycell.scenario.resolve.context import Context
from skycell.scenario.values.distributions import Constant, Times, Uniform
from skycell.spec.network import (
    DistributionConstant,
    DistributionExponential,
    DistributionSpec,
    DistributionUniform,
    TrafficSpec,
)
from skycell.spec.part import SpecPart

#: Octets above which a file is no file of a web page but a mistake in its unit.
_LARGEST_FILE = 10**12


@dataclass(frozen=True)
class TrafficResolver:
    """Resolves the traffic of flows."""

    context: Context
    faults: FaultCollector

    def resolve(self, traffic: Traffic, path: Path) -> TrafficSpec:
        """The traffic that stands at `path` of the scenario."""
        rule = TRAFFIC[traffic.kind]
        assert rule.spec is not None
        return self._table(rule.spec, rule.parameters, (traffic,), path)  # type: ignore[return-value]

    def times(self, times: Times, path: Path, longest_ps: int = LONGEST_RUN_PS) -> DistributionSpec:
        """The distribution that stands at `path` of the scenario, in picoseconds."""

        def time_ps(key: str, *step: str) -> int:
            written = getattr(times, key)
            return self.context.time_up_to(longest_ps, written, (*path, *step), self.faults)

        if isinstance(times, Constant):
            return DistributionConstant(value_ps=time_ps("value"))
        if isinstance(times, Uniform):
            low, high = time_ps("low", "low"), time_ps("high", "high")
            if low >= high:
                allowed = f"above low, {show_time(low)}"
                self.faults.add((*path, "high"), times.high.text, allowed)
            return DistributionUniform(low_ps=low, high_ps=high)
        mean = time_ps("mean", "mean")
        if mean == 0:
            self.faults.add((*path, "mean"), times.mean.text, "above 0")
        return DistributionExponential(mean_ps=mean)

    def _table(
        self,
        spec: type[SpecPart],
        parameters: tuple[Parameter, ...],
        tables: tuple[Parameters, ...],
        path: Path,
    ) -> SpecPart:
        """What an engine reads of the last of some tables, each within the one before it."""
        values: dict[str, Any] = {}
        for one in parameters:
            assert not isinstance(one, Part)
            if one.field in spec.model_fields:
                assert one.key is not None
                value, where = getattr(tables[-1], one.key), (*path, one.key)
                if isinstance(one, Nested):
                    values[one.field] = self._nested(one, value, tables, where)
                else:
                    resolve = _RESOLVERS.get(one.type)
                    own = (self, value, tables, where)
                    values[one.field] = value if resolve is None else resolve(*own)
        return spec(**values)

    def _nested(self, one: Nested, value: Any, tables: tuple[Parameters, ...], path: Path) -> Any:
        if not one.is_list:
            return self._table(one.spec, one.parameters, (*tables, value), path)
        if not value:
            self.faults.add(path, Verbatim("none"), "at least one")
        return tuple(
            self._table(one.spec, one.parameters, (*tables, table), (*path, i))
            for i, table in enumerate(value)
        )

    def _page_interval(self, value: Times, web: Parameters, path: Path) -> DistributionSpec:
        interval = self.times(value, path)
        if isinstance(value, Constant) and interval == DistributionConstant(value_ps=0):
            self.faults.add(path, value.value.text, "a time above 0 s")
        return interval

    def _sizes(self, step_kb: float, tables: Any, path: Path) -> tuple[int, ...]:
        """Sizes of a class of files in whole octets, rounded half up."""
        web, _ = tables
        step = exact(step_kb) * web.kilobyte.amount
        counts = range(web.file_step.least, web.file_step.most + 1)
        sizes = tuple(rounded(step * k) for k in counts)
        if sizes and (sizes[0] < 1 or sizes[-1] > _LARGEST_FILE):
            shown = f"{step_kb}, for files of {show_amount(sizes[0])} to "
            self.faults.add(
                path,
                Verbatim(f"{shown}{show_amount(sizes[-1])} B"),
                f"files of 1 to {show_amount(_LARGEST_FILE)} B",
            )
        return sizes

    def _limit(self, value: int, count: Any, path: Path) -> int:
        if path[-1] == "most" and value < count.least:
            self.faults.add(path, value, f"from least, {count.least}")
        return value


_Resolver = Callable[[TrafficResolver, Any, tuple[Parameters, ...], Path], Any]

_RESOLVERS: dict[str, _Resolver] = {
    "TransferOctets": lambda traffic, value, tables, path: int(value.amount),
    "RequestOctets": lambda traffic, value, tables, path: int(value.amount),
    "Times": lambda traffic, value, tables, path: traffic.times(value, path),
    "PageInterval": lambda traffic, value, tables, path: traffic._page_interval(
        value, tables[-1], path
    ),
    "PoissonMean": lambda traffic, value, tables, path: float(value),
    "CountLimit": lambda traffic, value, tables, path: traffic._limit(value, tables[-1], path),
    "FileSizes": lambda traffic, value, tables, path: traffic._sizes(value, tables, path),
}
"""What a parameter of each type becomes; those of other types stay as they are written."""
