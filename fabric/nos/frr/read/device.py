"""Reads a Linux switch with FRR: frr.conf or the files of its daemons, /etc/network/interfaces, and what lies beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from ipaddress import ip_address, ip_interface
from pathlib import PurePath

from fabric.model.facts import Facts, Located, Secret
from fabric.nos.frr.read.bgp import Processes
from fabric.nos.frr.read.conf import read_conf
from fabric.nos.frr.read.ifupdown import read_interfaces
from fabric.nos.frr.read.words import DERIVED, Device, unnumbered
from fabric.nos.reading import OF_TRAPS, ROOT_LOGIN, Section, community, form_of, placeholder
from fabric.nos.reading.rules import Line, Reading, Rules, Table, add, keep, switch
from fabric.nos.reading.sections import bare
from fabric.nos.reading.values import is_address

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
HOOK = re.compile(r"\bhook input\b|^-A (?:INPUT|\$?INGRESS_CHAIN)\b|^:INPUT DROP")
ENTERS = re.compile(r'iifname \{? ?((?:"[\w.-]+",? ?)+)\}? ?(?:jump|goto) (\S+)')
SSH = {  # keyword of sshd → what `yes` permits, and the list that it belongs to
    "permitrootlogin": ("weak_logins", ROOT_LOGIN),
    "permitemptypasswords": ("open_logins", "logins over SSH without a password are permitted"),
}


def _log(facts: Facts, line: Line) -> None:
    facts.services.syslog += (line.located(match[1] or match[2]) for match in TARGET.finditer(line[0]))


def _community(facts: Facts, line: Line) -> None:
    """It travels in the clear."""
    word, *words = line[0].replace('"', "").split()
    facts.services.plain_text.append(line.located(COMMUNITIES[word]))
    if not placeholder((words or [""])[-1 if word.startswith("com2sec") else 0]):
        facts.services.secrets.append(line.located(Secret("SNMP community")))


def _user(facts: Facts, line: Line) -> None:
    """A user of version 3 may have literal keys."""
    words = line[0].replace('"', "").split()
    if any(not placeholder(word) for word in (*words[3:4], *words[5:6])):
        facts.services.secrets.append(line.located(Secret(f"SNMP keys of user {words[1]}")))


def _account(facts: Facts, line: Line) -> None:
    """`name:hash`, as chpasswd and /etc/shadow have it."""
    if not placeholder(line[2]):
        secret = Secret(f"password of user {line[1]}", form_of(line[2]), login=True)
        facts.services.secrets.append(line.located(secret))


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


def _packets(facts: Facts, line: Line) -> None:
    """Rules in front of the CPU, and chains that what comes in at a port goes through."""
    if HOOK.search(line[0]) and not facts.services.control_plane:
        facts.services.control_plane = line.located(True)
    if match := ENTERS.match(line[0]):
        ports = (facts.interfaces.get(name) for name in re.findall(r"[\w.-]+", match[1]))
        for port in filter(None, ports):
            port.filters.append(line.located(match[2]))


def _radius(facts: Facts, line: Line) -> None:
    """`server[:port] secret …`, an IPv6 address in brackets."""
    server = line[1] or line[2]
    facts.services.radius.append(line.located(server))
    if not placeholder(line[3]):
        facts.services.secrets.append(line.located(Secret(f"key of radius server {server}")))


def _pam(facts: Facts, line: Line) -> None:
    first = int(line[1]) > LOCAL_PRIORITY
    facts.services.login = line.located("radius, local" if first else "local, radius")


def _daemon(facts: Facts, line: Line) -> None:
    facts.services.plain_text.append(line.located(f"telnet to {line[1].partition('_options')[0]} on {line[2]}"))


def _hostname(facts: Facts, line: Line) -> None:
    facts.hostname = facts.hostname or line.located(line[1])


ACCOUNT: Table[Facts] = {r"([^:]*):([^:]+).*": _account}
LOCAL_PRIORITY = 256  # of pam_unix in /usr/share/pam-configs/unix
NO_PASSWORD = "user {} needs no password at the console"  # where the second field is empty, not locked by `*` or `!`
TIME: Rules[Facts] = Rules({r"(?:server|pool|peer) (\S+).*": add("services.ntp")}, None)
PACKETS: Rules[Facts] = Rules({r".*": _packets}, None)
PASSED: Rules[Facts] = Rules({}, None)  # banners and the like
FILES: Mapping[str, Rules[Facts]] = {
    "accounts": Rules(ACCOUNT, None),
    "chrony.conf": TIME,
    "control_plane.rules": PACKETS,
    "daemons": Rules({r"(.*)-A (?!127\.|::1\b|localhost\b)([\w.:]+).*": _daemon}, None),  # where a prompt answers
    "hostname": Rules({r"(\S+).*": _hostname}, None),
    "lldpd.conf": Rules({r".*lldp status (?:disabled|rx-only).*": switch("services.lldp", False)}, None),
    "nftables.conf": PACKETS,
    "ntp.conf": TIME,
    "pam_radius_auth.conf": Rules({r"(?:\[([^\]]+)\]|([^\s:]+))(?::\d+)? (\S+).*": _radius}, None),
    "radius.pam": Rules({r".*Priority: (\d{1,4})": _pam}, None),
    "resolv.conf": Rules({r"nameserver (\S+).*": add("services.dns")}, None),
    "rsyslog.conf": Rules({r".*": _log}, None),
    "rules.v4": PACKETS,
    "shadow": Rules({**ACCOUNT, r"([^:]*)::.*": add("services.weak_logins", NO_PASSWORD.format)}, None),
    "snmpd.conf": Rules({rf"(?:{'|'.join(COMMUNITIES)})(?: .*)?": _community, r"createUser .*": _user}, None),
    "sysctl.conf": Rules({r".*fib_multipath_hash_seed ?= ?(\d{1,11})": keep("hash_seed", int)}, None),
    **dict.fromkeys(("issue", "issue.net", "motd", "ports.conf", "timezone", "vtysh.conf"), PASSED),
}


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, raw in enumerate(text.split("\n"), 1):
        line = " ".join(raw.split())
        if line and line[0] not in "#;":
            yield number, line


def _ssh(facts: Facts, file: str, text: str) -> None:
    """The first value of a keyword counts; what stands below `Match` is for some users or addresses."""
    first: dict[str, tuple[str, int]] = {}
    for number, line in _lines(text):
        facts.statements += 1
        word, *words = line.replace("=", " ").lower().split()
        if word == "match":
            break
        first.setdefault(word, (" ".join(words), number))
    for keyword, (into, what) in SSH.items():
        value, number = first.get(keyword, ("", 0))
        if value == "yes":
            getattr(facts.services, into).append(Located(what, number, file))


def _read(rules: Rules[Facts], facts: Facts, file: str, text: str) -> None:
    if rules is FILES["lldpd.conf"]:
        facts.services.lldp = Located(True, 1, file)
    if rules is PACKETS and (mistake := unbalanced(text)):
        facts.broken.append(Located(*mistake, file))
    reading = Reading(facts, file)
    for number, line in _lines(text):
        facts.statements += 1
        rules.line(Section(line, number), [facts], reading)


def reader_of(file: str) -> Callable[[Facts, str, str], None] | None:
    """The reader of a file by its name; None for files of FRR and ifupdown2, and unknown ones."""
    name = PurePath(file).name
    return _ssh if name in ("sshd.conf", "sshd_config") else partial(_read, FILES[name]) if name in FILES else None


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
    device = Device(facts=Facts(name=name, nos="frr", files=tuple(files), derived=DERIVED))
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
    if not kernel:
        _infer_vrfs(device.facts)
    device.tenants_apart()
    _settle(device)
    return device.finish()


def _infer_vrfs(facts: Facts) -> None:
    """FRR's files need not say which VRF the kernel has a port in; neighbors of a VRF in its subnet tell, where no other VRF
    has one there."""
    for port in facts.interfaces.values():
        subnets = [ip_interface(address.value).network for address in port.addresses]
        found = [
            (vrf, peer)
            for vrf, process in facts.bgp.items()
            for peer in process.neighbors.values()
            if is_address(peer.peer) and not peer.dynamic and any(ip_address(peer.peer) in subnet for subnet in subnets)
        ]
        if port.vrf is None and len({vrf for vrf, _ in found}) == 1 and found[0][0]:
            vrf, peer = found[0]
            port.vrf = Located(vrf, peer.line, peer.file)


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
