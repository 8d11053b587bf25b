"""Conformance vectors: what TCP senders do on given paths, for others to compare with.

Each golden scenario with TCP becomes a folder of plain files; `conformance/README.md` says what
stands in them.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
VECTORS = ROOT / "conformance"
GOLDEN = ROOT / "tests" / "golden" / "scenarios"
FORM = 1
"""Raised with every change of names or meanings."""


def vectors() -> Iterator[tuple[Path, str]]:
    """The files of every vector, and the list of them."""
    import skycell
    from skycell.exports.named import named

    listed = []
    for scenario in sorted(GOLDEN.glob("*.toml")):
        result = skycell.run(skycell.load(scenario))
        if "sequence" not in result.traces or not result.spec.flows:
            continue
        folder = VECTORS / scenario.stem
        text = scenario.read_text(encoding="utf-8")
        listed.append({"name": scenario.stem, "about": text.partition("\n")[0].removeprefix("# ")})
        yield folder / "scenario.toml", text
        yield folder / "network.json", f"{json.dumps(json.loads(result.spec.canonical_json()))}\n"
        for name in ("sequence", "cwnd", "discards"):
            if name in result.traces:
                table = io.BytesIO()
                named(result.traces[name], result.spec).write_csv(table)
                yield folder / f"{name}.csv", table.getvalue().decode()
        counts = {flow["name"]: flow for flow in result.records["flows"]}
        yield folder / "counts.json", f"{json.dumps(counts, indent=1)}\n"
    yield VECTORS / "vectors.json", f"{json.dumps({'form': FORM, 'vectors': listed}, indent=1)}\n"
