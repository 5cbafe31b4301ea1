"""Drift: the running configs of a site against the plan, device by device, with the commands back to the plan."""
