"""Files of EOS among others."""

from fabric.nos.lazy import Lazy
from fabric.nos.reading.reader import Reader

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    rank=30,
    signs=(
        (3, r"^! device: .*EOS"),
        (3, r"^service routing protocols model"),
        (2, r"^transceiver qsfp default-mode"),
        (3, r"^vrf instance \S"),
        (3, r"^switchport default mode routed"),
        (2, r"^interface Ethernet\d+(?:/\d+)?\n(?:[ \t]{3}.*\n)*[ \t]{3}\S"),
        (2, r"^interface Vxlan1"),
        (2, r"^interface Management\d"),
        (2, r"^[ \t]{3}neighbor \S+ peer[ -]group"),
        (1, r"^[ \t]+ip address \d+\.\d+\.\d+\.\d+/\d+"),
        (2, r"^management (?:api|ssh|security)"),
    ),
    other_forms=((r'"cmds"\s*:\s*\{', "show running-config"),),  # of eAPI and `| json`
)
