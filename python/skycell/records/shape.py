"""The shape of a run's records: which keys are there, and of what kind, for a given network."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from skycell.spec.declared.network import NetworkSpec

_BELOW = 2**64
_LATER = {"closings", "closing_ps"}
"""Keys that records of version 0.1 do not have; whoever reads them does without."""


def faults_of_shape(records: Any, spec: NetworkSpec) -> Iterator[str]:
    """What of some records is not as the engine would write them, each fault with its key.

    The engine itself says what belongs there: it runs the network for a picosecond. What it leaves
    out then, such as the delays of what has not arrived yet, is not held against the records.

    Args:
        records: of a run, as read from a file.
        spec: the run's network.

    Raises:
        SpecError: the engine does not run such a network.
    """
    from skycell import _core
    from skycell.spec.columns import columns_of

    records_of = spec.records.model_copy(update={"traces": ()})
    shortest = {"duration_ps": 1, "measure_from_ps": 0, "records": records_of}
    spec_json = spec.model_copy(update=shortest).canonical_json()
    usual = json.loads(_core.run(spec_json, "fast", None, columns_of(spec))[0])
    yield from _faults(usual, records, "")


def _faults(usual: Any, found: Any, path: str) -> Iterator[str]:
    if isinstance(usual, Mapping):
        if not isinstance(found, Mapping):
            yield f"{path or 'the file'} is no table"
            return
        for key, value in usual.items():
            place = f"{path}.{key}" if path else key
            if key in found:
                yield from _faults(value, found[key], place)
            elif key not in _LATER:
                yield f"{place} is not there"
    elif isinstance(usual, list):
        if not isinstance(found, list):
            yield f"{path} is no list"
        elif usual and isinstance(usual[0], Mapping):
            if len(usual) != len(found):
                yield f"{path} has {len(found)} entries, and the network {len(usual)}"
            for place, (value, one) in enumerate(zip(usual, found, strict=False)):
                yield from _faults(value, one, f"{path}[{place}]")
    elif _is_number(usual):
        if not _is_number(found) or not -_BELOW < found < _BELOW:  # nor NaN
            yield f"{path} is no number that a run counts"
        elif isinstance(usual, int) and not isinstance(found, int):
            yield f"{path} is no whole number"
    elif usual is not None and type(usual) is not type(found):
        yield f"{path} is of another kind than {json.dumps(usual)[:40]}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
