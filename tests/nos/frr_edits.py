"""Random edits of valid frr.conf files, loaded by live FRR daemons: what they refuse or alter, against what the checks find.

    python -m tests.nos.frr_edits --seed 1 --edits 2000

needs FRR (`vtysh`, zebra, bgpd, bfdd, staticd) and root in a network namespace of its own. An edit changes a value or a
word, moves, repeats or deletes a line or the end of a section, or adds a line of another file or of ADDED. The edited file
is loaded by `vtysh -f` into daemons without a config; `write terminal` is compared with it, statement by statement. A line
is refused or altered if vtysh names it, or the running config does not have it though it has the like of the unedited file;
not if it has the line in another form: a prefix without the bits of a host, a line of IPv4 unicast in its address family.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric.audit.checks.files.refused import RefusedCheck
from fabric.audit.checks.network import Network
from fabric.audit.checks.role_peers.outline import judged
from fabric.audit.checks.statements import syntax_of
from fabric.nos.reading import read_device
from fabric.nos.reading.sections import StatementPath
from fabric.nos.statements.compare import CHANGED, MISSING, compare
from tests.examples import folder
from tests.waiting import wait_for

DAEMONS = Path("/usr/lib/frr")
SOCKETS = Path("/run/frr")
STARTED = {"zebra": ("-n",), "staticd": (), "bfdd": (), "bgpd": ("-n", "-p", "0")}
REFUSED = re.compile(r"line (\d+): ")
NUMBER = re.compile(r"(?<![\w.:/-])\d+(?![\w./-])")
EXAMPLES = ("evpn-lab", "three-tier", "starter")
NAMED = re.compile(r"neighbor (\S+)|peer-group (\S+)")
HEAD = re.compile(r" *(?:address-family|vni|router|vrf|bfd|interface)\b")  # a section without lines is not shown
WITH_PREFIX = re.compile(
    r"^ *(?:ip route|ipv6 route|network|aggregate-address|bgp listen range) .*|.* prefix-list .*", re.MULTILINE
)
PREFIX = re.compile(r"[\da-fA-F.:]+/\d+")
LOST = re.compile(r"^(exit|hostname|log |service |frr |fpm |no fpm |!)")  # lines of vtysh and of daemons that are not started


def lacking() -> str:
    """Why live daemons cannot be asked, "" if they can."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return "needs root"
    return "" if all((DAEMONS / name).exists() for name in STARTED) and shutil.which("vtysh") else "needs FRR"


class Daemons:
    """FRR daemons with an empty config, in a network namespace of their own; started again for each config."""

    def __init__(self, scratch: Path) -> None:
        self.scratch, self.running = scratch, list[subprocess.Popen[bytes]]()
        self.empty = self.load("")[0]

    def load(self, text: str) -> tuple[str, set[int]]:
        """(the running config behind a file, numbers of the lines that vtysh names)."""
        self.stop()
        self._start()
        file = self.scratch / "frr.conf"
        file.write_text(text, encoding="utf-8")
        loaded = subprocess.run(["vtysh", "-f", str(file)], capture_output=True, text=True, check=False)
        lines = {int(number) for number in REFUSED.findall(loaded.stdout + loaded.stderr)}
        return running_config(), lines

    def _start(self) -> None:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        for name, options in STARTED.items():
            self.running.append(subprocess.Popen([DAEMONS / name, *options, "-A", "127.0.0.1"], **silent))
        wait_for(lambda: all((SOCKETS / f"{name}.vty").exists() for name in STARTED), "FRR did not start", every_s=0.01)
        wait_for(lambda: set(asked("show daemons").split()) == set(STARTED), "vtysh does not reach all daemons", every_s=0.01)

    def stop(self) -> None:
        for daemon in self.running:
            daemon.kill()
            daemon.wait()
        self.running.clear()
        for file in SOCKETS.glob("*"):
            if file.is_file() or file.is_socket():
                file.unlink()


def running_config() -> str:
    """As the daemons show it."""
    return asked("write terminal").partition("Current configuration:")[2]


def asked(command: str) -> str:
    """What vtysh answers."""
    return subprocess.run(["vtysh", "-c", command], capture_output=True, text=True, check=False).stdout


# --- Edits ----------------------------------------------------------------------------------------------------

FULL = Path(__file__).with_name("frr_full.conf").read_text(encoding="utf-8")  # of many commands
ADDED = {  # head of a section → lines that are valid there, or nearly
    "router bgp": (
        "neighbor 10.9.0.1 remote-as 65100",
        "neighbor 10.9.0.1 remote-as 65001",
        "neighbor 10.9.0.5 peer-group FABRIC",
        "neighbor 10.9.0.5 peer-group RR",
        "neighbor 10.9.0.21 timers 3 9",
        "neighbor 10.9.0.21 remote-as 65100",
        "neighbor 10.9.0.23 peer-group OLD",
        "neighbor 10.9.0.23 peer-group NONE",
        "neighbor OLD remote-as 65001",
        "neighbor FABRIC remote-as 65500",
        "neighbor swp9 remote-as external",
        "neighbor 10.9.0.5 ttl-security hops 1",
        "neighbor 10.9.0.9 ebgp-multihop 2",
        "neighbor 10.9.0.5 local-as 65001",
        "neighbor 10.8.0.11 local-as 65009",
        "neighbor RR ebgp-multihop 2",
        "bgp listen range 10.2.0.0/16 peer-group NONE",
        "bgp cluster-id 10.8.0.1",
        "neighbor 10.9.0.5 bfd profile FAST",
    ),
    "address-family ipv4 unicast": (
        "neighbor 10.9.0.5 route-reflector-client",
        "neighbor FABRIC route-reflector-client",
        "neighbor 10.9.0.5 next-hop-self",
        "neighbor 10.9.0.77 activate",
        "no neighbor 10.9.0.9 activate",
        "neighbor 10.9.0.5 maximum-prefix 100",
        "neighbor 10.8.0.11 remove-private-AS",
        "neighbor 10.9.0.5 route-server-client",
        "neighbor 10.9.0.5 send-community both",
        "network 10.8.0.2/32",
    ),
    "address-family l2vpn evpn": (
        "neighbor 10.9.0.5 activate",
        "neighbor 10.9.0.5 route-reflector-client",
        "advertise-all-vni",
        "advertise-default-gw",
        "rd 10.8.0.1:9",
        "route-target import 65000:9",
        "advertise ipv4 unicast",
    ),
    "route-map": ("set ip next-hop unchanged", "match evpn vni 10100", "on-match next", "set src 10.8.0.1"),
    "profile": ("echo-mode", "passive-mode"),
}
EDITS = {"value": 10, "word": 5, "move": 4, "delete": 2, "repeat": 2, "close": 1, "add": 5, "line": 4}  # and how often
DRAWN = (0, 1, 2, 3, 5, 9, 10, 64, 99, 128, 255, 256, 257, 300, 600, 601, 4095, 4096, 60000, 60001, 65535, 65536, 100000)
DRAWN += (16777215, 16777216, 4294967295, 4294967296)
ENDS = ("exit", "exit-vrf", "exit-vni", "exit-address-family", "!", "end")


def bases() -> list[str]:
    """Valid frr.conf files: FULL, and one of each role of the examples."""
    files = [path for site in EXAMPLES for path in sorted(folder(site).rglob("frr.conf"))]
    found = {re.sub(r"\d+", "", path.parent.name): path for path in files}
    return [FULL, *(path.read_text(encoding="utf-8") for path in found.values())]


@dataclass(frozen=True)
class Edit:
    """One edit of one base."""

    kind: str
    base: str
    text: str
    line: int  # that was changed, added or moved, from 1; of a deleted one the line that took its place


def edit(draw: random.Random, base: str, known: Sequence[str]) -> Edit:
    """One random edit of one of the known files."""
    rows = base.splitlines()
    bodies = [at for at, row in enumerate(rows) if row.strip() and row.strip() not in ENDS and row.strip()[0] not in "!#"]
    kind = draw.choices(tuple(EDITS), tuple(EDITS.values()))[0]
    at = draw.choice(bodies)
    if kind == "value":
        at = draw.choice([at for at in bodies if re.search(r"\d", rows[at]) and not LOST.match(rows[at])])
        rows[at] = changed(draw, rows[at])
    elif kind == "word":
        at = draw.choice([at for at in bodies if " " in rows[at].strip() and not LOST.match(rows[at])])
        rows[at] = other_word(draw, rows[at], known)
    elif kind == "repeat":
        at = draw.choice([at for at in bodies if NUMBER.search(rows[at]) and rows[at].startswith(" ")])
        rows.insert(at + 1, changed(draw, rows[at]))
        at += 1
    elif kind == "delete":
        del rows[at]
    elif kind == "close":
        at = draw.choice([at for at, row in enumerate(rows) if row.strip() in ENDS and row.strip() != "!"])
        row = rows.pop(at)
        if draw.random() < 0.5:
            at = draw.randrange(len(rows))
            rows.insert(at, row)
    elif kind == "move":
        at = draw.choice([at for at in bodies if rows[at].startswith(" ") and not _is_head(rows, at)])
        first, last = _section(rows, at)
        row = rows.pop(at)
        at = draw.randint(first, max(first, last - 1))
        rows.insert(at, row)
    else:
        at = _add(draw, rows, bodies, ADDED if kind == "add" else bodies_of(tuple(known)))
    return Edit(kind, base, "\n".join(rows) + "\n", at + 1)


def _add(draw: random.Random, rows: list[str], bodies: Sequence[int], lines: Mapping[str, Sequence[str]]) -> int:
    """Adds one of the lines that belong below a head to a section with that head; the position of the line."""
    heads = [(at, head) for at in bodies for head in lines if rows[at].strip().startswith(head)]
    at, head = draw.choice(heads)
    margin = " " * (len(rows[at]) - len(rows[at].lstrip()) + 1)
    first, last = _section(rows, at + 1)
    at = draw.randint(first, last)
    rows.insert(at, margin + draw.choice(lines[head]))
    return at


@cache
def bodies_of(known: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """First words of a head → the lines below it in all files."""
    found: dict[str, dict[str, None]] = {}
    for text in known:
        heads: list[str] = []
        for row in text.splitlines():
            line, margin = row.strip(), _margin(row)
            if not line or line in ENDS or line[0] in "!#":
                continue
            del heads[margin:]
            if heads:
                first = " ".join(heads[-1].split()[: 3 if heads[-1].startswith("address-family") else 2 if margin < 2 else 1])
                found.setdefault(first, {})[line] = None
            heads.append(line)
    return {head: tuple(lines) for head, lines in found.items() if not head.startswith(("interface", "vrf"))}


def other_word(draw: random.Random, row: str, known: Sequence[str]) -> str:
    """A line with one word as another line has it there that begins with the same word."""
    words = row.split()
    at = draw.randrange(1, len(words))
    like = (line.split() for text in known for line in text.splitlines())
    others = sorted({line[at] for line in like if len(line) > at and line[0] == words[0]} - {words[at]})
    words[at] = draw.choice(others) if others else words[at]
    return " " * _margin(row) + " ".join(words)


def changed(draw: random.Random, row: str) -> str:
    """A line with one number of it replaced: a whole word, or a part of an identifier or an address."""
    head = len(row) - len(row.lstrip()) + len(row.split()[0])
    spans = [match.span() for match in re.finditer(r"(?<![A-Za-z\d])\d+(?![A-Za-z\d])", row) if match.start() >= head]
    if not spans:
        return row
    first, last = draw.choice(spans)
    number = int(row[first:last])
    to = draw.choice((*DRAWN, number + 1, max(0, number - 1), number * 10, draw.randrange(1 << draw.randrange(1, 33))))
    return f"{row[:first]}{to}{row[last:]}"


def _margin(row: str) -> int:
    return len(row) - len(row.lstrip())


def _is_head(rows: Sequence[str], at: int) -> bool:
    return at + 1 < len(rows) and _margin(rows[at + 1]) > _margin(rows[at]) and bool(rows[at + 1].strip())


def _section(rows: Sequence[str], at: int) -> tuple[int, int]:
    """(first line, the one behind the last) of the lines of one level and deeper around a line."""
    margin = _margin(rows[at])
    first = last = at
    while first > 0 and (_margin(rows[first - 1]) >= margin or rows[first - 1].strip() == "!"):
        first -= 1
    while last < len(rows) and _margin(rows[last]) >= margin:
        last += 1
    return first, last


# --- Judging --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """What the daemons and the checks say of the lines of one edit: numbers of lines."""

    edit: Edit
    bad: frozenset[int]
    flagged: frozenset[int]

    @property
    def found(self) -> frozenset[int]:
        """Bad lines with a finding, those below one, as its section is lost, and those about the same neighbor."""
        rows = self.edit.text.splitlines()
        causes = self.bad & self.flagged
        if not causes:
            return frozenset()
        names = {name for line in causes for pair in NAMED.findall(rows[line - 1]) for name in pair if name}
        first = min(causes)
        return frozenset(line for line in self.bad if line > first or line in causes or names & set(rows[line - 1].split()))


class Judge:
    """Asks daemons and checks; remembers what the daemons hide or add of each unedited file."""

    def __init__(self, daemons: Daemons) -> None:
        self.daemons, self.syntax = daemons, syntax_of("frr")
        self.hidden: dict[str, set[str]] = {}

    def of(self, one: Edit) -> Judged:
        if one.base not in self.hidden:
            lost, lines = self._lost(one.base)
            rows = one.base.splitlines()
            self.hidden[one.base] = {rows[line - 1].strip() for line in (*lost, *lines)}
        lost, lines = self._lost(one.text)
        rows = one.text.splitlines()
        bad = {line for line in (*lost, *lines) if rows[line - 1].strip() not in self.hidden[one.base]}
        bad = {line for line in bad if not LOST.match(rows[line - 1].strip())}
        bad = {line for line in bad if line in lines or not HEAD.match(rows[line - 1])}
        found = flagged(one.text)
        bad |= {line for line in found if rows[line - 1].strip() in ENDS and any(below > line for below in lines)}
        bad |= {line for line in found if HEAD.match(rows[line - 1]) and line + 1 in bad}  # of a section that is lost
        return Judged(one, frozenset(bad), frozenset(found))

    def _lost(self, text: str) -> tuple[list[int], set[int]]:
        """(numbers of the lines that the running config does not have, of those that vtysh names)."""
        shown, lines = self.daemons.load(text)
        wanted, running = (self.syntax.read({"frr.conf": stored(whole)}) for whole in (text, shown))
        differ = [one.path for one in compare(self.syntax, wanted, running) if one.kind in (MISSING, CHANGED)]
        return [wanted[path].line for path in differ if path in wanted and in_unicast(path) not in running], lines


def stored(text: str) -> str:
    """The text with prefixes as FRR stores them, without the bits of a host."""
    return WITH_PREFIX.sub(lambda line: PREFIX.sub(_network, line[0]), text)


def _network(prefix: re.Match[str]) -> str:
    try:
        return str(ip_network(prefix[0], strict=False))
    except ValueError:
        return prefix[0]


def in_unicast(path: StatementPath) -> StatementPath:
    """The path that FRR prints of a line of IPv4 unicast that stands in `router bgp` itself."""
    return (*path[:2], "address-family ipv4 unicast", *path[2:])


def flagged(text: str) -> set[int]:
    """Lines of a file with a finding of the checks that `RefusedCheck` is the kind of."""
    facts = read_device("leaf1", "frr", {"frr.conf": text})
    network = Network((facts,), refused={id(facts): judged(facts).refused})
    return {found.line for kind in RefusedCheck.__subclasses__() for found in kind().run(network)}


# --- Command --------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description="random edits of frr.conf against live FRR daemons")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--edits", type=int, default=2000)
    parser.add_argument("--keep", type=Path, help="folder for the edited files that were judged wrongly")
    parser.add_argument("--missed", type=int, default=20, help="lines to print of those that were missed or flagged wrongly")
    options = parser.parse_args()
    if why := lacking():
        print(f"frr_edits: {why}", file=sys.stderr)
        return 2
    if "FRR_EDITS" not in os.environ:
        inside = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"'
        command = ["unshare", "-m", "-n", "--propagation", "private", "sh", "-c", inside, "sh"]
        command += [sys.executable, "-m", "tests.nos.frr_edits", *sys.argv[1:]]
        return subprocess.run(command, env=os.environ | {"FRR_EDITS": "inside"}, check=False).returncode
    SOCKETS.mkdir(parents=True, exist_ok=True)
    shutil.chown(SOCKETS, "frr", "frr")
    draw = random.Random(options.seed)
    known = bases()
    with TemporaryDirectory() as scratch:
        daemons = Daemons(Path(scratch))
        try:
            judge = Judge(daemons)
            judgments = []
            for _ in range(options.edits):
                weights = [len(known), *(1 for _ in known[1:])]
                judgments.append(judge.of(edit(draw, draw.choices(known, weights)[0], known)))
        finally:
            daemons.stop()
    report(judgments, options.missed)
    for at, one in enumerate(judgments):
        if options.keep and (one.bad - one.found or one.flagged - one.bad):
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{at}.conf").write_text(one.edit.text, encoding="utf-8")
    return 0


def report(judgments: Sequence[Judged], examples: int) -> None:
    """Prints the figures, and lines that were missed or flagged wrongly."""
    taken = [one for one in judgments if not one.bad]
    refused = [one for one in judgments if one.bad]
    bad, found = (sum(map(len, sets)) for sets in zip(*((one.bad, one.found) for one in refused), strict=True))
    lines = sum(len(one.edit.text.splitlines()) - len(one.bad) for one in judgments)
    wrong = sum(len(one.flagged - one.bad) for one in judgments)
    seen = sum(bool(one.bad & one.flagged) for one in refused)
    false = sum(bool(one.flagged) for one in taken)
    print(f"edits: {len(judgments)}, of which FRR takes {len(taken)} whole and refuses or alters lines of {len(refused)}")
    for what, part, whole in (
        ("edits with refused or altered lines that were found", seen, len(refused)),
        ("refused or altered lines that were found", found, bad),
        ("refused or altered lines with a finding of their own", sum(len(one.bad & one.flagged) for one in refused), bad),
        ("edits taken whole with a finding", false, len(taken)),
        ("lines taken with a finding", wrong, lines),
    ):
        print(f"{what}: {part} of {whole} ({part / max(1, whole):.2%})")
    missed = [(at, one.edit, line) for at, one in enumerate(judgments) for line in sorted(one.bad - one.found)]
    extra = [(at, one.edit, line) for at, one in enumerate(judgments) for line in sorted(one.flagged - one.bad)]
    for title, rows in (("missed", missed), ("flagged, but taken", extra)):
        for at, one, line in rows[:examples]:
            print(f"{title} ({at}, {one.kind} at {one.line}): {line}: {one.text.splitlines()[line - 1]}")


if __name__ == "__main__":
    sys.exit(main())
