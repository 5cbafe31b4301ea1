"""containerlab's kind."""

from fabric.nos.containerlab import Kind

KIND = Kind(
    "nvidia_cumulusvx",
    "vrnetlab/nvidia_cumulusvx:latest",
    r"swp([0-9]+)",
    "swp{0}",
    note="starts with its own configuration: apply startup.yaml by `nv config patch`",
)
