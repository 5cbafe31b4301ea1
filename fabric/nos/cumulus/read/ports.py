"""Reads the interfaces of NVUE, and the classes of its ports: the RoCE profile of the switch, and profiles of ports."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from fabric.model.facts import MANAGEMENT, Cage, Ecn, Facts, Interface, Located, LosslessClass, PortQos, Queue
from fabric.nos.cumulus.read.tree import number, off, string, switch, truth
from fabric.nos.frr.read.words import elected
from fabric.nos.reading import Branch, esi, is_address, mac, numbers, prefix
from fabric.nos.reading.packet_filters import Conditions, keep_rule

# --- Interfaces -----------------------------------------------------------------------------------------------

FAMILIES = ("ipv4", "ipv6", "ip")  # `ip` has both before 5.15
IN_MATCH = frozenset({"ip", "protocol", "source-ip", "dest-ip", "source-port", "dest-port", "tcp", "udp"})
BREAKOUT = re.compile(r"(\d{1,2})x(?:(\d{1,4})G)?", re.I)
PART = re.compile(r"(swp\d+)s(\d+)")
FEC = {"rs": "rs", "baser": "fc", "off": "none"}
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
    _cages(facts, file, ports)
    for name, vrf in tree.at("vrf").parts.items():
        addresses = list(_addresses(facts, file, vrf.at("loopback"), "address"))
        if addresses and name != "default":  # the address is the VRF's own device's
            vrf_ = Located(vrf_name(name), vrf.line, file)
            facts.interfaces[name] = Interface(name=name, line=vrf.line, file=file, addresses=addresses, vrf=vrf_)
        elif addresses:
            facts.interfaces.setdefault("lo", Interface(name="lo", line=vrf.line, file=file)).addresses += addresses


def _cages(facts: Facts, file: str, ports: Mapping[str, Branch]) -> None:
    """`swp1: {link: {breakout: {4x: {}}}}` makes swp1s0 to swp1s3; `disabled` gives the lanes to a neighbor."""
    for name, port in ports.items():
        mode = port.at("link", "breakout")
        match = BREAKOUT.fullmatch(mode.word or "")
        if match or mode.word == "disabled":
            number_of = Located(int(match[1]) if match else 0, mode.value.line, file)
            speeds = frozenset([int(match[2])] if match and match[2] else [])
            facts.cages[name] = Cage(name=name, line=port.line, file=file, ports=number_of, speeds=speeds)
    for name, port in ports.items():
        if match := PART.fullmatch(name):
            cage = facts.cages.setdefault(match[1], Cage(name=match[1], line=port.line, file=file))
            cage.parts[name] = int(match[2])


def read_relays(facts: Facts, file: str, tree: Branch) -> None:
    """Servers of the group of an interface; before 5.14 those of the VRF, of every interface that has a gateway."""
    for service in tree.at("service", "dhcp-relay").parts.values():
        groups = {name: group.at("server").parts for name, group in service.at("server-group").parts.items()}
        for name, part in service.at("downstream-interface").parts.items():
            if port := facts.interfaces.get(name):
                servers = groups.get(part.at("server-group-name").word or "", {})
                port.relays += [Located(server, its.line, file) for server, its in servers.items()]
        for name in service.at("interface").parts if not groups else ():
            if (port := facts.interfaces.get(name)) and port.gateways:
                port.relays += [Located(server, its.line, file) for server, its in service.at("server").parts.items()]


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
    interface.fallback = truth(port.at("bond", "lacp-bypass"), file)
    segment = port.at("evpn", "multihoming", "segment")
    interface.esi, interface.preference = _esi(segment, file), number(segment.at("df-preference"), file)
    interface.election = elected(interface)
    fec = port.at("link", "fec")
    interface.fec = Located(FEC[fec.word or ""], fec.value.line, file) if fec.word in FEC else None
    interface.filters = [Located(acl, part.line, file) for acl, part in port.at("acl").parts.items()]
    return interface


def read_packet_filters(facts: Facts, file: str, tree: Branch) -> None:
    """Filters of IPv4; what no rule matches passes (NVIDIA Cumulus Linux, "Access Control List Configuration")."""
    for name, acl in tree.at("acl").parts.items():
        rules = [(int(number), rule) for number, rule in acl.at("rule").parts.items() if number.isdecimal()]
        for _, rule in sorted(rules, key=lambda row: row[0]) if acl.at("type").word in (None, "ipv4") else ():
            action, match = rule.at("action").word, rule.at("match", "ip")
            if action not in ("permit", "deny"):
                continue
            services = [match, *(match.at(kind) for kind in ("tcp", "udp"))]
            known = Conditions(
                permits=action == "permit",
                protocols=list(match.at("protocol").parts) or [kind for kind in ("tcp", "udp") if match.at(kind).line],
                sources=list(match.at("source-ip").parts),
                targets=list(match.at("dest-ip").parts),
                source_ports=[text for part in services for text in part.at("source-port").parts],
                target_ports=[text for part in services for text in part.at("dest-port").parts],
                narrowed=not IN_MATCH.issuperset(
                    [*match.parts, *(word for part in services[1:] for word in part.parts), *rule.at("match").parts]
                ),
            )
            for found in known.rules():
                keep_rule(facts, name, Located(found, rule.line, file), permits_rest=True)


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


# --- Classes --------------------------------------------------------------------------------------------------

PRIORITY, CNP = 3, 6  # of the profile; traffic classes have the same numbers
WEIGHT = 50  # percent of its two weighted classes
KMIN, KMAX, PMAX = 150_000, 1_500_000, 100  # its marking, on the classes 0 and 3
EVERY = "default-global"  # the profile of ports that name none
KINDS = ("pfc", "congestion-control", "egress-scheduler", "mapping", "egress-queue-mapping")
UNTAGGED = "untagged"  # a port with addresses
POLLS, POLL_MS = 3, 100  # of the watchdog, where one of the two is not configured


@dataclass(slots=True)
class Qos:
    """The profiles of a switch."""

    file: str
    tree: Branch
    roce: Located[int] | None = None  # the profile, where it is on
    _known: dict[tuple[str, ...], PortQos] = field(default_factory=dict)

    def of(self, port: Branch) -> PortQos:
        """The classes of a port; ports with the same profiles share one object."""
        untagged = any(port.at(family, "address").parts for family in FAMILIES)
        names = (*[port.at("qos", kind, "profile").word or EVERY for kind in KINDS], UNTAGGED * untagged)
        if names not in self._known:
            profiles = {kind: self.tree.at(kind, name) for kind, name in zip(KINDS, names, strict=False)}
            self._known[names] = self._classes(profiles, names)
        watchdog = switch(port.at("qos", "pfc-watchdog"), self.file)
        return replace(self._known[names], watchdog=watchdog) if watchdog else self._known[names]

    def _classes(self, profiles: Mapping[str, Branch], names: tuple[str, ...]) -> PortQos:
        port_qos, flow = PortQos(), profiles["pfc"]
        port_qos.priorities = self._priorities(profiles["mapping"])
        port_qos.pfc = self._pauses(flow)
        port_qos.cable_length_m = number(flow.at("cable-length"), self.file) or number(
            self.tree.at("roce", "cable-length"), self.file
        )
        classes = self._by_class(profiles["egress-queue-mapping"])
        paused = {parsed.value for parsed in port_qos.pfc}
        named = {traffic_class: _named(traffic_class, priorities, paused) for traffic_class, priorities in classes.items()}
        self._schedule(port_qos, profiles["egress-scheduler"], classes, named)
        self._marking(port_qos, profiles["congestion-control"], names[1] == EVERY, named)
        buffer, xoff = (number(flow.at(key), self.file) for key in ("port-buffer", "xoff-threshold"))
        if buffer and xoff:  # what is left of the buffer once PAUSE is sent
            port_qos.xoff_bytes = {priority: replace(xoff, value=buffer.value - xoff.value) for priority in sorted(paused)}
        port_qos.gaps = list(self._disabled(flow))
        port_qos.lossless = [self._lossless(port_qos, own, flow, classes) for own in port_qos.pfc]
        for chain in port_qos.lossless if names[-1] and not port_qos.priorities else ():
            chain.dscps = []  # by the VLAN tag alone, which packets of a routed port do not have
        return port_qos

    def _lossless(
        self, port_qos: PortQos, paused: Located[int], flow: Branch, classes: Mapping[int, list[int]]
    ) -> LosslessClass:
        """A switch priority leaves by the queue of its traffic class, and PAUSE stops that queue."""
        priority = paused.value
        queue = next((own for own, inside in classes.items() if priority in inside), priority)
        others = {parsed.value: parsed for parsed in port_qos.priorities.values() if parsed.value != priority}
        levels = [(name, number(flow.at(name), self.file)) for name in ("xon-threshold", "xoff-threshold", "port-buffer")]
        return LosslessClass(
            priority=paused,
            dscps=[code for code, own in port_qos.priorities.items() if own.value == priority]
            if port_qos.priorities
            else None,
            links=[paused.at(f"switch priority {priority}")],
            queues={queue: paused.at(queue)},
            beside=[
                parsed.at(f"switch priority {own}")
                for own, parsed in sorted(others.items())
                if own in classes.get(queue, ()) and own not in {one.value for one in port_qos.pfc}
            ],
            headroom=port_qos.xoff_bytes.get(priority),
            levels=[(name, level) for name, level in levels if level],
        )

    def _disabled(self, flow: Branch) -> Iterator[Located[str]]:
        """A profile with one direction alone; both are on unless stated, and both off is a port without PFC."""
        stated = {direction: truth(flow.at(direction), self.file) for direction in ("rx", "tx")}
        off = {direction: parsed for direction, parsed in stated.items() if parsed and not parsed.value}
        priorities = ", ".join(flow.at("switch-priority").parts) or str(PRIORITY)
        if len(off) == 1:
            for direction, parsed in off.items():
                yield parsed.at(f"PFC is configured for switch priority {priorities}, but its `{direction}` is off")

    def _priorities(self, mapping: Branch) -> dict[int, Located[int]]:
        """Eight DSCPs to a priority, with the exceptions of the profile; nothing where the port does not look at them."""
        if not (self.roce or mapping.line) or (mapping.at("trust").word or "both") not in ("both", "l3"):
            return {}
        line = self.roce.line if self.roce else mapping.line
        found = {code: Located(code // 8, line, self.file) for code in range(64)}
        for text, row in mapping.at("dscp").parts.items():
            priority = number(row.at("switch-priority"), self.file)
            for code in numbers(text) if priority else ():
                found[code] = priority or found[code]
        return found

    def _pauses(self, flow: Branch) -> list[Located[int]]:
        if any((parsed := truth(flow.at(direction), self.file)) and not parsed.value for direction in ("rx", "tx")):
            return []
        if not flow.at("switch-priority").parts:
            return [replace(self.roce, value=PRIORITY)] if self.roce else []
        found = flow.at("switch-priority").parts.items()
        return [Located(priority, part.line, self.file) for text, part in found for priority in numbers(text)]

    def _by_class(self, mapping: Branch) -> dict[int, list[int]]:
        """Traffic class → its switch priorities."""
        own = {priority: priority if self.roce and priority in (PRIORITY, CNP) else 0 for priority in range(8)}
        if not self.roce:
            own = {priority: priority for priority in range(8)}
        for text, row in mapping.at("switch-priority").parts.items():
            into = number(row.at("traffic-class"), self.file)
            own |= dict.fromkeys(numbers(text), into.value) if into else {}
        classes: dict[int, list[int]] = {}
        for priority, into_ in own.items():
            classes.setdefault(into_, []).append(priority)
        return classes

    def _schedule(
        self, port_qos: PortQos, profile: Branch, classes: Mapping[int, list[int]], named: Mapping[int, list[int]]
    ) -> None:
        strict: dict[int, Located[int]] = {CNP: self.roce} if self.roce else {}
        shares = {traffic_class: replace(self.roce, value=WEIGHT) for traffic_class in (0, PRIORITY)} if self.roce else {}
        for text, row in profile.at("traffic-class").parts.items():
            for traffic_class in numbers(text):
                strict.pop(traffic_class, None)
                if share := number(row.at("bw-percent"), self.file):
                    shares[traffic_class] = share
                if row.at("mode").word == "strict":
                    shares.pop(traffic_class, None)
                    strict[traffic_class] = Located(traffic_class, row.at("mode").value.line, self.file)
        for traffic_class, share in shares.items():
            port_qos.queues.setdefault(traffic_class, Queue(place=share.at(traffic_class))).share = share
        port_qos.weights = {
            priority: share for traffic_class, share in sorted(shares.items()) for priority in named.get(traffic_class, ())
        }
        port_qos.strict = [
            Located(priority, parsed.line, self.file)
            for traffic_class, parsed in sorted(strict.items())
            for priority in classes.get(traffic_class, ())
        ]

    def _marking(self, found: PortQos, profile: Branch, every: bool, named: Mapping[int, list[int]]) -> None:
        rows: dict[int, Ecn] = {}
        if every and self.roce:
            kmin, kmax, pmax = (replace(self.roce, value=value) for value in (KMIN, KMAX, PMAX))
            rows = {own: Ecn(kmin, kmax, pmax) for own in (0, PRIORITY)}
        for text, row in profile.at("traffic-class").parts.items():
            keys = ("min-threshold", "max-threshold", "probability")
            marks, early = (truth(row.at(key), self.file) for key in ("ecn", "red"))
            on = marks is None or marks.value
            for own in numbers(text):
                rows.pop(own, None)
                if on:
                    rows[own] = Ecn(*(_bytes(row.at(key), self.file) for key in keys))
                place = Located(own, row.line, self.file)
                queue = found.queues.setdefault(own, Queue(place=place))
                queue.place, queue.marks = place, place.at(on) if on or (early and early.value) else None
        for own, ecn in rows.items():
            place = (ecn.kmin_bytes or self.roce or Located(0, profile.line, self.file)).at(own)
            queue = found.queues.setdefault(own, Queue(place=place))
            queue.marks = queue.marks or place.at(True)
        found.ecn = {priority: ecn for own, ecn in sorted(rows.items()) for priority in named.get(own, ())}


def read_qos(facts: Facts, file: str, tree: Branch) -> None:
    """The classes of every physical port, where the switch has any; a port that is split is its parts."""
    own = tree.at("qos")
    if not own.line:
        return
    qos = Qos(file, own, _roce(own.at("roce"), file))
    for name, port in tree.at("interface").parts.items():
        if name.startswith("swp") and "." not in name and not _split(port):
            facts.interfaces[name].qos = qos.of(port)
    for profile, part in own.at("pfc").parts.items():
        if part.at("switch-priority").parts:
            facts.lossless = facts.lossless or Located(f"PFC profile {profile}", part.line, file)
    poll, polls = (number(own.at("pfc-watchdog", key), file) for key in ("polling-interval", "robustness"))
    if parsed := polls or poll:
        facts.watchdog_ms = replace(parsed, value=(poll.value if poll else POLL_MS) * (polls.value if polls else POLLS))


def _split(port: Branch) -> bool:
    """`4x`, or a port that is given up for its neighbor's parts; `1x` is a port as it comes."""
    return port.at("link", "breakout").word not in (None, "1x")


def _roce(branch: Branch, file: str) -> Located[int] | None:
    """`qos roce` alone switches it on, in the mode without loss."""
    if not branch.line or off(branch) or (branch.at("mode").word or "lossless").startswith("lossy"):
        return None
    on = switch(branch, file)
    return Located(PRIORITY, on.line if on else branch.line, file)


def _named(own: int, priorities: list[int], paused: set[int]) -> list[int]:
    """The priorities that stand for a traffic class: each that pauses, and one for all others."""
    others = [priority for priority in priorities if priority not in paused]
    rest = [own if own in others else min(others)] if others else []
    return sorted([priority for priority in priorities if priority in paused] + rest)


def _bytes(branch: Branch, file: str) -> Located[int] | None:
    """`150000`, `150KB`, `1.5 MB`."""
    match = re.fullmatch(r"(\d{1,12}(?:\.\d{1,6})?) ?(KB|MB|K|M|B)?", branch.word or "", re.IGNORECASE)
    if match is None:
        return None
    unit = {"": 1, "B": 1, "K": 1000, "M": 1_000_000}[(match[2] or "").upper()[:1]]
    return Located(round(float(match[1]) * unit), branch.value.line, file)
