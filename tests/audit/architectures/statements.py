"""Statements of NVUE by what they do: names, numbers and addresses that a site chooses are replaced by what they stand for.

A port is "port to KIND SPEED", a bond "bond to KIND SPEED"; statements of one form are counted. So two configs that do the
same with other ports, names and addresses have the same forms.
"""

from __future__ import annotations

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from ipaddress import ip_interface
from pathlib import Path
from typing import Any

from fabric.nos.cumulus.statements import SYNTAX, nvue_tree
from tests.audit.architectures.links import kind_of

FILE = "startup.yaml"
UNUSED = "unused port"
MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}")
RD = re.compile(r"[\d.]+:\d+")
LISTS = {"prefix-list", "route-map", "community-list", "ip-prefix-list"}  # followed by a name that the site chooses
NUMBERS = {"autonomous-system", "remote-as", "local-id"}
TEXTS = {"description", "hostname", "pre-login", "post-login", "secret", "hashed-password"}

Roles = Mapping[str, str]  # name of an interface, address of a neighbor → what it stands for
Forms = Counter[str]


def forms(text: str, peers: Roles) -> Forms:
    """The statements of a config by form.

    Args:
        text: of NVUE.
        peers: cabled port, or address of a neighbor → kind of device at the other end.
    """
    roles = _roles(nvue_tree(text), peers)
    return Counter(" ".join(_words(path[1:], roles)) for path in SYNTAX.read({FILE: text}))


def _roles(tree: Mapping[str, Any], peers: Roles) -> dict[str, str]:
    """What every interface stands for: ports by their cable, cages by their ports, bonds by their members."""
    roles = {name: f"port to {peer}" for name, peer in peers.items()}
    ports = tree["interface"]
    for name in ports:
        if re.fullmatch(r"swp\d+s\d+", name):
            roles.setdefault(name, UNUSED)
    for name, settings in ports.items():
        if members := (settings.get("bond") or {}).get("member"):
            of = {roles.get(member, UNUSED) for member in members}
            roles[name] = " and ".join(sorted(role.replace("port", "bond", 1) for role in of))
    inside: dict[str, set[str]] = defaultdict(set)
    for name, role in roles.items():
        if match := re.fullmatch(r"(swp\d+)s\d+", name):
            inside[match[1]].add(role)
    for name in ports:
        if (sub := re.fullmatch(r"(swp\w+)\.\d+", name)) and sub[1] in roles:
            roles[name] = f"sub{roles[sub[1]]}"
        if re.fullmatch(r"swp\d+", name) and name not in roles:
            used = sorted(role.removeprefix("port to ") for role in inside[name] - {UNUSED})
            roles[name] = f"cage of {', '.join(used)}" if used else "unused cage"
    return roles


def _words(path: tuple[str, ...], roles: Roles) -> Iterator[str]:
    before = ""
    for word in path:
        yield _word(word, before, roles)
        before = word


def _word(word: str, before: str, roles: Roles) -> str:
    if word in roles:
        return f"<{roles[word]}>"
    if before in TEXTS:
        return "<text>"
    if (before in LISTS and word not in ("rule",)) or (before in NUMBERS and word.isdigit()):
        return f"<{'list' if before in LISTS else 'number'}>"
    if MAC.fullmatch(word):
        return "<MAC>"
    if RD.fullmatch(word):
        return "<number>"
    return _address(word)


def _address(word: str) -> str:
    try:
        net = ip_interface(word)
    except ValueError:
        return word
    if word in ("0.0.0.0/0", "::/0"):
        return word
    return f"<address>/{net.network.prefixlen}" if "/" in word else "<address>"


def planned_peers(folder: Path, device: str) -> dict[str, str]:
    """Port of a planned switch, or address of its neighbor → kind of device at the other end."""
    peers = {}
    with (folder / "links.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for own, far in (("a", "b"), ("b", "a")):
                if row[own] == device and row[f"{own}_port_name"] != "eth0":
                    peers[row[f"{own}_port_name"]] = f"{kind_of(row[far])} {row['speed_gbps']}G"
    with (folder / "sessions.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["device"] == device and row["peer_address"]:
                peers[row["peer_address"].partition("/")[0]] = row["peer"]
    return peers
