"""Calls in a scenario: which are put through, on which VCs, and what they send."""

from itertools import pairwise
from typing import Any

import pytest

import skycell
from skycell.spec.declared.network import CallsSpec, NetworkSpec, SourcePatternBursts

SECOND = 10**12


def graph(calls: list[dict[str, Any]], **more: Any) -> skycell.Scenario:
    """Hosts a and b at one switch, c and d at the next, and e behind a slower link."""
    link = {"framing": "none", "delay": "1 ms"}
    fast = [(host, "s") for host in "ab"] + [("t", host) for host in "cd"]
    links = [{"from": a, "to": b, "rate": "1000 cells/s", **link} for a, b in fast]
    links.append({"from": "s", "to": "t", "rate": "30 cells/s", **link})
    links.append({"from": "t", "to": "e", "rate": "20 cells/s", **link})
    return skycell.parse(
        {
            "run": {"duration": "100 s"},
            "topology": {
                "kind": "graph",
                "hosts": [*"abcde"],
                "switches": ["s", "t"],
                "link": links,
            },
            "calls": calls,
            **more,
        }
    )


def calls(name: str, source: str, destination: str, **more: Any) -> dict[str, Any]:
    ends = {"source": source, "destination": destination}
    return {"name": name, "load": 5, "holding": "3 s", "rate": "10 cells/s", **ends, **more}


def under_way(of: CallsSpec, at: int) -> int:
    times = zip(of.begins_ps, of.lengths_ps, of.blocked_at, strict=True)
    return sum(begin <= at < begin + length for begin, length, blocked in times if blocked is None)


def bursts(spec: NetworkSpec, name: str) -> list[list[tuple[int, int]]]:
    """Of each VC of a class of calls its bursts: begin and end."""
    found = []
    for source in spec.sources:
        if source.name.startswith(name):
            assert isinstance(source.pattern, SourcePatternBursts)
            times = zip(source.pattern.begins_ps, source.pattern.lengths_ps, strict=True)
            found.append([(begin, begin + length) for begin, length in times])
    return found


def test_a_call_is_blocked_by_the_first_link_without_room_and_only_then() -> None:
    spec = graph([calls("near", "a", "c"), calls("far", "b", "e")]).resolve()
    near, far = spec.calls
    names = [link.name for link in spec.links]
    assert {names[link] for link in near.blocked_at if link is not None} == {"s>t"}
    assert {names[link] for link in far.blocked_at if link is not None} == {"s>t", "t>e"}
    for of in (near, far):
        for begin, link in zip(of.begins_ps, of.blocked_at, strict=True):
            counts = under_way(near, begin), under_way(far, begin)
            assert sum(counts) <= 3
            assert counts[1] <= 2
            if link is not None:
                full = counts[1] == 2 if names[link] == "t>e" else sum(counts) == 3
                assert full
    # As many VCs as calls can be held at once.
    assert [vc.name for vc in spec.vcs] == ["near1", "near2", "near3", "far1", "far2"]


def test_vcs_are_held_one_call_after_another_by_all_that_are_put_through() -> None:
    spec = graph([calls("near", "a", "c")]).resolve()
    (of,) = spec.calls
    held = bursts(spec, "near")
    assert all(end <= begin for own in held for (_, end), (begin, _) in pairwise(own))
    times = zip(of.begins_ps, of.lengths_ps, of.blocked_at, strict=True)
    through = [(begin, begin + length) for begin, length, link in times if link is None]
    assert sorted(burst for own in held for burst in own) == through


def test_bursts_are_within_their_calls() -> None:
    times = {"on": "0.5 s", "off": {"kind": "exponential", "mean": "1 s"}}
    spec = graph([calls("near", "a", "c", **{"class": "rt_vbr"}, **times)]).resolve()
    (of,) = spec.calls
    begins = {b for b, link in zip(of.begins_ps, of.blocked_at, strict=True) if link is None}
    first = set()
    for begin, end in (burst for own in bursts(spec, "near") for burst in own):
        assert 0 < end - begin <= SECOND // 2
        call = max(start for start in begins if start <= begin)
        assert end <= call + 3 * SECOND
        first |= {begin} & begins
    assert first == begins  # a call begins with a burst


def test_what_a_file_promises_for_the_whole_run_leaves_less_room() -> None:
    voice = {"kind": "cbr", "name": "v", "rate": "15 cells/s", "source": "b", "destination": "d"}
    (alone,) = graph([calls("near", "a", "c")]).resolve().calls
    (beside,) = graph([calls("near", "a", "c")], source=[voice]).resolve().calls
    assert alone.begins_ps == beside.begins_ps
    assert max(under_way(alone, at) for at in alone.begins_ps) == 3
    assert max(under_way(beside, at) for at in beside.begins_ps) == 1


@pytest.mark.parametrize(("loss", "most"), [(0, 3), (1, 6)])
def test_calls_of_vbr_count_with_their_effective_bandwidth(loss: float, most: int) -> None:
    times = {"on": "0.1 s", "off": "0.1 s", "load": 20}
    own = calls("near", "a", "c", **{"class": "nrt_vbr"}, **times)
    (of,) = graph([own], admission={"loss": loss}).resolve().calls
    assert max(under_way(of, at) for at in of.begins_ps) == most


def test_where_overbooking_is_allowed_nobody_is_blocked() -> None:
    (of,) = graph([calls("near", "a", "c")], admission={"overbooking": "allow"}).resolve().calls
    assert set(of.blocked_at) == {None}
    assert max(under_way(of, at) for at in of.begins_ps) > 3


def test_other_seeds_draw_other_calls_and_other_classes_do_not() -> None:
    drawn = graph([calls("near", "a", "c")])
    both = graph([calls("near", "a", "c"), calls("far", "b", "e")])
    assert drawn.is_drawn
    assert drawn.resolve(1).calls[0].begins_ps == both.resolve(1).calls[0].begins_ps
    assert drawn.resolve(1).calls[0].begins_ps != drawn.resolve(2).calls[0].begins_ps
