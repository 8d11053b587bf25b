"""What a report says of the alternatives that were tried beforehand."""

from skycell.report.sensitivity import sensitivity_table
from skycell.studies.library import load_study


def test_what_a_choice_decides_otherwise_is_told_both_ways() -> None:
    study = load_study("atmf970424")
    table = sensitivity_table(study, ["atmf970424-t1"])
    assert table is not None
    decided = {line[0].text: line[-1].text for line in table.rows}
    assert decided["tcp.sws_avoidance = false"] == (
        "5.2 then holds; 5.3, 5.5, 5.6 and 5.7 then do not hold"
    )
    assert decided["tcp.rto_min = 1 ticks"] == "as chosen"


def test_a_conclusion_is_named_beside_a_table_that_it_speaks_of() -> None:
    study = load_study("atmf970424")
    changed = "sd.drop_threshold = 0.8"
    for table, named in {"atmf970424-t1": ["5.6"], "atmf970424-s3-packets": ["6.13"]}.items():
        found = sensitivity_table(study, [table])
        assert found is not None
        decided = {line[0].text: line[-1].text for line in found.rows}
        assert [name for name in ("5.6", "6.13") if name in decided[changed]] == named


def test_a_report_of_tables_that_were_not_varied_tells_nothing_of_alternatives() -> None:
    assert sensitivity_table(load_study("atmf970424"), ["atmf970424-f2"]) is None
