"""How single values of a scenario file are written: cells, rates, windows, shares."""
