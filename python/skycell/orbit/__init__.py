"""Constellations: where satellites are, which paths lead over them, and how delays change.

>>> from skycell.orbit import as_constellation, find_places, look
>>> places = find_places(["new_york", "tokyo"])
>>> moment = look(as_constellation("jsac98-6x11"), places, [(1, 0)])
>>> round(moment.routes[0].delay_ms)
58
"""

from skycell.orbit.constellation import Constellation, ConstellationLike, as_constellation
from skycell.orbit.geometry import positions_km
from skycell.orbit.look_angles import Sights, sights
from skycell.orbit.network import Hop, Moment, Route, Sight, look
from skycell.orbit.over_time import Change, Handover, Series, series
from skycell.orbit.passes import Pass, Passes, PassEvent, passes
from skycell.orbit.places import Place, cities, find_places, named_places, read_places
from skycell.orbit.presets import constellations
from skycell.orbit.routes import Routes, routes

__all__ = [
    "Change",
    "Constellation",
    "ConstellationLike",
    "Handover",
    "Hop",
    "Moment",
    "Pass",
    "PassEvent",
    "Passes",
    "Place",
    "Route",
    "Routes",
    "Series",
    "Sight",
    "Sights",
    "as_constellation",
    "cities",
    "constellations",
    "find_places",
    "look",
    "named_places",
    "passes",
    "positions_km",
    "read_places",
    "routes",
    "series",
    "sights",
]
