"""The servers of a site as groups of an intent: models of the catalog where their NICs fit, else entries of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fabric.base.formats import json_line
from fabric.deliver.brownfield.draft import statement
from fabric.deliver.brownfield.draft.shape import Group
from fabric.deliver.brownfield.draft.statement import Document
from fabric.deliver.brownfield.draft.working import Working
from fabric.hardware import catalog
from fabric.hardware.catalog.models import ServerModel


def server_models(work: Working) -> dict[str, dict[str, str]]:
    """Fabric → group → model; models that the catalog does not have go into the document."""
    parts: dict[str, dict[str, Group]] = {}
    for name, shape in work.shapes.items():
        for group in shape.groups:
            parts.setdefault(group.name, {})[name] = group
    chosen: dict[str, dict[str, str]] = {name: {} for name in work.shapes}
    own: Document = {}
    for group_name, of in parts.items():
        _apart(of)
        model = _model(work, group_name, of)
        if not model:
            stated = next((its.model for its in of.values() if its.model), "")
            model = stated if stated and catalog.server(stated) is None and stated not in own else group_name
            model = model if catalog.server(model) is None else f"{model}-own"
            own[model] = statement.own_server({name: group.uses for name, group in of.items()})
            work.infer(group_name, "server model", model, "NICs that are cabled: no server of the catalog has them")
            work.infer(model, "GPUs", own[model]["gpus"], "one for each NIC of purpose compute")
        for name in of:
            chosen[name][group_name] = model
    if own:
        work.document = {**work.document, "catalog": {**work.document.get("catalog", {}), "servers": own}}
    return chosen


def _model(work: Working, group_name: str, of: Mapping[str, Group]) -> str:
    """A model of the catalog, or of the caller, with all the NICs of a group; "" where there is none."""
    stated = next((group.model for group in of.values() if group.model), "")
    own = own_servers(work.sections)
    for name in filter(None, (stated, group_name)):
        server = catalog.server(name, own)
        if server and all(statement.fits(server, use) for group in of.values() for use in group.uses):
            return name
    return ""


def own_servers(document: Mapping[str, Any]) -> dict[str, ServerModel]:
    """The server models that a document declares."""
    stated = document.get("catalog", {}).get("servers", {})
    return {name: ServerModel.model_validate_json(json_line(its)) for name, its in stated.items()}


def _apart(of: Mapping[str, Group]) -> None:
    """NICs of one group in several fabrics have purposes of their own."""
    taken: Counter[str] = Counter()
    for group in of.values():
        for at, use in enumerate(group.uses):
            if taken[use.purpose]:
                group.uses[at] = replace(use, purpose=f"{use.purpose}{taken[use.purpose] + 1}")
            taken[use.purpose] += 1
