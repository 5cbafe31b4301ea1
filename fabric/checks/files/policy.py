"""Route policy and names: lists as planned, nothing that is referred to and does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabric.checks import ERROR, FilesCheck, Finding, Network
from fabric.grouping import grouped
from fabric.text import plural


class PrefixLists(FilesCheck):
    """Prefix lists decide which routes a switch believes and tells: one entry too many makes a leaf a transit or leaks a
    tenant, one too few makes a rack unreachable."""

    id = "FAB280"
    title = "Prefix lists have the entries of the plan"
    severity = ERROR
    remediation = "`fabric generate` writes the file again"
    kinds: ClassVar = ("prefixes",)


class RoutesPassed(FilesCheck):
    """A session without its filter takes in whatever the other side sends, and sends all it knows: a leaf becomes transit
    between spines, a tenant's routes leave by the wrong door. What enters BGP here is filtered for the same reason."""

    id = "FAB296"
    title = "Sessions take in and send out the routes of the plan"
    severity = ERROR
    remediation = "`fabric generate` writes the file again"
    kinds: ClassVar = ("takes", "sends", "connected", "aggregates")


class Undefined(FilesCheck):
    """A filter that is applied and does not exist lets everything through on some network OSes and nothing on others
    (FRR denies, NX-OS permits); a class or profile that does not exist is ignored."""

    id = "FAB281"
    title = "Everything that is referred to is defined"
    severity = ERROR
    remediation = "define it, or correct its name"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            users = grouped((said.value, said) for said in dict.fromkeys(facts.undefined))
            for name, lines in users.items():
                more = f"; {plural(len(lines) - 1, 'more line')} refer{'s' if len(lines) == 2 else ''} to it"
                yield self.on(facts, lines[0], f"{name} is not defined{more if len(lines) > 1 else ''}")


class OneStory(FilesCheck):
    """Some things are said twice on one device: the VNI of a VRF to the kernel and to BGP, the AS number in two files. Where
    the two differ, half of the box does one thing and half the other."""

    id = "FAB294"
    title = "What a device is told twice, it is told alike"
    severity = ERROR
    remediation = "make both lines say the same"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for said in facts.conflicts:
                yield self.on(facts, said, said.value)
