"""Tests of our conclusions on what handovers cost TCP."""

from skycell.studies.conclusions.counting import apart, between, count, in_all, show
from skycell.studies.findings import Finding, decides
from skycell.studies.values import Values

_THROUGHPUT, _RECOVERY = "leo-handover-throughput", "leo-handover-recovery"
_LEO = ("6x11", "12x24", "shell")
_TCPS = ("vanilla", "reno", "newreno", "sack")
_ALL = [(path, tcp) for path in _LEO for tcp in _TCPS]


def _efficiency(values: Values, satellites: str, tcp: str, under_way: str = "arrive") -> float:
    return values.get(
        _THROUGHPUT, "efficiency", satellites=satellites, under_way=under_way, tcp=tcp
    )


def _recovery(values: Values, metric: str, **factors: str) -> list[float]:
    return [entry.value for entry in values.find(_RECOVERY, metric, **factors)]


@decides("leo-handover", "1")
def _with_sack_leo_beats_geo(values: Values) -> Finding:
    leo = [_efficiency(values, path, "sack") for path in _LEO]
    geo = _efficiency(values, "geo_slot", "sack")
    *told, of_geo = apart([*leo, geo], 3)
    return Finding(min(leo) > geo, f"{', '.join(told)} against GEO {of_geo}")


@decides("leo-handover", "2")
def _what_satellites_drop_costs_more(values: Values) -> Finding:
    pairs = [
        (_efficiency(values, path, tcp), _efficiency(values, path, tcp, "are_lost"))
        for path, tcp in _ALL
    ]
    lower = sum(arrive > lost for arrive, lost in pairs)
    return Finding(in_all(pairs), f"lower in {count(lower, pairs)}")


@decides("leo-handover", "3")
def _then_reno_and_newreno_fall_below_geo(values: Values) -> Finding:
    paths = ("12x24", "shell")
    pairs = [
        (_efficiency(values, "geo_slot", tcp), _efficiency(values, path, tcp, "are_lost"))
        for path in paths
        for tcp in ("reno", "newreno")
    ]
    found = show((leo for _, leo in pairs), 3)
    return Finding(all(geo > leo for geo, leo in pairs), f"{found} against GEO {pairs[0][0]:.3f}")


@decides("leo-handover", "4")
def _starting_over_is_better_than_halving_again_and_again(values: Values) -> Finding:
    pairs = [
        (
            _efficiency(values, path, "vanilla", "are_lost"),
            _efficiency(values, path, tcp, "are_lost"),
        )
        for path in _LEO
        for tcp in ("reno", "newreno")
    ]
    ahead = sum(vanilla > other for vanilla, other in pairs)
    return Finding(in_all(pairs), f"ahead in {count(ahead, pairs)}")


@decides("leo-handover", "5")
def _no_jump_alone_makes_a_timer_run_out(values: Values) -> Finding:
    found = _recovery(values, "timeouts_without_loss")
    every = sum(_recovery(values, "timeouts"))
    return Finding(
        max(found) == 0 and every > 0, f"{sum(found):.0f} in {len(found)} cases, of all {every:.1f}"
    )


@decides("leo-handover", "6")
def _newreno_and_sack_need_no_timer_where_cells_arrive(values: Values) -> Finding:
    def timeouts(tcp: str) -> float:
        return sum(
            sum(_recovery(values, "timeouts", satellites=path, tcp=tcp, under_way="arrive"))
            for path in _LEO
        )

    found = {tcp: timeouts(tcp) for tcp in _TCPS}
    told = ", ".join(f"{tcp} {number:.1f}" for tcp, number in found.items())
    return Finding(
        found["newreno"] == found["sack"] == 0 < min(found["vanilla"], found["reno"]),
        f"timeouts a run over three paths: {told}",
    )


@decides("leo-handover", "7")
def _few_segments_go_again_in_vain(values: Values) -> Finding:
    vain = _recovery(values, "needless_part")
    again = _recovery(values, "retransmitted_part")
    return Finding(
        max(vain) < 0.25,
        f"{between(vain)} % of the segments; sent again {between(again)} % of the octets",
    )


@decides("leo-handover", "8")
def _the_longer_path_suffers_most(values: Values) -> Finding:
    pairs = [
        (_efficiency(values, other, tcp, mode), _efficiency(values, "12x24", tcp, mode))
        for other in ("6x11", "shell")
        for tcp in _TCPS
        for mode in ("arrive", "are_lost")
    ]
    lowest = sum(other > own for other, own in pairs)
    return Finding(in_all(pairs), f"below the other in {count(lowest, pairs)}")
