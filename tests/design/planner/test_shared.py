"""What the fabrics of a site share: servers, numbers, and what a designer pins across them."""

from __future__ import annotations

import pytest

from fabric.base.diagnostics import InputError
from tests.design.planner.helpers import make

TWO = """\
version: 1
site: dc1
management: {management}
fabrics:
  a:
    servers: {{model: dgx-h100, count: 8{name}}}
    topology: {{switch: sn5600, unit: {{servers: 8}}, rails: 2}}
    pins: {pins}
  b:
    servers: {{model: dgx-h100, count: 8}}
    topology: {{switch: sn5600, unit: {{servers: 8}}, rails: 2}}
"""


def text(management: str = "{}", name: str = "", pins: str = "{}") -> str:
    return TWO.format(management=management, name=name, pins=pins)


def test_the_same_nics_in_two_fabrics_are_warned_about() -> None:
    assert [warning.code for warning in make(text()).warnings] == ["FAB186"]
    assert make(text(name=", name: other")).warnings == ()


@pytest.mark.parametrize("gateway", ["172.16.0.1", "172.16.0.4", "172.16.0.9"])
def test_the_gateway_is_nobodys_address(gateway: str) -> None:
    plan = make(text(management=f"{{gateway: {gateway}}}", name=", name: other"))
    numbers = [int(value) for fabric in plan.fabrics.values() for value in fabric.management.tolist() if value >= 0]
    assert len(set(numbers)) == len(numbers) == 8
    assert 0xAC100000 + int(gateway.rsplit(".", 1)[1]) not in numbers


@pytest.mark.parametrize(
    ("pins", "message"),
    [
        ("{a-leaf001: {management: 172.16.0.1}}", "is the gateway of the management subnet"),
        ("{a-leaf001: {management: 10.64.0.3}}", "lies in the pool 'p2p'"),
        ("{a-leaf001: {management: 192.0.2.7}}", "lies in no management subnet"),
        ("{a-leaf001: {loopback: 10.0.0.7}}", "is in use on another switch"),
    ],
)
def test_a_pin_is_compared_with_the_whole_site(pins: str, message: str) -> None:
    if "loopback" in pins:
        other = make(text(name=", name: other")).fabrics["b"]
        taken = next(int(value) for value in other.loopback.tolist() if value >= 0)
        pins = pins.replace("10.0.0.7", f"10.0.0.{taken & 255}")
    with pytest.raises(InputError, match=message):
        make(text(name=", name: other", pins=pins))


def test_leaf_pins_of_as_numbers_swap() -> None:
    free = {d.name: d.asn for d in make(text(name=", name: other")).fabrics["a"].switches}
    pins = f"{{a-leaf001: {{asn: {free['a-leaf002']}}}}}"
    got = {d.name: d.asn for d in make(text(name=", name: other", pins=pins)).fabrics["a"].switches}
    assert (got["a-leaf001"], got["a-leaf002"]) == (free["a-leaf002"], free["a-leaf001"])
