"""Forwarding tables of InfiniBand subnets as a subnet manager computes them, and the load that they put on links."""
