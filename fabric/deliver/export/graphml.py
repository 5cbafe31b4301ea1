"""The fabric as GraphML: every device a node, every link an edge with ports, speed and length, for networkx or Gephi.

Written as text, since networkx takes a minute for what this writes in three seconds. Source: http://graphml.graphdrawing.org.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape

from fabric.configs.port_names import PortNames
from fabric.model.plan import KINDS, Device, FabricPlan, Plan

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
