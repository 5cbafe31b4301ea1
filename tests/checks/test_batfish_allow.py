"""The list of lines that Batfish does not know: what is on it, and what is not."""

from __future__ import annotations

import re

import pytest

from fabric.checks.batfish.allow import allowed, reason
from fabric.checks.batfish.snapshot import READS

QUALITY = "Quality of service is not modelled; the checks of lossless classes read the files themselves."
EVOLVED = "The management port, under the name that it has on Evolved, and its routing table."
TARGETS = "Batfish makes route distinguishers and targets of its own; those of the files are read back against the plan."
GATEWAY = "Property 'gwaddr' of 'eth0|172.16.0.10/16' is not implemented"
KNOWN = {
    ("eos", "lines", "service-profile ROCE"): QUALITY,
    ("eos", "lines", "speed 400g-8"): "Speed and error correction of a port; the packets go the same way.",
    ("nxos", "references", "class-map type queuing c-out-8q-q3"): QUALITY,
    ("junos", "lines", "set system management-instance"): EVOLVED,
    ("frr", "lines", "rd 10.0.0.3:10001"): TARGETS,
    ("sonic", "details", GATEWAY): "The way back of the management port, which no packet of the fabric takes.",
}


@pytest.mark.parametrize(("asked", "expected"), KNOWN.items(), ids=[" ".join(key) for key in KNOWN])
def test_what_is_on_the_list_has_its_reason(asked: tuple[str, str, str], expected: str) -> None:
    assert reason(*asked) == expected


@pytest.mark.parametrize(
    ("nos", "line"),
    [
        ("eos", "servce-profile ROCE"),
        ("eos", "mttu 9214"),
        ("eos", "rooter-id 10.0.0.1"),
        ("eos", "priority-flow-control priority 3 drop"),
        ("eos", "qos map dscp 26 to trafic-class 3"),
        ("nxos", "service-profile ROCE"),  # of another target
        ("nxos", "pause pfc-cos"),
        ("nxos", "neighbour 10.64.0.1"),
        ("junos", "set interfaces et-0/0/0 mttu 9216"),
        ("junos", "set class-of-service congestion-notification-profil PFC-3M input cable-length 3"),
        ("frr", "neighbor FABRIC prefix-lst PL-FABRIC in"),
        ("sonic", "bgp rooter-id 10.0.0.1"),
        ("cumulus", "rd 10.0.0.3:10001"),
    ],
)
def test_what_is_not_on_the_list_is_a_finding(nos: str, line: str) -> None:
    assert reason(nos, "lines", line) == ""


def test_every_entry_has_a_reason_and_known_targets() -> None:
    assert allowed()
    for entry in allowed():
        assert re.fullmatch(r"[A-Z].*\.", entry.reason), entry
        assert set(entry.targets) <= READS.keys(), entry
