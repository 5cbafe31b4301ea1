"""SONiC's files among others: its database, and frr.conf beside it."""

from fabric.nos.late import Late
from fabric.nos.reading import Reader

READER = Reader(
    Late(__package__, "read.device:read"),
    rank=10,
    signs=(
        (3, r'^[ \t]*"?DEVICE_METADATA"?\s*:'),
        (2, r'"(?:PORT|INTERFACE|LOOPBACK_INTERFACE|BGP_NEIGHBOR|VLAN_MEMBER)"\s*:\s*\{'),
    ),
    is_json=True,
    host_name=r'"hostname":\s*"([\w.-]+)"',
    usual=frozenset({"config_db"}),
    disk_folders=frozenset({"etc", "sonic"}),
    part="config[-_]db",
    together=frozenset({"sonic", "frr"}),
)
