"""The pending and the applied configuration of an NVUE switch: what it does with the files of `nv config patch`.

It reads files and their comments with its own code and shares nothing with what writes them. FACTS is what it takes for true,
as the table of `docs/targets/cumulus.md`.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Sequence
from typing import Any

import yaml

LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
RANGE = re.compile(r"([a-z_]*)(\d+)-(\d+)")
RANGED = {
    "interface",
    "member",
    "vlan",
    "neighbor",
    "switch-priority",
    "traffic-class",
    "dscp",
}  # keys below are names or numbers
NAMES = {"prefix-list", "ip-prefix-list", "ipv6-prefix-list", "route-map"}


GUIDE = "`docs` cumulus-linux-516 NVUE-CLI.md@059529c5"
FACTS = (  # (what the model does, source; "" for none)
    ("`nv config patch` sets and unsets in the pending configuration, `nv config apply` applies it", GUIDE),
    ("a patch is one request: no order, and not `set` and `unset` for one object", f"{GUIDE}; supported in a later release"),
    ("an object is any branch that both have in common", ""),
    ("`set` merges a tree, a value takes the place of another one, a list adds", ""),
    ("what is unset ends in a key without a value", f"{GUIDE}, `nv config diff`"),
    ("`unset` of what is not there is refused", ""),
    (
        "a key may be a range: `swp1-2,5-6`, `10-12,20`",
        "`docs` cumulus-linux-59 NVUE-CLI.md@0bbf81aa, help of `nv set interface`",
    ),
    ("a switch keeps single names: one of a range can be unset alone", f"{GUIDE}, `nv config show --expand`"),
    (
        "the ports of a cage are unset, and that applied, before its breakout changes",
        '`docs` Switch-Port-Attributes, "Remove a Breakout Port"',
    ),
    (
        "`on` is a word, `44:38:39:00:00:01` an address, `10` a name: no YAML 1.1",
        "`docs` nvue-reference/Config-Commands.md@0defdbf3",
    ),
    ("at the apply: VRF of an interface, peer group, prefix list and route map are there", ""),
    ("at the apply: a VNI belongs to one VLAN", "NVUE VXLAN.md@29dcbba1"),
)


class Refused(Exception):
    """What NVUE answers."""


class Switch:
    """A switch with an applied configuration."""

    def __init__(self, text: str) -> None:
        self.applied = self.pending = _tree(text, "set")

    def run(self, lines: Sequence[str]) -> Switch:
        """Takes the files as their comments say, the only one with an apply after it. Raises Refused."""
        for comment, text in _files(lines):
            self._patch(text)
            if "nv config apply" in comment or not comment:
                self._apply()
        if self.pending != self.applied:
            raise Refused("the last file is not applied")
        return self

    def _patch(self, text: str) -> None:
        document = yaml.load(text, LOADER)
        if not isinstance(document, list) or any(set(part) - {"set", "unset"} for part in document):
            raise Refused("neither `set` nor `unset`")
        gone, fresh = (_tree(text, word) for word in ("unset", "set"))
        if set(gone) & set(fresh):
            raise Refused(f"one patch sets and unsets {sorted(set(gone) & set(fresh))}")
        self.pending = copy.deepcopy(self.pending)
        _unset(self.pending, gone, ())
        _merge(self.pending, fresh)

    def _apply(self) -> None:
        for cage, settings in self.applied.get("interface", {}).items():
            after = self.pending.get("interface", {}).get(cage) or {}
            split = (settings or {}).get("link", {}).get("breakout")
            if split and split != after.get("link", {}).get("breakout"):
                left = [name for name in self.applied["interface"] if re.fullmatch(rf"{cage}s\d+", name)]
                if left:
                    raise Refused(f"{cage} has ports {left}")
        if wrong := list(contradictions(self.pending)):
            raise Refused("; ".join(wrong))
        self.applied = self.pending


def _files(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(the comment before it, text) of each file."""
    comment, rows = "", list[str]()
    for line in lines:
        if line.startswith("# file "):
            if rows:
                yield comment, "\n".join(rows)
            comment, rows = line, []
        else:
            rows.append(line)
    if rows:
        yield comment, "\n".join(rows)


def _tree(text: str, word: str) -> Any:
    """What a file sets or unsets, every scalar as text and every range as its names."""
    document = yaml.load(text, LOADER)
    found: dict[str, Any] = {}
    for part in document if isinstance(document, list) else [document]:
        _merge(found, _single(part.get(word) or {}, ""))
    return found


def _single(tree: dict[str, Any], above: str) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in tree.items():
        for name in _names(key) if above in RANGED else [key]:
            _merge(out, {name: _single(value, name) if isinstance(value, dict) else value})
    return out


def _names(key: str) -> list[str]:
    names, stem = [], ""
    for part in key.split(","):
        match = RANGE.fullmatch(part)
        if match:
            stem = match[1] or stem
            names += [f"{stem}{number}" for number in range(int(match[2]), int(match[3]) + 1)]
        else:
            names.append(stem + part if part.isdecimal() else part)
            stem = part.rstrip("0123456789")
    return names


def _unset(tree: Any, gone: dict[str, Any], path: tuple[str, ...]) -> None:
    for key, below in gone.items():
        if not isinstance(tree, dict) or key not in tree:
            raise Refused(f"not there: {' '.join((*path, key))}")
        if isinstance(below, dict):
            if not below:
                raise Refused(f"{key}: what is unset has no value")
            _unset(tree[key], below, (*path, key))
        elif below in ("", "null", "~"):
            del tree[key]
        else:
            raise Refused(f"{key}: what is unset has no value")


def _merge(tree: dict[str, Any], fresh: dict[str, Any]) -> None:
    for key, value in fresh.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            _merge(tree[key], value)
        elif isinstance(value, list) and isinstance(tree.get(key), list):
            tree[key] = [*tree[key], *(item for item in value if item not in tree[key])]
        else:
            tree[key] = copy.deepcopy(value)


# --- at the apply ----------------------------------------------------------------------------------------------


def contradictions(tree: dict[str, Any]) -> Iterator[str]:
    """What an apply refuses."""
    vrfs = {*tree.get("vrf", {}), "default", "mgmt"}
    for name, settings in tree.get("interface", {}).items():
        vrf = (settings or {}).get("vrf") or (settings or {}).get("ip", {}).get("vrf")
        if isinstance(vrf, str) and vrf not in vrfs:
            yield f"{name}: no VRF {vrf}"
    owners: dict[str, str] = {}
    for domain in tree.get("bridge", {}).get("domain", {}).values():
        for vlan, settings in (domain or {}).get("vlan", {}).items():
            for vni in (settings or {}).get("vni", {}) if isinstance(settings, dict) else ():
                if owners.setdefault(vni, vlan) != vlan:
                    yield f"VNI {vni} of the VLANs {owners[vni]} and {vlan}"
    yield from _undefined(tree)


def _undefined(tree: dict[str, Any]) -> Iterator[str]:
    policy = tree.get("router", {}).get("policy", {})
    defined = {kind: set(policy.get(kind, {})) for kind in ("prefix-list", "route-map")}
    for path, value in _leaves(tree, ()):
        kind = {"ip-prefix-list": "prefix-list", "ipv6-prefix-list": "prefix-list"}.get(path[-1], path[-1])
        if path[-1] in NAMES and isinstance(value, str) and value not in defined[kind]:
            yield f"{' '.join(path)}: no {kind} {value}"
        if path[-1] == "peer-group" and path[0] == "vrf" and isinstance(value, str):
            groups = tree["vrf"][path[1]].get("router", {}).get("bgp", {}).get("peer-group", {})
            yield from () if value in groups else (f"{' '.join(path)}: no peer group {value}",)


def _leaves(tree: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value
