"""Goodput of a training job: what stops it, what slows it, what its checkpoints cost, and the useful share of time."""
