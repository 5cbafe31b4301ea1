"""NCCL's topology file, read by the rules of NCCL's own parser (src/graph/xml.cc, topo.cc), stricter than XML's."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

import pytest

from fabric.base.diagnostics import InputError
from fabric.deliver.export.nccl import nccl
from tests.deliver.export.plans import DESIGNS, plan
from tests.goldens import golden

COMPUTE = [design for design in DESIGNS if "purpose: frontend" not in DESIGNS[design] and design != "storage-alone"]
INSIDE = {"system": {"cpu"}, "cpu": {"pci", "nic"}, "pci": {"pci", "gpu", "nic", "pcilink"}, "nic": {"net"}, "net": set()}
PCI_CLASSES = {"0x060400", "0x030200", "0x020000", "0x020700"}
SPEEDS = {"8.0 GT/s PCIe", "16.0 GT/s PCIe", "32.0 GT/s PCIe", "64.0 GT/s PCIe"}  # kvDictPciGen
MAX_STR_LEN, MAX_ATTR_COUNT, MAX_NODES = 255, 16, 256  # xml.h; NCCL_TOPO_XML_MAX_NODES
ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
TAG = re.compile(r"<(/?)([a-z]+)((?: [a-z_]+=\"[^\"]*\")*)(/?)>")
ATTRIBUTE = re.compile(r" ([a-z_]+)=\"([^\"]*)\"")


@dataclass
class Node:
    name: str
    attributes: dict[str, str]
    below: list[Node] = field(default_factory=list)

    def every(self, name: str) -> list[Node]:
        return [*([self] if self.name == name else []), *(node for sub in self.below for node in sub.every(name))]


def read(text: str) -> Node:
    """The tree, or AssertionError: only blanks and line ends between tags, one blank before an attribute, no `<?xml`."""
    text = re.sub(r"<!-- .*?-->", "", text)
    root, open_nodes, at = Node("", {}), [], 0
    open_nodes.append(root)
    for match in TAG.finditer(text):
        assert not text[at : match.start()].strip(" \n"), text[at : match.start()]
        at = match.end()
        close, name, attributes, single = match.groups()
        if close:
            assert open_nodes.pop().name == name
            continue
        found = dict(ATTRIBUTE.findall(attributes))
        assert len(found) == len(ATTRIBUTE.findall(attributes)) <= MAX_ATTR_COUNT
        assert all(len(value) < MAX_STR_LEN and "&" not in value for value in found.values())
        assert name in INSIDE.get(open_nodes[-1].name, {"system"}), name
        node = Node(name, found)
        open_nodes[-1].below.append(node)
        if not single:
            open_nodes.append(node)
    assert not text[at:].strip(" \n")
    assert [node.name for node in open_nodes] == [""]
    assert [node.name for node in root.below] == ["system"]
    return root.below[0]


@pytest.mark.parametrize("design", COMPUTE)
def test_nccl_reads_it(design: str) -> None:
    """What topo.cc asks of each element, less what NCCL fills in from the machine: `cpu` arch, `gpu`."""
    for name, text in nccl(plan(design)).items():
        ET.fromstring(text)  # it is XML too
        system = read(text)
        assert system.attributes["version"] == "1"
        assert len(text.splitlines()) < MAX_NODES, name
        assert len({cpu.attributes["numaid"] for cpu in system.below}) == len(system.below)
        for cpu in system.below:
            if cpu.attributes.get("arch") == "x86_64" and cpu.attributes["vendor"] == "GenuineIntel":
                assert {"familyid", "modelid"} <= set(cpu.attributes)
        addresses = [pci.attributes["busid"] for pci in system.every("pci")]
        assert len(set(addresses)) == len(addresses)
        assert all(ADDRESS.fullmatch(address) for address in addresses)
        for pci in system.every("pci"):
            assert pci.attributes["class"] in PCI_CLASSES
            assert pci.attributes["link_speed"] in SPEEDS
            assert int(pci.attributes["link_width"]) == 16
        nets = [net.attributes for net in system.every("net")]
        assert len({net["name"] for net in nets}) == len({net["dev"] for net in nets}) == len(nets)
        assert all(int(net["speed"]) > 0 and net["port"] == "1" for net in nets)


@pytest.mark.parametrize("design", COMPUTE)
def test_counts_speeds_rails_and_planes_are_the_plans(design: str) -> None:
    made = plan(design)
    files = nccl(made)
    groups = {
        f"{name}/{group.name}.xml": (fabric.spec, group)
        for name, fabric in made.fabrics.items()
        for group in fabric.spec.groups
        if fabric.spec.purpose == "compute"
    }
    assert set(files) == set(groups)
    for name, (spec, group) in groups.items():
        system = read(files[name])
        classes = [pci.attributes["class"] for pci in system.every("pci")]
        assert classes.count("0x030200") == group.server.gpus
        assert classes.count("0x020000" if spec.ethernet else "0x020700") == group.nic.count
        nets = [net.attributes for net in system.every("net")]
        assert len(nets) == group.nic.count * group.nic.ports
        assert {int(net["speed"]) for net in nets} == {group.nic.speed_gbps * 1000}
        planes = {net.get("plane") for net in nets}
        assert planes == ({None} if spec.planes == 1 else {str(at) for at in range(spec.planes)})
        if spec.kind in ("rail-optimized", "rail-only"):
            assert sorted({int(net["rail"]) for net in nets}) == list(range(spec.rails(group)))
        else:
            assert all("rail" not in net for net in nets)


@pytest.mark.parametrize("design", COMPUTE)
def test_placeholders_are_reported_to_be_placeholders(design: str) -> None:
    models = {
        f"{name}/{group.name}.xml": group.model
        for name, fabric in plan(design).fabrics.items()
        for group in fabric.spec.groups
    }
    for name, text in nccl(plan(design)).items():
        known = models[name] == "dgx-h100"
        assert ("ffff:00:00.0" in text) == (not known)
        assert ("placeholders" in text) == (not known)


def test_each_gpu_of_a_dgx_has_the_nic_of_its_switch() -> None:
    """The bus of a NIC is in its interface name: enp24s0np0 is bus 0x18."""
    system = read(nccl(plan("rails"))["f/dgx-h100.xml"])
    pairs = []
    for switch in (pci for cpu in system.below for pci in cpu.below):
        gpu, nic = switch.below
        pairs.append((gpu.attributes["busid"][5:7], nic.attributes["busid"][5:7], nic.every("net")[0].attributes["name"]))
    assert pairs[0] == ("1b", "18", "mlx5_0")
    interfaces = plan("rails").fabrics["f"].spec.groups[0].nic.interfaces
    assert [f"enp{int(nic, 16)}s0np0" for _, nic, _ in pairs] == list(interfaces)


def test_a_site_without_gpus_on_a_compute_fabric_says_so() -> None:
    with pytest.raises(InputError, match="no GPU servers on a compute fabric"):
        nccl(plan("storage-alone"))


def test_golden() -> None:
    golden("export/nccl/dgx-h100.xml", nccl(plan("h100-4su"))["backend/dgx-h100.xml"])
    golden("export/nccl/gb300-tray-2x400.xml", nccl(plan("gb300-twin-plane"))["backend/tray.xml"])
