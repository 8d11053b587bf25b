"""`skycell lab`: the workbench in a browser."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath
from skycell.cli.sentences import say
from skycell.cli.verb import Verb, validated


def _validate(collector: ErrorCollector, folder: Path | None, **_: object) -> None:
    with collector.step():
        try:
            import fastapi  # noqa: F401
            import uvicorn  # noqa: F401
        except ImportError as error:
            raise click.UsageError(
                f"the workbench needs {error.name}: pip install 'skycell[lab]'"
            ) from None
    with collector.step():
        if folder is not None and not folder.is_dir():
            raise click.BadParameter(f"{folder}: must be a folder", param_hint="'FOLDER'")


@click.command(
    cls=Verb,
    validate=_validate,
    epilog="\b\nExamples:  skycell lab\n           skycell lab course --port 8000 --no-browser",
    short_help="Open a workbench in the browser.",
)
@click.argument("folder", type=NamedPath(path_type=Path), default=".")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="one that is free",
    help="Port on this machine.",
)
@click.option("--browser/--no-browser", default=True, help="Open the page in a browser.")
def lab(folder: Path, port: int, browser: bool) -> None:
    """Open a workbench on the scenarios of FOLDER, this one if none is given.

    A page on this machine: write a scenario with faults in place, move sliders, see window, rate
    and queue over time, compare runs, and answer exercises. It answers on the loopback interface
    only, to those who have the address with its token; it reads and writes scenarios of FOLDER and
    no other file. Ctrl-C ends it.
    """
    import socket

    import uvicorn

    from skycell.lab.app import create_app

    validated(_validate)
    token = secrets.token_urlsafe(24)
    app = create_app(folder, token)
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise click.BadParameter(
            f"{port}: {error.strerror}; another program has it", param_hint="'--port'"
        ) from None
    with listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/?token={token}"
        say(address)
        say("Ctrl-C ends the workbench.", err=True)
        if browser:
            import webbrowser

            webbrowser.open(address)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        try:
            server.run(sockets=[listening])
        finally:
            app.state.runs.cancel_all()
