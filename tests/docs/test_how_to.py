"""The how-to of a buffer policy names every place there is, and what it says of them is so."""

import re
import subprocess

import pytest

from tests.docs.pages import DOCS, blocks
from tests.structure.tree import ROOT, files

PAGE = DOCS / "how-to" / "add-a-buffer-policy.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLE = "vc_quota"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def test_every_file_that_knows_a_policy_of_the_same_kind_is_named() -> None:
    # What knows single drop, a policy with parameters of its own, has to learn a new one; but for
    # studies, which know the policies that they study.
    knows = re.compile(
        r"PolicySpec::SingleDrop|Kind::SingleDrop|\bSingleDropSpec\b|\"single_drop\""
    )
    places = {
        str(path.relative_to(ROOT))
        for part in ("crates", "python/skycell", "tests/border")
        for path in files(".rs", ".py", under=ROOT / part)
        if "studies" not in path.parts and knows.search(path.read_text(encoding="utf-8"))
    }
    by_hand = {place for place in places if f"`{place}`" not in TEXT}
    assert by_hand == set()


def test_every_message_that_lists_all_policies_is_named() -> None:
    cases = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "tests" / "messages" / "cases").glob("*.txt")
        if '"single_drop" or' in path.read_text(encoding="utf-8")
    }
    assert {case for case in cases if f"`{case}`" not in TEXT} == set()


def test_files_that_the_page_names_exist_but_for_the_new_one() -> None:
    named = re.findall(r"`((?:crates|python|tests|docs)/[\w./-]+)`", TEXT)
    assert [name for name in named if not (ROOT / name).exists()] == [
        f"crates/switch/src/buffer/{EXAMPLE}.rs"
    ]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("crates/switch/src/buffer/mod.rs", "enum Kind"),
        ("crates/switch/src/buffer/mod.rs", "fn looks_at_vcs"),
        ("crates/switch/src/buffer/mod.rs", "Kind::SingleDrop(_) | Kind::Fred(_) => true,"),
        ("crates/switch/src/buffer/mod.rs", "fn counts_vcs"),
        ("crates/switch/src/buffer/mod.rs", "impl BufferPolicy for Policy"),
        (
            "crates/switch/src/buffer/mod.rs",
            "fn on_frame(&mut self, vc: u32, view: &BufferView) -> Option<DiscardReason>",
        ),
        ("crates/records/src/lib.rs", "pub enum DiscardReason"),
        ("crates/spec/src/lib.rs", "pub enum PolicySpec"),
        (
            "crates/spec/src/check_classes.rs",
            "PolicySpec::TailDrop | PolicySpec::Ppd | PolicySpec::SingleDrop { .. } => Ok(())",
        ),
        ("crates/fast/src/plan.rs", "fn discards_when_empty"),
        ("crates/fast/tests/scenarios/policies.rs", "fn policy(&mut self"),
        ("python/skycell/scenario/policies.py", "_Policies = "),
        ("python/skycell/scenario/policies.py", "_Names = "),
        ("python/skycell/scenario/policies.py", "CellCount = "),
        ("python/skycell/scenario/policy_spec.py", "PolicySpec = Annotated["),
        ("python/skycell/scenario/resolve_ports.py", "def _policy(self"),
        ("python/skycell/plots/words.py", '"single_drop":'),
        ("tests/border/specs.py", "def policies("),
        ("tests/validation/generated.py", "_POLICIES"),
        ("tests/messages/cases/kind-unknown.txt", "single_drop"),
    ],
)
def test_what_the_page_says_stands_in_a_file_does(path: str, name: str) -> None:
    assert f"`{path}`" in TEXT
    assert name in read(path)


def test_every_function_that_lists_all_kinds_has_its_line_on_the_page() -> None:
    code = read("crates/switch/src/buffer/mod.rs")
    lists_all = {
        function[1]
        for function in re.finditer(r"^    (?:pub )?fn (\w+)\(.*?^    }$", code, re.M | re.S)
        if re.search(r"match .*self\.kind", function[0]) and "            _ =>" not in function[0]
    }
    (block,) = [block.text for block in blocks(PAGE) if "mod vc_quota;" in block.text]
    assert set(re.findall(r"^// Policy::(\w+):", block, re.M)) == {"new", *lists_all}
    lines = [line for line in block.splitlines() if line and not line.startswith("//")]
    assert "Seven lines:" in TEXT
    assert len(lines) == 7


def test_the_number_of_the_generated_policy_is_free() -> None:
    code = read("crates/fast/tests/scenarios/policies.rs")
    (number,) = re.findall(r"^ +(\d+) => PolicySpec::VcQuota", TEXT, re.MULTILINE)
    (numbers,) = re.findall(r"match self\.dice\.below\((\d+)\)", code)
    assert int(number) < int(numbers)
    assert not re.search(rf"^ +([\d |]*\| )?{number}( \|[\d |]*)? => ", code, re.MULTILINE)


def test_the_parameter_class_of_the_page_is_one() -> None:
    (text,) = [block.text for block in blocks(PAGE) if "class VcQuota(Parameters)" in block.text]
    import skycell.scenario.policies as home

    names = dict(vars(home))
    exec(text, names)
    policy = names["VcQuota"].model_validate({"kind": EXAMPLE, "quota": "2000 cells"})
    assert policy.quota.amount == 2000


def test_the_rule_of_the_page_is_in_the_agreed_format() -> None:
    rule = next(block.text for block in blocks(PAGE) if block.text.startswith("//! A quota"))
    formatted = subprocess.run(
        ["rustfmt", "--edition", "2024", "--emit", "stdout"],
        input=rule,
        capture_output=True,
        text=True,
        check=True,
    )
    assert formatted.stdout == rule


def test_the_example_is_nobodys_policy() -> None:
    assert EXAMPLE not in read("crates/switch/src/buffer/mod.rs")
