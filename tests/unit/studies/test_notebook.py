"""Results show themselves in a notebook."""

from skycell.studies import reproduce


def test_a_reproduction_shows_its_rows_and_conclusions() -> None:
    found = reproduce(["jsac98-t1"])
    page = found._repr_html_()
    assert page.startswith("<p>Reproduction: jsac98-t1; ")
    assert "published" in page
    assert page.count("<table") == 1 + bool(found.conclusions)
