"""The expressions of criteria and evidence, on numbers small enough to reckon by head."""

import pytest

from skycell.studies.cells import MissingValueError
from skycell.studies.compare import Row
from skycell.studies.criteria import CriterionError, Reckoning
from skycell.studies.evidence import write_evidence
from skycell.studies.model import Numbers, Study
from skycell.studies.values import Entry, Lost, Values

STUDY = Study(
    id="made-up",
    title="x",
    origin="own",
    choices=(),
    experiments={},
    tables=(),
    numbers={
        "e": Numbers(tables=("t", "u"), measure="efficiency"),
        "all_of_t": Numbers(tables=("t",)),
        "average": Numbers(tables=("t",), measure="fairness", factors=("tcp",)),
        "fair": Numbers(tables=("t",), measure="fairness", factors=("tcp", "n")),
        "usual": Numbers(tables=("t",), measure="efficiency", usual="small", where={"tcp": "sack"}),
    },
    names={"sack": "e(tcp='sack')"},
    usual={"small": {"tcp": "reno", "n": 1, "unknown": 5}},
)
# Efficiency by TCP and n; t has n = 1 and 2, u has 10.
EFFICIENCY = {("reno", 1): 0.5, ("reno", 2): 0.4, ("sack", 1): 0.75, ("sack", 2): 0.8}
MORE = {("reno", 10): 0.1, ("sack", 10): 0.9}


def entries() -> list[Entry]:
    of_t = [
        Entry("t", "efficiency", {"tcp": tcp, "n": n}, value, (value - 0.1, value + 0.1, None))
        for (tcp, n), value in EFFICIENCY.items()
    ]
    of_u = [Entry("u", "efficiency", {"tcp": t, "n": n}, value) for (t, n), value in MORE.items()]
    fair = [Entry("t", "fairness", {"tcp": "reno", "n": 1}, 0.3)]
    average = [Entry("t", "fairness", {"tcp": tcp}, 0.6) for tcp in ("reno", "sack")]
    return [*of_t, *of_u, *fair, *average]


def reckoning(*lost: Lost, tables: tuple[str, ...] = ("t",), **names: str) -> Reckoning:
    return Reckoning(STUDY, names, tables, Values(entries(), lost))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Choosing numbers: levels leave a factor out, lists keep it, in the order asked for.
        ("e(tcp='sack', n=2)", [0.8]),
        ("e(tcp='reno')", [0.5, 0.4]),
        ("e(tcp=['sack', 'reno'], n=1)", [0.75, 0.5]),
        ("sack(n=1)", [0.75]),
        ("all_of_t('efficiency', n=1)", [0.5, 0.75]),
        ("average", [0.6, 0.6]),
        ("fair", [0.3]),
        ("usual", [0.75]),
        ("usual(n=2)", [0.8]),
        # Pairs by level, whatever the order; what lacks a factor goes with each of its levels.
        ("e(tcp='sack') - e(tcp='reno', n=[2, 1])", [0.25, 0.4]),
        ("e * average", [0.3, 0.24, 0.45, 0.48]),
        ("e(n=1) * by('tcp', {'sack': 2, 'reno': 4, 'vanilla': 1})", [2.0, 1.5]),
        ("-e(n=1) + 1", [0.5, 0.25]),
        ("level(e(tcp='reno'), 'n') / 2", [0.5, 1.0]),
        # Reductions.
        ("min(e)", [0.4]),
        ("max(e(n=1), 0.7)", [0.75]),
        ("sum(e, over='n')", [0.9, 1.55]),
        ("mean(e, by='n')", [0.625, 0.6]),
        ("spread(e, over='tcp')", [0.25, 0.4]),
        ("count(e > 0.45)", [3]),
        ("all(e > 0.45, by='tcp')", [False, True]),
        ("any(e > 0.79)", [True]),
        # Along a factor: levels that are numbers by size, texts as they stand.
        ("later(e(n=[2, 1]), 'n') - earlier(e, 'n')", [-0.1, 0.05]),
        ("last(e(n=[2, 1]), 'n')", [0.4, 0.8]),
        ("last(e(tcp=['sack', 'reno'], n=1), 'tcp')", [0.5]),
        # Choices of cells.
        ("only(e, e > 0.45)", [0.5, 0.75, 0.8]),
        ("besides(e, tcp='reno')", [0.75, 0.8]),
        ("join(e(tcp='reno'), 1)", [0.5, 0.4, 1]),
        # Comparisons in a row, and with each other.
        ("0.4 < e <= 0.75", [True, False, True, False]),
        ("e > 0.45 and not e > 0.7", [True, False, False, False]),
        ("e == 0.5 or e != 0.75", [True, True, False, True]),
        ("abs(round(sqrt(e(n=1)) - 1, 1))", [0.3, 0.1]),
        ("runs_below(e(tcp='reno', n=1), e(tcp='sack', n=2))", [2]),
    ],
)
def test_an_expression_means_what_it_seems_to(text: str, expected: list[float]) -> None:
    assert reckoning().value(text).listed == pytest.approx(expected)


def test_tables_are_read_together_where_a_conclusion_speaks_of_all_of_them() -> None:
    assert reckoning(tables=("t", "u")).value("mean(e, by='n')").listed == pytest.approx(
        [0.625, 0.6, 0.5]
    )


def test_parts_of_the_variation_are_those_of_the_factors_that_vary() -> None:
    # Means of reno 0.45 and sack 0.775, of n 0.625 and 0.6: squares 0.105625 and 0.000625, and
    # 0.005625 for the interaction.
    found = reckoning().value("explained(e)")
    assert found.values == pytest.approx(
        {("tcp",): 0.105625 / 0.111875, ("n",): 0.000625 / 0.111875}
    )
    assert reckoning().value("explained(e(n=[1]))").factors == ("factor",)
    assert list(reckoning().value("explained(e(n=[1]))").values) == [("tcp",)]


@pytest.mark.parametrize(
    ("gains", "holds"),
    [
        ("{'a': 0.07, 'b': 0.04, 'c': -0.001}", True),  # the last is none that print would show
        ("{'a': 0.07, 'b': 0.04, 'c': -0.006}", False),
        ("{'a': 0.07, 'b': 0.0}", False),  # more than half have to show it
    ],
)
def test_a_statement_about_all_cases_falls_with_what_print_would_show(
    gains: str, holds: bool
) -> None:
    text = f"above_in_all(0.5 + by('case', {gains}), 0.5)"
    assert reckoning().value(text).number is holds


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("e(tcp='vanilla')", ("t",)),
        ("e(tcp=['sack', 'vanilla'])", ("t",)),
        ("e", ("t", "missing")),
        ("e(tcp='sack') - e(tcp='reno', n=[1])", ("t",)),  # n = 2 has none to go with
        ("max(only(e, e > 1), over='n')", ("t",)),
    ],
)
def test_a_number_that_is_not_there_decides_nothing(text: str, tables: tuple[str, ...]) -> None:
    numbers = STUDY.numbers | {"e": Numbers(tables=("t", "missing"), measure="efficiency")}
    study = STUDY.model_copy(update={"numbers": numbers})
    with pytest.raises(MissingValueError):
        Reckoning(study, {}, tables, Values(entries())).value(text)


def test_a_lost_number_is_missed_where_it_is_needed_and_nowhere_else() -> None:
    lost = Lost("t", "efficiency", {"tcp": "vanilla", "n": 1})
    assert reckoning(lost).value("min(e(tcp='reno'))").number == 0.4
    with pytest.raises(MissingValueError):
        reckoning(lost).value("min(e)")


@pytest.mark.parametrize(
    "text",
    [
        "e.values",
        "__import__('os')",
        "[x for x in e]",
        "e[0]",
        "lambda: 1",
        "unknown",
        "e ** 2",
        "1 if e else 2",
        "1 is 1",
        "e(",
        "'text'",
        "runs_below(min(e), e)",
    ],
)
def test_nothing_else_is_allowed(text: str) -> None:
    with pytest.raises(CriterionError):
        reckoning().value(text)


@pytest.mark.parametrize("text", ["e(speed=1)", "e(speed=[1])", "mean(e, over='speed')"])
def test_a_name_that_is_no_factor_is_a_fault_of_the_study(text: str) -> None:
    with pytest.raises(ValueError, match="speed"):
        reckoning().value(text)


@pytest.mark.parametrize(
    ("template", "written"),
    [
        ("{min(e)} and {max(e)}", "0.40 and 0.80"),
        # As many digits as show which is the larger, and on which side of a limit.
        ("{e(tcp='sack', n=1) / 3}, {0.2504}", "0.2500, 0.2504"),
        ("{0.1502}", "0.1502"),
        ("{0.1502:2}", "0.15"),
        ("{30.04:~1} to {29.0:~1}", "30.0 to 29.0"),
        ("{e:1}", "0.5, 0.4, 0.8, 0.8"),
        ("{0.2:+2}", "+0.20"),
        ("{e:span}", "0.40 to 0.80"),
        ("{e(n=1):1 named}", "reno 0.5, sack 0.8"),
        ("{e:largest}, {e:smallest}", "sack 2, reno 2"),
        ("{min(e) < max(e)}", "0.40 < 0.80"),
        ("{0.8212 > 0.8234}", "0.821 < 0.823"),
        ("{0.5 > 0.5}", "0.50 = 0.50"),
        ("{e > 0.45:of}", "3 of 4"),
        ("{0.4 < e < 0.8:of}", "2 of 4"),
        ("{e > 0.45:but}", "3 of 4, but 0.40 < 0.45"),
        ("{e > 0.1:but}", "4 of 4"),
        ("{any(e > 0.45, over='n'):of}", "2 of 2"),
        ("a ratio of {1 / (min(e) - 0.4):1}", "a ratio of –"),
    ],
)
def test_evidence_shows_numbers_as_its_form_says(template: str, written: str) -> None:
    assert write_evidence(template, "min(e) <= 0.15", reckoning()) == written


def test_a_form_that_there_is_not_is_refused() -> None:
    with pytest.raises(CriterionError, match="there is no such form"):
        write_evidence("{e:loud}", "min(e) > 0", reckoning())


def test_runs_are_paired_by_seed_also_where_some_have_failed() -> None:
    def row(tcp: str, *runs: float | None) -> Row:
        return Row(
            study="made-up",
            table="t",
            factors={"tcp": tcp},
            metric="efficiency",
            unit="1",
            published=None,
            by_replication=runs,
            verdict="own",
        )

    values = Values.ours([row("reno", None, 0.5, 0.5), row("sack", 0.4, None, 0.6)])
    asked = Reckoning(STUDY, {}, ("t",), values)
    # Only the third seed has both numbers; without their places 0.5 would meet 0.4.
    assert asked.value("runs_below(e(tcp='reno'), e(tcp='sack'))").number == 1
    assert asked.value("runs_below(e(tcp='sack'), e(tcp='reno'))").number == 0
