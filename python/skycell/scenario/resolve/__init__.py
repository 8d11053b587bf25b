"""From a plan and its quantities to the integers of a spec."""
