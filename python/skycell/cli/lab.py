"""`skycell lab`: the workbench in a browser."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.options import NamedPath
from skycell.cli.sentences import say
from skycell.cli.verb import Call, Verb, argument, option


class Lab(Call):
    """Open a workbench on the scenarios of FOLDER, this one if none is given.

    A page on this machine: write a scenario with faults in place, move sliders, see window, rate,
    round trips and queue over time, compare runs, and answer exercises. It answers on the loopback
    interface only, to those who have the address with its token; it reads and writes scenarios of
    FOLDER and no other file. Ctrl-C ends it.
    """

    folder: Path = argument(type=NamedPath(path_type=Path), default=".")
    port: int = option(
        "--port",
        type=click.IntRange(0, 65535),
        default=0,
        show_default="one that is free",
        help="Port on this machine.",
    )
    browser: bool = option(
        "--browser/--no-browser", default=True, help="Open the page in a browser."
    )

    def check(self, collector: ErrorCollector) -> None:
        with collector.step():
            try:
                import fastapi  # noqa: F401
                import uvicorn  # noqa: F401
            except ImportError as error:
                raise click.UsageError(
                    f"the workbench needs {error.name}: pip install 'skycell[lab]'"
                ) from None
        with collector.step():
            if not self.folder.is_dir():
                raise click.BadParameter(f"{self.folder}: must be a folder", param_hint="'FOLDER'")

    def run(self, _: None) -> None:
        import socket

        import uvicorn

        from skycell.lab.app import create_app

        token = secrets.token_urlsafe(24)
        app = create_app(self.folder, token)
        try:
            listening = socket.create_server(("127.0.0.1", self.port))
        except OSError as error:
            raise click.BadParameter(
                f"{self.port}: {error.strerror}; another program has it", param_hint="'--port'"
            ) from None
        with listening:
            address = f"http://127.0.0.1:{listening.getsockname()[1]}/?token={token}"
            say(address)
            say("Ctrl-C ends the workbench.", err=True)
            if self.browser:
                import webbrowser

                webbrowser.open(address)
            server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
            try:
                server.run(sockets=[listening])
            finally:
                app.state.runs.cancel_all()


lab = Verb(Lab, "skycell lab", "skycell lab course --port 8000 --no-browser")
