"""Slurm's topology.yaml: several topologies in one file, of which a partition chooses one.

Source: topology.yaml(5), Slurm 25.05 and later (https://slurm.schedmd.com/topology.yaml.html). Where this file lies
beside slurm.conf, topology.conf is not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fabric.base.formats import yaml
from fabric.deliver.export.locality import Locality, hostlist, localities
from fabric.deliver.export.slurm import block_sizes, blocks, tree
from fabric.model.plan import Plan


def slurm_yaml(plan: Plan) -> str:
    """SITE, a tree of all fabrics with servers and the cluster's default, and the blocks of each.

    A job of a tree stays below one of its tops. Blocks have no tops: those of fabrics without a path to each other are a
    topology each, SITE-FABRIC-block, with its own sizes; of one fabric alone SITE-block.
    """
    every_locality = localities(plan)
    entries = [{"topology": plan.site, "cluster_default": True, "tree": _tree(every_locality)}]
    for locality in every_locality:
        name = "-".join([plan.site, *([locality.fabric] if len(every_locality) > 1 else []), "block"])
        entries.append({"topology": name, "cluster_default": False, "block": _blocks(locality)})
    head = f"# Site {plan.site}, Slurm 25.05 or later\n"
    return head + yaml.dump_all([entries])


def _tree(found: Iterable[Locality]) -> dict[str, Any]:
    switches = []
    for switch in (switch for locality in found for switch in tree(locality)):
        below = {"nodes": switch.nodes} if switch.nodes else {"children": switch.switches}
        switches.append({"switch": switch.name, **below})
    return {"switches": switches}


def _blocks(locality: Locality) -> dict[str, Any]:
    found = blocks(locality)
    named = [{"block": block.name, "nodes": hostlist(server.name for server in block.servers)} for block in found]
    return {"block_sizes": block_sizes(found), "blocks": named}
