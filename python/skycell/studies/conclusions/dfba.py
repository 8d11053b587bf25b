"""Tests of the conclusions on DFBA, numbered 11."""

from itertools import pairwise

from skycell.studies.conclusions.counting import apart, at_least, between, count, show, spread
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Values

_VCS = (1, 2, 3, 4, 5)
_KCELLS = {50: (12, 24, 36, 48, 60), 85: (20, 40, 60, 80, 100)}
# (table, TCPs, part of the link in MCRs, buffer)
_RUNS = (
    ("compcom99-t4", 50, 50, 25_000),
    ("compcom99-t5", 50, 85, 25_000),
    ("compcom99-t6", 100, 85, 25_000),
    ("compcom99-t7", 100, 85, 6_000),
    ("compcom99-t8", 100, 85, 3_000),
)
_CEILING_MBPS = 125.8
"""1024-byte segments on 353207 cells/s."""

Run = tuple[str, int, int, int]


def _mcr_mbps(run: Run) -> list[float]:
    # 48 bytes a cell.
    return [kcells * 0.384 for kcells in _KCELLS[run[2]]]


def _throughputs(values: Values, run: Run) -> list[float]:
    table, tcps, part, buffer = run
    return [
        values.get(
            table,
            "vc_throughput",
            n_tcps=tcps,
            mcr_allocation_percent=part,
            buffer_cells=buffer,
            vc=vc,
        )
        for vc in _VCS
    ]


def _expected(values: Values) -> list[float]:
    return [values.get("ijsc-t3", "vc_expected", vc=vc) for vc in _VCS]


@decides("dfba", "11.1")
def _every_vc_gets_its_mcr(values: Values) -> Finding:
    pairs = [
        pair
        for run in _RUNS
        for pair in zip(_throughputs(values, run), _mcr_mbps(run), strict=True)
    ]
    met = at_least(pairs)
    smallest = min(got - due for got, due in pairs)
    evidence = f"{count(met, pairs)}, smallest excess {smallest:.2f} Mbit/s"
    return Finding(met >= 22, evidence)


@decides("dfba", "11.2")
def _excess_grows_less_than_the_mcr(values: Values) -> Finding:
    run = _RUNS[0]
    due = _mcr_mbps(run)
    excess = [got - mcr for got, mcr in zip(_throughputs(values, run), due, strict=True)]
    ratios = [round(over / mcr, 2) for over, mcr in zip(excess, due, strict=True)]
    grows = all(a < b for a, b in pairwise(excess))
    falls = all(a >= b for a, b in pairwise(ratios))
    return Finding(grows and falls, f"excess {show(excess)} Mbit/s, ratios {show(ratios)}")


@decides("dfba", "11.3")
def _the_link_is_nearly_full(values: Values) -> Finding:
    totals = [
        values.get(
            table,
            "total_throughput",
            n_tcps=tcps,
            mcr_allocation_percent=part,
            buffer_cells=buffer,
        )
        for table, tcps, part, buffer in _RUNS
    ]
    evidence = f"{between(totals)} Mbit/s, {100 * min(totals) / _CEILING_MBPS:.0f} % or more"
    return Finding(min(totals) > 0.95 * _CEILING_MBPS, evidence)


def _excess_with(values: Values, rule: str) -> list[float]:
    return [values.get("compcom99-t9", "vc_excess", z_rule=rule, vc=vc) for vc in _VCS]


@decides("dfba", "11.4a")
def _a_falling_z_moves_the_excess_up(values: Values) -> Finding:
    plain, squared = (_excess_with(values, rule) for rule in ("1-w_i/w", "(1-w_i/w)^2"))
    holds = squared[0] < plain[0] and squared[-1] > plain[-1]
    first, last = (" to ".join(apart([plain[vc], squared[vc]])) for vc in (0, -1))
    return Finding(holds, f"VC1 {first}, VC5 {last} Mbit/s")


@decides("dfba", "11.4b")
def _with_the_square_excess_follows_the_mcr(values: Values) -> Finding:
    excess = _excess_with(values, "(1-w_i/w)^2")
    return Finding(all(a <= b for a, b in pairwise(excess)), f"{show(excess)} Mbit/s")


@decides("dfba", "11.5")
def _occupancy_follows_the_mcr(values: Values) -> Finding:
    found = {}
    for buffer in (25_000, 6_000, 3_000):
        queues = [
            values.get(
                "compcom99-f10",
                "vc_mean_queue",
                n_tcps=100,
                mcr_allocation_percent=85,
                buffer_cells=buffer,
                vc=vc,
            )
            for vc in _VCS
        ]
        parts = zip(queues, _KCELLS[85], strict=True)
        found[buffer] = [300 * queue / sum(queues) / kcells for queue, kcells in parts]
    holds = all(abs(ratio - 1) <= 0.15 for ratios in found.values() for ratio in ratios)
    told = "; ".join(f"{buffer} cells {show(ratios)}" for buffer, ratios in found.items())
    return Finding(holds, f"part of the queue to part of the MCRs: {told}")


@decides("dfba", "11.6a")
def _the_expected_throughput_is_exceeded(values: Values) -> Finding:
    expected = _expected(values)
    pairs = [
        pair for run in _RUNS[2:] for pair in zip(_throughputs(values, run), expected, strict=True)
    ]
    met = at_least(pairs)
    return Finding(met == len(pairs), count(met, pairs))


@decides("dfba", "11.6b")
def _the_excess_is_almost_equal(values: Values) -> Finding:
    pairs = zip(_throughputs(values, _RUNS[2]), _expected(values), strict=True)
    excess = [got - due for got, due in pairs]
    return Finding(spread(excess) <= 1.5, f"{show(excess, 1)} Mbit/s")


@decides("dfba", "11.7")
def _a_long_access_link_does_no_harm(values: Values) -> Finding:
    got = [values.get("ijsc-t4", "vc_throughput", buffer_cells=6_000, vc=vc) for vc in _VCS]
    pairs = list(zip(got, _expected(values), strict=True))
    met = at_least(pairs)
    return Finding(met == len(pairs), f"{count(met, pairs)}, VC3 {got[2]:.2f} Mbit/s")


@decides("dfba", "11.8")
def _the_geo_backbone_does_no_harm(values: Values) -> Finding:
    pairs = [
        (values.get("ijsc-t5", "vc_throughput", buffer_cells=buffer, vc=vc), due)
        for buffer in (200_000, 150_000, 100_000)
        for vc, due in zip(_VCS, _expected(values), strict=True)
    ]
    met = at_least(pairs)
    return Finding(met == len(pairs), count(met, pairs))
