"""The plan as a Mermaid flowchart: pods and units as boxes, bundles of links as lines; GitHub and GitLab draw it in Markdown.

By default, Mermaid refuses text above 50,000 characters and more than 500 lines
(https://mermaid.js.org/config/schema-docs/config.html: maxTextSize, maxEdges); an aggregated fabric stays far below both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from json import dumps

from fabric.base.formats import INK, PANEL, RULE
from fabric.deliver.export.bundles import Bundle, Graph, Node, Pod, overview
from fabric.deliver.export.colours import ROLES
from fabric.deliver.export.pictures.view import View
from fabric.model.plan import ATTACHED, KINDS, Plan

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
        inside = _fabric(f"f{at + 1}", overview(view), frames)
        body += _framed(f"f{at + 1}", view.fabric.name if len(views) > 1 else "", inside, frames)
    lines = [f"  {line}" for line in (*body, *_looks(frames))]
    return "\n".join(["---", f"title: {_yaml(title)}", "---", "flowchart LR", *lines, ""])


def _fabric(prefix: str, graph: Graph, frames: list[str]) -> list[str]:
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
        inside += _framed(f"{prefix}_{_key(column.key)}", column.label, units, frames)
    return _framed(f"{prefix}_{_key(pod.key)}", pod.label, inside, frames)


def _nodes(prefix: str, node: Node) -> Iterator[str]:
    for box in node.members or (node,):
        yield f"{prefix}_{_key(box.key)}[{_quoted(*box.lines)}]:::{box.role}"


def _bundle(prefix: str, bundle: Bundle) -> str:
    high, low = (bundle.low, bundle.high) if bundle.kind == "attachments" else (bundle.high, bundle.low)
    return f"{prefix}_{_key(high)} ---|{_quoted(bundle.label)}| {prefix}_{_key(low)}"


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


def _key(key: str) -> str:
    return key.replace("-", "_")
