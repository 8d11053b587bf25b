"""Results of studies that come with the package: what `skycell advise` answers from without a run.

Each is a file `stored.csv` in the folder of its study, with a row per run: its tables, levels of
the settings and of the options, replication, the first 12 digits of the hash of its spec, measures.
`tools/generate.py stored queue` and `stored category` write them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import StringIO
from typing import Any

from skycell.experiment.design import Level
from skycell.experiment.result import SweepResult, SweepRun
from skycell.experiment.subjects import of_default_port
from skycell.measures.responses import is_response
from skycell.studies.compare import Row
from skycell.studies.library import study_folder
from skycell.studies.model import MEANINGS, UNITS
from skycell.studies.settings import Setting, distance
from skycell.studies.sources import SOURCES, Choice, Source

FILE = "stored.csv"
_HASH_DIGITS = 12


@dataclass(frozen=True)
class StoredResult:
    """The runs of a study in one setting.

    Attributes:
        source: the study.
        tables: of the study that have these runs.
        setting: in which they were made.
        result: its options' runs, as those of a sweep.
    """

    source: Source
    tables: tuple[str, ...]
    setting: Setting
    result: SweepResult

    def command(self) -> str:
        """What makes the same runs again."""
        more = f" --replications {self.source.replications}" if self.source.replications else ""
        return f"skycell reproduce {' '.join(self.tables)}{more}"

    def is_like(self, asked: Setting) -> bool:
        """Whether these users do what is asked about, beside the same other traffic."""
        return (self.setting.traffic, self.setting.beside) == (asked.traffic, asked.beside)

    def covers(self, asked: Setting, word: str) -> bool:
        """Whether these are such users, and what matters was measured."""
        return self.is_like(asked) and self.source.aim(word, asked.traffic) is not None


def to_csv(source: Source, rows: Iterable[Row], version: str) -> str:
    """The rows of a study's tables as the file that comes with the package.

    Measures of a part of the network, such as a node, are left out.
    """
    keys = (*source.settings, *source.options)
    known = {name for row in rows for name in row.factors}
    runs: dict[tuple[str, ...], dict[str, Any]] = {}
    tables: dict[tuple[str, ...], dict[str, None]] = {}
    measures: dict[str, None] = {}
    for row in rows:
        if row.table not in source.tables or "node" in row.factors or not source.has(row.factors):
            continue
        measures[row.metric] = None
        levels = {name: str(row.factors[name]) for name in keys if name in known}
        # A replication that leaves its start out has a second run, up to where it is measured from.
        hashes = row.spec_hashes[:: len(row.spec_hashes) // len(row.by_replication)]
        for at, (value, spec) in enumerate(zip(row.by_replication, hashes, strict=True), 1):
            key = (*levels.values(), str(at))
            tables.setdefault(key, {})[row.table] = None
            own = runs.setdefault(key, {**levels, "replication": at, "spec": spec[:_HASH_DIGITS]})
            own[row.metric] = "" if value is None else f"{value:.6g}"
    text = StringIO()
    text.write(f"# skycell {version.partition('+')[0]}, engine fast, seeds from 1\n")
    columns = ["tables", *keys, "replication", "spec", *measures]
    writer = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    writer.writeheader()
    writer.writerows({"tables": " ".join(tables[key]), **own} for key, own in runs.items())
    return text.getvalue()


@cache
def stored_results(choice: Choice) -> tuple[StoredResult, ...]:
    """What comes with the package: a result for each setting of each source."""
    return tuple(found for source in SOURCES[choice] for found in _of_source(source))


def _of_source(source: Source) -> Iterator[StoredResult]:
    text = (study_folder(source.study) / FILE).read_text(encoding="utf-8")
    head, _, table = text.partition("\n")
    version = head.removeprefix("# skycell ").partition(",")[0]
    by_setting: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in csv.DictReader(StringIO(table)):
        by_setting.setdefault(tuple(row[key] for key in source.settings), []).append(row)
    for rows in by_setting.values():
        yield _result(source, rows, version)


def _result(source: Source, rows: Sequence[dict[str, str]], version: str) -> StoredResult:
    setting = source.setting(rows[0])
    others = {"tables", *source.settings, *source.options, "replication", "spec"}
    measures = [key for key in rows[0] if key not in others and any(row[key] for row in rows)]
    runs = tuple(
        SweepRun(
            levels_of(source, row),
            int(row["replication"]),
            int(row["replication"]),
            row["spec"],
            dict(_measured(source, key, row[key]) for key in measures),
            None,
        )
        for row in rows
    )
    tables = dict.fromkeys(name for row in rows for name in row["tables"].split())
    result = result_of(source, runs, measures, setting, version)
    return StoredResult(source, tuple(tables), setting, result)


def levels_of(source: Source, factors: Mapping[str, Any]) -> dict[str, Level]:
    """The levels of a source's options in a row, by their names in an answer."""
    chosen = {
        option.name: _level(option.shown(str(factors[factor])))
        for factor, option in source.options.items()
    }
    return {**source.fixed, **chosen}


def _measured(source: Source, measure: str, text: str) -> tuple[str, float | None]:
    name, times = source.responses.get(measure, (measure, 1.0))
    return name, float(text) * times if text else None


def _level(text: str) -> Level:
    try:
        return float(text)
    except ValueError:
        return text


def result_of(
    source: Source,
    runs: Sequence[SweepRun],
    measures: Iterable[str],
    setting: Setting,
    version: str,
    from_store: int = 0,
) -> SweepResult:
    """The runs of a source's options in a setting, as the result of a sweep."""
    units: dict[str, str] = {}
    meanings: dict[str, str] = {}
    for measure in measures:
        name, times = source.responses.get(measure, (measure, 1.0))
        units[name] = "ms" if times != 1 else UNITS[measure]
        meanings[name] = MEANINGS[name]
    return SweepResult(
        title=f"{source.title}: {setting.in_words()}",
        file=source.study,
        factors={
            name: tuple(dict.fromkeys(run.levels[name] for run in runs)) for name in runs[0].levels
        },
        factor_units=source.units,
        replications=max(run.replication for run in runs),
        first_seed=1,
        common_random_numbers=True,
        units=units,
        engine="fast",
        version=version,
        runs=tuple(runs),
        from_store=from_store or len(runs),
        subjects=dict.fromkeys(of_default_port(filter(is_response, units)), source.port),
        meanings=meanings,
    )


def nearest(choice: Choice, asked: Setting, word: str | None = None) -> StoredResult | None:
    """The stored result whose setting is nearest to a question's; none if no one covers it.

    Args:
        choice: what is chosen.
        asked: the question's setting.
        word: what matters; results are taken whatever they measure if not given.
    """
    known = [
        found
        for found in stored_results(choice)
        if (found.is_like(asked) if word is None else found.covers(asked, word))
    ]
    return min(known, key=lambda found: distance(asked, found.setting), default=None)


def settings_for(choice: Choice, asked: Setting, word: str) -> list[Setting]:
    """The settings of all stored results that cover a question."""
    return [found.setting for found in stored_results(choice) if found.covers(asked, word)]
