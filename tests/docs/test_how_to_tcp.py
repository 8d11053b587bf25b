"""The how-to of a TCP rule names every place there is, and what it says of them is so."""

import re
import subprocess

import pytest

from skycell.scenario.tcp import Tcp
from tests.docs.pages import DOCS, blocks
from tests.structure.tree import ROOT, files

PAGE = DOCS / "how-to" / "add-a-tcp-rule.md"
TEXT = PAGE.read_text(encoding="utf-8")
EXAMPLE = "slow_start"


def read(path: str) -> str:
    return (ROOT / path).read_text(encoding="utf-8")


def block(begins: str) -> str:
    """The block of the page that begins so, but for white space."""
    (text,) = [b.text for b in blocks(PAGE) if b.text.lstrip().startswith(begins)]
    return text


def test_every_file_that_knows_a_rule_of_the_same_kind_is_named() -> None:
    # What knows which partial ACKs restart the timer has to learn a new rule; but for studies, for
    # which it is a choice, for the engines' own tests' stored specs, and for what the rule is.
    knows = re.compile(r"\bPartialAckRestarts\b|\bsack_partial_ack_restarts\b")
    places = {
        str(path.relative_to(ROOT))
        for part in ("crates", "python/skycell", "tests", "benches", "docs")
        for path in files(".rs", ".py", ".md", ".txt", under=ROOT / part)
        if "studies" not in path.parts and knows.search(path.read_text(encoding="utf-8"))
    }
    own = {place for place in places if place.startswith("crates/tcp/src/recovery/")}
    own |= {"docs/explanation/decisions.md", "docs/reference/tcp/recovery.md"}
    of_page = {"tests/docs/test_how_to_tcp.py", "tests/unit/benches/test_translate.py"}
    of_page |= {"tests/unit/scenario/test_resolve.py"}
    assert {place for place in places - own - of_page if f"`{place}`" not in TEXT} == set()


def test_files_that_the_page_names_exist() -> None:
    named = re.findall(r"`((?:crates|python|tests|docs|benches)/[\w./-]+|[\w-]+\.toml)`", TEXT)
    assert [name for name in named if not (ROOT / name).exists()] == []
    links = re.findall(r"\]\(([\w./-]+)\)", TEXT)
    assert [link for link in links if not (PAGE.parent / link).exists()] == []


def test_tests_that_the_page_names_exist() -> None:
    named = re.findall(r"`((?:every|test)_\w+)`", TEXT)
    code = "".join(
        path.read_text(encoding="utf-8")
        for part in ("crates", "tests")
        for path in files(".rs", ".py", under=ROOT / part)
    )
    assert len(named) == 3
    assert [name for name in named if not re.search(rf"(fn|def) {name}\(", code)] == []


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("crates/spec/src/tcp.rs", '#[serde(default, skip_serializing_if = "is_default")]'),
        ("crates/spec/src/check.rs", "fn validate_tcp"),
        ("crates/spec/src/lib.rs", "pub use tcp::{"),
        ("crates/tcp/src/sender_tests.rs", "    TcpSpec {\n        variant:"),
        ("crates/traffic/src/tests.rs", "TcpSpec {\n            variant:"),
        ("crates/fast/tests/scenarios/mod.rs", "        TcpSpec {\n            variant: dice"),
        ("crates/tcp/src/window.rs", "fn slow_start(&self, tcp: &TcpSpec) -> f64 {"),
        ("crates/tcp/src/window.rs", "enum Kept {"),
        ("tests/validation/test_scaling.py", '{"tcp.congestion_control": "reno"}'),
        ("crates/tcp/src/window.rs", "fn on_new_ack("),
        ("crates/tcp/src/window.rs", "let mut window = With::new(TcpSpec {"),
        ("crates/tcp/src/recovery/mod.rs", "pub(crate) trait LossRecovery"),
        ("crates/tcp/src/exchange_tests.rs", "fn rules()"),
        ("python/skycell/scenario/network_spec.py", "= left_out("),
        ("python/skycell/scenario/resolve_flows.py", "    def resolve(self) -> TcpSpec:"),
        ("python/skycell/scenario/resolve_flows.py", "        return TcpSpec(\n"),
        ("benches/peers/ns2/translate.py", "TRANSLATED:"),
        ("benches/peers/ns2/translate.py", "ONLY:"),
        ("benches/peers/ns2/translate.py", "ONLY_OF_VARIANT:"),
        ("benches/peers/ns2/translate.py", "def sender_variables("),
        ("tests/border/specs.py", "of_own_range"),
        ("tests/tcp_keys.py", "AMOUNTS"),
    ],
)
def test_what_the_page_says_stands_in_a_file_does(path: str, name: str) -> None:
    assert f"`{path}`" in TEXT
    assert name in read(path)


def test_the_key_of_the_page_is_one() -> None:
    import skycell.scenario.tcp as home

    names = dict(vars(home))
    exec(f"class Some(Parameters):\n{block('slow_start: Annotated')}", names)
    assert names["Some"].model_validate({}).slow_start == "full"
    assert names["Some"].model_validate({EXAMPLE: "limited"}).slow_start == "limited"
    with pytest.raises(ValueError, match='"full" or "limited"'):
        names["Some"].model_validate({EXAMPLE: "half"})


def test_the_key_of_the_page_is_handed_on_as_the_others_are() -> None:
    (line,) = [line for line in block("TcpSpec(\n").splitlines() if EXAMPLE in line]
    of_another = line.strip().replace(EXAMPLE, "rto_restart")
    assert of_another in read("python/skycell/scenario/resolve_flows.py")


@pytest.mark.parametrize(
    ("begins", "around"),
    [
        ("/// How cwnd grows in slow start; the key", "pub struct TcpSpec {{\n{}}}\n"),
        ("/// How cwnd grows in slow start.\n#[derive", "{}"),
        ("/// What an ACK adds in slow start", "impl Window {{\n{}}}\n"),
        ("/// Up to here limited slow start", "{}"),
        ("#[test]", "mod tests {{\n{}}}\n"),
    ],
)
def test_the_rule_of_the_page_is_in_the_agreed_format(begins: str, around: str) -> None:
    text = around.format(block(begins))
    formatted = subprocess.run(
        ["rustfmt", "--edition", "2024", "--emit", "stdout"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    )
    assert formatted.stdout == text


def test_the_example_is_nobodys_rule() -> None:
    assert EXAMPLE not in Tcp.model_fields
