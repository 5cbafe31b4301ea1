"""Statements of FRR on Linux: frr.conf, the interfaces of ifupdown2, nftables rules and the files of the services."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path as FilePath

from fabric.base.reading import MAX_DEPTH, TOO_DEEP, UnreadableError
from fabric.nos.frr.read.line import LAYOUT
from fabric.nos.reading.indented import Layout
from fabric.nos.statements.forms import Path, indented, plain
from fabric.nos.statements.syntax import Syntax

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
)
FOLDERS = {  # of files that a switch has in a folder of their service
    "sysctl.d": "sysctl.conf",
    "rsyslog.d": "rsyslog.conf",
    "lldpd.d": "lldpd.conf",
    "sshd_config.d": "sshd.conf",
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


def nftables(text: str) -> Iterator[tuple[Path, int]]:
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


def _sorted(match: re.Match[str]) -> str:
    return f"{{ {', '.join(sorted(element.strip() for element in match[1].split(',') if element.strip()))} }}"


def part_of(path: str, text: str) -> str:
    """The planned file that a file of a switch is, "" for none."""
    for folder in path.split("/")[:-1]:
        if part := FOLDERS.get(folder):
            return part
    return next((part for sign, part in SIGNS if sign.search(text)), "")


SYNTAX = Syntax(
    parts={
        "frr.conf": frr_conf,
        "interfaces": partial(indented, layout=INTERFACES),
        "nftables.conf": nftables,
        **dict.fromkeys(SERVICES, plain),
    },
    part_of=part_of,
    sectioned={"frr.conf": LAYOUT, "interfaces": INTERFACES},
    optional=frozenset(SERVICES) - {"sysctl.conf"},
    rules_file=FilePath(__file__).with_name("statements.yaml"),
)
