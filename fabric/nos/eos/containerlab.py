"""containerlab's kind."""

from fabric.nos.containerlab import Kind

KIND = Kind(
    name="arista_ceos",
    image="ceos:latest",
    own=r"Ethernet([0-9]+(?:/[0-9]+)*)",
    endpoint="eth{0}",
    startup="startup-config",
    note="cEOS has Management0 in place of Management1: `fabric export containerlab-files` maps it, for SSH",
    mapping="/mnt/flash/EosIntfMapping.json",  # 4.28 and later
    mapped_management="Management1",
)
