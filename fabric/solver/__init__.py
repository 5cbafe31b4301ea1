"""What a plan carries: capacity, paths, shared links, and the time of collectives. Knows nothing of configs."""
