"""Kubernetes: labels of every node by unit, pod, fabric and NVLink domain, and the objects of schedulers that read them.

Labels are those that NVIDIA's Topograph writes, of its releases from 1.0 on and before; Kueue and Volcano take any label.
Sources: https://docs.nvidia.com/topograph (node labels), kueue.x-k8s.io/v1beta2 Topology and ResourceFlavor,
topology.volcano.sh/v1alpha1 HyperNode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fabric.base.diagnostics import Diagnostic, InputError, Place
from fabric.base.formats import yaml
from fabric.configs.cluster.rails import node_name
from fabric.deliver.export.locality import Locality, localities
from fabric.model.plan import Plan

HOSTNAME = "kubernetes.io/hostname"
TIERS = ("fabric.topograph.run/tier-0", "fabric.topograph.run/tier-1", "fabric.topograph.run/tier-2")  # the closest first
DOMAIN = "accelerator.topograph.run/domain"
OLDER = {
    TIERS[0]: "network.topology.nvidia.com/leaf",
    TIERS[1]: "network.topology.nvidia.com/spine",
    TIERS[2]: "network.topology.nvidia.com/core",
    DOMAIN: "network.topology.nvidia.com/accelerator",
}

Object = dict[str, Any]


def kubernetes(plan: Plan) -> Mapping[str, str]:
    """nodes.yaml to `kubectl apply --server-side`, kueue.yaml and volcano.yaml for one scheduler or the other."""
    every_locality = localities(plan)
    labels = [(locality, labels_of(locality)) for locality in every_locality]
    nodes = [_node(name, node_labels) for _, by_server in labels for name, node_labels in by_server.items()]
    _check_names(nodes, plan)
    return {
        "nodes.yaml": yaml.dump_all(nodes),
        "kueue.yaml": yaml.dump_all([thing for locality, node_labels in labels for thing in _kueue(locality, node_labels)]),
        "volcano.yaml": yaml.dump_all([thing for locality in every_locality for thing in _volcano(locality)]),
    }


def labels_of(locality: Locality) -> dict[str, dict[str, str]]:
    """Server → its labels."""
    labels: dict[str, dict[str, str]] = {}
    pod_of = {unit.name: pod for pod, units in locality.pods.items() for unit in units}
    domain_of = {server.name: domain.name for domain in locality.domains for server in domain.servers}
    for unit in locality.units:
        above = [name for name in (pod_of.get(unit.name, ""), locality.top) if name]
        tiers = dict(zip(TIERS, [unit.name, *above], strict=False))
        for server in unit.servers:
            domain = domain_of.get(server.name)
            labels[server.name] = {**tiers, DOMAIN: domain} if domain else dict(tiers)
    return labels


def nested(locality: Locality) -> bool:
    """Whether every server is in an NVLink domain and each domain inside one unit, so that it is the lowest level."""
    unit_of = {server.name: unit.name for unit in locality.units for server in unit.servers}
    inside = all(len({unit_of[server.name] for server in domain.servers}) == 1 for domain in locality.domains)
    return inside and sum(len(domain.servers) for domain in locality.domains) == len(unit_of)


def _node(name: str, labels: Mapping[str, str]) -> Object:
    every = {**labels, **{OLDER[key]: value for key, value in labels.items()}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": node_name(name), "labels": every}}


def _kueue(locality: Locality, labels: Mapping[str, Mapping[str, str]]) -> Iterator[Object]:
    """Levels from the top down; the flavour takes in the nodes that carry the highest label of this fabric."""
    first = next(iter(labels.values()))
    tiers = [key for key in reversed(TIERS) if key in first]
    levels = [*tiers, *([DOMAIN] if nested(locality) else []), HOSTNAME]
    name = node_name(locality.fabric)
    topology = {"levels": [{"nodeLabel": key} for key in levels]}
    flavor = {"nodeLabels": {tiers[0]: first[tiers[0]]}, "topologyName": name}
    for kind, spec in (("Topology", topology), ("ResourceFlavor", flavor)):
        yield {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec}


def _volcano(locality: Locality) -> Iterator[Object]:
    """A HyperNode for each NVLink domain, unit, pod and for the fabric; each names those below it."""
    tier = 1
    below: dict[str, list[str]] = {}
    if nested(locality):
        unit_of = {server.name: unit.name for unit in locality.units for server in unit.servers}
        for domain in locality.domains:
            below.setdefault(unit_of[domain.servers[0].name], []).append(domain.name)
            yield _hypernode(domain.name, tier, [_labeled(DOMAIN, domain.name)])
        tier += 1
    for unit in locality.units:
        inner = [_hyper(name) for name in below.get(unit.name, ())]
        yield _hypernode(unit.name, tier, inner or [_labeled(TIERS[0], unit.name)])
    for pod, units in locality.pods.items():
        yield _hypernode(pod, tier + 1, [_hyper(unit.name) for unit in units])
    if locality.top:
        names = list(locality.pods) or [unit.name for unit in locality.units]
        yield _hypernode(locality.top, tier + 1 + bool(locality.pods), [_hyper(name) for name in names])


def _hypernode(name: str, tier: int, members: list[Object]) -> Object:
    spec = {"tier": tier, "members": members}
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": node_name(name)},
        "spec": spec,
    }


def _labeled(key: str, value: str) -> Object:
    return {"type": "Node", "selector": {"labelMatch": {"matchLabels": {key: value}}}}


def _hyper(name: str) -> Object:
    return {"type": "HyperNode", "selector": {"exactMatch": {"name": node_name(name)}}}


def _check_names(nodes: list[Object], plan: Plan) -> None:
    """Two servers that Kubernetes cannot tell apart would share their labels."""
    seen: set[str] = set()
    for node in nodes:
        name = node["metadata"]["name"]
        if name in seen:
            message = f"two servers map to the Kubernetes node '{name}': node names have no capitals and no underscores"
            hint = "use a `names.server` pattern whose names differ in letters, digits and hyphens"
            raise InputError([Diagnostic("FAB138", Place(plan.settings.positions.file), message, hint)])
        seen.add(name)
