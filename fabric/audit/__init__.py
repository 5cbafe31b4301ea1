"""What compares: checks, drift, diff, reported state and cabling against the plan."""
