"""NVIDIA's Network Operator: objects of its release, and the topology file of its launch kit; a folder for each fabric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabric.base.diagnostics import Diagnostic, InputError
from fabric.base.formats import yaml
from fabric.configs.cluster import kinds
from fabric.configs.cluster.objects import objects
from fabric.configs.cluster.rails import CODE, Cluster, clusters
from fabric.configs.cluster.topology import topology
from fabric.model.plan import Plan


def network_operator(plan: Plan) -> Mapping[str, str]:
    """`FABRIC/KIND.yaml` to `kubectl apply --server-side`, and `FABRIC/topology.json`. Raises InputError."""
    files: dict[str, str] = {}
    for cluster in clusters(plan):
        name = cluster.fabric.name
        for file, things in objects(cluster).items():
            wrong = [(thing, path, why) for thing in things for path, why in kinds.mistakes(thing)]
            if wrong:
                raise InputError(_refused(cluster, wrong))
            files[f"{name}/{file}"] = yaml.dump_all(things)
        if text := topology(cluster):
            files[f"{name}/topology.json"] = text
    return files


def _refused(cluster: Cluster, wrong: list[tuple[dict[str, object], tuple[str | int, ...], str]]) -> Iterator[Diagnostic]:
    """Values of the intent that the API server would refuse."""
    place = cluster.fabric.spec.at("network_operator")
    for thing, path, why in wrong:
        message = f"{thing['kind']}: {'.'.join(map(str, path))}: {why}"
        yield Diagnostic(CODE, place, message, f"see the rules of release {cluster.operator.release}")
