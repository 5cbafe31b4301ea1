"""containerlab's kind."""

from fabric.nos.containerlab import Kind

KIND = Kind(
    name="nvidia_cumulusvx",
    image="vrnetlab/nvidia_cumulusvx:latest",
    own=r"swp([0-9]+)",
    endpoint="swp{0}",
    note="starts with its own configuration: apply startup.yaml by `nv config patch`",
)
