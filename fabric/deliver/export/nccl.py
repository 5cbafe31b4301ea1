"""NCCL's topology of a server (NCCL_TOPO_FILE): which NIC stands beside which GPU, and each port's speed, rail and plane.

NCCL finds GPUs and links that a file leaves out by itself, as long as the PCI addresses are the machine's own: it drops
every branch whose address it does not meet. Where the catalog does not know them, the file has placeholders and a comment.
Sources: src/graph/xml.cc and topo.cc of NVIDIA/nccl: one blank between attributes, no XML declaration, no entities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import yaml
from fabric.base.rounding import ceil_div
from fabric.hardware.catalog import DATA
from fabric.model.plan import FabricPlan, FabricSpec, GroupSpec, Plan, server_ports, unit_plan

BRIDGE, GPU, ETHERNET, INFINIBAND = "0x060400", "0x030200", "0x020000", "0x020700"  # PCI classes
LANES = 16
GENERATIONS = ((200, "16.0 GT/s PCIe"), (400, "32.0 GT/s PCIe"), (12_800, "64.0 GT/s PCIe"))  # Gb/s that 16 lanes carry


@dataclass(frozen=True, kw_only=True)
class Slots:
    """PCI addresses of a server's GPUs and compute NICs, and the NUMA node of each pair of them."""

    gpus: tuple[str, ...]
    nics: tuple[str, ...]
    numa: tuple[int, ...]  # of each switch
    link_speed: str
    cpu: dict[str, str] = field(default_factory=dict)  # empty: NCCL reads it from the machine
    known: bool = False


@dataclass(frozen=True)
class Element:
    """An XML element as NCCL reads it."""

    name: str
    attributes: dict[str, str | int]
    below: tuple[Element, ...] = ()

    def lines(self, depth: int = 0) -> Iterator[str]:
        pad = "  " * depth
        head = " ".join([self.name, *(f'{key}="{value}"' for key, value in self.attributes.items())])
        if not self.below:
            yield f"{pad}<{head}/>"
            return
        yield f"{pad}<{head}>"
        for element in self.below:
            yield from element.lines(depth + 1)
        yield f"{pad}</{self.name}>"


def nccl(plan: Plan) -> dict[str, str]:
    """`FABRIC/GROUP.xml` for every group of GPU servers on a compute fabric. Raises InputError where there is none."""
    files = {
        f"{name}/{group.name}.xml": _file(plan.site, fabric, group)
        for name, fabric in plan.fabrics.items()
        for group in fabric.spec.groups
        if fabric.spec.purpose == "compute" and group.server.gpus
    }
    if not files:
        hint = "the format needs servers with `gpus` on a fabric of `purpose: compute`"
        raise InputError(
            [Diagnostic("FAB163", Place(plan.settings.positions.file), "no GPU servers on a compute fabric", hint)]
        )
    return files


def _file(site: str, fabric: FabricPlan, group: GroupSpec) -> str:
    slots = slots_of(group)
    system = Element("system", {"version": 1}, tuple(_cpus(fabric.spec, group, slots)))
    return "\n".join([*_comments(site, fabric, group, slots), *system.lines()]) + "\n"


def _comments(site: str, fabric: FabricPlan, group: GroupSpec, slots: Slots) -> Iterator[str]:
    server, names = group.server, bool(group.nic.rdma_devices)
    remarks = [f"{site}, fabric {fabric.name}: {group.model}, {server.gpus} GPUs, {group.nic.count} NICs"]
    if server.nvlink_domain_gpus:
        remarks.append(f"NVLink joins {server.nvlink_domain_gpus} GPUs; NCCL finds the links by itself")
    if not slots.known:
        remarks.append(
            "PCI addresses and NUMA nodes are placeholders: replace them by real values (lspci -D), or NCCL drops them"
        )
    if not names:
        remarks.append("net names are placeholders: replace them with the RDMA devices (rdma link)")
    yield from (f"<!-- {text.replace('--', '- -')} -->" for text in remarks)


def _cpus(spec: FabricSpec, group: GroupSpec, slots: Slots) -> Iterator[Element]:
    """One element a NUMA node, below it a PCI switch for each GPU or NIC, whichever are fewer."""
    switches = min(len(slots.gpus), len(slots.nics))
    ports = list(_ports(spec, group))
    cpus = []
    for position in range(switches):
        gpus = [Element("pci", _pci(slots, gpu, GPU)) for gpu in _share(slots.gpus, position, switches)]
        first = ceil_div(position * len(slots.nics), switches)
        nics = [
            Element("pci", _pci(slots, nic, _nic_class(spec)), (Element("nic", {}, tuple(ports[number])),))
            for number, nic in enumerate(_share(slots.nics, position, switches), start=first)
        ]
        cpus.append(Element("pci", _pci(slots, f"ffff:ff:{position + 1:02x}.0", BRIDGE), (*gpus, *nics)))
    for node in dict.fromkeys(slots.numa):
        of_node = tuple(cpus[position] for position in range(switches) if slots.numa[position] == node)
        yield Element("cpu", {"numaid": node, **slots.cpu}, of_node)


def _share(values: tuple[str, ...], at: int, parts: int) -> tuple[str, ...]:
    """The `at`-th of `parts` runs of nearly equal length."""
    count = len(values)
    return values[ceil_div(at * count, parts) : ceil_div((at + 1) * count, parts)]


def _pci(slots: Slots, address: str, device: str) -> dict[str, str | int]:
    return {"busid": address, "class": device, "link_speed": slots.link_speed, "link_width": LANES}


def _nic_class(spec: FabricSpec) -> str:
    return ETHERNET if spec.ethernet else INFINIBAND


def _ports(spec: FabricSpec, group: GroupSpec) -> Iterator[list[Element]]:
    """The ports of each NIC. Speed in Mb/s; rails and planes from 0, read by NCCL where a release knows them."""
    nic, ports = group.nic, server_ports(spec, group)
    per_nic = spec.leaves_per_nic(group)
    leaves = unit_plan(spec, spec.rails(group) * per_nic, per_nic)
    for number in range(nic.count):
        result, joins = [], group.joins_planes  # a NIC that joins its planes is one device of their whole speed
        for port in range(1 if joins else nic.ports):
            port_number = number * nic.ports + port
            at, speed = (number, nic.ports) if joins else (port_number, 1)
            name = nic.rdma_device(port_number) or f"mlx5_{at}"
            shown: dict[str, str | int] = {"name": name, "dev": at, "speed": speed * nic.speed_gbps * 1000, "port": 1}
            leaf = int(ports.leaf[port_number])
            if leaves.rail[leaf] >= 0:
                shown["rail"] = int(leaves.rail[leaf])
            if spec.planes > 1 and not joins:
                shown["plane"] = int(leaves.plane[leaf])
            result.append(Element("net", shown))
        yield result


def slots_of(group: GroupSpec) -> Slots:
    """What the catalog knows of this model, else placeholders: two NUMA nodes, PCI as fast as a NIC needs."""
    gpus, nics = group.server.gpus, group.nic.count
    layout = _layouts().get(group.model)
    if layout and len(layout["gpus"]) == gpus and len(layout["nics"]) == nics:
        cpu = {key: str(value) for key, value in layout["cpu"].items()}
        return Slots(
            gpus=tuple(layout["gpus"]),
            nics=tuple(layout["nics"]),
            numa=tuple(layout["numa"]),
            link_speed=layout["link_speed"],
            cpu=cpu,
            known=True,
        )
    switches, speed = min(gpus, nics), group.nic.speed_gbps * group.nic.ports
    return Slots(
        gpus=tuple(f"ffff:{at:02x}:00.0" for at in range(gpus)),
        nics=tuple(f"fffe:{at:02x}:00.0" for at in range(nics)),
        numa=tuple(at * 2 // switches for at in range(switches)),
        link_speed=next((text for most, text in GENERATIONS if speed <= most), GENERATIONS[-1][1]),
    )


@cache
def _layouts() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for path in sorted((DATA / "pci").glob("*.yaml")):
        found.update(yaml.read(path))
    return found
