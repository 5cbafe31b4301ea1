"""Which devices of a folder make one network: cables and sessions join them."""

from __future__ import annotations

import pytest

from tests.audit.checks.files.helpers import network

LINK = """\
hostname {name}
interface Ethernet1
   ip address 10.0.{net}.{host}/31
interface Loopback0
   ip address 10.255.{net}.{host}/32
"""
ALONE = "hostname {name}\nrouter bgp 65001\n   router-id 10.255.9.9\n"


def pair(names: tuple[str, str], net: int) -> dict[str, str]:
    return {f"{name}.eos": LINK.format(name=name, net=net, host=host) for host, name in enumerate(names)}


A, B = pair(("a-leaf1", "a-spine1"), 1), pair(("b-leaf1", "b-spine1"), 2)
CASES = {
    "one network": (A, [["a-leaf1", "a-spine1"]]),
    "two networks": (A | B, [["a-leaf1", "a-spine1"], ["b-leaf1", "b-spine1"]]),
    "a fragment goes to devices of its role": (
        A | B | {"b-leaf2.eos": ALONE.format(name="b-leaf2")},
        [["a-leaf1", "a-spine1"], ["b-leaf1", "b-spine1", "b-leaf2"]],
    ),
    "fragments alone cannot be distinguished": (
        {f"{name}.eos": ALONE.format(name=name) for name in ("leaf1", "leaf2")},
        [["leaf1", "leaf2"]],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_islands(case: str) -> None:
    files, wanted = CASES[case]
    assert [[facts.name for facts in part.devices] for part in network(files).separate_networks] == wanted
