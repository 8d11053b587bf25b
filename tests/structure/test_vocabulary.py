"""One word for one thing: words that were left stay out of identifiers."""

import io
import re
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from tests.structure.tree import CRATES, ROOT, files

LEFT = {
    "gathered": "collector, ErrorCollector",
    "look_over": "validate",
    "leaf": "value type",
    "making": "options",
    "stand_in": "nothing: faults come in two stages",
    "may_have": "nothing: faults come in two stages",
    "painter": "render worker",
    "painters": "render workers",
    "letters": "text metrics",
    "thin": "decimate, decimation",
    "firm": "agreement",
    "firmness": "agreement",
    "told": "reported, message",
    "tell": "report, message",
    "frame_gap": "frame_jitter, port_gap",
    "sweeps": "experiment",
    "given": "input, value",
    "tried": "sensitivity",
}
"""Words that are left, each with what came in its place."""

KEPT = {"frame_gap_ps"}
"""Of the form of a spec, which both engines read."""

LEFT_IN_RUST = {
    "agenda": "events",
    "alarm": "timer",
    "alarms": "timers",
    "awaits_boundary": "awaits_eom",
    "boxes": "buckets",
    "cell_stream": "cell source, OpenLoopSource",
    "crowd": "many flows",
    "crowds": "many flows",
    "dealt": "processed",
    "follower": "next VC",
    "followers": "next VCs",
    "handed_at": "enqueued_at",
    "is_tagged": "clp",
    "joint": "router, port graph",
    "joints": "port graph",
    "lane": "input",
    "lanes": "inputs",
    "leg": "index in a route of VCs",
    "legs": "routes of VCs",
    "mux": "output port",
    "muxes": "output ports",
    "onto": "next hop",
    "onward": "forwarding",
    "own_queue": "queue of frames",
    "own_queues": "queues of frames",
    "place": "index, port_vc",
    "places": "indices, port_vcs",
    "slack": "lookahead",
    "station": "port",
    "stretch": "hop, bucket",
    "stretches": "hops",
    "take_in": "accept",
    "taken_in": "accepted",
    "tell": "report",
    "told": "reported",
    "train": "burst",
    "trains": "bursts",
    "turns": "service pattern, services",
    "way": "path",
    "ways": "paths",
}
"""Words that are left in the crates, each with what came in its place."""

LEFT_TYPES = {
    "Arriving": "a fragment, units or a frame that arrives",
    "Busy": "BusyPeriod",
    "Coming": "a cell or a frame that arrives",
    "Cycle": "Period, of a scheduler",
    "Dealt": "InFrame",
    "Due": "DueFragment, NextCell",
    "Ends": "EndPoints, Departs",
    "Kept": "what is kept",
    "Leaving": "ForwardVc",
    "Logged": "LoggedBurst",
    "Turns": "ServicePattern",
}
"""Types that are left, by their whole names."""

LEFT_IN_CRATES = {
    "fast": {
        "is_last": "eom",
        "known_upstream": "upstream_safe_time",
        "lead": "lookahead",
        "moving": "time_varying",
        "reached": "local_clock",
        "returns": "lookahead",
    },
    "reference": {"is_last": "eom"},
    "atm": {"is_last": "eom"},
    "switch": {"cycle": "period"},
}
"""Words that mean something else in other crates."""

KEPT_IN_CRATES = {
    "declare-derive": {"is_tagged"},
    "orbit": {"station", "stations", "place", "turns"},
    "border": {"station"},
    "tcp": {"train", "turns"},
    "abr": {"turns"},
    "traffic": {"Cycle"},
}
"""Ground stations, rotations; trains of ACKs, as HyStart has them; RM cells that turn around."""

PHRASES = ("under_way", "on_the_way")
"""Words together that are plain English."""

SENTENCE = 5
"""Words of a name from which on it is a sentence: what a test of the crates is called by."""

KEPT_WHERE = {"given": ("from hypothesis import", "links.given", "given: tuple[Pair, ...]")}
"""Names that modules with these texts have from a library, or declare as a key of a file."""

FOLDERS = ("python", "tests", "tools", "benches")


def words_of(name: str) -> list[str]:
    """The words that a name is made of, in lower case."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+", name)]


def left_in(name: str) -> str | None:
    """A word that was left and is a part of a name; tests are called by sentences."""
    if name.startswith("test_") or name in KEPT:
        return None
    words = "_".join(words_of(name))
    return next((left for left in LEFT if f"_{left}_" in f"_{words}_"), None)


def left_in_rust(name: str, crate: str) -> str | None:
    """A word that was left and is a part of a name in that crate, or all of it."""
    words = words_of(name)
    kept = KEPT_IN_CRATES.get(crate, set())
    if len(words) >= SENTENCE or any(phrase in "_".join(words) for phrase in PHRASES):
        return None
    left = {*LEFT_IN_RUST, *LEFT_IN_CRATES.get(crate, {})} - kept
    parts = f"_{'_'.join(words)}_"
    of_all = {name} & set(LEFT_TYPES) - kept
    return min((word for word in left if f"_{word}_" in parts), default=None) or min(
        of_all, default=None
    )


RUST_TOKENS = re.compile(
    r"""//[^\n]*|/\*.*?\*/|b?r(\#*)".*?"\1|b?"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'|(?P<name>[A-Za-z_]\w*)""",
    re.DOTALL,
)


def rust_identifiers(source: str) -> set[str]:
    """All names of a Rust module; what stands in comments and in texts is none."""
    return {token["name"] for token in RUST_TOKENS.finditer(source) if token["name"]}


def identifiers(source: str) -> set[str]:
    """All names of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {token.string for token in tokens if token.type == tokenize.NAME}


@pytest.mark.parametrize("folder", FOLDERS)
def test_words_that_were_left_are_in_no_identifier(folder: str) -> None:
    found: Counter[str] = Counter()
    for path in files(".py", under=ROOT / folder):
        source = path.read_text(encoding="utf-8")
        names = {*identifiers(source), *path.with_suffix("").parts[-2:]}
        names -= {name for name, texts in KEPT_WHERE.items() if any(t in source for t in texts)}
        found.update(f"{path.name}: {name}" for name in names if left_in(name))
    assert not found, f"{sorted(found)}: {LEFT}"


@pytest.mark.parametrize("crate", CRATES)
def test_words_that_were_left_are_in_no_identifier_of_a_crate(crate: str) -> None:
    found: dict[str, str] = {}
    for path in files(".rs", under=ROOT / "crates" / crate):
        names = {*rust_identifiers(path.read_text(encoding="utf-8")), path.stem, path.parent.name}
        left = {name: left_in_rust(name, crate) for name in names}
        found |= {f"{path.name}: {name}": word for name, word in left.items() if word}
    use = {**LEFT_IN_RUST, **LEFT_TYPES, **LEFT_IN_CRATES.get(crate, {})}
    assert {where: f"{word} is left: {use[word]}" for where, word in found.items()} == {}


@pytest.mark.parametrize(
    ("crate", "code", "left"),
    [
        ("fast", "let place = 1;", {"place"}),
        ("fast", "struct MuxPort { first_lane: u32 }", {"mux", "lane"}),
        ("fast", "enum Due {}", {"Due"}),
        ("fast", "let is_due = due(); struct DueFragment;", set()),
        (
            "fast",
            """// a place, 'a way'\nlet a = "mux"; let b = r#"a "lane""#; f::<'a>('"');""",
            set(),
        ),
        ("fast", "fn cells_keep_their_places_in_the_frame() {}", set()),
        ("fast", "let under_way = Box::new(lead);", {"lead"}),
        ("tcp", "let lead = train + mux;", {"mux"}),
        ("orbit", "let station = way;", {"way"}),
    ],
)
def test_a_word_is_found_in_rust(crate: str, code: str, left: set[str]) -> None:
    assert {left_in_rust(name, crate) for name in rust_identifiers(code)} - {None} == left


@pytest.mark.parametrize(
    ("name", "is_left"),
    [
        ("told", True),
        ("_told_of_choices", True),
        ("LookOver", True),
        ("Leaf", True),
        ("leaf_of", True),
        ("thinner", False),
        ("test_what_is_told", False),
        ("frame_gap_ps", False),
        ("frame_gap", True),
        (Path("a/stand_ins.py").stem, False),
        ("stand_in", True),
    ],
)
def test_a_word_is_found_as_a_part_of_a_name(name: str, is_left: bool) -> None:
    assert (left_in(name) is not None) == is_left
