"""Plain FRR on Linux: what it can do, and where its files are made and read.

SONiC runs the same daemons: `routing` in `write/` is the context of its frr.conf as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fabric.nos.target import ANY_NAME, Capabilities, Idiom, Kind, Lazy, LoginLimits, Reader, Target

if TYPE_CHECKING:
    from fabric.hardware.catalog.models import SwitchModel
    from fabric.model.plan import PortRef


# --- Files of FRR among others --------------------------------------------------------------------------------

COMPANIONS = frozenset(
    (
        "accounts", "chrony.conf", "daemons", "issue.net", "lldpd.conf", "nftables.conf",
        "pam_radius_auth.conf", "radius.pam", "rsyslog.conf", "snmpd.conf", "sshd.conf", "sysctl.conf", "vtysh.conf",
    )
)  # fmt: skip

# Every daemon of a release may have a file of its own, where `service integrated-vtysh-config` is off.
DAEMONS = (
    "babeld", "bfdd", "bgpd", "eigrpd", "fabricd", "isisd", "ldpd", "nhrpd", "ospf6d", "ospfd", "pathd", "pbrd", "pim6d",
    "pimd", "ripd", "ripngd", "staticd", "vrrpd", "zebra",
)  # fmt: skip

READER = Reader(
    read=Lazy(__package__, "read.device:read"),
    hardware=(r"^frr version (?P<release>\S+)",),
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
    file_names=rf"(?:^|[-_.])(?:frr|quagga|{'|'.join(DAEMONS)})\.conf$",
    usual=frozenset({"frr", "interfaces", "quagga"} | {f"{daemon}.conf" for daemon in DAEMONS}),
    disk_folders=frozenset({"etc", "frr", "network", "quagga"}),
    part="frr|interfaces|quagga",
    companions=COMPANIONS,
    other_kinds={"interfaces": ((3, r"^auto \S+[ \t\r]*$"), (3, r"^iface \S+"))},
    together=frozenset({"frr", "interfaces"}),
)


# --- containerlab ---------------------------------------------------------------------------------------------

KIND = Kind(
    name="linux",
    image="quay.io/frrouting/frr:10.2.1",
    own=ANY_NAME,
    endpoint="{own}",
    binds={"frr.conf": "/etc/frr/frr.conf", "daemons": "/etc/frr/daemons"},
    note="FRR alone: addresses are in `interfaces`, which is not applied",
)


# --- Names of interfaces --------------------------------------------------------------------------------------

DEVICE_NAME_LIMIT = 15  # of any Linux interface: IFNAMSIZ less its closing zero
VRF = "vrf-{}"  # a prefix, so that no tenant is called like a port, `mgmt`, or FRR's own `default`


def port_name(model: SwitchModel, ref: PortRef, catalog_name: str = "") -> str:
    """`swp1`, `swp1s0`: the names that switchdev drivers and ifupdown2 switches use."""
    return f"swp{ref.cage}" if ref.split == 1 else f"swp{ref.cage}s{ref.sub}"


# --- The network OS -------------------------------------------------------------------------------------------

TARGET = Target(
    name="frr",
    title="FRR on Linux",
    port_name=port_name,
    port=r"(?:swp|[Ee]th(?:ernet)?|vni)\d+(?P<lane>s\d+)?",
    files=Lazy(__package__, "write.switch:files"),
    capabilities=Capabilities(
        unnumbered=True,
        ipv6_underlay=True,
        vrf_lite=True,
        port_acl=True,
        l3vni=True,
        l2vni=True,
        leaks=True,
        # Zebra hands split horizon and the designated forwarder to the dataplane, and its kernel one drops them.
        multihoming="",
        external=True,
        hash_seed=True,
        snmp=True,
        tacacs=False,  # Debian 12 has no PAM module of TACACS+
        radius=True,
        ldap=False,  # nslcd binds to no VRF
    ),
    logins=LoginLimits(without_local=False, accounting=("radius",)),  # pam_unix is always in the stack of pam-auth-update
    vrf_name_limit=DEVICE_NAME_LIMIT - len(VRF.format("")),
    reader=READER,
    state=Lazy(__package__, "state:READERS"),
    change=Path(__file__).with_name("change.yaml"),
    collect=Path(__file__).with_name("collect.yaml"),
    failed=Lazy(__package__, "state:FAILED"),
    dialect=Lazy(__package__, "statements:DIALECT"),
    syntax=Lazy(__package__, "statements:SYNTAX"),
    batfish=Lazy(__package__, "batfish:VIEW"),
    containerlab=KIND,
    day_zero=Lazy(__package__, "day_zero:FIRST_BOOT"),
    ansible={},  # reached as Linux
    exporters=("node", "frr"),
    runs_in_lab=True,
    idiom=Idiom(
        loopback="lo",
        vtep="vxlan-local",
        addresses_in="interfaces",
        bond="bond{}",
        svi="vlan{}",
        management="eth0",
        vrf=VRF,
        l3_svi=True,
        acls=("tenant-{}", "tenant-{}"),
        seed=True,
        trunk_mtu=True,
        derives=frozenset({"rd", "imports", "exports"}),
        vtep_of_vni=True,
    ),
)
