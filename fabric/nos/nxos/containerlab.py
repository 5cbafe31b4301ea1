"""containerlab's kind."""

from fabric.nos.containerlab import Kind

KIND = Kind(
    name="cisco_n9kv",
    image="vrnetlab/cisco_n9kv:latest",
    own=r"Ethernet1/([0-9]+)",
    endpoint="Ethernet1/{0}",
    startup="startup-config",
    note="the VM's mgmt0 has 10.0.0.15/24 behind the node's address: take `interface mgmt0` out of the file, for SSH",
)
