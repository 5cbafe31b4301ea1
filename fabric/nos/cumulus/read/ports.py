"""Reads the interfaces of NVUE."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabric.model.facts import MANAGEMENT, Facts, Interface, Located
from fabric.nos.cumulus.read.tree import number, off, string
from fabric.nos.reading import Branch, esi, is_address, mac, numbers, prefix

FAMILIES = ("ipv4", "ipv6", "ip")  # `ip` has both before 5.15
EVERY_VLAN = 4094  # a trunk with all of them says nothing about any


def read_ports(facts: Facts, file: str, tree: Branch) -> None:
    ports = tree.at("interface").parts
    for name, port in ports.items():
        facts.interfaces[name] = _interface(facts, file, name, port)
    for name, port in ports.items():
        for member, part in port.at("bond", "member").parts.items():
            interface = facts.interfaces.setdefault(member, Interface(name=member, line=part.line, file=file))
            interface.bond = Located(name, part.line, file)
        base = facts.interfaces.get(port.at("base-interface").word or "")
        if base and facts.interfaces[name].mtu is None:
            facts.interfaces[name].mtu = base.mtu  # a slice has its port's
    for name, vrf in tree.at("vrf").parts.items():
        addresses = list(_addresses(facts, file, vrf.at("loopback"), "address"))
        if addresses and name != "default":  # the address is the VRF's own device's
            vrf_ = Located(vrf_name(name), vrf.line, file)
            facts.interfaces[name] = Interface(name=name, line=vrf.line, file=file, addresses=addresses, vrf=vrf_)
        elif addresses:
            facts.interfaces.setdefault("lo", Interface(name="lo", line=vrf.line, file=file)).addresses += addresses


def vrf_name(text: str) -> str:
    """`default` is the table without a name, `mgmt` that of eth0."""
    return "" if text == "default" else MANAGEMENT if text == "mgmt" else text


def _interface(facts: Facts, file: str, name: str, port: Branch) -> Interface:
    interface = Interface(name=name, line=port.line, file=file)
    interface.description = string(port.at("description"), file)
    interface.addresses = list(_addresses(facts, file, port, "address"))
    interface.gateways = list(_addresses(facts, file, port, "vrr", "address"))
    for family in FAMILIES:
        for router in port.at(family, "vrrp", "virtual-router").parts.values():
            interface.gateways += [
                Located(own, part.line, file)
                for address, part in router.at("address").parts.items()
                if (own := _with_length(address, interface)) is not None
            ]
    interface.mtu = number(port.at("link", "mtu"), file)
    interface.speed_gbps = _speed(port.at("link", "speed"), file)
    interface.enabled = _enabled(port.at("link", "state"), file)
    for vrf in (port.at("vrf"), port.at("ip", "vrf")):
        if vrf.word is not None:
            interface.vrf = Located(vrf_name(vrf.word), vrf.value.line, file)
    interface.tag = _tag(name, port, file)
    for domain in port.at("bridge", "domain").parts.values():
        interface.access = number(domain.at("access"), file) or number(domain.at("untagged"), file) or interface.access
        interface.trunk += _vlans(domain.at("vlan"), file)
    interface.esi = _esi(port.at("evpn", "multihoming", "segment"), file)
    interface.filters = [Located(acl, part.line, file) for acl, part in port.at("acl").parts.items()]
    return interface


def _addresses(facts: Facts, file: str, port: Branch, *path: str) -> Iterator[Located[str]]:
    for family in FAMILIES:
        for text, part in port.at(family, *path).parts.items():
            address = prefix(text)
            if address is not None:
                yield Located(address, part.line, file)
            elif text != "dhcp":
                facts.broken.append(Located(f"{text}: expected an address with its length", part.line, file))


def _with_length(text: str, own: Interface) -> str | None:
    """A virtual address of VRRP may have no length: it has that of the interface's subnet. None for what is no address."""
    if "/" in text:
        return prefix(text)
    length = next((at.value.partition("/")[2] for at in own.addresses if (":" in at.value) == (":" in text)), "")
    return prefix(f"{text}/{length}") or (text if is_address(text) else None)


def _speed(branch: Branch, file: str) -> Located[int] | None:
    match = re.fullmatch(r"(\d{1,4})G", branch.word or "", re.IGNORECASE)
    return Located(int(match[1]), branch.value.line, file) if match else None


def _enabled(branch: Branch, file: str) -> Located[bool] | None:
    return Located(branch.word == "up", branch.value.line, file) if branch.word in ("up", "down") else None


def _tag(name: str, port: Branch, file: str) -> Located[int] | None:
    """Of a subinterface: its `vlan`, else what follows the dot."""
    _, dot, tag = name.partition(".")
    if not dot:
        return None
    return number(port.at("vlan"), file) or (Located(int(tag), port.line, file) if tag.isdecimal() and len(tag) < 5 else None)


def _vlans(branch: Branch, file: str) -> list[Located[int]]:
    found = [Located(vlan, part.line, file) for text, part in branch.parts.items() for vlan in numbers(text)]
    return found if len(found) < EVERY_VLAN else []


def _esi(segment: Branch, file: str) -> Located[str] | None:
    """Type 3 of a MAC address and a local number, or ten bytes as they are."""
    if off(segment):
        return None
    identifier, local, system = segment.at("identifier"), segment.at("local-id"), segment.at("mac-address").word
    if identifier.word is not None:
        return Located(esi(identifier.word), identifier.value.line, file)
    discriminator = number(local, file)
    if discriminator is None or system is None:
        return None
    return Located(esi(f"03{mac(system)}{discriminator.value & 0xFFFFFF:06x}"), discriminator.line, file)
