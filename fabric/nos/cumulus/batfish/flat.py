"""What an NVUE file makes of the switch: the interfaces and the routing that NVUE writes from it, as Batfish reads them.

Batfish does not read NVUE. The facts that decide where packets go are translated: addresses, VRFs, VLANs, VNIs, bonds, BGP
sessions and their policy. Route distinguishers and targets stay out, for Batfish makes its own on Cumulus. Every line has
the line of the file that it is from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import yaml

from fabric.nos.batfish.concatenated import FORMAT, routing, start
from fabric.nos.batfish.copies import Copy, only, whole
from fabric.nos.cumulus.batfish.routing import frr_lines
from fabric.nos.cumulus.batfish.tree import Branch, read
from fabric.nos.frr.batfish.text import maps, readable

Line = tuple[str, int]


def nvue_copy(name: str, files: Mapping[str, str]) -> Copy:
    """The one file of a Cumulus switch."""
    source, text = only(files, "startup.yaml")
    try:
        tree = read(text)
    except yaml.YAMLError:
        return whole(f"configs/{name}.cfg", source, text, FORMAT)
    writer = start(name, source)
    for words, line in interface_lines(tree):
        writer.add(words, line)
    routing(writer)
    lines = list(frr_lines(tree))
    texts = [text for text, _ in lines]
    for words, (_, line) in zip(readable(texts), lines, strict=True):
        writer.add(words, line)
    for words, line_number in maps(texts):
        writer.add(words, lines[line_number - 1][1])
    return writer.copy(f"configs/{name}.cfg", FORMAT)


def interface_lines(tree: Branch) -> Iterator[Line]:
    """`/etc/network/interfaces`: ports and the like, then VRFs, VNIs and the bridge."""
    bridged: list[str] = []
    for name, interface in tree.at("interface").items():
        kind = interface.at("type").word
        yield f"auto {name}", interface.line
        yield f"iface {name}" + (" inet loopback" if kind == "loopback" else ""), interface.line
        yield from _common(interface)
        yield from _by_kind(tree, kind, interface)
        if interface.at("bridge"):
            bridged.append(name)
    yield from _tables(tree)
    yield from _bridge(tree, bridged)


def _common(interface: Branch) -> Iterator[Line]:
    if description := interface.at("description"):
        yield f"    alias {description.word}", description.line
    if mtu := interface.at("link", "mtu"):
        yield f"    mtu {mtu.word}", mtu.line
    for family in ("ipv4", "ipv6", "ip"):
        for address, branch in interface.at(family, "address").items():
            yield f"    address {address}", branch.line
    if vrf := interface.at("vrf") or interface.at("ip", "vrf"):
        yield f"    vrf {vrf.word}", vrf.line


def _by_kind(tree: Branch, kind: str, interface: Branch) -> Iterator[Line]:
    if kind == "bond":
        members = interface.at("bond", "member")
        yield "    bond-slaves " + " ".join(members.below), members.line
    if kind == "svi":
        vlan = interface.at("vlan")
        yield f"    vlan-id {vlan.word}", vlan.line
        yield "    vlan-raw-device bridge", vlan.line
    mac = tree.at("system", "global", "fabric-mac").word or "00:00:5e:00:01:01"
    for family in ("ipv4", "ipv6", "ip"):
        for address, branch in interface.at(family, "vrr", "address").items():
            yield f"    address-virtual {mac} {address}", branch.line
    for _, domain in interface.at("bridge", "domain").items():
        if access := domain.at("access"):
            yield f"    bridge-access {access.word}", access.line
        if vlans := domain.at("vlan"):
            yield "    bridge-vids " + " ".join(vlans.below), vlans.line


def _tables(tree: Branch) -> Iterator[Line]:
    """VRFs are interfaces on Linux; that of the management port is there by itself."""
    for name, vrf in [("mgmt", tree.at("interface")), *tree.at("vrf").items()]:
        if name != "default":
            yield f"auto {name}", vrf.line
            yield f"iface {name}", vrf.line
            yield "    vrf-table auto", vrf.line


def vnis(tree: Branch) -> Iterator[tuple[str, str, int]]:
    """(VNI, VLAN, line), those of networks first."""
    for _, domain in tree.at("bridge", "domain").items():
        for vlan, branch in domain.at("vlan").items():
            for vni, found in branch.at("vni").items():
                yield vni, vlan, found.line
    for _, vrf in tree.at("vrf").items():
        for vni, found in vrf.at("evpn", "vni").items():
            yield vni, vrf.at("evpn", "vlan").word, found.line


def _bridge(tree: Branch, bridged: list[str]) -> Iterator[Line]:
    """The tunnels, the VLANs that carry tenants' routed traffic, and the one bridge."""
    source = tree.at("nve", "vxlan", "source", "address")
    mapped = list(vnis(tree))
    for vni, vlan, line in mapped:
        yield f"auto vni{vni}", line
        yield f"iface vni{vni}", line
        yield f"    vxlan-id {vni}", line
        yield f"    vxlan-local-tunnelip {source.word}", source.line
        yield f"    bridge-access {vlan}", line
    for name, vrf in tree.at("vrf").items():
        if routed := vrf.at("evpn", "vlan"):
            yield f"auto vlan{routed.word}", routed.line
            yield f"iface vlan{routed.word}", routed.line
            yield f"    vlan-id {routed.word}", routed.line
            yield "    vlan-raw-device bridge", routed.line
            yield f"    vrf {name}", routed.line
    ports = bridged + [f"vni{vni}" for vni, _, _ in mapped]
    if ports:
        line = tree.at("bridge").line or tree.line
        yield "auto bridge", line
        yield "iface bridge", line
        yield "    bridge-ports " + " ".join(ports), line
        yield "    bridge-vids " + " ".join(dict.fromkeys(vlan for _, vlan, _ in mapped)), line
        yield "    bridge-vlan-aware yes", line
