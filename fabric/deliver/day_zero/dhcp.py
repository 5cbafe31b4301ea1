"""Configurations of Kea and dnsmasq: one address and one set of options per switch; other clients are not answered.

Both servers do the same with their own words. A switch has a class (a tag in dnsmasq), which its MAC address, serial number
or port sets, and a pool of one address. Its options depend on who asks: ONIE gets an image, the network OS its first files.

Sources: Kea Administrator Reference Manual 2.2, "Client Classification" and "Configuring Pools"; dnsmasq(8) 2.90. Client ids
are ignored, as ONIE and the network OS send different ones from one MAC address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from typing import Any

from fabric.base.formats import json_text
from fabric.base.grouping import grouped
from fabric.nos.day_zero import HOST_NAME, ONIE_SERIAL, ONIE_URL, ONIE_VENDOR, FirstBoot, Options, SerialIn, Value

ROUTERS, DNS, NTP, VENDOR_OPTIONS, VENDOR_CLASS, USER_CLASS = 3, 6, 42, 43, 60, 77
LEASE_S = 3600  # the least that every network OS takes
PLAIN = re.compile(rb"[A-Za-z0-9;#._-]+")
# No name of a switch begins with a line.
ONIE = "_onie"
LISTED = "_listed"  # class of all that the inventory lists, where others are known by their ports


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A switch as a DHCP server knows it. Exactly one of `mac`, `serials` and `circuit` is set."""

    name: str
    address: IPv4Address
    net: IPv4Network
    gateway: str
    dns: tuple[str, ...]
    ntp: tuple[str, ...]  # addresses
    options: Options  # for its network OS
    vendor: tuple[int, str] | None  # how the network OS is known, None: as what is not ONIE
    image_url: str = ""  # for ONIE
    mac: str = ""
    serials: tuple[tuple[SerialIn, str], ...] = ()
    circuit: bytes = b""


def serials(first_boot: FirstBoot | None, serial: str) -> tuple[tuple[SerialIn, str], ...]:
    """Where requests of a switch have its serial number; () where they have none in each stage."""
    if first_boot is None or first_boot.serial is None:
        return ()
    return tuple((place, serial) for place in (first_boot.serial, *((ONIE_SERIAL,) if first_boot.onie else ())))


def _subnets(clients: Sequence[Client]) -> dict[tuple[Any, ...], list[Client]]:
    return grouped(((client.net, client.gateway, client.dns, client.ntp), client) for client in clients)


# --- Kea ------------------------------------------------------------------------------------------------------

# Options that Kea does not define: https://kea.readthedocs.io/en/kea-2.2.0/arm/dhcp4-srv.html, standard DHCPv4 options.
KEA_DEFINITIONS = {150: ("tftp-server-address", "ipv4-address"), 239: ("provision-url", "string")}


def kea(clients: Sequence[Client]) -> str:
    """`kea-dhcp4.conf`."""
    ports = any(client.circuit for client in clients)
    known = [client for client in clients if not client.circuit]
    classes = [{"name": ONIE, "test": _begins(*ONIE_VENDOR)}]
    classes += [_kea_class(client) for client in known]
    if ports and known:
        classes.append({"name": LISTED, "test": " or ".join(f"member('{client.name}')" for client in known)})
    classes += [_kea_class(client, bool(known)) for client in clients if client.circuit]
    classes += [stage for client in clients for stage in _kea_stages(client)]
    used = {code for client in clients for code in client.options} & KEA_DEFINITIONS.keys()
    definitions = [
        {"name": KEA_DEFINITIONS[code][0], "code": code, "type": KEA_DEFINITIONS[code][1]} for code in sorted(used)
    ]
    server = {
        "interfaces-config": {"interfaces": ["*"]},
        "lease-database": {"type": "memfile"},
        "match-client-id": False,
        "valid-lifetime": LEASE_S,
        "option-def": definitions,
        "client-classes": classes,
        "subnet4": [_kea_subnet(at, *subnet) for at, subnet in enumerate(_subnets(clients).items(), 1)],
    }
    return json_text({"Dhcp4": server}) + "\n"


def _kea_subnet(at: int, shared: tuple[Any, ...], clients: Sequence[Client]) -> dict[str, Any]:
    net, gateway, dns, ntp = shared
    lists = {ROUTERS: (gateway,), DNS: dns, NTP: ntp}
    return {
        "id": at,
        "subnet": str(net),
        "option-data": [{"code": code, "data": ", ".join(values)} for code, values in lists.items() if any(values)],
        "pools": [{"pool": f"{one.address} - {one.address}", "client-class": one.name} for one in clients],
    }


def _kea_class(client: Client, is_listed: bool = False) -> dict[str, Any]:
    test = " or ".join(_kea_tests(client)) + (f" and not member('{LISTED}')" if is_listed else "")
    return {"name": client.name, "test": test, "option-data": [_kea_option(HOST_NAME, client.name)]}


def _kea_tests(client: Client) -> Iterator[str]:
    if client.mac:
        yield f"pkt4.mac == 0x{client.mac.replace(':', '')}"
    for place, serial in client.serials:
        value, option = place.before + serial.encode(), f"option[{place.option}].hex"
        yield f"{option if place.whole else f'substring({option}, -{len(value)}, all)'} == {_literal(value)}"
    if client.circuit:
        yield f"relay4[1].hex == {_literal(client.circuit)}"


def _literal(value: bytes) -> str:
    return f"'{value.decode()}'" if PLAIN.fullmatch(value) else f"0x{value.hex()}"


def _begins(option: int, text: str) -> str:
    """A user class may have its length in front (RFC 3004)."""
    starts = (0, 1) if option == USER_CLASS else (0,)
    tests = " or ".join(f"substring(option[{option}].hex, {at}, {len(text)}) == '{text}'" for at in starts)
    return f"({tests})" if len(starts) > 1 else tests


def _kea_stages(client: Client) -> Iterator[dict[str, Any]]:
    """What ONIE gets, and what the network OS gets. The blank keeps their names apart from those of switches."""
    if client.image_url:
        data = [_kea_option(ONIE_URL, client.image_url)]
        yield {"name": f"{client.name} image", "test": f"member('{client.name}') and member('{ONIE}')", "option-data": data}
    if data := [_kea_option(code, value) for code, value in client.options.items() if code != HOST_NAME]:
        asks = _begins(*client.vendor) if client.vendor else f"not member('{ONIE}')"
        stage: dict[str, Any] = {"name": f"{client.name} files", "test": f"member('{client.name}') and {asks}"}
        if VENDOR_OPTIONS in client.options:  # Kea would take suboption 0 for padding
            stage["option-def"] = [{"name": "vendor-encapsulated-options", "code": VENDOR_OPTIONS, "type": "binary"}]
        yield stage | {"option-data": data}


def _kea_option(code: int, value: Value) -> dict[str, Any]:
    """Text as it is, since names and URLs have no comma, quote or backslash; bytes in hexadecimal digits."""
    if isinstance(value, bytes):
        return {"code": code, "csv-format": False, "data": value.hex()}
    return {"code": code, "data": str(value)}


# --- dnsmasq --------------------------------------------------------------------------------------------------

DNSMASQ_HEAD = """\
# Site {site}: DHCP for the first start of its switches. No DNS; other clients are not answered.
port=0
no-ping
dhcp-ignore-clid
dhcp-vendorclass=set:{tag},{onie}
"""


def dnsmasq(site: str, clients: Sequence[Client]) -> str:
    """`dnsmasq.conf`."""
    lines = [DNSMASQ_HEAD.format(site=site, tag=ONIE, onie=ONIE_VENDOR[1]).rstrip("\n")]
    lines += [_asks(*vendor) for vendor in sorted({client.vendor for client in clients if client.vendor})]
    is_mixed = len({bool(client.circuit) for client in clients}) > 1
    for client in clients:
        lines += ["", f"# {client.name}", *_tags(client, is_mixed)]
        tag = f"tag:{client.name}" + (f",tag:!{LISTED}" if client.circuit and is_mixed else "")
        lines.append(f"dhcp-range={tag},{client.address},{client.address},{client.net.netmask},{LEASE_S}")
        shared = {ROUTERS: (client.gateway,), DNS: client.dns, NTP: client.ntp}
        lines += [f"dhcp-option={tag},{code},{','.join(values)}" for code, values in shared.items() if any(values)]
        lines.append(f"dhcp-option={tag},{HOST_NAME},{client.name}")
        if client.image_url:
            lines.append(f"dhcp-option={tag},tag:{ONIE},{ONIE_URL},{client.image_url}")
        asks = f"tag:{_vendor_tag(client.vendor[1])}" if client.vendor else f"tag:!{ONIE}"
        lines += [
            f"dhcp-option={tag},{asks},{code},{_option(value)}" for code, value in client.options.items() if code != HOST_NAME
        ]
    return "\n".join(lines) + "\n"


def _vendor_tag(text: str) -> str:
    return f"_{text}"


def _asks(option: int, text: str) -> str:
    """The tag of a network OS, by its vendor class (60) or user class (77)."""
    return f"dhcp-{'vendorclass' if option == VENDOR_CLASS else 'userclass'}=set:{_vendor_tag(text)},{text}"


def _tags(client: Client, is_mixed: bool) -> Iterator[str]:
    """What sets the tag of a switch, and where there are both kinds that of all that the inventory lists."""
    for tag in (client.name, LISTED) if is_mixed and not client.circuit else (client.name,):
        if client.mac:
            yield f"dhcp-mac=set:{tag},{client.mac}"
        for place, serial in client.serials:
            value = place.before + serial.encode()
            if place.option == VENDOR_CLASS:
                yield f"dhcp-vendorclass=set:{tag},{value.decode()}"
            else:
                yield f"dhcp-match=set:{tag},{place.option},{_bytes(value) if place.whole else value.decode()}"
        if client.circuit:
            yield f"dhcp-circuitid=set:{tag},{_bytes(client.circuit)}"


def _option(value: Value) -> str:
    """Text is a name, which dnsmasq knows of options 12 and 66, or a URL."""
    return _bytes(value) if isinstance(value, bytes) else str(value)


def _bytes(value: bytes) -> str:
    return value.hex(":")
