"""From a survey to the shortest intent that plans what is there, and the lock with its numbers.

A fabric is stated in full: kind, units, uplinks, spines. The planner judges: a statement is right when its plan has the
cables that are there, and a key goes when the plan stays the same without it. What is numbered otherwise than a new plan
would number it goes into the lock, what a lock cannot hold into pins. What then still differs is left over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabric.base.diagnostics import InputError
from fabric.deliver.brownfield.draft.corrections import corrected, in_full
from fabric.deliver.brownfield.draft.judge import Difference
from fabric.deliver.brownfield.draft.servers import server_models
from fabric.deliver.brownfield.draft.shape import shapes
from fabric.deliver.brownfield.draft.stated_fabric import state_asns, state_fabric, state_names
from fabric.deliver.brownfield.draft.statement import Document
from fabric.deliver.brownfield.draft.working import Working
from fabric.deliver.brownfield.survey.nic_numbers import with_numbers
from fabric.deliver.brownfield.survey.records import Inference, Survey
from fabric.hardware import catalog
from fabric.model.plan import Plan
from fabric.model.plan.lock import Lock

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An intent and its lock.

    Attributes:
        document: of the whole intent, without what `sections` of the caller state.
        lock: numbers in use.
        inferences: what no line states.
        left_over: what the plan of the document has otherwise than the network.
    """

    document: Document
    lock: Lock
    inferences: Sequence[Inference]
    left_over: Sequence[Difference]


def draft(survey: Survey, sections: Mapping[str, Any] = NOTHING) -> Draft:
    """The shortest intent of what is there, and its lock.

    Args:
        sections: of the intent that are known from elsewhere: tenants, underlay, management, own hardware.
    """
    survey = with_numbers(survey)
    document: Document = {"version": 1, "site": survey.site, "fabrics": {}}
    if survey.hardware:
        document["catalog"] = {"switches": {name: dict(entry) for name, entry in sorted(survey.hardware.items())}}
    if breakouts := _breakouts(survey):
        document.setdefault("catalog", {})["breakouts"] = breakouts
    work = Working(survey=survey, sections=sections, shapes=shapes(survey), document=document)
    models = server_models(work)
    for name, shape in sorted(work.shapes.items(), key=lambda its: bool(work.below(its[1]))):
        state_fabric(work, name, shape, models[name])
    work.document["fabrics"] = {name: work.document["fabrics"][name] for name in work.shapes}
    state_names(work)
    state_asns(work)
    try:
        plan, left = corrected(work, _first_plan(work))
        lock = plan.lock
    except InputError as error:
        left = [_refused(its.message) for its in error.diagnostics]
        lock = work.lock
    return Draft(document=work.document, lock=lock, inferences=work.inferences, left_over=left)


def _breakouts(survey: Survey) -> Document:
    """Breakouts in use that the catalog does not have of a model: model → as an intent states them."""
    found: dict[str, set[tuple[int, int]]] = {}
    for cable in survey.cables:
        for name, ref in ((cable.a, cable.a_ref), (cable.b, cable.b_ref)):
            switch = survey.switches.get(name)
            model = catalog.switch(switch.model) if switch else None
            if switch is None or model is None or ref is None or not cable.speed_gbps or ref.cage > model.cages:
                continue
            if ref.split > 1 and f"{ref.split}x{cable.speed_gbps}" not in model.group_of(ref.cage).breakouts:
                found.setdefault(switch.model, set()).add((ref.split, cable.speed_gbps))
    return {name: [f"{split}x{gbps}" for split, gbps in sorted(its)] for name, its in sorted(found.items())}


def _first_plan(work: Working) -> Plan:
    """The plan of the shortest statements; of those in full where a default asks too much of a switch. Raises InputError."""
    try:
        return work.plan()
    except InputError:
        if not in_full(work, tuple(work.full)):
            raise
        return work.plan()


def _refused(message: str) -> Difference:
    return Difference(fabric="", subject="intent", what="plan", there="", planned=message)
