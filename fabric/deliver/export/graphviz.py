"""The fabric as a graph in DOT, for `dot -Tsvg`: tiers as ranks, pods and units as clusters, bundles of links as edges.

A large fabric is drawn by what is alike: the leaves of a unit, the spines of a pod, all cores are a node each, so that
some nodes and edges stay of thousands. Source: https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from fabric.base.formats import RULE, SOFT
from fabric.base.grouping import grouped
from fabric.deliver.export.colours import ROLES
from fabric.model.plan import ATTACHED, CORE, LEAF, SERVER, SPINE, Device, FabricPlan, Plan

MAX_SWITCHES = 40  # more are drawn by what is alike
MAX_UNITS = 24  # more units of pods are drawn as their pods

Key = tuple[str, ...]


@dataclass(frozen=True)
class Bundle:
    """Links between two nodes of the drawing."""

    a: Key
    b: Key
    links: Mapping[int, int]  # by speed in Gb/s

    @property
    def label(self) -> str:
        return "\\n".join(f"{count} x {speed}G" for speed, count in sorted(self.links.items(), reverse=True))


def graphviz(plan: Plan) -> str:
    """One graph of all fabrics, each a cluster of its own, its highest tier on top."""
    lines = [
        f"graph {quoted(plan.site)} {{",
        "  rankdir=TB; compound=true; newrank=true; splines=line; nodesep=0.25; ranksep=1.1;",
    ]
    lines += [f'  node [shape=box, style="rounded,filled", fontname="Helvetica", fontsize=11, color="{SOFT}"];']
    lines += [f'  edge [fontname="Helvetica", fontsize=9, color="{RULE}"];']
    for at, (name, fabric) in enumerate(plan.fabrics.items()):
        lines += [f"  subgraph cluster_{at} {{", f'    label={quoted(name)}; color="{RULE}"; fontname="Helvetica";']
        lines += [f"    {line}" for line in _fabric(name, fabric, at)]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def quoted(text: str) -> str:
    """A DOT string: `\\` and `"` are escaped; line breaks are given as \\n on purpose and stay."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _fabric(name: str, fabric: FabricPlan, order: int) -> Iterator[str]:
    keys = _keys(fabric)
    nodes = grouped((key, device) for device, key in zip(fabric.devices, keys, strict=True))
    names = {key: f"n{order}_{number}" for number, key in enumerate(nodes)}
    clusters = grouped((_cluster(fabric, devices[0]), key) for key, devices in nodes.items())
    for number, (title, inside) in enumerate(sorted(clusters.items())):
        drawn = [f"{names[key]} {_style(key, nodes[key])};" for key in inside]
        if not title:
            yield from drawn
            continue
        yield f'subgraph cluster_{order}_{number} {{ label={quoted(title)}; color="{RULE}"; style=rounded;'
        yield from (f"  {line}" for line in drawn)
        yield "}"
    for role in (CORE, SPINE, LEAF, SERVER):
        same = [names[key] for key, devices in nodes.items() if devices[0].role == role]
        if len(same) > 1:
            yield f"{{ rank=same; {'; '.join(same)}; }}"
    for bundle in bundles(fabric, keys):
        yield f'{names[bundle.b]} -- {names[bundle.a]} [label="{bundle.label}"];'


def _keys(fabric: FabricPlan) -> list[Key]:
    """The node of every device: itself, or what it is alike with."""
    few = len(fabric.switches) <= MAX_SWITCHES
    return [_key(fabric, device, few) for device in fabric.devices]


def _key(fabric: FabricPlan, device: Device, few: bool) -> Key:
    if device.role == ATTACHED or (few and device.role != SERVER):
        return device.role, device.name
    unit = device.pod if fabric.sizing.tiers == 3 and fabric.sizing.units > MAX_UNITS else device.unit
    if device.role == SERVER:
        return device.role, device.group, str(device.rack if fabric.spec.kind == "rack" and few else unit)
    place = {LEAF: unit, SPINE: device.pod}.get(device.role, -1)
    rail = device.rail if fabric.spec.kind == "rail-only" else -1
    return device.role, device.model, str(place), str(device.plane), str(rail)


def _cluster(fabric: FabricPlan, device: Device) -> str:
    """The box that a node stands in: its pod where there are several, "" for none."""
    several = fabric.sizing.tiers == 3
    return f"pod {device.pod + 1:02}" if several and device.pod >= 0 else ""


def _style(key: Key, devices: list[Device]) -> str:
    first = devices[0]
    if len(devices) == 1:
        lines = [first.name, first.model] if first.model else [first.name]
    else:
        lines = [f"{first.name} … {devices[-1].name}", f"{len(devices)} x {first.model}"]
    label = "\\n".join(quoted(line)[1:-1] for line in lines)
    return f'[label="{label}", fillcolor="{ROLES[key[0]].ground}"]'


def bundles(fabric: FabricPlan, keys: list[Key]) -> list[Bundle]:
    """The links between every two nodes, counted by speed; those within a node are left out."""
    number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    every = list(number)
    of = np.array([number[key] for key in keys], dtype=np.int64)
    links = fabric.links
    if not len(links):
        return []
    rows, counts = np.unique(np.stack([of[links.a], of[links.b], links.speed_gbps]), axis=1, return_counts=True)
    speeds_by_ends: dict[tuple[int, int], Counter[int]] = {}
    for a, b, speed, count in zip(*rows.tolist(), counts.tolist(), strict=True):
        if a != b:
            speeds_by_ends.setdefault((a, b), Counter())[speed] += count
    return [Bundle(every[a], every[b], speeds) for (a, b), speeds in speeds_by_ends.items()]
