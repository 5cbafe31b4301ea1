"""Values of lossless traffic that a plan settles: ECN thresholds, frames, buffer pools."""
