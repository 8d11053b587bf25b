"""`skycell presets`: named sets of parameters and where their values come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import json_option
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Call, Verb, argument

if TYPE_CHECKING:
    from skycell.input.presets import Preset


def _known() -> Mapping[str, Preset]:
    from skycell.scenario.presets import presets as of_scenarios
    from skycell.scenario.presets.traffic import traffic_presets
    from skycell.scenario.presets.uplinks import uplink_presets

    return {**of_scenarios(), **uplink_presets(), **traffic_presets()}


class Presets(Call):
    """List the presets, or show the values of the preset NAME.

    A value is either stated by the preset's source or chosen, with the reason. Those whose names
    have underscores are for `preset` in [[uplink]] or [[traffic]], with that table's keys.
    """

    name: str | None = argument(required=False)
    as_json: bool = json_option()

    def check(self, collector: ErrorCollector) -> None:
        with collector.step():
            refuse_unknown_preset("preset", _known(), self.name)

    def run(self, _: None) -> None:
        show_presets(_known(), self.name, self.as_json)


presets = Verb(Presets, "skycell presets icccn97-geo")


def refuse_unknown_preset(what: str, known: Mapping[str, Preset], name: str | None) -> None:
    """Refuses a name that none of some presets has.

    Args:
        what: what they are, in one word.
        known: the presets by name.
        name: the one asked for; none if all are.

    Raises:
        click.UsageError: no preset has the name.
    """
    from skycell.input.spelling import nearest

    if name is not None and name not in known:
        near = nearest(name, known)
        hint = f" Did you mean {near!r}?" if near else f" Available: {', '.join(known)}."
        raise click.UsageError(f"no {what} is called {name!r}.{hint}")


def show_presets(known: Mapping[str, Preset], name: str | None, as_json: bool) -> None:
    """Shows the titles of some presets, or one with its values and their sources.

    Args:
        known: the presets by name.
        name: the one to show, which is one of them; all titles if none.
        as_json: for programs.
    """
    from skycell.input.faults import show_value

    if name is None:
        if as_json:
            say_json({k: {"title": p.title} for k, p in known.items()})
            return
        width = max(map(len, known))
        for key, preset in known.items():
            say(f"{key:<{width}}  {preset.title}")
        return
    preset = known[name]
    if as_json:
        values: dict[str, Any] = {
            v.key: {"value": v.value, "stated": v.is_stated, "reason": v.reason}
            for v in preset.all_values().values()
        }
        reported: dict[str, Any] = {
            "title": preset.title,
            "source": preset.source,
            "values": values,
        }
        if preset.going_with:
            reported["going_with"] = [
                {"key": key, "is": choice, "values": {v.key: v.value for v in own}}
                for (key, choice), own in preset.going_with.items()
            ]
        say_json(reported)
        return
    say(f"{preset.title}\nSource: {preset.source}")
    for value in preset.all_values().values():
        how = "stated" if value.is_stated else "chosen"
        say(f"\n{value.key} = {show_value(value.value)}\n    {how}: {value.reason}")
    for (key, choice), own in preset.going_with.items():
        say(f"\nWith {key} = {show_value(choice)}:")
        for value in own:
            say(f"    {value.key} = {show_value(value.value)}\n        {value.reason}")
