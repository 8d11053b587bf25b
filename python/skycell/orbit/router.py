"""Routes that a Python function of the user's computes, step by step."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from skycell.input.account import Account
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.quantities import show_time
from skycell.input.spelling import hint
from skycell.orbit.columns import Columns
from skycell.orbit.constellation import Constellation
from skycell.orbit.fstate import ListedRoutes
from skycell.orbit.ground import Ground
from skycell.orbit.places import Place

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_FAULTS = 20
"""Routes of one step that are reported one by one."""


@dataclass(frozen=True)
class Step:
    """What a router is given at each step.

    Nodes are numbered: satellites from 0, and the stations after them. A label is the number of a
    station among the stations.

    Attributes:
        time_s: the moment, since the constellation's time 0.
        links: the directed links that exist: arrays `from`, `to` (nodes) and `delay_ps`, in the
            order of `from` and then `to`.
        satellites: node of each satellite by its name.
        stations: node of each destination by its name.
        relays: node of each other place by its name.
        before: what was returned at the step before; int32 [nodes, labels], all -1 at the first.
        options: values of the user.
    """

    time_s: float
    links: Mapping[str, NDArray[np.int64]]
    satellites: Mapping[str, int]
    stations: Mapping[str, int]
    relays: Mapping[str, int]
    before: NDArray[np.int32]
    options: Mapping[str, Any]
    _positions_km: Callable[[], NDArray[np.float64]] = field(repr=False)

    @property
    def positions_km(self) -> NDArray[np.float64]:
        """Earth-fixed positions of the satellites; [satellites, 3], as `positions_km` has them."""
        return self._positions_km()


def routes_from_python(
    file: str | PathLike[str],
    function: str,
    constellation: Constellation,
    places: Sequence[Place],
    times: tuple[int, int, int],
    options: Mapping[str, Any] | None = None,
    *,
    ground: Ground | None = None,
    jobs: int | None = None,
    on_progress: Callable[[float], bool] | None = None,
) -> ListedRoutes:
    """The routes that a function returns, which is called once for each step with a `Step`.

    It returns whole numbers [nodes, labels]: the node that each node hands to for each station, -1
    for none. What it returns for a station's own node is passed over.

    Args:
        file: Python, with the function; it is run.
        function: its name.
        constellation: the satellites.
        places: on the ground; each is a destination unless `ground` says otherwise.
        times: the first moment, the step and the number of steps; ps.
        options: given to the function as `step.options`.
        ground: which places are stations, and which forward.
        jobs: threads that compute the links; as many as there are cores if not given.
        on_progress: told the share that is done; False gives up.

    Raises:
        ScenarioFaults: the file or the function ends with an error, or a next hop is none.
        OSError: the file cannot be read.
        RunCancelled: `on_progress` said so.
    """
    name = fspath(file)
    router = _loaded(Path(file), function)
    nature = Ground(len(places)) if ground is None else ground
    columns = _links(constellation, places, times, nature, jobs)
    start_ps, step_ps, epochs = times
    satellites = {name: node for node, name in enumerate(constellation.satellites)}
    nodes_on_ground = nature.nodes(places)
    numbers = {place.name: len(satellites) + i for i, place in enumerate(nodes_on_ground)}
    stations = {place.name: numbers[place.name] for place in nature.destinations(places)}
    relays = {name: node for name, node in numbers.items() if name not in stations}
    own = columns.label_node.astype(np.int64)
    before = np.full((columns.nodes, columns.labels), -1, np.int32)
    rows: tuple[list[int], list[int], list[int], list[int]] = ([], [], [], [])
    for epoch in range(epochs):
        at_ps = start_ps + step_ps * epoch
        links = columns.links(epoch)
        step = Step(
            at_ps / 1e12,
            MappingProxyType(
                {
                    "from": _fixed(links.source),
                    "to": _fixed(links.to),
                    "delay_ps": _fixed(links.delay_ps),
                }
            ),
            MappingProxyType(satellites),
            MappingProxyType(stations),
            MappingProxyType(relays),
            _fixed(before),
            MappingProxyType(dict(options or {})),
            _positions_at(constellation, at_ps),
        )
        returned = _called(router, step, name, function, at_ps)
        hops = _table(returned, before.shape, name, function, at_ps)
        hops[own, np.arange(columns.labels)] = -1
        names = (*satellites, *(place.name for place in nodes_on_ground))
        _refuse_unlinked(
            hops, (links.source, links.to), (names, list(stations)), name, function, at_ps
        )
        nodes, labels = np.nonzero(hops != before)
        rows[0].extend([epoch] * len(nodes))
        rows[1].extend(nodes.tolist())
        rows[2].extend(labels.tolist())
        rows[3].extend(hops[nodes, labels].tolist())
        before = hops
        if on_progress is not None and not on_progress((epoch + 1) / epochs):
            from skycell import _core

            raise _core.RunCancelled("given up")
    account = Account(
        name,
        "router",
        {"steps": epochs, "routes": len(rows[0])},
        step_ps * (epochs - 1) / 1e12,
    )
    return ListedRoutes(start_ps, step_ps, epochs, rows, account, by="router")


def _loaded(file: Path, function: str) -> Callable[[Step], Any]:
    """The function of a file.

    Raises:
        ScenarioFaults: the file is no Python, ends with an error, or has no such function.
        OSError: it cannot be read.
    """
    with file.open("rb"):
        pass
    spec = importlib.util.spec_from_file_location(f"router {file}", file)
    meaning = "a router"
    if spec is None or spec.loader is None:
        fault = Fault(fspath(file), "", show_value(file.suffix), "a file that ends in .py", meaning)
        raise ScenarioFaults([fault])
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # a data class looks its module up
    try:
        spec.loader.exec_module(module)
    except SyntaxError as error:
        allowed = "Python"
        fault = Fault(fspath(file), "", str(error.msg), allowed, meaning, line=error.lineno)
        raise ScenarioFaults([fault]) from None
    except (Exception, SystemExit) as error:
        allowed = "a file that runs to its end"
        raise ScenarioFaults([_of_users(error, file, "", allowed)]) from error
    functions = [name for name, value in vars(module).items() if callable(value)]
    if function not in functions:
        allowed = f"a function of the file{hint(function, functions)}"
        raise ScenarioFaults([Fault(fspath(file), "", show_value(function), allowed, meaning)])
    router: Callable[[Step], Any] = getattr(module, function)
    return router


def _of_users(error: BaseException, file: Path, function: str, allowed: str) -> Fault:
    """A fault for an error of the user's code: the line is the last of the user's file."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename) == file
    ]
    got = f"{type(error).__name__}: {error}"
    line = lines[-1] if lines else None
    return Fault(fspath(file), function, got, allowed, "a router", line=line)


def _links(
    constellation: Constellation,
    places: Sequence[Place],
    times: tuple[int, int, int],
    ground: Ground,
    jobs: int | None,
) -> Columns:
    """The network without routes."""
    from skycell.orbit.routes import routes

    nothing = ListedRoutes(*times, ([], [], [], []), Account("", "router"))
    found = routes(constellation, places, listed=nothing, with_file=True, jobs=jobs, ground=ground)
    assert found.file is not None
    return Columns(found.file)


def _fixed(values: NDArray[Any]) -> NDArray[Any]:
    """The same values, which the user's function cannot change."""
    view = values.view()
    view.flags.writeable = False
    return view


def _positions_at(constellation: Constellation, at_ps: int) -> Callable[[], NDArray[np.float64]]:
    def positions() -> NDArray[np.float64]:
        from skycell.orbit.geometry import positions_km

        found: NDArray[np.float64] = positions_km(constellation, [at_ps])[0]
        return found

    return positions


def _called(router: Callable[[Step], Any], step: Step, file: str, function: str, at_ps: int) -> Any:
    try:
        return router(step)
    except (Exception, SystemExit) as error:
        allowed = f"next hops at {show_time(at_ps)}"
        raise ScenarioFaults([_of_users(error, Path(file), function, allowed)]) from error


def _table(
    returned: Any, shape: tuple[int, ...], file: str, function: str, at_ps: int
) -> NDArray[np.int32]:
    """What a router returned as a table of its own."""
    try:
        table = np.asarray(returned)
    except ValueError:  # rows of different lengths
        table = np.array(None)
    nodes, labels = shape
    allowed = f"whole numbers [{nodes} nodes, {labels} labels] at {show_time(at_ps)}"
    if table.shape != shape or table.dtype.kind not in "iu":
        got = f"{table.dtype} {list(table.shape)}"
        got = got if isinstance(returned, np.ndarray) else f"{type(returned).__name__}, {got}"
        raise ScenarioFaults([Fault(file, function, got, allowed, "a router")])
    outside = table[(table < -1) | (table >= nodes)]
    if len(outside):
        allowed = f"-1 for none, or a node from 0 to {nodes - 1}, at {show_time(at_ps)}"
        raise ScenarioFaults([Fault(file, function, str(outside[0]), allowed, "a router")])
    return table.astype(np.int32)


def _refuse_unlinked(
    hops: NDArray[np.int32],
    links: tuple[NDArray[np.int64], NDArray[np.int64]],
    of: tuple[Sequence[str], Sequence[str]],
    file: str,
    function: str,
    at_ps: int,
) -> None:
    """Refuses next hops over links that do not exist."""
    nodes, (names, targets) = len(hops), of
    there = np.zeros((nodes, nodes), np.bool_)
    there[links] = True
    is_route = hops >= 0
    wrong = is_route & ~there[np.arange(nodes)[:, None], np.where(is_route, hops, 0)]
    faults = []
    for node, label in np.argwhere(wrong)[:_MOST_FAULTS].tolist():
        following = int(hops[node, label])
        target = targets[label]
        numbers = f"node {node} to node {following}"
        got = f"{names[node]} ({numbers}) hands to {names[following]} for {target}"
        allowed = f"a node that {names[node]} has a link to at {show_time(at_ps)}, or -1 for none"
        faults.append(Fault(file, function, got, allowed, "a router"))
    if faults:
        raise ScenarioFaults(faults)
