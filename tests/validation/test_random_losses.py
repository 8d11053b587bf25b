"""A window under losses at random: the mean rate of additive increase and halving."""

from statistics import mean

import pytest

import skycell
from skycell.metrics import throughputs_bps

LOSS = 1e-4
MSS = 1460
RTT_S = 0.1

#: Time average of the window under independent losses with probability p: this over sqrt(p) (Ott,
#: Kemperman and Mathis 1996). Losses at equal distances give sqrt(3 / 2) = 1.225.
CONSTANT = 1.309


@pytest.mark.parametrize("variant", ["reno", "newreno", "sack"])
def test_the_mean_rate_is_that_of_an_ideal_window(variant: str) -> None:
    # A window of 131 segments in the mean needs 15 of 155 Mbit/s, so nothing queues. Runs of 3000 s
    # have some 390 losses each and differ by 2 % (standard deviation), their mean by 1 %. Second
    # losses within a window, 1 %, and the start take another one.
    scenario = skycell.parse(
        {
            "topology": {
                "kind": "n_source",
                "sources": 1,
                "bottleneck": {
                    "rate": "155.52 Mbit/s",
                    "framing": "none",
                    "delay": "49 ms",
                    "buffer": "unlimited",
                    "loss": LOSS,
                },
                "access": {"delay": "0.5 ms"},
            },
            "tcp": {
                "variant": variant,
                "mss": f"{MSS} B",
                "receiver_window": "8000000 B",
                "window_scaling": True,
                "tick": "1 ms",
                "rto_min": "200 ms",
            },
            "run": {"duration": "3000 s"},
        }
    )
    rates = [throughputs_bps(skycell.run(scenario, seed=seed).records)[0] for seed in range(1, 5)]
    ideal = CONSTANT / LOSS**0.5 * MSS * 8 / RTT_S
    assert mean(rates) == pytest.approx(ideal, rel=0.04)
