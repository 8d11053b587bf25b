"""Constellations as other simulators write them: Hypatia's folders, StarryNet's configuration.

Sources: Hypatia (github.com/snkas/hypatia), satgenpy: `read_tles.py`, `read_ground_stations.py`,
`generate_description.py`, `generate_plus_grid_isls.py`; StarryNet
(github.com/SpaceNetLab/StarryNet): `config.json` and `sn_observer.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from skycell.input.account import Account, Assumed, LeftAside
from skycell.input.faults import Fault, ScenarioFaults, show_value
from skycell.input.text import read_text
from skycell.orbit.elements import parse_elements

_HYPATIA = "tles.txt"
#: Files of ground stations, the one with Cartesian coordinates first.
_STATIONS = ("ground_stations.txt", "ground_stations.basic.txt")
_LENGTH = re.compile(r"(max_gsl_length_m|max_isl_length_m)\s*=\s*([0-9]+(?:\.[0-9]*)?)\s*")
#: StarryNet's signals go at this part of the speed of light, `sn_observer.py`.
_STARRYNET_LIGHT_KM_S = 17.31 / 29.5 * 299_792.458


def folder_of(path: Path) -> Path:
    """The folder that the names in a foreign constellation are relative to."""
    return path if path.is_dir() else path.parent


def is_foreign(path: Path) -> bool:
    """Whether a path is a folder that another simulator has written."""
    return path.is_dir() and (path / _HYPATIA).exists()


def foreign_values(path: Path) -> tuple[dict[str, Any], Account] | None:
    """What a constellation file would say, and what is left aside; None for nothing foreign.

    Raises:
        ScenarioFaults: what is foreign has faults.
        OSError: a file cannot be read.
    """
    if is_foreign(path):
        return _hypatia(path)
    if path.suffix == ".json":
        return _starrynet(path)
    return None


def _hypatia(folder: Path) -> tuple[dict[str, Any], Account]:
    """Hypatia's folder: elements, links, ground stations, and the longest links of either kind."""
    first = parse_elements(read_text(folder / _HYPATIA), str(folder / _HYPATIA))[0]
    epoch = datetime.fromtimestamp(first.epoch_unix_s, UTC)
    links: dict[str, Any] = {}
    ground: dict[str, Any] = {"access": "any"}
    read = [_HYPATIA]
    aside = []
    if (folder / "isls.txt").exists():
        links["file"] = "isls.txt"
        read.append("isls.txt")
    for name in _STATIONS:
        if (folder / name).exists():
            ground["places"] = name
            read.append(name)
            break
    if (folder / "description.txt").exists():
        read.append("description.txt")
        unread = []
        for line in read_text(folder / "description.txt").splitlines():
            found = _LENGTH.fullmatch(line.strip())
            if found:
                key, metres = found.groups()
                table, own = (links, "max_length") if "isl" in key else (ground, "max_range")
                table[own] = f"{float(metres) / 1000:.9f} km"
            elif line.strip():
                unread.append(line.partition("=")[0].strip())
        if unread:
            aside.append(LeftAside("setting", len(unread), tuple(unread)))
    others = sorted(file.name for file in folder.iterdir() if file.name not in read)
    if others:
        aside.append(LeftAside("other file", len(others), tuple(others)))
    epoch_text = epoch.isoformat()
    assumed = Assumed("epoch", f"Time 0 is the epoch of the first set, {epoch_text}.", "file")
    account = Account(
        str(folder), "folder of Hypatia's", {"files": len(read)}, None, tuple(aside), (assumed,)
    )
    return {
        "pattern": {"kind": "elements", "file": _HYPATIA},
        "links": links,
        "ground": ground,
        "earth": {"epoch": epoch_text},
    }, account


def _starrynet(path: Path) -> tuple[dict[str, Any], Account]:
    """StarryNet's `config.json` of either age."""
    try:
        read = json.loads(read_text(path))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ScenarioFaults([Fault(str(path), "", str(error), "JSON")]) from None
    faults: list[Fault] = []
    if not isinstance(read, Mapping):
        read = {}
    shells = read.get("Shells", [read])
    if not isinstance(shells, Sequence) or len(shells) != 1 or not isinstance(shells[0], Mapping):
        got = f"{len(shells)} shells" if isinstance(shells, list) else show_value(shells)
        allowed = "one shell: each is a constellation of its own"
        raise ScenarioFaults([Fault(str(path), "Shells", got, allowed, "satellites")])
    shell = shells[0]
    used = {"Shells", "Name"}

    def number(table: Mapping[str, Any], *keys: str) -> float:
        key = next((key for key in keys if key in table), keys[0])
        used.add(key)
        found = table.get(key)
        if isinstance(found, bool) or not isinstance(found, int | float):
            got = "nothing" if found is None else show_value(found)
            faults.append(Fault(str(path), key, got, "a number", "StarryNet's configuration"))
            return 0
        return found

    planes = int(number(shell, "Orbits", "# of orbit"))
    each = int(number(shell, "Satellites per orbit", "# of satellites"))
    altitude = number(shell, "Altitude (km)")
    inclination = number(shell, "Inclination")
    phasing = int(number(shell, "Phase shift"))
    mask = number(read, "antenna elevation angle", "antenna_inclination_angle")
    if faults:
        raise ScenarioFaults(faults)
    unread = sorted({str(key) for key in (*read, *shell)} - used)
    aside = (LeftAside("key", len(unread), tuple(unread)),) if unread else ()
    account = Account(str(path), "configuration of StarryNet's", {"keys": len(used)}, None, aside)
    # Its grid links the last plane to the first one place by place, whatever the phasing.
    seam = [[f"{planes}-{s + 1}", f"1-{s + 1}"] for s in range(each)] if planes > 2 else []
    return {
        "title": str(read.get("Name") or path.name),
        "pattern": {
            "kind": "delta",
            "planes": planes,
            "satellites_per_plane": each,
            "altitude": f"{altitude} km",
            "inclination": f"{inclination} deg",
            "phasing": phasing,
        },
        "links": {"kind": "grid", "given": seam},
        "earth": {"shape": "sphere", "light_speed": f"{_STARRYNET_LIGHT_KM_S:.6f} km/s"},
        "ground": {"mask": f"{mask} deg", "access": "nearest"},
    }, account
