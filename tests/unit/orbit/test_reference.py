"""The page of constellation files is what the declarations say."""

from skycell.orbit.documentation import page
from tests.structure.tree import ROOT


def test_the_page_is_up_to_date() -> None:
    committed = ROOT / "docs" / "reference" / "orbit" / "constellation-file.md"
    hint = "skycell orbit list --markdown > docs/reference/orbit/constellation-file.md"
    assert committed.read_text(encoding="utf-8") == page(), hint
