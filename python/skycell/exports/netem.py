"""A path as a shell script that drives Linux's `tc netem` step by step.

Source: tc-netem(8) of iproute2. `delay`, `rate` and `loss random` are its parameters; `limit` is
the greatest number of packets that it holds, those on their way included.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skycell.exports.path_steps import QUEUES
from skycell.input.printable import printable
from skycell.scenario.links.steps_table import decimal

if TYPE_CHECKING:
    from skycell.exports.path_steps import PathSteps
    from skycell.spec.steps import Steps

_PACKET_BITS = 1500 * 8
_USUAL_LIMIT = 1000
"""Packets that netem holds if nothing is said (tc-netem(8))."""
_PS_PER_NS = 1000
_MEANING = (
    (
        "netem has one delay at a time, for all packets alike, and no path: at a change to a "
        "shorter delay a packet may overtake the packet before it."
    ),
    "While there is no path netem loses every packet; in a run packets wait at the port.",
    "limit is 1000 packets and those that are on their way at the greatest rate and delay.",
    "rate counts the octets of packets as the interface has them, with 14 of Ethernet's header.",
    "Steps begin as exactly as the shell sleeps, some milliseconds.",
)

_SCRIPT = """#!/bin/sh
{notes}
#
# Usage, as root: sh {name} forward|reverse INTERFACE
# Each row is a step: its time in ns, delay in ms, rate in bit/s, loss in %.
set -eu

usage="usage: $0 forward|reverse INTERFACE"
case "${{1:-}}" in
  forward|reverse) ;;
  *) echo "$usage" >&2; exit 2 ;;
esac
interface=${{2:?"$usage"}}

steps_forward() {{
cat <<'STEPS'
{forward}
STEPS
}}

steps_reverse() {{
{reverse}
}}

trap 'tc qdisc del dev "$interface" root' EXIT
trap 'exit 130' INT TERM
start=$(date +%s%N)

# Sleeps until a time after the start, in ns.
wait_until() {{
  left=$((start + $1 - $(date +%s%N)))
  if [ "$left" -gt 0 ]; then
    sleep "$((left / 1000000000)).$(printf %09d $((left % 1000000000)))"
  fi
}}

"steps_$1" | {{
  verb=add
  while read -r time delay rate loss; do
    wait_until "$time"
    tc qdisc $verb dev "$interface" root netem limit {limit} \\
      delay "${{delay}}ms" {rate}loss random "${{loss}}%"
    verb=change
  done
  wait_until {end}
}}
"""


def netem_script(path: PathSteps, name: str) -> str:
    """The script of a path.

    Args:
        path: with rates or without; then netem delays and loses only.
        name: of the file that it is for.
    """
    notes = (f"{path.title}.", *path.notes, QUEUES, *_MEANING)
    is_alike = path.there == path.back
    has_rates = bool(path.there.rates)
    return _SCRIPT.format(
        notes="\n".join(f"# {printable(note)}" for note in notes),
        name=printable(name),
        forward="\n".join(_rows(path.there)),
        reverse="steps_forward"
        if is_alike
        else "cat <<'STEPS'\n" + "\n".join(_rows(path.back)) + "\nSTEPS",
        limit=_USUAL_LIMIT + max(map(_on_the_way, path.ways.values())),
        rate='rate "${rate}bit" ' if has_rates else "",
        end=path.end_ps // _PS_PER_NS,
    )


def _rows(steps: Steps) -> Iterator[str]:
    """Each step as its line: without a path every packet is lost, at the delay and rate before."""
    delay_ps, rate = 0, 0
    for at, time_ps in enumerate(steps.times_ps):
        own = steps.delays_ps[at]
        is_up = own is not None and not (steps.rates and steps.rates[at] == 0)
        if own is not None:
            delay_ps = own
        if steps.rates and steps.rates[at]:
            rate = steps.rates[at]
        loss = steps.losses_ppb[at] if steps.losses_ppb else 0
        percent = decimal(loss, 7) if is_up else "100"
        # netem takes whole bit/s, and 0 stands for no limit.
        bps = max(round(rate / 1000), 1) if rate else 0
        yield f"{time_ps // _PS_PER_NS} {decimal(delay_ps, 9)} {bps} {percent}"


def _on_the_way(steps: Steps) -> int:
    """Packets of 1500 octets on their way at the greatest rate and delay."""
    delay_ps = max((delay for delay in steps.delays_ps if delay is not None), default=0)
    rate = max(steps.rates, default=0)
    return -(-rate * delay_ps // (_PACKET_BITS * 10**15))
