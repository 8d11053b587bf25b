"""Least delay over links below a latitude; over others only where no other way is left."""

import numpy as np

DETOUR_PS = 10**12  # what a link above the latitude counts more: a second, longer than any path


def next_hops(step):
    """The next node by node and destination, -1 for none; called once for each step."""
    source, to, delay_ps = (step.links[name] for name in ("from", "to", "delay_ps"))
    stations = np.array(list(step.stations.values()))
    x, y, z = step.positions_km.T
    latitudes = np.zeros(len(x) + len(stations))  # a link to a station is never avoided
    latitudes[: len(x)] = np.degrees(np.arctan2(abs(z), np.hypot(x, y)))
    is_high = np.maximum(latitudes[source], latitudes[to]) > step.options.get("avoid_above", 45)
    costs = (delay_ps + DETOUR_PS * is_high)[:, None]
    far = np.full((len(latitudes), len(stations)), np.inf)  # cost to each station, by node
    far[stations, np.arange(len(stations))] = 0
    nodes, first = np.unique(source, return_index=True)  # links of a node follow one another
    relays = nodes < len(x)  # stations relay nothing
    while True:  # Bellman and Ford: paths of one link more each time
        best = np.minimum.reduceat(costs + far[to], first)
        if (best[relays] >= far[nodes[relays]]).all():
            break
        far[nodes[relays]] = np.minimum(best, far[nodes])[relays]
    hops = np.full(far.shape, -1, np.int32)
    for node, own in zip(nodes, np.split(np.arange(len(to)), first[1:]), strict=True):
        over = costs[own] + far[to[own]]
        hops[node] = np.where(np.isfinite(over.min(axis=0)), to[own][over.argmin(axis=0)], -1)
    return hops
