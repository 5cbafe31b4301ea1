"""A spine that is no route server has no line about EVPN: an empty peer group is an unused structure, or no commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.checks.batfish.helpers import OVERLAY, SMALL, SWITCHES, site

ONE = OVERLAY.replace("kind: evpn-vxlan", "kind: evpn-vxlan, route_servers: 1")


@pytest.mark.parametrize("nos", SWITCHES)
def test_a_spine_that_is_no_route_server(nos: str, tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    text = SMALL.replace(OVERLAY, ONE).replace("nos: eos", f"nos: {nos}").replace("7060x6-32pe", SWITCHES[nos])
    path.write_text(text, encoding="utf-8")
    texts = site(path, tmp_path).texts
    serving, other = ("\n".join(texts[f"backend-spine00{number}"].values()).lower() for number in (1, 2))
    assert "evpn" in serving
    assert [line for line in other.splitlines() if "evpn" in line or "overlay" in line] == []
