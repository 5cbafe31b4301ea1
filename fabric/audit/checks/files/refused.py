"""Statements that a network OS refuses, drops or overrides: by their values, their order, or in combination."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabric.audit.checks import ERROR, FilesCheck, Finding, Network
from fabric.audit.checks.finding import About, Merge
from fabric.model.facts import Located
from fabric.nos.statements.conditions import COMBINATION, ORDER
from fabric.nos.statements.values import CODE


class RefusedCheck(FilesCheck):
    """Reports the statements that a row of `values.yaml` or `refused.yaml` of the network OS is about."""

    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for one in network.refused.get(id(facts), ()):
                if one.code == self.id:
                    at = Located(None, one.place.line, one.place.file)
                    about = About(got=one.message)
                    merge = Merge(text=one.several or one.message, names=(one.name,) if one.several else ())
                    yield self.finding_at(facts, at, one.message, one.hint, one.severity, about, merge=merge)


class Values(RefusedCheck):
    """Looks for values that the network OS does not accept: outside their range, too wide, or in another form.

    A route distinguisher `IPv4:number` has 16 bits for the number, a VLAN ID ends at 4094. The network OS refuses such a
    line, or stores another value: FRR keeps the last 16 bits. `values.yaml` of each network OS has the ranges with their
    sources.
    """

    id = CODE
    title = "The network OS accepts every value"
    severity = ERROR
    example = "`rd 10.8.0.1:100010`: the number behind an address has 16 bits"
    remediation = "configure a value that the network OS accepts"


class Order(RefusedCheck):
    """Looks for statements that the network OS drops, refuses or overrides because of the order of lines.

    FRR drops `neighbor 10.9.0.1 password` in front of `neighbor 10.9.0.1 remote-as`. The file looks complete, but the
    device runs without the line. `refused.yaml` of each network OS has such orders with their sources.
    """

    id = ORDER
    title = "No statement is dropped because of its place"
    severity = ERROR
    else_severity = "warning where the device keeps both lines"
    example = "`neighbor 10.9.0.1 timers 3 9` above `neighbor 10.9.0.1 remote-as 65100`"
    remediation = "move the statement"


class Combinations(RefusedCheck):
    """Looks for statements that the network OS refuses beside others of the device.

    Each statement is valid by itself; together the network OS refuses one of them, or the whole change. `refused.yaml` of
    each network OS has such combinations with their sources.
    """

    id = COMBINATION
    title = "The network OS accepts the statements of a device together"
    severity = ERROR
    else_severity = "the severity of the row: warning where the device takes the line without effect"
    example = "`route-reflector-client` of an eBGP neighbor on FRR"
    remediation = "remove one of the statements"
