"""What runs beside forwarding: names, time, logs, doors and secrets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from fabric.checks import ERROR, NOTE, WARNING, FilesCheck, Finding, Network
from fabric.facts import Facts, Located
from fabric.text import plural


class HostNames(FilesCheck):
    """Logs, LLDP and the plan call a switch by its name; a file under another name is loaded into the wrong box sooner or
    later, and two boxes of one name cannot be told apart."""

    id = "FAB250"
    title = "Every switch has its files, under its own name"
    severity = ERROR
    remediation = "give the device its planned host name"
    kinds: ClassVar = ("hostname",)

    def judge(self, network: Network) -> Iterator[Finding]:
        seen: dict[str, Facts] = {}
        for facts in network.devices:
            other = seen.setdefault(facts.name.lower(), facts)
            if other is not facts:
                yield self.on(facts, facts.hostname, f"host name {facts.name} is that of {other.files[0]} too")


class Servers(FilesCheck):
    """Without one clock the logs of two switches cannot be put in order, and without a collector they are gone with the
    switch. Two time servers at least: with one, nobody notices that it is wrong."""

    id = "FAB283"
    title = "Time, logs and names come from the planned servers"
    severity = ERROR
    remediation = "name them under `management:`"
    planned_remediation = "`management:` has them: an override or an edit by hand took them out of the file"
    kinds: ClassVar = ("ntp", "syslog", "dns")

    def judge(self, network: Network) -> Iterator[Finding]:
        missing: dict[str, list[Facts]] = {"no time server": [], "one time server": [], "no log collector": []}
        for facts in network.devices:
            if not facts.services.ntp:
                missing["no time server"].append(facts)
            elif len(facts.services.ntp) == 1:
                missing["one time server"].append(facts)
            if not facts.services.syslog:
                missing["no log collector"].append(facts)
        for what, devices in missing.items():
            if devices:
                others = plural(len(devices) - 1, "other device")
                rest = f"; {'nor' if what.startswith('no ') else 'so'} on {others}" if len(devices) > 1 else ""
                yield self.on(devices[0], None, f"{what}{rest}", severity=NOTE)


class ControlPlane(FilesCheck):
    """A switch forwards in silicon and thinks on a small CPU: without a filter or policer in front of it, one host can
    starve BGP of time."""

    id = "FAB284"
    title = "The control plane is protected"
    severity = WARNING
    remediation = "apply a control-plane policy, or a filter on the loopback"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            guard = facts.services.control_plane
            if guard is not None and not guard.value:
                yield self.on(facts, guard, "control-plane protection is off")


class PlainText(FilesCheck):
    """Telnet, HTTP and the communities of SNMP before version 3 send passwords in the clear."""

    id = "FAB285"
    title = "Nothing listens that sends passwords in the clear"
    severity = ERROR
    remediation = "use SSH, HTTPS or gNMI over TLS, and SNMPv3"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for said in facts.services.plain_text:
                yield self.on(facts, said, f"{said.value} is on")


class Secrets(FilesCheck):
    """A config in git is read by everyone who reads git, for ever. Hashes are little better: they are guessed at leisure. In
    generated files a secret is an error; configs that come from devices always hold some, so there it is a warning."""

    id = "FAB286"
    title = "No file holds a secret"
    severity = ERROR
    remediation = "put a reference there, `${NAME}`, and fill it in when the file is loaded; change the secret that was shown"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        severity = ERROR if network.planned else WARNING
        for facts in network.devices:
            for said in facts.services.secrets:
                yield self.on(facts, said, f"literal {said.value}", severity=severity)


class Lldp(FilesCheck):
    """LLDP tells which cable is where; without it a swapped pair is found by hand."""

    id = "FAB287"
    title = "LLDP runs"
    severity = NOTE
    remediation = "turn LLDP on on the fabric ports"
    of_device: ClassVar = True

    def judge(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            lldp: Located[bool] | None = facts.services.lldp
            if lldp is not None and not lldp.value:
                yield self.on(facts, lldp, "LLDP is off")
