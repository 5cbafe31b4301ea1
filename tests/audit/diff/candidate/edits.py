"""What an engineer does to the config of a switch: deletes, changes, adds, moves, deactivates, writes it in another way."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from tests.audit.diff.candidate import nvue
from tests.audit.diff.candidate.junos import Candidate, Item, Refused

SECRET = re.compile(r"password|auth|encrypt|privacy|key")  # compared by presence
MAX_EDITS = 5

# What Junos may have beside the plan; `et-X` is a port.
OPERATOR = """\
set interfaces et-X hold-time up 100
set interfaces et-X link-mode full-duplex
set interfaces et-X gratuitous-arp-reply
set interfaces et-X accounting-profile X
set interfaces et-X unit 0 family inet no-redirects
set interfaces et-X unit 0 family inet targeted-broadcast
set interfaces et-X unit 0 family mpls mtu 9000
set interfaces et-X unit 0 bandwidth 100g
set interfaces et-X unit 7 vlan-id 7
set interfaces et-X traps
set interfaces interface-range R member et-0/0/[0-5]
set interfaces interface-range R mtu 9000
set interfaces et-X apply-groups G
set groups G interfaces et-X mtu 9100
set apply-groups G
set protocols ospf area 0.0.0.0 interface et-X.0 metric 10
set protocols ospf area 0.0.0.0 interface et-X.0 passive
set protocols isis level 1 disable
set protocols mpls interface et-X.0
set protocols bgp traceoptions file bgp.log
set protocols bgp group OPS neighbor 10.9.9.9 peer-as 65009
set protocols bgp group OPS neighbor 10.9.9.9 tcp-mss 1400
set protocols bgp group FABRIC local-preference 120
set protocols bgp group FABRIC authentication-key k
set protocols bgp group FABRIC advertise-inactive
set protocols bgp group FABRIC family inet unicast loops 2
set protocols lldp transmit-delay 5
set protocols sflow interfaces et-X.0
set policy-options policy-statement FABRIC-IN term OPS from neighbor 10.0.0.1
set policy-options policy-statement FABRIC-IN term OPS then community add OPS
set policy-options policy-statement FABRIC-IN term OPS from tag 7
set policy-options policy-statement FABRIC-OUT term OPS from route-filter 10.0.0.0/8 orlonger
set policy-options policy-statement FABRIC-OUT term OPS then metric 5
set policy-options policy-statement FABRIC-OUT term OPS then next-hop self
set policy-options community OPS members [ 65000:1 65000:2 ]
set policy-options damping OPS half-life 15
set policy-options prefix-list NTP-SERVERS 10.8.0.0/16
set routing-options static route 10.9.0.0/16 next-hop 10.0.0.1
set routing-options static route 10.9.0.0/16 preference 7
set routing-options autonomous-system 65001 loops 2
set routing-options maximum-prefixes 100
set snmp community public authorization read-only
set snmp community public clients 10.0.0.0/8
set snmp location "room 1; rack 2"
set system domain-name example.net
set system static-host-mapping h inet 10.0.0.1
set system services telnet
set system services ssh connection-limit 5
set system syslog user * any emergency
set system syslog file messages match x
set system syslog time-format year
set system login user bob class super-user
set system login class ops idle-timeout 10
set system ntp server 10.0.0.1 prefer
set system max-configurations-on-flash 5
set system internet-options path-mtu-discovery
set chassis alarm management-ethernet link-down ignore
set class-of-service host-outbound-traffic forwarding-class X
set class-of-service interfaces et-X shaping-rate 1g
set firewall family inet filter PROTECT-RE term OPS from source-address 10.0.0.0/8
set firewall family inet filter PROTECT-RE term OPS then log
set vlans V7 vlan-id 7
set vlans V7 description "two words"
set switch-options vtep-source-interface lo0.0
set forwarding-options sampling instance I input rate 100
""".splitlines()


def edited(nos: str, rng: random.Random, text: str) -> tuple[str, str]:
    """(what was done, the running config)."""
    return _junos(rng, text) if nos == "junos" else _cumulus(rng, text)


# --- Junos ------------------------------------------------------------------------------------------------------


def _junos(rng: random.Random, text: str) -> tuple[str, str]:
    candidate, done = Candidate(text), []
    for _ in range(rng.randint(1, MAX_EDITS)):
        name = rng.choice(sorted(JUNOS))
        try:
            JUNOS[name](rng, candidate)
            done.append(name)
        except (Refused, IndexError):  # there is nothing of the kind
            continue
    if rng.random() < 0.3:
        _deactivate(rng, candidate)
        done.append("inactive")
    running = candidate.text()
    return f"edited, {', '.join(done)}", running if rng.random() < 0.7 else candidate.display_set()


def _nodes(item: Item, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Item, Item]]:
    """(path, node, node above) of everything that may be edited."""
    for name, child in item.below.items():
        here = (*path, *name)
        if SECRET.search(" ".join(here)) or here[:2] in (("system", "time-zone"), ("system", "host-name")):
            continue
        if path:
            yield here, child, item
        yield from _nodes(child, here)


def _delete(rng: random.Random, candidate: Candidate) -> None:
    path, _, _ = rng.choice(list(_nodes(candidate.root)))
    candidate.run([_quoted("delete", path)])


def _leaf(rng: random.Random, candidate: Candidate) -> None:
    _, child, _ = rng.choice([node for node in _nodes(candidate.root) if node[1].spec.kind == "leaf"])
    value = child.values[0]
    child.values = [
        re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), value) if re.search(r"\d", value) else f"{value}-x"
    ]


def _values(rng: random.Random, candidate: Candidate) -> None:
    _, child, _ = rng.choice([node for node in _nodes(candidate.root) if node[1].spec.kind == "leaf-list"])
    what = rng.random()
    if what < 0.3:
        child.values.append("EXTRA")
    elif what < 0.6 and len(child.values) > 1:
        child.values.remove(rng.choice(child.values))
    else:
        rng.shuffle(child.values)


def _operator(rng: random.Random, candidate: Candidate) -> None:
    ports = [name[0] for name in candidate.root.below[("interfaces",)].below if name[0].startswith("et-")]
    port = rng.choice(ports).removeprefix("et-")
    for line in rng.sample(OPERATOR, 3):
        candidate.run([line.replace("et-X", f"et-{port}")])


def _move(rng: random.Random, candidate: Candidate) -> None:
    terms = [(path, above) for path, _, above in _nodes(candidate.root) if path[-2] == "term" and len(above.below) > 1]
    path, above = rng.choice(terms)
    other = rng.choice([name for name in above.below if name != path[-2:] and name[0] == "term"])
    candidate.run([_quoted("insert", (*path, rng.choice(("before", "after")), *other))])


def _rename(rng: random.Random, candidate: Candidate) -> None:
    """An element gets another name: a neighbor, an interface, a term, a VRF."""
    nodes = [(path, above) for path, child, above in _nodes(candidate.root) if child.spec.kind == "list" and child.below]
    path, above = rng.choice(nodes)
    key = next(name for name in above.below if path[-len(name) :] == name)
    above.below = {(*name[:-1], f"{name[-1]}9") if name == key else name: child for name, child in above.below.items()}


def _deactivate(rng: random.Random, candidate: Candidate) -> None:
    nodes = [path for path, child, _ in _nodes(candidate.root) if child.spec.kind != "leaf-list"]
    candidate.run([_quoted("deactivate", rng.choice(nodes))])


def _quoted(verb: str, path: tuple[str, ...]) -> str:
    words = (word for word in path if word[:1] != "<")
    return " ".join((verb, *(f'"{word}"' if re.search(r"[^\w./:,*+@=-]", word) else word for word in words)))


JUNOS: dict[str, Callable[[random.Random, Candidate], None]] = {
    "deleted": _delete,
    "value": _leaf,
    "list": _values,
    "added": _operator,
    "moved": _move,
    "renamed": _rename,
}

# --- NVUE -------------------------------------------------------------------------------------------------------

# What NVUE may have beside the plan; `swpX` is a port.
KEYS = (
    ("interface", "swpX", "link", "fec", "rs"),
    ("interface", "swpX", "description", "spare: 'two words' #1"),
    ("interface", "swpX", "ipv4", "address", "10.9.9.1/24", {}),
    ("interface", "vlan77", "type", "svi"),
    ("interface", "vlan77", "vlan", "77"),
    ("bridge", "domain", "br_default", "vlan", "77", {}),
    ("bridge", "domain", "br_default", "vlan", "77", "vni", "7700", {}),
    ("router", "policy", "prefix-list", "OPS", "rule", "10", "match", "10.0.0.0/8", {}),
    ("system", "wjh", "channel", "forwarding", "trigger", "l2", {}),
    ("system", "global", "anycast-mac", "44:38:39:00:00:01"),
    ("vrf", "OPS", "router", "bgp", "enable", "on"),
    ("vrf", "default", "router", "static", "10.9.0.0/16", "via", "10.0.0.1", "type", "ipv4-address"),
    ("service", "lldp", "tx-interval", "10"),
    ("evpn", "dad", "enable", "off"),
)


def _cumulus(rng: random.Random, text: str) -> tuple[str, str]:
    tree, done = copy.deepcopy(nvue.Switch(text).applied), []
    for _ in range(rng.randint(1, MAX_EDITS)):
        name = rng.choice(sorted(NVUE))
        other = copy.deepcopy(tree)
        try:
            NVUE[name](rng, other)
        except IndexError:
            continue
        if not list(nvue.contradictions(other)):
            tree = other
            done.append(name)
    if rng.random() < 0.5:
        tree["interface"] = _ranges(tree["interface"])
        done.append("ranges")
    return f"edited, {', '.join(done)}", yaml.safe_dump([{"set": tree}], sort_keys=rng.random() < 0.5)


def _branches(tree: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, Any], Any]]:
    """(path, branch above, value) of everything that may be edited."""
    for key, value in tree.items():
        here = (*path, key)
        if SECRET.search(" ".join(here)) or here[-1] in ("breakout", "hostname") or "breakout" in here:
            continue
        if path:
            yield here, tree, value
        if isinstance(value, dict):
            yield from _branches(value, here)


def _unset(rng: random.Random, tree: dict[str, Any]) -> None:
    path, above, _ = rng.choice(list(_branches(tree)))
    del above[path[-1]]


def _other(rng: random.Random, tree: dict[str, Any]) -> None:
    path, above, value = rng.choice([one for one in _branches(tree) if isinstance(one[2], str)])
    above[path[-1]] = re.sub(r"\d", lambda digit: str((int(digit[0]) + 1) % 10), value) if value.isdecimal() else f"{value}-x"


def _more(rng: random.Random, tree: dict[str, Any]) -> None:
    port = rng.choice(
        [name for name in tree["interface"] if name.startswith("swp") and "breakout" not in str(tree["interface"][name])]
    )
    for *path, last, value in rng.sample(KEYS, 3):
        branch = tree
        for key in path:
            branch = branch.setdefault(key.replace("swpX", port), {})
            if not isinstance(branch, dict):
                return
        branch[last] = copy.deepcopy(value)


def _ranges(ports: dict[str, Any]) -> dict[str, Any]:
    """Neighboring ports with equal settings as one key."""
    out: dict[str, Any] = {}
    for name, settings in ports.items():
        last = next(reversed(out), "")
        match, after = re.fullmatch(r"(swp)(\d+)(?:-(\d+))?", last), re.fullmatch(r"swp(\d+)", name)
        if match and after and int(after[1]) == int(match[3] or match[2]) + 1 and out[last] == settings:
            out[f"swp{match[2]}-{after[1]}"] = out.pop(last)
        else:
            out[name] = settings
    return out


NVUE: dict[str, Callable[[random.Random, dict[str, Any]], None]] = {"unset": _unset, "value": _other, "added": _more}
