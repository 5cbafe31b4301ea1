"""Agreement between a server and its leaves; `fabric.configs.hosts.mismatches` compares them, one cable at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from fabric.audit.checks.base import Check, run
from fabric.audit.checks.finding import ERROR, Finding
from fabric.base.rounding import ceil_div
from fabric.configs.hosts.leaf_side import end_of
from fabric.configs.hosts.mismatches import DAMAGED, Disagreement, HostFiles, SwitchEnd, disagreements as of_host
from fabric.configs.hosts.view import hosts, sides
from fabric.model.facts import Facts
from fabric.model.plan import SERVER, Plan, SwitchView
from fabric.nos.target import target


@dataclass(frozen=True)
class Server:
    """What the files of a server say otherwise than its leaves."""

    found: tuple[Disagreement, ...]
    paths: Mapping[str, str]  # of its files, by what their names begin with
    shown: str  # the site's folder


class ServerCheck(Check[Server]):
    """One thing that both ends of a server's cable must agree on."""

    subject, needs = "servers", "files, intent"
    severity = ERROR
    remediation = "run `fabric generate` to restore the files of servers and switches from one plan"

    def check(self, server: Server) -> Iterator[Finding]:
        return (of_server(server, one) for one in server.found if one.id == self.id)


def of_server(server: Server, difference: Disagreement) -> Finding:
    """A disagreement as a finding; also of a file that cannot be read at all."""
    file = next((path for name, path in server.paths.items() if difference.file.startswith(name)), "")
    return Finding(
        id=difference.id,
        severity=ERROR,
        device=difference.device,
        file=f"{server.shown}/{file}",
        line=difference.line,
        message=difference.message,
        hint=ServerCheck.remediation,
    )


class Addresses(ServerCheck):
    """Compares the addresses of every server interface with the subnet of its leaf port.

    The leaf routes to the other address of its subnet. A server with another address, or with the address on another
    interface, is disconnected, and may conflict with a second server.
    """

    id = "FAB450"
    title = "Every server interface exists and has the address planned for its leaf port"
    example = "gpu-0001 nic1: 10.96.0.5; leaf001 has 10.96.0.0/31"


class Gateways(ServerCheck):
    """Compares the routing table and gateway of every NIC with its leaf.

    A server with many NICs has one default route, so each NIC needs its own routing table with its leaf as gateway.
    Otherwise RoCE leaves through the first NIC, and the others are idle.
    """

    id = "FAB451"
    title = "Every NIC routes through its own leaf"
    example = "nic2 has no routing table of its own"


class PacketSizes(ServerCheck):
    """Compares the MTU of every NIC with that of its leaf port.

    The leaf drops packets larger than its MTU without an error: small packets pass, and the first collective hangs.
    """

    id = "FAB452"
    title = "No server MTU exceeds that of its leaf port"
    example = "MTU 9500 on nic1; 9214 on the leaf port"


class LosslessMark(ServerCheck):
    """Compares the DSCP and ECN bits of RoCE traffic with the DSCP map of the leaf.

    A leaf selects the lossless class by DSCP. RoCE with another DSCP is best effort and dropped first; other traffic with
    that DSCP fills the lossless class; without ECN bits, senders are not slowed down before PAUSE.
    """

    id = "FAB453"
    title = "Servers mark RoCE, and only RoCE, with the lossless DSCP of the leaf"
    example = "`cma_roce_tos` 0 on gpu-0001; DSCP 26 on the leaf"


class Paused(ServerCheck):
    """Compares the PFC priorities of every NIC with those of its leaf port.

    PAUSE has an effect only if the other end obeys it for that priority (IEEE 802.1Qbb).
    """

    id = "FAB454"
    title = "Servers and leaves have PFC enabled for the same priorities"
    example = "PFC on priority 4 of nic1; priority 3 on the leaf port"


class Notices(ServerCheck):
    """Compares DSCP, priority and scheduling of congestion notifications with the leaf.

    Congestion notifications end the congestion that would delay them, so both ends classify them by one DSCP and serve
    them first (DCQCN, Zhu et al., SIGCOMM 2015).
    """

    id = "FAB455"
    title = "CNPs have the same DSCP at both ends, and strict priority"
    example = "`cnp_dscp` 46 on gpu-0001; 48 on the leaf"


class Shares(ServerCheck):
    """Compares the scheduler weights of every NIC with those of its leaf port.

    A server with a lower weight for the lossless class than its leaf limits RoCE when other traffic runs beside it.
    """

    id = "FAB456"
    title = "Servers and leaves have the same scheduler weights"
    example = "50 % for the lossless class on nic1; 60 % on the leaf port"


class TaggedVlans(ServerCheck):
    """Compares the tagged VLANs of every server interface with those of its leaf port.

    A leaf drops frames with a tag that the port does not have, and the server those with a tag that no interface of it has.
    """

    id = "FAB458"
    title = "Servers and leaves tag the same VLANs"
    example = "VLAN 902 on compute1p1; 901 on the leaf port"


class DeviceNames(ServerCheck):
    """Compares the RDMA devices in the NCCL environment file with those of the ports on the fabric.

    NCCL leaves out a device that the variable does not name, and one rail or plane of the server is idle; a name that no
    device has is ignored without a word.
    """

    id = "FAB459"
    title = "NCCL uses the RDMA devices of the ports on its fabric"
    example = "`NCCL_IB_HCA==roce_r0_p0`; roce_r0_p1 is on the fabric too"


class NcclMark(ServerCheck):
    """Compares the traffic class in the NCCL environment file with the DSCP of the lossless class.

    NCCL sets the traffic class of its own packets, whatever the NIC's default is: with a wrong value the whole collective
    is best effort.
    """

    id = "FAB457"
    title = "NCCL marks its packets for the lossless class"
    example = "`NCCL_IB_TC=0`; 104 (DSCP 26) on the leaf"


# --- disagreements of a server and its leaves -----------------------------------------------------------------

Ends: TypeAlias = dict[tuple[str, str], SwitchEnd]  # (server, its port) → the switch's end of the cable
ECHOED = frozenset(("FAB251", "FAB254", "FAB270", "FAB272", "FAB273", "FAB278"))  # wrong at the leaf: servers would repeat it
MOST = 256  # servers; their files differ in addresses alone


@dataclass(frozen=True)
class Sample:
    """The servers that are compared: all of them, or a spread of many."""

    servers: frozenset[str]
    of: int
    step: int = 1  # one server in so many

    @classmethod
    def of_site(cls, made: Plan, *, whole: bool = False) -> Sample:
        """`whole`: all servers, however many."""
        if not made.settings.output.hosts:
            return cls(frozenset(), 0)
        names = sorted({d.name for fabric in made.fabrics.values() for d in fabric.devices if d.role == SERVER})
        step = 1 if whole else ceil_div(len(names), MOST) or 1
        return cls(frozenset(names[::step]), len(names), step)

    @property
    def skipped(self) -> list[tuple[str, str]]:
        if len(self.servers) == self.of:
            return []
        return [
            (
                f"{self.of - len(self.servers)} of {self.of} servers",
                f"only 1 in {self.step} servers is compared with its leaves; use --all-servers to compare all",
            )
        ]


def ends(view: SwitchView, facts: Facts, sample: Sample) -> Ends:
    """The switch's end of the cables of the servers in the sample."""
    name = target(view.device.nos).port_name
    found: Ends = {}
    for port in view.ports:
        if port.kind == "server" and port.peer and port.peer.device.name in sample.servers:
            interface = facts.interfaces.get(name(view.model, port.ref, view.device.model))
            if interface is not None:
                found[port.peer.device.name, port.peer.port_name] = end_of(facts, interface)
    return found


def disagreements(
    plan: Plan, ends: Ends, files: Iterator[tuple[str, bytes]], look: Callable[[str, bytes], bytes], shown: str
) -> Iterator[Finding]:
    """What servers and leaves say differently. `look`: path, fresh file → what is to be judged, that or what lies there."""
    texts = {path: look(path, data).decode("utf-8", "replace") for path, data in files}
    by_server: dict[str, dict[str, SwitchEnd]] = {}
    for (server, port), end in ends.items():
        by_server.setdefault(server, {})[port] = end
    for host in hosts(sides(plan)):
        planned_host = by_server.get(host.name)
        paths = _paths(host.name, host.group)
        if planned_host is None or paths["60-fabric.yaml"] not in texts:  # of a fabric for controllers alone no file is made
            continue
        read = HostFiles(*(texts.get(path, "") for path in paths.values()))
        differs = Server(tuple(of_host(host, read, planned_host)), paths, shown)
        yield from (of_server(differs, difference) for difference in differs.found if difference.id == DAMAGED)
        yield from run(ServerCheck, differs)


def _paths(host: str, group: str) -> Mapping[str, str]:
    shared = f"hosts/_groups/{group}"
    return {
        "60-fabric.yaml": f"hosts/{host}/60-fabric.yaml",
        "roce.sh": f"{shared}.roce.sh",
        "nccl.env": f"{shared}.nccl.env",
    }
