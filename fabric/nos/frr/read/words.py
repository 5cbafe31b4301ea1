"""Walks the lines of an frr.conf as FRR does, by words; and what the readers of FRR, ifupdown2 and SONiC share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv6Address
from typing import TypeVar

from fabric.model.facts import (
    DEFAULT_VRF,
    MANAGEMENT,
    Bgp,
    Chain,
    DerivedTargets,
    Facts,
    Interface,
    Located,
    Neighbor,
    Part,
    Vni,
    Vrf,
)
from fabric.nos.frr.read.nodes import by_node
from fabric.nos.reading import Entry, Section, add_policies, esi, settle
from fabric.nos.reading.rules import Below, Line, Reading, Rules, heads_of
from fabric.nos.reading.sections import END, Layout

# --- Shared: repeated values, lines that fail -----------------------------------------------------------------

S = TypeVar("S")
T = TypeVar("T")
HEADS = heads_of(__file__)
LOOPBACK_NETS = ("127.", "::1/")  # addresses that every VRF device of Linux has
# FRR bgpd/bgp_evpn.c: `*:VNI` is imported, `(AS & 0xFFFF):VNI` exported.
DERIVED = DerivedTargets(any_as=True, low=True, unstated=True)
VRF_NAMES = {"default": DEFAULT_VRF, "mgmt": MANAGEMENT}


def elected(port: Interface) -> Located[str] | None:
    """FRR elects the designated forwarder by preference, stated or not (bgpd/bgp_evpn_mh.c, `df_alg`)."""
    return port.esi.at("preference") if port.esi else None


@dataclass(slots=True, kw_only=True)
class Device:
    """The facts of a device while its files are read one after the other."""

    facts: Facts
    entries: list[Entry] = field(default_factory=list)  # of route maps
    segments: dict[str, Located[int]] = field(default_factory=dict)  # bond → number of its Ethernet segment …
    system_macs: dict[str, Located[str]] = field(default_factory=dict)  # … and the MAC that both leaves show
    advertised: Located[bool] | None = None  # VNIs of the kernel enter EVPN
    traditional: Located[bool] | None = None  # paths over several AS numbers are not equal unless stated
    kernel: bool = False  # whether files were read that make VXLAN devices

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
        devices = dict(facts.vnis)
        facts.vnis = {number: vni for number, vni in facts.vnis.items() if number not in layer3}
        for vni in facts.vnis.values():  # each is an instance of its own, without tags (FRR, "EVPN")
            vni.tagged = Located(False, vni.line, vni.file)
        if any(family.value == "evpn" for peer in facts.neighbors() for family in peer.families):
            facts.chains += (Chain(f"VNI {number}", tuple(self._advertised(vni))) for number, vni in facts.vnis.items())
            facts.chains += (
                Chain(f"VRF {vrf.name}", tuple(self._tenant(vrf, vrf.vni, devices.get(vrf.vni.value))))
                for vrf in facts.vrfs.values()
                if vrf.vni
            )

    def _advertised(self, vni: Vni) -> Iterator[Part]:
        yield Part(f"VNI {vni.number}", Located(vni.number, vni.line, vni.file))
        yield Part("`advertise-all-vni`", self.advertised)

    def _tenant(self, vrf: Vrf, number: Located[int], made: Vni | None) -> Iterator[Part]:
        """The kernel needs a VXLAN device with the VNI, in a VLAN whose interface is in the VRF (FRR, "EVPN": L3 VNI)."""
        yield Part(f"VNI {number.value}", number)
        if self.kernel:
            device = Located(number.value, made.line, made.file) if made else None
            yield Part(f"VXLAN device or map of VNI {number.value}", device)
        if self.kernel and vrf.vlan:
            yield Part(f"VLAN {vrf.vlan.value}", vrf.vlan)
            yield Part(f"interface of VLAN {vrf.vlan.value} in VRF {vrf.name}", self._inside(vrf, vrf.vlan.value))
        yield Part("`advertise-all-vni`", self.advertised)

    def _inside(self, vrf: Vrf, vlan: int) -> Located[str] | None:
        """The interface of a VLAN, where it is in a VRF."""
        for port in self.facts.interfaces.values():
            number = port.tag.value if port.tag else None
            if port.vrf and port.vrf.value == vrf.name and (number == vlan or port.name.lower() == f"vlan{vlan}"):
                return Located(port.name, port.line, port.file)
        return None

    def finish(self) -> Facts:
        """Puts together what stood in several places: Ethernet segments and route maps."""
        for bond, number in self.segments.items():
            if bond in self.system_macs and bond in self.facts.interfaces and number.value < 1 << 24:
                text = f"03:{self.system_macs[bond].value}:{number.value:06x}"
                self.facts.interfaces[bond].esi = Located(esi(text), number.line, number.file)
        for port in self.facts.interfaces.values():
            port.election = port.election or elected(port)
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


# --- Lines of frr.conf, whatever the indentation --------------------------------------------------------------

SHORT = {  # as people type them
    "addr": "address-family", "address": "address-family", "desc": "description", "int": "interface", "neigh": "neighbor",
    "shut": "shutdown",
}  # fmt: skip
SECRET = re.compile(r"password|secret|key-string|authentication-key|^md5$")
TOP = re.compile(  # commands that no section has
    r"^[ \t]+(?=route-map \S+ (?:permit|deny) \d+[ \t\r]*$|(?:ip|ipv6) prefix-list \S|"
    r"bgp (?:as-path access-list|(?:\w+)?community-list) "
    r"|router (?:bgp|ospf|ospf6|isis) \S|line vty[ \t\r]*$)",
    re.MULTILINE,
)


def _shown(text: str) -> str:
    """FRR ignores indentation: a command of the top is one wherever it was typed, and one of BGP has its node."""
    return by_node(TOP.sub("", text))


LAYOUT = Layout(banner=None, shown=_shown)
CLOSES = LAYOUT.closing - {"end", END}


def walk(reading: Reading, text: str, whole: Rules[S], subject: S) -> None:
    """Offers every statement to the open sections, `whole` the last; counts them, and lists those that none knows."""
    facts, sections, margins = reading.facts, list[Below]([(whole, [subject])]), [0]  # and how far each was indented
    for number, raw in enumerate(text.split("\n"), 1):
        words = raw.split()
        if not words or words[0][0] in "!#":
            continue
        facts.statements += 1
        margin = len(raw) - len(raw.lstrip())
        if words[0] in CLOSES:
            if margin <= margins[-1]:  # else of a section that is not known here
                del sections[max(len(sections) - 1, 1) :], margins[max(len(margins) - 1, 1) :]
            continue
        if words == ["end"]:
            del sections[1:], margins[1:]
            continue
        at = int(words[0] == "no" and len(words) > 1)
        words[at] = SHORT.get(words[at], words[at])
        line, below = Section(" ".join(words), number), None
        innermost = len(sections) - 1 if margin or words[0] != "vrf" else 0  # `vrf red` of an interface is indented
        try:
            for depth in range(innermost, -1, -1):
                rules, (owner,) = sections[depth]
                rule, match = rules.meaning(line.line)
                if rule is not None:
                    below = rule(owner, Line(reading, line, match)) if match else None
                    del sections[depth + 1 :], margins[depth + 1 :]
                    break
            else:
                facts.unread.append(Located(hidden(words), number, reading.file))
        except (ValueError, LookupError):
            facts.broken.append(Located(f"cannot be read: {hidden(words)}", number, reading.file))
        if below:
            sections.append(below)
            margins.append(margin)


def incomplete(subject: object, line: Line) -> None:
    """A word that is no statement alone."""
    raise ValueError


def hidden(words: list[str]) -> str:
    """A line as it may be shown: what follows the word for a secret is not."""
    at = next((at for at, word in enumerate(words) if SECRET.search(word)), len(words))
    return " ".join([*words[: at + 1], *("…" for _ in words[at + 1 :])])
