"""Links over time: from a file's schedule to the steps of a run."""
