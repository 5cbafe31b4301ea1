"""The arithmetic behind one number, recomputed by the stages that computed it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from ipaddress import ip_address

from fabric.base.diagnostics import Diagnostic, InputError, Place, nearest
from fabric.design.explain import counts, lossless, numbers, tenants
from fabric.design.explain.counts import Case
from fabric.design.explain.sessions import asked_for, sessions
from fabric.design.planner.lossless import cabled
from fabric.model.plan import FabricSpec, Plan, Sizing, lock_file as lock

TOPICS = {**counts.TOPICS, **lossless.TOPICS}


Planned = Callable[[], Plan]  # the whole plan, made only for subjects that need wiring or numbers


def explain(
    subject: str, sized: Mapping[str, tuple[FabricSpec, Sizing]], site_lock: lock.Lock, planned: Planned, file: str
) -> list[str]:
    """Lines that explain a subject: `backend.spines`, a device, `device:port`, an address, an AS number.

    Without a subject: the list of subjects. Raises InputError for a subject that does not exist.
    """
    if not subject:
        return [
            "Subjects:",
            *(f"  {name}.{topic:18} {text}" for name in sized for topic, (text, _) in TOPICS.items()),
            "  a device, such as " + f"{next(iter(sized))}-leaf001",
            "  a port of a device, such as " + f"{next(iter(sized))}-leaf001:33 or :33/2, or by its name on the device",
            "  an address, an AS number or a VNI of the plan, or a tenant",
        ]
    name, _, topic = subject.rpartition(".")
    if topic in TOPICS and (name in sized or (not name and len(sized) == 1)):
        spec, sizing = sized[name or next(iter(sized))]
        units = site_lock.fabrics.get(spec.name, lock.FabricLock()).units_per_pod
        return TOPICS[topic][1](_case(planned, Case(spec, sizing, units), topic))
    plan = planned()
    try:
        address = ip_address(subject)
    except ValueError:
        address = None
    lines: list[str] = []
    for fabric in plan.fabrics.values():
        if address is not None:
            lines += numbers.address(fabric, address)
        elif subject.isdigit():
            lines += [*numbers.asn(fabric, int(subject)), *tenants.number(fabric, int(subject))]
        else:
            lines += numbers.device(fabric, subject) or tenants.tenant(fabric, subject)
    if not lines:
        topics = [f"{name}.{topic}" for name in sized for topic in TOPICS]
        devices = [device.name for fabric in plan.fabrics.values() for device in fabric.devices][:5000]
        names = [tenant.name for fabric in plan.fabrics.values() for tenant in fabric.tenancy.tenants]
        place = Place(file)
        raise InputError(
            [
                Diagnostic(
                    "FAB171", place, f"nothing to explain under '{subject}'", nearest(subject, [*topics, *names, *devices])
                )
            ]
        )
    return lines


def _case(planned: Planned, case: Case, topic: str) -> Case:
    """The case with attachments and sessions of the wired fabric; without them if the design is rejected."""
    spec = case.spec
    of_attachments = topic in lossless.TOPICS and bool(spec.attachments)
    of_sessions = topic == "bgp" and asked_for(spec)
    if not (of_attachments or of_sessions):
        return case
    try:
        fabric = planned().fabrics[spec.name]
    except InputError:
        return case
    if of_attachments:
        return replace(case, attached=cabled(fabric.spec, fabric.devices, fabric.links))
    return replace(case, sessions=sessions(fabric))
