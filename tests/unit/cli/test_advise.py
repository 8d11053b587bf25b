"""`skycell advise`: stored runs that are near, runs of just this link, and what it says of both."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skycell.cli.main import main
from skycell.studies.category_advice import SERVICES

NEAR = {"--rate": "20 Mbit/s", "--rtt": "550 ms", "--users": "11"}
"""A question near a stored setting of links."""
CATEGORY = {"--choose": "category", "--rate": "8 Mbit/s", "--rtt": "560 ms", "--users": "10"}


def call(tmp_path: Path, options: dict[str, str], *more: str) -> list[str]:
    words = [word for pair in options.items() for word in pair]
    return ["advise", *words, "--store", str(tmp_path / "runs.sqlite"), *more]


def shown(tmp_path: Path, options: dict[str, str], *more: str) -> str:
    result = CliRunner().invoke(main, call(tmp_path, options, *more))
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def as_json(tmp_path: Path, options: dict[str, str], *more: str) -> dict[str, Any]:
    result = CliRunner().invoke(main, call(tmp_path, options, *more, "--json"))
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_a_question_near_a_stored_setting_is_answered_from_it_at_once(tmp_path: Path) -> None:
    found = as_json(tmp_path, NEAR)
    assert found["from"] == "stored"
    assert found["command"] == "skycell reproduce link-options-bulk link-options-bbr"
    assert not found["not_stored"]
    assert found["nearest"]["setting"]["rtt_s"] == 0.6
    assert all(one["is_near"] for one in found["nearest"]["differences"])
    assert found["replications"] == 5
    said = shown(tmp_path, NEAR)
    assert "From stored runs of study link-options (link-options-bulk, link-options-bbr: " in said
    assert "20 Mbit/s, 600 ms, 10 users of bulk traffic" in said
    assert "round trip 550 ms 600 ms 0.917 times near" in said
    assert "The same runs again: skycell reproduce link-options-bulk link-options-bbr" in said
    assert "p95 sojourn of" in said
    assert {one["levels"]["tcp"] for one in found["ranked"]} == {
        "reno",
        "cubic",
        "bbr",
        "split_bbr",
    }
    assert "Not among the stored runs" not in said
    assert said.startswith("Take buffer ")
    # What more goodput costs: by delay, and so by goodput too.
    delays = [one["p95_sojourn"] for one in found["trade_off"]]
    goodputs = [one["throughput"] for one in found["trade_off"]]
    assert (delays, goodputs) == (sorted(delays), sorted(goodputs))
    assert "router1>router2," in said


def test_stored_runs_far_from_the_question_say_so_factor_by_factor(tmp_path: Path) -> None:
    far = NEAR | {"--rate": "200 Mbit/s", "--users": "2", "--from": "stored"}
    said = shown(tmp_path, far)
    assert "rate 200 Mbit/s 20 Mbit/s 10 times outside" in said
    assert "Outside of all that is stored: rate, packets in flight." in said
    between = NEAR | {"--rtt": "200 ms", "--from": "stored"}
    assert "Not near in every factor: --from runs makes runs" in shown(tmp_path, between)


@pytest.mark.parametrize("aim", ["goodput", "delay", "fairness", "vc_fairness", "guarantee"])
def test_a_category_is_ranked_by_each_aim_from_the_study(tmp_path: Path, aim: str) -> None:
    found = as_json(tmp_path, CATEGORY | {"--matters": aim})
    assert found["nearest"]["study"] == "service-categories"
    assert found["command"] == "skycell reproduce service-categories-use --replications 8"
    assert len(found["ranked"]) + len(found["unranked"]) == 18
    best = found["ranked"][0]["levels"]["service"]
    if aim == "guarantee":  # of GFR, with a queue a VC, or of ABR, which has its MCR
        assert best in ("gfr_wfq", "gfr_dfba", "abr", "abr_vsvd")
        assert {one["service"] for one in found["unranked"]} == {"ip_fq_codel"}


def test_web_users_of_a_category_are_stored(tmp_path: Path) -> None:
    found = as_json(tmp_path, CATEGORY | {"--matters": "pages", "--traffic": "web"})
    assert found["command"].startswith("skycell reproduce service-categories-web")
    assert found["ranked"][0]["values"]["page_response_p95"] > 1  # s; a round trip is 0.6 s


def test_a_category_of_another_link_is_run_on_the_studys_network(tmp_path: Path) -> None:
    asked = CATEGORY | {"--rate": "2 Mbit/s", "--rtt": "40 ms", "--users": "5"}
    asked |= {"--replications": "2", "--loss": "0.1 %"}
    found = as_json(tmp_path, asked)
    assert found["from"] == "runs"
    assert len(found["ranked"]) == 9
    assert found["command"].endswith(
        "--choose category --rate '2 Mbit/s' --rtt '40 ms' --users 5 --traffic bulk --loss '0.1 %' "
        "--matters goodput --replications 2 --from runs"
    )
    assert all(0 < row["values"]["throughput"] < 2 for row in found["ranked"])


PAPERS = {"--choose": "category", "--rate": "155 Mbit/s", "--rtt": "550 ms", "--users": "50"}


def test_a_question_at_the_papers_scale_is_answered_from_a_study_of_theirs(tmp_path: Path) -> None:
    found = as_json(tmp_path, PAPERS)
    assert (found["from"], found["nearest"]["study"]) == ("stored", "atmf970616")
    assert found["nearest"]["tables"] == ["atmf970616-s4"]
    assert found["nearest"]["setting"]["mss"] == 9180
    assert all(one["is_near"] for one in found["nearest"]["differences"])
    assert {one["levels"]["service"] for one in found["ranked"]} == {"ubr_sd"}
    assert found["ranked"][0]["values"]["efficiency"] > 0.9
    assert {"ubr_tail_drop", "gfr_dfba", "abr"} <= set(found["not_stored"])
    assert "ubr_sd" not in found["not_stored"]
    said = shown(tmp_path, PAPERS)
    assert "97-0616, Figures 2 to 4" in said
    assert "Nothing but service ubr_sd, tcp sack was run." in said


def test_segments_that_differ_are_not_near(tmp_path: Path) -> None:
    found = as_json(tmp_path, PAPERS | {"--mss": "1460 B", "--from": "stored"})
    (segment,) = [one for one in found["nearest"]["differences"] if one["factor"] == "segment"]
    assert (segment["stored"], segment["is_near"]) == ("9180 B", False)
    near = as_json(tmp_path, PAPERS | {"--mss": "9180 B"})
    assert near["from"] == "stored"
    assert "another setting" in found["answer"]
    assert "another setting" not in near["answer"]


def test_what_the_nearest_study_does_not_measure_comes_from_the_next(tmp_path: Path) -> None:
    found = as_json(tmp_path, PAPERS | {"--matters": "delay", "--from": "stored"})
    assert found["nearest"]["study"] == "service-categories"
    assert found["nearer_without_it"]["study"] == "atmf970616"
    said = shown(tmp_path, PAPERS | {"--matters": "delay", "--from": "stored"})
    assert "without a measure of delay: study atmf970616" in said


def test_beside_vbr_only_runs_beside_vbr_answer(tmp_path: Path) -> None:
    asked = PAPERS | {"--users": "5", "--beside": "vbr"}
    found = as_json(tmp_path, asked)
    assert found["nearest"]["study"] == "atmf970424"
    assert found["nearest"]["tables"] == [f"atmf970424-t{number}" for number in (7, 8, 9)]
    assert {one["levels"]["guaranteed"] for one in found["ranked"]} == {0, 0.1, 0.5}
    near = as_json(tmp_path, asked | {"--rtt": "30 ms", "--matters": "fairness"})
    assert near["nearest"]["tables"] == ["atmf970424-t4", "atmf970424-t6"]
    # Table 4 has the efficiencies, and Table 6 the fairness of the same runs.
    assert len(near["ranked"]) == 54
    assert all(one["values"]["efficiency"] is not None for one in near["ranked"])
    of_packets = NEAR | {"--beside": "vbr"}
    result = CliRunner().invoke(main, call(tmp_path, of_packets))
    assert result.exit_code == 2
    assert "no stored experiment has bulk traffic beside VBR" in result.output


def test_web_users_of_the_papers_are_ranked_by_what_they_get_together(tmp_path: Path) -> None:
    asked = PAPERS | {"--rate": "45 Mbit/s", "--users": "100", "--traffic": "web"}
    found = as_json(tmp_path, asked)
    assert found["nearest"]["study"] == "atmf980876r1"
    assert len(found["ranked"]) == 24
    # Runs of just this link measure pages alone.
    result = CliRunner().invoke(main, call(tmp_path, asked, "--from", "runs"))
    assert result.exit_code == 2
    assert "no measure of goodput for web traffic" in result.output


def test_a_guarantee_over_gfr_is_ranked_by_scheme(tmp_path: Path) -> None:
    asked = PAPERS | {"--rate": "17 Mbit/s", "--users": "100", "--matters": "guarantee"}
    found = as_json(tmp_path, asked)
    assert found["nearest"]["study"] == "gfr-schemes"
    kept = {one["levels"]["service"]: one["kept_for_each"] for one in found["ranked"]}
    assert len(kept) == 18
    assert kept["gfr_wfq"] == kept["gfr_round_robin"] == ["count", "queue"]
    assert kept["gfr_tail_drop"] == []


def test_vbr_and_segments_are_those_of_the_runs_that_are_made(tmp_path: Path) -> None:
    asked = CATEGORY | {"--rate": "2 Mbit/s", "--rtt": "40 ms", "--users": "5", "--mss": "512 B"}
    asked |= {"--replications": "2", "--beside": "vbr"}
    found = as_json(tmp_path, asked)
    assert found["from"] == "runs"
    assert "--mss '512 B' --beside vbr" in found["command"]
    # VBR takes half of the link. A scheduler of VCs has one buffer, and VBR has its own.
    assert all(0 < row["values"]["throughput"] < 1 for row in found["ranked"])
    assert {"gfr_wfq"} == set(SERVICES) - {row["levels"]["service"] for row in found["ranked"]}


def test_a_figure_has_a_row_for_every_option(tmp_path: Path) -> None:
    shown(tmp_path, NEAR, "--plot", str(tmp_path / "advice.svg"))
    drawn = (tmp_path / "advice.svg").read_text(encoding="utf-8")
    for word in ("fq codel rtt", "not told apart", "Bonferroni"):
        assert word in drawn


def test_the_command_answers_and_says_how_to_repeat_it(tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "runs.sqlite")]
    call = ["advise", "--rate", "2 Mbit/s", "--rtt", "40 ms", "--users", "2", *store]
    call += ["--replications", "2", "--matters", "delay", "--from", "runs"]
    out = tmp_path / "out"
    shown = CliRunner().invoke(main, [*call, "--out", str(out), "--jobs", "1"])
    assert shown.exit_code == 0, shown.output
    assert f"skycell sweep {out / 'advise.toml'}" in shown.output
    shown_json = json.loads(CliRunner().invoke(main, [*call, "--json"]).stdout)
    waits = [row["values"]["p95_sojourn"] for row in shown_json["ranked"]]
    assert waits == sorted(waits)
    assert len(shown_json["ranked"]) == 32
    assert not shown_json["not_stored"]
    again = CliRunner().invoke(
        main, ["sweep", str(out / "advise.toml"), "--plan", "--json", *store]
    )
    assert json.loads(again.stdout)["missing"] == 0
    # Over a short way CoDel keeps a shorter queue than a full buffer, whatever the TCP.
    by_policy = {
        (row["levels"]["policy"], row["levels"]["tcp"]): row["values"]["p95_sojourn"]
        for row in shown_json["ranked"]
        if row["levels"]["buffer"] == 1
    }
    assert by_policy["codel", "cubic"] < by_policy["tail_drop", "cubic"]
