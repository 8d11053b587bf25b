"""One word for one thing: words of `retired.toml` stay out of identifiers."""

import io
import re
import tokenize
import tomllib
from pathlib import Path

import pytest

from tests.structure.tree import CRATES, ROOT, files

RETIRED = tomllib.loads(Path(__file__).with_name("retired.toml").read_text("utf-8"))

PHRASES = ("under_way", "on_the_way")
"""Words that together are plain English."""

SENTENCE = 5
"""Words from which on a name of Rust is a sentence, as tests are called."""

RUST_TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'|(?P<name>[A-Za-z_]\w*)""",
    re.DOTALL,
)
"""Comments and texts, which hold no names, and names."""


def parts_of(name: str) -> str:
    """The words of a name, in lower case and between underscores."""
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)
    return "".join(f"_{word.lower()}" for word in words) + "_"


def retired_in(name: str, words: dict[str, str]) -> str | None:
    """The advice on a retired word that is a part of a name; none without one."""
    found = (f"{word}: now {new}" for word, new in words.items() if f"_{word}_" in parts_of(name))
    return next(found, None)


@pytest.mark.parametrize("folder", ["python", "tests", "tools", "benches"])
def test_no_identifier_of_python_has_a_retired_word(folder: str) -> None:
    found = set()
    for path in files(".py", under=ROOT / folder):
        source = path.read_text(encoding="utf-8")
        tokens = tokenize.generate_tokens(io.StringIO(source).readline)
        names = {token.string for token in tokens if token.type == tokenize.NAME}
        names |= {*path.with_suffix("").parts[-2:]}
        names -= RETIRED["python_keeps"].keys()
        names -= {
            name
            for name, texts in RETIRED["python_keeps_where"].items()
            if any(text in source for text in texts)
        }
        advice = {name: retired_in(name, RETIRED["python"]) for name in names}
        found |= {
            f"{path.name}: {name} ({text})"
            for name, text in advice.items()
            if text and not name.startswith("test_")
        }
    assert found == set()


@pytest.mark.parametrize("crate", CRATES)
def test_no_identifier_of_a_crate_has_a_retired_word(crate: str) -> None:
    kept = RETIRED["rust_keeps"].get(crate, ())
    words = {**RETIRED["rust"], **RETIRED["rust_in"].get(crate, {})}
    words = {word: new for word, new in words.items() if word not in kept}
    types = {name: new for name, new in RETIRED["rust_types"].items() if name not in kept}
    found = set()
    for path in files(".rs", under=ROOT / "crates" / crate):
        source = path.read_text(encoding="utf-8")
        names = {token["name"] for token in RUST_TOKENS.finditer(source) if token["name"]}
        for name in names | {path.stem, path.parent.name}:
            parts = parts_of(name)
            if parts.count("_") > SENTENCE or any(phrase in parts for phrase in PHRASES):
                continue
            if advice := types.get(name) or retired_in(name, words):
                found.add(f"{path.name}: {name} ({advice})")
    assert found == set()
