"""The communication of one training step: what crosses the network, how long it takes, what computing hides."""
