"""Measured tables of nccl-tests and rccl-tests, as YAML, raw output or JSON."""
