"""Which option suits a link: an answer from stored runs that are near, or from runs of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Unpack

from skycell.experiment.advice import AIMS, SPLIT, TCPS, Question, plan_of
from skycell.experiment.batch import MakeOptions
from skycell.experiment.ranking import Aim
from skycell.experiment.result import SweepResult
from skycell.experiment.store import RunStore
from skycell.experiment.sweep import sweep
from skycell.studies.category_advice import compare_categories, refusal
from skycell.studies.settings import Difference, Setting, differences, is_near
from skycell.studies.stored import CATEGORY_AIMS, Choice, StoredResult, nearest, settings_with

Rests = Literal["auto", "stored", "runs"]
"""What an answer may rest on: stored runs if they are near, stored runs, runs of its own."""


@dataclass(frozen=True)
class Answer:
    """What an answer rests on.

    Attributes:
        choice: what is chosen.
        setting: that was asked for.
        result: the runs of all options.
        stored: the experiment that these are of; none for runs in the setting itself.
        nearest: the stored experiment that is nearest; none if there is none with this traffic.
        differences: factor by factor to the nearest.
        refused: why there are no runs in the setting itself, where it was not possible.
    """

    choice: Choice
    setting: Setting
    result: SweepResult
    stored: StoredResult | None
    nearest: StoredResult | None
    differences: tuple[Difference, ...]
    refused: str = ""

    @property
    def outside(self) -> tuple[Difference, ...]:
        """The factors of which the question asks for more or less than all that is stored."""
        return tuple(difference for difference in self.differences if difference.is_outside)

    @property
    def not_stored(self) -> tuple[str, ...]:
        """The TCPs that runs of just this link would have, and the stored runs do not."""
        if self.stored is None or self.choice != "queue":
            return ()
        known = self.stored.result.factors["tcp"]
        return tuple(name for name in (*TCPS, SPLIT) if name not in known)


class CannotAnswerError(ValueError):
    """There is neither a stored experiment nor a network for the question; the message says why."""


def aims_of(choice: Choice) -> Mapping[str, Aim]:
    """What may matter, by the word for it."""
    return AIMS if choice == "queue" else CATEGORY_AIMS


def setting_of(question: Question) -> Setting:
    """The setting that a question is about."""
    return Setting(
        float(question.rate.amount),
        float(question.rtt.amount) / 1e12,
        question.users,
        question.traffic,
        question.loss,
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

    With `auto` a stored experiment that is near in every factor comes first, then runs; of these
    the store may have some, or all.

    Args:
        choice: what is chosen.
        question: the link, its users, what matters.
        rests: what the answer may rest on.
        least: replications that a stored experiment must have to be taken with `auto`.
        engine: that simulates.
        store: where runs are kept and looked up.
        options: of `Batch.make`.

    Raises:
        CannotAnswerError: nothing is stored for this traffic, or the network of the categories
            cannot have the setting.
        ScenarioFaults: the network cannot have the setting.
    """
    setting = setting_of(question)
    found = nearest(choice, setting)
    apart: tuple[Difference, ...] = ()
    if found is not None:
        apart = differences(setting, found.setting, settings_with(choice, setting.traffic))
    refused = (refusal(setting) if choice == "category" else None) or ""
    if rests == "runs" and refused:
        raise CannotAnswerError(f"this network has {refused}")
    near = found is not None and is_near(apart) and found.result.replications >= least
    if found is not None and (rests == "stored" or (rests == "auto" and (near or refused))):
        return Answer(choice, setting, found.result, found, found, apart, "" if near else refused)
    if rests == "stored" or refused:
        also = f", and the network has {refused}" if refused else ""
        raise CannotAnswerError(f"no stored experiment has {setting.traffic} traffic{also}")
    if choice == "category":
        made = compare_categories(
            setting, question.replications, engine=engine, store=store, **options
        )
    else:
        made = sweep(plan_of(question), engine=engine, store=store, **options)
    return Answer(choice, setting, made, None, found, apart)
