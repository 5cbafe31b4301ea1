"""Names that an NVUE tree uses and never defines, and the secrets that it spells out: two tables of paths."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabric.facts import Located
from fabric.nos.cumulus.read.tree import found
from fabric.nos.reading import Branch, placeholder

LISTS = {  # kinds of policy: their branch under `router policy`, and the match of a route map that names them
    "route-map": "",
    "prefix-list": "ip-prefix-list|ip-prefix-list-nexthop|ip-nexthop-list|prefix-list",
    "community-list": "community-list",
    "as-path-list": "as-path-list|aspath-list",
    "ext-community-list": "ext-community-list|extcommunity-list",
    "large-community-list": "large-community-list|largecommunity-list",
}
PROFILES = ("pfc", "mapping", "congestion-control", "egress-scheduler", "egress-queue-mapping", "remark")
DEFINED = {
    **{f"router/policy/{kind}/*": kind for kind in LISTS},
    "acl/*": "acl",
    "vrf/*": "vrf",
    "router/bfd/profile/*": "bfd profile",
    "vrf/*/router/bgp/peer-group/*": "peer-group",
    **{f"qos/{kind}/*": f"qos {kind} profile" for kind in PROFILES},
}
SESSION = "vrf/*/router/bgp/neighbor|peer|peer-group/*"
USED = {
    f"{SESSION}/address-family/*/policy/inbound|outbound/route-map": "route-map",
    f"{SESSION}/address-family/*/policy/inbound|outbound/prefix-list": "prefix-list",
    f"{SESSION}/address-family/*/policy/inbound|outbound/aspath-list": "as-path-list",
    f"{SESSION}/address-family/*/default-route-origination/policy": "route-map",
    f"{SESSION}/address-family/*/conditional-advertise/advertise-map|exist-map|non-exist-map": "route-map",
    f"{SESSION}/bfd/profile": "bfd profile",
    "vrf/*/router/bgp/neighbor|peer/*/peer-group": "peer-group",
    "vrf/*/router/bgp/dynamic-neighbor/listen-range/*/peer-group": "peer-group",
    "vrf/*/router/bgp/address-family/*/redistribute/*/route-map": "route-map",
    "vrf/*/router/bgp/address-family/*/network|aggregate-route/*/route-map": "route-map",
    "vrf/*/router/bgp/address-family/*/route-import/from-vrf/route-map": "route-map",
    "vrf/*/router/bgp/address-family/*/route-export/to-evpn/route-map": "route-map",
    "vrf/*/router/bgp/address-family/*/route-import/from-vrf/list": "vrf",
    "vrf/*/router/ospf/redistribute/*/route-map": "route-map",
    **{f"router/policy/route-map/*/rule/*/match/{match}": kind for kind, match in LISTS.items() if match},
    "interface/*/acl": "acl",
    "system/control-plane/acl": "acl",
    "interface/*/vrf": "vrf",
    "interface/*/ip/vrf": "vrf",
    **{f"interface/*/qos/{kind}/profile": f"qos {kind} profile" for kind in PROFILES},
}
BUILT_IN = re.compile(r"acl acl-default-.*|vrf (?:default|mgmt|auto)|qos .* profile (?:default-global|default)")

# The value, or each key, is the secret; {n} is the n-th star of the path.
SECRETS = {
    "system/aaa/user/*/hashed-password": "password of user {0}",
    "system/aaa/user/*/password": "password of user {0}",
    "system/aaa/tacacs/server/*/secret": "key of tacacs server {0}",
    "system/aaa/radius/server/*/secret": "key of radius server {0}",
    "system/aaa/ldap/secret": "key of ldap server",
    "vrf/*/router/bgp/neighbor|peer|peer-group/*/password": "BGP password of {1}",
    "system|service/snmp-server/readonly-community|readonly-community-v6": "SNMP community",
    "system|service/snmp-server/trap-destination/*/community-password": "SNMP community",
    "system|service/snmp-server/username/*/auth-sha|auth-md5": "SNMP auth key of user {0}",
    "system|service/snmp-server/username/*/auth-sha|auth-md5/*/encrypt-aes|encrypt-des": "SNMP priv key of user {0}",
    "interface/*/router/ospf/authentication/md5-key": "OSPF key of {0}",
}


def undefined(tree: Branch, file: str) -> Iterator[Located[str]]:
    """The first use of every name that is nowhere defined; peer groups belong to their VRF."""
    defined = {(kind, _scope(kind, stars), stars[-1]) for path, kind in DEFINED.items() for stars, _ in found(tree, path)}
    uses: dict[tuple[str, str, str], int] = {}
    for path, kind in USED.items():
        for stars, branch in found(tree, path):
            for name, part in branch.parts.items():
                key = (kind, _scope(kind, stars), name)
                if key not in defined and not BUILT_IN.fullmatch(f"{kind} {name}"):
                    uses[key] = min(part.line, uses.get(key, part.line))
    for (kind, _, name), line in sorted(uses.items(), key=lambda use: use[1]):
        yield Located(f"{kind} {name}", line, file)


def _scope(kind: str, stars: tuple[str, ...]) -> str:
    return stars[0] if kind == "peer-group" else ""


def secrets(tree: Branch, file: str) -> Iterator[Located[str]]:
    """What each secret is, never itself."""
    for path, what in SECRETS.items():
        for stars, branch in found(tree, path):
            for text, part in branch.parts.items():
                if not placeholder(text):
                    yield Located(what.format(*stars), part.line, file)
