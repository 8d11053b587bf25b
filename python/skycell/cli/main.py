"""`skycell`: the group of verbs, their one-line descriptions, and how they end.

A verb ends with 0 when all went well, with 1 when a run failed, with 2 when its input is faulty.
"""

from __future__ import annotations

import codecs
import gc
import io
import json
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import click

from skycell.cli.interrupts import report_it

#: Each verb with its line in `skycell --help`; its module is `skycell.cli.<verb>`.
VERBS = {
    "new": "Write a template of a file.",
    "check": "List all faults of scenario files.",
    "explain": "Show the resolved scenario without running it.",
    "budget": "Show what each layer takes of a carrier, and the remaining loss.",
    "run": "Simulate a scenario.",
    "reproduce": "Run published studies again and compare.",
    "validate": "Compare runs with recordings of real hosts.",
    "lab": "Open a workbench in the browser.",
    "emulate": "Run real hosts over a scenario's network.",
    "sweep": "Run every combination of some factors' levels.",
    "advise": "Answer which queue and TCP, or service category, suit a link.",
    "analyse": "Show which factors matter, and by how much.",
    "orbit": "Compute constellations, paths over them, and their delays.",
    "trace": "Show the link that a measured series describes, or fit a model.",
    "plot": "Draw a run, a study, a sweep or a table.",
    "report": "Write a run's or a sweep's report as one HTML file.",
    "export": "Write a run's traces or a sweep's runs for other tools.",
    "cite": "Print what to cite of a run as BibTeX.",
    "pack": "Bundle a command, its inputs and its results in one file.",
    "unpack": "Show, verify or reproduce a bundle.",
    "store": "Check, merge or rescue stores of runs.",
    "presets": "Show named sets of parameters with their sources.",
    "policies": "List the buffer policies by class.",
    "schema": "Describe the scenario file.",
}

#: What is installed only if it is asked for: the modules of each extra, `pip install skycell[...]`.
EXTRAS = {
    "analysis": ("scipy", "statsmodels"),
    "plots": ("altair", "jinja2", "vl_convert"),
    "lab": ("fastapi", "uvicorn"),
    "cluster": ("distributed",),
    "rain": ("itur",),
}
#: Extras that a verb cannot do without; others fail when they come to what is missing.
NEEDED_BY = {
    "reproduce": ("analysis", "plots"),
    "validate": ("analysis", "plots"),
    "lab": ("lab", "plots"),
    "sweep": ("analysis", "plots"),
    "advise": ("analysis", "plots"),
    "analyse": ("analysis",),
    "plot": ("plots",),
    "report": ("plots",),
    "pack": ("plots",),
}

#: Verbs that last as long as their user wants, and whose terminal is somebody else's meanwhile.
_OPEN_ENDED = {"emulate", "lab"}
#: Verbs that read, answer and end.
_BRIEF = {"budget", "check", "explain", "export", "orbit", "plot", "report", "run", "trace"}
_SHORT_COLLECTIONS = (100_000, 5, 1_000)
"""Millions of samples, which are in no cycles, are looked at twice and then left alone.

Python hears of no signal while it looks for cycles, and that takes a second of a million samples.
"""


class VerbGroup(click.Group):
    """A group that imports a verb's module only when the verb is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs, in the order of their use."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of a name, as `skycell.cli.<name>.<name>`."""
        if cmd_name not in VERBS:
            return None
        _refuse_without(cmd_name)
        command: click.Command = getattr(import_module(f"skycell.cli.{cmd_name}"), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the verb; a misspelt one is answered with its neighbour."""
        if args[0] not in VERBS and not args[0].startswith("-"):
            from skycell.input.spelling import nearest

            if near := nearest(args[0], VERBS):
                ctx.fail(f"There is no command {args[0]!r}. Did you mean {near!r}?")
        found = super().resolve_command(ctx, args)
        ctx.with_resource(_heard(found[0] or ""))
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the list of verbs without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(VERBS.items()))

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Reads the options of the group, among them those that only print."""
        _have_every_character_reported()
        with _endings():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Calls a verb and turns what went wrong into a message and an exit code."""
        try:
            with _endings(), _reported_to_end_as_interrupted():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            report_it(error, ctx.invoked_subcommand)
            raise click.exceptions.Exit(1) from None


@contextmanager
def _heard(verb: str) -> Iterator[None]:
    """Has a command say that it is at work, and hear of signals while it is."""
    from skycell.cli.at_work import AtWork
    from skycell.input.text import files_noted

    if verb in _OPEN_ENDED:
        yield
        return
    before = gc.get_threshold()
    if verb in _BRIEF:
        gc.set_threshold(*_SHORT_COLLECTIONS)
    try:
        with files_noted() as files, AtWork(f"skycell {verb}", files):
            yield
    finally:
        gc.set_threshold(*before)


def _refuse_without(verb: str) -> None:
    """Refuses a verb whose packages are not installed, before anything is done."""
    for extra in NEEDED_BY.get(verb, ()):
        for module in EXTRAS[extra]:
            if sys.modules.get(module, module) is None or find_spec(module) is None:
                raise click.UsageError(_needs(f"skycell {verb}", module, extra))


def _needs(what: str, module: str, extra: str) -> str:
    return f"{what} needs {module}: pip install 'skycell[{extra}]'"


def _have_every_character_reported() -> None:
    """Has characters that the output does not have, such as a dash in Latin-1, written as escapes.

    Of the two kinds of escapes that of JSON is taken: a JSON object stays what it is.
    """
    codecs.register_error("escaped", _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="escaped")


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end]
    return json.dumps(text)[1:-1], error.end


@contextmanager
def _reported_to_end_as_interrupted() -> Iterator[None]:
    """Has SIGTERM, which batch systems send, do what Ctrl-C does: no finished run is lost."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    # Calls from Python may come in another thread, which cannot set what a signal does.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _endings() -> Iterator[None]:
    try:
        yield
    except click.exceptions.NoArgsIsHelpError:  # prints the help itself
        raise
    except click.UsageError as error:
        from skycell.input.printable import printable
        from skycell.input.quantities import with_short_numbers

        message = printable(with_short_numbers(error.format_message()), keep="\n")
        raise click.UsageError(message, error.ctx) from None
    except click.exceptions.Exit:
        raise
    except click.ClickException as error:
        from skycell.input.printable import printable

        raise click.ClickException(printable(error.format_message(), keep="\n")) from None
    except Exception as error:
        message, code = _ending(error)
        if not message:
            raise
        from skycell.cli.sentences import say

        say(message, err=True)
        raise click.exceptions.Exit(code) from None


def _ending(error: Exception) -> tuple[str, int]:
    """What to say about an error of ours, and the exit code; no message for any other."""
    if isinstance(error, click.exceptions.Exit | click.Abort | click.ClickException):
        return "", 0
    from skycell import _core
    from skycell.input.faults import ScenarioFaults

    if isinstance(error, ScenarioFaults):
        return str(error), 2
    if isinstance(error, ModuleNotFoundError):
        module = (error.name or "").partition(".")[0]
        extra = next((name for name, modules in EXTRAS.items() if module in modules), None)
        return (_needs("This", module, extra), 2) if extra else ("", 0)
    from skycell.experiment.pool import PoolLostError
    from skycell.experiment.store import StoreError, StoreFailed

    if isinstance(error, StoreError):
        return str(error), 2
    if isinstance(error, StoreFailed | PoolLostError):
        return str(error), 1
    if isinstance(error, _core.SpecError):
        return f"The engine refuses the spec: {error}", 2
    if isinstance(error, _core.OrbitError):
        return f"The constellation cannot be computed: {error}", 2
    if isinstance(error, _core.EmulateError):
        return f"Real hosts cannot be run: {error}", 1
    if isinstance(error, _core.RunError):
        return f"The run failed: {error}", 1
    if isinstance(error, BrokenPipeError):
        return "", 0
    if isinstance(error, OSError):
        return f"{error.filename or 'The system'}: {error.strerror or error}", 1
    return "", 0


def _version(ctx: click.Context, _param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from skycell.cli.sentences import say
        from skycell.version import version

        say(f"skycell {version()}")
        ctx.exit()


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Show the version and exit.",
)
def main() -> None:
    """Simulate TCP/IP over satellite, packet and cell-switched networks, unit by unit.

    Every command shows an example with --help.
    """
