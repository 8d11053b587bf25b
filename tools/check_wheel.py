"""Builds the wheel, installs it alone into a new environment, and uses it there: `make wheel`.

The wheel has to be for Python's stable ABI and below 20 MB; without extras a template has to run,
and what needs an extra has to say so. A wheel that passes is left in out/wheels.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = ROOT / ".tools" / "bin" / "uv"
MOST_OCTETS = 20_000_000
MATURIN = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"][0][9:]


def main() -> int:
    """Ends with 1 and a sentence where something is wrong."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        python = sys.executable
        # Of pyproject.toml; it gives the tag of the oldest Linux on which the wheel runs.
        build = [UV, "tool", "run", f"maturin=={MATURIN}", "build", "--release", "--locked"]
        call([*build, "--interpreter", python, "--out", folder], ROOT)
        (wheel,) = folder.glob("*.whl")
        size = wheel.stat().st_size
        print(f"{wheel.name}: {size / 1e6:.1f} MB")
        if ("abi3-manylinux" not in wheel.name and sys.platform == "linux") or size > MOST_OCTETS:
            print(f"not abi3 and manylinux, or above {MOST_OCTETS / 1e6:g} MB", file=sys.stderr)
            return 1
        call([UV, "venv", "--quiet", "--python", python, folder / "env"])
        # Versions as locked; a constraint may not have hashes.
        lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
        pins = [line.split(" \\")[0] for line in lock.splitlines() if "==" in line[:80]]
        (folder / "pins.txt").write_text("\n".join(pin for pin in pins if pin[0].isalpha()))
        installed = [UV, "pip", "install", "--quiet", "--python", folder / "env/bin/python"]
        call([*installed, "--constraint", folder / "pins.txt", wheel])
        skycell = folder / "env/bin/skycell"
        call([skycell, "new", "geo-terminal", "--out", folder / "geo.toml"])
        ran = call([skycell, "run", folder / "geo.toml", "--set", "run.duration=5 s"])
        call([skycell, "export", "--help"])
        refused = subprocess.run(
            [skycell, "plot", folder / "geo.toml"], capture_output=True, text=True
        )
        if refused.returncode != 2 or "skycell[plots]" not in refused.stderr:
            print(f"plot without its extra: {refused.stderr}", file=sys.stderr)
            return 1
        octets = sum(file.stat().st_size for file in (folder / "env").rglob("*") if file.is_file())
        print(f"installed without extras: {octets / 1e6:.0f} MB")
        if "Mbit/s" not in ran:
            return 1
        (ROOT / "out" / "wheels").mkdir(parents=True, exist_ok=True)
        shutil.copy2(wheel, ROOT / "out" / "wheels")
        return 0


def call(command: list[object], folder: Path = Path("/")) -> str:
    """What a command wrote; a failed one ends this."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}:\n{done.stdout}{done.stderr}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
