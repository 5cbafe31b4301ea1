"""Cages: each is used whole, or split into the ports that a statement says."""

from __future__ import annotations

from collections.abc import Iterator

from fabric.audit.checks import ERROR, WARNING, FilesCheck, Finding, Merge, Network, is_up
from fabric.base.text import plural
from fabric.model.facts import Cage, Facts, Interface, Located

LANES = (0, 1, 2, 4, 8)  # into which a cage can be split: no module has others


class Split(FilesCheck):
    """Compares the ports in use of every cage with the statement that splits it.

    A cage has one module: it is one port of all lanes, or several ports of some lanes each. What is configured for the port
    that does not exist has no effect, or is refused, and the cable stays down.
    """

    id = "FAB2554"
    title = "Every cage is used whole or split, as it is stated"
    severity = ERROR
    else_severity = "warning where the network OS may split the cage by its module"
    example = "`interface breakout module 1 port 1 map 100g-4x`, and an address on Ethernet1/1"
    remediation = "use the whole cage or its parts, and state the split that the parts need"

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for cage in facts.cages.values():
                yield from self._of_cage(facts, cage)

    def _of_cage(self, facts: Facts, cage: Cage) -> Iterator[Finding]:
        stated = facts.interfaces.get(cage.name)
        whole = stated if stated is not None and is_used(stated) else None
        parts = {
            name: number for name, number in cage.parts.items() if (port := facts.interfaces.get(name)) and is_used(port)
        }
        ports = cage.ports
        if ports is None:
            if stated is None or is_up(stated):  # the parts of a cage that is shut down may be for later
                yield from self._unsplit(facts, cage, whole, list(parts))
            return
        where = f"line {ports.line}"
        if ports.value not in LANES:
            yield self.finding_at(facts, ports, f"{cage.name} is split into {ports.value} ports: expected 1, 2, 4 or 8")
        if whole is not None and ports.value != 1:
            got = (
                f"split into {ports.value} ports ({where})"
                if ports.value
                else f"without lanes: another port has them ({where})"
            )
            yield self.finding_at(facts, _at(whole), f"{whole.name} is in use, but its cage is {got}")
        for name, number in parts.items():
            port = facts.interfaces[name]
            if number >= ports.value:
                got = f"{cage.name} is split into {plural(ports.value, 'port')} ({where})"
                yield self.finding_at(facts, _at(port), f"{name} is in use, but {got}")
            elif cage.speeds and port.speed_gbps and port.speed_gbps.value not in cage.speeds:
                speeds = " or ".join(f"{speed}G" for speed in sorted(cage.speeds))
                message = f"{name}: {port.speed_gbps.value}G, but {cage.name} is split into ports of {speeds} ({where})"
                yield self.finding_at(facts, port.speed_gbps, message)

    def _unsplit(self, facts: Facts, cage: Cage, whole: Interface | None, parts: list[str]) -> Iterator[Finding]:
        if not parts:
            return
        at = _at(facts.interfaces[parts[0]])
        if whole is not None:
            message = f"{parts[0]} is a part of cage {cage.name}, which is in use as a whole (line {whole.line})"
            yield self.finding_at(facts, at, message)
        else:
            severity = "" if cage.stated else WARNING
            message = f"{parts[0]} is a part of cage {cage.name}, which no statement splits"
            merge = Merge(text="parts of cages that no statement splits: {names}", names=(parts[0],))
            yield self.finding_at(facts, at, message, severity=severity, merge=merge)


def is_used(port: Interface) -> bool:
    """Whether a port is configured for more than its name."""
    stated = (port.addresses, port.gateways, port.access, port.trunk, port.bond, port.vrf, port.esi, port.link_local)
    return is_up(port) and any(stated)


def _at(port: Interface) -> Located[object]:
    return Located(None, port.line, port.file)
