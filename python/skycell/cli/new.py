"""`skycell new`: a file to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, force_option
from skycell.cli.plot import drawing_faults
from skycell.cli.results import refuse_unwritable, shown_place, writing
from skycell.cli.sentences import say
from skycell.cli.verb import Verb, validated


def _validate(
    collector: ErrorCollector, name: str | None, out: Path | None, force: bool, **_: object
) -> None:
    from skycell.input.spelling import nearest
    from skycell.plots.files import refuse_overwriting
    from skycell.templates import templates

    with collector.step():
        known = templates()
        if name is not None and name not in known:
            near = nearest(name, known)
            hint = f" Did you mean {near!r}?" if near else f" There are {', '.join(known)}."
            raise click.UsageError(f"no template is called {name!r}.{hint}")
        if name is None and out is not None:
            raise click.UsageError(f"name the template to write; there are {', '.join(known)}")
    with collector.step(), drawing_faults():
        if out is not None:
            if out.suffix.lower() != ".toml":
                raise click.UsageError(f"{out}: a scenario or a sweep is written as .toml")
            refuse_unwritable(out, is_file=True)
            refuse_overwriting([out], force=force)


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:\n"
    "  skycell new\n"
    "  skycell new geo-terminal --out mine.toml\n"
    "  skycell new geo-terminal | skycell run -",
    short_help="Write a template of a file.",
)
@click.argument("name", required=False, metavar="[TEMPLATE]")
@click.option(
    "--out",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="File to write; standard output if not given.",
)
@force_option("FILE if it exists")
def new(name: str | None, out: Path | None, force: bool) -> None:
    """List the templates, or write TEMPLATE: a scenario or a sweep with comments on what to change.

    Exits with 0, or with 2 if the input is faulty.
    """
    from skycell.plots.files import write_all
    from skycell.templates import templates, title_of

    validated(_validate)
    known = templates()
    if name is None:
        width = max(map(len, known))
        for each, text in known.items():
            say(f"{each:<{width}}  {title_of(text)}")
        return
    if out is None:
        say(known[name], nl=False)
        return
    with drawing_faults(), writing(out) as reported:
        write_all({out: known[name].encode()}, force=force)
    if reported.fault:
        raise click.ClickException(reported.fault)
    say(f"Written to {shown_place(out)}.")
