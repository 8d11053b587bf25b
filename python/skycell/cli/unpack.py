"""`skycell unpack`: what a bundle holds, and whether it comes out again."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, force_option, json_option
from skycell.cli.plot import drawing_faults
from skycell.cli.results import refuse_unwritable, shown_place, writing
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Verb, validated

if TYPE_CHECKING:
    from skycell.exports.bundle import Bundle, Difference


def _validate(
    collector: ErrorCollector,
    bundle: Path | None,
    out: Path | None,
    force: bool,
    verify: bool,
    as_json: bool,
    **_: object,
) -> Bundle | None:
    """Also reads the bundle."""
    from skycell.cli.bundled import NotAllowedError, allowed_command
    from skycell.exports.bundle import NotABundle, load_bundle
    from skycell.plots.files import refuse_overwriting

    found: list[Bundle] = []
    with collector.step():
        if bundle is not None:
            try:
                found.append(load_bundle(bundle))
            except NotABundle as error:
                raise click.UsageError(f"{bundle} is no whole bundle: {error}") from None
            except OSError as error:
                raise click.UsageError(f"{bundle}: {error.strerror or error}") from None
    with collector.step():
        if verify and found:
            try:
                allowed_command(found[0].command, found[0].files)
            except NotAllowedError as error:
                raise click.UsageError(
                    f"{bundle}: its command is not carried out: {error}"
                ) from None
    with collector.step(), drawing_faults():
        if out is not None and found:
            refuse_unwritable(out)
            refuse_overwriting([out / name for name in found[0].files], force=force)
    return found[0] if found else None


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell unpack geo.zip\n"
    "  skycell unpack geo.zip --verify\n"
    "  skycell unpack geo.zip --out geo",
    short_help="Show, verify or reproduce a bundle.",
)
@click.argument("bundle", metavar="BUNDLE", type=NamedPath(path_type=Path))
@click.option(
    "--verify",
    is_flag=True,
    help="Carry out the command again, from the files of the bundle, and compare every result.",
)
@json_option()
@click.option(
    "--out", type=NamedPath(path_type=Path), metavar="DIR", help="Write all files into DIR."
)
@force_option("files in DIR")
def unpack(bundle: Path, verify: bool, as_json: bool, out: Path | None, force: bool) -> None:
    """Show what BUNDLE, which `skycell pack` wrote, holds; every file is checked by its digest.

    With --verify all runs are made again, none is taken from a store. The command says what it
    carries out before it does: `run`, `sweep` or `reproduce`, with options that decide results,
    and with no file but those of BUNDLE. Data (.json, .csv, .parquet) are compared octet by octet,
    or, where that differs, by what they say, the version of skycell and the name of the command's
    file aside. Pages and figures, drawn from these, are not compared.

    Exits with 0, with 1 if a result comes out otherwise or the command fails, with 2 if BUNDLE is
    damaged or the input is faulty.
    """
    from skycell.exports.bundle import RESULT
    from skycell.plots.files import write_all
    from skycell.version import version

    found = validated(_validate)
    assert found is not None
    if out is not None:
        with drawing_faults(), writing(out) as reported:
            write_all({out / name: found.files[name] for name in found.files}, force=force)
        if reported.fault:
            raise click.ClickException(reported.fault)
    shown: dict[str, object] = {
        "command": ["skycell", *found.command],
        "version": found.version,
        "python": found.python,
        "files": sorted(found.files),
    }
    wrong = None
    if verify:
        code, wrong = _made_again(found)
        if code:
            raise click.ClickException(f"The command ended with {code}; nothing is compared.")
        shown["differences"] = [{"name": each.name, "what": each.what} for each in wrong]
    if as_json:
        say_json(shown)
    else:
        say(f"Command: {shlex.join(['skycell', *found.command])}")
        say(f"Made by skycell {found.version}, Python {found.python}.")
        say(f"{len(found.files)} files, each as it was packed.")
        if out is not None:
            say(f"Written to {shown_place(out)}.")
    if wrong is None:
        return
    if found.version != version() and not as_json:
        say(f"Made again by skycell {version()}.")
    if wrong:
        lines = "".join(f"\n{RESULT}/{each.name} {each.what}" for each in wrong)
        raise click.ClickException(f"{len(wrong)} of the results did not come out again:{lines}")
    if not as_json:
        say(f"All {len(found.result_files())} files of data came out again.")


def _made_again(bundle: Bundle) -> tuple[int, list[Difference]]:
    """Says what is carried out and does so, in a new folder; its exit code, and what differs."""
    from skycell.cli.bundled import allowed_command
    from skycell.exports.bundle import RESULT, differences

    # The words that are carried out are made of what was found to be allowed, not taken over.
    command = allowed_command(bundle.command, bundle.files)
    words = command.words("packed")
    shown = shlex.join(["skycell", *words])
    say(f"Carries out, with the files of the bundle alone: {shown}", err=True)
    with TemporaryDirectory(prefix="skycell-verify-") as made:
        folder, again = Path(made) / "files", Path(made) / RESULT
        folder.mkdir()
        for name, content in bundle.files.items():
            if not name.startswith(f"{RESULT}/"):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(content)
        own = [f"--out={again}"]
        if command.has_store:
            own.append(f"--store={Path(made) / 'runs.sqlite'}")
        # A process of its own, whose folder is that of the files. Python imports nothing from it.
        done = subprocess.run(
            [sys.executable, "-P", "-m", "skycell.cli.confined", *words, *own],
            cwd=folder,
            env={**os.environ, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        )
        if done.returncode:
            return done.returncode, []
        return 0, list(differences(bundle, again))
