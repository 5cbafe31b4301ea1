"""EOS as Batfish reads it."""
