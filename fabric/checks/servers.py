"""What must hold between a server and its leaves; `fabric.hosts.agree` compares them, cable by cable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabric.checks.base import Check
from fabric.checks.finding import ERROR, Finding
from fabric.hosts.agree import Disagreement


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
    remediation = "both are generated from one plan: `fabric generate` writes both again"

    def judge(self, server: Server) -> Iterator[Finding]:
        return (of_server(server, one) for one in server.found if one.id == self.id)


def of_server(server: Server, one: Disagreement) -> Finding:
    """A disagreement as a finding; also of a file that cannot be read at all."""
    file = next((path for name, path in server.paths.items() if one.file.startswith(name)), "")
    return Finding(one.id, ERROR, one.device, f"{server.shown}/{file}", one.line, one.message, ServerCheck.remediation)


class Addresses(ServerCheck):
    """The leaf speaks to the other address of its subnet. A server that has another one, or has it on another interface,
    is cut off; often a second one is too, whose address it took.
    """

    id = "FAB450"
    title = "Every interface of a server is there, with the address that its leaf expects"


class Gateways(ServerCheck):
    """A server with many NICs has one default route at best, so each NIC needs a table of its own for what it sends, with
    its own leaf as gateway. Without it RoCE leaves through the first NIC, and the others are idle.
    """

    id = "FAB451"
    title = "Every NIC sends through its own leaf"


class PacketSizes(ServerCheck):
    """A packet larger than the leaf's MTU is dropped without a word: small ones pass, and the first collective hangs."""

    id = "FAB452"
    title = "No server sends larger packets than its leaf takes"


class LosslessMark(ServerCheck):
    """A leaf puts packets into the lossless class by their DSCP. RoCE with another mark is best effort there and dropped
    first; anything else with that mark fills the class; and without its ECN bits nobody slows a sender down before PAUSE.
    """

    id = "FAB453"
    title = "RoCE is marked as its leaf expects, and nothing else is"


class Paused(ServerCheck):
    """PAUSE has effect only where the other end obeys it for that priority (IEEE 802.1Qbb)."""

    id = "FAB454"
    title = "A server pauses the priorities that its leaf pauses"


class Notices(ServerCheck):
    """Congestion notifications end the congestion that they would wait in, so both ends know them by one mark and serve
    them first (DCQCN, Zhu et al., SIGCOMM 2015).
    """

    id = "FAB455"
    title = "Congestion notifications have one mark at both ends, and go first"


class Shares(ServerCheck):
    """A server that gives the lossless class less than its leaf does is the narrow end of the cable when other traffic
    runs beside it.
    """

    id = "FAB456"
    title = "Classes share a server's link as they share the leaf's"


class NcclMark(ServerCheck):
    """NCCL marks its own packets, whatever the adapter's usual mark is: a wrong class there sends the whole collective as
    best effort.
    """

    id = "FAB457"
    title = "NCCL marks its packets for the lossless class"
