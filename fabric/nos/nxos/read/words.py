"""Words of NX-OS: short forms of commands, names of interfaces and of VRFs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, TypeVar

from fabric.model.facts import MANAGEMENT
from fabric.nos.reading import each_name, rules

S = TypeVar("S")
HEADS = rules.heads_of(__file__)
KINDS = ("Ethernet", "port-channel", "loopback", "Vlan", "mgmt", "nve", "Tunnel", "fc", "sup-eth", "Bdi")
NAME = re.compile(r"([A-Za-z-]+?)(\d[\d/.]*)")


class Rules(rules.Rules[S]):
    """A table of NX-OS lines, in which `int`, `desc`, `no shut` and `ip addr` are written in full."""

    short: ClassVar[Mapping[str, str]] = {
        "int": "interface",
        "desc": "description",
        "shut": "shutdown",
        "sw": "switchport",
        "add": "address",
        "addr": "address",
    }


def port_name(text: str) -> str:
    """`e1/1`, `eth 1/1` and `ethernet1/1` are `Ethernet1/1`."""
    match = NAME.fullmatch(text.replace(" ", ""))
    if match is None:
        return text
    kind = next((kind for kind in KINDS if kind.lower().startswith(match[1].lower())), match[1])
    return kind + match[2]


def port_names(text: str) -> list[str]:
    """`Ethernet1/1-4, Ethernet1/9` → five names."""
    return [port_name(name) for name in each_name(text) if name]


def vrf_name(text: str) -> str:
    """`default` is the table without a name."""
    return "" if text == "default" else MANAGEMENT if text == "management" else text
