"""Link budgets: from antennas, path and weather to Es/N0, a MODCOD and its rate of IP."""

from skycell.link.availability import AvailabilityCurve, AvailabilityPoint, availability_curve
from skycell.link.budget import CarrierBudget, HopBudget, budget_of
from skycell.link.carrier import Carrier, as_carrier, parse_carrier
from skycell.link.row import Row
from skycell.link.series import es_n0_series

__all__ = [
    "AvailabilityCurve",
    "AvailabilityPoint",
    "Carrier",
    "CarrierBudget",
    "HopBudget",
    "Row",
    "as_carrier",
    "availability_curve",
    "budget_of",
    "es_n0_series",
    "parse_carrier",
]
