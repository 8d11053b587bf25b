"""Rules as a scenario file writes them. `make generate` writes every other file of this folder."""
