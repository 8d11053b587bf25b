"""The columns' file as Python reads it, against the tables that the compiled part makes of it."""

import pytest

from skycell.orbit import as_constellation, find_places, routes
from skycell.orbit.columns import NO_DELAY_PS, Columns
from skycell.orbit.routes import Routes

SECOND = 10**12


@pytest.fixture(scope="module")
def found() -> Routes:
    sky = as_constellation("iridium-like").with_values(
        {"ground.access": "any", "links.satellite_delay": "7 us", "ground.frame_delay": "20 us"}
    )
    places = find_places(["london", "sydney", "tokyo"])
    pairs = [(0, 1), (2, 0), (1, 2)]
    return routes(sky, places, pairs, duration_ps=400 * SECOND, step_ps=5 * SECOND, with_file=True)


@pytest.fixture(scope="module")
def columns(found: Routes) -> Columns:
    assert found.file is not None
    return Columns(found.file)


def test_next_hops_at_an_epoch_are_the_first_and_what_changed_since(
    found: Routes, columns: Columns
) -> None:
    names = found.nodes
    table = {(node, to): after for node, to, after in found.next_table().iter_rows()}
    changes = found.change_table().rows()
    assert {time_ps for time_ps, *_ in changes} - {0}
    for epoch in range(columns.epochs):
        for time_ps, node, to, _, after in changes:
            if time_ps == found.at_ps(epoch):
                table[node, to] = after
        hops = columns.next_hops(epoch)
        assert hops.shape == (len(names), 3)
        for label, place in enumerate(found.places):
            for node, name in enumerate(names):
                if name != place.name:
                    expected = table[name, place.name]
                    assert (None if hops[node, label] < 0 else names[hops[node, label]]) == expected


def test_delays_along_the_next_hops_are_those_of_the_paths(found: Routes, columns: Columns) -> None:
    satellites = len(found.constellation.satellites)
    for epoch in range(columns.epochs):
        links, hops = columns.links(epoch), columns.next_hops(epoch)
        ends = zip(links.source.tolist(), links.to.tolist(), strict=True)
        delays_ps = dict(zip(ends, links.delay_ps.tolist(), strict=True))
        for pair, (source, target) in enumerate(found.pairs):
            node, total_ps = satellites + source, 0
            while node != satellites + target:
                following = int(hops[node, target])
                total_ps += delays_ps[node, following]
                node = following
            assert found.delays_ps(pair)[epoch] == total_ps


def test_links_and_delays_of_an_epoch_are_those_of_a_network_that_begins_there(
    found: Routes, columns: Columns
) -> None:
    # Within 400 s a satellite sets and another rises, so that links end and begin.
    assert any((columns.delays_ps(epoch) == NO_DELAY_PS).any() for epoch in range(columns.epochs))
    for epoch in range(columns.epochs):
        alone = routes(
            found.constellation, found.places, start_ps=found.at_ps(epoch), with_file=True
        )
        assert alone.file is not None
        expected, links = Columns(alone.file).links(0), columns.links(epoch)
        assert links.source.tolist() == expected.source.tolist()
        assert links.to.tolist() == expected.to.tolist()
        assert links.delay_ps.tolist() == expected.delay_ps.tolist()


def test_links_leave_a_port_of_their_node(found: Routes, columns: Columns) -> None:
    links = columns.links(0)
    satellites = len(found.constellation.satellites)
    kinds = columns.port_kind[links.port]
    is_up, is_down = links.source >= satellites, links.to >= satellites
    assert (kinds == 1).tolist() == is_up.tolist()
    assert (kinds == 2).tolist() == is_down.tolist()
    assert columns.label_node.tolist() == [satellites, satellites + 1, satellites + 2]
    owner: dict[int, int] = {}
    for port, node in zip(links.port.tolist(), links.source.tolist(), strict=True):
        assert owner.setdefault(port, node) == node


def test_what_is_no_file_of_columns_is_refused(found: Routes) -> None:
    assert found.file is not None
    for octets in (b"", b"PK", found.file[:-8], found.file + bytes(8), found.file[:100]):
        with pytest.raises(ValueError, match="column"):
            Columns(octets)
