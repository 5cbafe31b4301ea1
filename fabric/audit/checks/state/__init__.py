"""Checks of the state of switches against the plan; `fabric verify` runs them."""
