"""Damage to rendered files as people do it, and who finds it: the table of `docs/mutations.md`.

The damage is done to the text, by patterns that know nothing of the readers. A damage counts as found when a finding of a
fitting id names the damaged device and a damaged line; what was deleted counts at the section that it stood in.

    python -m tests.audit.checks.mutations > docs/mutations.md
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property

from fabric import pipeline
from fabric.audit.checks import NOTE, FilesCheck, Finding, Network, site
from fabric.audit.checks.base import checks
from fabric.audit.checks.role_peers.outline import names_of
from fabric.model.facts import Facts
from fabric.model.plan import SwitchView
from fabric.nos.reading import read_device
from fabric.nos.statements.names import Name
from fabric.nos.statements.syntax import Place
from tests import ROOT
from tools.docs.ending import ending

SYSTEMS = ("sonic", "cumulus", "eos", "nxos", "junos", "frr")
KINDS = ("address", "neighbor", "remote-as", "vni", "mtu", "threshold", "dscp")
CASES, SEED = 500, 5

# Ids that say the right thing of a kind of damage; a duplicate or a lone /31 is as right as "not the planned address".
FITTING: Mapping[str, frozenset[str]] = {
    "address": frozenset({"FAB280", "FAB251", "FAB252", "FAB253", "FAB257", "FAB282", "FAB256"}),
    "neighbor": frozenset({"FAB256"}),
    "remote-as": frozenset({"FAB255"}),
    "vni": frozenset({"FAB264", "FAB265", "FAB294", "FAB281"}),
    "mtu": frozenset({"FAB254", "FAB269"}),
    "threshold": frozenset({"FAB274", "FAB275"}),
    "dscp": frozenset({"FAB273", "FAB272", "FAB294"}),
}

# Format → kind → where it stands: the group `x` is what is damaged. Multi-line, so that a line knows its section.
V4 = r"(?P<x>\d+\.\d+\.\d+\.\d+)"
PLACES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "eos": {
        "address": (rf"^   ip address {V4}/\d+$",),
        "remote-as": (r"^ +neighbor \S+ remote-as (?P<x>\d+)$",),
        "vni": (r"^   vxlan (?:vlan|vrf) \S+ vni (?P<x>\d+)$",),
        "mtu": (r"^   mtu (?P<x>\d+)$",),
        "threshold": (r"minimum-threshold (?P<x>\d+) bytes", r"maximum-threshold (?P<x>\d+) bytes"),
        "dscp": (r"^qos map dscp (?P<x>\d+) to",),
    },
    "nxos": {
        "address": (rf"^  ip address {V4}/\d+",),
        "remote-as": (r"^ +remote-as (?P<x>\d+)$",),
        "vni": (r"^  vn-segment (?P<x>\d+)$", r"^  vni (?P<x>\d+)$"),
        "mtu": (r"^  mtu (?P<x>\d+)$",),
        "threshold": (r"minimum-threshold (?P<x>\d+) kbytes", r"maximum-threshold (?P<x>\d+) kbytes"),
        "dscp": (r"^class-map type qos match-any (?:ROCE|CNP)\n  match dscp (?P<x>\d+)$",),
    },
    "junos": {
        "address": (rf"^ +address {V4}/\d+;$",),
        "remote-as": (r"^ +peer-as (?P<x>\d+);$",),
        "vni": (r"^ +vni (?P<x>\d+);$",),
        "mtu": (r"^ +mtu (?P<x>\d+);$",),
        "threshold": (r"fill-level \[ (?P<x>\d+) ", r"fill-level \[ \d+ (?P<x>\d+) \]"),
        "dscp": (r"loss-priority low code-points (?P<x>[01]{6});",),
    },
    "sonic": {
        "address": (rf'"(?:Ethernet|Loopback)\d+\|{V4}/\d+"',),
        "remote-as": (r"^ neighbor \S+ (?:interface )?remote-as (?P<x>\d+)$",),
        "vni": (r'"vni": "(?P<x>\d+)"',),
        "mtu": (r'"Ethernet\d+": \{"alias".*"mtu": "(?P<x>\d+)"',),
        "threshold": (
            r'"green_min_threshold": "(?P<x>\d+)"',
            r'"green_max_threshold": "(?P<x>\d+)"',
        ),
        "dscp": (r'"(?P<x>26|48)": "[36]"',),
    },
    "cumulus": {
        "address": (rf"^ +{V4}/3[12]: \{{\}}$",),
        "remote-as": (r"^ +remote-as: (?P<x>\d+)$",),
        "vni": (r"^ +vni:\n +'(?P<x>\d+)': \{\}$",),
        "mtu": (r"^ +mtu: (?P<x>\d+)$",),
        "threshold": (r"^ +max-threshold: (?P<x>\d+)$", r"^ +min-threshold: (?P<x>\d+)$"),
    },
    "frr": {
        "address": (rf"^    address {V4}/3[12]$",),
        "remote-as": (r"^ neighbor \S+ (?:interface )?remote-as (?P<x>\d+)$",),
        "vni": (r"^ vni (?P<x>\d+)$", r"^    vxlan-id (?P<x>\d+)$"),
        "mtu": (r"^    mtu (?P<x>\d+)$",),
    },
}
# A neighbor as a whole: the first line of one, and what belongs to it.
NEIGHBORS: Mapping[str, str] = {
    "eos": r"^ +neighbor (?P<x>\d\S+) ",
    "nxos": r"^(?P<indent> +)neighbor (?P<x>\d\S+)$",
    "junos": r"^(?P<indent> +)neighbor (?P<x>\d\S+) \{$",
    "sonic": r"^ neighbor (?P<x>\d\S+) ",
    "cumulus": r"^(?P<indent> {14,})(?P<x>\d+\.\d+\.\d+\.\d+):$",
    "frr": r"^ neighbor (?P<x>\d\S+) ",
}


@dataclass(frozen=True)
class Switch:
    """A switch of an example, as rendered."""

    nos: str
    view: SwitchView
    files: Mapping[str, str]
    facts: Facts
    names: list[tuple[Name, Place]]  # in its statements; read once, for the hundreds of cases in which another one is damaged


@dataclass(frozen=True)
class Damage:
    """What was done to one file. `lines` are those that a finding may name."""

    system: str
    kind: str
    switch: Switch
    file: str
    text: str
    lines: frozenset[int]
    story: str

    @property
    def files(self) -> dict[str, str]:
        return {**self.switch.files, self.file: self.text}

    @cached_property
    def facts(self) -> Facts:
        return read_device(self.switch.facts.name, self.system, self.files)


@cache
def switches(system: str) -> tuple[Switch, ...]:
    """The example of a network OS."""
    intent = pipeline.load(ROOT / "intent" / f"ai-{system}.yaml")
    made = pipeline.plan(intent)
    renderer = pipeline.render(made, intent)
    found = []
    for job in renderer.jobs(lambda name: True):
        files = {path: data.decode() for path, data in renderer.files(job)}
        facts = read_device(job.device.name, job.device.nos, files)
        found.append(Switch(system, renderer.views[job.fabric].of(job.device), files, facts, names_of(facts)))
    return tuple(found)


# --- damage -----------------------------------------------------------------------------------------------------


def damages(count: int = CASES, seed: int = SEED) -> Iterator[Damage]:
    """Damage of every kind in every format, in turn, at places chosen by a seed."""
    chance = random.Random(seed)
    wanted = [(system, kind) for system in SYSTEMS for kind in KINDS if kind == "neighbor" or kind in PLACES[system]]
    for at in range(count):
        system, kind = wanted[at % len(wanted)]
        yield _damage(system, kind, chance)


def _damage(system: str, kind: str, chance: random.Random) -> Damage:
    """Tries switches until one has such a line."""
    make: Callable[[Switch, random.Random], Damage | None] = _drop if kind == "neighbor" else _changed(kind)
    for _ in range(1000):
        if (made := make(chance.choice(switches(system)), chance)) is not None:
            return made
    raise LookupError(f"no file of {system} has a line for {kind}")


def _changed(kind: str) -> Callable[[Switch, random.Random], Damage | None]:
    def change(switch: Switch, chance: random.Random) -> Damage | None:
        pattern = re.compile(chance.choice(PLACES[switch.nos][kind]), re.M)
        places = [(file, match) for file, text in switch.files.items() for match in pattern.finditer(text)]
        if not places:
            return None
        file, match = chance.choice(places)
        old, text = match["x"], switch.files[file]
        new = _other(kind, old, switch, chance)
        if new == old:
            return None
        start, end = match.span("x")
        line = text.count("\n", 0, start) + 1
        story = f"{switch.facts.name} {file}:{line}: {old} -> {new}"
        return Damage(
            system=switch.nos,
            kind=kind,
            switch=switch,
            file=file,
            text=text[:start] + new + text[end:],
            lines=frozenset({line}),
            story=story,
        )

    return change


def _other(kind: str, old: str, switch: Switch, chance: random.Random) -> str:
    """Another value of the kind: one that a person could have typed."""
    if kind == "address":
        others = sorted({m for text in switch.files.values() for m in re.findall(r"\b10\.\d+\.\d+\.\d+\b", text)} - {old})
        octets = old.split(".")
        near = ".".join([*octets[:3], str((int(octets[3]) + chance.choice((2, 4, 6, 10, 100))) % 256)])
        return chance.choice([near, chance.choice(others)])
    if kind == "mtu":
        return chance.choice([value for value in ("1500", "9000", "9100", "8950") if value != old])
    if kind == "dscp":
        return "011100" if len(old) == 6 else chance.choice([v for v in ("24", "28", "34", "46") if v != old])
    if kind == "threshold":
        value = int(old)
        return str(
            chance.choice([max(1, value // 2), value * 2 if value > 100 else min(100, value + 20), max(1, value // 10)])
        )
    return str(int(old) + chance.choice((1, 7, 10, 100)))


def _drop(switch: Switch, chance: random.Random) -> Damage | None:
    """A neighbor is gone, with all that its lines say."""
    pattern = re.compile(NEIGHBORS[switch.nos], re.M)
    places = [
        (file, match)
        for file, text in switch.files.items()
        for match in pattern.finditer(text)
        if "remote" in text or "peer-as" in text
    ]
    if not places:
        return None
    file, match = chance.choice(places)
    peer, lines = match["x"], switch.files[file].split("\n")
    first = switch.files[file].count("\n", 0, match.start())
    if "indent" in match.groupdict():
        gone = _block(lines, first, len(match["indent"]))
        if switch.nos == "cumulus" and not any("remote-as" in lines[at] for at in gone):
            return None
    else:
        gone = {at for at, line in enumerate(lines) if re.match(rf" +neighbor {re.escape(peer)} ", line)}
    kept = [line for at, line in enumerate(lines) if at not in gone]
    # Where it stood, and every section around that place: the header of a process, a group, a family.
    near = {min(gone), min(gone) + 1} | _around(lines, min(gone), gone)
    story = f"{switch.facts.name} {file}: no neighbor {peer}"
    return Damage(
        system=switch.nos, kind="neighbor", switch=switch, file=file, text="\n".join(kept), lines=frozenset(near), story=story
    )


def _block(lines: list[str], first: int, indent: int) -> set[int]:
    """A line and what is below it, with the brace that closes it."""
    gone = {first}
    for at in range(first + 1, len(lines)):
        depth = len(lines[at]) - len(lines[at].lstrip())
        if depth <= indent:
            if lines[at].strip() == "}" and depth == indent:
                gone.add(at)
            break
        gone.add(at)
    return gone


def _around(lines: list[str], at: int, gone: set[int]) -> set[int]:
    """Lines, as numbered once the neighbor is gone, that open a section around a place."""
    found, depth = set(), len(lines[at]) - len(lines[at].lstrip())
    for above in range(at - 1, -1, -1):
        own = len(lines[above]) - len(lines[above].lstrip())
        if lines[above].strip() and own < depth:
            found.add(above + 1 - sum(1 for number in gone if number < above))
            depth = own
    return found


# --- judging ----------------------------------------------------------------------------------------------------


def with_plan(damage: Damage) -> list[Finding]:
    """What is found when the plan is at hand."""
    return site.judge(damage.switch.view, damage.facts, damage.files)


def without_plan(damage: Damage) -> list[Finding]:
    """What is found from the configs alone, of all switches together, by the checks whose ids say the right thing."""
    others = [one for one in switches(damage.system) if one is not damage.switch]
    devices = tuple(sorted([*(one.facts for one in others), damage.facts], key=lambda one: one.name))
    names = {id(one.facts): one.names for one in others} | {id(damage.facts): names_of(damage.facts)}
    network = Network(devices, names=names)
    fitting = [check for check in checks(FilesCheck) if check.id in FITTING[damage.kind]]
    return [finding for check in fitting for finding in check.run(network) if finding.severity != NOTE]


def found(damage: Damage, findings: list[Finding]) -> bool:
    """Whether a finding says the right thing of the right device and line."""
    name = damage.switch.view.device.name
    return any(
        one.id in FITTING[damage.kind] and one.device == name and one.file == damage.file and one.line in damage.lines
        for one in findings
    )


@dataclass
class Score:
    done: Counter[tuple[str, str]]
    planned: Counter[tuple[str, str]]
    alone: Counter[tuple[str, str]]
    missed: list[str]

    def share(self, of: Counter[tuple[str, str]]) -> float:
        return 100 * sum(of.values()) / sum(self.done.values())


@cache
def score(count: int = CASES) -> Score:
    """So many damages judged both ways."""
    result = Score(Counter(), Counter(), Counter(), [])
    for damage in damages(count):
        key = damage.system, damage.kind
        result.done[key] += 1
        for name, judge, into in (("plan", with_plan, result.planned), ("configs", without_plan, result.alone)):
            if found(damage, judge(damage)):
                into[key] += 1
            else:
                result.missed.append(f"{name}: {damage.system} {damage.kind}: {damage.story}")
    return result


PAGE = """# What the checks find

{count} faults, injected into rendered files of the six examples `intent/ai-*.yaml` at places chosen by a seed: an address
changed or swapped with another one, a neighbor deleted, a remote AS, a VNI, an MTU, a threshold or a DSCP changed. A fault
counts as found only when a finding with a fitting id names the damaged device, file and line. Nothing is rendered again to
judge it: the damaged file is read, and its facts are compared with the plan's, or with those of the other files.

## With the plan at hand

`fabric check intent/ai-eos.yaml --configs DIR`: {planned:.1f} % of {count}.

{planned_table}

## From the configs alone

`fabric check --configs DIR`: {alone:.1f} % of {count}; findings that are notes do not count.

{alone_table}

A dash: Linux has no lossless class, and the RoCE profile of Cumulus Linux names no DSCP.

These are edits of values that the checks read. [statements.md](statements.md) has the rates for damage of any kind: lines
deleted, added or swapped, and statements that no check reads.

Without a plan nothing tells the threshold of one switch from that of another role, or the port of a server from its
neighbors where there are few; a server's side of a /31 is in no switch's file, so its leaf may have any address; and a
loopback without a session can have any address, too.

"""
END = ending(
    "python -m tests.audit.checks.mutations",
    "[statements.md](statements.md): damage of any kind to every line.",
    "[checks.md](checks.md): each check with its reason and fix.",
)


def page() -> str:
    result = score()

    def table(of: Counter[tuple[str, str]]) -> str:
        rows = ["| damage | " + " | ".join(SYSTEMS) + " | all |", "|---" * (len(SYSTEMS) + 2) + "|"]
        for kind in KINDS:
            cells = [(of[system, kind], result.done[system, kind]) for system in SYSTEMS]
            cells.append((sum(a for a, _ in cells), sum(b for _, b in cells)))
            rows.append(f"| {kind} | " + " | ".join(f"{a} of {b}" if b else "–" for a, b in cells) + " |")
        return "\n".join(rows)

    return (
        PAGE.format(
            count=sum(result.done.values()),
            planned=result.share(result.planned),
            alone=result.share(result.alone),
            planned_table=table(result.planned),
            alone_table=table(result.alone),
        )
        + END
    )


if __name__ == "__main__":
    print(page(), end="")
