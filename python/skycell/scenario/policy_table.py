"""Every buffer policy in one table: its class, how it discards, its parameters, its source.

The classes are those of "Buffer Management for TCP over the ATM GFR Service", section 7 and Table
10: one count of cells (SA) or one for each VC (MA), one threshold (ST) or several (MT).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from skycell.scenario.checking import keys_of, kind_of, models_of
from skycell.scenario.faults import show_value
from skycell.scenario.policies import Policy

_CC = "Goyal, Jain, Fahmy, Vandalore: Buffer Management for TCP over the ATM GFR Service, 1999"
_ROMANOW = "Romanow, Floyd: Dynamics of TCP Traffic over ATM Networks, 1995"
_ICCCN = "Goyal, Jain et al.: ICCCN'97"
_SIU = "Siu, Wu, Ren: Virtual Queuing Techniques for UBR+ Service in ATM, Globecom'97"
_WU = "Wu, Siu, Ren: Improved Virtual Queuing and Dynamic EPD Techniques, ICNP'97"


@dataclass(frozen=True)
class Traits:
    """What tells policies apart."""

    group: str
    """SA or MA for the accounting, ST or MT for the thresholds; a dash where neither is meant."""
    threshold: str
    drop: str
    sees_tags: bool
    source: str
    chosen: str = ""
    """What had to be chosen because the publication at hand leaves it open."""


TRAITS: dict[str, Traits] = {
    "tail_drop": Traits("–", "–", "deterministic", False, "plain UBR"),
    "ppd": Traits("SA-ST", "static", "deterministic", False, _ROMANOW),
    "epd": Traits("SA-ST", "static", "deterministic", False, _ROMANOW),
    "red": Traits(
        "SA-ST",
        "static",
        "probabilistic",
        False,
        "Floyd, Jacobson: Random Early Detection Gateways for Congestion Avoidance, 1993",
        "thresholds; queue in cells, averaged once a frame",
    ),
    "selective_drop": Traits("MA-ST", "dynamic", "deterministic", False, _ICCCN),
    "fair_buffer_allocation": Traits(
        "MA-ST", "dynamic", "deterministic", False, f"Heinanen, Kilkki, as described in {_ICCCN}"
    ),
    "fred": Traits(
        "MA-ST",
        "dynamic",
        "probabilistic",
        False,
        "Lin, Morris: Dynamics of Random Early Detection, 1997",
        "thresholds; average updated only at frames that begin",
    ),
    "virtual_queueing": Traits(
        "MA-ST",
        "static",
        "deterministic",
        False,
        f"{_SIU}; {_WU}; as described in {_CC}",
        "threshold",
    ),
    "dynamic_epd": Traits(
        "MA-ST",
        "dynamic",
        "deterministic",
        False,
        f"{_WU}; as described in {_CC}",
        "how the threshold is divided among VCs above their equal share",
    ),
    "mcr_scheduling": Traits(
        "MA-MT",
        "dynamic",
        "deterministic",
        False,
        f"{_SIU}; as described in {_CC}",
        "threshold, interval; a VC without cells saves up nothing; what MCRs leave is served "
        "in turn",
    ),
    "pme_ered": Traits(
        "MA-MT",
        "static",
        "probabilistic",
        True,
        f"Feng, Kandlur, Saha, Shin: CSE-TR-349-97, 1997; as described in {_CC}",
        "interval, step in proportion to the shortfall, marked frames lost only to a full buffer",
    ),
    "dfba": Traits("MA-MT", "dynamic", "probabilistic", True, _CC),
    "priority_drop": Traits(
        "SA-MT",
        "static",
        "deterministic",
        True,
        f"{_CC}; Bonaventure: A simulation study of TCP with the GFR service category (LBO, HBO)",
    ),
    "vc_priority_drop": Traits(
        "MA-MT",
        "static",
        "deterministic",
        True,
        "Guerin, Heinanen: ATM Forum 96-1598, as described in Bonaventure: A simulation "
        "study of TCP with the GFR service category (LBO, HBO, T_i)",
    ),
    "single_drop": Traits(
        "MA-MT", "static", "deterministic", False, _CC, "occupancy looked at when a frame begins"
    ),
}
"""Traits of each policy by its kind, in the order of the classification table."""


@dataclass(frozen=True)
class PolicyRow:
    """One policy of the table."""

    kind: str
    rule: str
    traits: Traits
    parameters: dict[str, str]
    """Default by name; empty for a parameter that must be given."""

    def as_dict(self) -> dict[str, Any]:
        """The row for a program."""
        return {
            "kind": self.kind,
            "rule": self.rule,
            "class": self.traits.group,
            "threshold": self.traits.threshold,
            "drop": self.traits.drop,
            "sees_tags": self.traits.sees_tags,
            "parameters": self.parameters,
            "source": self.traits.source,
            "chosen": self.traits.chosen,
        }


def policy_rows() -> list[PolicyRow]:
    """Every policy that a scenario file can name, in the order of the classification table."""
    models = {kind_of(model): model for model in models_of(Policy)}
    return [_row(kind, models[kind]) for kind in TRAITS]


def _row(kind: str, model: type[BaseModel]) -> PolicyRow:
    rule = " ".join((model.__doc__ or "").split("\n\n")[0].split())
    parameters = {
        name: "" if field.is_required() else show_value(field.default)
        for name, field in keys_of(model).items()
        if name != "kind"
    }
    return PolicyRow(kind, rule, TRAITS[kind], parameters)


def policy_page() -> str:
    """The table as Markdown, for the reference pages."""
    heads = (
        *("kind", "class", "threshold", "discards", "sees tags"),
        *("parameters and defaults", "source", "chosen by us"),
    )
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for row in policy_rows():
        traits = row.traits
        parameters = ", ".join(
            f"`{name}` {value}".strip() for name, value in row.parameters.items()
        )
        cells = (
            f"[`{row.kind}`]({row.kind}.md)",
            traits.group,
            traits.threshold,
            traits.drop,
            "yes" if traits.sees_tags else "no",
            parameters or "–",
            traits.source,
            traits.chosen or "–",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
