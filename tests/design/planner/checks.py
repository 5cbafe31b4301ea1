"""What holds for every plan. Each check raises AssertionError, and reads the plan alone, never the planner's inside."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_interface, ip_network
from itertools import pairwise

from fabric.configs.site_files import links_csv, plan_json
from fabric.configs.view_of import Views
from fabric.model.plan import (
    ATTACHMENT,
    CORE,
    KINDS,
    LEAF,
    LEAF_LEAF,
    LEAF_SPINE,
    SERVER,
    SERVER_LEAF,
    SPINE,
    SPINE_CORE,
    SWITCH_ROLES,
    Device,
    FabricPlan,
    Plan,
    asn_rows,
    lock_file as locks,
)
from fabric.model.plan.summary import summary

Link = tuple[str, int, str, int, int, str, int, int, int, int]  # kind, speed, a, cage, sub, b, cage, sub, split, address


def everything(plan: Plan) -> None:
    """Every check."""
    names(plan)
    addresses(plan)
    leaf_asns(plan)
    for fabric in plan.fabrics.values():
        ports(fabric)
        counts(fabric)
        uniform(fabric)
        server_wiring(fabric)
        ratios(fabric)
        sessions(plan, fabric)


def rows(plan: FabricPlan) -> list[Link]:
    """Links as tuples of names and ports."""
    c, d, subnet = plan.links.lists(), plan.devices, plan.subnet.tolist()
    return [
        (
            KINDS[c["kind"][i]],
            c["speed_gbps"][i],
            d[c["a"][i]].name,
            c["a_cage"][i],
            c["a_sub"][i],
            d[c["b"][i]].name,
            c["b_cage"][i],
            c["b_sub"][i],
            c["b_split"][i],
            subnet[i],
        )
        for i in range(len(plan.links))
    ]


def names(plan: Plan) -> None:
    switches = [d.name for fabric in plan.fabrics.values() for d in fabric.switches]
    assert len(set(switches)) == len(switches)
    for fabric in plan.fabrics.values():
        every = [d.name for d in fabric.devices]
        assert len(set(every)) == len(every)
        numbers = [(d.role, d.group if d.role == SERVER else "", d.number) for d in fabric.devices]
        assert len(set(numbers)) == len(numbers)


def ports(plan: FabricPlan) -> None:
    """No port twice, no cage split two ways, every speed one that the cage has."""
    models = {LEAF: plan.spec.leaf.model, SPINE: plan.spec.spine.model, CORE: plan.spec.core.model}
    c = plan.links.lists()
    seen: set[tuple[int, int, int]] = set()
    splits: dict[tuple[int, int], tuple[int, int]] = {}
    for i in range(len(plan.links)):
        for end in "ab":
            device = plan.devices[c[end][i]]
            cage, sub, split = c[f"{end}_cage"][i], c[f"{end}_sub"][i], c[f"{end}_split"][i]
            speed = c["speed_gbps"][i]
            assert (device.index, cage, sub) not in seen, (device.name, cage, sub)
            seen.add((device.index, cage, sub))
            if device.role not in models:
                continue
            model = models[device.role]
            assert 1 <= cage <= model.cages
            assert 0 <= sub < split
            assert model.group_of(cage).splits.get(speed) == split
            assert splits.setdefault((device.index, cage), (split, speed)) == (split, speed)
    logical: Counter[int] = Counter()
    for (device_index, _), (split, _) in splits.items():
        logical[device_index] += split
    for device_index, used in logical.items():
        most = models[plan.devices[device_index].role].max_logical_ports
        assert most is None or used <= most


def counts(plan: FabricPlan) -> None:
    """The wired plan has what the sizing counted without wiring."""
    configured = summary(plan.spec, plan.sizing)
    kinds = Counter(KINDS[kind] for kind in plan.links.kind.tolist())
    assert {kind: kinds[kind] for kind in KINDS if kinds[kind] or kind in configured["links"]} == configured["links"]
    roles = Counter(device.role for device in plan.devices)
    assert {role: roles.get(role, 0) for role in (LEAF, SPINE, CORE)} == configured["switches"]
    assert roles[SERVER] == configured["servers"]
    c = plan.links.lists()
    for kind in (LEAF_LEAF, LEAF_SPINE, SPINE_CORE):
        cages = {(c["a"][i], c["a_cage"][i]) for i in range(len(plan.links)) if c["kind"][i] == kind}
        assert len(cages) == configured["cables"][KINDS[kind]]
    speaking = [d for d in plan.switches if d.asn]
    assert len({d.asn for d in speaking}) == configured["bgp"]["asns"]
    if plan.sizing.bgp:
        fabric_links = sum(kinds.get(KINDS[kind], 0) for kind in (LEAF_LEAF, LEAF_SPINE, SPINE_CORE))
        assert fabric_links == configured["bgp"]["sessions"]


def uniform(plan: FabricPlan) -> None:
    """Every leaf has equally many links to every spine of its network and pod, and none to another; spines likewise."""
    spines: dict[tuple[int, int, int], set[int]] = defaultdict(set)
    three = plan.sizing.tiers == 3
    rail_only = plan.spec.kind == "rail-only"

    def place(device: Device) -> tuple[int, int, int]:
        return device.plane, device.rail if rail_only else -1, device.pod if three else -1

    for device in plan.switches:
        if device.role == SPINE:
            spines[place(device)].add(device.index)
    met = meetings(plan, LEAF_SPINE)
    per_spine: dict[str, set[int]] = defaultdict(set)
    for device in plan.switches:
        if device.role == LEAF and plan.sizing.tiers > 1:
            assert set(met[device.index]) == spines[place(device)]
            assert len(set(met[device.index].values())) == 1
            per_spine[device.group] |= set(met[device.index].values())
    if all(size.last_unit == () for size in plan.sizing.groups):
        assert all(len(found) == 1 for found in per_spine.values())
    if not three:
        return
    up = meetings(plan, SPINE_CORE)
    groups: dict[frozenset[int], Counter[tuple[int, int, int]]] = defaultdict(Counter)
    for members in spines.values():
        for spine in members:
            assert len(set(up[spine].values())) == 1
            groups[frozenset(up[spine])][place(plan.devices[spine])] += 1
    cores = [core for group in groups for core in group]
    assert len(cores) == len(set(cores))  # two groups share no core
    assert len(cores) == sum(device.role == CORE for device in plan.switches)
    for group, members in groups.items():
        assert set(members.values()) <= {plan.sizing.spines_per_core, plan.sizing.spines_built % plan.sizing.spines_per_core}
        assert len(set(members.values())) == 1  # equally many spines of each pod
        assert len({member[:2] for member in members}) == 1
        assert {plan.devices[core].plane for core in group} == {next(iter(members))[0]}
        assert len(members) == plan.sizing.pods


def meetings(plan: FabricPlan, kind: int) -> dict[int, Counter[int]]:
    """lower switch → upper switch → links."""
    found: dict[int, Counter[int]] = defaultdict(Counter)
    of_kind = plan.links.kind == kind
    for a, b in zip(plan.links.a[of_kind].tolist(), plan.links.b[of_kind].tolist(), strict=True):
        found[a][b] += 1
    return found


def server_wiring(plan: FabricPlan) -> None:
    """Every NIC port has a link; a NIC keeps to its rail, its ports are spread over planes and, if asked, leaves."""
    c, topology = plan.links.lists(), plan.spec
    nics: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for i in range(len(plan.links)):
        if c["kind"][i] == SERVER_LEAF:
            nics[c["a"][i], c["a_cage"][i]].append((c["a_sub"][i], c["b"][i]))
    specs = {group.name: group for group in plan.spec.groups}
    rail_of: dict[tuple[str, int], int] = {}
    for device in plan.devices:
        if device.role != SERVER:
            continue
        spec = specs[device.group]
        for nic in range(1, spec.nic.count + 1):
            found = sorted(nics[device.index, nic])
            leaves = [plan.devices[leaf] for _, leaf in found]
            assert [sub for sub, _ in found] == list(range(spec.nic.ports))
            assert {(leaf.group, leaf.unit) for leaf in leaves} == {(device.group, device.unit)}
            if plan.spec.kind == "collapsed":
                continue
            planes = Counter(leaf.plane for leaf in leaves)
            assert planes == dict.fromkeys(range(plan.spec.planes), spec.nic.ports // plan.spec.planes)
            assert len({leaf.rail for leaf in leaves}) == 1
            rail = rail_of.setdefault((device.group, nic), leaves[0].rail)
            assert rail == leaves[0].rail
            if topology.dual_tor:
                assert len({leaf.index for leaf in leaves}) == spec.nic.ports
            if plan.spec.kind == "rack":
                assert len({leaf.rack for leaf in leaves}) == 1
    for device in plan.devices:
        if device.role == SERVER and plan.spec.kind in ("rail-optimized", "rail-only"):
            spec = specs[device.group]
            used = Counter(rail_of[device.group, nic] for nic in range(1, spec.nic.count + 1))
            assert used == {rail: spec.nic.count // plan.spec.rails(spec) for rail in range(plan.spec.rails(spec))}


def ratios(plan: FabricPlan) -> None:
    """Oversubscription is a ceiling: bandwidth of the servers that are there, over that of the links that are there."""
    sizing, spec = plan.sizing, plan.spec
    down: Counter[int] = Counter()
    up: Counter[int] = Counter()
    c = plan.links.lists()
    for i in range(len(plan.links)):
        if c["kind"][i] != ATTACHMENT:
            down[c["b"][i]] += c["speed_gbps"][i]
            up[c["a"][i]] += c["speed_gbps"][i]
        if c["kind"][i] == LEAF_LEAF:
            down[c["b"][i]] -= c["speed_gbps"][i]
            up[c["b"][i]] += c["speed_gbps"][i]
    stated = spec.stated("topology", "leaf", "oversubscription") or not spec.stated("topology", "leaf", "uplinks", "count")
    whole = {LEAF: stated and sizing.spines_built == sizing.spines, SPINE: sizing.cores_built == sizing.cores}
    ceiling = {LEAF: spec.leaf_ratio, SPINE: spec.spine_ratio}
    for device in plan.switches:
        if (device.role == LEAF and whole[LEAF]) or (device.role == SPINE and sizing.tiers == 3 and whole[SPINE]):
            assert Fraction(down[device.index], up[device.index]) <= ceiling[device.role], device.name


network_of = cache(ip_network)  # a site has few prefixes


@lru_cache(100_000)
def address_of(interface: str) -> IPv4Address | IPv6Address:
    """`10.0.0.1` of `10.0.0.1/31`; a port and its sessions have one, and a plan that has grown keeps it."""
    return ip_interface(interface).ip


def addresses(plan: Plan) -> None:
    """No address twice in the site, every one inside a pool of its kind; the two ends of a link are a /31 or /127."""
    seen: dict[tuple[int, int], str] = {}

    def take(fabric: FabricPlan, kind: str, number: int, what: str) -> None:
        version = 6 if number >= 2**32 else 4
        assert seen.setdefault((version, number), what) == what, f"{what} and {seen[version, number]}: {number}"
        address = ip_address(number)
        assert any(address in network_of(prefix) for prefix in fabric.prefixes[kind]), (kind, address)

    for fabric in plan.fabrics.values():
        v6 = fabric.subnet_length == 127
        for device in fabric.switches:
            take(fabric, "loopback", int(fabric.loopback[device.index]), f"{device.name} loopback")
            take(fabric, "management", int(fabric.management[device.index]), f"{device.name} management")
            if v6:
                take(fabric, "loopback6", int(fabric.loopback6[device.index]), f"{device.name} loopback6")
        unnumbered = fabric.spec.underlay.addressing == "unnumbered"
        served: dict[int, list[int]] = defaultdict(list)
        for i, (kind, low) in enumerate(zip(fabric.links.kind.tolist(), fabric.subnet.tolist(), strict=True)):
            server = kind in (SERVER_LEAF, ATTACHMENT)
            if unnumbered and not server:
                assert low == -1
                continue
            assert low % 2 == 0
            for number in (low, low + 1):
                take(fabric, "servers" if server else "p2p", number, f"{fabric.name} link {i} {number}")
            if server:
                served[int(fabric.links.b[i])].append(low)
        spans = []
        for leaf, (first, length) in fabric.aggregate.items():
            size = 1 << ((128 if v6 else 32) - length)
            assert first % size == 0
            spans.append((first, first + size))
            assert all(first <= low < first + size for low in served[leaf])
        spans.sort()
        assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def leaf_asns(plan: Plan) -> None:
    """Every leaf of the site has a number of its own, or every pair; other switches share theirs as the scheme says."""
    owners: dict[int, set[tuple[str, int]]] = {}
    for name, fabric in plan.fabrics.items():
        rows = asn_rows(fabric.spec.underlay.asn.scheme, fabric.switches)
        for device in fabric.switches:
            if device.role == LEAF and device.asn:
                owners.setdefault(device.asn, set()).add((name, rows[device.index]))
    assert all(len(its) == 1 for its in owners.values())
    for fabric in plan.fabrics.values():
        if not fabric.sizing.bgp:
            continue
        asns = [d.asn for d in fabric.switches]
        assert all(asns)
        if fabric.spec.underlay.asn.scheme == "per-device":
            assert len(set(asns)) == len(asns)
            continue
        assert len({d.asn for d in fabric.switches if d.role == CORE}) <= 1
        pods = {(d.pod, d.asn) for d in fabric.switches if d.role == SPINE}
        assert len({pod for pod, _ in pods}) == len(pods) == len({asn for _, asn in pods})


def sessions(plan: Plan, fabric: FabricPlan) -> None:
    """Every session has its mirror at the other end: addresses swapped, AS numbers right, two AS numbers."""
    views = Views(plan, fabric)
    ends = []
    loopbacks = set()
    promised: dict[tuple[str, int, int], int] = {}  # the lower end of a link has its subnet's first address
    for row in rows(fabric):
        low, server = row[9], row[0] in ("server-leaf", "attachments")
        promised[row[2], row[3], row[4]] = -1 if low < 0 else low + server
        promised[row[5], row[6], row[7]] = -1 if low < 0 else low + (not server)
    for device in fabric.switches:
        view = views.of(device)
        loopbacks.add(view.loopback)
        assert len({(port.ref.cage, port.ref.sub) for port in view.ports}) == len(view.ports)
        by_cage = Counter((port.ref.cage, port.ref.split) for port in view.ports)
        assert all(count == split for (_, split), count in by_cage.items())
        assert {cage for cage, _ in by_cage} == set(range(1, view.model.cages + 1))
        for port in view.cabled:
            number = int(address_of(port.address)) if port.address else -1
            assert number == promised[device.name, port.ref.cage, port.ref.sub]
        assert len(view.cabled) == sum(1 for _ in fabric.links.of(device.index))
        for session in view.sessions:
            own = str(address_of(session.port.address)) if session.port.address else None
            assert session.peer_asn == session.peer.asn
            assert session.peer_asn != device.asn
            assert session.port.peer is not None
            assert session.port.peer.port is not None
            here, there = (device.name, own), (session.peer.name, session.peer_address)
            near, far = session.port.ref, session.port.peer.port
            ends.append((*here, near.cage, near.sub, *there, far.cage, far.sub))
    assert len(loopbacks) == len(fabric.switches)
    assert Counter(ends) == Counter((*end[4:], *end[:4]) for end in ends)


def texts(plan: Plan) -> tuple[str, str, str]:
    """The plan's own files."""
    return locks.text(plan.lock), plan_json(plan), links_csv(plan)


# What growth must keep.


def kept_devices(old: Plan, new: Plan, may_go: tuple[str, ...] = ()) -> Iterator[str]:
    """What a device of the old plan lost; devices of the roles `may_go` may be gone, but not be others."""
    for name, before in old.fabrics.items():
        after = new.fabrics[name]
        for device in before.devices:
            there = after.by_name.get(device.name)
            if there is None and device.role in may_go:
                continue
            if there is None:
                yield f"{device.name} is gone"
                continue
            was = identity(before, device)
            now = identity(after, there)
            if was != now:
                yield f"{device.name}: {was} became {now}"


def identity(plan: FabricPlan, device: Device) -> tuple[object, ...]:
    at = device.index
    where = (device.role, device.number, device.group, device.unit, device.plane, device.rail, device.asn)
    if device.role not in SWITCH_ROLES:
        return where
    return (*where, int(plan.loopback[at]), int(plan.loopback6[at]), int(plan.management[at]), plan.aggregate.get(at))


def moved_links(old: Plan, new: Plan) -> dict[str, int]:
    """kind → links between two devices that lost their ports or addresses, beyond those that had to go.

    When a pair had n links and has m, n links of the old plan may become m: the smaller number must be untouched.
    """
    lost: Counter[str] = Counter()
    for name, before in old.fabrics.items():
        was, now = pairs(before), pairs(new.fabrics[name])
        for pair, links in was.items():
            left = links & now.get(pair, set())
            missing = min(len(links), len(now.get(pair, set()))) - len(left)
            if missing:
                lost[pair[0]] += missing
    return dict(lost)


def vanished_links(old: Plan, new: Plan) -> dict[str, int]:
    """kind → links of the old plan that the new one has not, as they were."""
    lost: Counter[str] = Counter()
    for name, before in old.fabrics.items():
        now = set(rows(new.fabrics[name]))
        lost.update(row[0] for row in rows(before) if row not in now)
    return dict(lost)


def pairs(plan: FabricPlan) -> dict[tuple[str, str, str], set[Link]]:
    found: dict[tuple[str, str, str], set[Link]] = defaultdict(set)
    for row in rows(plan):
        found[row[0], row[2], row[5]].add(row)
    return found
