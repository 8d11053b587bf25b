"""The E-model: the rating R of a call from delays and losses, and the mean opinion score of R.

Source: ITU-T G.107 (06/2015), with its default values (table 2), which have hardly any echo.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class EModel:
    """Parameters of a transmission, by their symbols in G.107, at its defaults.

    Attributes:
        slr: send loudness rating, dB.
        rlr: receive loudness rating, dB.
        stmr: sidetone masking rating, dB.
        ds: D-value of the telephone at the send side.
        dr: D-value of the telephone at the receive side.
        telr: talker echo loudness rating, dB.
        wepl: weighted echo path loss, dB.
        t_ms: mean one-way delay of the echo path, ms.
        tr_ms: round-trip delay in a four-wire loop, ms.
        ta_ms: absolute delay in connections without echo, ms.
        qdu: quantizing distortion units.
        ie: equipment impairment factor.
        bpl: packet-loss robustness factor.
        ppl: random packet-loss probability, per cent.
        burst_ratio: how bursty losses are; 1 for random losses.
        nc: circuit noise referred to the 0 dBr point, dBm0p.
        nfor: noise floor at the receive side, dBmp.
        ps: room noise at the send side, dB(A).
        pr: room noise at the receive side, dB(A).
        a: advantage factor.
    """

    slr: float = 8.0
    rlr: float = 2.0
    stmr: float = 15.0
    ds: float = 3.0
    dr: float = 3.0
    telr: float = 65.0
    wepl: float = 110.0
    t_ms: float = 0.0
    tr_ms: float = 0.0
    ta_ms: float = 0.0
    qdu: float = 1.0
    ie: float = 0.0
    bpl: float = 4.3
    ppl: float = 0.0
    burst_ratio: float = 1.0
    nc: float = -70.0
    nfor: float = -64.0
    ps: float = 35.0
    pr: float = 35.0
    a: float = 0.0

    def rating(self) -> float:
        """R (7-1); defaults: 93.2."""
        return self.ro() - self.simultaneous() - self.delayed() - self.equipment() + self.a

    def ro(self) -> float:
        """Basic signal-to-noise ratio Ro (7-2)."""
        return 15 - 1.5 * (self.slr + self.noise())

    def noise(self) -> float:
        """Sum of all noise sources No, dBm0p (7-3 to 7-7)."""
        olr = self.slr + self.rlr
        nos = self.ps - self.slr - self.ds - 100 + 0.004 * (self.ps - olr - self.ds - 14) ** 2
        # The listener sidetone rating is that of the telephone: STMR + D (7-5).
        effective = self.pr + 10 * math.log10(1 + 10 ** ((10 - self.lstr()) / 10))
        nor = self.rlr - 121 + effective + 0.008 * (effective - 35) ** 2
        nfo = self.nfor + self.rlr
        powers = (10 ** (level / 10) for level in (self.nc, nos, nor, nfo))
        return 10 * math.log10(sum(powers))

    def lstr(self) -> float:
        """Listener sidetone rating, dB."""
        return self.stmr + self.dr

    def simultaneous(self) -> float:
        """Simultaneous impairment factor Is (7-8)."""
        return self.loudness() + self.sidetone() + self.quantizing()

    def loudness(self) -> float:
        """Iolr: too low an overall loudness rating (7-9, 7-10)."""
        xolr = self.slr + self.rlr + 0.2 * (64 + self.noise() - self.rlr)
        return float(20 * ((1 + (xolr / 8) ** 8) ** (1 / 8) - xolr / 8))

    def sidetone(self) -> float:
        """Ist: a sidetone that is not the best (7-11, 7-12)."""
        echo = math.exp(-self.t_ms / 4) * 10 ** (-self.telr / 10)
        stmro = -10 * math.log10(10 ** (-self.stmr / 10) + echo)
        return float(
            12 * (1 + ((stmro - 13) / 6) ** 8) ** (1 / 8)
            - 28 * (1 + ((stmro + 1) / 19.4) ** 35) ** (1 / 35)
            - 13 * (1 + ((stmro - 3) / 33) ** 13) ** (1 / 13)
            + 29
        )

    def quantizing(self) -> float:
        """Iq: quantizing distortion (7-13 to 7-17)."""
        q = 37 - 15 * math.log10(max(self.qdu, 1.0))
        g = 1.07 + 0.258 * q + 0.0602 * q**2
        z = 46 / 30 - g / 40
        y = (self.ro() - 100) / 15 + 46 / 8.4 - g / 9
        return 15 * math.log10(1 + 10**y + 10**z)

    def delayed(self) -> float:
        """Delay impairment factor Id (7-18 to 7-28)."""
        return self.talker_echo() + self.listener_echo() + self.absolute_delay()

    def talker_echo(self) -> float:
        """Idte: talker echo (7-19 to 7-23)."""
        if self.t_ms < 1:
            return 0.0
        terv = self.telr - 40 * math.log10((1 + self.t_ms / 10) / (1 + self.t_ms / 150))
        terv += 6 * math.exp(-0.3 * self.t_ms**2)
        if self.stmr < 9:
            terv += self.sidetone() / 2
        roe = -1.5 * (self.noise() - self.rlr)
        re = 80 + 2.5 * (terv - 14)
        idte = ((roe - re) / 2 + math.sqrt((roe - re) ** 2 / 4 + 100) - 1) * (
            1 - math.exp(-self.t_ms)
        )
        if self.stmr > 20:
            return math.sqrt(idte**2 + self.sidetone() ** 2)
        return idte

    def listener_echo(self) -> float:
        """Idle: listener echo (7-24, 7-25)."""
        rle = 10.5 * (self.wepl + 7) * (self.tr_ms + 1) ** -0.25
        return float((self.ro() - rle) / 2 + math.sqrt((self.ro() - rle) ** 2 / 4 + 169))

    def absolute_delay(self) -> float:
        """Idd: too long an absolute delay (7-27, 7-28), with sT = 1 and mT = 100 ms."""
        if self.ta_ms <= 100:
            return 0.0
        x = math.log(self.ta_ms / 100) / math.log(2)
        return float(25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2))

    def equipment(self) -> float:
        """Effective equipment impairment factor Ie-eff (7-29)."""
        if self.ppl <= 0:
            return self.ie
        return self.ie + (95 - self.ie) * self.ppl / (self.ppl / self.burst_ratio + self.bpl)


def mean_opinion(rating: float) -> float:
    """Returns the mean opinion score of a rating R (B-4).

    >>> [round(mean_opinion(r), 2) for r in (50, 60, 70, 90)]
    [2.58, 3.1, 3.6, 4.34]
    """
    if rating <= 0:
        return 1.0
    if rating >= 100:
        return 4.5
    return 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6


def burst_ratio(packets: int, missing: int, runs: int) -> float:
    """Returns how much longer runs of missing packets are than with random losses (G.107, 7.4).

    Random losses with probability p come in runs of 1 / (1 - p) in the mean.

    >>> burst_ratio(100, 10, 10), burst_ratio(100, 10, 5)
    (0.9, 1.8)
    """
    if missing == 0 or missing >= packets:
        return 1.0
    return missing / runs * (1 - missing / packets)
