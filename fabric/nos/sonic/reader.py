"""SONiC's files among others: its database, and frr.conf beside it."""

from fabric.nos.lazy import Lazy
from fabric.nos.reading.reader import Reader

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    rank=10,
    signs=(
        (3, r'^[ \t]*"?DEVICE_METADATA(?:\|localhost)?"?\s*:'),
        (2, r'"(?:PORT|INTERFACE|LOOPBACK_INTERFACE|BGP_NEIGHBOR|VLAN_MEMBER)(?:\|[^"\n]+)?"\s*:\s*\{'),
        (2, r'"(?:BUFFER_(?:PG|QUEUE|PROFILE)|QUEUE|DEVICE_NEIGHBOR|PORT_QOS_MAP)\|[^"\n]+"\s*:\s*\{'),  # of a dump
    ),
    is_json=True,
    host_name=r'"hostname":\s*"([\w.-]+)"',
    usual=frozenset({"config_db"}),
    disk_folders=frozenset({"etc", "sonic"}),
    part="config[-_]db",
    together=frozenset({"sonic", "frr"}),
)
