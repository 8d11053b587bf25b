"""A scenario with several congested links in a row."""

PARKING_LOT = {
    "run": {"duration": "20 ms"},
    "topology": {
        "kind": "parking_lot",
        "hops": 3,
        "long_flows": 1,
        "cross_flows": 2,
        "bottleneck": {
            "rate": "155.52 Mbit/s",
            "framing": "sts3c",
            "delay": "1 ms",
            "buffer": "1000 cells",
            "policy": "epd",
        },
        "access": {"delay": "1 km"},
    },
    "tcp": {"mss": "512 B"},
}
