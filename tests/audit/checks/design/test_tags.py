"""Untagged packets beside tagged ones, between two network OSes."""

from __future__ import annotations

from tests.audit.checks.design.designs import BACKEND, Case, Cases

LITE = BACKEND.replace("sn5600", "64x400g").replace("{kind: evpn-vxlan}", "{isolation: vrf-lite}").replace("sonic", "cumulus")
PLAIN = LITE[: LITE.index("    overlay:")] + "    qos: {}\n"

CASES: Cases = {
    ("FAB244", "mixed"): Case(
        LITE,
        ("nos: cumulus", "nos: {leaf: junos, spine: cumulus}"),
        [
            "intent.yaml:7:10: note[FAB244]: fabric 'backend': links between Juniper Junos Evolved and NVIDIA Cumulus Linux: "
            "no documentation says that Juniper Junos Evolved sends the underlay untagged beside the tagged subinterfaces "
            "of tenants"
        ],
    ),
    ("FAB244", "alike"): Case(LITE, ("nos: cumulus", "nos: junos"), []),
    ("FAB244", "no subinterfaces"): Case(PLAIN, ("nos: cumulus", "nos: {leaf: junos, spine: cumulus}"), []),
}
