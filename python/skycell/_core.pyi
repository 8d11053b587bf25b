"""The compiled part of skycell, crate `skycell-border`: where Rust and Python meet."""

from collections.abc import Callable
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

def validate(spec_json: str) -> None:
    """Refuse a spec that no engine could run.

    Args:
        spec_json: the JSON form of a `NetworkSpec`.

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

def run(
    spec_json: str,
    engine: str,
    on_progress: Callable[[int], bool] | None = None,
) -> tuple[str, dict[str, dict[str, NDArray[np.generic]]]]:
    """Simulate one run. Other Python threads go on meanwhile, and Ctrl-C is heard.

    Args:
        spec_json: the JSON form of a `NetworkSpec`.
        engine: "fast" or "reference".
        on_progress: called with the simulated time in picoseconds about every 0.1 s of wall time;
            returning False cancels the run.

    Returns:
        The records as JSON, and the traces the spec asked for: name -> column -> array, all columns
        of one trace of the same length, rows in order of time. The arrays are the engine's own
        memory.

    Raises:
        SpecError: the spec cannot be run.
        RunError: the run failed.
        RunCancelled: `on_progress` gave it up.
        ValueError: no engine of that name.
        KeyboardInterrupt: Ctrl-C was pressed.
    """
