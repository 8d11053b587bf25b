"""What `skycell advise` shows: the answer, what it rests on, what repeats it."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from skycell.experiment.advice import Question
    from skycell.experiment.ranking import Ranking
    from skycell.experiment.trade_off import TradeOff
    from skycell.studies.advice import Answer


def as_dict(found: Answer, question: Question, ranking: Ranking) -> dict[str, Any]:
    """The answer for programs."""
    from skycell.studies.option_state import state_of
    from skycell.tables.advice import opening

    nearest = found.nearest
    trade = _trade_off(found, ranking)
    return {
        "answer": opening(found, ranking),
        "question": {
            "choose": found.choice,
            "rate": str(question.rate),
            "rtt": str(question.rtt),
            "users": question.users,
            "traffic": question.traffic,
            "loss": question.loss,
            "mss": question.mss,
            "beside": question.beside,
            "matters": question.aim,
            "response": ranking.aim.response,
        },
        "from": "runs" if found.stored is None else "stored",
        "command": command(found, question),
        "replications": ranking.replications,
        "nearest": None
        if nearest is None
        else {
            "study": nearest.source.study,
            "tables": list(nearest.tables),
            "setting": asdict(nearest.setting),
            "differences": [asdict(difference) for difference in found.differences],
        },
        "refused": found.refused,
        "not_stored": list(found.not_stored),
        "nearer_without_it": None
        if found.nearer is None
        else {
            "study": found.nearer.source.study,
            "tables": list(found.nearer.tables),
            "setting": asdict(found.nearer.setting),
        },
        "confidence": ranking.confidence,
        "decides": ranking.decides,
        "best": [dict(option.levels) for option in ranking.best],
        "ranked": [
            {
                "levels": dict(option.levels),
                "kept_for_each": list(state_of(found.source, option.levels)),
                "values": dict(option.values),
                "difference": option.difference,
                "low": option.low,
                "high": option.high,
                "worse": option.is_worse,
            }
            for option in ranking.ranked
        ],
        "unranked": [dict(levels) for levels in ranking.unranked],
        "trade_off": []
        if trade is None
        else [
            {"levels": dict(option.levels), trade.goodput: goodput, trade.delay: delay}
            for option in trade.options
            for goodput, delay in [trade.of(option)]
        ],
    }


def _trade_off(found: Answer, ranking: Ranking) -> TradeOff | None:
    from skycell.experiment.trade_off import trade_off

    if found.setting.traffic != "bulk":  # others get what they ask for, sooner or later
        return None
    aims = found.source.aims
    if "goodput" not in aims or "delay" not in aims:
        return None
    return trade_off(ranking, aims["goodput"], aims["delay"])


def command(found: Answer, question: Question) -> str:
    """What makes the runs of an answer again."""
    if found.stored is not None:
        return found.stored.command()
    loss = f" --loss '{100 * question.loss:g} %'" if question.loss else ""
    loss += f" --mss '{question.mss} B'" if question.mss is not None else ""
    loss += f" --beside {question.beside}" if question.beside != "none" else ""
    choose = "" if found.choice == "queue" else f" --choose {found.choice}"
    return (
        f"skycell advise{choose} --rate '{question.rate}' --rtt '{question.rtt}' --users "
        f"{question.users} --traffic {question.traffic}{loss} --matters {question.aim} "
        f"--replications {question.replications} --from runs"
    )


def show(found: Answer, question: Question, ranking: Ranking, again: str = "") -> None:
    """Shows the answer on the terminal.

    Args:
        found: what it rests on.
        question: what was asked.
        ranking: of the options.
        again: a command that repeats it besides the usual one.
    """
    from skycell.cli.console import Output
    from skycell.studies.option_state import KEPT_FOR
    from skycell.tables.advice import (
        levels_in_words,
        opening,
        ranking_table,
        trade_off_in_words,
        trade_off_table,
    )

    output = Output(132)
    output.say(opening(found, ranking), "bold", wrap=True)
    trade = _trade_off(found, ranking)
    if trade is not None:
        output.show(trade_off_table(found, trade))
        if reported := trade_off_in_words(found, trade):
            output.say(reported)
    output.show(ranking_table(found, question, ranking))
    output.say(f"per {KEPT_FOR[found.choice]}: what the switch keeps for each.")
    units = found.result.factor_units
    if ranking.decides:
        best = "; ".join(
            levels_in_words(found.chosen(option.levels), units) for option in ranking.best
        )
        one = "is best" if len(ranking.best) == 1 else "are best, and not told apart"
        output.say(f"By {question.aim}: {best} {one}.", "bold")
    else:
        output.say(
            f"The data do not decide: {len(ranking.best)} of {len(ranking.ranked)} options are not "
            "told apart from the best. More --replications may.",
            "bold",
        )
    for levels in ranking.unranked:
        output.say(f"Without a value in some run, and so not ranked: {levels_in_words(levels)}.")
    output.say(
        f"{len(found.result.runs)} runs, {ranking.replications} of each option; intervals hold "
        f"together with {ranking.confidence:.0%} (Bonferroni); the same seeds for every option."
    )
    _show_distance(output, found, question.aim)
    output.say(f"The same runs again: {command(found, question)}")
    if again:
        output.say(f"Or: {again}")


def _show_distance(output: Any, found: Answer, word: str) -> None:
    """What the runs have to do with the question."""
    from skycell.studies.library import table_of
    from skycell.tables.advice import distance_table, experiment_in_words

    if found.stored is None:
        far = [difference.factor for difference in found.differences if not difference.is_near]
        if found.nearest is None:
            output.say("Runs of just this link: nothing that is stored covers the question.")
        elif far:
            output.say(
                f"Runs of just this link: {', '.join(far)} of the nearest stored experiment "
                f"({experiment_in_words(found.nearest)}) are not near."
            )
        else:
            output.say("Runs of just this link.")
        return
    output.say(
        f"From stored runs of {experiment_in_words(found.stored)}, the nearest "
        "setting that covers the question:"
    )
    output.show(distance_table(found))
    for table in found.stored.tables:
        output.say(f"{table}: {table_of(table).table.label}.")
    if found.nearer is not None:
        output.say(f"Nearer, but without a measure of {word}: {experiment_in_words(found.nearer)}.")
    if found.not_stored:
        again = "" if found.refused else "; --from runs has them"
        output.say(f"Not among the stored runs: {', '.join(found.not_stored)}{again}.")
    if found.refused:
        output.say(f"Runs of just this link cannot be made: the network has {found.refused}.")
    outside = [one.factor for one in found.outside]
    if outside:
        output.say(
            f"Outside of all that is stored: {', '.join(outside)}. The ranking is that of the "
            "stored setting; nothing stored says that it holds for yours.",
            "bold",
        )
    elif any(not one.is_near for one in found.differences):
        more = "" if found.refused else ": --from runs makes runs of just this link"
        output.say(f"Not near in every factor{more}.")
