"""Files of NX-OS among others."""

from fabric.nos.lazy import Lazy
from fabric.nos.reading.reader import Reader

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    rank=40,
    signs=(
        (3, r"^boot nxos"),
        (2, r"^feature \S"),
        (2, r"^nv overlay evpn"),
        (2, r"^vrf context \S"),
        (2, r"^interface nve1"),
        (2, r"^interface mgmt0"),
        (2, r"^version (?:9|10)\.\d+\(\d+\)"),
        (1, r"^[ \t]{2}neighbor \S+\n[ \t]{4}"),
        (2, r"^!Command: show (?:running|startup)-config"),
    ),
    other_forms=((r'cisco\.com/nxos:|"nf:(?:filter|source)"', "show running-config"),),  # of `| xml` and `| json`
)
