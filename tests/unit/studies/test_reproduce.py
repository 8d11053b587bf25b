"""Reproducing tables: runs made once, kept, measured, and compared. The engine is a test double."""

import json
import os
import signal
import threading
from pathlib import Path

import pytest

from skycell.experiment.store import RunStore
from skycell.measures.responses import RESPONSES
from skycell.studies import (
    Progress,
    Reproduction,
    UnknownStudyError,
    known_ids,
    load_study,
    reproduce,
    select,
)
from skycell.studies.evaluation import evaluation_of
from skycell.studies.library import OWN_IDS, PUBLISHED_IDS
from tests.unit.studies.double import Double

GEO_SHARE = 9180 / (53 * 193)
GEO = ["icccn97-t3", "icccn97-t4"]
PROMISED = {"study", "table", "factors", "metric", "unit", "published"}
PROMISED |= {"mean", "sd", "n", "low", "high", "verdict"}


def make(
    double: Double, ids: list[str], store: RunStore | None = None, **options: object
) -> Reproduction:
    settings = {"jobs": 1, "replications": 1, "version": "test", "work": double.work} | options
    return reproduce(ids, store=store, **settings)  # type: ignore[arg-type]


def geo_base_bps(result: Reproduction) -> float | None:
    choices = {choice.name: choice.value for choice in result.choices}
    return evaluation_of(load_study("icccn97"), "geo", choices).stated_bps


def test_a_row_has_the_published_value_and_the_spread_of_ours(double: Double) -> None:
    overrides = {"measure.from": "0 s", "ceiling.geo_segment": "own"}
    result = make(double, ["icccn97-t3"], replications=3, overrides=overrides)
    row = result.rows[0]
    assert row.published == 0.86
    # Five flows get (seed + place) thousandths of 155.52 Mbit/s: 5 seed + 10 in all.
    base_bps = geo_base_bps(result)
    assert base_bps is not None
    unit = 0.001 * 155.52e6 / (base_bps * GEO_SHARE)
    assert row.values == pytest.approx([15 * unit, 20 * unit, 25 * unit], rel=1e-6)
    assert row.n == 3
    assert row.verdict == "off"


def test_one_table_may_be_given_by_its_name_alone(double: Double) -> None:
    result = make(double, "icccn97-t3")  # type: ignore[arg-type]
    assert result.tables == ("icccn97-t3",)
    assert repr(result) == "<Reproduction: icccn97-t3; 18 rows>"


def test_an_engine_that_is_not_there_is_refused_before_the_runs(double: Double) -> None:
    with pytest.raises(ValueError, match="no engine is called"):
        make(double, GEO, engine="perpetual")
    assert double.made() == []


def test_tables_of_the_same_runs_make_them_once(double: Double) -> None:
    result = make(double, GEO, overrides={"measure.from": "0 s"})
    assert len(double.made()) == 18
    assert result.runs.needed == result.runs.simulated == 18
    assert result.runs.shared == {("icccn97-t3", "icccn97-t4"): 18}
    assert len(result.rows) == 36


def test_what_the_store_has_is_not_made_again(double: Double, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:
        first = make(double, ["ijsc"], store)
        again = make(double, ["ijsc"], store)
        assert len(double.made()) == 12
        assert (again.runs.from_store, again.runs.simulated) == (12, 0)
        assert again.to_json() == first.to_json()
        more = make(double, ["ijsc"], store, replications=2)
        assert (more.runs.from_store, more.runs.simulated) == (12, 12)
        make(double, ["ijsc"], store, fresh=True)
        assert len(double.made()) == 36
        make(double, ["ijsc"], store, version="another")
        assert len(double.made()) == 48


def test_a_failed_run_is_told_with_its_reason_and_tried_again(
    double: Double, tmp_path: Path
) -> None:
    (double.folder / "fail").write_text("2")
    with RunStore(tmp_path / "runs.sqlite") as store:
        result = make(double, ["ijsc"], store, replications=3)
        assert result.runs.failed == 12
        assert {run.reason for run in result.failed_runs} == {"RuntimeError: this seed fails"}
        assert {run.seed for run in result.failed_runs} == {2}
        assert all(row.n == 2 for row in result.rows)
        assert all(row.by_replication[1] is None for row in result.rows)
        asked = [entry.run_by_run.of for entry in result.conclusions if entry.run_by_run]
        assert set(asked) == {2}
        assert result.rows[0].as_dict()["failures"] == ["RuntimeError: this seed fails"]
        (double.folder / "fail").unlink()
        result = make(double, ["ijsc"], store, replications=3)
        assert (result.runs.simulated, result.runs.failed) == (12, 0)
        assert all(row.n == 3 for row in result.rows)


def test_a_row_without_any_finished_run_has_failed(double: Double) -> None:
    (double.folder / "fail").write_text("1")
    result = make(double, ["ijsc"])
    assert {row.verdict for row in result.rows} == {"failed"}
    assert result.summaries[0].failed == 12
    assert all(entry.ours_holds is None for entry in result.conclusions)
    json.loads(result.to_json())


def test_averages_are_taken_replication_by_replication(double: Double) -> None:
    result = make(double, ["icccn97-t1"], replications=2, overrides={"measure.from": "0 s"})
    average = next(
        row
        for row in result.rows
        if row.is_average and row.factors == {"config": "lan", "tcp": "sack", "policy": "ubr"}
    )
    cells = [
        row
        for row in result.rows
        if not row.is_average and (row.factors["config"], row.factors["policy"]) == ("lan", "ubr")
    ]
    assert len(cells) == 4
    for replication in range(2):
        of_cells = [row.values[replication] for row in cells]
        assert average.values[replication] == pytest.approx(sum(of_cells) / 4)


def test_a_beginning_that_is_left_out_costs_its_own_run(double: Double) -> None:
    result = make(double, ["icccn97-t3"], overrides={"measure.from": "5 s"})
    assert result.runs.needed == 36
    whole = make(double, ["icccn97-t3"], overrides={"measure.from": "0 s"})
    # The double delivers at an even rate: leaving out the beginning changes nothing.
    for with_it, without in zip(whole.rows, result.rows, strict=True):
        assert without.mean == pytest.approx(with_it.mean, rel=1e-6)


def test_the_json_object_is_the_one_that_is_promised(double: Double) -> None:
    made = make(double, GEO)
    data = json.loads(made.to_json())
    assert list(data) == ["engine", "rows", "conclusions"]
    of_result = json.loads(made.to_result_json())["meanings"]
    assert of_result["jain_fairness"] == RESPONSES["jain_fairness"].meaning
    assert data["engine"] == "fast"
    assert all(set(row) >= PROMISED for row in data["rows"])
    assert [list(entry) for entry in data["conclusions"]] == [
        [
            "study",
            "id",
            "text",
            "published_holds",
            "ours_holds",
            "evidence",
            "replications_holding",
            "replications",
        ]
    ] * len(data["conclusions"])


def test_only_conclusions_about_the_tables_are_asked(double: Double) -> None:
    result = make(double, ["icccn97-t4"])
    assert [entry.id for entry in result.conclusions] == ["3.5"]
    assert result.conclusions[0].published_holds is True
    assert "ours: 0 of 9" in result.conclusions[0].evidence


def test_a_conclusion_that_needs_a_table_we_did_not_make_stays_open(double: Double) -> None:
    result = make(double, ["ijsc-t1"])
    by_id = {entry.id: entry for entry in result.conclusions}
    assert by_id["7.3a"].published_holds is True  # needs ICCCN'97 Table 3
    assert by_id["7.3a"].ours_holds is None
    assert by_id["7.1b"].ours_holds is not None


def test_progress_reaches_the_end(double: Double) -> None:
    reported: list[Progress] = []
    make(double, ["ijsc"], on_progress=reported.append)
    assert reported[0].runs_done == 0
    assert reported[-1].runs_done == reported[-1].runs_to_do == 12
    assert reported[-1].simulated_s == reported[-1].simulated_s_to_do
    done = [progress.runs_done for progress in reported]
    assert done == sorted(done)


@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT as a terminal does")
def test_an_interrupted_study_goes_on_where_it_was(double: Double, tmp_path: Path) -> None:
    with RunStore(tmp_path / "runs.sqlite") as store:

        def stop(progress: Progress) -> None:
            # Batches end several at a time: a number between may never be seen.
            if progress.runs_done and not (double.folder / "slow").exists():
                (double.folder / "slow").touch()
                threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

        with pytest.raises(KeyboardInterrupt):
            make(double, ["ijsc"], store, on_progress=stop)
        kept = len(store)
        assert 1 <= kept < 12
        (double.folder / "slow").unlink()
        result = make(double, ["ijsc"], store)
        assert (result.runs.from_store, result.runs.simulated) == (kept, 12 - kept)


def test_choices_are_told_as_they_were_used(double: Double) -> None:
    result = make(double, ["ijsc"], overrides={"tcp.rto_restart": "on_send"})
    (choice,) = [entry for entry in result.choices if entry.name == "tcp.rto_restart"]
    assert choice.value == "on_send"
    assert choice.reason
    assert all(row.as_dict()["set"] == {"tcp.rto_restart": "on_send"} for row in result.rows)


def test_doubts_stand_beside_their_numbers(double: Double) -> None:
    result = make(double, ["icccn97-t3"])
    (reno, *_) = [d for d in result.doubts if d.factors["tcp"] == "reno"]
    assert reno.published == 0.84
    assert "possible transposition" in reno.doubt
    assert result.summaries[0].suspect.compared == 2


def test_rows_can_be_had_as_csv(double: Double) -> None:
    lines = make(double, ["atmf960518"]).to_csv().splitlines()
    assert lines[0].startswith(
        "study,table,set,buffer_cells,max_window_bytes,destination,n_sources,room_packets,metric,"
    )
    assert any(line.startswith("atmf960518,atmf960518-one,one,36000,65536,,") for line in lines)


def test_at_least_one_replication_is_needed(double: Double) -> None:
    with pytest.raises(ValueError, match="0 replications: must be 1 or more"):
        make(double, ["ijsc"], replications=0)


def test_at_least_one_id_is_needed(double: Double) -> None:
    with pytest.raises(ValueError, match="0 ids: must be 1 or more"):
        make(double, [])


def test_the_studys_own_number_of_replications_holds_unless_said_otherwise(
    double: Double,
) -> None:
    result = make(double, ["atmf960518-one"], replications=None)
    assert result.replications == {"atmf960518": 5}
    assert {row.n for row in result.rows} == {5}


def test_ids_name_tables_studies_or_all() -> None:
    assert [found.table.id for found in select(["icccn97-t4", "icccn97-t3"])] == GEO
    assert [found.table.id for found in select(["icccn97"])] == [
        "icccn97-t1",
        "icccn97-t2",
        *GEO,
        "icccn97-s4",
        "icccn97-s4-round-trips",
        "icccn97-delayed-retransmission",
        "icccn97-window-stall",
    ]
    everything = sum(len(load_study(study).tables) for study in PUBLISHED_IDS)
    assert len(select(["all"])) == everything
    assert len(select(["all", "icccn97-t3"])) == everything
    assert known_ids()[:4] == ["all", "own", "atmf960518", "atmf960518-t1"]


def test_all_names_what_was_published_and_own_what_was_not() -> None:
    own = {found.study.id for found in select(["own"])}
    assert own == set(OWN_IDS)
    assert not own & {found.study.id for found in select(["all"])}
    everything = {found.study.id for found in select(["own", "all"])}
    assert everything == {*OWN_IDS, *PUBLISHED_IDS}


def test_an_id_that_names_nothing_is_refused_with_the_list() -> None:
    with pytest.raises(UnknownStudyError) as refused:
        select(["icccn97-t3", "icccn97-t33", "xyz"])
    message = str(refused.value)
    assert "no study and no table is called 'icccn97-t33' (did you mean icccn97-t3?)" in message
    assert "no study and no table is called 'xyz'\n" in message
    assert message.endswith("known are " + ", ".join(known_ids()))
