"""Random pairs of growing branches, merged by git itself: nothing that both had before changes.

A base and two branches are commits of a repository; each branch grows the intent and generates. git merges either into the
other, a person resolves the intent, and the next run settles the lock. `python -m tests.design.planner.merges --pairs 300
--seed 1`
"""

from __future__ import annotations

import argparse
import copy
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from fabric import pipeline
from fabric.base.diagnostics import InputError
from fabric.base.output import site_folder
from fabric.base.output.site_folder import sha256
from fabric.configs.site_files import site_files
from fabric.model.plan import ATTACHMENT, LEAF, SERVER, SERVER_LEAF, SWITCH_ROLES, FabricPlan, Plan, lock_file as locks
from fabric.model.plan.lock import Lock
from tests.design.planner import checks as check
from tests.design.planner.helpers import make

Data = dict[str, Any]
Facts = dict[tuple[object, ...], object]

CATALOG = {
    "servers": {
        "four": {"gpus": 4, "nics": {"compute": {"count": 4, "speed_gbps": 400}}},
        "two": {"gpus": 2, "nics": {"compute": {"count": 2, "ports": 2, "speed_gbps": 200}}},
        "one": {"gpus": 0, "nics": {"compute": {"count": 1, "speed_gbps": 100}}},
    }
}
LEAF_NAMES = ("{fabric}-leaf{n:03}", "{fabric}-u{unit}-leaf{n}", "{fabric}-l{n:02}")


# --- intents ------------------------------------------------------------------------------------------------


def base_site(rng: random.Random) -> Data:
    """A site of one fabric or two."""
    kinds = rng.sample((_racks, _rails, _pods, _evpn, _vrf_lite), rng.choice((1, 2, 2)))
    fabrics = {name: make_one(rng, name) for name, make_one in zip(("backend", "frontend"), kinds, strict=False)}
    return {"version": 1, "site": "s", "catalog": CATALOG, "fabrics": fabrics}


def _group(rng: random.Random, fabric: str, model: str, count: int, **more: object) -> Data:
    return {"model": model, "nics": "compute", "name": f"{fabric[0]}gpu", "count": count, **more}


def _racks(rng: random.Random, name: str) -> Data:
    per_rack = rng.choice((1, 2))
    servers = [_group(rng, name, "four", rng.randint(2, 9), per_rack=per_rack)]
    if rng.random() < 0.3:
        servers.append({"model": "two", "name": f"{name[0]}aux", "count": rng.randint(1, 4), "per_rack": per_rack})
    unit = {"servers": per_rack * rng.choice((1, 2))}
    return {
        "servers": servers,
        "topology": {"kind": "rack", "switch": "16x400g", "unit": unit},
        "names": {"leaf": rng.choice(LEAF_NAMES)},
        "underlay": {"asn": {"scheme": rng.choice(("rfc7938", "per-device"))}},
    }


def _rails(rng: random.Random, name: str) -> Data:
    fabric = {
        "servers": [_group(rng, name, "four", rng.randint(3, 14))],
        "topology": {"switch": "16x400g", "unit": {"servers": rng.choice((2, 4))}},
        "names": {"leaf": rng.choice((*LEAF_NAMES, "{fabric}-r{rail}-leaf{n}"))},
        "underlay": {"addressing": rng.choice(("ipv4", "ipv6", "unnumbered"))},
    }
    if rng.random() < 0.3:
        fabric["planned"] = {"servers": 24, "uplinks": rng.choice(("reserve", "recable"))}
    return fabric


def _pods(rng: random.Random, name: str) -> Data:
    topology = {"switch": "16x400g", "unit": {"servers": 2}, "tiers": 3, "pods": {"units": rng.choice((1, 2))}}
    return {"servers": [_group(rng, name, "four", rng.randint(2, 9))], "topology": topology}


def _tenants(rng: random.Random, name: str, networks: bool) -> list[Data]:
    group = f"{name[0]}gpu"
    tenants: list[Data] = [{"name": "red", "servers": [f"{group}-0001..0002"]}, {"name": "blue"}]
    if networks:
        tenants[0]["networks"] = [{"name": "train", "gateway": "10.20.0.0/20"}]
        tenants[1]["networks"] = [{"name": "login", "gateway": "10.21.0.0/20"}]
    return tenants


def _evpn(rng: random.Random, name: str) -> Data:
    wan = {"name": f"{name}-wan", "links": 2, "external": {"asn": 65_010}}
    return {
        "purpose": "frontend",
        "nos": "frr",
        "servers": [_group(rng, name, "one", rng.randint(4, 9), per_rack=3)],
        "topology": {"kind": "rack", "switch": "16x400g", "unit": {"servers": 3}, "attachments": [wan]},
        "overlay": {"kind": "evpn-vxlan"},
        "tenants": _tenants(rng, name, True),
    }


def _vrf_lite(rng: random.Random, name: str) -> Data:
    return {
        "purpose": "frontend",
        "nos": "frr",
        "servers": [_group(rng, name, "four", rng.randint(4, 9))],
        "topology": {"switch": "16x400g", "unit": {"servers": 2}},
        "overlay": {"isolation": "vrf-lite"},
        "tenants": _tenants(rng, name, False),
    }


# --- growth -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Growth:
    """One change of an intent. Two branches may do the same, and the merged intent does both."""

    kind: str
    side: str
    fabric: str
    amount: int

    def apply(self, site: Data) -> None:
        GROWTH[self.kind](site, site["fabrics"].get(self.fabric, {}), self)


def _servers(site: Data, fabric: Data, how: Growth) -> None:
    fabric["servers"][0]["count"] += how.amount


def _a_rack(site: Data, fabric: Data, how: Growth) -> None:
    fabric["servers"][0]["count"] += fabric["servers"][0].get("per_rack", 1) * how.amount


def _a_unit(site: Data, fabric: Data, how: Growth) -> None:
    rule = fabric["topology"].get("pods", {"units": 1})
    fabric["servers"][0]["count"] += fabric["topology"]["unit"]["servers"] * rule["units"]


def _a_group(site: Data, fabric: Data, how: Growth) -> None:
    fabric.pop("planned", None)
    first = fabric["servers"][0]
    group = {
        "model": "one" if first["model"] == "one" else "two",
        "name": f"new-{how.side}-{how.fabric}",
        "count": how.amount,
    }
    if "per_rack" in first:
        group["per_rack"] = first["per_rack"]
    fabric["servers"].append(group)


def _a_tenant(site: Data, fabric: Data, how: Growth) -> None:
    if "tenants" not in fabric:
        _servers(site, fabric, how)
        return
    server = f"{how.fabric[0]}gpu-{3 if how.side == 'a' else 4:04}"
    tenant: Data = {"name": f"{how.side}{how.amount}-team", "servers": [server]}
    if fabric.get("overlay", {}).get("kind") == "evpn-vxlan":
        tenant["networks"] = [{"name": "n1", "gateway": f"10.{30 + ord(how.side) % 2}.0.0/22"}]
    fabric["tenants"].append(tenant)


def _a_network(site: Data, fabric: Data, how: Growth) -> None:
    if fabric.get("overlay", {}).get("kind") != "evpn-vxlan":
        _servers(site, fabric, how)
        return
    number = 40 + how.amount * 2 + ord(how.side) % 2
    fabric["tenants"][how.amount % 2]["networks"].append({"name": f"n-{how.side}", "gateway": f"10.{number}.0.0/22"})


def _an_attachment(site: Data, fabric: Data, how: Growth) -> None:
    attachment: Data = {"name": f"{how.fabric}-appliance-{how.side}", "links": how.amount % 2 + 1}
    if "tenants" in fabric:
        attachment["tenant"] = "blue"
    fabric["topology"].setdefault("attachments", []).append(attachment)


def _more_links(site: Data, fabric: Data, how: Growth) -> None:
    fabric["topology"]["attachments"][0]["links"] += 1


def _planned(site: Data, fabric: Data, how: Growth) -> None:
    if "planned" in fabric:
        fabric["planned"]["servers"] += 8
    _servers(site, fabric, how)


def _spines(site: Data, fabric: Data, how: Growth) -> None:
    """Fewer links from each leaf to more spines, as a larger leaf oversubscription never gives."""
    fabric["servers"][0]["count"] += 8 + how.amount


def _a_fabric(site: Data, fabric: Data, how: Growth) -> None:
    name = {"a": "alpha", "b": "zulu"}.get(how.side, "omega")
    servers = {"model": "two", "name": f"{name}-srv", "count": how.amount + 1}
    site["fabrics"][name] = {"servers": [servers], "topology": {"switch": "16x400g", "unit": {"servers": 2}}}


def _pin(site: Data, fabric: Data, how: Growth) -> None:
    pattern = fabric.get("names", {}).get("leaf", "")
    if "unit" in pattern or "rail" in pattern or "l{n:02}" in pattern or fabric["topology"].get("tiers") == 3:
        _servers(site, fabric, how)
        return
    name = f"{how.fabric}-leaf{1 if how.side == 'a' else 2:03}"
    fabric.setdefault("pins", {})[name] = {"loopback": f"10.0.200.{how.amount + ord(how.side) % 2 * 8}"}
    _servers(site, fabric, how)


def _a_pool(site: Data, fabric: Data, how: Growth) -> None:
    pool = site.setdefault("pools", {}).setdefault("management", ["172.16.0.0/16"])
    pool.append(f"172.{18 + ord(how.side) % 2}.0.0/16")
    _servers(site, fabric, how)


GROWTH: Mapping[str, Callable[[Data, Data, Growth], None]] = {
    "servers": _servers,
    "rack": _a_rack,
    "unit": _a_unit,
    "group": _a_group,
    "tenant": _a_tenant,
    "network": _a_network,
    "attachment": _an_attachment,
    "links of an attachment": _more_links,
    "planned": _planned,
    "many servers": _spines,
    "fabric": _a_fabric,
    "pin": _pin,
    "pool": _a_pool,
}


def growth(rng: random.Random, site: Data, side: str, where: str) -> list[Growth]:
    kinds = set(rng.sample(sorted(GROWTH), rng.choice((1, 1, 2))))
    if "links of an attachment" in kinds and not site["fabrics"][where]["topology"].get("attachments"):
        kinds = kinds - {"links of an attachment"} | {"attachment"}
    return [Growth(kind, side, where, rng.randint(1, 4)) for kind in sorted(kinds)]


def grown(site: Data, steps: list[Growth]) -> Data:
    """The site after growth, the same whatever order the steps are in."""
    result = copy.deepcopy(site)
    for step in sorted(steps, key=lambda s: (s.kind, s.side, s.fabric, s.amount)):
        step.apply(result)
    for fabric in result["fabrics"].values():
        if "planned" in fabric:
            fabric["planned"]["servers"] = max(fabric["planned"]["servers"], fabric["servers"][0]["count"])
    return result


# --- facts --------------------------------------------------------------------------------------------------

MOVES = "upper end"  # a cable's, the one thing that growth may have to move


Identity = tuple[object, ...]


def facts(plan: Plan) -> Facts:
    """What a site must not lose: names, numbers, addresses and ports, by things that no growth renames."""
    found: Facts = {}
    for name, fabric in plan.fabrics.items():
        known = identities(fabric)
        _switches(name, fabric, known, found)
        _cables(name, fabric, known, found)
        _services(name, fabric, found)
    return found


def identities(fabric: FabricPlan) -> dict[int, Identity]:
    """What a device is, whatever its name: a leaf is known by the first server of its unit and its place there."""
    known: dict[int, Identity] = {d.index: (d.role, d.name) for d in fabric.devices if d.role != LEAF}
    known |= {d.index: (d.role, d.group, d.number) for d in fabric.devices if d.role == SERVER}
    first: dict[tuple[str, int], int] = {}
    for device in fabric.devices:
        if device.role == SERVER:
            first[device.group, device.unit] = min(device.number, first.get((device.group, device.unit), device.number))
    place: Counter[tuple[str, int]] = Counter()
    for device in sorted(fabric.devices, key=lambda d: d.number):
        if device.role == LEAF:
            unit = device.group, device.unit
            known[device.index] = (LEAF, device.group, first.get(unit, -1), place[unit])
            place[unit] += 1
    return known


def _switches(name: str, fabric: FabricPlan, known: Mapping[int, Identity], found: Facts) -> None:
    for device in fabric.devices:
        if device.role == SERVER:
            found[name, "server", device.group, device.number] = (device.name, device.unit, device.rack, device.pod)
        if device.role not in SWITCH_ROLES:
            continue
        at = device.index
        values = {
            "name": device.name,
            "number": (device.number, device.group, device.unit, device.rack, device.plane, device.rail),
            "AS number": device.asn,
            "loopback": (int(fabric.loopback[at]), int(fabric.loopback6[at])),
            "management": int(fabric.management[at]),
            "server prefix": fabric.aggregate.get(at),
            "VTEP": (fabric.tenancy.vtep.get(at), fabric.tenancy.pair_vtep.get(at)),
            "pod": device.pod,
        }
        found |= {(name, known[at], key): value for key, value in values.items()}


def _cables(name: str, fabric: FabricPlan, known: Mapping[int, Identity], found: Facts) -> None:
    for i, (kind, speed, _, cage, sub, *upper, address) in enumerate(check.rows(fabric)):
        lower = (name, kind, known[int(fabric.links.a[i])], cage, sub)
        fixed = fabric.links.kind[i] in (SERVER_LEAF, ATTACHMENT)
        found[(*lower, "port of the leaf" if fixed else MOVES)] = tuple(upper)
        found[(*lower, "subnet")] = (address, speed)
        for n, tenant in enumerate(fabric.tenancy.tenants):
            if n in fabric.tenancy.slices:
                found[(*lower, "subnet of", tenant.name)] = int(fabric.tenancy.slices[n][i])
        found[(*lower, "bond")] = int(fabric.tenancy.lag[i])


def _services(name: str, fabric: FabricPlan, found: Facts) -> None:
    tenancy, rows = fabric.tenancy, check.rows(fabric)
    for tenant in tenancy.tenants:
        found[name, "tenant", tenant.name] = (tenant.number, tenant.vni, tenant.vlan)
        for network in tenant.networks:
            found[name, "network", tenant.name, network.name] = (network.number, network.vlan, network.vni, network.gateway)
    for (n, at), hosts in tenancy.hosts.items():
        tenant = tenancy.tenants[n]
        for link, address in hosts.items():
            found[name, "host", tenant.name, tenant.networks[at].name, rows[link][2:5]] = address
    for way in tenancy.external_connections:
        owner = tenancy.tenants[way.tenant].name if way.tenant >= 0 else ""
        found[name, "external", way.name, rows[way.link][2:5], owner] = (way.address, way.asn)


# --- git ----------------------------------------------------------------------------------------------------

QUIET = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"} | {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "test"), ("EMAIL", "test@example.com"), ("DATE", "2026-01-01T00:00:00Z"))
}


class Repository:
    """A repository with one intent and its generated folder."""

    def __init__(self, folder: Path, whole: bool) -> None:
        self.folder, self.whole = folder, whole
        self.site = folder / "generated" / "s"
        self.git("init", "-q", "-b", "base", ".")

    def git(self, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["git", *words], cwd=self.folder, env={**os.environ, **QUIET}, check=check, capture_output=True, text=True
        )

    def generate(self, site: Data, merged: bool = False) -> Plan:
        """Writes the intent and generates; the plan alone unless every file is wanted."""
        intent = self.folder / "s.yaml"
        intent.write_text(yaml.safe_dump(site, sort_keys=False), encoding="utf-8")
        if self.whole:
            return self._generate_all(intent)
        path = self.site / locks.FILE
        plan = make(site, locks.read(path))
        files = dict(site_files(plan))
        if merged:
            again = make(site, locks.parse(files[locks.FILE].decode(), "lock.yaml"))
            assert dict(site_files(again)) == files, "a second run changes what the first wrote"
        self.site.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (self.site / name).write_bytes(data)
        (self.site / "manifest.txt").write_bytes(site_folder.render({name: sha256(data) for name, data in files.items()}))
        return plan

    def _generate_all(self, intent: Path) -> Plan:
        run = pipeline.generate(pipeline.load(intent), jobs=1)
        run.write()
        after = pipeline.generate(pipeline.load(intent), jobs=1)
        result = after.check()
        assert not result.stale, result.lines
        assert not list((self.folder / "generated").rglob(".journal/new/*"))
        return run.plan

    def commit(self, message: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)

    def merge(self, ours: str, theirs: str) -> None:
        """Merges; lock and manifest never conflict, and no generated file has markers."""
        self.git("checkout", "-q", "-f", ours)
        self.git("merge", "-q", "--no-commit", "--no-ff", theirs, check=False)
        unmerged = self.git("diff", "--name-only", "--diff-filter=U").stdout.splitlines()
        assert not {"generated/s/lock.yaml", "generated/s/manifest.txt"} & set(unmerged), unmerged
        for path in self.site.rglob("*"):
            assert not path.is_file() or b"<<<<<<<" not in path.read_bytes(), path


# --- one pair -----------------------------------------------------------------------------------------------


@dataclass
class Tally:
    """What was seen, over all pairs."""

    seen: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class Impossible(Exception):
    """An intent that cannot be planned: another pair is drawn."""


def make_or_not(site: Data, lock: Lock | None = None) -> Lock:
    """The lock of a plan. Raises Impossible, as a merge can do no more than growth without one."""
    try:
        return make(site, lock).lock
    except InputError as error:
        raise Impossible from error


def pair(seed: int, tally: Tally, whole: bool = False) -> None:
    """One pair of branches, merged both ways, and a second merge of a branch that goes on. Raises Impossible."""
    rng = random.Random(seed)
    site = base_site(rng)
    names = sorted(site["fabrics"])
    where = rng.choice(names)
    elsewhere = where if rng.random() < 0.85 else rng.choice(names)
    steps = {"a": growth(rng, site, "a", where), "b": growth(rng, site, "b", elsewhere)}
    if rng.random() < 0.3:
        steps["b"] = [
            Growth(s.kind, "b", s.fabric, s.amount if rng.random() < 0.5 else rng.randint(1, 4)) for s in steps["a"]
        ]
    sites = {side: grown(site, found) for side, found in steps.items()}
    both = grown(site, [*steps["a"], *steps["b"]])
    later = [Growth("servers", "c", where, rng.randint(1, 6)), Growth("attachment", "c", where, 1)]
    last = grown(site, [*steps["a"], *steps["b"], *later])
    known = make_or_not(site)
    make_or_not(sites["a"], known)
    make_or_not(both, known)
    make_or_not(last, known)
    make_or_not(grown(site, [*steps["b"], *later]), make_or_not(sites["b"], known))
    with tempfile.TemporaryDirectory() as folder:
        try:
            _branches(Repository(Path(folder), whole), (site, sites, both), (steps, later, last), f"seed {seed}", tally)
        except (AssertionError, InputError) as error:
            tally.problems.append(f"seed {seed}: {error!r}"[:400])


def _branches(
    at: Repository,
    sites: tuple[Data, Mapping[str, Data], Data],
    growths: tuple[Mapping[str, list[Growth]], list[Growth], Data],
    title: str,
    tally: Tally,
) -> None:
    (site, sides, both), (steps, later, last) = sites, growths
    base = at.generate(site)
    at.commit("base")
    plans = {}
    for side in "ab":
        at.git("checkout", "-q", "-b", side, "base")
        plans[side] = at.generate(sides[side])
        at.commit(side)
    merged = {}
    for ours, theirs in (("a", "b"), ("b", "a")):
        at.merge(ours, theirs)
        merged[ours] = at.generate(both, merged=True)
        at.git("add", "-A")
        if ours == "a":
            at.git("commit", "-q", "--allow-empty", "-m", "merged")
            at.git("branch", "merged")
        at.git("reset", "-q", "--hard")
    if check.texts(merged["a"]) != check.texts(merged["b"]):
        tally.problems.append(f"{title}: merging a into b is not merging b into a")
    holds(merged["a"])
    tally.seen["pairs"] += 1
    tally.seen["colliding pairs"] += colliding(base.lock, plans["a"].lock, plans["b"].lock)
    for side in "ab":
        tally.seen.update(f"growth: {step.kind}" for step in steps[side])
    direct = make(both, base.lock)
    _compare(base, plans, merged["a"], direct, title, tally)
    # b goes on, from before the merge, and is merged into it
    at.git("checkout", "-q", "-f", "b")
    on = at.generate(grown(site, [*steps["b"], *later]))
    at.commit("b goes on")
    at.merge("merged", "b")
    final = at.generate(last, merged=True)
    holds(final)
    _compare(plans["b"], {"merged": merged["a"], "b": on}, final, make(last, merged["a"].lock), f"{title}, second", tally)


def holds(plan: Plan) -> None:
    """No name, address, port or number twice, and every switch wired as its kind of fabric is."""
    check.names(plan)
    check.addresses(plan)
    check.leaf_asns(plan)
    for fabric in plan.fabrics.values():
        for one in (check.ports, check.counts, check.uniform, check.server_wiring, check.ratios):
            one(fabric)
        if not fabric.tenancy.tenants:
            check.sessions(plan, fabric)
        tenants = fabric.tenancy.tenants
        networks = [network for tenant in tenants for network in tenant.networks]
        for numbers in ([t.number for t in tenants], [n.number for n in networks], [n.vlan for n in networks]):
            assert len(set(numbers)) == len(numbers)
        for hosts in fabric.tenancy.hosts.values():
            ends = {(int(fabric.links.a[link]), int(fabric.tenancy.lag[link]) or -link) for link in hosts}
            assert len(set(hosts.values())) == len(ends)


def _compare(base: Plan, sides: Mapping[str, Plan], merged: Plan, direct: Plan, title: str, tally: Tally) -> None:
    """Facts of the base that neither side changed: they hold in the merged plan, or growth by itself moves them."""
    was, now, forced = facts(base), facts(merged), facts(direct)
    others = [facts(plan) for plan in sides.values()]
    gone = object()
    for key, value in was.items():
        tally.seen["facts of the base"] += 1
        if any(other.get(key, gone) != value for other in others):
            tally.seen["changed by a branch itself"] += 1
        elif now.get(key, gone) == value:
            tally.seen["kept"] += 1
        elif forced.get(key, gone) != value and (MOVES in key or _other_shape(base, merged)):
            tally.seen["moved as the merged size forces it"] += 1
        elif key[-2:-1] == ("subnet of",) and forced.get(key, gone) == now.get(key, gone):
            tally.seen["a tenant that the merged intent takes off a leaf"] += 1
        elif forced.get(key, gone) != value:
            tally.problems.append(f"{title}: {key} was {value}, is {now.get(key)}, and by growth alone {forced.get(key)}")
        else:
            tally.problems.append(f"{title}: {key} was {value}, is {now.get(key)}")


def _other_shape(base: Plan, merged: Plan) -> bool:
    """Whether the merged size needs other tiers or pods, which makes other switches."""
    shapes = [
        [(plan.fabrics[name].sizing.tiers, plan.fabrics[name].sizing.units_per_pod) for name in base.fabrics]
        for plan in (base, merged)
    ]
    return shapes[0] != shapes[1]


def colliding(base: Lock, one: Lock, other: Lock) -> bool:
    """Whether both sides gave out the same number, leaf port or row."""
    seen = [set(_claims(lock)) - set(_claims(base)) for lock in (one, other)]
    return bool(seen[0] & seen[1])


def _claims(lock: Lock) -> Iterator[tuple[object, ...]]:
    for name, entry in lock.fabrics.items():
        for key, blocks in entry.blocks.items():
            kind = "/".join(key.split("/")[:2])
            space = kind if kind.startswith("address") else "asn" if kind.startswith("asn") else f"{name} {kind}"
            for block in blocks:
                yield from ((space, block.base + row * block.stride) for row in range(min(64, block.row_end - block.row)))
        for spots in entry.attachments.values():
            yield from ((name, "leaf port", spot.leaf, spot.slot) for spot in spots)
        for tenant, numbers in entry.tenants.items():
            yield from ((name, "network" if "/" in tenant else "tenant", number.number) for number in numbers)


def run(pairs: int, seed: int, whole_every: int = 0) -> Tally:
    """Merges as many pairs as asked for; the seed of a pair is the run's seed and its place."""
    tally = Tally()
    draw = seed * 1_000_000
    while tally.seen["pairs"] < pairs:
        draw += 1
        before = tally.seen["pairs"]
        try:
            pair(draw, tally, bool(whole_every) and before % whole_every == 0)
        except Impossible:
            tally.seen["drawn again, as no such fabric can be built"] += 1
    return tally


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--whole-every", type=int, default=10, help="every so many pairs all files are generated")
    requested = parser.parse_args()
    tally = run(requested.pairs, requested.seed, requested.whole_every)
    print(f"seed {requested.seed}")
    for what, count in sorted(tally.seen.items()):
        print(f"{count:9,}  {what}")
    print(f"{len(tally.problems):9,}  problems")
    by_pair: dict[str, list[str]] = {}
    for problem in tally.problems:
        by_pair.setdefault(problem.partition(":")[0], []).append(problem)
    for lines in by_pair.values():
        print("\n".join(lines[:3] + ([f"    … {len(lines) - 3} more of this pair"] if len(lines) > 3 else [])))
    return bool(tally.problems)


if __name__ == "__main__":
    sys.exit(main())
