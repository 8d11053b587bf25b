"""Python's readers of the types of parameters that Rust declares."""

from collections.abc import Iterable, Iterator
from typing import Any

from declared_text import MARK, Json, quoted

VALUES = "skycell.scenario.values"
BY_HAND = {
    "Times": "distributions",
    "PageInterval": "distributions",
    "Sizes": "distributions",
    "TickPhase": "tcp_types",
    "RetransmitDelay": "tcp_types",
    "DelayedAck": "tcp_types",
}
"""Modules of types that Python reads by hand; `parameter_types` for the others."""


def types_module(declared: Json) -> str:
    """`skycell.scenario.declared.types`: how each type of a parameter is read."""
    lines = [
        f"{name} = Annotated[{_python_type(written)}, {_reader(written)}]"
        for name, written in _written(declared)
    ]
    readers = "FLAG, number, one_of, part, quantity, whole_number"
    return (
        "\n".join(
            [
                '"""The types of parameters of declared rules as people write them.',
                "",
                f'{MARK}\n"""',
                "",
                "from __future__ import annotations",
                "",
                "from typing import Annotated, Literal",
                "",
                f"from skycell.input.parameters import {readers}",
                "from skycell.input.quantities import Dimension, Quantity",
                f"from {VALUES}.cells import amount_held",
                f"from {VALUES}.parameter_types import by_class, by_vc",
                "",
                *lines,
                "",
                "PLAIN: dict[str, Dimension | None] = {",
                *(f'    "{name}": {unit},' for name, unit in _plain(declared)),
                "}",
                '"""Types of which an engine reads the number, or the amount in one dimension."""',
            ]
        )
        + "\n"
    )


def types_imports(names: Iterable[str], declared: Json) -> Iterator[str]:
    """The imports of types, each from the module that has it."""
    generated = {name for name, _ in _written(declared)}
    modules: dict[str, list[str]] = {}
    for name in sorted(names):
        by_hand = f"{VALUES}.{BY_HAND.get(name, 'parameter_types')}"
        module = "skycell.scenario.declared.types" if name in generated else by_hand
        modules.setdefault(module, []).append(name)
    for module, own in modules.items():
        yield f"from {module} import {', '.join(own)}"


def _written(declared: Json) -> Iterator[tuple[str, Json]]:
    """The types whose form is declared, each with its form."""
    for name, written in declared["types"]:
        if written == "flag":
            yield name, {"flag": None}
        elif written not in ("not", "by_hand"):
            yield name, written


def _plain(declared: Json) -> Iterator[tuple[str, str]]:
    """The types of numbers and flags, and of quantities in one unit, with their dimension."""
    for name, written in _written(declared):
        ((form, of),) = written.items()
        if form in ("flag", "whole", "one_of", "number", "part"):
            yield name, "None"
        elif form == "quantity" and len(of["dimensions"]) == 1 and not of["words"]:
            yield name, f"Dimension.{of['dimensions'][0]}"


def _python_type(written: Json) -> str:
    ((form, of),) = written.items()
    if form in ("by_vc", "by_class"):
        return f"dict[str, {_python_type(of)}]"
    words = of["words"] if form == "quantity" else ()
    plain = {"flag": "bool", "whole": "int", "one_of": "int", "number": "float", "part": "float"}
    literal = f" | Literal[{', '.join(map(quoted, words))}]" if words else ""
    return plain.get(form, "Quantity") + literal


def _reader(written: Json) -> str:
    """The reader of a form, as an expression."""
    ((form, of),) = written.items()
    match form:
        case "flag":
            return "FLAG"
        case "by_vc" | "by_class":
            return f"{form}({_reader(of)})"
        case "part":
            return f"part({quoted(of)})"
        case "one_of":
            values, allowed = of
            return f"one_of({tuple(values)}, {quoted(allowed)})"
        case "whole":
            what = [quoted(of["what"])] if of["what"] else []
            return f"whole_number({', '.join([_number(of['low']), _number(of['high']), *what])})"
        case "held":
            low, example = of
            return f"amount_held({quoted(example)}, {low})"
        case "number":
            return f"number({_keywords(of, 'above', 'low', 'high', 'below', 'what')})"
        case "quantity":
            dimensions = ", ".join(f"Dimension.{name}" for name in of["dimensions"])
            rest = _keywords(of, "low", "above", "high", "words", "what", "example")
            return f"quantity({dimensions}, {rest})"
    raise ValueError(f"no form of a value: {form}")


def _keywords(of: Json, *keys: str) -> str:
    """The keywords of a reader, but for those with nothing; a least of 0 is none of a quantity."""
    said = {key: of[key] for key in keys if of[key] not in (None, "", [])}
    if "dimensions" in of and not said.get("low"):
        said.pop("low", None)
    return ", ".join(f"{key}={_shown(value)}" for key, value in said.items())


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(quoted, value))}]"
    return _number(value)


def _number(value: float) -> str:
    """A number as Python has it, thousands apart.

    >>> _number(1000.0), _number(0.5), _number(65536)
    ('1000', '0.5', '65_536')
    """
    if value != int(value):
        return repr(value)
    return f"{int(value):_}" if value >= 10_000 else str(int(value))
