"""FRR on Linux as Batfish reads it."""
