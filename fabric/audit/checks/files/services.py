"""What runs beside forwarding: names, time, logs, doors and secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from fabric.audit.checks import ERROR, NOTE, WARNING, About, FilesCheck, Finding, Merge, Network, role
from fabric.base.text import plural
from fabric.model.facts import CLEAR, ENCRYPTED, HASH, Facts, Located, Secret


class HostNames(FilesCheck):
    """Compares the host names in files with the planned names and with each other.

    Logs, LLDP and the plan identify a switch by its name. A file with a wrong name is sooner or later loaded onto the
    wrong device, and two devices with one name cannot be distinguished.
    """

    id = "FAB250"
    title = "Every switch has config files with its planned host name"
    severity = ERROR
    else_severity = "without an intent: warning for two files with a common address, less for a daemon without ports and BGP"
    example = "`hostname leaf001` in the files of leaf002"
    remediation = "set the planned host name in the device's config"
    kinds: ClassVar = ("hostname",)
    of_device: ClassVar = True
    of_several: ClassVar[str] = "give each device a name of its own; check alternatives for one device in separate runs"
    of_prompt: ClassVar[str] = "remove the line, or set the host name of the device"
    of_copy: ClassVar[str] = "collect the config of {} again, or correct its host name"

    def check(self, network: Network) -> Iterator[Finding]:
        first: dict[str, Facts] = {}
        copies: dict[str, list[Facts]] = {}
        for facts in sorted(network.devices, key=lambda facts: bool(facts.filed)):  # a copy is to blame, not the original
            other = first.setdefault(facts.name.lower(), facts)
            if other is not facts and facts.filed and not other.filed and role(facts.filed) == role(facts.name):
                message = f"the config of {facts.filed} has the host name of {facts.name}; its own is not in the files"
                yield self.finding_at(facts, facts.hostname, message, hint=self.of_copy.format(facts.filed))
            elif other is not facts:
                copies.setdefault(facts.name.lower(), [other]).append(facts)
        for same in copies.values():
            message = f"host name {same[0].name} is in the configs of {len(same)} devices, the first {same[0].files[0]}"
            yield self.finding_at(same[1], same[1].hostname, message, hint=self.of_several, severity=WARNING)
        of_names = (difference.place for difference in network.differences if difference.key.kind == "hostname")
        reported = {(place.file, place.line) for place in of_names}
        for facts in network.devices:
            for name in facts.others:
                if (name.file, name.line) in reported:
                    continue
                numbered = re.search(r"\d", name.value) and role(name.value) == role(facts.name)
                if network.planned or numbered or name.value.lower() in first:
                    message = f"the file has the host name of another device: {name.value}"
                    hint = "remove the file from this folder, or correct its host name"
                    severity = "" if network.planned or _configures(facts, name.file) else WARNING
                    yield self.finding_at(facts, name, message, hint=hint, severity=severity)
                else:  # a prompt of a daemon, as it was installed
                    message = f"host name {name.value} in a file of {facts.name}"
                    yield self.finding_at(facts, name, message, hint=self.of_prompt, severity=NOTE)


def _configures(facts: Facts, file: str) -> bool:
    """Whether a file has ports or BGP: if not, its host name is that of a prompt."""
    ports = (fact.file for port in facts.interfaces.values() for fact in port.addresses)
    return file in {*ports, *(process.file for process in facts.bgp.values())}


class Servers(FilesCheck):
    """Compares the NTP, syslog and DNS servers of every device with the plan; without a plan, counts them.

    Without synchronized clocks the logs of two switches cannot be put in order, and without a syslog server they are lost
    with the switch. Two NTP servers are the minimum: a single wrong one goes unnoticed.
    """

    id = "FAB283"
    title = "NTP, syslog and DNS servers match the plan"
    severity = ERROR
    example = "`ntp server 192.0.2.99`, a server that is not in the plan"
    remediation = "configure two NTP servers and a syslog server on the device, or under `management:` in the intent"
    planned_remediation = "run `fabric generate` to restore the file, or remove the override that changes these servers"
    kinds: ClassVar = ("ntp", "syslog", "dns")

    def check(self, network: Network) -> Iterator[Finding]:
        missing: dict[str, list[Facts]] = {"no NTP server": [], "only one NTP server": [], "no syslog server": []}
        for facts in network.devices:
            if not facts.services.ntp:
                missing["no NTP server"].append(facts)
            elif len(facts.services.ntp) == 1:
                missing["only one NTP server"].append(facts)
            if not facts.services.syslog:
                missing["no syslog server"].append(facts)
        for fault, devices in missing.items():
            if devices:
                others = plural(len(devices) - 1, "other device")
                rest = f" on this device and {others}" if len(devices) > 1 else ""
                yield self.finding_at(devices[0], None, f"{fault}{rest}", severity=NOTE)


class LoginServers(FilesCheck):
    """Compares the TACACS+, RADIUS and LDAP servers of every device, and the order of login methods, with the plan.

    A server that is not in the plan decides who is an administrator. A missing one, or a method that is gone, locks users
    out as soon as the others do not answer. Ports, times, groups and accounting are compared as statements (FAB295).
    """

    id = "FAB2530"
    title = "Login servers and the order of login methods match the plan"
    severity = ERROR
    example = "`tacacs-server host 192.0.2.99`, a server that is not in the plan"
    remediation = "restore the servers and the order of `management.aaa` on the device, or change them in the intent"
    planned_remediation = "run `fabric generate` to restore the file, or remove the override that changes these servers"
    kinds: ClassVar = ("tacacs", "radius", "ldap", "login")


class ControlPlane(FilesCheck):
    """Looks for devices whose control-plane protection is disabled.

    A switch forwards in hardware and runs its protocols on a small CPU: without a filter or policer in front of it, one
    host can take the CPU time of BGP.
    """

    id = "FAB284"
    title = "The control plane is protected"
    severity = WARNING
    example = "`no control-plane` policy on the device"
    remediation = "apply a control-plane policy, or a filter on the loopback"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            guard = facts.services.control_plane
            if guard is not None and not guard.value:
                yield self.finding_at(facts, guard, "control-plane protection is disabled")


class PlainText(FilesCheck):
    """Looks for Telnet, HTTP and SNMP before version 3.

    These protocols send passwords and community strings in clear text, readable by anyone on the path.
    """

    id = "FAB285"
    title = "No service sends passwords in clear text"
    severity = ERROR
    example = "`feature telnet`"
    remediation = "use SSH, HTTPS or gNMI over TLS, and SNMPv3"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for fact in facts.services.plain_text:
                message = f"clear-text service: {fact.value}"
                yield self.finding_at(facts, fact, message, merge=Merge(text=message))


class Secrets(FilesCheck):
    """Looks for literal passwords, keys and hashes.

    A secret in git is readable by everyone with access, for as long as the history exists. In generated files every secret
    is an error. Configs from devices always contain some, so their severity is that of the form: a login password in clear
    text is an error, as every network OS can store a hash; other clear text, and what anyone can decode (Cisco type 7,
    Junos `$9$`), is a warning; salted hashes, which can only be guessed, and what is encrypted with a key outside the
    file (Cisco type 6, Junos `$8$`) are notes. SNMP communities are reported by FAB285.
    """

    id = "FAB286"
    title = "No file contains a secret"
    severity = ERROR
    else_severity = "without an intent by the form of the secret"
    example = "`neighbor 10.64.0.1 password 7 0822455D0A16`"
    remediation = (
        "replace the secret with a placeholder `${NAME}` that is filled in when the config is loaded, then change the secret"
    )
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            reported = set() if network.planned else {(one.file, one.line) for one in facts.services.plain_text}
            for fact in facts.services.secrets:
                if (fact.file, fact.line) not in reported:
                    secret, about = fact.value, About(got=fact.value.what)
                    severity = ERROR if network.planned else self._severity(secret)
                    merge = Merge(text=f"stored {secret.form}: {{names}}", names=(secret.what,))
                    message = f"{secret.what} is stored {secret.form}"
                    yield self.finding_at(facts, fact, message, severity=severity, about=about, merge=merge)

    def _severity(self, secret: Secret) -> str:
        if secret.form in (HASH, ENCRYPTED):
            return NOTE
        return ERROR if secret.login and secret.form == CLEAR else WARNING


class Lldp(FilesCheck):
    """Looks for devices on which LLDP is disabled.

    LLDP reports which ports a cable connects; without it, swapped cables are searched by hand.
    """

    id = "FAB287"
    title = "LLDP is enabled"
    severity = NOTE
    example = "`no lldp run`"
    remediation = "enable LLDP on the fabric ports"
    of_device: ClassVar = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            lldp: Located[bool] | None = facts.services.lldp
            if lldp is not None and not lldp.value:
                yield self.finding_at(facts, lldp, "LLDP is disabled")


# --- logins without a password --------------------------------------------------------------------------------


class Logins(FilesCheck):
    """Looks for users without a password, and for root logins over SSH with a password.

    Without a password every host that reaches the management address is an administrator. The password of root is the same
    for all administrators, so a log does not show which of them logged in, and its name is known to everyone who guesses
    passwords.
    """

    id = "FAB2514"
    title = "Every login needs the password or key of a user"
    severity = ERROR
    else_severity = (
        "warning for a root login over SSH, and for a login without a password that is possible at the console only"
    )
    example = "`username admin privilege 15 nopassword`"
    remediation = "configure a password or SSH key for every user, and deny root logins over SSH"
    of_device = True

    def check(self, network: Network) -> Iterator[Finding]:
        for facts in network.devices:
            for fact in facts.services.open_logins:
                yield self.finding_at(facts, fact, fact.value, merge=Merge(text=fact.value))
            for fact in facts.services.weak_logins:
                yield self.finding_at(facts, fact, fact.value, severity=WARNING, merge=Merge(text=fact.value))
