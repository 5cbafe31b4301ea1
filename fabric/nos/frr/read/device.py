"""Reads a Linux switch with FRR: frr.conf or the files of its daemons, /etc/network/interfaces, and what lies beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from fabric.model.facts import Facts, Located, Secret
from fabric.nos.frr.read.bgp import Processes
from fabric.nos.frr.read.conf import read_conf
from fabric.nos.frr.read.ifupdown import read_interfaces
from fabric.nos.frr.read.words import Device, unnumbered
from fabric.nos.reading import OF_TRAPS, ROOT_LOGIN, community, form_of, placeholder
from fabric.nos.reading.sections import bare

# --- Beside frr.conf: time, log, DNS, SNMP, accounts, packet filter, kernel settings --------------------------

TARGET = re.compile(r'target="([^"]+)"|\s@@?(?:\([^)]{0,200}\))?\[?([\w.:-]+?)\]?(?::\d+)?(?:;|\s|$)')
COMMUNITIES = {  # directive of snmpd.conf → what its community is
    "rocommunity": community(writes=False),
    "rocommunity6": community(writes=False),
    "rwcommunity": community(writes=True),
    "rwcommunity6": community(writes=True),
    "com2sec": "SNMP community",
    "com2sec6": "SNMP community",
    "trapcommunity": OF_TRAPS,
}
TIME = frozenset(("server", "pool", "peer"))
HOOK = re.compile(r"\bhook input\b|^-A (?:INPUT|\$?INGRESS_CHAIN)\b|^:INPUT DROP")
ENTERS = re.compile(r'iifname \{? ?((?:"[\w.-]+",? ?)+)\}? ?(?:jump|goto) (\S+)')
LISTENS = re.compile(r"-A\s+(?!127\.|::1\b|localhost\b)([\w.:]+)")  # where a daemon's prompt answers


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw.strip()
        if line and line[0] not in "#;":
            yield number, line


def _time(facts: Facts, file: str, text: str) -> None:
    for number, line in _lines(text):
        facts.statements += 1
        words = line.split()
        if words[0] in TIME and len(words) > 1:
            facts.services.ntp.append(Located(words[1], number, file))


def _log(facts: Facts, file: str, text: str) -> None:
    for number, line in _lines(text):
        facts.statements += 1
        for match in TARGET.finditer(line):
            facts.services.syslog.append(Located(match[1] or match[2], number, file))


def _names(facts: Facts, file: str, text: str) -> None:
    for number, line in _lines(text):
        facts.statements += 1
        words = line.split()
        if words[0] == "nameserver" and len(words) > 1:
            facts.services.dns.append(Located(words[1], number, file))


def _neighbors(facts: Facts, file: str, text: str) -> None:
    facts.services.lldp = Located(True, 1, file)
    for number, line in _lines(text):
        facts.statements += 1
        if re.search(r"lldp status (?:disabled|rx-only)", line):
            facts.services.lldp = Located(False, number, file)


def _snmp(facts: Facts, file: str, text: str) -> None:
    """A community travels in the clear; a user of version 3 may have literal keys."""
    for number, line in _lines(text):
        facts.statements += 1
        words = line.replace('"', "").split() or [""]
        if words[0] in COMMUNITIES:
            facts.services.plain_text.append(Located(COMMUNITIES[words[0]], number, file))
            if not placeholder(words[-1] if words[0].startswith("com2sec") else words[1] if len(words) > 1 else ""):
                facts.services.secrets.append(Located(Secret("SNMP community"), number, file))
        elif words[0] == "createUser" and any(not placeholder(word) for word in (*words[3:4], *words[5:6])):
            facts.services.secrets.append(Located(Secret(f"SNMP keys of user {words[1]}"), number, file))


def _accounts(facts: Facts, file: str, text: str) -> None:
    """`name:hash`, as chpasswd and /etc/shadow have it."""
    for number, line in _lines(text):
        facts.statements += 1
        name, _, rest = line.partition(":")
        text = rest.split(":")[0]
        if rest and not placeholder(text):
            secret = Secret(f"password of user {name}", form_of(text), login=True)
            facts.services.secrets.append(Located(secret, number, file))


def _shadow(facts: Facts, file: str, text: str) -> None:
    """A second field that is empty, not locked by `*` or `!`: no password is asked for."""
    _accounts(facts, file, text)
    for number, line in _lines(text):
        name, _, rest = line.partition(":")
        if rest.startswith(":"):
            facts.services.weak_logins.append(Located(f"user {name} needs no password at the console", number, file))


def _ssh(facts: Facts, file: str, text: str) -> None:
    """The first value of a keyword counts; what stands below `Match` is for some users or addresses."""
    first: dict[str, tuple[str, int]] = {}
    for number, line in _lines(text):
        facts.statements += 1
        words = line.replace("=", " ").lower().split()
        if words[0] == "match":
            break
        first.setdefault(words[0], (" ".join(words[1:]), number))
    for keyword, into, what in (
        ("permitrootlogin", facts.services.weak_logins, ROOT_LOGIN),
        ("permitemptypasswords", facts.services.open_logins, "logins over SSH without a password are permitted"),
    ):
        value, number = first.get(keyword, ("", 0))
        if value == "yes":
            into.append(Located(what, number, file))


def unbalanced(text: str) -> tuple[str, int] | None:
    """(what is wrong with the braces of a file, its line); nft loads nothing of the file then."""
    opened: list[int] = []
    for number, line in enumerate(bare(text).splitlines(), 1):
        for brace in re.findall(r"[{}]", line):
            if brace == "{":
                opened.append(number)
            elif opened:
                opened.pop()
            else:
                return "a brace is closed that was never opened", number
    return ("a brace is never closed", opened[-1]) if opened else None


def _filter(facts: Facts, file: str, text: str) -> None:
    """Rules in front of the CPU, and chains that what comes in at a port goes through."""
    if mistake := unbalanced(text):
        facts.broken.append(Located(*mistake, file))
    for number, line in _lines(text):
        facts.statements += 1
        if HOOK.search(line) and not facts.services.control_plane:
            facts.services.control_plane = Located(True, number, file)
        if match := ENTERS.match(line):
            for name in re.findall(r"[\w.-]+", match[1]):
                if port := facts.interfaces.get(name):
                    port.filters.append(Located(match[2], number, file))


def _kernel(facts: Facts, file: str, text: str) -> None:
    for number, line in _lines(text):
        facts.statements += 1
        name, _, value = (part.strip() for part in line.lstrip("-").partition("="))
        if name.endswith("fib_multipath_hash_seed") and value.isdecimal() and len(value) < 12:
            facts.hash_seed = Located(int(value), number, file)


def _daemons(facts: Facts, file: str, text: str) -> None:
    for number, line in _lines(text):
        facts.statements += 1
        if match := LISTENS.search(line):
            name = line.partition("_options")[0]
            facts.services.plain_text.append(Located(f"telnet to {name} on {match[1]}", number, file))


def _hostname(facts: Facts, file: str, text: str) -> None:
    for number, line in _lines(text):
        facts.statements += 1
        facts.hostname = facts.hostname or Located(line.split()[0], number, file)


def _passed(facts: Facts, file: str, text: str) -> None:
    """Banners and the like tell nothing that a check asks for."""
    facts.statements += sum(1 for _ in _lines(text))


FILES: Mapping[str, Callable[[Facts, str, str], None]] = {
    "accounts": _accounts,
    "chrony.conf": _time,
    "control_plane.rules": _filter,
    "daemons": _daemons,
    "hostname": _hostname,
    "issue": _passed,
    "issue.net": _passed,
    "lldpd.conf": _neighbors,
    "motd": _passed,
    "nftables.conf": _filter,
    "ntp.conf": _time,
    "ports.conf": _passed,
    "resolv.conf": _names,
    "rsyslog.conf": _log,
    "rules.v4": _filter,
    "shadow": _shadow,
    "snmpd.conf": _snmp,
    "sshd.conf": _ssh,
    "sshd_config": _ssh,
    "sysctl.conf": _kernel,
    "timezone": _passed,
    "vtysh.conf": _passed,
}


def reader_of(file: str) -> Callable[[Facts, str, str], None] | None:
    """The reader of a file by its name; None for files of FRR and ifupdown2, and unknown ones."""
    return FILES.get(PurePath(file).name)


# --- The switch -----------------------------------------------------------------------------------------------

IFUPDOWN = re.compile(r"^[ \t]*(?:auto|iface|source|allow-\w+) \S", re.MULTILINE)
ROUTING = re.compile(
    r"^(?:frr (?:version|defaults)|router \w+|route-map|ip prefix-list|service integrated-\S+|log syslog|interface)(?!\S)",
    re.MULTILINE,
)
PORTS_HEAD = "# This file describes the network interfaces"
NAME = re.compile(r"\s*(?:hostname )?([\w.-]+)[ \t]*\n")  # a concatenated file begins with the name of the switch


def read(name: str, files: Mapping[str, str]) -> Facts:
    """The facts of one switch. Ports are read before routing, so that a port's place is where the kernel's file names it."""
    device = Device(Facts(name=name, nos="frr", files=tuple(files)))
    processes = Processes(device)
    parts = [part for file, text in files.items() for part in _parts(device.facts, file, text)]
    kernel = [(file, text) for kind, file, text in parts if kind == "interfaces"]
    for file, text in kernel:
        read_interfaces(device, file, text)
    for kind, file, text in parts:
        if kind == "frr":
            read_conf(processes, file, text)
        elif kind == "other" and (other := reader_of(file)):
            other(device.facts, file, text)
    processes.finish()
    device.tenants_apart()
    _settle(device)
    return device.finish()


def _parts(facts: Facts, file: str, text: str) -> Iterator[tuple[str, str, str]]:
    """(kind, file, text); a concatenated file of Cumulus Linux has both kinds, and each line keeps its number."""
    if reader_of(file):
        yield "other", file, text
        return
    kernel, routing = IFUPDOWN.search(text), ROUTING.search(text)
    if not (routing and (PORTS_HEAD in text or (kernel and kernel.start() < routing.start()))):
        yield ("interfaces" if kernel and not routing else "frr"), file, text
        return
    end = routing.start()
    if first := NAME.match(text):
        facts.hostname = Located(first[1], text.count("\n", 0, first.start(1)) + 1, file)
    ports = text.find("# ports.conf")  # which says how ports are split, between the two
    start = first.end() if first else 0
    yield "interfaces", file, "\n" * text.count("\n", 0, start) + text[start : ports if start < ports < end else end]
    yield "frr", file, "\n" * text.count("\n", 0, end) + text[end:]


def _settle(device: Device) -> None:
    """What is only known when every file is read."""
    facts = device.facts
    facts.name = facts.hostname.value if facts.hostname else facts.name
    for process in facts.bgp.values():
        for neighbor in process.neighbors.values():
            unnumbered(facts, neighbor)
