"""Random designs of several network OSes, and the stand-in: `python -m tests.audit.checks.batfish.mixed [COUNT] [SEED]`."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from fabric.audit.checks import Finding
from fabric.audit.checks.batfish import judge
from fabric.audit.checks.batfish.expect import Expected
from fabric.base.diagnostics import InputError
from tests.audit.checks.batfish.helpers import SWITCHES, Site, site
from tests.audit.checks.batfish.stand_in import StandIn

DESIGNS = {
    "plain": "",
    "vrf-lite": "    overlay: {isolation: vrf-lite}\n",
    "evpn": "    overlay: {kind: evpn-vxlan}\n",
    "unnumbered": "    underlay: {addressing: unnumbered}\n",
    "unnumbered-evpn": "    underlay: {addressing: unnumbered}\n    overlay: {kind: evpn-vxlan}\n",
}


def intent(draw: random.Random) -> str:
    """One design: two or three tiers, at least two network OSes, tenants, an external router in some."""
    tiers = draw.choice((2, 2, 3))
    roles = ("leaf", "spine", "core")[:tiers]
    nos = dict(zip(roles, draw.sample(sorted(SWITCHES), tiers), strict=True))
    design = draw.choice(sorted(DESIGNS))
    tenants = 0 if design in ("plain", "unnumbered") else draw.choice((2, 3))
    servers = draw.choice((4, 6))
    parts = [
        f"leaf: {{switch: {SWITCHES[nos['leaf']]}, uplinks: {{count: 2}}}}",
        f"spine: {{switch: {SWITCHES[nos['spine']]}" + (", uplinks: {count: 2}, min_count: 2}" if tiers == 3 else "}"),
        *([f"core: {{switch: {SWITCHES[nos['core']]}}}", "tiers: 3", "pods: {count: 2}"] if tiers == 3 else []),
        "unit: {servers: 2}",
        f"rails: {draw.choice((1, 2))}",
    ]
    lines = [
        "version: 1\nsite: mixed",
        "catalog:\n  servers:\n    node: {gpus: 2, nics: {compute: {count: 2, speed_gbps: 400}}}",
        "fabrics:\n  backend:",
        f"    nos: {{{', '.join(f'{role}: {name}' for role, name in nos.items())}}}",
        f"    servers: {{model: node, count: {servers}, name: gpu}}",
        f"    topology: {{{', '.join(parts)}}}",
    ]
    text = "\n".join(lines) + "\n" + DESIGNS[design]
    if tenants:
        names = ("red", "blue", "green")[:tenants]
        share: dict[str, list[str]] = {name: [] for name in names}
        for number in range(1, servers + 1):
            share[names[number % tenants]].append(f"gpu-{number:04}")
        entries = (f"      - {{name: {name}, servers: [{', '.join(own)}]}}\n" for name, own in share.items())
        text += "    tenants:\n" + "".join(entries)
    return text


def designs(seed: int, count: int, folder: Path) -> list[tuple[str, Site]]:
    """The first `count` designs of a seed that can be planned."""
    draw, found = random.Random(seed), list[tuple[str, Site]]()
    while len(found) < count:
        text = intent(draw)
        path = folder / f"mixed{len(found)}" / "mixed.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        try:
            found.append((text, site(path, path.parent)))
        except InputError:
            continue
    return found


def judged(made: Site) -> list[Finding]:
    snapshot = made.snapshot()
    return judge(snapshot, StandIn(snapshot))[0]


def changed(made: Site, device: str, old: str, new: str) -> Site:
    """A copy with an address of a device changed wherever its files have it."""
    whole = re.compile(rf"(?<![\d.]){re.escape(old)}(?![\d.])")
    texts = {path: whole.sub(new, text) for path, text in made.texts[device].items()}
    return Site(made.plan, {**made.texts, device: texts})


def faults(made: Site) -> Iterator[tuple[str, Site, str]]:
    """(what is wrong, a copy with it, the check that must find it), on paths that Batfish models.

    A neighbor by a wrong address at one end of a session of each kind, and a wrong loopback at one leaf.
    """
    snapshot = made.snapshot()
    expected = Expected(snapshot)
    names = {name.lower(): name for name in made.texts}
    kinds = {one.kind: one for one in expected.sessions if one.peer[0].isdigit() and one.kind != "overlay"}
    for kind, session in sorted(kinds.items()):
        wrong = changed(made, names[session.device], session.peer, "10.99.0.1")
        yield f"{kind} session of {session.device} with {session.peer}", wrong, "FAB305"
    for route in [one for name in snapshot.views for one in expected.routes(name) if one.vrf == "default"][:1]:
        address = route.prefix.partition("/")[0]
        yield f"loopback {address} of {route.to}", changed(made, route.to, address, "10.98.0.1"), "FAB306"


def main(count: int, seed: int) -> None:
    ends, routes, wrong, planted, missed = [0, 0], [0, 0], 0, 0, 0
    with TemporaryDirectory() as where:
        for text, made in designs(seed, count, Path(where)):
            expected = Expected(made.snapshot())
            planned = [route for name in made.plan.fabrics for route in expected.planned_routes(name)]
            ends = [ends[0] + len(expected.sessions), ends[1] + len(expected.planned_sessions)]
            routes = [routes[0] + sum(route.judged for route in planned), routes[1] + len(planned)]
            if found := judged(made):
                wrong += 1
                print(text, *found[:5], sep="\n")
            for what, broken, code in faults(made):
                planted += 1
                if code not in {finding.id for finding in judged(broken)}:
                    missed += 1
                    print(text, f"not found: {what}", sep="\n")
    shares = f"{ends[0]:,} of {ends[1]:,} session ends and {routes[0]:,} of {routes[1]:,} routes judged"
    print(f"{count} designs: {shares}; {wrong} with a false finding; {planted - missed} of {planted} injected faults found")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:3]]
    main(*given, *(20, 1)[len(given) :])
