"""`skycell pack`: a command with what it reads and what comes out, as one file."""

from __future__ import annotations

import io
import os
import shlex
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from skycell.cli.bundled import (
    READS_A_FILE,
    Command,
    NotAllowedError,
    allowed_command,
    read_command,
)
from skycell.cli.collector import COMMAND_LINE, ErrorCollector
from skycell.cli.inputs import load_input, load_input_plan
from skycell.cli.options import NamedPath, force_option
from skycell.cli.results import drawing_faults, refuse_unwritable, shown_place, writing
from skycell.cli.sentences import say
from skycell.cli.settings import read_settings
from skycell.cli.verb import Call, Verb, argument

if TYPE_CHECKING:
    from skycell.exports.bundle import Bundle


class Pack(Call):
    """Carry out COMMAND and write the file BUNDLE, which others can check and make again.

    COMMAND is `run`, `sweep` or `reproduce` with its arguments, without --out. BUNDLE, a zip file,
    gets the files that it reads, results and report with their figures, versions of skycell, Python
    and all packages, and a digest of each file. Runs that the store has are not made again.

    `skycell unpack --verify BUNDLE` makes everything again and compares.

    Exits as COMMAND does; a failed one is not packed.
    """

    force: bool = force_option("BUNDLE if it exists")
    bundle: Path = argument(metavar="BUNDLE", type=NamedPath(path_type=Path))
    command: tuple[str, ...] = argument(
        metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED
    )

    def check(self, collector: ErrorCollector) -> Command | None:
        from skycell.plots.files import refuse_overwriting

        with collector.step(), drawing_faults("BUNDLE"):
            if self.bundle.suffix.lower() != ".zip":
                raise click.UsageError(f"{self.bundle}: a bundle is written as .zip")
            refuse_unwritable(self.bundle, is_file=True)
            refuse_overwriting([self.bundle], force=self.force)
        return collector.read(lambda: _command_to_pack(self.command))

    def run(self, read: Command) -> None:
        from skycell.exports.bundle import INPUT, RESULT, NotABundle, bundle_of
        from skycell.input.text import files_noted
        from skycell.plots.files import write_all
        from skycell.version import version

        with TemporaryDirectory(prefix="skycell-pack-") as made:
            folder = Path(made) / RESULT
            with files_noted() as noted:
                shown = _carried_out([*self.command, "--out", str(folder)])
            if read.verb == "run":
                _carried_out(["report", str(folder), "--out", str(folder / "report.html")])
            inputs = _inputs(noted)
            files = {f"{INPUT}/{name}": path.read_bytes() for path, name in inputs.items()}
            for file in sorted(path for path in folder.rglob("*") if path.is_file()):
                files[f"{RESULT}/{file.relative_to(folder).as_posix()}"] = file.read_bytes()
        packed = _packed(read, {path: f"{INPUT}/{name}" for path, name in inputs.items()})
        found = bundle_of(packed.words("packed"), files, version())
        _refuse_what_is_not_read_again(packed, found)
        try:
            found.refuse_too_large()
        except NotABundle as error:
            raise click.ClickException(f"{self.bundle} is not written: {error}") from None
        with drawing_faults("BUNDLE"), writing(self.bundle) as reported:
            write_all({self.bundle: found.to_bytes()}, force=self.force)
        if reported.fault:
            raise click.ClickException(reported.fault)
        # The folder that it says it has written is in the bundle by now.
        say("".join(line for line in shown.splitlines(True) if str(folder) not in line), nl=False)
        say(
            f"Packed into {shown_place(self.bundle)}: {shlex.join(['skycell', *found.command])}",
            err=True,
        )


pack = Verb(
    Pack,
    "skycell pack geo.zip run examples/satellite-buffer.toml --seed 7",
    "skycell pack policies.zip sweep examples/sweeps/policy-and-buffer.toml",
    "skycell pack table3.zip reproduce icccn97-t3",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)


def _carried_out(arguments: Sequence[str]) -> str:
    """Calls a command within this one; returns what it wrote to standard output.

    Raises:
        click.exceptions.Exit: it did not end well; with its code.
    """
    from skycell.cli.main import main

    with redirect_stdout(io.StringIO()) as shown:
        code = main.main(args=list(arguments), prog_name="skycell", standalone_mode=False)
    if code:
        raise click.exceptions.Exit(code)
    return shown.getvalue()


def _command_to_pack(words: Sequence[str]) -> Command:
    """The command, if it can be packed.

    Raises:
        click.UsageError: it cannot.
    """
    try:
        command = read_command(words)
    except NotAllowedError as error:
        raise click.UsageError(str(error)) from None
    for name in command.names("own"):
        raise click.UsageError(
            f"{name} is not for a bundle, which says itself where results go and has all"
        )
    if "-" in command.arguments:
        raise click.UsageError("-: what is packed is a file, not standard input")
    return command


def _refuse_what_is_not_read_again(command: Command, bundle: Bundle) -> None:
    """Reads the packed input as `unpack --verify` does: with the files of the bundle alone.

    Raises:
        click.UsageError: it cannot, as a scenario that names a file by its whole path.
    """
    from skycell.exports.bundle import RESULT
    from skycell.input.text import files_within

    try:
        allowed_command(command.words("packed"), bundle.files)
    except NotAllowedError as error:
        raise click.UsageError(f"This command cannot be packed: {error}") from None
    if command.verb not in READS_A_FILE:
        return
    with TemporaryDirectory(prefix="skycell-pack-") as made, files_within(Path(made)):
        for name in bundle.files:
            if not name.startswith(f"{RESULT}/"):
                (Path(made) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(made) / name).write_bytes(bundle.files[name])
        _read(command, Path(made))


def _read(command: Command, folder: Path) -> None:
    """Reads the file of a command, and what that names, as the command does.

    Raises:
        click.UsageError: a file is not where its name leads within the folder.
    """
    from skycell.experiment.plan import design_runs
    from skycell.input.faults import FaultCollector, ScenarioFaults

    file = str(folder / command.arguments[0])
    settings = [value for name, value in command.options if name == "--set" and value]
    try:
        if command.verb == "sweep":
            design_runs(load_input_plan(file))
        else:
            load_input(file, read_settings(settings, FaultCollector(COMMAND_LINE)))
    except ScenarioFaults as found:
        named = ", ".join(f"{fault.path} = {fault.got}" for fault in found.faults)
        raise click.UsageError(
            f"This command cannot be packed: {named}: a bundle holds files by their names relative "
            "to each other, not by whole paths or symbolic links"
        ) from None


def _inputs(noted: Sequence[Path]) -> dict[Path, str]:
    """The files that were read, and what they are called below their common folder.

    Those that come with skycell are left out: its version says which they are.
    """
    own = Path(__file__).parents[1].resolve()
    read = list(dict.fromkeys(path.resolve() for path in noted))
    read = [path for path in read if path.is_file() and not path.is_relative_to(own)]
    if not read:
        return {}
    base = Path(os.path.commonpath([path.parent for path in read]))
    return {path: path.relative_to(base).as_posix() for path in read}


def _packed(command: Command, names: dict[Path, str]) -> Command:
    """The command with its file's name in the bundle."""
    if command.verb not in READS_A_FILE:
        return command
    named = (names.get(Path(word).resolve(), word) for word in command.arguments)
    return replace(command, arguments=tuple(named))
