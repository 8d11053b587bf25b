"""Exercises of the workbench: scenarios to play with, and questions whose answers runs decide.

An answer is never written down: it is what runs of the exercise's own scenario come to.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from skycell.scenario import Scenario, parse


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Question(_Part):
    """One question.

    Attributes:
        text: what is asked.
        kind: `value`: a number of a run; `which`: the variant with the greatest or least of it.
        measure: a response of sweeps.
        variants: what is set in the scenario, by the variant's name; a `value` has one.
        order: of a `which`.
        tolerance: part of the value by which an answer may be off; of a `value`.
        why: what is said once it is answered.
    """

    text: str
    kind: Literal["value", "which"]
    measure: str
    variants: dict[str, dict[str, Any]]
    order: Literal["greatest", "least"] = "greatest"
    tolerance: float = 0.05
    why: str


class Exercise(_Part):
    """A scenario to play with, and questions on it.

    Attributes:
        id: its name in addresses.
        title: what it is about.
        text: what to do, in a few sentences.
        scenario: TOML text.
        questions: in their order.
    """

    id: str
    title: str
    text: str
    scenario: str
    questions: tuple[Question, ...]

    def parsed(self, settings: Mapping[str, Any] | None = None) -> Scenario:
        """The scenario, with a variant's settings."""
        return parse(self.scenario, self.id, values=settings or None)


@dataclass(frozen=True)
class Grade:
    """How a question was answered.

    Attributes:
        is_right: whether the answer is that of the runs.
        answer: that of the runs, in words.
        values: the measure of each variant.
        why: the reason.
    """

    is_right: bool
    answer: str
    values: Mapping[str, float]
    why: str


@cache
def exercises() -> tuple[Exercise, ...]:
    """Those that come with the package, in the order of their files' names."""
    folder = files("skycell.lab") / "exercises"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".toml")), key=str)
    return tuple(Exercise.model_validate(tomllib.loads(file.read_text("utf-8"))) for file in found)


@cache
def _values(exercise_id: str, number: int) -> Mapping[str, float]:
    from skycell.lab.runs import finished
    from skycell.measures.responses import measure
    from skycell.measures.run_view import SweepView
    from skycell.metrics.network import Network

    exercise = next(one for one in exercises() if one.id == exercise_id)
    question = exercise.questions[number]
    found: dict[str, float] = {}
    for name, settings in question.variants.items():
        result = finished(exercise.parsed(settings), None)
        view = SweepView(result.records, Network.of(result.spec), "delivered_over_duration")
        value = measure(question.measure, view)
        if value is None:
            raise ValueError(f"{exercise_id}: {question.measure} is nothing in {name}")
        found[name] = value
    return found


def grade(exercise: Exercise, number: int, answer: str) -> Grade:
    """How an answer to a question compares with the runs.

    Args:
        exercise: one of `exercises`.
        number: of the question, from 0.
        answer: a number, or the name of a variant.
    """
    question = exercise.questions[number]
    values = _values(exercise.id, number)
    if question.kind == "which":
        of = max if question.order == "greatest" else min
        right = of(values, key=values.__getitem__)
        return Grade(answer.strip() == right, right, values, question.why)
    (value,) = values.values()
    try:
        is_right = abs(float(answer) - value) <= question.tolerance * abs(value)
    except ValueError:
        is_right = False
    return Grade(is_right, f"{value:.3g}", values, question.why)
