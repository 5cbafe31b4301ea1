"""Agreement between a server and its leaves; `fabric.configs.hosts.mismatches` compares them, one cable at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabric.audit.checks.base import Check
from fabric.audit.checks.finding import ERROR, Finding
from fabric.configs.hosts.mismatches import Disagreement


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


def of_server(server: Server, one: Disagreement) -> Finding:
    """A disagreement as a finding; also of a file that cannot be read at all."""
    file = next((path for name, path in server.paths.items() if one.file.startswith(name)), "")
    return Finding(
        id=one.id,
        severity=ERROR,
        device=one.device,
        file=f"{server.shown}/{file}",
        line=one.line,
        message=one.message,
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


class NcclMark(ServerCheck):
    """Compares the traffic class in the NCCL environment file with the DSCP of the lossless class.

    NCCL sets the traffic class of its own packets, whatever the NIC's default is: with a wrong value the whole collective
    is best effort.
    """

    id = "FAB457"
    title = "NCCL marks its packets for the lossless class"
    example = "`NCCL_IB_TC=0`; 104 (DSCP 26) on the leaf"
