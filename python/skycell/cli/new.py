"""`skycell new`: a file to begin with."""

from __future__ import annotations

from pathlib import Path

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath, force_option
from skycell.cli.results import drawing_faults, refuse_unwritable, shown_place, writing
from skycell.cli.sentences import say
from skycell.cli.verb import Call, Verb, argument, option


class New(Call):
    """List the templates, or write TEMPLATE: a scenario or a sweep with comments on what to change.

    Exits with 0, or with 2 if the input is faulty.
    """

    name: str | None = argument(required=False, metavar="[TEMPLATE]")
    out: Path | None = option(
        "--out",
        type=NamedPath(path_type=Path),
        metavar="FILE",
        help="File to write; standard output if not given.",
    )
    force: bool = force_option("FILE if it exists")

    def check(self, collector: ErrorCollector) -> None:
        from skycell.input.spelling import nearest
        from skycell.plots.files import refuse_overwriting
        from skycell.templates import templates

        with collector.step():
            known = templates()
            if self.name is not None and self.name not in known:
                near = nearest(self.name, known)
                hint = f" Did you mean {near!r}?" if near else f" There are {', '.join(known)}."
                raise click.UsageError(f"no template is called {self.name!r}.{hint}")
            if self.name is None and self.out is not None:
                raise click.UsageError(f"name the template to write; there are {', '.join(known)}")
        with collector.step(), drawing_faults():
            if self.out is not None:
                if self.out.suffix.lower() != ".toml":
                    raise click.UsageError(f"{self.out}: a scenario or a sweep is written as .toml")
                refuse_unwritable(self.out, is_file=True)
                refuse_overwriting([self.out], force=self.force)

    def run(self, _: None) -> None:
        from skycell.plots.files import write_all
        from skycell.templates import templates, title_of

        known = templates()
        if self.name is None:
            width = max(map(len, known))
            for each, text in known.items():
                say(f"{each:<{width}}  {title_of(text)}")
            return
        if self.out is None:
            say(known[self.name], nl=False)
            return
        with drawing_faults(), writing(self.out) as reported:
            write_all({self.out: known[self.name].encode()}, force=self.force)
        if reported.fault:
            raise click.ClickException(reported.fault)
        say(f"Written to {shown_place(self.out)}.")


new = Verb(
    New,
    "skycell new",
    "skycell new geo-terminal --out mine.toml",
    "skycell new geo-terminal | skycell run -",
)
