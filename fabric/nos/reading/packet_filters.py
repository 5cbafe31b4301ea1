"""Packet filters as lists of rules: what each matches of addresses, protocol and ports, and what it does with it.

A condition that is not understood makes a rule narrower than what is kept of it; `narrowed` says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_network
from itertools import product

from fabric.model.facts import Facts, FilterRule, Located, PacketFilter, PortRange
from fabric.nos.reading.values import integer

EVERY = (0, 65535)
ANY = ("any", "any4", "any-ipv4", "0.0.0.0/0", "")
NUMBERS = {"1": "icmp", "6": "tcp", "17": "udp", "255": "", "ip": "", "ipv4": "", "any": ""}  # of IANA; of lists: any
PORTS = {  # names of the services that fabrics run, as network OSes write them
    "bgp": 179,
    "ssh": 22,
    "bfd": 3784,
    "bfd-echo": 3785,
    "multihop-bfd": 4784,
    "vxlan": 4789,
    "snmp": 161,
    "snmptrap": 162,
    "ntp": 123,
    "tacacs": 49,
    "domain": 53,
    "www": 80,
    "http": 80,
    "https": 443,
    "telnet": 23,
    "tftp": 69,
    "bootps": 67,
    "bootpc": 68,
    "syslog": 514,
}
HARMLESS = frozenset({"log", "counter", "count", "per-entry"})  # words behind a rule that ask for nothing
RULE = re.compile(r"(?:(?:seq )?\d+ )?(permit|deny)\s+(.+)")


def protocol(text: str) -> str:
    """`17` → "udp"; "" for any."""
    return NUMBERS.get(text.lower(), text.lower())


def port_range(text: str) -> PortRange | None:
    """`179`, `bgp`, `1000-2000`, `1000:2000` → its ends; None for a name that is not known."""
    low, _, high = text.replace(":", "-").partition("-")
    if text.lower() in PORTS:
        return PORTS[text.lower()], PORTS[text.lower()]
    first, last = integer(low), integer(high or low)
    return (first, last) if first is not None and last is not None else None


def network(text: str) -> str | None:
    """An address or prefix in its usual form, "" for any; None for what is neither."""
    if text.lower() in ANY:
        return ""
    try:
        return str(ip_network(text, strict=False))
    except ValueError:
        return None


@dataclass(slots=True, kw_only=True)
class Conditions:
    """What one rule of a tree asks for, as it is written; an empty list is any."""

    permits: bool
    protocols: Sequence[str] = ()
    sources: Sequence[str] = ()
    targets: Sequence[str] = ()
    source_ports: Sequence[str] = ()
    target_ports: Sequence[str] = ()
    narrowed: bool = False

    def rules(self) -> Iterator[FilterRule]:
        """One rule for each protocol, source and destination."""
        sources, targets = ([network(text) for text in texts or ("",)] for texts in (self.sources, self.targets))
        ports = [[port_range(text) for text in texts] for texts in (self.source_ports, self.target_ports)]
        unknown = None in sources or None in targets or any(None in found for found in ports)
        for kind, source, target in product(self.protocols or ("",), sources, targets):
            yield FilterRule(
                permits=self.permits,
                protocol=protocol(kind),
                source=source or "",
                target=target or "",
                source_ports=tuple(one for one in ports[0] if one),
                target_ports=tuple(one for one in ports[1] if one),
                narrowed=self.narrowed or unknown,
            )


def keep_rule(facts: Facts, name: str, entry: Located[FilterRule], *, permits_rest: bool = False) -> None:
    """Adds a rule behind those of a filter; `permits_rest`: what no rule matches passes."""
    facts.packet_filters.setdefault(name, PacketFilter(permits_rest=permits_rest)).rules.append(entry)


# --- `10 permit udp any host 10.0.0.1 eq 4791` ----------------------------------------------------------------


@dataclass(slots=True)
class _Words:
    """The words of a rule that are left, and whether some were not understood."""

    words: list[str]
    narrowed: bool = False

    def next(self) -> str:
        return self.words.pop(0) if self.words else ""

    def side(self) -> tuple[str, tuple[PortRange, ...]]:
        """(network, ports) of the source or the destination."""
        word = self.next()
        if word == "host":
            word = self.next()
        elif self.words and _is_address(word) and _is_address(self.words[0]):
            word = _with_wildcard(word, self.next())
        elif word in ("addrgroup", "object-group"):
            self.next()
        found = network(word)
        self.narrowed |= found is None
        return found or "", self._ports()

    def _ports(self) -> tuple[PortRange, ...]:
        operator = self.words[0] if self.words else ""
        if operator not in ("eq", "range", "gt", "lt", "neq", "portgroup"):
            return ()
        self.next()
        found: list[PortRange | None] = []
        if operator == "eq":
            found = [port_range(self.next())]
            while self.words and (more := port_range(self.words[0])):
                found.append(more)
                self.next()
        elif operator == "range":
            first, last = port_range(self.next()), port_range(self.next())
            found = [(first[0], last[1]) if first and last else None]
        else:
            bound = port_range(self.next())
            found = list(_beside(operator, bound[0])) if bound else [None]
        self.narrowed |= None in found
        return tuple(one for one in found if one is not None)


def _beside(operator: str, port: int) -> Iterator[PortRange]:
    if operator in ("lt", "neq"):
        yield 0, port - 1
    if operator in ("gt", "neq"):
        yield port + 1, EVERY[1]


def _is_address(text: str) -> bool:
    return bool(re.fullmatch(r"\d{1,3}(?:\.\d{1,3}){3}", text))


def _with_wildcard(address: str, wildcard: str) -> str:
    """`10.0.0.0 0.0.0.255` → `10.0.0.0/24`; not understood where the wildcard has gaps."""
    bits = int(IPv4Address(wildcard)) if network(wildcard) is not None else 1 << 32
    length = 32 - bits.bit_length()
    return f"{address}/{length}" if length >= 0 and bits == (1 << (32 - length)) - 1 else "?"


def access_rule(text: str) -> FilterRule | None:
    """A line of an `ip access-list`; None for a remark and the like. One of a standard list has a source alone."""
    match = RULE.fullmatch(text.strip())
    if match is None:
        return None
    words = _Words(match[2].split())
    first = words.words[0].lower()
    standard = first in ("any", "host") or "/" in first or _is_address(first)
    kind = "" if standard else protocol(words.next())
    source, source_ports = words.side()
    target, target_ports = ("", ()) if standard else words.side()
    return FilterRule(
        permits=match[1] == "permit",
        protocol=kind,
        source=source,
        target=target,
        source_ports=source_ports,
        target_ports=target_ports,
        narrowed=words.narrowed or not HARMLESS.issuperset(words.words),
    )


def read_access_list(facts: Facts, name: str, lines: Iterable[tuple[str, int]], file: str) -> None:
    """The lines of a section, by their numbers: some network OSes sort them by their sequence numbers themselves."""
    facts.packet_filters.setdefault(name, PacketFilter())
    for text, line in sorted(lines, key=lambda row: _sequence(row[0])):
        rule = access_rule(text)
        if rule is not None:
            keep_rule(facts, name, Located(rule, line, file))


def _sequence(text: str) -> int:
    head = text.split(" ", 1)[0]
    return int(head) if head.isdecimal() else -1
