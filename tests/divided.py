"""A network that is divided into two regions on two threads: two hosts, far apart."""

from typing import Any

_LINK = {"framing": "ip", "rate": "1 Gbit/s", "delay": "1 ms"}


def far_apart(duration: str = "200 s", **keys: Any) -> dict[str, Any]:
    """One flow over 250 ms: its window allows much to do, and its one transfer needs little."""
    return {
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "bottleneck": {**_LINK, "delay": "250 ms", "buffer": "1000 packets"},
            "access": _LINK,
        },
        "tcp": {"window_scaling": True, "receiver_window": "32 MB"},
        "traffic": {"kind": "transfers", "size": "100 kB", "count": 1},
        "run": {"duration": duration},
        **keys,
    }
