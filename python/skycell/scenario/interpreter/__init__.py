"""From a rule as a file writes it to what an engine reads, by the rule's declaration."""
