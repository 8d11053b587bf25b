"""Acknowledgements of early segments that are held back: fewer, and all that a sender needs."""

from typing import Any

from skycell.experiment.run import run_spec
from skycell.scenario import parse


def flow(delayed_ack: dict[str, Any], **tcp: Any) -> dict[str, Any]:
    """What a flow of the stack `linux` over a lossy link did, by either engine."""
    link = {"rate": "20 Mbit/s", "framing": "ip", "delay": "30 ms", "buffer": "200 packets"}
    values = {
        "run": {"duration": "10 s"},
        "topology": {
            "kind": "dumbbell",
            "sources": 1,
            "access": {"delay": "1 ms", "rate": "1 Gbit/s"},
            "bottleneck": {**link, "loss": 0.002},
        },
        "tcp": {"preset": "linux", "delayed_ack": delayed_ack, **tcp},
    }
    spec = parse(values).resolve()
    (found,) = run_spec(spec).records["flows"]
    assert found == run_spec(spec, engine="reference").records["flows"][0]
    return dict(found)


def test_held_sacks_save_acknowledgements_of_recoveries_and_cost_nothing() -> None:
    each = {"timeout": "40 ms", "every_segments": 2, "quick_segments": 16}
    # A window that grows with each segment has each acknowledged at once.
    constant = {"advertised_window": "constant"}
    plain, held = (flow(own, **constant) for own in (each, {**each, "sack_timeout": "10 ms"}))
    assert plain["fast_retransmits"] > 5
    # A recovery has some 35 segments: of their ACKs, 3 ms of them in one, a third is left.
    per_segment = [one["acks_sent"] / one["segments_sent"] for one in (plain, held)]
    assert per_segment[1] < per_segment[0] - 0.02
    assert plain["acks_sent"] - held["acks_sent"] > 10 * held["fast_retransmits"]
    assert abs(held["octets_delivered"] / plain["octets_delivered"] - 1) < 0.1
