"""Values given on the command line as KEY=VALUE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skycell.input.faults import FaultCollector


def split_settings(
    texts: Iterable[str],
    faults: FaultCollector,
    option: str = "--set",
    allowed: str = "KEY=VALUE, such as tcp.recovery=reno",
) -> list[tuple[str, str]]:
    """Keys and values as they are written; one without `=`, or with nothing before it, is a fault.

    Args:
        texts: what was given.
        faults: where faults go.
        option: what it was given to.
        allowed: its form.
    """
    found = []
    for text in texts:
        key, equals, value = text.partition("=")
        if equals and key.strip():
            found.append((key.strip(), value))
        else:
            faults.add((option,), text, allowed)
    return found


def read_settings(texts: Iterable[str], faults: FaultCollector) -> dict[str, Any]:
    """What `--set` was given: values by key; one that is no TOML, such as reno or 5 ms, is a text.

    A key that is given several times, in whatever spelling, is a fault.
    """
    from skycell.input.dotted_keys import steps_of
    from skycell.input.faults import Verbatim
    from skycell.input.settings import read_value

    inputs: dict[tuple[str, ...], list[str]] = {}
    settings = split_settings(texts, faults)
    for key, value in settings:
        inputs.setdefault(tuple(steps_of(key)), []).append(f"{key}={value}")
    for several in inputs.values():
        if len(several) > 1:
            meaning = "with several values, all but one would be ignored"
            faults.add(("--set",), Verbatim(" and ".join(several)), "each key once", meaning)
    return {key: read_value(value) for key, value in settings}
