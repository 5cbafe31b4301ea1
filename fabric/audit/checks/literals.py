"""Addresses that stand in a file and that the plan knows nothing of: the last net under all readers.

A filter, a prefix list, a comment even: whatever line an address is on, it must be one that the switch's view has, or the
network of one. So an address that was mistyped is found although nothing reads its line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import lru_cache
from ipaddress import ip_address, ip_interface

from fabric.hardware.catalog.models import SwitchModel
from fabric.model.facts import Located
from fabric.model.plan import Device, SwitchView

IPV4 = re.compile(r"(?<![\w.:-])(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?(?![\w.])")
IPV6 = re.compile(r"(?<![\w:.])(?=[0-9a-fA-F]*:[0-9a-fA-F:]*:)[0-9a-fA-F:]{3,39}(?:/\d{1,3})?(?![\w:.])")
ANY = ("0.", "127.", "224.", "255.", "169.254.")  # every address, loopback, multicast, masks, link-local


def unknown_addresses(view: SwitchView, files: Mapping[str, str]) -> Iterator[Located[str]]:
    """Every address of the files that is none of the view's, with its line."""
    known = known_addresses(view)
    for file, text in files.items():
        for pattern in (IPV4, IPV6):
            if pattern is IPV6 and view.underlay.family != "ipv6" and view.loopback6 is None:
                continue
            for match in pattern.finditer(text):
                own = match[0]
                if own not in known and own.partition("/")[0] not in known and not _general(own):
                    yield Located(own, text.count("\n", 0, match.start()) + 1, file)


def _general(text: str) -> bool:
    if text.startswith(ANY):
        return True
    try:
        ip = ip_address(text.partition("/")[0])
    except ValueError:
        return True  # 10.300.1.1 is a version, a serial number, anything
    return ip.is_link_local or ip.is_multicast or ip.is_unspecified or (ip.version == 6 and ":" in text and len(text) < 6)


def known_addresses(view: SwitchView) -> set[str]:
    """Every address in the view, without its length, and the networks and far ends that follow from one."""
    found: set[str] = set()
    for port in view.ports:
        for address, far in ((port.address, port.peer_address), *((s.address, s.peer_address) for s in port.subinterfaces)):
            if address:
                _add(found, address)
            if far:
                found.add(far)
    for own in fields(view):
        if own.name not in ("ports", "sessions"):  # sessions stand on the ports
            for text in _strings(getattr(view, own.name)):
                for match in (*IPV4.finditer(text), *(IPV6.finditer(text) if ":" in text else ())):
                    _add(found, match[0])
    return found


def _add(found: set[str], text: str) -> None:
    without_prefix_length, _, length = text.partition("/")
    found.add(without_prefix_length)
    if length and length not in ("32", "128"):
        found.update(_network(text))


@lru_cache(maxsize=65536)
def _network(text: str) -> tuple[str, ...]:
    """The network's own address, and both ends of a point-to-point one."""
    try:
        net = ip_interface(text).network
    except ValueError:
        return ()
    return (str(net[0]), str(net[1])) if net.num_addresses == 2 else (str(net.network_address),)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        if "." in value or ":" in value:
            yield value
    elif isinstance(value, tuple):
        for item in value:
            yield from _strings(item)
    elif is_dataclass(value) and not isinstance(value, (SwitchModel, Device)):
        for part in fields(value):
            yield from _strings(getattr(value, part.name))
