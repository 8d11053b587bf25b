"""What the workbench's page asks for, over HTTP on this machine alone."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, FastAPI, HTTPException, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import AfterValidator

from skycell.lab.exercise import exercises, grade
from skycell.lab.folder import MOST_OCTETS, LabFolder, OutsideError
from skycell.lab.pictures import MOST_RUNS, picture
from skycell.lab.runs import LabRun, LabRuns, row_of
from skycell.report.page import frames_part, page_source
from skycell.report.sky_frames import map_over_time
from skycell.version import version

if TYPE_CHECKING:
    from skycell.scenario import Scenario

HOSTS = ("127.0.0.1", "localhost", "[::1]")
"""Names under which a page may be asked for: another one would be a rebound name of a stranger."""
POLICY = (
    "default-src 'none'; connect-src 'self'; script-src 'self' 'unsafe-eval'; "
    "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content security policy: nothing is loaded from, or sent to, another machine."""
_TICK_S = 0.1
_NUMBERS = "^[0-9]{0,9}(,[0-9]{0,9}){0,99}$"
"""Numbers of runs."""
_PARTS = {
    "lab.js": "text/javascript",
    "lab.css": "text/css",
    "index.html": "text/html; charset=utf-8",
}


def _whole(text: str) -> str:
    """The text, which UTF-8 can hold."""
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise ValueError("half of a sign, which is no text")
    return text


Words = Annotated[str, AfterValidator(_whole)]
Text = Annotated[Words, Body(embed=True, max_length=MOST_OCTETS)]


def create_app(folder: Path, token: str) -> FastAPI:
    """The application of a workbench.

    Args:
        folder: whose scenarios are read and written; no other file is.
        token: what every request has to bring, as `?token=` or as the header `X-Lab-Token`.
    """
    app = FastAPI(title="skycell lab", docs_url=None, redoc_url=None, openapi_url=None)
    lab = LabFolder(folder)
    runs = LabRuns()
    app.state.runs = runs

    @app.middleware("http")
    async def guard(
        request: Request, call_next: Callable[[Request], Awaitable[Response]]
    ) -> Response:
        refused = _why_refused(request, token)
        response = JSONResponse({"detail": refused}, 403) if refused else await call_next(request)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response

    @app.exception_handler(OutsideError)
    async def outside(_: Request, error: OutsideError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 400)

    @app.exception_handler(RequestValidationError)
    async def faulty(_: Request, error: RequestValidationError) -> JSONResponse:
        # What was found there is left out: it may be what no answer can hold.
        found = [{key: each[key] for key in ("type", "loc", "msg")} for each in error.errors()]
        return JSONResponse({"detail": json.loads(json.dumps(found))}, 422)

    @app.get("/")
    def page() -> Response:
        return _part("index.html")

    @app.get("/favicon.ico")
    def icon() -> Response:
        return Response(status_code=204)

    @app.get("/page/{name}")
    def part(name: str) -> Response:
        if name == "vega.js":
            return Response(_vega(), media_type="text/javascript")
        if name == "frames.js":
            return Response(page_source(name), media_type="text/javascript")
        if name not in _PARTS:
            raise HTTPException(404)
        return _part(name)

    @app.get("/api/about")
    def about() -> dict[str, Any]:
        return {"version": version(), "folder": str(lab.path), "templates": _templates()}

    @app.get("/api/schema")
    def schema() -> list[dict[str, str]]:
        return _keys()

    @app.get("/api/files")
    def names() -> list[str]:
        return lab.names()

    @app.get("/api/files/{name}")
    def read(name: str) -> dict[str, str]:
        try:
            return {"name": name, "text": lab.read(name)}
        except OSError as error:
            raise HTTPException(404, error.strerror or str(error)) from None

    @app.put("/api/files/{name}")
    def save(name: str, text: Text) -> dict[str, str]:
        lab.save(name, text)
        return {"name": name}

    @app.post("/api/check")
    def check(text: Text) -> dict[str, Any]:
        return _checked(lab, text)[1]

    @app.post("/api/runs")
    def begin(
        text: Text,
        title: Annotated[Words, Body(embed=True, max_length=60)] = "run",
        seed: Annotated[int | None, Body(embed=True, ge=0, lt=2**64)] = None,
    ) -> JSONResponse:
        scenario, found = _checked(lab, text)
        if scenario is None:
            return JSONResponse(found, 422)
        return JSONResponse(runs.begin(scenario, text, title, seed).as_dict())

    @app.get("/api/runs")
    def all_runs() -> list[dict[str, Any]]:
        return [run.as_dict() for run in runs.all()]

    @app.delete("/api/runs/{number}")
    def cancel(number: int) -> dict[str, Any]:
        run = _run(runs, number)
        run.cancelled.set()
        return run.as_dict()

    @app.get("/api/runs/{number}/progress")
    def progress(number: int) -> StreamingResponse:
        return StreamingResponse(_events(_run(runs, number)), media_type="text/event-stream")

    @app.get("/api/runs/{number}/bundle")
    def bundle(number: int) -> Response:
        run = _run(runs, number)
        content = _bundle(lab, run)
        name = f'attachment; filename="skycell-run-{number}.zip"'
        headers = {"Content-Disposition": name}
        return Response(content, media_type="application/zip", headers=headers)

    @app.get("/api/runs/{number}/map")
    def map_of(number: int) -> dict[str, str]:
        """The map of a run over a constellation second by second, as in its report; or nothing."""
        run = _run(runs, number)
        if run.result is None:
            raise HTTPException(400, "a run that has ended")
        frames = map_over_time(run.result)
        return {"html": "" if frames is None else frames_part(frames)}

    @app.get("/api/compare")
    def compare(
        numbers: Annotated[str, Query(pattern=_NUMBERS)],
        width: Annotated[int, Query(ge=100, le=4000)] = 640,
    ) -> dict[str, Any]:
        chosen = [_run(runs, int(one)) for one in numbers.split(",") if one]
        done = [run for run in chosen if run.result is not None]
        if not done or len(done) > MOST_RUNS:
            raise HTTPException(400, f"1 to {MOST_RUNS} runs that have ended")
        rows = [
            {"number": run.number, "title": run.title, "values": row_of(run.result)}
            for run in done
            if run.result is not None
        ]
        notes = [note for run in done if run.result for note in run.result.notes]
        return {"picture": picture(done, width), "rows": rows, "notes": list(dict.fromkeys(notes))}

    @app.get("/api/exercises")
    def listed() -> list[dict[str, Any]]:
        return [
            {
                **exercise.model_dump(include={"id", "title", "text", "scenario"}),
                "questions": [
                    {"text": q.text, "kind": q.kind, "choices": list(q.variants)}
                    for q in exercise.questions
                ],
            }
            for exercise in exercises()
        ]

    @app.post("/api/exercises/{name}/{number}")
    def answer(
        name: str, number: int, answer: Annotated[Words, Body(embed=True, max_length=60)]
    ) -> dict[str, Any]:
        found = next((exercise for exercise in exercises() if exercise.id == name), None)
        if found is None or not 0 <= number < len(found.questions):
            raise HTTPException(404)
        graded = grade(found, number, answer)
        return {
            "exercise": name,
            "question": number,
            "input": answer,
            "right": graded.is_right,
            "answer": graded.answer,
            "values": dict(graded.values),
            "why": graded.why,
            "version": version(),
        }

    return app


def _why_refused(request: Request, token: str) -> str | None:
    host = request.headers.get("host", "")
    if host.rsplit(":", 1)[0] not in HOSTS:
        return "a workbench answers to this machine's own names only"
    origin = request.headers.get("origin")
    if origin is not None and origin.split("://")[-1] != host:
        return "a page from elsewhere asked"
    path = request.url.path
    if path.startswith("/page/") or path == "/favicon.ico":
        return None  # scripts and styles, which are no secret
    found = request.headers.get("x-lab-token") or request.query_params.get("token", "")
    if not hmac.compare_digest(found.encode(), token.encode()):
        return "the address has no token, or another one: take the one that skycell lab printed"
    return None


def _part(name: str) -> Response:
    content = (files("skycell.lab") / "page" / name).read_bytes()
    return Response(content, media_type=_PARTS[name])


def _vega() -> str:
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return script


def _run(runs: LabRuns, number: int) -> LabRun:
    found = runs.get(number)
    if found is None:
        raise HTTPException(404, f"no run {number}, or no more")
    return found


async def _events(run: LabRun) -> AsyncIterator[str]:
    while True:
        is_over = run.ended.is_set()
        yield f"data: {json.dumps(run.as_dict() | {'text': None})}\n\n"
        if is_over:
            return
        await asyncio.sleep(_TICK_S)


def _checked(lab: LabFolder, text: str) -> tuple[Scenario | None, dict[str, Any]]:
    """The scenario of a text, if it can be run; and what a page shows of faults and notes."""
    from skycell.input.faults import ScenarioFaults, faults_as_dict
    from skycell.input.text import files_within
    from skycell.scenario import parse
    from skycell.scenario.notes import notes_on, notes_on_carriers
    from skycell.scenario.sky_paths import notes_on_series, sky_paths

    lab.refuse_outside(text)
    try:
        # What the files of the folder name in their turn is held to it, too.
        with files_within(lab.path):
            scenario = parse(text, "scenario", lab.path)
            spec = scenario.resolve()
        notes = [
            *notes_on(spec, sky_paths(scenario)),
            *notes_on_carriers(scenario.file.topology),
            *notes_on_series(scenario),
        ]
    except ScenarioFaults as found:
        return None, {**faults_as_dict(found.faults), "notes": []}
    return scenario, {**faults_as_dict(()), "notes": notes}


def _templates() -> dict[str, str]:
    return {exercise.title: exercise.scenario.strip() + "\n" for exercise in exercises()}


def _keys() -> list[dict[str, str]]:
    """Keys of the scenario file with what they mean, for help beside the editor."""
    from skycell.input.tables import tables
    from skycell.scenario.file.scenario_file import WrittenFile

    return [
        {
            "table": table.heading,
            "key": key.name,
            "default": key.default,
            "meaning": key.meaning,
            "allowed": key.allowed,
        }
        for table in tables(WrittenFile)
        for key in table.keys
    ]


def _bundle(lab: LabFolder, run: LabRun) -> bytes:
    """A run as a bundle, which `skycell unpack --verify` makes again."""
    from skycell.exports.bundle import INPUT, RESULT, bundle_of
    from skycell.input.text import files_noted
    from skycell.records.files import write_result

    if run.result is None:
        raise HTTPException(409, "the run has not ended well")
    with files_noted() as noted:
        _checked(lab, run.text)
    read = (path.resolve() for path in noted)
    own = {path for path in read if path.is_relative_to(lab.path) and path.is_file()}
    files = {f"{INPUT}/{path.relative_to(lab.path).as_posix()}": path.read_bytes() for path in own}
    scenario = f"{INPUT}/{_unused('scenario.toml', {path.name for path in own})}"
    files[scenario] = run.text.encode()
    with TemporaryDirectory() as folder:
        for file in write_result(run.result, Path(folder)):
            files[f"{RESULT}/{file.name}"] = file.read_bytes()
    traces = (word for name in run.result.traces for word in ("--trace", name))
    command = ["run", scenario, "--seed", str(run.result.seed), *traces]
    return bundle_of(command, files, version()).to_bytes()


def _unused(name: str, used: set[str]) -> str:
    return name if name not in used else _unused(f"the-{name}", used)
