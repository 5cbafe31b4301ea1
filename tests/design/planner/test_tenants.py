"""Tenants on a wired fabric: whose each port is, what they share, and that their numbers stay."""

from __future__ import annotations

from collections import Counter
from ipaddress import ip_address, ip_interface, ip_network
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from fabric.base.diagnostics import InputError
from fabric.configs.view_of import Views
from fabric.model.plan import CLOSED, NO_TENANT, SERVER_LEAF, FabricPlan, SwitchView
from tests.cost import calls
from tests.design.planner.helpers import make, reread

GPUS = """
version: 1
site: dc1
fabrics:
  backend:
    nos: sonic
    servers: {model: dgx-h100, count: 12, name: gpu, per_rack: 4}
    topology: {switch: sn5600, unit: {servers: 4}, attachments: []}
    overlay: {}
    tenants: []
"""
WEB = """
version: 1
site: dc1
catalog:
  servers:
    web: {gpus: 0, nics: {frontend: {count: 1, ports: 2, speed_gbps: 100}}}
fabrics:
  front:
    purpose: frontend
    nos: eos
    servers: {model: web, count: 8, name: web, per_rack: 4}
    topology: {switch: 7050cx3-32s, dual_tor: true}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: red, racks: 1, networks: [{name: a, gateway: 10.20.0.0/24}, {name: b, vlan: 300, gateway: 10.21.0.0/24}]}
      - {name: blue, networks: [{name: a, gateway: 10.20.0.0/24}]}
"""


def gpus(tenants: list[dict[str, Any]], overlay: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    site: dict[str, Any] = yaml.safe_load(GPUS)
    site["fabrics"]["backend"]["tenants"] = tenants
    site["fabrics"]["backend"]["overlay"] = overlay or {"kind": "evpn-vxlan"}
    site["fabrics"]["backend"]["topology"] |= changes
    return site


def fabric(site: dict[str, Any] | str, **options: Any) -> FabricPlan:
    return next(iter(make(site, **options).fabrics.values()))


def owned(plan: FabricPlan) -> Counter[str]:
    """Tenant → its server ports; `closed` and `no one` among them."""
    names = [tenant.name for tenant in plan.tenancy.tenants] + ["closed", "none"]  # owners -2 and -1 index from the end
    return Counter(names[owner] for owner in plan.tenancy.owner[plan.links.kind == SERVER_LEAF])


@pytest.mark.parametrize(
    ("tenants", "expected"),
    [
        ([], {"none": 96}),
        ([{"name": "red"}], {"red": 96}),
        ([{"name": "red", "servers": "gpu-0003..0005"}, {"name": "blue"}], {"red": 24, "blue": 72}),
        ([{"name": "red", "servers": ["gpu-0001", "gpu-001*"]}], {"red": 32, "closed": 64}),
        ([{"name": "red", "racks": [1, 3]}, {"name": "blue", "servers": "gpu-0005"}], {"red": 64, "blue": 8, "closed": 24}),
        ([{"name": "red", "rails": [1, 2]}, {"name": "blue", "rails": 8}], {"red": 24, "blue": 12, "closed": 60}),
        ([{"name": "red", "racks": 1, "rails": 1}, {"name": "blue", "racks": 1, "rails": 2}, {"name": "green"}],
         {"red": 4, "blue": 4, "green": 88}),
    ],
)  # fmt: skip
def test_ports_follow_from_servers_racks_and_rails(tenants: list[dict[str, Any]], expected: dict[str, int]) -> None:
    assert owned(fabric(gpus(tenants))) == expected


@pytest.mark.parametrize(
    ("tenants", "message"),
    [
        ([{"name": "red", "servers": "gpu-0001..0004"}, {"name": "blue", "racks": 1}],
         "tenants 'red' and 'blue': expected different ports, both select gpu-0001 (32 ports in all)"),
        ([{"name": "red", "servers": "gpu-1"}], "tenant 'red': expected servers of this fabric, got 'gpu-1'"),
        ([{"name": "red", "racks": 4}], "tenant 'red': expected racks 1 to 3, got 4"),
        ([{"name": "red", "rails": 9}], "tenant 'red': expected rails 1 to 8, got 9"),
        ([{"name": "red"}, {"name": "blue"}], "tenants 'red' and 'blue': expected servers, racks, rails or NICs"),
    ],
)  # fmt: skip
def test_what_a_tenant_cannot_have(tenants: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make(gpus(tenants))
    assert [d.message for d in caught.value.diagnostics] == [message]


def test_a_range_from_high_to_low_is_turned_in_the_hint() -> None:
    with pytest.raises(InputError) as caught:
        make(gpus([{"name": "red", "servers": "gpu-0004..0002"}]))
    assert [d.hint for d in caught.value.diagnostics] == ["a range begins with the lower number: gpu-0002..0004"]


@pytest.mark.parametrize(
    ("attachments", "ends"),
    [([], "88 ports of 11 servers"), ([{"name": "nas", "links": 3}], "91 ports of 11 servers and 1 attachment")],
)
def test_closed_ports_are_counted_by_what_they_serve(attachments: list[dict[str, Any]], ends: str) -> None:
    site = gpus([{"name": "red", "servers": "gpu-0001"}], attachments=attachments)
    found = [one.message for one in make(site).warnings if one.code == "FAB187"]
    assert found == [f"fabric 'backend': {ends} belong to no tenant and are shut"]


def views(plan_of: Any) -> list[SwitchView]:
    made = make(plan_of)
    return [Views(made, found).of(device) for found in made.fabrics.values() for device in found.switches]


TENANTS = [{"name": "red", "servers": "gpu-0001..0005"}, {"name": "blue", "servers": "gpu-0006..0011"}]


@pytest.mark.parametrize("overlay", [{"kind": "evpn-vxlan"}, {"isolation": "vrf-lite"}, {"isolation": "acl"}])
def test_tenants_share_no_port_no_table_and_no_filter(overlay: dict[str, Any]) -> None:
    owner_of = {f"gpu-{n:04}": "red" if n <= 5 else "blue" if n <= 11 else "" for n in range(1, 13)}
    for view in views(gpus(TENANTS, overlay)):
        for port in view.ports:
            if port.kind != "server" or port.peer is None:
                continue
            owner = owner_of[port.peer.device.name]
            assert (port.vrf or port.acl) == owner
            assert port.closed == (not owner)
        targets = [vrf.route_target for vrf in view.vrfs]
        assert len({vrf.rd for vrf in view.vrfs}) == len(set(targets)) == len(targets)
        assert not any(set(vrf.imports) & set(targets) for vrf in view.vrfs)


def test_filters_cover_the_tenant_and_no_one_else() -> None:
    site = gpus(TENANTS, {"isolation": "acl"})
    plan = fabric(site)
    found = {acl.name: [ip_network(text) for text in acl.permits] for view in views(site) for acl in view.acls}
    for n, name in enumerate(("red", "blue")):
        own = {int(low) for low in plan.subnet[(plan.tenancy.owner == n) & (plan.subnet >= 0)]}
        covered = {int(net.network_address) + step for net in found[name] for step in range(0, net.num_addresses, 2)}
        assert covered == own


def test_slices_of_links_are_disjoint_and_meet_at_both_ends() -> None:
    seen: dict[str, str] = {}
    for view in views(gpus(TENANTS, {"isolation": "vrf-lite"})):
        for port in view.ports:
            for part in port.subinterfaces:
                address = part.address.partition("/")[0]
                assert address not in seen
                seen[address] = part.peer_address
        for vrf in view.vrfs:
            assert {session.tag for session in vrf.sessions} == {10 + vrf.number}
    assert seen
    assert all(seen[far] == near for near, far in seen.items())
    plan = fabric(gpus(TENANTS, {"isolation": "vrf-lite"}))
    underlay = {int(low) + step for low in plan.subnet if low >= 0 for step in (0, 1)}
    slices = [int(low) + step for first in plan.tenancy.slices.values() for low in first if low >= 0 for step in (0, 1)]
    assert len(set(slices)) == len(slices)
    assert not underlay & set(slices)


def test_evpn_neighbors_are_the_first_upper_switches() -> None:
    site = gpus(TENANTS, {"kind": "evpn-vxlan", "route_servers": 2}, spine={"count": 4})
    found = {view.device.name: view for view in views(site)}
    spines = ["backend-spine001", "backend-spine002"]
    for name, view in found.items():
        if view.device.role == "spine" and name not in spines:
            assert (view.overlay, view.vrfs, view.networks) == (None, (), ())  # VXLAN is UDP to it
            continue
        assert view.overlay is not None
        peers = [session.peer.name for session in view.overlay.sessions]
        assert view.overlay.passes_on == (view.device.role == "spine")
        if view.device.role == "leaf":
            assert peers == spines
            assert view.overlay.vtep is not None
            for session in view.overlay.sessions:
                assert session.peer_address == found[session.peer.name].router_id
        else:
            assert bool(peers) == (name in spines)
            assert view.vrfs == view.networks == ()


def test_rd_and_rt_fit_every_daemon() -> None:
    """Beside an IPv4 address a number has 16 bits; beside a 2-byte AS number 32."""
    site = yaml.safe_load(WEB)
    site["fabrics"]["front"]["overlay"] |= {"l3vni_base": 16_000_000, "l2vni_base": 15_000_000}
    for view in views(site):
        for part in (*view.vrfs, *view.networks):
            assert int(part.rd.rpartition(":")[2]) < 65_536
            assert int(part.route_target.partition(":")[0]) < 65_536


def test_a_vni_that_the_network_os_does_not_accept() -> None:
    """EOS has one number more than NX-OS."""
    site = yaml.safe_load(WEB)
    site["fabrics"]["front"]["tenants"][0]["vni"] = 16_777_215
    site["fabrics"]["front"]["nos"] = "eos"
    assert list(views(site))
    site["fabrics"]["front"]["nos"] = "nxos"
    with pytest.raises(InputError, match="expects a VNI from 1 to 16777214, got 16777215"):
        list(views(site))


def test_bonds_of_a_pair() -> None:
    found = {view.device.name: view for view in views(WEB)}
    one, other = found["front-leaf001"], found["front-leaf002"]
    assert [lag.number for lag in one.lags] == [1, 2, 3, 4]
    assert [(lag.esi, lag.system_mac, lag.tagged) for lag in one.lags] == [
        (lag.esi, lag.system_mac, lag.tagged) for lag in other.lags
    ]
    assert all(lag.preferred != twin.preferred for lag, twin in zip(one.lags, other.lags, strict=True))
    assert one.pair is not None
    assert other.pair is not None
    assert (one.pair.peer.name, other.pair.peer.name, one.pair.number) == ("front-leaf002", "front-leaf001", 1)
    esis = [lag.esi for name, view in found.items() for lag in view.lags if name in ("front-leaf001", "front-leaf003")]
    assert len(set(esis)) == len(esis) == 8
    assert [network.vlan for network in one.networks] == [100, 300]
    assert one.lags[0].tagged == (100, 300)
    assert [(network.vlan, network.gateway) for network in found["front-leaf003"].networks] == [(102, "10.20.0.1/24")]
    assert found["front-leaf003"].lags[0].untagged == 102


def hosts(plan: FabricPlan) -> dict[tuple[str, str, str], int]:
    """(tenant, network, server) → address."""
    names = {}
    for (tenant, network), addresses in plan.tenancy.hosts.items():
        owner = plan.tenancy.tenants[tenant]
        for link, address in addresses.items():
            names[owner.name, owner.networks[network].name, plan.devices[int(plan.links.a[link])].name] = address
    return names


def test_numbers_stay_when_tenants_come_and_go(tmp_path: Path) -> None:
    site = yaml.safe_load(WEB)
    before = make(site)
    old = before.fabrics["front"]
    front = site["fabrics"]["front"]
    front["servers"]["count"] = 16
    front["planned"] = {"servers": 16}
    front["tenants"].insert(0, {"name": "amber", "racks": 4, "networks": [{"name": "z", "gateway": "10.9.0.0/24"}]})
    del front["tenants"][1]  # red
    after = make(site, reread(before.lock, tmp_path))
    new = after.fabrics["front"]
    kept = {tenant.name: (tenant.number, tenant.vni) for tenant in new.tenancy.tenants}
    assert kept["blue"] == next((t.number, t.vni) for t in old.tenancy.tenants if t.name == "blue")
    assert kept["amber"][0] == 1  # the number that red has given up
    assert {key: hosts(new)[key] for key in hosts(old) if key[0] == "blue"} == {
        key: address for key, address in hosts(old).items() if key[0] == "blue"
    }
    assert make(site, reread(after.lock, tmp_path)).lock == after.lock


def test_a_subnet_that_is_too_small_is_refused() -> None:
    site = yaml.safe_load(WEB)
    site["fabrics"]["front"]["tenants"][1]["networks"][0]["gateway"] = "10.20.0.0/29"
    with pytest.raises(InputError) as caught:
        make(site)
    assert "expected a subnet with room for the gateway, 4 leaves and" in caught.value.diagnostics[0].message


def test_a_router_is_reached_in_each_table() -> None:
    attachment = {"name": "wan", "links": 2, "external": {"asn": 65010, "tenants": ["blue"]}}
    found = [view for view in views(gpus(TENANTS, attachments=[attachment])) if view.externals]
    assert len(found) == 2
    for view in found:
        assert [(way.vrf, way.tag, way.peer_asn, way.accepts) for way in view.externals] == [
            ("blue", 12, 65010, ("0.0.0.0/0",))
        ]
        assert "blue" in [vrf.name for vrf in view.vrfs]
    plain = gpus([], {"kind": "none"}, attachments=[{"name": "wan", "links": 2, "external": {"asn": 65010}}])
    border = next(view for view in views(plain) if view.externals)
    way = border.externals[0]
    assert (way.vrf, way.tag, way.address) == ("", 0, way.port.address)
    assert border.underlay.outside == ("0.0.0.0/0",)


def test_owners_are_no_one_without_tenants() -> None:
    plan = fabric(gpus([], {"kind": "none"}))
    assert set(np.unique(plan.tenancy.owner)) == {NO_TENANT}
    assert CLOSED not in plan.tenancy.owner


# Cases that were wrong once.


def refused(site: dict[str, Any] | str) -> list[str]:
    with pytest.raises(InputError) as caught:
        make(site)
    return [f"{found.code} {found.message}" for found in caught.value.diagnostics]


@pytest.mark.parametrize("name", ["null", "true", "no", "12", "010", "0x10", "2024-01-01", "y"])
def test_names_that_yaml_reads_otherwise_keep_their_numbers(name: str, tmp_path: Path) -> None:
    attachment = {"name": name, "links": 2, "tenant": name}
    old = make(gpus([{"name": "first", "servers": "gpu-0001"}, {"name": name, "racks": 2}], attachments=[attachment]))
    lock = reread(old.lock, tmp_path)
    assert lock == old.lock
    attachments = [{"name": "another", "links": 1, "tenant": name}, attachment]
    new = make(gpus([{"name": name, "racks": 2}], attachments=attachments), lock)
    assert new.fabrics["backend"].tenancy.tenants[0].number == 2
    kept = new.lock.fabrics["backend"].attachments
    assert kept[name] == old.lock.fabrics["backend"].attachments[name]


@pytest.mark.parametrize("name", ["swp1", "eth0", "vlan100", "bond1", "bridge", "MGMT"])
def test_names_of_devices_are_no_tenants(name: str) -> None:
    assert "expected a name that no network OS reserves" in refused(gpus([{"name": name}]))[0]


def test_subnets_and_routes_have_the_family_of_the_fabric() -> None:
    site = yaml.safe_load(WEB)
    site["fabrics"]["front"]["tenants"][1]["networks"][0]["gateway"] = "fd00:9::/64"
    assert refused(site) == ["FAB144 network 'a': gateway: expected an IPv4 subnet, got fd00:9::/64"]
    attachment: dict[str, Any] = {"name": "wan", "links": 1, "external": {"asn": 65010, "accept": ["::/0"]}}
    assert refused(gpus([{"name": "red"}], attachments=[attachment])) == [
        "FAB104 external.accept: expected IPv4 prefixes, got ::/0"
    ]
    del attachment["external"]["accept"]
    site = gpus([{"name": "red"}], {"isolation": "vrf-lite"}, attachments=[attachment])
    site["fabrics"]["backend"]["underlay"] = {"addressing": "ipv6"}
    assert {way.accepts for view in views(site) for way in view.externals} == {("::/0",)}


@pytest.mark.parametrize("overlay", [{"kind": "evpn-vxlan"}, {"isolation": "vrf-lite"}, {"kind": "none"}])
def test_a_router_without_tenants_is_met_in_the_default_table(overlay: dict[str, Any]) -> None:
    site = gpus([], overlay, attachments=[{"name": "wan", "links": 2, "external": {"asn": 65010}}])
    assert [way.vrf for view in views(site) for way in view.externals] == ["", ""]


def test_a_router_on_a_port_without_a_subnet_is_refused() -> None:
    attachment = {"name": "wan", "links": 2, "speed_gbps": 100, "external": {"asn": 65010}}
    assert (
        "FAB140 attachment 'wan': expected a port whose subnet"
        in refused(gpus([], {"kind": "none"}, attachments=[attachment]))[0]
    )


def test_a_external_connection_and_a_network_share_no_addresses() -> None:
    site = yaml.safe_load(WEB)
    site["fabrics"]["front"]["topology"]["attachments"] = [{"name": "wan", "links": 1, "external": {"asn": 65010}}]
    site["fabrics"]["front"]["tenants"][1]["networks"][0]["gateway"] = "10.64.0.0/24"
    assert "overlaps pool 'p2p' 10.64.0.0/10, which is in the same VRF" in refused(site)[0]


def test_a_chosen_vlan_stays(tmp_path: Path) -> None:
    site = yaml.safe_load(WEB)
    networks = site["fabrics"]["front"]["tenants"][0]["networks"]
    networks[:] = [{"name": "a"}, {"name": "b", "vlan": 100}]
    old = make(site)
    assert [n.vlan for n in old.fabrics["front"].tenancy.tenants[0].networks] == [1100, 100]
    del networks[1]
    new = make(site, reread(old.lock, tmp_path))
    assert [n.vlan for n in new.fabrics["front"].tenancy.tenants[0].networks] == [1100]
    networks.append({"name": "c", "vlan": 1100})
    with pytest.raises(InputError) as caught:
        make(site, new.lock)
    assert "networks 'red/a' and 'red/c': expected unique VLANs, both have 1100" in caught.value.diagnostics[0].message


def test_servers_with_high_numbers_fit_a_small_subnet() -> None:
    site = yaml.safe_load(WEB)
    site["fabrics"]["front"]["servers"]["count"] = 32
    site["fabrics"]["front"]["tenants"] = [
        {"name": "red", "racks": 8, "networks": [{"name": "a", "gateway": "10.20.0.0/27"}]},
        {"name": "rest"},
    ]
    assert sorted(hosts(fabric(site)).items())[0] == (("red", "a", "web-0029"), int(ip_address("10.20.0.2")))


def test_leaves_with_high_numbers_take_no_address_of_a_server(tmp_path: Path) -> None:
    """Leaves of a group that is gone keep their numbers, so those that stay have higher ones than there are leaves."""
    site = yaml.safe_load(WEB)
    front = site["fabrics"]["front"]
    front["servers"] = [{"model": "web", "count": 40, "name": "old", "per_rack": 4}, {**front["servers"], "name": "web"}]
    front["tenants"] = [{"name": "red", "networks": [{"name": "a", "gateway": "10.20.0.0/26"}]}]
    lock = make({**site, "fabrics": {"front": {**front, "tenants": []}}}).lock
    del front["servers"][0]
    front["servers"][0]["count"] = 36
    with pytest.raises(InputError) as caught:
        make(site, reread(lock, tmp_path))
    assert "room for the gateway, 38 leaves and 36 addresses" in caught.value.diagnostics[0].message
    front["servers"][0]["count"] = 26
    made = make(site, reread(lock, tmp_path))
    plan = made.fabrics["front"]
    views_ = [Views(made, plan).of(device) for device in plan.switches]
    of_leaves = {int(ip_interface(n.own_address or "").ip) for view in views_ for n in view.networks}
    assert len(of_leaves) == 14
    assert not of_leaves & set(hosts(plan).values())


def test_leaves_that_share_bonds_are_those_that_share_servers(tmp_path: Path) -> None:
    """A fabric that turns to two leaves a rack later has leaves whose numbers are no neighbors."""
    site = yaml.safe_load(WEB)
    front = site["fabrics"]["front"]
    front["topology"] |= {"dual_tor": False, "unit": {"servers": 4}}
    old = make(site)
    front["topology"]["dual_tor"] = True
    made = make(site, reread(old.lock, tmp_path))
    plan = made.fabrics["front"]
    together: dict[str, set[str]] = {}
    for view in (Views(made, plan).of(device) for device in plan.switches):
        for lag in view.lags:
            together.setdefault(lag.esi, set()).add(view.device.name)
            assert view.pair is not None
            assert plan.devices[plan.tenancy.pair[view.device.index]] == view.pair.peer
    served: dict[str, set[str]] = {}
    for a, b in zip(plan.links.a[plan.tenancy.lag > 0], plan.links.b[plan.tenancy.lag > 0], strict=True):
        served.setdefault(plan.devices[int(a)].name, set()).add(plan.devices[int(b)].name)
    assert sorted(map(sorted, together.values())) == sorted(map(sorted, served.values()))


def test_ranges_may_reach_far_beyond_the_servers() -> None:
    counts = []
    for last in ("0012", "99999999999999999999"):
        tenants = [{"name": "red", "servers": ["gpu-0001..0003", f"gpu-0010..{last}"]}, {"name": "blue"}]
        plans: list[FabricPlan] = []
        counts.append(calls(lambda: plans.append(fabric(gpus(tenants)))))  # noqa: B023
        plan = plans[0]
        owned = {plan.devices[int(a)].name for a in plan.links.a[plan.tenancy.owner == 0]}
        assert owned == {f"gpu-{n:04}" for n in (1, 2, 3, 10, 11, 12)}
    assert counts[1] < 2 * counts[0]
    assert "got 'gpu-1..12'" in refused(gpus([{"name": "red", "servers": "gpu-1..12"}]))[0]


def test_an_attachment_of_a_tenant_with_networks_is_in_them_as_its_servers_are() -> None:
    site = yaml.safe_load(WEB)
    front = site["fabrics"]["front"]
    front["servers"]["count"] = 7
    front["topology"]["attachments"] = [
        {"name": "appliance", "links": 1, "tenant": "blue"},
        {"name": "probe", "links": 1, "tenant": "red"},
        {"name": "cache", "links": 1, "tenant": "red", "network": "b"},
    ]
    found = {vrf.name: vrf.prefixes for view in views(site) for vrf in view.vrfs}
    assert found == {"red": ("10.20.0.0/24", "10.21.0.0/24"), "blue": ("10.20.0.0/24",)}
    ports = [port for view in views(site) for port in view.ports if port.kind == "attachment"]
    assert {port.peer.device.name: (port.untagged, port.tagged, port.address, port.vrf) for port in ports if port.peer} == {
        "appliance": (102, (), None, ""),
        "probe": (0, (100, 300), None, ""),
        "cache": (300, (), None, ""),
    }
    front["topology"]["attachments"][2]["network"] = "c"
    assert refused(site) == ["FAB144 attachment 'cache': expected a network of tenant 'red', got 'c'"]


def test_two_default_routes_in_one_table_are_worth_a_word() -> None:
    site = gpus([], {"kind": "none"}, attachments=[{"name": "wan", "links": 2, "external": {"asn": 65010}}])
    assert [found.code for found in make(site).warnings if found.severity == "warning"] == []
    site["management"] = {"vrf": False}
    assert [found.code for found in make(site).warnings if found.severity == "warning"] == ["FAB190"]


def test_a_router_has_an_as_number_of_its_own() -> None:
    attachment = {"name": "wan", "links": 2, "external": {"asn": 4_200_000_000}}
    with pytest.raises(InputError) as caught:
        make(gpus([], {"kind": "none"}, attachments=[attachment]))
    assert [found.message for found in caught.value.diagnostics] == [
        "attachment 'wan': expected a unique AS number, got 4200000000, that of backend-spine001"
    ]


def test_servers_that_a_range_names_and_no_one_has_are_worth_a_word() -> None:
    found = make(gpus([{"name": "red", "servers": "gpu-0005..0020"}, {"name": "blue"}])).warnings
    assert [(warning.code, warning.message) for warning in found if warning.severity == "warning"] == [
        ("FAB187", "tenant 'red': gpu-0005..0020 names 16 servers, the fabric has 8")
    ]
