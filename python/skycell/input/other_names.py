"""What papers, textbooks, other simulators and our earlier versions call our keys."""

from __future__ import annotations

from dataclasses import dataclass

from skycell.input.spelling import plain

_OF_KEY = {
    # Links and their ports.
    "rate": "bandwidth bw speed line_speed link_rate bit_rate data_rate",
    "delay": "latency propagation propagation_delay prop_delay owd distance length",
    "buffer": "queue queue_size queue_length queue_limit qlen qlim buffer_size buffer_length limit",
    "policy": "aqm qdisc discard discard_policy drop drop_policy queue_management",
    "loss": "loss_rate loss_probability packet_loss frame_loss error_rate ber per fer plr",
    "delay_variation": "jitter delay_jitter netem_jitter delay_distribution pdv",
    "frame_jitter": "jitter overhead processing_time send_jitter",
    "scheduler": "scheduling service_discipline discipline",
    # TCP.
    "recovery": "variant version flavor flavour algorithm type loss_recovery",
    "congestion": "congestion_control cc cca",
    "recovery.dup_ack_threshold": "dup_ack_threshold dupthresh dupacks dup_acks numdupacks",
    "recovery.pipe_at_entry": "pipe_at_entry",
    "recovery.partial_ack": "sack_partial_ack",
    "recovery.partial_ack_restarts": "sack_partial_ack_restarts partial_ack_restarts",
    "recovery.pipe_room": "sack_pipe_room",
    "recovery.retransmit_delay": "sack_retransmit_delay",
    "recovery.max_blocks": "sack_max_blocks",
    "recovery.partial_ack_window": "partial_ack_window",
    "recovery.flywheel": "flywheel",
    "recovery.avoid_multiple_fast_retransmits": "avoid_multiple_fast_retransmits bugfix",
    "congestion.growth": "cwnd_growth",
    "congestion.ssthresh_basis": "ssthresh_basis",
    "slow_start.at_ssthresh": "slow_start_at_ssthresh",
    "mss": "smss segment_size max_segment_size packet_size mtu",
    "receiver_window": "rwnd rcvwnd rwin window window_size receive_window receive_buffer rcvbuf",
    "initial_cwnd": "iw initial_window init_cwnd init_wnd cwnd",
    "initial_ssthresh": "ssthresh init_ssthresh",
    "tick": "granularity timer_granularity clock_granularity",
    # The run, its flows and what it leaves.
    "duration": "time sim_time simulation_time run_time stop stop_time end end_time length",
    "sources": "n senders connections flows number_of_sources num_sources",
    "flow": "flows connections",
    "start": "start_time begin begin_time",
    "size": "file_size bytes volume",
    "idle": "think_time off_time idle_time",
    "traces": "trace",
    "sample_every": "sample sampling sample_interval sampling_interval",
    "kind": "type",
}

KEYS_CALLED: dict[str, list[str]] = {}
"""Keys by each of their other names, without hyphens and the like; a rule's after the rule."""

for _key, _others in _OF_KEY.items():
    for _other in _others.split():
        KEYS_CALLED.setdefault(plain(_other), []).append(_key)


@dataclass(frozen=True)
class Renamed:
    """What a key is called now, dotted if in a table of its own, since when, what else changed."""

    key: str
    remark: str = ""
    since: str = "0.2"


RENAMED = {
    "motion": Renamed("schedule"),
    "on_board": Renamed("onboard_switching"),
    "distant": Renamed("extra_delay", "its delay is that beyond the other routers', no longer all"),
    "frame_gap": Renamed("frame_jitter", 'a time is now { kind = "port_gap", up_to = TIME }'),
    "reverse_buffer": Renamed("reverse.buffer", since="0.3"),
    "reverse_policy": Renamed("reverse.policy", since="0.3"),
}
"""Keys of version 0.1 that are no keys of the same table any more."""

KINDS_OF_PAPERS = {"n_source": "dumbbell"}
"""Kinds of topology by what the papers call them; a file may have either name."""


def ours_of(name: str) -> list[str]:
    """The keys that a name may stand for.

    >>> ours_of("bandwidth"), ours_of("RWnd"), ours_of("buffer")
    (['rate'], ['receiver_window'], [])
    """
    return KEYS_CALLED.get(plain(name), [])
