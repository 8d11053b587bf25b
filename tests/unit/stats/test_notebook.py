"""Results show themselves in a notebook."""

from skycell.stats import analyse


def test_an_analysis_shows_its_findings_and_its_variation() -> None:
    rows = [
        {"a": a, "b": b, "y": 10.0 * a + b + noise}
        for a in (0, 1)
        for b in (0, 1)
        for noise in (0.0, 0.1)
    ]
    page = analyse(rows, ["a", "b"], "y")._repr_html_()
    assert page.startswith("<p>Analysis of y by a, b: 8 runs</p><ul><li>")
    assert "<table" in page
