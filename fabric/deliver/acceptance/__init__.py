"""Acceptance tests of a cluster: the runs that prove a design, smallest first, their gates, and the verdict on their logs."""
