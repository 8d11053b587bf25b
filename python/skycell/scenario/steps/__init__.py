"""Links over time: from a file's motion to the steps of a run."""
