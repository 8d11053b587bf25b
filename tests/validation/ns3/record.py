"""Stores what ns-3 loses: `python -m tests.validation.ns3.record`, with ns-3 installed."""

import tempfile

from benches.peers.ns3 import peer
from tests.validation.test_queues_against_ns3 import CASES, FOLDER, LIBRARIES


def main() -> None:
    """Runs every case."""
    with tempfile.TemporaryDirectory() as folder:
        program = peer.compiled(FOLDER / "queue.cc", LIBRARIES, folder)
        for name, case in CASES.items():
            (FOLDER / "stored" / f"{name}.txt").write_text(case.theirs(program), encoding="utf-8")


if __name__ == "__main__":
    main()
