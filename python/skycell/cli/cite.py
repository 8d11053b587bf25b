"""`skycell cite`: BibTeX for skycell, a run, and the sources of the rules that it used."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input, read_run, shown_name
from skycell.cli.options import NamedPath, json_option, set_option
from skycell.cli.sentences import say, say_json
from skycell.cli.settings import read_settings
from skycell.cli.verb import Call, Verb, argument

if TYPE_CHECKING:
    from skycell.exports.citations import Entry


class Cite(Call):
    """Print what to cite as BibTeX.

    Without WHAT, the entry of skycell. WHAT is a scenario, or the folder of a run: then also an
    entry of the run, with its version, the hash of its spec and its seed, and one for each source
    of the rules that it used, such as its queue management and its TCP. Comments say which rule
    rests on a source. A folder says nothing about framings, which its spec has as numbers.
    """

    what: str | None = argument(type=NamedPath(), required=False, metavar="[WHAT]")
    as_json: bool = json_option("Write one JSON object to standard output.")
    settings: tuple[str, ...] = set_option("Replace a value of the file, such as tcp.recovery=reno")

    def check(self, collector: ErrorCollector) -> list[Entry] | None:
        from skycell.exports.citations import of_program, of_rules, of_run
        from skycell.version import version

        values = read_settings(self.settings, collector.faults)
        if self.what is None:
            with collector.step():
                if self.settings:
                    message = "there is no file in which it could replace a value"
                    raise click.BadParameter(message, param_hint="'--set'")
            return [of_program(version())]
        what = self.what
        if Path(what).is_dir():
            return self._of_folder(Path(what), collector)

        def of_file() -> list[Entry]:
            scenario = load_input(what, values)
            spec = scenario.resolve()
            run = of_run(Path(shown_name(what)).stem, spec, version())
            return [of_program(version()), run, *of_rules(spec, scenario.file)]

        return collector.read(of_file)

    def _of_folder(self, folder: Path, collector: ErrorCollector) -> list[Entry] | None:
        from skycell.exports.citations import of_program, of_rules, of_run

        with collector.step():
            if self.settings:
                message = "a run that is done keeps its values"
                raise click.BadParameter(message, param_hint="'--set'")
            result = read_run(folder)
            made_by = result.version
            run = of_run(folder.resolve().name, result.spec, made_by)
            return [of_program(made_by), run, *of_rules(result.spec)]
        return None

    def run(self, entries: list[Entry]) -> None:
        if self.as_json:
            say_json({"entries": [entry.as_dict() for entry in entries]})
            return
        say("\n\n".join(entry.bibtex() for entry in entries))


cite = Verb(Cite, "skycell cite examples/satellite-buffer.toml")
