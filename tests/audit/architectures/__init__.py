"""NVIDIA's enterprise reference architectures beside the examples that state them: links, and statements of every switch."""

MAX_LINES = 40  # of an example
