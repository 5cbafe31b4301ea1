"""Draws a server from its own netplan file: addresses, routes and rules as networkd would set them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from fabric.lab.blueprint import PORT, SERVER, Interface, Node, Route, Rule
from fabric.lab.switch import mac

SYSCTLS = (
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv6.conf.default.dad_transmits", "0"),
    # As the RoCE script of every server has it: an address answers on its own port alone.
    ("net.ipv4.conf.all.arp_ignore", "1"),
    ("net.ipv4.conf.all.arp_announce", "2"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
)


def server(name: str, text: str) -> Node:
    """One server. Raises ValueError for a file that is no netplan."""
    try:
        network: Mapping[str, Any] = yaml.safe_load(text)["network"]
        parts: list[Mapping[str, Any]] = [network.get(key) or {} for key in ("ethernets", "bonds", "vlans")]
        drawn = _Drawing(name, *parts)
        interfaces = tuple(drawn.interfaces())
    except (yaml.YAMLError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"{name}: no netplan file: {error}") from None
    return Node(
        name=name,
        kind=SERVER,
        role=SERVER,
        interfaces=interfaces,
        sysctls=SYSCTLS,
        routes=tuple(drawn.routes),
        rules=tuple(drawn.rules),
        lacks=tuple(drawn.lacks),
    )


class _Drawing:
    def __init__(self, name: str, ethernets: Mapping[str, Any], bonds: Mapping[str, Any], vlans: Mapping[str, Any]) -> None:
        self.name, self.ethernets, self.vlans = name, ethernets, vlans
        self.bond_of = {member: (bond, own) for bond, own in bonds.items() for member in own["interfaces"]}
        self.first = {own["interfaces"][0] for own in bonds.values()}
        self.routes: list[Route] = []
        self.rules: list[Rule] = []
        self.lacks = [f"{bond}: only its first port is used; LACP is not emulated" for bond in bonds]

    def interfaces(self) -> Iterator[Interface]:
        for name, stated in self.ethernets.items():
            bond, settings = self.bond_of.get(name, (name, stated))
            alone = bond == name or name in self.first
            shut = stated.get("activation-mode") == "off"
            yield self._interface(name, settings if alone else {}, up=not shut)
            if not alone:
                continue
            for vlan, part in self.vlans.items():
                if part["link"] == bond:
                    yield self._interface(vlan, part, up=True, parent=name)

    def _interface(self, name: str, settings: Mapping[str, Any], up: bool, parent: str = "") -> Interface:
        for route in settings.get("routes", ()):
            table, metric = int(route.get("table", 0)), int(route.get("metric", 0))
            self.routes.append(Route(str(route["to"]), str(route["via"]), name, table, metric))
        for rule in settings.get("routing-policy", ()):
            self.rules.append(Rule(str(rule["from"]), int(rule["table"]), int(rule["priority"])))
        addresses = tuple(map(str, settings.get("addresses", ())))
        mtu = int(settings.get("mtu", 0))
        return Interface(name=name, kind=PORT, addresses=addresses, mtu=mtu, up=up, mac=mac(self.name, name), parent=parent)

    def slice(self, port: str, tag: int) -> str:
        """Name of the interface that has a tagged network of a port, "" for none."""
        bond = self.bond_of.get(port, (port, None))[0]
        if bond != port and port not in self.first:
            return ""  # the first port alone stands for a bond
        found = (name for name, part in self.vlans.items() if part["link"] == bond and int(part["id"]) == tag)
        return next(found, "")


def tagged(text: str, port: str, tag: int) -> str:
    """The interface of a server that a tagged network of a port is on, "" for none."""
    network = yaml.safe_load(text)["network"]
    drawn = _Drawing("", *(network.get(key) or {} for key in ("ethernets", "bonds", "vlans")))
    return drawn.slice(port, tag)
