"""Whole files, for reading: leaf, border and spine, and both dialects."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabric.configs.render import render
from fabric.model.plan import SwitchView
from fabric.nos.cumulus.target import TARGET
from tests.goldens import GOLDEN, golden
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, view


def older(own: SwitchView) -> SwitchView:
    return replace(own, release="5.14")


CASES = {
    "evpn-leaf": rich("leaf1", "evpn", "cumulus"),
    "evpn-border": rich("leaf2", "evpn", "cumulus"),
    "evpn-spine": rich("spine1", "evpn", "cumulus"),
    "qos-leaf": rich("leaf1", "qos", "cumulus"),
    "qos-spine": rich("spine1", "qos", "cumulus"),
    "acl-leaf": rich("leaf1", "acl", "cumulus"),
    "vrf-lite-leaf": rich("leaf1", "vrf-lite", "cumulus"),
    "ipv6-unnumbered-leaf": view("leaf1", replace(STYLES["ipv6-unnumbered"], nos="cumulus")),
    "evpn-border-5.14": older(rich("leaf2", "evpn", "cumulus")),
    "evpn-spine-5.14": older(rich("spine1", "evpn", "cumulus")),
    "qos-leaf-5.14": older(rich("leaf1", "qos", "cumulus")),
}


@pytest.mark.parametrize("name", CASES)
def test_the_file_is_as_recorded(name: str) -> None:
    golden(f"render/cumulus/{name}.yaml", render(CASES[name], TARGET)[0].text)


def test_no_file_is_left_over() -> None:
    assert sorted(path.name for path in (GOLDEN / "render" / "cumulus").iterdir()) == sorted(f"{name}.yaml" for name in CASES)
