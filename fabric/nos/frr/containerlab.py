"""containerlab's kind."""

from fabric.nos.containerlab import ANY_NAME, Kind

KIND = Kind(
    name="linux",
    image="quay.io/frrouting/frr:10.2.1",
    own=ANY_NAME,
    endpoint="{own}",
    binds={"frr.conf": "/etc/frr/frr.conf", "daemons": "/etc/frr/daemons"},
    note="FRR alone: addresses are in `interfaces`, which is not applied",
)
