"""The pending and the applied configuration of an NVUE switch: what it does with the files of `nv config patch`.

It reads files and their comments with its own code and shares nothing with what writes them. Facts, with their sources (the
pages of CumulusNetworks/docs, below `content/`):

* `nv config patch` runs what a file sets and unsets on the pending configuration, `nv config apply` makes it the applied one
  (cumulus-linux-516 NVUE-CLI.md@059529c5, "Replace and Patch a Pending Configuration");
* a patch is one request without an order, and does not take both for one object (the same). What an object is, is not stated:
  the model takes any branch for one;
* `set` merges a tree into what is there, a value takes the place of another one; `unset` takes out the branch that a key
  without a value ends (the same, "View Differences Between Configurations");
* a key may be a range, `swp1-2,5-6` (cumulus-linux-59 NVUE-CLI.md@0bbf81aa, `nv set interface -h`); a switch keeps single
  names (`nv config show --expand`). That a range whose members differ can be unset by one of them has no source but that;
* unset of what is not there: no source. The model refuses it;
* the ports of a broken out cage are unset and that is applied before the breakout changes
  (System-Configuration/Switch-Port-Attributes, "Remove a Breakout Port");
* text is not read as YAML 1.1: `on` is a word and `44:38:39:00:00:01` an address (nvue-reference/Config-Commands.md@0defdbf3
  prints `enable: on`);
* names that are referred to are there when a configuration is applied: VRF, peer group, prefix list and route map, and a VNI
  belongs to one VLAN (nvue-reference/Set-and-Unset-Commands, BGP.md@054739e8, VXLAN.md@29dcbba1; that the apply refuses the
  rest has no source).
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
