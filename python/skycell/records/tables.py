"""Rows of a run's records with their nested parts laid side by side, ready to be a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A record with the keys of its nested tables joined by an underscore; lists are left out.

    >>> flat({"name": "a", "queue": {"mean": 1.5, "max": 3}, "vc_queues": []})
    {'name': 'a', 'queue_mean': 1.5, 'queue_max': 3}
    """
    laid: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            laid |= {f"{key}_{inner}": number for inner, number in flat(value).items()}
        elif not isinstance(value, list):
            laid[key] = value
    return laid


def rows(records: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All records of a kind, flat."""
    return [flat(record) for record in records]


def vc_queue_rows(ports: Iterable[Mapping[str, Any]], vc_names: list[str]) -> list[dict[str, Any]]:
    """Sampled occupancy of every VC at every port where it was sampled."""
    return [
        {"port": port["name"], "vc": vc_names[queue["vc"]]}
        | {key: value for key, value in queue.items() if key != "vc"}
        for port in ports
        for queue in port["vc_queues"]
    ]


def class_queue_rows(ports: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every queue of every port with several; the class none stands for the default queue."""
    return [{"port": port["name"]} | flat(queue) for port in ports for queue in port["queues"]]


def cell_delay_rows(
    delays: Iterable[Mapping[str, Any]], vc_names: list[str]
) -> list[dict[str, Any]]:
    """Cell transfer delay of every VC where it was measured."""
    return [{**flat(delay), "vc": vc_names[delay["vc"]]} for delay in delays]
