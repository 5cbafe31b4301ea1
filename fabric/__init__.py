"""Design of AI-datacenter networks as code: intent in, plan and switch configs out."""

__version__ = "0.1.0"
