"""Text of an intent that selects an entry of a table: an unknown word is an error, or a warning that says what is assumed.

Every text of the language is a row: a word of a table with a mistake and the message, or the reason why any text will do.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from fabric import pipeline
from fabric.audit.checks import base
from fabric.audit.checks.omitted import NeedlessSilence, Silenced
from fabric.base.diagnostics import InputError
from fabric.design.intent.site import Site

BASE = """\
version: 1
site: dc1
releases: {eos: "4.33"}
management: {timezone: Europe/Berlin}
checks: {silence: {FAB239: a lab}}
floor: {places: {backend-spine001: {rack: A01, ru: 1}}, media: {server-leaf: optics}}
overrides: [{devices: "*leaf*", fabric: backend, template: ours.j2}]
catalog:
  switches:
    ours:
      maker: Arista
      ports: [{count: 64, speed_gbps: 800, breakouts: [2x400]}]
      asic: tomahawk5
      nos: [eos, sonic]
      lacks: ["sonic:l2vni"]
      sonic:
        {platform: x86_64-nvidia_sn5600-r0, hwsku: {default: SKU}, modes: {2x400: 2x400G}, used_lanes: {1x800: 8},
         lanes: ["0-7"]}
  servers:
    mine: {maker: NVIDIA, gpus: 8, gpu: h100, nics: {compute: {count: 8, speed_gbps: 400, model: ConnectX-7, form: OSFP}}}
fabrics:
  backend:
    nos: {leaf: eos, spine: eos, core: eos}
    servers: {model: mine, nics: compute, count: 16, homing: {compute: bond}, nic_breakout: 1x400,
      nic_names: {interface: "e{nic}", rdma: "r{nic}"}}
    topology:
      leaf: {switch: ours, nos: eos}
      spine: {switch: ours, nos: eos}
      core: {nos: eos}
      attachments:
        - {name: wan, links: 2, external: {asn: 64602, tenants: red}}
        - {name: probe, links: 1, tenant: red}
    overlay: {kind: evpn-vxlan}
    tenants:
      - {name: red, servers: mine-0001..0008, nics: compute, imports: blue}
      - {name: blue, servers: mine-0009..0016, imports: red}
      - {name: oob, networks: [{name: bmc, gateway: 10.9.0.0/24, dhcp_relay: {servers: 10.9.9.5, tenant: default}}]}
    pins: {backend-leaf001: {asn: 4200000100}}
    links: {remove: [backend-leaf001 34], add: [{ends: [backend-leaf001 34, backend-spine001 2]}]}
    releases: {eos: "4.33"}
  oob:
    purpose: oob
    nos: eos
    servers: {model: mine, nics: compute, count: 16, per_rack: 4}
    topology: {leaf: {switch: ours}}
    below: {fabric: backend, tenant: oob, network: bmc, speed_gbps: 400}
  fast:
    servers: {model: mine, nics: compute, count: 16}
    topology: {switch: qm9700}
    infiniband: {guids: guids.csv}
    tenants: [{name: first, servers: mine-0001, partition: {served_by: store}}, {name: store}]
"""

# Field of the language → (part of BASE, the same with a mistake, what the message says).
SELECTORS = {
    "SwitchModel.asic": ("tomahawk5", "tomahawk9", "error[FAB106]: catalog.switches.ours.asic: unknown ASIC 'tomahawk9'"),
    "SwitchModel.nos": (
        "[eos, sonic]",
        "[eos, sonci]",
        "catalog.switches.ours.nos: unknown network OS 'sonci'",
    ),
    "SwitchModel.lacks": ("sonic:l2vni", "sonic:l2vnii", "error[FAB106]: catalog.switches.ours.lacks: unknown feature"),
    "SwitchModel.maker": ("maker: Arista", "maker: arista", "warning[FAB180]: no maker of the catalog is named 'arista'"),
    "SonicPlatform.platform": ("sn5600-r0", "sn5600-r00", "warning[FAB180]: no board of the catalog is named"),
    "SonicPlatform.hwsku": ("{default: SKU}", "{defualt: SKU}", "unknown split of the cages 'defualt'"),
    "SonicPlatform.modes": ("{2x400: 2x", "{2x200: 2x", "unknown split of the cages '2x200'"),
    "SonicPlatform.used_lanes": ("{1x800: 8", "{8x100: 8", "unknown split of the cages '8x100'"),
    "ServerModel.gpu": ("gpu: h100", "gpu: h1000", "error[FAB106]: catalog.servers.mine.gpu: unknown GPU 'h1000'"),
    "ServerModel.maker": ("maker: NVIDIA", "maker: NVIDA", "warning[FAB180]: no maker of the catalog is named 'NVIDA'"),
    "ServerModel.nics": (
        "nics: {compute",
        "nics: {storge: {count: 1, speed_gbps: 100}, compute",
        "FAB180]: no fabric connects the NICs",
    ),
    "NicSet.model": (
        "ConnectX-7",
        "ConectX-7",
        "NIC model 'ConectX-7' is not known: QSFP112 as usual",
    ),
    "NicSet.form": ("form: OSFP", "form: OSPF", "error[FAB106]: catalog.servers.mine.nics: unknown form factor 'OSPF'"),
    "TierNos.leaf": ("{leaf: eos", "{leaf: eoss", "expected one of"),
    "TierNos.spine": ("spine: eos,", "spine: eoss,", "expected one of"),
    "TierNos.core": ("core: eos}", "core: eoss}", "expected one of"),
    "ServerGroup.model": ("{model: mine", "{model: mein", "error[FAB106]: unknown server model 'mein'"),
    "ServerGroup.nic_breakout": ("nic_breakout: 1x400", "nic_breakout: 1x800", "expected 1x400, got 1x800"),
    "NicNames.interface": ('interface: "e{nic}"', 'interface: "e{nix}"', "expected text with fields of {nic}"),
    "NicNames.rdma": ('rdma: "r{nic}"', 'rdma: "r"', "expected a name of its own for each port, got r twice"),
    "ServerGroup.homing": (
        "homing: {compute:",
        "homing: {compte:",
        "homing: expected NICs of the group (compute), got 'compte'",
    ),
    "Tenant.nics": ("nics: compute, imports", "nics: compte, imports", "expected NICs that this fabric connects (compute)"),
    "Network.nics": (
        "nics: compute, imports: blue}",
        "networks: [{name: web, nics: compte}], imports: blue}",
        "expected NICs of the tenant (compute), got 'compte'",
    ),
    "ServerGroup.nics": ("nics: compute, count", "nics: compte, count", "has no NICs for 'compte'"),
    "Topology.switch": (
        "topology:\n      leaf: {switch: ours, ",
        "topology:\n      switch: oursx\n      leaf: {",
        "unknown switch model 'oursx'",
    ),
    "Leaf.switch": ("leaf: {switch: ours", "leaf: {switch: oursx", "unknown switch model 'oursx'"),
    "Spine.switch": ("spine: {switch: ours", "spine: {switch: oursx", "unknown switch model 'oursx'"),
    "Core.switch": ("core: {nos: eos}", "core: {nos: eos, switch: oursx}", "unknown switch model 'oursx'"),
    "Leaf.nos": ("leaf: {switch: ours, nos: eos", "leaf: {switch: ours, nos: eoss", "expected one of"),
    "Spine.nos": ("spine: {switch: ours, nos: eos", "spine: {switch: ours, nos: eoss", "expected one of"),
    "Core.nos": ("core: {nos: eos", "core: {nos: eoss", "expected one of"),
    "External.tenants": ("64602, tenants: red", "64602, tenants: rde", "error[FAB144]"),
    "Attachment.tenant": ("tenant: red}", "tenant: rde}", "error[FAB144]"),
    "Attachment.network": (
        "{name: probe, links: 1, tenant: red}",
        "{name: probe, links: 1, tenant: red, network: ports}",
        "expected a network of",
    ),
    "Below.fabric": ("below: {fabric: backend", "below: {fabric: backnd", "expected another fabric of Ethernet switches"),
    "Below.tenant": (
        "backend, tenant: oob",
        "backend, tenant: oop",
        "expected a tenant of fabric 'backend' with layer-2 networks",
    ),
    "Below.network": ("network: bmc", "network: bcm", "expected a network of tenant 'oob', got 'bcm'"),
    "DhcpRelay.tenant": ("tenant: default", "tenant: defalt", "dhcp_relay.tenant: expected `default`, got 'defalt'"),
    "Tenant.servers": ("mine-0001..0008", "mein-0001..0008", "error[FAB147]"),
    "Partition.served_by": ("served_by: store", "served_by: stor", "served_by: expected another tenant, got 'stor'"),
    "Infiniband.guids": ("guids: guids.csv", "guids: guid.csv", "error[FAB601]: guids: guid.csv: cannot be read"),
    "Import.source": ("imports: blue", "imports: bleu", "error[FAB144]"),
    "StatedLinks.remove": ("[backend-leaf001 34]", "[backend-leaf00x 34]", "error[FAB158]: links.remove: unknown switch"),
    "AddedLink.ends": ("backend-spine001 2]", "backend-spin001 2]", "error[FAB158]: links.add: unknown switch"),
    "Fabric.pins": ("{backend-leaf001:", "{backend-leaf01x:", "error[FAB139]: pins: unknown switch"),
    "Fabric.releases": ("    releases: {eos", "    releases: {eoss", "error[FAB107]"),
    "Site.releases": ("dc1\nreleases: {eos", "dc1\nreleases: {eoss", "error[FAB107]"),
    "Management.timezone": (
        "Europe/Berlin",
        "Europe/Berln",
        "time zone 'Europe/Berln' is not in the tz database",
    ),
    "Checks.silence": ("FAB239", "FAB999", "FAB200"),
    "Override.devices": ('"*leaf*"', '"*laef*"', "error["),
    "Override.fabric": ("fabric: backend", "fabric: backnd", "error["),
    "Override.template": ("ours.j2", "our.j2", "error["),
    "Floor.places": ("{backend-spine001:", "{backend-spine00x:", "error[FAB152]: floor.places: unknown device"),
    "Media.server_leaf": (
        "server-leaf: optics",
        "server-leaf: optcs",
        "floor.media.server-leaf: unknown medium",
    ),
    "Media.leaf_leaf": ("server-leaf: optics", "leaf-leaf: optcs", "error[FAB153]"),
    "Media.leaf_spine": ("server-leaf: optics", "leaf-spine: optcs", "error[FAB153]"),
    "Media.spine_core": ("server-leaf: optics", "spine-core: optcs", "error[FAB153]"),
    "Media.server_server": ("server-leaf: optics", "server-server: optcs", "error[FAB153]"),
    "Media.attachments": ("server-leaf: optics", "attachments: optcs", "error[FAB153]"),
}

NAME, ADDRESS, TEXT, FORM = "a name of the site's own", "an address, by its form", "text for people", "by its form"
FREE = {
    "Site.site": NAME,
    "Site.fabrics": NAME,
    "NetworkOperator.profile": "a ConfigMap of the cluster",
    "NetworkOperator.namespace": "a namespace of the cluster",
    "NetworkOperator.network_namespace": "a namespace of the cluster",
    "NetworkOperator.max_unavailable": "a percentage, by its pattern",
    "ServerGroup.nic_pci": "PCI addresses of a server, by their pattern",
    "ServerGroup.node_selector": "labels of the cluster's nodes",
    "OwnCatalog.switches": NAME,
    "OwnCatalog.servers": NAME,
    "OwnCatalog.breakouts": "a switch; an unknown one is an error",
    "ServerGroup.name": NAME,
    "Attachment.name": NAME,
    "BareLeaves.name": NAME,
    "Tenant.name": NAME,
    "Network.name": NAME,
    "Pin.name": NAME,
    "Pin.ports": "devices at the far end; an unknown one is an error",
    "Names.leaf": "a pattern, by its fields",
    "Names.spine": "a pattern, by its fields",
    "Names.core": "a pattern, by its fields",
    "Names.server": "a pattern, by its fields",
    "PortGroup.breakouts": FORM,
    "Panel.name": "a pattern, by its fields",
    "SonicPlatform.lanes": FORM,
    "SonicPlatform.used_lanes": "splits of the cages, by their form",
    "SonicPlatform.alias": "a pattern, by its fields",
    "SonicPlatform.split_alias": "a pattern, by its fields",
    "SonicPlatform.source": TEXT,
    "SwitchModel.description": TEXT,
    "SwitchModel.power_source": TEXT,
    "SwitchModel.source": TEXT,
    "ServerModel.description": TEXT,
    "ServerModel.power_source": TEXT,
    "ServerModel.source": TEXT,
    "NicSet.cages": FORM,
    "NicSet.interfaces": "names that the kernel of the server has",
    "NicSet.rdma_devices": "names that the kernel of the server has",
    "External.accept": ADDRESS,
    "DhcpRelay.servers": ADDRESS,
    "Import.prefixes": ADDRESS,
    "Pin.loopback": ADDRESS,
    "Pin.management": ADDRESS,
    "AddedLink.subnet": ADDRESS,
    "AsnScheme.ranges": FORM,
    "Pools.loopback": ADDRESS,
    "Pools.loopback6": ADDRESS,
    "Pools.vtep": ADDRESS,
    "Pools.p2p": ADDRESS,
    "Pools.servers": ADDRESS,
    "Pools.management": ADDRESS,
    "Overlay.anycast_mac": ADDRESS,
    "Network.gateway": ADDRESS,
    "Management.gateway": ADDRESS,
    "Management.ntp": ADDRESS,
    "Management.syslog": ADDRESS,
    "Management.dns": ADDRESS,
    "Management.allow": ADDRESS,
    "Management.snmp_user": NAME,
    "Management.banner": TEXT,
    "DayZero.server": ADDRESS,
    "DayZero.images": "network OS or model; one of no switch is FAB706 in the export",
    "DayZero.circuit_id": FORM,
    "Image.file": "a file of the user's HTTP server",
    "Image.version": "as the switch prints it",
    "Image.sha256": FORM,
    "Extension.file": "a file of the user's HTTP server",
    "Extension.sha256": FORM,
    "Tacacs.servers": ADDRESS,
    "Tacacs.secret": "the name of a variable that a vault fills in",
    "Radius.servers": ADDRESS,
    "Radius.secret": "the name of a variable that a vault fills in",
    "Ldap.servers": ADDRESS,
    "Ldap.base_dn": FORM,
    "Ldap.bind_dn": FORM,
    "Ldap.secret": "the name of a variable that a vault fills in",
    "Secrets.admin": "the name of a variable that a vault fills in",
    "Secrets.snmp_auth": "the name of a variable that a vault fills in",
    "Secrets.snmp_priv": "the name of a variable that a vault fills in",
    "Override.file": "a file of the switch; an unknown one is an error with `patch`",
    "Override.patch": "the document of a network OS",
    "Fixed.rack": FORM,
}


def texts(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[str]:
    """Every field below a model that holds text of any form."""
    if model in seen:
        return
    seen.add(model)
    for name, field in model.model_fields.items():
        if holds_text(field.annotation):
            yield f"{model.__name__}.{name}"
        for inner in models(field.annotation):
            yield from texts(inner, seen)


def holds_text(kind: object) -> bool:
    if kind is str:
        return True
    return typing.get_origin(kind) is not typing.Literal and any(map(holds_text, typing.get_args(kind)))


def models(kind: object) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in typing.get_args(kind):
        yield from models(part)


def messages(text: str, folder: Path) -> str:
    """Every message about an intent that planning, its overrides or the checks of suppressions have."""
    path = folder / "dc1.yaml"
    path.write_text(text, encoding="utf-8")
    (folder / "guids.csv").write_text("device,node_guid\n", encoding="utf-8")
    (folder / "ours.j2").write_text('{% extends "eos/device.j2" %}\n', encoding="utf-8")
    try:
        intent = pipeline.load(path)
        plan = pipeline.plan(intent)
        pipeline.render(plan, intent)
    except InputError as error:
        return "\n".join(map(str, error.diagnostics))
    silences = base.run(NeedlessSilence, Silenced(plan, (), ()))
    return "\n".join([*map(str, plan.warnings), *(f"{its.id}: {its.message}" for its in silences)])


def test_every_text_of_the_language_has_a_row() -> None:
    """A new key with free text: does it select an entry of a table? Then an unknown word needs a message."""
    assert sorted(set(texts(Site, set())) - SELECTORS.keys() - FREE.keys()) == []


def test_the_base_has_no_mistake(tmp_path: Path) -> None:
    assert "error" not in (found := messages(BASE, tmp_path))
    assert "FAB180" not in found
    assert "FAB200" not in found


@pytest.mark.parametrize("name", SELECTORS)
def test_an_unknown_word_is_reported(name: str, tmp_path: Path) -> None:
    right, wrong, message = SELECTORS[name]
    assert BASE.count(right) >= 1
    assert message in messages(BASE.replace(right, wrong, 1), tmp_path)
