"""Utilisation: how many GPUs and how much of the bandwidth of a fabric a mix of jobs can use."""
