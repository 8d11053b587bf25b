"""Which option suits a link: an answer from stored runs that are near, or from runs of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Unpack

from skycell.experiment.advice import SPLIT, TCPS, Question, plan_of
from skycell.experiment.batch import MakeOptions
from skycell.experiment.ranking import Aim
from skycell.experiment.result import SweepResult
from skycell.experiment.store import RunStore
from skycell.experiment.sweep import sweep
from skycell.studies.category_advice import compare_categories, refusal, services_of
from skycell.studies.settings import Difference, Setting, differences, distance, is_near
from skycell.studies.sources import SOURCES, Choice, Source
from skycell.studies.stored import StoredResult, nearest, settings_for

Rests = Literal["auto", "stored", "runs"]
"""What an answer may rest on: stored runs if they are near, stored runs, runs of its own."""


@dataclass(frozen=True)
class Answer:
    """What an answer rests on.

    Attributes:
        choice: what is chosen.
        setting: that was asked for.
        result: the runs of all options.
        aim: what they are ranked by.
        stored: the experiment that these are of; none for runs in the setting itself.
        nearest: the stored experiment that is nearest of those that cover the question; none if no
            one does.
        differences: factor by factor to the nearest.
        nearer: a stored experiment that is nearer, without a measure of what matters.
        refused: why there are no runs in the setting itself, where it was not possible.
    """

    choice: Choice
    setting: Setting
    result: SweepResult
    aim: Aim
    stored: StoredResult | None
    nearest: StoredResult | None
    differences: tuple[Difference, ...]
    nearer: StoredResult | None = None
    refused: str = ""

    @property
    def source(self) -> Source:
        """The study that has these runs, or their network."""
        return SOURCES[self.choice][0] if self.stored is None else self.stored.source

    def chosen(self, levels: Mapping[str, Any]) -> dict[str, Any]:
        """The levels of an option that were compared with others."""
        return {name: own for name, own in levels.items() if name not in self.source.fixed}

    @property
    def outside(self) -> tuple[Difference, ...]:
        """The factors of which the question asks for more or less than all that is stored."""
        return tuple(difference for difference in self.differences if difference.is_outside)

    @property
    def not_stored(self) -> tuple[str, ...]:
        """The options that runs of just this link would have, and the stored runs do not."""
        if self.stored is None:
            return ()
        name, compared = "tcp", (*TCPS, SPLIT)
        if self.choice == "category":
            name, compared = "service", services_of(self.setting)
        known = self.stored.result.factors[name]
        return tuple(level for level in compared if level not in known)


class CannotAnswerError(ValueError):
    """There is neither a stored experiment nor a network for the question; the message says why."""


def setting_of(question: Question) -> Setting:
    """The setting that a question is about."""
    return Setting(
        float(question.rate.amount),
        float(question.rtt.amount) / 1e12,
        question.users,
        question.traffic,
        question.loss,
        question.mss,
        question.beside,
    )


def answer(
    choice: Choice,
    question: Question,
    rests: Rests = "auto",
    *,
    least: int = 2,
    engine: str = "fast",
    store: RunStore | None = None,
    **options: Unpack[MakeOptions],
) -> Answer:
    """Finds the runs that answer a question, or makes them.

    With `auto` a stored experiment that covers the question and is near in every factor comes
    first, then runs; of these the store may have some, or all.

    Args:
        choice: what is chosen.
        question: the link, its users, what matters.
        rests: what the answer may rest on.
        least: replications that a stored experiment must have to be taken with `auto`.
        engine: that simulates.
        store: where runs are kept and looked up.
        options: of `Batch.make`.

    Raises:
        CannotAnswerError: nothing that is stored covers the question, or the network of the runs
            cannot have the setting.
        ScenarioFaults: the network cannot have the setting.
    """
    setting, word = setting_of(question), question.aim
    found = nearest(choice, setting, word)
    apart: tuple[Difference, ...] = ()
    if found is not None:
        apart = differences(setting, found.setting, settings_for(choice, setting, word))
    refused = _refusal(choice, setting, word)
    if rests == "runs" and refused:
        raise CannotAnswerError(f"this network has {refused}")
    near = found is not None and is_near(apart) and found.result.replications >= least
    if found is not None and (rests == "stored" or (rests == "auto" and (near or refused))):
        return Answer(
            choice,
            setting,
            found.result,
            _aim(found.source, word, setting),
            found,
            found,
            apart,
            _nearer(choice, setting, found),
            "" if near else refused,
        )
    if rests == "stored" or refused:
        also = f", and the network has {refused}" if refused else ""
        beside = f" beside {setting.beside.upper()}" if setting.beside != "none" else ""
        raise CannotAnswerError(
            f"no stored experiment has {setting.traffic} traffic{beside} and a measure of "
            f"{word}{also}"
        )
    if choice == "category":
        made = compare_categories(
            setting, question.replications, engine=engine, store=store, **options
        )
    else:
        made = sweep(plan_of(question), engine=engine, store=store, **options)
    aim = _aim(SOURCES[choice][0], word, setting)
    return Answer(choice, setting, made, aim, None, found, apart)


def _refusal(choice: Choice, setting: Setting, word: str) -> str:
    """Why there can be no runs of just this link; empty if there can."""
    reasons = []
    if choice == "category":
        reasons.append(refusal(setting) or "")
    elif setting.beside != "none":
        reasons.append(f"no {setting.beside.upper()} beside its users; --choose category has")
    if SOURCES[choice][0].aim(word, setting.traffic) is None:
        reasons.append(f"no measure of {word} for {setting.traffic} traffic")
    return "; and ".join(filter(None, reasons))


def _aim(source: Source, word: str, setting: Setting) -> Aim:
    aim = source.aim(word, setting.traffic)
    assert aim is not None  # of a source that covers the question
    return aim


def _nearer(choice: Choice, setting: Setting, found: StoredResult) -> StoredResult | None:
    """A stored result that is nearer than the one that covers the question."""
    other = nearest(choice, setting)
    if other is None or distance(setting, other.setting) >= distance(setting, found.setting):
        return None
    return other
