"""How much a fabric carries: structured cuts, bisection, throughput, and what failures leave of them."""
