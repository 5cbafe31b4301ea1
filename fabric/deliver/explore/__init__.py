"""Which design for so many GPUs: every combination of choices planned and measured, and the ones that no other beats."""
