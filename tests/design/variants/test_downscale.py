"""Big fabrics made small: sizes, what is kept of tenants, switches, pins and overrides, and what is refused."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings, strategies as st

from fabric import pipeline
from fabric.base import source
from fabric.base.diagnostics import Diagnostic, InputError
from fabric.design.downscale import scaled
from fabric.design.intent.intent import Intent
from fabric.design.intent.load import validate
from fabric.design.intent.rewrite import as_network_os
from fabric.model.plan import LEAF, LEAF_LEAF, LEAF_SPINE, SERVER, SERVER_LEAF, SPINE_CORE, FabricPlan, Plan
from fabric.model.plan.lock_file import Lock
from tests import ROOT, examples, samples
from tests.design.planner.intents import STABLE, Data, sites
from tests.design.planner.test_tenant_properties import tenanted

EXAMPLES = ROOT / "intent"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
SIZES = ((1, 2), (2, 2), (2, 4), (1, 8), (2, 8), (3, 8), (2, 16), (5, 16), (4, 32), (8, 64), (8, 120))
OURS = {"FAB500", "FAB501", "FAB502"}

TREE = """
version: 1
site: big
fabrics:
  tree:
    nos: frr
    servers: {model: dgx-h100, count: 1920, name: gpu}
    topology: {switch: 512x400g, unit: {servers: 32}, leaf: {uplinks: {count: 32, speed_gbps: 400}}}
"""


def example(name: str) -> Intent:
    return pipeline.load(EXAMPLES / f"{name}.yaml")


def intent_of(text: str | Data, folder: Path = Path("nowhere")) -> Intent:
    parsed = source.parse(text if isinstance(text, str) else yaml.safe_dump(text, sort_keys=False), "intent.yaml")
    return Intent(folder / "intent.yaml", validate(parsed), parsed, folder / "generated")


def shape(plan: FabricPlan) -> dict[str, int]:
    """Counts of a fabric: spines of a plane and pod, and over everything of it the others."""
    size = plan.sizing
    whole = size.links_per_spine(size.groups[0]) * size.spines_built
    found = {"servers": size.servers, "leaves": size.leaves, "spines": size.spines_built, "uplinks": whole}
    return found | ({"pods": size.pods, "cores": size.core_count} if size.tiers == 3 else {})


# --- sizes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "size", "wanted"),
    [
        ("h100-4su", (2, 8), {"servers": 32, "leaves": 8, "spines": 2, "uplinks": 16}),  # 8 leaves x 8 = 64 ports
        ("h100-4su", (16, 8), {"servers": 31, "leaves": 8, "spines": 16, "uplinks": 32}),  # a place is the switch's
        ("h100-4su", (5, 16), {"servers": 64, "leaves": 16, "spines": 5, "uplinks": 20}),
        ("h100-4su", (4, 32), {"servers": 127, "leaves": 32, "spines": 4, "uplinks": 8}),
        ("b200-3tier", (2, 16), {"servers": 64, "leaves": 16, "spines": 2, "uplinks": 8, "pods": 2, "cores": 4}),
        ("b200-3tier", (4, 32), {"servers": 128, "leaves": 32, "spines": 4, "uplinks": 16, "pods": 4, "cores": 8}),
        ("b200-3tier", (8, 120), {"servers": 480, "leaves": 120, "spines": 8, "uplinks": 8, "pods": 4, "cores": 16}),
        ("gb300-twin-plane", (2, 8), {"servers": 36, "leaves": 8, "spines": 2, "uplinks": 18}),
        ("gb300-twin-plane", (2, 16), {"servers": 72, "leaves": 16, "spines": 2, "uplinks": 16}),
    ],
)
def test_examples_become_as_small_as_asked(name: str, size: tuple[int, int], wanted: dict[str, int]) -> None:
    changed = scaled(example(name), pipeline.plan, *size)
    assert shape(pipeline.plan(changed.intent).fabrics["backend"]) == wanted


def test_eight_spines_and_a_hundred_and_twenty_leaves() -> None:
    changed = scaled(intent_of(TREE), pipeline.plan, 8, 120)
    plan = pipeline.plan(changed.intent).fabrics["tree"]
    assert shape(plan) == {"servers": 480, "leaves": 120, "spines": 8, "uplinks": 32}
    assert len(plan.switches) == 128
    assert changed.notes == ("tree: 480 of 1920 servers, 120 of 480 leaves, 8 of 32 spines",)


def test_notes_say_what_is_not_as_it_was() -> None:
    assert scaled(example("b200-3tier"), pipeline.plan, 2, 16).notes == (
        "backend: 64 of 512 servers, 16 of 128 leaves, 4 of 128 spines, 4 of 64 cores, 2 of 4 pods",
        "backend: a leaf has 8 of 32 uplinks, to fit 2 spines",
    )


@pytest.mark.parametrize(
    ("topology", "pods", "spines_per_core"),
    [
        ("pods: {units: 4}, spine: {switch: 64x800g, uplinks: {count: 16}}, core: {switch: 64x800g}", 2, 2),
        ("pods: {units: 2, rails: 1}, spine: {switch: 64x800g}, core: {groups: 1}", 16, 2),
        ("pods: {units: 2, rails: 1}, spine: {switch: 64x800g}", 16, 1),
    ],
)
def test_cores_that_spines_share_and_pods_of_a_rail_stay_so(topology: str, pods: int, spines_per_core: int) -> None:
    text = TREE.replace("count: 1920", "count: 256").replace("switch: 512x400g", f"switch: 64x400g, {topology}")
    changed = scaled(intent_of(text), pipeline.plan, 2, 32)
    sizing = pipeline.plan(changed.intent).fabrics["tree"].sizing
    assert (sizing.leaves, sizing.spines, sizing.pods, sizing.spines_per_core) == (32, 2, pods, spines_per_core)


def test_leaves_without_servers_are_no_group_of_servers() -> None:
    """Their group comes last and is not in `servers`, where the sizes are stated."""
    bare = {"leaves_without_servers": [{"name": "border", "count": 2}]}
    data = {"servers": [{"model": "dgx-h100", "count": 8}], "topology": {"switch": "sn5600", "unit": {"servers": 4}, **bare}}
    intent = intent_of({"version": 1, "site": "dc1", "fabrics": {"backend": data}})
    check_alike(intent, pipeline.plan(intent, Lock()), 1, 10)


@pytest.mark.parametrize("name", NAMES)
def test_every_example_at_every_size(name: str) -> None:
    big = pipeline.plan(example(name), Lock())
    for spines, leaves in SIZES:
        check_alike(example(name), big, spines, leaves)


@settings(STABLE, max_examples=samples.examples(54))
@given(data=st.one_of(sites(), tenanted()), spines=st.integers(1, 4), units=st.integers(1, 4), more=st.booleans())
def test_whatever_is_scaled_is_the_same_in_small(data: Data, spines: int, units: int, more: bool) -> None:
    intent = intent_of(data)
    try:
        big = pipeline.plan(intent, Lock())
    except InputError:
        assume(False)
    largest = max(big.fabrics.values(), key=lambda plan: plan.sizing.leaves)
    least = sum(group.unit_leaves for group in largest.sizing.groups)
    check_alike(intent, big, spines, units * least + more)


def check_alike(intent: Intent, big: Plan, spines: int, leaves: int) -> None:
    """Scales down; what comes of it is refused with our own words, or the same design in small."""
    before = intent.source.data
    refused: tuple[Diagnostic, ...] = ()
    try:
        changed = scaled(intent, pipeline.plan, spines, leaves)
    except InputError as error:
        refused = error.diagnostics
    assert all(found.code in OURS and found.hint for found in refused)
    if refused:
        return
    assert intent.source.data == before
    small = pipeline.plan(changed.intent)
    assert bool(changed.notes) == (changed.intent is not intent)
    assert list(small.fabrics) == list(big.fabrics)
    for name, plan in small.fabrics.items():
        now, was = plan.sizing, big.fabrics[name].sizing
        assert now.leaves <= leaves
        assert now.spines_built <= spines
        assert (now.kind, now.tiers, now.planes, now.networks) == (was.kind, was.tiers, was.planes, was.networks)
        for what in ("servers", "leaves", "pods", "spine_count", "core_count"):
            assert min(1, getattr(was, what)) <= getattr(now, what) <= getattr(was, what)
        assert now.pods >= min(was.pods, 2)
        assert kinds(plan) == kinds(big.fabrics[name])
        check_tenants(plan, big.fabrics[name])


def kinds(plan: FabricPlan) -> dict[str, set[str]]:
    """role → kinds of sessions: with which roles, over what."""
    found: dict[str, set[str]] = defaultdict(set)
    role = [device.role for device in plan.devices]
    ends = list(zip(plan.links.kind.tolist(), plan.links.a.tolist(), plan.links.b.tolist(), strict=True))
    for link, (kind, a, b) in enumerate(ends):
        if kind not in (LEAF_LEAF, LEAF_SPINE, SPINE_CORE):
            continue
        over = {"underlay"} | {f"vrf {tenant}" for tenant, first in plan.tenancy.slices.items() if first[link] >= 0}
        found[role[a]] |= {f"{what} to {role[b]}" for what in over}
        found[role[b]] |= {f"{what} to {role[a]}" for what in over}
    for device, peers in plan.tenancy.peers.items():
        found[role[device]] |= {f"overlay to {role[peer]}" for peer in peers}
    for way in plan.tenancy.external_connections:
        found[role[ends[way.link][2]]].add(f"external {way.name} of {way.tenant}")
    return found


def check_tenants(plan: FabricPlan, big: FabricPlan) -> None:
    """Two servers each, on several leaves where there were several and there still are."""
    now, was = stands(plan), stands(big)
    there: dict[str, set[object]] = defaultdict(set)
    for device in plan.devices:
        if device.role == LEAF:
            there[device.group].add((device.unit, device.rack))
    for tenant, groups in was.items():
        mine = now[tenant]
        assert sum(map(len, mine.values())) >= min(2, sum(map(len, groups.values())))
        for group, servers in groups.items():
            if len(set(servers.values())) > 1 and len(there[group]) > 1:
                assert len({(name, place) for name, own in mine.items() for place in own.values()}) > 1


def stands(plan: FabricPlan) -> dict[int, dict[str, dict[int, object]]]:
    """tenant → group → server → its leaves, as their unit and rack."""
    found: dict[int, dict[str, dict[int, object]]] = defaultdict(lambda: defaultdict(dict))
    for link in (plan.links.kind == SERVER_LEAF).nonzero()[0].tolist():
        leaf, owner = plan.devices[int(plan.links.b[link])], int(plan.tenancy.owner[link])
        if owner >= 0:
            found[owner][leaf.group][int(plan.links.a[link])] = (leaf.unit, leaf.rack)
    return found


# --- what stays ---------------------------------------------------------------------------------------------


def test_a_small_site_stays_as_it_is() -> None:
    intent = example("starter")
    assert scaled(intent, pipeline.plan, 2, 8).intent is intent


def test_numbers_in_use_are_not_taken_over() -> None:
    intent = pipeline.load(EXAMPLES / "h100-4su.yaml", examples.folder("h100-4su").parent)
    assert (intent.folder / "lock.yaml").exists()
    small = scaled(intent, pipeline.plan, 2, 8).intent
    assert not small.folder.exists()
    fresh, usual = pipeline.plan(small, Lock()), pipeline.plan(small)
    assert [device.asn for device in fresh.fabrics["backend"].switches] == [
        device.asn for device in usual.fabrics["backend"].switches
    ]


def test_places_stay_those_of_the_file() -> None:
    intent = example("h100-4su")
    small = scaled(intent, pipeline.plan, 2, 8).intent
    path = ("fabrics", "backend", "servers", 0, "count")
    assert small.source.place(path) == intent.source.place(path)
    assert small.site.fabrics["backend"].servers[0].count == 32


def with_tenants(tenants: Any, servers: int = 128, **more: Any) -> Intent:
    fabric = {
        "nos": "frr",
        "servers": {"model": "dgx-h100", "count": servers, "per_rack": 4, "name": "gpu"},
        "topology": {"switch": "128x400g", "unit": {"servers": 16}},
        "overlay": {"kind": "evpn-vxlan"},
        "tenants": tenants,
    }
    return intent_of({"version": 1, "site": "dc1", "fabrics": {"backend": {**fabric, **more}}})


def servers_of(intent: Intent, fabric: str = "backend") -> dict[str, tuple[str, ...]]:
    return {tenant.name: tenant.servers for tenant in intent.site.fabrics[fabric].tenants}


@pytest.mark.parametrize(
    ("tenants", "wanted"),
    [
        # side by side: each at both units, as they were at several
        (
            [{"name": "red", "servers": "gpu-0001..0064"}, {"name": "blue", "servers": ["gpu-0065..0128"]}],
            {"red": ("gpu-0001..0015", "gpu-0017"), "blue": ("gpu-0016", "gpu-0018..0032")},
        ),
        # one unit alone, and what is left
        (
            [{"name": "red", "servers": "gpu-0001..0016"}, {"name": "blue"}],
            {"red": ("gpu-0001..0004",), "blue": ()},
        ),
        # racks become names; two servers are the least
        (
            [{"name": "red", "racks": 1, "servers": "gpu-0100"}, {"name": "blue", "racks": [31, 32]}],
            {"red": ("gpu-0001", "gpu-0017"), "blue": ("gpu-0031..0032",)},
        ),
        # rails divide ports and no servers
        (
            [{"name": "red", "rails": [1, 2, 3, 4]}, {"name": "blue", "rails": [5, 6, 7, 8]}],
            {"red": (), "blue": ()},
        ),
    ],
)
def test_tenants_keep_servers(tenants: Any, wanted: dict[str, tuple[str, ...]]) -> None:
    small = scaled(with_tenants(tenants), pipeline.plan, 2, 16).intent
    assert servers_of(small) == wanted
    assert all(tenant.racks == () for tenant in small.site.fabrics["backend"].tenants)
    assert pipeline.plan(small).fabrics["backend"].tenancy.kind == "evpn"


def test_a_server_has_the_same_tenants_in_every_fabric() -> None:
    small = scaled(example("ai-frr"), pipeline.plan, 2, 2).intent  # four servers behind, eight in front
    assert servers_of(small) == {"red": ("gpu-0001..0002",), "blue": ("gpu-0003..0004",)}
    assert servers_of(small, "frontend") == {
        "red": ("gpu-0001..0002", "gpu-0005..0007"),
        "blue": ("gpu-0003..0004", "gpu-0008"),
    }


def test_attached_switches_stay() -> None:
    for name in ("h100-4su", "ai-frr", "ai-eos"):
        intent = example(name)
        plan = pipeline.plan(scaled(intent, pipeline.plan, 2, 2 if "ai" in name else 8).intent)
        for fabric, made in plan.fabrics.items():
            assert made.spec.attachments == intent.site.fabrics[fabric].topology.attachments


def with_switch(switch: str, servers: int, links: int) -> Intent:
    """Leaves of 32 servers and 32 uplinks, with a switch."""
    topology = {"switch": switch, "unit": {"servers": 32}, "attachments": [{"name": "ufm", "links": links}]}
    fabric = {"servers": {"model": "dgx-h100", "count": servers}, "topology": topology}
    return intent_of({"version": 1, "site": "dc1", "fabrics": {"backend": fabric}})


@pytest.mark.parametrize(
    ("intent", "servers", "links"),
    [
        (with_switch("68x400g", 126, 20), 32, 20),  # four ports of each of eight leaves are free
        (with_switch("64x400g", 126, 16), 30, 16),  # none is: two servers give up their places, as before
        (with_switch("68x400g", 128, 60), 32, 15),  # more than there are free ports: a quarter, as of the leaves
    ],
)
def test_switches_find_ports(intent: Intent, servers: int, links: int) -> None:
    changed = scaled(intent, pipeline.plan, 16, 8)
    fabric = changed.intent.site.fabrics["backend"]
    assert (fabric.servers[0].count, fabric.topology.attachments[0].links) == (servers, links)
    assert ("backend: ufm has 15 of 60 links" in changed.notes) == (links == 15)


def test_pins_of_switches_that_are_left_out_go() -> None:
    data = yaml.safe_load((EXAMPLES / "h100-4su.yaml").read_text(encoding="utf-8"))
    data["fabrics"]["backend"]["pins"] = {
        "backend-leaf001": {"name": "first", "asn": 65001, "ports": {"backend-spine001": [33, 34]}},
        "backend-leaf031": {"asn": 65031},
        "backend-spine002": {"management": "172.16.9.9", "ports": {"backend-leaf030": [59, 60]}},
    }
    intent = intent_of(data)
    pipeline.plan(intent, Lock())
    changed = scaled(intent, pipeline.plan, 2, 8)
    assert list(changed.intent.site.fabrics["backend"].pins) == ["backend-leaf001", "backend-spine002"]
    gone = "backend-leaf001.ports.backend-spine001, backend-leaf031, backend-spine002.ports.backend-leaf030"
    assert changed.notes[-1] == f"backend: pins omitted: {gone}"
    made = pipeline.plan(changed.intent).fabrics["backend"]
    assert made.by_name["first"].asn == 65001


def test_overrides_that_apply_to_no_switch_go() -> None:
    data = yaml.safe_load((EXAMPLES / "b200-3tier.yaml").read_text(encoding="utf-8"))
    patch = {"file": "config_db.json", "patch": {"BANNER": {"x": "y"}}}
    data["overrides"] = [{"devices": "backend-leaf01*", **patch}, {"devices": "backend-leaf12*", **patch}]
    changed = scaled(intent_of(data), pipeline.plan, 2, 16)
    assert [request.devices for request in changed.intent.site.overrides] == [("backend-leaf01*",)]
    assert changed.notes[-1] == "override skipped, no switch matches it: config_db.json"
    data["overrides"] = data["overrides"][1]
    assert scaled(intent_of(data), pipeline.plan, 2, 16).intent.site.overrides == ()


def test_an_alias_is_changed_in_one_place_alone() -> None:
    text = """
version: 1
site: dc1
fabrics:
  one:
    servers: &gpus {model: dgx-h100, count: 64, name: gpu, per_rack: 4}
    topology: {switch: 64x400g, unit: {servers: 16}}
  two:
    purpose: frontend
    servers: *gpus
    topology: {switch: 64x400g, leaf: {uplinks: {count: 4}}}
"""
    small = scaled(intent_of(text), pipeline.plan, 8, 8).intent
    assert [fabric.servers[0].count for fabric in small.site.fabrics.values()] == [16, 32]


def test_one_fabric_has_exactly_so_many_leaves_the_others_at_most() -> None:
    data = yaml.safe_load((EXAMPLES / "h100-4su.yaml").read_text(encoding="utf-8"))
    data["fabrics"]["storage"] = {
        "purpose": "storage",
        "servers": {"model": "dgx-h100", "count": 127, "per_rack": 4},
        "topology": {"switch": "32x400g"},
    }
    intent = intent_of(data)
    plan = pipeline.plan(scaled(intent, pipeline.plan, 2, 12, "storage").intent)
    assert {name: made.sizing.leaves for name, made in plan.fabrics.items()} == {"backend": 8, "storage": 12}
    with pytest.raises(InputError, match="FAB501"):
        scaled(intent, pipeline.plan, 2, 12, "backend")


# --- what is refused ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "size", "wanted"),
    [
        (
            "h100-4su",
            (2, 12),
            ["FAB501", "fabric 'backend' cannot have 12 leaves: a unit of servers has 8", "nearest: 2x8 or 2x16"],
        ),
        ("h100-4su", (2, 4), ["FAB501", "fabric 'backend' cannot have 4 leaves: a unit of servers has 8", "nearest: 2x8"]),
        (
            "b200-3tier",
            (4, 8),
            ["FAB501", "fabric 'backend' cannot have 8 leaves: two pods of a unit each have 16", "nearest: 4x16"],
        ),
        ("lab", (1, 1), ["FAB501", "fabric 'frontend' cannot have 1 leaf: a collapsed-spine pair has two", "nearest: 1x2"]),
        (
            "lab",
            (0, 2),
            [
                "FAB500",
                "expected at least one spine and one leaf, got 0x2",
                "2x8 is two spines per plane and pod, and eight leaves in total",
            ],
        ),
    ],
)
def test_sizes_that_cannot_be_had(name: str, size: tuple[int, int], wanted: list[str]) -> None:
    with pytest.raises(InputError) as error:
        scaled(example(name), pipeline.plan, *size)
    assert wanted in [[found.code, found.message, found.hint] for found in error.value.diagnostics]


def test_tenants_that_would_be_too_few_to_test() -> None:
    tenants = [{"name": f"t{n}", "servers": f"gpu-{8 * n + 1:04}..{8 * n + 8:04}"} for n in range(16)]
    with pytest.raises(InputError) as error:
        scaled(with_tenants(tenants), pipeline.plan, 2, 8)
    first = error.value.diagnostics[0]
    assert (first.code, first.hint) == ("FAB502", "use more leaves for more servers")
    assert first.message == "scaled down to 2x8: tenant 't0': expected 2 of its 8 servers, got 1"
    scaled(with_tenants(tenants), pipeline.plan, 2, 16)


def test_an_unknown_fabric() -> None:
    with pytest.raises(InputError, match="did you mean 'backend'"):
        scaled(example("ai-frr"), pipeline.plan, 2, 2, "backed")


def test_an_intent_that_cannot_be_built_is_reported_as_ever() -> None:
    text = TREE.replace("512x400g", "sn5601")
    with pytest.raises(InputError, match=r"FAB106.*sn5601"):
        scaled(intent_of(text), pipeline.plan, 2, 8)


# --- another network OS -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_example_on_frr(name: str) -> None:
    intent = example(name)
    changed = as_network_os(intent, "frr")
    bonds = any(made.tenancy.lag.any() for made in pipeline.plan(intent).fabrics.values())
    if bonds:  # a bond over two leaves needs what the kernel drops
        with pytest.raises(InputError, match=r"FAB164.*server bonds across two leaves"):
            pipeline.plan(changed.intent)
        return
    plan = pipeline.plan(changed.intent)
    routed = [made for made in plan.fabrics.values() if made.spec.leaf.model.technology != "infiniband"]
    assert {device.nos for made in routed for device in made.switches} == ({"frr"} if routed else set())
    assert Counter(d.role for m in plan.fabrics.values() for d in m.devices if d.role != SERVER) == Counter(
        d.role for m in pipeline.plan(intent).fabrics.values() for d in m.devices if d.role != SERVER
    )


def test_what_is_of_another_network_os_goes(tmp_path: Path) -> None:
    (tmp_path / "eos.j2").write_text('{% extends "eos/device.j2" %}\n', encoding="utf-8")
    (tmp_path / "frr.j2").write_text('{% extends "frr/frr.conf.j2" %}\n', encoding="utf-8")
    text = """
version: 1
site: dc1
releases: {eos: "4.32.1F"}
fabrics:
  backend:
    nos: {leaf: sonic, spine: eos}
    releases: {sonic: "202411"}
    servers: {model: dgx-h100, count: 32}
    topology: {switch: sn5600, unit: {servers: 16}, spine: {nos: cumulus}}
overrides:
  - {role: leaf, template: eos.j2}
  - {role: leaf, template: frr.j2}
  - {role: leaf, file: config_db.json, patch: {a: {}}}
  - {role: leaf, template: missing.j2}
"""
    changed = as_network_os(intent_of(text, tmp_path), "frr")
    site = changed.intent.site
    assert [request.template for request in site.overrides] == ["frr.j2", "missing.j2"]  # the renderer says what is missing
    assert (site.releases, site.fabrics["backend"].releases) == ({}, {})
    assert changed.notes == (
        "backend: frr in place of sonic and cumulus and the default of each model",
        "backend: release of sonic omitted",
        "release of eos omitted",
        "override skipped: config_db.json is for another network OS",
        "override skipped: eos.j2 is for another network OS",
    )
    assert {device.nos for device in pipeline.plan(changed.intent).fabrics["backend"].switches} == {"frr"}


def test_small_and_on_frr() -> None:
    changed = as_network_os(scaled(example("h100-4su"), pipeline.plan, 2, 8).intent, "frr")
    assert len(pipeline.plan(changed.intent).fabrics["backend"].switches) == 10


def test_a_site_on_frr_stays_as_it_is() -> None:
    intent = example("ai-frr")
    changed = as_network_os(intent, "frr")
    assert (changed.intent is intent, changed.notes) == (True, ())


def test_infiniband_stays() -> None:
    text = TREE.replace("512x400g", "qm9700").replace("nos: frr", "purpose: compute")
    changed = as_network_os(intent_of(text), "frr")
    assert changed.notes == ("tree: InfiniBand, not configured by a network OS",)


def test_an_unknown_network_os() -> None:
    with pytest.raises(InputError, match="FAB107"):
        as_network_os(example("starter"), "ios")
