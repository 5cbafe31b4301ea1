"""containerlab's kind."""

from fabric.nos.containerlab import ANY_NAME, Kind

KIND = Kind(
    "linux",
    "quay.io/frrouting/frr:10.2.1",
    ANY_NAME,
    "{own}",
    binds={"frr.conf": "/etc/frr/frr.conf", "daemons": "/etc/frr/daemons"},
    note="FRR alone: addresses are in `interfaces`, which is not applied",
)
