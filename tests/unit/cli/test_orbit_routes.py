"""`skycell orbit routes`: what is shown, written and refused."""

import json
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.orbit import as_constellation, find_places, routes
from tests.structure.tree import ROOT
from tests.unit.orbit.test_routes import EXPECTED, hypatia, write_fstate

SECOND = 10**12
CALL = [
    "orbit",
    "routes",
    "iridium-like",
    "london",
    "sydney",
    "--duration",
    "40 s",
    "--step",
    "1 s",
]


def run(*arguments: str) -> str:
    found = CliRunner().invoke(main, arguments)
    assert found.exit_code == 0, found.output
    return found.stdout


def test_the_same_routes_are_shown_written_and_given_to_programs(tmp_path: Path) -> None:
    sky, places = as_constellation("iridium-like"), find_places(["london", "sydney"])
    known = routes(sky, places, [(0, 1)], duration_ps=40 * SECOND, step_ps=SECOND)
    shown = run(*CALL)
    for node, hop in zip(known.spans[0].nodes, known.spans[0].nodes[1:], strict=False):
        assert any(line.split()[:2] == [node, hop] for line in shown.splitlines())
    inputs = json.loads(run(*CALL, "--json"))
    (pair,) = inputs["pairs"]
    assert pair["delays_ps"] == known.delays_ps(0)
    assert [tuple(path["nodes"]) for path in pair["paths"]] == [s.nodes for s in known.spans]
    assert inputs["columns"] == {"sha256": known.digest, "octets": known.octets}
    assert inputs["changes"] == known.changes > 0
    for rows, table in (
        ("paths", known.path_table()),
        ("changes", known.change_table()),
        ("next", known.next_table()),
    ):
        file = tmp_path / f"{rows}.parquet"
        run(*CALL, "--rows", rows, "--parquet", str(file))
        assert pl.read_parquet(file).equals(table)


def test_columns_are_written_once_unless_forced(tmp_path: Path) -> None:
    from hashlib import sha256

    file = tmp_path / "sky.columns"
    reported = json.loads(run(*CALL, "--columns", str(file), "--json"))["columns"]
    assert sha256(file.read_bytes()).hexdigest() == reported["sha256"]
    assert CliRunner().invoke(main, [*CALL, "--columns", str(file)]).exit_code == 2
    assert CliRunner().invoke(main, [*CALL, "--columns", str(file), "--force"]).exit_code == 0


def test_fewer_hops_may_take_longer() -> None:
    # At a low mask a far satellite may save a link.
    call = ["orbit", "routes", "kuiper-like", "--pair", "paris", "los_angeles", "--json"]
    call += ["--set", "ground.mask=2 deg"]
    by_delay, by_hops = (json.loads(run(*call, "--by", by))["pairs"][0] for by in ("delay", "hops"))
    hops = [len(pair["paths"][0]["nodes"]) - 1 for pair in (by_delay, by_hops)]
    assert hops[1] < hops[0]
    assert by_hops["delays_ps"][0] > by_delay["delays_ps"][0]


def test_hypatias_routes_are_shown_with_their_times(tmp_path: Path) -> None:
    folder = write_fstate(hypatia(tmp_path) / "dynamic", [EXPECTED, {(2, 5): 3}])
    call = ["orbit", "routes", str(tmp_path), "--fstate", str(folder), "--pair", "Luanda", "Lagos"]
    inputs = json.loads(run(*call, "--json"))
    assert (inputs["by"], inputs["steps"], inputs["step_ps"]) == ("table", 2, SECOND)
    assert [(p["from"], p["to"]) for p in inputs["pairs"]] == [("Luanda", "Lagos")]
    assert [delay is None for delay in inputs["pairs"][0]["delays_ps"]] == [False, True]
    refused = CliRunner().invoke(main, [*call, "--step", "1 s"])
    assert refused.exit_code == 2
    assert "--fstate and --step" in refused.output


def test_a_place_without_a_satellite_is_a_note_and_not_the_end() -> None:
    # Kuiper is in reach up to latitude 60 at a mask of 35 degrees; Tromso is at 69.
    call = ["orbit", "routes", "kuiper-like", "new_york", "69.6,18.9", "paris", "--duration", "1 s"]
    found = CliRunner().invoke(main, call)
    assert found.exit_code == 0, found.output
    assert "69.6,18.9" in found.stderr
    inputs = json.loads(run(*call, "--json"))
    assert inputs["unlinked"] == ["69.6,18.9"]
    lost, arrives = inputs["pairs"]
    assert lost["delays_ps"] == [None] * 11
    assert None not in arrives["delays_ps"]


def test_what_makes_no_sense_is_refused() -> None:
    for more, word in (
        (["--step", "0 s"], "--step"),
        (["--set", "route=greedy", "--set", "ground.access=nearest"], "greedy"),
        (["--duration", "2000 h", "--step", "1 ms"], "epochs"),
    ):
        found = CliRunner().invoke(main, [*CALL[:5], *more])
        assert found.exit_code == 2, found.output
        assert word in found.output
    alone = CliRunner().invoke(main, CALL[:4])
    assert alone.exit_code == 2


def test_a_built_in_list_is_the_same_by_its_name_and_as_places() -> None:
    call = ["orbit", "routes", "kuiper-like", "--duration", "0 s", "--json"]
    ends = ["--pair", "New York", "Cape Town", "--pair", "52.5,13.4", "kunming"]
    asked = [
        json.loads(run(*call, *more))
        for more in (["--places", "cities-100"], ["cities-100"], ["cities-100", *ends])
    ]
    assert asked[0] == asked[1]
    # Kuiper is in reach up to latitude 60 at its mask: not of Saint Petersburg at 59.9 now.
    assert asked[0]["unlinked"] == ["saint_petersburg"]
    assert [(pair["from"], pair["to"]) for pair in asked[2]["pairs"]] == [
        ("new_york", "cape_town"),
        ("52.5,13.4", "kunming"),
    ]
    assert asked[2]["destinations"] == 102
    for verb in ("routes", "series"):
        pair = ["orbit", verb, "kuiper-like", "--pair", "cities-100", "paris"]
        found = CliRunner().invoke(main, pair)
        assert found.exit_code != 0
        assert "cities-100" in (found.output or str(found.exception))


def test_routes_of_a_table_and_of_a_router_are_those_that_the_files_have(tmp_path: Path) -> None:
    hops = tmp_path / "next.csv"
    run(*CALL[:5], "--duration", "0 s", "--rows", "next", "--csv", str(hops))
    table = pl.read_csv(hops, schema_overrides={"next": pl.String})
    table = table.rename({"to": "destination"}).with_columns(pl.lit(0).alias("time"))
    file = tmp_path / "routes.csv"
    table.write_csv(file)
    known = json.loads(run(*CALL[:5], "--duration", "0 s", "--json"))
    inputs = json.loads(run(*CALL[:5], "--table", str(file), "--json"))
    assert (inputs["by"], inputs["columns"]) == ("table", known["columns"])
    # A pair that is named takes no place of the table away.
    ends = ["--places", "cities-100", "--table", str(file), "--pair", "london", "sydney"]
    assert json.loads(run(*CALL[:3], *ends, "--json"))["destinations"] == 100
    router = ["--router", f"{ROOT / 'examples/routers/two_ways.py'}:next_hops"]
    inputs = json.loads(run(*CALL, *router, "--option", "avoid_above=90", "--json"))
    assert (inputs["by"], inputs["steps"]) == ("router", 41)
    delays_ps = json.loads(run(*CALL, "--json"))["pairs"][0]["delays_ps"]
    assert inputs["pairs"][0]["delays_ps"] == delays_ps
    low = json.loads(run(*CALL, *router, "--option", "avoid_above=20", "--json"))
    assert low["pairs"][0]["delays_ps"] != delays_ps


def test_routes_are_chosen_once(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("def hops(step):\n    return step.before\n", encoding="utf-8")
    router = ["--router", f"{file}:hops"]
    for more, words in (
        (["--table", str(file), *router], ("--table", "--router")),
        ([*router, "--by", "hops"], ("--router", "--by")),
        (["--fstate", str(tmp_path), *router], ("--fstate", "--router")),
        (["--option", "a=1"], ("--option", "--router")),
        (["--router", "own.py"], ("FILE:FUNCTION",)),
        (["--router", "none.py:hops"], ("none.py",)),
        ([*router, "--option", "a"], ("KEY=VALUE",)),
        ([*router, "--option", "a=1", "--option", "a=2"], ("each key once",)),
        ([*router[:1], f"{file}:hop"], ("did you mean hops?",)),
    ):
        found = CliRunner().invoke(main, [*CALL, *more])
        assert found.exit_code != 0
        shown = found.output or str(found.exception)
        assert all(word in shown for word in words), (more, found)
