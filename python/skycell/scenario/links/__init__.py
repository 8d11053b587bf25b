"""Links: what a file says of them, and what they do over time."""
