"""`skycell emulate`: real hosts over the path of a scenario."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from skycell.cli.collector import ErrorCollector
from skycell.cli.inputs import load_input
from skycell.cli.options import NamedPath, latex_option, set_option, table_json_option
from skycell.cli.sentences import say
from skycell.cli.settings import read_settings
from skycell.cli.verb import Call, Verb, argument, option

if TYPE_CHECKING:
    from skycell.scenario import NetworkSpec, Scenario

_PS_PER_US = 1e6


class Emulate(Call):
    """Make the scenario in FILE a live network: each of its hosts a network namespace of Linux.

    What hosts send goes through the links, queues and policies of the scenario, and its cell
    sources send beside it. Of its flows only the ends count: hosts reach each other as they do.
    Groups of users do nothing. Hosts have the addresses 10.9.0.1, 10.9.0.2 and so on, which are
    told with the way into each; without --run the network is there until Ctrl-C, or for the
    scenario's duration. With --at and an interface for every host, the path is a bridge between
    these, and hosts have what addresses they have.

    Needs root, or user namespaces and a /dev/net/tun that is open to all. Exits with 0, with 1 if
    packets were delivered too late, if a command failed, or if the system refuses, with 2 if the
    input is faulty.
    """

    file: str = argument(type=NamedPath(), metavar="FILE")
    places: tuple[tuple[str, str], ...] = option(
        "--at",
        nargs=2,
        multiple=True,
        metavar="HOST WHERE",
        help="Use an existing host: the file of its network namespace, such as /run/netns/NAME or "
        "a container's /proc/PID/ns/net, or the interface of this machine that it is behind; may "
        "be repeated.",
    )
    commands: tuple[tuple[str, str], ...] = option(
        "--run",
        nargs=2,
        multiple=True,
        metavar="HOST COMMAND",
        help="Run a command line at a host; may be repeated. All commands start together. The "
        "emulation ends when the last command ends.",
    )
    as_json: bool = table_json_option(
        "Write what ports counted, how late packets were, and exit codes as one JSON object."
    )
    as_latex: bool = latex_option()
    settings: tuple[str, ...] = set_option(
        "Replace a value of the file, such as run.duration='10 min'"
    )

    def check(self, collector: ErrorCollector) -> Scenario | None:
        values = read_settings(self.settings, collector.faults)
        return collector.read(lambda: load_input(self.file, values))

    def run(self, scenario: Scenario) -> None:
        from skycell import _core

        spec = scenario.resolve()
        if spec.measure_from_ps:
            say(
                "Note: run.measure_from is left aside: a live network counts from its beginning "
                "on.",
                err=True,
            )
            spec = spec.model_copy(update={"measure_from_ps": 0})
        _refuse_unknown(spec, [host for host, _ in self.commands], "--run")
        _refuse_unknown(spec, [host for host, _ in self.places], "--at")
        _refuse_mixed(spec, self.places, self.commands)
        # Who is not root makes itself root in a user namespace, which others have to enter, too.
        user = (
            ""
            if os.geteuid() == 0
            else f"--user=/proc/{os.getpid()}/ns/user --preserve-credentials "
        )

        def report(hosts: Sequence[tuple[str, str | None, str]]) -> None:
            for name, address, where in hosts:
                way = f"{address}  nsenter {user}--net={where} COMMAND" if address else where
                say(f"{name}  {way}", err=True)

        text = _core.emulate(
            spec.canonical_json(), list(self.places), list(self.commands), self.as_json, report
        )
        found = json.loads(text)
        if self.as_json:
            say(text)
        else:
            _show(spec, found)
        wrong = _wrong(found)
        for line in wrong:
            say(line, err=True)
        if wrong:
            raise click.exceptions.Exit(1)


emulate = Verb(
    Emulate, 'skycell emulate examples/satellite-buffer.toml --run source1 "ping -c 3 10.9.0.6"'
)


def _ends(spec: NetworkSpec) -> list[str]:
    """The hosts at the ends of flows."""
    ends: dict[str, None] = {}
    for flow in spec.flows:
        first, last = spec.vcs[flow.forward[0]], spec.vcs[flow.forward[-1]]
        for node in (spec.links[first.path[0]].from_, spec.links[last.path[-1]].to):
            ends[spec.nodes[node].name] = None
    return list(ends)


def _refuse_unknown(spec: NetworkSpec, hosts: Sequence[str], option: str) -> None:
    """Refuses what is for no end of a flow, or twice where one has one, before anything begins."""
    ends = _ends(spec)
    for host in hosts:
        if option == "--at" and hosts.count(host) > 1:
            raise click.BadParameter(f'"{host}" is at one end only', param_hint="'--at'")
        if host not in ends:
            problem = f'"{host}" is no host with a flow; there are {", ".join(ends)}'
            raise click.BadParameter(problem, param_hint=f"'{option}'")


def _refuse_mixed(
    spec: NetworkSpec, places: Sequence[tuple[str, str]], commands: Sequence[tuple[str, str]]
) -> None:
    """Refuses interfaces for some hosts only, and what cannot be run behind one."""
    behind = {host for host, where in places if "/" not in where}
    if not behind:
        return
    others = [host for host in _ends(spec) if host not in behind]
    if others:
        problem = (
            f"there is an interface for {', '.join(sorted(behind))} and none for "
            f"{', '.join(others)}: the path is a bridge between interfaces, or hosts are "
            "namespaces, whose files have a / in their names"
        )
        raise click.BadParameter(problem, param_hint="'--at'")
    if commands:
        problem = f'"{commands[0][0]}" is behind an interface: run the command there'
        raise click.BadParameter(problem, param_hint="'--run'")


def _show(spec: NetworkSpec, found: Mapping[str, Any]) -> None:
    from skycell.cli.console import Output
    from skycell.input.quantities import PS_PER_SECOND
    from skycell.tables.recorded import Records
    from skycell.tables.run import terminal_tables

    records = {**found, "duration_ps": max(1, round(found["seconds"] * PS_PER_SECOND))}
    output = Output()
    for table in terminal_tables(Records(spec, records), "ports"):
        output.show(table)
    late = found["late"]
    parts = {
        "median": "p50_ps",
        "90 %": "p90_ps",
        "99 %": "p99_ps",
        "99.9 %": "p999_ps",
        "latest": "max_ps",
    }
    shown = ", ".join(f"{name} {late[key] / _PS_PER_US:.0f} us" for name, key in parts.items())
    output.say(f"{late['cells']} packets delivered in {found['seconds']:.2f} s; late by: {shown}.")
    if not found["has_priority"]:
        output.say("Packets were forwarded without priority: that takes the right CAP_SYS_NICE.")


def _wrong(found: Mapping[str, Any]) -> list[str]:
    """Why what an emulation left is not to be believed, or is not what was asked for."""
    wrong = []
    if not found["is_good"]:
        late_ms = found["late"]["p99_ps"] / _PS_PER_US / 1e3
        wrong.append(
            f"Packets were delivered too late: one in a hundred by more than {late_ms:.1f} ms, "
            "where 1 ms is allowed. What was measured here is not what the path gives."
        )
    for command in found["commands"]:
        code = command["exit_code"]
        if code:
            wrong.append(f"{command['host']}: {command['line']}: exit code {code}")
    if found["commands"] and found["commands"][-1]["exit_code"] is None:
        last = found["commands"][-1]
        wrong.append(f"{last['host']}: {last['line']}: had not ended when the time was over")
    return wrong
