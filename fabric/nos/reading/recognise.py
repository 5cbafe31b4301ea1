"""Which network OS a file is for: told by what stands in it, not by what it is called.

Each kind has signs, patterns that its configs have and others have not. The kind with the most signs wins; a text with
none is no config that can be read here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath

HEAD_BYTES = 200_000  # signs stand early

SONIC, CUMULUS, EOS, NXOS, JUNOS, FRR = "sonic", "cumulus", "eos", "nxos", "junos", "frr"
INTERFACES, OTHER = "interfaces", "other"

# Kind → its signs, each with a weight: 3 decides, 1 is shared with some other kind.
_SIGNS: Mapping[str, tuple[tuple[int, str], ...]] = {
    SONIC: (
        (3, r'^\s*"?DEVICE_METADATA"?\s*:'),
        (2, r'"(?:PORT|INTERFACE|LOOPBACK_INTERFACE|BGP_NEIGHBOR|VLAN_MEMBER)"\s*:\s*\{'),
    ),
    CUMULUS: (
        (3, r"^\s*nvue-api-version:"),
        (3, r"^nv set \S"),
        (2, r"^- set:"),
        (2, r"^\s+type: swp"),
        (1, r"^\s+router:$"),
    ),
    EOS: (
        (3, r"^! device: .*EOS"),
        (3, r"^service routing protocols model"),
        (2, r"^transceiver qsfp default-mode"),
        (3, r"^vrf instance \S"),
        (3, r"^switchport default mode routed"),
        (2, r"^interface Ethernet\d+(?:/\d+)?\n(?:\s{3}.*\n)*\s{3}\S"),
        (2, r"^interface Vxlan1"),
        (2, r"^interface Management\d"),
        (2, r"^\s{3}neighbor \S+ peer[ -]group"),
        (1, r"^\s+ip address \d+\.\d+\.\d+\.\d+/\d+"),
        (2, r"^management (?:api|ssh|security)"),
    ),
    NXOS: (
        (3, r"^boot nxos"),
        (2, r"^feature \S"),
        (2, r"^nv overlay evpn"),
        (2, r"^vrf context \S"),
        (2, r"^interface nve1"),
        (2, r"^interface mgmt0"),
        (2, r"^version (?:9|10)\.\d+\(\d+\)"),
        (1, r"^\s{2}neighbor \S+\n\s{4}"),
        (2, r"^!Command: show (?:running|startup)-config"),
    ),
    JUNOS: (
        (3, r"^system \{"),
        (3, r"^set (?:system|interfaces|protocols|routing-options|policy-options|version|chassis|groups) "),
        (2, r"^interfaces \{"),
        (2, r"^(?:protocols|routing-instances|policy-options|routing-options) \{"),
        (2, r"^## Last (?:commit|changed)"),
        (1, r"^\s+family inet6? \{"),
    ),
    FRR: (
        (4, r"^frr (?:version|defaults)"),
        (3, r"^(?:no )?service integrated-vtysh-config"),
        (2, r"^\s*exit-address-family"),
        (2, r"^exit-vrf"),
        (2, r"^log syslog"),
        (2, r"^no ipv6 forwarding"),
        (2, r"^ipv?6? nht "),
        (1, r"^ neighbor \S+ (?:interface )?remote-as"),
        (2, r"^\s+neighbor \S+ interface (?:remote-as|peer-group)"),
        (1, r"^line vty$"),
    ),
    INTERFACES: ((3, r"^auto \S+\s*$"), (3, r"^iface \S+"),),
    OTHER: (
        (2, r"^interface (?:GigabitEthernet|TenGig\w+|HundredGig\w+|FortyGig\w+|Bundle-Ether|TwentyFiveGig\w+)"),
        (3, r"^version 1[2-7]\.\d"),
        (3, r"^service timestamps "),
        (3, r"^boot-start-marker"),
        (2, r"^ ip address \d+\.\d+\.\d+\.\d+ 255\."),
        (3, r"^net add \S"),
        (3, r"^!! IOS XR"),
        (3, r"^sysname "),
        (2, r"^/interface "),
        (3, r"^config vdom|^config system global"),
    ),
}  # fmt: skip
_COMPILED = {kind: [(weight, re.compile(sign, re.M)) for weight, sign in signs] for kind, signs in _SIGNS.items()}

# Files of a device that hold no routing, by name: they belong to the device whose folder they lie in.
COMPANIONS = frozenset(
    (
        "accounts", "bgpd.conf", "chrony.conf", "daemons", "issue.net", "lldpd.conf", "nftables.conf", "rsyslog.conf",
        "snmpd.conf", "sshd.conf", "sysctl.conf", "vtysh.conf", "zebra.conf",
    )
)  # fmt: skip

# A name that says what is in a file, where nothing in it does.
_NAMED_FRR = re.compile(r"(?:^|[-_.])(?:frr|quagga|bgpd|zebra)\.conf$", re.I)

# Endings and names of what lies beside configs: topologies, licences. Without a sign of a network OS they are hardly meant.
BESIDE = frozenset((".drawio", ".ini", ".json", ".lock", ".toml", ".yaml", ".yml"))
BESIDE_NAMES = frozenset(("dockerfile", "jenkinsfile", "license", "makefile", "readme", "vagrantfile"))

# What is no config of a switch, by its ending.
NO_CONFIG = frozenset(
    (".csv", ".gz", ".html", ".j2", ".jpg", ".log", ".md", ".pdf", ".png", ".py", ".pyc", ".sh", ".svg", ".zip")
)


@dataclass(frozen=True, slots=True)
class Kind:
    """`nos` is one of the readers', "interfaces" (ifupdown), "companion", or "" for what cannot be read."""

    nos: str
    reason: str = ""  # why it cannot be read


def recognise(path: str, text: str) -> Kind:
    """The kind of a file."""
    name = PurePath(path).name
    if "\0" in text[:HEAD_BYTES]:
        return Kind("", "binary")
    if name in COMPANIONS and name not in ("bgpd.conf", "zebra.conf"):
        return Kind("companion")
    scores = {
        kind: sum(weight for weight, sign in signs if sign.search(text, 0, HEAD_BYTES)) for kind, signs in _COMPILED.items()
    }
    if text.strip() and _NAMED_FRR.search(name):
        scores[FRR] += 2
    best = max(scores, key=lambda kind: scores[kind])
    if text.lstrip()[:1] in ("{", "[") and scores[SONIC]:
        return Kind(SONIC)
    if scores[best] < 2:
        return Kind("", "no sign of a network OS that can be read here" if text.strip() else "empty")
    if best == OTHER:
        return Kind("", "looks like a network OS that has no reader here")
    return Kind(best)


def beside(path: str) -> bool:
    """Whether a file lies beside configs by its name and is hardly meant to be one."""
    name = PurePath(path)
    return name.suffix.lower() in BESIDE or name.stem.lower() in BESIDE_NAMES
