"""Compares the specs that scenarios resolve to after a change with those before it.

    python tools/spec_hashes.py write FILE
    python tools/spec_hashes.py compare FILE

The specs are those of each example, each sweep of the examples, each preset, each conformance
vector, each scenario of `every-table.toml` and one replication of each cell of each study. `write`
writes their hashes to FILE. `compare` prints the differences from FILE.

Exits with 0 if all is the same, with 1 if something differs, with 2 for faulty input.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skycell.experiment.file import load_plan
from skycell.experiment.plan import design_runs
from skycell.experiment.runs import PlannedRuns
from skycell.scenario.presets import presets
from skycell.scenario.scenario import load, parse
from skycell.studies.library import STUDY_IDS, select
from skycell.studies.plan import plan_runs

ROOT = Path(__file__).parents[1]
SCENARIOS = ("examples/*.toml", "conformance/*/scenario.toml")
EVERY_TABLE = Path("tests/unit/scenario/every-table.toml")
"""A file of scenarios, one a table."""
BASE = "icccn97-wan"
"""Preset of the network for presets of TCP alone."""
MOST_SHOWN = 20
"""Differences that are printed; the others are counted."""


def main(arguments: Sequence[str]) -> int:
    """Writes or compares, as the arguments say."""
    match arguments:
        case ["write", file]:
            Path(file).write_text(json.dumps(dict(hashes()), indent=0), encoding="utf-8")
            return 0
        case ["compare", file]:
            return compare(json.loads(Path(file).read_text(encoding="utf-8")), dict(hashes()))
    print(__doc__, file=sys.stderr)
    return 2


def compare(before: Mapping[str, str], after: Mapping[str, str]) -> int:
    """Prints the differences; 1 if there are any."""
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    for name in names[:MOST_SHOWN]:
        print(f"{name}: {before.get(name, 'missing')} -> {after.get(name, 'missing')}")
    print(f"{len(after)} hashes, {len(names)} differ")
    return int(bool(names))


def hashes() -> Iterator[tuple[str, str]]:
    """The hash of each spec, by its name."""
    for pattern in SCENARIOS:
        for path in sorted(ROOT.glob(pattern)):
            yield str(path.relative_to(ROOT)), load(path).resolve().hash()
    for name, preset in presets().items():
        is_whole = "topology" in preset.values()
        values = {"preset": name} if is_whole else {"preset": BASE, "tcp": {"preset": name}}
        yield f"preset {name}", parse(values).resolve().hash()
    for name, values in tomllib.loads((ROOT / EVERY_TABLE).read_text(encoding="utf-8")).items():
        yield (
            f"{EVERY_TABLE}: {name}",
            parse(values, folder=(ROOT / EVERY_TABLE).parent).resolve().hash(),
        )
    for path in sorted((ROOT / "examples" / "sweeps").glob("*.toml")):
        design = design_runs(load_plan(path, replications=1))
        yield from _of_cells(str(path.relative_to(ROOT)), design.runs)
    for study in STUDY_IDS:
        yield from _of_cells(study, plan_runs(select([study]), 1, 1, {}, jobs=1))


def _of_cells(name: str, runs: PlannedRuns[Any]) -> Iterator[tuple[str, str]]:
    for cell, replications in runs.of_cell.items():
        yield f"{name}: {cell}", " ".join(run.spec_hash for own in replications for run in own)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
