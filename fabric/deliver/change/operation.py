"""Operations on switches of one design: drained, replaced, upgraded or rebooted in waves, and brought back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from fabric.base.diagnostics import Place, Report, nearest, show
from fabric.base.text import listed, percent, plural
from fabric.deliver.change.meter import Meter, Times
from fabric.deliver.change.notes import notes
from fabric.deliver.change.packing import Packer
from fabric.deliver.change.records import DRAIN, REPLACE, UNDRAIN, Change, ChangeRequest, Left, Refused, Wave
from fabric.deliver.change.wave import Builder, refusal, task, together
from fabric.model.plan import Device, FabricPlan, Plan
from fabric.solver.capacity.outages import NO_DEVICE, Out, Outages
from fabric.solver.network import network

PLANE = re.compile(r"plane:(\d{1,4})")
WHERE = Place("NAME")
DEAD = "a switch that is dead already leaves no less when it is replaced: `--floor 0%` plans it"


def operation(plan: Plan, action: str, names: Sequence[str], request: ChangeRequest, times: Times) -> Change:
    """The waves of an operation. Raises InputError for a name that matches no switch."""
    fabrics = [fabric for name, fabric in sorted(plan.fabrics.items()) if request.fabric in ("", name)]
    chosen = select(fabrics, names, request.planes_active)
    waves: list[Wave] = []
    refused: list[Refused] = []
    before: dict[str, Left] = {}
    after: dict[str, Left] = {}
    remarks: list[str] = []
    for fabric in fabrics:
        devices = [device for device in fabric.switches if device.name in chosen]
        if not devices:
            continue
        outages = Outages(network(fabric))
        meter = Meter(outages, times, outages)
        packer = Packer(outages, request.floor)
        items = [frozenset((device.index,)) for device in devices]
        whole: Out = frozenset(device.index for device in devices)
        before[fabric.name] = meter.left(whole if action == UNDRAIN else NO_DEVICE)
        if action == UNDRAIN:
            groups, none = [items], list[Refused]()
        elif action == DRAIN:
            groups, none = _drained(meter, packer, items)
        else:
            groups, found = packer.pack(items)
            none = [refusal(meter, entry.devices, request.floor) for entry in found]
        builder = Builder(meter)
        for group in groups:
            out: Out = frozenset().union(*group)
            tasks = [task(fabric.devices[at], action) for at in sorted(out)]
            waves.append(replace(builder.wave(action, tasks, NO_DEVICE if action == UNDRAIN else out), number=len(waves) + 1))
        refused += none
        gone = frozenset().union(*(item for group in groups for item in group))
        after[fabric.name] = meter.left(gone if action == DRAIN else NO_DEVICE)
        remarks += notes(meter, [wave for wave in waves if wave.fabric == fabric.name], after[fabric.name])
    return Change(
        site=plan.site,
        title=f"{action} {' '.join(names) or f'all but {request.planes_active} planes'}",
        floor=request.floor,
        waves=tuple(waves),
        refused=together(refused),
        before=before,
        after=after,
        notes=(*remarks, *([DEAD] if refused and action == REPLACE else [])),
    )


def _drained(meter: Meter, packer: Packer, items: Sequence[Out]) -> tuple[list[list[Out]], list[Refused]]:
    """All switches at once where the floor allows it, for they stay out of service; else as many as it allows."""
    whole: Out = frozenset().union(*items)
    if not meter.outages.rate(NO_DEVICE):  # a share of it says nothing
        return [[item] for item in items], []
    if meter.outages.left(whole) >= packer.floor - 1e-9:  # redundancy that is taken on purpose: planes, pairs
        return [list(items)], []
    waves, _ = packer.pack(items)
    first = max(waves, key=len, default=[])
    rest: Out = whole - frozenset().union(*first)
    reason = (
        f"drained with the others they leave {percent(meter.capacity(whole))}, below the floor of {percent(packer.floor)}"
    )
    refused = Refused(fabric=meter.fabric.name, devices=meter.names(rest), capacity=meter.capacity(whole), reason=reason)
    return [first] if first else [], [refused]


# --- which switches -------------------------------------------------------------------------------------------


def select(fabrics: Sequence[FabricPlan], words: Sequence[str], planes_active: int = 0) -> set[str]:
    """The switches that names, globs, roles and planes mean. Raises InputError for a word that means none."""
    switches = [device for fabric in fabrics for device in fabric.switches]
    report, chosen = Report(), set[str]()
    for word in words:
        found = {device.name for device in switches if _means(word, device)}
        if not found:
            known = [*dict.fromkeys(device.role for device in switches), *(device.name for device in switches)]
            hint = nearest(word, known[:2000]) if known else "no fabric here has switches"
            report.error("FAB170", WHERE, f"unknown switch or role {show(word)}", hint)
        chosen |= found
    if planes_active:
        planes = sorted({device.plane for device in switches if device.role == "leaf"})
        if not 1 <= planes_active < len(planes):
            most = f"{len(planes) - 1} of the {len(planes)} planes"
            expected = "a fabric with several planes" if len(planes) < 2 else most if len(planes) == 2 else f"1 to {most}"
            hint = f"this fabric has {plural(len(planes), 'plane')}: {listed([str(plane + 1) for plane in planes])}"
            report.error("FAB102", Place("--planes-active"), f"expected {expected}, got {planes_active}", hint)
        gone = set(planes[planes_active:])
        chosen |= {device.name for device in switches if device.plane in gone}
    report.raise_errors()
    return chosen


def _means(word: str, device: Device) -> bool:
    if match := PLANE.fullmatch(word):
        return device.plane == int(match[1]) - 1
    return word in (device.role, device.name) or fnmatchcase(device.name, word)
