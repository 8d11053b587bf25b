"""The studies that come with the package, and how they are named."""

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from skycell.input.spelling import nearest
from skycell.studies.model import Study, Table

PUBLISHED_IDS = (
    "atmf960518",
    "icccn97",
    "ijsc",
    "atmf970424",
    "compcom99",
    "dfba",
    "bonaventure",
    "atmf970616",
    "atmf980876r1",
    "jsac98",
    "commag99",
    "kaband97",
    "hypatia-network",
)
"""Published studies, in the order in which they are listed and run."""

OWN_IDS = (
    "gfr-schemes",
    "leo-handover",
    "starlink-slots",
    "hypatia-paths",
    "delay-variation",
    "service-categories",
    "link-options",
    "edge",
)
"""Studies of our own."""

STUDY_IDS = (*PUBLISHED_IDS, *OWN_IDS)

ALL = "all"
"""Names every published study."""
OWN = "own"
"""Names every study of our own."""


class UnknownStudyError(Exception):
    """IDs that name no study and no table; the message lists those there are."""

    def __init__(self, unknown: Iterable[str]) -> None:
        self.unknown = tuple(unknown)
        known = known_ids()
        lines = []
        for name in self.unknown:
            near = nearest_id(name)
            hint = f" (did you mean {near}?)" if near else ""
            lines.append(f"no study and no table is called {name!r}{hint}")
        lines.append(f"known are {', '.join(known)}")
        super().__init__("\n".join(lines))


@dataclass(frozen=True)
class Selection:
    """A table that is to be reproduced, with its study."""

    study: Study
    table: Table


def module_name(study_id: str) -> str:
    """What files and modules of a study are called.

    >>> module_name("gfr-schemes")
    'gfr_schemes'
    """
    return study_id.replace("-", "_")


def study_folder(study_id: str) -> Traversable:
    """Folder of a study in the package."""
    return files("skycell.studies") / module_name(study_id)


@cache
def load_study(study_id: str) -> Study:
    """Reads the `study.toml` of a study; the ID must be one of `STUDY_IDS`."""
    text = (study_folder(study_id) / "study.toml").read_text(encoding="utf-8")
    return Study.model_validate(tomllib.loads(text))


@cache
def _tables() -> Mapping[str, Selection]:
    return {
        table.id: Selection(study, table)
        for study in map(load_study, STUDY_IDS)
        for table in study.tables
    }


def known_ids() -> list[str]:
    """Every ID that `select` takes: `all`, `own`, the studies, and their tables."""
    known = [ALL, OWN]
    for study_id in STUDY_IDS:
        tables = [name for name, found in _tables().items() if found.study.id == study_id]
        # A study of one table may go by one name.
        known += [study_id, *(name for name in tables if name != study_id)]
    return known


def nearest_id(name: str) -> str | None:
    """The ID that a wrong one may stand for; none where none is near."""
    return nearest(name, known_ids())


def select(ids: Iterable[str]) -> list[Selection]:
    """The tables that some IDs name, each once, in the order of the library.

    Args:
        ids: of tables, of studies, `all` published ones or `own` ones.

    Raises:
        UnknownStudyError: with every ID that names nothing.
    """
    wanted = list(ids)
    unknown = [name for name in wanted if name not in known_ids()]
    if unknown:
        raise UnknownStudyError(unknown)
    return [
        found
        for name, found in _tables().items()
        if found.study.id in wanted
        or name in wanted
        or (OWN if found.study.is_own else ALL) in wanted
    ]


def table_of(table_id: str) -> Selection:
    """The table of an ID, with its study.

    Raises:
        UnknownStudyError: there is no such table.
    """
    try:
        return _tables()[table_id]
    except KeyError:
        raise UnknownStudyError([table_id]) from None
