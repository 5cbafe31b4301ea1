"""What no source tells and a plan needs: models of switches and speeds of cables, as the names of the ports allow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fabric.base.grouping import grouped
from fabric.deliver.brownfield.survey import Cable, Inference, Survey, Switch
from fabric.hardware import catalog
from fabric.model.plan import PortRef
from fabric.nos.target import target

CAGES = (16, 32, 48, 64, 128, 256)  # of switches without a model
SPEEDS_GBPS = (100, 400, 25, 10, 1)  # of their ports, the likeliest first
SOURCE = "the names of its ports; no source names the hardware: `--model NAME=MODEL` states it"

Port = tuple[str, PortRef]  # name and place


def assumed(survey: Survey) -> Survey:
    """The survey with a generic model for every switch without one, and a speed for every cable."""
    models = {switch.name: model for switch, model in _models(survey)}
    if not models and all(cable.speed_gbps for cable in survey.cables):
        return survey
    fabrics = {
        name: [replace(switch, model=models.get(switch.name, switch.model)) for switch in switches]
        for name, switches in survey.fabrics.items()
    }
    named = {switch.name: switch.model for switches in fabrics.values() for switch in switches}
    cables = [cable if cable.speed_gbps else _with_speed(cable, named) for cable in survey.cables]
    known = {one: cable.speed_gbps for cable in cables for one in ((cable.a, cable.a_port), (cable.b, cable.b_port))}
    found = [
        Inference(subject=name, what="model", value=f"{model} (assumed)", source=SOURCE) for name, model in sorted(models.items())
    ]
    without = sum(not cable.speed_gbps for cable in survey.cables)
    if without and known:
        found.append(
            Inference(subject=f"{without} cables", what="speed", value="assumed", source="the fastest that both ends may have")
        )
    return replace(survey, fabrics=fabrics, cables=cables, inferences=(*survey.inferences, *found))


def _models(survey: Survey) -> Iterator[tuple[Switch, str]]:
    """Every switch without a model, and one that has ports of the names that it has; the same for those of one fabric."""
    ports: dict[str, list[tuple[Port, int]]] = {}
    for cable in survey.cables:
        for device, name, ref in ((cable.a, cable.a_port, cable.a_ref), (cable.b, cable.b_port, cable.b_ref)):
            if ref is not None:
                ports.setdefault(device, []).append(((name, ref), cable.speed_gbps))
    for fabric in survey.fabrics.values():
        unknown = [switch for switch in fabric if not switch.model and switch.nos]
        for nos, switches in grouped((switch.nos, switch) for switch in unknown).items():
            theirs = [row for switch in switches for row in ports.get(switch.name, ())]
            gbps = _speed(nos, theirs)
            for role in dict.fromkeys(switch.role for switch in switches):
                alike = [switch for switch in switches if switch.role == role]
                cages = [ref.cage for switch in alike for (_, ref), _ in ports.get(switch.name, ())]
                size = next((count for count in CAGES if count >= max(cages, default=1)), max(cages, default=1))
                yield from ((switch, f"{size}x{gbps}g") for switch in alike)


def _speed(nos: str, ports: Sequence[tuple[Port, int]]) -> int:
    """Speed of the cages with which most ports have the names that they have."""
    least = max((speed * ref.split for (_, ref), speed in ports), default=0)
    size = max((ref.cage for (_, ref), _ in ports), default=1)
    candidates = [gbps for gbps in SPEEDS_GBPS if gbps >= least] or [max(SPEEDS_GBPS)]
    return max(candidates, key=lambda gbps: sum(_name(nos, f"{size}x{gbps}g", gbps, ref) == name for (name, ref), _ in ports))


def _name(nos: str, model: str, gbps: int, ref: PortRef) -> str:
    switch = catalog.switch(model)
    if switch is None or gbps % ref.split:
        return ""
    try:
        return target(nos).port_name(switch, replace_speed(ref, gbps // ref.split), model)
    except (KeyError, ValueError, ArithmeticError):
        return ""


def replace_speed(ref: PortRef, gbps: int) -> PortRef:
    """The same port with another speed."""
    return PortRef(ref.cage, ref.sub, ref.split, gbps)


def _with_speed(cable: Cable, models: Mapping[str, str]) -> Cable:
    """A cable at the fastest speed that both ends may have."""
    ends = ((cable.a, cable.a_ref), (cable.b, cable.b_ref))
    speeds = [
        switch.native_gbps // (ref.split if ref else 1)
        for name, ref in ends
        if (switch := catalog.switch(models.get(name, ""))) is not None
    ]
    gbps = min(speeds, default=SPEEDS_GBPS[0])
    a, b = (replace_speed(ref, gbps) if ref is not None else None for _, ref in ends)
    return replace(cable, speed_gbps=gbps, a_ref=a, b_ref=b)
