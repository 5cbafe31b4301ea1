"""The fabric as a graph in text: DOT for Graphviz, GraphML for networkx and Gephi, Mermaid for Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from json import dumps

import numpy as np

from fabric.base.formats import INK, PANEL, RULE, SOFT
from fabric.base.grouping import grouped
from fabric.configs.port_names import PortNames
from fabric.deliver.export.bundles import Bundle, Graph, Node, Pod, overview
from fabric.deliver.export.legend import ROLES
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import ATTACHED, CORE, KINDS, LEAF, SERVER, SPINE, Device, FabricPlan, Plan

MAX_SWITCHES = 40  # more are drawn by what is alike
MAX_UNITS = 24  # more units of pods are drawn as their pods

Key = tuple[str, ...]


@dataclass(frozen=True)
class LinkBundle:
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
        lines += [f"    {line}" for line in _clusters(name, fabric, at)]
        lines.append("  }")
    return "\n".join([*lines, "}"]) + "\n"


def quoted(text: str) -> str:
    """A DOT string: `\\` and `"` are escaped; line breaks are given as \\n on purpose and stay."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _clusters(name: str, fabric: FabricPlan, order: int) -> Iterator[str]:
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
    return [_group_of(fabric, device, few) for device in fabric.devices]


def _group_of(fabric: FabricPlan, device: Device, few: bool) -> Key:
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


def bundles(fabric: FabricPlan, keys: list[Key]) -> list[LinkBundle]:
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
    return [LinkBundle(every[a], every[b], speeds) for (a, b), speeds in speeds_by_ends.items()]


# --- graphml --------------------------------------------------------------------------------------------------
# The fabric as GraphML: every device a node, every link an edge with ports, speed and length, for networkx or Gephi.
#
# Written as text, since networkx takes a minute for what this writes in three seconds. Source:
# http://graphml.graphdrawing.org.

NODE_KEYS = {"role": "string", "model": "string", "nos": "string", "asn": "long"} | dict.fromkeys(
    ("unit", "rack", "pod", "plane", "rail"), "long"
)
EDGE_KEYS = {"fabric": "string", "kind": "string", "speed_gbps": "long", "length_m": "long"} | dict.fromkeys(
    ("a", "a_port", "a_port_name", "b", "b_port", "b_port_name"), "string"
)


def graphml(plan: Plan) -> str:
    """One graph of the site; a server of several fabrics is one node. Edges are `FABRIC-N`, N the link of its fabric."""
    nodes: dict[str, dict[str, object]] = {}
    for fabric in plan.fabrics.values():
        for device in fabric.devices:
            attributes = nodes.setdefault(device.name, {})
            attributes.update({key: value for key, value in _shown(device).items() if key not in attributes})
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">']
    lines.append('  <key id="name" for="graph" attr.name="name" attr.type="string"/>')
    for where, keys in (("node", NODE_KEYS), ("edge", EDGE_KEYS)):
        lines += [
            f'  <key id="{where}-{key}" for="{where}" attr.name="{key}" attr.type="{kind}"/>' for key, kind in keys.items()
        ]
    lines += ['  <graph edgedefault="undirected">', f'    <data key="name">{escape(plan.site)}</data>']
    for name, values in nodes.items():
        lines += [f'    <node id="{escape(name)}">', *_data("node", values), "    </node>"]
    for name, fabric in plan.fabrics.items():
        lines += _edges(name, fabric)
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _shown(device: Device) -> dict[str, object]:
    """Coordinates count from 1; what a device has not is left out, since GraphML has no empty value."""
    values: dict[str, object] = {"role": device.role, "model": device.model, "nos": device.nos, "asn": device.asn}
    values |= {key: getattr(device, key) + 1 for key in ("unit", "rack", "pod", "plane", "rail")}
    return {key: value for key, value in values.items() if value}


def _data(where: str, values: Mapping[str, object]) -> Iterator[str]:
    yield from (f'      <data key="{where}-{key}">{escape(str(value))}</data>' for key, value in values.items())


def _edges(name: str, fabric: FabricPlan) -> Iterator[str]:
    lengths = fabric.spec.length_m
    links, names = fabric.links.lists(), PortNames(fabric)
    ports = [column for end in "ab" for column in names.columns(end)]
    devices, fabric_name = [escape(device.name) for device in fabric.devices], escape(name)
    columns = (links["a"], links["b"], links["kind"], links["speed_gbps"], *(column.tolist() for column in ports))
    head = '      <data key="edge-'
    for number, (a, b, kind, speed, a_port, a_port_name, b_port, b_port_name) in enumerate(
        zip(*columns, strict=True), start=1
    ):
        yield f'    <edge id="{fabric_name}-{number}" source="{devices[a]}" target="{devices[b]}">'
        yield f'{head}fabric">{fabric_name}</data>'
        yield f'{head}kind">{KINDS[kind]}</data>'
        yield f'{head}speed_gbps">{speed}</data>'
        yield f'{head}length_m">{lengths[KINDS[kind]]}</data>'
        for end, device, port, port_name in (("a", a, a_port, a_port_name), ("b", b, b_port, b_port_name)):
            yield f'{head}{end}">{devices[device]}</data>'
            yield f'{head}{end}_port">{escape(port)}</data>'
            if port_name:
                yield f'{head}{end}_port_name">{escape(port_name)}</data>'
        yield "    </edge>"


# --- mermaid --------------------------------------------------------------------------------------------------
# The plan as a Mermaid flowchart: pods and units as boxes, bundles of links as lines; GitHub and GitLab draw it in Markdown.
#
# By default, Mermaid refuses text above 50,000 characters and more than 500 lines
# (https://mermaid.js.org/config/schema-docs/config.html: maxTextSize, maxEdges); an aggregated fabric stays far below both.

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,/()·×–…")


def mermaid(plan: Plan) -> str:
    """The fabrics of a plan as one flowchart, cores on the left; several fabrics each in a frame of its own.

    Mermaid stacks frames from the last to the first, so the last pod and the last unit are written first.
    """
    views = [View.of(fabric) for fabric in plan.fabrics.values()]
    title = " · ".join([plan.site, *plan.fabrics]) if len(views) == 1 else plan.site
    description = " ".join(f"Fabric {view.fabric.name}, {view.sentence}." for view in views)
    body, frames = [f"accDescr: {_escaped(description.replace(':', ','))}"], list[str]()
    for at, view in reversed(list(enumerate(views))):
        inside = _flowchart(f"f{at + 1}", overview(view), frames)
        body += _framed(f"f{at + 1}", view.fabric.name if len(views) > 1 else "", inside, frames)
    lines = [f"  {line}" for line in (*body, *_looks(frames))]
    return "\n".join(["---", f"title: {_yaml(title)}", "---", "flowchart LR", *lines, ""])


def _flowchart(prefix: str, graph: Graph, frames: list[str]) -> list[str]:
    """Boxes, then the bundles from the cores down, since the first end of a line stands on the left."""
    inside = [line for node in (*graph.cores, *graph.attached) for line in _nodes(prefix, node)]
    inside += [line for pod in reversed(graph.pods) for line in _pod(prefix, pod, frames)]
    return inside + [_bundle(prefix, bundle) for bundle in sorted(graph.bundles, key=lambda b: -KINDS.index(b.kind))]


def _framed(key: str, label: str, inside: Sequence[str], frames: list[str]) -> list[str]:
    """Lines in a frame; without a label they stay as they are."""
    if not label:
        return list(inside)
    frames.append(key)
    return [f"subgraph {key}[{_quoted(label)}]", "  direction LR", *(f"  {line}" for line in inside), "end"]


def _pod(prefix: str, pod: Pod, frames: list[str]) -> list[str]:
    inside = [line for node in pod.spines for line in _nodes(prefix, node)]
    for column in reversed(pod.columns):
        units = [line for node in (*column.leaves, column.servers) for line in _nodes(prefix, node)]
        inside += _framed(f"{prefix}_{_identifier(column.key)}", column.label, units, frames)
    return _framed(f"{prefix}_{_identifier(pod.key)}", pod.label, inside, frames)


def _nodes(prefix: str, node: Node) -> Iterator[str]:
    for box in node.members or (node,):
        yield f"{prefix}_{_identifier(box.key)}[{_quoted(*box.lines)}]:::{box.role}"


def _bundle(prefix: str, bundle: Bundle) -> str:
    high, low = (bundle.low, bundle.high) if bundle.kind == "attachments" else (bundle.high, bundle.low)
    return f"{prefix}_{_identifier(high)} ---|{_quoted(bundle.label)}| {prefix}_{_identifier(low)}"


def _looks(frames: Sequence[str]) -> Iterator[str]:
    """Colours, the same as in the pictures, on light and dark pages alike."""
    for role, tone in ROLES.items():
        dash = ",stroke-dasharray:4 3" if role == ATTACHED else ""
        yield f"classDef {role} fill:{tone.ground},stroke:{tone.line},color:{INK}{dash}"
    if frames:
        yield f"classDef frame fill:{PANEL},stroke:{RULE},color:{INK}"
        yield f"class {','.join(frames)} frame"


def _quoted(*lines: str) -> str:
    return '"' + "<br/>".join(map(_escaped, lines)) + '"'


def _yaml(text: str) -> str:
    """Text in the head of the file, which is YAML and may end up in a page."""
    return dumps(text, ensure_ascii=False).replace("<", "\\u003c")


def _escaped(text: str) -> str:
    """Text as a label has it; whatever could be more than text is written as its code point, `#35;`."""
    return "".join(letter if letter in _PLAIN else f"#{ord(letter)};" for letter in text)


def _identifier(key: str) -> str:
    return key.replace("-", "_")
