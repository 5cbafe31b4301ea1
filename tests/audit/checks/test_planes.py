"""Networks with the same link addresses in one folder: the planes of a fabric are distinguished, copied devices are not."""

from __future__ import annotations

import pytest

from fabric.audit.checks.network import planes
from tests.audit.checks.files.helpers import network

DEVICE = "hostname {name}\ninterface Ethernet1\n   ip address 10.0.{net}.{host}/31\n"


def pair(plane: str, net: int = 1) -> dict[str, str]:
    return {
        f"{plane}leaf1.eos": DEVICE.format(name=f"{plane}leaf1", net=net, host=1),
        f"{plane}spine1.eos": DEVICE.format(name=f"{plane}spine1", net=net, host=0),
    }


COPY = {"leaf2.eos": DEVICE.format(name="leaf2", net=1, host=1)}
CASES = {
    "one network": (pair(""), [["leaf1", "spine1"]]),
    "planes": (
        pair("p0-") | pair("p1-") | pair("p2-"),
        [["p0-leaf1", "p0-spine1"], ["p1-leaf1", "p1-spine1"], ["p2-leaf1", "p2-spine1"]],
    ),
    "a device with the config of another": (pair("") | COPY, [["leaf1", "spine1", "leaf2"]]),
    "one plane has a link of its own": (
        pair("p0-") | pair("p1-") | {"p1-leaf2.eos": DEVICE.format(name="p1-leaf2", net=2, host=1)},
        [["p0-leaf1", "p0-spine1", "p1-leaf1", "p1-spine1", "p1-leaf2"]],
    ),
    "names that differ in two parts": (
        pair("p0-") | {name.replace("p0-", "b-x-"): text.replace("p0-", "b-x-") for name, text in pair("p0-").items()},
        [["p0-leaf1", "p0-spine1", "b-x-leaf1", "b-x-spine1"]],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_planes(case: str) -> None:
    files, wanted = CASES[case]
    assert [[facts.name for facts in part] for part in planes(network(files).devices)] == wanted
