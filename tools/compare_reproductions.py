"""Compares what `skycell reproduce … --json` gave before a change with what it gives after it.

    skycell reproduce all --json > before.json
    …
    skycell reproduce all --json > after.json
    python tools/compare_reproductions.py before.json after.json [OLD=NEW …]

Every number, verdict and conclusion has to be the same, to the last digit. Words that a change
renames are given as OLD=NEW and are replaced in the first file. The specs' hashes, which a change
of their form moves, and the wording of evidence are counted, not compared.

Exits with 0 where all is the same, with 1 where something differs, with 2 for faulty input.
"""

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MOST_SHOWN = 20
"""Differences that are written out; the rest is counted."""

NAMES = {"rows": ("study", "table", "factors", "metric"), "conclusions": ("study", "id")}
"""What an entry of each list goes by."""

COUNTED = ("specs", "evidence")
"""Keys whose differences are counted, not refused."""

Result = Mapping[str, Sequence[Mapping[str, Any]]]


def main(arguments: Sequence[str]) -> int:
    """Compares the files that are named."""
    renamed = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    files = [argument for argument in arguments if "=" not in argument]
    if len(files) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    before, after = (Path(file).read_text(encoding="utf-8") for file in files)
    for old, new in renamed.items():
        before = re.sub(rf"\b{re.escape(old)}\b", lambda _, new=new: new, before)
    differences, counts = compare(json.loads(before), json.loads(after))
    print(f"{counts['rows']} rows, {counts['conclusions']} conclusions; ", end="")
    print(f"other specs in {counts['specs']}, other evidence in {counts['evidence']}")
    for difference in differences[:MOST_SHOWN]:
        print(difference)
    if len(differences) > MOST_SHOWN:
        print(f"and {len(differences) - MOST_SHOWN} more")
    print("all the same" if not differences else f"{len(differences)} differences")
    return 1 if differences else 0


def compare(before: Result, after: Result) -> tuple[list[str], dict[str, int]]:
    """Every difference in words, and how many entries there are and differ in what is counted."""
    differences: list[str] = []
    counts = dict.fromkeys((*NAMES, *COUNTED), 0)
    for part in NAMES:
        old, new = _by_name(part, before), _by_name(part, after)
        counts[part] = len(new)
        differences += [f"{part}: {name} is gone" for name in old if name not in new]
        differences += [f"{part}: {name} is new" for name in new if name not in old]
        for name in old.keys() & new.keys():
            for key, values in _unlike(old[name], new[name]):
                if key in COUNTED:
                    counts[key] += 1
                else:
                    differences.append(f"{part}: {name}: {key} {values[0]!r} -> {values[1]!r}")
    return sorted(differences), counts


def _by_name(part: str, result: Result) -> dict[str, Mapping[str, Any]]:
    names = NAMES[part]
    entries = {
        " ".join(json.dumps(e[key], sort_keys=True) for key in names): e for e in result[part]
    }
    if len(entries) != len(result[part]):
        raise ValueError(f"two of the {part} go by one name")
    return entries


def _unlike(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> Iterator[tuple[str, tuple[Any, Any]]]:
    for key in sorted(old.keys() | new.keys()):
        values = old.get(key), new.get(key)
        if values[0] != values[1]:
            yield key, values


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
