"""Reads NVUE of Cumulus Linux, `startup.yaml` or commands; ports, BGP and QoS have files of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabric.model.facts import MANAGEMENT, Facts, Located, PrefixRule, Route, Vni, Vrf
from fabric.nos.cumulus.read import names, paths
from fabric.nos.cumulus.read.bgp import read_bgp
from fabric.nos.cumulus.read.ports import read_ports, vrf_name
from fabric.nos.cumulus.read.qos import read_qos
from fabric.nos.cumulus.read.tree import found, number, read_tree, string, switch
from fabric.nos.reading import (
    OF_TRAPS,
    ROOT_LOGIN,
    Branch,
    Entry,
    add_policies,
    community,
    integer,
    is_address,
    mac,
    numbers,
    prefix,
    settle,
)

COMMUNITIES = {  # path of communities → what they are; NVUE has none that may write
    "readonly-community": community(writes=False),
    "readonly-community-v6": community(writes=False),
    "trap-destination/*/community-password": OF_TRAPS,
}


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch; its config is one file, or several that add up."""
    facts = Facts(name=name, nos="cumulus", files=tuple(files))
    for file, text in files.items():
        tree, broken, others = read_tree(text)
        _system(facts, file, tree)
        _vrfs(facts, file, tree)
        _overlay(facts, file, tree)
        _routes(facts, file, tree)
        read_ports(facts, file, tree)
        read_bgp(facts, file, tree)
        read_qos(facts, file, tree)
        _link_local(facts)
        _prefixes(facts, file, tree)
        add_policies(facts, _entries(file, tree))
        facts.services.secrets += names.secrets(tree, file)
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
    for _, part in found(tree, "system/control-plane/acl/*/inbound"):
        services.control_plane = services.control_plane or Located(True, part.line, file)
    root = system.at("ssh-server", "permit-root-login")
    if root.word == "enabled":
        services.weak_logins.append(Located(ROOT_LOGIN, root.value.line, file))
    for path, what in COMMUNITIES.items():
        for _, part in found(tree, f"system|service/snmp-server/{path}"):
            services.plain_text += [Located(what, one.line, file) for one in part.parts.values()]


def _gateway_mac(shared: Branch, file: str) -> Located[str] | None:
    """That of virtual routers, whose last byte is the fabric ID (NVUE Command Reference, `system global fabric-id`)."""
    number_ = number(shared.at("fabric-id"), file)
    of_id = Located(f"00:00:5e:00:01:{number_.value:02x}", number_.line, file) if number_ and number_.value < 256 else None
    stated = [string(shared.at(key), file) for key in ("fabric-mac", "anycast-mac")]
    found = stated[0] or of_id or stated[1]
    return Located(mac(found.value), found.line, file) if found else None


def _vrfs(facts: Facts, file: str, tree: Branch) -> None:
    for text, branch in tree.at("vrf").parts.items():
        name = vrf_name(text)
        if name in ("", MANAGEMENT):
            continue
        own = facts.vrfs[name] = Vrf(name=name, line=branch.line, file=file)
        bgp = branch.at("router", "bgp")
        own.vni = number(branch.at("evpn", "vni"), file)
        own.rd = string(bgp.at("rd"), file)
        own.imports = _keys(bgp.at("route-import", "from-evpn", "route-target"), file)
        own.exports = _keys(bgp.at("route-export", "to-evpn", "route-target"), file)


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


def _overlay(facts: Facts, file: str, tree: Branch) -> None:
    facts.vtep = string(tree.at("nve", "vxlan", "source", "address"), file) or facts.vtep
    for (_, vlans), part in found(tree, "bridge/domain/*/vlan/*"):
        for text, own in part.at("vni").parts.items():
            for vlan, vni in zip(numbers(vlans), numbers(text), strict=False):
                facts.vnis[vni] = Vni(number=vni, line=own.line, file=file, vlan=Located(vlan, part.line, file))
    for (text,), part in found(tree, "evpn/vni/*"):
        for vni in numbers(text):
            table = facts.vnis.setdefault(vni, Vni(number=vni, line=part.line, file=file))
            table.rd = string(part.at("rd"), file)
            both = _keys(part.at("route-target", "both"), file)
            table.imports = _keys(part.at("route-target", "import"), file) + both
            table.exports = _keys(part.at("route-target", "export"), file) + both


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
    for (name, _), rule in found(tree, "router/policy/route-map/*/rule/*"):
        denial = rule.at("action").parts.get("deny")
        entry = Entry(name=name, permits=denial is None, line=denial.line if denial else rule.line, file=file)
        for key, part in rule.at("match").parts.items():
            lists = [Located(text, own.line, file) for text, own in part.parts.items()]
            if key in ("ip-prefix-list", "prefix-list"):
                entry.lists += lists
            elif key != "type":
                entry.narrowed = True
        yield entry
