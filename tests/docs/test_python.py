"""The page of the Python front has every public name, as the code has it."""

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

import skycell
from skycell.experiment.result import SweepResult
from skycell.stats import Analysis
from skycell.studies import Reproduction
from tests.docs.pages import DOCS, blocks

PAGE = DOCS / "reference" / "python.md"
TEXT = PAGE.read_text(encoding="utf-8")

#: What functions of the front hand back.
RESULTS = (Analysis, Reproduction, SweepResult)
PUBLIC = {name: getattr(skycell, name) for name in skycell.__all__} | {
    result.__name__: result for result in RESULTS
}
FUNCTIONS = [name for name, value in PUBLIC.items() if inspect.isfunction(value)]

#: Modules of bases whose members are those of the class that users are handed.
INHERITED = ("skycell.spec.methods", "skycell.stats.findings")

#: Names that a module has for another's.
_SAME = {"FilePath": "Path"}

Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Stub:
    """What a block of the page says of a name, and the line behind which each part is told."""

    definition: Definition
    lines: list[str]


def stubs() -> Iterator[Stub]:
    for block in blocks(PAGE):
        if block.language == "pyi":
            for node in ast.parse(block.text).body:
                assert isinstance(node, Definition), f"line {block.line + node.lineno - 1}"
                yield Stub(node, block.text.splitlines())


STUBS = {stub.definition.name: stub for stub in stubs()}


def source_of(value: object) -> Definition:
    (node,) = ast.parse(textwrap.dedent(inspect.getsource(value))).body  # type: ignore[arg-type]
    assert isinstance(node, Definition)
    return node


def text(node: ast.AST | None) -> str:
    """A signature's part as it is written, under the names that users have."""
    names = r"\b(" + "|".join(_SAME) + r")\b"
    return "" if node is None else re.sub(names, lambda m: _SAME[m[0]], ast.unparse(node))


def signature(node: ast.FunctionDef) -> str:
    return f"({text(node.args)}) -> {text(node.returns)}"


def members(node: ast.ClassDef) -> dict[str, str]:
    """Attributes with their types, and methods with their signatures, of what a user is handed."""
    found: dict[str, str] = {}
    for part in node.body:
        if isinstance(part, ast.AnnAssign):
            found[text(part.target)] = text(part.annotation)
        elif isinstance(part, ast.FunctionDef):
            decorators = {text(decorator) for decorator in part.decorator_list}
            if part.name == "__init__":
                found |= {
                    own.target.attr: text(own.annotation)
                    for own in part.body
                    if isinstance(own, ast.AnnAssign) and isinstance(own.target, ast.Attribute)
                }
            elif decorators & {"property", "cached_property"}:
                found[part.name] = text(part.returns)
            elif "classmethod" not in decorators:
                found[part.name] = signature(part)
    return {name: reported for name, reported in found.items() if not name.startswith("_")}


def members_of(public: Any) -> dict[str, str]:
    """Those of a class, and of the bases that it has of its own."""
    found: dict[str, str] = {}
    for base in public.__mro__:
        if base is public or base.__module__ in INHERITED:
            part = source_of(base)
            assert isinstance(part, ast.ClassDef)
            found |= members(part)
    return {name: shown.replace("Self", public.__name__) for name, shown in found.items()}


def untold(stub: Stub) -> list[str]:
    """Parameters and members without a word behind them; parameters speak for their method."""
    parts: list[ast.AnnAssign | ast.FunctionDef | ast.arg] = []
    for node in ast.walk(stub.definition):
        if isinstance(node, ast.AnnAssign):
            parts.append(node)
        elif isinstance(node, ast.FunctionDef):
            inputs = [part for part in ast.walk(node.args) if isinstance(part, ast.arg)]
            parts += [part for part in inputs if part.arg != "self"] or [node]
    return [text(part) for part in parts if "  # " not in stub.lines[part.lineno - 1]]


def test_every_public_name_is_on_the_page_and_no_other() -> None:
    assert sorted(STUBS) == sorted(PUBLIC)


@pytest.mark.parametrize("name", PUBLIC)
def test_what_the_page_says_of_a_name_is_what_the_code_has(name: str) -> None:
    reported, is_so = STUBS[name].definition, source_of(PUBLIC[name])
    if isinstance(reported, ast.FunctionDef):
        assert isinstance(is_so, ast.FunctionDef)
        assert signature(reported) == signature(is_so)
    else:
        assert members(reported) == members_of(PUBLIC[name])


@pytest.mark.parametrize("name", PUBLIC)
def test_every_parameter_and_member_is_told_what_it_is(name: str) -> None:
    assert untold(STUBS[name]) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_error_that_a_function_names_is_in_its_section(name: str) -> None:
    function: Callable[..., object] = PUBLIC[name]
    (section,) = [part for part in TEXT.split("\n## ") if f"\ndef {name}(" in part]
    raises = (inspect.getdoc(function) or "").partition("Raises:\n")[2].partition("\n\n")[0]
    errors = re.findall(r"^ {4}([\w.]+):", raises, re.MULTILINE)
    assert [error for error in errors if f"`{error}`" not in section] == []


def test_every_section_has_an_example_that_runs() -> None:
    for section in TEXT.split("\n## ")[1:]:
        assert "```pycon\n>>> " in section, section.partition("\n")[0]
