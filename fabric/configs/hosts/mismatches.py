"""Whether both ends of a server's cable say the same: what the files of the host say against what the switch says."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeVar

from fabric.base.grouping import grouped
from fabric.configs.hosts.view import ETHERNET, Host, HostNic
from fabric.nos.reading import Branch, integer, read_yaml

# --- Files of a server, read from their text alone ------------------------------------------------------------

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
    gateways: tuple[str, ...]  # of all routes, without repetition
    rules: tuple[str, ...]  # source addresses with a routing table
    vlans: frozenset[int] = frozenset()  # that are tagged on it


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
    tags = grouped((row.at("link").word, integer(row.at("id").word) or 0) for row in network.at("vlans").parts.values())
    addressing = {name: _addressing(row, tags.get(name, ())) for name, row in network.at("ethernets").parts.items()}
    for name, row in network.at("bonds").parts.items():
        addressing[name] = _addressing(row, tags.get(name, ()))
        addressing |= dict.fromkeys(row.at("interfaces").parts, addressing[name])
    for name, row in network.at("vlans").parts.items():
        addressing[name] = _addressing(row)
    return addressing


def _addressing(row: Branch, vlans: Iterable[int] = ()) -> Addressing:
    mtu = row.at("mtu")
    if mtu.word is not None and integer(mtu.word) is None:
        raise Damaged(f"mtu: expected a number, got {mtu.word}", mtu.line)
    return Addressing(
        mtu=integer(mtu.word),
        addresses=tuple(row.at("addresses").parts),
        gateways=tuple(row.at("routes", "via").parts),
        rules=tuple(row.at("routing-policy", "from").parts),
        vlans=frozenset(vlans),
    )


@lru_cache(maxsize=64)  # the servers of a group have one script
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


# --- Mismatches -----------------------------------------------------------------------------------------------

Read = TypeVar("Read")

ECT0 = 0b10
DAMAGED = "FAB290"  # as in files of switches


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchEnd:
    """A server port as its switch's config has it; None for what the config does not tell."""

    dscp: int | None  # of the lossless class
    priority: int | None
    cnp_dscp: int | None
    cnp_priority: int | None
    mtu: int | None
    address: str | None  # without the length
    peer_address: str | None  # of the host, with its length
    pfc_priorities: tuple[int, ...]
    lossless_percent: int | None


@dataclass(frozen=True, slots=True)
class HostFiles:
    """The texts of one server; "" where a file is not made."""

    netplan: str
    roce: str = ""
    nccl: str = ""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One difference between the two ends."""

    id: str
    device: str  # "": a file of several servers
    file: str
    message: str
    line: int = 0  # 0: of the whole file


def disagreements(host: Host, files: HostFiles, ends: Mapping[str, SwitchEnd]) -> list[Disagreement]:
    """Every difference at the ports in `ends`, which are named as in the plan (`compute1`), and what is damaged."""
    differences: list[Disagreement] = []

    def read(reader: Callable[[str], Read], text: str, device: str, file: str) -> Read | None:
        try:
            return reader(text)
        except Damaged as damaged:
            differences.append(Disagreement(DAMAGED, device, file, str(damaged), damaged.line))
            return None

    addressing = read(read_netplan, files.netplan, host.name, "60-fabric.yaml")
    scripts = read(read_script, files.roce, "", "roce.sh")
    environment = read_environment(files.nccl)
    job = next((nic.fabric for nic in host.nics if nic.purpose == "compute"), "")  # the fabric that nccl.env is for
    for nic in host.nics:
        end = ends.get(nic.name)
        if end is None or nic.kind != ETHERNET or nic.closed:
            continue
        port = _Port(host.name, nic, replace(end, peer_address=None) if nic.joined else end)
        if addressing is not None:
            differences += port.addresses(addressing.get(nic.interface))
        if scripts is not None:
            differences += port.classes(scripts.get(nic.interface, Script()))
        if nic.fabric == job and nic.purpose == "compute":  # NCCL uses no other NICs of a converged fabric
            differences += port.nccl(environment)
            differences += port.devices(environment, [other.rdma for other in host.nics])
    return list(dict.fromkeys(differences))


@dataclass(frozen=True)
class _Port:
    host: str
    nic: HostNic
    end: SwitchEnd

    def _say(self, code: str, file: str, what: str, expected: object, got: object) -> Disagreement:
        where = f"{self.nic.name} ({self.nic.interface})" if self.nic.name != self.nic.interface else self.nic.name
        return Disagreement(code, self.host, file, f"{where}: {what}: expected {expected} as on {self.nic.leaf}, got {got}")

    def addresses(self, got: Addressing | None) -> Iterator[Disagreement]:
        end, file = self.end, "60-fabric.yaml"
        if got is None:
            yield self._say("FAB450", file, "interface", "it", "none of that name")
            return
        if end.peer_address is not None and end.peer_address not in got.addresses:
            yield self._say("FAB450", file, "address", end.peer_address, ", ".join(got.addresses) or "none")
        if end.peer_address is not None and end.address is not None and set(got.gateways) != {end.address}:
            yield self._say("FAB451", file, "gateway", end.address, ", ".join(got.gateways) or "none")
        if end.peer_address is not None and end.peer_address.partition("/")[0] not in got.rules:
            yield self._say(
                "FAB451", file, "source with a table of its own", end.peer_address, ", ".join(got.rules) or "none"
            )
        tagged = {vlan.tag for vlan in self.nic.tagged}
        if got.vlans != tagged:
            yield self._say("FAB458", file, "tagged VLANs", _numbers(tagged), _numbers(got.vlans))
        if end.mtu is not None and got.mtu is not None and got.mtu > end.mtu:
            yield self._say("FAB452", file, "MTU", f"at most {end.mtu}", got.mtu)

    def classes(self, script: Script) -> Iterator[Disagreement]:
        end, file = self.end, "roce.sh"
        if end.mtu is not None and script.mtu is not None and script.mtu > end.mtu:
            yield self._say("FAB452", file, "MTU", f"at most {end.mtu}", script.mtu)
        if not script.tools and end.pfc_priorities:
            yield self._say("FAB454", file, "priorities with PFC", _numbers(end.pfc_priorities), "none")
        for tool, classes in script.tools.items():
            yield from self._with_tool(f"{file}, {tool}", classes)
        if script.tools:
            yield from self._marking(script.knobs)

    def _with_tool(self, file: str, got: Classes) -> Iterator[Disagreement]:
        end = self.end
        if set(got.pfc or ()) != set(end.pfc_priorities):
            expected = _numbers(end.pfc_priorities)
            yield self._say("FAB454", file, "priorities with PFC", expected, _numbers(got.pfc or ()))
        if end.dscp is not None and end.priority is not None:
            priority = got.dscp.get(end.dscp, end.dscp >> 3)
            if priority != end.priority:
                yield self._say("FAB453", file, f"priority of DSCP {end.dscp}", end.priority, priority)
            others = [d for d in range(64) if d != end.dscp and got.dscp.get(d, d >> 3) == end.priority]
            if others:
                yield self._say("FAB453", file, f"DSCPs in priority {end.priority}", end.dscp, _numbers((*others, end.dscp)))
            percent = got.percent.get(got.traffic_class.get(end.priority, end.priority))
            # Switches round shares: one percent is no difference.
            if end.lossless_percent is not None and abs((percent or 0) - end.lossless_percent) > 1:
                yield self._say("FAB456", file, f"percent of priority {end.priority}", end.lossless_percent, percent)
        if end.cnp_dscp is not None:
            priority = got.dscp.get(end.cnp_dscp, end.cnp_dscp >> 3)
            if end.cnp_priority is not None and priority != end.cnp_priority:
                yield self._say("FAB455", file, f"priority of CNP, DSCP {end.cnp_dscp}", end.cnp_priority, priority)
            if got.traffic_class.get(priority, priority) not in got.strict:
                yield self._say("FAB455", file, f"priority {priority} of CNP", "strict", "weighted")

    def _marking(self, knobs: Mapping[str, str]) -> Iterator[Disagreement]:
        """What the adapter writes into packets."""
        end, file = self.end, "roce.sh"
        for path, value in knobs.items():
            name, number = path.rpartition("/")[2], integer(value)
            if name in ("default_roce_tos", "traffic_class") and end.dscp is not None:
                dscp, ecn = (None, None) if number is None else (number >> 2, number & 0b11)
                if dscp != end.dscp:
                    yield self._say("FAB453", file, f"DSCP in {name}", end.dscp, value if dscp is None else dscp)
                if ecn != ECT0:
                    yield self._say("FAB453", file, f"ECN bits in {name}", ECT0, value if ecn is None else ecn)
            elif name in ("cnp_dscp", "np_cnp_dscp") and end.cnp_dscp is not None and number != end.cnp_dscp:
                yield self._say("FAB455", file, f"DSCP of CNP in {name}", end.cnp_dscp, value)
            elif name in ("cnp_802p_prio", "np_cnp_prio") and end.cnp_priority is not None and number != end.cnp_priority:
                yield self._say("FAB455", file, f"priority of CNP in {name}", end.cnp_priority, value)
            elif "/enable/" in path and end.priority is not None and integer(name) != end.priority:
                yield self._say("FAB453", file, "priority with ECN", end.priority, name)

    def nccl(self, got: Mapping[str, str]) -> Iterator[Disagreement]:
        by_tcp = got.get("NCCL_IB_DISABLE") == "1"
        if self.end.dscp is None or not self.end.pfc_priorities or not got or by_tcp:
            return
        value = got.get("NCCL_IB_TC", "0")
        number = integer(value)
        if number is None or number >> 2 != self.end.dscp:
            expected = f"{self.end.dscp << 2} (DSCP {self.end.dscp})"
            shown = value if number is None else f"{value} (DSCP {number >> 2})"
            yield self._say("FAB457", "nccl.env", "NCCL_IB_TC", expected, shown)

    def devices(self, got: Mapping[str, str], known: Sequence[str]) -> Iterator[Disagreement]:
        """RDMA devices that NCCL uses: those of the ports on its fabric."""
        named = got.get("NCCL_IB_HCA", "")
        names = named.lstrip("^=").split(",")
        if not named or not self.nic.rdma or named.startswith("^") or got.get("NCCL_IB_DISABLE") == "1":
            return
        if self.nic.rdma not in names:
            yield self._say("FAB459", "nccl.env", "NCCL_IB_HCA", self.nic.rdma, named)
        elif more := [name for name in names if name not in known]:
            yield self._say("FAB459", "nccl.env", "NCCL_IB_HCA", "no other devices", ", ".join(more))


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(values))) or "none"
