"""A peer as a process of its own, and the user CPU time it took; a C++ file as a program."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path

NO_COMPILER = "g++ is not installed (Debian, Ubuntu: apt install g++)"


def folder_of(owner: object) -> str:
    """A folder that goes with an object."""
    folder = tempfile.mkdtemp()
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    return folder


def compiled(source: Path, folder: str, options: Sequence[str] = ()) -> Path:
    """The program of a C++ file, in a folder.

    Raises:
        RuntimeError: there is no compiler, or the file does not compile.
    """
    if shutil.which("g++") is None:
        raise RuntimeError(NO_COMPILER)
    program = Path(folder) / source.stem
    command = ["g++", "-O3", "-std=c++20", str(source), "-o", str(program), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{source.name} does not compile:\n{done.stderr.strip()}")
    return program


def run_alone(command: Sequence[str]) -> tuple[str, float]:
    """What a command printed (errors included), and its user CPU time in s.

    Raises:
        RuntimeError: it failed; with what it printed.
    """
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise RuntimeError(f"{command[0]} ended with code {process.returncode}:\n{text.strip()}")
    return text, usage.ru_utime
