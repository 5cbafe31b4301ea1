"""Links that cannot balance by load are reported where the intent requests it, and no figure counts on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabric import pipeline
from fabric.configs.hosts.facts import facts_of

TENANTS = """
    overlay: {isolation: vrf-lite}
    tenants: [{name: red, servers: dgx-h100-0001}, {name: blue, servers: dgx-h100-0002}]"""


@pytest.mark.parametrize(
    ("nos", "topology", "more", "reasons"),
    [
        (
            "cumulus",
            "switch: sn5600, tiers: 2",
            "",
            ["leaf-spine links: expected 200G or 400G on NVIDIA Cumulus Linux, got 800G"],
        ),
        (
            "cumulus",
            "switch: sn5600, kind: collapsed",
            "",
            ["leaf-leaf links: expected 200G or 400G on NVIDIA Cumulus Linux, got 800G"],
        ),
        ("cumulus", "switch: sn5600, leaf: {uplinks: {speed_gbps: 400}}", "", []),
        (
            "cumulus",
            "switch: sn5600, leaf: {uplinks: {speed_gbps: 400}}",
            TENANTS,
            ["leaf-spine links: expected ports without subinterfaces on NVIDIA Cumulus Linux, got `isolation: vrf-lite`"],
        ),
        (
            "cumulus",
            "switch: sn5600, tiers: 3, leaf: {uplinks: {speed_gbps: 400}}",
            "",
            ["spine-core links: expected 200G or 400G on NVIDIA Cumulus Linux, got 800G"],
        ),
        ("eos", "switch: 7060x6-64pe", "", []),
    ],
)
def test_links_that_keep_a_static_hash(nos: str, topology: str, more: str, reasons: list[str], tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(
        f"version: 1\nsite: b\nfabrics:\n  backend:\n    nos: {nos}\n    servers: {{model: dgx-h100, count: 8}}\n"
        f"    topology: {{{topology}}}\n    underlay: {{load_balancing: {{mode: dynamic}}}}{more}\n",
        encoding="utf-8",
    )
    plan = pipeline.plan(pipeline.load(path))
    head = "fabric 'backend': mode: dynamic has no effect on "
    assert [one.message.removeprefix(head) for one in plan.warnings if one.code == "FAB184"] == reasons
    assert facts_of(plan.fabrics["backend"]).dynamic is not any(reason.startswith("leaf-") for reason in reasons)
