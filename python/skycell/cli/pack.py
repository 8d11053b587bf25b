"""`skycell pack`: a command with what it reads and what comes out, as one file."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, force_option
from skycell.cli.plot import drawing_faults
from skycell.cli.results import refuse_unwritable, shown_place, writing
from skycell.cli.verb import Verb, validated

_PACKED = ("run", "sweep", "reproduce")
"""Verbs whose results are packed."""
_OWN = ("--out", "--json", "--latex", "--force", "--plan", "--list", "--shard", "--no-report")
"""Options that say where or how results are shown: the bundle does."""
_LOCAL = ("--jobs", "--scheduler", "--scheduler-file", "--store")
"""Options with a value that say where runs are made and kept: obeyed, and not packed."""
_LOCAL_FLAGS = ("--fresh",)


def _validate(
    collector: ErrorCollector,
    bundle: Path | None,
    command: tuple[str, ...] | None,
    force: bool,
    **_: object,
) -> None:
    from skycell.plots.files import refuse_overwriting

    with collector.step(), drawing_faults("BUNDLE"):
        if bundle is not None:
            if bundle.suffix.lower() != ".zip":
                raise click.UsageError(f"{bundle}: a bundle is written as .zip")
            refuse_unwritable(bundle, is_file=True)
            refuse_overwriting([bundle], force=force)
    with collector.step():
        if command:
            _refuse_command(command)


@click.command(
    cls=Verb,
    validate=_validate,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="\b\nExamples:\n"
    "  skycell pack geo.zip run examples/satellite-buffer.toml --seed 7\n"
    "  skycell pack policies.zip sweep examples/sweeps/policy-and-buffer.toml\n"
    "  skycell pack table3.zip reproduce icccn97-t3",
    short_help="Make one file of a command, what it reads and what comes out.",
)
@force_option("BUNDLE if it exists")
@click.argument("bundle", metavar="BUNDLE", type=NamedPath(path_type=Path))
@click.argument("command", metavar="COMMAND...", nargs=-1, required=True, type=click.UNPROCESSED)
def pack(bundle: Path, command: tuple[str, ...], force: bool) -> None:
    """Carry out COMMAND and write the file BUNDLE, which others can check and make again.

    COMMAND is `run`, `sweep` or `reproduce` with its arguments, without --out. BUNDLE, a zip file,
    gets the files that it reads, results and report with their figures, versions of skycell, Python
    and all packages, and a digest of each file. Runs that the store has are not made again.

    `skycell unpack --verify BUNDLE` makes everything again and compares.

    Exits as COMMAND does; a failed one is not packed.
    """
    from skycell.exports.bundle import INPUT, RESULT, bundle_of
    from skycell.input.text import files_noted
    from skycell.plots.files import write_all
    from skycell.version import version

    validated(_validate)
    with TemporaryDirectory(prefix="skycell-pack-") as made:
        folder = Path(made) / RESULT
        with files_noted() as noted:
            shown = _carried_out([*command, "--out", str(folder)])
        if command[0] == "run":
            _carried_out(["report", str(folder), "--out", str(folder / "report.html")])
        inputs = _inputs(noted)
        files = {f"{INPUT}/{name}": path.read_bytes() for path, name in inputs.items()}
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            files[f"{RESULT}/{file.relative_to(folder).as_posix()}"] = file.read_bytes()
    packed = _packed_command(command, {path: f"{INPUT}/{name}" for path, name in inputs.items()})
    found = bundle_of(packed, files, version())
    with drawing_faults("BUNDLE"), writing(bundle) as reported:
        write_all({bundle: found.to_bytes()}, force=force)
    if reported.fault:
        raise click.ClickException(reported.fault)
    # The folder that it says it has written is in the bundle by now.
    click.echo(
        "".join(line for line in shown.splitlines(True) if str(folder) not in line), nl=False
    )
    click.echo(f"Packed into {shown_place(bundle)}: skycell {' '.join(packed)}", err=True)


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


def _refuse_command(command: Sequence[str]) -> None:
    verb, *arguments = command
    if verb not in _PACKED:
        verbs = ", ".join(_PACKED)
        raise click.UsageError(f"{verb} cannot be packed; COMMAND begins with one of {verbs}")
    for argument in arguments:
        if argument.partition("=")[0] in _OWN:
            raise click.UsageError(
                f"{argument} is not for a bundle, which says itself where results go and has all"
            )
        if argument == "-":
            raise click.UsageError("-: what is packed is a file, not standard input")


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


def _packed_command(command: Sequence[str], names: dict[Path, str]) -> list[str]:
    """The command with the files' names in the bundle, and without what is local."""
    packed: list[str] = []
    words = iter(command)
    for word in words:
        name, _, value = word.partition("=")
        if name in _LOCAL:
            if not value:
                next(words, None)
        elif word not in _LOCAL_FLAGS:
            packed.append(names.get(Path(word).resolve(), word))
    return packed
