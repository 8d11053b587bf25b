"""Tests of the conclusions on GFR with FIFO and WFQ switches, numbered 15."""

from skycell.studies.conclusions.counting import apart, mean, show
from skycell.studies.findings import Finding, decides
from skycell.studies.model import Level
from skycell.studies.values import Values

_MCRS = (20_000, 60_000, 100_000, 140_000, 180_000)
_TEXT: dict[str, Level] = {
    "network": "lan",
    "switch": "fifo",
    "variant": "tcp_default",
    "n_background": 9,
    "background_mcr_cells_per_s": 20_000,
    "privileged_mcr_cells_per_s": 180_000,
    "privileged_mss_bytes": 9_140,
    "background_mss_bytes": 9_140,
    "max_window_bytes": 196_608,
}
"""The run that most of the statements are about; the others say what differs."""


def _reserved(mcr: int, mss: int = 9_140) -> float:
    """What an MCR leaves to users, Mbit/s: 380.8 bit a cell with 9140-octet segments.

    >>> round(_reserved(180_000), 2)
    68.55
    """
    cells = {9_140: 192, 1_460: 32, 512: 12}[mss]
    return mcr * mss * 8 / cells / 1e6


def _with_idle_times(mbps: float) -> float:
    """What a rate gives where 0.1 s of idleness follow each 10 MB, Mbit/s."""
    transfer_s = 80 / mbps
    return mbps * transfer_s / (transfer_s + 0.1)


def _got(values: Values, table: str, of: Level = "privileged", **differs: Level) -> float:
    factors = {**_TEXT, "source": of, **differs}
    return values.get(f"bonaventure-{table}", "source_throughput", **factors)


def _of_privileged(values: Values, table: str, metric: str, **differs: Level) -> float:
    """A number that a table has for the privileged source."""
    factors = {**_TEXT, "source": "privileged", **differs}
    return values.get(f"bonaventure-{table}", metric, **factors)


def _tagged(values: Values, **differs: Level) -> float:
    return values.get("bonaventure-tagged", "tagged_share", **{**_TEXT, **differs})


def _is_near(value: float, printed: float) -> bool:
    return abs(value - printed) <= 0.15 * printed


@decides("bonaventure", "15.1")
def _nothing_but_uni2_limits(values: Values) -> Finding:
    parts = [
        values.get(
            "bonaventure-f4",
            "source_throughput",
            variant="tcp_default",
            privileged_mcr_cells_per_s=mcr,
            source=source,
        )
        / _with_idle_times(_reserved(rate))
        for mcr in (20_000, 100_000, 180_000)
        for source, rate in (("privileged", mcr), ("background", 20_000))
    ]
    return Finding(min(parts) >= 0.9, f"parts of the rate {show(parts)}")


def _share_of_reserved(values: Values, table: str, mcr: int, **differs: Level) -> float:
    return _got(values, table, privileged_mcr_cells_per_s=mcr, **differs) / _reserved(mcr)


@decides("bonaventure", "15.2")
def _the_privileged_source_is_far_below_its_reservation(values: Values) -> Finding:
    parts = [_share_of_reserved(values, "throughput", mcr) for mcr in (100_000, 180_000)]
    return Finding(max(parts) < 0.5, f"parts of the reservation {show(parts)}")


def _recovery(values: Values, **differs: Level) -> tuple[float, float]:
    return (
        _of_privileged(values, "recovery", "timeouts_per_10mb", **differs),
        _of_privileged(values, "recovery", "retransmitted_per_10mb", **differs),
    )


@decides("bonaventure", "15.3a")
def _losses_cost_timeouts(values: Values) -> Finding:
    timeouts, kilobytes = _recovery(values)
    holds = 2 <= timeouts <= 6 and 100 <= kilobytes <= 300
    return Finding(holds, f"{timeouts:.1f} timeouts, {kilobytes:.0f} kB")


@decides("bonaventure", "15.3b")
def _many_frames_are_tagged(values: Values) -> Finding:
    middle = _tagged(values, privileged_mcr_cells_per_s=100_000)
    large = _tagged(values)
    holds = abs(middle - 0.5) <= 0.1 and abs(large - 0.3) <= 0.1
    return Finding(holds, f"{show([middle, large])}")


@decides("bonaventure", "15.3c")
def _hbo_is_never_reached(values: Values) -> Finding:
    frames = [
        _of_privileged(values, "f5", "frames_above_hbo", privileged_mcr_cells_per_s=mcr)
        for mcr in _MCRS
    ]
    return Finding(not any(frames), f"{show(frames, 1)} frames")


@decides("bonaventure", "15.4a")
def _fast_is_slightly_below_default(values: Values) -> Finding:
    total = {
        variant: [
            _got(values, "f5", source, variant=variant, privileged_mcr_cells_per_s=mcr) * count
            for mcr in _MCRS
            for source, count in (("privileged", 1), ("background", 9))
        ]
        for variant in ("tcp_default", "tcp_fast")
    }
    part = sum(total["tcp_fast"]) / sum(total["tcp_default"])
    # A link that is full in both cases gives the same sum but for chance.
    return Finding(0.75 <= part < 0.995, f"{part:.3f} of TCP_default")


@decides("bonaventure", "15.4b")
def _fast_repeats_more(values: Values) -> Finding:
    default, fast = (_recovery(values, variant=name) for name in ("tcp_default", "tcp_fast"))
    timeouts, kilobytes = (b / a if a else 0.0 for a, b in zip(default, fast, strict=True))
    holds = timeouts >= 2 and 2 <= kilobytes <= 4
    return Finding(holds, f"{timeouts:.1f} times the timeouts, {kilobytes:.1f} times the kB")


@decides("bonaventure", "15.5a")
def _sack_is_best_and_below_the_reservation(values: Values) -> Finding:
    variants = ("tcp_sack", "tcp_default", "tcp_fast")
    sack, default, fast = (_got(values, "f5", variant=name) for name in variants)
    holds = _reserved(180_000) > sack > default > fast
    told = ", ".join(apart([sack, default, fast], limits=[_reserved(180_000)]))
    return Finding(holds, f"SACK, default, fast {told} Mbit/s")


@decides("bonaventure", "15.5b")
def _sack_has_few_timeouts(values: Values) -> Finding:
    timeouts = _of_privileged(values, "recovery", "timeouts_per_10mb", variant="tcp_sack")
    return Finding(timeouts <= 1.5, f"{timeouts:.2f} timeouts")


@decides("bonaventure", "15.5c")
def _the_queue_makes_the_round_trip(values: Values) -> Finding:
    rtt = _of_privileged(values, "delay", "segment_rtt", variant="tcp_sack")
    return Finding(_is_near(rtt, 14.0), f"{rtt:.1f} ms")


@decides("bonaventure", "15.5d")
def _the_queue_is_long(values: Values) -> Finding:
    queue = _of_privileged(values, "f5", "mean_queue", variant="tcp_sack")
    return Finding(_is_near(queue, 5000.0), f"{queue:.0f} cells")


@decides("bonaventure", "15.6a")
def _a_lower_background_mcr_does_not_help(values: Values) -> Finding:
    parts = [
        _share_of_reserved(values, "f11", 180_000, background_mcr_cells_per_s=mcr)
        for mcr in (10_000, 5_000, 0)
    ]
    return Finding(max(parts) < 0.75, f"parts of the reservation {show(parts)}")


@decides("bonaventure", "15.6b")
def _fewer_sources_do_not_help(values: Values) -> Finding:
    parts = [
        _share_of_reserved(
            values, "f11", 180_000, n_background=count, background_mcr_cells_per_s=180_000 // count
        )
        for count in (3, 6)
    ]
    return Finding(max(parts) < 0.75, f"parts of the reservation {show(parts)}")


@decides("bonaventure", "15.7a")
def _a_lower_lbo_makes_little_difference(values: Values) -> Finding:
    usual = _got(values, "f5")
    lower = [_got(values, "lbo", switch=f"fifo_lbo_{lbo}") for lbo in (4096, 2048)]
    holds = all(abs(value - usual) <= 0.25 * usual for value in lower)
    return Finding(holds, f"{usual:.1f}, then {show(lower, 1)} Mbit/s")


@decides("bonaventure", "15.7b")
def _fast_gains_slightly_with_a_lower_lbo(values: Values) -> Finding:
    usual = _got(values, "f5", variant="tcp_fast")
    lower = _got(values, "lbo", variant="tcp_fast", switch="fifo_lbo_2048")
    holds = usual < lower < 0.5 * _reserved(180_000)
    before, after = apart([usual, lower], 1)
    return Finding(holds, f"{before}, then {after} Mbit/s")


def _without_room_for_tagged_frames(values: Values) -> list[float]:
    return [
        _got(
            values,
            "throughput",
            source,
            switch="fifo_lbo_0",
            variant=variant,
            privileged_mcr_cells_per_s=mcr,
        )
        for variant in ("tcp_default", "tcp_sack")
        for source, mcr in (("each", 20_000), ("privileged", 180_000))
    ]


@decides("bonaventure", "15.7c")
def _without_room_for_tagged_frames_throughput_collapses(values: Values) -> Finding:
    got = _without_room_for_tagged_frames(values)
    return Finding(max(got) < 1, f"{show(got)} Mbit/s")


@decides("bonaventure", "15.7d")
def _fast_is_better_off_without_room(values: Values) -> Finding:
    fast = [
        _got(
            values,
            "lbo",
            switch="fifo_lbo_0",
            variant="tcp_fast",
            privileged_mcr_cells_per_s=mcr,
        )
        for mcr in (20_000, 180_000)
    ]
    default = _without_room_for_tagged_frames(values)[:2]
    better = all(b > a for a, b in zip(default, fast, strict=True))
    below = fast[0] < _reserved(20_000) and fast[1] < _reserved(180_000)
    return Finding(better and below, f"{show(fast)} Mbit/s, default {show(default)}")


@decides("bonaventure", "15.7e")
def _without_losses_all_get_the_same(values: Values) -> Finding:
    ratios, lost = [], 0.0
    for mcr in (20_000, 180_000):
        differs: dict[str, Level] = {"switch": "fifo_no_loss", "privileged_mcr_cells_per_s": mcr}
        background = _got(values, "lbo", "background", **differs)
        ratios.append(_got(values, "lbo", **differs) / background)
        lost += _of_privileged(values, "lbo", "cells_discarded", **differs)
    holds = lost == 0 and all(abs(ratio - 1) <= 0.1 for ratio in ratios)
    return Finding(holds, f"privileged to background {show(ratios)}, {lost:.0f} cells lost")


def _alike(values: Values, mss: int, variant: str) -> float:
    return _got(values, "mss", variant=variant, privileged_mss_bytes=mss, background_mss_bytes=mss)


@decides("bonaventure", "15.8a")
def _small_segments_cost_default_little(values: Values) -> Finding:
    small, middle = (_alike(values, mss, "tcp_default") for mss in (512, 1460))
    large = _got(values, "f5")
    holds = 0.7 * large <= small < middle < large
    return Finding(holds, f"512, 1460, 9140: {show([small, middle, large], 1)} Mbit/s")


@decides("bonaventure", "15.8b")
def _small_segments_cost_sack(values: Values) -> Finding:
    small, large = _alike(values, 1460, "tcp_sack"), _got(values, "f5", variant="tcp_sack")
    return Finding(small < large, f"1460, 9140: {show([small, large], 1)} Mbit/s")


def _unequal(values: Values, switch: str, own: int, other: int) -> list[float]:
    """Privileged and background at MCR 20000, then at 180000."""
    return [
        _got(
            values,
            "mss",
            source,
            switch=switch,
            privileged_mcr_cells_per_s=mcr,
            privileged_mss_bytes=own,
            background_mss_bytes=other,
        )
        for mcr in (20_000, 180_000)
        for source in ("privileged", "background")
    ]


@decides("bonaventure", "15.9a")
def _large_segments_win_whatever_the_mcr(values: Values) -> Finding:
    small, background, large, _ = got = _unequal(values, "fifo", 9140, 512)
    holds = small > 2 * background and abs(large - small) <= 0.25 * small
    return Finding(holds, f"privileged, background at 20000, 180000: {show(got, 1)} Mbit/s")


@decides("bonaventure", "15.9b")
def _small_segments_lose_whatever_the_mcr(values: Values) -> Finding:
    small, background, large, beside = got = _unequal(values, "fifo", 512, 9140)
    holds = small < 0.5 * background and large <= 1.5 * beside
    return Finding(holds, f"privileged, background at 20000, 180000: {show(got, 1)} Mbit/s")


@decides("bonaventure", "15.9c")
def _small_segments_are_hardly_tagged(values: Values) -> Finding:
    tagged = _tagged(values, privileged_mss_bytes=512)
    many, few = (
        _of_privileged(
            values,
            "recovery",
            "timeouts_per_10mb",
            privileged_mss_bytes=512,
            privileged_mcr_cells_per_s=mcr,
        )
        for mcr in (180_000, 20_000)
    )
    holds = tagged < 0.02 and many <= 2.5 and few <= 1.5
    return Finding(holds, f"{tagged:.3f} tagged; {many:.1f} and {few:.1f} timeouts")


@decides("bonaventure", "15.9d")
def _small_segments_meet_a_long_queue(values: Values) -> Finding:
    rtt = _of_privileged(values, "delay", "segment_rtt", privileged_mss_bytes=512)
    return Finding(_is_near(rtt, 12.6), f"{rtt:.1f} ms")


@decides("bonaventure", "15.9e")
def _the_buffer_is_more_than_half_full(values: Values) -> Finding:
    queue = _of_privileged(values, "mss", "mean_queue", privileged_mss_bytes=512)
    return Finding(queue > 4096, f"{queue:.0f} cells")


@decides("bonaventure", "15.9f")
def _epd_treats_segment_sizes_alike(values: Values) -> Finding:
    large = _unequal(values, "ubr_epd", 9140, 512)
    small = _unequal(values, "ubr_epd", 512, 9140)
    ratios = [large[0] / large[1], large[2] / large[3], small[1] / small[0], small[3] / small[2]]
    return Finding(min(ratios) > 2, f"9140 to 512: {show(ratios, 1)}")


@decides("bonaventure", "15.10")
def _no_benefit_in_the_wan(values: Values) -> Finding:
    wan: dict[str, Level] = {"network": "wan", "variant": "tcp_sack"}
    parts = [_share_of_reserved(values, "f15", mcr, **wan) for mcr in (100_000, 180_000)]
    timeouts = mean(
        _of_privileged(values, "f15", "timeouts_per_10mb", privileged_mcr_cells_per_s=mcr, **wan)
        for mcr in (20_000, 100_000, 180_000)
    )
    holds = max(parts) < 0.5 and timeouts <= 1.5
    return Finding(holds, f"parts of the reservation {show(parts)}, {timeouts:.1f} timeouts")


_WFQ: dict[str, Level] = {
    "network": "lan",
    "conformance": "gfr1",
    "background_mcr_cells_per_s": 20_000,
    "privileged_mcr_cells_per_s": 180_000,
    "privileged_mss_bytes": 9_140,
    "background_mss_bytes": 9_140,
    "max_window_bytes": 65_536,
}
"""The run with a WFQ switch that most of the statements are about."""


def _wfq(
    values: Values,
    table: str,
    of: Level = "privileged",
    measure: Level = "source_throughput",
    **differs: Level,
) -> float:
    factors = {**_WFQ, "source": of, **differs}
    return values.get(f"bonaventure-{table}", str(measure), **factors)


def _part_of_weight(values: Values, table: str, mcr: int, beside: int, **differs: Level) -> float:
    """What the privileged source gets of all cells, to its part of all MCRs."""
    all_differs: dict[str, Level] = {
        "privileged_mcr_cells_per_s": mcr,
        "background_mcr_cells_per_s": beside,
        **differs,
    }
    sizes = {**_WFQ, **all_differs}
    # Weights share out cells; segments of 512 octets leave users less of a cell than those of 9140.
    own = _wfq(values, table, **all_differs) / _reserved(1, int(sizes["privileged_mss_bytes"]))
    others = 9 * _wfq(values, table, "background", **all_differs)
    others /= _reserved(1, int(sizes["background_mss_bytes"]))
    return own / (own + others) / (mcr / (mcr + 9 * beside))


@decides("bonaventure", "15.11a")
def _wfq_shares_in_proportion(values: Values) -> Finding:
    mcrs = (20_000, 100_000, 180_000)
    small: dict[str, Level] = {"max_window_bytes": 32_768}
    parts = [_part_of_weight(values, "f16", mcr, 20_000, **small) for mcr in mcrs]
    lost = sum(
        _wfq(values, "f16", measure="cells_discarded", privileged_mcr_cells_per_s=mcr, **small)
        for mcr in mcrs
    )
    holds = lost == 0 and all(abs(part - 1) <= 0.15 for part in parts)
    return Finding(holds, f"parts of the weight {show(parts)}, {lost:.0f} cells lost")


@decides("bonaventure", "15.11b")
def _a_small_weight_waits_long(values: Values) -> Finding:
    case: dict[str, Level] = {"background_mcr_cells_per_s": 5_000, "max_window_bytes": 32_768}
    own, wait = (
        _wfq(values, "f16", measure=measure, **case)
        for measure in ("source_throughput", "packet_delay")
    )
    others = _wfq(values, "f16", "background", "packet_delay", **case)
    holds = own > 139.2 / 2 and others > 10 * wait
    return Finding(holds, f"{own:.1f} Mbit/s; {wait:.2f} against {others:.2f} ms")


@decides("bonaventure", "15.12a")
def _large_segments_fall_short_with_wfq(values: Values) -> Finding:
    part = _wfq(values, "f18") / _reserved(180_000)
    timeouts = _wfq(values, "f18", measure="timeouts_per_10mb")
    (told,) = apart([part], limits=[1.0])
    return Finding(part < 1 and timeouts >= 5, f"{told} reserved, {timeouts:.1f} timeouts")


@decides("bonaventure", "15.12b")
def _small_segments_almost_get_their_reservation(values: Values) -> Finding:
    alike: dict[str, Level] = {"privileged_mss_bytes": 1_460, "background_mss_bytes": 1_460}
    part = _wfq(values, "f18", **alike) / _reserved(180_000, 1_460)
    timeouts = _wfq(values, "f18", measure="timeouts_per_10mb", **alike)
    holds = part >= 0.85 and timeouts <= 1.5
    return Finding(holds, f"{part:.2f} reserved, {timeouts:.1f} timeouts")


@decides("bonaventure", "15.13")
def _unequal_segments_matter_little_with_wfq(values: Values) -> Finding:
    parts = [
        _part_of_weight(values, "f18", 180_000, 20_000, privileged_mss_bytes=512),
        _part_of_weight(values, "f18", 180_000, 20_000, background_mss_bytes=512),
    ]
    holds = all(abs(part - 1) <= 0.15 for part in parts)
    return Finding(holds, f"parts of the weight {show(parts)}")


def _over_wan(values: Values, conformance: str) -> float:
    return _wfq(values, "f20", network="wan", max_window_bytes=550_000, conformance=conformance)


@decides("bonaventure", "15.14")
def _wfq_helps_in_the_wan(values: Values) -> Finding:
    fifo = _got(values, "f15", network="wan", variant="tcp_sack")
    wfq = _over_wan(values, "gfr1")
    holds = 1.5 * fifo < wfq < _reserved(180_000)
    return Finding(holds, f"FIFO {fifo:.1f}, WFQ {wfq:.1f} Mbit/s")


@decides("bonaventure", "15.15a")
def _tagging_changes_little_with_equal_segments(values: Values) -> Finding:
    ratios = []
    for mss in (9_140, 1_460):
        alike: dict[str, Level] = {"privileged_mss_bytes": mss, "background_mss_bytes": mss}
        tagged = _wfq(values, "f21", conformance="gfr2", **alike)
        ratios.append(tagged / _wfq(values, "f18", **alike))
    holds = all(abs(ratio - 1) <= 0.15 for ratio in ratios)
    return Finding(holds, f"of what is got without tagging {show(ratios)}")


def _tagged_pair(values: Values, **differs: Level) -> tuple[float, float]:
    case: dict[str, Level] = {"conformance": "gfr2", "privileged_mcr_cells_per_s": 20_000}
    own, beside = (
        _wfq(values, "f21", of, **{**case, **differs}) for of in ("privileged", "background")
    )
    return own, beside


@decides("bonaventure", "15.15b")
def _large_segments_gain_nothing_with_wfq_and_tagging(values: Values) -> Finding:
    own, beside = _tagged_pair(values, background_mss_bytes=512)
    holds = abs(own / beside - 1) <= 0.3
    told = apart([own, beside], 1)
    return Finding(holds, "privileged {}, background {} Mbit/s".format(*told))


@decides("bonaventure", "15.15c")
def _small_segments_suffer_with_wfq_and_tagging(values: Values) -> Finding:
    own, beside = _tagged_pair(values, privileged_mss_bytes=512)
    timeouts = _wfq(
        values,
        "f21",
        measure="timeouts_per_10mb",
        conformance="gfr2",
        privileged_mss_bytes=512,
        privileged_mcr_cells_per_s=20_000,
    )
    holds = own < 0.5 * beside and timeouts > 20
    return Finding(holds, f"{own:.1f} against {beside:.1f} Mbit/s, {timeouts:.0f} timeouts")


@decides("bonaventure", "15.16")
def _tagging_hurts_in_the_wan(values: Values) -> Finding:
    part = _over_wan(values, "gfr2") / _over_wan(values, "gfr1")
    tagged = _wfq(
        values,
        "f20",
        measure="tagged_share",
        network="wan",
        conformance="gfr2",
        max_window_bytes=550_000,
    )
    holds = part < 0.75 and tagged > 0.2
    return Finding(holds, f"{part:.2f} of what is got without, {tagged:.2f} tagged")
