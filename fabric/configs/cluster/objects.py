"""The objects of the Network Operator that a plan asks for: pools, names, configuration of NICs, and rails."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from fabric.configs.cluster import kinds
from fabric.configs.cluster.rails import Cluster, Rail, ServerPort, node_name
from fabric.hardware.catalog import media
from fabric.model.plan import GroupSpec
from fabric.model.plan.nic_places import nic_places

Object = dict[str, Any]
PLACEHOLDERS = {"{nic}": "%nic_id%", "{rail}": "%rail_id%", "{plane}": "%plane_id%", "{port}": "%plane_id%"}
OPTIMIZED_VFS = 1  # that `spectrumXOptimized` demands


def objects(cluster: Cluster) -> dict[str, list[Object]]:
    """File → objects, in the order that they depend on each other."""
    groups = [group for group in cluster.groups.values() if group.count]
    return {
        "interface-names.yaml": [_names(cluster, group) for group in groups],
        "nic-configuration.yaml": [_configuration(cluster, group) for group in groups],
        "cidr-pools.yaml": [_pool(cluster, rail, ports) for rail, ports in cluster.rails.items()],
        "rail-pools.yaml": [_rails(cluster, group) for group in groups],
    }


def _object(cluster: Cluster, kind: str, name: str, spec: Object) -> Object:
    metadata = {"name": name, "namespace": cluster.operator.namespace}
    return {"apiVersion": kinds.API[kind], "kind": kind, "metadata": metadata, "spec": spec}


def _selected(group: GroupSpec) -> Object:
    return {"nodeSelector": dict(sorted(group.node_selector.items()))} if group.node_selector else {}


def _name(cluster: Cluster, group: GroupSpec) -> str:
    return node_name(f"{cluster.fabric.name}-{group.name}")


# --- addresses ------------------------------------------------------------------------------------------------


def _pool(cluster: Cluster, rail: Rail, ports: tuple[ServerPort, ...]) -> Object:
    """Every node has its /31 by name: those of the leaves' configs, so that a node more or less moves no other."""
    leaves = list(dict.fromkeys(port.leaf.index for port in ports))
    gateway = 1 - cluster.host_index
    spec: Object = {
        "cidr": covering(prefix for leaf in leaves for prefix in cluster.block(leaf)),
        "perNodeNetworkPrefix": cluster.fabric.subnet_length,
        "gatewayIndex": gateway,
        "perNodeExclusions": [{"startIndex": gateway, "endIndex": gateway}],  # the address of the leaf
        "routes": [{"dst": prefix} for prefix in dict.fromkeys(net for leaf in leaves for net in cluster.reach(leaf))],
        "staticAllocations": [
            {"nodeName": node_name(port.server.name), "prefix": port.prefix, "gateway": port.gateway} for port in ports
        ],
    }
    return _object(cluster, "CIDRPool", rail.pool, spec)


def covering(prefixes: Iterator[str]) -> str:
    """The smallest prefix that holds all of them."""
    nets = [ip_network(prefix) for prefix in dict.fromkeys(prefixes)]
    whole = min(nets, key=lambda net: (net.prefixlen, net.network_address))
    while any(net.network_address not in whole for net in nets):
        whole = whole.supernet()
    return str(whole)


# --- NICs -----------------------------------------------------------------------------------------------------


def _names(cluster: Cluster, group: GroupSpec) -> Object:
    names, by_rail = group.nic_names, dict[int, list[str]]()
    for place in nic_places(cluster.fabric.spec, group):
        if not place.port:
            by_rail.setdefault(place.rail, []).append(group.nic_pci[place.nic])
    spec = {
        "pfsPerNic": cluster.fabric.spec.planes,
        "netDevicePrefix": _placeholders(names.interface or ""),
        "rdmaDevicePrefix": _placeholders(names.rdma or ""),
        "railPciAddresses": [by_rail[rail] for rail in sorted(by_rail)],
        **_selected(group),
    }
    return _object(cluster, "NicInterfaceNameTemplate", _name(cluster, group), spec)


def _placeholders(pattern: str) -> str:
    for field, placeholder in PLACEHOLDERS.items():
        pattern = pattern.replace(field, placeholder)
    return pattern


def _configuration(cluster: Cluster, group: GroupSpec) -> Object:
    known = media.cages().nic(group.nic.model)
    assert known is not None  # `problems` refuses others
    optimized = {
        "enabled": True,
        "version": cluster.operator.profile,
        "overlay": cluster.operator.overlay,
        "multiplaneMode": group.plane_mode,
        "numberOfPlanes": cluster.fabric.spec.planes,
    }
    spec = {
        "nicSelector": {"nicType": known.device, "pciAddresses": list(group.nic_pci)},
        "template": {"numVfs": OPTIMIZED_VFS, "linkType": "Ethernet", "spectrumXOptimized": optimized},
        **_selected(group),
    }
    return _object(cluster, "NicConfigurationTemplate", _name(cluster, group), spec)


# --- rails ----------------------------------------------------------------------------------------------------


def _rails(cluster: Cluster, group: GroupSpec) -> Object:
    operator = cluster.operator
    spec = {
        "numVfs": operator.vfs,
        "draEnabled": operator.dra,
        "maxUnavailable": operator.max_unavailable,
        "networkNamespace": operator.network_namespace,
        **_selected(group),
        "railTopology": [_rail(cluster, rail, names) for rail, names in pf_names(cluster, group).items()],
    }
    return _object(cluster, "SpectrumXRailPoolConfig", _name(cluster, group), spec)


def _rail(cluster: Cluster, rail: Rail, names: list[str]) -> Object:
    return {"name": rail.name, "mtu": cluster.mtu, "nicSelector": {"pfNames": names}, "cidrPoolRef": rail.pool}


def pf_names(cluster: Cluster, group: GroupSpec) -> dict[Rail, list[str]]:
    """Ports of a server by pool: of a NIC that joins its planes all of them."""
    found: dict[Rail, list[str]] = {}
    for place in nic_places(cluster.fabric.spec, group):
        interface = group.nic.interfaces[place.nic * group.nic.ports + place.port]
        found.setdefault(cluster.rail(group, place), []).append(interface)
    return found
