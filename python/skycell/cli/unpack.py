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
from skycell.cli.results import drawing_faults, refuse_unwritable, shown_place, writing
from skycell.cli.sentences import say, say_json
from skycell.cli.verb import Call, Verb, argument, option

if TYPE_CHECKING:
    from skycell.exports.bundle import Bundle, Difference


class Unpack(Call):
    """Show what BUNDLE, which `skycell pack` wrote, holds; every file is checked by its digest.

    With --verify all runs are made again, none is taken from a store. The command says what it
    carries out before it does: `run`, `sweep` or `reproduce`, with options that decide results,
    and with no file but those of BUNDLE. Data (.json, .csv, .parquet) are compared octet by octet,
    or, where that differs, by what they say, the version of skycell and the name of the command's
    file aside. Pages and figures, drawn from these, are not compared.

    Exits with 0, with 1 if a result comes out otherwise or the command fails, with 2 if BUNDLE is
    damaged or the input is faulty.
    """

    bundle: Path = argument(metavar="BUNDLE", type=NamedPath(path_type=Path))
    verify: bool = option(
        "--verify",
        is_flag=True,
        help="Carry out the command again, from the files of the bundle, and compare every result.",
    )
    as_json: bool = json_option()
    out: Path | None = option(
        "--out", type=NamedPath(path_type=Path), metavar="DIR", help="Write all files into DIR."
    )
    force: bool = force_option("files in DIR")

    def check(self, collector: ErrorCollector) -> Bundle | None:
        """Also reads the bundle."""
        from skycell.cli.bundled import NotAllowedError, allowed_command
        from skycell.plots.files import refuse_overwriting

        found = collector.read(lambda: _read(self.bundle))
        if found is None:
            return None
        with collector.step():
            if self.verify:
                try:
                    allowed_command(found.command, found.files)
                except NotAllowedError as error:
                    raise click.UsageError(
                        f"{self.bundle}: its command is not carried out: {error}"
                    ) from None
        with collector.step(), drawing_faults():
            if self.out is not None:
                refuse_unwritable(self.out)
                refuse_overwriting([self.out / name for name in found.files], force=self.force)
        return found

    def run(self, found: Bundle) -> None:
        from skycell.exports.bundle import RESULT
        from skycell.plots.files import write_all
        from skycell.version import version

        if self.out is not None:
            with drawing_faults(), writing(self.out) as reported:
                write_all(
                    {self.out / name: found.files[name] for name in found.files}, force=self.force
                )
            if reported.fault:
                raise click.ClickException(reported.fault)
        shown: dict[str, object] = {
            "command": ["skycell", *found.command],
            "version": found.version,
            "python": found.python,
            "files": sorted(found.files),
        }
        wrong = None
        if self.verify:
            code, wrong = _made_again(found)
            if code:
                raise click.ClickException(f"The command ended with {code}; nothing is compared.")
            shown["differences"] = [{"name": each.name, "what": each.what} for each in wrong]
        if self.as_json:
            say_json(shown)
        else:
            say(f"Command: {shlex.join(['skycell', *found.command])}")
            say(f"Made by skycell {found.version}, Python {found.python}.")
            say(f"{len(found.files)} files, each as it was packed.")
            if self.out is not None:
                say(f"Written to {shown_place(self.out)}.")
        if wrong is None:
            return
        if found.version != version() and not self.as_json:
            say(f"Made again by skycell {version()}.")
        if wrong:
            lines = "".join(f"\n{RESULT}/{each.name} {each.what}" for each in wrong)
            raise click.ClickException(
                f"{len(wrong)} of the results did not come out again:{lines}"
            )
        if not self.as_json:
            say(f"All {len(found.result_files())} files of data came out again.")


unpack = Verb(
    Unpack,
    "skycell unpack geo.zip",
    "skycell unpack geo.zip --verify",
    "skycell unpack geo.zip --out geo",
)


def _read(file: Path) -> Bundle:
    from skycell.exports.bundle import NotABundle, load_bundle

    try:
        return load_bundle(file)
    except NotABundle as error:
        raise click.UsageError(f"{file} is no whole bundle: {error}") from None
    except OSError as error:
        raise click.UsageError(f"{file}: {error.strerror or error}") from None


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
