"""Files of a Linux switch with FRR among others: frr.conf, ifupdown's interfaces, and what lies beside them."""

from fabric.nos.lazy import Lazy
from fabric.nos.reading.reader import Reader

COMPANIONS = frozenset(
    (
        "accounts", "chrony.conf", "daemons", "issue.net", "lldpd.conf", "nftables.conf", "rsyslog.conf",
        "snmpd.conf", "sshd.conf", "sysctl.conf", "vtysh.conf",
    )
)  # fmt: skip

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    rank=60,
    signs=(
        (4, r"^frr (?:version|defaults)"),
        (3, r"^(?:no )?service integrated-vtysh-config"),
        (2, r"^[ \t]*exit-address-family"),
        (2, r"^exit-vrf"),
        (2, r"^log syslog"),
        (2, r"^no ipv6 forwarding"),
        (2, r"^ipv?6? nht "),
        (1, r"^ neighbor \S+ (?:interface )?remote-as"),
        (2, r"^[ \t]+neighbor \S+ interface (?:remote-as|peer-group)"),
        (1, r"^line vty$"),
    ),
    file_names=r"(?:^|[-_.])(?:frr|quagga|bgpd|zebra)\.conf$",
    usual=frozenset(
        {"frr", "interfaces", "quagga"}
        | {f"{daemon}.conf" for daemon in ("bfdd", "bgpd", "isisd", "ospf6d", "ospfd", "pimd", "staticd", "zebra")}
    ),
    disk_folders=frozenset({"etc", "frr", "network", "quagga"}),
    part="frr|interfaces|quagga",
    companions=COMPANIONS,
    other_kinds={"interfaces": ((3, r"^auto \S+[ \t\r]*$"), (3, r"^iface \S+"))},
    together=frozenset({"frr", "interfaces"}),
)
