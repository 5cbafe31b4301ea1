"""Agreement of a Kubernetes cluster with leaves and servers; `fabric.configs.cluster.compare` compares its objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from fabric.audit.checks.base import Check, run
from fabric.audit.checks.finding import ERROR, WARNING, Finding, Read
from fabric.configs.cluster.compare import Difference, differences
from fabric.configs.cluster.rails import clusters
from fabric.configs.cluster.read import things
from fabric.model.plan import Plan


@dataclass(frozen=True)
class State:
    """What a cluster says otherwise than a fabric."""

    found: tuple[Difference, ...]


class ClusterCheck(Check[State]):
    """One thing that leaves, servers and cluster must agree on."""

    subject, needs = "cluster", "objects of a cluster, intent"
    severity = ERROR
    remediation = "run `fabric export network-operator` and apply its objects, or correct the intent"

    def check(self, state: State) -> Iterator[Finding]:
        for one in state.found:
            if one.code == self.id:
                yield self.in_file(one.device, one.file, one.line, one.message)


class Objects(ClusterCheck):
    """Compares the fields of every object with those of its release, and with the rules that hold between them.

    The API server refuses an object with an unknown field or a broken rule, and what was there before stays. The rules are
    those of Network Operator 26.7.
    """

    id = "FAB460"
    title = "A cluster takes the objects of the Network Operator"
    example = "`numberOfPlanes: 8` in a NicConfigurationTemplate"


class PodAddresses(ClusterCheck):
    """Compares prefix, gateway, block and routes of every pool with the ports of the leaves.

    A pod has the address that the pool has for its node. If the leaf has another subnet on that port, the pod reaches
    nothing; if two nodes have one, both lose packets.
    """

    id = "FAB461"
    title = "Every node has the addresses that its leaves have the other end of"
    example = "172.16.0.4/31 for gpu-0001; 172.16.0.0/31 on its leaf"


class PortNames(ClusterCheck):
    """Compares names, PCI addresses and types of NICs with those of the plan.

    Rails are chosen by the names of ports. A port with another name is on no rail, and one with the name of another port
    is on the wrong one.
    """

    id = "FAB462"
    title = "Ports of servers have the names of their rail and plane"
    example = "`eth_p0_r0` in pfNames; `eth_r0_p0` on the server"


class PodPacketSizes(ClusterCheck):
    """Compares the MTU of every rail with that of the servers and leaves.

    The leaf drops packets larger than its MTU without an error; a smaller one wastes bandwidth on headers.
    """

    id = "FAB463"
    title = "Rails have the MTU of servers and leaves"
    example = "mtu 9500 on rail0p0; 9000 on the servers"


class NicClasses(ClusterCheck):
    """Compares PFC priority, trust and DSCP in the profile of Spectrum-X with the classes of the leaves.

    PAUSE has an effect only if both ends have it on the same priority, and packets are classified by DSCP at both.
    """

    id = "FAB464"
    title = "The profile of Spectrum-X has the classes of the leaves"
    example = "PFC 00001000 (priority 4); priority 3 on the leaves"


class PortPlanes(ClusterCheck):
    """Compares mode and number of planes, and the plane of every port, with the leaves that the ports are cabled to.

    A pool of one plane with the port of another gives pods addresses of leaves that their port does not reach.
    """

    id = "FAB465"
    title = "Every port is on the plane of its leaf"
    example = "`eth_r0_p1` with the pool rail-0-plane-0"


class OtherSettings(ClusterCheck):
    """Compares profile, overlay, virtual functions and namespaces with the intent.

    They do not meet the switches, but a cluster that is not as the intent says has been changed elsewhere.
    """

    id = "FAB466"
    title = "The cluster's other settings are those of the intent"
    severity = WARNING
    example = "`version: other-profile`; the intent has `profile: site-profile`"


def findings(plan: Plan, folder: Path) -> tuple[list[Finding], Read]:
    """What the objects of a folder say otherwise than a plan. Raises InputError, OSError."""
    found = things(folder)
    result: list[Finding] = []
    for cluster in clusters(plan):
        state = State(tuple(dict.fromkeys(differences(cluster, found))))
        result += run(ClusterCheck, state)
    files = len({thing.source.file for thing in found})
    return result, Read(
        what="objects of the cluster", path=str(folder), devices=0, files=files, statements=len(found), unread=()
    )
