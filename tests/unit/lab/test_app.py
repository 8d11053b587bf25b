"""The workbench over HTTP: who is answered, what is read and written, runs, pictures, exercises."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from skycell.exports.bundle import read_bundle
from skycell.lab.app import POLICY, create_app
from skycell.lab.exercise import _values, exercises

TOKEN = "a-token"
SCENARIO = """run.duration = "5 s"
tcp = { preset = "rfc" }

[topology]
kind = "dumbbell"
sources = 2
bottleneck = { rate = "10 Mbit/s", framing = "ip", delay = "20 ms", buffer = "1 BDP" }
access = { rate = "1 Gbit/s", framing = "ip", delay = "1 ms" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    own = tmp_path / "course"
    own.mkdir()
    (own / "first.toml").write_text(SCENARIO)
    (tmp_path / "secret.toml").write_text("secret = 1")
    (tmp_path / "secret.csv").write_text("time_s,delay_ms\n0,20\n9,20\n")
    (own / "link.toml").symlink_to(tmp_path / "secret.toml")
    (own / "link.csv").symlink_to(tmp_path / "secret.csv")
    return own


@pytest.fixture
def client(folder: Path) -> Iterator[TestClient]:
    app = create_app(folder, TOKEN)
    with TestClient(app, "http://127.0.0.1:8000", headers={"X-Lab-Token": TOKEN}) as found:
        yield found
    app.state.runs.cancel_all()


def run_to_its_end(client: TestClient, text: str = SCENARIO, **more: Any) -> dict[str, Any]:
    begun = client.post("/api/runs", json={"text": text, "title": "run", **more})
    assert begun.status_code == 200, begun.text
    number = begun.json()["number"]
    events = client.get(f"/api/runs/{number}/progress").text.strip().split("\n\n")
    last: dict[str, Any] = json.loads(events[-1].removeprefix("data: "))
    return last


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Lab-Token": ""},
        {"X-Lab-Token": "another"},
        {"Host": "evil.example:8000"},
        {"Host": "127.0.0.1.evil.example"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_strangers_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    for path in ("/", "/api/files", "/api/files/first.toml", "/api/exercises"):
        refused = client.get(path, headers=headers)
        assert refused.status_code == 403, path
        assert "run.duration" not in refused.text
    begun = client.post("/api/runs", json={"text": SCENARIO}, headers=headers)
    assert begun.status_code == 403


def test_the_token_may_stand_in_the_address_and_nothing_is_loaded_from_elsewhere(
    client: TestClient,
) -> None:
    page = client.get("/", params={"token": TOKEN}, headers={"X-Lab-Token": ""})
    assert page.status_code == 200
    assert page.headers["Content-Security-Policy"] == POLICY
    parts = [client.get(f"/page/{name}").text for name in ("lab.js", "lab.css", "index.html")]
    assert not any("https://" in part or "http://" in part for part in parts)
    assert "vegaEmbed" in client.get("/page/vega.js").text
    assert client.get("/page/..%2Fapp.py").status_code == 404


@pytest.mark.parametrize(
    "name",
    ["../secret.toml", "..%2Fsecret.toml", "link.toml", ".hidden.toml", "a.py", "/etc/x.toml"],
)
def test_no_file_outside_the_folder_is_read_or_written(
    client: TestClient, folder: Path, name: str
) -> None:
    assert client.get(f"/api/files/{name}").status_code in (400, 404)
    before = sorted(folder.parent.rglob("*"))
    assert client.put(f"/api/files/{name}", json={"text": "x = 1"}).status_code in (400, 404, 405)
    assert sorted(folder.parent.rglob("*")) == before
    assert (folder.parent / "secret.toml").read_text() == "secret = 1"


@pytest.mark.parametrize("file", ["/etc/passwd", "../secret.csv", "link.csv", "~/x", "C:\\\\x"])
def test_a_scenario_that_names_a_file_outside_is_refused(client: TestClient, file: str) -> None:
    text = SCENARIO.replace('delay = "20 ms"', f'schedule = {{ series = "{file}" }}', 1)
    for call in (
        client.post("/api/check", json={"text": text}),
        client.post("/api/runs", json={"text": text}),
        client.put("/api/files/new.toml", json={"text": text}),
    ):
        assert call.status_code == 400
        assert "in its own folder" in call.text


def test_a_scenario_is_saved_and_read_again(client: TestClient, folder: Path) -> None:
    assert client.get("/api/files").json() == ["first.toml"]
    assert client.put("/api/files/second.toml", json={"text": SCENARIO}).status_code == 200
    assert client.get("/api/files/second.toml").json()["text"] == SCENARIO
    assert (folder / "second.toml").read_text() == SCENARIO


def test_faults_have_their_line_and_nothing_is_run(client: TestClient) -> None:
    text = SCENARIO.replace("10 Mbit/s", "10 Mbits")
    found = client.post("/api/check", json={"text": text}).json()
    (fault,) = found["faults"]
    assert (fault["line"], fault["path"]) == (7, "topology.bottleneck.rate")
    assert client.post("/api/runs", json={"text": text}).status_code == 422
    assert client.get("/api/runs").json() == []
    assert client.post("/api/check", json={"text": "a = ["}).json()["faults"]
    assert client.post("/api/check", json={"text": SCENARIO}).json()["faults"] == []


def test_runs_are_followed_drawn_compared_and_bundled(client: TestClient) -> None:
    one = run_to_its_end(client)
    assert (one["state"], one["share"]) == ("done", 1.0)
    other = run_to_its_end(client, SCENARIO.replace("1 BDP", "4 BDP"), seed=7)
    both = client.get("/api/compare", params={"numbers": "1,2"}).json()
    panels = both["picture"]["vconcat"]
    fields = [panel["encoding"]["y"]["field"] for panel in panels]
    assert fields == ["kb", "mbps", "rtt_ms", "wait_ms"]
    (shown,) = {key for row in both["rows"] for key in row["values"] if "p95 sojourn" in key}
    assert shown == "p95 sojourn of router1>router2 (ms)"
    wait = {row["number"]: row["values"][shown] for row in both["rows"]}
    assert wait[other["number"]] > 2 * wait[one["number"]]  # four times the buffer
    alone = client.get("/api/compare", params={"numbers": "1"}).json()["picture"]["vconcat"][0]
    assert alone["encoding"]["color"]["scale"]["domain"] == ["flow1", "flow2"]
    bundle = read_bundle(client.get("/api/runs/2/bundle").content)
    assert bundle.command[:4] == ("run", "input/scenario.toml", "--seed", "7")
    assert {"result/spec.json", "result/records.json"} <= bundle.files.keys()
    assert "4 BDP" in bundle.files["input/scenario.toml"].decode()
    assert client.get("/api/compare", params={"numbers": "1,2,1,2,1"}).status_code == 400
    assert client.get("/api/compare", params={"numbers": "9"}).status_code == 404


def test_a_run_can_be_stopped(client: TestClient) -> None:
    text = SCENARIO.replace("5 s", "3000 s").replace("sources = 2", "sources = 50")
    number = client.post("/api/runs", json={"text": text}).json()["number"]
    client.delete(f"/api/runs/{number}")
    events = client.get(f"/api/runs/{number}/progress").text
    assert '"state": "cancelled"' in events
    assert client.get("/api/compare", params={"numbers": str(number)}).status_code == 400


@pytest.mark.parametrize("exercise", exercises(), ids=lambda exercise: str(exercise.id))
def test_every_question_has_one_answer(exercise: Any, client: TestClient) -> None:
    exercise.parsed()
    for number, question in enumerate(exercise.questions):
        values = _values(exercise.id, number)
        if question.kind == "value":
            (value,) = values.values()
            right, wrong = str(value), str(value * 1.2 + 1)
        else:
            ranked = sorted(values.values(), reverse=question.order == "greatest")
            # No question of luck: the best is apart from the next by 2 % and more.
            assert abs(ranked[0] - ranked[1]) > 0.02 * abs(ranked[1]), values
            names = sorted(values, key=values.__getitem__, reverse=question.order == "greatest")
            right, wrong = names[0], names[1]
        for answer, is_right in ((right, True), (wrong, False), ("", False)):
            path = f"/api/exercises/{exercise.id}/{number}"
            graded = client.post(path, json={"answer": answer}).json()
            assert graded["right"] is is_right, (answer, graded)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("put", "/api/files/a.toml", r'{"text": "# \ud800"}'),
        ("post", "/api/check", r'{"text": "# \ud800"}'),
        ("post", "/api/check", r'{"text": "\udfff = 1"}'),
        ("post", "/api/check", r'{"text": 1}'),
        ("post", "/api/runs", r'{"text": "", "title": "\ud800"}'),
        ("post", "/api/runs", '{"text": "", "seed": -1}'),
        ("post", "/api/exercises/none/0", r'{"answer": "\ud800"}'),
        ("post", "/api/exercises/none/" + "9" * 6_000, '{"answer": "1"}'),
        ("get", "/api/compare?numbers=²", None),
        ("get", "/api/compare?numbers=1,٣", None),
        ("get", "/api/compare?numbers=" + "9" * 6_000, None),
        ("get", "/api/compare?numbers=1&width=" + "9" * 6_000, None),
        ("delete", "/api/runs/" + "9" * 6_000, None),
    ],
)
def test_what_is_no_text_and_no_number_is_refused(
    method: str, path: str, body: str | None, client: TestClient
) -> None:
    headers = {"Content-Type": "application/json"}
    content = None if body is None else body.encode()
    answer = client.request(method, path, content=content, headers=headers)
    assert answer.status_code == 422, answer.text
    assert answer.json()["detail"]


def test_a_number_of_thousands_of_digits_is_refused_in_a_body(client: TestClient) -> None:
    body = '{"text": "", "seed": ' + "9" * 6_000 + "}"
    headers = {"Content-Type": "application/json"}
    assert client.post("/api/runs", content=body, headers=headers).status_code in (400, 422)
    text = "run.seed = " + "9" * 6_000
    assert client.post("/api/check", json={"text": text}).json()["fault_count"] > 0


def test_a_file_of_the_folder_names_none_outside(client: TestClient, folder: Path) -> None:
    # The scenario names a constellation within, and that a file of elements without.
    (folder / "sky.toml").write_text(
        '[pattern]\nkind = "elements"\nfile = "../secret.toml"\n'
        '[links]\nkind = "none"\n[earth]\nepoch = "2020-01-01T00:00:00Z"\n'
    )
    named = 'schedule = { constellation = "sky.toml", from = "Rome", to = "Oslo" }'
    text = SCENARIO.replace('delay = "20 ms"', named)
    found = client.post("/api/check", json={"text": text}).json()
    assert any("outside of the folder" in fault["allowed"] for fault in found["faults"]), found


SKY = """run.duration = "3 s"

[topology]
kind = "constellation"
constellation = "iridium-like"
stations = ["paris", "tokyo"]
inter_satellite = { rate = "1 Mbit/s", framing = "ip", buffer = "20 packets" }
ground = { rate = "1 Mbit/s", framing = "ip", buffer = "20 packets" }

[[traffic]]
pairs = "all"
"""


def test_a_run_over_a_constellation_has_the_map_of_its_report(client: TestClient) -> None:
    run = run_to_its_end(client, SKY)
    assert run["state"] == "done", run["reason"]
    shown = client.get(f"/api/runs/{run['number']}/map").json()["html"]
    assert shown.count("<g data-text=") == 3
    assert "<script" not in shown
    assert "playFrames" in client.get("/page/frames.js").text
    found = client.get("/api/compare", params={"numbers": str(run["number"])})
    assert found.status_code == 200, found.text


def test_a_run_over_links_has_no_map(client: TestClient) -> None:
    run = run_to_its_end(client)
    assert client.get(f"/api/runs/{run['number']}/map").json() == {"html": ""}
