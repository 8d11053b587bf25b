"""The compiled part of skycell, crate `skycell-border`: where Rust and Python meet."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

VERSION: Final[str]
"""Version of the package, the same for both builds."""

class TomlError(Exception):
    """The text is not TOML."""

    errors: list[tuple[int, int, str]]
    """Every error found, in the order of the text: line and column from 1, and what is wrong."""

class SpecError(Exception):
    """The spec cannot be run; the message names the part of it that is at fault."""

class RunError(Exception):
    """A run failed although its spec was sound, for instance because its ledger did not balance."""

class RunCancelled(RunError):
    """A run was given up because `on_progress` answered with something false."""

class EmulateError(Exception):
    """Real hosts cannot be put onto a path; says what is missing, or does not fit."""

def record(spec_json: str, congestion: list[str], settings: list[tuple[str, str]]) -> str:
    """Run the flows of a spec on this machine's kernel, over the spec's path.

    Args:
        spec_json: the JSON form of a `NetworkSpec` whose flows lead from one host to one other.
        congestion: the kernel's name of each flow's congestion control.
        settings: files below /proc/sys/net/ipv4, each with what is written to it in both hosts.

    Returns:
        The recording as JSON: `kernel`, `seconds`, `ports`, `late`, `flows`.

    Raises:
        SpecError: the spec is not valid.
        EmulateError: it cannot be recorded, or the system refuses what a recording needs.
    """

def emulate(
    spec_json: str,
    at: list[tuple[str, str]],
    commands: list[tuple[str, str]],
    prints_to_error: bool,
    on_ready: Callable[[list[tuple[str, str | None, str]]], object],
) -> str:
    """Put hosts onto the path of a spec and run commands at them.

    It goes on until the last command has ended, for the duration of the spec, or until an
    interrupt, which is a way to end it and is not raised.

    Args:
        spec_json: the JSON form of a `NetworkSpec`, whose flows are the ways between its hosts.
        at: host, and the file of its network namespace or the interface that it is behind, of
            each that there is already.
        commands: host and line for a shell, each.
        prints_to_error: whether what they print goes to standard error.
        on_ready: called with name, address and namespace file of each host, before they begin.

    Returns:
        What it left as JSON: `kernel`, `seconds`, `ports`, `late`, `is_good`, `commands`.

    Raises:
        SpecError: the spec is not valid.
        EmulateError: it does not fit, or the system refuses what is needed.
    """

def parse_toml(text: str) -> tuple[dict[str, Any], dict[str, tuple[int, int]]]:
    """Read a TOML document.

    Args:
        text: a TOML 1.1 document without dates and times, which scenarios have no use for.

    Returns:
        The document, and the (line, column) of every value by its dotted path ("links.0.rate"),
        both counted from 1 in characters; a table's position is that of its header.

    Raises:
        TomlError: with every error found.
    """

def validate(spec_json: str, columns: Path | None = None) -> None:
    """Refuse a spec that no engine could run.

    Args:
        spec_json: the JSON form of a `NetworkSpec`.
        columns: the file of the columns of its sky, if it has one.

    Raises:
        SpecError: the first broken rule.
    """

def reread(spec_json: str) -> str:
    """The spec as Rust has read it, written again as JSON.

    Args:
        spec_json: the JSON form of a `NetworkSpec`.

    Raises:
        SpecError: the first broken rule.
    """

def framing_overhead(framing_json: str) -> str:
    """What a framing takes of a link.

    Args:
        framing_json: the JSON form of a `FramingSpec`.

    Returns:
        JSON: `{"Ok": ...}` with `carried` (a part), `packet` (octets, or null for a framing of
        cells) and `layers` (pairs of a name and a part), each part with `parts` and `whole`; or
        `{"Err": ...}` with the `field` at fault, what it `got` and what is `allowed`.

    Raises:
        SpecError: the text is no such form.
    """

def run(
    spec_json: str,
    engine: str,
    on_progress: Callable[[int], bool] | None = None,
    columns: Path | None = None,
    threads: int = 1,
) -> tuple[str, dict[str, dict[str, NDArray[np.generic]]]]:
    """Simulate one run. Other Python threads go on meanwhile, and Ctrl-C is heard.

    Args:
        spec_json: the JSON form of a `NetworkSpec`.
        engine: "fast" or "reference".
        on_progress: called with the simulated time in picoseconds about every 0.1 s of wall time;
            returning False cancels the run.
        columns: the file of the columns of the spec's sky, if it has one.
        threads: how many threads the fast engine may use.

    Returns:
        The records as JSON, and the traces the spec asked for: name -> column -> array, all columns
        of one trace of the same length, rows in order of time; with a sky also the tables
        `sky_ports`, `sky_nodes`, `sky_seconds` and `sky_round_trips`. The arrays are the engine's
        own memory.

    Raises:
        SpecError: the spec cannot be run.
        RunError: the run failed.
        RunCancelled: `on_progress` gave it up.
        ValueError: no engine of that name.
        KeyboardInterrupt: Ctrl-C was pressed.
    """

def stepped_ports(spec_json: str, columns: Path | None = None) -> str:
    """The ports of a spec that the fast engine steps unit by unit, without a run.

    Args:
        spec_json: the JSON form of a `NetworkSpec`.
        columns: the file of the columns of its sky, if it has one.

    Returns:
        A JSON list of `port`, the name of its link, and `reason`, as `engine_stats` of a run has
        them.

    Raises:
        SpecError: the spec is not valid.
    """

def run_summary(
    spec_json: str,
    engine: str,
    on_progress: Callable[[int], bool] | None = None,
    columns: Path | None = None,
    threads: int = 1,
) -> str:
    """Simulate one run and keep of its records what studies measure.

    Args:
        spec_json: the JSON form of a `NetworkSpec`.
        engine: as for `run`.
        on_progress: as for `run`.
        columns: as for `run`.
        threads: as for `run`.

    Returns:
        JSON, keys sorted: `duration_ps`, `flows` and `ports` with a limited buffer as in the
        records, of a VC's occupancy its mean only; `web` over all users where there are
        some; `gfr_vcs`, of each VC with a GFR contract its frames and guarantees; `measured_vcs`,
        of each VC whose cells' delay is measured what became of its cells, and that; `moving`,
        where links move, what was lost on them over all VCs. Functions of `skycell.metrics` that
        take records take a summary as well.

    Raises:
        what `run` raises.
    """

class OrbitError(Exception):
    """A constellation cannot be computed, because its spec has no meaning."""

def orbit_absent_links(spec_json: str, first_ps: int, last_ps: int) -> str:
    """The links that the rules ask for and that do not exist at some of the moments between two.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        first_ps: the first moment since time 0.
        last_ps: the last.

    Returns:
        JSON: `looks`, the moments looked at, evenly spaced; `asked_for`, the pairs of satellites
        that the rules link at any of them; `links`, a list of (satellite, satellite, moments at
        which the rules ask for it, those of them without it, what it breaks, km). It breaks
        `earth`, with the least height above the equatorial radius, or `length`, with the greatest
        length.

    Raises:
        OrbitError: the spec has no meaning.
    """

def orbit_hidden(spec_json: str, first_ps: int, last_ps: int) -> str:
    """The satellites above the masks of places that the earth hides between two moments.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`, with places.
        first_ps: the first moment since time 0.
        last_ps: the last.

    Returns:
        JSON: for each place that it hides any from, its number, how many satellites, and the
        moments looked at.

    Raises:
        OrbitError: the spec has no meaning.
    """

def orbit_judged(spec_json: str, first_ps: int, last_ps: int) -> str:
    """How good the interpolated positions of ephemerides are between two moments.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        first_ps: the first moment since time 0.
        last_ps: the last.

    Returns:
        JSON: a list of (satellite, whether its positions are good enough, moments of the two states
        in seconds since time 0, km from where the states lead, km between where the one and where
        the other leads, least distance from the centre of a position inside the earth or null). Of
        each satellite every interval between states that is not good enough, and the worst of the
        others.

    Raises:
        OrbitError: the spec has no meaning.
    """

def orbit_left_out(spec_json: str, first_ps: int, last_ps: int) -> str:
    """The satellites of elements that have no position at some of the moments between two.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        first_ps: the first moment since time 0.
        last_ps: the last.

    Returns:
        JSON: a list of (satellite, minutes from its epoch, limit). It is left out from then on;
        where the minutes are below 0, until then; where they are 0, always. The limit is an error
        of SGP4 or the surface of the earth, in words.

    Raises:
        OrbitError: the spec has no meaning.
    """

def orbit_positions(spec_json: str, times_ps: list[int]) -> NDArray[np.float64]:
    """Earth-fixed positions of all satellites.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        times_ps: moments since time 0.

    Returns:
        Coordinates in km, one after another: three of each satellite of each moment; NaN where it
        is left out.

    Raises:
        OrbitError: the spec has no meaning.
    """

def orbit_sights(spec_json: str, times_ps: list[int], satellites: list[int]) -> NDArray[np.float64]:
    """Where satellites stand above the stations.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        times_ps: moments since time 0.
        satellites: numbers of those that are looked at.

    Returns:
        Azimuth and elevation in degrees and slant range in km: moment after moment, station after
        station, satellite after satellite; NaN where one is left out.

    Raises:
        OrbitError: the spec has no meaning.
        ValueError: a number is that of no satellite.
    """

def orbit_passes(
    spec_json: str,
    first_ps: int,
    last_ps: int,
    threads: int,
    on_progress: Callable[[float], bool] | None = None,
) -> dict[str, Any]:
    """When satellites rise above the stations, stand highest, and set.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        first_ps: the first moment since time 0.
        last_ps: the last.
        threads: that work, above 0; the result does not depend on it.
        on_progress: called with the share that is done about every 0.1 s; False gives up.

    Returns:
        Arrays with an entry a pass, station after station: `station`, `satellite`, and of `rise`,
        `top` and `set` each `_ps`, `_azimuth_deg`, `_elevation_deg` and `_range_km`. Where a pass
        began before the first moment or goes on after the last, 2^64 - 1 and NaN.

    Raises:
        OrbitError: the spec has no meaning.
        RunCancelled: `on_progress` gave it up.
    """

def orbit_moment(spec_json: str, at_ps: int) -> str:
    """Links, what stations see and use, and the paths of the pairs at one moment.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        at_ps: since time 0.

    Returns:
        JSON with `links` (pairs of satellites), `visible` (for each station: satellite, azimuth and
        elevation in degrees, slant range in km), `highest` (the same of the satellite that stands
        highest, visible or not), `used` (satellite or null) and `paths` (satellites and links_ps,
        or the reason why there is none).

    Raises:
        OrbitError: the spec has no meaning.
    """

def orbit_routes(
    spec_json: str,
    start_ps: int,
    step_ps: int,
    epochs: int,
    threads: int,
    by: str = "delay",
    listed: tuple[list[int], list[int], list[int], list[int]] | None = None,
    with_file: bool = False,
    on_progress: Callable[[float], bool] | None = None,
    port_per_station: bool = False,
    outages: list[tuple[int, int, int, int]] = ...,
    stations: int | None = None,
    stations_relay: bool = False,
    terrestrial: list[tuple[int, int]] = ...,
    paths: int = 1,
    detour_ppm: int = 0,
    precision_ps: int | None = None,
    interruption_ps: int = 0,
) -> dict[str, Any]:
    """Routes by label over a constellation, and the paths of the pairs hop by hop.

    Nodes are the satellites, then the places, then perhaps a point behind some of them. A label is
    the number of a destination (a station, or behind the last one the point), plus their number for
    each path before. A node of 2**32 - 1 stands for none.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        start_ps: the first epoch.
        step_ps: from one epoch to the next, above 0.
        epochs: how many, above 0.
        threads: that work, above 0; the result does not depend on it.
        by: what a path has the least of: `delay` or `hops`.
        listed: routes of a table instead: epoch, node, label and next node, below 0 for none.
        with_file: whether the file of the columns is returned.
        on_progress: called with the share that is done about every 0.1 s; False gives up.
        port_per_station: whether a satellite has a port for each station, and not one for all.
        outages: node, other end of a link or below 0 for the whole node, first step, and the first
            step after it: links of what is out of order do not exist.
        stations: how many of the first places are stations; all if not given. The others forward.
        stations_relay: whether stations forward too.
        terrestrial: links of places that forward with the point: place, and delay in ps.
        paths: labels of each destination.
        detour_ppm: by how much later paths may be longer than the first, in parts of a million.
        precision_ps: to which changes of the pairs' paths between two steps are looked for; each is
            an epoch more.
        interruption_ps: time from which on a station may use a satellite to that from which on
            their link carries packets; what it uses at the first epoch carries them at once.

    Returns:
        `no_link` alone (node, label, next node, moment) where a route has no link; otherwise
        `digest` (SHA-256 of the columns' file), `octets` of it and perhaps the `file`, the number
        of `links`, for each node on the ground whether it is `unlinked` at all epochs, and arrays.
        `epoch_ps`, `label_node`. Paths:
        `pair`, `first_epoch`, `epochs`, `lost` (0, or 1 no route, 2 out of range, 3 hop limit),
        `nodes`, the nodes of all one after another as `way`, `delays_ps` by pair and epoch, and
        `links_ps` of the paths of the first epoch. Next hops: `next` by node and label at the first
        epoch; `change_epoch`, `change_node`, `change_label`, `change_before` and `change_after`.

    Raises:
        OrbitError: the spec has no meaning.
        RunCancelled: `on_progress` said so.
        ValueError: numbers that are too large, or 0.
    """

def orbit_series(
    spec_json: str,
    start_ps: int,
    step_ps: int,
    steps: int,
    threads: int,
    with_links: bool = False,
    on_progress: Callable[[float], bool] | None = None,
    precision_ps: int | None = None,
) -> dict[str, Any]:
    """Paths and delays of the pairs over time.

    Args:
        spec_json: the JSON form of `skycell.orbit.Constellation.spec`.
        start_ps: the first moment.
        step_ps: from one to the next.
        steps: how many.
        threads: that work, above 0; the result does not depend on it.
        with_links: whether the delay of each link is kept.
        on_progress: called with the share that is done about every 0.1 s; False gives up.
        precision_ps: how exactly the moments of changes of path are looked for, above 0; if not
            given they are not.

    Returns:
        Arrays: `delays_ps` (pair after pair, 2^64 - 1 without a path); `pair`, `first_step`,
        `steps`, `satellites` (their number) of each stretch of one path; `way`, the satellites of
        all stretches; `links_ps`, link after link, step after step. `reasons` is JSON: for each
        stretch null, or why there is no path. In the same way of each change of path
        `change_pair`, `change_at_ps`, `change_before_ps` (the delay until then),
        `change_satellites`, `change_way`, `change_links_ps` and `change_reasons`; of none without
        a precision.

    Raises:
        OrbitError: the spec has no meaning.
        RunCancelled: `on_progress` gave it up.
        ValueError: more values than fit, or no thread.
    """

def read_tle(text: str) -> str:
    """Read two-line elements.

    Args:
        text: sets of two lines, each with a line for its name before it or without; what belongs to
            no set is passed over.

    Returns:
        JSON with `sets` (line from 1 where each begins, OMM), `faulty` (of the sets that cannot be
        used the line that is wrong, its first column from 0 and the end or null, what is allowed,
        what it means, name and catalogue number as written), `planes` (planes and satellites in
        each, where the first line counts them, else null), and lines: `longer` than 69 columns,
        `unsummed` without a checksum, `unused` by any set.
    """
