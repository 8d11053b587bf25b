"""Links through the earth, below the clearance or too long: none exists, whatever asks for it."""

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.input.faults import ScenarioFaults
from skycell.orbit import as_constellation, constellations, look, positions_km, series
from skycell.orbit.absent_links import absent_links
from skycell.orbit.motion import path_steps
from skycell.orbit.places import Place

RADIUS_KM = 6378.137
SECOND = 10**12
EPOCH = "2024-01-01T00:00:00Z"


def elements(count: int, mean_motion: float) -> str:
    """Two-line elements of satellites evenly spaced around one circle."""
    lines = []
    for number in range(count):
        first = f"1 {number + 1:05}U 24001A   24001.00000000  .00000000  00000-0  00000+0 0  999"
        second = f"2 {number + 1:05}  53.0000   0.0000 0001000   0.0000 {360 * number / count:8.4f}"
        lines += [f"RING {number + 1}", first, f"{second} {mean_motion:11.8f}    1"]
    return "\n".join(lines)


def ephemeris(count: int, radius_km: float) -> str:
    """An OEM of satellites evenly spaced around one circle, by the closed form of two bodies."""
    rate = math.sqrt(398600.4418 / radius_km**3)
    lines = ["CCSDS_OEM_VERS = 2.0"]
    for number in range(count):
        lines += ["META_START", f"OBJECT_NAME = RING {number + 1}", "CENTER_NAME = EARTH"]
        lines += ["REF_FRAME = TEME", "TIME_SYSTEM = UTC", "META_STOP"]
        for minute in range(20):
            angle = 2 * math.pi * number / count + rate * 60 * minute
            cosine, sine = math.cos(angle), math.sin(angle)
            numbers = [radius_km * cosine, radius_km * sine, 0.0]
            numbers += [-radius_km * rate * sine, radius_km * rate * cosine, 0.0]
            words = " ".join(f"{value:.9f}" for value in numbers)
            lines.append(f"2024-01-01T00:{minute:02}:00 {words}")
    return "\n".join(lines)


def ring(source: str, count: int, links: dict[str, Any], folder: Path) -> Any:
    """Satellites at about 550 km from each source of positions."""
    pattern: dict[str, Any] = {
        "kind": "delta",
        "planes": 1,
        "satellites_per_plane": count,
        "altitude": "550 km",
        "inclination": "53 deg",
        "phasing": 0,
    }
    names = [f"1-{number + 1}" for number in range(count)]
    if source != "pattern":
        text = elements(count, 15.05) if source == "elements" else ephemeris(count, 6928.137)
        (folder / "ring").write_text(text, encoding="utf-8")
        pattern = {"kind": source, "file": str(folder / "ring")}
        names = [f"RING {number + 1}" for number in range(count)]
    if links.get("kind") == "given":
        links = {"given": [list(pair) for pair in pairwise([*names, names[0]])]}
    elif links.get("kind") == "listed":
        pairs = [f"{number} {(number + 1) % count}" for number in range(count)]
        (folder / "isls").write_text("\n".join(pairs), encoding="utf-8")
        links = {"file": str(folder / "isls")}
    if source == "elements" and links.get("kind") == "grid":
        pattern["planes"] = 1
    return as_constellation({"pattern": pattern, "links": links, "earth": {"epoch": EPOCH}})


KINDS = [
    ("pattern", {"kind": "ring"}),
    ("pattern", {"kind": "grid"}),
    ("pattern", {"kind": "given"}),
    ("pattern", {"kind": "nearest", "count": 2}),
    ("elements", {"kind": "ring"}),
    ("elements", {"kind": "grid"}),
    ("elements", {"kind": "given"}),
    ("elements", {"kind": "listed"}),
    ("elements", {"kind": "nearest", "count": 2}),
    ("ephemeris", {"kind": "ring"}),
    ("ephemeris", {"kind": "given"}),
    ("ephemeris", {"kind": "listed"}),
    ("ephemeris", {"kind": "nearest", "count": 2}),
]


@pytest.mark.parametrize(("source", "links"), KINDS)
def test_no_link_passes_through_the_earth_whatever_asks_for_it_and_moves_its_ends(
    source: str, links: dict[str, Any], tmp_path: Path
) -> None:
    # r cos(angle / 2), r = 6928 km: 6000 km for six satellites, 6580 km for ten.
    six = look(ring(source, 6, links, tmp_path), [], at_ps=300 * SECOND)
    assert six.links == ()
    assert six.validity.links.asked_for >= 6
    assert all(link.is_never for link in six.validity.links.links)
    lowest = max(link.worst_km for link in six.validity.links.links)
    assert lowest == pytest.approx(6928 * math.cos(math.pi / 6) - RADIUS_KM, abs=15)
    assert len(six.validity.shortcomings) == 1
    ten = look(ring(source, 10, links, tmp_path), [], at_ps=300 * SECOND)
    assert len(ten.links) == 10
    assert ten.validity.shortcomings == ()
    # Ten reach down to about 211 km.
    for clearance, expected in (("190 km", 10), ("230 km", 0)):
        higher = ring(source, 10, {**links, "clearance": clearance}, tmp_path)
        if links["kind"] in ("given", "listed"):
            higher = ring(source, 10, links, tmp_path).with_values({"links.clearance": clearance})
        assert len(look(higher, [], at_ps=300 * SECOND).links) == expected


def test_links_are_those_whose_line_clears_the_earth_at_each_moment() -> None:
    # Against plain vectors: the nearest point of the line between two positions.
    values: dict[str, Any] = {
        "pattern": {
            "kind": "delta",
            "planes": 6,
            "satellites_per_plane": 8,
            "altitude": "900 km",
            "inclination": "70 deg",
            "phasing": 1,
        },
        "links": {"kind": "grid", "seam": "closed", "clearance": "50 km"},
    }
    sky = as_constellation(values)
    number = {name: place for place, name in enumerate(sky.satellites)}
    free = look(
        as_constellation({**values, "pattern": {**values["pattern"], "altitude": "50000 km"}}), []
    )
    pairs = [(number[a], number[b]) for a, b in free.links]
    assert len(pairs) == 96
    exists_at_times = set()
    for minute in range(0, 110, 10):
        at = positions_km(sky, [minute * 60 * SECOND])[0]
        expected = set()
        for a, b in pairs:
            line = [at[a] + share * (at[b] - at[a]) for share in np.linspace(0, 1, 2001)]
            if np.linalg.norm(line, axis=1).min() >= RADIUS_KM + 50:
                expected.add((a, b))
        found = look(sky, [], at_ps=minute * 60 * SECOND).links
        assert {(number[a], number[b]) for a, b in found} == expected
        exists_at_times.add(len(expected))
    assert len(exists_at_times) > 1
    # Over an orbit: some exist at times, and as often as at the moments that are looked at.
    known = absent_links(sky, 0, 109 * 60 * SECOND)
    assert (known.asked_for, known.looks) == (96, 61)
    at_times = [link for link in known.links if not link.is_never]
    assert at_times
    times_ps = [109 * 60 * SECOND * look // 60 for look in range(61)]
    a, b = (number[end] for end in at_times[0].ends)
    at = positions_km(sky, times_ps)
    middle = np.linalg.norm((at[:, a] + at[:, b]) / 2, axis=1)  # both ends are on one sphere
    assert int((middle < RADIUS_KM + 50).sum()) == at_times[0].absent
    assert any("at some moments" in note for note in known.notes)


def test_links_that_are_too_long_are_reported_as_such() -> None:
    values = {"preset": "iridium-like", "links": {"max_length": "4000 km"}}
    known = absent_links(as_constellation(values), 0, 0)
    in_plane = [
        link for link in known.links if link.ends[0].split("-")[0] == link.ends[1].split("-")[0]
    ]
    assert {link.obstacle for link in known.links} == {"length"}
    # 2 x 7158.137 km x sin(180/11 deg)
    assert [link.worst_km for link in in_plane] == pytest.approx([4033.3] * 66, abs=0.1)


@pytest.mark.parametrize("name", list(constellations()))
def test_every_link_of_a_preset_exists(name: str) -> None:
    sky = as_constellation(name)
    assert absent_links(sky, 0, 6000 * SECOND).links == ()


def test_a_path_takes_no_link_through_the_earth_and_the_refusal_names_them(tmp_path: Path) -> None:
    places = [Place("a", 10, -95), Place("b", -10, 80)]
    sky = ring("elements", 6, {"kind": "ring"}, tmp_path).with_values({"ground.access": "any"})
    found = series(sky, places, [(0, 1)], duration_ps=60 * SECOND)
    assert {interval.satellites for interval in found.intervals} == {()}
    (tmp_path / "sky.toml").write_text(
        f'[pattern]\nkind = "elements"\nfile = "ring"\n[earth]\nepoch = "{EPOCH}"\n'
        '[links]\nkind = "ring"\n[ground]\naccess = "any"\n',
        encoding="utf-8",
    )
    with pytest.raises(ScenarioFaults) as caught:
        path_steps(
            "sky.toml",
            "10,-95",
            "-10,80",
            folder=tmp_path,
            start_ps=0,
            step_ps=SECOND,
            steps=10,
        )
    assert "RING 2 to RING 3" in caught.value.faults[0].got
    arguments = ["orbit", "path", str(tmp_path / "sky.toml"), "10,-95", "-10,80", "--json"]
    reported = CliRunner().invoke(main, arguments)
    assert reported.exit_code == 1
    assert json.loads(reported.stdout)["absent_links_count"] == 6
    assert "RING 2 to RING 3" in reported.stderr
