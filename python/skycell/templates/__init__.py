"""Files to begin with: scenarios and a sweep, each with comments on what to change."""

from __future__ import annotations

from importlib.resources import files


def templates() -> dict[str, str]:
    """The text of each template by its name; the first line of each is a comment that says what.

    >>> "geo-terminal" in templates()
    True
    """
    folder = files(__name__)
    found = sorted(
        (entry.name, entry) for entry in folder.iterdir() if entry.name.endswith(".toml")
    )
    return {name.removesuffix(".toml"): entry.read_text("utf-8") for name, entry in found}


def title_of(text: str) -> str:
    """What the first line of a template says of it."""
    return text.partition("\n")[0].removeprefix("# ").strip()
