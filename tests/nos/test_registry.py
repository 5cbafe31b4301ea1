"""Targets are found by entry point, one at a time, and say what they cannot do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints

import pytest

from fabric.hardware import catalog
from fabric.hardware.catalog.models import lane_list
from fabric.model.plan import Peer, PortRef
from fabric.nos import target as base
from fabric.nos.eos import target as eos
from fabric.nos.frr import target as frr
from fabric.nos.sonic import target as sonic
from fabric.nos.target import far_end
from tests.nos.views import STYLES, SWITCH, view


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = EntryPoints(
        [
            EntryPoint("frr", "fabric.nos.frr.target:TARGET", base.GROUP),
            EntryPoint("broken", "no.such.module:TARGET", base.GROUP),
        ]
    )
    monkeypatch.setattr(base, "entry_points", lambda **query: points.select(**query))
    for cached in (base._offers, base.target):
        cached.cache_clear()
    yield
    base._offers.cache_clear()


@pytest.mark.usefixtures("installed")
def test_one_target_loads_no_other() -> None:
    assert base.target("frr") is frr.TARGET
    with pytest.raises(KeyError):
        base.target("junos")


def test_a_far_end_whose_board_is_unknown_is_named_by_cage() -> None:
    leaf = view("leaf1", STYLES["ipv4"])
    peers = [port.peer for port in leaf.ports if port.kind == "fabric" and port.peer]
    unknown = replace(peers[0], device=replace(peers[0].device, nos="a-target-not-installed"))
    assert far_end(unknown) == "port 1/1"


def test_a_far_end_of_another_shipped_switch_is_named_by_its_own_board() -> None:
    leaf = view("leaf1", STYLES["ipv4"])
    model = catalog.switch("64x400g")
    spine = Peer(replace(leaf.device, name="spine1", model="64x400g", nos="eos"), model, PortRef(7, 1, 2, 200), "")
    assert far_end(spine) == "Ethernet7/5"


@pytest.mark.parametrize("target", [sonic.TARGET, eos.TARGET, frr.TARGET], ids=lambda target: target.name)
def test_refusals(target: base.Target) -> None:
    infiniband = SWITCH.model_copy(update={"technology": "infiniband"})
    assert "infiniband" in str(target.refusal(infiniband))
    assert target.refusal(SWITCH) is None


@pytest.mark.parametrize(("text", "lanes"), [("0-3", (0, 1, 2, 3)), ("17,18", (17, 18)), ("512", (512,))])
def test_lane_list(text: str, lanes: tuple[int, ...]) -> None:
    assert lane_list(text) == lanes


def test_eos_refuses_the_switches_of_others() -> None:
    assert eos.TARGET.refusal(SWITCH.model_copy(update={"nos": ("junos",)})) == "it runs junos, not EOS"
    assert eos.TARGET.refusal(SWITCH.model_copy(update={"nos": ("frr",), "maker": "generic"})) is None
