"""Leaves without servers, uplinks on the first ports, AS numbers of pairs, and peer links."""

from __future__ import annotations

from typing import Any

import pytest

from fabric.base.diagnostics import InputError
from fabric.configs.view_of import Views
from fabric.deliver.brownfield.draft.judge import planned, spec_of
from fabric.design.planner.site import size_site
from fabric.model.plan import LEAF, LEAF_SPINE, PEER_LINK, FabricPlan, Plan
from fabric.model.plan.lock import Lock
from fabric.nos.target import far_end, target

OWN = {"servers": {"node": {"gpus": 0, "nics": {"frontend": {"count": 1, "ports": 2, "speed_gbps": 100}}}}}


def document(**topology: Any) -> dict[str, Any]:
    servers = {"model": "node", "count": 8, "unit": {"servers": 4}}
    fabric = {
        "purpose": "frontend",
        "nos": "cumulus",
        "servers": servers,
        "topology": {"kind": "rack", "switch": "sn5600", "dual_tor": True, **topology},
    }
    return {"version": 1, "site": "dc1", "catalog": OWN, "fabrics": {"front": fabric}}


def front(stated: dict[str, Any], lock: Lock | None = None) -> FabricPlan:
    return planned(stated, lock or Lock()).fabrics["front"]


def leaves(fabric: FabricPlan) -> list[str]:
    return [device.name for device in fabric.switches if device.role == LEAF]


def uplinks(fabric: FabricPlan) -> dict[str, list[int]]:
    """Leaf → cages of its uplinks."""
    found: dict[str, list[int]] = {}
    links = fabric.links
    for row in (links.kind == LEAF_SPINE).nonzero()[0].tolist():
        found.setdefault(fabric.devices[int(links.a[row])].name, []).append(int(links.a_cage[row]))
    return found


def test_leaves_without_servers_have_the_uplinks_of_others_and_later_numbers() -> None:
    fabric = front(document(leaves_without_servers=[{"name": "border", "count": 2}]))
    assert leaves(fabric) == [f"front-leaf00{number}" for number in range(1, 7)]
    its = uplinks(fabric)
    assert len(its) == 6
    assert its["front-leaf005"] == its["front-leaf001"]


def test_spines_join_leaves_without_servers_where_one_leaf_would_carry_all_servers() -> None:
    stated = document(leaves_without_servers=[{"name": "border", "count": 4}], planes=2)
    stated["fabrics"]["front"]["servers"] = {"model": "node", "count": 8}
    for key in ("kind", "dual_tor"):
        del stated["fabrics"]["front"]["topology"][key]
    fabric = front(stated)
    assert (len(leaves(fabric)), fabric.sizing.tiers, fabric.sizing.networks) == (6, 2, 2)


def test_growth_keeps_the_numbers_of_leaves_without_servers() -> None:
    stated = document(leaves_without_servers=[{"name": "border", "count": 2}])
    first = planned(stated, Lock())
    stated["fabrics"]["front"]["servers"]["count"] = 12
    stated["fabrics"]["front"]["topology"]["leaves_without_servers"][0]["count"] = 4
    grown = planned(stated, first.lock)
    before = {device.name: (device.group, device.asn) for device in first.fabrics["front"].switches}
    after = {device.name: (device.group, device.asn) for device in grown.fabrics["front"].switches}
    assert before.items() <= after.items()
    assert len(leaves(grown.fabrics["front"])) == 10


@pytest.mark.parametrize(
    ("topology", "message"),
    [
        ({"leaves_without_servers": [{"name": "border", "count": 3}]}, "expected a multiple of 2 front-border leaves, got 3"),
        ({"kind": "collapsed", "leaves_without_servers": [{"name": "border", "count": 2}]}, "expected none beside servers"),
    ],
)
def test_what_cannot_be_is_an_error(topology: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as error:
        planned(document(**topology), Lock())
    assert message in str(error.value)


def test_a_fabric_may_have_no_servers_at_all() -> None:
    stated = document(leaves_without_servers=[{"name": "all", "count": 4}], attachments=[{"name": "fw", "links": 2}])
    del stated["fabrics"]["front"]["servers"]
    fabric = front(stated)
    assert (len(leaves(fabric)), fabric.sizing.servers) == (4, 0)


def test_without_servers_and_such_leaves_there_is_no_fabric() -> None:
    stated = document()
    del stated["fabrics"]["front"]["servers"]
    with pytest.raises(InputError, match="expected servers, got none"):
        planned(stated, Lock())


def test_uplinks_on_the_first_ports() -> None:
    last, first = (front(document(leaf={"uplinks": {"count": 2, "ports": ports}})) for ports in ("last", "first"))
    assert uplinks(first)["front-leaf001"] == [1, 2]
    assert uplinks(last)["front-leaf001"] == [63, 64]


def test_sizes_do_not_depend_on_the_place_of_uplinks() -> None:
    sizes = [size_site(spec_of(document(leaf={"uplinks": {"count": 2, "ports": its}})), Lock()) for its in ("first", "last")]
    assert sizes[0]["front"][1] == sizes[1]["front"][1]


def asns(plan: Plan) -> list[int]:
    return [device.asn for device in plan.fabrics["front"].switches if device.role == LEAF]


def test_a_pair_has_one_as_number() -> None:
    stated = document(leaves_without_servers=[{"name": "one", "count": 1, "paired": False}])
    stated["fabrics"]["front"]["underlay"] = {"asn": {"scheme": "per-pair"}}
    its = asns(planned(stated, Lock()))
    assert its[0] == its[1] != its[2] == its[3] != its[4]
    assert len(set(its)) == 3


def test_a_peer_link_is_cabled_and_not_routed() -> None:
    stated = document(leaf={"uplinks": {"count": 2}})
    stated["fabrics"]["front"]["links"] = {"add": [{"ends": ["front-leaf001 40", "front-leaf002 40"], "speed_gbps": 800}]}
    fabric = front(stated)
    (row,) = (fabric.links.kind == PEER_LINK).nonzero()[0].tolist()
    assert [fabric.devices[int(end[row])].name for end in (fabric.links.a, fabric.links.b)] == [
        "front-leaf001",
        "front-leaf002",
    ]
    assert fabric.subnet[row] < 0


@pytest.mark.parametrize("nos", ["sonic", "cumulus"])
def test_both_ends_of_a_peer_link_know_the_port_of_the_other(nos: str) -> None:
    stated = document(leaf={"uplinks": {"count": 2}})
    stated["fabrics"]["front"] |= {
        "nos": nos,
        "links": {"add": [{"ends": ["front-leaf001 40", "front-leaf002 41"], "speed_gbps": 800}]},
    }
    plan = planned(stated, Lock())
    fabric = plan.fabrics["front"]
    views = Views(plan, fabric)
    far = [
        (port.ref.cage, far_end(port.peer))
        for name in ("front-leaf001", "front-leaf002")
        for port in views.of(fabric.by_name[name]).ports
        if port.peer is not None and port.peer.device.name.startswith("front-leaf")
    ]
    name = target(nos).port_name
    model = views.models[LEAF]
    ends = {port.ref.cage: port.ref for port in views.of(fabric.by_name["front-leaf001"]).ports}
    assert far == [(40, name(model, ends[41], "sn5600")), (41, name(model, ends[40], "sn5600"))]


def test_a_peer_link_has_no_subnet() -> None:
    stated = document(leaf={"uplinks": {"count": 2}})
    add = {"ends": ["front-leaf001 40", "front-leaf002 40"], "speed_gbps": 800, "subnet": "10.99.0.0/31"}
    stated["fabrics"]["front"]["links"] = {"add": [add]}
    with pytest.raises(InputError, match="expected none on a peer link"):
        planned(stated, Lock())


def test_switches_below_need_no_tenant() -> None:
    stated = document(leaves_without_servers=[{"name": "border", "count": 2}])
    below = {"topology": {"switch": "sn2201", "kind": "rack", "leaves_without_servers": [{"name": "all", "count": 2}]}}
    stated["fabrics"]["oob"] = {"purpose": "oob", "nos": "cumulus", "below": {"fabric": "front", "links": 1}, **below}
    plan = planned(stated, Lock())
    lower = plan.fabrics["oob"]
    assert [its.far is not None for its in lower.uplinks] == [True, True]


def test_pairs_without_servers_are_in_every_plane() -> None:
    stated = document(planes=4, leaves_without_servers=[{"name": "border", "count": 4}])
    stated["catalog"] = {"servers": {"node": {"gpus": 0, "nics": {"frontend": {"count": 1, "ports": 4, "speed_gbps": 100}}}}}
    assert len(leaves(front(stated))) == 12
    stated["fabrics"]["front"]["topology"]["leaves_without_servers"][0]["count"] = 2
    with pytest.raises(InputError, match="expected a multiple of 4 front-border leaves, got 2"):
        planned(stated, Lock())


def test_planes_may_be_more_than_a_nic_has_ports_where_no_server_is() -> None:
    bare = [{"name": "border", "count": 16}]
    stated = document(planes=16, dual_tor=False, leaves_without_servers=bare)
    with pytest.raises(InputError, match=r"planes: expected a divisor of the 2 ports of a NIC of node, got 16"):
        planned(stated, Lock())
    del stated["fabrics"]["front"]["servers"]
    assert len(leaves(front(stated))) == 16
    stated["fabrics"]["front"]["topology"] |= {"kind": "collapsed", "planes": 8}
    assert len(leaves(front(stated))) == 16


def test_leaves_without_servers_beside_rails_are_one_error() -> None:
    stated = document(kind="rail-only", dual_tor=False, leaves_without_servers=[{"name": "border", "count": 2}])
    with pytest.raises(InputError) as caught:
        planned(stated, Lock())
    messages = [one.message for one in caught.value.diagnostics]
    assert messages == ["leaves_without_servers: expected none beside servers in a `rail-only` fabric"]
