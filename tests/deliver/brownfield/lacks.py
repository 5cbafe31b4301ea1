"""Statements that the language lacks, by kind: what only overrides carry, counted over sets of configs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from tools.docs.ending import ending

Forms = Mapping[tuple[str, str], int]  # (network OS, form) → how often

KINDS = {  # kind → words of its statements; the first that fits
    "pairs with a peer link (MLAG, vPC, CLAG)": r"mlag|vpc|clag|peer-link|multihoming|evpn-mh|esi\b",
    "OSPF and IS-IS underlays": r"ospf|isis|router-id",
    "multicast underlays": r"\bpim\b|igmp|mcast|multicast",
    "peer groups, iBGP and route reflectors": r"peer.group|protocols bgp|cluster|route-reflector|BGP_PEER_GROUP|neighbor|BGP",
    "routing policies of a site's own": r"route-map|prefix-list|policy-statement|policy-options|community-list|as-path",
    "VRFs and tenants as they are": r"\bvrf\b|routing-instances|vni|route-target|\brd\b",
    "VLANs, their names and their ports": r"vlan|VLAN|switchport|bridge|channel-group|port-channel|lag|aggregated|bond",
    "interfaces": r"interface|ip address|irb|mtu|description|shutdown|PORT\b|INTERFACE|BREAKOUT",
    "spanning tree and loop protection": r"spanning-tree|stp|loop",
    "users, login and secrets": r"user|aaa|password|secret|login|ssh|tacacs|radius|key\b",
    "management, telemetry and logs": r"management|daemon|logging|snmp|ntp|dns|api|clock|system|lldp|services|telemetry",
}
OTHERS = "others"
SHOWN = 3  # forms of a kind and network OS


def kind_of(form: str) -> str:
    """The kind of a form of statements."""
    return next((kind for kind, words in KINDS.items() if re.search(words, form)), OTHERS)


def page(sets: Mapping[str, Forms], command: str) -> str:
    """The page: kinds by how often they are, with the forms that are most frequent."""
    total = Counter[str]()
    having = Counter[str]()
    forms: dict[str, Counter[tuple[str, str]]] = {}
    for of_set in sets.values():
        own = Counter[str]()
        for (nos, form), count in of_set.items():
            kind = kind_of(form)
            own[kind] += count
            forms.setdefault(kind, Counter())[nos, form] += count
        total.update(own)
        having.update(own.keys())
    rows = [
        f"| {kind} | {count:,} | {having[kind]} | {_examples(forms[kind])} |"
        for kind, count in sorted(total.items(), key=lambda its: (-its[1], its[0]))
    ]
    head = HEAD.format(sets=len(sets), total=sum(total.values()))
    following = (
        "[import.md](import.md): what an import infers, and from what.",
        "[How do I adopt a running fabric?](howto/adopt.md): step by step.",
    )
    return "\n".join([head + "\n".join(rows), "", ending(command, *following)])


def _examples(forms: Counter[tuple[str, str]]) -> str:
    shown = sorted(forms.items(), key=lambda its: (-its[1], its[0]))[:SHOWN]
    return "; ".join(f"`{form.replace('|', ' ')}` ({nos}, {count:,})" for (nos, form), count in shown)


HEAD = """# Statements that the language lacks

What an import of published configs leaves to overrides, by kind, over {sets} sets: {total:,} statements. A statement counts
where the plan of the intent, without overrides, does not have it. `…` stands for a value. [import.md](import.md) has the sets
and their shares.

| kind | statements | sets | most frequent forms |
|---|---|---|---|
"""
