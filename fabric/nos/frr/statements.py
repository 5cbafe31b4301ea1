"""Statements of FRR on Linux, and what its commands mean to one another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from fabric.base.reading import MAX_DEPTH, TOO_DEEP, UnreadableError
from fabric.nos.dialect import BGP_FILTER, BGP_NEIGHBOR, COMMANDS, Dialect, Effect, Rules
from fabric.nos.frr.read.words import LAYOUT
from fabric.nos.frr.target import DAEMONS
from fabric.nos.reading.sections import Layout, StatementPath
from fabric.nos.statements.syntax import Syntax, indented, plain

# --- Statements: frr.conf, the interfaces of ifupdown2, nftables rules and the files of the services ----------

SERVICES = (
    "daemons",
    "sysctl.conf",
    "chrony.conf",
    "rsyslog.conf",
    "lldpd.conf",
    "sshd.conf",
    "accounts",
    "issue.net",
    "snmpd.conf",
    "radius.pam",
)
RADIUS = "pam_radius_auth.conf"
FOLDERS = {  # of files that a switch has in a folder of their service
    "sysctl.d": "sysctl.conf",
    "rsyslog.d": "rsyslog.conf",
    "lldpd.d": "lldpd.conf",
    "sshd_config.d": "sshd.conf",
    "pam-configs": "radius.pam",
}
SIGNS = (  # of a file with another name
    (re.compile(r"^(?:frr (?:version|defaults)|router bgp) ", re.MULTILINE), "frr.conf"),
    (re.compile(r"^(?:auto|iface) \S", re.MULTILINE), "interfaces"),
    (re.compile(r"^table (?:inet|ip|ip6) ", re.MULTILINE), "nftables.conf"),
    (re.compile(r"^-?net\.ipv[46]\.", re.MULTILINE), "sysctl.conf"),
)
SET = re.compile(r"\{([^{}]*)\}")
INTERFACES = Layout(comments="#", closing=frozenset(), banner=None)  # of ifupdown2

frr_conf = partial(indented, layout=LAYOUT)


def nftables(text: str) -> Iterator[tuple[StatementPath, int]]:
    """Sections in braces; a set in braces is one statement on one line or several, its elements sorted."""
    path: list[str] = []
    statement, start = "", 0
    for number, raw in enumerate(text.splitlines(), 1):
        line = re.sub(r"(?:^|\s)#.*", "", raw).strip()
        if not line:
            continue
        if statement or ("{" in line and not line.endswith("{")) or line.endswith("= {"):
            start = start if statement else number
            statement = f"{statement} {line}".strip()
            if statement.count("{") > statement.count("}"):
                continue
            line, number, statement = statement, start, ""
        if line == "}":
            del path[-1:]
        elif line.endswith("{"):
            if len(path) >= MAX_DEPTH:
                raise UnreadableError(TOO_DEEP, number)
            path.append(line[:-1].strip())
            yield tuple(path), number
        else:
            yield (*path, " ".join(SET.sub(_sorted, line).split())), number


def radius(text: str) -> Iterator[tuple[StatementPath, int]]:
    """The lines of pam_radius_auth.conf as entries of one list: servers are asked in their order."""
    for path, number in plain(text):
        yield ("servers", *path), number


def _sorted(match: re.Match[str]) -> str:
    return f"{{ {', '.join(sorted(element.strip() for element in match[1].split(',') if element.strip()))} }}"


def part_of(path: str, text: str) -> str:
    """The planned file that a file of a switch is, "" for none."""
    *folders, name = path.split("/")
    for folder in folders:
        if part := FOLDERS.get(folder):
            return part
    if name.removesuffix(".conf") in DAEMONS:
        return "frr.conf"
    return next((part for sign, part in SIGNS if sign.search(text)), "")


SYNTAX = Syntax(
    parts={
        "frr.conf": frr_conf,
        "interfaces": partial(indented, layout=INTERFACES),
        "nftables.conf": nftables,
        RADIUS: radius,
        **dict.fromkeys(SERVICES, plain),
    },
    part_of=part_of,
    sectioned={"frr.conf": LAYOUT, "interfaces": INTERFACES},
    optional=frozenset((*SERVICES, RADIUS)) - {"sysctl.conf"},
    rules_file=Path(__file__).with_name("statements.yaml"),
)


# --- Commands -------------------------------------------------------------------------------------------------

SEEN = "FRR 8.4.4, seen"
NO_TARGET = "no route-target (?:import|export)"

EFFECTS = (
    Effect(  # the members of a group with an AS number of its own have none
        heads=("router bgp ",),
        command=r"no neighbor (\S+) remote-as \S+",
        takes="neighbor {members} .*",
        source=f"{SEEN}; bgpd/bgpd.c, peer_group_remote_as_delete: peer_delete of every member",
    ),
    Effect(
        heads=("router bgp ",),
        command=r"no neighbor (\S+) remote-as \S+",
        takes="neighbor {0} .*",
        over=r"neighbor {0} (?:interface )?peer-group \S+",
        source=f"{SEEN}; bgpd/bgp_vty.c, no_neighbor: peer_delete",
    ),
    Effect(
        heads=("router bgp ",),
        command=r"no neighbor (\S+) peer-group \S+",
        takes="neighbor {0} .*",
        source=f"{SEEN}; bgpd/bgp_vty.c, no_neighbor_set_peer_group: peer_delete",
    ),
    Effect(
        heads=("router bgp ",),
        command=r"no neighbor (\S+) peer-group",
        takes="neighbor {members} .*",
        source=f"{SEEN}; bgpd/bgpd.c, peer_group_delete: peer_delete of every member",
    ),
    Effect(
        heads=("router bgp ",),
        command=r"no neighbor (\S+) interface .*",
        takes="neighbor {0} .*",
        source=f"{SEEN}; bgpd/bgp_vty.c, no_neighbor: peer_delete",
    ),
    Effect(  # `% Cannot change peer-group. Deconfigure first`; without a group before, `no … activate` would stay against it
        heads=("router bgp ",),
        command=r"neighbor (\S+) (?:interface )?peer-group \S+",
        over=r"neighbor {0} .*",
        first="no neighbor {0}",
        takes="neighbor {0} .*",
        source=f"{SEEN}; bgpd/bgpd.c, peer_group_bind: BGP_ERR_PEER_GROUP_CANT_CHANGE",
    ),
)

RULES = Rules(
    single=(
        ((), r"(frr defaults|hostname|log syslog|log facility|fpm address|(?:ip|ipv6) protocol bgp) "),
        ((), r"((?:ip|ipv6) prefix-list \S+ seq \d+) "),
        (("bfd", "profile "), r"(detect-multiplier|receive-interval|transmit-interval) "),
        (("route-map ",), r"(set src|set local-preference|match ip address prefix-list|description) "),
        (("router bgp ",), r"(bgp router-id|bgp graceful-restart restart-time) "),
        (("router bgp ",), BGP_NEIGHBOR),
        (("router bgp ", "address-family "), r"(maximum-paths|rd|neighbor \S+ maximum-prefix) "),
        (("router bgp ", "address-family "), BGP_FILTER),
    ),
    definitions=r"((?:ip|ipv6) (?:prefix-list|access-list) \S+|bgp (?:community-list|as-path access-list) \S+|route-map \S+)",
    exclusive=r"(vni \d+|(?:ip|ipv6) prefix-list \S+) ?(?:seq \d+ (.+))?",
    permanent=r"vrf \S+|address-family .+|interface \S+",  # of the kernel: `only inactive interfaces can be deleted`
    inverses=(
        (r"no (detect-multiplier) .*", r"\1 3"),  # `no` does not exist for these in BFD; the default is set
        (r"no (receive-interval|transmit-interval) .*", r"\1 300"),
        (r"no (echo (?:receive|transmit)-interval) .*", r"\1 50"),
        (r"no (advertise ipv[46] unicast) .*", r"no \1"),
        (r"no (password|enable password|description) .*", r"no \1"),
    ),
    indent=" ",
    top_only=r"(?:no )?(?:vrf|vni) \S+",  # `vrf` of `router bgp` is `vrf-policy`, `vni` of `vrf` the VNI of that VRF
    effects=EFFECTS,
    removed_first=r"import vrf \S+",  # an instance that another one imports from cannot go
    derived=r"no neighbor (\S+) activate",  # printed beside `bgp default ipv4-unicast`
    released_first=(  # `% Please unconfigure l3vni 50001`
        (r"no router bgp \d+ vrf (\S+)", r"vrf \1", r"vni \d+.*"),
        (r"no router bgp \d+", "", r"vni \d+.*"),
    ),
    warnings=(
        (r"^no router bgp \d+$", "every BGP session of this instance ends"),
        (  # `% Please unconfigure l3vni 50001`: zebra tells bgpd of the VNI a moment later
            r"^ *no vni \d+.*\n(?:.*\n)*?(?P<at>no router bgp \d+(?: vrf \S+)?)$",
            "wait a second here: bgpd refuses the next line until it knows that the VNI is gone",
        ),
        (  # both lists share an object, which is freed twice, also by `no router bgp` of the VRF
            rf"^ +{NO_TARGET} (\S+)\n(?: +{NO_TARGET} .*\n)*? +{NO_TARGET} \1$",
            "bgpd of FRR 8.4 ends here if this was entered as `route-target both`: restart it with the planned frr.conf",
        ),
    ),
)

DIALECT = Dialect({"frr.conf": COMMANDS}, RULES, layout=LAYOUT)
