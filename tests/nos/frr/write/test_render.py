"""FRR's own parser reads every frr.conf, and the policy says what the design says."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from fabric.configs.render import render
from fabric.nos.frr.target import TARGET as FRR
from fabric.nos.sonic.target import TARGET as SONIC
from fabric.nos.target import Target
from tests.nos.views import STYLES, view

needs_vtysh = pytest.mark.skipif(shutil.which("vtysh") is None, reason="vtysh is not installed")


def frr_conf(name: str, style: str, target: Target = FRR) -> str:
    made = render(view(name, replace(STYLES[style], nos=target.name)), target)
    return next(file.text for file in made if file.path == "frr.conf")


@needs_vtysh
@pytest.mark.parametrize("target", [FRR, SONIC], ids=lambda target: target.name)
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", ["leaf1", "spine1"])
def test_vtysh_accepts_it(target: Target, style: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "frr.conf"
    path.write_text(frr_conf(name, style, target), encoding="utf-8")
    result = subprocess.run(["vtysh", "-C", "-f", str(path)], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "leaf1",
            [
                "ip prefix-list PL-FABRIC seq 10 permit 10.0.0.0/24 ge 32",
                "ip prefix-list PL-FABRIC seq 20 permit 10.128.0.0/16 le 31",
                "ip prefix-list PL-OWN seq 10 permit 10.0.0.1/32",
                "ip prefix-list PL-OWN seq 20 permit 10.128.1.0/28",
                "  neighbor FABRIC prefix-list PL-OWN out",
                "  aggregate-address 10.128.1.0/28 summary-only",
                " bgp graceful-restart",
            ],
        ),
        ("spine1", ["  neighbor FABRIC prefix-list PL-FABRIC out"]),
    ],
)
def test_a_leaf_says_its_own_and_a_spine_passes_on(name: str, lines: list[str]) -> None:
    assert set(lines) <= set(frr_conf(name, "ipv4").splitlines())


def test_a_spine_makes_no_aggregate_and_does_not_restart_gracefully() -> None:
    text = frr_conf("spine1", "ipv4")
    assert "aggregate-address" not in text
    assert "graceful-restart" not in text
    assert "PL-OWN" not in text


def test_one_session_a_link_with_its_own_as_number() -> None:
    text = frr_conf("leaf1", "unnumbered")
    assert " neighbor swp2s0 remote-as 4200000001\n" in text
    assert " neighbor swp4 remote-as 4200000002\n" in text
    assert text.count(" peer-group FABRIC\n") == 4
