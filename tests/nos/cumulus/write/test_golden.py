"""Whole files, for reading: leaf, border and spine, and both dialects. UPDATE_GOLDEN=1 rewrites them; read the diff."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from fabric.nos.cumulus.target import TARGET
from fabric.plan.views import SwitchView
from fabric.render import render
from tests import ROOT
from tests.nos.tenant_views import rich
from tests.nos.views import STYLES, view

GOLDEN = ROOT / "tests" / "golden" / "render" / "cumulus"


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
    path = GOLDEN / f"{name}.yaml"
    text = render(CASES[name], TARGET)[0].text
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_no_file_is_left_over() -> None:
    assert sorted(path.name for path in GOLDEN.iterdir()) == sorted(f"{name}.yaml" for name in CASES)
