"""Reads NVUE of Cumulus Linux, `startup.yaml` or commands; ports and QoS have a file of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from typing import TypeVar

from fabric.model.facts import (
    ENCRYPTED,
    MANAGEMENT,
    Authentication,
    Bgp,
    Chain,
    Facts,
    Located,
    Neighbor,
    Part,
    PrefixRule,
    Route,
    Secret,
    Vni,
    Vrf,
)
from fabric.nos.cumulus.read import paths
from fabric.nos.cumulus.read.ports import read_packet_filters, read_ports, read_qos, read_relays, vrf_name
from fabric.nos.cumulus.read.tree import found, number, off, read_tree, string, switch, truth
from fabric.nos.frr.read.words import DERIVED
from fabric.nos.reading import (
    OF_TRAPS,
    ROOT_LOGIN,
    Branch,
    Entry,
    add_policies,
    asn,
    community,
    form_of,
    integer,
    is_address,
    login_order,
    mac,
    numbers,
    password,
    placeholder,
    prefix,
    settle,
)

# --- Secrets by their paths -----------------------------------------------------------------------------------

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
LOGINS = "password of user "
OBFUSCATED = "$nvsec$"


def secrets(tree: Branch, file: str) -> Iterator[Located[Secret]]:
    """What each secret is, never itself."""
    for path, what in SECRETS.items():
        for stars, branch in found(tree, path):
            for text, part in branch.parts.items():
                if not placeholder(text):
                    form = ENCRYPTED if text.startswith(OBFUSCATED) else form_of(text)
                    yield Located(Secret(what.format(*stars), form, what.startswith(LOGINS)), part.line, file)


# --- BGP: a process per VRF, its neighbors, and what their peer groups say ------------------------------------

T = TypeVar("T")
FAMILIES = {"ipv4-unicast": "ipv4", "ipv6-unicast": "ipv6", "l2vpn-evpn": "evpn"}
UNICAST = ("ipv4-unicast", "ipv6-unicast")
FILTERS = ("route-map", "prefix-list", "aspath-list")  # of several on one session the first is named
ALLOWED = 3  # times that the own AS may be in a path, where the config says none


@dataclass(frozen=True, slots=True)
class Levels:
    """A neighbor and its group: the first that says a thing counts."""

    file: str
    branches: tuple[Branch, ...]

    def at(self, *path: str) -> Levels:
        return Levels(self.file, tuple([branch.at(*path) for branch in self.branches]))

    def first(self, read: Callable[[Branch, str], Located[T] | None], *path: str) -> Located[T] | None:
        for branch in self.branches:
            if (found := read(branch.at(*path), self.file)) is not None:
                return found
        return None


def read_bgp(facts: Facts, file: str, tree: Branch) -> None:
    shared = tree.at("router", "bgp")
    if off(shared):
        return
    for name, vrf in tree.at("vrf").parts.items():
        own = vrf.at("router", "bgp")
        if own.line and not off(own):
            facts.bgp[vrf_name(name)] = _process(file, vrf_name(name), own, shared)


def _process(file: str, vrf: str, own: Branch, shared: Branch) -> Bgp:
    bgp = Bgp(vrf=vrf, line=own.line, file=file)
    both = Levels(file, (own, shared))  # the numbers of the switch hold where the VRF has none
    bgp.asn = both.first(_asn, "autonomous-system")
    bgp.router_id = both.first(string, "router-id")
    widths = [found for family in UNICAST if (found := number(own.at("address-family", family, "multipaths", "ebgp"), file))]
    bgp.max_paths = min(widths, key=lambda found: found.value, default=None)
    for family in UNICAST:
        _bgp_routes(bgp, own.at("address-family", family))
    bgp.relax = truth(own.at("path-selection", "multipath", "aspath-ignore"), file)
    for peers in (own.at("neighbor"), own.at("peer"), own.at("dynamic-neighbor", "listen-range")):  # `peer` before 5.0
        for text, branch in peers.parts.items():
            neighbor = _neighbor(file, vrf, text, branch, own.at("peer-group"))
            bgp.neighbors[neighbor.peer] = neighbor
    return bgp


def _bgp_routes(bgp: Bgp, family: Branch) -> None:
    """What enters BGP here."""
    bgp.networks += [Located(text, part.line, bgp.file) for text, part in family.at("network").parts.items()]
    for name, part in family.at("redistribute").parts.items():
        if name != "connected":
            bgp.originates = bgp.originates or Located("", part.line, bgp.file)
    connected = family.at("redistribute", "connected")
    if connected.line and not off(connected):
        bgp.connected = string(connected.at("route-map"), bgp.file) or Located("", connected.line, bgp.file)
    bgp.aggregates += [Located(text, part.line, bgp.file) for text, part in family.at("aggregate-route").parts.items()]


def _asn(branch: Branch, file: str) -> Located[int] | None:
    value = asn(branch.word)
    return Located(value, branch.value.line, file) if value is not None else None


def _remote_as(branch: Branch, file: str) -> Located[int | str] | None:
    value = branch.word if branch.word in ("external", "internal") else asn(branch.word)
    return Located(value, branch.value.line, file) if value is not None else None


def _peer(text: str) -> str:
    try:
        return str(ip_network(text, strict=False)) if "/" in text else str(ip_address(text))
    except ValueError:
        return text


def _neighbor(file: str, vrf: str, text: str, branch: Branch, groups: Branch) -> Neighbor:
    neighbor = Neighbor(vrf=vrf, peer=_peer(text), line=branch.line, file=file)
    neighbor.dynamic = "/" in neighbor.peer
    neighbor.interface = not neighbor.dynamic and (branch.at("type").word == "unnumbered" or not is_address(neighbor.peer))
    group = groups.at(branch.at("peer-group").word or "")
    levels = Levels(file, (branch, group) if group.line else (branch,))
    neighbor.remote_as = levels.first(_remote_as, "remote-as")
    neighbor.local_as = levels.first(_asn, "local-as", "asn")
    neighbor.source = levels.first(string, "update-source")
    neighbor.description = levels.first(string, "description")
    neighbor.multihop = levels.first(number, "multihop-ttl")
    neighbor.authentication = levels.first(_authentication, "password")
    neighbor.bfd = levels.first(_bfd, "bfd")
    neighbor.keepalive_s = levels.first(number, "timers", "keepalive")
    neighbor.hold_s = levels.first(number, "timers", "hold")
    if shut := levels.first(truth, "shutdown"):
        neighbor.enabled = Located(not shut.value, shut.line, file)
    if (on := levels.first(truth, "enable")) and not on.value:
        neighbor.enabled = on
    for family, name in FAMILIES.items():
        _family(neighbor, levels.at("address-family", family), name)
    return neighbor


def _family(own: Neighbor, family: Levels, name: str) -> None:
    """IPv4 is on unless it is switched off, the others are off unless they are switched on."""
    on = family.first(switch)
    if not (on.value if on else name == "ipv4"):
        return
    own.families.append(Located(name, on.line if on else own.line, own.file))
    own.max_prefix = own.max_prefix or family.first(number, "prefix-limits", "inbound", "maximum")
    clients = family.first(truth, "route-reflector-client") or family.first(switch, "route-reflector-client")
    own.reflected = own.reflected or clients
    own.import_filter = own.import_filter or _filter(family, "inbound")
    own.export_filter = own.export_filter or _filter(family, "outbound")
    allowed = family.at("aspath", "allow-my-asn")
    times, state = allowed.first(number, "occurrences"), allowed.first(switch)
    if own.allowas_in is None and (state.value if state else times):
        own.allowas_in = times or (Located(ALLOWED, state.line, own.file) if state else None)


def _filter(family: Levels, direction: str) -> Located[str] | None:
    return next((found for kind in FILTERS if (found := family.first(string, "policy", direction, kind))), None)


def _bfd(branch: Branch, file: str) -> Located[bool] | None:
    """Switched on, or given a profile."""
    profile = string(branch.at("profile"), file)
    return switch(branch, file) or (Located(True, profile.line, file) if profile else None)


def _authentication(branch: Branch, file: str) -> Located[Authentication] | None:
    """`$nvsec$…` is encrypted, `*` hidden."""
    word = branch.word
    return Located(password(word, encrypted=word.startswith("$")), branch.value.line, file) if word is not None else None


# --- The switch -----------------------------------------------------------------------------------------------

COMMUNITIES = {  # path of communities → what they are; NVUE has none that may write
    "readonly-community": community(writes=False),
    "readonly-community-v6": community(writes=False),
    "trap-destination/*/community-password": OF_TRAPS,
}


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; its config is one file, or several that add up."""
    facts = Facts(name=name, nos="cumulus", files=tuple(files), derived=DERIVED)
    for file, text in files.items():
        tree, broken, others = read_tree(text)
        _system(facts, file, tree)
        _vrfs(facts, file, tree)
        _overlay(facts, file, tree)
        _routes(facts, file, tree)
        read_ports(facts, file, tree)
        read_packet_filters(facts, file, tree)
        read_relays(facts, file, tree)
        read_bgp(facts, file, tree)
        facts.chains += _chains(facts, file, tree)
        read_qos(facts, file, tree)
        _link_local(facts)
        _prefixes(facts, file, tree)
        add_policies(facts, _entries(file, tree))
        facts.services.secrets += secrets(tree, file)
        facts.broken += [Located(why, line, file) for why, line in broken]
        unread = [*paths.unread(tree), *others]
        facts.unread += [Located(statement, line, file) for statement, line in sorted(unread, key=lambda row: row[1])]
        facts.statements += tree.leaves() + len(others)
    return facts


def _system(facts: Facts, file: str, tree: Branch) -> None:
    system, services = tree.at("system"), facts.services
    if hostname := string(system.at("hostname"), file):
        facts.name, facts.hostname = hostname.value, hostname
    facts.anycast_mac = _gateway_mac(system.at("global"), file) or facts.anycast_mac
    facts.hash_seed = number(system.at("forwarding", "hash-seed"), file) or facts.hash_seed
    services.lldp = switch(system.at("lldp"), file) or services.lldp or Located(True, 1, file)  # on by default
    for kind, into in (("ntp", services.ntp), ("syslog", services.syslog), ("dns", services.dns)):
        for path in (f"system/{kind}/server/*", f"service/{kind}/*/server/*"):
            into += [Located(stars[-1], part.line, file) for stars, part in found(tree, path)]
    for kind, into in (("tacacs", services.tacacs), ("radius", services.radius), ("ldap", services.ldap)):
        into += [Located(stars[0], part.line, file) for stars, part in found(tree, f"system/aaa/{kind}/server|hostname/*")]
    services.login = _login(system.at("aaa"), file) or services.login
    for _, part in found(tree, "system/control-plane/acl/*/inbound"):
        services.control_plane = services.control_plane or Located(True, part.line, file)
    root = system.at("ssh-server", "permit-root-login")
    if root.word == "enabled":
        services.weak_logins.append(Located(ROOT_LOGIN, root.value.line, file))
    for path, what in COMMUNITIES.items():
        for _, part in found(tree, f"system|service/snmp-server/{path}"):
            services.plain_text += [Located(what, one.line, file) for one in part.parts.values()]


def _login(aaa: Branch, file: str) -> Located[str] | None:
    """The order of login methods: a list, until 5.14 keys with numbers."""
    methods = [(name, part.line) for name, part in aaa.at("authentication", "order").parts.items()]
    ranked = sorted((int(rank), part) for rank, part in aaa.at("authentication-order").parts.items() if rank.isdecimal())
    methods = methods or [(part.word or "", part.line) for _, part in ranked]
    order = login_order(name for name, _ in methods)
    return Located(order, methods[0][1], file) if order else None


def _value(branch: Branch, file: str) -> Located[str] | None:
    """What is stated; `nv config show --all` writes `none` where nothing is (NVIDIA Cumulus Linux User Guide, "NVUE CLI")."""
    return string(branch, file) if branch.word != "none" else None


def _gateway_mac(shared: Branch, file: str) -> Located[str] | None:
    """That of virtual routers, whose last byte is the fabric ID (NVUE Command Reference, `system global fabric-id`)."""
    number_ = number(shared.at("fabric-id"), file)
    of_id = Located(f"00:00:5e:00:01:{number_.value:02x}", number_.line, file) if number_ and number_.value < 256 else None
    stated = [_value(shared.at(key), file) for key in ("fabric-mac", "anycast-mac")]
    found = stated[0] or of_id or stated[1]
    return Located(mac(found.value), found.line, file) if found else None


def _vrfs(facts: Facts, file: str, tree: Branch) -> None:
    for text, branch in tree.at("vrf").parts.items():
        name = vrf_name(text)
        if name in ("", MANAGEMENT):
            continue
        own = facts.vrfs[name] = Vrf(name=name, line=branch.line, file=file)
        bgp = branch.at("router", "bgp")
        own.vni, own.vlan = (number(branch.at("evpn", key), file) for key in ("vni", "vlan"))
        own.rd = _value(bgp.at("rd"), file)
        own.imports = _targets(bgp.at("route-import", "from-evpn", "route-target"), file)
        own.exports = _targets(bgp.at("route-export", "to-evpn", "route-target"), file)
        for family in UNICAST:
            leaked = bgp.at("address-family", family, "route-import", "from-vrf")
            own.leaks += [] if off(leaked) else _keys(leaked.at("list"), file)
            own.leak_filter = own.leak_filter or string(leaked.at("route-map"), file)
            advertised = bgp.at("address-family", family, "route-export", "to-evpn", "route-map")
            own.evpn_filter = own.evpn_filter or string(advertised, file)


def _routes(facts: Facts, file: str, tree: Branch) -> None:
    for path in ("vrf/*/router/static/*/via/*", "vrf/*/router/static/*/distance/*/via/*"):
        for stars, part in found(tree, path):
            name, destination, hop = vrf_name(stars[0]), prefix(stars[1]), stars[-1]
            if destination is not None:
                known = is_address(hop) and "interface" not in part.parts
                table = vrf_name(part.at("vrf").word or stars[0])
                facts.routes.append(
                    Route(vrf=name, prefix=destination, via=hop if known else "", table=table, line=part.line, file=file)
                )


def _keys(branch: Branch, file: str) -> list[Located[str]]:
    return [Located(text, part.line, file) for text, part in branch.parts.items()]


def _targets(branch: Branch, file: str) -> list[Located[str]]:
    """`ANY:10010` takes those of every AS number."""
    return [target.at(target.value.replace("ANY:", "*:")) for target in _keys(branch, file)]


def _overlay(facts: Facts, file: str, tree: Branch) -> None:
    own_addresses = [tree.at("evpn", "route-advertise", "svi-ip")]
    own_addresses += (part for _, part in found(tree, "vrf/*/router/bgp/address-family/l2vpn-evpn/advertise-svi-ip"))
    own_addresses += (part for _, part in found(tree, "evpn/vni/*/route-advertise/svi-ip"))
    advertised = (truth(part, file) or switch(part, file) for part in own_addresses)
    facts.svi_advertised = next((stated for stated in advertised if stated and stated.value), facts.svi_advertised)
    facts.vxlan_port = number(tree.at("nve", "vxlan", "port"), file) or facts.vxlan_port
    facts.vtep = string(tree.at("nve", "vxlan", "source", "address"), file) or facts.vtep
    for (_, vlans), part in found(tree, "bridge/domain/*/vlan/*"):
        for text, own in part.at("vni").parts.items():
            for vlan, vni in zip(numbers(vlans), numbers(text), strict=False):
                facts.vnis[vni] = Vni(number=vni, line=own.line, file=file, vlan=Located(vlan, part.line, file))
    for (text,), part in found(tree, "evpn/vni/*"):
        for vni in numbers(text):
            table = facts.vnis.setdefault(vni, Vni(number=vni, line=part.line, file=file))
            table.rd = _value(part.at("rd"), file)
            both = _targets(part.at("route-target", "both"), file)
            table.imports = _targets(part.at("route-target", "import"), file) + both
            table.exports = _targets(part.at("route-target", "export"), file) + both


def _chains(facts: Facts, file: str, tree: Branch) -> Iterator[Chain]:
    """VNIs and VRFs need EVPN switched on, for the switch and for BGP (NVUE, "Basic Configuration" of EVPN)."""
    for vni in facts.vnis.values():  # VLAN-based
        vni.tagged = Located(False, vni.line, vni.file)
    if not any(family.value == "evpn" for peer in facts.neighbors() for family in peer.families):
        return
    family = switch(tree.at("vrf", "default", "router", "bgp", "address-family", "l2vpn-evpn"), file)
    if family is None:  # Cumulus Linux 4.4, "EVPN Multihoming", "Configuration Example": neighbors alone switch it on
        peers = (one for peer in facts.bgp[""].neighbors.values() for one in peer.families) if "" in facts.bgp else ()
        family = next((Located(True, one.line, one.file) for one in peers if one.value == "evpn"), None)
    of_bgp = family if family and family.value else None
    ways = Part("`evpn`, switched on", _on(tree.at("evpn"), file)), Part("`l2vpn-evpn` of BGP, switched on", of_bgp)
    for vni in facts.vnis.values():
        own = Part(f"VNI {vni.number}", Located(vni.number, vni.line, vni.file))
        yield Chain(f"VLAN {vni.vlan.value}" if vni.vlan else own.what, (own, *ways))
    for vrf in facts.vrfs.values():
        if vrf.vni:
            yield Chain(f"VRF {vrf.name}", (Part(f"VNI {vrf.vni.value}", vrf.vni), *ways))


def _on(branch: Branch, file: str) -> Located[bool] | None:
    stated = switch(branch, file)
    return stated if stated and stated.value else None


def _link_local(facts: Facts) -> None:
    """A port with an unnumbered session and no address has its link-local one; the switch gives it, no line does."""
    for neighbor in facts.neighbors():
        port = facts.interfaces.get(neighbor.peer)
        if neighbor.interface and port and not port.addresses:
            port.link_local = True


def _prefixes(facts: Facts, file: str, tree: Branch) -> None:
    for (name,), branch in found(tree, "router/policy/prefix-list/*"):
        rows = facts.rules.setdefault(name, [])
        for (number_,), rule in found(branch, "rule/*"):
            seq = integer(number_)
            action = rule.at("action")
            permits = "permit" in (action.word, *action.parts)
            for net, part in rule.at("match").parts.items():
                low, high = part.at("min-prefix-len").word, part.at("max-prefix-len").word
                text = net + (f" ge {low}" if low else "") + (f" le {high}" if high else "")
                rows.append(Located(PrefixRule(permits, text, seq), part.line, file))
    settle(facts)


def _entries(file: str, tree: Branch) -> Iterator[Entry]:
    for (name, number_), rule in found(tree, "router/policy/route-map/*/rule/*"):
        denial = rule.at("action").parts.get("deny")
        entry = Entry(name=name, permits=denial is None, line=denial.line if denial else rule.line, file=file)
        entry.number = integer(number_) or 0
        for key, part in rule.at("match").parts.items():
            lists = [Located(text, own.line, file) for text, own in part.parts.items()]
            if key in ("ip-prefix-list", "prefix-list"):
                entry.lists += lists
            elif key != "type":
                entry.narrowed = True
        entry.open = not (entry.lists or entry.narrowed) and "type" in rule.at("match").parts
        entry.jumps = any("exit-policy" in part.parts for part in (rule, *rule.at("action").parts.values()))
        yield entry
