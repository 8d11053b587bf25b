"""What applications send, resolved to integers."""

from __future__ import annotations

from dataclasses import dataclass

from skycell.input.faults import FaultCollector, Path, Verbatim
from skycell.input.parameters import exact, meaning_of
from skycell.input.quantities import LONGEST_RUN_PS, rounded, show_amount, show_time
from skycell.scenario.file.distributions import Constant, Times, Uniform
from skycell.scenario.file.traffic import Persistent, Traffic, Transfers
from skycell.scenario.file.web import FileClass, PoissonCount, Web
from skycell.scenario.resolve.context import Context
from skycell.spec.network import (
    CountSpec,
    DistributionConstant,
    DistributionExponential,
    DistributionSpec,
    DistributionUniform,
    FileClassSpec,
    TrafficPersistent,
    TrafficSpec,
    TrafficTransfers,
    WebSpec,
)

#: Octets above which a file is no file of a web page but a mistake in its unit.
_LARGEST_FILE = 10**12


@dataclass(frozen=True)
class TrafficResolver:
    """Resolves the traffic of flows."""

    context: Context
    faults: FaultCollector

    def resolve(self, traffic: Traffic, path: Path) -> TrafficSpec:
        """The traffic that stands at `path` of the scenario."""
        if isinstance(traffic, Persistent):
            return TrafficPersistent()
        if isinstance(traffic, Transfers):
            return TrafficTransfers(
                size_octets=int(traffic.size.amount),
                count=traffic.count,
                idle=self.times(traffic.idle, (*path, "idle")),
                new_connection=traffic.new_connection,
            )
        return self._web(traffic, path)

    def times(self, times: Times, path: Path, longest_ps: int = LONGEST_RUN_PS) -> DistributionSpec:
        """The distribution that stands at `path` of the scenario, in picoseconds."""

        def time_ps(key: str, *step: str) -> int:
            meaning = meaning_of(type(times).model_fields[key])
            written = getattr(times, key)
            return self.context.time_up_to(
                longest_ps, written, (*path, *step), meaning, self.faults
            )

        if isinstance(times, Constant):
            return DistributionConstant(value_ps=time_ps("value"))
        if isinstance(times, Uniform):
            low, high = time_ps("low", "low"), time_ps("high", "high")
            if low >= high:
                allowed = f"above low, {show_time(low)}"
                self.faults.add((*path, "high"), times.high.text, allowed, "end of the range")
            return DistributionUniform(low_ps=low, high_ps=high)
        mean = time_ps("mean", "mean")
        if mean == 0:
            self.faults.add((*path, "mean"), times.mean.text, "above 0", "mean time")
        return DistributionExponential(mean_ps=mean)

    def _web(self, web: Web, path: Path) -> WebSpec:
        size = self._count(web.file_step, (*path, "file_step"))
        if not web.file_class:
            meaning = meaning_of(Web.model_fields["file_class"])
            self.faults.add((*path, "file_class"), Verbatim("none"), "at least one", meaning)
        interval = self.times(web.page_interval, (*path, "page_interval"))
        if isinstance(web.page_interval, Constant) and interval == DistributionConstant(value_ps=0):
            meaning = meaning_of(Web.model_fields["page_interval"])
            got = web.page_interval.value.text
            self.faults.add((*path, "page_interval"), got, "a time above 0 s", meaning)
        return WebSpec(
            page_interval=interval,
            page_interval_from=web.page_interval_from,  # type: ignore[arg-type]
            pages=web.pages,
            requests=self._count(web.requests, (*path, "requests")),
            gap=self.times(web.gap, (*path, "gap")),
            request_octets=int(web.request_size.amount),
            classes=tuple(
                FileClassSpec(
                    weight=file_class.share,
                    sizes_octets=self._sizes(file_class, i, size, web, path),
                )
                for i, file_class in enumerate(web.file_class)
            ),
            size=size,
        )

    def _count(self, count: PoissonCount, path: Path) -> CountSpec:
        if count.most < count.least:
            meaning = meaning_of(PoissonCount.model_fields["most"])
            self.faults.add((*path, "most"), count.most, f"from least, {count.least}", meaning)
        return CountSpec(
            mean=float(count.mean),
            low=count.least,
            high=count.most,
            outside=count.outside,  # type: ignore[arg-type]
        )

    def _sizes(
        self, file_class: FileClass, place: int, size: CountSpec, web: Web, path: Path
    ) -> tuple[int, ...]:
        """Sizes of a class in whole octets, rounded half up."""
        step = exact(file_class.step_kb) * web.kilobyte.amount
        sizes = tuple(rounded(step * k) for k in range(size.low, size.high + 1))
        if sizes and (sizes[0] < 1 or sizes[-1] > _LARGEST_FILE):
            shown = f"{file_class.step_kb}, for files of {show_amount(sizes[0])} to "
            self.faults.add(
                (*path, "file_class", place, "step_kb"),
                Verbatim(f"{shown}{show_amount(sizes[-1])} B"),
                f"files of 1 to {show_amount(_LARGEST_FILE)} B",
                meaning_of(FileClass.model_fields["step_kb"]),
            )
        return sizes
