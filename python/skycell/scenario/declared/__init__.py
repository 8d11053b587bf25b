"""Rules as a scenario file writes them: written by `make generate` from Rust's declarations."""
