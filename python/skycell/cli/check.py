"""`skycell check`: all faults of scenario files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import STDIN, load_input, shown_name
from skycell.cli.options import json_option
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Call, Verb, argument

if TYPE_CHECKING:
    from skycell.input.faults import Fault
    from skycell.spec.declared.network import NetworkSpec


@dataclass(frozen=True)
class _Checked:
    """What there is to say about a file: its spec with notes and accounts, or its faults."""

    file: str
    spec: NetworkSpec | None = None
    notes: tuple[str, ...] = ()
    accounts: tuple[dict[str, Any], ...] = ()
    faults: tuple[Fault, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        from skycell.input.faults import faults_as_dict

        return {
            "file": self.file,
            "spec_hash": None if self.spec is None else self.spec.hash(),
            **faults_as_dict(self.faults),
            "notes": list(self.notes),
            "accounts": list(self.accounts),
        }


def _check(name: str) -> _Checked:
    from skycell.input.faults import Fault, ScenarioFaults
    from skycell.scenario.notes import notes_on, notes_on_carriers
    from skycell.scenario.sky_paths import notes_on_series, series_accounts, sky_paths

    file = shown_name(name)
    try:
        scenario = load_input(name)
        spec = scenario.resolve()
        paths, series = sky_paths(scenario), series_accounts(scenario)
        of_carriers = notes_on_carriers(scenario.file.topology)
        notes = (*notes_on(spec, paths), *of_carriers, *notes_on_series(scenario))
        accounts: list[dict[str, Any]] = []
        for account in (
            *(account for path in paths for account in path.accounts),
            *(account.as_dict() for account in series),
        ):
            if account not in accounts:
                accounts.append(account)
        return _Checked(file, spec, notes, tuple(accounts))
    except ScenarioFaults as found:
        return _Checked(file, faults=found.faults)
    except OSError as error:
        fault = Fault(file, "", error.strerror or str(error), "a file that can be read")
        return _Checked(file, faults=(fault,))


class Check(Call):
    """List all faults of scenario FILEs, without running them.

    A FILE given as - stands for standard input; files named in such a scenario are looked for
    relative to the current folder.

    Faults go to standard error: where they are, what was found there, what is allowed and what it
    means. A note is no fault: it says what a file does that its author may not expect. Exits with 0
    if every file can be run, otherwise with 2.
    """

    files: tuple[str, ...] = argument(nargs=-1, required=True, metavar="FILE...")
    as_json: bool = json_option("Write one JSON object to standard output.")

    def check(self, collector: ErrorCollector) -> list[_Checked]:
        with collector.step():
            if "" in self.files:
                raise click.BadParameter("a name is missing", param_hint="'FILE...'")
        with collector.step():
            if self.files.count(STDIN) > 1:
                message = "- stands for standard input, which can be read only once"
                raise click.BadParameter(message, param_hint="'FILE...'")
        checked = [
            _check(file)
            for at, file in enumerate(self.files)
            if file and (file != STDIN or at == self.files.index(STDIN))
        ]
        for found in checked:
            collector.faults.faults += found.faults
        return checked

    def refuse(self, collector: ErrorCollector) -> None:
        """Ends the call where it is faulty itself; faults of files are what it shows."""
        collector.refuse_if_wrong_use()

    def run(self, checked: list[_Checked]) -> None:
        collector = ErrorCollector()
        for found in checked:
            collector.faults.faults += found.faults
        if self.as_json:
            say_json({"files": [found.as_dict() for found in checked]})
            raise click.exceptions.Exit(2 if collector else 0)
        for found in checked:
            if found.spec is not None:
                users = found.spec.users_in_words
                say(f"{found.file}: fine; {users}, spec {found.spec.hash()[:12]}")
                for note in found.notes:
                    say(f"  Note: {note}")
        collector.refuse_if_any()


check = Verb(Check, "skycell check examples/*.toml")
