"""Recipes of the documentation that promise a connection: the files that they generate are read for it, on every network OS.

Blocks of pages are run by `test_blocks.py`, which compares what is printed. Whether a gateway, a bond or a session is there
at both ends is in the files alone. `PROMISES` has a proof for each recipe; a recipe with `attachments`, `tenants` or
`management` and without one fails.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_interface, ip_network
from pathlib import Path
from typing import Any

import pytest
import yaml

from fabric import pipeline
from fabric.configs.site_files import links_csv
from fabric.model.facts import MANAGEMENT, Facts, Interface
from fabric.model.plan import Plan, SwitchView
from fabric.nos.reading import lets_in, read_device
from fabric.nos.target import management_port
from tests import ROOT
from tests.docs.blocks import blocks, pages as all_pages

SYSTEMS = ("cumulus", "eos", "frr", "junos", "nxos", "sonic")
# A switch that runs every network OS: ports of all speeds that the recipes have.
PORTS = [{"count": count, "speed_gbps": speed} for count, speed in ((64, 400), (64, 200), (32, 100), (48, 1))]
OWN = "recipe"
BOARDS = {100: "7050cx3-32s", 400: "sn5600"}  # SONiC needs the map of a board, which has no ports of 1G


@dataclass(frozen=True)
class Made:
    """A recipe, planned, and what its files say."""

    plan: Plan
    devices: Sequence[tuple[SwitchView, Facts]]

    def leaves(self, fabric: str) -> list[tuple[SwitchView, Facts]]:
        return [(view, facts) for view, facts in self.devices if view.fabric == fabric and view.device.role == "leaf"]


SERVER = {"compute": {"count": 8, "speed_gbps": 400}, "oob": {"count": 1, "speed_gbps": 100}}


def recipe(page: str) -> dict[str, Any]:
    """The whole intent of a page."""
    block = next(block for block in blocks(ROOT / page) if block.kind == "yaml" and "\nversion: 1" in f"\n{block.text}")
    found: dict[str, Any] = yaml.safe_load(block.text)
    return found


def adapted(page: str, nos: str) -> str:
    """The recipe on another network OS: its text with other switches."""
    site = recipe(page)
    catalog: dict[str, Any] = site.setdefault("catalog", {})
    catalog.setdefault("switches", {})[OWN] = {"ports": PORTS, "nos": [nos]}
    if nos == "sonic":
        catalog.setdefault("servers", {})["dgx-h100"] = {"gpus": 8, "nics": SERVER}
    for fabric in site["fabrics"].values():
        fabric["nos"], topology = nos, fabric["topology"]
        fast = fabric.get("purpose", "compute") == "compute" or topology.get("switch") == BOARDS[400]
        switch = OWN if nos != "sonic" else BOARDS[400 if fast else 100]
        for holder in (topology, topology.get("leaf"), topology.get("spine")):
            if holder and "switch" in holder:
                holder["switch"] = switch
        for attachment in topology.get("attachments", ()) if nos == "sonic" else ():
            attachment.pop("speed_gbps", None)
    return yaml.safe_dump(site, sort_keys=False)


@cache
def made(folder: Path, page: str, nos: str) -> Made:
    file = folder / f"{Path(page).stem}-{nos}.yaml"
    file.write_text(adapted(page, nos), encoding="utf-8")
    intent = pipeline.load(file)
    plan = pipeline.plan(intent)
    renderer = pipeline.render(plan, intent)
    found = []
    for job in renderer.jobs(lambda name: True):
        files = {path.rpartition("/")[2]: data.decode() for path, data in renderer.files(job)}
        found.append((renderer.views[job.fabric].of(job.device), read_device(job.device.name, job.device.nos, files)))
    return Made(plan, found)


# The default route of the management VRF: a line of a file, as not every reader keeps it.
GATEWAY = {
    "cumulus": r"gateway:\n +([\d.]+): \{\}",
    "eos": r"ip route vrf MGMT 0\.0\.0\.0/0 ([\d.]+)",
    "frr": r"iface eth0[^\n]*\n(?:    [^\n]*\n)*?    gateway ([\d.]+)",
    "junos": r"(?s)mgmt_junos \{.*?0\.0\.0\.0/0 \{?\s*next-hop ([\d.]+)",
    "nxos": r"vrf context management\n  ip route 0\.0\.0\.0/0 ([\d.]+)",
    "sonic": r'"gwaddr": "([\d.]+)"',
}


# --- proofs -------------------------------------------------------------------------------------------------


def management_ports(its: Made) -> None:
    """Every switch sends to a gateway that stands, beside the VLAN of its port, on the leaf that it is cabled to."""
    oob = its.plan.fabrics["oob"]
    ports = {device.name: link for link, device in oob.management_ports.items()}
    gateways = {view.device.name: gateway(facts) for view, facts in its.devices}
    addresses = {view.device.name: address(facts) for view, facts in its.devices}
    assert {view.device.name for view, _ in its.devices if view.fabric != "oob"} < ports.keys()
    leaves = {view.device.index: (view, facts) for view, facts in its.leaves("oob")}
    for name, link in ports.items():
        _, facts = leaves[int(oob.links.b[link])]
        port = described(facts, f"switch-management {name} {management_port(its.plan.fabrics['oob'].management_ports[link])}")
        assert port.access is not None, name
        assert (port.access.value, port.addresses, port.vrf) == (20, [], None)
        routed = vlan_interface(facts, 20)
        shared = {text.value for text in routed.gateways}
        assert shared == {"172.16.0.1/24"}
        assert gateways[name] == "172.16.0.1"
        assert tenant(routed) == "switches"
        taken = {text.value for text in routed.addresses} | shared
        assert addresses[name] not in taken
        assert ip_interface(addresses[name]).network == ip_interface("172.16.0.1/24").network
    assert len(set(addresses.values())) == len(addresses)


def below_a_pair(its: Made) -> None:
    """Both ends of every bond have the VLANs of the tenant, and the gateways above pass DHCP requests on."""
    facts_of = {view.device.name: facts for view, facts in its.devices}
    bonds = 0
    for view, facts in its.devices:
        for port in view.ports:
            if not (port.lag and port.peer and port.peer.model):
                continue
            far = facts_of[port.peer.device.name]
            ends = []
            for near, other in ((facts, far.name), (far, facts.name)):
                members = [it for it in near.interfaces.values() if it.bond and it.description]
                member = next(it for it in members if it.description and it.description.value.startswith(f"{other} "))
                assert member.bond is not None
                bond = near.interfaces[member.bond.value]
                ends.append(({fact.value for fact in bond.trunk}, bond.mtu and bond.mtu.value))
            assert ends[0] == ends[1]
            assert ends[0][0] == {200, 201, 202}
            bonds += 1
    assert bonds == 8  # four links, from both ends
    for _, facts in its.leaves("core"):
        assert {text.value for text in vlan_interface(facts, 201).relays} == {"10.21.0.2"}
        assert {text.value for text in vlan_interface(facts, 200).gateways} == {"172.16.0.1/24"}
    oob = its.plan.fabrics["oob"]
    assert {device.name for device in oob.management_ports.values()} == facts_of.keys()


def tenant_networks(its: Made) -> None:
    """Every server is in the VLAN of its tenant, and its leaf has the gateway in the tenant's VRF."""
    for view, facts in its.leaves("frontend"):
        for port in view.ports:
            if port.kind == "server" and port.peer:
                planned = next(network for network in view.networks if network.vlan == port.untagged)
                found = described(facts, f"{port.peer.device.name} {port.peer.port_name}")
                assert found.access is not None
                assert found.access.value == planned.vlan
                routed = vlan_interface(facts, planned.vlan)
                assert [text.value for text in routed.gateways] == [planned.gateway]
                assert tenant(routed) == planned.vrf


def external_session(its: Made) -> None:
    """Each border leaf has a session with the router at the address of the port, and takes the default route."""
    borders = [(view, facts) for view, facts in its.leaves("frontend") if view.externals]
    assert len(borders) == 2
    for view, facts in borders:
        for external in view.externals:
            neighbor = facts.bgp[""].neighbors[external.peer_address]
            assert neighbor.remote_as is not None
            assert neighbor.remote_as.value == 65010
            assert neighbor.import_filter is not None
            port = next(
                port for port in facts.interfaces.values() if external.address in [text.value for text in port.addresses]
            )
            assert port.enabled is None or port.enabled.value
            assert external.accepts == ("0.0.0.0/0", "172.28.0.0/16")


def management_addresses(its: Made) -> None:
    """The pinned address, and the stated gateway, on every switch."""
    found = {view.device.name: (address(facts), gateway(facts)) for view, facts in its.devices}
    assert found["backend-leaf001"] == ("192.168.40.11/24", "192.168.40.254")
    assert {via for _, via in found.values()} == {"192.168.40.254"}
    assert len({own for own, _ in found.values()}) == len(found)


def services(its: Made) -> None:
    """Both time servers and the log collector are on every switch."""
    for _, facts in its.devices:
        assert {"192.0.2.10", "192.0.2.11"} <= {server.value for server in facts.services.ntp}
        assert "192.0.2.20" in {server.value for server in facts.services.syslog}


def logins(its: Made) -> None:
    """Both login servers are on every switch, before its own users."""
    for _, facts in its.devices:
        assert [server.value for server in facts.services.tacacs] == ["192.0.2.30", "192.0.2.31"]
        assert facts.services.login is not None
        assert facts.services.login.value == "tacacs, local"


def bonds(its: Made) -> None:
    """Both leaves have the bond of every server in its VLAN, as one Ethernet segment or vPC, and the server both ports."""
    ends: dict[str, list[tuple[object, object]]] = {}
    for view, facts in its.leaves("frontend"):
        ports = [port for port in facts.interfaces.values() if port.bond and port.description]
        for lag in view.lags:
            server = lag.description.split()[0]
            (member,) = (port for port in ports if port.description and port.description.value.split()[0] == server)
            assert member.bond is not None
            bond = facts.interfaces[member.bond.value]
            assert bond.access is not None
            assert bond.access.value == 110
            ends.setdefault(server, []).append((bond.name, bond.esi and bond.esi.value))
    assert len(ends) == 16
    assert all(len(pair) == 2 and len(set(pair)) == 1 for pair in ends.values())


def lossless_class(its: Made) -> None:
    """RoCE has its DSCP, priority and PFC on every port of the leaves."""
    for view, facts in its.leaves("backend"):
        for port in view.ports:
            if port.kind == "server" and port.peer:
                qos = described(facts, f"{port.peer.device.name} {port.peer.port_name}").qos
                assert qos is not None
                assert qos.priorities[34].value == 4
                assert {priority.value for priority in qos.pfc} == {4}


def address(facts: Facts) -> str:
    """Of the management port."""
    ports = (port for port in facts.interfaces.values() if port.vrf and port.vrf.value == MANAGEMENT and port.addresses)
    return next(text.value for port in ports for text in port.addresses)


def gateway(facts: Facts) -> str:
    """Of the management VRF."""
    found = [found for text in facts.texts.values() for found in re.findall(GATEWAY[facts.nos], text)]
    assert len(found) == 1, facts.name
    return str(found[0])


def everything_on_a_pair(its: Made) -> None:
    """Every port is in the VLAN of its NIC's tenant; two ports are a bond but for those of GPUs; PFC runs where RoCE does."""
    vlans, bonded = {"compute": 900, "frontend": 400, "storage": 500}, dict[tuple[str, str], int]()
    for view, facts in its.leaves("core"):
        for port in view.ports:
            if port.kind != "server" or not port.peer:
                continue
            server, nics = port.peer.device.name, port.peer.port_name.rstrip("12345678p")
            text = f"{server} {port.peer.port_name}"
            alike = [its for its in facts.interfaces.values() if its.description and its.description.value == text]
            found = next((its for its in alike if its.bond), alike[0])  # a bond has the description of its port
            bond = facts.interfaces[found.bond.value] if found.bond else None
            assert (bond is None) == (nics == "compute")
            access = (bond or found).access
            assert access is not None
            assert access.value == vlans[nics]
            lossless = [its for its in (found, bond) if its and its.qos and its.qos.pfc]  # of some OSes on the bond
            assert bool(lossless) == (nics != "frontend")
            bonded[server, nics] = bonded.get((server, nics), 0) + 1
    assert set(bonded.values()) == {8, 2}
    assert len(bonded) == 4 + 4 + 6


def storage_servers(its: Made) -> None:
    """Every storage server has a bond in its VLAN with PFC; its tenant and that of servers have their subnets alone."""
    bonded: dict[str, int] = {}
    for view, facts in its.leaves("core"):
        for port in view.ports:
            if not port.peer or not port.peer.device.name.startswith("store"):
                continue
            text = f"{port.peer.device.name} {port.peer.port_name}"
            alike = [found for found in facts.interfaces.values() if found.description and found.description.value == text]
            (bond,) = {found.bond.value for found in alike if found.bond}
            access = facts.interfaces[bond].access
            assert access is not None
            assert access.value == 500
            assert any(found.qos and found.qos.pfc for found in (*alike, facts.interfaces[bond]))
            bonded[port.peer.device.name] = bonded.get(port.peer.device.name, 0) + 1
        subnets = {"gpu": "10.90.0.0/24", "inband": "10.40.0.0/24", "storage": "10.50.0.0/24"}
        for name, other in (("inband", "storage"), ("storage", "inband")):
            policy = facts.vrfs[name].leak_filter
            assert policy is not None
            passing = {text for text in subnets.values() if lets_in(facts, policy.value, ip_network(text))}
            own = set() if facts.vrfs[name].leaks else {subnets[name]}  # by route target the policy has its own as well
            assert passing == {subnets[other], *own}
        assert facts.vrfs["gpu"].leak_filter is None
        assert not facts.vrfs["gpu"].leaks
    assert bonded == {f"store-{n:04}": 2 for n in range(1, 7)}


def two_planes(its: Made) -> None:
    """Every server has as many ports on both planes, in the VLAN of the plane; no session joins two planes."""
    plane_of = {view.device.name: view.device.plane for view, _ in its.leaves("backend")}
    ports: dict[tuple[str, int], int] = {}
    for view, facts in its.leaves("backend"):
        for port in view.ports:
            if port.kind == "server" and port.peer:
                found = described(facts, f"{port.peer.device.name} {port.peer.port_name}")
                assert found.bond is None
                assert found.access is not None
                assert found.access.value == 901 + view.device.plane
                where = (port.peer.device.name, view.device.plane)
                ports[where] = ports.get(where, 0) + 1
            elif port.peer and port.peer.device.name in plane_of:
                assert plane_of[port.peer.device.name] == view.device.plane
        assert {port.access.value for port in facts.interfaces.values() if port.access} == {901 + view.device.plane}
    assert len(ports) == 2 * 8
    assert set(ports.values()) == {8}
    assert sorted(plane_of.values()) == [0, 0, 1, 1]


def same_config(its: Made) -> None:
    """No file of a switch depends on the device: neither a MAC address of its own nor a serial number is in it."""
    for _, facts in its.devices:
        text = "\n".join(facts.texts.values())
        assert (
            re.findall(r"(?i)\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b(?:[0-9a-f]{4}\.){2}[0-9a-f]{4}\b|serial-?number", text)
            == []
        )


def numbers_come_back(its: Made) -> None:
    """Fewer servers and as many again, with the lock: what stays keeps every number, and the same ports come back."""
    whole = servers_ports(its.plan)
    few = planned_again(its.plan, 6)
    kept = servers_ports(few)
    assert kept.items() < whole.items()
    assert {name for name, _ in whole.keys() - kept.keys()} == {"gpu-0007", "gpu-0008"}
    assert servers_ports(planned_again(few, 8)) == whole
    before, after = its.plan.fabrics["backend"], few.fabrics["backend"]
    for device in after.switches:
        assert (device.asn, after.loopback[device.index]) == (
            before.by_name[device.name].asn,
            before.loopback[before.by_name[device.name].index],
        )


def servers_ports(plan: Plan) -> dict[tuple[str, str], tuple[str, ...]]:
    """(server, NIC) → leaf, port and both addresses."""
    rows = csv.DictReader(links_csv(plan).splitlines())
    return {
        (row["a"], row["a_port"]): (row["b"], row["b_port"], row["a_address"], row["b_address"])
        for row in rows
        if row["kind"] == "server-leaf"
    }


def planned_again(plan: Plan, count: int) -> Plan:
    """The site of a plan with another number of servers, on the numbers of its lock."""
    path = plan.settings.home.path
    site = yaml.safe_load(path.read_text(encoding="utf-8"))
    site["fabrics"]["backend"]["servers"]["count"] = count
    other = path.with_name(f"{count}-{path.name}")
    other.write_text(yaml.safe_dump(site, sort_keys=False), encoding="utf-8")
    return pipeline.plan(pipeline.load(other), plan.lock)


def described(facts: Facts, text: str) -> Interface:
    return next(port for port in facts.interfaces.values() if port.description and port.description.value == text)


def tenant(port: Interface) -> str:
    """The tenant of its VRF, whose name some network OSes begin with `Vrf-`."""
    assert port.vrf is not None
    return re.sub("(?i)^vrf-", "", port.vrf.value)


def vlan_interface(facts: Facts, vlan: int) -> Interface:
    """The routed interface of a VLAN."""
    return next(port for port in facts.interfaces.values() if port.name.lower() in (f"vlan{vlan}", f"irb.{vlan}"))


PROMISES: dict[str, tuple[Callable[[Made], None], tuple[str, ...]]] = {
    "docs/howto/oob.md": (management_ports, SYSTEMS),
    "docs/howto/oob-below.md": (below_a_pair, tuple(nos for nos in SYSTEMS if nos != "frr")),
    "docs/howto/vlan.md": (tenant_networks, SYSTEMS),
    "docs/howto/move-tenant.md": (tenant_networks, SYSTEMS),
    "docs/howto/border.md": (external_session, SYSTEMS),
    "docs/howto/management.md": (management_addresses, SYSTEMS),
    "docs/howto/ntp.md": (services, SYSTEMS),
    "docs/howto/aaa.md": (logins, tuple(nos for nos in SYSTEMS if nos != "frr")),
    "docs/howto/converged.md": (everything_on_a_pair, tuple(nos for nos in SYSTEMS if nos != "frr")),
    "docs/howto/storage.md": (storage_servers, ("cumulus", "eos", "nxos")),
    "docs/howto/planes.md": (two_planes, tuple(nos for nos in SYSTEMS if nos != "frr")),
    "docs/howto/bonds.md": (bonds, tuple(nos for nos in SYSTEMS if nos != "frr")),
    "docs/howto/replace-a-switch.md": (same_config, SYSTEMS),
    "docs/howto/remove-servers.md": (numbers_come_back, SYSTEMS),
    "docs/howto/dscp.md": (lossless_class, tuple(nos for nos in SYSTEMS if nos != "frr")),
}


# Pages with such keys that promise no connection, or that another test proves.
ELSEWHERE = {
    "docs/hosts.md": "docs/howto/oob.md has its recipe as a whole intent",
    "docs/tenants.md": "fragments; tests/nos/test_outside.py reads the files of external connections",
    "docs/howto/day-zero.md": "tests/deliver/day_zero has DHCP and HTTP servers and clients",
    "docs/howto/gitlab.md": "management only so that nothing is found",
    "docs/howto/infiniband.md": "tests/lab/test_infiniband.py asks a real subnet manager for the paths of tenants",
    "docs/infiniband.md": "the same",
    "docs/howto/mtu.md": "the page prints the MTUs; checks FAB254 and FAB452 compare them",
    "docs/howto/nic-ports.md": "docs/howto/bonds.md has the recipe of the bond; the page prints the ports",
    "docs/howto/pools.md": "the page prints the addresses",
    "docs/howto/rollback.md": "no connection",
    "docs/howto/silence.md": "no connection",
    "docs/ci.md": "no connection",
    "docs/codes.md": "examples of findings: tests/audit/test_codes.py",
    "docs/exports.md": "containerlab's own management network",
    "docs/qos.md": "parts of an intent: docs/howto/storage.md has the recipe of a class for storage",
    "docs/quickstart.md": "services: tests/system/test_readme.py compares the lines",
    "docs/targets/eos.md": "a template",
    "docs/tour.md": "no connection",
}
KEYS = re.compile(r"^\W*(attachments|tenants|management|dual_tor|qos):|[{,] ?(attachments|dual_tor|external):", re.MULTILINE)


def test_every_recipe_for_a_connection_has_a_proof() -> None:
    pages = {block.page for path in all_pages() for block in blocks(path) if block.kind == "yaml" and KEYS.search(block.text)}
    assert sorted(pages - PROMISES.keys() - ELSEWHERE.keys()) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("recipes")


@pytest.mark.parametrize(("page", "nos"), [(page, nos) for page, (_, systems) in PROMISES.items() for nos in systems])
def test_the_files_of_a_recipe_keep_its_promise(page: str, nos: str, folder: Path) -> None:
    PROMISES[page][0](made(folder, page, nos))
