"""Reads back what the files of a server say, from their text alone: nothing here knows how they were made.

A file of a host may be truncated or edited: a file that cannot be read is `Damaged`, and no other error occurs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from fabric.base.grouping import grouped
from fabric.nos.reading import Branch, integer, read_yaml

CALLS = ("run ", "try ", "put ")  # functions of roce.sh that change something


class Damaged(ValueError):
    """A file, or a line of it, that says nothing to its reader."""

    def __init__(self, why: str, line: int) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True)
class Addressing:
    """An interface in a netplan file; a member of a bond has the bond's."""

    mtu: int | None
    addresses: tuple[str, ...]
    gateways: tuple[str, ...]  # of all its routes, each once
    rules: tuple[str, ...]  # sources that have a table of their own


@dataclass
class Classes:
    """What a tool sets on an interface."""

    dscp: dict[int, int] = field(default_factory=dict)  # → priority
    pfc: set[int] | None = None
    traffic_class: dict[int, int] = field(default_factory=dict)  # of a priority
    percent: dict[int, int] = field(default_factory=dict)  # ETS weight of a traffic class
    strict: set[int] = field(default_factory=set)


@dataclass
class Script:
    """What roce.sh does to one interface. `tools` are alternatives, so each must be right by itself."""

    mtu: int | None = None
    tools: dict[str, Classes] = field(default_factory=dict)
    knobs: dict[str, str] = field(default_factory=dict)  # file of the kernel → value


def read_netplan(text: str) -> dict[str, Addressing]:
    """Interface → its addresses. Raises Damaged."""
    tree, broken = read_yaml(text)
    if broken:
        raise Damaged(*broken[0])
    network = tree.at("network")
    if not network.parts:
        raise Damaged("expected addresses under `network`, got none", 1)
    addressing = {name: _addressing(row) for name, row in network.at("ethernets").parts.items()}
    for name, row in network.at("bonds").parts.items():
        addressing[name] = _addressing(row)
        addressing |= dict.fromkeys(row.at("interfaces").parts, addressing[name])
    for name, row in network.at("vlans").parts.items():
        addressing[name] = _addressing(row)
    return addressing


def _addressing(row: Branch) -> Addressing:
    mtu = row.at("mtu")
    if mtu.word is not None and integer(mtu.word) is None:
        raise Damaged(f"mtu: expected a number, got {mtu.word}", mtu.line)
    return Addressing(
        mtu=integer(mtu.word),
        addresses=tuple(row.at("addresses").parts),
        gateways=tuple(row.at("routes", "via").parts),
        rules=tuple(row.at("routing-policy", "from").parts),
    )


@lru_cache(maxsize=64)  # a group of servers has one script
def read_script(text: str) -> dict[str, Script]:
    """Interface → what is done to it: the loops over interfaces, and the calls in them. Raises Damaged."""
    scripts: dict[str, Script] = {}
    for names, calls in _loops(text):
        for name in names:
            script = scripts.setdefault(name, Script())
            for number, line in calls:
                try:
                    _apply(script, shlex.split(line, comments=True))
                except (LookupError, ValueError):
                    raise Damaged(f"not understood: {line[:100]}", number) from None
    return scripts


def _loops(text: str) -> Iterator[tuple[list[str], list[tuple[int, str]]]]:
    """(words, calls with their lines) of every outer `for nic in …`."""
    names: list[str] | None = None
    calls: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if match := re.fullmatch(r"for nic in (.*); do", line):
            names, calls = match[1].split(), []
        elif line == "done" and names is not None:
            yield names, calls
            names = None
        elif names is not None and line.lstrip().startswith(CALLS):
            calls.append((number, line.strip()))


def _apply(script: Script, words: list[str]) -> None:
    match words:
        case ["run" | "try", "ip", "link", "set", "dev", "$nic", "mtu", mtu]:
            script.mtu = int(mtu)
        case ["run" | "try", "dcb", "app", _, "dev", "$nic", "dscp-prio", *pairs]:
            _tool(script, "dcb").dscp.update(_pairs(pairs))
        case ["run" | "try", "dcb", "pfc", "set", "dev", "$nic", "prio-pfc", *pairs]:
            _tool(script, "dcb").pfc = _switched_on(pairs)
        case ["run" | "try", "dcb", "ets", "set", "dev", "$nic", *rest]:
            _apply_ets(_tool(script, "dcb"), rest)
        case ["run" | "try", "mlnx_qos", "-i", "$nic", *rest]:
            _apply_mlnx(_tool(script, "mlnx_qos"), rest)
        case ["put", value, path]:
            script.knobs[path] = value


def _tool(script: Script, name: str) -> Classes:
    return script.tools.setdefault(name, Classes())


def _all_first(pairs: list[str]) -> dict[int, str]:
    """`all:off 3:on` → every number."""
    found: dict[int, str] = {}
    for pair in pairs:
        key, _, value = pair.partition(":")
        found |= dict.fromkeys(range(8), value) if key == "all" else {int(key): value}
    return found


def _pairs(pairs: list[str]) -> dict[int, int]:
    return {key: int(value) for key, value in _all_first(pairs).items()}


def _switched_on(pairs: list[str]) -> set[int]:
    return {key for key, value in _all_first(pairs).items() if value == "on"}


def _apply_ets(classes: Classes, words: list[str]) -> None:
    parts: dict[str, list[str]] = {}
    for word in words:
        if ":" in word:
            parts[list(parts)[-1]].append(word)
        else:
            parts[word] = []
    classes.traffic_class.update(_pairs(parts.get("prio-tc", [])))
    kinds = _all_first(parts.get("tc-tsa", []))
    _weigh(classes, kinds, _pairs(parts.get("tc-bw", [])))


def _apply_mlnx(classes: Classes, words: list[str]) -> None:
    options = grouped((key, value) for key, value in zip(words[::2], words[1::2], strict=True))
    for value in options.get("--dscp2prio", ()):
        _, dscp, priority = value.split(",")
        classes.dscp[int(dscp)] = int(priority)
    if "--pfc" in options:
        classes.pfc = {n for n, on in enumerate(options["--pfc"][0].split(",")) if on == "1"}
    if "--prio_tc" in options:
        classes.traffic_class.update(enumerate(map(int, options["--prio_tc"][0].split(","))))
    if "--tsa" in options:
        weights = dict(enumerate(map(int, options["--tcbw"][0].split(","))))
        _weigh(classes, dict(enumerate(options["--tsa"][0].split(","))), weights)


def _weigh(classes: Classes, kinds: Mapping[int, str], weights: Mapping[int, int]) -> None:
    classes.strict = {number for number, kind in kinds.items() if kind == "strict"}
    classes.percent = {number: weights.get(number, 0) for number, kind in kinds.items() if kind == "ets"}


def read_environment(text: str) -> dict[str, str]:
    """Variable → value of an environment file."""
    lines = (line.partition("=") for line in text.splitlines() if line and not line.startswith("#"))
    return {name: value for name, _, value in lines}
