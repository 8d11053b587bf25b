"""Traces such as a run leaves, short enough to know every row by heart."""

from typing import Any

import polars as pl

from skycell.plots.figure import Figure, Origin

SECOND = 10**12

ORIGIN = Origin(engine="reference", version="0.1.0", spec_hashes=("3f9a12cd77aa90b1" * 4,), seed=7)

FLOWS = [f"flow{number}" for number in range(1, 9)]


def cwnd(flows: int = 1, changes: int = 5) -> pl.DataFrame:
    """A window that grows by 1000 octets a second and has ssthresh at 3000."""
    rows = [
        (flow, second * SECOND, 1000.0 * (second + 1), 3000.0)
        for second in range(changes)
        for flow in range(flows)
    ]
    schema = {"flow": pl.UInt32, "time_ps": pl.UInt64, "cwnd": pl.Float64, "ssthresh": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def sequence() -> pl.DataFrame:
    """Three segments of 500 octets, the second sent twice, all acknowledged."""
    rows = [
        (0, 1 * SECOND, 0, 0, 500),
        (0, 2 * SECOND, 0, 500, 500),
        (0, 3 * SECOND, 2, 500, 0),
        (0, 4 * SECOND, 0, 1000, 500),
        (0, 5 * SECOND, 1, 500, 500),
        (0, 6 * SECOND, 2, 1500, 0),
    ]
    schema = {
        "flow": pl.UInt32,
        "time_ps": pl.UInt64,
        "event": pl.UInt8,
        "sequence": pl.UInt64,
        "length": pl.UInt32,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def queue(ports: tuple[int, ...] = (2,), samples: int = 10) -> pl.DataFrame:
    """A queue of ten cells more at each second."""
    rows = [(port, n * SECOND, 10 * n + port) for n in range(1, samples + 1) for port in ports]
    schema = {"port": pl.UInt32, "time_ps": pl.UInt64, "cells": pl.UInt32}
    return pl.DataFrame(rows, schema=schema, orient="row")


def vc_queue(vcs: tuple[int, ...] = (0, 2), samples: int = 10) -> pl.DataFrame:
    """Each VC holds its number of cells times the second."""
    rows = [(2, vc, n * SECOND, n * (vc + 1)) for n in range(1, samples + 1) for vc in vcs]
    schema = {"port": pl.UInt32, "vc": pl.UInt32, "time_ps": pl.UInt64, "cells": pl.UInt32}
    return pl.DataFrame(rows, schema=schema, orient="row")


def service(samples: int = 10) -> pl.DataFrame:
    """Two queues, sampled each second: the first sends 5 cells in each even second, the other 2."""
    rows = [
        (2, place, n * SECOND, (5 * (n // 2), 2 * n)[place], 0)
        for n in range(1, samples + 1)
        for place in (0, 1)
    ]
    schema = {
        "port": pl.UInt32,
        "queue": pl.UInt32,
        "time_ps": pl.UInt64,
        "departed": pl.UInt64,
        "cells": pl.UInt32,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def compared(
    policy: str = "epd", *, published: float | None = 0.6, doubt: str | None = None, **more: object
) -> dict[str, Any]:
    """A row of a reproduced table."""
    factors = {"config": "geo", "n_sources": 5, "buffer_cells": 200_000, "tcp": "sack"}
    return {
        "study": "icccn97-t3",
        "table": "Table 3",
        "factors": {**factors, "policy": policy, **more},
        "metric": "efficiency",
        "unit": "1",
        "published": published,
        "mean": 0.62,
        "sd": 0.01,
        "n": 5,
        "low": 0.58,
        "high": 0.65,
        "verdict": "inside",
        "doubt": doubt,
    }


def drawn(figure: Figure) -> list[dict[str, Any]]:
    """The rows that a figure draws."""
    spec = figure.bare_spec()
    (rows,) = spec["datasets"].values()
    assert isinstance(rows, list)
    return rows
