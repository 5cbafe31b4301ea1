"""Whether both ends of a server's cable say the same: what was rendered for the host against what the switch says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fabric.configs.hosts.read_host import Addressing, Classes, Damaged, Script, read_environment, read_netplan, read_script
from fabric.configs.hosts.view import ETHERNET, Host, HostNic
from fabric.nos.reading import integer

Read = TypeVar("Read")

ECT0 = 0b10
DAMAGED = "FAB290"  # as for files of switches


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
    device: str  # "" for what a file of many servers lacks
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
        one = _Port(host.name, nic, end)
        if addressing is not None:
            differences += one.addresses(addressing.get(nic.interface))
        if scripts is not None:
            differences += one.classes(scripts.get(nic.interface, Script()))
        if nic.fabric == job:
            differences += one.nccl(environment)
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
            # A switch rounds its shares, so one percent is no difference.
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
        if self.end.dscp is None or not self.end.pfc_priorities or not got:
            return
        value = got.get("NCCL_IB_TC", "0")
        number = integer(value)
        if number is None or number >> 2 != self.end.dscp:
            expected = f"{self.end.dscp << 2} (DSCP {self.end.dscp})"
            shown = value if number is None else f"{value} (DSCP {number >> 2})"
            yield self._say("FAB457", "nccl.env", "NCCL_IB_TC", expected, shown)


def _numbers(values: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(values))) or "none"
