"""A random part of the damage of `docs/statements.md`, and faults that earlier checks of facts did not see."""

from __future__ import annotations

from functools import cache

import pytest

from fabric.audit.checks import ERROR, site
from fabric.nos.reading import read_device
from fabric.nos.statements.rules import LABEL
from tests.audit.checks.every_line import COMMENT, FOUND, LISTED, MISSED, Score, score
from tests.audit.checks.shapes import SYSTEMS, Switch, switches

SAMPLE = 8  # damaged files per switch


@cache
def scored(nos: str) -> Score:
    return score(nos, SAMPLE)


@pytest.mark.slow
@pytest.mark.parametrize("nos", SYSTEMS)
def test_damage_with_effect_is_found(nos: str) -> None:
    result = scored(nos)
    assert result.missed == []
    found = sum(count for (_, outcome), count in result.counts.items() if outcome == FOUND)
    assert found > sum(count for (_, outcome), count in result.counts.items() if outcome in (LISTED, MISSED))


@pytest.mark.parametrize("nos", SYSTEMS)
def test_the_list_without_effect_covers_few_lines(nos: str) -> None:
    """At most a tenth of the lines is silent; text for people is a warning."""
    lines = scored(nos).lines
    silent = sum(count for kind, count in lines.items() if kind not in ("", COMMENT, LABEL))
    assert silent <= 0.1 * sum(count for kind, count in lines.items() if kind != COMMENT)


# (network OS, shape, role) → (statement, what becomes of it): faults of one line that no check of facts reads.
FAULTS = {
    ("eos", "evpn", "spine", "   neighbor EVPN next-hop-unchanged\n", ""),
    ("eos", "evpn", "leaf", "   neighbor EVPN send-community\n", ""),
    ("eos", "filters", "leaf", "   10 permit ip any", "   10 permit udp any"),
    ("eos", "routed", "leaf", "   no switchport\n", ""),
    ("eos", "routed", "leaf", "   speed 400g-4\n", ""),
    ("eos", "routed", "leaf", "router bfd\n", "router bfd\n   shutdown\n"),
    ("eos", "routed", "leaf", "   priority-flow-control pause watchdog\n", ""),
    ("nxos", "evpn", "leaf", "    ingress-replication protocol bgp\n", ""),
    ("nxos", "evpn", "leaf", "  peer-switch\n", ""),
    ("nxos", "evpn", "leaf", "      advertise l2vpn evpn\n", ""),
    ("nxos", "evpn", "leaf", "interface nve1\n  no shutdown\n", "interface nve1\n  shutdown\n"),
    ("nxos", "evpn", "leaf", "    ebgp-multihop 3\n", ""),
    ("nxos", "evpn", "spine", "    retain route-target all\n", ""),
    ("frr", "evpn", "leaf", "  advertise ipv4 unicast\n", ""),
    ("frr", "evpn", "leaf", " neighbor OVERLAY ebgp-multihop 3\n", ""),
    ("frr", "filters", "leaf", "ip daddr @tenant-red-4 accept\n", "accept\n"),
    ("sonic", "filters", "leaf", '"PACKET_ACTION": "DROP"', '"PACKET_ACTION": "FORWARD"'),
    ("sonic", "routed", "leaf", '"lanes": "0,1,2,3,4,5,6,7"', '"lanes": "0,1,2,3"'),
    ("sonic", "routed", "leaf", '"detection_time": "200"', '"detection_time": "9000"'),
}


def damaged(switch: Switch, old: str, new: str) -> dict[str, str]:
    path = next((path for path, text in switch.files.items() if old in text), None)
    assert path is not None, f"no file of {switch.view.device.name} has {old!r}"
    return {**switch.files, path: switch.files[path].replace(old, new, 1)}


@pytest.mark.parametrize(("nos", "shape", "role", "old", "new"), sorted(FAULTS))
def test_known_escapes(nos: str, shape: str, role: str, old: str, new: str) -> None:
    switch = next(switch for switch in switches(nos, shape) if switch.view.device.role == role)
    files = {f"pulled/{path}": text for path, text in damaged(switch, old, new).items()}
    facts = read_device(switch.view.device.name, nos, files)
    findings = site.judge(switch.view, facts, files, switch.files)
    assert [finding.id for finding in findings if finding.severity == ERROR]
