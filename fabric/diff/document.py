"""A diff as one JSON document, whole."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fabric.diff.compare import Diff
from fabric.diff.configs import DeviceChange
from fabric.diff.design import FabricChange


def document(diff: Diff) -> dict[str, Any]:
    """Everything that differs; lists are never cut."""
    design = diff.design
    return {
        "old": diff.old,
        "new": diff.new,
        "site": diff.site,
        "differs": not diff.same,
        "intent": [asdict(change) for change in design.settings],
        "fabrics": {fabric.name: _fabric(fabric) for fabric in design.fabrics},
        "links": {
            "counts": [{"act": act, "kind": kind, "links": number} for (act, kind), number in design.links.items()],
            "changes": [{"lower": list(c.lower), "old": list(c.old or ()), "new": list(c.new or ())} for c in design.cables],
        },
        "capacity": {
            "figures": [{**asdict(figure), "percent": figure.percent} for figure in diff.capacity.figures],
            "left_out": list(diff.capacity.left_out),
        },
        "devices": [_device(change) for change in diff.devices] if diff.with_configs else None,
    }


def _fabric(change: FabricChange) -> dict[str, Any]:
    return {key: value for key, value in asdict(change).items() if key != "name"}


def _device(change: DeviceChange) -> dict[str, Any]:
    return {
        "device": change.device,
        "was": change.was,
        "fabric": change.fabric,
        "role": change.role,
        "nos": change.nos,
        "state": change.state,
        "files": [asdict(file) for file in change.files],
    }
