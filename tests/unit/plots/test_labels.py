"""Names that figures and tables give to the keys of the data."""

from skycell.measures.responses import RESPONSES
from skycell.plots import labels as words
from skycell.studies.library import STUDY_IDS, load_study
from skycell.studies.measures import MEASURES
from skycell.studies.path_measures import PATH_MEASURES


def test_every_measure_whose_words_do_not_say_it_has_a_name() -> None:
    of_studies = [key for key in (*MEASURES, *PATH_MEASURES) if key not in RESPONSES]
    keys = [key for key in of_studies if "_" in key]
    keys += [key for key in RESPONSES if key[0] == "p" and key[1].isdigit()]
    assert [key for key in keys if key not in words.METRICS] == []


def test_every_factor_of_a_study_that_is_no_plain_word_has_a_name() -> None:
    tables = [table for name in STUDY_IDS for table in load_study(name).tables]
    keys = {key for table in tables for part in table.parts for key in part.factors}
    assert "gr_fraction" in keys
    assert sorted(key for key in keys if "_" in key and key not in words.FACTORS) == []


def test_levels_of_97_0424_are_short_enough_for_a_legend() -> None:
    factors = {"vbr_period_ms": 300, "gr_fraction": 0.1}
    assert words.described(factors) == "VBR period 300 ms, GR 0.1"


def test_a_rate_algorithm_has_the_name_that_it_declares() -> None:
    assert words.NAMES["weighted_erica_plus"] == "weighted ERICA+"
