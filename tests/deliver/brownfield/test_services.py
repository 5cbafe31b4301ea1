"""Sections that are found in configs: the same files come out of them, values from where statements have them, no secret."""

from __future__ import annotations

import json

import pytest

from fabric.deliver.brownfield.sections.probes import learned, plan_of, small_design
from fabric.deliver.brownfield.sections.running import merged, most_common, typed
from fabric.deliver.brownfield.sections.server_ports import Ports
from fabric.deliver.brownfield.sections.services import sections
from fabric.deliver.brownfield.sections.tenant_facts import tenant_of, tenant_of_filter
from fabric.deliver.brownfield.survey.devices import lines_of
from fabric.nos.reading import read_device
from tests.deliver.brownfield.oracle import survey_of
from tests.deliver.brownfield.services_trip import bare, files_of, trip

BFD = ["startup-config: router bfd", "startup-config: router bgp 65001 / neighbor FABRIC bfd"]
MANAGEMENT = {
    "ntp": ["192.0.2.10"],
    "syslog": ["192.0.2.11", "198.51.100.7"],
    "dns": ["192.0.2.53"],
    "allow": ["198.51.100.128/25"],
    "snmp_user": "noc1",
    "banner": "Keep out",
    "secrets": {"admin": "ADMIN_HASH"},
}
UNDERLAY = {"mtu": 9000, "keepalive_s": 2, "hold_s": 11, "max_prefix": 20_000}


@pytest.mark.parametrize("nos", ["cumulus", "eos", "frr", "junos", "nxos", "sonic"])
def test_the_same_files_come_out(nos: str) -> None:
    """Of a design with most that a network OS can do; `services_trip` is for many."""
    document = small_design(nos)
    document["management"] = MANAGEMENT
    fabric = document["fabrics"]["f1"]
    fabric["underlay"] = UNDERLAY
    fabric["qos"] |= {"ecn": {"rule": "azure"}} if fabric["qos"]["enabled"] else {}
    fabric["topology"]["attachments"][0]["external"]["accept"] = ["198.18.0.0/16", "0.0.0.0/0"]
    its = trip(document)
    assert its is not None
    assert (its.refused, {line for key in its.different for line in its.lines(key)}) == ("", set())
    assert its.found.document["fabrics"]["f1"]["underlay"].items() >= {"mtu": 9000, "hold_s": 11}.items()
    assert its.found.document["management"]["banner"] == "Keep out"


@pytest.mark.parametrize(
    ("nos", "line", "key", "value"),
    [
        ("eos", "router bgp 65001 / neighbor FABRIC timers 4 17", ("underlay", "hold_s"), 17),
        ("eos", "router bgp 65001 / neighbor FABRIC timers 4 17", ("underlay", "keepalive_s"), 4),
        ("nxos", "logging server 10.9.8.7 6 use-vrf management", ("management", "syslog"), ("10.9.8.7",)),
        ("junos", "system time-zone Europe/Rome", ("management", "timezone"), "Europe/Rome"),
        ("junos", 'system login message "Keep out"', ("management", "banner"), "Keep out"),
    ],
)
def test_where_a_key_is(nos: str, line: str, key: tuple[str, ...], value: object) -> None:
    part = "juniper.conf" if nos == "junos" else "startup-config"
    found = learned(nos).values(key, [f"{part}: {line}"])
    assert typed(key, found, 1 if isinstance(value, int) else "") == value


def test_a_choice_is_known_by_what_comes_and_goes() -> None:
    """A third of the signs is too few for BFD to be off."""
    known = learned("eos")
    assert known.choice(("underlay", "bfd", "enabled"), []) is False
    assert known.choice(("underlay", "bfd", "enabled"), BFD) is None
    assert known.choice(("management", "gnmi"), ["startup-config: management api gnmi"]) is None  # one of a dozen signs


def test_a_literal_secret_is_in_no_result() -> None:
    """A switch with real hashes and keys: the intent has the names of placeholders alone."""
    document = {**small_design("nxos"), "management": {"snmp_user": "noc1"}}
    plan = plan_of(document)
    literal = {
        "${ADMIN_PASSWORD_HASH}": "$5$Zk1aHashOfAdmin",
        "${SNMP_AUTH_KEY}": "0xAuthKeyLiteral",
        "${SNMP_PRIV_KEY}": "0xPriv",
    }
    facts = {}
    for (name, file), text in files_of(plan):
        for placeholder, secret in literal.items():
            text = text.replace(placeholder, secret)
        facts[name] = read_device(name, "nxos", {file: text})
        assert any(secret in text for secret in literal.values())
        assert not any(secret in line for line in lines_of("nxos", {file: text}) for secret in literal.values())
    found = sections(survey_of(plan, facts), bare(document))
    everything = json.dumps([found.document, [str(one) for one in found.inferences], list(found.unstated)])
    assert not any(secret in everything for secret in literal.values())
    assert found.document["management"] == {"snmp_user": "noc1"}


@pytest.mark.parametrize(
    ("nos", "vrf", "tenant"),
    [
        ("eos", "red", "red"),
        ("junos", "VRF-red", "red"),
        ("frr", "vrf-red", "red"),
        ("sonic", "Vrf-red", "red"),
        ("eos", "", ""),
    ],
)
def test_the_tenant_of_a_table(nos: str, vrf: str, tenant: str) -> None:
    assert tenant_of(nos, vrf) == tenant


def test_the_tenant_of_a_filter() -> None:
    assert tenant_of_filter("sonic", "TENANT-red-V4") == "red"
    assert tenant_of_filter("eos", "CP-FABRIC") == ""


def _ports(servers: int, rails: int) -> Ports:
    spots = {(f"leaf{rail}", f"{n}"): (n, rail) for n in range(servers) for rail in range(rails)}
    return Ports(
        servers={spot: f"a-{n + 1:02}" for spot, (n, _) in spots.items()},
        racks={spot: n // 2 for spot, (n, _) in spots.items()},
        rails={spot: rail + 1 for spot, (_, rail) in spots.items()},
        nic_rails={spot: rail + 1 for spot, (_, rail) in spots.items()},
        planes=dict.fromkeys(spots, 1),
        purposes=dict.fromkeys(spots, "compute"),
        order={f"a-{n + 1:02}": n for n in range(servers)},
    )


def test_the_shortest_keys_of_some_ports() -> None:
    ports = _ports(servers=6, rails=2)

    def of(servers: set[int], rails: set[int]) -> dict[str, object]:
        return ports.select({(f"leaf{rail}", f"{n}") for n in servers for rail in rails}, alone=True)

    assert of(set(range(6)), {0, 1}) == {}
    assert of(set(range(6)), {1}) == {"rails": [2]}
    assert of({0, 1}, {0, 1}) == {"racks": [1]}
    assert of({0, 1, 2, 4}, {0, 1}) == {"servers": ["a-01..03", "a-05"]}
    assert of({1, 2}, {0}) == {"rails": [1], "servers": ["a-02..03"]}


def test_small_things() -> None:
    assert most_common([3, 5, 5, 3, 5]) == 5
    assert most_common([]) is None
    assert merged({"a": {"b": 1, "c": [1]}}, {"a": {"c": [2]}}) == {"a": {"b": 1, "c": [2]}}
