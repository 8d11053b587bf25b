"""What Rust declares of a spec. `make generate` writes every other file of this folder."""
