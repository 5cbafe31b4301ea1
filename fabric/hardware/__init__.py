"""Hardware as data, each figure with its source, and the buffer that lossless traffic needs on it."""
