"""InfiniBand subnets of a lab: a simulated network, a real subnet manager on it, and what its tables do."""
