"""`skycell emulate`, with real hosts where the machine allows it."""

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skycell import _core
from tests.structure.tree import ROOT
from tests.unit.cli.calling import skycell

SCENARIO = """
[run]
duration = "20 s"

[topology]
kind = "graph"
hosts = ["a", "b"]
flow = [{ name = "flow1", source = "a", destination = "b" }]

[[topology.link]]
from = "a"
to = "b"
rate = "10 Mbit/s"
framing = "ip"
delay = "100 ms"
host_buffer = "50 packets"
"""

needs_real_hosts = pytest.mark.skipif(
    not Path("/dev/net/tun").exists() or os.geteuid() != 0,
    reason="real hosts need Linux, root and /dev/net/tun",
)

SERVER = """
import socket
with socket.create_server(("10.9.0.2", 5001)) as server:
    stream, _ = server.accept()
    octets = 0
    while part := stream.recv(65536):
        octets += len(part)
    stream.sendall(str(octets).encode())
"""
CLIENT = """
import socket, time
begin = time.monotonic()
while True:
    try:
        stream = socket.create_connection(("10.9.0.2", 5001))
        break
    except OSError:
        begin = time.monotonic()
stream.sendall(bytes(100_000))
stream.shutdown(socket.SHUT_WR)
print("octets", stream.recv(100).decode(), "seconds", time.monotonic() - begin)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "path.toml"
    path.write_text(SCENARIO)
    return path


def python(code: str, folder: Path, name: str) -> str:
    """A command line that runs some Python."""
    script = folder / name
    script.write_text(code)
    return f"{sys.executable} {script}"


def emulated(*arguments: object, **options: Any) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "skycell", "emulate", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False, **options
    )


def found(**changed: Any) -> str:
    """What an emulation leaves, as JSON."""
    port = {"name": "a>b"}
    late = {"cells": 10, "p50_ps": 1e6, "p99_ps": 2.5e9, "p999_ps": 3e9, "max_ps": 4e9}
    left = {"kernel": "6.18", "seconds": 1.0, "ports": [port], "late": late, "is_good": True}
    left["has_priority"] = True
    return json.dumps(left | {"commands": []} | changed)


@pytest.mark.parametrize(
    ("left", "said"),
    [
        ({"is_good": False}, "one in a hundred by more than 2.5 ms"),
        ({"commands": [{"host": "a", "line": "false", "exit_code": 1}]}, "a: false: exit code 1"),
        ({"commands": [{"host": "a", "line": "x", "exit_code": None}]}, "had not ended"),
    ],
)
def test_what_is_not_to_be_believed_is_not_called_good(
    monkeypatch: pytest.MonkeyPatch, file: Path, left: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr(_core, "emulate", lambda *_: found(**left))
    reported = skycell("emulate", file, "--json")
    assert reported.exit_code == 1
    assert said in reported.stderr
    assert json.loads(reported.stdout)["seconds"] == 1.0
    monkeypatch.setattr(_core, "emulate", lambda *_: found())
    assert skycell("emulate", file, "--json").exit_code == 0


def test_a_command_for_a_host_that_there_is_not_is_refused(file: Path) -> None:
    reported = skycell("emulate", file, "--run", "c", "true")
    assert reported.exit_code == 2
    assert '"c" is no host with a flow; there are a, b' in reported.stderr


@needs_real_hosts
def test_a_client_and_a_server_talk_over_the_path(file: Path, tmp_path: Path) -> None:
    server, client = python(SERVER, tmp_path, "server.py"), python(CLIENT, tmp_path, "client.py")
    reported = emulated(file, "--run", "b", server, "--run", "a", client, "--json")
    # A machine with much else to do delivers late, and the run is then not called good.
    assert reported.returncode == 0 or "too late" in reported.stderr, reported.stderr
    left = json.loads(reported.stdout)
    said = re.search(r"octets (\d+) seconds ([\d.]+)", reported.stderr)
    assert said is not None
    # The handshake and the answer take a round trip of 200 ms each, and 100 kB more than one.
    assert int(said[1]) == 100_000
    assert float(said[2]) > 3 * 0.2
    port = next(port for port in left["ports"] if port["name"] == "a>b")
    assert port["octets"]["arrived"] > 100_000 + 69 * 52
    assert left["commands"][-1]["exit_code"] == 0


@needs_real_hosts
def test_who_is_not_root_makes_itself_root_in_a_user_namespace(file: Path) -> None:
    nobody = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    command = [*nobody, sys.executable, "-m", "skycell", "emulate", str(file), "--json"]
    line = "cat /proc/self/uid_map /sys/class/net/tun0/tx_queue_len /proc/net/dev"
    command += ["--run", "a", line]
    reported = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, timeout=120, check=False
    )
    assert "tun0" in reported.stderr
    assert re.search(r"nsenter --user=/proc/\d+/ns/user", reported.stderr)
    assert not json.loads(reported.stdout)["has_priority"]


@pytest.fixture
def two_namespaces() -> Iterator[list[int]]:
    """Processes that hold a network namespace each."""
    command = ["unshare", "--net", "sleep", "infinity"]
    sleepers = [subprocess.Popen(command) for _ in range(2)]
    own = Path("/proc/self/ns/net").readlink()
    for sleeper in sleepers:
        _until(lambda at=sleeper.pid: Path(f"/proc/{at}/ns/net").readlink() != own)
    yield [sleeper.pid for sleeper in sleepers]
    for sleeper in sleepers:
        sleeper.kill()
        sleeper.wait()


@needs_real_hosts
def test_hosts_may_be_namespaces_that_there_are(
    file: Path, tmp_path: Path, two_namespaces: list[int]
) -> None:
    files = [f"/proc/{pid}/ns/net" for pid in two_namespaces]
    server, client = python(SERVER, tmp_path, "server.py"), python(CLIENT, tmp_path, "client.py")
    entered = ["nsenter", f"--net={files[1]}", "sh", "-c", server]
    at = ["--at", "a", files[0], "--at", "b", files[1]]
    with subprocess.Popen(
        [sys.executable, "-m", "skycell", "emulate", str(file), *at, "--run", "a", client],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stderr is not None
        running.stderr.readline()
        running.stderr.readline()
        subprocess.run(entered, timeout=60, check=True)
        assert running.stdout is not None
        assert "octets 100000" in running.stdout.read()
    left = subprocess.run(
        ["nsenter", f"--net={files[0]}", "cat", "/proc/net/dev"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "tun" not in left.stdout


@needs_real_hosts
@pytest.mark.skipif(shutil.which("ip") is None, reason="iproute2's ip is not installed")
def test_the_path_is_a_bridge_between_interfaces(
    file: Path, tmp_path: Path, two_namespaces: list[int]
) -> None:
    def ip(line: str) -> None:
        subprocess.run(["ip", *line.split()], check=True)

    def inside(pid: int, line: str) -> list[str]:
        return ["nsenter", f"--net=/proc/{pid}/ns/net", "sh", "-c", line]

    names = [f"skc{pid % 10**6}" for pid in two_namespaces]
    for pid, name, address in zip(two_namespaces, names, ("10.9.0.1", "10.9.0.2"), strict=True):
        # Packets go as they are, not several as one, which is what a network card is for.
        ip(f"link add {name} type veth peer name eth0 netns {pid}")
        line = f"ip address add {address}/24 dev eth0 && ip link set eth0 up gso_max_segs 1"
        subprocess.run(inside(pid, line), check=True)
    try:
        at = ["--at", "a", names[0], "--at", "b", names[1]]
        down = emulated(file, *at)
        assert down.returncode == 1
        assert f"it is down: ip link set {names[0]} up" in down.stderr
        for name in names:
            ip(f"link set {name} up")
        command = [sys.executable, "-m", "skycell", "emulate", str(file), *at, "--json"]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as running:
            assert running.stderr is not None
            assert running.stderr.readline() == f"a  {names[0]}\n"
            with subprocess.Popen(
                inside(two_namespaces[1], python(SERVER, tmp_path, "server.py"))
            ) as served:
                line = python(CLIENT, tmp_path, "client.py")
                asked = inside(two_namespaces[0], line)
                said = subprocess.run(asked, capture_output=True, text=True, timeout=60).stdout
                served.wait(timeout=60)
            running.send_signal(signal.SIGINT)
            assert running.stdout is not None
            left = json.loads(running.stdout.read())
    finally:
        for name in names:
            ip(f"link delete {name}")
    found = re.search(r"octets (\d+) seconds ([\d.]+)", said)
    assert found is not None
    assert int(found[1]) == 100_000
    assert float(found[2]) > 3 * 0.2
    port = next(port for port in left["ports"] if port["name"] == "a>b")
    assert port["octets"]["arrived"] > 100_000 + 69 * 52


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--at", "c", "eth7"], '"c" is no host with a flow; there are a, b'),
        (["--at", "a", "eth7"], "there is an interface for a and none for b"),
        (["--at", "a", "x", "--at", "a", "y"], '"a" is at one end only'),
        (["--at", "a", "x", "--at", "b", "y", "--run", "a", "true"], "run the command there"),
    ],
)
def test_what_cannot_be_a_bridge_is_refused(file: Path, options: list[str], said: str) -> None:
    reported = skycell("emulate", file, *options)
    assert (reported.exit_code, reported.stdout) == (2, "")
    assert said in " ".join(reported.stderr.split())


def _left() -> list[str]:
    """Command lines of all processes."""
    lines = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(entry.read_text())
        except OSError:  # it has just ended
            continue
    return lines


@needs_real_hosts
def test_a_kill_leaves_no_process_and_no_device_behind(file: Path) -> None:
    devices = set(Path("/sys/class/net").iterdir())
    # Two that the command begins, one of which it does not wait for.
    nap = f"{time.time_ns() % 10**9 + 10**9}"
    command = [sys.executable, "-m", "skycell", "emulate", str(file)]
    command += ["--run", "a", f"sleep {nap} & sleep {nap}; true"]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr is not None
        assert "nsenter --net=" in running.stderr.readline()

        def asleep() -> int:
            return sum(line == f"sleep\0{nap}\0" for line in _left())

        _until(lambda: asleep() == 2)
        running.send_signal(signal.SIGKILL)
    _until(lambda: asleep() == 0)
    assert set(Path("/sys/class/net").iterdir()) == devices


def _until(holds: Any) -> None:
    """Waits for what has to come about, for a minute at most."""
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def _without_right_to_namespaces() -> None:
    drop, cap_sys_admin = 24, 21  # PR_CAPBSET_DROP and CAP_SYS_ADMIN of Linux
    ctypes.CDLL(None).prctl(drop, cap_sys_admin, 0, 0, 0)


@needs_real_hosts
def test_without_the_right_to_do_so_it_says_what_is_missing(file: Path) -> None:
    reported = emulated(file, "--run", "a", "true", preexec_fn=_without_right_to_namespaces)
    assert (reported.returncode, reported.stdout) == (1, "")
    assert "a network namespace with a TUN device for a" in reported.stderr
    assert "real hosts need root" in reported.stderr


@needs_real_hosts
def test_an_interrupt_ends_it_and_shows_what_was_counted(file: Path) -> None:
    command = [sys.executable, "-m", "skycell", "emulate", str(file), "--json"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, **pipes) as running:
        assert running.stderr is not None
        running.stderr.readline()
        running.send_signal(signal.SIGINT)
        assert running.stdout is not None
        left = json.loads(running.stdout.read())
    assert running.returncode == 0
    assert left["seconds"] < 20


def test_measure_from_is_left_aside_with_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs: list[dict[str, Any]] = []

    def emulate(spec: str, *_: object) -> str:
        specs.append(json.loads(spec))
        raise _core.EmulateError("no hosts here")

    monkeypatch.setattr(_core, "emulate", emulate)
    file = tmp_path / "a.toml"
    file.write_text(SCENARIO.replace('"20 s"', '"20 s"\nmeasure_from = "5 s"'))
    done = skycell("emulate", file)
    assert done.exit_code == 1
    assert done.stderr.startswith("Note: run.measure_from is left aside")
    assert "measure_from_ps" not in specs[0]
