"""Conformance vectors: short runs as plain files (`conformance/README.md`), each checked by hand.

A person writes a vector's scenario and its notes. `make generate` writes what follows from the
scenario without a run. Only `make generate WHAT="vectors NAME..."` writes what a run leaves.
"""

import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import skycell
from skycell.exports.named import named
from tests.structure.tree import ROOT

VECTORS = ROOT / "conformance"
FORM = 2
"""Raised with every change of names or meanings."""

UNCHECKED = "NOT CHECKED since it was rewritten."
"""Stands for the notes on how a vector was checked until somebody has checked it."""

SCENARIO, NETWORK, NOTES = "scenario.toml", "network.json", "notes.txt"
_TRACES = ("sequence", "cwnd", "discards", "acr")
_OF_VC = (
    "cells_offered",
    "cells_discarded",
    "frames_delivered",
    "frames_corrupt",
    "cells_corrupt",
    "abr",
)


def names() -> list[str]:
    """The vectors by name."""
    return sorted(path.parent.name for path in VECTORS.glob(f"*/{SCENARIO}"))


def scenario(name: str) -> Path:
    """The scenario of a vector."""
    return VECTORS / name / SCENARIO


def resolved() -> Iterator[tuple[Path, str]]:
    """The files that follow from the scenarios: networks, and the list of vectors."""
    listed = []
    for name in names():
        about = scenario(name).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
        listed.append({"name": name, "about": about})
        spec = skycell.load(scenario(name)).resolve().canonical_json()
        yield VECTORS / name / NETWORK, f"{json.dumps(json.loads(spec))}\n"
    yield VECTORS / "vectors.json", f"{json.dumps({'form': FORM, 'vectors': listed}, indent=1)}\n"


def run(name: str, engine: str) -> dict[str, str]:
    """Runs a vector.

    Returns:
        The text of each file that the run leaves, by its name; no file for a trace without rows.
    """
    result = skycell.run(skycell.load(scenario(name)), engine=engine)
    files = {}
    for kind in _TRACES:
        if kind in result.traces and not result.traces[kind].is_empty():
            table = io.BytesIO()
            named(result.traces[kind], result.spec).write_csv(table)
            files[f"{kind}.csv"] = table.getvalue().decode()
    return files | {"counts.json": f"{json.dumps(_counts(result), indent=1)}\n"}


def stored(name: str) -> dict[str, str]:
    """The text of each file of a vector that a run left."""
    by_hand = {SCENARIO, NETWORK, NOTES}
    files = [path for path in (VECTORS / name).iterdir() if path.name not in by_hand]
    return {path.name: path.read_text(encoding="utf-8") for path in files}


def notes(name: str) -> str:
    """How a vector was checked; empty if there are no notes."""
    path = VECTORS / name / NOTES
    return path.read_text(encoding="utf-8") if path.exists() else ""


def main(arguments: Sequence[str]) -> int:
    """Writes what runs leave of the vectors that are named, or of `--all`.

    A vector whose run has changed loses its notes: the tests refuse it until somebody has compared
    the new rows with the rules and written there how.
    """
    known = names()
    wanted = known if list(arguments) == ["--all"] else arguments
    unknown = sorted(set(wanted) - set(known))
    if not wanted or unknown:
        print(f"name vectors, or --all: {', '.join(known)}", file=sys.stderr)
        return 2
    for name in wanted:
        before, after = stored(name), run(name, engine="reference")
        if before == after and notes(name):
            print(f"{name}: as before")
            continue
        for file in before.keys() - after.keys():
            (VECTORS / name / file).unlink()
        for file, text in (after | {NOTES: f"{UNCHECKED}\n"}).items():
            (VECTORS / name / file).write_text(text, encoding="utf-8")
        print(f"{name}: rewritten; read it and say in its {NOTES} how it was checked")
    return 0


def _counts(result: skycell.RunResult) -> dict[str, dict[str, Any]]:
    """The counts of a run that are not 0.

    They are those of flows, of VCs that carry data of flows or are of ABR, and of ports with a
    limited buffer.
    """
    spec, records = result.spec, result.records
    data = {spec.vcs[vc].name for flow in spec.flows for vc in flow.forward}
    counts = {
        "flows": {flow["name"]: _above_zero(flow) for flow in records["flows"]},
        "vcs": {
            vc["name"]: _above_zero({key: vc[key] for key in _OF_VC if key in vc})
            for vc in records["vcs"]
            if vc["name"] in data or "abr" in vc
        },
        "ports": {
            port["name"]: _above_zero(
                {
                    "arrived": port["arrived"],
                    "discarded": port["discarded"],
                    "longest_queue": port["queue"]["max"],
                }
            )
            for link, port in zip(spec.links, records["ports"], strict=True)
            if link.port.is_limited
        },
    }
    return {part: rows for part, rows in counts.items() if rows}


def _above_zero(counts: dict[str, Any]) -> dict[str, Any]:
    """Counts without zeros, and without the name that is their key."""
    nested = {
        key: _above_zero(value) if isinstance(value, dict) else value
        for key, value in counts.items()
        if key != "name"
    }
    return {key: value for key, value in nested.items() if value}
