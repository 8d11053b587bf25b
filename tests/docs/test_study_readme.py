"""The measured part of a study's README: verdicts, agreement, and what choices do."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from skycell.studies import load_study
from skycell.studies.findings import RunByRun
from skycell.studies.sensitivity import Sensitivity, Shift
from skycell.studies.sensitivity_store import Alternative, Effect, KeptSensitivity
from tests.docs.scripts import load_script
from tests.unit.report.reproductions import CONCLUSIONS, reproduction, row

script = load_script("study_readme")


def test_a_study_tells_which_verdicts_single_replications_share() -> None:
    best, worst, _ = CONCLUSIONS
    conclusions = [
        replace(best, run_by_run=RunByRun(3, 5)),
        replace(best, id="3.4", run_by_run=RunByRun(5, 5)),
        replace(best, id="3.5"),
        replace(worst, run_by_run=RunByRun(2, 5)),
        replace(worst, id="3.6", run_by_run=RunByRun(0, 5)),
    ]
    lines = script._reproduced(reproduction(conclusions=conclusions))
    assert (
        "Of the conclusions that hold in print 3 of 5 hold in ours. Every single replication "
        "agrees on 1 of 2 that hold and on 1 of 2 that do not."
    ) in lines
    assert "* 3.2 Reno is worst. (published: a; ours: b; in 2 of 5 single replications)" in lines
    assert "* 3.6 Reno is worst. (published: a; ours: b; in 0 of 5 single replications)" in lines
    assert "Those that hold, but not in every single replication: 3.1 (3 of 5)." in lines


def test_what_is_told_of_the_choices_or_of_the_verdicts_can_be_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "icccn97").mkdir()
    file = tmp_path / "icccn97" / "README.md"
    above = "# By hand\n\nOurs is too good.\n"
    kept = f"{script.CHOICES}\n\nNot tried: `tcp.handshake`.\n"
    file.write_text(f"{above}\n{script.MARKER}\n\n## What reproduces\n\nold\n\n{kept}")
    monkeypatch.setattr(script, "STUDIES", tmp_path)
    monkeypatch.setattr(script, "reproduce", lambda *_, **__: reproduction())
    arguments = ["icccn97", "--keep-choices", "--store", str(tmp_path / "runs.sqlite")]
    reported = CliRunner().invoke(script.main, arguments)
    assert reported.exit_code == 0, reported.output
    text = file.read_text()
    assert text.startswith(f"{above}\n{script.MARKER}\n\n## What reproduces\n\n2 replications")
    assert text.endswith(f")\n\n{kept}")
    assert "\nold\n" not in text
    monkeypatch.setattr(script, "reproduce", None)
    assert CliRunner().invoke(script.main, [*arguments, "--keep-verdicts"]).exit_code == 0
    assert file.read_text() == text
    monkeypatch.setattr(script, "reproduce", lambda *_, **__: reproduction())
    file.write_text(above)
    assert CliRunner().invoke(script.main, arguments).exit_code == 0
    assert file.read_text() == text.removesuffix(f"\n{kept}")


def test_a_study_whose_single_replications_all_agree_lists_none() -> None:
    lines = script._reproduced(
        reproduction(conclusions=[replace(CONCLUSIONS[0], run_by_run=RunByRun(5, 5))])
    )
    assert not any("not in every single replication" in line for line in lines)


def test_a_study_that_draws_nothing_tells_only_its_verdicts() -> None:
    lines = script._reproduced(reproduction(conclusions=CONCLUSIONS[:2]))
    assert "Of the conclusions that hold in print 1 of 2 hold in ours." in lines
    assert "* 3.2 Reno is worst. (published: a; ours: b)" in lines


def _kept(tables: Sequence[str], alternatives: Sequence[Alternative]) -> KeptSensitivity:
    """Tables of ICCCN'97 as chosen, each with 24 printed values, and some alternatives."""
    as_chosen = {table: Effect(None, None, 9, 8, 7, 0.075, 0) for table in tables}
    return KeptSensitivity("icccn97", 2, ("icccn97",), "0.1.0", "0", as_chosen, tuple(alternatives))


def test_a_readme_names_what_has_not_been_tried_what_has_no_effect_and_what_failed() -> None:
    table = "icccn97-t1"
    moved = Effect(0.0371, 0.5, 11, 8, 5, 0.06, 0)
    still = Effect(0.0, 0.0, 9, 8, 7, 0.075, 2)
    choices = load_study("icccn97").choices
    named = [(choice.name, value) for choice in choices for value in choice.alternatives]
    left = {("tcp.handshake", True), ("tcp.rto_initial", "6 s")}
    kept = [
        Alternative(
            key,
            value,
            {table: moved if key == "tcp.tick" else still},
            {"2.4": False, "2.10": True} if (key, value) == ("tcp.tick", "500 ms") else {},
        )
        for key, value in named
        if (key, value) not in left
    ]
    lines = script._reported_of_choices(_kept([table], kept))
    assert "Not tried: `tcp.rto_initial` 6 s, `tcp.handshake` true." in lines
    assert "| tcp.tick | 500 ms | 2.10 | 2.4 |" in lines
    assert "| tcp.tick | 100 ms | 200 ms | 0.037 | 11 | 8 | 5 | 0.060 |" in lines
    (without,) = [line for line in lines if line.startswith("Without effect: ")]
    assert len(without.split(", ")) == len(named) - len(left) - 2
    assert "tcp.sws_avoidance = false" in without
    (failed,) = [line for line in lines if line.startswith("Rows without a value")]
    assert "tcp.sws_avoidance = false (2)" in failed
    assert "tcp.tick = " not in failed


def test_a_study_of_many_tables_has_one_of_their_changes() -> None:
    tables = [table.id for table in load_study("atmf970424").tables][: script.MOST_IN_FULL + 1]
    moving = {table: Effect(0.01, 0.5, 1, 2, 3, 0.06, 0) for table in tables}
    most = {table: Effect(0.03, 0.5, 1, 2, 3, 0.06, 0) for table in tables}
    kept = replace(
        _kept(
            tables,
            [
                Alternative("tcp.tick", "200 ms", moving, {}),
                Alternative("tcp.tick", "500 ms", most, {}),
                Alternative("tcp.handshake", True, moving, {}),
            ],
        ),
        study="atmf970424",
    )
    lines = script._reported_of_choices(kept)
    head = next(line for line in lines if line.startswith("| choice | as chosen | instead | t1 |"))
    assert head.endswith("| t6 | inside | near | off |")
    place = lines.index(head)
    assert lines[place + 2] == f"| all | as chosen | |{' |' * 6} 54 | 48 | 42 |"
    assert lines[place + 3].startswith("| tcp.tick | 100 ms | 500 ms | 0.030 | 0.030 |")
    assert lines[place + 3].endswith("| 6 | 12 | 18 |")
    assert not any(line.startswith("###") for line in lines)


@pytest.mark.parametrize(
    "file", sorted(script.STUDIES.glob("*/sensitivity.json")), ids=lambda file: file.parent.name
)
def test_what_readmes_tell_of_choices_is_what_their_studies_keep(file: Path) -> None:
    page = (file.parent / "README.md").read_text(encoding="utf-8")
    _, choices = script.parts_of(page)
    assert choices == "\n".join(script._reported_of_choices(KeptSensitivity.read(file)))


def test_what_was_tried_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ijsc").mkdir()
    file = tmp_path / "ijsc" / "README.md"
    file.write_text("# By hand\n")
    reported: list[str] = []
    varied: list[dict[str, Any]] = []
    ours = [reproduction(rows=[row("ijsc-t1", {}, 0.5, (0.5, 0.5))], conclusions=())]

    def measured(ids: Sequence[str], vary: dict[str, Any], **_: Any) -> Sensitivity:
        varied.append(vary)
        (summary,) = ours[0].summaries
        shifts = [
            Shift(key, value, "ijsc-t1", 0.1, 0.2, summary)
            for key, values in vary.items()
            for value in values
        ]
        return Sensitivity("fast", 2, (summary,), tuple(shifts), ())

    monkeypatch.setattr(script, "STUDIES", tmp_path)
    monkeypatch.setattr(script, "reproduce", lambda *_, **__: ours[0])
    monkeypatch.setattr(script, "sensitivity", measured)

    def run(*arguments: str) -> None:
        store = ["--store", str(tmp_path / "runs.sqlite")]
        result = CliRunner().invoke(script.main, ["ijsc", *arguments, *store])
        assert result.exit_code == 0, result.output
        reported.append(result.output)

    run("--choice", "tcp.tick=200 ms")
    assert varied.pop() == {"tcp.tick": ("200 ms",)}
    assert "`tcp.tick` 500 ms, " in file.read_text()
    run("--choice", "tcp.tick")
    assert varied == [{"tcp.tick": ("500 ms",)}]
    assert "| tcp.tick | 100 ms | 500 ms | 0.100 |" in file.read_text()
    assert "Not tried: `link.framing` sts3c, " in file.read_text()
    run("--choice", "tcp.tick")
    assert len(varied) == 1
    run()
    assert "tcp.tick" not in varied[1]
    assert "link.framing" in varied[1]
    assert "Not tried" not in file.read_text()
    assert "| tcp.tick | 100 ms | 500 ms | 0.100 |" in file.read_text()
    replace(
        KeptSensitivity.read(tmp_path / "ijsc" / "sensitivity.json"), note="Of other draws."
    ).write(tmp_path / "ijsc" / "sensitivity.json")
    run("--choice", "tcp.tick")
    assert "\n\nOf other draws.\n\n" in file.read_text()
    ours[0] = reproduction(rows=[row("ijsc-t1", {}, 0.5, (0.5, 0.6))], conclusions=())
    run("--choice", "tcp.tick")
    assert "Of other draws." not in file.read_text()
    assert "note" not in (tmp_path / "ijsc" / "sensitivity.json").read_text()
    assert varied[2] == {"tcp.tick": ("200 ms", "500 ms")}
    assert "the tables as chosen are not what they were: all is tried anew" in reported[-1]
    assert "Not tried: `link.framing` sts3c, " in file.read_text()


def test_a_table_joins_those_that_are_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "icccn97"
    folder.mkdir()
    (folder / "README.md").write_text("# By hand\n")
    old, new = "icccn97-t1", "icccn97-t2"
    ours = {name: row(name, {}, 0.5, (0.5, 0.5)) for name in (old, new)}

    def reproduced(ids: Sequence[str], **_: Any) -> Any:
        return reproduction(rows=[ours[name] for name in ids], conclusions=())

    measured: list[tuple[tuple[str, ...], dict[str, Any]]] = []

    def varied(ids: Sequence[str], vary: dict[str, Any], **_: Any) -> Sensitivity:
        measured.append((tuple(ids), vary))
        summaries = reproduced(ids).summaries
        shifts = [
            Shift(key, value, summary.table, 0.1, 0.2, summary)
            for key, values in vary.items()
            for value in values
            for summary in summaries
        ]
        return Sensitivity("fast", 2, tuple(summaries), tuple(shifts), ())

    monkeypatch.setattr(script, "STUDIES", tmp_path)
    monkeypatch.setattr(script, "reproduce", reproduced)
    monkeypatch.setattr(script, "sensitivity", varied)

    def run(*arguments: str) -> Any:
        store = ["--store", str(tmp_path / "runs.sqlite"), "--keep-verdicts"]
        return CliRunner().invoke(script.main, ["icccn97", *arguments, *store])

    choice = ("--choice", "tcp.tick=200 ms")
    assert run("--table", old, *choice).exit_code == 0
    assert run("--join", new, *choice).exit_code == 0
    assert measured == [((old,), {"tcp.tick": ("200 ms",)}), ((new,), {"tcp.tick": ("200 ms",)})]
    kept = KeptSensitivity.read(folder / "sensitivity.json")
    assert kept.tables == (old, new)
    assert [set(entry.effects) for entry in kept.alternatives] == [{old, new}]
    ours[old] = row(old, {}, 0.5, (0.5, 0.6))
    refused = run("--join", new)
    assert refused.exit_code == 1
    assert "the tables of the file as chosen are not what they were" in refused.output
