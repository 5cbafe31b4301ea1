"""Failures by name, and errors for names that do not exist and fabrics that fall apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from fabric.base.diagnostics import InputError
from fabric.configs.port_names import PortNames
from fabric.model.plan import LEAF_SPINE
from fabric.solver import Network
from fabric.solver.capacity.failures import NOTHING, apply, check, parse
from tests.solver.capacity.fabrics import STABLE, fabric, networks


@pytest.fixture(scope="module")
def net() -> Network:
    return fabric("rack")


def errors(net: Network, *names: str) -> list[tuple[str, str, str]]:
    with pytest.raises(InputError) as caught:
        check(net, parse(net, names))
    assert {str(item.place) for item in caught.value.diagnostics} == {"--fail"}
    return [(item.code, item.message, item.hint) for item in caught.value.diagnostics]


def links_of(net: Network, one: str, other: str) -> list[int]:
    at = [net.fabric.by_name[name].index for name in (one, other)]
    return np.flatnonzero((net.fabric.links.a == at[0]) & (net.fabric.links.b == at[1])).tolist()


def test_names_of_devices_pairs_and_ports(net: Network) -> None:
    pair = links_of(net, "backend-leaf001", "backend-spine001")
    assert len(pair) == 2
    assert parse(net, ["backend-leaf001:backend-spine001"]).links.tolist() == pair
    assert parse(net, ["backend-spine001:backend-leaf001"]).links.tolist() == pair
    assert parse(net, ["backend-spine001", "four-0002", "backend-spine001"]).devices.tolist() == sorted(
        net.fabric.by_name[name].index for name in ("backend-spine001", "four-0002")
    )
    both = parse(net, ["four-0001:compute3", "four-0001:compute3 "])
    assert both.links.tolist() == [2]
    assert both.names == ("four-0001:compute3", "four-0001:compute3")
    assert parse(net, []).links.tolist() == NOTHING.links.tolist() == []


@settings(STABLE, max_examples=25)
@given(st.data())
def test_every_link_is_named_by_each_of_its_ends_as_links_csv_has_it(data: st.DataObject) -> None:
    net = data.draw(networks())
    link = data.draw(st.integers(0, net.links - 1))
    names = PortNames(net.fabric)
    for end in ("a", "b"):
        device, ref = net.fabric.devices[int(getattr(net.fabric.links, end)[link])], names.ref(link, end)
        for port in (names.label(device, ref), names.port_name(device, ref)):
            if port:
                assert parse(net, [f"{device.name}:{port}"]).links.tolist() == [link]


def test_what_fails_carries_nothing(net: Network) -> None:
    left = apply(net, parse(net, ["backend-spine001", "backend-leaf002:backend-spine002", "four-0001:compute1"]))
    down = left.capacity == 0
    spine = net.fabric.by_name["backend-spine001"].index
    pair = links_of(net, "backend-leaf002", "backend-spine002")
    expected = (net.tail == spine) | (net.head == spine)
    expected[[0, net.links, *pair, *(link + net.links for link in pair)]] = True
    assert (down == expected).all()
    assert apply(net, NOTHING) is net


def test_unknown_names_are_all_reported_with_the_nearest(net: Network) -> None:
    found = errors(
        net, "backend-spin001", "backend-leaf001:backend-leaf002", "backend-leaf001:77", "four-0001:compute9", "x:y", ""
    )
    assert [code for code, *_ in found] == ["FAB170"] * 6
    assert {(message, hint.removeprefix("did you mean ").rstrip("?")) for _, message, hint in found[:3]} == {
        ("backend-leaf001 has no link at port '77'", "'backend-leaf001:7'"),
        ("four-0001 has no link at port 'compute9'", "'four-0001:compute4'"),
        ("no link between backend-leaf001 and backend-leaf002", "'backend-leaf001:backend-spine002'"),
    }
    rest = {message: hint for _, message, hint in found[3:]}
    assert rest["unknown switch or server 'backend-spin001'"] == "did you mean 'backend-spine001'?"
    assert rest["unknown switch or server 'x'"].startswith("one of backend-leaf001, ")
    assert rest["unknown switch or server ''"].startswith("one of backend-leaf001, ")


def test_a_partition_is_reported_with_what_would_heal_it(net: Network) -> None:
    spines = [device.name for device in net.fabric.switches if device.role == "spine"]
    assert errors(net, *spines) == [
        (
            "FAB171",
            "the fabric is partitioned with backend-spine001, backend-spine002 down: "
            "backend-leaf001 and backend-leaf002 have no path to each other",
            "without `--fail backend-spine001` the fabric stays connected",
        )
    ]
    cut = [f"backend-leaf003:{spine}" for spine in spines]
    ((_, message, hint),) = errors(net, "four-0001", *cut)
    assert message.endswith("backend-leaf001 and backend-leaf003 have no path to each other")
    assert hint == f"without `--fail {cut[0]}` the fabric stays connected"


def test_a_partition_needs_paths_not_wires(net: Network) -> None:
    """Leaf 1 on spine 1 alone and leaf 2 on spine 2 alone are wired to each other, by a third leaf that does not forward."""
    names = ["backend-leaf001:backend-spine002", "backend-leaf002:backend-spine001"]
    assert errors(net, *names)[0][0] == "FAB171"
    assert check(net, parse(net, names[:1])).alive.sum() < net.alive.sum()


def test_no_port_left_is_a_partition_and_isolated_rails_are_none(net: Network) -> None:
    leaves = [device.name for device in net.fabric.switches if device.role == "leaf"]
    assert errors(net, *leaves)[0][1].endswith("and 1 more down: no server port is left")
    check(net, parse(net, leaves[:4]))  # one leaf is left, and its servers reach each other
    rails = fabric("rail-only")
    check(rails, NOTHING)
    assert (rails.fabric.links.kind == LEAF_SPINE).any()
    check(rails, parse(rails, ["backend-leaf001"]))
