"""Slurm's topology.conf: the tree of units, pods and cores, or blocks of NVLink domains.

Source: topology.conf(5) of Slurm 22.05 (tree) and 23.11 (block, https://slurm.schedmd.com/topology.conf.html). A file is
for one plugin: `TopologyPlugin=topology/tree` or `topology/block` in slurm.conf. Server names are NodeNames.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from fabric.base.formats import yaml
from fabric.deliver.export.locality import Block, Locality, Unit, hostlist, localities
from fabric.model.plan import Plan

MAX_BLOCK_LEVELS = 16  # block sizes are 2^0 to 2^15 times the smallest


@dataclass(frozen=True)
class Switch:
    """A switch of Slurm's topology: nodes on it, or switches below it."""

    name: str
    nodes: str = ""
    switches: str = ""


def tree(locality: Locality) -> Iterator[Switch]:
    """Leaves first, each below the one that joins it."""
    yield from (Switch(unit.name, nodes=_names(unit)) for unit in locality.units)
    yield from (Switch(name, switches=_switches(units)) for name, units in locality.pods.items())
    if locality.top:
        below = locality.pods or [unit.name for unit in locality.units]
        yield Switch(locality.top, switches=hostlist(below))


def blocks(locality: Locality) -> tuple[Block, ...]:
    """NVLink domains where every server is in one, else the units: jobs are kept whole by one of the two."""
    inside = sum(len(domain.servers) for domain in locality.domains)
    return locality.domains if inside == len(locality.servers) else locality.units


def block_sizes(found: Iterable[Block]) -> list[int]:
    """The smallest block, which every block has, and its doublings up to half of them all; Slurm knows no other sizes."""
    counts = [len(block.servers) for block in found]
    base = min(counts)
    return [base << level for level in range(MAX_BLOCK_LEVELS) if not level or 1 << level < len(counts)]


def slurm(plan: Plan) -> str:
    """topology.conf of topology/tree. `Nodes` and `Switches` are host lists."""
    lines = _head(plan, "tree")
    for locality in localities(plan):
        lines += [f"# fabric {locality.fabric}: a switch is the leaves that its servers share", *map(_line, tree(locality))]
    return "\n".join(lines) + "\n"


def slurm_block(plan: Plan) -> str:
    """topology.conf of topology/block. One file has one list of sizes, so it counts from the smallest block of all."""
    blocks_by_fabric = {locality.fabric: blocks(locality) for locality in localities(plan)}
    lines = _head(plan, "block")
    if len(blocks_by_fabric) > 1:
        lines.append("# A job may get blocks of several fabrics, which have no path to each other: keep a partition to one,")
        lines.append("# or use topology.yaml of Slurm 25.05, with a topology for each (fabric export slurm-yaml)")
    for fabric, there in blocks_by_fabric.items():
        lines.append(f"# fabric {fabric}")
        lines += [f"BlockName={block.name} Nodes={_names(block)}" for block in there]
    sizes = block_sizes(block for there in blocks_by_fabric.values() for block in there)
    return "\n".join([*lines, f"BlockSizes={','.join(map(str, sizes))}"]) + "\n"


def _head(plan: Plan, plugin: str) -> list[str]:
    return [f"# Site {plan.site}, for slurm.conf with TopologyPlugin=topology/{plugin}"]


def _line(switch: Switch) -> str:
    below = f"Nodes={switch.nodes}" if switch.nodes else f"Switches={switch.switches}"
    return f"SwitchName={switch.name} {below}"


def _names(block: Block) -> str:
    return hostlist(server.name for server in block.servers)


def _switches(units: Iterable[Unit]) -> str:
    return hostlist(unit.name for unit in units)


# --- slurm yaml -----------------------------------------------------------------------------------------------
# Slurm's topology.yaml: several topologies in one file, of which a partition chooses one.
#
# Source: topology.yaml(5), Slurm 25.05 and later (https://slurm.schedmd.com/topology.yaml.html). Where this file lies beside
# slurm.conf, topology.conf is not read.


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
