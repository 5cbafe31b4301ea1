"""What the readers of FRR, ifupdown2 and SONiC share: repeated values, lines that fail."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import TypeVar

from fabric.model.facts import DEFAULT_VRF, MANAGEMENT, Bgp, Facts, Interface, Located, Neighbor, Vni, Vrf
from fabric.nos.reading import Entry, add_policies, asn, esi, settle

T = TypeVar("T")
LOOPBACK_NETS = ("127.", "::1/")  # addresses that every VRF device of Linux has
VRF_NAMES = {"default": DEFAULT_VRF, "mgmt": MANAGEMENT}


@dataclass(slots=True)
class Device:
    """The facts of a device while its files are read one after the other."""

    facts: Facts
    entries: list[Entry] = field(default_factory=list)  # of route maps
    segments: dict[str, Located[int]] = field(default_factory=dict)  # bond → number of its Ethernet segment …
    system_macs: dict[str, Located[str]] = field(default_factory=dict)  # … and the MAC that both leaves show

    def interface(self, name: str, line: int, file: str) -> Interface:
        known = self.facts.interfaces.get(name)
        if known is None:
            known = self.facts.interfaces[name] = Interface(name=name, line=line, file=file)
        return known

    def vrf(self, name: str, line: int, file: str) -> Vrf:
        return self.facts.vrfs.setdefault(name, Vrf(name=name, line=line, file=file))

    def vni(self, number: int, line: int, file: str) -> Vni:
        return self.facts.vnis.setdefault(number, Vni(number=number, line=line, file=file))

    def bgp(self, vrf: str, line: int, file: str) -> Bgp:
        return self.facts.bgp.setdefault(vrf, Bgp(vrf=vrf, line=line, file=file))

    def first(self, what: str, known: Located[T] | None, new: Located[T]) -> Located[T]:
        """The value that was configured first; a different one is a conflict, noted on both sides."""
        if known is None:
            return new
        if known.value != new.value:
            for one, other in ((known, new), (new, known)):
                text = f"{what} is {one.value} here and {other.value} in {other.file}:{other.line}"
                self.facts.conflicts.append(Located(text, one.line, one.file))
        return known

    def tenants_apart(self) -> None:
        """A VNI of a VRF is no layer-2 one, though it has a VLAN; known when every file is read."""
        facts = self.facts
        for vrf in facts.vrfs.values():
            if vrf.vni and (own := facts.vnis.get(vrf.vni.value)):
                vrf.vlan = own.vlan
        layer3 = {vrf.vni.value for vrf in facts.vrfs.values() if vrf.vni}
        facts.vnis = {number: vni for number, vni in facts.vnis.items() if number not in layer3}

    def finish(self) -> Facts:
        """Puts together what stood in several places: Ethernet segments and route maps."""
        for bond, number in self.segments.items():
            if bond in self.system_macs and bond in self.facts.interfaces and number.value < 1 << 24:
                text = f"03:{self.system_macs[bond].value}:{number.value:06x}"
                self.facts.interfaces[bond].esi = Located(esi(text), number.line, number.file)
        settle(self.facts)
        add_policies(self.facts, self.entries)
        return self.facts


def vrf_name(text: str) -> str:
    """A VRF as facts name it."""
    return VRF_NAMES.get(text, text)


def add_address(known: list[Located[str]], parsed: Located[str]) -> None:
    """An address may stand in two files of one device; what every VRF device has for itself is left out."""
    if not parsed.value.startswith(LOOPBACK_NETS) and all(other.value != parsed.value for other in known):
        known.append(parsed)


def need_number(text: str) -> int:
    """ValueError for what is no number that a config could mean."""
    if not text.isdecimal() or len(text) > 10:
        raise ValueError(f"{text} is no number")
    return int(text)


def need_asn(text: str) -> int:
    """`65000.1` counts like `4259840001`. ValueError for what is no AS number."""
    number = asn(text)
    if number is None or number >= 1 << 32:
        raise ValueError(f"{text} is no AS number")
    return number


def peer_address(text: str) -> str | None:
    """A neighbor's address in its usual form; None where the neighbor is named otherwise."""
    if ":" not in text:
        return text if text.replace(".", "").isdecimal() and text.count(".") == 3 else None
    try:
        return str(IPv6Address(text))
    except ValueError:
        return None


def unnumbered(facts: Facts, neighbor: Neighbor) -> None:
    """Linux gives every port a link-local address; it counts where BGP speaks over it and no other address is there."""
    port = facts.interfaces.get(neighbor.peer)
    if neighbor.interface and port and not port.addresses:
        port.link_local = True
